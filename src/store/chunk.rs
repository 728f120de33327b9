//! The content of files: chunks that are never moved.
//!
//! A file's content is the chunks of one data generation. A chunk is up to [`Inode::chunk_bytes`]
//! long; what it lacks at its end, and a chunk that is missing or empty, reads as zeros. A write
//! in a new epoch makes a new version of the chunk beside the old one, if something needs the
//! old; so a snapshot costs nothing until then. Taking another generation empties a file of any
//! size at once.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use super::record::{Garbage, Inode};
use super::{Epoch, Local, Reader, RealmId, Result, Txn, key};
use crate::engine::{Keyspace, View};

/// Binary logarithm of the chunk size of new files. See docs/design.md for the measurement.
pub(super) const CHUNK_SHIFT: u8 = 15;

/// Generations up to this many chunks are freed with the change that drops them.
const FREE_AT_ONCE: u64 = 16;

/// Which content: a generation of an inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// The realm.
    pub realm: RealmId,
    /// The inode.
    pub ino: Local,
    /// The data generation.
    pub generation: u64,
    /// Chunk size in bytes.
    pub chunk_bytes: u64,
}

impl Content {
    /// The present content of an inode.
    pub fn of(realm: RealmId, ino: Local, inode: &Inode) -> Content {
        Content { realm, ino, generation: inode.generation, chunk_bytes: inode.chunk_bytes() }
    }

    /// The chunks that a range of bytes lies in.
    fn chunks(&self, bytes: &Range<u64>) -> Range<u32> {
        let first = bytes.start / self.chunk_bytes;
        let end = bytes.end.div_ceil(self.chunk_bytes);
        first.min(u64::from(u32::MAX)) as u32..end.min(u64::from(u32::MAX)) as u32
    }

    fn start_of(&self, index: u32) -> u64 {
        u64::from(index) * self.chunk_bytes
    }
}

/// A run of bytes that a file holds, for SEEK_DATA and SEEK_HOLE.
pub type Segment = Range<u64>;

/// Visits the version of each chunk that shows at an epoch, in order. Holes are left out.
/// `visit` gets the index, the version's epoch, its bytes, and is asked again for each index.
fn versions(
    view: &dyn View,
    content: &Content,
    chunks: Range<u32>,
    at: Epoch,
    visit: &mut dyn FnMut(u32, Epoch, &[u8]) -> ControlFlow<()>,
    shadowed: &mut dyn FnMut(u32),
) -> Result<()> {
    let Content { realm, ino, generation, .. } = *content;
    let end = key::chunk_versions(realm, ino, generation, chunks.end);
    let mut next = chunks.start;
    while next < chunks.end {
        let from = key::chunk(realm, ino, generation, next, at);
        let mut current = None;
        next = chunks.end;
        view.scan(Keyspace::Data, &from, &end, &mut |key, value| {
            let Some(found) = key::parse_chunk(key) else { return ControlFlow::Continue(()) };
            if current == Some(found.index) {
                // An older version: there may be many, so the scan starts anew behind them.
                shadowed(found.index);
                next = found.index + 1;
                return ControlFlow::Break(());
            }
            if found.epoch > at {
                return ControlFlow::Continue(());
            }
            current = Some(found.index);
            visit(found.index, found.epoch, value)
        })?;
    }
    Ok(())
}

impl Reader<'_> {
    /// Fills `buffer` from `offset` of a content; zeros where there is nothing.
    pub fn read_content(&self, content: &Content, offset: u64, buffer: &mut [u8]) -> Result<()> {
        buffer.fill(0);
        let bytes = offset..offset + buffer.len() as u64;
        let at = self.epoch().unwrap_or(Epoch::MAX);
        versions(
            self.raw(),
            content,
            content.chunks(&bytes),
            at,
            &mut |index, _, value| {
                let start = content.start_of(index);
                let from = bytes.start.max(start);
                let to = bytes.end.min(start + value.len() as u64);
                if from < to {
                    let target = buffer.get_mut((from - offset) as usize..(to - offset) as usize);
                    let source = value.get((from - start) as usize..(to - start) as usize);
                    if let (Some(target), Some(source)) = (target, source) {
                        target.copy_from_slice(source);
                    }
                }
                ControlFlow::Continue(())
            },
            &mut |_| (),
        )
    }

    /// The first run of bytes at or behind `offset` that is no hole, up to `size`.
    pub fn data_at(&self, content: &Content, offset: u64, size: u64) -> Result<Option<Segment>> {
        let mut found: Option<Segment> = None;
        let at = self.epoch().unwrap_or(Epoch::MAX);
        versions(
            self.raw(),
            content,
            content.chunks(&(offset..size)),
            at,
            &mut |index, _, value| {
                let start = content.start_of(index);
                let whole = start..(start + content.chunk_bytes).min(size);
                match &mut found {
                    _ if value.is_empty() => {}
                    None => found = Some(whole.start.max(offset)..whole.end),
                    Some(run) if run.end == whole.start => run.end = whole.end,
                    Some(_) => return ControlFlow::Break(()),
                }
                ControlFlow::Continue(())
            },
            &mut |_| (),
        )?;
        Ok(found)
    }
}

