//! Going back to a snapshot.

use crate::fs::error::{Result, refuse};
use crate::fs::namespace::RECORD_BYTES;
use crate::fs::{Fs, Node};
use crate::store::record::SnapshotRecord;
use crate::store::{Epoch, HOME, RealmId, Restoration, Txn};

/// What a restore did.
#[derive(Debug)]
pub struct Restored {
    /// The name of the snapshot that was taken first.
    pub safety: Vec<u8>,
    /// How many inodes and names are different now.
    pub changes: u64,
}

impl Fs {
    /// Makes a thread, or some paths in it, what it was at a snapshot; None when it is that already.
    /// `safety` is the snapshot that is taken first. When it returns, the kernel has forgotten
    /// whatever became untrue: not to be called from a thread that serves requests.
    ///
    /// # Errors
    /// ENOENT for a snapshot that is gone, and for a path that it does not have.
    pub fn restore(
        &self,
        realm: RealmId,
        to: Epoch,
        safety: &SnapshotRecord,
        paths: &[Vec<u8>],
    ) -> Result<Option<Restored>> {
        if realm == HOME || self.store.realm(realm).is_none() {
            return refuse(libc::ENOENT);
        }
        let mut txn = self.store.begin(&[realm])?;
        if !txn.is_reference(realm, to) || txn.is_retired(realm)? {
            return refuse(libc::ENOENT);
        }
        txn.take_snapshot(realm, safety)?;
        let done = self.restore_in(&mut txn, realm, to, paths)?;
        if done.is_empty() {
            return Ok(None);
        }
        let changes = done.directories.len() + done.names.len();
        txn.grow(RECORD_BYTES * changes as u64);
        self.commit(txn)?;
        self.snapshot_was_taken(realm, Some(safety.reason.replace("before", "after")));
        self.restored(realm, done);
        Ok(Some(Restored { safety: safety.name.clone(), changes: changes as u64 }))
    }

    fn restore_in(&self, txn: &mut Txn<'_>, realm: RealmId, to: Epoch, paths: &[Vec<u8>]) -> Result<Restoration> {
        match paths {
            [] => Ok(txn.restore(realm, to)?),
            _ => refuse(libc::EOPNOTSUPP),
        }
    }

    /// What is known of a realm in memory, here and in the kernel, is brought up to a restore.
    pub(in crate::fs) fn restored(&self, realm: RealmId, done: Restoration) {
        let node = |local| Node { realm, local };
        if done.moved_directories {
            self.rules.paths_changed();
            self.documents.forget_all();
        }
        for gone in done.gone {
            self.documents.forget(node(gone));
            self.purge_unless_known(Some(node(gone)));
            self.tell(|kernel| kernel.attributes(node(gone)));
        }
        self.tell(|kernel| {
            done.directories.iter().for_each(|dir| kernel.listing(node(*dir)));
            done.names.iter().for_each(|(dir, name)| kernel.name(node(*dir), name));
        });
    }
}
