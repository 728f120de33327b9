//! Temporary files that two writers share by mistake.
//!
//! Programs save a document by writing `name.tmp` and renaming it. Two that use the same
//! temporary name at once write over each other, and the file holds a mixture that neither
//! wrote. Beside documents each open file therefore also keeps what it alone wrote since it
//! truncated or made the file. If the mixture is renamed onto a document's name while one of
//! them is still at it, the document becomes what the writer wrote that closed last.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Draft, validate};
use crate::fs::handle::Handle;
use crate::fs::rules::Role;
use crate::fs::{Fs, Node};

impl Fs {
    /// An open file begins with an empty file: what it writes from now on is a whole.
    pub(in crate::fs) fn begin_solo(&self, handle: &Handle) {
        if handle.inode.role() == Role::Beside && handle.is_writable() {
            handle.progress.lock().solo = Some(Draft::from(b""));
        }
    }

    /// Notes a write. One that is too large for a document ends the noting.
    pub(in crate::fs) fn write_solo(&self, handle: &Handle, offset: u64, data: &[u8], append: bool) {
        let mut progress = handle.progress.lock();
        if let Some(solo) = &mut progress.solo
            && solo.write(offset, data, append, self.options.max_document_bytes).is_err()
        {
            progress.solo = None;
        }
    }

    /// Notes a change of the size.
    pub(in crate::fs) fn resize_solo(&self, handle: &Handle, size: u64) {
        let mut progress = handle.progress.lock();
        if let Some(solo) = &mut progress.solo
            && solo.resize(size, self.options.max_document_bytes).is_err()
        {
            progress.solo = None;
        }
    }

    /// A writer closes while another has the file open for writing too.
    pub(in crate::fs) fn finish_solo(&self, handle: &Handle) {
        if handle.inode.writers.load(Ordering::SeqCst) > 1
            && let Some(solo) = &handle.progress.lock().solo
        {
            *handle.inode.finished.lock() = Some(Arc::new(solo.bytes.clone()));
        }
    }

    /// What the writer wrote that closed last, if it is a document.
    pub(in crate::fs) fn finished_solo(&self, node: Node) -> Option<Arc<Vec<u8>>> {
        let finished = self.handles.inode(node)?.finished.lock().clone()?;
        validate(&finished, self.options.allow_nan).is_ok().then_some(finished)
    }
}
