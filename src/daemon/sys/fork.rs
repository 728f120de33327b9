//! Splitting into two processes.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use super::check;

/// Which of the two processes this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forked {
    /// The one that was there before.
    Parent {
        /// The number of the new one.
        child: u32,
    },
    /// The new one.
    Child,
}

/// Makes a copy of this process.
///
/// # Safety
/// No other thread may run: the copy has only the calling one, and whatever lock another held
/// would stay locked in it.
pub unsafe fn fork() -> io::Result<Forked> {
    // SAFETY: the caller vouches that there is one thread.
    let pid = check(unsafe { libc::fork() })?;
    Ok(match u32::try_from(pid) {
        Ok(0) | Err(_) => Forked::Child,
        Ok(child) => Forked::Parent { child },
    })
}

/// Waits for a child to end, and tells how it did.
pub fn wait_for_child(child: u32) -> io::Result<ExitStatus> {
    let pid = libc::pid_t::try_from(child).map_err(|_| io::Error::from_raw_os_error(libc::ECHILD))?;
    let mut status = 0;
    loop {
        // SAFETY: the status outlives the call.
        match check(unsafe { libc::waitpid(pid, &mut status, 0) }) {
            Ok(_) => return Ok(ExitStatus::from_raw(status)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
