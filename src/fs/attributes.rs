//! Where an inode's extended attributes are: among the records, or with an inode that has no name any more.

use std::collections::BTreeMap;

use super::error::Result;
use super::namespace::orphan;
use super::{Fs, Node};
use crate::store::{Reader, Records, Txn, key};

/// The attributes of an inode within a transaction.
pub(in crate::fs) enum Attributes {
    /// Each is a record.
    Records,
    /// They go with an orphan's record.
    Orphan(BTreeMap<Vec<u8>, Vec<u8>>),
}

impl Attributes {
    pub(super) fn get(&self, records: &impl Records, node: Node, name: &[u8]) -> Result<Option<Vec<u8>>> {
        match self {
            Attributes::Records => Ok(records.xattr(node.realm, node.local, name)?),
            Attributes::Orphan(all) => Ok(all.get(name).cloned()),
        }
    }

    pub(super) fn names(&self, records: &impl Records, node: Node) -> Result<Vec<Vec<u8>>> {
        match self {
            Attributes::Records => Ok(records.xattr_names(node.realm, node.local)?),
            Attributes::Orphan(all) => Ok(all.keys().cloned().collect()),
        }
    }

    /// Sets one, or removes it. An inode counts its attributes: who calls this sees to it.
    pub(super) fn put(&mut self, txn: &mut Txn<'_>, node: Node, name: &[u8], value: Option<&[u8]>) -> Result<()> {
        let record = || key::xattr(node.realm, node.local, name);
        match (self, value) {
            (Attributes::Records, Some(value)) => txn.put_record(record(), value)?,
            (Attributes::Records, None) => txn.delete_record(record())?,
            (Attributes::Orphan(all), Some(value)) => drop(all.insert(name.to_vec(), value.to_vec())),
            (Attributes::Orphan(all), None) => drop(all.remove(name)),
        }
        Ok(())
    }
}

impl Fs {
    /// Where the attributes of an inode are for a reader.
    pub(super) fn attributes(&self, reader: &Reader<'_>, node: Node) -> Result<Attributes> {
        Ok(orphan(reader, node)?.map_or(Attributes::Records, |orphan| Attributes::Orphan(orphan.xattrs)))
    }
}
