//! How a mount ends: by itself when it was unmounted, or on a signal.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use std::{io, thread};

use parking_lot::{Condvar, Mutex};

use super::detach::detach;
use crate::daemon::logging;
use crate::daemon::sys::{self, Signals};
use crate::fs::Fs;

/// How long a mount that was detached while in use may go on.
const GRACE: Duration = Duration::from_secs(2);

/// How close together signals count as one: `timeout`, for example, sends its signal to the
/// process and at once again to the process group.
const SAME: Duration = Duration::from_millis(500);

/// The ending, shared by the thread that serves, the one that waits for signals and the one
/// that unmounts.
#[derive(Default)]
pub struct Shutdown {
    /// When a signal asked for it.
    asked: Mutex<Option<Instant>>,
    /// What to unmount. Weak: the store is closed when the serving thread drops its reference.
    mount: Mutex<Option<(PathBuf, Weak<Fs>)>>,
    /// Whether the kernel lets go of the mount: nothing is served any more.
    unmounted: Mutex<bool>,
    changed: Condvar,
    /// Whether the filesystem was shut down; held while that goes on.
    flushed: Mutex<bool>,
}

impl Shutdown {
    /// Blocks the signals that end a daemon and starts the thread that takes them. Must come
    /// before any other thread is started, as each inherits what is blocked.
    pub fn watch() -> io::Result<Arc<Shutdown>> {
        let signals = Signals::block(&[libc::SIGTERM, libc::SIGINT, libc::SIGHUP])?;
        let shutdown = Arc::new(Shutdown::default());
        let watched = Arc::clone(&shutdown);
        thread::Builder::new().name("signals".into()).spawn(move || {
            loop {
                match signals.wait() {
                    Ok(libc::SIGHUP) => logging::reopen(),
                    Ok(signal) => watched.on_end(signal),
                    Err(error) => {
                        log::error!("cannot wait for signals, from now on none is answered: {error}");
                        return;
                    }
                }
            }
        })?;
        Ok(shutdown)
    }

    /// Tells what a signal shall unmount. Before that, it ends the process at once: nothing was
    /// promised to anybody yet.
    pub fn arm(&self, mountpoint: PathBuf, fs: &Arc<Fs>) {
        *self.mount.lock() = Some((mountpoint, Arc::downgrade(fs)));
    }

    /// Called when the kernel has let go of the mount, whoever unmounted it.
    pub fn finish(&self, fs: &Fs) {
        *self.unmounted.lock() = true;
        self.changed.notify_all();
        self.flush(fs);
    }

    /// Shuts the filesystem down; of several callers one does it and the others wait for that.
    fn flush(&self, fs: &Fs) {
        let mut flushed = self.flushed.lock();
        if !*flushed {
            fs.shutdown();
            *flushed = true;
        }
    }

    fn on_end(self: &Arc<Self>, signal: libc::c_int) {
        let Some((mountpoint, fs)) = self.mount.lock().clone() else {
            log::warn!("ended by signal {signal} before the mount was ready");
            sys::exit_now(128 + signal);
        };
        if let Some(first) = *self.asked.lock() {
            if first.elapsed() < SAME {
                return;
            }
            log::warn!("ended at once by a second signal {signal}");
            sys::exit_now(128 + signal);
        }
        *self.asked.lock() = Some(Instant::now());
        if fs.strong_count() == 0 {
            // Unmounted and closed already; the process is about to end.
            return;
        }
        log::info!("signal {signal}: unmounting {}", mountpoint.display());
        // In a thread of its own, so that a second signal is heard while this takes its time.
        let ending = Arc::clone(self);
        let spawned = thread::Builder::new().name("unmount".into()).spawn(move || {
            ending.unmount(&mountpoint, &fs);
        });
        if let Err(error) = spawned {
            log::error!("cannot start the thread that unmounts, send the signal again to end: {error}");
        }
    }

    fn unmount(&self, mountpoint: &Path, fs: &Weak<Fs>) {
        // Pages that a program changed through a shared mapping are still in the kernel, and
        // a lazy unmount does not wait for them.
        if let Err(error) = sys::sync_filesystem(mountpoint) {
            log::warn!("cannot write back the pages of {}: {error}", mountpoint.display());
        }
        match detach(mountpoint, false) {
            Ok(()) => {}
            // Unmounted here already; what keeps it is elsewhere, in a container for instance.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
            Err(error) => {
                log::warn!("{} cannot be unmounted ({error}): detaching it", mountpoint.display());
                if let Err(error) = detach(mountpoint, true) {
                    log::error!("cannot detach {}: {error}", mountpoint.display());
                }
            }
        }
        let mut unmounted = self.unmounted.lock();
        if !*unmounted {
            self.changed.wait_for(&mut unmounted, GRACE);
        }
        if !*unmounted {
            drop(unmounted);
            log::warn!("{} is still in use: ending anyway", mountpoint.display());
            if let Some(fs) = fs.upgrade() {
                self.flush(&fs);
            }
            sys::exit_now(0);
        }
    }
}
