//! Names: looking them up, making, linking, renaming, removing and listing them.

mod create;
mod link;
mod list;
mod lookup;
mod orphan;
mod remove;
mod rename;
mod transition;

use std::time::Duration;

pub(in crate::fs) use create::New;
pub use list::ListEntry;
pub use rename::RenameMode;

use super::attr::Attr;
use super::attributes::Attributes;
use super::error::{Result, refuse};
use super::node::Node;
use super::rules::Role;
use super::{Durability, Fs};
use crate::store::record::{Dirent, Inode, Orphan, Timestamp};
use crate::store::{Reader, Records, Txn, key};

/// Most names of one inode; ext4 has 65,000 too.
pub(super) const LINK_MAX: u32 = 65_000;

/// What a new dirent, its link and its inode take at most, roughly, for the check for room.
pub(super) const RECORD_BYTES: u64 = 1024;

/// What the kernel gets for a name: attributes, and how long it may keep them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Attributes.
    pub attr: Attr,
    /// How long the attributes hold.
    pub attr_ttl: Duration,
    /// How long the name holds.
    pub entry_ttl: Duration,
}

impl Fs {
    /// Commits, durably where the settings ask for that.
    pub(super) fn commit(&self, mut txn: Txn<'_>) -> Result<()> {
        let snapshots = self.keep_after_changes(&mut txn)?;
        if self.options.durability == Durability::Sync {
            txn.set_durable(true);
        } else {
            self.note_change();
        }
        txn.commit()?;
        for realm in snapshots {
            self.snapshot_was_taken(realm, None);
        }
        Ok(())
    }

    /// A directory's inode.
    ///
    /// # Errors
    /// ENOENT when it is gone, ENOTDIR when it is something else.
    pub(super) fn dir_inode(&self, records: &impl Records, dir: Node) -> Result<Inode> {
        match records.inode(dir.realm, dir.local)? {
            Some(inode) if inode.is_dir() => Ok(inode),
            Some(_) => refuse(libc::ENOTDIR),
            None => refuse(libc::ENOENT),
        }
    }

    /// The dirent of a name.
    pub(super) fn dirent(&self, records: &impl Records, dir: Node, name: &[u8]) -> Result<Option<Dirent>> {
        Ok(records.dirent(dir.realm, dir.local, self.store.name_hash(name), name)?)
    }

    /// An inode, with or without a name.
    ///
    /// # Errors
    /// ESTALE when there is none: the kernel asks for what it was told to forget.
    pub(super) fn load(&self, reader: &Reader<'_>, node: Node) -> Result<Inode> {
        if let Some(inode) = reader.inode(node.realm, node.local)? {
            return Ok(inode);
        }
        orphan(reader, node)?.map_or_else(|| refuse(libc::ESTALE), |orphan| Ok(orphan.inode))
    }

    /// The same within a transaction, with its attributes: for an inode without a name they are here.
    pub(super) fn load_in(&self, txn: &Txn<'_>, node: Node) -> Result<(Inode, Attributes)> {
        if let Some(inode) = txn.inode(node.realm, node.local)? {
            return Ok((inode, Attributes::Records));
        }
        match orphan(&self.store.reader(), node)? {
            Some(Orphan { inode, xattrs }) => Ok((inode, Attributes::Orphan(xattrs))),
            None => refuse(libc::ESTALE),
        }
    }

    /// Writes back what [`Fs::load_in`] gave.
    pub(super) fn save_in(&self, txn: &mut Txn<'_>, node: Node, inode: &Inode, attributes: Attributes) -> Result<()> {
        match attributes {
            Attributes::Records => txn.put_inode(node.realm, node.local, inode)?,
            Attributes::Orphan(xattrs) => {
                txn.put_plain(orphan_key(node), Orphan { inode: inode.clone(), xattrs }.encode());
            }
        }
        Ok(())
    }

    /// The attributes of an inode as the kernel gets them.
    pub(super) fn attr(&self, reader: &Reader<'_>, node: Node, inode: &Inode) -> Result<Attr> {
        Ok(Attr::of(node.ino(), inode, self.atime(reader.raw(), node, inode)?))
    }

    /// How long the kernel may keep the attributes of an inode: not at all while a draft of it
    /// is open, because writing to the draft changes the kernel's idea of the size.
    pub(super) fn attr_ttl(&self, node: Node, role: Role) -> Duration {
        let in_flux = role == Role::Document && self.handles.inode(node).is_some_and(|inode| inode.is_in_flux());
        if in_flux { Duration::ZERO } else { self.options.ttl }
    }

    /// What the kernel gets for an inode under a name; from now on it knows the inode.
    pub(super) fn entry(&self, node: Node, attr: Attr, role: Role, generation: u64) -> Entry {
        self.inodes.looked_up(node, role, generation);
        Entry { attr, attr_ttl: self.attr_ttl(node, role), entry_ttl: self.options.ttl }
    }
}

/// Marks a directory as changed: its listing, and so its times.
pub(super) fn dir_changed(dir: &mut Inode, now: Timestamp, entries: i64) {
    dir.size = dir.size.saturating_add_signed(entries);
    dir.mtime = now;
    dir.ctime = now;
}

/// An inode that has no name any more.
pub(in crate::fs) fn orphan(reader: &Reader<'_>, node: Node) -> Result<Option<Orphan>> {
    let found = reader.raw().get(crate::engine::Keyspace::Meta, &orphan_key(node))?;
    Ok(found.map(|bytes| Orphan::decode(&bytes)).transpose()?)
}

pub(in crate::fs) fn orphan_key(node: Node) -> Vec<u8> {
    key::numbered(key::tag::ORPHAN, node.realm, node.local.0)
}
