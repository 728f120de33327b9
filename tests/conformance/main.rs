//! Test suites that others wrote, run on a real mount: pjdfstest, fsx, the Python interpreter's own
//! tests, LangGraph's kit for checkpointers.
//!
//! `./scripts/test` installs them and says where they are. `scripts/conformance` runs the long
//! versions (`THREADFS_TEST_SCALE=full`) and writes the table of docs/conformance.md.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../support/mod.rs"]
mod support;

mod cpython;
mod fsx;
mod langgraph;
mod pjdfstest;
mod report;
mod tools;
