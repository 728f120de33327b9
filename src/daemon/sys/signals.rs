//! Signals that are waited for instead of interrupting.

use std::io;
use std::mem::MaybeUninit;

use super::check;

/// A set of signals that this process waits for.
#[derive(Clone, Copy)]
pub struct Signals(libc::sigset_t);

impl Signals {
    /// Keeps these signals from interrupting this thread and all that it starts from now on;
    /// they stay pending until [`Signals::wait`].
    pub fn block(signals: &[libc::c_int]) -> io::Result<Signals> {
        let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: the set outlives the call, which fills it.
        check(unsafe { libc::sigemptyset(set.as_mut_ptr()) })?;
        // SAFETY: sigemptyset has made it a valid set.
        let mut set = unsafe { set.assume_init() };
        for signal in signals {
            // SAFETY: the set is valid; a wrong number is an error, not undefined.
            check(unsafe { libc::sigaddset(&mut set, *signal) })?;
        }
        // SAFETY: the set is valid, and the old mask is not asked for.
        let errno = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) };
        if errno != 0 {
            return Err(io::Error::from_raw_os_error(errno));
        }
        Ok(Signals(set))
    }

    /// Waits for the next of the signals.
    pub fn wait(&self) -> io::Result<libc::c_int> {
        let mut signal = 0;
        // SAFETY: the set is valid and the number outlives the call.
        match unsafe { libc::sigwait(&self.0, &mut signal) } {
            0 => Ok(signal),
            errno => Err(io::Error::from_raw_os_error(errno)),
        }
    }
}
