//! The content of files: chunks that are never moved.
//!
//! A file's content is the chunks of one data generation. A chunk is up to [`Inode::chunk_bytes`]
//! long; what it lacks at its end, and a chunk that is missing or empty, reads as zeros. A write
//! in a new epoch makes a new version of the chunk beside the old one, if something needs the
//! old; so a snapshot costs nothing until then. Taking another generation empties a file of any
//! size at once.

use std::ops::{ControlFlow, Range};

use super::record::Inode;
use super::{Epoch, Local, Reader, RealmId, Result, key};
use crate::engine::{Keyspace, View};

/// Binary logarithm of the chunk size of new files. See docs/design.md for the measurement.
pub(super) const CHUNK_SHIFT: u8 = 13;

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
    pub(super) fn chunks(&self, bytes: &Range<u64>) -> Range<u32> {
        let first = bytes.start / self.chunk_bytes;
        let end = bytes.end.div_ceil(self.chunk_bytes);
        first.min(u64::from(u32::MAX)) as u32..end.min(u64::from(u32::MAX)) as u32
    }

    /// Where a chunk starts in the file.
    pub(super) fn start_of(&self, index: u32) -> u64 {
        u64::from(index) * self.chunk_bytes
    }
}

/// A run of bytes that a file holds, for SEEK_DATA and SEEK_HOLE.
pub type Segment = Range<u64>;

/// What is called for each chunk, with its index, the epoch of its version and its bytes.
pub(super) type VisitChunk<'a> = &'a mut dyn FnMut(u32, Epoch, &[u8]) -> ControlFlow<()>;

/// Visits the version of each chunk that shows at an epoch, in order; a hole has none, or an empty
/// one. `shadowed` is called for a chunk that has an older version too.
pub(super) fn versions(
    view: &dyn View,
    content: &Content,
    chunks: Range<u32>,
    at: Epoch,
    visit: VisitChunk<'_>,
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
