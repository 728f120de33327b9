//! Each kind of damage is named.

use std::sync::Arc;

use threadfs::engine::{Batch, Engine, Keyspace, View};
use threadfs::store::check::{check, check_with};
use threadfs::store::key::{self, tag};
use threadfs::store::record::{
    Dirent, Garbage, Header, Inode, Kind, Orphan, RealmRecord, Rejected, SnapshotRecord, Superblock, Target, Timestamp,
    Usage, VersionRecord,
};
use threadfs::store::{Epoch, HOME, Local, ROOT, RealmId};

use super::assert_clean;
use crate::flaky::Flaky;
use crate::helpers::{collect_all, file, keys_of, snapshot, store};
use crate::tree::Tree;

const META: Keyspace = Keyspace::Meta;
const DATA: Keyspace = Keyspace::Data;

/// A store with something of everything, and the places in it.
struct Sick {
    engine: Arc<Flaky>,
    tree: Tree,
    thread: RealmId,
    dir: Local,
    inner: Local,
    file: Local,
    document: Local,
    link: Local,
    orphan: Local,
    snapshot: Epoch,
    home_snapshot: Epoch,
}

impl Sick {
    fn new() -> Sick {
        let (engine, store) = store();
        let tree = Tree { store };
        let thread = tree.thread(ROOT, b"thread").unwrap();
        let dir = tree.mkdir(thread, ROOT, b"dir").unwrap();
        let inner = tree.mkdir(thread, dir, b"inner").unwrap();
        let file = tree.create(thread, dir, b"file").unwrap();
        tree.write(thread, file, 0, &[1; 100]);
        tree.link(thread, file, ROOT, b"second");
        tree.set_xattr(thread, file, b"attribute");
        let link = tree.symlink(thread, ROOT, b"link").unwrap();
        let document = tree.create(thread, ROOT, b"document").unwrap();
        tree.commit(thread, document, &[2; 30]);
        tree.commit(thread, document, &[3; 40]);
        let gone = tree.create(thread, ROOT, b"gone").unwrap();
        tree.write(thread, gone, 0, &[4; 50]);
        let home_snapshot = tree.store.take_home_snapshot(b"home", &snapshot()).unwrap();
        let snapshot = tree.store.take_snapshot(thread, &snapshot()).unwrap();
        tree.write(thread, file, 20, &[5; 20]);
        tree.unlink(thread, ROOT, b"gone");
        tree.purge(thread, gone);
        let orphan = tree.create(thread, dir, b"orphan").unwrap();
        tree.write(thread, orphan, 0, &[6; 10]);
        tree.unlink(thread, dir, b"orphan");
        collect_all(&tree.store);
        assert_clean(&tree.store, "before the damage");
        Sick { engine, tree, thread, dir, inner, file, document, link, orphan, snapshot, home_snapshot }
    }

    fn put(&self, space: Keyspace, key: Vec<u8>, value: Vec<u8>) {
        let mut batch = Batch::new();
        batch.put(space, key, value);
        self.engine.write(batch).unwrap();
    }

    fn delete(&self, space: Keyspace, key: Vec<u8>) {
        assert!(self.engine.get(space, &key).unwrap().is_some(), "the test deletes nothing");
        let mut batch = Batch::new();
        batch.delete(space, key);
        self.engine.write(batch).unwrap();
    }

    fn inode(&self, realm: RealmId, ino: Local, change: impl FnOnce(&mut Inode)) {
        let live = key::inode(realm, ino);
        let raw = self.engine.get(META, &live).unwrap().unwrap();
        let (header, payload) = Header::unwrap(&raw).unwrap();
        let mut inode = Inode::decode(payload).unwrap();
        change(&mut inode);
        self.put(META, live, header.wrap(&inode.encode()));
    }

    fn dirent(&self, dir: Local, name: &[u8]) -> Vec<u8> {
        key::dirent(self.thread, dir, self.tree.store.name_hash(name), name)
    }

    fn record(&self, key: Vec<u8>, payload: &[u8]) {
        self.put(META, key, Header { born: 1, whiteout: false }.wrap(payload));
    }

    /// The newest chunks of a file.
    fn chunks(&self, ino: Local) -> Vec<Vec<u8>> {
        let all = crate::helpers::dump(&*self.engine);
        let of = |key: &[u8]| key::parse_chunk(key).is_some_and(|chunk| (chunk.realm, chunk.ino) == (self.thread, ino));
        all.into_keys().filter(|(space, key)| *space == DATA && of(key)).map(|(_, key)| key).collect()
    }

