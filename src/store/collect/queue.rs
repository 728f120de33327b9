//! What is to be collected, and how far that is.

use crate::engine::Keyspace;
use crate::store::{Epoch, Error, RealmId, Result, Store, key};

/// Where the collection of the first task in the queue stands. Only in memory: after a crash it
/// starts over, and finds less.
#[derive(Debug, Default)]
pub(in crate::store) struct Walk {
    task: Vec<u8>,
    /// The first key that was not looked at; empty at the start.
    next: Vec<u8>,
}

impl Walk {
    pub(super) fn on(&mut self, task: Vec<u8>) -> &mut Vec<u8> {
        if self.task != task {
            *self = Walk { task, next: Vec::new() };
        }
        &mut self.next
    }
}

/// A dropped snapshot in the queue.
pub(super) struct Pending {
    pub(super) key: Vec<u8>,
    pub(super) realm: RealmId,
    pub(super) number: Epoch,
    pub(super) scope: u8,
}

impl Store {
    /// The first dropped snapshot in the queue.
    pub(super) fn next_pending(&self) -> Result<Option<Pending>> {
        let prefix = key::all(key::tag::PENDING);
        let Some((key, value)) = self.engine.first(Keyspace::Meta, &prefix, &key::after(&prefix))? else {
            return Ok(None);
        };
        match (key::realm_of(&key), key::number_of(&key), value.first()) {
            (Some(realm), Some(number), Some(&scope)) => Ok(Some(Pending { key, realm, number, scope })),
            _ => Err(Error::corrupt("an entry of the collection queue cannot be read")),
        }
    }
}
