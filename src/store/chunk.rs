//! The content of files: chunks that are never moved.
//!
//! A file's content is the chunks of one data generation. A chunk is up to [`Inode::chunk_bytes`]
//! long; what it lacks at its end, and a chunk that is missing or empty, reads as zeros. A write
//! in a new epoch makes a new version of the chunk beside the old one, if something needs the
//! old; so a snapshot costs nothing until then. Taking another generation empties a file of any
//! size at once.
//!
//! A fork has its own chunks only where it wrote: below them lie those of its base, as they were
//! ([`Layer`]). An empty chunk hides what lies below it too.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use super::record::{Inode, Layer};
use super::{Epoch, Local, Reader, RealmId, Result, Store, key};
use crate::engine::{Keyspace, View};

/// Binary logarithm of the chunk size of new files. See docs/design.md for the measurement.
pub(super) const CHUNK_SHIFT: u8 = 13;

/// Which content: a generation of an inode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The realm.
    pub realm: RealmId,
    /// The number that its chunks are filed under: the inode's, unless it took over another's.
    pub file: Local,
    /// The data generation.
    pub generation: u64,
    /// Chunk size in bytes.
    pub chunk_bytes: u64,
    /// Where chunks come from that it has none of, the uppermost first.
    pub layers: Vec<Layer>,
    /// Whether it has no chunks of its own: the inode's record itself is another realm's.
    pub is_inherited: bool,
}

impl Content {
    /// The present content of an inode.
    pub fn of(realm: RealmId, ino: Local, inode: &Inode) -> Content {
        Content {
            realm,
            file: inode.file_of(ino),
            generation: inode.generation,
            chunk_bytes: inode.chunk_bytes(),
            layers: inode.layers.clone(),
            is_inherited: inode.is_inherited,
        }
    }

