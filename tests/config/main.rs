//! `threadfs config` and the configuration of the other commands, run as real processes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod layers;
mod mistakes;
mod usage;

use std::path::Path;
use std::process::{Command, Output};

/// The command with a clean environment, so that the tests do not depend on who runs them.
fn threadfs(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_threadfs"));
    command.env_clear().current_dir(directory);
    command
}

/// Standard output of a command that has to succeed.
fn stdout(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Standard error of a command that has to fail with this exit status and print nothing else.
fn stderr(command: &mut Command, status: i32) -> String {
    let output: Output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}
