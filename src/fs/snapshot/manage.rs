//! Taking, listing and dropping.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::control::COMMAND_BYTES;
use super::names::{self, time_in};
use super::views::View;
use crate::fs::attr::Caller;
use crate::fs::error::{Result, refuse};
use crate::fs::namespace::Entry;
use crate::fs::process::command_of;
use crate::fs::{Fs, Node};
use crate::store::record::{SnapshotKind, SnapshotRecord};
use crate::store::{Epoch, HOME, RealmId};

impl Fs {
    /// The snapshots of a realm, oldest first; of the home, those of everything.
    pub(in crate::fs) fn snapshots_of(&self, realm: RealmId) -> Result<Vec<(Epoch, SnapshotRecord)>> {
        let mut found = Vec::new();
        self.store.snapshots_from(realm, 0, &mut |number, record| {
            found.push((number, record));
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// All that a realm can go back to, oldest first: its own snapshots, and of a thread also those of everything
    /// that were taken while it was there, but for names that it has itself.
    pub(super) fn kept_states(&self, realm: RealmId) -> Result<Vec<(Epoch, SnapshotRecord)>> {
        let mut kept = self.snapshots_of(realm)?;
        if realm == HOME {
            return Ok(kept);
        }
        let own: HashSet<Vec<u8>> = kept.iter().map(|(_, record)| record.name.clone()).collect();
        let is_meant =
            |(epoch, record): &(Epoch, SnapshotRecord)| !own.contains(&record.name) && self.was_there(realm, *epoch);
        kept.extend(self.snapshots_of(HOME)?.into_iter().filter(is_meant));
        kept.sort_by_key(|(epoch, _)| *epoch);
        Ok(kept)
    }

    /// The one of them that has a name.
    pub(super) fn state_named(&self, realm: RealmId, name: &[u8]) -> Result<Option<(Epoch, SnapshotRecord)>> {
        if let Some(own) = self.store.snapshot_named(realm, name)? {
            return Ok(Some(own));
        }
        Ok(self.store.snapshot_named(HOME, name)?.filter(|(epoch, _)| self.was_there(realm, *epoch)))
    }

    /// The newest of them that was taken at a time or before.
    pub(super) fn state_at(&self, realm: RealmId, name: &[u8]) -> Result<Option<(Epoch, SnapshotRecord)>> {
        let Some(time) = time_in(name) else { return Ok(None) };
        Ok(self.kept_states(realm)?.into_iter().rfind(|(_, record)| record.time <= time))
    }

    /// The one that is meant by a name or by a time.
    pub(super) fn kept_state(&self, realm: RealmId, name: &[u8]) -> Result<Option<(Epoch, SnapshotRecord)>> {
        let named = self.state_named(realm, name)?;
        if named.is_some() { Ok(named) } else { self.state_at(realm, name) }
    }

    /// The record of one of them.
    pub(super) fn state_record(&self, realm: RealmId, epoch: Epoch) -> Result<Option<SnapshotRecord>> {
        let own = self.store.snapshot(realm, epoch)?;
        Ok(if own.is_some() { own } else { self.store.snapshot(HOME, epoch)? })
    }

    /// Whether the thread was there in an epoch.
    fn was_there(&self, realm: RealmId, epoch: Epoch) -> bool {
        self.store.realm(realm).is_some_and(|realm| realm.read().record.alive_at(epoch))
    }

    /// mkdir in `.snapshots`: takes a snapshot of the thread, or in the root's of everything.
    ///
    /// # Errors
    /// EEXIST; EINVAL and ENAMETOOLONG for the name; EROFS within a snapshot; ENOSPC.
    pub(in crate::fs) fn take_by_name(&self, caller: Caller, dir: Node, name: &[u8]) -> Result<Entry> {
        let View::Snapshots(realm) = self.views.of(dir)? else { return refuse(libc::EROFS) };
        let (epoch, _) = self.take_named(caller, realm, name, String::new())?;
        self.view_entry(self.views.root(View::At(realm, epoch))?)
    }

    /// Takes a snapshot that a user names.
    pub(super) fn take_named(
        &self,
        caller: Caller,
        realm: RealmId,
        name: &[u8],
        reason: String,
    ) -> Result<(Epoch, SnapshotRecord)> {
        names::check_new(name)?;
        let command = command_of(caller.pid, COMMAND_BYTES);
        let _one_at_a_time = self.snapshot_names.lock();
        if self.state_named(realm, name)?.is_some() {
            return refuse(libc::EEXIST);
        }
        let kind = if realm == HOME { SnapshotKind::Home } else { SnapshotKind::Named };
        let record = SnapshotRecord::new(kind, name, reason).taken_by(caller.pid, command);
        let _timer = self.metrics.snapshot_seconds("take");
        let epoch = match realm {
            HOME => self.store.take_home_snapshot(name, &record)?,
            realm => self.store.take_snapshot(realm, &record)?,
        };
        let counter = if realm == HOME { &self.metrics.snapshots_home } else { &self.metrics.snapshots_named };
        counter.add(1);
        self.note_change();
        Ok((epoch, record))
    }

    /// rmdir in `.snapshots`: drops a snapshot.
    ///
    /// # Errors
    /// ENOENT; EROFS within a snapshot; EPERM for one of everything that is reached through a thread.
    pub(in crate::fs) fn drop_by_name(&self, dir: Node, name: &[u8]) -> Result<()> {
        let View::Snapshots(realm) = self.views.of(dir)? else { return refuse(libc::EROFS) };
        let Some((epoch, _)) = self.store.snapshot_named(realm, name)? else {
            return refuse(if self.state_named(realm, name)?.is_some() { libc::EPERM } else { libc::ENOENT });
        };
        let dropped = match realm {
            HOME => self.store.drop_home_snapshot(epoch)?,
            realm => self.store.drop_snapshot(realm, epoch)?,
        };
        self.note_change();
        if dropped { Ok(()) } else { refuse(libc::ENOENT) }
    }
}
