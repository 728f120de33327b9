//! Documents before their first commit.
//!
//! Such a document has an inode number, which its creators share, but no record and no name:
//! stat and readdir do not know it. Its first commit makes all of that at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::fs::acl;
use crate::fs::attr::{Attr, Caller};
use crate::fs::error::{Result, refuse};
use crate::fs::file::Opened;
use crate::fs::handle::{Handle, OpenInode};
use crate::fs::namespace::{Entry, New};
use crate::fs::rules::Role;
use crate::fs::{Fs, Node};
use crate::store::record::Inode;

/// Where a document will have its name.
#[derive(Debug, Clone)]
pub(in crate::fs) struct Pending {
    pub(in crate::fs) dir: Node,
    pub(in crate::fs) name: Vec<u8>,
    /// What its inode will be.
    pub(in crate::fs) inode: Inode,
    /// What its extended attributes will be.
    pub(in crate::fs) xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Fs {
    /// Opens a document that does not exist yet, for the first or for a further creator.
    pub(in crate::fs) fn create_pending(
        &self,
        caller: Caller,
        dir: Node,
        name: &[u8],
        mode: u32,
        flags: i32,
    ) -> Result<(Entry, Opened)> {
        let mut all = self.documents.pending.lock();
        let key = (dir, name.to_vec());
        let shared = all.get(&key).filter(|open| open.pending.lock().is_some()).cloned();
        if shared.is_some() && flags & libc::O_EXCL != 0 {
            return refuse(libc::EEXIST);
        }
        let (node, inode, xattrs) = match shared {
            Some(open) => {
                let (node, inode) = self.pending_inode(&open)?;
                (node, inode, Vec::new())
            }
            None => {
                let mut txn = self.store.begin(&[dir.realm])?;
                let parent = self.dir_inode(&txn, dir)?;
                if self.dirent(&txn, dir, name)?.is_some() {
                    // It was committed just now: the caller looks again and finds it.
                    return refuse(libc::ESTALE);
                }
                let new = New::file(mode);
                let granted = acl::inherit(&txn, (dir, &parent), new.kind, new.perm, caller.umask)?;
                let inode = new.inode(caller, (dir, &parent), &granted, txn.epoch(dir.realm)?);
                let node = dir.sibling(txn.new_ino(dir.realm)?);
                txn.commit()?;
                (node, inode, granted.xattrs)
            }
        };
        let xattrs = xattrs.into_iter().map(|(name, value)| (name.to_vec(), value)).collect();
        let pending = Pending { dir, name: name.to_vec(), inode: inode.clone(), xattrs };
        let generation = self.rules.generation();
        let attr = Attr::of(node.ino(), &inode, inode.btime);
        self.inodes.looked_up(node, Role::Document, generation);
        let (fh, handle) = self.handles.open(node, Role::Document, flags, Some(pending));
        all.insert(key, Arc::clone(&handle.inode));
        drop(all);
        handle.opener.store(caller.pid, std::sync::atomic::Ordering::SeqCst);
        self.begin_draft_if_truncating(caller, &handle);
        let ttl = std::time::Duration::ZERO;
        Ok((Entry { attr, attr_ttl: ttl, entry_ttl: ttl }, Opened::document(fh, flags)))
    }

    /// Closes an open file with `close`, which says whether it was the inode's last. A document that
    /// is not there yet goes with its last creator, and nobody joins it meanwhile.
    pub(in crate::fs) fn close_pending(&self, handle: &Handle, close: impl FnOnce() -> bool) {
        let is_pending = handle.inode.pending.lock().is_some();
        if !is_pending {
            close();
            return;
        }
        let mut all = self.documents.pending.lock();
        if !close() {
            return;
        }
        if let Some(pending) = handle.inode.pending.lock().take() {
            let key = (pending.dir, pending.name);
            if all.get(&key).is_some_and(|known| Arc::ptr_eq(known, &handle.inode)) {
                all.remove(&key);
            }
        }
    }

    fn pending_inode(&self, open: &OpenInode) -> Result<(Node, Inode)> {
        match &*open.pending.lock() {
            Some(pending) => Ok((open.node, pending.inode.clone())),
            // It was committed just now: the caller looks again and finds it.
            None => refuse(libc::ESTALE),
        }
    }

    /// Looks at a document that is pending, or changes it; None when it is not pending.
    pub(in crate::fs) fn with_pending<T>(&self, node: Node, look: impl FnOnce(&mut Pending) -> T) -> Option<T> {
        let open = self.handles.inode(node)?;
        let mut pending = open.pending.lock();
        pending.as_mut().map(look)
    }
}
