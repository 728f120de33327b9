//! Versions over their age, by the clock: a document that nobody commits again has old ones too.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::engine::Keyspace;
use crate::fs::error::Result;
use crate::fs::{Fs, Node};
use crate::store::record::{Kind, Timestamp, VersionRecord};
use crate::store::{Local, RealmId, key, try_scan};

/// Versions that are looked at in one go, at most.
const LOOKED_AT: usize = 4096;

/// Documents whose versions are dropped in one go, at most.
const DOCUMENTS: usize = 64;

impl Fs {
    /// Drops versions over their age, of some documents. The next call goes on behind them.
    pub(in crate::fs) fn expire_versions(&self) -> Result<()> {
        let cutoff = Timestamp::now().secs - self.options.version_age.as_secs() as i64;
        let all = key::all(key::tag::VERSION);
        let from = std::mem::take(&mut *self.documents.expired_up_to.lock()).max(all.clone());
        let mut old = BTreeSet::new();
        let (mut seen, mut before, mut last) = (0, None, Vec::new());
        let ended = try_scan(self.store.engine(), Keyspace::Meta, &from, &key::after(&all), &mut |found, value| {
            if seen == LOOKED_AT || old.len() == DOCUMENTS {
                return Ok(ControlFlow::Break(()));
            }
            seen += 1;
            let (Some(realm), Some(file)) = (key::realm_of(found), key::number_of(found)) else {
                return Ok(ControlFlow::Continue(()));
            };
            // One with a newer one behind it can go.
            if before == Some((realm, file)) {
                old.insert((realm, Local(file)));
            }
            before = (VersionRecord::decode(value)?.time.secs < cutoff).then_some((realm, file));
            last = found.to_vec();
            Ok(ControlFlow::Continue(()))
        });
        ended?;
        if seen == LOOKED_AT || old.len() == DOCUMENTS {
            // The last one too is looked at again, because the one behind it was not.
            *self.documents.expired_up_to.lock() = last;
        }
        old.into_iter().try_for_each(|(realm, file)| self.expire_versions_of(realm, file, cutoff))
    }

    fn expire_versions_of(&self, realm: RealmId, file: Local, cutoff: i64) -> Result<()> {
        if self.store.realm(realm).is_none() {
            return Ok(());
        }
        let mut txn = self.store.begin(&[realm])?;
        for local in self.store.owners(realm, file)? {
            let node = Node { realm, local };
            let inode = match self.load_in(&txn, node) {
                Ok((inode, _)) => inode,
                Err(error) if error.errno() == libc::ESTALE => continue,
                Err(error) => return Err(error),
            };
            if inode.kind != Kind::File || inode.file_of(local) != file {
                continue;
            }
            // Of one that is open, the next commit drops them, which counts them too.
            if self.handles.inode(node).is_some() {
                return Ok(());
            }
            let mut kept = self.kept_versions(node, &inode)?;
            self.drop_oldest(&mut txn, node, &inode, &mut kept, |_, old| old.time.secs < cutoff)?;
            // While the transaction holds the realm: the next commit counts anew.
            self.documents.kept.lock().remove(&node);
            return self.commit(txn);
        }
        Ok(())
    }
}
