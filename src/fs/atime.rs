//! Access times: kept in memory, written now and then, outside the versioned records.
//!
//! Reading makes no history. As with the `relatime` mount option, a read is noted only when the
//! noted one is not newer than the last change, or a day old (mount(8)).

use std::collections::HashMap;

use parking_lot::Mutex;

use super::error::{Error, Result};
use super::node::Node;
use super::Fs;
use crate::engine::{Batch, Keyspace, View};
use crate::store::codec::{Decoder, Encoder};
use crate::store::key;
use crate::store::record::{Inode, Timestamp};

/// Entries that are kept in memory after they were written.
const KEPT: usize = 1 << 16;

/// After a day a read is noted whatever was noted before.
const DAY: i64 = 24 * 3600;

#[derive(Debug, Clone, Copy)]
struct Noted {
    time: Timestamp,
    dirty: bool,
}

#[derive(Debug, Default)]
pub(super) struct Atimes {
    noted: Mutex<HashMap<Node, Noted>>,
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
        if let Some(noted) = self.atimes.noted.lock().get(&node) {
            return Ok(noted.time);
        }
        match view.get(Keyspace::Meta, &key_of(node))? {
            Some(bytes) => decode(&bytes),
            None => Ok(inode.btime),
        }
    }

    /// Notes that an inode was read, if that tells more than what is noted.
    pub(super) fn note_read(&self, view: &dyn View, node: Node, inode: &Inode) -> Result<()> {
        let known = self.atimes.noted.lock().get(&node).copied();
        let last = match known {
            Some(noted) => noted.time,
            None => self.atime(view, node, inode)?,
        };
        let now = Timestamp::now();
        let fresh = last > inode.mtime && last > inode.ctime && now.secs - last.secs < DAY;
        if fresh && known.is_some() {
            return Ok(());
        }
        let noted = if fresh { Noted { time: last, dirty: false } } else { Noted { time: now, dirty: true } };
        self.atimes.noted.lock().insert(node, noted);
        Ok(())
    }

    /// An access time was set and written.
    pub(super) fn atime_was_set(&self, node: Node, time: Timestamp) {
        self.atimes.noted.lock().insert(node, Noted { time, dirty: false });
    }

    /// The record that sets an access time.
    pub(super) fn atime_record(&self, node: Node, time: Timestamp) -> (Vec<u8>, Vec<u8>) {
        (key_of(node), encode(time))
    }

    /// Forgets an inode that is gone; its record goes with it.
    pub(super) fn forget_atime(&self, node: Node) -> Vec<u8> {
        self.atimes.noted.lock().remove(&node);
        key_of(node)
    }

    /// Writes what was noted since the last time.
    pub(super) fn flush_atimes(&self) -> Result<()> {
        let dirty: Vec<(Node, Timestamp)> = {
            let mut noted = self.atimes.noted.lock();
            let dirty = noted.iter().filter(|(_, noted)| noted.dirty).map(|(node, noted)| (*node, noted.time)).collect();
            if noted.len() > KEPT {
                noted.clear();
            } else {
                noted.values_mut().for_each(|noted| noted.dirty = false);
            }
            dirty
        };
        if dirty.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::new();
        for (node, time) in dirty {
            batch.put(Keyspace::Meta, key_of(node), encode(time));
        }
        self.store.engine().write(batch).map_err(Error::from)
    }
}
