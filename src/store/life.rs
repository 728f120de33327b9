//! The end of a thread, and its return.

use super::record::Deletion;
use super::{Error, RealmId, Result, Store, Txn};

impl Txn<'_> {
    /// Marks a thread's realm as deleted. What no snapshot needs is collected later.
    pub fn retire_realm(&mut self, realm: RealmId) -> Result<()> {
        let locked = self.locked_mut(realm)?;
        locked.record_mut().dead = Some(locked.epoch);
        Ok(())
    }

    /// Whether the thread of a realm was deleted, be it by the transaction.
    pub fn is_retired(&self, realm: RealmId) -> Result<bool> {
        let locked = self.locked(realm)?;
        Ok(locked.record.as_ref().unwrap_or(&locked.state.record).dead.is_some())
    }

    /// Whether the thread of a realm was deleted and can come back.
    pub fn is_kept_deleted(&self, realm: RealmId) -> Result<bool> {
        Ok(self.locked(realm)?.state.record.deletion.is_some())
    }

    /// Whether a realm has snapshots of its own.
    pub fn has_snapshots(&self, realm: RealmId) -> Result<bool> {
        let locked = self.locked(realm)?;
        Ok(!locked.taken.is_empty() || !locked.state.snapshots.is_empty())
    }

    /// Says how the thread of a realm is deleted. Its snapshots are kept then, and with them it can
    /// [come back](Txn::revive_realm), until they are [forgotten](Store::forget_deleted).
    pub fn keep_deleted(&mut self, realm: RealmId, deletion: Deletion) -> Result<()> {
        self.locked_mut(realm)?.record_mut().deletion = Some(deletion);
        Ok(())
    }

    /// Brings the realm of a deleted thread back, empty: it has no root directory yet. Snapshots of
    /// the home that were taken since its deletion do not show it.
    pub fn revive_realm(&mut self, realm: RealmId) -> Result<()> {
        let locked = self.locked_mut(realm)?;
        let epoch = locked.epoch;
        let record = locked.record_mut();
        let Some(dead) = record.dead.take() else {
            return Err(Error::corrupt(format!("realm {} is to come back and was not deleted", realm.0)));
        };
        record.absences.push((dead, epoch));
        record.deletion = None;
        Ok(())
    }
}

impl Store {
    /// Drops the snapshots of a deleted thread, and with them what was kept of it; false when it is
    /// not there, or not deleted.
    pub fn forget_deleted(&self, realm: RealmId) -> Result<bool> {
        if self.realm(realm).is_none_or(|realm| realm.read().record.deletion.is_none()) {
            return Ok(false);
        }
        let mut txn = self.begin(&[realm])?;
        if txn.locked(realm)?.state.record.deletion.is_none() {
            return Ok(false);
        }
        txn.drop_snapshots(realm)?;
        txn.locked_mut(realm)?.record_mut().deletion = None;
        txn.commit()?;
        Ok(true)
    }
}
