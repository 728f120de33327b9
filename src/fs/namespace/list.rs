//! READDIR and READDIRPLUS.
//!
//! A name's cookie is its hash, which stays what it is while names come and go: so a listing
//! that is read in parts neither repeats nor misses a name that was there all the time.

use std::ops::ControlFlow;

use super::Entry;
use crate::fs::error::Result;
use crate::fs::rules::{DirRules, Role};
use crate::fs::{Fs, Node};
use crate::store::record::{Dirent, Kind};
use crate::store::{Records, key};

/// Cookies of "." and "..".
const DOT: u64 = 1;
const DOTDOT: u64 = 2;

/// One name of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListEntry {
    /// What it stands for.
    pub node: Node,
    /// Where a listing goes on behind it.
    pub cookie: u64,
    /// The kind of file.
    pub kind: Kind,
    /// The name.
    pub name: Vec<u8>,
}

impl Fs {
    /// Up to about `limit` names behind a cookie (0 is the start), "." and ".." first. Names with
    /// one and the same cookie come together, so there may be a few more.
    ///
    /// # Errors
    /// ENOTDIR.
    pub fn readdir(&self, dir: Node, cookie: u64, limit: usize) -> Result<Vec<ListEntry>> {
        if dir.is_virtual() {
            return self.readdir_virtual(dir, cookie, limit);
        }
        let view = self.store.view();
        let inode = self.load(&view, dir)?;
        if !inode.is_dir() {
            return Err(crate::fs::Error::Errno(libc::ENOTDIR));
        }
        let mut found = Vec::new();
        let mut dot = |node: Node, at: u64, name: &[u8]| {
            if cookie < at {
                found.push(ListEntry { node, cookie: at, kind: Kind::Directory, name: name.to_vec() });
            }
        };
        dot(dir, DOT, b".");
        let parent = if dir.is_thread_root() { Node::ROOT.sibling(inode.parent) } else { dir.sibling(inode.parent) };
        dot(parent, DOTDOT, b"..");
        if cookie == 0 {
            self.note_read(view.raw(), dir, &inode)?;
        }
        let from = key::dirents_from(dir.realm, dir.local, (cookie + 1).max(DOTDOT + 1));
        let end = key::after(&key::numbered(key::tag::DIRENT, dir.realm, dir.local.0));
        view.records(&from, &end, &mut |key, value| {
            let Some((_, hash, name)) = key::parse_dirent(key) else { return Ok(ControlFlow::Continue(())) };
            if found.len() >= limit && found.last().is_some_and(|last: &ListEntry| last.cookie != hash) {
                return Ok(ControlFlow::Break(()));
            }
            let dirent = Dirent::decode(value)?;
            let node = Node::from(dirent.inode_of(dir.realm));
            found.push(ListEntry { node, cookie: hash, kind: dirent.kind, name: name.to_vec() });
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Whether the kernel may keep the listing of a directory. Not where documents appear with
    /// their first commit, or threads that branch off or come back; nor what is in no store.
    pub fn may_cache_listing(&self, dir: Node) -> bool {
        let is_plain = |rules: &DirRules| !self.rules.has_documents(rules) && !self.rules.has_threads(rules);
        !dir.is_virtual() && self.rules_of(dir).is_ok_and(|rules| is_plain(&rules))
    }

    /// What READDIRPLUS tells of a listed name; None when it is gone by now.
    pub fn list_entry_attr(&self, dir: Node, listed: &ListEntry) -> Result<Option<Entry>> {
        if listed.node.is_virtual() || dir.is_virtual() {
            return match self.lookup_virtual(dir, &listed.name) {
                // A snapshot that was dropped, or a draft that was deleted, since it was listed.
                Err(error) if matches!(error.errno(), libc::ENOENT | libc::ESTALE) => Ok(None),
                found => found.map(Some),
            };
        }
        let generation = self.rules.generation();
        let reader = self.store.reader();
        let Some(inode) = reader.inode(listed.node.realm, listed.node.local)? else { return Ok(None) };
        let role = match listed.kind {
            Kind::File => self.rules.role(&*self.rules_of(dir)?, &listed.name),
            _ => Role::Ordinary,
        };
        let attr = self.attr(&reader, listed.node, &inode)?;
        Ok(Some(self.entry(listed.node, attr, role, generation)))
    }
}
