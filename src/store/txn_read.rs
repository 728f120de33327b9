//! What a transaction reads: its own changes, and the newest of everything else.

use super::record::Header;
use super::{Epoch, Error, Located, RealmId, Records, Result, Txn, VisitRecord, key, read};

impl Txn<'_> {
    /// Whether an epoch of a realm is a snapshot of it, or of everything, that exists.
    pub fn is_reference(&self, realm: RealmId, epoch: Epoch) -> bool {
        let Ok(locked) = self.locked(realm) else { return false };
        locked.state.refs(&self.store.home_snapshots()).contains(epoch)
    }

    /// What a fork's base has of a record.
    pub(super) fn below(&self, base: RealmId, epoch: Epoch, live: &[u8]) -> Result<Option<Located>> {
        let live = key::live(base, &key::record_part(live));
        let found = read::resolve(self.store, &*self.store.engine, &live, Some(epoch))?;
        Ok(found.map(|located| Located { base: located.base.or(Some((base, epoch))), ..located }))
    }
}

impl Records for Txn<'_> {
    fn locate(&self, live: &[u8]) -> Result<Option<Located>> {
        if let Some(raw) = self.raw(live)? {
            let (header, payload) = Header::unwrap(&raw)?;
            return Ok((!header.whiteout).then(|| Located { value: payload.to_vec(), base: None }));
        }
        let realm = key::realm_of(live).ok_or_else(|| Error::corrupt("a key is too short"))?;
        match self.locked(realm)?.realm.base() {
            None => Ok(None),
            Some((base, epoch)) => self.below(base, epoch, live),
        }
    }

    fn records(&self, from: &[u8], to: &[u8], visit: VisitRecord<'_>) -> Result<()> {
        self.store.reader().records(from, to, visit)
    }
}