    /// Looks whether a problem is named in these words.
    fn is_found(&self, words: &str) {
        let report = check(&self.tree.store).unwrap();
        let found = report.problems.iter().any(|problem| problem.contains(words));
        assert!(found, "not found: {words}\n{}", report.problems.join("\n"));
    }
}

/// Does damage to a new store and looks for words about it.
fn named(words: &str, damage: impl FnOnce(&Sick)) {
    let sick = Sick::new();
    damage(&sick);
    sick.is_found(words);
}

fn file_dirent(ino: Local) -> Vec<u8> {
    Dirent { target: Target::Inode(ino), kind: Kind::File }.encode()
}

#[test]
fn names() {
    named("leads to an inode that does not exist", |s| s.delete(META, key::inode(s.thread, s.file)));
    named("has another kind than the inode it leads to", |s| {
        s.record(s.dirent(dir_of(s), b"inner"), &file_dirent(s.inner))
    });
    named("has no reverse link", |s| s.delete(META, key::link(s.thread, s.thread, s.file, s.dir, b"file")));
    named("which does not lead to it", |s| s.delete(META, s.dirent(s.dir, b"file")));
    named("which does not lead to it", |s| s.record(s.dirent(s.dir, b"file"), &file_dirent(s.document)));
    named("is filed under a wrong hash", |s| s.record(key::dirent(s.thread, s.dir, 77, b"x"), &file_dirent(s.file)));
    named("is no valid name", |s| s.record(s.dirent(s.dir, b"a/b"), &file_dirent(s.file)));
    named("is in a directory that does not exist", |s| s.record(s.dirent(Local(999), b"x"), &file_dirent(s.file)));
    named("is in something that is no directory", |s| s.record(s.dirent(s.file, b"x"), &file_dirent(s.file)));
    named("has no name", |s| {
        s.delete(META, s.dirent(ROOT, b"link"));
        s.delete(META, key::link(s.thread, s.thread, s.link, ROOT, b"link"));
    });
}

fn dir_of(s: &Sick) -> Local {
    s.dir
}

#[test]
fn threads() {
    let home_name = |s: &Sick, name: &[u8]| key::dirent(HOME, ROOT, s.tree.store.name_hash(name), name);
    let thread = |realm: RealmId| Dirent { target: Target::Thread(realm), kind: Kind::Directory }.encode();
    named("thread 1 has no name", |s| s.delete(META, home_name(s, b"thread")));
    named("leads to a thread that does not exist", |s| s.record(home_name(s, b"x"), &thread(RealmId(9))));
    named("is a second name of a thread", |s| s.record(home_name(s, b"x"), &thread(s.thread)));
    named("is a thread inside a thread", |s| s.record(s.dirent(ROOT, b"x"), &thread(s.thread)));
    named("leads to a thread whose parent is another directory", |s| {
        s.inode(s.thread, ROOT, |root| root.parent = Local(5));
    });
    named("the root directory is missing", |s| s.delete(META, key::inode(s.thread, ROOT)));
    named("has no record", |s| s.delete(META, key::of_realm(tag::REALM, s.thread)));
    named("in memory", |s| {
        let record = RealmRecord { created: 1, last_snapshot: 9, ..RealmRecord::default() };
        s.put(META, key::of_realm(tag::REALM, s.thread), record.encode());
    });
}

#[test]
fn counts() {
    named("counts 7 links and has 2", |s| s.inode(s.thread, s.file, |inode| inode.nlink = 7));
    named("counts 2 links and has 3", |s| s.inode(s.thread, s.dir, |inode| inode.nlink = 2));
    named("counts 2 links and has 3", |s| s.inode(HOME, ROOT, |inode| inode.nlink = 2));
    named("a directory of size 9 with 2 entries", |s| s.inode(s.thread, s.dir, |inode| inode.size = 9));
    named("whose parent is another one", |s| s.inode(s.thread, s.inner, |inode| inode.parent = ROOT));
    named("counts 3 attributes and has 1", |s| s.inode(s.thread, s.file, |inode| inode.xattrs = 3));
    named("counts 1 attributes and has 0", |s| s.delete(META, key::xattr(s.thread, s.file, b"attribute")));
    named("of an inode that does not exist", |s| s.record(key::xattr(s.thread, Local(999), b"x"), b"value"));
    named("a symlink to 6 bytes with size 5", |s| s.inode(s.thread, s.link, |inode| inode.size = 5));
    named("its number was not given out", |s| {
        s.put(META, key::of_realm(tag::NEXT, s.thread), 3u64.to_be_bytes().to_vec());
    });
    named("has no counter of inode numbers", |s| s.delete(META, key::of_realm(tag::NEXT, s.thread)));
    named("but counts", |s| {
        s.record(key::of_realm(tag::USAGE, s.thread), &Usage { inodes: 1, bytes: 2 }.encode());
    });
    named("in memory is", |s| {
        s.record(key::of_realm(tag::USAGE, s.thread), &Usage { inodes: 1, bytes: 2 }.encode());
    });
    named("generation 5 of 1", |s| s.inode(s.thread, s.file, |inode| inode.generation = 5));
}

