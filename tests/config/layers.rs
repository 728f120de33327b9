//! Where values come from, and which goes before which.

use std::fs;

use crate::{stdout, threadfs};

/// The value of a key in the printed configuration.
fn value(text: &str, section: &str, key: &str) -> String {
    let table: toml::Table = text.parse().unwrap();
    table[section][key].to_string()
}

#[test]
fn defaults_without_any_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let text = stdout(threadfs(dir.path()).arg("config"));
    assert_eq!(value(&text, "documents", "on_invalid"), "\"reject\"");
    assert_eq!(value(&text, "documents", "max_bytes"), "\"16MiB\"");
    assert_eq!(value(&text, "daemon", "threads"), "0");
    assert!(text.contains("# File: none\n"), "{text}");
    assert!(!text.contains("Set by"), "{text}");
}

#[test]
fn file_environment_and_options_in_turn() {
    let dir = tempfile::tempdir().unwrap();
    let file = "[cache]\nttl = \"2m\"\nmemory = \"64MiB\"\n\n[durability]\nmode = \"sync\"\n";
    fs::write(dir.path().join("t.toml"), file).unwrap();
    let text = stdout(
        threadfs(dir.path())
            .args(["config", "--config", "t.toml", "-o", "cache.ttl=4m", "-o", "documents.allow_nan,ro"])
            .env("THREADFS_CACHE_TTL", "3m")
            .env("THREADFS_CACHE_MEMORY", "32MiB"),
    );
    assert_eq!(value(&text, "cache", "ttl"), "\"4m\"");
    assert_eq!(value(&text, "cache", "memory"), "\"32MiB\"");
    assert_eq!(value(&text, "durability", "mode"), "\"sync\"");
    assert_eq!(value(&text, "documents", "allow_nan"), "true");
    let absolute = dir.path().join("t.toml");
    assert!(text.contains(&format!("# File: {}\n", absolute.display())), "{text}");
    assert!(text.contains("# Set by: t.toml line 6\n"), "{text}");
    assert!(text.contains("# Set by: environment variable THREADFS_CACHE_MEMORY\n"), "{text}");
    assert!(text.contains("# Set by: option -o cache.ttl=4m\n"), "{text}");
}

#[test]
fn the_environment_can_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.toml"), "daemon.log_level = \"debug\"\n").unwrap();
    let text = stdout(threadfs(dir.path()).arg("config").env("THREADFS_CONFIG", "t.toml"));
    assert_eq!(value(&text, "daemon", "log_level"), "\"debug\"");
}

#[test]
fn the_output_is_a_configuration_file() {
    let dir = tempfile::tempdir().unwrap();
    let patterns = r#"locks.patterns=["a/*.lock", "b/{x,y}.lock"],rejected.max_age=90s"#;
    let first = stdout(threadfs(dir.path()).args(["config", "-o", patterns]));
    fs::write(dir.path().join("t.toml"), &first).unwrap();
    let second = stdout(threadfs(dir.path()).args(["config", "--config", "t.toml"]));
    let table = |text: &str| text.parse::<toml::Table>().unwrap();
    assert_eq!(table(&first), table(&second));
    assert_eq!(value(&second, "rejected", "max_age"), "\"90s\"");
}
