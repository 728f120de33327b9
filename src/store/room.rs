//! Refuses growth before the disk is full.
//!
//! A deletion needs room too: for its records, and for the compaction that gives the space
//! back. So growth stops while some is left, and the engine hardly ever meets a full disk.

use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;

use super::Result;
use crate::engine::{self, Engine};

/// Bytes that may be written before the disk is looked at again, at most.
const STEP: u64 = 16 << 20;

/// What a write costs until it is compacted: once in the log, once in a table, and slack.
const AMPLIFICATION: u64 = 4;

#[derive(Debug, Default)]
pub(super) struct Room {
    /// Bytes left before the next look.
    budget: AtomicI64,
    looking: Mutex<()>,
}

impl Room {
    /// Takes `bytes` of growth from what is free.
    ///
    /// # Errors
    /// [`engine::Error::NoSpace`] when only the reserve is left.
    pub(super) fn take(&self, engine: &dyn Engine, bytes: u64) -> Result<()> {
        let bytes = bytes.min(i64::MAX as u64) as i64;
        if self.budget.fetch_sub(bytes, Ordering::Relaxed) >= bytes {
            return Ok(());
        }
        let _one_looks = self.looking.lock();
        if self.budget.load(Ordering::Relaxed) > 0 {
            return Ok(());
        }
        let space = engine.space()?;
        let free = space.available.saturating_sub(space.reserve);
        if free < bytes as u64 {
            self.budget.store(0, Ordering::Relaxed);
            let detail =
                format!("{} bytes are free, of which {} are kept for deletions", space.available, space.reserve);
            return Err(engine::Error::NoSpace { detail }.into());
        }
        self.budget.store((free / AMPLIFICATION).min(STEP) as i64 - bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the next growth look at the disk again.
    pub(super) fn forget(&self) {
        self.budget.store(0, Ordering::Relaxed);
    }
}
