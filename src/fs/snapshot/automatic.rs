//! Snapshots that the daemon takes by itself: with the commits of documents, before removals, when a
//! writer ended in the middle of its work, and after so many changes.
//!
//! A commit takes one in its own batch, unless there was one within the cooldown; then it only
//! marks the thread. The next commit after the cooldown first keeps the state that the mark
//! stands for, or the clock does. So the last state of a burst is always kept.
//!
//! A removal takes one first, of the state that it ends, if something else changed since the last
//! snapshot. Programs make and remove temporary files all the time (journals, lock files, objects in
//! the making): so within the cooldown only the removal of what is in an older state in the last
//! snapshot takes another.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::names::AUTOMATIC;
use super::retention;
use crate::fs::attr::Caller;
use crate::fs::error::Result;
use crate::fs::process::command_of;
use crate::fs::{Fs, Node};
use crate::store::record::{SnapshotKind, SnapshotRecord, Timestamp};
use crate::store::{HOME, RealmId, Records, Txn, key};

/// Threads whose snapshots are thinned in one go of the clock, at most.
const THINNED_AT_ONCE: usize = 16;

/// Snapshots of one thread that are dropped in one go, at most.
const DROPPED_AT_ONCE: usize = 64;

/// Longest command that is kept, in bytes.
const COMMAND_MAX: usize = 256;

