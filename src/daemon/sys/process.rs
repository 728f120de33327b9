//! Processes: this one's limits and session, and waiting for another to end.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use super::check;

/// The user whose rights this process has.
pub fn effective_uid() -> u32 {
    // SAFETY: has no preconditions and cannot fail.
    unsafe { libc::geteuid() }
}

/// Ends the process at once, without running what is registered for its end.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: has no preconditions.
    unsafe { libc::_exit(status) }
}

/// Leaves the terminal and the process group.
pub fn new_session() -> io::Result<()> {
    // SAFETY: has no preconditions.
    check(unsafe { libc::setsid() }).map(drop)
}

/// Sets which permission bits are taken from new files.
pub fn set_umask(mask: libc::mode_t) {
    // SAFETY: has no preconditions and cannot fail.
    unsafe { libc::umask(mask) };
}

/// Raises the limit on open files as far as this process may.
pub fn raise_open_files() -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the struct outlives the call.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: as above.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }).map(drop)
}

/// Closes what the caller of this program left open, except one descriptor.
///
/// A daemon that keeps them would hold the caller's pipes and flock(2) locks for its whole
/// life. Standard input, output and error stay.
///
/// # Safety
/// Nothing in this process may own a descriptor above 2 but `keep`.
pub unsafe fn close_inherited(keep: RawFd) -> io::Result<()> {
    // Collected first: the listing has a descriptor of its own, which is closed by then.
    let open: Vec<RawFd> =
        fs::read_dir("/proc/self/fd")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for fd in open.into_iter().filter(|fd| *fd > 2 && *fd != keep) {
        // SAFETY: the caller vouches that nobody owns it. That the listing's own is closed
        // already is no harm.
        unsafe { libc::close(fd) };
    }
    Ok(())
}

/// The seconds by which local time is ahead of UTC at an instant.
pub fn utc_offset(seconds: i64) -> i64 {
    let mut parts = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both pointers are valid for the call.
    let result = unsafe { libc::localtime_r(&seconds, parts.as_mut_ptr()) };
    if result.is_null() {
        return 0;
    }
    // SAFETY: zeroed is valid for this plain struct, and the call succeeded.
    unsafe { parts.assume_init() }.tm_gmtoff
}

/// A process that cannot be mistaken for a later one with the same number.
#[derive(Debug)]
pub struct Pidfd(OwnedFd);

impl Pidfd {
    /// Takes hold of a running process.
    pub fn open(pid: u32) -> io::Result<Pidfd> {
        // SAFETY: has no preconditions; the result is checked before use.
        let result = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        match RawFd::try_from(result) {
            // SAFETY: the kernel just gave out this descriptor, and nobody else knows it.
            Ok(fd) if fd >= 0 => Ok(Pidfd(unsafe { OwnedFd::from_raw_fd(fd) })),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits until the process has ended, for a limited time; whether it has.
    pub fn wait(&self, limit: Duration) -> io::Result<bool> {
        let mut entry = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let millis = libc::c_int::try_from(limit.as_millis()).unwrap_or(libc::c_int::MAX);
        loop {
            // SAFETY: the array has the one entry that the count says.
            match check(unsafe { libc::poll(&mut entry, 1, millis) }) {
                Ok(ready) => return Ok(ready > 0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
