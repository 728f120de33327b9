//! The least filesystem that keeps a store consistent: what the layer above does, in short.

use std::sync::Arc;

use threadfs::store::record::{Dirent, Inode, Kind, Orphan, Target, VersionRecord};
use threadfs::store::{HOME, Local, ROOT, RealmId, Records, Store, Txn, key};

use crate::helpers::{directory, file};

pub struct Tree {
    pub store: Arc<Store>,
}

impl Tree {
    fn hash(&self, name: &[u8]) -> u64 {
        self.store.name_hash(name)
    }

    fn find(&self, txn: &Txn<'_>, realm: RealmId, dir: Local, name: &[u8]) -> Option<Dirent> {
        txn.dirent(realm, dir, self.hash(name), name).unwrap()
    }

    /// Adds a name, and what it counts in its directory.
    fn add(&self, txn: &mut Txn<'_>, realm: RealmId, dir: Local, name: &[u8], dirent: &Dirent) {
        txn.put_dirent(realm, dir, name, dirent).unwrap();
        self.count(txn, realm, dir, dirent, 1);
    }

    fn remove(&self, txn: &mut Txn<'_>, realm: RealmId, dir: Local, name: &[u8], dirent: &Dirent) {
        txn.delete_dirent(realm, dir, name, dirent).unwrap();
        self.count(txn, realm, dir, dirent, -1);
    }

    fn count(&self, txn: &mut Txn<'_>, realm: RealmId, dir: Local, dirent: &Dirent, by: i64) {
        let mut parent = txn.named_inode(realm, dir).unwrap();
        parent.size = parent.size.checked_add_signed(by).unwrap();
        if dirent.kind == Kind::Directory {
            parent.nlink = parent.nlink.checked_add_signed(by as i32).unwrap();
        }
        txn.put_inode(realm, dir, &parent).unwrap();
    }

    fn make(&self, realm: RealmId, dir: Local, name: &[u8], inode: Inode) -> Option<Local> {
        let mut txn = self.store.begin(&[realm]).unwrap();
        if self.find(&txn, realm, dir, name).is_some() {
            return None;
        }
        let ino = txn.new_ino(realm).unwrap();
        let generation_born = txn.epoch(realm).unwrap();
        let inode = Inode { parent: dir, generation_born, ..inode };
        txn.put_inode(realm, ino, &inode).unwrap();
        txn.add_usage(realm, 1, 0).unwrap();
        self.add(&mut txn, realm, dir, name, &Dirent { target: Target::Inode(ino), kind: inode.kind });
        txn.commit().unwrap();
        Some(ino)
    }

    pub fn create(&self, realm: RealmId, dir: Local, name: &[u8]) -> Option<Local> {
        self.make(realm, dir, name, file())
    }

    pub fn mkdir(&self, realm: RealmId, dir: Local, name: &[u8]) -> Option<Local> {
        self.make(realm, dir, name, directory())
    }

    pub fn symlink(&self, realm: RealmId, dir: Local, name: &[u8]) -> Option<Local> {
        self.make(realm, dir, name, Inode { kind: Kind::Symlink, size: 6, target: b"target".to_vec(), ..file() })
    }

    pub fn thread(&self, dir: Local, name: &[u8]) -> Option<RealmId> {
        let mut txn = self.store.begin(&[HOME]).unwrap();
        if self.find(&txn, HOME, dir, name).is_some() {
            return None;
        }
        let realm = txn.new_realm(&Inode { parent: dir, ..directory() }).unwrap();
        self.add(&mut txn, HOME, dir, name, &Dirent { target: Target::Thread(realm), kind: Kind::Directory });
        txn.commit().unwrap();
        Some(realm)
    }

    pub fn link(&self, realm: RealmId, ino: Local, dir: Local, name: &[u8]) {
        let mut txn = self.store.begin(&[realm]).unwrap();
        let Some(mut inode) = txn.inode(realm, ino).unwrap() else { return };
        if inode.is_dir() || self.find(&txn, realm, dir, name).is_some() {
            return;
        }
        inode.nlink += 1;
        txn.put_inode(realm, ino, &inode).unwrap();
        self.add(&mut txn, realm, dir, name, &Dirent { target: Target::Inode(ino), kind: inode.kind });
        txn.commit().unwrap();
    }

    /// Removes a name of anything; a directory only if it is empty.
    pub fn unlink(&self, realm: RealmId, dir: Local, name: &[u8]) {
        let reader = self.store.reader();
        let Some(dirent) = reader.dirent(realm, dir, self.hash(name), name).unwrap() else { return };
        let (ino_realm, ino) = dirent.inode_of(realm);
        let mut txn = self.store.begin(&[realm, ino_realm]).unwrap();
        let mut inode = txn.named_inode(ino_realm, ino).unwrap();
        if inode.is_dir() && inode.size > 0 {
            return;
        }
        self.remove(&mut txn, realm, dir, name, &dirent);
        inode.nlink = if inode.is_dir() { 0 } else { inode.nlink - 1 };
        if inode.nlink > 0 {
            txn.put_inode(ino_realm, ino, &inode).unwrap();
        } else {
            txn.orphan_inode(ino_realm, ino, inode).unwrap();
        }
        if let Target::Thread(thread) = dirent.target {
            txn.retire_realm(thread).unwrap();
        }
        txn.commit().unwrap();
    }

