//! The record store: against a model that copies everything, and one promise at a time.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod absences;
mod check;
mod collect;
mod flaky;
mod forks;
mod helpers;
mod model;
mod promises;
mod races;
mod transactions;
mod tree;
mod unique;
