//! A full disk: what is refused leaves nothing half done, on disk or in memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use threadfs::engine::{Keyspace, View};
use threadfs::fs::{Fs, Node, RenameMode, SetAttr, SetTime};

use crate::faulty::Faulty;
use crate::support::*;

fn dump(engine: &Faulty) -> BTreeMap<(Keyspace, Vec<u8>), Vec<u8>> {
    let mut all = BTreeMap::new();
    for space in [Keyspace::Meta, Keyspace::Data] {
        let mut add = |key: &[u8], value: &[u8]| {
            all.insert((space, key.to_vec()), value.to_vec());
            ControlFlow::Continue(())
        };
        engine.scan(space, b"", b"", &mut add).unwrap();
    }
    all
}

type Operation = (&'static str, Box<dyn Fn(&Fs, &Tree) -> threadfs::fs::Result<()>>);

/// What the operations work on.
struct Tree {
    dir: Node,
    thread: Node,
    plain: Node,
    fh: u64,
    document: Node,
    draft: u64,
    fresh: u64,
}

fn plant(fs: &Fs) -> Tree {
    let (dir, thread) = (mkdir(fs, Node::ROOT, "dir"), thread(fs, "t"));
    let (plain, fh) = create(fs, dir, "plain");
    fs.write(fh, 0, &[7; 100], 0, None).unwrap();
    fs.setxattr(ROOT_USER, plain, b"user.old", b"x", 0).unwrap();
    file(fs, dir, "other", b"other");
    mkdir(fs, dir, "empty");
    let document = file(fs, thread, "x.json", b"{}");
    let draft = open(fs, document);
    fs.write(draft, 0, b"[]", 0, None).unwrap();
    let (_, fresh) = create(fs, thread, "new.json");
    fs.write(fresh, 0, b"[]", 0, None).unwrap();
    file(fs, thread, "valid", b"[2]");
    Tree { dir, thread, plain, fh, document, draft, fresh }
}

fn operations() -> Vec<Operation> {
    const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    fn operation(name: &'static str, run: impl Fn(&Fs, &Tree) -> threadfs::fs::Result<()> + 'static) -> Operation {
        (name, Box::new(run))
    }
    let set = |set: SetAttr| move |fs: &Fs, t: &Tree| fs.setattr(USER, t.plain, set, None).map(drop);
    let name = |dir: fn(&Tree) -> Node, from: &'static str, to: &'static str, mode: RenameMode| {
        move |fs: &Fs, t: &Tree| fs.rename(ROOT_USER, (dir(t), from.as_bytes()), (dir(t), to.as_bytes()), mode)
    };
    vec![
        operation("mknod", |fs, t| fs.mknod(USER, t.dir, b"n", 0o644, 0).map(drop)),
        operation("mkdir", |fs, t| fs.mkdir(USER, t.dir, b"n", 0o755).map(drop)),
        operation("mkdir of a thread", |fs, _| {
            let threads = node(&fs.lookup(Node::ROOT, b"threads")?);
            fs.mkdir(USER, threads, b"n", 0o755).map(drop)
        }),
        operation("symlink", |fs, t| fs.symlink(USER, t.dir, b"n", b"x").map(drop)),
        operation("link", |fs, t| fs.link(t.plain, t.dir, b"n").map(drop)),
        operation("create", |fs, t| fs.create(USER, t.dir, b"n", 0o644, libc::O_EXCL).map(drop)),
        operation("create over an old one", |fs, t| fs.create(USER, t.dir, b"other", 0o644, libc::O_TRUNC).map(drop)),
        operation("open with O_TRUNC", |fs, t| fs.open(USER, t.plain, libc::O_TRUNC).map(drop)),
        operation("unlink", |fs, t| fs.unlink(ROOT_USER, t.dir, b"other")),
        operation("rmdir", |fs, t| fs.rmdir(ROOT_USER, t.dir, b"empty")),
        operation("rmdir of a thread", |fs, _| {
            let threads = node(&fs.lookup(Node::ROOT, b"threads")?);
            let _ = fs.mkdir(USER, threads, b"empty", 0o755);
            fs.rmdir(ROOT_USER, threads, b"empty")
        }),
        operation("rename", name(|t| t.dir, "other", "n", RenameMode::NoReplace)),
        operation("rename over a file", name(|t| t.dir, "other", "plain", RenameMode::Replace)),
        operation("exchange", name(|t| t.dir, "other", "empty", RenameMode::Exchange)),
        operation("rename to a document", name(|t| t.thread, "valid", "v.json", RenameMode::Replace)),
        operation("rename of a document", name(|t| t.thread, "x.json", "x", RenameMode::Replace)),
        operation("write", |fs, t| fs.write(t.fh, 50, &[1; 90_000], 0, Some(USER)).map(drop)),
        operation("truncate", set(SetAttr { size: Some(1), ..SetAttr::default() })),
        operation("truncate to a larger size", set(SetAttr { size: Some(1 << 30), ..SetAttr::default() })),
        operation("chmod", set(SetAttr { mode: Some(0o4711), ..SetAttr::default() })),
        operation("chown", set(SetAttr { uid: Some(77), ..SetAttr::default() })),
        operation("utimensat", set(SetAttr { atime: Some(SetTime::Now), ..SetAttr::default() })),
        operation("fallocate", |fs, t| fs.fallocate(ROOT_USER, t.fh, 0, 1000, 0)),
        operation("punch hole", |fs, t| fs.fallocate(ROOT_USER, t.fh, 0, 10, PUNCH)),
        operation("copy_file_range", |fs, t| fs.copy_file_range(ROOT_USER, (t.fh, 0), (t.fh, 200), 50).map(drop)),
        operation("setxattr", |fs, t| fs.setxattr(ROOT_USER, t.plain, b"user.n", b"x", libc::XATTR_CREATE)),
        operation("removexattr", |fs, t| fs.removexattr(t.plain, b"user.old")),
        operation("commit", |fs, t| fs.flush(t.draft, 1)),
        operation("first commit", |fs, t| fs.fsync(t.fresh, 1)),
        operation("truncate of a document", |fs, t| {
            let document = node(&fs.lookup(t.thread, b"x.json")?);
            assert_eq!(document, t.document);
            let fh = fs.open(USER, document, libc::O_WRONLY | libc::O_TRUNC)?.fh;
            fs.write(fh, 0, b"{} ", 0, None)?;
            let done = fs.flush(fh, 1);
            fs.release(fh);
            done
        }),
    ]
}

#[test]
fn nothing_is_half_done() {
    for (name, operation) in operations() {
        let (engine, fs) = fresh();
        let tree = plant(&fs);
        if name == "rmdir of a thread" {
            mkdir(&fs, node(&fs.lookup(Node::ROOT, b"threads").unwrap()), "empty");
        }
        let state = |fs: &Fs| (fs.store().usage(), fs.store().thread_count(), fs.status().drafts);
        let before = (dump(&engine), state(&fs));
        engine.refuse_writes_after(0);
        assert_eq!(errno(operation(&fs, &tree)), libc::ENOSPC, "{name}");
        engine.accept_writes();
        assert!(dump(&engine) == before.0, "{name}: something was written");
        assert_eq!(state(&fs), before.1, "{name}: something is half done in memory");
        assert_sound(&fs);
        // With room again it works, as if nothing had been.
        operation(&fs, &tree).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_sound(&fs);
        assert_eq!(read_all(&fs, tree.fh).len() as u64, attr(&fs, tree.plain).size, "{name}");
    }
}

/// The first number of a run costs a write; a document that is not there yet costs no other.
#[test]
fn a_document_that_could_not_be_begun() {
    let (engine, fs) = fresh();
    let t = thread(&fs, "t");
    engine.refuse_writes_after(0);
    assert_eq!(errno(fs.create(USER, t, b"x.json", 0o644, libc::O_RDWR)), libc::ENOSPC);
    engine.accept_writes();
    // Nobody is at it.
    let (entry, opened) = fs.create(USER, t, b"x.json", 0o644, libc::O_RDWR | libc::O_EXCL).unwrap();
    fs.write(opened.fh, 0, b"{}", 0, None).unwrap();
    fs.flush(opened.fh, 1).unwrap();
    fs.release(opened.fh);
    assert_eq!(content(&fs, node(&entry)), b"{}");
    assert_eq!(fs.status().drafts, 0);
    assert_sound(&fs);
}

/// Freeing what was unlinked can fail; the unlink has happened, and the next mount frees it.
#[test]
fn what_could_not_be_freed_is_freed_later() {
    let (engine, fs) = fresh();
    let plain = file(&fs, Node::ROOT, "f", &[1; 100_000]);
    fs.unlink(ROOT_USER, Node::ROOT, b"f").unwrap();
    engine.refuse_writes_after(0);
    fs.forget(plain, 1);
    engine.accept_writes();
    assert_eq!(fs.store().usage().bytes, 0);
    drop(fs);
    let fs = mount(Arc::clone(&engine) as _);
    assert_eq!(errno(fs.getattr(plain)), libc::ESTALE);
    while !fs.collect_for(std::time::Duration::from_secs(1)) {}
    assert!(dump(&engine).keys().all(|(space, _)| *space == Keyspace::Meta), "chunks are left");
    assert_sound(&fs);
}

/// A draft that nobody could keep is at least not listed as kept.
#[test]
fn a_refused_draft_without_room() {
    let (engine, fs) = fresh();
    let t = thread(&fs, "t");
    let (_, fh) = create(&fs, t, "x.json");
    fs.write(fh, 0, b"{", 0, None).unwrap();
    assert_eq!(errno(fs.flush(fh, u32::MAX)), libc::EBADMSG);
    engine.refuse_writes_after(0);
    fs.release(fh);
    engine.accept_writes();
    assert_eq!(fs.status().rejected, 0);
    let (_, fh) = create(&fs, t, "x.json");
    fs.write(fh, 0, b"{", 0, None).unwrap();
    fs.release(fh);
    assert_eq!(fs.status().rejected, 1);
    let control = node(&fs.lookup(Node::ROOT, b".threadfs").unwrap());
    let rejected = node(&fs.lookup(control, b"rejected").unwrap());
    let name = names(&fs, rejected).into_iter().find(|name| name != "index.json").unwrap();
    // Deleting it needs room too.
    engine.refuse_writes_after(0);
    assert_eq!(errno(fs.unlink(ROOT_USER, rejected, name.as_bytes())), libc::ENOSPC);
    engine.accept_writes();
    assert_eq!(content(&fs, node(&fs.lookup(rejected, name.as_bytes()).unwrap())), b"{");
    assert_sound(&fs);
}
