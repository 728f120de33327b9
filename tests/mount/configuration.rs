//! The configuration of a mount.

use std::fs;
use std::time::Duration;

use crate::support::{Mount, run, threadfs};

#[test]
fn a_mistake_names_the_key_and_the_line_and_nothing_is_mounted() {
    for (text, words) in [
        ("[documents]\nmax_bytes = \"1MiB\"\nmax_size = 3\n", ["line 3", "documents.max_size", "max_bytes"]),
        ("[documents]\non_invalid = \"maybe\"\n", ["line 2", "documents.on_invalid", "accept"]),
        ("[documents]\nallow_nan = 3\n", ["line 2", "documents.allow_nan", "true"]),
        ("documents = 3\n", ["line 1", "documents", "section"]),
        ("[durability]\nsync_interval = \"fast\"\n", ["line 2", "durability.sync_interval", "s"]),
        ("[locks\n", ["line 1", "threadfs.toml", ""]),
    ] {
        let mount = Mount::builder().config(text).prepare();
        let told = mount.try_mount().refused();
        assert!(words.iter().all(|word| told.contains(word)), "{text:?}: {told}");
        assert!(!mount.store.exists());
        assert!(mount.list("").is_empty());
    }
}

#[test]
fn what_is_in_force_is_under_the_mountpoint_and_can_be_used_again() {
    let mount = Mount::builder()
        .config("[documents]\nmax_bytes = \"1MiB\"\n")
        .option("rejected.max_count=7")
        .option("locks.patterns=[\"a/*.lock\", \"b.lock\"]")
        .mount();
    let text = mount.read(".threadfs/config.toml");
    let table: toml::Table = text.parse().unwrap();
    assert_eq!(table["documents"]["max_bytes"].as_str(), Some("1MiB"));
    assert_eq!(table["rejected"]["max_count"].as_integer(), Some(7));
    assert_eq!(table["locks"]["patterns"].as_array().map(Vec::len), Some(2));
    let copy = mount.path.with_file_name("copy.toml");
    fs::write(&copy, &text).unwrap();
    let again = run(threadfs(["config", "--config"]).arg(&copy), Duration::from_secs(60)).ok();
    assert_eq!(again.parse::<toml::Table>().unwrap(), table);
    assert_eq!(mount.status()["config_file"], mount.path.with_file_name("threadfs.toml").to_str().unwrap());
}

#[test]
fn no_configuration_at_all_is_fine() {
    let mount = Mount::new();
    assert_eq!(mount.status()["config_file"], serde_json::Value::Null);
    let defaults = run(&mut threadfs(["config"]), Duration::from_secs(60)).ok();
    let in_force: toml::Table = mount.read(".threadfs/config.toml").parse().unwrap();
    assert_eq!(defaults.parse::<toml::Table>().unwrap(), in_force);
}

#[test]
fn no_line_for_each_operation_by_default() {
    let mount = Mount::with_document("[1]");
    let before = mount.log_text().lines().count();
    let actor = mount.actor();
    actor.run("for n in range(100): pathlib.Path('threads/t/sandbox.json').write_text('[2]'); os.stat('threads'); os.listdir('.')");
    assert_eq!(mount.log_text().lines().count(), before, "{}", mount.log_text());
}

#[test]
fn without_caches_everything_is_the_same() {
    let mount = Mount::with(&["cache.ttl=0s", "daemon.threads=1"]);
    mount.make("threads/t");
    let actor = mount.actor();
    for n in 0..20 {
        actor
            .run(&format!("pathlib.Path('threads/t/a.json').write_text('[{n}]'); pathlib.Path('f').write_text('{n}')"));
        assert_eq!((mount.read("threads/t/a.json"), mount.read("f")), (format!("[{n}]"), n.to_string()));
    }
    actor.run("f = open('threads/t/a.json', 'w'); f.write('[')");
    assert_eq!(actor.fails("f.close()"), "EBADMSG");
    actor.run("m = os.open('m', os.O_RDWR | os.O_CREAT); os.ftruncate(m, 4096); m = mmap.mmap(m, 4096); m[0:3] = b'abc'; m.flush()");
    assert!(mount.read("m").starts_with("abc"));
}
