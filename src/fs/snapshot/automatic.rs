//! Snapshots that the daemon takes by itself, with the commits of documents.
//!
//! A commit takes one in its own batch, unless there was one within the cooldown; then it only
//! marks the thread. The next commit after the cooldown first keeps the state that the mark
//! stands for, or the clock does. So the last state of a burst is always kept.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::names::AUTOMATIC;
use super::retention;
use crate::fs::error::Result;
use crate::fs::{Fs, Node};
use crate::store::record::{SnapshotKind, SnapshotRecord, Timestamp};
use crate::store::{HOME, RealmId, Txn};

/// Threads whose snapshots are thinned in one go of the clock, at most.
const THINNED_AT_ONCE: usize = 16;

/// A thread with documents that were committed since the mount.
#[derive(Debug, Clone)]
struct Burst {
    last: Instant,
    /// Why the state that is not kept yet is worth it.
    unkept: Option<String>,
}

/// What is under way.
#[derive(Debug, Default)]
pub(in crate::fs) struct Automatic {
    bursts: Mutex<HashMap<RealmId, Burst>>,
    /// Threads that got a snapshot since theirs were thinned.
    grown: Mutex<Vec<RealmId>>,
}

impl Fs {
    /// Whether a realm gets snapshots by itself.
    pub(in crate::fs) fn takes_snapshots(&self, realm: RealmId) -> bool {
        self.options.automatic_snapshots && realm != HOME
    }

    /// Before a commit changes anything: keeps the state that a burst ended with. Says whether there
    /// was one; then [`Fs::snapshot_was_taken`] has to follow the commit.
    pub(in crate::fs) fn keep_burst(&self, txn: &mut Txn<'_>, realm: RealmId) -> Result<bool> {
        if !self.takes_snapshots(realm) {
            return Ok(false);
        }
        let due = {
            let bursts = self.automatic.bursts.lock();
            let due = |burst: &&Burst| burst.last.elapsed() >= self.options.snapshot_cooldown;
            bursts.get(&realm).filter(due).and_then(|burst| burst.unkept.clone())
        };
        match due {
            Some(reason) => take_automatic(txn, realm, reason).map(|()| true),
            None => Ok(false),
        }
    }

    /// With a commit's other changes: takes a snapshot and says so, or within the cooldown only marks
    /// the thread.
    pub(in crate::fs) fn keep_commit(&self, txn: &mut Txn<'_>, realm: RealmId, reason: &str) -> Result<bool> {
        {
            let mut bursts = self.automatic.bursts.lock();
            if let Some(burst) = bursts.get_mut(&realm) {
                if burst.last.elapsed() < self.options.snapshot_cooldown {
                    burst.unkept = Some(reason.to_string());
                    return Ok(false);
                }
            }
        }
        take_automatic(txn, realm, reason.to_string()).map(|()| true)
    }

    /// The commit of a transaction that took a snapshot is done. `unkept` says why the state that it
    /// left is worth keeping, if the snapshot came before its changes.
    pub(in crate::fs) fn snapshot_was_taken(&self, realm: RealmId, unkept: Option<String>) {
        self.automatic.bursts.lock().insert(realm, Burst { last: Instant::now(), unkept });
        let mut grown = self.automatic.grown.lock();
        if !grown.contains(&realm) {
            grown.push(realm);
        }
    }

    /// Keeps the last states of bursts that are over, and thins what has grown. Called by the clock.
    pub(in crate::fs) fn tend_snapshots(&self) {
        let cooldown = self.options.snapshot_cooldown;
        let over: Vec<RealmId> = {
            let mut bursts = self.automatic.bursts.lock();
            // A thread that has been quiet for long needs no memory of its last burst.
            bursts
                .retain(|_, burst| burst.unkept.is_some() || burst.last.elapsed() < cooldown + Duration::from_secs(60));
            bursts
                .iter()
                .filter(|(_, burst)| burst.unkept.is_some() && burst.last.elapsed() >= cooldown)
                .map(|(realm, _)| *realm)
                .collect()
        };
        for realm in over {
            if let Err(error) = self.end_burst(realm) {
                self.metrics.snapshots_failed.add(1);
                log::error!("realm {}: the last state of a burst could not be kept: {error}", realm.0);
            }
        }
        let grown: Vec<RealmId> = {
            let mut grown = self.automatic.grown.lock();
            let count = grown.len().min(THINNED_AT_ONCE);
            grown.drain(..count).collect()
        };
        for realm in grown {
            if let Err(error) = self.thin(realm) {
                log::error!("realm {}: old snapshots could not be dropped: {error}", realm.0);
            }
        }
    }

    fn end_burst(&self, realm: RealmId) -> Result<()> {
        let exists = self.store.realm(realm).is_some_and(|realm| realm.read().record.dead.is_none());
        if !exists {
            self.automatic.bursts.lock().remove(&realm);
            return Ok(());
        }
        let mut txn = self.store.begin(&[realm])?;
        if self.keep_burst(&mut txn, realm)? {
            self.commit(txn)?;
            self.snapshot_was_taken(realm, None);
        }
        Ok(())
    }

    /// Drops the snapshots of a thread that retention does not keep.
    fn thin(&self, realm: RealmId) -> Result<()> {
        let snapshots = self.snapshots_of(realm)?;
        let unkept = retention::unkept(&snapshots, Timestamp::now(), &self.options);
        self.metrics.snapshots_pruned.add(unkept.len() as u64);
        for epoch in unkept {
            self.store.drop_snapshot(realm, epoch)?;
        }
        Ok(())
    }

    /// The name of an open document, for reasons.
    pub(in crate::fs) fn name_for_reason(&self, records: &impl crate::store::Records, node: Node) -> Vec<u8> {
        self.name_of(records, node).ok().flatten().map_or_else(|| b"a document".to_vec(), |(_, name)| name)
    }
}

fn take_automatic(txn: &mut Txn<'_>, realm: RealmId, reason: String) -> Result<()> {
    let time = Timestamp::now();
    let name = [AUTOMATIC, retention::stamp(time).as_bytes()].concat();
    let record = SnapshotRecord { time, ..SnapshotRecord::new(SnapshotKind::Automatic, name, reason) };
    txn.take_snapshot(realm, &record)?;
    Ok(())
}
