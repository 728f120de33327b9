//! Inodes without a name: they live while the kernel knows them.

use std::ops::ControlFlow;

use super::orphan_key;
use crate::engine::Keyspace;
use crate::fs::error::Result;
use crate::fs::{Fs, Node};
use crate::store::record::{Inode, Kind, Orphan, VersionRecord};
use crate::store::{Local, key, try_scan};

impl Fs {
    /// Frees an inode that just lost its last name, if the kernel does not know it.
    pub(in crate::fs) fn purge_unless_known(&self, gone: Option<Node>) {
        if let Some(node) = gone.filter(|node| !self.inodes.is_known(*node))
            && let Err(error) = self.purge_orphan(node)
        {
            log::error!("inode {}: cannot free it: {error}", node.ino());
        }
    }

    /// Frees an inode, if it has no name.
    pub(in crate::fs) fn purge_orphan(&self, node: Node) -> Result<()> {
        let orphan_key = orphan_key(node);
        let engine = self.store.engine();
        if engine.get(Keyspace::Meta, &orphan_key)?.is_none() {
            return Ok(());
        }
        let mut txn = self.store.begin(&[node.realm])?;
        let Some(bytes) = engine.get(Keyspace::Meta, &orphan_key)? else { return Ok(()) };
        let mut inode = Orphan::decode(&bytes)?.inode;
        if inode.kind == Kind::File {
            let file = inode.file_of(node.local);
            txn.drop_generation(node.realm, node.local, &inode)?;
            for (version, record) in self.versions_of(node, &inode)? {
                if record.generation != inode.generation {
                    let chunks = record.size.div_ceil(inode.chunk_bytes());
                    txn.discard(node.realm, file, record.generation, record.epoch, chunks)?;
                }
                txn.delete_plain(key::version(node.realm, file, version));
            }
            txn.release_layers(node.realm, &mut inode)?;
        }
        txn.delete_plain(orphan_key);
        txn.delete_plain(self.forget_atime(node));
        txn.commit()?;
        self.documents.forget(node);
        Ok(())
    }

    /// The kept versions of a document, oldest first.
    pub(in crate::fs) fn versions_of(&self, node: Node, inode: &Inode) -> Result<Vec<(u64, VersionRecord)>> {
        let prefix = key::numbered(key::tag::VERSION, node.realm, inode.file_of(node.local).0);
        let mut versions = Vec::new();
        try_scan(self.store.engine(), Keyspace::Meta, &prefix, &key::after(&prefix), &mut |found, value| {
            if let Some(number) = key::parse_version(found) {
                versions.push((number, VersionRecord::decode(value)?));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(versions)
    }

    /// Frees what was left without a name when the last mount ended.
    pub(in crate::fs) fn sweep_orphans(&self) -> Result<()> {
        let prefix = key::all(key::tag::ORPHAN);
        let mut orphans = Vec::new();
        self.store.engine().scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut |found, _| {
            if let (Some(realm), Some(number)) = (key::realm_of(found), key::number_of(found)) {
                orphans.push(Node { realm, local: Local(number) });
            }
            ControlFlow::Continue(())
        })?;
        for node in orphans {
            self.purge_orphan(node)?;
        }
        Ok(())
    }
}
