//! Frees what nothing needs any more, in small steps from a background thread.
//!
//! Three things leave work behind, each as a record, so that a crash only delays it:
//! a dropped snapshot (`P`), a data generation that was replaced or unlinked (`G`), and a realm
//! whose thread was deleted. What is freed is decided by one rule: a value that held from epoch
//! `born` to epoch `last` goes when no reference lies in between. References only ever go from
//! epochs that are past, so deciding twice, or starting over after a crash, is harmless.
//!
//! A value that dropped snapshot `s` alone needed was replaced after `s` and not after the next
//! reference: so the touched index between the two leads to it. A garbage generation has no
//! replacement. It is filed under the newest reference that shows it (`K`), and looked at again
//! when that one goes.

mod queue;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::realm::Refs;
use super::record::{Garbage, Header, Inode, Layer};
use super::snapshot::{ALL_REALMS, ONE_REALM};
use super::{Epoch, Error, HOME, Local, Realm, RealmId, RealmState, Result, Store, history, key};
use crate::engine::{Batch, Keyspace};
use queue::Pending;
pub(super) use queue::Walk;

/// Keys that one step looks at, at most: so the foreground waits for little.
const STEP: usize = 512;

impl Store {
    /// Does one step of what is pending. False: there is nothing more to do. It locks realms, so
    /// it is not for a thread that has a transaction.
    pub fn collect(&self) -> Result<bool> {
        let mut walk = self.collector.lock();
        let more = self.collect_step(&mut walk);
        if more.is_err() {
            // What the walk passed may not have been freed.
            *walk = Walk::default();
        }
        more
    }

    fn collect_step(&self, walk: &mut Walk) -> Result<bool> {
        if let Some(pending) = self.next_pending()? {
            let next = walk.on(pending.key.clone());
            if self.collect_dropped(&pending, next)? {
                let mut batch = Batch::new();
                batch.delete(Keyspace::Meta, pending.key);
                self.engine.write(batch)?;
                // The same number comes again when a fork that pinned it goes.
                *walk = Walk::default();
            }
            return Ok(true);
        }
        Ok(self.collect_generation(walk)? || self.collect_realm()?)
    }

    /// Frees what only a dropped snapshot needed, and moves `next` on. Says whether that is all.
    fn collect_dropped(&self, pending: &Pending, next: &mut Vec<u8>) -> Result<bool> {
        let realms = match pending.scope {
            ALL_REALMS => self.realms(),
            _ => self.realm(pending.realm).into_iter().collect(),
        };
        let mut budget = STEP;
        for realm in realms {
            let end = key::after(&key::of_realm(key::tag::TOUCHED, realm.id()));
            if *next >= end {
                continue;
            }
            if !self.collect_dropped_in(&realm, pending.number, next, &mut budget)? {
                return Ok(false);
            }
            *next = end;
            budget = budget.saturating_sub(1);
        }
        Ok(true)
    }

    fn collect_dropped_in(
        &self,
        realm: &Arc<Realm>,
        number: Epoch,
        next: &mut Vec<u8>,
        budget: &mut usize,
    ) -> Result<bool> {
        let id = realm.id();
        // Held until the batch is written, so that nothing changes between a look and a deletion.
        let txn = self.begin(&[id])?;
        let state = &txn.locked(id)?.state;
        let refs = state.refs(&self.home_snapshots());
        let is_layered = |file| realm.base().is_some() || state.apart.contains_key(&file);
        if refs.contains(number) {
            return Ok(true);
        }
        let mut batch = Batch::new();
        let mut done = self.look_again_at_kept(id, number, &mut batch, budget)?;
        if done {
            let (_, newer) = refs.neighbours(number);
            let from = key::touched(id, number.saturating_add(1), b"").max(std::mem::take(next));
            let to = match newer {
                Epoch::MAX => key::after(&key::of_realm(key::tag::TOUCHED, id)),
                newer => key::touched(id, newer.saturating_add(1), b""),
            };
            // Nobody restores from before the oldest reference: entries up to it can go.
            let forget = refs.oldest().is_none_or(|oldest| oldest > number);
            let entries = self.keys(Keyspace::Meta, &from, &to, budget)?;
            for entry in &entries {
                let (_, part) =
                    key::parse_touched(entry).ok_or_else(|| Error::corrupt("a touched key is too short"))?;
                match part.first() {
                    Some(&key::tag::CHUNK) => self.free_chunk(id, part, &refs, &is_layered, &mut batch)?,
                    _ => self.free_history(id, part, &refs, &mut batch)?,
                }
                if forget {
                    batch.delete(Keyspace::Meta, entry.clone());
                }
            }
            done = *budget > 0;
            *next = entries.into_iter().next_back().map_or(from, behind);
        }
        if !batch.is_empty() {
            self.engine.write(batch)?;
        }
        Ok(done)
    }

