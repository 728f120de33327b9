//! Extended attributes.

use super::Fs;
use super::acl;
use super::attr::Caller;
use super::error::{Result, refuse};
use super::file::CAPABILITY;
use super::node::Node;
use crate::store::Records;
use crate::store::record::{Inode, Timestamp};

/// Longest name, XATTR_NAME_MAX of limits.h.
const NAME_MAX: usize = 255;

/// Largest value, XATTR_SIZE_MAX of limits.h.
const VALUE_MAX: usize = 65_536;

/// What names begin with, beside those of the access control lists.
const KINDS: [&[u8]; 3] = [b"user.", b"trusted.", b"security."];

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
            None => {
                let reader = self.store.reader();
                match reader.xattr(node.realm, node.local, name)? {
                    Some(value) => Some(value),
                    None => self.attributes(&reader, node)?.get(&reader, node, name)?,
                }
            }
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
            None => {
                let reader = self.store.reader();
                self.attributes(&reader, node)?.names(&reader, node)?
            }
        };
        for name in names {
            list.extend_from_slice(&name);
            list.push(0);
        }
        Ok(list)
    }

    /// Sets an attribute: what of [`Fs::setxattr`] is no request. Of an access control list only what the
    /// mode does not say is stored.
    pub(in crate::fs) fn set_attribute(
        &self,
        caller: Caller,
        node: Node,
        name: &[u8],
        value: &[u8],
        flags: i32,
    ) -> Result<()> {
        check_change(node)?;
        check_name(name)?;
        if super::snapshot::is_request(name) {
            return refuse(libc::EPERM);
        }
        if value.len() > VALUE_MAX {
            return refuse(libc::E2BIG);
        }
        let stored = |inode: &mut Inode| match name {
            acl::ACCESS => acl::set_access(inode, value, |gid| caller.may_give_setgid(gid)),
            acl::DEFAULT => acl::set_default(inode, value),
            _ => Ok(Some(value.to_vec())),
        };
        self.store_attribute(node, name, flags, stored)?;
        if name == CAPABILITY {
            self.set_in_drafts(node, |draft| draft.drops_capability = false);
        }
        Ok(())
    }

    /// Stores what `stored` says, or removes what was there.
    fn store_attribute(
        &self,
        node: Node,
        name: &[u8],
        flags: i32,
        stored: impl Fn(&mut Inode) -> Result<Option<Vec<u8>>>,
    ) -> Result<()> {
        let pending = self.with_pending(node, |pending| {
            let names: Vec<Vec<u8>> = pending.xattrs.keys().cloned().collect();
            check_set(&names, name, flags)?;
            match stored(&mut pending.inode)? {
                Some(value) => pending.xattrs.insert(name.to_vec(), value),
                None => pending.xattrs.remove(name),
            };
            pending.inode.ctime = Timestamp::now();
            Ok(())
        });
        if let Some(done) = pending {
            return done;
        }
        let mut txn = self.store.begin(&[node.realm])?;
        let (mut inode, mut attributes) = self.load_in(&txn, node)?;
        let is_new = check_set(&attributes.names(&txn, node)?, name, flags)?;
        match (stored(&mut inode)?, is_new) {
            (Some(value), _) => {
                attributes.put(&mut txn, node, name, Some(&value))?;
                inode.xattrs += u32::from(is_new);
                txn.grow((name.len() + value.len()) as u64);
            }
            (None, false) => {
                attributes.put(&mut txn, node, name, None)?;
                inode.xattrs = inode.xattrs.saturating_sub(1);
            }
            (None, true) => {}
        }
        inode.ctime = Timestamp::now();
        self.save_in(&mut txn, node, &inode, attributes)?;
        self.commit(txn)
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// ENODATA, but for an access control list, whose absence is one too.
    pub fn removexattr(&self, node: Node, name: &[u8]) -> Result<()> {
        check_change(node)?;
        check_name(name)?;
        let absent = || if acl::is_list(name) { Ok(()) } else { refuse(libc::ENODATA) };
        let removed = self.with_pending(node, |pending| {
            let removed = pending.xattrs.remove(name)?;
            pending.inode.ctime = Timestamp::now();
            Some(removed)
        });
        if let Some(removed) = removed {
            return removed.map_or_else(absent, |_| Ok(()));
        }
        let mut txn = self.store.begin(&[node.realm])?;
        let (mut inode, mut attributes) = self.load_in(&txn, node)?;
        if attributes.get(&txn, node, name)?.is_none() {
            return absent();
        }
        inode.xattrs = inode.xattrs.saturating_sub(1);
        inode.ctime = Timestamp::now();
        attributes.put(&mut txn, node, name, None)?;
        self.save_in(&mut txn, node, &inode, attributes)?;
        self.commit(txn)
    }
}

fn check_change(node: Node) -> Result<()> {
    match node.is_virtual() {
        true => refuse(if node.is_view() { libc::EROFS } else { libc::EPERM }),
        false => Ok(()),
    }
}

/// Who may use which of the kinds, xattr(7), the kernel checks.
fn check_name(name: &[u8]) -> Result<()> {
    if name.is_empty() || name.len() > NAME_MAX || name.contains(&0) {
        return refuse(libc::ERANGE);
    }
    match KINDS.iter().find_map(|kind| name.strip_prefix(*kind)) {
        Some(b"") => refuse(libc::EINVAL),
        None if !acl::is_list(name) => refuse(libc::EOPNOTSUPP),
        _ => Ok(()),
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
