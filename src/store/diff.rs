//! What is different between two states, found through the touched index: so it costs what was
//! changed, and not what is there.
//!
//! The index tells which records changed between the two. From those come the paths whose state can
//! differ: names that are gone or new, with all that is below them, and the names of inodes that were
//! changed. Each path is then compared as it was and as it is. A directory that only got another name
//! stands for all that is in it, so what is below it is told by its new path on both sides.

mod compare;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

use super::record::{Dirent, Kind};
use super::{Epoch, Error, HOME, Local, ROOT, Reader, RealmId, Records, Result, Store, key, try_scan};
use crate::engine::{Keyspace, View};

/// An inode of any realm.
type Id = (RealmId, Local);

/// A name in a directory.
type Place = (Id, Vec<u8>);

/// More directories than a path can name: a walk that gets there has met damage.
const DEEPEST: usize = 1 << 20;

/// What of a file is different.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// It is another kind of file.
    Kind,
    /// Its bytes.
    Content,
    /// Where a symlink points.
    Target,
    /// The device that a device file stands for.
    Device,
    /// Permission bits.
    Mode,
    /// Owner or group.
    Owner,
    /// Extended attributes.
    Xattrs,
    /// Times, and nothing else.
    Times,
}

/// A file on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Side {
    /// The kind of file.
    pub kind: Kind,
    /// Length in bytes; of a directory 0.
    pub size: u64,
}

/// A path that is different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path from the root of what was compared; empty for that root itself.
    pub path: Vec<u8>,
    /// The path before, of something that was renamed.
    pub renamed_from: Option<Vec<u8>>,
    /// What was there; None when it was added.
    pub before: Option<Side>,
    /// What is there; None when it was removed.
    pub after: Option<Side>,
    /// What is different, when it is on both sides.
    pub aspects: Vec<Aspect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum When {
    Before,
    After,
}

/// What the touched index says was changed.
#[derive(Debug, Default)]
struct Touched {
    inodes: BTreeSet<Id>,
    names: BTreeMap<Id, BTreeSet<Vec<u8>>>,
    chunks: BTreeMap<Id, BTreeSet<u32>>,
}

/// Two states of a realm, frozen. Of the home: of all realms.
pub struct Comparison<'s> {
    store: &'s Store,
    view: Box<dyn View + 's>,
    realm: RealmId,
    from: Epoch,
    to: Option<Epoch>,
}

impl Store {
    /// Freezes the store, to compare a realm as it was at a reference with a later one, or with the
    /// present. Whether the references exist is to be looked at after that.
    pub fn comparison(&self, realm: RealmId, from: Epoch, to: Option<Epoch>) -> Comparison<'_> {
        Comparison { store: self, view: self.engine.view(), realm, from, to }
    }
}

impl Comparison<'_> {
    /// The paths that are different, sorted.
    pub fn changes(&self) -> Result<Vec<Change>> {
        Walk {
            root: (self.realm, ROOT),
            before: Reader::over(self.store, &*self.view).at(self.from),
            after: match self.to {
                Some(epoch) => Reader::over(self.store, &*self.view).at(epoch),
                None => Reader::over(self.store, &*self.view),
            },
            touched: self.touched()?,
            store: self.store,
            moved: HashMap::new(),
            paths: HashMap::new(),
            old: BTreeMap::new(),
            new: BTreeMap::new(),
        }
        .run()
    }

    fn touched(&self) -> Result<Touched> {
        let mut touched = Touched::default();
        let realms = match self.realm {
            HOME => self.store.realms().iter().map(|realm| realm.id()).collect(),
            realm => vec![realm],
        };
        for realm in realms {
            let from = key::touched(realm, self.from.saturating_add(1), b"");
            let to = match self.to {
                Some(epoch) => key::touched(realm, epoch.saturating_add(1), b""),
                None => key::after(&key::of_realm(key::tag::TOUCHED, realm)),
            };
            if from >= to {
                continue;
            }
            try_scan(&*self.view, Keyspace::Meta, &from, &to, &mut |found, _| {
                let (_, part) =
                    key::parse_touched(found).ok_or_else(|| Error::corrupt("a touched key is too short"))?;
                touched.add(realm, part);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(touched)
    }
}

impl Touched {
    fn add(&mut self, realm: RealmId, part: &[u8]) {
        let live = key::live(realm, part);
        match part.first() {
            Some(&key::tag::INODE) => {
                self.inodes.extend(key::number_of(&live).map(|ino| (realm, Local(ino))));
            }
            Some(&key::tag::XATTR) => {
                self.inodes.extend(key::parse_xattr(&live).map(|(ino, _)| (realm, ino)));
            }
            Some(&key::tag::DIRENT) => {
                if let Some((dir, _, name)) = key::parse_dirent(&live) {
                    self.names.entry((realm, dir)).or_default().insert(name.to_vec());
                }
            }
            Some(&key::tag::CHUNK) => {
                if let Some(chunk) = key::parse_chunk(&key::chunk_version_of_part(realm, part, 0)) {
                    self.inodes.insert((realm, chunk.ino));
                    self.chunks.entry((realm, chunk.ino)).or_default().insert(chunk.index);
                }
            }
            _ => {}
        }
    }
}

struct Walk<'v> {
    root: Id,
    store: &'v Store,
    before: Reader<'v>,
    after: Reader<'v>,
    touched: Touched,
    /// Directories that only got another name: the place where each was.
    moved: HashMap<Id, Place>,
    paths: HashMap<(When, Id), Option<Vec<u8>>>,
    /// What was, and what is, at the paths that can be different.
    old: BTreeMap<Vec<u8>, Id>,
    new: BTreeMap<Vec<u8>, Id>,
}

fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() }
}

