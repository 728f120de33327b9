//! Where standard input, output and error lead.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;

use super::check;

/// Lets standard input read nothing.
pub fn null_stdin() -> io::Result<()> {
    let null = File::open("/dev/null")?;
    // SAFETY: both are open descriptors of this process.
    check(unsafe { libc::dup2(null.as_raw_fd(), libc::STDIN_FILENO) }).map(drop)
}

/// Sends standard output and error to a file, or nowhere.
pub fn redirect_output(to: Option<&File>) -> io::Result<()> {
    let null;
    let target = match to {
        Some(file) => file,
        None => {
            null = OpenOptions::new().write(true).open("/dev/null")?;
            &null
        }
    };
    for stream in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: both are open descriptors of this process.
        check(unsafe { libc::dup2(target.as_raw_fd(), stream) })?;
    }
    Ok(())
}
