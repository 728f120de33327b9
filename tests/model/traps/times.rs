//! Which operation changes which times.

use threadfs::engine::{Keyspace, View};
use threadfs::fs::{Fs, Node, RenameMode, SetAttr, SetTime};
use threadfs::store::key;
use threadfs::store::record::Timestamp;

use crate::support::*;

fn done<T>(_: T) {}

/// Sets atime and mtime to long ago.
fn age(fs: &Fs, node: Node) {
    let old = Some(SetTime::To(Timestamp { secs: 1000, nanos: 7 }));
    fs.setattr(ROOT_USER, node, SetAttr { atime: old, mtime: old, ..SetAttr::default() }, None).unwrap();
}

/// What an operation changes of each inode: "m" and "c" for the times.
fn changes(fs: &Fs, of: &[Node], operation: impl FnOnce()) -> Vec<String> {
    of.iter().for_each(|node| age(fs, *node));
    let before: Vec<_> = of.iter().map(|node| attr(fs, *node)).collect();
    operation();
    of.iter()
        .zip(before)
        .map(|(node, before)| {
            let after = attr(fs, *node);
            let m = if after.mtime != before.mtime { "m" } else { "" };
            let c = if after.ctime != before.ctime { "c" } else { "" };
            assert!(after.ctime >= before.ctime);
            format!("{m}{c}")
        })
        .collect()
}

#[test]
fn of_parents_and_of_what_is_in_them() {
    let (_, fs) = fresh();
    let (a, b) = (mkdir(&fs, Node::ROOT, "a"), mkdir(&fs, Node::ROOT, "b"));
    let (plain, fh) = create(&fs, a, "plain");
    let all = [a, b, plain];
    let check = |what: &str, wanted: [&str; 3], operation: &dyn Fn()| {
        assert_eq!(changes(&fs, &all, operation), wanted, "{what}");
    };
    let set = |set: SetAttr| {
        fs.setattr(ROOT_USER, plain, set, None).unwrap();
    };
    check("create", ["mc", "", ""], &|| fs.release(create(&fs, a, "x").1));
    check("mkdir", ["mc", "", ""], &|| done(mkdir(&fs, a, "d")));
    check("symlink", ["mc", "", ""], &|| done(fs.symlink(USER, a, b"s", b"t").unwrap()));
    check("mknod", ["mc", "", ""], &|| done(fs.mknod(USER, a, b"p", libc::S_IFIFO, 0).unwrap()));
    check("link", ["", "mc", "c"], &|| done(fs.link(plain, b, b"l").unwrap()));
    check("unlink of one of two", ["", "mc", "c"], &|| fs.unlink(ROOT_USER, b, b"l").unwrap());
    check("unlink of another", ["mc", "", ""], &|| fs.unlink(ROOT_USER, a, b"x").unwrap());
    check("rmdir", ["mc", "", ""], &|| fs.rmdir(ROOT_USER, a, b"d").unwrap());
    check("lookup", ["", "", ""], &|| done(fs.lookup(a, b"plain").unwrap()));
    check("readdir", ["", "", ""], &|| done(names(&fs, a)));
    check("rename", ["mc", "mc", "c"], &|| {
        fs.rename(ROOT_USER, (a, b"plain"), (b, b"plain"), RenameMode::Replace).unwrap()
    });
    check("exchange", ["mc", "mc", "c"], &|| {
        fs.rename(ROOT_USER, (a, b"s"), (b, b"plain"), RenameMode::Exchange).unwrap();
    });
    check("write", ["", "", "mc"], &|| done(fs.write(fh, 0, b"text", 0, None).unwrap()));
    check("read", ["", "", ""], &|| done(read_all(&fs, fh)));
    check("truncate", ["", "", "mc"], &|| set(SetAttr { size: Some(1), ..SetAttr::default() }));
    check("chmod", ["", "", "c"], &|| set(SetAttr { mode: Some(0o600), ..SetAttr::default() }));
    check("chown", ["", "", "c"], &|| set(SetAttr { uid: Some(9), ..SetAttr::default() }));
    check("setxattr", ["", "", "c"], &|| fs.setxattr(ROOT_USER, plain, b"user.a", b"x", 0).unwrap());
    check("removexattr", ["", "", "c"], &|| fs.removexattr(plain, b"user.a").unwrap());
    check("utimensat of the atime", ["", "", "c"], &|| {
        set(SetAttr { atime: Some(SetTime::Now), ..SetAttr::default() })
    });
    check("utimensat of the mtime", ["", "", "mc"], &|| {
        set(SetAttr { mtime: Some(SetTime::Now), ..SetAttr::default() })
    });
    let t = thread(&fs, "t");
    let (_, fh) = create(&fs, t, "x.json");
    assert_eq!(changes(&fs, &[t], || done(fs.write(fh, 0, b"{}", 0, None).unwrap())), [""]);
    assert_eq!(changes(&fs, &[t], || fs.flush(fh, 1).unwrap()), ["mc"], "the first commit");
    fs.write(fh, 0, b"[]", 0, None).unwrap();
    assert_eq!(changes(&fs, &[t], || fs.flush(fh, 1).unwrap()), [""], "a further commit");
}

