//! Snapshots as directories: `.snapshots` in a thread and in the root, and the trees below it.
//!
//! Nothing of this is stored as a tree. `.snapshots` is made from the records of the snapshots,
//! and a snapshot's tree from the records as they were at its epoch. Each gets a number in place
//! of a realm's when it is first looked up, so that its inode numbers differ from the living
//! ones and stay the same for as long as the mount lives.

mod automatic;
mod control;
mod deleted;
mod diff;
mod fork;
mod log;
mod manage;
mod names;
mod request;
mod requests;
mod restore;
mod retention;
mod tell;
mod tree;
mod undelete;
mod views;

pub(in crate::fs) use automatic::Automatic;
pub(in crate::fs) use deleted::DeletedThreads;
pub use request::{Refusal, Reply, Request};
pub(in crate::fs) use requests::is_request;
pub use restore::Restored;
pub use undelete::UNDELETE;
pub(in crate::fs) use views::{View, Views};
