//! The tree of one realm, now or at a snapshot.

use std::collections::{BTreeMap, BTreeSet};

use super::{Checker, Result, describe, inode, key, named};
use crate::store::key::tag;
use crate::store::record::{Dirent, Inode, Kind, Target, Usage};
use crate::store::{Content, Epoch, HOME, Local, ROOT, Reader, RealmId, Records};

/// An inode with what was counted for it.
pub(super) struct Found {
    pub(super) kind: Kind,
    pub(super) size: u64,
    pub(super) allocated: u64,
    /// Whose content it is, and what lies below its own chunks.
    pub(super) content: Content,
    nlink: u32,
    parent: Local,
    xattrs: u32,
    names: u32,
    entries: u64,
    directories: u32,
    attributes: u32,
}

impl Found {
    pub(super) fn new(realm: RealmId, ino: Local, inode: &Inode) -> Found {
        let Inode { kind, size, allocated, nlink, parent, xattrs, .. } = *inode;
        let (names, entries, directories, attributes) = Default::default();
        let mut content = Content::of(realm, ino, inode);
        content.chunk_bytes = content.chunk_bytes.max(1);
        Found { kind, size, allocated, content, nlink, parent, xattrs, names, entries, directories, attributes }
    }

    fn is_dir(&self) -> bool {
        self.kind == Kind::Directory
    }
}

/// All inodes of a realm.
pub(super) type Tree = BTreeMap<Local, Found>;

/// Where and when something is wrong.
struct Place {
    realm: RealmId,
    at: Option<Epoch>,
}

impl Place {
    fn inode(&self, ino: Local) -> String {
        self.then(inode(self.realm, ino))
    }

    fn name(&self, dir: Local, name: &[u8]) -> String {
        self.then(named(self.realm, dir, name))
    }

    fn then(&self, what: String) -> String {
        match self.at {
            Some(epoch) => format!("at snapshot {epoch}: {what}"),
            None => what,
        }
    }
}

