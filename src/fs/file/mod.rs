//! Regular files: opening, reading, writing, sizes and holes.

mod allocate;
mod copy;
mod open;
mod privileges;
mod read;
mod seek;
mod sync;
mod write;

pub use open::Opened;
pub(in crate::fs) use privileges::{CAPABILITY, SETGID, SetId, drop_suidgid};
pub use seek::Whence;

/// How many bytes of a large file one transaction takes away at most. What it changes is in memory until it is
/// written, some 500 bytes a chunk, and the thread's lock is held.
const CUT: u64 = 128 << 20;
