//! Which processes keep a mount from being unmounted.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::daemon::mountinfo;

/// The most processes that are named.
const MOST: usize = 10;

/// A process with something open on a mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub command: String,
    /// What it uses: `working directory`, `3 open files`.
    pub uses: String,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "pid {} ({}): {}", self.pid, self.command, self.uses)
    }
}

/// The processes that use something below a mountpoint, as far as this user may see. Only
/// links in /proc are read, so that a daemon that does not answer cannot block this.
pub fn of(mountpoint: &Path) -> Vec<Holder> {
    let own = std::process::id();
    let others = processes().into_iter().filter(|pid| *pid != own);
    others.filter_map(|pid| holder(pid, mountpoint)).take(MOST).collect()
}

fn holder(pid: u32, mountpoint: &Path) -> Option<Holder> {
    let process = Path::new("/proc").join(pid.to_string());
    let leads_inside = |link: &Path| fs::read_link(link).is_ok_and(|to| to.starts_with(mountpoint));
    let mut uses = Vec::new();
    for (link, what) in [("cwd", "working directory"), ("root", "root directory"), ("exe", "program")] {
        if leads_inside(&process.join(link)) {
            uses.push(String::from(what));
        }
    }
    let open = fs::read_dir(process.join("fd"))
        .map(|entries| entries.flatten().filter(|entry| leads_inside(&entry.path())).count())
        .unwrap_or(0);
    if open > 0 {
        uses.push(format!("{open} open file{}", if open == 1 { "" } else { "s" }));
    }
    let mapped = mapped(&process, mountpoint);
    if mapped > 0 {
        uses.push(format!("{mapped} mapped file{}", if mapped == 1 { "" } else { "s" }));
    }
    (!uses.is_empty()).then(|| Holder { pid, command: command(pid), uses: uses.join(", ") })
}

/// How many files below the mountpoint a process has in its memory.
fn mapped(process: &Path, mountpoint: &Path) -> usize {
    let text = fs::read(process.join("maps")).unwrap_or_default();
    let mut files = BTreeSet::new();
    for line in text.split(|byte| *byte == b'\n') {
        // The path is the rest of the line from its first slash.
        let start = line.iter().position(|byte| *byte == b'/');
        let Some(path) = start.and_then(|at| line.get(at..)) else { continue };
        if Path::new(OsStr::from_bytes(path)).starts_with(mountpoint) {
            files.insert(path);
        }
    }
    files.len()
}

/// The name of a process; `?` when it is gone.
pub fn command(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    if name.is_empty() { String::from("?") } else { name.trim_end().to_owned() }
}

/// A process that sees a filesystem mounted, in another mount namespace for instance.
pub fn still_mounted_for(device: &str) -> Option<u32> {
    processes().into_iter().find(|pid| {
        mountinfo::of_process(&pid.to_string()).is_ok_and(|mounts| mounts.iter().any(|mount| mount.device == device))
    })
}

fn processes() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_with_a_working_directory_and_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let file = fs::File::create(root.join("out")).unwrap();
        let mut child = Command::new("sleep").arg("60").current_dir(&root).stdout(Stdio::from(file)).spawn().unwrap();
        let found = of(&root);
        child.kill().unwrap();
        child.wait().unwrap();
        let found: Vec<String> = found.iter().map(Holder::to_string).collect();
        assert_eq!(found, [format!("pid {} (sleep): working directory, 1 open file", child.id())]);
        assert!(of(&root).is_empty());
    }

    #[test]
    fn the_root_filesystem_is_mounted_for_somebody() {
        let root = mountinfo::at(Path::new("/")).unwrap().unwrap();
        assert!(still_mounted_for(&root.device).is_some());
        assert!(still_mounted_for("none").is_none());
    }
}
