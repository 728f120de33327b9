//! What a fork's base has of its own, so that nothing is looked for where it cannot be.
//!
//! A fork of a fork looks a record up in one realm after the other, and most have changed little. What a
//! realm showed at an epoch that a fork pins never changes any more: so which records and chunks it has of
//! its own there is found out once, and kept as a sorted list of hashes. When all lists together take too
//! much memory, they are found out anew.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use parking_lot::RwLock;

use super::record::Layer;
use super::{Epoch, RealmId, Result, Store, key};
use crate::engine::Keyspace;

/// A realm with more records of its own is looked into each time.
const RECORDS_MAX: usize = 1 << 15;

/// The same for chunks: to find out, their bytes are read.
const CHUNKS_MAX: usize = 1 << 12;

/// The part of a record that it has in common with others: the tag and a number, such as all names in one
/// directory have. So it can be told too whether there are any such.
pub(super) const GROUP: usize = 9;

/// Memory for all that is kept, in bytes.
const BYTES_MAX: usize = 8 << 20;

/// What an entry takes beside its hashes.
const ENTRY_BYTES: usize = 128;

/// Sorted.
type Hashes = Box<[u64]>;

/// What is kept, by realm and epoch. A number of a realm is never used again, and what a fork pins stays.
#[derive(Default)]
pub(super) struct Layers {
    kept: RwLock<Kept>,
}

#[derive(Default)]
struct Kept {
    owns: HashMap<(RealmId, Epoch), Arc<Own>>,
    chains: HashMap<RealmId, Arc<Chain>>,
    bytes: usize,
}

/// All the forks below a fork together, and what is below them all.
#[derive(Debug)]
pub(super) struct Chain {
    /// What one of them has of its own; None for too much to be kept.
    between: Option<Hashes>,
    /// The last base, which is no fork, and the epoch at which it shows.
    pub(super) last: (RealmId, Epoch),
}

impl Chain {
    /// Whether a record of this part may be in one of the forks between.
    pub(super) fn may_have(&self, sought: &Sought) -> bool {
        self.between.as_ref().is_none_or(|between| has(between, sought.hash))
    }
}

impl Kept {
    fn make_room(&mut self, bytes: usize) {
        if self.bytes + bytes > BYTES_MAX {
            *self = Kept::default();
        }
    }

    fn keep(&mut self, realm: RealmId, epoch: Epoch, own: Arc<Own>) {
        let bytes = own.bytes();
        self.make_room(bytes);
        if self.owns.insert((realm, epoch), own).is_none() {
            self.bytes += bytes;
        }
    }
}

/// A record part, or a group, that is looked for in one layer after the other.
pub(super) struct Sought {
    pub(super) part: Vec<u8>,
    hash: u64,
}

impl Sought {
    pub(super) fn new(part: Vec<u8>) -> Sought {
        Sought { hash: hash(&part), part }
    }
}

/// What a realm has of its own at an epoch; None for too much to be kept.
#[derive(Debug, Default)]
pub(super) struct Own {
    records: Option<Hashes>,
    chunks: Option<Hashes>,
}

impl Own {
    /// Whether a record of this part may be there.
    fn may_have(&self, sought: &Sought) -> bool {
        self.records.as_ref().is_none_or(|records| has(records, sought.hash))
    }

    fn bytes(&self) -> usize {
        let hashes = [&self.records, &self.chunks].into_iter().flatten().map(|hashes| hashes.len()).sum::<usize>();
        ENTRY_BYTES + hashes * size_of::<u64>()
    }

    /// Whether one of these chunks may be there.
    fn may_have_chunks(&self, layer: &Layer, chunks: std::ops::Range<u32>) -> bool {
        let Some(own) = &self.chunks else { return true };
        !own.is_empty()
            && (chunks.len() > own.len()
                || chunks
                    .into_iter()
                    .any(|index| has(own, hash(&key::chunk_part(layer.file, layer.generation, index)))))
    }
}

fn has(hashes: &Hashes, hash: u64) -> bool {
    hashes.binary_search(&hash).is_ok()
}

fn sorted(hashes: HashSet<u64>) -> Hashes {
    let mut hashes: Hashes = hashes.into_iter().collect();
    hashes.sort_unstable();
    hashes
}

fn hash(part: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    part.hash(&mut hasher);
    hasher.finish()
}

