//! The record store: against a model that copies everything, and one promise at a time.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod flaky;
mod helpers;
mod model;
