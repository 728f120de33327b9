//! Documents: files that everybody sees only whole, valid and committed.
//!
//! Writing makes a private draft; closing (or fsync) checks and commits it in one batch. A reader
//! pins the newest commit when it reads from the start, and reads on from that.

mod cache;
mod commit;
mod descriptor;
mod draft;
mod expiry;
mod pending;
mod read;
mod rejected;
mod solo;
mod truncate;
mod validate;
mod versions;

pub(in crate::fs) use cache::{Committed, Documents};
pub(in crate::fs) use draft::Draft;
pub(in crate::fs) use pending::Pending;
pub(in crate::fs) use rejected::Writer;
pub use validate::{Invalid, validate};
