//! Going back to a snapshot.

use crate::fs::error::{Result, refuse};
use crate::fs::namespace::RECORD_BYTES;
use crate::fs::{Fs, Node};
use crate::store::record::SnapshotRecord;
use crate::store::{Epoch, HOME, RealmId, Refusal, Restoration};

/// What came of a restore.
#[derive(Debug, PartialEq, Eq)]
pub enum Restored {
    /// Everything was as it had been: nothing was done.
    Already,
    /// It is done.
    Done {
        /// The name of the snapshot that was taken first.
        safety: Vec<u8>,
        /// How many directories and names are different now.
        changes: u64,
    },
    /// Nothing was done, because of a path.
    Refused {
        /// Which one.
        path: Vec<u8>,
        /// Why.
        why: Refusal,
    },
}

impl Fs {
    /// Makes a thread, or some paths in it, what it was at a snapshot. `safety` is the snapshot that is
    /// taken first. When it returns, the kernel has forgotten whatever became untrue: not to be called
    /// from a thread that serves requests.
    ///
    /// # Errors
    /// ENOENT for a snapshot or a thread that is gone; EINVAL for the whole home; ENOSPC.
    pub fn restore(&self, realm: RealmId, to: Epoch, safety: &SnapshotRecord, paths: &[Vec<u8>]) -> Result<Restored> {
        let mut timer = self.metrics.snapshot_seconds("restore");
        let done = self.restore_in(realm, to, safety, paths);
        if done.is_err() {
            timer.fail();
        }
        done
    }

    fn restore_in(&self, realm: RealmId, to: Epoch, safety: &SnapshotRecord, paths: &[Vec<u8>]) -> Result<Restored> {
        if realm == HOME {
            return refuse(libc::EINVAL);
        }
        if self.store.realm(realm).is_none() {
            return refuse(libc::ENOENT);
        }
        let mut txn = self.store.begin(&[realm])?;
        if !txn.is_reference(realm, to) || txn.is_retired(realm)? {
            return refuse(libc::ENOENT);
        }
        txn.take_snapshot(realm, safety)?;
        let done = match paths {
            [] => txn.restore(realm, to)?,
            _ => match txn.restore_paths(realm, to, paths)? {
                Ok(done) => done,
                Err((path, why)) => return Ok(Restored::Refused { path, why }),
            },
        };
        if done.is_empty() {
            return Ok(Restored::Already);
        }
        let changes = (done.directories.len() + done.names.len()) as u64;
        txn.grow(RECORD_BYTES * changes);
        self.commit(txn)?;
        self.metrics.snapshots_automatic.add(1);
        let unkept = safety.reason.replacen("before", "after", 1);
        self.snapshot_was_taken(realm, self.takes_snapshots(realm).then_some(unkept));
        self.restored(realm, done);
        Ok(Restored::Done { safety: safety.name.clone(), changes })
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
