//! LSEEK, of which only the holes come here.

use crate::fs::Fs;
use crate::fs::error::{Result, refuse};
use crate::store::{Content, Reader};

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whence {
    /// SEEK_DATA.
    Data,
    /// SEEK_HOLE.
    Hole,
}

impl Fs {
    /// The next data or hole at or behind an offset, as lseek(2). The unit is the chunk.
    ///
    /// # Errors
    /// ENXIO at or behind the end, and when no data follows.
    pub fn seek(&self, fh: u64, offset: u64, whence: Whence) -> Result<u64> {
        let handle = self.handle(fh)?;
        if handle.node().is_view() {
            let (reader, content, size) = self.past_content(handle.node())?;
            return next(&reader, &content, size, offset, whence);
        }
        if handle.is_virtual || self.is_drafted(&handle) {
            let size = match (handle.is_virtual, &handle.progress.lock().draft) {
                (true, _) => handle.shown.lock().as_ref().map_or(0, |shown| shown.len()),
                (false, Some(draft)) => draft.bytes.len(),
                (false, None) => self.committed(&handle.inode)?.bytes.len(),
            } as u64;
            // Whole data, and the hole that is behind every end.
            return match whence {
                _ if offset >= size => refuse(libc::ENXIO),
                Whence::Data => Ok(offset),
                Whence::Hole => Ok(size),
            };
        }
        let node = handle.node();
        let view = self.store.view();
        let inode = self.load(&view, node)?;
        next(&view, &Content::of(node.realm, node.local, &inode), inode.size, offset, whence)
    }
}

fn next(reader: &Reader<'_>, content: &Content, size: u64, offset: u64, whence: Whence) -> Result<u64> {
    if offset >= size {
        return refuse(libc::ENXIO);
    }
    match (reader.data_at(content, offset, size)?, whence) {
        (Some(run), Whence::Data) => Ok(run.start),
        (None, Whence::Data) => refuse(libc::ENXIO),
        (Some(run), Whence::Hole) if run.start <= offset => Ok(run.end),
        (_, Whence::Hole) => Ok(offset),
    }
}
