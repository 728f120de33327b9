//! STATFS: the numbers of the disk that the store is on.

use super::Fs;
use super::error::Result;
use super::names::NAME_MAX;

/// The unit of the block counts in bytes.
const BLOCK: u64 = 4096;

/// What statvfs(3) tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatFs {
    /// Size of a block in bytes.
    pub block_bytes: u32,
    /// Blocks in all.
    pub blocks: u64,
    /// Free blocks.
    pub free: u64,
    /// Free blocks for ordinary users.
    pub available: u64,
    /// Inodes, and how many more the free space could hold.
    pub files: u64,
    /// How many more inodes the free space could hold.
    pub files_free: u64,
    /// Longest name in bytes.
    pub name_max: u32,
}

impl Fs {
    /// Room on the disk. What is kept for deletions does not count as free.
    pub fn statfs(&self) -> Result<StatFs> {
        let space = self.store.engine().space()?;
        let blocks = |bytes: u64| bytes / BLOCK;
        let free = blocks(space.free.saturating_sub(space.reserve));
        Ok(StatFs {
            block_bytes: BLOCK as u32,
            blocks: blocks(space.total),
            free,
            available: blocks(space.available.saturating_sub(space.reserve)),
            files: self.store.usage().inodes + free,
            files_free: free,
            name_max: NAME_MAX as u32,
        })
    }
}
