//! What a fork's base has of its own, so that nothing is looked for where it cannot be.
//!
//! A fork of a fork looks a record up in one realm after the other, and most have changed little. What a
//! realm showed at an epoch that a fork pins never changes any more: so which records and chunks it has of
//! its own there is found out once, and kept as a set of hashes for as long as the realm is loaded.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::record::Layer;
use super::{Epoch, RealmId, Result, Store, key};
use crate::engine::Keyspace;

/// A realm with more records of its own is looked into each time.
const RECORDS_MAX: usize = 1 << 16;

/// The same for chunks: to find out, their bytes are read.
const CHUNKS_MAX: usize = 1 << 12;

/// The part of a record that it has in common with others: the tag and a number, such as all names in one
/// directory have. So it can be told too whether there are any such.
pub(super) const GROUP: usize = 9;

/// Epochs that are kept for a realm.
const EPOCHS_MAX: usize = 64;

/// What a realm has of its own at an epoch; None for too much to be kept.
#[derive(Debug, Default)]
pub(super) struct Own {
    records: Option<HashSet<u64>>,
    chunks: Option<HashSet<u64>>,
}

impl Own {
    /// Whether a record of this part may be there.
    fn may_have(&self, part: &[u8]) -> bool {
        self.records.as_ref().is_none_or(|records| records.contains(&hash(part)))
    }

    /// Whether one of these chunks may be there.
    fn may_have_chunks(&self, layer: &Layer, chunks: std::ops::Range<u32>) -> bool {
        let Some(own) = &self.chunks else { return true };
        !own.is_empty()
            && (chunks.len() > own.len()
                || chunks
                    .into_iter()
                    .any(|index| own.contains(&hash(&key::chunk_part(layer.file, layer.generation, index)))))
    }
}

fn hash(part: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    part.hash(&mut hasher);
    hasher.finish()
}

impl Store {
    /// Whether a realm may have a record of this part, or of such a [group](GROUP), of its own at an epoch
    /// that a fork of it pins.
    pub(super) fn layer_may_have(&self, realm: RealmId, epoch: Epoch, part: &[u8]) -> Result<bool> {
        Ok(self.own(realm, epoch)?.is_none_or(|own| own.may_have(part)))
    }

    /// Whether a layer may have one of these chunks.
    pub(super) fn layer_may_have_chunks(&self, layer: &Layer, chunks: std::ops::Range<u32>) -> Result<bool> {
        Ok(self.own(layer.realm, layer.epoch)?.is_none_or(|own| own.may_have_chunks(layer, chunks)))
    }

    /// None for a realm that is no fork: where all others look last, it is looked anyway. Takes no lock of a
    /// realm: who asks may have one of a later realm.
    fn own(&self, id: RealmId, epoch: Epoch) -> Result<Option<Arc<Own>>> {
        let Some(realm) = self.realm(id).filter(|realm| realm.base().is_some()) else { return Ok(None) };
        if let Some(own) = realm.owns.lock().get(&epoch) {
            return Ok(Some(Arc::clone(own)));
        }
        // Without a lock: what was there at a past epoch is there still, live or in the history, and a record
        // that moves from the one to the other meanwhile is met where it goes.
        let own = Arc::new(Own { records: self.own_records(id)?, chunks: self.own_chunks(id)? });
        let mut owns = realm.owns.lock();
        if owns.len() >= EPOCHS_MAX {
            owns.clear();
        }
        owns.insert(epoch, Arc::clone(&own));
        Ok(Some(own))
    }

    /// Hashes of all that a realm has, now or in its past: at an epoch there are some of them.
    fn own_records(&self, realm: RealmId) -> Result<Option<HashSet<u64>>> {
        let mut found = HashSet::new();
        let mut add = |part: &[u8]| {
            found.insert(hash(part));
            found.extend(part.get(..GROUP).map(hash));
            if found.len() < RECORDS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        for tag in key::VERSIONED {
            let prefix = key::of_realm(tag, realm);
            self.engine
                .scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut |found, _| add(&key::record_part(found)))?;
        }
        let prefix = key::of_realm(key::tag::HISTORY, realm);
        self.engine.scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut |found, _| {
            key::parse_history(found).map_or(ControlFlow::Continue(()), |(part, _)| add(part))
        })?;
        Ok((found.len() < RECORDS_MAX).then_some(found))
    }

    fn own_chunks(&self, realm: RealmId) -> Result<Option<HashSet<u64>>> {
        let mut found = HashSet::new();
        let prefix = key::chunks_of_realm(realm);
        self.engine.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |chunk, _| {
            if let Some(chunk) = key::parse_chunk(chunk) {
                found.insert(hash(&key::chunk_part(chunk.ino, chunk.generation, chunk.index)));
            }
            if found.len() < CHUNKS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok((found.len() < CHUNKS_MAX).then_some(found))
    }
}
