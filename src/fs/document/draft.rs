//! A private draft: what one open file wrote and nobody else sees.

use crate::fs::error::{Result, refuse};
use crate::store::record::Timestamp;

/// The changes of one open file.
#[derive(Debug, Default)]
pub(in crate::fs) struct Draft {
    pub(in crate::fs) bytes: Vec<u8>,
    /// When it was written last: what a commit makes the mtime.
    pub(in crate::fs) written: Timestamp,
    /// An mtime that was set explicitly after the last write, and so holds against it.
    pub(in crate::fs) mtime: Option<Timestamp>,
}

impl Draft {
    /// A draft that begins as the content that its writer knows.
    pub(in crate::fs) fn from(bytes: &[u8]) -> Draft {
        Draft { bytes: bytes.to_vec(), written: Timestamp::now(), mtime: None }
    }

    /// Writes at an offset; at the draft's own end when appending.
    ///
    /// # Errors
    /// EFBIG over the limit.
    pub(in crate::fs) fn write(&mut self, offset: u64, data: &[u8], append: bool, limit: u64) -> Result<()> {
        let start = if append { self.bytes.len() as u64 } else { offset };
        let end = start.saturating_add(data.len() as u64);
        if end > limit {
            return refuse(libc::EFBIG);
        }
        let (start, end) = (start as usize, end as usize);
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        if let Some(target) = self.bytes.get_mut(start..end) {
            target.copy_from_slice(data);
        }
        self.touch();
        Ok(())
    }

    /// Sets the length.
    ///
    /// # Errors
    /// EFBIG over the limit.
    pub(in crate::fs) fn resize(&mut self, size: u64, limit: u64) -> Result<()> {
        if size > limit {
            return refuse(libc::EFBIG);
        }
        self.bytes.resize(size as usize, 0);
        self.touch();
        Ok(())
    }

    fn touch(&mut self) {
        self.written = Timestamp::now();
        self.mtime = None;
    }
}
