//! Taking and dropping snapshots: one record each, whatever they cover.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use parking_lot::RwLock;

use super::record::{SnapshotKind, SnapshotRecord};
use super::{Epoch, Error, HOME, RealmId, Result, Store, Txn, key, try_scan};
use crate::engine::{Batch, Keyspace};

/// What a mark in the collection queue covers.
pub(super) const ONE_REALM: u8 = 0;
pub(super) const ALL_REALMS: u8 = 1;

impl Txn<'_> {
    /// Takes a snapshot of a realm, together with the transaction's other changes: it shows those
    /// that came before this call and not those that come after it.
    ///
    /// # Errors
    /// [`Error::Deleted`] for a realm whose thread was deleted: nothing would ever drop the snapshot.
    pub fn take_snapshot(&mut self, realm: RealmId, snapshot: &SnapshotRecord) -> Result<Epoch> {
        if self.is_retired(realm)? {
            return Err(Error::Deleted);
        }
        let changed = self.locked(realm)?.state.changed;
        let number = self.begin_epoch(realm)?;
        let locked = self.locked_mut(realm)?;
        // What changed before is in the snapshot.
        locked.state.changed = changed;
        locked.taken.push(number);
        locked.taken_at = Some(snapshot.time);
        locked.dirty = false;
        self.put_plain(key::numbered(key::tag::SNAPSHOT, realm, number), snapshot.encode());
        self.put_plain(key::snapshot_name(realm, &snapshot.name, number), Vec::new());
        Ok(number)
    }

    /// Ends an epoch of a realm as a snapshot does, for something else that refers to it. Its number.
    pub(super) fn begin_epoch(&mut self, realm: RealmId) -> Result<Epoch> {
        let number = self.store.last_snapshot.fetch_add(1, Ordering::SeqCst) + 1;
        self.record_usage(realm)?;
        let locked = self.locked_mut(realm)?;
        locked.record_mut().last_snapshot = number;
        // What changed since the last snapshot still has: if the transaction is not committed, too.
        if locked.state.changed.is_some_and(|changed| changed >= locked.epoch) {
            locked.state.changed = Some(number + 1);
        }
        locked.epoch = number + 1;
        Ok(number)
    }

    fn drop_snapshot(&mut self, realm: RealmId, number: Epoch) -> Result<()> {
        if let Some(record) = self.store.snapshot(realm, number)? {
            self.delete_plain(key::snapshot_name(realm, &record.name, number));
        }
        self.delete_plain(key::numbered(key::tag::SNAPSHOT, realm, number));
        self.put_plain(key::numbered(key::tag::PENDING, realm, number), vec![ONE_REALM]);
        self.locked_mut(realm)?.dropped.push(number);
        Ok(())
    }

    /// Drops all snapshots of a realm that there were before the transaction.
    pub fn drop_snapshots(&mut self, realm: RealmId) -> Result<()> {
        let all: Vec<Epoch> = self.locked(realm)?.state.snapshots.iter().copied().collect();
        all.into_iter().try_for_each(|number| self.drop_snapshot(realm, number))
    }
}

impl Store {
    /// Takes a snapshot of one realm. Its number is the epoch to read at.
    pub fn take_snapshot(&self, realm: RealmId, snapshot: &SnapshotRecord) -> Result<Epoch> {
        let mut txn = self.begin(&[realm])?;
        let number = txn.take_snapshot(realm, snapshot)?;
        txn.commit()?;
        Ok(number)
    }

    /// Takes a snapshot of everything: all realms at one instant, in one record.
    pub fn take_home_snapshot(&self, name: &[u8], snapshot: &SnapshotRecord) -> Result<Epoch> {
        let _alone = RwLock::write_arc(&self.freeze);
        let number = self.last_snapshot.fetch_add(1, Ordering::SeqCst) + 1;
        let record = SnapshotRecord { kind: SnapshotKind::Home, name: name.to_vec(), ..snapshot.clone() };
        let mut superblock = self.superblock.lock();
        let mut changed = superblock.clone();
        changed.last_home_snapshot = number;
        let mut batch = Batch::new();
        batch.put(Keyspace::Meta, key::SUPERBLOCK.to_vec(), changed.encode());
        batch.put(Keyspace::Meta, key::numbered(key::tag::SNAPSHOT, HOME, number), record.encode());
        batch.put(Keyspace::Meta, key::snapshot_name(HOME, name, number), Vec::new());
        self.engine.write(batch)?;
        *superblock = changed;
        self.home_snapshots.write().insert(number, record);
        Ok(number)
    }