    /// Itself as a layer that shows what was there at an epoch.
    fn own(&self, epoch: Epoch) -> Layer {
        Layer { realm: self.realm, file: self.file, generation: self.generation, epoch }
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

/// What is called for each chunk that shows, with its index and its bytes.
pub(super) type VisitShown<'a> = &'a mut dyn FnMut(u32, &[u8]) -> ControlFlow<()>;

/// Chunks that are read from each layer before they are merged.
const MERGE_STEP: usize = 128;

/// Visits the version of each chunk that shows at an epoch, in order; a hole has none, or an empty
/// one. Only the content's own, not those of the layers below. `shadowed` is called for a chunk that
/// has an older version too.
pub(super) fn versions(
    view: &dyn View,
    content: &Content,
    chunks: Range<u32>,
    at: Epoch,
    visit: VisitChunk<'_>,
    shadowed: &mut dyn FnMut(u32),
) -> Result<()> {
    layer_versions(view, &content.own(at), chunks, visit, shadowed)
}

fn layer_versions(
    view: &dyn View,
    layer: &Layer,
    chunks: Range<u32>,
    visit: VisitChunk<'_>,
    shadowed: &mut dyn FnMut(u32),
) -> Result<()> {
    let Layer { realm, file, generation, epoch: at } = *layer;
    let end = key::chunk_versions(realm, file, generation, chunks.end);
    let mut next = chunks.start;
    while next < chunks.end {
        let from = key::chunk(realm, file, generation, next, at);
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

/// Visits each chunk that shows in a content at an epoch, its own or one of a layer below, in order.
/// An empty one is a hole.
pub(super) fn shown(
    store: &Store,
    view: &dyn View,
    content: &Content,
    chunks: Range<u32>,
    at: Epoch,
    visit: VisitShown<'_>,
) -> Result<()> {
    let own = content.own(at);
    merged(view, &layers_of(store, content, &own, &chunks)?, chunks, visit)
}

/// Where some of a content's chunks may be, the uppermost first. `own` is its own layer.
fn layers_of<'l>(store: &Store, content: &'l Content, own: &'l Layer, chunks: &Range<u32>) -> Result<Vec<&'l Layer>> {
    let mut layers = Vec::with_capacity(1 + content.layers.len());
    if !content.is_inherited {
        layers.push(own);
    }
    add_layers(store, content, chunks, &mut layers)?;
    Ok(layers)
}

/// Adds the layers below a content that may have some of its chunks.
fn add_layers<'l>(store: &Store, content: &'l Content, chunks: &Range<u32>, layers: &mut Vec<&'l Layer>) -> Result<()> {
    for layer in &content.layers {
        if store.layer_may_have_chunks(layer, chunks)? {
            layers.push(layer);
        }
    }
    Ok(())
}

/// Visits each chunk that shows in the layers below a content.
pub(super) fn below(
    store: &Store,
    view: &dyn View,
    content: &Content,
    chunks: Range<u32>,
    visit: VisitShown<'_>,
) -> Result<()> {
    let mut layers = Vec::new();
    add_layers(store, content, &chunks, &mut layers)?;
    merged(view, &layers, chunks, visit)
}

/// Of each chunk the version in the uppermost layer that has one.
fn merged(view: &dyn View, layers: &[&Layer], chunks: Range<u32>, visit: VisitShown<'_>) -> Result<()> {
    if let [layer] = layers {
        return layer_versions(view, layer, chunks, &mut |index, _, value| visit(index, value), &mut |_| ());
    }
    let mut next = chunks.start;
    while next < chunks.end {
        let mut found = BTreeMap::<u32, Vec<u8>>::new();
        // A layer with more chunks than a step ends the step for all.
        let mut end = chunks.end;
        for layer in layers {
            let (mut count, range) = (0, next..end);
            let mut add = |index: u32, _: Epoch, value: &[u8]| {
                found.entry(index).or_insert_with(|| value.to_vec());
                count += 1;
                if count < MERGE_STEP {
                    return ControlFlow::Continue(());
                }
                end = index + 1;
                ControlFlow::Break(())
            };
            layer_versions(view, layer, range, &mut add, &mut |_| ())?;
        }
        for (index, value) in found.range(..end) {
            if visit(*index, value).is_break() {
                return Ok(());
            }
        }
        next = end;
    }
    Ok(())
}

impl Reader<'_> {
    /// Fills `buffer` from `offset` of a content; zeros where there is nothing.
    pub fn read_content(&self, content: &Content, offset: u64, buffer: &mut [u8]) -> Result<()> {
        buffer.fill(0);
        let bytes = offset..offset + buffer.len() as u64;
        let at = self.epoch().unwrap_or(Epoch::MAX);
        let chunks = content.chunks(&bytes);
        let own = content.own(at);
        // From the lowest layer to the uppermost: what lies above goes over it.
        for layer in layers_of(self.store(), content, &own, &chunks)?.into_iter().rev() {
            let put = &mut |index: u32, _: Epoch, value: &[u8]| {
                let start = content.start_of(index);
                let (from, to) = (bytes.start.max(start), bytes.end.min(start + content.chunk_bytes));
                let target = buffer.get_mut((from - offset) as usize..(to - offset) as usize);
                let source = value.get((from - start) as usize..).unwrap_or_default();
                if let Some(target) = target {
                    let length = source.len().min(target.len());
                    let (there, behind) = target.split_at_mut(length);
                    there.copy_from_slice(source.get(..length).unwrap_or_default());
                    behind.fill(0);
                }
                ControlFlow::Continue(())
            };
            layer_versions(self.raw(), layer, chunks.clone(), put, &mut |_| ())?;
        }
        Ok(())
    }

    /// The first run of bytes at or behind `offset` that is no hole, up to `size`.
    pub fn data_at(&self, content: &Content, offset: u64, size: u64) -> Result<Option<Segment>> {
        let mut found: Option<Segment> = None;
        let at = self.epoch().unwrap_or(Epoch::MAX);
        shown(self.store(), self.raw(), content, content.chunks(&(offset..size)), at, &mut |index, value| {
            let start = content.start_of(index);
            let whole = start..(start + content.chunk_bytes).min(size);
            match &mut found {
                _ if value.is_empty() => {}
                None => found = Some(whole.start.max(offset)..whole.end),
                Some(run) if run.end == whole.start => run.end = whole.end,
                Some(_) => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}
