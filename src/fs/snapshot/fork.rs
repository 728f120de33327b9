//! Branching off.

use crate::fs::error::{Result, refuse};
use crate::fs::namespace::RECORD_BYTES;
use crate::fs::{Fs, Node, names};
use crate::store::record::{Dirent, Inode, Kind, Target, Timestamp};
use crate::store::{Epoch, HOME, RealmId};

impl Fs {
    /// Makes a thread that begins as another one is, or was at a snapshot. In constant time: both
    /// share what neither changes.
    ///
    /// # Errors
    /// EINVAL where the name is no thread's; EEXIST; ENOENT for a thread or a snapshot that is gone.
    pub fn fork(&self, source: RealmId, at: Option<Epoch>, dir: Node, name: &[u8]) -> Result<()> {
        let mut timer = self.metrics.snapshot_seconds("fork");
        let done = self.fork_in(source, at, dir, name);
        if done.is_err() {
            timer.fail();
        }
        done
    }

    fn fork_in(&self, source: RealmId, at: Option<Epoch>, dir: Node, name: &[u8]) -> Result<()> {
        names::check_new(dir, name)?;
        if source == HOME || dir.realm != HOME || !self.rules.is_thread(&*self.rules_of(dir)?, name) {
            return refuse(libc::EINVAL);
        }
        let mut txn = match self.store.realm(source) {
            Some(_) => self.store.begin(&[HOME, source])?,
            None => return refuse(libc::ENOENT),
        };
        if at.is_some_and(|at| !txn.is_reference(source, at)) || txn.is_retired(source)? {
            return refuse(libc::ENOENT);
        }
        let mut parent = self.dir_inode(&txn, dir)?;
        if self.dirent(&txn, dir, name)?.is_some() {
            return refuse(libc::EEXIST);
        }
        let now = Timestamp::now();
        let id = txn.fork_realm(source, at, |root| Inode { parent: dir.local, ctime: now, ..root })?;
        let dirent = Dirent { target: Target::Thread(id), kind: Kind::Directory };
        self.add_name(&mut txn, dir, &mut parent, name, &dirent, now)?;
        txn.grow(RECORD_BYTES);
        self.commit(txn)?;
        self.tell(|kernel| kernel.attributes(dir));
        Ok(())
    }
}
