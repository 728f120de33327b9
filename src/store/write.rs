//! Changing the content of files.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use super::chunk::{Content, below, versions};
use super::record::{Garbage, Inode};
use super::{Epoch, Local, RealmId, Result, Txn, key};
use crate::engine::{Keyspace, Op};

/// Generations up to this many chunks are freed with the change that drops them.
const FREE_AT_ONCE: u64 = 16;

/// A version of a chunk that a transaction wrote.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    epoch: Epoch,
    /// Which change of the batch it is: the bytes are there.
    op: usize,
    /// Whether an older version stands behind it.
    shadows: bool,
}

/// The newest version of a chunk that is there.
pub(super) struct Head {
    /// The epoch in which it was written; None for one of a layer below.
    epoch: Option<Epoch>,
    length: u64,
    pub(super) bytes: Vec<u8>,
    /// Whether an older version stands behind it, or one of a layer below.
    shadows: bool,
}

impl Head {
    /// Whether the content has had this version since an epoch or before.
    pub(super) fn is_from(&self, epoch: Epoch) -> bool {
        self.epoch.is_none_or(|own| own <= epoch)
    }
}

impl Txn<'_> {
    /// The newest versions of some chunks, the transaction's own included; the bytes of those
    /// that `wanted` names.
    pub(super) fn heads(
        &self,
        content: &Content,
        chunks: Range<u32>,
        wanted: impl Fn(u32) -> bool,
    ) -> Result<BTreeMap<u32, Head>> {
        let heads = std::cell::RefCell::new(BTreeMap::new());
        versions(
            &*self.store.engine,
            content,
            chunks.clone(),
            Epoch::MAX,
            &mut |index, epoch, value| {
                let bytes = if wanted(index) { value.to_vec() } else { Vec::new() };
                let length = value.len() as u64;
                heads.borrow_mut().insert(index, Head { epoch: Some(epoch), length, bytes, shadows: false });
                ControlFlow::Continue(())
            },
            &mut |index| {
                if let Some(head) = heads.borrow_mut().get_mut(&index) {
                    head.shadows = true;
                }
            },
        )?;
        let mut heads = heads.into_inner();
        below(self.store, &*self.store.engine, content, chunks.clone(), &mut |index, value| {
            let inherited = || Head {
                epoch: None,
                length: value.len() as u64,
                bytes: if wanted(index) { value.to_vec() } else { Vec::new() },
                shadows: true,
            };
            heads.entry(index).or_insert_with(inherited).shadows = true;
            ControlFlow::Continue(())
        })?;
        let of = |index| key::chunk_versions(content.realm, content.file, content.generation, index);
        for (prefix, written) in self.chunks.range(of(chunks.start)..of(chunks.end)) {
            let Some(index) = key::chunk_index(prefix) else { continue };
            let value = match self.batch.get(written.op) {
                Some(Op::Put(_, _, value)) => &value[..],
                _ => b"",
            };
            let bytes = if wanted(index) { value.to_vec() } else { Vec::new() };
            let Written { epoch, shadows, .. } = *written;
            heads.insert(index, Head { epoch: Some(epoch), length: value.len() as u64, bytes, shadows });
        }
        Ok(heads)
    }

    /// Sets a chunk; an empty value makes a hole.
    pub(super) fn set_chunk(
        &mut self,
        content: &Content,
        index: u32,
        old: Option<&Head>,
        value: Vec<u8>,
    ) -> Result<i64> {
        let Content { realm, file, generation, .. } = *content;
        let epoch = self.epoch(realm)?;
        let grown = value.len() as i64 - old.map_or(0, |head| head.length as i64);
        let mut shadows = old.is_some_and(|head| head.shadows);
        let own = old.and_then(|head| head.epoch);
        if let Some(own) = own.filter(|own| *own < epoch) {
            if self.needed(realm, own, epoch - 1)? {
                shadows = true;
            } else {
                self.batch.delete(Keyspace::Data, key::chunk(realm, file, generation, index, own));
            }
        }
        if own.is_none_or(|own| own < epoch) {
            self.touch(realm, epoch, &key::chunk_part(file, generation, index))?;
        }
        let key = key::chunk(realm, file, generation, index, epoch);
        let written = Written { epoch, op: self.batch.len(), shadows };
        self.chunks.insert(key::chunk_versions(realm, file, generation, index), written);
        // A hole is the absence of a chunk, unless an older version would show through.
        if value.is_empty() && !shadows {
            self.batch.delete(Keyspace::Data, key);
        } else {
            self.batch.put(Keyspace::Data, key, value);
        }
        Ok(grown)
    }

    /// What an inode without a name holds is in nobody's usage.
    fn account(&mut self, realm: RealmId, inode: &mut Inode, grown: i64) -> Result<()> {
        inode.allocated = inode.allocated.saturating_add_signed(grown);
        inode.is_inherited = false;
        if inode.nlink == 0 {
            return Ok(());
        }
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
        if data.is_empty() {
            return Ok(());
        }
        let content = Content::of(realm, ino, inode);
        let bytes = offset..offset + data.len() as u64;
        let chunks = content.chunks(&bytes);
        let whole = |index: u32| {
            let start = content.start_of(index);
            let end = start + content.chunk_bytes;
            bytes.start <= start && (end <= bytes.end || inode.size <= bytes.end)
        };
        // Behind the end of the file there is at most a hole that hides an older version or a layer
        // below, and without those not even that. So an append looks at one chunk or none.
        let present = match self.needed(realm, 0, Epoch::MAX)? || !content.layers.is_empty() {
            true => chunks.end,
            false => content.chunks(&(0..inode.size)).end.min(chunks.end),
        };
        let old = match chunks.start < present {
            true => self.heads(&content, chunks.start..present, |index| !whole(index))?,
            false => BTreeMap::new(),
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
        if size == 0 && inode.size > 0 {
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
        self.begin_generation(realm, inode)
    }

    /// Takes the next generation number for an inode and leaves the old content where it is, for
    /// a caller who keeps it or [discards](Txn::discard) it. It no longer counts as usage.
    pub fn begin_generation(&mut self, realm: RealmId, inode: &mut Inode) -> Result<()> {
        self.account(realm, inode, -(inode.allocated as i64))?;
        self.release_layers(realm, inode)?;
        if inode.next_generation == Inode::SEALED {
            // Its generations so far are filed under the number of an inode that is gone, and which
            // numbers that one used nobody knows.
            inode.file = Local(0);
            inode.next_generation = inode.generation + 1;
        }
        inode.generation = inode.next_generation;
        inode.generation_born = self.epoch(realm)?;
        inode.next_generation += 1;
        inode.size = 0;
        Ok(())
    }

    /// Makes the present generation of an inode garbage.
    pub fn drop_generation(&mut self, realm: RealmId, ino: Local, inode: &Inode) -> Result<()> {
        if inode.allocated == 0 && inode.generation_born == self.epoch(realm)? && inode.layers.is_empty() {
            return Ok(());
        }
        let born = inode.generation_born;
        let chunks = inode.size.div_ceil(inode.chunk_bytes());
        self.discard(realm, inode.file_of(ino), inode.generation, born, chunks)
    }

    /// Frees a generation that no live inode has any more: a small one at once, one that a
    /// snapshot needs or a large one later, through the garbage queue. `file` is the number that its
    /// chunks are filed under.
    pub fn discard(&mut self, realm: RealmId, file: Local, generation: u64, born: Epoch, chunks: u64) -> Result<()> {
        let epoch = self.epoch(realm)?;
        if chunks > FREE_AT_ONCE || self.needed(realm, born, epoch.saturating_sub(1))? {
            let queue = key::garbage(realm, epoch, file, generation);
            self.put_plain(queue, Garbage { born }.encode());
            return Ok(());
        }
        let prefix = key::chunks_of(realm, file, generation);
        let mut keys = Vec::new();
        self.store.engine.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |key, _| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        })?;
        // And what the transaction itself wrote: it can only be of this epoch.
        let mine = self.chunks.range(prefix.clone()..key::after(&prefix)).map(|(prefix, _)| prefix);
        keys.extend(
            mine.filter_map(|prefix| Some(key::chunk(realm, file, generation, key::chunk_index(prefix)?, epoch))),
        );
        for key in keys {
            self.batch.delete(Keyspace::Data, key);
        }
        Ok(())
    }
}
