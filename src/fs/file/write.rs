//! WRITE, and changes of the size.

use super::{CUT, SetId};
use crate::fs::attr::Caller;
use crate::fs::attributes::Attributes;
use crate::fs::error::{Result, refuse};
use crate::fs::handle::Handle;
use crate::fs::names;
use crate::fs::rules::Role;
use crate::fs::{Fs, Node};
use crate::store::record::{Inode, Kind, Timestamp};
use crate::store::{Txn, key};

impl Fs {
    /// Writes to an open file. `unprivileged` is a writer who may not keep set-user-ID and set-group-ID bits on it.
    ///
    /// # Errors
    /// EFBIG over the limit of the configuration; ENOSPC.
    pub fn write(&self, fh: u64, offset: u64, data: &[u8], flags: i32, unprivileged: Option<Caller>) -> Result<u32> {
        let handle = self.handle(fh)?;
        if handle.is_virtual {
            return refuse(libc::EROFS);
        }
        let append = flags & libc::O_APPEND != 0;
        let size = data.len().min(u32::MAX as usize) as u32;
        let setid = unprivileged.map_or(SetId::Stays, SetId::Goes);
        let Some(mut txn) = self.begin_in_place(&handle)? else {
            self.write_document(&handle, offset, data, append, setid)?;
            return Ok(size);
        };
        let node = handle.node();
        let (mut inode, mut attributes) = self.load_in(&txn, node)?;
        let perm = inode.perm;
        // The kernel's idea of the end may be old; an append goes to the real one.
        let offset = if append { inode.size } else { offset };
        if offset.saturating_add(data.len() as u64) > self.options.max_file_bytes {
            return refuse(libc::EFBIG);
        }
        txn.write_content(node.realm, node.local, &mut inode, offset, data)?;
        self.content_changed(&mut txn, node, &mut inode, &mut attributes, setid)?;
        self.save_in(&mut txn, node, &inode, attributes)?;
        txn.grow(data.len() as u64);
        if flags & (libc::O_SYNC | libc::O_DSYNC) != 0 {
            txn.set_durable(true);
        }
        self.commit(txn)?;
        self.tell_of_mode(node, perm, &inode);
        self.write_solo(&handle, offset, data, append);
        Ok(size)
    }

    /// Whether what is done to an open file goes to a draft.
    pub(in crate::fs) fn is_drafted(&self, handle: &Handle) -> bool {
        handle.inode.role() == Role::Document || handle.progress.lock().draft.is_some()
    }

    /// A transaction that changes the content of an open file where it is; None when changes go
    /// to a draft, because it is a document, or was one when its draft began.
    pub(in crate::fs) fn begin_in_place(&self, handle: &Handle) -> Result<Option<Txn<'_>>> {
        if self.is_drafted(handle) {
            return Ok(None);
        }
        let txn = self.store.begin(&[handle.node().realm])?;
        // A rename that makes it a document says so under the same lock.
        Ok((handle.inode.role() != Role::Document).then_some(txn))
    }

    /// Times and privileges after a change of the content: capabilities go, and set-user-ID and
    /// set-group-ID where the writer is not privileged, as Linux does it.
    pub(in crate::fs) fn content_changed(
        &self,
        txn: &mut Txn<'_>,
        node: Node,
        inode: &mut Inode,
        attributes: &mut Attributes,
        setid: SetId,
    ) -> Result<()> {
        let now = Timestamp::now();
        inode.mtime = now;
        inode.ctime = now;
        setid.apply(inode);
        if inode.version > 0 {
            // It was a document, and ceased to be one by the rename of a directory above it. What
            // was its newest version is no version any more.
            txn.delete_plain(key::version(node.realm, inode.file_of(node.local), inode.version));
        }
        self.drop_capability(txn, node, inode, attributes)
    }

    /// Sets the size of a regular file; false, and nothing changes, when it is a document.
    ///
    /// # Errors
    /// EISDIR, EINVAL for what has no size; EFBIG; ENOSPC.
    pub(in crate::fs) fn resize(&self, node: Node, size: u64, setid: SetId) -> Result<bool> {
        let mut txn = self.store.begin(&[node.realm])?;
        if self.present_role(node)? == Role::Document {
            return Ok(false);
        }
        let (mut inode, mut attributes) = self.load_in(&txn, node)?;
        let perm = inode.perm;
        self.resize_in(&mut txn, node, (&mut inode, &mut attributes), size, setid)?;
        self.save_in(&mut txn, node, &inode, attributes)?;
        self.commit(txn)?;
        self.tell_of_mode(node, perm, &inode);
        Ok(true)
    }

    /// Cuts off a file from its end so far that a step is left, for [`Fs::resize_in`]. Each step is a
    /// transaction: a crash in between leaves a size between the old one and the one that was asked for.
    pub(in crate::fs) fn shrink_towards(&self, node: Node, size: u64) -> Result<()> {
        // To nothing, or where there is little, it takes little.
        let is_large = |inode: &Inode| inode.kind == Kind::File && size > 0 && inode.allocated > CUT;
        if !is_large(&self.load(&self.store.reader(), node)?) {
            return Ok(());
        }
        loop {
            let mut txn = self.store.begin(&[node.realm])?;
            let (mut inode, mut attributes) = self.load_in(&txn, node)?;
            let next = inode.size.saturating_sub(1) / CUT * CUT;
            if !is_large(&inode) || next <= size || self.present_role(node)? == Role::Document {
                return Ok(());
            }
            // What the mode loses, it loses with the last step.
            self.resize_in(&mut txn, node, (&mut inode, &mut attributes), next, SetId::Stays)?;
            self.save_in(&mut txn, node, &inode, attributes)?;
            self.commit(txn)?;
        }
    }

    pub(in crate::fs) fn resize_in(
        &self,
        txn: &mut Txn<'_>,
        node: Node,
        (inode, attributes): (&mut Inode, &mut Attributes),
        size: u64,
        setid: SetId,
    ) -> Result<()> {
        match inode.kind {
            Kind::File => {}
            Kind::Directory => return refuse(libc::EISDIR),
            _ => return refuse(libc::EINVAL),
        }
        if size > self.options.max_file_bytes {
            return refuse(libc::EFBIG);
        }
        if size > inode.size {
            txn.grow(names::NAME_MAX as u64);
        }
        txn.resize_content(node.realm, node.local, inode, size)?;
        self.content_changed(txn, node, inode, attributes, setid)
    }
}
