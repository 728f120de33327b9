//! What several tests need.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use threadfs::engine::memory::MemoryEngine;
use threadfs::engine::{Engine, Keyspace, View};
use threadfs::store::record::{Inode, Kind, SnapshotKind, SnapshotRecord, Timestamp};
use threadfs::store::{ROOT, Store};

use crate::flaky::Flaky;

/// A store in memory whose writes can be refused.
pub fn store() -> (Arc<Flaky>, Arc<Store>) {
    let engine = Flaky::new(Arc::new(MemoryEngine::new()));
    let store = Store::open(engine.clone()).unwrap();
    (engine, store)
}

/// Small chunks, so that small contents have many.
pub const CHUNK_SHIFT: u8 = 4;

pub fn file() -> Inode {
    inode(Kind::File, 0o644, 1)
}

pub fn directory() -> Inode {
    inode(Kind::Directory, 0o755, 2)
}

fn inode(kind: Kind, perm: u16, nlink: u32) -> Inode {
    let time = Timestamp { secs: 1, nanos: 2 };
    Inode {
        kind,
        perm,
        uid: 1,
        gid: 2,
        nlink,
        rdev: 0,
        size: 0,
        allocated: 0,
        mtime: time,
        ctime: time,
        btime: time,
        generation: 0,
        generation_born: 0,
        next_generation: 1,
        chunk_shift: CHUNK_SHIFT,
        version: 0,
        parent: ROOT,
        xattrs: 0,
        target: Vec::new(),
        file: threadfs::store::Local(0),
        layers: Vec::new(),
        is_inherited: false,
    }
}

pub fn snapshot() -> SnapshotRecord {
    SnapshotRecord {
        time: Timestamp { secs: 3, nanos: 4 },
        ..SnapshotRecord::new(SnapshotKind::Named, *b"name", "test")
    }
}

pub type Dump = BTreeMap<(Keyspace, Vec<u8>), Vec<u8>>;

/// Every key with its value.
pub fn dump(view: &dyn View) -> Dump {
    let mut all = Dump::new();
    for space in [Keyspace::Meta, Keyspace::Data] {
        view.scan(space, b"", b"", &mut |key, value| {
            all.insert((space, key.to_vec()), value.to_vec());
            ControlFlow::Continue(())
        })
        .unwrap();
    }
    all
}

/// The keys of one kind.
pub fn keys_of(engine: &dyn Engine, tag: u8) -> Vec<Vec<u8>> {
    dump(engine)
        .into_keys()
        .filter(|(space, key)| *space == Keyspace::Meta && key[0] == tag)
        .map(|(_, key)| key)
        .collect()
}

/// Collects until nothing is left to do. A queue that makes no progress fails the test.
pub fn collect_all(store: &Store) {
    for _ in 0..100_000 {
        if !store.collect().unwrap() {
            return;
        }
    }
    panic!("the collector never gets done");
}
