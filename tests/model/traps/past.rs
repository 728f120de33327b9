//! Readings of the design that sound right and lose data, one test each.

use std::sync::Arc;
use std::time::Duration;

use threadfs::engine::memory::MemoryEngine;
use threadfs::engine::{Engine, Keyspace};
use threadfs::fs::{Fs, Node, Restored};
use threadfs::store::key;
use threadfs::store::record::{SnapshotKind, SnapshotRecord};

use crate::support::{ROOT_USER, assert_sound, content, file, mkdir, mount, names, node, open, thread};

fn start() -> (Arc<dyn Engine>, Arc<Fs>, Node) {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
    let fs = mount(Arc::clone(&engine));
    let top = thread(&fs, "t");
    (engine, fs, top)
}

fn at(fs: &Fs, from: Node, path: &str) -> Node {
    path.split('/').fold(from, |at, name| node(&fs.lookup(at, name.as_bytes()).unwrap()))
}

fn take(fs: &Fs, top: Node, name: &str) {
    mkdir(fs, at(fs, top, ".snapshots"), name);
}

fn discard(fs: &Fs, top: Node, name: &str) {
    fs.rmdir(ROOT_USER, at(fs, top, ".snapshots"), name.as_bytes()).unwrap();
    while !fs.collect_for(Duration::from_secs(1)) {}
}

fn epoch(fs: &Fs, top: Node, name: &str) -> u64 {
    let number = fs.getxattr(at(fs, top, &format!(".snapshots/{name}")), b"user.threadfs.version").unwrap();
    String::from_utf8(number).unwrap().parse().unwrap()
}

fn back(fs: &Fs, top: Node, name: &str) {
    let safety = SnapshotRecord::new(SnapshotKind::Automatic, format!("auto-{name}"), "before");
    let done = fs.restore(top.realm, epoch(fs, top, name), &safety, &[]).unwrap();
    assert!(matches!(done, Restored::Done { .. }));
    assert_sound(fs);
}

fn write(fs: &Fs, file: Node, text: &[u8]) {
    let fh = open(fs, file);
    fs.write(fh, 0, text, 0, None).unwrap();
    fs.release(fh);
}

fn fork(fs: &Fs, top: Node, snapshot: Option<&str>, name: &str) -> Node {
    let threads = at(fs, Node::ROOT, "threads");
    fs.fork(top.realm, snapshot.map(|snapshot| epoch(fs, top, snapshot)), threads, name.as_bytes()).unwrap();
    at(fs, threads, name)
}

/// "What did not exist then is deleted": in a fork that would hide what the base has.
#[test]
fn a_restore_in_a_fork_lets_the_base_show_through() {
    let (_, fs, top) = start();
    file(&fs, top, "f", b"base");
    let child = fork(&fs, top, None, "x");
    take(&fs, child, "s");
    fs.unlink(ROOT_USER, child, b"f").unwrap();
    file(&fs, child, "f", b"other");
    back(&fs, child, "s");
    assert_eq!(content(&fs, at(&fs, child, "f")), b"base");
}

/// "Dropping a snapshot drops the index of its interval": an older one could not be gone back to.
#[test]
fn what_was_touched_before_a_dropped_snapshot_is_still_known() {
    let (_, fs, top) = start();
    let f = file(&fs, top, "f", b"1");
    take(&fs, top, "one");
    write(&fs, f, b"2");
    take(&fs, top, "two");
    discard(&fs, top, "two");
    back(&fs, top, "one");
    assert_eq!(content(&fs, at(&fs, top, "f")), b"1");
}

/// "Only what replaces something is in the index": what is new would stay.
#[test]
fn what_is_new_since_goes() {
    let (_, fs, top) = start();
    take(&fs, top, "s");
    file(&fs, top, "new", b"n");
    back(&fs, top, "s");
    assert_eq!(names(&fs, top), [] as [&str; 0]);
}

/// "The epoch comes from the newest snapshot that exists": after a drop it would fall back.
#[test]
fn the_epoch_does_not_fall_back_with_a_drop() {
    let (_, fs, top) = start();
    let f = file(&fs, top, "f", b"1");
    take(&fs, top, "one");
    take(&fs, top, "two");
    write(&fs, f, b"2");
    discard(&fs, top, "two");
    write(&fs, f, b"3");
    take(&fs, top, "three");
    write(&fs, f, b"4");
    assert_eq!(content(&fs, at(&fs, top, ".snapshots/one/f")), b"1");
    assert_eq!(content(&fs, at(&fs, top, ".snapshots/three/f")), b"3");
    assert_sound(&fs);
}

