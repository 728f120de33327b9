//! Realms: the life of a thread.

use crate::store::codec::{Decoder, Encoder};
use crate::store::{Epoch, RealmId, Result};

/// What is kept of a realm whatever is restored in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RealmRecord {
    /// The epoch in which it was made.
    pub created: Epoch,
    /// The epoch in which its thread was deleted.
    pub dead: Option<Epoch>,
    /// The newest snapshot of it ever taken, dropped ones included; 0 for none.
    pub last_snapshot: Epoch,
    /// Of a fork: the realm and the epoch that it shows where it has no record of its own.
    pub base: Option<(RealmId, Epoch)>,
}

impl RealmRecord {
    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.number(self.created).number(self.dead.map_or(0, |epoch| epoch + 1)).number(self.last_snapshot);
        match self.base {
            Some((realm, epoch)) => out.byte(1).number(u64::from(realm.0)).number(epoch),
            None => out.byte(0),
        };
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<RealmRecord> {
        let mut read = Decoder::new(bytes, "realm");
        Ok(RealmRecord {
            created: read.number()?,
            dead: read.number()?.checked_sub(1),
            last_snapshot: read.number()?,
            base: match read.byte()? {
                0 => None,
                _ => Some((RealmId(read.number32()?), read.number()?)),
            },
        })
    }
}
