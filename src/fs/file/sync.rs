//! FSYNC and FSYNCDIR.

use crate::fs::Fs;
use crate::fs::error::Result;

impl Fs {
    /// Makes an open file durable; of a document, commits its draft first.
    ///
    /// # Errors
    /// EBADMSG for a draft that is not valid; EIO.
    pub fn fsync(&self, fh: u64, pid: u32) -> Result<()> {
        let handle = self.handle(fh)?;
        if handle.progress.lock().draft.is_some() {
            return self.commit_handle(&handle, pid, true);
        }
        self.store.sync()?;
        Ok(())
    }

    /// Makes a directory durable: with all else, as the store has one log.
    ///
    /// # Errors
    /// EIO.
    pub fn fsyncdir(&self) -> Result<()> {
        self.store.sync()?;
        Ok(())
    }
}