fn remove(fs: &Fs, top: Node, name: &str) {
    for file in names(fs, top) {
        fs.unlink(ROOT_USER, top, file.as_bytes()).unwrap();
    }
    fs.rmdir(ROOT_USER, at(fs, Node::ROOT, "threads"), name.as_bytes()).unwrap();
    fs.forget(top, 1 << 20);
    while !fs.collect_for(Duration::from_secs(1)) {}
}

/// "A deleted thread is deleted": its forks, and the snapshots of everything, need it.
#[test]
fn a_deleted_parent_lives_on_in_its_forks_and_in_snapshots_of_everything() {
    let (_, fs, top) = start();
    file(&fs, top, "f", &[7; 20_000]);
    take(&fs, Node::ROOT, "all");
    let child = fork(&fs, top, None, "x");
    remove(&fs, top, "t");
    assert_eq!(content(&fs, at(&fs, child, "f")), [7; 20_000]);
    assert_eq!(content(&fs, at(&fs, Node::ROOT, ".snapshots/all/threads/t/f")), [7; 20_000]);
    assert_sound(&fs);
}

/// "A value is kept if any snapshot was ever taken since": dropped ones would cost for ever.
#[test]
fn nothing_is_kept_for_a_snapshot_that_is_gone() {
    let (engine, fs, top) = start();
    let f = file(&fs, top, "f", b"1");
    take(&fs, top, "s");
    discard(&fs, top, "s");
    write(&fs, f, b"2");
    let history = key::all(key::tag::HISTORY);
    assert_eq!(engine.first(Keyspace::Meta, &history, &key::after(&history)).unwrap(), None);
}

/// "What only the dropped snapshot needed goes": a fork may have been made at it.
#[test]
fn the_snapshot_of_a_fork_can_be_dropped() {
    let (_, fs, top) = start();
    let f = file(&fs, top, "f", b"1");
    take(&fs, top, "s");
    let child = fork(&fs, top, Some("s"), "x");
    write(&fs, f, b"2");
    discard(&fs, top, "s");
    write(&fs, f, b"3");
    assert_eq!(content(&fs, at(&fs, child, "f")), b"1");
    assert_sound(&fs);
}

/// "Everything is restored": the counter of inode numbers too, and numbers would be used twice.
#[test]
fn no_number_is_given_out_again_after_a_restore() {
    let (_, fs, top) = start();
    take(&fs, top, "s");
    let gone = file(&fs, top, "gone", b"g");
    back(&fs, top, "s");
    assert!(file(&fs, top, "next", b"n").local > gone.local);
}

/// "A snapshot of everything is the home's": the threads would not be in it as they were.
#[test]
fn a_snapshot_of_everything_keeps_every_thread() {
    let (_, fs, top) = start();
    let f = file(&fs, top, "f", b"1");
    take(&fs, Node::ROOT, "all");
    write(&fs, f, b"2");
    take(&fs, top, "s");
    write(&fs, f, b"3");
    assert_eq!(content(&fs, at(&fs, Node::ROOT, ".snapshots/all/threads/t/f")), b"1");
    assert_eq!(content(&fs, at(&fs, top, ".snapshots/s/f")), b"2");
}

/// A snapshot, a restore and a fork that find no room change nothing, and the thread goes on.
#[test]
fn without_room_nothing_happens() {
    let (engine, fs) = crate::support::fresh();
    let top = thread(&fs, "t");
    let f = file(&fs, top, "f", b"1");
    take(&fs, top, "s");
    write(&fs, f, b"2");
    let snapshots = at(&fs, top, ".snapshots");
    let safety = SnapshotRecord::new(SnapshotKind::Automatic, "auto-s", "before");
    let number = epoch(&fs, top, "s");
    engine.refuse_writes_after(0);
    assert_eq!(crate::support::errno(fs.mkdir(ROOT_USER, snapshots, b"x", 0o755)), libc::ENOSPC);
    assert_eq!(crate::support::errno(fs.restore(top.realm, number, &safety, &[])), libc::ENOSPC);
    let threads = at(&fs, Node::ROOT, "threads");
    assert_eq!(crate::support::errno(fs.fork(top.realm, None, threads, b"y")), libc::ENOSPC);
    assert!(engine.accept_writes());
    assert_eq!((names(&fs, snapshots), names(&fs, threads)), (vec!["s".to_string()], vec!["t".to_string()]));
    assert_eq!(content(&fs, at(&fs, top, "f")), b"2");
    assert_sound(&fs);
    take(&fs, top, "x");
    back(&fs, top, "s");
    assert_eq!(content(&fs, at(&fs, top, "f")), b"1");
}
