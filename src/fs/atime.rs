//! Access times: kept in memory, written now and then, outside the versioned records.
//!
//! Reading makes no history. As with the `relatime` mount option, which is the default, a read is noted
//! only when the noted one is not newer than the last change, or a day old (mount(8)).

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;

use super::error::Result;
use super::node::Node;
use super::{Atime, Fs};
use crate::engine::{Batch, Keyspace, View};
use crate::store::codec::{Decoder, Encoder};
use crate::store::key;
use crate::store::record::{Inode, Timestamp};

/// Entries that are kept in memory after they were written.
const KEPT: usize = 1 << 16;

/// Entries that are written at a time: readers that note something wait for it.
const STEP: usize = 1024;

/// After a day a read is noted whatever was noted before.
const DAY: i64 = 24 * 3600;

#[derive(Debug, Default)]
struct Noted {
    times: HashMap<Node, Timestamp>,
    /// Those of them that are not written.
    dirty: HashSet<Node>,
}

#[derive(Debug, Default)]
pub(super) struct Atimes {
    /// Held while entries are written: an inode that is freed at the same time leaves no record.
    noted: Mutex<Noted>,
}

pub(super) fn encode(time: Timestamp) -> Vec<u8> {
    let mut out = Encoder::new();
    out.signed(time.secs).number(u64::from(time.nanos));
    out.finish()
}

pub(super) fn decode(bytes: &[u8]) -> Result<Timestamp> {
    let mut read = Decoder::new(bytes, "access time");
    Ok(Timestamp { secs: read.signed()?, nanos: read.number32()? })
}

fn key_of(node: Node) -> Vec<u8> {
    key::numbered(key::tag::ATIME, node.realm, node.local.0)
}

impl Fs {
    /// When an inode was read last; of one that never was, when it was made.
    pub(super) fn atime(&self, view: &dyn View, node: Node, inode: &Inode) -> Result<Timestamp> {
        if let Some(time) = self.atimes.noted.lock().times.get(&node) {
            return Ok(*time);
        }
        match view.get(Keyspace::Meta, &key_of(node))? {
            Some(bytes) => decode(&bytes),
            None => Ok(inode.btime),
        }
    }

    /// Notes that an inode was read, if that tells more than what is noted.
    pub(super) fn note_read(&self, view: &dyn View, node: Node, inode: &Inode) -> Result<()> {
        if self.options.atime == Atime::Never || (inode.is_dir() && !self.options.directory_atime) {
            return Ok(());
        }
        let known = self.atimes.noted.lock().times.get(&node).copied();
        let last = match known {
            Some(time) => time,
            None => self.atime(view, node, inode)?,
        };
        let now = Timestamp::now();
        let relative = self.options.atime == Atime::Relative;
        let fresh = relative && last > inode.mtime && last > inode.ctime && now.secs - last.secs < DAY;
        if fresh && known.is_some() {
            return Ok(());
        }
        let mut noted = self.atimes.noted.lock();
        if !fresh {
            noted.times.insert(node, now);
            noted.dirty.insert(node);
            drop(noted);
            self.note_change();
        } else if noted.times.len() < KEPT {
            // It may have been set meanwhile.
            noted.times.entry(node).or_insert(last);
        }
        Ok(())
    }

    /// An access time was set and written. It is written again, because an older one may have
    /// been under way.
    pub(super) fn atime_was_set(&self, node: Node, time: Timestamp) {
        let mut noted = self.atimes.noted.lock();
        noted.times.insert(node, time);
        noted.dirty.insert(node);
    }

    /// The record that sets an access time.
    pub(super) fn atime_record(&self, node: Node, time: Timestamp) -> (Vec<u8>, Vec<u8>) {
        (key_of(node), encode(time))
    }

    /// Forgets an inode that is gone; its record goes with it.
    pub(super) fn forget_atime(&self, node: Node) -> Vec<u8> {
        let mut noted = self.atimes.noted.lock();
        noted.times.remove(&node);
        noted.dirty.remove(&node);
        key_of(node)
    }

    /// Writes what was noted since the last time.
    pub(super) fn flush_atimes(&self) -> Result<()> {
        loop {
            let mut noted = self.atimes.noted.lock();
            let step: Vec<Node> = noted.dirty.iter().take(STEP).copied().collect();
            if step.is_empty() {
                if noted.times.len() > KEPT {
                    noted.times.clear();
                }
                return Ok(());
            }
            let mut batch = Batch::new();
            for node in &step {
                if let Some(time) = noted.times.get(node) {
                    batch.put(Keyspace::Meta, key_of(*node), encode(*time));
                }
            }
            self.store.engine().write(batch)?;
            for node in &step {
                noted.dirty.remove(node);
            }
        }
    }
}
