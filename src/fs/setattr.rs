//! SETATTR: chmod, chown, truncate, utimensat.

use std::time::Duration;

use super::Fs;
use super::acl;
use super::attr::{Attr, Caller, SetAttr};
use super::error::{Result, refuse};
use super::file::{CAPABILITY, SetId, drop_suidgid};
use super::node::Node;
use super::rules::Role;
use crate::store::record::{Inode, Kind, Timestamp};

impl Fs {
    /// Changes attributes, in one transaction. `fh` is the open file that the change came
    /// through, if the kernel says so.
    ///
    /// # Errors
    /// ESTALE when it is gone; EBADMSG for truncate(2) that leaves a document invalid; EISDIR,
    /// EINVAL, EFBIG, ENOSPC for a size.
    pub fn setattr(&self, caller: Caller, node: Node, set: SetAttr, fh: Option<u64>) -> Result<(Attr, Duration)> {
        if node.is_virtual() {
            return refuse(if node.is_view() { libc::EROFS } else { libc::EPERM });
        }
        let now = Timestamp::now();
        let mut set = set;
        if let Some(size) = set.size
            && self.resize_document(caller, node, size, fh)?
        {
            set.size = None;
            // The kernel sends the times along; a draft keeps its own.
            set.mtime = None;
        }
        let mtime = set.mtime.map(|time| time.resolve(now));
        let atime = set.atime.map(|time| time.resolve(now));
        // Before the realm is locked, as a commit locks the draft first.
        if mtime.is_some() || set.mode.is_some() {
            self.set_in_drafts(node, |draft| {
                draft.mtime = mtime.or(draft.mtime);
                if set.mode.is_some() {
                    draft.setid = SetId::Stays;
                }
            });
        }
        let pending = self.with_pending(node, |pending| -> Result<Attr> {
            change(caller, &mut pending.inode, &set, mtime);
            pending.inode.ctime = now;
            if set.mode.is_some()
                && let Some(list) = pending.xattrs.get_mut(acl::ACCESS)
            {
                *list = acl::follow_mode(list, pending.inode.perm)?;
            }
            if set.uid.is_some() || set.gid.is_some() {
                pending.xattrs.remove(CAPABILITY);
            }
            Ok(Attr::of(node.ino(), &pending.inode, pending.inode.btime))
        });
        if let Some(attr) = pending {
            return Ok((attr?, Duration::ZERO));
        }
        if let Some(size) = set.size {
            self.shrink_towards(node, size)?;
        }
        if set != SetAttr::default() {
            let mut txn = self.store.begin(&[node.realm])?;
            let (mut inode, mut attributes) = self.load_in(&txn, node)?;
            if let Some(size) = set.size {
                if inode.kind == Kind::File && self.present_role(node)? == Role::Document {
                    // A rename made it a document just now, under the same lock.
                    drop(txn);
                    return self.setattr(caller, node, set, fh);
                }
                // Truncating takes the privileges away that an unprivileged writer must not keep.
                self.resize_in(&mut txn, node, (&mut inode, &mut attributes), size, SetId::GoesUnless(caller))?;
            }
            if set.uid.is_some() || set.gid.is_some() {
                self.drop_capability(&mut txn, node, &mut inode, &mut attributes)?;
            }
            change(caller, &mut inode, &set, mtime);
            inode.ctime = now;
            if set.mode.is_some()
                && inode.xattrs > 0
                && let Some(list) = attributes.get(&txn, node, acl::ACCESS)?
            {
                let list = acl::follow_mode(&list, inode.perm)?;
                attributes.put(&mut txn, node, acl::ACCESS, Some(&list))?;
            }
            self.save_in(&mut txn, node, &inode, attributes)?;
            if let Some(atime) = atime {
                let (key, value) = self.atime_record(node, atime);
                txn.put_plain(key, value);
            }
            self.commit(txn)?;
            if let Some(atime) = atime {
                self.atime_was_set(node, atime);
            }
        }
        self.getattr(node)
    }

    /// A change of a document's size: of the open file's draft, or by path a commit of its own.
    /// False for a file that is no document.
    fn resize_document(&self, caller: Caller, node: Node, size: u64, fh: Option<u64>) -> Result<bool> {
        if let Some(fh) = fh {
            let handle = self.handle(fh)?;
            if !self.is_drafted(&handle) {
                self.resize_solo(&handle, size);
                return Ok(false);
            }
            return self.resize_draft(caller, &handle, size).map(|()| true);
        }
        let is_open = self.handles.inode(node).is_some();
        let is_file = is_open || self.load(&self.store.reader(), node)?.kind == Kind::File;
        if !is_file || self.present_role(node)? != Role::Document {
            return Ok(false);
        }
        self.truncate_document(caller, node, size).map(|()| true)
    }

    /// The role of a regular file: what it was opened as, else what its name says.
    pub(super) fn present_role(&self, node: Node) -> Result<Role> {
        match self.handles.inode(node) {
            Some(open) => Ok(open.role()),
            None => self.role_of(node),
        }
    }
}

/// Applies everything but the size.
fn change(caller: Caller, inode: &mut Inode, set: &SetAttr, mtime: Option<Timestamp>) {
    if set.uid.is_some() || set.gid.is_some() {
        // chown(2) clears them, for root too on Linux.
        drop_suidgid(inode, caller);
        inode.uid = set.uid.unwrap_or(inode.uid);
        inode.gid = set.gid.unwrap_or(inode.gid);
    }
    if let Some(mode) = set.mode {
        inode.perm = mode as u16 & 0o7777;
    }
    if let Some(mtime) = mtime {
        inode.mtime = mtime;
    }
}
