//! Files, and what else is no directory in place: whether one differs, and how it becomes what it was.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::Restore;
use crate::engine::Keyspace;
use crate::store::chunk::{Content, shown};
use crate::store::key::{self, tag};
use crate::store::record::{Inode, Kind, Orphan, Timestamp, VersionRecord};
use crate::store::write::Head;
use crate::store::{Local, Records, Result, try_scan};

/// What makes two states of one inode the same, beside its content and its extended attributes.
fn looks(inode: &Inode) -> impl PartialEq + use<> {
    let Inode { kind, perm, uid, gid, rdev, size, allocated, mtime, btime, xattrs, .. } = *inode;
    ((kind, perm, uid, gid, rdev), (size, allocated, mtime, btime, xattrs), inode.target.clone())
}

/// What other names of a file change too.
fn links(inode: &Inode) -> impl PartialEq + use<> {
    (inode.nlink, inode.ctime)
}

/// The inode that has a content now.
pub(super) struct Owner {
    pub(super) ino: Local,
    inode: Inode,
    /// Of one without a name: its attributes.
    orphan: Option<BTreeMap<Vec<u8>, Vec<u8>>>,
}

impl Owner {
    pub(super) fn is_orphan(&self) -> bool {
        self.orphan.is_some()
    }
}

impl Restore<'_, '_, '_> {
    /// The inode that has what is filed under a number.
    pub(super) fn owner(&self, file: Local) -> Result<Option<Owner>> {
        for ino in self.txn.store.owners(self.realm, file)? {
            if let Some(inode) = self.txn.inode(self.realm, ino)?.filter(|inode| inode.file_of(ino) == file) {
                return Ok(Some(Owner { ino, inode, orphan: None }));
            }
            let orphan = self.past.raw().get(Keyspace::Meta, &key::numbered(tag::ORPHAN, self.realm, ino.0))?;
            let orphan = orphan.map(|bytes| Orphan::decode(&bytes)).transpose()?;
            if let Some(Orphan { inode, xattrs }) = orphan.filter(|orphan| orphan.inode.file_of(ino) == file) {
                return Ok(Some(Owner { ino, inode, orphan: Some(xattrs) }));
            }
        }
        Ok(None)
    }

    /// Whether an inode is now what it was. A directory may have changed and is the same.
    pub(super) fn is_same(&self, ino: Local, then: &Inode, owner: &Owner) -> Result<bool> {
        if then.is_dir() {
            return Ok(true);
        }
        if looks(then) != looks(&owner.inode) || (self.by_path.is_none() && links(then) != links(&owner.inode)) {
            return Ok(false);
        }
        for name in self.past.xattr_names(self.realm, ino)? {
            let value = self.past.xattr(self.realm, ino, &name)?;
            if value.is_none() || value != self.txn.xattr(self.realm, owner.ino, &name)? {
                return Ok(false);
            }
        }
        if then.kind != Kind::File {
            return Ok(true);
        }
        let was = Content::of(self.realm, ino, then);
        let is = Content::of(self.realm, owner.ino, &owner.inode);
        if (was.file, was.generation) != (is.file, is.generation) {
            return self.has_same_bytes(&was, &is, then.size);
        }
        Ok(self.changed_chunks(&was)?.is_empty())
    }

    /// A document's content is written anew by a restore, so only the bytes tell.
    fn has_same_bytes(&self, was: &Content, is: &Content, size: u64) -> Result<bool> {
        const COMPARED: u64 = 64 << 20;
        if size > COMPARED || !self.is_version(was)? {
            return Ok(false);
        }
        let (mut old, mut new) = (vec![0; size as usize], vec![0; size as usize]);
        self.past.read_content(was, 0, &mut old)?;
        self.txn.store.reader().read_content(is, 0, &mut new)?;
        Ok(old == new)
    }

    /// Whether a generation is a kept version of a document, which stays what it is.
    fn is_version(&self, content: &Content) -> Result<bool> {
        let prefix = key::numbered(tag::VERSION, self.realm, content.file.0);
        let mut found = false;
        try_scan(self.past.raw(), Keyspace::Meta, &prefix, &key::after(&prefix), &mut |_, value| {
            found = VersionRecord::decode(value)?.generation == content.generation;
            Ok(if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(found)
    }

    /// The chunks of a content that are not what they were, with what they were.
    fn changed_chunks(&self, was: &Content) -> Result<Vec<(u32, Head, Vec<u8>)>> {
        let mut changed = Vec::new();
        for index in self.touched.chunks.get(&(was.file, was.generation)).into_iter().flatten() {
            let chunk = *index..*index + 1;
            let head = self.txn.heads(was, chunk.clone(), |_| true)?.remove(index);
            let Some(head) = head.filter(|head| !head.is_from(self.to)) else { continue };
            let mut value = Vec::new();
            shown(self.txn.store, self.past.raw(), was, chunk, self.to, &mut |_, bytes| {
                value = bytes.to_vec();
                ControlFlow::Continue(())
            })?;
            if value != head.bytes {
                changed.push((*index, head, value));
            }
        }
        Ok(changed)
    }

    /// A file, or something else that is no directory in place, gets a new number. It takes over the
    /// content of the one that has it now.
    pub(super) fn revive(&mut self, ino: Local, then: Inode, owner: Option<Owner>) -> Result<()> {
        let realm = self.realm;
        let new = self.number(ino);
        let file = then.file_of(ino);
        let mut inode = Inode { file, ..then.clone() };
        self.txn.put_plain(key::file(realm, file, new), Vec::new());
        self.txn.add_usage(realm, 1, 0)?;
        for name in self.past.xattr_names(realm, ino)? {
            if let Some(value) = self.past.xattr(realm, ino, &name)? {
                self.txn.put_record(key::xattr(realm, new, &name), &value)?;
            }
        }
        if then.kind == Kind::File {
            let was = Content::of(realm, ino, &then);
            match &owner {
                Some(owner) => {
                    inode.version = owner.inode.version;
                    inode.next_generation = owner.inode.next_generation;
                }
                None => inode.next_generation = Inode::SEALED,
            }
            // Before anything is written: with no snapshot in the transaction nothing else keeps what
            // those go on with that have it open.
            let owner = match owner {
                Some(Owner { ino, mut inode, orphan }) => {
                    let had = inode.clone();
                    self.txn.set_apart(realm, ino, &mut inode)?;
                    Some((Owner { ino, inode, orphan }, had))
                }
                None => None,
            };
            if self.is_version(&was)? {
                self.commit_again(new, &mut inode, &was)?;
            } else {
                // No version has this number: what is restored is none.
                inode.version += u64::from(inode.version > 0);
                self.take_over(&was)?;
                self.txn.add_usage(realm, 0, then.allocated as i64)?;
            }
            if let Some((owner, had)) = owner {
                self.leave(owner, had, inode.generation)?;
            }
        }
        if inode.is_dir() {
            inode.parent = self.number(then.parent);
            self.done.moved_directories = true;
        }
        self.txn.put_inode(realm, new, &inode)
    }

    /// A version of a document stays one: the restored content is the next.
    fn commit_again(&mut self, ino: Local, inode: &mut Inode, was: &Content) -> Result<()> {
        let realm = self.realm;
        let mut bytes = vec![0; inode.size as usize];
        self.past.read_content(was, 0, &mut bytes)?;
        (inode.layers, inode.allocated) = (Vec::new(), 0);
        self.txn.begin_generation(realm, inode)?;
        self.txn.write_content(realm, ino, inode, 0, &bytes)?;
        inode.version += 1;
        let record = VersionRecord {
            generation: inode.generation,
            size: inode.size,
            time: Timestamp::now(),
            epoch: inode.generation_born,
            pid: 0,
        };
        self.txn.put_plain(key::version(realm, inode.file_of(ino), inode.version), record.encode());
        Ok(())
    }

    /// A generation is a content again, and its chunks what they were.
    fn take_over(&mut self, was: &Content) -> Result<()> {
        for (index, head, value) in self.changed_chunks(was)? {
            self.txn.set_chunk(was, index, Some(&head), value)?;
        }
        for entry in self.garbage.remove(&(was.file, was.generation)).into_iter().flatten() {
            self.txn.delete_plain(entry);
        }
        Ok(())
    }

    /// The inode that had a content until now goes on with a copy, if somebody has it open. What
    /// was its own generation, and is no version, is garbage.
    fn leave(&mut self, owner: Owner, had: Inode, taken: u64) -> Result<()> {
        let Owner { ino, inode, orphan } = owner;
        if had.generation != taken && !self.is_version(&Content::of(self.realm, ino, &had))? {
            self.txn.drop_generation(self.realm, ino, &had)?;
        }
        self.replaced.insert(ino);
        if let Some(xattrs) = orphan {
            self.txn.put_plain(key::numbered(tag::ORPHAN, self.realm, ino.0), Orphan { inode, xattrs }.encode());
            return Ok(());
        }
        self.bury(ino, inode)
    }

    /// An inode without a name lives on for those that have it open.
    pub(super) fn bury(&mut self, ino: Local, inode: Inode) -> Result<()> {
        self.buried.insert(inode.file_of(ino));
        self.done.moved_directories |= inode.is_dir();
        self.done.gone.push(ino);
        self.txn.orphan_inode(self.realm, ino, inode)?;
        Ok(())
    }
}
