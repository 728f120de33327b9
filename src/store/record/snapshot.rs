//! Snapshots.

use super::Timestamp;
use crate::store::codec::{Decoder, Encoder};
use crate::store::{Error, Result};

/// What a snapshot covers and who took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotKind {
    /// A user's, of one thread.
    Named,
    /// The daemon's, of one thread; retention thins these.
    Automatic,
    /// Of the whole home, all threads at one instant.
    Home,
}

/// One snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotRecord {
    /// What it covers.
    pub kind: SnapshotKind,
    /// Its name in `.snapshots`.
    pub name: Vec<u8>,
    /// When it was taken.
    pub time: Timestamp,
    /// Why.
    pub reason: String,
}

impl SnapshotRecord {
    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.byte(match self.kind {
            SnapshotKind::Named => 0,
            SnapshotKind::Automatic => 1,
            SnapshotKind::Home => 2,
        })
        .bytes(&self.name)
        .signed(self.time.secs)
        .number(u64::from(self.time.nanos))
        .bytes(self.reason.as_bytes());
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<SnapshotRecord> {
        let mut read = Decoder::new(bytes, "snapshot");
        Ok(SnapshotRecord {
            kind: match read.byte()? {
                0 => SnapshotKind::Named,
                1 => SnapshotKind::Automatic,
                2 => SnapshotKind::Home,
                other => return Err(Error::corrupt(format!("there is no kind of snapshot {other}"))),
            },
            name: read.bytes()?.to_vec(),
            time: Timestamp { secs: read.signed()?, nanos: read.number32()? },
            reason: String::from_utf8_lossy(read.bytes()?).into_owned(),
        })
    }
}
