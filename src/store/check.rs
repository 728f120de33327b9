//! Proves that a store is consistent: for tests, and for `threadfs fsck`.
//!
//! Everything is read from one frozen view, so a store in use can be checked. What is found is
//! named, not repaired. In memory is what is known of one realm's inodes at a time.
//!
//! - [`keys`]: every key is of a known kind, in a known realm;
//! - [`tree`]: inodes, names, reverse links, attributes and usage, now or at a snapshot;
//! - [`content`]: chunks belong to somebody, and are as many as the inodes say;
//! - [`past`]: history and touched entries are in order and needed by a reference;
//! - [`side`]: orphans, documents' versions, rejected drafts, queues and counters.

mod content;
mod keys;
mod past;
mod side;
mod tree;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use parking_lot::RwLock;

use super::realm::Refs;
use super::record::{Header, Superblock};
use super::{Epoch, Error, Local, Reader, RealmId, RealmState, Records, Result, Store, key, try_scan};
use crate::engine::{Keyspace, View};

/// What is called for each pair.
type Visit<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Result<()>;

/// Problems beyond it are only counted.
const PROBLEMS_KEPT: usize = 1000;

/// What a check found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What is wrong, each in a line.
    pub problems: Vec<String>,
    /// Further problems, too many to list.
    pub omitted: u64,
    /// Living realms: the home and the threads.
    pub realms: u64,
    /// Inodes that have a name, and the roots.
    pub inodes: u64,
    /// Names.
    pub dirents: u64,
    /// Chunks, of past content too.
    pub chunks: u64,
    /// Bytes of all chunks.
    pub bytes: u64,
    /// Snapshots of threads and of the home.
    pub snapshots: u64,
    /// Past values of records.
    pub history: u64,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Checks the present state of a store and the records of its past.
///
/// # Errors
/// The engine's. A record that cannot be read is a problem in the report.
pub fn check(store: &Store) -> Result<Report> {
    check_with(store, false)
}

/// Checks a store; with `snapshots` also every snapshot as a tree of its own, which takes as much
/// time again for each.
///
/// # Errors
/// The engine's. A record that cannot be read is a problem in the report.
pub fn check_with(store: &Store, snapshots: bool) -> Result<Report> {
    // Alone for a moment, so that the view and what is in memory are of the same instant.
    let alone = RwLock::write_arc(&store.freeze);
    let view = store.engine.view();
    let states = store.realms().iter().map(|realm| (realm.id(), realm.read().clone())).collect();
    let superblock = store.superblock.lock().clone();
    let home = store.home_snapshots();
    drop(alone);
    let checker = Checker::new(store, &*view, states, superblock, home);
    checker.run(snapshots)?;
    Ok(checker.report.into_inner())
}

/// One check.
struct Checker<'s> {
    store: &'s Store,
    view: &'s (dyn View + 's),
    states: BTreeMap<RealmId, RealmState>,
    superblock: Superblock,
    home: BTreeSet<Epoch>,
    refs: BTreeMap<RealmId, Refs>,
    /// Realms in which the collector has work to do: what nobody needs is no problem there.
    unsettled: RefCell<BTreeSet<RealmId>>,
    report: RefCell<Report>,
}

