//! The thread that gives the filesystem its regular turn.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::fs::Fs;

/// How often the filesystem gets its turn.
const INTERVAL: Duration = Duration::from_millis(250);

/// The running thread.
pub struct Ticker {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Ticker {
    /// Starts it.
    pub fn start(fs: Arc<Fs>) -> io::Result<Ticker> {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new().name("ticker".into()).spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(INTERVAL) {
                // The hook of the log has told about a panic; the next turn may go well, and
                // without any there would be no more syncs.
                catch_unwind(AssertUnwindSafe(|| fs.tick())).unwrap_or_default();
            }
        })?;
        Ok(Ticker { stop, thread })
    }

    /// Ends it, after the turn that it may be in.
    pub fn stop(self) {
        drop(self.stop);
        if self.thread.join().is_err() {
            log::error!("the ticker ended with a panic");
        }
    }
}
