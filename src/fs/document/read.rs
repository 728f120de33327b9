//! READ and WRITE of a document.

use std::sync::Arc;

use super::{Committed, Draft};
use crate::fs::Fs;
use crate::fs::attr::Caller;
use crate::fs::error::{Result, refuse};
use crate::fs::file::SetId;
use crate::fs::handle::{Handle, OpenInode, Progress};
use crate::store::Content;

impl Fs {
    /// The newest committed content of an open document; empty before its first commit.
    pub(in crate::fs) fn committed(&self, open: &OpenInode) -> Result<Arc<Committed>> {
        let mut committed = open.committed.lock();
        if let Some(content) = &*committed {
            return Ok(Arc::clone(content));
        }
        if open.pending.lock().is_some() {
            return Ok(Arc::default());
        }
        let node = open.node;
        let view = self.store.view();
        let inode = self.load(&view, node)?;
        let content = match self.documents.recent(node, inode.generation) {
            Some(content) => content,
            None => {
                if inode.size > self.options.max_document_bytes {
                    // It was made before it was a document; the limit keeps it out of memory.
                    return refuse(libc::EFBIG);
                }
                let mut bytes = vec![0; inode.size as usize];
                view.read_content(&Content::of(node.realm, node.local, &inode), 0, &mut bytes)?;
                let content = Arc::new(Committed { generation: inode.generation, bytes });
                self.documents.keep(node, &content);
                content
            }
        };
        *committed = Some(Arc::clone(&content));
        Ok(content)
    }

    /// Reads: the open file's own draft, or what it pinned when it last read from the start.
    pub(in crate::fs) fn read_document<T>(
        &self,
        handle: &Handle,
        offset: u64,
        size: u32,
        reply: impl FnOnce(&[u8]) -> T,
    ) -> Result<T> {
        let mut progress = handle.progress.lock();
        if let Some(draft) = &progress.draft {
            return Ok(reply(window(&draft.bytes, offset, size)));
        }
        if offset == 0 || progress.pin.is_none() {
            progress.pin = Some(self.committed(&handle.inode)?);
            self.note_document_read(&handle.inode)?;
        }
        let pin = progress.pin.clone().unwrap_or_default();
        drop(progress);
        Ok(reply(window(&pin.bytes, offset, size)))
    }

    fn note_document_read(&self, open: &OpenInode) -> Result<()> {
        if open.pending.lock().is_some() {
            return Ok(());
        }
        let reader = self.store.reader();
        let inode = self.load(&reader, open.node)?;
        self.note_read(reader.raw(), open.node, &inode)
    }

    /// Writes to the open file's draft.
    pub(in crate::fs) fn write_document(
        &self,
        handle: &Handle,
        offset: u64,
        data: &[u8],
        append: bool,
        setid: SetId,
    ) -> Result<()> {
        self.change_draft(handle, setid, |draft, limit| draft.write(offset, data, append, limit))
    }

    /// ftruncate(2) of an open document.
    pub(in crate::fs) fn resize_draft(&self, caller: Caller, handle: &Handle, size: u64) -> Result<()> {
        self.change_draft(handle, SetId::GoesUnless(caller), |draft, limit| draft.resize(size, limit))
    }

    /// A draft begins with the first change: from what this open file last read, else from the
    /// newest commit. Not from the time of open: who waited for a lock opened before the holder
    /// committed.
    fn change_draft(
        &self,
        handle: &Handle,
        setid: SetId,
        change: impl FnOnce(&mut Draft, u64) -> Result<()>,
    ) -> Result<()> {
        let mut progress = handle.progress.lock();
        let Progress { pin, draft, .. } = &mut *progress;
        let fresh = draft.is_none();
        if fresh {
            let base = match pin {
                Some(pin) => Arc::clone(pin),
                None => self.committed(&handle.inode)?,
            };
            *draft = Some(Draft::from(&base.bytes));
        }
        let Some(open) = draft else { return refuse(libc::EIO) };
        let done = change(open, self.options.max_document_bytes);
        match &done {
            Ok(()) => open.drop_privileges(setid),
            Err(_) if fresh => *draft = None,
            Err(_) => {}
        }
        // What was refused before may be mended by this change.
        *handle.writer.lock() = None;
        done
    }
}

fn window(bytes: &[u8], offset: u64, size: u32) -> &[u8] {
    let start = offset.min(bytes.len() as u64) as usize;
    let end = (start + size as usize).min(bytes.len());
    bytes.get(start..end).unwrap_or_default()
}
