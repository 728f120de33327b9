//! Deleted threads whose snapshots are kept for a while, so that the thread can come back.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use serde::Serialize;

use crate::fs::attr::Caller;
use crate::fs::error::Result;
use crate::fs::process::command_of;
use crate::fs::virtualdir::rfc3339;
use crate::fs::{Fs, Node};
use crate::store::record::{Deletion, Timestamp};
use crate::store::{RealmId, Records, Txn};

/// Threads that are forgotten in one go of the clock, at most.
const AT_ONCE: usize = 16;

/// Longest command that is kept, in bytes.
const COMMAND_MAX: usize = 256;

/// The deleted threads that are kept, oldest deletion first.
#[derive(Debug, Default)]
pub(in crate::fs) struct DeletedThreads {
    by_time: Mutex<BTreeSet<(Timestamp, RealmId)>>,
}

#[derive(Serialize)]
struct Listed {
    realm: u32,
    id: String,
    path: String,
    deleted: String,
    gone_at: String,
    uid: u32,
    pid: u32,
    command: String,
    bytes: u64,
    snapshots: Vec<Kept>,
}

#[derive(Serialize)]
struct Kept {
    name: String,
    time: String,
    reason: String,
}

impl Fs {
    /// Ends a thread, with the transaction that removes its directory. Its snapshots stay for a
    /// while, if it has any.
    pub(in crate::fs) fn end_thread(
        &self,
        txn: &mut Txn<'_>,
        realm: RealmId,
        (dir, name): (Node, &[u8]),
        caller: Caller,
        time: Timestamp,
    ) -> Result<()> {
        if self.options.keep_deleted.is_zero() || !txn.has_snapshots(realm)? {
            txn.drop_snapshots(realm)?;
        } else {
            let above = self.path_of(dir)?.unwrap_or_default();
            let path = if above.is_empty() { name.to_vec() } else { [&above, name].join(&b'/') };
            let command = command_of(caller.pid, COMMAND_MAX);
            txn.keep_deleted(realm, Deletion { time, path, uid: caller.uid, pid: caller.pid, command })?;
        }
        Ok(txn.retire_realm(realm)?)
    }

    /// The transaction that ended a thread, or brought it back, is done.
    pub(in crate::fs) fn life_has_changed(&self, realm: RealmId) {
        let deletion = self.deletion_of(realm);
        let mut all = self.deleted.by_time.lock();
        all.retain(|(_, known)| *known != realm);
        if let Some(deletion) = deletion {
            all.insert((deletion.time, realm));
        }
    }

    /// How a thread was deleted, if it is kept.
    pub(super) fn deletion_of(&self, realm: RealmId) -> Option<Deletion> {
        self.store.realm(realm)?.read().record.deletion.clone()
    }

    /// Learns what earlier mounts kept.
    pub(in crate::fs) fn load_deleted(&self) {
        let mut all = self.deleted.by_time.lock();
        for realm in self.store.realms() {
            if let Some(deletion) = &realm.read().record.deletion {
                all.insert((deletion.time, realm.id()));
            }
        }
    }

    /// How many deleted threads are kept.
    pub(in crate::fs) fn deleted_count(&self) -> u64 {
        self.deleted.by_time.lock().len() as u64
    }

    /// Forgets the threads that were kept for long enough; the collector frees what they hold.
    pub(in crate::fs) fn expire_deleted(&self) -> Result<()> {
        let now = Timestamp::now();
        let old: Vec<_> = {
            let all = self.deleted.by_time.lock();
            let is_old = |(deleted, _): &&(Timestamp, RealmId)| self.gone_at(*deleted) <= now;
            all.iter().take_while(is_old).take(AT_ONCE).copied().collect()
        };
        old.into_iter().try_for_each(|entry| self.forget_thread(entry))
    }

    /// Forgets the thread whose deletion is the longest ago, for want of room.
    pub(in crate::fs) fn forget_oldest_deleted(&self) -> Result<()> {
        let oldest = self.deleted.by_time.lock().first().copied();
        let Some((time, realm)) = oldest else { return Ok(()) };
        log::warn!(
            "the store is short of room: the thread that was deleted at {} (realm {}) is kept no longer",
            rfc3339(time),
            realm.0
        );
        self.forget_thread((time, realm))
    }

    fn forget_thread(&self, entry: (Timestamp, RealmId)) -> Result<()> {
        self.store.forget_deleted(entry.1)?;
        self.note_change();
        self.deleted.by_time.lock().remove(&entry);
        Ok(())
    }

    fn gone_at(&self, deleted: Timestamp) -> Timestamp {
        let keep = self.options.keep_deleted;
        let nanos = deleted.nanos + keep.subsec_nanos();
        let secs = deleted.secs.saturating_add_unsigned(keep.as_secs() + u64::from(nanos / 1_000_000_000));
        Timestamp { secs, nanos: nanos % 1_000_000_000 }
    }

    /// The content of `.threadfs/deleted.json`: the newest deletion first.
    pub fn describe_deleted(&self) -> Vec<u8> {
        let realms: Vec<RealmId> = self.deleted.by_time.lock().iter().rev().map(|(_, realm)| *realm).collect();
        // One that comes back, or goes, meanwhile is left out.
        let listed: Vec<Listed> = realms.into_iter().filter_map(|realm| self.describe(realm).ok().flatten()).collect();
        let mut text = serde_json::to_vec_pretty(&listed).unwrap_or_default();
        text.push(b'\n');
        text
    }

    fn describe(&self, realm: RealmId) -> Result<Option<Listed>> {
        let Some(deletion) = self.deletion_of(realm) else { return Ok(None) };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let snapshots = self.snapshots_of(realm)?;
        let newest = snapshots.last().map(|(epoch, _)| *epoch);
        let usage = newest.map(|epoch| self.store.view().at(epoch).usage_record(realm)).transpose()?;
        Ok(Some(Listed {
            realm: realm.0,
            id: text(deletion.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()),
            path: text(&deletion.path),
            deleted: rfc3339(deletion.time),
            gone_at: rfc3339(self.gone_at(deletion.time)),
            uid: deletion.uid,
            pid: deletion.pid,
            command: deletion.command,
            bytes: usage.unwrap_or_default().bytes,
            snapshots: snapshots
                .into_iter()
                .map(|(_, record)| Kept { name: text(&record.name), time: rfc3339(record.time), reason: record.reason })
                .collect(),
        }))
    }
}
