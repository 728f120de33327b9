//! Reading `.snapshots` and the trees below it.

use std::ops::ControlFlow;
use std::time::Duration;

use super::control;
use super::views::View;
use crate::fs::attr::Attr;
use crate::fs::error::{Result, refuse};
use crate::fs::file::Opened;
use crate::fs::namespace::{Entry, ListEntry};
use crate::fs::{Fs, Node};
use crate::store::record::{Dirent, Inode, Kind, SnapshotRecord, Target};
use crate::store::{Epoch, HOME, ROOT, Reader, RealmId, Records, key};

/// Cookies of "." and "..".
const DOT: u64 = 1;
const DOTDOT: u64 = 2;

impl Fs {
    /// Reads a realm as it was at an epoch.
    ///
    /// # Errors
    /// ESTALE when the snapshot was dropped: what it held may be gone already. That is looked at
    /// after the view was frozen, so whoever gets a reader can read everything.
    pub(super) fn past(&self, realm: RealmId, epoch: Epoch) -> Result<Reader<'_>> {
        let view = self.store.view().at(epoch);
        let Some(state) = self.store.realm(realm) else { return refuse(libc::ESTALE) };
        let state = state.read();
        let in_home = state.record.alive_at(epoch) && self.store.has_home_snapshot(epoch);
        let exists = state.snapshots.contains(&epoch) || in_home;
        if exists { Ok(view) } else { refuse(libc::ESTALE) }
    }

    fn past_inode(&self, realm: RealmId, epoch: Epoch, node: Node) -> Result<(Reader<'_>, Inode)> {
        let reader = self.past(realm, epoch)?;
        match reader.inode(realm, node.local)? {
            Some(inode) => Ok((reader, inode)),
            None => refuse(libc::ENOENT),
        }
    }

    /// The node in a view for what a dirent of that view names.
    fn view_child(&self, dir: Node, epoch: Epoch, dirent: &Dirent) -> Result<Node> {
        match dirent.target {
            Target::Inode(local) => Ok(dir.sibling(local)),
            Target::Thread(realm) => self.views.root(View::Within(realm, epoch)),
        }
    }

    pub(in crate::fs) fn lookup_view(&self, dir: Node, name: &[u8]) -> Result<Entry> {
        match self.views.of(dir)? {
            View::At(realm, epoch) | View::Within(realm, epoch) => {
                let (reader, _) = self.past_inode(realm, epoch, dir)?;
                let real = Node { realm, local: dir.local };
                let Some(dirent) = self.dirent(&reader, real, name)? else { return refuse(libc::ENOENT) };
                let mut entry = self.view_entry(self.view_child(dir, epoch, &dirent)?)?;
                entry.entry_ttl = self.options.ttl;
                Ok(entry)
            }
            View::Snapshots(_) if name == control::CONTROL => self.view_entry(control::node_in(dir)),
            View::Snapshots(realm) => {
                if let Some((epoch, _)) = self.state_named(realm, name)? {
                    return self.view_entry(self.views.root(View::At(realm, epoch))?);
                }
                let Some((epoch, _)) = self.state_at(realm, name)? else { return refuse(libc::ENOENT) };
                self.view_entry(self.views.link(dir, realm, epoch))
            }
        }
    }

    /// What the kernel gets for a node of a view. Snapshots come and go without it, so it keeps
    /// none of their names; what is in them never changes.
    pub(in crate::fs) fn view_entry(&self, node: Node) -> Result<Entry> {
        let (attr, attr_ttl) = self.getattr_view(node)?;
        Ok(Entry { attr, attr_ttl, entry_ttl: Duration::ZERO })
    }

    pub(in crate::fs) fn getattr_view(&self, node: Node) -> Result<(Attr, Duration)> {
        match self.views.of(node)? {
            View::At(realm, epoch) | View::Within(realm, epoch) => {
                let (_, inode) = self.past_inode(realm, epoch, node)?;
                Ok((Attr::of(node.ino(), &inode, inode.mtime), self.options.ttl))
            }
            View::Snapshots(realm) => {
                let owner = Node { realm, local: ROOT };
                let inode = self.load(&self.store.reader(), owner)?;
                let mut attr = Attr::of(node.ino(), &inode, inode.btime);
                if control::is_control(node) {
                    return Ok((control::attr_of(attr), Duration::ZERO));
                }
                if node.local == ROOT {
                    let (count, newest) = self.store.snapshots(realm);
                    let newest = newest.map(|newest| self.store.snapshot(realm, newest)).transpose()?.flatten();
                    attr.perm = 0o755;
                    attr.nlink = 2 + count as u32;
                    attr.mtime = newest.map_or(inode.btime, |record| record.time);
                    attr.ctime = attr.mtime;
                } else {
                    let record = self.linked_snapshot(node)?;
                    (attr.kind, attr.perm, attr.nlink) = (Kind::Symlink, 0o777, 1);
                    (attr.size, attr.blocks) = (record.name.len() as u64, 0);
                    (attr.mtime, attr.ctime, attr.atime) = (record.time, record.time, record.time);
                }
                Ok((attr, Duration::ZERO))
            }
        }
    }

    fn linked_snapshot(&self, node: Node) -> Result<SnapshotRecord> {
        let View::Snapshots(realm) = self.views.of(node)? else { return refuse(libc::ENOENT) };
        let linked = self.views.linked(node).map(|epoch| self.state_record(realm, epoch)).transpose()?;
        linked.flatten().map_or_else(|| refuse(libc::ENOENT), Ok)
    }

    pub(in crate::fs) fn readlink_view(&self, node: Node) -> Result<Vec<u8>> {
        match self.views.of(node)? {
            View::At(realm, epoch) | View::Within(realm, epoch) => {
                let (_, inode) = self.past_inode(realm, epoch, node)?;
                if inode.kind == Kind::Symlink { Ok(inode.target) } else { refuse(libc::EINVAL) }
            }
            View::Snapshots(_) if control::is_control(node) => refuse(libc::EINVAL),
            View::Snapshots(_) => Ok(self.linked_snapshot(node)?.name),
        }
    }

    pub(in crate::fs) fn readdir_view(&self, dir: Node, cookie: u64, limit: usize) -> Result<Vec<ListEntry>> {
        let mut found = Vec::new();
        let mut add = |node: Node, at: u64, kind: Kind, name: &[u8]| {
            if cookie < at {
                found.push(ListEntry { node, cookie: at, kind, name: name.to_vec() });
            }
        };
        match self.views.of(dir)? {
            View::Snapshots(_) if dir.local != ROOT => return refuse(libc::ENOTDIR),
            View::Snapshots(realm) => {
                add(dir, DOT, Kind::Directory, b".");
                add(Node { realm, local: ROOT }, DOTDOT, Kind::Directory, b"..");
                let mut listed = Vec::new();
                self.store.snapshots_from(realm, (cookie + 1).saturating_sub(DOTDOT), &mut |epoch, record| {
                    listed.push((epoch, record.name));
                    if listed.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                })?;
                for (epoch, name) in listed {
                    add(self.views.root(View::At(realm, epoch))?, DOTDOT + epoch, Kind::Directory, &name);
                }
            }
            View::At(realm, epoch) | View::Within(realm, epoch) => {
                let (reader, inode) = self.past_inode(realm, epoch, dir)?;
                if !inode.is_dir() {
                    return refuse(libc::ENOTDIR);
                }
                add(dir, DOT, Kind::Directory, b".");
                add(self.view_parent(realm, epoch, dir, &inode)?, DOTDOT, Kind::Directory, b"..");
                let from = key::dirents_from(realm, dir.local, (cookie + 1).max(DOTDOT + 1));
                let end = key::after(&key::numbered(key::tag::DIRENT, realm, dir.local.0));
                reader.records(&from, &end, &mut |found_key, value| {
                    let Some((_, hash, name)) = key::parse_dirent(found_key) else {
                        return Ok(ControlFlow::Continue(()));
                    };
                    if found.len() >= limit && found.last().is_some_and(|last: &ListEntry| last.cookie != hash) {
                        return Ok(ControlFlow::Break(()));
                    }
                    let dirent = Dirent::decode(value)?;
                    let Ok(node) = self.view_child(dir, epoch, &dirent) else { return Ok(ControlFlow::Break(())) };
                    found.push(ListEntry { node, cookie: hash, kind: dirent.kind, name: name.to_vec() });
                    Ok(ControlFlow::Continue(()))
                })?;
            }
        }
        Ok(found)
    }

    fn view_parent(&self, realm: RealmId, epoch: Epoch, dir: Node, inode: &Inode) -> Result<Node> {
        if dir.local != ROOT {
            return Ok(dir.sibling(inode.parent));
        }
        match self.views.of(dir)? {
            View::Within(..) => Ok(self.views.root(View::At(HOME, epoch))?.sibling(inode.parent)),
            _ => self.views.root(View::Snapshots(realm)),
        }
    }

    pub(in crate::fs) fn open_view(&self, file: Node, flags: i32) -> Result<Opened> {
        if control::is_control(file) {
            return self.open_control(file);
        }
        if flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_TRUNC != 0 {
            return refuse(libc::EROFS);
        }
        let (View::At(realm, epoch) | View::Within(realm, epoch)) = self.views.of(file)? else {
            return refuse(libc::EISDIR);
        };
        self.past_inode(realm, epoch, file)?;
        let fh = self.handles.open_past(file);
        Ok(Opened { fh, direct_io: false, flush: false })
    }

    /// The content of an open file in a view.
    pub(in crate::fs) fn past_content(&self, file: Node) -> Result<(Reader<'_>, crate::store::Content, u64)> {
        let (View::At(realm, epoch) | View::Within(realm, epoch)) = self.views.of(file)? else {
            return refuse(libc::EISDIR);
        };
        let (reader, inode) = self.past_inode(realm, epoch, file)?;
        Ok((reader, crate::store::Content::of(realm, file.local, &inode), inode.size))
    }
}
