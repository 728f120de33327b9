//! Where the lines of the log go.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use log::Level;

use crate::daemon::sys;

/// Where the log shall go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Standard error.
    Stderr,
    /// A file, to which lines are added.
    File(PathBuf),
    /// The log of the system.
    Syslog,
}

/// An open destination.
#[derive(Debug)]
pub enum Output {
    /// Standard error.
    Stderr,
    /// A file.
    File {
        /// Its path, for opening it anew.
        path: PathBuf,
        /// The file.
        file: File,
        /// Whether standard output and error lead there too.
        has_stdio: bool,
    },
    /// The log of the system.
    Syslog,
}

impl Output {
    /// Opens a destination.
    pub fn open(destination: Destination) -> io::Result<Output> {
        Ok(match destination {
            Destination::Stderr => Output::Stderr,
            Destination::File(path) => {
                let file = append(&path)?;
                Output::File { path, file, has_stdio: false }
            }
            Destination::Syslog => {
                // SAFETY: the name is a constant, as openlog keeps the pointer.
                unsafe { libc::openlog(c"threadfs".as_ptr(), libc::LOG_PID, libc::LOG_DAEMON) };
                Output::Syslog
            }
        })
    }

    /// Opens a file anew; whether there was one.
    pub fn reopen(&mut self) -> io::Result<bool> {
        let Output::File { path, file, has_stdio } = self else { return Ok(false) };
        *file = append(path)?;
        if *has_stdio {
            sys::redirect_output(Some(file))?;
        }
        Ok(true)
    }

    /// Lets standard output and error lead here, or nowhere when this is no file.
    pub fn take_over_stdio(&mut self) -> io::Result<()> {
        match self {
            Output::File { file, has_stdio, .. } => {
                sys::redirect_output(Some(file))?;
                *has_stdio = true;
                Ok(())
            }
            Output::Stderr | Output::Syslog => sys::redirect_output(None),
        }
    }

    /// Writes one event.
    ///
    /// A log that cannot be written has nowhere to say so: the line is lost, the daemon goes
    /// on.
    pub fn write(&mut self, level: Level, time: &str, message: &str) {
        // One call for the whole line, so that lines of several writers do not mix.
        let line = || format!("{time} {level} {message}\n");
        match self {
            Output::Stderr => io::stderr().write_all(line().as_bytes()).unwrap_or_default(),
            Output::File { file, .. } => file.write_all(line().as_bytes()).unwrap_or_default(),
            Output::Syslog => {
                let text = CString::new(message.replace('\0', "?")).unwrap_or_default();
                // SAFETY: the format takes exactly one text, and it ends with NUL.
                unsafe { libc::syslog(priority(level), c"%s".as_ptr(), text.as_ptr()) };
            }
        }
    }
}

fn append(path: &Path) -> io::Result<File> {
    // NOCTTY: the file may be a terminal, and a daemon must not get it as its own.
    OpenOptions::new().append(true).create(true).mode(0o640).custom_flags(libc::O_NOCTTY).open(path)
}

fn priority(level: Level) -> libc::c_int {
    match level {
        Level::Error => libc::LOG_ERR,
        Level::Warn => libc::LOG_WARNING,
        Level::Info => libc::LOG_INFO,
        Level::Debug | Level::Trace => libc::LOG_DEBUG,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::fs;

    #[test]
    fn a_moved_file_is_replaced_by_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let (path, old) = (dir.path().join("log"), dir.path().join("log.1"));
        let mut output = Output::open(Destination::File(path.clone())).unwrap();
        output.write(Level::Warn, "T1", "one");
        fs::rename(&path, &old).unwrap();
        output.write(Level::Info, "T2", "two");
        assert!(output.reopen().unwrap());
        output.write(Level::Error, "T3", "three");
        assert_eq!(fs::read_to_string(&old).unwrap(), "T1 WARN one\nT2 INFO two\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), "T3 ERROR three\n");
    }

    #[test]
    fn a_file_that_cannot_be_opened_is_an_error() {
        let destination = Destination::File("/nonexistent/dir/log".into());
        assert_eq!(Output::open(destination).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!Output::Stderr.reopen().unwrap());
    }
}
