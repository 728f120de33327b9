//! LOOKUP, GETATTR, READLINK, FORGET.

use super::Entry;
use crate::fs::attr::Attr;
use crate::fs::error::{Result, refuse};
use crate::fs::names::{self, NAME_MAX};
use crate::fs::rules::Role;
use crate::fs::{Fs, Node};
use crate::store::Records;
use crate::store::record::Kind;

impl Fs {
    /// What a name stands for.
    ///
    /// # Errors
    /// ENOENT; ENAMETOOLONG over 255 bytes.
    pub fn lookup(&self, dir: Node, name: &[u8]) -> Result<Entry> {
        if name.len() > NAME_MAX {
            return refuse(libc::ENAMETOOLONG);
        }
        if dir.is_virtual() || names::is_reserved(dir, name) {
            return self.lookup_virtual(dir, name);
        }
        // Two records, read one after the other: a rename in between shows as an inode that is
        // gone, and a frozen view decides.
        let newest = self.store.reader();
        let reader = match self.dirent(&newest, dir, name)? {
            None => return refuse(libc::ENOENT),
            Some(dirent) => {
                let node = Node::from(dirent.inode_of(dir.realm));
                if let Some(inode) = newest.inode(node.realm, node.local)? {
                    return self.found(&newest, dir, name, node, &inode);
                }
                self.store.view()
            }
        };
        let Some(dirent) = self.dirent(&reader, dir, name)? else { return refuse(libc::ENOENT) };
        let node = Node::from(dirent.inode_of(dir.realm));
        let inode = reader.named_inode(node.realm, node.local)?;
        self.found(&reader, dir, name, node, &inode)
    }

    fn found(
        &self,
        reader: &crate::store::Reader<'_>,
        dir: Node,
        name: &[u8],
        node: Node,
        inode: &crate::store::record::Inode,
    ) -> Result<Entry> {
        let generation = self.rules.generation();
        let role = if inode.kind == Kind::File { self.rules.role(&*self.rules_of(dir)?, name) } else { Role::Ordinary };
        let attr = self.attr(reader, node, inode)?;
        Ok(self.entry(node, attr, role, generation))
    }

    /// Whether the kernel may remember that a name does not exist. Not the name of a document,
    /// whose first commit makes it appear without the kernel having a part in it; nor that of a thread,
    /// which can branch off or come back.
    pub fn may_cache_absence(&self, dir: Node, name: &[u8]) -> bool {
        let ordinary = |rules: &crate::fs::rules::DirRules| {
            self.rules.role(rules, name) != Role::Document && !self.rules.is_thread(rules, name)
        };
        !dir.is_virtual()
            && !names::is_reserved(dir, name)
            && name.len() <= NAME_MAX
            && self.rules_of(dir).is_ok_and(|rules| ordinary(&rules))
    }

    /// The attributes of an inode, and how long they hold.
    pub fn getattr(&self, node: Node) -> Result<(Attr, std::time::Duration)> {
        if node.is_virtual() {
            return self.getattr_virtual(node);
        }
        if let Some(open) = self.handles.inode(node)
            && let Some(pending) = &*open.pending.lock()
        {
            return Ok((Attr::of(node.ino(), &pending.inode, pending.inode.btime), std::time::Duration::ZERO));
        }
        let reader = self.store.reader();
        let inode = match self.load(&reader, node) {
            Ok(inode) => inode,
            // It lost its last name between the two looks: both are in one frozen view.
            Err(error) if error.errno() == libc::ESTALE => self.load(&self.store.view(), node)?,
            Err(error) => return Err(error),
        };
        let attr = self.attr(&reader, node, &inode)?;
        let role = if inode.kind == Kind::File { self.role_of(node)? } else { Role::Ordinary };
        Ok((attr, self.attr_ttl(node, role)))
    }

    /// Where a symlink points.
    ///
    /// # Errors
    /// EINVAL for anything but a symlink.
    pub fn readlink(&self, node: Node) -> Result<Vec<u8>> {
        if node.is_view() {
            return self.readlink_view(node);
        }
        if node.is_virtual() {
            return refuse(libc::EINVAL);
        }
        let reader = self.store.reader();
        let inode = self.load(&reader, node)?;
        if inode.kind != Kind::Symlink {
            return refuse(libc::EINVAL);
        }
        self.note_read(reader.raw(), node, &inode)?;
        Ok(inode.target)
    }

    /// The kernel forgets some lookups of an inode. One that has no name is freed with the last.
    pub fn forget(&self, node: Node, lookups: u64) {
        if node.is_virtual() || !self.inodes.forget(node, lookups) {
            return;
        }
        if let Err(error) = self.purge_orphan(node) {
            // It stays an orphan, and the next mount frees it.
            log::error!("inode {}: cannot free it: {error}", node.ino());
        }
    }
}
