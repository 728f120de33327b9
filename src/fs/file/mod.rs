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
pub(in crate::fs) use privileges::{CAPABILITY, SetId, drop_suidgid};
pub use seek::Whence;
