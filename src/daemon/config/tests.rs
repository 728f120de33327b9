//! Tests of the layers together; each file has those of its own functions.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::fs::{Durability, OnInvalid};

/// A configuration from a file's text, variables and options.
fn load(text: &str, variables: &[(&str, &str)], options: &[&str]) -> Result<Config, Error> {
    let mut builder = Builder::default();
    file::parse(&mut builder, Path::new("/etc/t.toml"), text);
    let environment: Vec<(OsString, OsString)> =
        variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
    environment::read(&mut builder, &environment);
    let options: Vec<String> = options.iter().map(|text| (*text).to_owned()).collect();
    let mount = options::read(&mut builder, &options);
    if !builder.problems.is_empty() {
        return Err(Error { problems: builder.problems });
    }
    Ok(Config { settings: builder.settings, mount, file: None, origins: builder.origins })
}

fn messages(text: &str, variables: &[(&str, &str)], options: &[&str]) -> String {
    match load(text, variables, options) {
        Ok(_) => String::from("accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn nothing_given_is_fine() {
    let config = Config::load(&Sources::default()).unwrap();
    assert_eq!(config.settings.fs.max_document_bytes, 16 << 20);
    assert!(config.file.is_none());
    assert!(KEYS.iter().all(|key| config.origin(key.name).is_none()));
}

#[test]
fn every_key_can_be_set_in_every_layer() {
    let all = Settings::default();
    for key in KEYS {
        let shown = key.kind.show(&all);
        let text = shown.trim_matches('"');
        let in_file = format!("[{}]\n{} = {shown}\n", key.section(), key.short_name());
        let config = load(&in_file, &[], &[]).unwrap();
        assert_eq!(config.origin(key.name).unwrap().to_string(), "/etc/t.toml line 2");
        let config = load("", &[(&key.variable(), text)], &[]).unwrap();
        assert_eq!(key.kind.show(&config.settings), shown);
        let config = load("", &[], &[&format!("{}={text}", key.name)]).unwrap();
        assert_eq!(key.kind.show(&config.settings), shown);
    }
}

#[test]
fn later_layers_win() {
    let file = "[durability]\nmode = \"sync\"\nsync_interval = \"2s\"\n[cache]\nttl = \"2m\"\n";
    let variables = [("THREADFS_DURABILITY_SYNC_INTERVAL", "3s"), ("THREADFS_CACHE_TTL", "3m")];
    let config = load(file, &variables, &["cache.ttl=4m,cache.ttl=5m"]).unwrap();
    assert_eq!(config.settings.fs.durability, Durability::Sync);
    assert_eq!(config.settings.fs.sync_interval, Duration::from_secs(3));
    assert_eq!(config.settings.fs.ttl, Duration::from_secs(300));
    assert_eq!(config.origin("cache.ttl"), Some(&Origin::Option("cache.ttl=5m".into())));
}

#[test]
fn toml_forms() {
    let text = "documents.on_invalid = 'accept'\ndocuments.max_bytes = 0x100000\n\
                [cache]\nmemory = 268435456\n[limits]\nmax_file_bytes = \"1 GiB\"\n";
    let settings = load(text, &[], &[]).unwrap().settings;
    assert_eq!(settings.fs.on_invalid, OnInvalid::Accept);
    assert_eq!(settings.fs.max_document_bytes, 1 << 20);
    assert_eq!(settings.memory_bytes, 256 << 20);
    assert_eq!(settings.fs.max_file_bytes, 1 << 30);
}

#[test]
fn lists_in_texts() {
    let config =
        load("", &[("THREADFS_LOCKS_PATTERNS", "a/*.lock")], &[r#"threads.patterns=["a/*", 'b,c/*'],ro"#]).unwrap();
    assert_eq!(config.settings.fs.lock_patterns, ["a/*.lock"]);
    assert_eq!(config.settings.fs.thread_patterns, ["a/*", "b,c/*"]);
    assert!(config.mount.read_only);
    assert!(load("", &[], &["documents.patterns=[]"]).unwrap().settings.fs.document_patterns.is_empty());
}

#[test]
fn unknown_keys_say_what_was_meant() {
    assert_eq!(
        messages("\n[locks]\npattern = []\n", &[], &[]),
        "/etc/t.toml line 3: unknown key locks.pattern, did you mean locks.patterns? ([locks] has patterns)"
    );
    assert_eq!(
        messages("[document]\nx = 1", &[], &[]),
        "/etc/t.toml line 1: unknown section [document], did you mean [documents]? (sections are threads, \
         documents, locks, rejected, snapshots, durability, cache, limits, daemon, mount)"
    );
    let bare = messages("on_invalid = \"accept\"", &[], &[]);
    assert!(bare.contains("unknown key on_invalid, did you mean documents.on_invalid?"), "{bare}");
    let section = messages("cache = 5", &[], &[]);
    assert!(section.contains("cache is a section: write [cache]"), "{section}");
    let option = messages("", &[], &["documents.on_invald=accept"]);
    assert!(option.starts_with("option -o documents.on_invald=accept: unknown key"), "{option}");
    let plain = messages("", &[], &["nosuidd"]);
    assert!(plain.contains("unknown mount option nosuidd"), "{plain}");
    let variable = messages("", &[("THREADFS_CACHE_TLL", "5m")], &[]);
    assert_eq!(
        variable,
        "environment variable THREADFS_CACHE_TLL: no key is set by it, did you mean THREADFS_CACHE_TTL?"
    );
}

#[test]
fn variables_of_others_are_ignored() {
    let others = [("THREADFS_SERVICE_HOST", "10.0.0.1"), ("THREADFS_CACHE_DIR", "/x"), ("THREADFS_CONFIG", "")];
    assert_eq!(messages("", &others, &[]), "accepted");
}

#[test]
fn wrong_values_say_what_is_allowed() {
    for (text, expected) in [
        (
            "[documents]\n\non_invalid = \"rejct\"",
            "/etc/t.toml line 3: documents.on_invalid cannot be \"rejct\", did you mean \"reject\"?; \
             allowed: \"reject\" or \"accept\"",
        ),
        (
            "[documents]\nallow_nan = \"true\"",
            "/etc/t.toml line 2: documents.allow_nan cannot be \"true\"; allowed: true or false",
        ),
        (
            "[daemon]\nthreads = -1",
            "/etc/t.toml line 2: daemon.threads = -1 is out of range; allowed: a whole number from 0 to 64",
        ),
        (
            "[daemon]\nthreads = 2.5",
            "/etc/t.toml line 2: daemon.threads cannot be 2.5; allowed: a whole number from 0 to 64",
        ),
        (
            "[cache]\nttl = 5",
            "/etc/t.toml line 2: cache.ttl cannot be 5; allowed: a text with a unit: ms, s, m, h, d; from \
             0s to 365d",
        ),
    ] {
        assert_eq!(messages(text, &[], &[]), expected);
    }
    let size = messages("[documents]\nmax_bytes = \"16MB\"", &[], &[]);
    assert!(size.contains("cannot be \"16MB\"; allowed: a whole number of bytes"), "{size}");
    let range = messages("[documents]\nmax_bytes = 1", &[], &[]);
    assert!(range.contains("= 1 is out of range") && range.contains("from 1KiB to 1GiB"), "{range}");
    let pattern = messages("[locks]\npatterns = [\"/a/*\"]", &[], &[]);
    assert!(pattern.contains("\"/a/*\" starts with /"), "{pattern}");
    let glob = messages("[locks]\npatterns = [\"a/[x\"]", &[], &[]);
    assert!(glob.contains("is not a glob"), "{glob}");
    let list = messages("[locks]\npatterns = [1]", &[], &[]);
    assert!(list.contains("cannot be [1]; allowed: a list of texts"), "{list}");
}

#[test]
fn all_mistakes_are_told_at_once() {
    let all = messages("[cache]\nttl = 1\nmemry = 2\n", &[("THREADFS_DAEMON_THREADS", "x")], &["zz"]);
    assert_eq!(all.lines().count(), 4, "{all}");
}

#[test]
fn broken_toml_has_its_line() {
    let broken = messages("[cache]\nttl = \n", &[], &[]);
    assert!(broken.starts_with("/etc/t.toml line 2: not valid TOML: "), "{broken}");
    let twice = messages("[cache]\nttl = '1s'\nttl = '2s'\n", &[], &[]);
    assert!(twice.starts_with("/etc/t.toml line 3: not valid TOML: "), "{twice}");
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let sources = Sources { file: Some("/nonexistent/t.toml".into()), ..Sources::default() };
    let error = Config::load(&sources).unwrap_err().to_string();
    assert!(error.starts_with("/nonexistent/t.toml: cannot read the configuration file"), "{error}");
}

#[test]
fn the_file_of_the_flag_goes_before_that_of_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("1.toml"), dir.path().join("2.toml"));
    std::fs::write(&one, "[daemon]\nthreads = 3").unwrap();
    std::fs::write(&two, b"# \xff\n").unwrap();
    let mut sources = Sources { environment: vec![(FILE_VARIABLE.into(), two.clone().into())], ..Sources::default() };
    let error = Config::load(&sources).unwrap_err().to_string();
    assert_eq!(error, format!("{} line 1: not UTF-8, as TOML has to be", two.display()));
    sources.file = Some(one.clone());
    let config = Config::load(&sources).unwrap();
    assert_eq!((config.settings.threads, config.file), (3, Some(one)));
}

#[test]
fn what_is_printed_is_read_again() {
    let given = ["documents.patterns=['a/\"b.json'],cache.ttl=90s,daemon.log_level=debug,mount.allow_other=false"];
    let config = load("", &[], &given).unwrap();
    let text = config.to_toml();
    let again = load(&text, &[], &[]).unwrap();
    for key in KEYS {
        assert_eq!(key.kind.show(&config.settings), key.kind.show(&again.settings), "{}", key.name);
    }
    assert!(text.contains("# Set by: option -o cache.ttl=90s"), "{text}");
    assert!(text.lines().all(|line| !line.starts_with('#') || line.len() < 130), "{text}");
}

#[test]
fn the_manual_has_every_key_with_its_default() {
    let manual = include_str!("../../../docs/configuration.md");
    for key in KEYS {
        let default = key.kind.show(&Settings::default());
        let row = manual.lines().find(|line| line.starts_with(&format!("| `{}` |", key.name)));
        let row = row.unwrap_or_else(|| panic!("docs/configuration.md has no row of {}", key.name));
        assert!(row.contains(&format!("| `{default}` |")), "{} has the default {default}: {row}", key.name);
    }
}
