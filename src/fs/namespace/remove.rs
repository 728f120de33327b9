//! UNLINK and RMDIR.

use super::dir_changed;
use crate::fs::attr::Caller;
use crate::fs::error::{Result, refuse};
use crate::fs::names;
use crate::fs::{Fs, Node};
use crate::store::record::{Dirent, Inode, Kind, Target, Timestamp};
use crate::store::{Records, Txn};

impl Fs {
    /// Removes a name that is no directory's.
    ///
    /// # Errors
    /// ENOENT; EISDIR for a directory.
    pub fn unlink(&self, caller: Caller, dir: Node, name: &[u8]) -> Result<()> {
        if dir.is_virtual() {
            return self.unlink_virtual(dir, name);
        }
        if names::is_reserved(dir, name) {
            return refuse(libc::EISDIR);
        }
        let mut txn = self.store.begin(&[dir.realm])?;
        let mut parent = self.dir_inode(&txn, dir)?;
        let Some(dirent) = self.dirent(&txn, dir, name)? else { return refuse(libc::ENOENT) };
        if dirent.kind == Kind::Directory {
            return refuse(libc::EISDIR);
        }
        let removed = Node::from(dirent.inode_of(dir.realm));
        let kept = self.keep_before_removal(&mut txn, removed, name, caller)?;
        let now = Timestamp::now();
        let gone = self.take_name(&mut txn, caller, (dir, name), &mut parent, &dirent, now)?;
        txn.put_inode(dir.realm, dir.local, &parent)?;
        self.commit(txn)?;
        if kept {
            self.removal_was_kept(dir.realm);
        }
        self.purge_unless_known(gone);
        Ok(())
    }

    /// Removes an empty directory; with a thread's directory the thread ends.
    ///
    /// # Errors
    /// ENOENT, ENOTDIR, ENOTEMPTY; EPERM for the filesystem's own directories.
    pub fn rmdir(&self, caller: Caller, dir: Node, name: &[u8]) -> Result<()> {
        if dir.is_view() {
            return self.drop_by_name(dir, name);
        }
        if dir.is_virtual() || names::is_reserved(dir, name) {
            return refuse(libc::EPERM);
        }
        loop {
            // The thread's realm must be locked too, and only the dirent tells which.
            let seen = self.dirent(&self.store.reader(), dir, name)?;
            let Some(dirent) = seen else { return refuse(libc::ENOENT) };
            if dirent.kind != Kind::Directory {
                return refuse(libc::ENOTDIR);
            }
            let mut txn = self.store.begin(&[dir.realm, dirent.inode_of(dir.realm).0])?;
            let mut parent = self.dir_inode(&txn, dir)?;
            if self.dirent(&txn, dir, name)? != seen {
                continue;
            }
            let removed = Node::from(dirent.inode_of(dir.realm));
            let kept = self.keep_before_removal(&mut txn, removed, name, caller)?;
            let gone = self.take_name(&mut txn, caller, (dir, name), &mut parent, &dirent, Timestamp::now())?;
            txn.put_inode(dir.realm, dir.local, &parent)?;
            self.commit(txn)?;
            if kept {
                self.removal_was_kept(dir.realm);
            }
            if let Some(node) = gone {
                self.rules.forget(node);
                if node.is_thread_root() {
                    self.life_has_changed(node.realm);
                }
            }
            self.purge_unless_known(gone);
            return Ok(());
        }
    }

    /// Removes a dirent and what it stands for, as far as that has no other name. The parent's
    /// inode is changed but not yet put. Returns the inode that has no name any more.
    pub(in crate::fs) fn take_name(
        &self,
        txn: &mut Txn<'_>,
        caller: Caller,
        (dir, name): (Node, &[u8]),
        parent: &mut Inode,
        dirent: &Dirent,
        now: Timestamp,
    ) -> Result<Option<Node>> {
        let node = Node::from(dirent.inode_of(dir.realm));
        let mut inode = txn.named_inode(node.realm, node.local)?;
        if inode.is_dir() {
            if inode.size > 0 {
                return refuse(libc::ENOTEMPTY);
            }
            parent.nlink = parent.nlink.saturating_sub(1);
            inode.nlink = 0;
        } else {
            inode.nlink = inode.nlink.saturating_sub(1);
        }
        txn.delete_dirent(dir.realm, dir.local, name, dirent)?;
        dir_changed(parent, now, -1);
        inode.ctime = now;
        if inode.nlink > 0 {
            txn.put_inode(node.realm, node.local, &inode)?;
            return Ok(None);
        }
        txn.orphan_inode(node.realm, node.local, inode)?;
        if let Target::Thread(realm) = dirent.target {
            self.end_thread(txn, realm, (dir, name), caller, now)?;
        }
        Ok(Some(node))
    }
}
