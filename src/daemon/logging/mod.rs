//! The log: one line an event, to standard error, a file or the system's log.

mod destination;

use std::io;
use std::panic;
use std::sync::OnceLock;
use std::time::SystemTime;

use log::{Level, LevelFilter, Log, Metadata, Record};
use parking_lot::Mutex;

pub use destination::Destination;
use destination::Output;

use super::clock;

/// The logger of this process, once [`install`] was called.
static LOGGER: OnceLock<Logger> = OnceLock::new();

struct Logger {
    output: Mutex<Output>,
}

/// Starts logging, and sends the messages of panics there too.
///
/// # Errors
/// The file cannot be opened, or logging was started before.
pub fn install(level: LevelFilter, destination: Destination) -> io::Result<()> {
    let output = Mutex::new(Output::open(destination)?);
    let again = || io::Error::other("logging was started twice");
    LOGGER.set(Logger { output }).map_err(|_| again())?;
    let logger = LOGGER.get().ok_or_else(again)?;
    log::set_logger(logger).map_err(|_| again())?;
    log::set_max_level(level);
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|at| format!(" at {at}")).unwrap_or_default();
        let reason = info.payload_as_str().unwrap_or("no message");
        let thread = std::thread::current();
        log::error!("panic in thread {}{place}: {reason}", thread.name().unwrap_or("?"));
    }));
    Ok(())
}

/// Opens the log file anew, after somebody moved the old one away.
pub fn reopen() {
    let Some(logger) = LOGGER.get() else { return };
    let result = logger.output.lock().reopen();
    match result {
        Ok(true) => log::info!("log file opened again"),
        Ok(false) => {}
        // The old file is still open, so this line is not lost.
        Err(error) => log::error!("cannot open the log file again, going on with the old one: {error}"),
    }
}

/// Cuts the ties to the terminal: standard input reads nothing, standard output and error
/// lead to the log file or nowhere.
pub fn take_over_stdio() -> io::Result<()> {
    super::sys::null_stdin()?;
    match LOGGER.get() {
        Some(logger) => logger.output.lock().take_over_stdio(),
        None => super::sys::redirect_output(None),
    }
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // The FUSE library logs each request at debug and its own life cycle at info, which
        // the daemon does itself.
        let foreign = metadata.target().split("::").next() == Some("fuser");
        !foreign || metadata.level() <= Level::Warn
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let message = one_line(&record.args().to_string());
            if message == ANSWER_TO_NOBODY {
                return;
            }
            self.output.lock().write(record.level(), &clock::utc(SystemTime::now()), &message);
        }
    }

    fn flush(&self) {}
}

/// What the FUSE library says when the kernel does not wait for an answer any more: the caller was
/// interrupted. It is no error.
const ANSWER_TO_NOBODY: &str = "Failed to send FUSE reply: No such file or directory (os error 2)";

/// Names and reasons come from users: a line break in one must not look like a second event,
/// nor an escape sequence reach a terminal.
fn one_line(message: &str) -> String {
    if !message.contains(char::is_control) {
        return message.to_owned();
    }
    message
        .chars()
        .flat_map(|char| {
            let escaped = char.is_control().then(|| char.escape_default());
            let plain = (!char.is_control()).then_some(char);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_stays_one_line() {
        assert_eq!(one_line("path ä/b.json rejected"), "path ä/b.json rejected");
        assert_eq!(one_line("a\nb\u{1b}[1m"), "a\\nb\\u{1b}[1m");
    }

    #[test]
    fn the_fuse_library_is_kept_short() {
        let logger = Logger { output: Mutex::new(Output::Stderr) };
        let enabled =
            |target: &str, level: Level| logger.enabled(&Metadata::builder().target(target).level(level).build());
        assert!(!enabled("fuser::session", Level::Info));
        assert!(enabled("fuser::session", Level::Warn));
        assert!(enabled("threadfs::fuse", Level::Debug));
    }
}
