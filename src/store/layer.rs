//! What a fork's base has of its own, so that nothing is looked for where it cannot be.
//!
//! A fork of a fork looks a record up in one realm after the other, and most have changed little. What a
//! realm showed at an epoch that a fork pins never changes any more: so which records and chunks it has of
//! its own there is found out once, when it is first asked for, and kept as a sorted list: of hashes, or of
//! chunks. When the lists of one sort take too much memory together, they are found out anew.

use std::collections::HashMap;
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

/// Memory for all lists of one sort, in bytes.
const BYTES_MAX: usize = 4 << 20;

/// What an entry takes beside its list.
const ENTRY_BYTES: usize = 128;

/// Of records, sorted; None for too many to be kept.
type Records = Option<Box<[u64]>>;

/// By file, generation and index, sorted; None for too many to be kept.
type Chunks = Option<Box<[(Local, u64, u32)]>>;

/// A realm, and the epoch of it that a fork pins.
type At = (RealmId, Epoch);

/// What is kept, by realm and epoch, and for records by their kind, the tag. A number of a realm is never used
/// again, and what a fork pins stays.
#[derive(Default)]
pub(super) struct Layers {
    records: Lists<(At, u8), Records>,
    chunks: Lists<At, Chunks>,
    chains: Lists<(RealmId, u8), Chain>,
    unchanged: Lists<At, bool>,
}

/// What was found out once.
struct Lists<K, V>(RwLock<Kept<K, V>>);

struct Kept<K, V> {
    lists: HashMap<K, Arc<V>>,
    bytes: usize,
}

impl<K, V> Default for Lists<K, V> {
    fn default() -> Self {
        Lists(RwLock::new(Kept { lists: HashMap::new(), bytes: 0 }))
    }
}

impl<K: Hash + Eq, V: Size> Lists<K, V> {
    fn get(&self, of: K, find_out: impl FnOnce() -> Result<V>) -> Result<Arc<V>> {
        if let Some(list) = self.0.read().lists.get(&of) {
            return Ok(Arc::clone(list));
        }
        let list = Arc::new(find_out()?);
        let bytes = ENTRY_BYTES + list.bytes();
        let mut kept = self.0.write();
        if kept.bytes + bytes > BYTES_MAX {
            *kept = Kept { lists: HashMap::new(), bytes: 0 };
        }
        // Two that find out the same at once are counted twice: at worst all is found out anew a little sooner.
        kept.bytes += bytes;
        kept.lists.insert(of, Arc::clone(&list));
        Ok(list)
    }
}

/// What a list takes in memory.
trait Size {
    fn bytes(&self) -> usize;
}

impl<T> Size for Option<Box<[T]>> {
    fn bytes(&self) -> usize {
        self.as_deref().map_or(0, size_of_val)
    }
}

impl Size for Chain {
    fn bytes(&self) -> usize {
        self.between.bytes()
    }
}

impl Size for bool {
    fn bytes(&self) -> usize {
        0
    }
}

/// All the forks below a fork together, and what is below them all.
#[derive(Debug)]
pub(super) struct Chain {
    /// What one of them has of its own, of one kind of records.
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

/// A record part, or a group, that is looked for in one layer after the other.
pub(super) struct Sought {
    pub(super) part: Vec<u8>,
    hash: u64,
}

impl Sought {
    pub(super) fn new(part: Vec<u8>) -> Sought {
        Sought { hash: hash(&part), part }
    }

