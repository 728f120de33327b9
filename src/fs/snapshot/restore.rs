//! Going back to a snapshot.

use crate::fs::Fs;
use crate::fs::error::{Result, refuse};
use crate::store::{Epoch, RealmId};

/// What a restore did.
#[derive(Debug)]
pub(in crate::fs) struct Restored {
    /// The name of the snapshot that was taken first.
    pub(in crate::fs) safety: Vec<u8>,
    /// How many inodes and names are different now.
    pub(in crate::fs) changes: u64,
}

impl Fs {
    /// Makes a thread, or some paths in it, what it was at a snapshot; None when it is that already.
    pub(in crate::fs) fn restore(
        &self,
        _realm: RealmId,
        _to: Epoch,
        _name: &[u8],
        _paths: &[Vec<u8>],
    ) -> Result<Option<Restored>> {
        refuse(libc::EOPNOTSUPP)
    }
}
