//! Going back with some paths only: what lies at them becomes what it was, and the rest stays.
//!
//! Unlike a whole realm this cannot go by the records alone, because a file can have moved out of the
//! paths, or have names on both sides. So the trees at each path are compared name by name, without
//! those parts where nothing was touched. A list of tasks stands for the recursion: a tree can be
//! deeper than a stack.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::Restore;
use crate::store::chunk::Content;
use crate::store::key::{self, tag};
use crate::store::record::{Dirent, Inode, Kind, Target, Timestamp};
use crate::store::{Local, ROOT, Reader, RealmId, Records, Result};

/// Content that another file still has is copied, up to this length.
const COPIED: u64 = 1 << 30;

/// A name in a directory as it is now, and in the one that it is compared with.
struct Place {
    dir: Local,
    then_dir: Option<Local>,
    name: Vec<u8>,
}

/// What is known for a restore of paths.
#[derive(Default)]
pub(super) struct ByPath {
    /// Inodes in or below which something was touched.
    dirty: BTreeSet<Local>,
    /// What was made anew, by its number in the past.
    brought: BTreeMap<Local, Local>,
}

enum Task {
    Compare(Place),
    /// All names in a directory are what they were.
    Settle {
        dir: Local,
        then: Local,
    },
    /// A directory that is to go is empty.
    Remove {
        dir: Local,
        name: Vec<u8>,
        dirent: Dirent,
    },
}

/// Why a path cannot be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The snapshot has no such path.
    NotThere,
    /// The directory that it was in does not exist now.
    NoDirectory,
    /// The content is too large to be copied, and another name still has it.
    TooLarge,
}

