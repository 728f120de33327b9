//! Frees what nothing needs any more, in small steps from a background thread.
//!
//! Three things leave work behind, each as a record, so that a crash only delays it:
//! a dropped snapshot (`P`), a data generation that was replaced or unlinked (`G`), and a realm
//! whose thread was deleted. What is freed is decided by one rule: a value that held from epoch
//! `born` to epoch `last` goes when no reference lies in between. A number that was dropped
//! cannot come back, so deciding twice is harmless.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::realm::Refs;
use super::record::{Garbage, Header};
use super::snapshot::ALL_REALMS;
use super::{Epoch, Error, HOME, Realm, RealmId, Result, Store, key};
use crate::engine::{Batch, Keyspace};

/// Keys that one step looks at, at most: so the foreground waits for little.
const STEP: usize = 512;

impl Store {
    /// Does one step of what is pending, and says whether there is more.
    pub fn collect(&self) -> Result<bool> {
        if let Some((realm, number, scope)) = self.next_pending()? {
            let realms = match scope {
                ALL_REALMS => self.realms(),
                _ => self.realm(realm).into_iter().collect(),
            };
            let mut more = false;
            for realm in &realms {
                more |= self.collect_snapshot(realm, number)?;
            }
            if !more {
                let mut batch = Batch::new();
                batch.delete(Keyspace::Meta, key::numbered(key::tag::PENDING, realm, number));
                self.engine.write(batch)?;
            }
            return Ok(true);
        }
        Ok(self.collect_generations()? | self.collect_realms()?)
    }

    fn next_pending(&self) -> Result<Option<(RealmId, Epoch, u8)>> {
        let prefix = key::all(key::tag::PENDING);
        let Some((key, value)) = self.engine.first(Keyspace::Meta, &prefix, &key::after(&prefix))? else {
            return Ok(None);
        };
        match (key::realm_of(&key), key::number_of(&key), value.first()) {
            (Some(realm), Some(number), Some(scope)) => Ok(Some((realm, number, *scope))),
            _ => Err(Error::corrupt("an entry of the collection queue cannot be read")),
        }
    }

    fn refs_of(&self, realm: &Realm) -> Refs {
        realm.read().refs(&self.home_snapshot_numbers())
    }

