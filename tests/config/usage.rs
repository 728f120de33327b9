//! Exit statuses and refusals of the commands that need no mount.

use std::fs;

use crate::{stderr, stdout, threadfs};

#[test]
fn version_help_and_completions() {
    let dir = tempfile::tempdir().unwrap();
    let version = stdout(threadfs(dir.path()).arg("--version"));
    assert_eq!(version, concat!("threadfs ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = stdout(threadfs(dir.path()).arg("--help"));
    for command in ["mount", "umount", "status", "locks", "rejected", "deleted", "undelete", "config", "completions"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
        let own = stdout(threadfs(dir.path()).args([command, "--help"]));
        assert!(own.contains("Usage: "), "{own}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(threadfs(dir.path()).args(["completions", shell]));
        assert!(script.contains("umount"), "{script}");
    }
}

#[test]
fn wrong_usage_is_status_two() {
    let dir = tempfile::tempdir().unwrap();
    for arguments in [&[][..], &["mount", "store"], &["statuss", "x"], &["rejected", "x", "delete"]] {
        stderr(threadfs(dir.path()).args(arguments), 2);
    }
}

#[test]
fn a_directory_that_is_no_mount() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("d")).unwrap();
    for command in ["umount", "status", "locks", "rejected"] {
        let told = stderr(threadfs(dir.path()).args([command, "d"]), 1);
        assert_eq!(told, "threadfs: d is not a threadfs mount\n");
        let told = stderr(threadfs(dir.path()).args([command, "missing"]), 1);
        assert!(told.starts_with("threadfs: cannot use the mountpoint missing: "), "{told}");
    }
}
