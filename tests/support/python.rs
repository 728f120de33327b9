//! Python programs on a mount.

use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::command::run;

/// Runs a program; what it prints last has to be JSON, and is the result.
#[track_caller]
pub fn run_python(script: &str, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>, deadline: Duration) -> Value {
    let done = run(Command::new("python3").args(["-I", "-c", script]).args(arguments), deadline);
    assert!(done.status.success(), "{done:#?}");
    let last = done.stdout.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {done:#?}"))
}
