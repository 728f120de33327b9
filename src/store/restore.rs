//! Going back: a realm's records become what they were at a snapshot.
//!
//! Found through the touched index, so that it costs the changes and not the tree. Directories keep
//! their inode numbers. A file that differs gets a new one, as if another had been renamed over it:
//! who has the old file open goes on with it ([`super::apart`]). What a file is stays, though: its
//! content and versions are filed under the number that it first had ([`super::owner`]), so that the
//! past of both is one, and only the chunks that differ are written.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::record::{Inode, Target};
use super::{Epoch, Error, Local, ROOT, Reader, RealmId, Records, Result, Txn, key, try_scan};
use crate::engine::{Keyspace, View};
use key::tag;

mod file;
mod paths;

pub use paths::Refusal;

/// What a restore changed.
#[derive(Debug, Default)]
pub struct Restoration {
    /// Names that appeared, disappeared, or lead to another inode: the directory and the name.
    pub names: Vec<(Local, Vec<u8>)>,
    /// Directories with other attributes or other names.
    pub directories: BTreeSet<Local>,
    /// Inodes that lost their last name.
    pub gone: Vec<Local>,
    /// Whether a directory has another path, or is new or gone.
    pub moved_directories: bool,
}

impl Restoration {
    /// Whether everything was as it was at the snapshot.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.directories.is_empty()
    }
}

/// The records that were touched since.
#[derive(Default)]
struct Touched {
    inodes: BTreeSet<Local>,
    dirents: BTreeSet<(Local, Vec<u8>)>,
    chunks: BTreeMap<(Local, u64), BTreeSet<u32>>,
}

/// Generations, and their entries in the garbage queues.
type Ended = BTreeMap<(Local, u64), Vec<Vec<u8>>>;

/// A restore in the making.
struct Restore<'t, 's, 'r> {
    txn: &'t mut Txn<'s>,
    past: &'r Reader<'r>,
    realm: RealmId,
    to: Epoch,
    touched: Touched,
    /// Generations that ended since, with their entries in the garbage queues.
    garbage: Ended,
    /// The number that an inode of the past has from now on.
    renumbered: BTreeMap<Local, Local>,
    /// Inodes whose content another one takes over.
    replaced: BTreeSet<Local>,
    /// What the inodes are that lose their last name, and still have their content.
    buried: BTreeSet<Local>,
    by_path: Option<paths::ByPath>,
    done: Restoration,
}

impl Txn<'_> {
    /// Makes a realm what it was at one of its references. What it is now is kept only if the
    /// transaction took a snapshot before.
    pub fn restore(&mut self, realm: RealmId, to: Epoch) -> Result<Restoration> {
        let past = self.store.view().at(to);
        let mut restore = Restore::begin(self, &past, realm, to)?;
        restore.inodes()?;
        restore.names()?;
        Ok(restore.done)
    }

    /// The same with what lies at some paths of the realm only; the rest stays. A path that cannot be
    /// restored is named, and nothing should be committed then.
    pub fn restore_paths(
        &mut self,
        realm: RealmId,
        to: Epoch,
        paths: &[Vec<u8>],
    ) -> Result<std::result::Result<Restoration, (Vec<u8>, Refusal)>> {
        let past = self.store.view().at(to);
        let mut restore = Restore::begin(self, &past, realm, to)?;
        restore.by_path = Some(restore.look_at_paths()?);
        for path in paths {
            if let Err(refusal) = restore.path(path)? {
                return Ok(Err((path.clone(), refusal)));
            }
        }
        Ok(Ok(restore.done))
    }
}