impl Checker<'_> {
    pub(super) fn tree(&self, realm: RealmId, at: Option<Epoch>) -> Result<Tree> {
        let place = Place { realm, at };
        let mut tree = self.inodes(&place)?;
        self.dirents(&place, &mut tree)?;
        self.links(&place)?;
        self.attributes(&place, &mut tree)?;
        for (ino, found) in &tree {
            self.counts(&place, *ino, found);
        }
        self.reachable(&place, &tree);
        self.usage(&place, &tree)?;
        if at.is_none() {
            self.count(|report| report.inodes += tree.len() as u64);
        }
        Ok(tree)
    }

    fn inodes(&self, place: &Place) -> Result<Tree> {
        let mut tree = Tree::new();
        let next = self.next_ino(place.realm)?;
        let reader = self.reader(place.at);
        let is_fork = self.states.get(&place.realm).is_some_and(|state| state.record.base.is_some());
        self.records(place.realm, tag::INODE, place.at, &mut |key, value| {
            let Some(ino) = key::number_of(key).map(Local) else { return Ok(()) };
            // Only the way to it says where a fork's content lies.
            let inode = if is_fork { reader.named_inode(place.realm, ino) } else { Inode::decode(value) };
            let Some(inode) = self.sound(inode, || place.inode(ino))? else { return Ok(()) };
            let wrong = |what: String| self.problem(format!("{}: {what}", place.inode(ino)));
            if ino.0 >= next {
                wrong("its number was not given out".into());
            }
            if inode.generation >= inode.next_generation && inode.next_generation != Inode::SEALED {
                wrong(format!("generation {} of {}", inode.generation, inode.next_generation));
            }
            if inode.kind == Kind::Symlink && inode.size != inode.target.len() as u64 {
                wrong(format!("a symlink to {} bytes with size {}", inode.target.len(), inode.size));
            }
            if inode.kind != Kind::File && inode.allocated != 0 {
                wrong(format!("no regular file and {} bytes of content", inode.allocated));
            }
            tree.insert(ino, Found::new(place.realm, ino, &inode));
            Ok(())
        })?;
        if tree.get(&ROOT).is_none_or(|root| !root.is_dir()) {
            self.problem(format!("{}: the root directory is missing", place.inode(ROOT)));
        }
        Ok(tree)
    }

    fn dirents(&self, place: &Place, tree: &mut Tree) -> Result<()> {
        let Place { realm, at } = *place;
        let reader = self.reader(at);
        // A snapshot of the home alone does not cover the threads.
        let with_threads = at.is_none_or(|epoch| self.home.contains(&epoch));
        let mut threads = BTreeSet::new();
        let mut count = 0;
        self.records(realm, tag::DIRENT, at, &mut |key, value| {
            count += 1;
            let Some((dir, hash, name)) = key::parse_dirent(key) else { return Ok(()) };
            let wrong = |what: &str| self.problem(format!("{} {what}", place.name(dir, name)));
            if hash != self.store.name_hash(name) {
                wrong("is filed under a wrong hash");
            }
            if matches!(name, b"" | b"." | b"..") || name.contains(&b'/') || name.contains(&0) {
                wrong("is no valid name");
            }
            let Some(dirent) = self.sound(Dirent::decode(value), || place.name(dir, name))? else { return Ok(()) };
            match tree.get_mut(&dir) {
                None => wrong("is in a directory that does not exist"),
                Some(parent) if !parent.is_dir() => wrong("is in something that is no directory"),
                Some(parent) => {
                    parent.entries += 1;
                    parent.directories += u32::from(dirent.kind == Kind::Directory);
                }
            }
            let (ino_realm, ino) = dirent.inode_of(realm);
            let found = match dirent.target {
                Target::Inode(ino) => tree.get_mut(&ino),
                Target::Thread(thread) => {
                    if realm != HOME {
                        wrong("is a thread inside a thread");
                    }
                    if !threads.insert(thread) {
                        wrong("is a second name of a thread");
                    }
                    if with_threads {
                        self.thread(&reader, thread, dir, &dirent, &wrong)?;
                    }
                    None
                }
            };
            match (found, dirent.target) {
                (Some(found), _) => {
                    found.names += 1;
                    if found.kind != dirent.kind {
                        wrong("has another kind than the inode it leads to");
                    }
                    if found.is_dir() && found.parent != dir {
                        wrong("leads to a directory whose parent is another one");
                    }
                }
                (None, Target::Inode(_)) => wrong("leads to an inode that does not exist"),
                (None, Target::Thread(_)) => {}
            }
            let link =
                self.sound(reader.record(&key::link(realm, ino_realm, ino, dir, name)), || place.name(dir, name))?;
            if link.is_some_and(|link| link.is_none()) {
                wrong("has no reverse link");
            }
            Ok(())
        })?;
        if at.is_none() {
            self.count(|report| report.dirents += count);
        }
        if realm == HOME && with_threads {
            for thread in self.states.keys().filter(|thread| **thread != HOME && self.is_alive(**thread, at)) {
                if !threads.contains(thread) {
                    self.problem(place.then(format!("thread {} has no name", thread.0)));
                }
            }
        }
        Ok(())
    }

    /// What the name of a thread leads to.
    fn thread(
        &self,
        reader: &Reader<'_>,
        thread: RealmId,
        dir: Local,
        dirent: &Dirent,
        wrong: &dyn Fn(&str),
    ) -> Result<()> {
        let root = self.sound(reader.inode(thread, ROOT), || inode(thread, ROOT))?.flatten();
        let Some(root) = root.filter(|_| self.is_alive(thread, reader.epoch())) else {
            wrong("leads to a thread that does not exist");
            return Ok(());
        };
        if root.kind != dirent.kind {
            wrong("has another kind than the thread it leads to");
        }
        if root.parent != dir {
            wrong("leads to a thread whose parent is another directory");
        }
        Ok(())
    }

    /// Whether a thread was not deleted, now or at a home snapshot.
    fn is_alive(&self, thread: RealmId, at: Option<Epoch>) -> bool {
        let Some(state) = self.states.get(&thread) else { return false };
        match at {
            None => state.record.dead.is_none(),
            Some(epoch) => state.record.alive_at(epoch),
        }
    }

    fn links(&self, place: &Place) -> Result<()> {
        let Place { realm, at } = *place;
        let reader = self.reader(at);
        self.records(realm, tag::LINK, at, &mut |key, _| {
            let Some(((ino_realm, ino), dir, name)) = key::parse_link(key) else { return Ok(()) };
            let dirent = reader.dirent(realm, dir, self.store.name_hash(name), name);
            let dirent = self.sound(dirent, || place.name(dir, name))?.flatten();
            if dirent.is_none_or(|dirent| dirent.inode_of(realm) != (ino_realm, ino)) {
                let what = place.then(inode(ino_realm, ino));
                self.problem(format!(
                    "{what} has a reverse link from {}, which does not lead to it",
                    named(realm, dir, name)
                ));
            }
            Ok(())
        })
    }

    fn attributes(&self, place: &Place, tree: &mut Tree) -> Result<()> {
        self.records(place.realm, tag::XATTR, place.at, &mut |key, _| {
            match key::parse_xattr(key) {
                Some((ino, name)) => match tree.get_mut(&ino) {
                    Some(found) => found.attributes += 1,
                    None => self.problem(format!(
                        "{}: attribute \"{}\" of an inode that does not exist",
                        place.inode(ino),
                        name.escape_ascii()
                    )),
                },
                None => self.problem(describe(place.realm, key)),
            }
            Ok(())
        })
    }

    fn counts(&self, place: &Place, ino: Local, found: &Found) {
        let wrong = |what: String| self.problem(format!("{}: {what}", place.inode(ino)));
        if found.xattrs != found.attributes {
            wrong(format!("counts {} attributes and has {}", found.xattrs, found.attributes));
        }
        match (ino, found.names) {
            (ROOT, 0) => {}
            (ROOT, _) => wrong("the root has a name".into()),
            (_, 0) => wrong("has no name".into()),
            (_, names) if found.is_dir() && names > 1 => wrong(format!("a directory with {names} names")),
            _ => {}
        }
        let nlink = if found.is_dir() { 2 + found.directories } else { found.names };
        if found.nlink != nlink {
            wrong(format!("counts {} links and has {nlink}", found.nlink));
        }
        if found.is_dir() && found.size != found.entries {
            wrong(format!("a directory of size {} with {} entries", found.size, found.entries));
        }
    }

    /// Each directory has a parent that holds its name: so only a cycle is out of reach.
    fn reachable(&self, place: &Place, tree: &Tree) {
        let mut known = BTreeSet::from([ROOT]);
        for (start, _) in tree.iter().filter(|(_, found)| found.is_dir()) {
            let mut path = BTreeSet::new();
            let mut at = *start;
            while !known.contains(&at) && path.insert(at) {
                match tree.get(&at) {
                    Some(found) => at = found.parent,
                    None => break,
                }
            }
            if path.contains(&at) {
                self.problem(format!("{}: a directory that the root does not lead to", place.inode(*start)));
            }
            known.extend(path);
        }
    }

    fn usage(&self, place: &Place, tree: &Tree) -> Result<()> {
        let Place { realm, at } = *place;
        let usage =
            self.sound(self.reader(at).usage_record(realm), || place.then(format!("usage of realm {}", realm.0)))?;
        let sum = Usage { inodes: tree.len() as u64, bytes: tree.values().map(|found| found.allocated).sum() };
        if let Some(usage) = usage.filter(|usage| *usage != sum) {
            self.problem(place.then(format!("realm {} holds {sum:?}, but counts {usage:?}", realm.0)));
        }
        let memory = self.states.get(&realm).map(|state| state.usage);
        if let Some(memory) = memory.filter(|memory| at.is_none() && Some(*memory) != usage) {
            self.problem(format!("the usage of realm {} in memory is {memory:?}", realm.0));
        }
        Ok(())
    }
}
