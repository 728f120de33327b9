//! What a snapshot alone keeps: the bytes that dropping it would free.
//!
//! It follows what [`collect`](super::collect) does after a drop, and costs as much: what was changed
//! between the snapshot and the next reference, and the garbage that the snapshot is the last to show.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use super::realm::Refs;
use super::record::{Garbage, Inode};
use super::{Epoch, Error, HOME, Local, RealmId, Result, Store, history, key, try_scan};
use crate::engine::{Keyspace, View};

/// Chunks that would go, with their lengths.
type Freed = BTreeMap<Vec<u8>, u64>;

impl Store {
    /// Bytes of file content that would be freed if a snapshot were dropped, and no other. Of a
    /// snapshot of the home: in all realms together.
    pub fn unique_bytes(&self, realm: RealmId, number: Epoch) -> Result<u64> {
        let view = self.engine.view();
        let realms = match realm {
            HOME if self.home_snapshots.read().contains_key(&number) => self.realms(),
            realm => self.realm(realm).into_iter().collect(),
        };
        let mut total = 0;
        for realm in realms {
            let (refs, dead) = {
                let state = realm.read();
                // A fork of this very snapshot, or one of the home, needs it as well.
                if state.pins.contains_key(&number) {
                    continue;
                }
                (state.refs(&self.home_snapshots()), state.record.dead.is_some())
            };
            if !refs.contains(number) {
                continue;
            }
            let alone = refs.neighbours(number) == (0, Epoch::MAX);
            let freed = match dead && alone {
                // Nothing else needs a thread that was deleted: it goes as a whole.
                true => whole(&*view, realm.id())?,
                false => Unique { store: self, view: &*view, realm: realm.id(), number, refs: &refs }.freed()?,
            };
            total += freed.values().sum::<u64>();
        }
        Ok(total)
    }
}

fn whole(view: &dyn View, realm: RealmId) -> Result<Freed> {
    let prefix = key::chunks_of_realm(realm);
    let mut freed = Freed::new();
    view.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |key, value| {
        freed.insert(key.to_vec(), value.len() as u64);
        ControlFlow::Continue(())
    })?;
    Ok(freed)
}

struct Unique<'a> {
    store: &'a Store,
    view: &'a dyn View,
    realm: RealmId,
    number: Epoch,
    refs: &'a Refs,
}

impl Unique<'_> {
    fn freed(&self) -> Result<Freed> {
        let mut freed = Freed::new();
        let (_, newer) = self.refs.neighbours(self.number);
        let mut seen = HashSet::new();
        self.touched(self.number, newer, &mut |_, part| {
            if part.first() == Some(&key::tag::CHUNK) && seen.insert(part.to_vec()) {
                self.replaced(part, &mut freed)?;
            }
            Ok(())
        })?;
        // Garbage that was filed under this snapshot, and what was not looked at yet.
        let kept = key::numbered(key::tag::KEPT, self.realm, self.number);
        self.garbage(&kept, &key::after(&kept), &mut freed)?;
        let from = key::numbered(key::tag::GARBAGE, self.realm, self.number.saturating_add(1));
        self.garbage(&from, &key::after(&key::of_realm(key::tag::GARBAGE, self.realm)), &mut freed)?;
        Ok(freed)
    }

    /// Visits the touched index behind an epoch and up to another.
    fn touched(&self, after: Epoch, until: Epoch, visit: &mut dyn FnMut(Epoch, &[u8]) -> Result<()>) -> Result<()> {
        let from = key::touched(self.realm, after.saturating_add(1), b"");
        let to = match until {
            Epoch::MAX => key::after(&key::of_realm(key::tag::TOUCHED, self.realm)),
            until => key::touched(self.realm, until.saturating_add(1), b""),
        };
        try_scan(self.view, Keyspace::Meta, &from, &to, &mut |found, _| {
            let (epoch, part) =
                key::parse_touched(found).ok_or_else(|| Error::corrupt("a touched key is too short"))?;
            visit(epoch, part)?;
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Whether only the snapshot needs what held from one epoch to another.
    fn is_alone_in(&self, first: Epoch, last: Epoch) -> bool {
        (first..=last).contains(&self.number) && self.refs.newest_in(first, last).all(|epoch| epoch == self.number)
    }

    /// Versions of a chunk that held until a newer one came.
    fn replaced(&self, part: &[u8], freed: &mut Freed) -> Result<()> {
        let prefix = key::chunk_versions_of_part(self.realm, part);
        let mut newer: Option<Epoch> = None;
        self.view.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |found, value| {
            if let Some(chunk) = key::parse_chunk(found) {
                if newer.is_some_and(|newer| self.is_alone_in(chunk.epoch, newer.saturating_sub(1))) {
                    freed.insert(found.to_vec(), value.len() as u64);
                }
                newer = Some(chunk.epoch);
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    fn garbage(&self, from: &[u8], to: &[u8], freed: &mut Freed) -> Result<()> {
        try_scan(self.view, Keyspace::Meta, from, to, &mut |found, value| {
            let (_, _, ino, generation) =
                key::parse_garbage(found).ok_or_else(|| Error::corrupt("a garbage key is too short"))?;
            self.generation(ino, generation, Garbage::decode(value)?.born, freed)?;
            Ok(ControlFlow::Continue(()))
        })
    }

    /// A generation that no live inode has: if the snapshot is the newest to show it, the versions
    /// go that came after the next older reference that shows it, or all.
    fn generation(&self, ino: Local, generation: u64, born: Epoch, freed: &mut Freed) -> Result<()> {
        let mut showing = Vec::new();
        for epoch in self.refs.newest_in(born, Epoch::MAX) {
            if self.shows(ino, generation, epoch)? {
                showing.push(epoch);
                if showing.len() == 2 {
                    break;
                }
            }
        }
        if showing.first() != Some(&self.number) {
            return Ok(());
        }
        let older = showing.get(1).copied();
        let Some(older) = older else {
            let prefix = key::chunks_of(self.realm, ino, generation);
            self.view.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |found, value| {
                // What came after the snapshot, it does not keep.
                if key::parse_chunk(found).is_some_and(|chunk| chunk.epoch <= self.number) {
                    freed.insert(found.to_vec(), value.len() as u64);
                }
                ControlFlow::Continue(())
            })?;
            return Ok(());
        };
        let chunks = key::chunk_parts(ino, generation);
        self.touched(older, self.number, &mut |epoch, part| {
            if part.starts_with(&chunks) {
                let version = key::chunk_version_of_part(self.realm, part, epoch);
                if let Some(value) = self.view.get(Keyspace::Data, &version)? {
                    freed.insert(version, value.len() as u64);
                }
            }
            Ok(())
        })
    }

    fn shows(&self, file: Local, generation: u64, epoch: Epoch) -> Result<bool> {
        for ino in self.store.owners(self.realm, file)? {
            if let history::Own::Value(bytes) = history::at(self.view, &key::inode(self.realm, ino), epoch)? {
                let inode = Inode::decode(&bytes)?;
                if (inode.file_of(ino), inode.generation) == (file, generation) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
