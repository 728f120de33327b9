//! Open files that a restore replaced.
//!
//! The restored file takes over the old one's content, because that is where the past of it is. Who
//! has the old file open goes on with it all the same: its inode, an orphan by then, gets a number of
//! its own for what it writes, and below that a layer that shows the content as it was at the moment
//! of the restore. As long as the orphan lives, that moment is a reference of the realm. Orphans do not
//! outlive the mount, so this is kept in memory.

use super::record::{Inode, Layer};
use super::snapshot::ONE_REALM;
use super::{Local, RealmId, RealmState, Result, Txn, key};

impl Txn<'_> {
    /// Leaves an inode's content to another one.
    pub(super) fn set_apart(&mut self, realm: RealmId, ino: Local, inode: &mut Inode) -> Result<()> {
        let own = self.new_ino(realm)?;
        let epoch = self.epoch(realm)?;
        let layer = Layer { realm, file: inode.file_of(ino), generation: inode.generation, epoch: epoch - 1 };
        inode.layers.insert(0, layer);
        inode.file = own;
        inode.generation_born = epoch;
        self.locked_mut(realm)?.held.push((own, layer));
        Ok(())
    }

    /// An inode no longer shows what lies below its own content.
    pub fn release_layers(&mut self, realm: RealmId, inode: &mut Inode) -> Result<()> {
        for layer in std::mem::take(&mut inode.layers) {
            if layer.realm == realm {
                // The collector looks at what only this reference needed, after a crash too.
                self.put_plain(key::numbered(key::tag::PENDING, realm, layer.epoch), vec![ONE_REALM]);
                self.locked_mut(realm)?.released.push((inode.file, layer));
            }
        }
        Ok(())
    }
}

impl RealmState {
    pub(super) fn hold(&mut self, file: Local, layer: Layer) {
        *self.pins.entry(layer.epoch).or_default() += 1;
        self.apart.insert(file, layer);
    }

    pub(super) fn release(&mut self, file: Local, layer: Layer) {
        if self.apart.get(&file) == Some(&layer) {
            self.apart.remove(&file);
            self.unpin(layer.epoch);
        }
    }

    /// One reference of its kind less.
    pub(super) fn unpin(&mut self, epoch: super::Epoch) {
        match self.pins.get_mut(&epoch) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(self.pins.remove(&epoch)),
        }
    }
}
