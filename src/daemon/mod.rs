//! The daemon: configuration, life cycle, its own files, and how commands reach it.

mod clock;
pub mod config;
mod control;
mod error;
mod fsck;
mod lifecycle;
mod logging;
mod metrics;
mod mountinfo;
mod status;
mod sys;
pub mod thread;
mod undelete;
mod virtual_files;

pub use clock::{local as local_time, parse as parse_time};
pub use control::Mounted;
pub use error::Error;
pub use fsck::fsck;
pub use lifecycle::mountpoint;
pub use lifecycle::{MountRequest, Unmounted, mount, umount};
pub use status::Status;
pub use undelete::undelete;
