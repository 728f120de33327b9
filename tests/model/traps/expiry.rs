//! What goes by the clock.

use std::sync::Arc;
use std::time::Duration;

use threadfs::engine::memory::MemoryEngine;
use threadfs::engine::{Engine, Keyspace};
use threadfs::fs::{Fs, FsOptions, Node};
use threadfs::store::key;

use crate::faulty::Faulty;
use crate::support::{ROOT_USER, assert_sound, content, create, mount_with, options, thread};

fn versions(fs: &Fs) -> usize {
    let mut count = 0;
    let prefix = key::all(key::tag::VERSION);
    let mut add = |_: &[u8], _: &[u8]| {
        count += 1;
        std::ops::ControlFlow::Continue(())
    };
    fs.store().engine().scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut add).unwrap();
    count
}

fn commit(fs: &Fs, dir: Node, name: &str, text: &str) {
    let fh = match fs.lookup(dir, name.as_bytes()) {
        Ok(entry) => fs.open(ROOT_USER, Node::from_ino(entry.attr.ino), libc::O_WRONLY | libc::O_TRUNC).unwrap().fh,
        Err(_) => create(fs, dir, name).1,
    };
    fs.write(fh, 0, text.as_bytes(), 0, None).unwrap();
    fs.flush(fh, 1).unwrap();
    fs.release(fh);
}

#[test]
fn versions_over_their_age_go_without_a_commit() {
    let options = FsOptions { version_age: Duration::from_secs(1), versions_per_document: 100, ..options() };
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let fs = mount_with(engine.clone(), options.clone());
    let dir = thread(&fs, "t");
    // More documents than one go takes.
    for number in 0..70 {
        for text in ["[1]", "[2]", "[3]"] {
            commit(&fs, dir, &format!("{number}.json"), text);
        }
    }
    commit(&fs, dir, "single.json", "[1]");
    fs.tick();
    assert_eq!(versions(&fs), 211, "none is old");
    std::thread::sleep(Duration::from_millis(2100));
    // Each mount does one go at its first tick.
    drop(fs);
    let fs = mount_with(engine.clone(), options.clone());
    fs.tick();
    let left = versions(&fs);
    assert!((72..211).contains(&left), "{left} after one go");
    drop(fs);
    let fs = mount_with(engine, options);
    fs.tick();
    assert_eq!(versions(&fs), 71, "the newest of each stays");
    for name in ["0.json", "69.json"] {
        let node = Node::from_ino(fs.lookup(dir, name.as_bytes()).unwrap().attr.ino);
        assert_eq!(content(&fs, node), b"[3]");
        commit(&fs, dir, name, "[4]");
    }
    assert_eq!(versions(&fs), 71, "what was the newest is old too by now");
    while !fs.collect_for(Duration::from_secs(1)) {}
    assert_sound(&fs);
}

#[test]
fn snapshots_grow_old_without_a_new_one() {
    let options =
        FsOptions { automatic_snapshots: true, snapshot_cooldown: Duration::ZERO, snapshot_versions: 200, ..options() };
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let fs = mount_with(engine.clone(), options.clone());
    let dir = thread(&fs, "t");
    for number in 0..150 {
        commit(&fs, dir, "a.json", &format!("[{number}]"));
    }
    let count = |fs: &Fs| fs.store().realm(dir.realm).unwrap().read().snapshots.len();
    fs.tick();
    assert_eq!(count(&fs), 150);
    let listed = Node::from_ino(fs.lookup(dir, b".snapshots").unwrap().attr.ino);
    let mut names = crate::support::names(&fs, listed);
    names.dedup();
    assert_eq!(names.len(), 150, "two have one name");
    drop(fs);
    let fs = mount_with(engine, FsOptions { snapshot_versions: 1, snapshot_days: 0, ..options });
    fs.tick();
    assert_eq!(count(&fs), 150 - 64, "a bounded number at a time");
    fs.tick();
    fs.tick();
    // The newest, and that of each minute.
    assert!(count(&fs) <= 3, "{}", count(&fs));
    while !fs.collect_for(Duration::from_secs(1)) {}
    assert_sound(&fs);
}

#[test]
fn a_deleted_thread_goes_when_room_is_short() {
    let engine = Faulty::new(Arc::new(MemoryEngine::new()));
    let fs = mount_with(engine.clone(), FsOptions { keep_deleted: Duration::from_secs(3600), ..options() });
    for name in ["first", "second"] {
        let dir = thread(&fs, name);
        let snapshots = Node::from_ino(fs.lookup(dir, b".snapshots").unwrap().attr.ino);
        fs.mkdir(ROOT_USER, snapshots, b"one", 0o755).unwrap();
        let threads = Node::from_ino(fs.lookup(Node::ROOT, b"threads").unwrap().attr.ino);
        fs.rmdir(ROOT_USER, threads, name.as_bytes()).unwrap();
    }
    fs.tick();
    assert_eq!(fs.status().deleted, 2);
    engine.set_short(true);
    fs.tick();
    engine.set_short(false);
    let kept = String::from_utf8(fs.describe_deleted()).unwrap();
    assert!(kept.contains("threads/second") && !kept.contains("threads/first"), "{kept}");
    while !fs.collect_for(Duration::from_secs(1)) {}
    assert_sound(&fs);
}
