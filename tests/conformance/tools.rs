//! Where the suites are, and how they are run.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::support::{self, Done};

/// How long a suite may take; the mount of a test ends some time later.
fn deadline() -> Duration {
    Duration::from_secs(support::scaled(200, 20_000))
}

/// What `scripts/test` has installed.
fn installed(variable: &str) -> PathBuf {
    match std::env::var_os(variable) {
        Some(path) => path.into(),
        None => panic!("{variable} is not set: run ./scripts/test, which installs the suites"),
    }
}

/// A suite from crates.io.
pub fn tool(name: &str) -> Command {
    Command::new(installed("THREADFS_TOOLS").join("bin").join(name))
}

/// A Python with LangGraph.
pub fn langgraph() -> Command {
    Command::new(installed("THREADFS_LANGGRAPH").join("bin/python"))
}

/// A Python that has its own tests.
pub fn cpython() -> Command {
    Command::new(installed("THREADFS_CPYTHON"))
}

/// Runs a suite to its end, in an empty environment but for the path.
#[track_caller]
pub fn run(command: &mut Command) -> Done {
    // The names of cargo and of other tests are none of its business.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own: Vec<_> =
        command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned()))).collect();
    command.env_clear().env("PATH", path).env("LC_ALL", "C.UTF-8").envs(own);
    support::run(command, deadline())
}

/// A folder on the local disk. Not in the one of cargo: its path may be too long for sockets.
pub fn disk() -> TempDir {
    tempfile::Builder::new().prefix("threadfs-disk-").tempdir_in("/var/tmp").unwrap()
}

/// The workspace of a thread.
pub fn workspace(root: &Path) -> PathBuf {
    let path = root.join("threads/t/user-data/workspace");
    std::fs::create_dir_all(&path).unwrap();
    path
}
