//! Changing what the tree consists of: inodes, names, attributes.

use std::collections::BTreeMap;

use super::record::{Dirent, Inode};
use super::{Local, RealmId, Records, Result, Txn, key};

impl Txn<'_> {
    /// Removes all extended attributes of an inode, and gives them.
    pub fn take_xattrs(&mut self, realm: RealmId, ino: Local) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
        let mut taken = BTreeMap::new();
        for name in self.xattr_names(realm, ino)? {
            if let Some(value) = self.xattr(realm, ino, &name)? {
                self.delete_record(key::xattr(realm, ino, &name))?;
                taken.insert(name, value);
            }
        }
        Ok(taken)
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
