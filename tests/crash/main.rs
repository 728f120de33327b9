//! The daemon killed at random moments under load: every acknowledged change is there.
//!
//! Four moments; twenty with `THREADFS_TEST_SCALE=full`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../support/mod.rs"]
mod support;

mod documents;
mod files;
mod history;
mod load;
mod namespace;