    /// Garbage that the dropped snapshot was the newest to show goes back to the queue.
    fn look_again_at_kept(&self, realm: RealmId, number: Epoch, batch: &mut Batch, budget: &mut usize) -> Result<bool> {
        let prefix = key::numbered(key::tag::KEPT, realm, number);
        for entry in self.keys(Keyspace::Meta, &prefix, &key::after(&prefix), budget)? {
            let (_, until, ino, generation) =
                key::parse_garbage(&entry).ok_or_else(|| Error::corrupt("a key of kept garbage is too short"))?;
            if let Some(value) = self.engine.get(Keyspace::Meta, &entry)? {
                batch.put(Keyspace::Meta, key::garbage(realm, until, ino, generation), value);
                batch.delete(Keyspace::Meta, entry);
            }
        }
        Ok(*budget > 0)
    }

    /// Up to `budget` keys of a range; what is left of the budget is 0 if there may be more.
    fn keys(&self, space: Keyspace, from: &[u8], to: &[u8], budget: &mut usize) -> Result<Vec<Vec<u8>>> {
        let mut keys = Vec::new();
        if *budget == 0 {
            return Ok(keys);
        }
        self.engine.scan(space, from, to, &mut |key, _| {
            keys.push(key.to_vec());
            *budget -= 1;
            if *budget > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(keys)
    }

    fn free_history(&self, realm: RealmId, part: &[u8], refs: &Refs, batch: &mut Batch) -> Result<()> {
        let prefix = key::history(realm, part, None);
        let mut failure = None;
        self.engine.scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut |key, raw| {
            match (key::parse_history(key), Header::unwrap(raw)) {
                (Some((_, last)), Ok((header, _))) if !refs.any_in(header.born, last) => {
                    batch.delete(Keyspace::Meta, key.to_vec());
                }
                (_, Err(error)) => failure = Some(error),
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        failure.map_or(Ok(()), Err)
    }

    /// A version of a chunk held until the next newer one; the newest holds still.
    fn free_chunk(
        &self,
        realm: RealmId,
        part: &[u8],
        refs: &Refs,
        is_layered: &dyn Fn(Local) -> bool,
        batch: &mut Batch,
    ) -> Result<()> {
        let prefix = key::chunk_versions_of_part(realm, part);
        let mut kept = Vec::new();
        let mut newer: Option<Epoch> = None;
        self.engine.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |key, value| {
            if let Some(chunk) = key::parse_chunk(key) {
                match newer.is_none_or(|newer| refs.any_in(chunk.epoch, newer.saturating_sub(1))) {
                    true => kept.push((key.to_vec(), value.is_empty())),
                    false => batch.delete(Keyspace::Data, key.to_vec()),
                }
                newer = Some(chunk.epoch);
            }
            ControlFlow::Continue(())
        })?;
        // A hole that hides nothing any more is no record.
        let hides_a_layer = kept.last().and_then(|(key, _)| key::parse_chunk(key)).is_some_and(|c| is_layered(c.ino));
        while let Some((key, true)) = kept.pop()
            && !hides_a_layer
        {
            batch.delete(Keyspace::Data, key);
        }
        Ok(())
    }

    /// Frees the first garbage generation, or what no reference shows of it.
    fn collect_generation(&self, walk: &mut Walk) -> Result<bool> {
        let prefix = key::all(key::tag::GARBAGE);
        let Some((entry, value)) = self.engine.first(Keyspace::Meta, &prefix, &key::after(&prefix))? else {
            return Ok(false);
        };
        let (realm, died, file, generation) =
            key::parse_garbage(&entry).ok_or_else(|| Error::corrupt("a garbage key is too short"))?;
        let born = Garbage::decode(&value)?.born;
        // Held until the batch is written: a restore can make the generation a content again.
        let txn = self.begin(&[realm])?;
        if self.engine.get(Keyspace::Meta, &entry)?.is_none() {
            return Ok(true);
        }
        let mut batch = Batch::new();
        let state = &txn.locked(realm)?.state;
        let done = match self.newest_showing(realm, state, file, generation, born..died)? {
            None => {
                let more = self.free_prefix(Keyspace::Data, &key::chunks_of(realm, file, generation), &mut batch)?;
                if !more {
                    self.forget_owners(realm, file, &mut batch)?;
                }
                !more
            }
            Some(until) => {
                let next = walk.on([&entry[..], &until.to_be_bytes()].concat());
                let done = self.trim(realm, file, generation, until, next, &mut batch)?;
                if done {
                    batch.put(Keyspace::Meta, key::kept(realm, until, file, generation), value);
                }
                done
            }
        };
        if done {
            batch.delete(Keyspace::Meta, entry);
            *walk = Walk::default();
        }
        self.engine.write(batch)?;
        Ok(true)
    }

    /// The newest reference at which a generation is the content of an inode. An inode that had
    /// no name for a while, or a document's kept version, died later than it was last shown.
    fn newest_showing(
        &self,
        realm: RealmId,
        state: &RealmState,
        file: Local,
        generation: u64,
        life: Range<Epoch>,
    ) -> Result<Option<Epoch>> {
        let owners = self.owners(realm, file)?;
        let is_this = |layer: &&Layer| (layer.file, layer.generation) == (file, generation);
        for epoch in state.refs(&self.home_snapshots()).newest_in(life.start, life.end.saturating_sub(1)) {
            if state.apart.values().filter(is_this).any(|layer| layer.epoch == epoch) {
                return Ok(Some(epoch));
            }
            for owner in &owners {
                if let history::Own::Value(bytes) = history::at(&*self.engine, &key::inode(realm, *owner), epoch)? {
                    let inode = Inode::decode(&bytes)?;
                    if (inode.file_of(*owner), inode.generation) == (file, generation) {
                        return Ok(Some(epoch));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Frees the versions of chunks that came after the last reference that shows a generation.
    /// That one was a reference already when they were written, so the touched index has them.
    /// Says whether that is all.
    fn trim(
        &self,
        realm: RealmId,
        file: Local,
        generation: u64,
        until: Epoch,
        next: &mut Vec<u8>,
        batch: &mut Batch,
    ) -> Result<bool> {
        let chunks = key::chunk_parts(file, generation);
        let end = key::after(&key::of_realm(key::tag::TOUCHED, realm));
        if next.is_empty() {
            *next = key::touched(realm, until.saturating_add(1), &chunks);
        }
        for _ in 0..STEP {
            let Some((entry, _)) = self.engine.first(Keyspace::Meta, next, &end)? else { return Ok(true) };
            let (epoch, part) =
                key::parse_touched(&entry).ok_or_else(|| Error::corrupt("a touched key is too short"))?;
            *next = if part.starts_with(&chunks) {
                batch.delete(Keyspace::Data, key::chunk_version_of_part(realm, part, epoch));
                behind(entry)
            } else if part < &chunks[..] {
                key::touched(realm, epoch, &chunks)
            } else {
                key::touched(realm, epoch.saturating_add(1), &chunks)
            };
        }
        Ok(false)
    }

    /// Adds up to a step of deletions; says whether there may be more keys.
    fn free_prefix(&self, space: Keyspace, prefix: &[u8], batch: &mut Batch) -> Result<bool> {
        let mut budget = STEP;
        for key in self.keys(space, prefix, &key::after(prefix), &mut budget)? {
            batch.delete(space, key);
        }
        Ok(budget == 0)
    }

    /// Frees a deleted thread that nothing needs.
    fn collect_realm(&self) -> Result<bool> {
        for realm in self.realms() {
            let goes = |state: &RealmState| {
                state.record.dead.is_some() && !state.needed(&self.home_snapshots.read(), 0, Epoch::MAX)
            };
            if realm.id() == HOME || !goes(&realm.read()) {
                continue;
            }
            if self.has_orphans(realm.id())? {
                continue;
            }
            return self.purge(&realm).map(|()| true);
        }
        Ok(false)
    }

    fn has_orphans(&self, realm: RealmId) -> Result<bool> {
        let prefix = key::of_realm(key::tag::ORPHAN, realm);
        Ok(self.engine.first(Keyspace::Meta, &prefix, &key::after(&prefix))?.is_some())
    }

    fn purge(&self, realm: &Arc<Realm>) -> Result<()> {
        use key::tag::{ATIME, FILE, GARBAGE, HISTORY, KEPT, NAMED, NEXT, PENDING, REALM, SNAPSHOT, TOUCHED, VERSION};
        let id = realm.id();
        let base = realm.base().filter(|(base, _)| self.realm(*base).is_some());
        let mut locks = vec![id];
        locks.extend(base.map(|(base, _)| base));
        let mut txn = self.begin(&locks)?;
        let mut batch = Batch::new();
        if self.free_prefix(Keyspace::Data, &key::chunks_of_realm(id), &mut batch)? {
            return Ok(self.engine.write(batch)?);
        }
        let others = [HISTORY, TOUCHED, VERSION, FILE, ATIME, GARBAGE, KEPT, NAMED, SNAPSHOT, PENDING, NEXT];
        for tag in key::VERSIONED.into_iter().chain(others) {
            if self.free_prefix(Keyspace::Meta, &key::of_realm(tag, id), &mut batch)? {
                return Ok(self.engine.write(batch)?);
            }
        }
        batch.delete(Keyspace::Meta, key::of_realm(REALM, id));
        // A fork's base may have what only the fork needed. In the same batch: a later start
        // would not know that there was a fork.
        if let Some((base, epoch)) = base {
            batch.put(Keyspace::Meta, key::numbered(PENDING, base, epoch), vec![ONE_REALM]);
        }
        self.engine.write(batch)?;
        self.realms.write().remove(&id);
        txn.locked_mut(id)?.state.purged = true;
        if let Some((base, epoch)) = base {
            txn.locked_mut(base)?.state.unpin(epoch);
        }
        Ok(())
    }
}

/// The first key behind another.
fn behind(mut key: Vec<u8>) -> Vec<u8> {
    key.push(0);
    key
}