impl<'s> Checker<'s> {
    fn new(
        store: &'s Store,
        view: &'s (dyn View + 's),
        states: BTreeMap<RealmId, RealmState>,
        superblock: Superblock,
        home: BTreeSet<Epoch>,
    ) -> Self {
        let refs = states.iter().map(|(id, state)| (*id, state.refs(&home))).collect();
        let (unsettled, report) = Default::default();
        Checker { store, view, states, superblock, home, refs, unsettled, report }
    }

    fn run(&self, snapshots: bool) -> Result<()> {
        self.queue()?;
        self.keys()?;
        self.superblock()?;
        for (realm, state) in &self.states {
            self.realm(*realm, state)?;
            self.past(*realm)?;
            if state.record.dead.is_none() {
                self.count(|report| report.realms += 1);
                let tree = self.tree(*realm, None)?;
                self.content(*realm, &tree)?;
            }
            if snapshots {
                for epoch in self.refs_of(*realm).newest_in(0, Epoch::MAX) {
                    let tree = self.tree(*realm, Some(epoch))?;
                    self.content_at(*realm, &tree, epoch)?;
                }
            }
        }
        self.rejected()
    }

    fn problem(&self, text: String) {
        let mut report = self.report.borrow_mut();
        if report.problems.len() < PROBLEMS_KEPT {
            report.problems.push(text);
        } else {
            report.omitted += 1;
        }
    }

    fn count(&self, count: impl FnOnce(&mut Report)) {
        count(&mut self.report.borrow_mut());
    }

    /// A record that cannot be read is a problem; an engine that cannot be read ends the check.
    fn sound<T>(&self, result: Result<T>, what: impl FnOnce() -> String) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Error::Corrupt { detail }) => {
                self.problem(format!("{}: {detail}", what()));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn reader(&self, at: Option<Epoch>) -> Reader<'_> {
        let reader = Reader::over(self.store, self.view);
        match at {
            Some(epoch) => reader.at(epoch),
            None => reader,
        }
    }

    fn refs_of(&self, realm: RealmId) -> Refs {
        self.refs.get(&realm).cloned().unwrap_or_default()
    }

    /// The epoch of what would be written in a realm now.
    fn epoch_of(&self, realm: RealmId) -> Epoch {
        self.states.get(&realm).map_or(0, |state| state.epoch(self.superblock.last_home_snapshot))
    }

    /// Whether everything that nobody needs should be gone.
    fn is_settled(&self, realm: RealmId) -> bool {
        let goes =
            self.states.get(&realm).is_some_and(|state| state.record.dead.is_some()) && self.refs_of(realm).is_empty();
        !goes && !self.unsettled.borrow().contains(&realm)
    }

    /// Visits the pairs with a prefix.
    fn pairs(&self, space: Keyspace, prefix: &[u8], visit: Visit<'_>) -> Result<()> {
        let each = &mut |key: &[u8], value: &[u8]| visit(key, value).map(ControlFlow::Continue);
        try_scan(self.view, space, prefix, &key::after(prefix), each)
    }

    /// Visits a realm's records of one kind at a moment. Of the present, one that cannot be read
    /// does not hide those behind it.
    fn records(&self, realm: RealmId, tag: u8, at: Option<Epoch>, visit: Visit<'_>) -> Result<()> {
        let prefix = key::of_realm(tag, realm);
        if at.is_none() && self.states.get(&realm).is_none_or(|state| state.record.base.is_none()) {
            return self.pairs(Keyspace::Meta, &prefix, &mut |key, raw| match self
                .sound(Header::unwrap(raw), || describe(realm, key))?
            {
                Some((_, payload)) => visit(key, payload),
                None => Ok(()),
            });
        }
        let visited = self.reader(at).records(&prefix, &key::after(&prefix), &mut |key, value| {
            visit(key, value).map(|()| ControlFlow::Continue(()))
        });
        self.sound(visited, || format!("records of realm {}", realm.0)).map(|_| ())
    }
}

/// A record in words, by its key.
fn describe(realm: RealmId, key: &[u8]) -> String {
    let tag = key.first().map_or('?', |tag| char::from(*tag));
    format!("record {tag} {} of realm {}", key.get(5..).unwrap_or_default().escape_ascii(), realm.0)
}

/// An inode in words.
fn inode(realm: RealmId, ino: Local) -> String {
    format!("inode {}", ino.to_ino(realm))
}

/// A name in words.
fn named(realm: RealmId, dir: Local, name: &[u8]) -> String {
    format!("name \"{}\" in directory {}", name.escape_ascii(), dir.to_ino(realm))
}
