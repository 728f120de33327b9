//! Records on an engine: what is kept, under which key, and which of it is history.
//!
//! - [`key`] and [`record`] are the byte layouts;
//! - [`Store`] is an open store: realms, epochs, counters;
//! - [`Txn`] changes records: one transaction is one atomic batch;
//! - [`Reader`] reads them, now or as of an epoch;
//! - [`snapshot`], [`collect`] and [`check`] take snapshots, free what no snapshot needs, and
//!   prove that nothing is lost or left over.

mod apart;
mod changes;
pub mod check;
mod chunk;
pub mod codec;
pub mod collect;
pub mod diff;
mod error;
mod fork;
mod history;
pub mod key;
mod layer;
mod life;
mod merge;
mod open;
mod owner;
mod read;
mod realm;
pub mod record;
mod restore;
mod room;
pub mod snapshot;
mod sync;
mod txn;
mod txn_read;
mod txn_tree;
mod unique;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::{Mutex, RwLock};

pub use chunk::{Content, Segment};
pub use error::{Error, Result};
pub use read::{Located, Reader, Records, VisitRecord, try_scan};
pub use realm::{Realm, RealmState};
pub use restore::{Refusal, Restoration};
pub use txn::Txn;

use crate::engine::Engine;
use record::{SnapshotRecord, Superblock, Usage};

/// A realm's number: 0 is the home, every thread has one of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RealmId(pub u32);

/// An inode's number within its realm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Local(pub u64);

/// Counts snapshots: what is written after snapshot n was taken is of epoch n + 1.
pub type Epoch = u64;

/// The realm of everything that is in no thread.
pub const HOME: RealmId = RealmId(0);

/// Numbers that no realm gets: the layers above use them for what is in no store, so that its inode
/// numbers too stay below 2^53.
pub const NO_REALMS: std::ops::Range<u32> = 0x10_0000..0x20_0000;

/// The number of a realm's root directory.
pub const ROOT: Local = Local(1);

/// Names that a directory's cookies are kept free for: the start, "." and "..".
const RESERVED_HASHES: u64 = 3;

/// An open store.
pub struct Store {
    engine: Arc<dyn Engine>,
    superblock: Mutex<Superblock>,
    hash_key: [u64; 2],
    /// Transactions share it; what must see all realms at one instant takes it alone.
    freeze: Arc<RwLock<()>>,
    realms: RwLock<BTreeMap<RealmId, Arc<Realm>>>,
    home_snapshots: RwLock<BTreeMap<Epoch, SnapshotRecord>>,
    /// The last snapshot number given out. It is not stored: at open it is the largest that any
    /// realm remembers, and what no realm remembers nobody can confuse.
    last_snapshot: AtomicU64,
    room: room::Room,
    layers: layer::Layers,
    collector: Mutex<collect::Walk>,
    syncs: sync::SyncGroup,
}

impl Store {
    /// The engine below, for its name and its numbers.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// The realm of a number, if there is such a realm.
    pub fn realm(&self, id: RealmId) -> Option<Arc<Realm>> {
        self.realms.read().get(&id).cloned()
    }

    /// All realms.
    pub fn realms(&self) -> Vec<Arc<Realm>> {
        self.realms.read().values().cloned().collect()
    }

    /// Some realms by number, from one on.
    pub fn realms_from(&self, first: RealmId, count: usize) -> Vec<Arc<Realm>> {
        self.realms.read().range(first..).take(count).map(|(_, realm)| Arc::clone(realm)).collect()
    }

    /// What the living realms hold together.
    pub fn usage(&self) -> Usage {
        self.realms().iter().map(|realm| realm.read().usage).fold(Usage::default(), |sum, usage| Usage {
            inodes: sum.inodes + usage.inodes,
            bytes: sum.bytes + usage.bytes,
        })
    }

    /// Threads that are not deleted.
    pub fn thread_count(&self) -> u64 {
        // On a copy of the list: who changes a realm may wait for the list.
        self.realms().iter().filter(|realm| realm.id() != HOME && realm.read().record.dead.is_none()).count() as u64
    }

    /// Snapshots of realms, and of everything.
    pub fn snapshot_count(&self) -> u64 {
        let own: usize = self.realms().iter().map(|realm| realm.read().snapshots.len()).sum();
        (own + self.home_snapshots.read().len()) as u64
    }

    /// The hash that orders a name in its directory: 63 bits, the cookie of readdir.
    pub fn name_hash(&self, name: &[u8]) -> u64 {
        let mut hasher = siphasher::sip::SipHasher13::new_with_keys(self.hash_key[0], self.hash_key[1]);
        hasher.write(name);
        (hasher.finish() >> 1).max(RESERVED_HASHES)
    }

    /// Returns when everything that was committed before the call is on the medium. Concurrent
    /// callers share a sync.
    pub fn sync(&self) -> Result<()> {
        self.syncs.sync(|| self.engine.sync()).map_err(Error::from)
    }

    /// Takes room for something that is written past a transaction.
    ///
    /// # Errors
    /// [`crate::engine::Error::NoSpace`] when only the reserve is left.
    pub fn take_room(&self, bytes: u64) -> Result<()> {
        self.room.take(&*self.engine, bytes)
    }

    /// Reads the newest state, each record by itself.
    pub fn reader(&self) -> Reader<'_> {
        Reader::newest(self)
    }

    /// Reads one instant.
    pub fn view(&self) -> Reader<'_> {
        Reader::frozen(self)
    }

    /// The numbers of the home snapshots, oldest first.
    pub fn home_snapshots(&self) -> BTreeSet<Epoch> {
        self.home_snapshots.read().keys().copied().collect()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("engine", &self.engine.name()).finish_non_exhaustive()
    }
}
