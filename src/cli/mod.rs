//! The command line: one file a subcommand, each with its arguments and a `run` that calls the
//! daemon's layer and gives back what to print.
//!
//! A new command is a file with `Args` and `run`, and one line in [`Command`] and in [`dispatch`].

mod completions;
mod config;
mod deleted;
mod diff;
mod fork;
mod fsck;
mod helper;
mod locks;
mod log;
mod mount;
mod rejected;
mod restore;
mod show;
mod snapshot;
mod status;
mod target;
mod text;
mod umount;
mod undelete;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::daemon::Error;

/// What a command prints to standard output.
type Output = Result<Vec<u8>, Error>;

/// A filesystem for the state of agents: atomic documents, visible locks, browsable history.
#[derive(Debug, Parser)]
#[command(name = "threadfs", version, max_term_width = 100, propagate_version = false)]
#[command(after_help = "Exit status: 0 done, 1 failed, 2 wrong usage.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Mount(mount::Args),
    Umount(umount::Args),
    Status(status::Args),
    Locks(locks::Args),
    Rejected(rejected::Args),
    Deleted(deleted::Args),
    Undelete(undelete::Args),
    Snapshot(snapshot::Args),
    Log(log::Args),
    Diff(diff::Args),
    Show(show::Args),
    Restore(restore::Args),
    Fork(fork::Args),
    Config(config::Args),
    Fsck(fsck::Args),
    Completions(completions::Args),
}

fn dispatch(command: Command) -> Result<(Vec<u8>, ExitCode), Error> {
    let output = match command {
        Command::Mount(args) => mount::run(args),
        Command::Umount(args) => umount::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Locks(args) => locks::run(&args),
        Command::Rejected(args) => rejected::run(&args),
        Command::Deleted(args) => deleted::run(&args),
        Command::Undelete(args) => undelete::run(&args),
        Command::Snapshot(args) => snapshot::run(&args),
        Command::Log(args) => log::run(&args),
        // The only one whose status says more than that it was done.
        Command::Diff(args) => return diff::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Restore(args) => restore::run(&args),
        Command::Fork(args) => fork::run(&args),
        Command::Config(args) => config::run(args),
        Command::Fsck(args) => fsck::run(&args),
        Command::Completions(args) => completions::run(&args),
    };
    output.map(|output| (output, ExitCode::SUCCESS))
}

/// Runs the command that this process was given: exit status 0 when it did what it should, 1
/// when it failed, 2 when it was used wrongly.
pub fn run() -> ExitCode {
    if helper::is_meant(std::env::args_os().next().as_ref()) {
        return match helper::parse() {
            Ok(args) => helper::run(args, tell),
            Err(error) => explain(&error, helper::USAGE),
        };
    }
    match Cli::try_parse() {
        Ok(cli) => match dispatch(cli.command) {
            Ok((output, status)) => print(&output, status),
            Err(error) => {
                tell(&error);
                ExitCode::FAILURE
            }
        },
        Err(error) => explain(&error, 2),
    }
}

/// Prints help or the version, which are "errors" too, or how a command was used wrongly.
fn explain(error: &clap::Error, wrong_usage: u8) -> ExitCode {
    // Where they cannot be printed, nothing can.
    error.print().unwrap_or_default();
    ExitCode::from(if error.use_stderr() { wrong_usage } else { 0 })
}

fn tell(error: &Error) {
    let lines: String = error.to_string().lines().map(|line| prefixed(&text::printable(line))).collect();
    io::stderr().write_all(lines.as_bytes()).unwrap_or_default();
}

/// A line of an error; the indented lines that explain another go without the name.
fn prefixed(line: &str) -> String {
    if line.starts_with(' ') { format!("{line}\n") } else { format!("threadfs: {line}\n") }
}

fn print(output: &[u8], status: ExitCode) -> ExitCode {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(output).and_then(|()| stdout.flush()) {
        // A reader that has seen enough, as in `threadfs locks | head`, is no failure.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let line = format!("threadfs: cannot write the output: {error}\n");
            io::stderr().write_all(line.as_bytes()).unwrap_or_default();
            ExitCode::FAILURE
        }
        _ => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
        helper::Args::command().debug_assert();
    }

    #[test]
    fn errors_of_several_lines() {
        assert_eq!(prefixed("a"), "threadfs: a\n");
        assert_eq!(prefixed("  b"), "  b\n");
    }
}