    /// Frees what only a dropped snapshot needed, of what changed up to the next reference.
    /// Says whether it stopped early.
    fn collect_snapshot(&self, realm: &Arc<Realm>, number: Epoch) -> Result<bool> {
        let txn = self.begin(&[realm.id()])?;
        let refs = txn.locked(realm.id())?.state.refs(&self.home_snapshot_numbers());
        let (_, newer) = refs.neighbours(number);
        let from = key::touched(realm.id(), number + 1, b"");
        let to = match newer {
            Epoch::MAX => key::after(&key::of_realm(key::tag::TOUCHED, realm.id())),
            newer => key::touched(realm.id(), newer + 1, b""),
        };
        // Without an older reference nobody restores to before the next one: its entries can go.
        let forget = refs.oldest().is_none_or(|oldest| oldest > number);
        let mut batch = Batch::new();
        let mut entries = Vec::new();
        self.engine.scan(Keyspace::Meta, &from, &to, &mut |key, _| {
            entries.push(key.to_vec());
            if entries.len() < STEP { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let mut freed = false;
        for entry in &entries {
            let (_, part) = key::parse_touched(entry).ok_or_else(|| Error::corrupt("a touched key is too short"))?;
            freed |= match part.first() {
                Some(&key::tag::CHUNK) => self.free_chunk(realm.id(), part, &refs, &mut batch)?,
                _ => self.free_history(realm.id(), part, &refs, &mut batch)?,
            };
            if forget {
                batch.delete(Keyspace::Meta, entry.clone());
            }
        }
        let full = entries.len() == STEP;
        if !batch.is_empty() {
            self.engine.write(batch)?;
        }
        drop(txn);
        if full && !forget && !freed {
            // Nothing of this run went, so the next look would find the same run.
            return self.collect_rest(realm, number, entries.last().map_or(&from[..], |last| last));
        }
        Ok(full)
    }

    /// Continues behind entries that stay.
    fn collect_rest(&self, realm: &Arc<Realm>, number: Epoch, behind: &[u8]) -> Result<bool> {
        let mut behind = behind.to_vec();
        loop {
            let txn = self.begin(&[realm.id()])?;
            let refs = txn.locked(realm.id())?.state.refs(&self.home_snapshot_numbers());
            let (_, newer) = refs.neighbours(number);
            let to = match newer {
                Epoch::MAX => key::after(&key::of_realm(key::tag::TOUCHED, realm.id())),
                newer => key::touched(realm.id(), newer + 1, b""),
            };
            behind.push(0);
            let mut entries = Vec::new();
            self.engine.scan(Keyspace::Meta, &behind, &to, &mut |key, _| {
                entries.push(key.to_vec());
                if entries.len() < STEP { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            let mut batch = Batch::new();
            for entry in &entries {
                let (_, part) =
                    key::parse_touched(entry).ok_or_else(|| Error::corrupt("a touched key is too short"))?;
                match part.first() {
                    Some(&key::tag::CHUNK) => self.free_chunk(realm.id(), part, &refs, &mut batch)?,
                    _ => self.free_history(realm.id(), part, &refs, &mut batch)?,
                };
            }
            if !batch.is_empty() {
                self.engine.write(batch)?;
            }
            match entries.pop() {
                Some(last) if entries.len() + 1 == STEP => behind = last,
                _ => return Ok(false),
            }
        }
    }

    fn free_history(&self, realm: RealmId, part: &[u8], refs: &Refs, batch: &mut Batch) -> Result<bool> {
        let prefix = key::history(realm, part, None);
        let mut unneeded = Vec::new();
        let mut failure = None;
        self.engine.scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut |key, raw| {
            match (key::parse_history(key), Header::unwrap(raw)) {
                (Some((_, last)), Ok((header, _))) if !refs.any_in(header.born, last) => unneeded.push(key.to_vec()),
                (_, Err(error)) => failure = Some(error),
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        let any = !unneeded.is_empty();
        for key in unneeded {
            batch.delete(Keyspace::Meta, key);
        }
        Ok(any)
    }

    /// A version of a chunk held until the next newer one; the newest holds still.
    fn free_chunk(&self, realm: RealmId, part: &[u8], refs: &Refs, batch: &mut Batch) -> Result<bool> {
        let prefix = key::chunk_versions_of_part(realm, part);
        let mut versions = Vec::new();
        self.engine.scan(Keyspace::Data, &prefix, &key::after(&prefix), &mut |key, value| {
            if let Some(chunk) = key::parse_chunk(key) {
                versions.push((key.to_vec(), chunk.epoch, value.is_empty()));
            }
            ControlFlow::Continue(())
        })?;
        let mut kept = Vec::new();
        let mut any = false;
        let mut newer: Option<Epoch> = None;
        for (key, born, hole) in versions {
            let needed = newer.is_none_or(|newer| refs.any_in(born, newer - 1));
            newer = Some(born);
            if needed {
                kept.push((key, hole));
            } else {
                any = true;
                batch.delete(Keyspace::Data, key);
            }
        }
        // A hole that hides nothing any more is no record.
        while let Some((key, true)) = kept.pop() {
            any = true;
            batch.delete(Keyspace::Data, key);
        }
        Ok(any)
    }

    /// Frees generations that nothing needs.
    fn collect_generations(&self) -> Result<bool> {
        let prefix = key::all(key::tag::GARBAGE);
        let mut ready = None;
        let mut failure = None;
        let mut refs: Option<(RealmId, Refs)> = None;
        self.engine.scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut |key, value| {
            let (Some((realm, died, ino, generation)), Ok(garbage)) = (key::parse_garbage(key), Garbage::decode(value))
            else {
                failure = Some(Error::corrupt("an entry of the garbage queue cannot be read"));
                return ControlFlow::Break(());
            };
            if refs.as_ref().is_none_or(|(of, _)| *of != realm) {
                let of_realm = self.realm(realm).map_or(Refs::default(), |realm| self.refs_of(&realm));
                refs = Some((realm, of_realm));
            }
            if refs.as_ref().is_some_and(|(_, refs)| refs.any_in(garbage.born, died.saturating_sub(1))) {
                return ControlFlow::Continue(());
            }
            ready = Some((key.to_vec(), key::chunks_of(realm, ino, generation)));
            ControlFlow::Break(())
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        let Some((entry, chunks)) = ready else { return Ok(false) };
        let mut batch = Batch::new();
        if !self.free_prefix(Keyspace::Data, &chunks, &mut batch)? {
            batch.delete(Keyspace::Meta, entry);
        }
        self.engine.write(batch)?;
        Ok(true)
    }

    /// Adds up to a step of deletions; says whether there are more keys.
    fn free_prefix(&self, space: Keyspace, prefix: &[u8], batch: &mut Batch) -> Result<bool> {
        let mut count = 0;
        self.engine.scan(space, prefix, &key::after(prefix), &mut |key, _| {
            batch.delete(space, key.to_vec());
            count += 1;
            if count < STEP { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(count == STEP)
    }

    /// Frees deleted threads that nothing needs.
    fn collect_realms(&self) -> Result<bool> {
        for realm in self.realms() {
            if realm.id() == HOME || realm.read().record.dead.is_none() || !self.refs_of(&realm).is_empty() {
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
        use key::tag::{ATIME, GARBAGE, HISTORY, NEXT, PENDING, REALM, SNAPSHOT, TOUCHED, VERSION};
        let id = realm.id();
        let mut batch = Batch::new();
        if self.free_prefix(Keyspace::Data, &key::chunks_of_realm(id), &mut batch)? {
            return Ok(self.engine.write(batch)?);
        }
        let versioned = key::VERSIONED;
        for tag in versioned.into_iter().chain([HISTORY, TOUCHED, VERSION, ATIME, GARBAGE, SNAPSHOT, PENDING, NEXT]) {
            if self.free_prefix(Keyspace::Meta, &key::of_realm(tag, id), &mut batch)? {
                return Ok(self.engine.write(batch)?);
            }
        }
        batch.delete(Keyspace::Meta, key::of_realm(REALM, id));
        self.engine.write(batch)?;
        self.realms.write().remove(&id);
        if let Some((base, epoch)) = realm.base() {
            self.unpin(base, epoch)?;
        }
        Ok(())
    }

    /// A fork of `base` is gone: what only it needed can go too.
    fn unpin(&self, base: RealmId, epoch: Epoch) -> Result<()> {
        let Some(base) = self.realm(base) else { return Ok(()) };
        {
            let mut state = base.write();
            if let Some(count) = state.pins.get_mut(&epoch) {
                *count -= 1;
                if *count == 0 {
                    state.pins.remove(&epoch);
                }
            }
        }
        let mut batch = Batch::new();
        batch.put(Keyspace::Meta, key::numbered(key::tag::PENDING, base.id(), epoch), vec![super::snapshot::ONE_REALM]);
        Ok(self.engine.write(batch)?)
    }
}
