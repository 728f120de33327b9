//! Regular files: opening, reading, writing, sizes and holes.

mod allocate;
mod copy;
mod open;
mod read;
mod seek;
mod sync;
mod write;

pub use open::Opened;
pub use seek::Whence;
pub(in crate::fs) use write::drop_suidgid;
