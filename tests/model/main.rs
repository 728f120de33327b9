//! The filesystem's core: against a plain model of a POSIX tree, and one trap at a time.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod compared;
mod faulty;
mod history;
mod random;
mod support;
mod traps;