#[test]
fn a_cycle_of_directories() {
    let s = Sick::new();
    // "dir" moves into "dir/inner", which is below it: every count is right and nobody gets there.
    let dirent = s.dirent(ROOT, b"dir");
    let value = s.engine.get(META, &dirent).unwrap().unwrap();
    s.delete(META, dirent);
    s.delete(META, key::link(s.thread, s.thread, s.dir, ROOT, b"dir"));
    s.put(META, s.dirent(s.inner, b"dir"), value);
    s.record(key::link(s.thread, s.thread, s.dir, s.inner, b"dir"), b"");
    s.inode(s.thread, s.dir, |inode| inode.parent = s.inner);
    for (ino, by) in [(ROOT, -1), (s.inner, 1)] {
        s.inode(s.thread, ino, |inode| {
            inode.nlink = inode.nlink.checked_add_signed(by).unwrap();
            inode.size = inode.size.checked_add_signed(i64::from(by)).unwrap();
        });
    }
    s.is_found("a directory that the root does not lead to");
}

#[test]
fn content() {
    named("counts 999 bytes of chunks and has 100", |s| s.inode(s.thread, s.file, |inode| inode.allocated = 999));
    named("counts 40 bytes of chunks and has 32", |s| s.delete(DATA, s.chunks(s.document).pop().unwrap_or_default()));
    named("chunks lie beyond its size 70", |s| s.inode(s.thread, s.file, |inode| inode.size = 70));
    named("belong to nothing", |s| s.put(DATA, key::chunk(s.thread, Local(999), 0, 0, 1), vec![1]));
    named("belong to nothing", |s| s.inode(s.thread, s.file, |i| (i.generation, i.next_generation) = (8, 9)));
    named("a chunk from the future", |s| s.put(DATA, key::chunk(s.thread, s.file, 0, 0, 99), vec![1; 16]));
    named("no snapshot needs the chunk", |s| {
        let taken = s.tree.store.take_snapshot(s.thread, &snapshot()).unwrap();
        s.tree.store.drop_snapshot(s.thread, taken).unwrap();
        collect_all(&s.tree.store);
        s.put(DATA, key::chunk(s.thread, s.file, 0, 0, taken), vec![1; 16]);
        s.put(DATA, key::chunk(s.thread, s.file, 0, 0, taken + 1), vec![1; 16]);
    });
    named("a hole that hides nothing", |s| s.put(DATA, key::chunk(s.thread, s.document, 1, 9, 1), Vec::new()));
    named("no regular file and 5 bytes", |s| s.inode(s.thread, s.dir, |inode| inode.allocated = 5));
}

