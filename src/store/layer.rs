//! What a fork's base has of its own, so that nothing is looked for where it cannot be.
//!
//! A fork of a fork looks a record up in one realm after the other, and most have changed little. What a
//! realm showed at an epoch that a fork pins never changes any more: so which records and chunks it has of
//! its own there is found out once, when it is first asked for, and kept as a sorted list: of hashes, or of
//! chunks. When all lists together take too much memory, they are found out anew.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use parking_lot::RwLock;

use super::record::Layer;
use super::{Epoch, Local, RealmId, Result, Store, key};
use crate::engine::Keyspace;

/// A realm with more records of its own is looked into each time.
const RECORDS_MAX: usize = 1 << 15;

/// The same for chunks: to find out, their bytes are read.
const CHUNKS_MAX: usize = 1 << 12;

/// What a record's part begins with, in common with others: the tag and whose they are, such as all names in one
/// directory have, or all links of one inode. So it can be told too whether there are any such.
pub(super) fn group(part: &[u8]) -> Option<&[u8]> {
    let number = if part.first() == Some(&key::tag::LINK) { 4 + 8 } else { 8 };
    part.get(..1 + number)
}

/// Memory for all that is kept, in bytes.
const BYTES_MAX: usize = 8 << 20;

/// What an entry takes beside its hashes.
const ENTRY_BYTES: usize = 128;

/// Of records, sorted; None for too many to be kept.
type Records = Option<Box<[u64]>>;

/// By file, generation and index, sorted; None for too many to be kept.
type Chunks = Option<Box<[(Local, u64, u32)]>>;

/// A realm, and the epoch of it that a fork pins.
type At = (RealmId, Epoch);

/// What is kept, by realm and epoch. A number of a realm is never used again, and what a fork pins stays.
#[derive(Default)]
pub(super) struct Layers {
    kept: RwLock<Kept>,
}

#[derive(Default)]
struct Kept {
    records: HashMap<At, Arc<Records>>,
    chunks: HashMap<At, Arc<Chunks>>,
    chains: HashMap<RealmId, Arc<Chain>>,
    bytes: usize,
}

/// All the forks below a fork together, and what is below them all.
#[derive(Debug)]
pub(super) struct Chain {
    /// What one of them has of its own.
    between: Records,
    /// The last base, which is no fork, and the epoch at which it shows.
    pub(super) last: At,
}

impl Chain {
    /// Whether a record of this part may be in one of the forks between.
    pub(super) fn may_have(&self, sought: &Sought) -> bool {
        may_have(&self.between, sought)
    }
}

