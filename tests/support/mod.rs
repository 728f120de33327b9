//! What the tests on a real mount share: a mount with its daemon, and Python processes on it.
//!
//! A test changes documents from a Python process, an [`Actor`], and not from its own: tests run
//! in threads of one process, and a child that another test starts at the same moment inherits
//! the descriptors for an instant; its exec then closes them, which commits a draft early.

// Each test target uses a part of it.
#![allow(dead_code, unused_imports)]

mod actor;
mod command;
mod metrics;
mod mount;
mod python;
mod wait;

pub use actor::Actor;
pub use command::{Done, finish, run, threadfs};
pub use metrics::Requests;
pub use mount::{Builder, Mount};
pub use python::run_python;
pub use wait::{exited, wait_for, within};

/// A user without privileges whom every system knows.
pub const NOBODY: u32 = 65534;

/// The path of the document that most tests use.
pub const DOC: &str = "threads/t/sandbox.json";

/// Whether the counts of the issue are wanted and not the small ones.
pub fn is_full() -> bool {
    std::env::var("THREADFS_TEST_SCALE").is_ok_and(|scale| scale == "full")
}

/// A count: the small one, or the with `THREADFS_TEST_SCALE=full`.
pub fn scaled(small: u64, full: u64) -> u64 {
    if is_full() { full } else { small }
}