impl Restore<'_, '_, '_> {
    /// Makes what lies at a path what it was.
    pub(super) fn path(&mut self, path: &[u8]) -> Result<std::result::Result<(), Refusal>> {
        let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b".")).collect();
        let Some((name, dirs)) = parts.split_last() else { return Ok(Err(Refusal::NotThere)) };
        let (past, now) = (self.past, self.txn.store.reader());
        let Some(then_dir) = walk(past, self.realm, dirs)? else { return Ok(Err(Refusal::NotThere)) };
        if self.then_at(Some(then_dir), name)?.is_none() {
            return Ok(Err(Refusal::NotThere));
        }
        let Some(dir) = walk(&now, self.realm, dirs)? else { return Ok(Err(Refusal::NoDirectory)) };
        let before = self.done.names.len();
        let mut tasks = vec![Task::Compare(Place { dir, then_dir: Some(then_dir), name: name.to_vec() })];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Compare(place) => {
                    if let Err(refusal) = self.compare(&place, &mut tasks)? {
                        return Ok(Err(refusal));
                    }
                }
                Task::Settle { dir, then } => self.settle(dir, then)?,
                Task::Remove { dir, name, dirent } => self.take_away(dir, &name, &dirent)?,
            }
        }
        if self.done.names.iter().skip(before).any(|(changed, _)| *changed == dir) {
            self.touch_directory(dir)?;
        }
        Ok(Ok(()))
    }

    /// What something was touched in or below, by where it was and where it is.
    pub(super) fn look_at_paths(&self) -> Result<ByPath> {
        let mut left: Vec<Local> = self.touched.dirents.iter().map(|(dir, _)| *dir).collect();
        left.extend(&self.touched.inodes);
        let now = self.txn.store.reader();
        let mut by_path = ByPath::default();
        while let Some(ino) = left.pop() {
            if !by_path.dirty.insert(ino) {
                continue;
            }
            for reader in [self.past, &now] {
                left.extend(reader.links(self.realm, self.realm, ino)?.into_iter().map(|(dir, _)| dir));
            }
        }
        Ok(by_path)
    }

    fn is_dirty(&self, ino: Local) -> bool {
        self.by_path.as_ref().is_none_or(|by_path| by_path.dirty.contains(&ino))
    }

    /// The number under which an inode of the past was brought back by another name.
    fn brought(&self, then: Local) -> Option<Local> {
        self.by_path.as_ref()?.brought.get(&then).copied()
    }

    fn then_at(&self, dir: Option<Local>, name: &[u8]) -> Result<Option<(Local, Dirent)>> {
        let Some(dir) = dir else { return Ok(None) };
        let dirent = self.past.dirent(self.realm, dir, self.txn.store.name_hash(name), name)?;
        Ok(dirent.and_then(|dirent| Some((local(&dirent)?, dirent))))
    }

    fn compare(&mut self, place: &Place, tasks: &mut Vec<Task>) -> Result<std::result::Result<(), Refusal>> {
        let realm = self.realm;
        let then = self.then_at(place.then_dir, &place.name)?;
        let now = self.txn.dirent(realm, place.dir, self.txn.store.name_hash(&place.name), &place.name)?;
        match (then, now.and_then(|dirent| Some((local(&dirent)?, dirent)))) {
            (None, None) => {}
            (None, Some((ino, dirent))) => self.begin_removal(place.dir, &place.name, ino, dirent, tasks)?,
            (Some((then, was)), Some((ino, is))) if was.kind == Kind::Directory && is.kind == Kind::Directory => {
                if then != ino || self.is_dirty(ino) {
                    self.begin_directory(ino, then, tasks)?;
                }
            }
            (Some((then, _)), Some((ino, _))) if then == ino && !self.is_dirty(ino) => {}
            (Some((then, was)), now) => {
                let inode = self.past.named_inode(realm, then)?;
                if let Some((ino, dirent)) = now {
                    if dirent.kind != Kind::Directory && self.is_it(then, &inode, ino)? {
                        return Ok(Ok(()));
                    }
                    // What lies below goes before the name is taken.
                    if dirent.kind == Kind::Directory {
                        tasks.push(Task::Compare(Place { name: place.name.clone(), ..*place }));
                        self.begin_removal(place.dir, &place.name, ino, dirent, tasks)?;
                        return Ok(Ok(()));
                    }
                }
                let mut replaced = None;
                if let Some((ino, dirent)) = now {
                    let present = self.txn.named_inode(realm, ino)?;
                    if can_take_over((then, &inode), (ino, &present)) {
                        // It is buried when its content is taken.
                        replaced = Some(ino);
                        self.unlink(place.dir, &place.name, &dirent)?;
                    } else {
                        self.take_away(place.dir, &place.name, &dirent)?;
                    }
                }
                return self.bring_back(place, (then, was), inode, replaced, tasks);
            }
        }
        Ok(Ok(()))
    }

    /// Whether an inode is what another number was.
    fn is_it(&self, then: Local, inode: &Inode, ino: Local) -> Result<bool> {
        match self.owner(inode.file_of(then))? {
            Some(owner) if owner.ino == ino && !owner.is_orphan() => self.is_same(then, inode, &owner),
            _ => Ok(false),
        }
    }

    /// All names that a directory has or had.
    fn begin_directory(&mut self, dir: Local, then: Local, tasks: &mut Vec<Task>) -> Result<()> {
        let mut all = names(self.past, self.realm, then)?;
        all.extend(names(&self.txn.store.reader(), self.realm, dir)?);
        tasks.push(Task::Settle { dir, then });
        tasks.extend(all.into_iter().map(|name| Task::Compare(Place { dir, then_dir: Some(then), name })));
        Ok(())
    }

    fn settle(&mut self, dir: Local, then: Local) -> Result<()> {
        let inode = self.past.named_inode(self.realm, then)?;
        let now = self.txn.named_inode(self.realm, dir)?;
        let Inode { parent, file, btime, .. } = now;
        // It stays the directory that it is, with the attributes of the one that was there.
        self.renumbered.insert(inode.parent, parent);
        let btime = if then == dir { inode.btime } else { btime };
        self.directory(then, dir, Inode { file, btime, ..inode })
    }

    fn begin_removal(
        &mut self,
        dir: Local,
        name: &[u8],
        ino: Local,
        dirent: Dirent,
        tasks: &mut Vec<Task>,
    ) -> Result<()> {
        tasks.push(Task::Remove { dir, name: name.to_vec(), dirent });
        if dirent.kind == Kind::Directory {
            let below = names(&self.txn.store.reader(), self.realm, ino)?;
            tasks.extend(below.into_iter().map(|name| Task::Compare(Place { dir: ino, then_dir: None, name })));
        }
        Ok(())
    }

    /// Removes a name, and with the last one what it stands for.
    fn take_away(&mut self, dir: Local, name: &[u8], dirent: &Dirent) -> Result<()> {
        self.unlink(dir, name, dirent)?;
        let Some(ino) = local(dirent) else { return Ok(()) };
        let mut inode = self.txn.named_inode(self.realm, ino)?;
        inode.nlink = if inode.is_dir() { 0 } else { inode.nlink.saturating_sub(1) };
        inode.ctime = Timestamp::now();
        match inode.nlink {
            0 => self.bury(ino, inode),
            _ => self.txn.put_inode(self.realm, ino, &inode),
        }
    }

    fn unlink(&mut self, dir: Local, name: &[u8], dirent: &Dirent) -> Result<()> {
        self.txn.delete_dirent(self.realm, dir, name, dirent)?;
        self.changed_names(dir, name, -1, dirent.kind)
    }

    /// Counts in the directory, as long as it is not settled.
    fn changed_names(&mut self, dir: Local, name: &[u8], step: i64, kind: Kind) -> Result<()> {
        let mut inode = self.txn.named_inode(self.realm, dir)?;
        inode.size = inode.size.saturating_add_signed(step);
        if kind == Kind::Directory {
            inode.nlink = inode.nlink.saturating_add_signed(step as i32);
        }
        self.txn.put_inode(self.realm, dir, &inode)?;
        self.done.names.push((dir, name.to_vec()));
        self.done.directories.insert(dir);
        Ok(())
    }

    fn touch_directory(&mut self, dir: Local) -> Result<()> {
        let now = Timestamp::now();
        let inode = self.txn.named_inode(self.realm, dir)?;
        self.txn.put_inode(self.realm, dir, &Inode { mtime: now, ctime: now, ..inode })
    }

    fn bring_back(
        &mut self,
        place: &Place,
        (then, was): (Local, Dirent),
        inode: Inode,
        replaced: Option<Local>,
        tasks: &mut Vec<Task>,
    ) -> Result<std::result::Result<(), Refusal>> {
        let realm = self.realm;
        if !inode.is_dir()
            && let Some(ino) = self.brought(then)
        {
            // Another name of what was brought back already.
            let mut linked = self.txn.named_inode(realm, ino)?;
            linked.nlink += 1;
            self.txn.put_inode(realm, ino, &linked)?;
            return self.add_name(place, ino, was.kind).map(Ok);
        }
        let new = self.txn.new_ino(realm)?;
        self.renumbered.insert(then, new);
        if let Some(by_path) = &mut self.by_path {
            by_path.brought.insert(then, new);
        }
        let nlink = if inode.is_dir() { 2 } else { 1 };
        let owner = self.owner(inode.file_of(then))?;
        let takes_over = match &owner {
            _ if inode.kind != Kind::File => false,
            // One that was open, and was removed just now, goes on with it.
            None => !self.buried.contains(&inode.file_of(then)),
            Some(owner) if owner.is_orphan() => true,
            Some(owner) => replaced == Some(owner.ino),
        };
        let parent = if inode.is_dir() { place.dir } else { inode.parent };
        let size = if inode.is_dir() { 0 } else { inode.size };
        self.renumbered.insert(inode.parent, parent);
        let revived = Inode { nlink, parent, size, ..inode.clone() };
        if takes_over {
            self.revive(then, revived, owner)?;
        } else if let Err(refusal) = self.copy(then, new, &inode, revived)? {
            return Ok(Err(refusal));
        }
        self.add_name(place, new, was.kind)?;
        if inode.is_dir() {
            self.done.moved_directories = true;
            tasks.push(Task::Settle { dir: new, then });
            let below = names(self.past, realm, then)?;
            tasks.extend(below.into_iter().map(|name| Task::Compare(Place { dir: new, then_dir: Some(then), name })));
        }
        Ok(Ok(()))
    }

    fn add_name(&mut self, place: &Place, ino: Local, kind: Kind) -> Result<()> {
        let dirent = Dirent { target: Target::Inode(ino), kind };
        self.txn.put_dirent(self.realm, place.dir, &place.name, &dirent)?;
        self.changed_names(place.dir, &place.name, 1, kind)
    }

    /// Makes a new file of what another one was.
    fn copy(
        &mut self,
        then: Local,
        new: Local,
        was: &Inode,
        revived: Inode,
    ) -> Result<std::result::Result<(), Refusal>> {
        let realm = self.realm;
        if was.kind == Kind::File && was.allocated > COPIED {
            return Ok(Err(Refusal::TooLarge));
        }
        let epoch = self.txn.epoch(realm)?;
        let mut inode = Inode {
            file: Local(0),
            layers: Vec::new(),
            allocated: 0,
            generation: 0,
            generation_born: epoch,
            next_generation: 1,
            version: 0,
            ..revived
        };
        self.txn.add_usage(realm, 1, 0)?;
        for name in self.past.xattr_names(realm, then)? {
            if let Some(value) = self.past.xattr(realm, then, &name)? {
                self.txn.put_record(key::xattr(realm, new, &name), &value)?;
            }
        }
        if was.kind == Kind::File {
            let content = Content::of(realm, then, was);
            let mut at = 0;
            while at < was.size
                && let Some(data) = self.past.data_at(&content, at, was.size)?
            {
                // In parts, so that a sparse file stays one.
                let end = data.end.min(data.start + was.chunk_bytes() * 128);
                let mut bytes = vec![0; (end - data.start) as usize];
                self.past.read_content(&content, data.start, &mut bytes)?;
                inode.size = inode.size.max(end);
                self.txn.write_content(realm, new, &mut inode, data.start, &bytes)?;
                at = end;
            }
            inode.size = was.size;
        }
        self.txn.put_inode(realm, new, &inode).map(Ok)
    }
}

