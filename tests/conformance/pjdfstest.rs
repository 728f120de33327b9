//! pjdfstest: what each system call has to do, errors and times included.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::report::Run;
use crate::support::Mount;
use crate::tools;

/// How many there are that need neither a remount nor [`SKIPPED`].
const PASSING: u32 = 384;

/// How many there are of a filesystem that becomes read-only.
const READ_ONLY: u32 = 13;

/// It asks the C library for the limit, which knows it for the filesystems of the kernel only.
const SKIPPED: &str = "link::link_count_max";

/// What the last line of its output tells.
#[derive(Debug, PartialEq, Eq)]
struct Summary {
    failed: u32,
    skipped: u32,
    passed: u32,
}

fn summary(output: &str) -> Summary {
    let line = output.lines().find_map(|line| line.strip_prefix("Summary: "));
    let line = line.unwrap_or_else(|| panic!("no summary:\n{output}"));
    let count = |kind: &str| {
        let part = line.split(", ").find_map(|part| part.strip_suffix(kind));
        part.unwrap_or_else(|| panic!("no count of{kind}: {line}")).trim().parse().unwrap()
    };
    Summary { failed: count(" failed"), skipped: count(" skipped"), passed: count(" passed") }
}

/// The names of those that were skipped.
fn skipped(output: &str) -> Vec<&str> {
    output.lines().filter_map(|line| line.strip_suffix(" skipped")).map(str::trim_end).collect()
}

/// A folder for it, with a path of 40 bytes. When the length of the path is 9 modulo 127, pjdfstest
/// 0.2.2 fails by itself to make up a path of the greatest length, and beyond 50 its sockets have
/// paths that are too long for the kernel.
fn folder(root: &Path) -> PathBuf {
    let start = root.join("p");
    let length = 40_usize.saturating_sub(start.as_os_str().len());
    let path = root.join("p".repeat(1 + length));
    fs::create_dir(&path).unwrap();
    path
}

/// The command, with other users to become and another filesystem to link to.
fn pjdfstest(scratch: &Path, folder: &Path, remount: bool) -> Command {
    let config = scratch.join("pjdfstest.toml");
    let text = include_str!("pjdfstest.toml").replace("REMOUNT", if remount { "true" } else { "false" });
    fs::write(&config, text).unwrap();
    let mut command = tools::tool("pjdfstest");
    command.arg("-c").arg(config).arg("-s").arg(scratch).arg("-p").arg(folder).current_dir("/");
    command
}

#[test]
fn every_system_call() {
    let (mount, scratch) = (Mount::new(), tools::disk());
    let run = Run::start("pjdfstest 0.2.2", "all but what needs a remount");
    let done = tools::run(&mut pjdfstest(scratch.path(), &folder(&mount.path), false));
    let found = summary(&done.stdout);
    assert!(done.status.success() && found.failed == 0, "{}\n{}", done.stdout, done.stderr);
    assert!(found.passed >= PASSING, "{found:?}\n{}", done.stdout);
    let others: Vec<_> = skipped(&done.stdout).into_iter().filter(|name| !name.contains("::erofs_")).collect();
    assert_eq!(others, [SKIPPED]);
    run.ended(&format!("{} of {} pass, {SKIPPED} is skipped", found.passed, found.passed + 1), "");
}

#[test]
fn every_system_call_on_a_filesystem_that_becomes_read_only() {
    let (mount, scratch) = (Mount::new(), tools::disk());
    // mount(8) hands a remount over to the helper of FUSE, which would start the daemon once more.
    let program = scratch.path().join("mount");
    fs::write(&program, "#!/bin/sh\nPATH=${PATH#*:} exec mount -i \"$@\"\n").unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", scratch.path().display(), std::env::var("PATH").unwrap());

    let run = Run::start("pjdfstest 0.2.2", "remounted read-only and back");
    let done = tools::run(pjdfstest(scratch.path(), &folder(&mount.path), true).arg("erofs").env("PATH", path));
    let found = summary(&done.stdout);
    assert!(done.status.success(), "{}\n{}", done.stdout, done.stderr);
    assert_eq!(found, Summary { failed: 0, skipped: 0, passed: READ_ONLY }, "{}", done.stdout);
    run.ended(&format!("{} of {} pass", found.passed, found.passed), "");
}

#[test]
fn the_other_user_is_there() {
    let users = fs::read_to_string("/etc/passwd").unwrap();
    assert!(users.contains("\ntests:"), "there is no user `tests`: run ./scripts/test, which makes it");
}
