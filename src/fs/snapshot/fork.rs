//! Branching off.

use crate::fs::attr::Caller;
use crate::fs::error::{Result, refuse};
use crate::fs::{Fs, Node};
use crate::store::{Epoch, RealmId};

impl Fs {
    /// Makes a thread that begins as another one is, or was at a snapshot.
    pub(in crate::fs) fn fork(
        &self,
        _caller: Caller,
        _source: RealmId,
        _at: Option<Epoch>,
        _dir: Node,
        _name: &[u8],
    ) -> Result<()> {
        refuse(libc::EOPNOTSUPP)
    }
}
