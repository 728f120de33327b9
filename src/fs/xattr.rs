//! Extended attributes.

use super::Fs;
use super::error::{Result, refuse};
use super::node::Node;
use crate::store::record::Timestamp;
use crate::store::{Records, key};

/// Longest name, XATTR_NAME_MAX of limits.h.
const NAME_MAX: usize = 255;

/// Largest value, XATTR_SIZE_MAX of limits.h.
const VALUE_MAX: usize = 65_536;

/// Most bytes of names that listxattr(2) can give, XATTR_LIST_MAX of limits.h.
const LIST_MAX: usize = 65_536;

impl Fs {
    /// The value of an attribute.
    ///
    /// # Errors
    /// ENODATA.
    pub fn getxattr(&self, node: Node, name: &[u8]) -> Result<Vec<u8>> {
        if node.is_virtual() {
            return self.getxattr_virtual(node, name);
        }
        let pending = self.with_pending(node, |pending| pending.xattrs.get(name).cloned());
        let value = match pending {
            Some(value) => value,
            None => self.store.reader().xattr(node.realm, node.local, name)?,
        };
        match value {
            Some(value) => Ok(value),
            None => refuse(libc::ENODATA),
        }
    }

    /// The names of all attributes, each with a NUL behind it.
    pub fn listxattr(&self, node: Node) -> Result<Vec<u8>> {
        if node.is_view() {
            return self.listxattr_view(node);
        }
        if node.is_virtual() {
            return Ok(Vec::new());
        }
        let mut list = Vec::new();
        let pending = self.with_pending(node, |pending| pending.xattrs.keys().cloned().collect());
        let names: Vec<Vec<u8>> = match pending {
            Some(names) => names,
            None => self.store.reader().xattr_names(node.realm, node.local)?,
        };
        for name in names {
            list.extend_from_slice(&name);
            list.push(0);
        }
        Ok(list)
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// EEXIST with XATTR_CREATE, ENODATA with XATTR_REPLACE; ERANGE for a name over 255 bytes,
    /// E2BIG for a value over 64 KiB, ENOSPC when the names would be too many to list;
    /// EOPNOTSUPP for POSIX ACLs, and for a file that has lost its last name.
    pub fn setxattr(&self, node: Node, name: &[u8], value: &[u8], flags: i32) -> Result<()> {
        if node.is_virtual() {
            return refuse(if node.is_view() { libc::EROFS } else { libc::EPERM });
        }
        if name.is_empty() || name.len() > NAME_MAX || name.contains(&0) {
            return refuse(libc::ERANGE);
        }
        if value.len() > VALUE_MAX {
            return refuse(libc::E2BIG);
        }
        if name.starts_with(b"system.") {
            return refuse(libc::EOPNOTSUPP);
        }
        if super::snapshot::is_request(name) {
            return refuse(libc::EPERM);
        }
        let pending = self.with_pending(node, |pending| {
            let names: Vec<Vec<u8>> = pending.xattrs.keys().cloned().collect();
            check_set(&names, name, flags)?;
            pending.xattrs.insert(name.to_vec(), value.to_vec());
            pending.inode.ctime = Timestamp::now();
            Ok(())
        });
        if let Some(done) = pending {
            return done;
        }
        let mut txn = self.store.begin(&[node.realm])?;
        let Some(mut inode) = txn.inode(node.realm, node.local)? else { return refuse(libc::EOPNOTSUPP) };
        if check_set(&txn.xattr_names(node.realm, node.local)?, name, flags)? {
            inode.xattrs += 1;
        }
        inode.ctime = Timestamp::now();
        txn.put_record(key::xattr(node.realm, node.local, name), value)?;
        txn.put_inode(node.realm, node.local, &inode)?;
        txn.grow((name.len() + value.len()) as u64);
        self.commit(txn)
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// ENODATA.
    pub fn removexattr(&self, node: Node, name: &[u8]) -> Result<()> {
        if node.is_virtual() {
            return refuse(if node.is_view() { libc::EROFS } else { libc::EPERM });
        }
        let removed = self.with_pending(node, |pending| {
            let removed = pending.xattrs.remove(name)?;
            pending.inode.ctime = Timestamp::now();
            Some(removed)
        });
        if let Some(removed) = removed {
            return removed.map_or_else(|| refuse(libc::ENODATA), |_| Ok(()));
        }
        let mut txn = self.store.begin(&[node.realm])?;
        let Some(mut inode) = txn.inode(node.realm, node.local)? else { return refuse(libc::ENODATA) };
        if txn.xattr(node.realm, node.local, name)?.is_none() {
            return refuse(libc::ENODATA);
        }
        inode.xattrs = inode.xattrs.saturating_sub(1);
        inode.ctime = Timestamp::now();
        txn.delete_record(key::xattr(node.realm, node.local, name))?;
        txn.put_inode(node.realm, node.local, &inode)?;
        self.commit(txn)
    }
}

/// Whether an attribute may be set beside those that are there; true says that it is a new one.
fn check_set(names: &[Vec<u8>], name: &[u8], flags: i32) -> Result<bool> {
    let is_there = names.iter().any(|known| known == name);
    let listed: usize = names.iter().map(|known| known.len() + 1).sum();
    match is_there {
        true if flags & libc::XATTR_CREATE != 0 => refuse(libc::EEXIST),
        false if flags & libc::XATTR_REPLACE != 0 => refuse(libc::ENODATA),
        false if listed + name.len() + 1 > LIST_MAX => refuse(libc::ENOSPC),
        is_there => Ok(!is_there),
    }
}