fn set_times(fs: &Fs, node: Node, atime: i64, mtime: Option<i64>) {
    let to = |secs| SetTime::To(Timestamp { secs, nanos: 0 });
    let set = SetAttr { atime: Some(to(atime)), mtime: mtime.map(to), ..SetAttr::default() };
    fs.setattr(ROOT_USER, node, set, None).unwrap();
}

/// mount(8): a read is noted when the noted one is older than the last change, or than a day.
#[test]
fn a_read_is_noted_when_it_tells_something() {
    let (_, fs) = fresh();
    let plain = file(&fs, Node::ROOT, "f", b"text");
    let made = attr(&fs, plain);
    assert_eq!(made.atime, made.btime);
    content(&fs, plain);
    let first = attr(&fs, plain).atime;
    assert!(first > made.ctime, "the first read after a change");
    content(&fs, plain);
    assert_eq!(attr(&fs, plain).atime, first, "a further read");
    let fh = open(&fs, plain);
    fs.write(fh, 0, b"TEXT", 0, None).unwrap();
    assert_eq!(attr(&fs, plain).atime, first, "a write is no read");
    content(&fs, plain);
    let second = attr(&fs, plain).atime;
    assert!(second > first, "the first read after a write");
    fs.setxattr(ROOT_USER, plain, b"user.a", b"", 0).unwrap();
    content(&fs, plain);
    assert!(attr(&fs, plain).atime > second, "the first read after a change of the inode");
    // Set by hand, to before the last change.
    set_times(&fs, plain, 77, None);
    assert_eq!(attr(&fs, plain).atime, Timestamp { secs: 77, nanos: 0 });
    content(&fs, plain);
    assert!(attr(&fs, plain).atime > second);
    // And to the future: newer than everything.
    set_times(&fs, plain, 1 << 33, None);
    content(&fs, plain);
    assert_eq!(attr(&fs, plain).atime.secs, 1 << 33);
    // Directories and symlinks are read too.
    let dir = mkdir(&fs, Node::ROOT, "d");
    let link = node(&fs.symlink(USER, Node::ROOT, b"l", b"t").unwrap());
    let before = (attr(&fs, dir).atime, attr(&fs, link).atime);
    names(&fs, dir);
    fs.readlink(link).unwrap();
    assert!(attr(&fs, dir).atime > before.0 && attr(&fs, link).atime > before.1);
}

#[test]
fn access_times_survive_a_mount() {
    let (engine, fs) = fresh();
    let (read, set) = (file(&fs, Node::ROOT, "read", b"text"), file(&fs, Node::ROOT, "set", b"text"));
    content(&fs, read);
    content(&fs, set);
    // An older time must not be written over the one that was set.
    set_times(&fs, set, 77, None);
    let wanted = (attr(&fs, read).atime, attr(&fs, set).atime);
    fs.shutdown();
    drop(fs);
    let fs = mount(engine.clone());
    assert_eq!((attr(&fs, read).atime, attr(&fs, set).atime), wanted);
    // A time that could not be written is not lost.
    content(&fs, set);
    let noted = attr(&fs, set).atime;
    assert_ne!(noted, wanted.1);
    engine.refuse_writes_after(0);
    assert_eq!(errno(fs.sync()), libc::ENOSPC);
    engine.accept_writes();
    fs.sync().unwrap();
    drop(fs);
    assert_eq!(attr(&mount(engine), set).atime, noted);
}

/// Reading alone has to get there too: nothing else asks for a sync.
#[test]
fn what_was_only_read_is_written_in_time() {
    let (engine, fs) = fresh();
    let plain = file(&fs, Node::ROOT, "f", b"text");
    fs.tick();
    content(&fs, plain);
    std::thread::sleep(fs.options().sync_interval);
    fs.tick();
    let key = key::numbered(key::tag::ATIME, plain.realm, plain.local.0);
    assert!(engine.get(Keyspace::Meta, &key).unwrap().is_some());
    // And of what is gone nothing is left.
    content(&fs, plain);
    fs.unlink(ROOT_USER, Node::ROOT, b"f").unwrap();
    fs.forget(plain, 1);
    fs.sync().unwrap();
    assert!(engine.get(Keyspace::Meta, &key).unwrap().is_none());
    assert_sound(&fs);
}
