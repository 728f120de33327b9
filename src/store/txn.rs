//! Changing records: one transaction is one atomic batch.
//!
//! A transaction holds the locks of the realms it changes, so its reads stay true until it
//! commits. Dropping it without a commit changes nothing. A thread has one at a time.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::{ArcRwLockReadGuard, RawRwLock, RwLock};

use super::realm::StateGuard;
use super::record::{Header, Inode, Layer, RealmRecord, Timestamp, Usage};
use super::{Epoch, Error, HOME, Local, NO_REALMS, ROOT, Realm, RealmId, RealmState, Result, Store, key};
use crate::engine::{Batch, Keyspace};

/// Inode numbers are set aside in runs: a run is lost in a crash, and only the run costs a write.
const INODE_RUN: u64 = 1024;

/// Numbers within a realm that fit the low half of an inode number.
const LOCAL_END: u64 = 1 << 32;

/// A realm under change.
pub(super) struct Locked {
    pub(super) realm: Arc<Realm>,
    pub(super) state: StateGuard,
    pub(super) epoch: Epoch,
    pub(super) usage: Usage,
    /// What its usage record says, with the transaction's changes so far.
    recorded: Usage,
    reserved: u64,
    /// The realm's new record, if it changes.
    pub(super) record: Option<RealmRecord>,
    /// Snapshots that the transaction takes: references for what it changes after them.
    pub(super) taken: Vec<Epoch>,
    pub(super) dropped: Vec<Epoch>,
    /// What open files go on with, and what they no longer need: see apart.rs.
    pub(super) held: Vec<(Local, Layer)>,
    pub(super) released: Vec<(Local, Layer)>,
    /// Epochs that new forks show.
    pub(super) pinned: Vec<Epoch>,
    /// When it took the last of them.
    pub(super) taken_at: Option<Timestamp>,
    /// Whether records were changed, after the last snapshot that it took.
    pub(super) dirty: bool,
    new: bool,
}

impl Locked {
    fn new(realm: Arc<Realm>, last_home: Epoch, new: bool) -> Locked {
        let state = realm.write();
        Locked {
            epoch: state.epoch(last_home),
            usage: state.usage,
            recorded: state.usage,
            reserved: state.reserved,
            record: None,
            taken: Vec::new(),
            dropped: Vec::new(),
            held: Vec::new(),
            released: Vec::new(),
            pinned: Vec::new(),
            taken_at: None,
            dirty: false,
            new,
            realm,
            state,
        }
    }

    /// The realm's record, to be changed.
    pub(super) fn record_mut(&mut self) -> &mut RealmRecord {
        self.record.get_or_insert_with(|| self.state.record.clone())
    }
}

/// A set of changes in the making.
pub struct Txn<'s> {
    pub(super) store: &'s Store,
    _running: ArcRwLockReadGuard<RawRwLock, ()>,
    pub(super) realms: Vec<Locked>,
    /// Live keys that were read or changed, with their present raw values.
    seen: RefCell<HashMap<Vec<u8>, Option<Vec<u8>>>>,
    /// The newest versions of chunks that it wrote, by the prefix of the chunk's versions.
    pub(super) chunks: BTreeMap<Vec<u8>, super::write::Written>,
    pub(super) batch: Batch,
    /// Whether it only removes.
    pub(super) removal: bool,
    growth: Option<u64>,
}

impl Store {
    /// Begins a transaction in some realms. They are locked in the order of their numbers.
    ///
    /// # Errors
    /// A realm that does not exist.
    pub fn begin(&self, realms: &[RealmId]) -> Result<Txn<'_>> {
        let running = RwLock::read_arc(&self.freeze);
        let last_home = self.home_snapshots_last();
        let mut ids = realms.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let mut locked = Vec::with_capacity(ids.len());
        for id in ids {
            let none = || Error::corrupt(format!("there is no realm {}", id.0));
            let realm = Locked::new(self.realm(id).ok_or_else(none)?, last_home, false);
            if realm.state.purged {
                return Err(none());
            }
            locked.push(realm);
        }
        Ok(Txn {
            store: self,
            _running: running,
            realms: locked,
            seen: RefCell::default(),
            chunks: BTreeMap::new(),
            batch: Batch::new(),
            removal: false,
            growth: None,
        })
    }

    pub(super) fn home_snapshots_last(&self) -> Epoch {
        self.superblock.lock().last_home_snapshot
    }
}