/// The newest version of a chunk that is there.
struct Head {
    epoch: Epoch,
    length: u64,
    bytes: Vec<u8>,
    /// Whether an older version stands behind it.
    shadows: bool,
}

impl Txn<'_> {
    /// The newest versions of some chunks; the bytes of those that `wanted` names.
    fn heads(&self, content: &Content, chunks: Range<u32>, wanted: impl Fn(u32) -> bool) -> Result<BTreeMap<u32, Head>> {
        let heads = std::cell::RefCell::new(BTreeMap::new());
        versions(
            &*self.store.engine,
            content,
            chunks,
            Epoch::MAX,
            &mut |index, epoch, value| {
                let bytes = if wanted(index) { value.to_vec() } else { Vec::new() };
                heads.borrow_mut().insert(index, Head { epoch, length: value.len() as u64, bytes, shadows: false });
                ControlFlow::Continue(())
            },
            &mut |index| {
                if let Some(head) = heads.borrow_mut().get_mut(&index) {
                    head.shadows = true;
                }
            },
        )?;
        Ok(heads.into_inner())
    }

    /// Sets a chunk; an empty value makes a hole.
    fn set_chunk(&mut self, content: &Content, index: u32, old: Option<&Head>, value: Vec<u8>) -> Result<i64> {
        let Content { realm, ino, generation, .. } = *content;
        let epoch = self.epoch(realm)?;
        let grown = value.len() as i64 - old.map_or(0, |head| head.length as i64);
        let mut shadows = false;
        if let Some(old) = old {
            shadows = old.shadows;
            if old.epoch < epoch {
                if self.needed(realm, old.epoch, epoch - 1)? {
                    shadows = true;
                } else {
                    self.batch.delete(Keyspace::Data, key::chunk(realm, ino, generation, index, old.epoch));
                }
            }
        }
        if old.is_none_or(|old| old.epoch < epoch) {
            self.touch(realm, epoch, &key::chunk_part(ino, generation, index))?;
        }
        let key = key::chunk(realm, ino, generation, index, epoch);
        // A hole is the absence of a chunk, unless an older version would show through.
        if value.is_empty() && !shadows {
            self.batch.delete(Keyspace::Data, key);
        } else {
            self.batch.put(Keyspace::Data, key, value);
        }
        Ok(grown)
    }

    fn account(&mut self, realm: RealmId, inode: &mut Inode, grown: i64) -> Result<()> {
        inode.allocated = inode.allocated.saturating_add_signed(grown);
        self.add_usage(realm, 0, grown)
    }

    /// Writes bytes at an offset, and grows the size where they end behind it.
    pub fn write_content(
        &mut self,
        realm: RealmId,
        ino: Local,
        inode: &mut Inode,
        offset: u64,
        data: &[u8],
    ) -> Result<()> {
        let content = Content::of(realm, ino, inode);
        let bytes = offset..offset + data.len() as u64;
        let chunks = content.chunks(&bytes);
        let whole = |index: u32| {
            let start = content.start_of(index);
            let end = start + content.chunk_bytes;
            bytes.start <= start && (end <= bytes.end || inode.size <= bytes.end)
        };
        // Behind the end of the file there is nothing yet.
        let old = match inode.size <= content.start_of(chunks.start) && inode.allocated == 0 {
            true => BTreeMap::new(),
            false => self.heads(&content, chunks.clone(), |index| !whole(index))?,
        };
        let mut grown = 0;
        for index in chunks {
            let start = content.start_of(index);
            let from = bytes.start.max(start);
            let to = bytes.end.min(start + content.chunk_bytes);
            let source = data.get((from - offset) as usize..(to - offset) as usize).unwrap_or_default();
            let head = old.get(&index);
            let value = if whole(index) {
                source.to_vec()
            } else {
                let mut value = head.map_or(Vec::new(), |head| head.bytes.clone());
                let end = (to - start) as usize;
                if value.len() < end {
                    value.resize(end, 0);
                }
                if let Some(target) = value.get_mut((from - start) as usize..end) {
                    target.copy_from_slice(source);
                }
                value
            };
            grown += self.set_chunk(&content, index, head, value)?;
        }
        self.account(realm, inode, grown)?;
        inode.size = inode.size.max(bytes.end);
        Ok(())
    }

    /// Makes a range read as zeros; whole chunks become holes. The size stays.
    pub fn clear_content(&mut self, realm: RealmId, ino: Local, inode: &mut Inode, bytes: Range<u64>) -> Result<()> {
        let content = Content::of(realm, ino, inode);
        let covers = |index: u32| {
            let start = content.start_of(index);
            bytes.start <= start && (start + content.chunk_bytes).min(inode.size.max(start + 1)) <= bytes.end
        };
        let old = self.heads(&content, content.chunks(&bytes), |index| !covers(index))?;
        let mut grown = 0;
        for (index, head) in &old {
            if head.length == 0 {
                continue;
            }
            let value = if covers(*index) {
                Vec::new()
            } else {
                let start = content.start_of(*index);
                let mut value = head.bytes.clone();
                let from = (bytes.start.max(start) - start).min(value.len() as u64) as usize;
                let to = (bytes.end - start).min(value.len() as u64) as usize;
                if let Some(cleared) = value.get_mut(from..to) {
                    cleared.fill(0);
                }
                value
            };
            grown += self.set_chunk(&content, *index, Some(head), value)?;
        }
        self.account(realm, inode, grown)
    }

    /// Sets the size. What is cut off is gone: growing again shows zeros.
    pub fn resize_content(&mut self, realm: RealmId, ino: Local, inode: &mut Inode, size: u64) -> Result<()> {
        if size == 0 && inode.allocated > 0 {
            self.new_generation(realm, ino, inode)?;
        } else if size < inode.size {
            let content = Content::of(realm, ino, inode);
            let boundary = (!size.is_multiple_of(content.chunk_bytes)).then(|| (size / content.chunk_bytes) as u32);
            let old = self.heads(&content, content.chunks(&(size..inode.size)), |index| Some(index) == boundary)?;
            let mut grown = 0;
            for (index, head) in &old {
                if head.length == 0 {
                    continue;
                }
                let keep = size.saturating_sub(content.start_of(*index)) as usize;
                if head.length <= keep as u64 {
                    continue;
                }
                let value = head.bytes.get(..keep).unwrap_or_default().to_vec();
                grown += self.set_chunk(&content, *index, Some(head), value)?;
            }
            self.account(realm, inode, grown)?;
        }
        inode.size = size;
        Ok(())
    }

    /// Starts a new, empty content; the old generation becomes garbage.
    pub fn new_generation(&mut self, realm: RealmId, ino: Local, inode: &mut Inode) -> Result<()> {
        self.drop_generation(realm, ino, inode)?;
        self.account(realm, inode, -(inode.allocated as i64))?;
        self.begin_generation(realm, inode)
    }

    /// Takes the next generation number for an inode and leaves the old content where it is.
    pub fn begin_generation(&mut self, realm: RealmId, inode: &mut Inode) -> Result<()> {
        inode.generation = inode.next_generation;
        inode.generation_born = self.epoch(realm)?;
        inode.next_generation += 1;
        inode.size = 0;
        inode.allocated = 0;
        Ok(())
    }

    /// Makes the present generation of an inode garbage.
    pub fn drop_generation(&mut self, realm: RealmId, ino: Local, inode: &Inode) -> Result<()> {
        if inode.allocated == 0 && inode.generation_born == self.epoch(realm)? {
            return Ok(());
        }
        let born = inode.generation_born;
        self.discard(realm, ino, inode.generation, born, inode.size.div_ceil(inode.chunk_bytes()))
    }

    /// Frees a generation that no live inode has any more: a small one at once, one that a
    /// snapshot needs or a large one later, through the garbage queue.
    pub fn discard(&mut self, realm: RealmId, ino: Local, generation: u64, born: Epoch, chunks: u64) -> Result<()> {
        let epoch = self.epoch(realm)?;
        if chunks > FREE_AT_ONCE || self.needed(realm, born, epoch.saturating_sub(1))? {
            let queue = key::garbage(realm, epoch, ino, generation);
            self.put_plain(queue, Garbage { born }.encode());
            return Ok(());
        }
        let prefix = key::chunks_of(realm, ino, generation);
        let mut keys = Vec::new();
        self.store.engine.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |key, _| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        })?;
        for key in keys {
            self.batch.delete(Keyspace::Data, key);
        }
        Ok(())
    }
}
