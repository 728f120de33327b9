//! COPY_FILE_RANGE.

use super::SetId;
use crate::fs::Fs;
use crate::fs::attr::Caller;
use crate::fs::error::{Result, refuse};
use crate::fs::handle::Handle;
use crate::fs::rules::Role;
use crate::store::Content;

/// Bytes that one request copies at most: a request must not take long. The caller goes on.
const STEP: u64 = 4 << 20;

impl Fs {
    /// Copies from one open file to another, as copy_file_range(2): up to some megabytes a call.
    ///
    /// # Errors
    /// EXDEV between threads and for documents, on which the caller copies by itself; EINVAL for
    /// ranges of one file that overlap; EFBIG; ENOSPC.
    pub fn copy_file_range(&self, caller: Caller, from: (u64, u64), to: (u64, u64), length: u64) -> Result<u32> {
        let (source, target) = (self.handle(from.0)?, self.handle(to.0)?);
        let (source_node, target_node) = (source.node(), target.node());
        let special = |handle: &Handle| handle.is_virtual || handle.inode.role() == Role::Lock;
        if special(&source) || special(&target) || source_node.realm != target_node.realm || self.is_drafted(&source) {
            return refuse(libc::EXDEV);
        }
        let Some(mut txn) = self.begin_in_place(&target)? else { return refuse(libc::EXDEV) };
        let realm = target_node.realm;
        let (source_inode, _) = self.load_in(&txn, source_node)?;
        let (mut inode, mut attributes) = self.load_in(&txn, target_node)?;
        let length = length.min(STEP).min(source_inode.size.saturating_sub(from.1));
        if length == 0 {
            return Ok(0);
        }
        if to.1.saturating_add(length) > self.options.max_file_bytes {
            return refuse(libc::EFBIG);
        }
        if source_node == target_node && from.1 < to.1 + length && to.1 < from.1 + length {
            return refuse(libc::EINVAL);
        }
        let mut buffer = vec![0; length as usize];
        let content = Content::of(realm, source_node.local, &source_inode);
        // The transaction keeps writers out, so this is the state that it belongs to.
        self.store.view().read_content(&content, from.1, &mut buffer)?;
        txn.write_content(realm, target_node.local, &mut inode, to.1, &buffer)?;
        let perm = inode.perm;
        self.content_changed(&mut txn, target_node, &mut inode, &mut attributes, SetId::GoesUnless(caller))?;
        self.save_in(&mut txn, target_node, &inode, attributes)?;
        txn.grow(length);
        self.commit(txn)?;
        self.tell_of_mode(target_node, perm, &inode);
        Ok(length as u32)
    }
}