impl Txn<'_> {
    pub(super) fn locked(&self, realm: RealmId) -> Result<&Locked> {
        self.realms
            .iter()
            .find(|locked| locked.realm.id() == realm)
            .ok_or_else(|| Error::corrupt(format!("realm {} is not part of the transaction", realm.0)))
    }

    pub(super) fn locked_mut(&mut self, realm: RealmId) -> Result<&mut Locked> {
        self.realms
            .iter_mut()
            .find(|locked| locked.realm.id() == realm)
            .ok_or_else(|| Error::corrupt(format!("realm {} is not part of the transaction", realm.0)))
    }

    /// The epoch of what is written in a realm now.
    pub fn epoch(&self, realm: RealmId) -> Result<Epoch> {
        Ok(self.locked(realm)?.epoch)
    }

    /// Whether something needs the realm as it was in one of `first..=last`.
    pub(super) fn needed(&self, realm: RealmId, first: Epoch, last: Epoch) -> Result<bool> {
        let locked = self.locked(realm)?;
        let held = locked.held.iter().map(|(_, layer)| &layer.epoch);
        Ok(locked.taken.iter().chain(&locked.pinned).chain(held).any(|epoch| (first..=last).contains(epoch))
            || locked.state.needed(&self.store.home_snapshots.read(), first, last))
    }

    pub(super) fn raw(&self, live: &[u8]) -> Result<Option<Vec<u8>>> {
        if let Some(known) = self.seen.borrow().get(live) {
            return Ok(known.clone());
        }
        let raw = self.store.engine.get(Keyspace::Meta, live)?;
        self.seen.borrow_mut().insert(live.to_vec(), raw.clone());
        Ok(raw)
    }

    /// Sets a versioned record.
    pub fn put_record(&mut self, live: Vec<u8>, payload: &[u8]) -> Result<()> {
        self.replace(live, Some((payload, false)))
    }

    /// Removes a versioned record; nothing when there is none.
    pub fn delete_record(&mut self, live: Vec<u8>) -> Result<()> {
        let realm = key::realm_of(&live).ok_or_else(|| Error::corrupt("a key is too short"))?;
        let below = match self.locked(realm)?.realm.base() {
            None => None,
            Some((base, epoch)) => self.below(base, epoch, &live)?,
        };
        match below {
            Some(_) => self.replace(live, Some((b"", true))),
            None => self.replace(live, None),
        }
    }

    /// Changes a live record. The old value moves to the history exactly when something needs
    /// an epoch in which it held.
    fn replace(&mut self, live: Vec<u8>, new: Option<(&[u8], bool)>) -> Result<()> {
        let realm = key::realm_of(&live).ok_or_else(|| Error::corrupt("a key is too short"))?;
        let locked = self.locked(realm)?;
        let epoch = locked.epoch;
        locked.realm.changes_in(epoch);
        let old = self.raw(&live)?;
        let born = old.as_deref().map(Header::unwrap).transpose()?.map(|(header, _)| header.born);
        if let (Some(born), Some(old)) = (born, old) {
            if self.needed(realm, born, epoch.saturating_sub(1))? {
                let entry = key::history(realm, &key::record_part(&live), Some(epoch - 1));
                self.batch.put(Keyspace::Meta, entry, old);
            }
        } else if new.is_none() {
            return Ok(());
        }
        if born.is_none_or(|born| born < epoch) {
            self.touch(realm, epoch, &key::record_part(&live))?;
        }
        self.locked_mut(realm)?.dirty = true;
        let raw = new.map(|(payload, whiteout)| Header { born: epoch, whiteout }.wrap(payload));
        match &raw {
            Some(raw) => self.batch.put(Keyspace::Meta, live.clone(), raw.clone()),
            None => self.batch.delete(Keyspace::Meta, live.clone()),
        }
        self.seen.borrow_mut().insert(live, raw);
        Ok(())
    }

    /// Enters the first change of a record in an epoch into the index that restore, diff and
    /// collection walk. With nothing to go back to there is no index, and no cost.
    pub(super) fn touch(&mut self, realm: RealmId, epoch: Epoch, part: &[u8]) -> Result<()> {
        if self.needed(realm, 0, Epoch::MAX)? {
            self.batch.put(Keyspace::Meta, key::touched(realm, epoch, part), Vec::new());
        }
        Ok(())
    }

    /// Sets a record that is not versioned.
    pub fn put_plain(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.batch.put(Keyspace::Meta, key, value);
    }

    /// Removes a record that is not versioned.
    pub fn delete_plain(&mut self, key: Vec<u8>) {
        self.batch.delete(Keyspace::Meta, key);
    }

    /// Sets a value in the `data` keyspace that is no chunk.
    pub fn put_data(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.batch.put(Keyspace::Data, key, value);
    }

    /// Removes a value in the `data` keyspace that is no chunk.
    pub fn delete_data(&mut self, key: Vec<u8>) {
        self.batch.delete(Keyspace::Data, key);
    }

    /// A number for a new inode. It is never given out again; if the transaction is not committed,
    /// not before the store is opened anew.
    ///
    /// # Errors
    /// [`Error::Exhausted`] after 2^32 inodes in one realm.
    pub fn new_ino(&mut self, realm: RealmId) -> Result<Local> {
        let locked = self.locked_mut(realm)?;
        let ino = locked.state.next;
        if ino >= LOCAL_END {
            return Err(Error::Exhausted("inode numbers in this thread"));
        }
        // At once, not with the commit: whoever learnt the number may go on using it.
        locked.state.next += 1;
        if locked.state.next > locked.reserved {
            locked.reserved = locked.state.next + INODE_RUN;
            let reserved = locked.reserved.to_be_bytes().to_vec();
            self.batch.put(Keyspace::Meta, key::of_realm(key::tag::NEXT, realm), reserved);
        }
        Ok(Local(ino))
    }

    /// Makes a realm with a root directory for a thread.
    pub fn new_realm(&mut self, root: &Inode) -> Result<RealmId> {
        let first = ROOT.0 + 1;
        let id = self.add_realm(RealmState { next: first, ..RealmState::default() })?;
        self.put_inode(id, ROOT, root)?;
        self.add_usage(id, 1, 0)?;
        Ok(id)
    }

    /// Adds a realm to the transaction, with the next number. When it begins is set here.
    pub(super) fn add_realm(&mut self, mut state: RealmState) -> Result<RealmId> {
        let mut superblock = self.store.superblock.lock();
        let id = RealmId(superblock.next_realm);
        let next = superblock.next_realm.checked_add(1).ok_or(Error::Exhausted("numbers for threads"))?;
        superblock.next_realm = if NO_REALMS.contains(&next) { NO_REALMS.end } else { next };
        // Every creation of a realm holds the home's lock, so the copies on disk count up too.
        self.locked(HOME)?;
        self.batch.put(Keyspace::Meta, key::SUPERBLOCK.to_vec(), superblock.encode());
        let last_home = superblock.last_home_snapshot;
        drop(superblock);
        state.record.created = 1 + last_home;
        state.reserved = state.next;
        self.batch.put(Keyspace::Meta, key::of_realm(key::tag::NEXT, id), state.next.to_be_bytes().to_vec());
        let mut locked = Locked::new(Arc::new(Realm::new(id, state)), last_home, true);
        locked.record_mut();
        self.realms.push(locked);
        Ok(id)
    }

    /// Adds to what a realm holds.
    pub fn add_usage(&mut self, realm: RealmId, inodes: i64, bytes: i64) -> Result<()> {
        let usage = &mut self.locked_mut(realm)?.usage;
        usage.inodes = usage.inodes.saturating_add_signed(inodes);
        usage.bytes = usage.bytes.saturating_add_signed(bytes);
        Ok(())
    }

    /// Brings the usage record up to date, for the commit or for a snapshot that is to show it.
    pub(super) fn record_usage(&mut self, realm: RealmId) -> Result<()> {
        let locked = self.locked_mut(realm)?;
        let usage = locked.usage;
        if locked.recorded == usage {
            return Ok(());
        }
        locked.recorded = usage;
        self.put_record(key::of_realm(key::tag::USAGE, realm), &usage.encode())
    }

    /// Says that the transaction takes room: it is refused when the disk is nearly full, as
    /// deletions are not.
    pub fn grow(&mut self, bytes: u64) {
        self.growth = Some(self.growth.unwrap_or(0) + bytes);
    }

    /// Asks that the changes be on the medium when the commit returns.
    pub fn set_durable(&mut self, durable: bool) {
        self.batch.set_durable(durable);
    }

    /// Applies the changes, all or none.
    ///
    /// # Errors
    /// Nothing was changed then, on disk or in memory.
    pub fn commit(mut self) -> Result<()> {
        if let Some(bytes) = self.growth {
            self.store.room.take(&*self.store.engine, bytes + 1024)?;
        }
        let realms: Vec<RealmId> = self.realms.iter().map(|locked| locked.realm.id()).collect();
        for realm in realms {
            self.record_usage(realm)?;
        }
        for locked in &self.realms {
            if let Some(record) = &locked.record {
                let key = key::of_realm(key::tag::REALM, locked.realm.id());
                self.batch.put(Keyspace::Meta, key, record.encode());
            }
        }
        if !self.batch.is_empty() {
            let written = self.store.engine.write(std::mem::take(&mut self.batch));
            if let Err(error) = written {
                self.store.room.forget();
                return Err(error.into());
            }
        }
        for locked in &mut self.realms {
            locked.state.usage = locked.usage;
            locked.state.reserved = locked.reserved;
            if let Some(record) = locked.record.take() {
                locked.state.record = record;
            }
            locked.state.snapshots.extend(locked.taken.drain(..));
            locked.count_change(self.removal);
            for number in locked.dropped.drain(..) {
                locked.state.snapshots.remove(&number);
            }
            for epoch in locked.pinned.drain(..) {
                *locked.state.pins.entry(epoch).or_default() += 1;
            }
            for (file, layer) in locked.held.drain(..) {
                locked.state.hold(file, layer);
            }
            for (file, layer) in locked.released.drain(..) {
                locked.state.release(file, layer);
            }
            if locked.new {
                self.store.realms.write().insert(locked.realm.id(), Arc::clone(&locked.realm));
            }
        }
        Ok(())
    }
}
