//! Waiting for events: no test sleeps and hopes.

use std::io;
use std::time::{Duration, Instant};

/// How long an event may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// Looks until the condition holds.
pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    assert!(within(PATIENCE, &mut condition), "waited {PATIENCE:?} in vain: {what}");
}

/// Looks until the condition holds; false when it does not in time.
pub fn within(time: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + time;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Waits until a process has ended, also one that is no child; false when it does not in time.
pub fn exited(pid: u32, time: Duration) -> bool {
    // SAFETY: the call takes no pointers.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0) } as libc::c_int;
    if fd < 0 {
        let error = io::Error::last_os_error();
        assert_eq!(error.raw_os_error(), Some(libc::ESRCH), "pidfd_open({pid}): {error}");
        return true;
    }
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid element; the descriptor is closed once and here.
    unsafe {
        let ready = libc::poll(&mut poll, 1, time.as_millis() as libc::c_int);
        libc::close(fd);
        ready == 1
    }
}
