//! Realms in memory: epochs, references and allocation.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{ArcRwLockReadGuard, ArcRwLockWriteGuard, RawRwLock, RwLock};

use super::record::{Layer, RealmRecord, Timestamp, Usage};
use super::{Epoch, Local, RealmId};

pub(super) type StateGuard = ArcRwLockWriteGuard<RawRwLock, RealmState>;

/// A realm that is loaded.
#[derive(Debug)]
pub struct Realm {
    id: RealmId,
    /// Of a fork: what it shows where it has nothing of its own. Never changes.
    base: Option<(RealmId, Epoch)>,
    /// See [`Realm::changed_up_to`].
    changed_up_to: AtomicU64,
    state: Arc<RwLock<RealmState>>,
}

/// What changes in a realm; guarded by the realm's lock, which every transaction in it holds.
#[derive(Debug, Clone, Default)]
pub struct RealmState {
    /// Its record.
    pub record: RealmRecord,
    /// Its own snapshots that exist.
    pub snapshots: BTreeSet<Epoch>,
    /// The epochs that forks of it show, and open files that a restore replaced, and how many do.
    pub pins: BTreeMap<Epoch, u32>,
    /// What lies below the content of such open files, by the number of what is their own.
    pub(super) apart: BTreeMap<Local, Layer>,
    /// The next inode number.
    pub next: u64,
    /// Inode numbers below it are covered by the record on disk.
    pub reserved: u64,
    /// What it holds.
    pub usage: Usage,
    /// The newest epoch in which something other than a removal changed; None before the first look
    /// after the store was opened.
    pub(super) changed: Option<Epoch>,
    /// An epoch, and how many transactions changed the realm in it.
    pub(super) changes: (Epoch, u64),
    /// When the newest of its own snapshots was taken.
    pub(super) last_taken: Option<Timestamp>,
    /// Whether it is gone, for who waited for its lock meanwhile.
    pub(super) purged: bool,
}

impl Realm {
    pub(super) fn new(id: RealmId, state: RealmState) -> Realm {
        Realm { id, base: state.record.base, changed_up_to: AtomicU64::new(0), state: Arc::new(RwLock::new(state)) }
    }

    /// Its number.
    pub fn id(&self) -> RealmId {
        self.id
    }

    /// What a fork shows where it has nothing of its own.
    pub fn base(&self) -> Option<(RealmId, Epoch)> {
        self.base
    }

    /// The newest epoch in which a record of it was changed, or was about to be, since the store was opened.
    pub(super) fn changed_up_to(&self) -> Epoch {
        self.changed_up_to.load(Ordering::Acquire)
    }

    /// Says that a record is about to be changed.
    pub(super) fn changes_in(&self, epoch: Epoch) {
        self.changed_up_to.fetch_max(epoch, Ordering::AcqRel);
    }

    /// Its state, shared.
    pub fn read(&self) -> ArcRwLockReadGuard<RawRwLock, RealmState> {
        RwLock::read_arc_recursive(&self.state)
    }

    /// Its state, alone.
    pub(super) fn write(&self) -> StateGuard {
        RwLock::write_arc(&self.state)
    }
}

impl RealmState {
    /// The epoch of what is written now, given the newest home snapshot ever taken.
    pub fn epoch(&self, last_home: Epoch) -> Epoch {
        1 + self.record.last_snapshot.max(last_home)
    }

    /// Whether one of its [references](RealmState::refs) lies in `first..=last`.
    pub(super) fn needed<V>(&self, home: &BTreeMap<Epoch, V>, first: Epoch, last: Epoch) -> bool {
        if first > last {
            return false;
        }
        let from = first.max(self.record.created);
        let to = self.record.dead.map_or(last, |dead| last.min(dead.saturating_sub(1)));
        self.snapshots.range(first..=last).next().is_some()
            || self.pins.range(first..=last).next().is_some()
            || (from <= to && home.range(from..=to).any(|(epoch, _)| self.record.alive_at(*epoch)))
    }

    /// Everything that needs the realm as it was: its snapshots, its forks' pins, and the home
    /// snapshots taken while its thread was there.
    pub fn refs(&self, home: &BTreeSet<Epoch>) -> Refs {
        let mut all = self.snapshots.clone();
        all.extend(self.pins.keys());
        all.extend(home.range(self.record.created..).filter(|epoch| self.record.alive_at(**epoch)));
        Refs(all)
    }
}

/// A realm's references, in order.
#[derive(Debug, Clone, Default)]
pub struct Refs(BTreeSet<Epoch>);

impl Refs {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one lies in `first..=last`.
    pub fn any_in(&self, first: Epoch, last: Epoch) -> bool {
        first <= last && self.0.range(first..=last).next().is_some()
    }

    /// Whether `epoch` is one.
    pub fn contains(&self, epoch: Epoch) -> bool {
        self.0.contains(&epoch)
    }

    /// The next older one than `epoch`, 0 for none, and the next newer one.
    pub fn neighbours(&self, epoch: Epoch) -> (Epoch, Epoch) {
        let older = self.0.range(..epoch).next_back().copied().unwrap_or(0);
        let newer = self.0.range((Bound::Excluded(epoch), Bound::Unbounded)).next().copied().unwrap_or(Epoch::MAX);
        (older, newer)
    }

    /// All of them in `first..=last`, the newest first.
    pub fn newest_in(&self, first: Epoch, last: Epoch) -> impl Iterator<Item = Epoch> {
        self.0.iter().rev().copied().filter(move |epoch| (first..=last).contains(epoch))
    }

    /// The oldest.
    pub fn oldest(&self) -> Option<Epoch> {
        self.0.first().copied()
    }
}
