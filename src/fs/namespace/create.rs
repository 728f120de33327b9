//! CREATE, MKNOD, MKDIR, SYMLINK.

use super::{Entry, RECORD_BYTES, dir_changed};
use crate::fs::acl::{self, Inherited};
use crate::fs::attr::{Attr, Caller};
use crate::fs::error::{Result, refuse};
use crate::fs::file::SETGID;
use crate::fs::names::{self, TARGET_MAX};
use crate::fs::rules::Role;
use crate::fs::{Fs, Node};
use crate::store::record::{Dirent, Inode, Kind, Target, Timestamp};
use crate::store::{HOME, Local, ROOT, Txn, key};

/// What is to be made.
pub(in crate::fs) struct New<'a> {
    pub(in crate::fs) kind: Kind,
    /// Permission bits as asked for, before the umask.
    pub(in crate::fs) perm: u16,
    pub(in crate::fs) rdev: u32,
    pub(in crate::fs) target: &'a [u8],
}

impl New<'_> {
    pub(in crate::fs) fn file(mode: u32) -> New<'static> {
        New { kind: Kind::File, perm: mode as u16 & 0o7777, rdev: 0, target: b"" }
    }

    /// Its inode: owned by the caller, and in a setgid directory of the directory's group
    /// (open(2), mkdir(2)); with the mode and the lists that it gets there.
    pub(in crate::fs) fn inode(
        &self,
        caller: Caller,
        (at, dir): (Node, &Inode),
        granted: &Inherited,
        epoch: u64,
    ) -> Inode {
        let now = Timestamp::now();
        let inherits = dir.perm & SETGID != 0;
        let is_dir = self.kind == Kind::Directory;
        Inode {
            kind: self.kind,
            perm: if inherits && is_dir { granted.perm | SETGID } else { granted.perm },
            uid: caller.uid,
            gid: if inherits { dir.gid } else { caller.gid },
            nlink: if is_dir { 2 } else { 1 },
            rdev: self.rdev,
            size: self.target.len() as u64,
            allocated: 0,
            mtime: now,
            ctime: now,
            btime: now,
            generation: 0,
            generation_born: epoch,
            next_generation: 1,
            chunk_shift: Inode::NEW_CHUNK_SHIFT,
            version: 0,
            parent: if is_dir { at.local } else { Local(0) },
            xattrs: granted.xattrs.len() as u32,
            target: self.target.to_vec(),
            file: Local(0),
            layers: Vec::new(),
            is_inherited: false,
        }
    }
}

impl Fs {
    /// Makes a file that is no regular one, or a regular one without opening it.
    ///
    /// # Errors
    /// EEXIST, ENAMETOOLONG, ENOENT when the directory is gone, ENOSPC; EPERM for a name of the
    /// filesystem's own and for a document, which begins with its first commit.
    pub fn mknod(&self, caller: Caller, dir: Node, name: &[u8], mode: u32, rdev: u32) -> Result<Entry> {
        let Some(kind) = Kind::from_mode(mode) else { return refuse(libc::EINVAL) };
        if kind == Kind::File && self.new_role(dir, name)? == Role::Document {
            return refuse(libc::EPERM);
        }
        self.make(caller, dir, name, &New { kind, perm: mode as u16 & 0o7777, rdev, target: b"" })
    }

    /// Makes a directory; a thread, where the patterns say so.
    ///
    /// # Errors
    /// As [`Fs::mknod`].
    pub fn mkdir(&self, caller: Caller, dir: Node, name: &[u8], mode: u32) -> Result<Entry> {
        if dir.is_view() {
            return self.take_by_name(caller, dir, name);
        }
        self.make(caller, dir, name, &New { kind: Kind::Directory, perm: mode as u16 & 0o7777, rdev: 0, target: b"" })
    }

    /// Makes a symlink.
    ///
    /// # Errors
    /// As [`Fs::mknod`]; ENAMETOOLONG for a target over 4095 bytes.
    pub fn symlink(&self, caller: Caller, dir: Node, name: &[u8], target: &[u8]) -> Result<Entry> {
        if target.len() > TARGET_MAX {
            return refuse(libc::ENAMETOOLONG);
        }
        self.make(caller, dir, name, &New { kind: Kind::Symlink, perm: 0o777, rdev: 0, target })
    }

    /// What a new regular file of this name would be.
    pub(in crate::fs) fn new_role(&self, dir: Node, name: &[u8]) -> Result<Role> {
        if dir.is_virtual() {
            return refuse(libc::EROFS);
        }
        names::check_new(dir, name)?;
        Ok(self.rules.role(&*self.rules_of(dir)?, name))
    }

    pub(in crate::fs) fn make(&self, caller: Caller, dir: Node, name: &[u8], new: &New<'_>) -> Result<Entry> {
        if dir.is_virtual() {
            return refuse(libc::EROFS);
        }
        names::check_new(dir, name)?;
        let generation = self.rules.generation();
        let rules = self.rules_of(dir)?;
        let role = if new.kind == Kind::File { self.rules.role(&rules, name) } else { Role::Ordinary };
        let is_thread = new.kind == Kind::Directory && dir.realm == HOME && self.rules.is_thread(&rules, name);
        let mut txn = self.store.begin(&[dir.realm])?;
        let mut parent = self.dir_inode(&txn, dir)?;
        if self.dirent(&txn, dir, name)?.is_some() {
            return refuse(libc::EEXIST);
        }
        let granted = acl::inherit(&txn, (dir, &parent), new.kind, new.perm, caller.umask)?;
        let (node, inode) = if is_thread {
            let inode = new.inode(caller, (dir, &parent), &granted, txn.epoch(HOME)?);
            (Node { realm: txn.new_realm(&inode)?, local: ROOT }, inode)
        } else {
            let inode = new.inode(caller, (dir, &parent), &granted, txn.epoch(dir.realm)?);
            (dir.sibling(txn.add_inode(dir.realm, &inode)?), inode)
        };
        for (name, value) in &granted.xattrs {
            txn.put_record(key::xattr(node.realm, node.local, name), value)?;
        }
        let target = if is_thread { Target::Thread(node.realm) } else { Target::Inode(node.local) };
        self.add_name(&mut txn, dir, &mut parent, name, &Dirent { target, kind: new.kind }, inode.ctime)?;
        txn.grow(RECORD_BYTES);
        self.commit(txn)?;
        Ok(self.entry(node, Attr::of(node.ino(), &inode, inode.btime), role, generation))
    }

    /// Adds a dirent to a directory.
    pub(in crate::fs) fn add_name(
        &self,
        txn: &mut Txn<'_>,
        dir: Node,
        parent: &mut Inode,
        name: &[u8],
        dirent: &Dirent,
        now: Timestamp,
    ) -> Result<()> {
        txn.put_dirent(dir.realm, dir.local, name, dirent)?;
        dir_changed(parent, now, 1);
        if dirent.kind == Kind::Directory {
            parent.nlink = parent.nlink.saturating_add(1);
        }
        Ok(txn.put_inode(dir.realm, dir.local, parent)?)
    }
}
