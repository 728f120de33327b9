//! Branching off: a realm that shows another one where it has nothing of its own.

use super::record::{Inode, RealmRecord};
use super::{Epoch, ROOT, RealmId, RealmState, Records, Result, Txn};

impl Txn<'_> {
    /// Makes a realm that begins as another one is, or was at one of its references. `root` changes
    /// the root directory for its new place. In constant time: what the fork does not change, it reads
    /// from its base, which keeps it for as long as the fork lives.
    pub fn fork_realm(
        &mut self,
        base: RealmId,
        at: Option<Epoch>,
        root: impl FnOnce(Inode) -> Inode,
    ) -> Result<RealmId> {
        let (at, inode, usage) = match at {
            Some(at) => {
                let past = self.store.view().at(at);
                (at, past.named_inode(base, ROOT)?, past.usage_record(base)?)
            }
            None => (self.begin_epoch(base)?, self.named_inode(base, ROOT)?, self.locked(base)?.usage),
        };
        let parent = self.locked_mut(base)?;
        parent.pinned.push(at);
        // No number of the base is used again: chunks of both are filed under the same ones.
        let next = parent.state.next;
        let record = RealmRecord { base: Some((base, at)), last_snapshot: at, ..RealmRecord::default() };
        let id = self.add_realm(RealmState { record, next, ..RealmState::default() })?;
        self.put_inode(id, ROOT, &root(inode))?;
        self.add_usage(id, usage.inodes as i64, usage.bytes as i64)?;
        Ok(id)
    }
}
