//! A private draft: what one open file wrote and nobody else sees.

use crate::fs::error::{Result, refuse};
use crate::fs::file::SetId;
use crate::store::record::Timestamp;

/// The changes of one open file.
#[derive(Debug, Default)]
pub(in crate::fs) struct Draft {
    pub(in crate::fs) bytes: Vec<u8>,
    /// When it was written last: what a commit makes the mtime.
    pub(in crate::fs) written: Timestamp,
    /// An mtime that was set explicitly after the last write, and so holds against it.
    pub(in crate::fs) mtime: Option<Timestamp>,
    /// What its commit makes of the set-user-ID and set-group-ID bits, unless chmod(2) gave them after the
    /// last write.
    pub(in crate::fs) setid: SetId,
    /// Whether the commit takes the capabilities away, which were not given after the last write.
    pub(in crate::fs) drops_capability: bool,
}

impl Draft {
    /// A draft that begins as the content that its writer knows.
    pub(in crate::fs) fn from(bytes: &[u8]) -> Draft {
        Draft { bytes: bytes.to_vec(), written: Timestamp::now(), ..Draft::default() }
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

    /// Notes by whom it was changed.
    pub(in crate::fs) fn drop_privileges(&mut self, setid: SetId) {
        self.setid = self.setid.and(setid);
        self.drops_capability = true;
    }

    fn touch(&mut self) {
        self.written = Timestamp::now();
        self.mtime = None;
    }
}
