//! The kernel's FUSE protocol: the only place that knows the fuser crate.
//!
//! The adapter decodes a request, calls the core and replies. It knows what the kernel may cache
//! and for how long; what a file is, the core knows.

mod adapter;
mod convert;
mod device;
mod notify;
mod pool;
mod reply;
mod session;

pub use session::{MountOptions, Session};