/// Threads that are looked at for old snapshots in one go, at most.
const LOOKED_AT: usize = 1024;

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
    /// Threads whose snapshots are to be thinned: they got one, or the others grew old.
    unthinned: Mutex<BTreeSet<RealmId>>,
    /// Where the search for those that grew old goes on.
    aged_from: Mutex<RealmId>,
    /// When a removal last took a snapshot of a thread.
    removals: Mutex<HashMap<RealmId, Instant>>,
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
            // Whoever made it may be gone by now.
            Some(reason) => take_automatic(txn, realm, reason, 0).map(|()| true),
            None => Ok(false),
        }
    }

    /// With a commit's other changes: takes a snapshot and says so, or within the cooldown only marks
    /// the thread.
    pub(in crate::fs) fn keep_commit(&self, txn: &mut Txn<'_>, realm: RealmId, reason: &str, pid: u32) -> Result<bool> {
        {
            let mut bursts = self.automatic.bursts.lock();
            if let Some(burst) = bursts.get_mut(&realm)
                && burst.last.elapsed() < self.options.snapshot_cooldown
            {
                burst.unkept = Some(reason.to_string());
                return Ok(false);
            }
        }
        take_automatic(txn, realm, reason.to_string(), pid).map(|()| true)
    }

    /// Before a removal changes anything: keeps the state that it ends, if that is worth it. Says
    /// whether; then [`Fs::removal_was_kept`] has to follow the commit.
    pub(in crate::fs) fn keep_before_removal(
        &self,
        txn: &mut Txn<'_>,
        removed: Node,
        name: &[u8],
        caller: Caller,
    ) -> Result<bool> {
        txn.set_removal();
        let realm = removed.realm;
        // A thread's own directory is empty when it is removed: what emptied it kept its state.
        if !self.takes_snapshots(realm) || removed.is_thread_root() || !txn.is_changed(realm)? {
            return Ok(false);
        }
        let last = self.automatic.removals.lock().get(&realm).copied();
        if last.is_some_and(|last| last.elapsed() < self.options.snapshot_cooldown)
            && !self.is_kept_otherwise(txn, removed)?
        {
            return Ok(false);
        }
        // Who makes room must get it: a snapshot would keep what is removed.
        if self.is_short_of_room() {
            return Ok(false);
        }
        let name = String::from_utf8_lossy(name);
        let reason = format!("before the removal of {name} by process {}", caller.pid);
        take_automatic(txn, realm, reason, caller.pid).map(|()| true)
    }

    /// Whether the last snapshot has a file in an older state.
    fn is_kept_otherwise(&self, txn: &Txn<'_>, node: Node) -> Result<bool> {
        let inode = txn.named_inode(node.realm, node.local)?;
        let was_there = txn.last_snapshot_time(node.realm)?.is_some_and(|taken| inode.btime < taken);
        // Of a directory, what was removed from it before is a change.
        Ok(was_there && !inode.is_dir() && txn.is_record_changed(node.realm, &key::inode(node.realm, node.local))?)
    }

    /// The removal that kept the state before it is done.
    pub(in crate::fs) fn removal_was_kept(&self, realm: RealmId) {
        self.automatic.removals.lock().insert(realm, Instant::now());
        self.snapshot_was_taken(realm, None);
    }

    /// Keeps the state in which a writer left a thread that ended in the middle of its work.
    pub(in crate::fs) fn keep_interrupted(&self, realm: RealmId, reason: &str, pid: u32) {
        let keep = || -> Result<()> {
            let mut txn = self.store.begin(&[realm])?;
            if !txn.is_retired(realm)? && self.keep_commit(&mut txn, realm, reason, pid)? {
                self.commit(txn)?;
                self.snapshot_was_taken(realm, None);
            }
            Ok(())
        };
        if !self.takes_snapshots(realm) {
            return;
        }
        if let Err(error) = keep() {
            self.metrics.snapshots_failed.add(1);
            log::error!("realm {}: the state after {reason} could not be kept: {error}", realm.0);
        }
    }

    /// With a transaction's other changes: takes a snapshot of a thread that changed often enough
    /// since the last one, or within the cooldown marks it. Returns the threads that got one; then
    /// [`Fs::snapshot_was_taken`] has to follow the commit.
    pub(in crate::fs) fn keep_after_changes(&self, txn: &mut Txn<'_>) -> Result<Vec<RealmId>> {
        let every = self.options.snapshot_changes;
        let mut taken = Vec::new();
        if every == 0 || !self.options.automatic_snapshots {
            return Ok(taken);
        }
        for realm in txn.changed_realms() {
            let changes = txn.changes(realm)?;
            if changes >= every
                && self.takes_snapshots(realm)
                && self.keep_commit(txn, realm, &format!("after {changes} changes"), 0)?
            {
                taken.push(realm);
            }
        }
        Ok(taken)
    }

    /// The commit of a transaction that took a snapshot is done. `unkept` says why the state that it
    /// left is worth keeping, if the snapshot came before its changes.
    pub(in crate::fs) fn snapshot_was_taken(&self, realm: RealmId, unkept: Option<String>) {
        self.metrics.snapshots_automatic.add(1);
        self.automatic.bursts.lock().insert(realm, Burst { last: Instant::now(), unkept });
        self.automatic.unthinned.lock().insert(realm);
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
        self.automatic.removals.lock().retain(|_, last| last.elapsed() < cooldown);
        for realm in over {
            if let Err(error) = self.end_burst(realm) {
                self.metrics.snapshots_failed.add(1);
                log::error!("realm {}: the last state of a burst could not be kept: {error}", realm.0);
            }
        }
        let unthinned: Vec<RealmId> = {
            let mut all = self.automatic.unthinned.lock();
            (0..THINNED_AT_ONCE).map_while(|_| all.pop_first()).collect()
        };
        for realm in unthinned {
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
        let _timer = self.metrics.snapshot_seconds("take");
        let mut txn = self.store.begin(&[realm])?;
        if txn.is_retired(realm)? {
            return Ok(());
        }
        if self.keep_burst(&mut txn, realm)? {
            self.commit(txn)?;
            self.snapshot_was_taken(realm, None);
        }
        Ok(())
    }

    /// Looks for threads whose snapshots have grown old, without a new one. Called by the clock, now
    /// and then; goes on where the last call ended.
    pub(in crate::fs) fn find_aged_snapshots(&self) {
        let mut from = self.automatic.aged_from.lock();
        let realms = self.store.realms_from(*from, LOOKED_AT);
        *from = match realms.last() {
            Some(last) if realms.len() == LOOKED_AT => RealmId(last.id().0 + 1),
            _ => HOME,
        };
        let aged = realms.iter().filter(|realm| realm.id() != HOME && realm.read().snapshots.len() > 1);
        self.automatic.unthinned.lock().extend(aged.map(|realm| realm.id()));
    }

    /// Drops the snapshots of a thread that retention does not keep. Those of a deleted one stay.
    fn thin(&self, realm: RealmId) -> Result<()> {
        if self.store.realm(realm).is_none_or(|realm| realm.read().record.dead.is_some()) {
            return Ok(());
        }
        let snapshots = self.snapshots_of(realm)?;
        let unkept = retention::unkept(&snapshots, Timestamp::now(), &self.options);
        if unkept.len() > DROPPED_AT_ONCE {
            self.automatic.unthinned.lock().insert(realm);
        }
        for epoch in unkept.into_iter().take(DROPPED_AT_ONCE) {
            self.store.drop_snapshot(realm, epoch)?;
            self.metrics.snapshots_pruned.add(1);
        }
        Ok(())
    }

    /// The name of an open document, for reasons.
    pub(in crate::fs) fn name_for_reason(&self, records: &impl crate::store::Records, node: Node) -> Vec<u8> {
        self.name_of(records, node).ok().flatten().map_or_else(|| b"a document".to_vec(), |(_, name)| name)
    }
}

/// Takes one, for a process if one is known.
fn take_automatic(txn: &mut Txn<'_>, realm: RealmId, reason: String, pid: u32) -> Result<()> {
    txn.take_snapshot(realm, &automatic_record(reason, pid))?;
    Ok(())
}

/// An automatic snapshot that is taken now, for a process if one is known.
pub(super) fn automatic_record(reason: String, pid: u32) -> SnapshotRecord {
    let time = Timestamp::now();
    let name = [AUTOMATIC, unique_stamp(time).as_bytes()].concat();
    let command = if pid == 0 { String::new() } else { command_of(pid, COMMAND_MAX) };
    let record = SnapshotRecord { time, ..SnapshotRecord::new(SnapshotKind::Automatic, name, reason) };
    record.taken_by(pid, command)
}

/// A time as it stands in a name, moved on where another snapshot has that name.
fn unique_stamp(time: Timestamp) -> String {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let now = time.secs.saturating_mul(1000) + i64::from(time.nanos / 1_000_000);
    let last = LAST.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(now.max(last + 1)));
    let millis = now.max(last.unwrap_or(0) + 1);
    let nanos = (millis.rem_euclid(1000) * 1_000_000) as u32;
    retention::stamp(Timestamp { secs: millis.div_euclid(1000), nanos })
}
