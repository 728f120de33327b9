//! Changing what the tree consists of: inodes, names, attributes.

use std::collections::BTreeMap;

use super::record::{Dirent, Inode, Orphan};
use super::{Local, RealmId, Records, Result, Txn, key};

impl Txn<'_> {
    /// Adds a new inode; no name leads to it yet.
    pub fn add_inode(&mut self, realm: RealmId, inode: &Inode) -> Result<Local> {
        let ino = self.new_ino(realm)?;
        self.put_inode(realm, ino, inode)?;
        self.add_usage(realm, 1, 0)?;
        Ok(ino)
    }

    /// An inode that lost its last name lives on for those that have it open, with its extended attributes.
    pub fn orphan_inode(&mut self, realm: RealmId, ino: Local, mut inode: Inode) -> Result<()> {
        let mut xattrs = BTreeMap::new();
        if inode.xattrs > 0 {
            for name in self.xattr_names(realm, ino)? {
                if let Some(value) = self.xattr(realm, ino, &name)? {
                    self.delete_record(key::xattr(realm, ino, &name))?;
                    xattrs.insert(name, value);
                }
            }
        }
        self.add_usage(realm, -1, -(inode.allocated as i64))?;
        self.delete_record(key::inode(realm, ino))?;
        inode.nlink = 0;
        self.put_plain(key::numbered(key::tag::ORPHAN, realm, ino.0), Orphan { inode, xattrs }.encode());
        Ok(())
    }

    /// Sets an inode.
    pub fn put_inode(&mut self, realm: RealmId, ino: Local, inode: &Inode) -> Result<()> {
        self.put_record(key::inode(realm, ino), &inode.encode())
    }

    /// Sets a dirent and its reverse link.
    pub fn put_dirent(&mut self, realm: RealmId, dir: Local, name: &[u8], dirent: &Dirent) -> Result<()> {
        let hash = self.store.name_hash(name);
        self.put_record(key::dirent(realm, dir, hash, name), &dirent.encode())?;
        let (ino_realm, ino) = dirent.inode_of(realm);
        self.put_record(key::link(realm, ino_realm, ino, dir, name), b"")
    }

    /// Removes a dirent and its reverse link.
    pub fn delete_dirent(&mut self, realm: RealmId, dir: Local, name: &[u8], dirent: &Dirent) -> Result<()> {
        let hash = self.store.name_hash(name);
        self.delete_record(key::dirent(realm, dir, hash, name))?;
        let (ino_realm, ino) = dirent.inode_of(realm);
        self.delete_record(key::link(realm, ino_realm, ino, dir, name))
    }
}
