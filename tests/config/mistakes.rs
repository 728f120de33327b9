//! What a wrong configuration says, and that nothing is done with it.

use std::fs;

use crate::{stderr, threadfs};

#[test]
fn the_example_of_the_manual() {
    let dir = tempfile::tempdir().unwrap();
    let file = "[documents]\nmax_bytes = \"1MiB\"\non_invalid = \"rejct\"\nmax_size = 3\n";
    fs::write(dir.path().join("threadfs.toml"), file).unwrap();
    let told = stderr(threadfs(dir.path()).args(["config", "--config", "threadfs.toml"]), 1);
    assert_eq!(told.lines().count(), 2, "{told}");
    let manual = include_str!("../../docs/configuration.md");
    for line in told.lines() {
        assert!(manual.contains(line), "docs/configuration.md does not have: {line}");
    }
}

#[test]
fn mount_refuses_before_it_touches_anything() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("mnt")).unwrap();
    let wrong = ["mount", "store", "mnt", "-o", "documents.max_byte=1MiB"];
    let told = stderr(threadfs(dir.path()).args(wrong), 1);
    let expected = "threadfs: option -o documents.max_byte=1MiB: unknown key documents.max_byte, \
                    did you mean documents.max_bytes?";
    assert!(told.starts_with(expected), "{told}");
    assert!(!dir.path().join("store").exists());
}

#[test]
fn a_file_that_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let told = stderr(threadfs(dir.path()).args(["config", "--config", "no.toml"]), 1);
    assert!(told.starts_with("threadfs: no.toml: cannot read the configuration file"), "{told}");
    let told = stderr(threadfs(dir.path()).arg("config").env("THREADFS_CONFIG", "no.toml"), 1);
    assert!(told.starts_with("threadfs: no.toml: cannot read the configuration file"), "{told}");
}

#[test]
fn escape_sequences_do_not_reach_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let told = stderr(threadfs(dir.path()).args(["config", "-o", "cache.ttl=\u{1b}[31m"]), 1);
    assert!(!told.contains('\u{1b}'), "{told:?}");
}
