//! Going to the background: one process serves, the other waits until it can say how it went.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;

use crate::daemon::error::Error;
use crate::daemon::sys::{self, Forked};

/// The first byte of a report: the mount is ready.
const READY: u8 = b'+';
/// The first byte of a report: there is no mount, and why follows.
const FAILED: u8 = b'-';

/// Which of the two processes this is.
pub enum Side {
    /// The one that a user waits for.
    Parent(Waiting),
    /// The one that becomes the daemon.
    Child(Reporter),
}

/// The waiting side.
pub struct Waiting {
    child: u32,
    pipe: PipeReader,
}

/// The serving side.
pub struct Reporter {
    pipe: PipeWriter,
}

/// Splits the process. Must be called before any thread is started, and before the daemon
/// opens anything: the child closes what it inherited.
pub fn split() -> io::Result<Side> {
    let (reader, writer) = io::pipe()?;
    // SAFETY: the commands start no thread before they come here.
    match unsafe { sys::fork() }? {
        Forked::Parent { child } => Ok(Side::Parent(Waiting { child, pipe: reader })),
        Forked::Child => {
            drop(reader);
            // SAFETY: this process owns nothing yet but the pipe, see above.
            unsafe { sys::close_inherited(writer.as_raw_fd()) }?;
            Ok(Side::Child(Reporter { pipe: writer }))
        }
    }
}

impl Waiting {
    /// Waits for the report; the number of the daemon.
    pub fn wait(mut self) -> Result<u32, Error> {
        let mut report = Vec::new();
        self.pipe.read_to_end(&mut report).map_err(Error::system("wait for the daemon"))?;
        match report.split_first() {
            Some((&READY, _)) => Ok(self.child),
            Some((_, text)) => Err(Error::Refused(String::from_utf8_lossy(text).into_owned())),
            None => Err(Error::Refused(format!(
                "the daemon ended before the mount was ready ({}): its log may say why, and \
                 --foreground shows it here",
                sys::wait_for_child(self.child).map_or_else(|error| error.to_string(), |status| status.to_string())
            ))),
        }
    }
}

impl Reporter {
    /// Tells that the mount is ready.
    ///
    /// # Errors
    /// The command that waited is gone: whoever gave it no longer wants the mount.
    pub fn ready(mut self) -> io::Result<()> {
        self.pipe.write_all(&[READY])
    }

    /// Tells why there is no mount.
    pub fn failed(mut self, why: &str) -> io::Result<()> {
        self.pipe.write_all(&[&[FAILED], why.as_bytes()].concat())
    }
}