impl Kept {
    /// Makes room for a list of so many of something.
    fn make_room<T>(&mut self, list: Option<&[T]>) {
        let bytes = ENTRY_BYTES + list.map_or(0, size_of_val);
        if self.bytes + bytes > BYTES_MAX {
            *self = Kept::default();
        }
        // Two that find out the same at once are counted twice: at worst all is found out anew a little sooner.
        self.bytes += bytes;
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

fn may_have(records: &Records, sought: &Sought) -> bool {
    records.as_ref().is_none_or(|records| records.binary_search(&sought.hash).is_ok())
}

fn may_have_chunks(chunks: &Chunks, layer: &Layer, range: &Range<u32>) -> bool {
    let Some(chunks) = chunks else { return true };
    let at = |index| (layer.file, layer.generation, index);
    let first = chunks.partition_point(|chunk| *chunk < at(range.start));
    chunks.get(first).is_some_and(|chunk| *chunk < at(range.end))
}

fn sorted<T: Ord>(found: HashSet<T>) -> Box<[T]> {
    let mut sorted: Box<[T]> = found.into_iter().collect();
    sorted.sort_unstable();
    sorted
}

fn hash(part: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    part.hash(&mut hasher);
    hasher.finish()
}

impl Store {
    /// Whether a realm may have a record of this part, or of such a [group], of its own at an epoch
    /// that a fork of it pins.
    pub(super) fn layer_may_have(&self, realm: RealmId, epoch: Epoch, sought: &Sought) -> Result<bool> {
        Ok(!self.is_fork(realm) || may_have(&*self.own_records((realm, epoch))?, sought))
    }

    /// Whether a layer may have one of these chunks.
    pub(super) fn layer_may_have_chunks(&self, layer: &Layer, chunks: &Range<u32>) -> Result<bool> {
        Ok(!self.is_fork(layer.realm) || may_have_chunks(&*self.own_chunks((layer.realm, layer.epoch))?, layer, chunks))
    }

    /// What is no fork is looked into anyway: all others look there last. Takes no lock of a realm: who asks
    /// may have one of a later realm.
    fn is_fork(&self, id: RealmId) -> bool {
        self.realm(id).is_some_and(|realm| realm.base().is_some())
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
            match (&mut between, &*self.own_records(last)?) {
                (Some(between), Some(records)) => between.extend(records.iter().copied()),
                _ => between = None,
            }
            last = next;
        }
        let between = between.filter(|between| between.len() < RECORDS_MAX).map(sorted);
        let chain = Arc::new(Chain { between, last });
        let mut kept = self.layers.kept.write();
        kept.make_room(chain.between.as_deref());
        kept.chains.insert(fork, Arc::clone(&chain));
        Ok(Some(chain))
    }

    // Both without a lock: what was there at a past epoch is there still, live or in the history, and a record
    // that moves from the one to the other meanwhile is met where it goes. All that a realm has is listed, now
    // or in its past: at the epoch there are some of them.

    fn own_records(&self, at: At) -> Result<Arc<Records>> {
        if let Some(records) = self.layers.kept.read().records.get(&at) {
            return Ok(Arc::clone(records));
        }
        let mut found = HashSet::new();
        let mut add = |part: &[u8]| {
            found.insert(hash(part));
            found.extend(group(part).map(hash));
            if found.len() < RECORDS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        // One cursor for all kinds: most have next to nothing, and making one costs more than moving it.
        let mut cursor = self.engine.cursor(Keyspace::Meta, b"", b"")?;
        for tag in key::VERSIONED.into_iter().chain([key::tag::HISTORY]) {
            let prefix = key::of_realm(tag, at.0);
            cursor.seek(&prefix)?;
            while let Some((found, _)) = cursor.item().filter(|(found, _)| found.starts_with(&prefix)) {
                let go_on = match tag {
                    key::tag::HISTORY => {
                        key::parse_history(found).map_or(ControlFlow::Continue(()), |(part, _)| add(part))
                    }
                    _ => add(&key::record_part(found)),
                };
                if go_on.is_break() {
                    break;
                }
                cursor.advance()?;
            }
        }
        let records = Arc::new((found.len() < RECORDS_MAX).then(|| sorted(found)));
        let mut kept = self.layers.kept.write();
        kept.make_room((*records).as_deref());
        kept.records.insert(at, Arc::clone(&records));
        Ok(records)
    }

    fn own_chunks(&self, at: At) -> Result<Arc<Chunks>> {
        if let Some(chunks) = self.layers.kept.read().chunks.get(&at) {
            return Ok(Arc::clone(chunks));
        }
        let mut found = HashSet::new();
        let prefix = key::chunks_of_realm(at.0);
        self.engine.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |chunk, _| {
            if let Some(chunk) = key::parse_chunk(chunk) {
                found.insert((chunk.ino, chunk.generation, chunk.index));
            }
            if found.len() < CHUNKS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let chunks = Arc::new((found.len() < CHUNKS_MAX).then(|| sorted(found)));
        let mut kept = self.layers.kept.write();
        kept.make_room((*chunks).as_deref());
        kept.chunks.insert(at, Arc::clone(&chunks));
        Ok(chunks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        let mut kept = Kept::default();
        let large: Records = Some((0..RECORDS_MAX as u64).collect());
        for epoch in 0..100 {
            kept.make_room(large.as_deref());
            kept.records.insert((RealmId(7), epoch), Arc::new(large.clone()));
            assert!(kept.bytes <= BYTES_MAX && kept.records.len() * RECORDS_MAX * 8 <= BYTES_MAX);
        }
    }

    #[test]
    fn chunks_are_found_by_file_and_generation() {
        let layer = Layer { realm: RealmId(7), file: Local(3), generation: 1, epoch: 9 };
        let chunks = Some(sorted([(Local(3), 1, 5), (Local(3), 1, 9), (Local(3), 2, 7), (Local(2), 1, 6)].into()));
        assert!(may_have_chunks(&None, &layer, &(0..1)));
        let has = |range: Range<u32>| may_have_chunks(&chunks, &layer, &range);
        assert!(has(5..6) && has(0..6) && has(6..10) && has(0..u32::MAX));
        assert!(!has(0..5) && !has(6..9) && !has(10..u32::MAX) && !has(5..5));
    }
}