impl Walk<'_> {
    fn reader(&self, when: When) -> &Reader<'_> {
        match when {
            When::Before => &self.before,
            When::After => &self.after,
        }
    }

    fn run(mut self) -> Result<Vec<Change>> {
        let (mut gone, mut made) = (BTreeMap::<Place, Dirent>::new(), BTreeMap::<Place, Dirent>::new());
        for ((realm, dir), names) in &self.touched.names {
            for name in names {
                let hash = self.store.name_hash(name);
                let old = self.before.dirent(*realm, *dir, hash, name)?;
                let new = self.after.dirent(*realm, *dir, hash, name)?;
                let place = ((*realm, *dir), name.clone());
                match (old, new) {
                    (Some(old), Some(new)) if old.inode_of(*realm) == new.inode_of(*realm) => continue,
                    _ => {}
                }
                gone.extend(old.map(|old| (place.clone(), old)));
                made.extend(new.map(|new| (place, new)));
            }
        }
        self.find_moved(&gone, &made);
        for (when, places) in [(When::Before, gone), (When::After, made)] {
            for (((realm, dir), name), dirent) in places {
                let id = dirent.inode_of(realm);
                if !self.moved.contains_key(&id)
                    && let Some(above) = self.path(when, (realm, dir))?
                {
                    self.add_tree(when, join(&above, &name), id, dirent.kind)?;
                }
            }
        }
        let moved: Vec<Id> = self.moved.keys().copied().collect();
        for id in self.touched.inodes.iter().copied().chain(moved).collect::<Vec<_>>() {
            self.add_names(When::Before, id)?;
            self.add_names(When::After, id)?;
        }
        self.compare_all()
    }

    /// Directories that are gone from one place and new at another, where nothing was before that did
    /// not move away as well.
    fn find_moved(&mut self, gone: &BTreeMap<Place, Dirent>, made: &BTreeMap<Place, Dirent>) {
        let directories = |places: &BTreeMap<Place, Dirent>| -> HashMap<Id, Place> {
            let found = places.iter().filter(|(_, dirent)| dirent.kind == Kind::Directory);
            found.map(|(place, dirent)| (dirent.inode_of(place.0.0), place.clone())).collect()
        };
        let to = directories(made);
        self.moved = directories(gone);
        self.moved.retain(|id, _| to.contains_key(id));
        loop {
            let stays = |place: &Place, moved: &HashMap<Id, Place>| {
                gone.get(place).is_none_or(|before| moved.contains_key(&before.inode_of(place.0.0)))
            };
            let wrong = self.moved.keys().find(|id| to.get(*id).is_some_and(|place| !stays(place, &self.moved)));
            let Some(wrong) = wrong.copied() else { return };
            self.moved.remove(&wrong);
        }
    }

    /// The path of a directory; None when no path leads to it.
    fn path(&mut self, when: When, dir: Id) -> Result<Option<Vec<u8>>> {
        let mut below = Vec::new();
        let (mut at, mut when) = (dir, when);
        let mut path = loop {
            if at == self.root {
                break Some(Vec::new());
            }
            if self.moved.contains_key(&at) {
                when = When::After;
            }
            if let Some(known) = self.paths.get(&(when, at)) {
                break known.clone();
            }
            let Some((parent, name)) = self.links(when, at)?.into_iter().next() else { break None };
            below.push((when, at, name));
            at = parent;
            if below.len() > DEEPEST {
                return Err(Error::corrupt("directories that are within themselves"));
            }
        };
        for (when, at, name) in below.into_iter().rev() {
            path = path.map(|above| join(&above, &name));
            self.paths.insert((when, at), path.clone());
        }
        Ok(path)
    }

    fn links(&self, when: When, (realm, ino): Id) -> Result<Vec<Place>> {
        // The root of a thread has its name in the home.
        let holder = if ino == ROOT { HOME } else { realm };
        let links = self.reader(when).links(holder, realm, ino)?;
        Ok(links.into_iter().map(|(dir, name)| ((holder, dir), name)).collect())
    }

    fn add(&mut self, when: When, path: Vec<u8>, id: Id) {
        match when {
            When::Before => self.old.insert(path, id),
            When::After => self.new.insert(path, id),
        };
    }

    /// All names of an inode.
    fn add_names(&mut self, when: When, id: Id) -> Result<()> {
        if id == self.root {
            self.add(when, Vec::new(), id);
            return Ok(());
        }
        if self.moved.contains_key(&id) {
            if let Some(path) = self.path(When::After, id)? {
                self.add(when, path, id);
            }
            return Ok(());
        }
        for (dir, name) in self.links(when, id)? {
            if let Some(above) = self.path(when, dir)? {
                self.add(when, join(&above, &name), id);
            }
        }
        Ok(())
    }

    /// A path and everything below it, but not what moved to or from there as a whole.
    fn add_tree(&mut self, when: When, path: Vec<u8>, id: Id, kind: Kind) -> Result<()> {
        let mut left = vec![(path, id, kind)];
        while let Some((path, id, kind)) = left.pop() {
            let known = if when == When::Before { &self.old } else { &self.new };
            if known.get(&path) == Some(&id) {
                continue;
            }
            if kind == Kind::Directory {
                let (realm, dir) = id;
                let prefix = key::numbered(key::tag::DIRENT, realm, dir.0);
                self.reader(when).records(&prefix, &key::after(&prefix), &mut |found, value| {
                    if let Some((_, _, name)) = key::parse_dirent(found) {
                        let dirent = Dirent::decode(value)?;
                        let below = dirent.inode_of(realm);
                        if !self.moved.contains_key(&below) {
                            left.push((join(&path, name), below, dirent.kind));
                        }
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
            }
            self.add(when, path, id);
        }
        Ok(())
    }

    fn compare_all(mut self) -> Result<Vec<Change>> {
        let mut changes = BTreeMap::new();
        let moved: HashMap<Id, Place> = self.moved.clone();
        let (old, new) = (std::mem::take(&mut self.old), std::mem::take(&mut self.new));
        let mut removed: BTreeMap<Id, Vec<&Vec<u8>>> = BTreeMap::new();
        for (path, id) in old.iter().filter(|(path, _)| !new.contains_key(*path)) {
            removed.entry(*id).or_default().push(path);
        }
        for (path, id) in &new {
            let (before, renamed_from) = match old.get(path) {
                Some(before) => {
                    let place = moved.get(id).filter(|_| before == id);
                    let above = match place {
                        Some((dir, _)) => self.path(When::Before, *dir)?,
                        None => None,
                    };
                    let from = above.zip(place).map(|(above, (_, name))| join(&above, name));
                    (Some(*before), from)
                }
                // A file that lost one name and got another.
                None => match removed.get_mut(id).and_then(|paths| (!paths.is_empty()).then(|| paths.remove(0))) {
                    Some(from) if self.is_file(*id)? => (Some(*id), Some(from.clone())),
                    Some(from) => {
                        removed.entry(*id).or_default().insert(0, from);
                        (None, None)
                    }
                    None => (None, None),
                },
            };
            let Some(change) = self.change(path, before, Some(*id), renamed_from)? else { continue };
            changes.insert(path.clone(), change);
        }
        for (id, paths) in removed {
            for path in paths {
                if let Some(change) = self.change(path, Some(id), None, None)? {
                    changes.insert(path.clone(), change);
                }
            }
        }
        Ok(changes.into_values().collect())
    }

    fn is_file(&self, (realm, ino): Id) -> Result<bool> {
        Ok(self.after.inode(realm, ino)?.is_some_and(|inode| !inode.is_dir()))
    }
}
