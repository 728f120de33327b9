//! Bringing a deleted thread back.

use crate::fs::attr::Caller;
use crate::fs::error::{Result, refuse};
use crate::fs::namespace::{RECORD_BYTES, orphan_key};
use crate::fs::{Fs, Node, names};
use crate::store::record::{Dirent, Inode, Kind, Target, Timestamp};
use crate::store::{HOME, ROOT, RealmId, Records};

/// The attribute of a directory that, when it is set, brings a deleted thread back into it. Its value:
/// the realm's number, the name of a snapshot (empty for the newest) and the thread's name, with a NUL
/// between. The kernel has checked that the caller may write there.
pub const UNDELETE: &[u8] = b"user.threadfs.undelete";

impl Fs {
    /// What [`UNDELETE`] asks for.
    ///
    /// # Errors
    /// EINVAL for a value that is no such request, and where the name is no thread's; ENOENT for a
    /// thread or a snapshot that is not kept; EEXIST; EPERM for who neither is root nor owned it.
    pub fn undelete_request(&self, caller: Caller, dir: Node, value: &[u8]) -> Result<()> {
        let mut timer = self.metrics.snapshot_seconds("undelete");
        let mut parts = value.splitn(3, |byte| *byte == 0);
        let realm = parts.next().and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
        let (Some(realm), Some(snapshot), Some(name)) = (realm, parts.next(), parts.next()) else {
            return refuse(libc::EINVAL);
        };
        let done = self.undelete(caller, RealmId(realm), snapshot, dir, name);
        if done.is_err() {
            timer.fail();
        }
        done
    }

    fn undelete(&self, caller: Caller, realm: RealmId, snapshot: &[u8], dir: Node, name: &[u8]) -> Result<()> {
        names::check_new(dir, name)?;
        if dir.realm != HOME || !self.rules.is_thread(&*self.rules_of(dir)?, name) {
            return refuse(libc::EINVAL);
        }
        if self.deletion_of(realm).is_none() {
            return refuse(libc::ENOENT);
        }
        let found = match snapshot {
            b"" => self.snapshots_of(realm)?.pop(),
            name => self.kept_state(realm, name)?,
        };
        let Some((epoch, _)) = found else { return refuse(libc::ENOENT) };
        let mut txn = self.store.begin(&[HOME, realm])?;
        // Looked at again under the lock: it may be back, or forgotten, by now.
        if !txn.is_kept_deleted(realm)? || !txn.is_reference(realm, epoch) {
            return refuse(libc::ENOENT);
        }
        let root = self.store.view().at(epoch).named_inode(realm, ROOT)?;
        if caller.uid != 0 && caller.uid != root.uid {
            return refuse(libc::EPERM);
        }
        let mut parent = self.dir_inode(&txn, dir)?;
        if self.dirent(&txn, dir, name)?.is_some() {
            return refuse(libc::EEXIST);
        }
        let now = Timestamp::now();
        let node = Node { realm, local: ROOT };
        txn.revive_realm(realm)?;
        // A shell may still stand in it. What the kernel knows of it is told apart by the generation.
        txn.delete_plain(orphan_key(node));
        // Empty, as it was when it was removed: what restore begins from may be kept for open files.
        let empty = Inode { parent: dir.local, nlink: 2, size: 0, xattrs: 0, ..root };
        txn.put_inode(realm, ROOT, &empty)?;
        txn.add_usage(realm, 1, 0)?;
        let dirent = Dirent { target: Target::Thread(realm), kind: Kind::Directory };
        self.add_name(&mut txn, dir, &mut parent, name, &dirent, now)?;
        let done = txn.restore(realm, epoch)?;
        // Its name is as good as new.
        let root = txn.named_inode(realm, ROOT)?;
        txn.put_inode(realm, ROOT, &Inode { ctime: now, ..root })?;
        txn.grow(RECORD_BYTES * (1 + done.names.len() as u64));
        self.commit(txn)?;
        self.life_has_changed(realm);
        self.rules.forget(node);
        self.tell(|kernel| kernel.attributes(dir));
        Ok(())
    }

    /// The generation of an inode number, which together with it is never used twice: a thread that
    /// came back has the number that it had, and the kernel may still know that as a directory that
    /// was removed, in which nothing can be.
    pub fn generation(&self, node: Node) -> u64 {
        if !node.is_thread_root() || node.is_virtual() {
            return 0;
        }
        self.store.realm(node.realm).map_or(0, |realm| realm.read().record.absences.len() as u64)
    }
}
