//! What changed in a realm since its last snapshot: for snapshots that come before a removal, or
//! after so many changes.
//!
//! All of it is told by epochs, because every snapshot that covers a realm, of it or of the home,
//! begins another: so no snapshot has to reset anything. What else begins an epoch (a fork, a restore)
//! takes the mark of a change along.

use super::record::{Header, Timestamp};
use super::txn::Locked;
use super::{RealmId, Result, Txn, key};
use crate::engine::Keyspace;

impl Locked {
    /// Counts what a transaction changed, at its commit.
    pub(super) fn count_change(&mut self, removal: bool) {
        if self.taken_at.is_some() {
            self.state.last_taken = self.taken_at;
        }
        if !self.dirty {
            return;
        }
        if !removal {
            self.state.changed = Some(self.epoch);
        }
        let before = if self.state.changes.0 == self.epoch { self.state.changes.1 } else { 0 };
        self.state.changes = (self.epoch, before + 1);
    }
}

impl Txn<'_> {
    /// Says that the transaction removes something and changes nothing else.
    pub fn set_removal(&mut self) {
        self.removal = true;
    }

    /// Whether something other than a removal changed in a realm since its last snapshot, before the
    /// transaction. The first call after the store was opened may take a removal for a change.
    pub fn is_changed(&mut self, realm: RealmId) -> Result<bool> {
        let Locked { epoch, state, .. } = self.locked(realm)?;
        let epoch = *epoch;
        if let Some(changed) = state.changed {
            return Ok(changed >= epoch);
        }
        let home = self.store.home_snapshots.read().keys().rev().copied().find(|epoch| state.record.alive_at(*epoch));
        let changed = match state.snapshots.last().copied().max(home) {
            // With nothing to go back to, all of it is new.
            None => true,
            Some(newest) => {
                let from = key::touched(realm, newest + 1, b"");
                let end = key::after(&key::of_realm(key::tag::TOUCHED, realm));
                self.store.engine.first(Keyspace::Meta, &from, &end)?.is_some()
            }
        };
        self.locked_mut(realm)?.state.changed = Some(if changed { epoch } else { 0 });
        Ok(changed)
    }

    /// How many transactions changed a realm since its last snapshot, this one included if it did.
    pub fn changes(&self, realm: RealmId) -> Result<u64> {
        let Locked { epoch, state, dirty, .. } = self.locked(realm)?;
        let before = if state.changes.0 == *epoch { state.changes.1 } else { 0 };
        Ok(before + u64::from(*dirty))
    }

    /// The realms that the transaction changed, and did not end.
    pub fn changed_realms(&self) -> Vec<RealmId> {
        let ended = |locked: &Locked| locked.record.as_ref().is_some_and(|record| record.dead.is_some());
        self.realms.iter().filter(|locked| locked.dirty && !ended(locked)).map(|locked| locked.realm.id()).collect()
    }

    /// Whether a record has changed since the last snapshot of its realm.
    pub fn is_record_changed(&self, realm: RealmId, live: &[u8]) -> Result<bool> {
        let born = self.raw(live)?.as_deref().map(Header::unwrap).transpose()?.map(|(header, _)| header.born);
        Ok(born == Some(self.locked(realm)?.epoch))
    }

    /// When the last snapshot that covers a realm was taken, as far as it still exists.
    pub fn last_snapshot_time(&self, realm: RealmId) -> Result<Option<Timestamp>> {
        let home = self.store.home_snapshots.read().last_key_value().map(|(_, record)| record.time);
        Ok(self.locked(realm)?.state.last_taken.max(home))
    }
}
