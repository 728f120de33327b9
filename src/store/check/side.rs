//! What is beside the tree: queues, counters, orphans, versions, rejected drafts.

use std::collections::BTreeMap;

use super::{Checker, Result, describe, inode, key};
use crate::engine::Keyspace;
use crate::store::codec::Decoder;
use crate::store::key::tag;
use crate::store::record::{
    Garbage, Inode, Orphan, RealmRecord, Rejected, SnapshotKind, SnapshotRecord, Superblock, VersionRecord,
};
use crate::store::snapshot::{ALL_REALMS, ONE_REALM};
use crate::store::{Error, HOME, Local, RealmId, RealmState, Records};

/// The generations of a realm that are not the content of an inode with a name.
#[derive(Default)]
pub(super) struct Aside {
    pub(super) orphans: BTreeMap<Local, Inode>,
    /// Kept versions of documents, and their length.
    pub(super) versions: BTreeMap<(Local, u64), u64>,
    /// Garbage, and whether a reference keeps it.
    pub(super) garbage: BTreeMap<(Local, u64), bool>,
}

impl Checker<'_> {
    /// Learns where the collector has work to do.
    pub(super) fn queue(&self) -> Result<()> {
        self.pairs(Keyspace::Meta, &key::all(tag::PENDING), &mut |key, value| {
            match (key::realm_of(key), value) {
                (Some(HOME), [ALL_REALMS]) => self.unsettled.borrow_mut().extend(self.states.keys()),
                (Some(realm), [ONE_REALM]) => drop(self.unsettled.borrow_mut().insert(realm)),
                _ => self.problem(format!("entry {} of the collection queue cannot be read", key.escape_ascii())),
            }
            Ok(())
        })
    }

    pub(super) fn superblock(&self) -> Result<()> {
        let stored = self.view.get(Keyspace::Meta, key::SUPERBLOCK)?;
        let stored = stored.ok_or_else(|| Error::corrupt("it is missing")).and_then(|bytes| Superblock::decode(&bytes));
        let Some(stored) = self.sound(stored, || "the superblock".into())? else { return Ok(()) };
        if stored.hash_key != self.superblock.hash_key {
            self.problem("the superblock has another hash key than the store was opened with".into());
        }
        if let Some(last) = self.home.last().filter(|last| **last > stored.last_home_snapshot) {
            let counted = stored.last_home_snapshot;
            self.problem(format!("home snapshot {last} exists, but the superblock counts up to {counted}"));
        }
        if let Some(last) = self.states.keys().last().filter(|last| last.0 >= stored.next_realm) {
            self.problem(format!("realm {} exists, but {} is the next to be given out", last.0, stored.next_realm));
        }
        Ok(())
    }

    /// A realm's own record, its counter and its snapshots.
    pub(super) fn realm(&self, realm: RealmId, state: &RealmState) -> Result<()> {
        let stored = self.view.get(Keyspace::Meta, &key::of_realm(tag::REALM, realm))?;
        let Some(stored) = stored else {
            self.problem(format!("realm {} has no record", realm.0));
            return Ok(());
        };
        let Some(stored) = self.sound(RealmRecord::decode(&stored), || format!("realm {}", realm.0))? else {
            return Ok(());
        };
        if stored != state.record {
            self.problem(format!("the record of realm {} is {stored:?}, in memory {:?}", realm.0, state.record));
        }
        if stored.dead.is_some_and(|dead| dead < stored.created) {
            self.problem(format!("realm {} was deleted before it was made", realm.0));
        }
        if realm == HOME && (stored.dead.is_some() || !stored.absences.is_empty()) {
            self.problem("the home is marked as deleted".into());
        }
        if stored.deletion.is_some() && stored.dead.is_none() {
            self.problem(format!("realm {} says how it was deleted, and was not", realm.0));
        }
        let mut before = stored.created;
        for (from, to) in &stored.absences {
            if *from < before || to < from || *to > self.epoch_of(realm) {
                self.problem(format!("realm {} was away from {from} to {to}, which cannot be", realm.0));
            }
            before = *to;
        }
        if let Some((base, _)) = stored.base.filter(|(base, _)| !self.states.contains_key(base)) {
            self.problem(format!("realm {} is a fork of realm {}, which does not exist", realm.0, base.0));
        }
        self.next_ino(realm)?;
        let mut found = 0;
        self.pairs(Keyspace::Meta, &key::of_realm(tag::SNAPSHOT, realm), &mut |key, value| {
            let Some(number) = key::number_of(key) else { return Ok(()) };
            let Some(record) = self.sound(SnapshotRecord::decode(value), || format!("snapshot {number}"))? else {
                return Ok(());
            };
            self.count(|report| report.snapshots += 1);
            if self.view.get(Keyspace::Meta, &key::snapshot_name(realm, &record.name, number))?.is_none() {
                self.problem(format!("snapshot {number} of realm {} cannot be found by its name", realm.0));
            }
            if record.kind == SnapshotKind::Home {
                if realm != HOME || !self.home.contains(&number) {
                    self.problem(format!("home snapshot {number} is in realm {} and not in memory", realm.0));
                }
                return Ok(());
            }
            found += 1;
            if number > stored.last_snapshot {
                let last = stored.last_snapshot;
                self.problem(format!("snapshot {number} of realm {} exists, but its last is {last}", realm.0));
            }
            if !state.snapshots.contains(&number) {
                self.problem(format!("snapshot {number} of realm {} is not in memory", realm.0));
            }
            Ok(())
        })?;
        self.snapshot_names(realm)?;
        if found < state.snapshots.len() {
            self.problem(format!(
                "of {} snapshots of realm {} only {found} are stored",
                state.snapshots.len(),
                realm.0
            ));
        }
        Ok(())
    }

    /// Each name has to lead to a snapshot that has it.
    fn snapshot_names(&self, realm: RealmId) -> Result<()> {
        self.pairs(Keyspace::Meta, &key::of_realm(tag::NAMED, realm), &mut |name, _| {
            let number = key::last_number(name).unwrap_or_default();
            let found = self.view.get(Keyspace::Meta, &key::numbered(tag::SNAPSHOT, realm, number))?;
            let record = found.and_then(|value| SnapshotRecord::decode(&value).ok());
            if record.is_none_or(|record| key::snapshot_name(realm, &record.name, number) != name) {
                self.problem(format!("a name of realm {} leads to snapshot {number}, which does not have it", realm.0));
            }
            Ok(())
        })
    }

    /// Inode numbers below it were given out.
    pub(super) fn next_ino(&self, realm: RealmId) -> Result<u64> {
        let stored = self.view.get(Keyspace::Meta, &key::of_realm(tag::NEXT, realm))?;
        match stored.as_deref().map(<[u8; 8]>::try_from) {
            Some(Ok(bytes)) => Ok(u64::from_be_bytes(bytes)),
            _ => {
                self.problem(format!("realm {} has no counter of inode numbers", realm.0));
                Ok(u64::MAX)
            }
        }
    }

    /// Everything of a realm that has content without being in the tree.
    pub(super) fn aside(&self, realm: RealmId) -> Result<Aside> {
        let mut aside = Aside::default();
        let next = self.next_ino(realm)?;
        let reader = self.reader(None);
        self.pairs(Keyspace::Meta, &key::of_realm(tag::ORPHAN, realm), &mut |key, value| {
            let Some(ino) = key::number_of(key).map(Local) else { return Ok(()) };
            let what = inode(realm, ino);
            let Some(Orphan { inode, xattrs }) = self.sound(Orphan::decode(value), || format!("orphan {what}"))? else {
                return Ok(());
            };
            if inode.nlink != 0 {
                self.problem(format!("orphan {what} counts {} names", inode.nlink));
            }
            if ino.0 >= next {
                self.problem(format!("orphan {what} has a number that was not given out"));
            }
            let named = reader.inode(realm, ino);
            if self.sound(named, || what.clone())?.is_some_and(|named| named.is_some()) {
                self.problem(format!("{what} is an orphan and in the tree"));
            }
            let links = reader.links(realm, realm, ino);
            if self.sound(links, || format!("links of {what}"))?.is_some_and(|links| !links.is_empty()) {
                self.problem(format!("orphan {what} has a name"));
            }
            if inode.xattrs as usize != xattrs.len() {
                self.problem(format!("orphan {what} counts {} attributes, and has {}", inode.xattrs, xattrs.len()));
            }
            aside.orphans.insert(ino, inode);
            Ok(())
        })?;
        self.pairs(Keyspace::Meta, &key::of_realm(tag::VERSION, realm), &mut |key, value| {
            let Some(ino) = key::number_of(key).map(Local) else { return Ok(()) };
            let what = || format!("a version of {}", inode(realm, ino));
            let Some(record) = self.sound(VersionRecord::decode(value), what)? else { return Ok(()) };
            aside.versions.insert((ino, record.generation), record.size);
            Ok(())
        })?;
        for (kind, kept) in [(tag::GARBAGE, false), (tag::KEPT, true)] {
            self.pairs(Keyspace::Meta, &key::of_realm(kind, realm), &mut |key, value| {
                let Some((_, epoch, ino, generation)) = key::parse_garbage(key) else { return Ok(()) };
                let Some(garbage) = self.sound(Garbage::decode(value), || describe(realm, key))? else {
                    return Ok(());
                };
                let what = format!("garbage generation {generation} of {}", inode(realm, ino));
                if garbage.born > epoch {
                    self.problem(format!("{what} ended before it began"));
                }
                if kept && self.is_settled(realm) && !self.refs_of(realm).contains(epoch) {
                    self.problem(format!("{what} is kept for snapshot {epoch}, which does not exist"));
                }
                aside.garbage.insert((ino, generation), kept);
                Ok(())
            })?;
        }
        Ok(aside)
    }

    /// Rejected drafts and their contents.
    pub(super) fn rejected(&self) -> Result<()> {
        let mut drafts = BTreeMap::new();
        self.pairs(Keyspace::Meta, &key::all(tag::REJECTED), &mut |key, value| {
            let Some(id) = key::parse_rejected(key) else { return Ok(()) };
            if let Some(draft) = self.sound(Rejected::decode(value), || format!("rejected draft {id}"))? {
                drafts.insert(id, draft.size);
            }
            Ok(())
        })?;
        self.pairs(Keyspace::Data, &key::rejected_contents(), &mut |key, value| {
            let Some(id) = key::parse_rejected_content(key) else { return Ok(()) };
            match drafts.remove(&id) {
                Some(size) if size == value.len() as u64 => {}
                Some(size) => {
                    self.problem(format!("rejected draft {id} has {} of {size} bytes", value.len()));
                }
                None => self.problem(format!("the content of rejected draft {id} has no record")),
            }
            Ok(())
        })?;
        for id in drafts.keys() {
            self.problem(format!("rejected draft {id} has no content"));
        }
        Ok(())
    }

    /// A time that is kept for an inode.
    pub(super) fn atimes(&self, realm: RealmId) -> Result<()> {
        self.pairs(Keyspace::Meta, &key::of_realm(tag::ATIME, realm), &mut |key, value| {
            let mut read = Decoder::new(value, "access time");
            let time = read.signed().and_then(|_| read.number32());
            self.sound(time, || describe(realm, key)).map(|_| ())
        })
    }
}
