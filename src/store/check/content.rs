//! Chunks belong to somebody, and are as many as the inodes say.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::side::Aside;
use super::tree::{Found, Tree};
use super::{Checker, Result, inode, key};
use crate::engine::Keyspace;
use crate::store::chunk::{Content, shown};
use crate::store::key::ChunkKey;
use crate::store::record::Kind;
use crate::store::{Epoch, Local, RealmId, RealmState};

/// What the newest chunks of a generation are.
#[derive(Default)]
struct Extent {
    bytes: u64,
    /// Index and length of the last chunk that is no hole.
    last: Option<(u32, u64)>,
    longest: u64,
}

impl Extent {
    fn add(&mut self, index: u32, length: u64) {
        self.bytes += length;
        self.longest = self.longest.max(length);
        if length > 0 {
            self.last = Some((index, length));
        }
    }

    /// Whether a content of this size can have them.
    fn fits(&self, chunk_bytes: u64, size: u64) -> bool {
        let end = self.last.map_or(0, |(index, length)| u64::from(index) * chunk_bytes + length);
        self.longest <= chunk_bytes && end <= size
    }
}

impl Checker<'_> {
    /// The present content of a realm, and what is left of past content.
    pub(super) fn content(&self, realm: RealmId, tree: &Tree) -> Result<()> {
        self.atimes(realm)?;
        let aside = self.aside(realm)?;
        let mut extents = BTreeMap::<(Local, u64), Extent>::new();
        let mut newer: Option<ChunkKey> = None;
        let mut hole: Option<ChunkKey> = None;
        self.pairs(Keyspace::Data, &key::chunks_of_realm(realm), &mut |key, value| {
            let Some(chunk) = key::parse_chunk(key) else { return Ok(()) };
            let generation = (chunk.ino, chunk.generation);
            let same = newer.filter(|newer| (newer.ino, newer.generation, newer.index) == of(&chunk));
            if let Some(hole) = hole.filter(|_| same.is_none()) {
                self.hidden_hole(&hole, &aside);
            }
            match same {
                None => extents.entry(generation).or_default().add(chunk.index, value.len() as u64),
                Some(newer) => self.past_chunk(&chunk, newer.epoch, &aside),
            }
            self.chunk_epoch(&chunk)?;
            hole = value.is_empty().then_some(chunk);
            newer = Some(chunk);
            Ok(())
        })?;
        if let Some(hole) = hole {
            self.hidden_hole(&hole, &aside);
        }
        for (ino, found) in tree.iter().filter(|(_, found)| found.kind == Kind::File) {
            let generation = (found.content.file, found.content.generation);
            let own = extents.remove(&generation).unwrap_or_default();
            self.fits(realm, *ino, found, &self.layered(found, own, None)?, "");
            if let Some(size) = aside.versions.get(&generation).filter(|size| **size != found.size) {
                self.problem(format!("{}: its newest version has {size} bytes of {}", inode(realm, *ino), found.size));
            }
            if aside.garbage.contains_key(&generation) {
                self.problem(format!("{}: its content is in the garbage queue", inode(realm, *ino)));
            }
        }
        self.others(realm, tree, &aside, extents)
    }

    /// With what lies below a content's own chunks.
    fn layered(&self, found: &Found, own: Extent, at: Option<Epoch>) -> Result<Extent> {
        if found.content.layers.is_empty() && at.is_none() {
            return Ok(own);
        }
        let mut extent = Extent::default();
        shown(self.store, self.view, &found.content, 0..u32::MAX, at.unwrap_or(Epoch::MAX), &mut |index, value| {
            extent.add(index, value.len() as u64);
            ControlFlow::Continue(())
        })?;
        Ok(extent)
    }

    /// Generations that are no content of an inode with a name.
    fn others(
        &self,
        realm: RealmId,
        tree: &Tree,
        aside: &Aside,
        mut extents: BTreeMap<(Local, u64), Extent>,
    ) -> Result<()> {
        let mut files: BTreeMap<Local, &Content> = BTreeMap::new();
        let orphans: Vec<_> =
            aside.orphans.iter().map(|(ino, orphan)| (*ino, Found::new(realm, *ino, orphan))).collect();
        for (ino, found) in &orphans {
            let own = extents.remove(&(found.content.file, found.content.generation)).unwrap_or_default();
            // After a crash nothing holds what lay below it, and it is about to be freed.
            if found.content.layers.iter().all(|layer| layer.realm != realm || self.is_apart(realm, found)) {
                self.fits(realm, *ino, found, &self.layered(found, own, None)?, "orphan ");
            }
        }
        for found in orphans.iter().map(|(_, found)| found).chain(tree.values()).filter(|f| f.kind == Kind::File) {
            files.insert(found.content.file, &found.content);
        }
        for ((file, generation), size) in &aside.versions {
            let what = format!("version with generation {generation} of {}", inode(realm, *file));
            let Some(content) = files.get(file) else {
                self.problem(format!("{what}: there is no such file"));
                continue;
            };
            if *generation == content.generation {
                continue;
            }
            let extent = extents.remove(&(*file, *generation)).unwrap_or_default();
            if extent.bytes != *size || !extent.fits(content.chunk_bytes, *size) {
                self.problem(format!("{what}: {} bytes of {size}", extent.bytes));
            }
        }
        for (file, generation) in extents.keys().filter(|generation| !aside.garbage.contains_key(generation)) {
            self.problem(format!("chunks of generation {generation} of {} belong to nothing", inode(realm, *file)));
        }
        Ok(())
    }

    fn is_apart(&self, realm: RealmId, found: &Found) -> bool {
        self.states.get(&realm).is_some_and(|state| state.apart.contains_key(&found.content.file))
    }

    fn fits(&self, realm: RealmId, ino: Local, found: &Found, extent: &Extent, what: &str) {
        let what = format!("{what}{}", inode(realm, ino));
        if extent.bytes != found.allocated {
            self.problem(format!("{what}: counts {} bytes of chunks and has {}", found.allocated, extent.bytes));
        }
        if !extent.fits(found.content.chunk_bytes, found.size) {
            self.problem(format!("{what}: chunks lie beyond its size {}", found.size));
        }
    }

    /// An older version is there because a reference shows it.
    fn past_chunk(&self, chunk: &ChunkKey, newer: Epoch, aside: &Aside) {
        if self.chunks_are_settled(chunk, aside)
            && !self.refs_of(chunk.realm).any_in(chunk.epoch, newer.saturating_sub(1))
        {
            self.problem(format!("no snapshot needs the chunk {chunk:?}"));
        }
    }

    fn hidden_hole(&self, hole: &ChunkKey, aside: &Aside) {
        // It may hide a layer below.
        let layered = |state: &RealmState| state.record.base.is_some() || state.apart.contains_key(&hole.ino);
        let layered = self.states.get(&hole.realm).is_some_and(layered);
        if !layered && self.chunks_are_settled(hole, aside) {
            self.problem(format!("a hole that hides nothing: {hole:?}"));
        }
    }

    fn chunks_are_settled(&self, chunk: &ChunkKey, aside: &Aside) -> bool {
        self.is_settled(chunk.realm) && aside.garbage.get(&(chunk.ino, chunk.generation)) != Some(&false)
    }

    fn chunk_epoch(&self, chunk: &ChunkKey) -> Result<()> {
        if chunk.epoch > self.epoch_of(chunk.realm) {
            self.problem(format!("a chunk from the future: {chunk:?}"));
        }
        let part = key::chunk_part(chunk.ino, chunk.generation, chunk.index);
        self.is_touched(chunk.realm, chunk.epoch, &part)
    }

    /// The content of a realm at a snapshot.
    pub(super) fn content_at(&self, realm: RealmId, tree: &Tree, epoch: Epoch) -> Result<()> {
        for (ino, found) in tree.iter().filter(|(_, found)| found.kind == Kind::File) {
            let extent = self.layered(found, Extent::default(), Some(epoch))?;
            self.fits(realm, *ino, found, &extent, &format!("at snapshot {epoch}: "));
        }
        Ok(())
    }
}

fn of(chunk: &ChunkKey) -> (Local, u64, u32) {
    (chunk.ino, chunk.generation, chunk.index)
}