    /// Drops a snapshot of one realm; false when there is none of that number. It is gone at
    /// once; what only it needed is freed by [`Store::collect`].
    pub fn drop_snapshot(&self, realm: RealmId, number: Epoch) -> Result<bool> {
        let mut txn = self.begin(&[realm])?;
        if !txn.locked(realm)?.state.snapshots.contains(&number) {
            return Ok(false);
        }
        txn.drop_snapshot(realm, number)?;
        txn.commit()?;
        Ok(true)
    }

    /// Drops a snapshot of everything; false when there is none of that number.
    pub fn drop_home_snapshot(&self, number: Epoch) -> Result<bool> {
        let _alone = RwLock::write_arc(&self.freeze);
        if !self.home_snapshots.read().contains_key(&number) {
            return Ok(false);
        }
        let mut batch = Batch::new();
        if let Some(record) = self.home_snapshots.read().get(&number) {
            batch.delete(Keyspace::Meta, key::snapshot_name(HOME, &record.name, number));
        }
        batch.delete(Keyspace::Meta, key::numbered(key::tag::SNAPSHOT, HOME, number));
        batch.put(Keyspace::Meta, key::numbered(key::tag::PENDING, HOME, number), vec![ALL_REALMS]);
        self.engine.write(batch)?;
        self.home_snapshots.write().remove(&number);
        Ok(true)
    }

    /// Whether there is a snapshot of everything of that number.
    pub fn has_home_snapshot(&self, number: Epoch) -> bool {
        self.home_snapshots.read().contains_key(&number)
    }

    /// A snapshot of a realm; of the home, one of everything.
    pub fn snapshot(&self, realm: RealmId, number: Epoch) -> Result<Option<SnapshotRecord>> {
        let found = self.engine.get(Keyspace::Meta, &key::numbered(key::tag::SNAPSHOT, realm, number))?;
        found.map(|value| SnapshotRecord::decode(&value)).transpose()
    }

    /// The snapshot of a realm with a name; however many there are.
    pub fn snapshot_named(&self, realm: RealmId, name: &[u8]) -> Result<Option<(Epoch, SnapshotRecord)>> {
        let prefix = key::snapshots_named(realm, name);
        let found = self.engine.first(Keyspace::Meta, &prefix, &key::after(&prefix))?;
        let Some(number) = found.and_then(|(key, _)| key::last_number(&key)) else { return Ok(None) };
        Ok(self.snapshot(realm, number)?.map(|record| (number, record)))
    }

    /// How many snapshots a realm has, and the number of the newest.
    pub fn snapshots(&self, realm: RealmId) -> (usize, Option<Epoch>) {
        if realm == HOME {
            let all = self.home_snapshots.read();
            return (all.len(), all.keys().next_back().copied());
        }
        let Some(realm) = self.realm(realm) else { return (0, None) };
        let state = realm.read();
        (state.snapshots.len(), state.snapshots.last().copied())
    }

    /// The number of the snapshot of a realm that was taken before another one.
    pub fn snapshot_before(&self, realm: RealmId, number: Epoch) -> Option<Epoch> {
        if realm == HOME {
            return self.home_snapshots.read().range(..number).next_back().map(|(before, _)| *before);
        }
        self.realm(realm)?.read().snapshots.range(..number).next_back().copied()
    }

    /// Visits the snapshots of a realm from a number on, oldest first, until it breaks.
    pub fn snapshots_from(
        &self,
        realm: RealmId,
        first: Epoch,
        visit: &mut dyn FnMut(Epoch, SnapshotRecord) -> ControlFlow<()>,
    ) -> Result<()> {
        let from = key::numbered(key::tag::SNAPSHOT, realm, first);
        let to = key::after(&key::of_realm(key::tag::SNAPSHOT, realm));
        try_scan(&*self.engine, Keyspace::Meta, &from, &to, &mut |found, value| match key::number_of(found) {
            Some(number) => Ok(visit(number, SnapshotRecord::decode(value)?)),
            None => Ok(ControlFlow::Continue(())),
        })
    }
}
