//! Unmounting, as root or with the helper that ordinary users need.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::prerequisites::find_helper;
use crate::daemon::sys;

/// Unmounts; with `lazily` at once, also when files are still in use.
pub fn detach(path: &Path, lazily: bool) -> io::Result<()> {
    match sys::unmount(path, lazily) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => with_helper(path, lazily, error),
        result => result,
    }
}

fn with_helper(path: &Path, lazily: bool, refusal: io::Error) -> io::Result<()> {
    let Some(helper) = find_helper() else { return Err(refusal) };
    let mut command = Command::new(helper);
    command.arg("-u");
    if lazily {
        command.arg("-z");
    }
    let output = command.arg("--").arg(path).stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if text.contains("busy") {
        return Err(io::Error::from_raw_os_error(libc::EBUSY));
    }
    if text.contains("not found in") || text.contains("not permitted") {
        // Its way to say that the mount is another user's.
        return Err(refusal);
    }
    Err(io::Error::other(text))
}