fn touched(view: &dyn View, realm: RealmId, since: Epoch) -> Result<Touched> {
    let mut touched = Touched::default();
    let from = key::touched(realm, since + 1, b"");
    let to = key::after(&key::of_realm(tag::TOUCHED, realm));
    try_scan(view, Keyspace::Meta, &from, &to, &mut |entry, _| {
        let damaged = || Error::corrupt("a touched key is too short");
        let (_, part) = key::parse_touched(entry).ok_or_else(damaged)?;
        let live = key::live(realm, part);
        match part.first() {
            Some(&tag::INODE) => {
                touched.inodes.insert(Local(key::number_of(&live).ok_or_else(damaged)?));
            }
            Some(&tag::DIRENT) => {
                let (dir, _, name) = key::parse_dirent(&live).ok_or_else(damaged)?;
                touched.dirents.insert((dir, name.to_vec()));
            }
            Some(&tag::CHUNK) => {
                let (file, generation, index) = key::parse_chunk_part(part).ok_or_else(damaged)?;
                touched.chunks.entry((file, generation)).or_default().insert(index);
            }
            // Links and usage follow from the others; with an attribute its inode was changed too.
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(touched)
}

/// The generations that a reference shows and that ended after it.
fn garbage(view: &dyn View, realm: RealmId, shown_at: Epoch) -> Result<Ended> {
    let mut found = Ended::new();
    for from in [key::garbage(realm, shown_at, Local(0), 0), key::kept(realm, shown_at, Local(0), 0)] {
        let end = key::after(from.get(..5).unwrap_or_default());
        view.scan(Keyspace::Meta, &from, &end, &mut |entry, _| {
            if let Some((_, _, file, generation)) = key::parse_garbage(entry) {
                found.entry((file, generation)).or_default().push(entry.to_vec());
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(found)
}

impl<'t, 's, 'r> Restore<'t, 's, 'r> {
    fn begin(txn: &'t mut Txn<'s>, past: &'r Reader<'r>, realm: RealmId, to: Epoch) -> Result<Self> {
        if txn.locked(realm)?.taken.is_empty() {
            txn.begin_epoch(realm)?;
        }
        let touched = touched(past.raw(), realm, to)?;
        let garbage = garbage(past.raw(), realm, to)?;
        let (renumbered, replaced, buried, by_path, done) = Default::default();
        Ok(Restore { txn, past, realm, to, touched, garbage, renumbered, replaced, buried, by_path, done })
    }

    /// Inodes: what each one of the past is called from now on, and its record.
    fn inodes(&mut self) -> Result<()> {
        let mut gone = BTreeSet::new();
        let (mut directories, mut revived) = (Vec::new(), Vec::new());
        for ino in self.touched.inodes.clone() {
            let then = self.past.inode(self.realm, ino)?;
            let now = self.txn.inode(self.realm, ino)?;
            match (then, now) {
                (None, Some(_)) => drop(gone.insert(ino)),
                (Some(then), Some(_)) if then.is_dir() => directories.push((ino, ino, then)),
                (Some(then), now) => {
                    let owner = self.owner(then.file_of(ino))?;
                    match owner {
                        // A restore made it anew before: it still is what it was.
                        Some(owner) if !owner.is_orphan() && self.is_same(ino, &then, &owner)? => {
                            self.renumbered.insert(ino, owner.ino);
                            if then.is_dir() {
                                directories.push((ino, owner.ino, then));
                            }
                        }
                        owner => {
                            gone.extend(now.map(|_| ino));
                            self.renumbered.insert(ino, self.txn.new_ino(self.realm)?);
                            revived.push((ino, then, owner));
                        }
                    }
                }
                (None, None) => {}
            }
        }
        for kept in self.renumbered.values() {
            gone.remove(kept);
        }
        // Only now is it known what each directory is called.
        for (ino, then, owner) in revived {
            self.revive(ino, then, owner)?;
        }
        for (then_ino, ino, then) in directories {
            self.directory(then_ino, ino, then)?;
        }
        gone.into_iter().try_for_each(|ino| self.remove(ino))
    }

    fn remove(&mut self, ino: Local) -> Result<()> {
        if self.replaced.contains(&ino) {
            return Ok(());
        }
        match self.txn.inode(self.realm, ino)? {
            Some(inode) => self.bury(ino, inode),
            None => Ok(()),
        }
    }

    /// What an inode of the past is called from now on.
    fn number(&self, then: Local) -> Local {
        self.renumbered.get(&then).copied().unwrap_or(then)
    }

    /// A directory that is there stays, with the attributes that it had.
    fn directory(&mut self, then_ino: Local, ino: Local, then: Inode) -> Result<()> {
        let realm = self.realm;
        let now = self.txn.named_inode(realm, ino)?;
        let parent = if ino == ROOT { now.parent } else { self.number(then.parent) };
        let new = Inode { parent, file: now.file, is_inherited: now.is_inherited, ..then };
        self.done.moved_directories |= new.parent != now.parent;
        if new != now {
            self.txn.put_inode(realm, ino, &new)?;
            self.done.directories.insert(ino);
        }
        let mut names: BTreeSet<Vec<u8>> = self.past.xattr_names(realm, then_ino)?.into_iter().collect();
        names.extend(self.txn.xattr_names(realm, ino)?);
        for name in names {
            let (then, now) = (self.past.xattr(realm, then_ino, &name)?, self.txn.xattr(realm, ino, &name)?);
            match then {
                Some(then) if Some(&then) != now.as_ref() => {
                    self.txn.put_record(key::xattr(realm, ino, &name), &then)?;
                }
                None if now.is_some() => self.txn.delete_record(key::xattr(realm, ino, &name))?,
                _ => continue,
            }
            self.done.directories.insert(ino);
        }
        Ok(())
    }

    /// Names: those that were touched, and those of files that have a new number.
    fn names(&mut self) -> Result<()> {
        let mut names = std::mem::take(&mut self.touched.dirents);
        for ino in self.renumbered.keys() {
            names.extend(self.past.links(self.realm, self.realm, *ino)?);
        }
        // A directory that a restore made anew has names under both its numbers.
        let was: BTreeMap<Local, Local> = self.renumbered.iter().map(|(then, now)| (*now, *then)).collect();
        let names: BTreeSet<(Local, Vec<u8>)> =
            names.into_iter().map(|(dir, name)| (was.get(&dir).copied().unwrap_or(dir), name)).collect();
        for (dir, name) in names {
            self.name(dir, &name)?;
        }
        Ok(())
    }

    fn name(&mut self, then_dir: Local, name: &[u8]) -> Result<()> {
        let (realm, hash) = (self.realm, self.txn.store.name_hash(name));
        let dir = self.number(then_dir);
        let mut then = self.past.dirent(realm, then_dir, hash, name)?;
        if let Some(dirent) = &mut then
            && let Target::Inode(ino) = &mut dirent.target
        {
            *ino = self.number(*ino);
        }
        let now = self.txn.dirent(realm, dir, hash, name)?;
        if then == now {
            return Ok(());
        }
        if let Some(now) = now {
            self.txn.delete_dirent(realm, dir, name, &now)?;
        }
        if let Some(then) = then {
            self.txn.put_dirent(realm, dir, name, &then)?;
        }
        self.done.names.push((dir, name.to_vec()));
        self.done.directories.insert(dir);
        Ok(())
    }
}
