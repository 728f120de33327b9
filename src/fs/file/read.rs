//! READ.

use crate::fs::Fs;
use crate::fs::error::Result;
use crate::fs::handle::Handle;
use crate::fs::rules::Role;
use crate::store::{Content, Reader};

impl Fs {
    /// Reads from an open file and hands the bytes to `reply`: fewer than asked at the end.
    ///
    /// # Errors
    /// EIO for content that is damaged.
    pub fn read<T>(&self, fh: u64, offset: u64, size: u32, reply: impl FnOnce(&[u8]) -> T) -> Result<T> {
        let handle = self.handle(fh)?;
        if handle.node().is_view() && !self.is_control_file(fh) {
            let (reader, content, length) = self.past_content(handle.node())?;
            return read_range(&reader, &content, length, offset, size, reply);
        }
        if handle.is_virtual {
            return Ok(reply(shown(&handle, offset, size).as_deref().unwrap_or_default()));
        }
        if self.is_drafted(&handle) {
            return self.read_document(&handle, offset, size, reply);
        }
        let node = handle.node();
        let view = self.store.view();
        let inode = self.load(&view, node)?;
        if inode.size == 0 && handle.inode.role() == Role::Lock {
            if offset == 0 {
                *handle.shown.lock() = Some(std::sync::Arc::new(self.describe_lock(node)));
            }
            return Ok(reply(shown(&handle, offset, size).as_deref().unwrap_or_default()));
        }
        self.note_read(view.raw(), node, &inode)?;
        read_range(&view, &Content::of(node.realm, node.local, &inode), inode.size, offset, size, reply)
    }
}

/// Reads a part of a content that is `length` bytes long.
fn read_range<T>(
    reader: &Reader<'_>,
    content: &Content,
    length: u64,
    offset: u64,
    size: u32,
    reply: impl FnOnce(&[u8]) -> T,
) -> Result<T> {
    let end = length.min(offset.saturating_add(u64::from(size)));
    if offset >= end {
        return Ok(reply(b""));
    }
    let mut buffer = vec![0; (end - offset) as usize];
    reader.read_content(content, offset, &mut buffer)?;
    Ok(reply(&buffer))
}

/// A part of the text that an open file shows.
fn shown(handle: &Handle, offset: u64, size: u32) -> Option<Vec<u8>> {
    let shown = handle.shown.lock().clone()?;
    let start = offset.min(shown.len() as u64) as usize;
    let end = (start + size as usize).min(shown.len());
    shown.get(start..end).map(<[u8]>::to_vec)
}