#[test]
fn orphans_versions_and_drafts() {
    let orphan = |inode: Inode| Orphan { inode, xattrs: Default::default() }.encode();
    let key = |s: &Sick| key::numbered(tag::ORPHAN, s.thread, s.orphan.0);
    named("counts 1 names", |s| s.put(META, key(s), orphan(file())));
    named("counts 2 attributes, and has 0", |s| {
        s.put(META, key(s), orphan(Inode { nlink: 0, xattrs: 2, ..file() }));
    });
    named("belong to nothing", |s| s.delete(META, key(s)));
    named("is an orphan and in the tree", |s| {
        let inode = Inode { nlink: 0, ..file() };
        s.put(META, key::numbered(tag::ORPHAN, s.thread, s.file.0), orphan(inode));
    });
    named("orphan inode 4294967304 has a name", |s| {
        s.record(key::link(s.thread, s.thread, s.orphan, ROOT, b"x"), b"");
    });
    let version =
        |generation, size| VersionRecord { generation, size, time: Timestamp::default(), epoch: 1, pid: 0 }.encode();
    named("30 bytes of 31", |s| s.put(META, key::version(s.thread, s.document, 1), version(1, 31)));
    named("its newest version has 41 bytes of 40", |s| {
        s.put(META, key::version(s.thread, s.document, 2), version(2, 41))
    });
    named("there is no such file", |s| s.put(META, key::version(s.thread, Local(999), 1), version(0, 0)));
    named("0 bytes of 5", |s| s.put(META, key::version(s.thread, s.document, 9), version(0, 5)));
    let draft = Rejected {
        path: b"p".to_vec(),
        reason: String::new(),
        time: Timestamp::default(),
        pid: 0,
        command: String::new(),
        owner: (0, 0, 0),
        size: 3,
        count: 1,
    };
    named("rejected draft 5 has no content", |s| s.put(META, key::rejected(5), draft.encode()));
    named("rejected draft 5 has 1 of 3 bytes", |s| {
        s.put(META, key::rejected(5), draft.encode());
        s.put(DATA, key::rejected_content(5), vec![1]);
    });
    named("rejected draft 5 has no record", |s| s.put(DATA, key::rejected_content(5), vec![1]));
}

#[test]
fn the_past() {
    let history = |s: &Sick, ino: Local, last: Epoch, born: Epoch| {
        let part = key::record_part(&key::inode(s.thread, ino));
        let value = Header { born, whiteout: false }.wrap(&file().encode());
        s.put(META, key::history(s.thread, &part, Some(last)), value);
    };
    named("no snapshot needs it", |s| history(s, Local(900), 500, 499));
    named("it overlaps the value before it", |s| {
        history(s, Local(900), 1, 1);
        history(s, Local(900), 2, 1);
    });
    named("it overlaps the present value", |s| history(s, s.document, s.snapshot, 1));
    named("it is from 9, and now is", |s| history(s, Local(900), 8, 9));
    named("a versioned record ends too early", |s| {
        let part = key::record_part(&key::inode(s.thread, Local(900)));
        s.put(META, key::history(s.thread, &part, Some(1)), Vec::new());
    });
    named("is of epoch 77 of", |s| {
        s.put(META, key::xattr(s.thread, s.file, b"x"), Header { born: 77, whiteout: false }.wrap(b""));
    });
    named("hides a base, but the realm has none", |s| {
        s.put(META, key::xattr(s.thread, s.file, b"x"), Header { born: 1, whiteout: true }.wrap(b""));
    });
}

#[test]
fn the_index_of_changes() {
    let part = |s: &Sick, ino: Local| key::record_part(&key::inode(s.thread, ino));
    named("is not in the index of changes", |s| {
        s.delete(META, key::touched(s.thread, s.snapshot + 1, &part(s, s.file)))
    });
    named("is not in the index of changes", |s| {
        let chunk = keys_of(&*s.engine, tag::TOUCHED).into_iter().find(|key| key[13] == tag::CHUNK).unwrap();
        s.delete(META, chunk);
    });
    named("is of no use: no snapshot is older", |s| s.put(META, key::touched(s.thread, 1, &part(s, s.file)), vec![]));
    named("is from the future", |s| s.put(META, key::touched(s.thread, 99, &part(s, s.file)), vec![]));
    named("has a value", |s| s.put(META, key::touched(s.thread, s.snapshot + 1, &part(s, s.file)), vec![1]));
}

