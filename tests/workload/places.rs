//! The same steps on a mount and on the local disk.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::support::{Mount, is_full, run, scaled};

/// How long the steps of one test may take; the daemon of its mount would be killed some time later.
fn deadline() -> Duration {
    Duration::from_secs(scaled(110, 1700))
}

/// Where the steps of a user take place: seen from here, `../../..` is the folder of all threads.
const WORKSPACE: &str = "threads/t/user-data/workspace";

/// A mount, and a folder on the local disk.
pub struct Places {
    pub mount: Mount,
    pub disk: TempDir,
}

impl Places {
    pub fn new() -> Places {
        Places { mount: Mount::new(), disk: folder() }
    }

    /// Runs a shell script in both places. It has to succeed in both and to print the same.
    #[track_caller]
    pub fn same(&self, steps: &str) -> String {
        let there = on(self.disk.path(), steps);
        let here = on(&self.mount.path, steps);
        if here != there {
            let only = |these: &str, others: &str| {
                let lines = these.lines().filter(|line| !others.lines().any(|other| other == *line));
                lines.collect::<Vec<_>>().join("\n")
            };
            panic!("only on the mount:\n{}\nonly on the disk:\n{}", only(&here, &there), only(&there, &here));
        }
        here
    }
}

/// The same on a new mount.
#[track_caller]
pub fn same_as_on_the_disk(steps: &str) -> String {
    Places::new().same(steps)
}

/// A folder on the local disk. Not in the one of cargo: its path may be too long for sockets.
pub fn folder() -> TempDir {
    tempfile::Builder::new().prefix("threadfs-disk-").tempdir_in("/var/tmp").unwrap()
}

/// Runs a shell script in the workspace of a thread: what it prints. In the script, `$elsewhere` is
/// an empty folder on the local disk, and `$steps` the one with the programs of these tests.
#[track_caller]
pub fn on(root: &Path, steps: &str) -> String {
    let workspace = root.join(WORKSPACE);
    fs::create_dir_all(&workspace).unwrap();
    let elsewhere = folder();
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-euo", "pipefail", "-c"]).arg(steps).current_dir(workspace);
    command
        .env("elsewhere", elsewhere.path())
        .env("steps", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/workload/steps"));
    command.envs([("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("PYTHONDONTWRITEBYTECODE", "1")]);
    let done = run(&mut command, deadline());
    assert!(done.status.success(), "in {}: {}\n{}\n{}", root.display(), done.status, done.stdout, done.stderr);
    if is_full() {
        // How long things take.
        eprint!("in {}:\n{}", root.display(), done.stderr);
    }
    done.stdout
}
