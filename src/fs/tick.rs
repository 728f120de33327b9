//! What happens by the clock: syncing, expiry, collection.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::Fs;

/// How often the locks are looked at, so that `since` is about right.
const LOCK_SCAN: Duration = Duration::from_secs(1);

/// How often old drafts are looked for.
const EXPIRY: Duration = Duration::from_secs(60);

/// How long collection may take at a time.
const COLLECTION: Duration = Duration::from_millis(50);

/// The shortest time between two compactions for want of room.
const RECLAIM: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Ticks {
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    sync: Option<Instant>,
    locks: Option<Instant>,
    expiry: Option<Instant>,
    reclaim: Option<Instant>,
}

fn is_due(last: &mut Option<Instant>, every: Duration) -> bool {
    let due = last.is_none_or(|last| last.elapsed() >= every);
    if due {
        *last = Some(Instant::now());
    }
    due
}

impl Fs {
    /// Notes that something was changed that no sync covers yet.
    pub(super) fn note_change(&self) {
        self.unsynced.fetch_add(1, Ordering::Relaxed);
    }

    /// Does what is due. A background thread calls it several times a second.
    pub fn tick(&self) {
        let due = {
            let mut last = self.tick.last.lock();
            (
                is_due(&mut last.sync, self.options.sync_interval),
                is_due(&mut last.locks, LOCK_SCAN),
                is_due(&mut last.expiry, EXPIRY),
            )
        };
        if due.0
            && self.unsynced.swap(0, Ordering::Relaxed) > 0
            && let Err(error) = self.sync()
        {
            self.note_change();
            log::error!("the store could not be synced, and will be again: {error}");
        }
        if due.1 {
            self.held_locks();
        }
        if due.2 {
            if let Err(error) = self.expire_rejected() {
                log::error!("old rejected drafts could not be deleted: {error}");
            }
            self.find_aged_snapshots();
            if let Err(error) = self.expire_versions() {
                log::error!("old versions of documents could not be dropped: {error}");
            }
        }
        self.tend_snapshots();
        if let Err(error) = self.expire_deleted() {
            log::error!("deleted threads that were kept for long enough could not be forgotten: {error}");
        }
        self.collect_for(COLLECTION);
    }

    /// Frees what nothing needs any more, for about a time. True when nothing is left to free.
    pub fn collect_for(&self, time: Duration) -> bool {
        let began = Instant::now();
        loop {
            match self.store.collect() {
                Ok(true) if began.elapsed() < time => {}
                Ok(more) => {
                    if !more {
                        self.reclaim_if_short();
                    }
                    return !more;
                }
                Err(error) => {
                    log::error!("collecting what was deleted failed, and will be tried again: {error}");
                    return false;
                }
            }
        }
    }

    /// Whether little more than the reserve is left.
    pub(super) fn is_short_of_room(&self) -> bool {
        self.store.engine().space().is_ok_and(|space| space.available < 2 * space.reserve)
    }

    /// When room is short, deleted data is given back at once and not with the next compaction.
    fn reclaim_if_short(&self) {
        if !self.is_short_of_room() {
            return;
        }
        if is_due(&mut self.tick.last.lock().reclaim, RECLAIM) {
            if let Err(error) = self.forget_oldest_deleted() {
                log::error!("the store is short of room, and a deleted thread could not be forgotten: {error}");
            }
            if let Err(error) = self.store.engine().reclaim() {
                log::warn!("the store is short of room, and giving space back failed: {error}");
            }
        }
    }
}
