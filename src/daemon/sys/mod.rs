//! Calls of the operating system that the standard library does not have, as safe functions.

mod fork;
mod mount;
mod process;
mod signals;
mod stdio;
mod xattr;

pub use fork::{Forked, fork, wait_for_child};
pub use mount::{probe_filesystem, remount, sync_filesystem, unmount};
pub use process::{
    Pidfd, close_inherited, effective_uid, exit_now, new_session, raise_open_files, set_umask, utc_offset,
};
pub use signals::Signals;
pub use stdio::{null_stdin, redirect_output};
pub use xattr::set_attribute;

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path for the C library.
fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}

/// The result of a call that returns -1 and sets errno when it fails.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