/// Whether a file that has just this name can leave its content to the one that takes the name.
fn can_take_over((then_ino, then): (Local, &Inode), (ino, inode): (Local, &Inode)) -> bool {
    let alone = |inode: &Inode| inode.kind == Kind::File && inode.nlink == 1;
    alone(then) && alone(inode) && inode.file_of(ino) == then.file_of(then_ino)
}

/// What a dirent within a thread stands for.
fn local(dirent: &Dirent) -> Option<Local> {
    match dirent.target {
        Target::Inode(ino) => Some(ino),
        Target::Thread(_) => None,
    }
}

fn walk(reader: &Reader<'_>, realm: RealmId, dirs: &[&[u8]]) -> Result<Option<Local>> {
    let mut at = ROOT;
    for name in dirs {
        let dirent = reader.dirent(realm, at, reader.name_hash(name), name)?;
        match dirent.filter(|dirent| dirent.kind == Kind::Directory).as_ref().and_then(local) {
            Some(dir) => at = dir,
            None => return Ok(None),
        }
    }
    Ok(Some(at))
}

fn names(reader: &Reader<'_>, realm: RealmId, dir: Local) -> Result<BTreeSet<Vec<u8>>> {
    let prefix = key::numbered(tag::DIRENT, realm, dir.0);
    let mut names = BTreeSet::new();
    reader.records(&prefix, &key::after(&prefix), &mut |found, _| {
        names.extend(key::parse_dirent(found).map(|(_, _, name)| name.to_vec()));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(names)
}