    /// Frees an orphan, with the versions that it has.
    pub fn purge(&self, realm: RealmId, ino: Local) {
        let orphan = key::numbered(key::tag::ORPHAN, realm, ino.0);
        let engine = self.store.engine();
        let Some(bytes) = engine.get(threadfs::engine::Keyspace::Meta, &orphan).unwrap() else { return };
        let inode = Orphan::decode(&bytes).unwrap().inode;
        let mut txn = self.store.begin(&[realm]).unwrap();
        if inode.kind == Kind::File {
            txn.drop_generation(realm, ino, &inode).unwrap();
            for (number, version) in self.versions(realm, ino) {
                if version.generation != inode.generation {
                    let chunks = version.size.div_ceil(inode.chunk_bytes());
                    txn.discard(realm, ino, version.generation, version.epoch, chunks).unwrap();
                }
                txn.delete_plain(key::version(realm, ino, number));
            }
        }
        txn.delete_plain(orphan);
        txn.commit().unwrap();
    }

    pub fn orphans(&self, realm: RealmId) -> Vec<Local> {
        let tag = key::of_realm(key::tag::ORPHAN, realm);
        let keys = crate::helpers::keys_of(self.store.engine(), key::tag::ORPHAN);
        keys.iter().filter(|key| key.starts_with(&tag)).map(|key| Local(key::number_of(key).unwrap())).collect()
    }

    fn versions(&self, realm: RealmId, ino: Local) -> Vec<(u64, VersionRecord)> {
        let prefix = key::numbered(key::tag::VERSION, realm, ino.0);
        let all = crate::helpers::dump(self.store.engine());
        let found = all.into_iter().filter(|((_, key), _)| key.starts_with(&prefix));
        found
            .map(|((_, key), value)| {
                (u64::from_be_bytes(key[13..].try_into().unwrap()), VersionRecord::decode(&value).unwrap())
            })
            .collect()
    }

    /// Moves a name within a realm; nothing if the new one is taken or inside the moved.
    pub fn rename(&self, realm: RealmId, from: (Local, &[u8]), to: (Local, &[u8])) {
        let mut txn = self.store.begin(&[realm]).unwrap();
        let Some(dirent) = self.find(&txn, realm, from.0, from.1) else { return };
        if self.find(&txn, realm, to.0, to.1).is_some() {
            return;
        }
        if let Target::Inode(ino) = dirent.target {
            let mut inode = txn.named_inode(realm, ino).unwrap();
            if inode.is_dir() {
                let mut above = to.0;
                while above != ROOT && above != ino {
                    above = txn.named_inode(realm, above).unwrap().parent;
                }
                if above == ino {
                    return;
                }
                inode.parent = to.0;
                txn.put_inode(realm, ino, &inode).unwrap();
            }
        } else {
            return;
        }
        self.remove(&mut txn, realm, from.0, from.1, &dirent);
        self.add(&mut txn, realm, to.0, to.1, &dirent);
        txn.commit().unwrap();
    }

    pub fn change(&self, realm: RealmId, ino: Local, change: impl FnOnce(&mut Txn<'_>, &mut Inode)) {
        let mut txn = self.store.begin(&[realm]).unwrap();
        let Some(mut inode) = txn.inode(realm, ino).unwrap() else { return };
        if inode.kind != Kind::File {
            return;
        }
        change(&mut txn, &mut inode);
        txn.put_inode(realm, ino, &inode).unwrap();
        txn.commit().unwrap();
    }

    /// Changes a file in place: what it holds is no kept version from then on.
    pub fn edit(&self, realm: RealmId, ino: Local, change: impl FnOnce(&mut Txn<'_>, &mut Inode)) {
        self.change(realm, ino, |txn, inode| {
            for (number, version) in self.versions(realm, ino) {
                if version.generation == inode.generation {
                    txn.delete_plain(key::version(realm, ino, number));
                }
            }
            change(txn, inode);
        });
    }

    pub fn write(&self, realm: RealmId, ino: Local, offset: u64, data: &[u8]) {
        self.edit(realm, ino, |txn, inode| txn.write_content(realm, ino, inode, offset, data).unwrap());
    }

    /// A document's commit: the old content stays as a version.
    pub fn commit(&self, realm: RealmId, ino: Local, data: &[u8]) {
        self.change(realm, ino, |txn, inode| {
            let replaced = inode.clone();
            let kept = self.versions(realm, ino).iter().any(|(_, version)| version.generation == replaced.generation);
            txn.begin_generation(realm, inode).unwrap();
            txn.write_content(realm, ino, inode, 0, data).unwrap();
            if !kept {
                txn.drop_generation(realm, ino, &replaced).unwrap();
            }
            inode.version += 1;
            let version = VersionRecord {
                generation: inode.generation,
                size: inode.size,
                time: inode.mtime,
                epoch: inode.generation_born,
                pid: 0,
            };
            txn.put_plain(key::version(realm, ino, inode.version), version.encode());
        });
    }

    pub fn set_xattr(&self, realm: RealmId, ino: Local, name: &[u8]) {
        let mut txn = self.store.begin(&[realm]).unwrap();
        let Some(mut inode) = txn.inode(realm, ino).unwrap() else { return };
        if txn.xattr(realm, ino, name).unwrap().is_none() {
            inode.xattrs += 1;
        }
        txn.put_record(key::xattr(realm, ino, name), b"value").unwrap();
        txn.put_inode(realm, ino, &inode).unwrap();
        txn.commit().unwrap();
    }
}