impl Store {
    /// Whether a realm may have a record of this part, or of such a [group](GROUP), of its own at an epoch
    /// that a fork of it pins.
    pub(super) fn layer_may_have(&self, realm: RealmId, epoch: Epoch, sought: &Sought) -> Result<bool> {
        Ok(self.own(realm, epoch)?.is_none_or(|own| own.may_have(sought)))
    }

    /// Whether a layer may have one of these chunks.
    pub(super) fn layer_may_have_chunks(&self, layer: &Layer, chunks: std::ops::Range<u32>) -> Result<bool> {
        Ok(self.own(layer.realm, layer.epoch)?.is_none_or(|own| own.may_have_chunks(layer, chunks)))
    }

    /// What lies below a fork; None for a realm that is none.
    pub(super) fn chain(&self, fork: RealmId) -> Result<Option<Arc<Chain>>> {
        if let Some(chain) = self.layers.kept.read().chains.get(&fork) {
            return Ok(Some(Arc::clone(chain)));
        }
        let base_of = |id| self.realm(id).and_then(|realm| realm.base());
        let Some(mut last) = base_of(fork) else { return Ok(None) };
        let mut between = Some(HashSet::new());
        while let Some(next) = base_of(last.0) {
            let own = self.own(last.0, last.1)?;
            let records = own.as_ref().and_then(|own| own.records.as_ref());
            match (&mut between, records) {
                (Some(between), Some(records)) => between.extend(records.iter().copied()),
                _ => between = None,
            }
            last = next;
        }
        let between = between.filter(|between| between.len() < RECORDS_MAX).map(sorted);
        let chain = Arc::new(Chain { between, last });
        let mut kept = self.layers.kept.write();
        let bytes = ENTRY_BYTES + chain.between.as_ref().map_or(0, |between| between.len() * size_of::<u64>());
        kept.make_room(bytes);
        if kept.chains.insert(fork, Arc::clone(&chain)).is_none() {
            kept.bytes += bytes;
        }
        Ok(Some(chain))
    }

    /// None for a realm that is no fork: where all others look last, it is looked anyway. Takes no lock of a
    /// realm: who asks may have one of a later realm.
    fn own(&self, id: RealmId, epoch: Epoch) -> Result<Option<Arc<Own>>> {
        if let Some(own) = self.layers.kept.read().owns.get(&(id, epoch)) {
            return Ok(Some(Arc::clone(own)));
        }
        if self.realm(id).is_none_or(|realm| realm.base().is_none()) {
            return Ok(None);
        }
        // Without a lock: what was there at a past epoch is there still, live or in the history, and a record
        // that moves from the one to the other meanwhile is met where it goes.
        let own = Arc::new(Own { records: self.own_records(id)?, chunks: self.own_chunks(id)? });
        self.layers.kept.write().keep(id, epoch, Arc::clone(&own));
        Ok(Some(own))
    }

    /// Hashes of all that a realm has, now or in its past: at an epoch there are some of them.
    fn own_records(&self, realm: RealmId) -> Result<Option<Hashes>> {
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
        Ok((found.len() < RECORDS_MAX).then(|| sorted(found)))
    }

    fn own_chunks(&self, realm: RealmId) -> Result<Option<Hashes>> {
        let mut found = HashSet::new();
        let prefix = key::chunks_of_realm(realm);
        self.engine.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |chunk, _| {
            if let Some(chunk) = key::parse_chunk(chunk) {
                found.insert(hash(&key::chunk_part(chunk.ino, chunk.generation, chunk.index)));
            }
            if found.len() < CHUNKS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok((found.len() < CHUNKS_MAX).then(|| sorted(found)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        let (mut kept, large) = (Kept::default(), || sorted((0..RECORDS_MAX as u64).collect()));
        for epoch in 0..100 {
            kept.keep(RealmId(7), epoch, Arc::new(Own { records: Some(large()), chunks: None }));
            assert!(kept.bytes <= BYTES_MAX && kept.owns.contains_key(&(RealmId(7), epoch)));
        }
        let bytes = kept.bytes;
        kept.keep(RealmId(7), 99, Arc::new(Own { records: Some(large()), chunks: None }));
        assert_eq!(kept.bytes, bytes);
    }

    #[test]
    fn hashes_are_found() {
        let hashes = sorted([3, u64::MAX, 0].into());
        assert!(has(&hashes, 0) && has(&hashes, u64::MAX) && !has(&hashes, 4));
    }
}