    pub(super) fn kind(&self) -> u8 {
        self.part.first().copied().unwrap_or_default()
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

fn sorted<T: Ord>(mut found: Vec<T>) -> Box<[T]> {
    found.sort_unstable();
    found.dedup();
    found.into_boxed_slice()
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
        Ok(!self.is_fork(realm) || may_have(&*self.own_records((realm, epoch), sought.kind())?, sought))
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

    /// What lies below a fork, for one kind of records; None for a realm that is none.
    pub(super) fn chain(&self, fork: RealmId, kind: u8) -> Result<Option<Arc<Chain>>> {
        let base_of = |id| self.realm(id).and_then(|realm| realm.base());
        let Some(mut last) = base_of(fork) else { return Ok(None) };
        let find_out = || {
            let mut between = Some(Vec::new());
            while let Some(next) = base_of(last.0) {
                match (&mut between, &*self.own_records(last, kind)?) {
                    (Some(between), Some(records)) => between.extend(records.iter().copied()),
                    _ => between = None,
                }
                last = next;
            }
            let between = between.map(sorted).filter(|between| between.len() < RECORDS_MAX);
            Ok(Chain { between, last })
        };
        self.layers.chains.get((fork, kind), find_out).map(Some)
    }

    /// Whether no record of a realm was changed since an epoch that something pins: so none of the values that
    /// held then moved to the history. To be asked after the live record was read: a change is told
    /// before it is written.
    pub(super) fn is_unchanged_since(&self, realm: RealmId, epoch: Epoch) -> Result<bool> {
        let find_out = || {
            let (from, end) =
                (key::touched(realm, epoch + 1, b""), key::after(&key::of_realm(key::tag::TOUCHED, realm)));
            Ok(self.engine.first(Keyspace::Meta, &from, &end)?.is_none())
        };
        Ok(*self.layers.unchanged.get((realm, epoch), find_out)?
            && self.realm(realm).is_none_or(|realm| realm.changed_up_to() <= epoch))
    }

    // The two below without a lock: what was there at a past epoch is there still, live or in the history, and a
    // record that moves from the one to the other meanwhile is met where it goes. All that a realm has is listed,
    // now or in its past: at the epoch there are some of them.

    fn own_records(&self, at: At, kind: u8) -> Result<Arc<Records>> {
        self.layers.records.get((at, kind), || {
            let mut found = Vec::new();
            let mut last_group = 0;
            let mut add = |part: &[u8]| {
                found.push(hash(part));
                // Those of one group stand together.
                let group = group(part).map(hash).filter(|group| *group != last_group);
                last_group = group.unwrap_or(last_group);
                found.extend(group);
                if found.len() < RECORDS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let live = key::of_realm(kind, at.0);
            self.engine
                .scan(Keyspace::Meta, &live, &key::after(&live), &mut |found, _| add(&key::record_part(found)))?;
            if !self.is_unchanged_since(at.0, at.1)? {
                let past = key::history(at.0, &[kind], None);
                self.engine.scan(Keyspace::Meta, &past, &key::after(&past), &mut |found, _| {
                    key::parse_history(found).map_or(ControlFlow::Continue(()), |(part, _)| add(part))
                })?;
            }
            Ok((found.len() < RECORDS_MAX).then(|| sorted(found)))
        })
    }

    fn own_chunks(&self, at: At) -> Result<Arc<Chunks>> {
        self.layers.chunks.get(at, || {
            let mut found = Vec::new();
            let prefix = key::chunks_of_realm(at.0);
            self.engine.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |chunk, _| {
                if let Some(chunk) = key::parse_chunk(chunk) {
                    let version = (chunk.ino, chunk.generation, chunk.index);
                    // The versions of a chunk stand together.
                    if found.last() != Some(&version) {
                        found.push(version);
                    }
                }
                if found.len() < CHUNKS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            Ok((found.len() < CHUNKS_MAX).then(|| sorted(found)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        let lists = Lists::<At, Records>::default();
        let large: Records = Some((0..RECORDS_MAX as u64).collect());
        for epoch in 0..100 {
            lists.get((RealmId(7), epoch), || Ok(large.clone())).unwrap();
            let kept = lists.0.read();
            assert!(kept.bytes <= BYTES_MAX && kept.lists.len() * RECORDS_MAX * 8 <= BYTES_MAX);
        }
    }

    #[test]
    fn chunks_are_found_by_file_and_generation() {
        let layer = Layer { realm: RealmId(7), file: Local(3), generation: 1, epoch: 9 };
        let chunks = Some(sorted(vec![(Local(3), 1, 5), (Local(3), 1, 9), (Local(3), 2, 7), (Local(2), 1, 6)]));
        assert!(may_have_chunks(&None, &layer, &(0..1)));
        let has = |range: Range<u32>| may_have_chunks(&chunks, &layer, &range);
        assert!(has(5..6) && has(0..6) && has(6..10) && has(0..u32::MAX));
        assert!(!has(0..5) && !has(6..9) && !has(10..u32::MAX) && !has(5..5));
    }
}
