//! Running an operation: timed, its panics caught, its failures logged.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use fuser::Errno;
use parking_lot::Mutex;

use crate::fs::{Fs, Result};

/// A reply that can be an error.
pub(super) trait Fail {
    /// Answers with an errno.
    fn fail(self, errno: i32);
}

macro_rules! fail {
    ($($reply:ty),*) => {
        $(impl Fail for $reply {
            fn fail(self, errno: i32) {
                self.error(Errno::from_i32(errno));
            }
        })*
    };
}

fail!(
    fuser::ReplyAttr,
    fuser::ReplyCreate,
    fuser::ReplyData,
    fuser::ReplyDirectory,
    fuser::ReplyDirectoryPlus,
    fuser::ReplyEmpty,
    fuser::ReplyEntry,
    fuser::ReplyLseek,
    fuser::ReplyOpen,
    fuser::ReplyStatfs,
    fuser::ReplyWrite,
    fuser::ReplyXattr
);

/// The last failure that was logged: a full disk must not fill the log as well.
static LAST_LOGGED: Mutex<Option<Instant>> = Mutex::new(None);
const LOG_PAUSE: std::time::Duration = std::time::Duration::from_secs(1);

/// Runs an operation of the core. A panic in it is that request's EIO, and the daemon goes on.
pub(super) fn run<T>(
    fs: &Fs,
    name: &'static str,
    operation: impl FnOnce() -> Result<T>,
) -> std::result::Result<T, i32> {
    let mut timer = fs.metrics().time(name);
    let outcome = catch_unwind(AssertUnwindSafe(operation));
    let errno = match outcome {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => {
            if error.is_failure() {
                log_failure(name, &error);
            }
            error.errno()
        }
        Err(panic) => {
            fs.metrics().panics.add(1);
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            log::error!("{name}: a fault in threadfs, the caller got EIO: {text}");
            libc::EIO
        }
    };
    timer.fail();
    Err(errno)
}

/// Runs an operation that gives nothing but its success.
pub(super) fn empty(fs: &Fs, name: &'static str, reply: fuser::ReplyEmpty, operation: impl FnOnce() -> Result<()>) {
    match run(fs, name, operation) {
        Ok(()) => reply.ok(),
        Err(errno) => reply.fail(errno),
    }
}

fn log_failure(name: &str, error: &crate::fs::Error) {
    let mut last = LAST_LOGGED.lock();
    if last.is_none_or(|at| at.elapsed() >= LOG_PAUSE) {
        *last = Some(Instant::now());
        log::error!("{name}: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::MemoryEngine;
    use crate::fs::FsOptions;
    use crate::store::Store;
    use std::sync::Arc;

    #[test]
    fn a_panic_is_that_requests_eio() {
        let store = Store::open(Arc::new(MemoryEngine::new())).unwrap();
        let fs = Fs::new(store, FsOptions::default()).unwrap();
        let outcome = run(&fs, "read", || -> Result<()> { panic!("on purpose") });
        assert_eq!(outcome, Err(libc::EIO));
        assert_eq!(run(&fs, "read", || Ok(7)), Ok(7));
        assert_eq!(fs.metrics().panics.get(), 1);
        let read = fs.metrics().operations().into_iter().find(|stats| stats.name == "read").unwrap();
        assert_eq!((read.count, read.errors), (2, 1));
    }
}
