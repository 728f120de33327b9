//! Opening a store: the superblock, and the realms into memory.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::{Mutex, RwLock};

use super::record::{Header, Inode, Kind, RealmRecord, SnapshotRecord, Superblock, Timestamp, Usage};
use super::{Error, HOME, Local, ROOT, Realm, RealmId, RealmState, Result, Store, key, try_scan};
use crate::engine::{Batch, Engine, Keyspace};

/// The first realm number that a thread gets.
const FIRST_THREAD: u32 = 1;

impl Store {
    /// Opens the store in an engine, and makes one in an empty engine.
    ///
    /// # Errors
    /// [`Error::NewerFormat`] for a store that a newer program wrote; nothing is changed then.
    pub fn open(engine: Arc<dyn Engine>) -> Result<Arc<Store>> {
        let superblock = match engine.get(Keyspace::Meta, key::SUPERBLOCK)? {
            Some(bytes) => Superblock::decode(&bytes)?,
            None => create(&*engine)?,
        };
        let (realms, home_snapshots) = load(&*engine)?;
        let newest = realms.values().map(|realm| realm.read().record.last_snapshot).max().unwrap_or(0);
        Ok(Arc::new(Store {
            hash_key: superblock.hash_key,
            freeze: Arc::new(RwLock::new(())),
            realms: RwLock::new(realms),
            home_snapshots: RwLock::new(home_snapshots),
            last_snapshot: AtomicU64::new(newest.max(superblock.last_home_snapshot)),
            superblock: Mutex::new(superblock),
            room: Default::default(),
            layers: Default::default(),
            collector: Default::default(),
            syncs: Default::default(),
            engine,
        }))
    }
}

fn create(engine: &dyn Engine) -> Result<Superblock> {
    if engine.first(Keyspace::Meta, b"", b"")?.is_some() {
        return Err(Error::corrupt("it has records but no superblock"));
    }
    if !engine.is_new() {
        return Err(Error::corrupt(
            "it has no superblock. If its very first mount was interrupted, remove the directory and mount again",
        ));
    }
    let now = Timestamp::now();
    let random = || RandomState::new().build_hasher().finish();
    let superblock = Superblock {
        hash_key: [random(), random()],
        last_home_snapshot: 0,
        next_realm: FIRST_THREAD,
        created: now.secs,
    };
    let root = Inode {
        kind: Kind::Directory,
        perm: 0o755,
        // SAFETY: these calls have no preconditions and cannot fail.
        uid: unsafe { libc::getuid() },
        gid: unsafe { libc::getgid() },
        nlink: 2,
        rdev: 0,
        size: 0,
        allocated: 0,
        mtime: now,
        ctime: now,
        btime: now,
        generation: 0,
        generation_born: 1,
        next_generation: 1,
        chunk_shift: super::chunk::CHUNK_SHIFT,
        version: 0,
        parent: ROOT,
        xattrs: 0,
        target: Vec::new(),
        file: Local(0),
        layers: Vec::new(),
        is_inherited: false,
    };
    let header = Header { born: 1, whiteout: false };
    let record = RealmRecord { created: 1, ..RealmRecord::default() };
    let mut batch = Batch::new();
    let mut put = |key: Vec<u8>, value: Vec<u8>| batch.put(Keyspace::Meta, key, value);
    put(key::SUPERBLOCK.to_vec(), superblock.encode());
    put(key::of_realm(key::tag::REALM, HOME), record.encode());
    put(key::of_realm(key::tag::NEXT, HOME), (ROOT.0 + 1).to_be_bytes().to_vec());
    put(key::of_realm(key::tag::USAGE, HOME), header.wrap(&Usage { inodes: 1, bytes: 0 }.encode()));
    put(key::inode(HOME, ROOT), header.wrap(&root.encode()));
    batch.set_durable(true);
    engine.write(batch)?;
    Ok(superblock)
}

type Loaded = (BTreeMap<RealmId, Arc<Realm>>, BTreeMap<u64, SnapshotRecord>);

fn load(engine: &dyn Engine) -> Result<Loaded> {
    let mut states = BTreeMap::<RealmId, RealmState>::new();
    let mut home_snapshots = BTreeMap::new();
    each(engine, key::tag::REALM, |id, _, value| {
        states.entry(id).or_default().record = RealmRecord::decode(value)?;
        Ok(())
    })?;
    each(engine, key::tag::NEXT, |id, _, value| {
        let number = value.try_into().map_err(|_| Error::corrupt("a counter is not 8 bytes long"))?;
        let state = states.entry(id).or_default();
        state.next = u64::from_be_bytes(number);
        state.reserved = state.next;
        Ok(())
    })?;
    each(engine, key::tag::USAGE, |id, _, value| {
        let (_, payload) = Header::unwrap(value)?;
        states.entry(id).or_default().usage = Usage::decode(payload)?;
        Ok(())
    })?;
    each(engine, key::tag::SNAPSHOT, |id, key, value| {
        let number = key::number_of(key).ok_or_else(|| Error::corrupt("a snapshot's key is too short"))?;
        let record = SnapshotRecord::decode(value)?;
        if record.kind == super::record::SnapshotKind::Home {
            home_snapshots.insert(number, record);
        } else {
            let state = states.entry(id).or_default();
            state.snapshots.insert(number);
            state.last_taken = Some(record.time);
        }
        Ok(())
    })?;
    let bases: Vec<_> = states.values().filter_map(|state| state.record.base).collect();
    for (base, epoch) in bases {
        let state = states
            .get_mut(&base)
            .ok_or_else(|| Error::corrupt(format!("a fork is based on realm {}, which does not exist", base.0)))?;
        *state.pins.entry(epoch).or_default() += 1;
    }
    if !states.contains_key(&HOME) {
        return Err(Error::corrupt("the home realm is missing"));
    }
    let realms = states.into_iter().map(|(id, state)| (id, Arc::new(Realm::new(id, state)))).collect();
    Ok((realms, home_snapshots))
}

fn each(engine: &dyn Engine, tag: u8, mut visit: impl FnMut(RealmId, &[u8], &[u8]) -> Result<()>) -> Result<()> {
    let prefix = key::all(tag);
    try_scan(engine, Keyspace::Meta, &prefix, &key::after(&prefix), &mut |key, value| {
        let id = key::realm_of(key).ok_or_else(|| Error::corrupt("a key is too short"))?;
        visit(id, key, value).map(ControlFlow::Continue)
    })
}

/// The inode number as users see it, and back.
///
/// The high half names the realm. It starts at 0 for the home and counts up with each thread, so
/// that numbers stay below 2^53 for two million threads, and survive in a double.
impl Local {
    /// The number for users.
    pub fn to_ino(self, realm: RealmId) -> u64 {
        u64::from(realm.0) << 32 | (self.0 & 0xffff_ffff)
    }

    /// The realm and the number within it.
    pub fn from_ino(ino: u64) -> (RealmId, Local) {
        (RealmId((ino >> 32) as u32), Local(ino & 0xffff_ffff))
    }
}
