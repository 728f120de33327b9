//! Going back: a realm's records become what they were at a snapshot.

use super::{Epoch, Error, RealmId, Result, Txn};

/// What a restore changed.
#[derive(Debug, Default)]
pub struct Restoration {
    /// How many inodes and names are different now.
    pub changes: u64,
}

impl Txn<'_> {
    /// Makes a realm what it was at one of its references, with the transaction's other changes.
    /// The present state should have been kept by [`Txn::take_snapshot`] in the same transaction.
    pub fn restore(&mut self, _realm: RealmId, _to: Epoch) -> Result<Restoration> {
        Err(Error::corrupt("restore is not there yet"))
    }
}
