//! truncate(2) of a document by its path: a commit of its own.

use super::Draft;
use crate::fs::attr::Caller;
use crate::fs::error::Result;
use crate::fs::file::SetId;
use crate::fs::rules::Role;
use crate::fs::{Fs, Node};

impl Fs {
    /// Commits the content cut or grown to a size.
    ///
    /// # Errors
    /// EBADMSG unless the result is valid.
    pub(in crate::fs) fn truncate_document(&self, caller: Caller, node: Node, size: u64) -> Result<()> {
        let (fh, handle) = self.handles.open(node, Role::Document, libc::O_RDONLY, None);
        let done = self.committed(&handle.inode).and_then(|content| {
            if content.bytes.len() as u64 == size {
                return Ok(());
            }
            let mut draft = Draft::from(&content.bytes);
            draft.resize(size, self.options.max_document_bytes)?;
            draft.drop_privileges(SetId::GoesUnless(caller));
            self.commit_draft(&handle.inode, &draft, caller.pid, false)
        });
        self.handles.close(fh);
        done
    }
}