#[test]
fn queues_and_counters() {
    let garbage = Garbage { born: 1 }.encode();
    named("its content is in the garbage queue", |s| {
        s.put(META, key::garbage(s.thread, 2, s.file, 0), garbage.clone())
    });
    named("is kept for snapshot 77, which does not exist", |s| {
        s.put(META, key::kept(s.thread, 77, Local(900), 0), garbage.clone());
    });
    named("ended before it began", |s| s.put(META, key::garbage(s.thread, 0, Local(900), 0), garbage.clone()));
    named("of the collection queue cannot be read", |s| s.put(META, key::numbered(tag::PENDING, s.thread, 1), vec![9]));
    let superblock = |s: &Sick, change: &dyn Fn(&mut Superblock)| {
        let mut superblock = Superblock::decode(&s.engine.get(META, key::SUPERBLOCK).unwrap().unwrap()).unwrap();
        change(&mut superblock);
        s.put(META, key::SUPERBLOCK.to_vec(), superblock.encode());
    };
    named("realm 1 exists, but 1 is the next", |s| superblock(s, &|superblock| superblock.next_realm = 1));
    named("the superblock counts up to 0", |s| superblock(s, &|superblock| superblock.last_home_snapshot = 0));
    named("has another hash key", |s| superblock(s, &|superblock| superblock.hash_key = [0, 0]));
    named("the superblock", |s| s.delete(META, key::SUPERBLOCK.to_vec()));
    named("is not in memory", |s| s.put(META, key::numbered(tag::SNAPSHOT, s.thread, 99), snapshot().encode()));
    named("but its last is 2", |s| s.put(META, key::numbered(tag::SNAPSHOT, s.thread, 99), snapshot().encode()));
    named("of 1 snapshots of realm 1 only 0 are stored", |s| {
        s.delete(META, key::numbered(tag::SNAPSHOT, s.thread, s.snapshot));
    });
    named("snapshot 2 of realm 1 cannot be found by its name", |s| {
        s.delete(META, key::snapshot_name(s.thread, &snapshot().name, s.snapshot));
    });
    named("a name of realm 1 leads to snapshot 2, which does not have it", |s| {
        s.put(META, key::snapshot_name(s.thread, b"another", s.snapshot), vec![]);
    });
    named("snapshot 3", |s| s.put(META, key::numbered(tag::SNAPSHOT, s.thread, 3), b"\x09".to_vec()));
    named("home snapshot 9 is in realm 1", |s| {
        let record = SnapshotRecord { kind: threadfs::store::record::SnapshotKind::Home, ..snapshot() };
        s.put(META, key::numbered(tag::SNAPSHOT, s.thread, 9), record.encode());
    });
}

#[test]
fn unknown_and_unreadable() {
    named("is of no known kind", |s| s.put(META, b"Zzz".to_vec(), vec![]));
    named("is of no known kind", |s| s.put(META, b"I\0\0\0\x01short".to_vec(), vec![]));
    named("is of no known kind", |s| s.put(META, key::of_realm(b'Q', s.thread), vec![]));
    named("data key", |s| s.put(DATA, b"short".to_vec(), vec![]));
    named("is of realm 88, which does not exist", |s| s.record(key::inode(RealmId(88), ROOT), b""));
    named("a chunk of realm 88, which does not exist", |s| {
        s.put(DATA, key::chunk(RealmId(88), ROOT, 0, 0, 1), vec![1])
    });
    named("a versioned record ends too early", |s| s.put(META, key::inode(s.thread, s.file), vec![]));
    named("an inode record has layout 9", |s| s.record(key::inode(s.thread, s.file), b"\x09"));
    named("a dirent record ends too early", |s| s.record(s.dirent(s.dir, b"file"), b""));
    named("access time", |s| s.put(META, key::numbered(tag::ATIME, s.thread, s.file.0), vec![]));
}

#[test]
fn damage_of_a_snapshot_is_found_when_snapshots_are_checked() {
    let of = |s: &Sick, words: &str| {
        assert!(check(&s.tree.store).unwrap().is_clean(), "this damage is in the past only");
        let report = check_with(&s.tree.store, true).unwrap();
        let found = report.problems.iter().any(|problem| problem.contains(words));
        assert!(found, "not found: {words}\n{}", report.problems.join("\n"));
    };
    let s = Sick::new();
    let part = key::record_part(&s.dirent(ROOT, b"gone"));
    s.delete(META, key::history(s.thread, &part, Some(s.snapshot)));
    of(&s, &format!("at snapshot {}: inode", s.snapshot));
    let s = Sick::new();
    let old = s.chunks(s.file).into_iter().filter(|key| key::parse_chunk(key).unwrap().epoch == 1).nth(1).unwrap();
    s.delete(DATA, old);
    of(&s, &format!("at snapshot {}: inode", s.home_snapshot));
}

#[test]
fn problems_are_counted_when_they_are_too_many_to_list() {
    let s = Sick::new();
    for number in 0..3000u64 {
        s.put(DATA, number.to_be_bytes().to_vec(), vec![]);
    }
    let report = check(&s.tree.store).unwrap();
    assert_eq!(report.problems.len() as u64 + report.omitted, 3000);
    assert!(report.omitted > 0);
}
