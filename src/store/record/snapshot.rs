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
    /// The process that it was taken for; 0 when that is not known.
    pub pid: u32,
    /// That process's command; empty when it is not known.
    pub command: String,
}

impl SnapshotRecord {
    /// A snapshot that is taken now, for nobody in particular.
    pub fn new(kind: SnapshotKind, name: impl Into<Vec<u8>>, reason: impl Into<String>) -> SnapshotRecord {
        SnapshotRecord {
            kind,
            name: name.into(),
            time: Timestamp::now(),
            reason: reason.into(),
            pid: 0,
            command: String::new(),
        }
    }

    /// The same, taken for a process.
    pub fn taken_by(self, pid: u32, command: String) -> SnapshotRecord {
        SnapshotRecord { pid, command, ..self }
    }

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
        if self.pid != 0 || !self.command.is_empty() {
            out.number(u64::from(self.pid)).bytes(self.command.as_bytes());
        }
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<SnapshotRecord> {
        let mut read = Decoder::new(bytes, "snapshot");
        let mut record = SnapshotRecord {
            kind: match read.byte()? {
                0 => SnapshotKind::Named,
                1 => SnapshotKind::Automatic,
                2 => SnapshotKind::Home,
                other => return Err(Error::corrupt(format!("there is no kind of snapshot {other}"))),
            },
            name: read.bytes()?.to_vec(),
            time: Timestamp { secs: read.signed()?, nanos: read.number32()? },
            reason: String::from_utf8_lossy(read.bytes()?).into_owned(),
            pid: 0,
            command: String::new(),
        };
        // Who took it is not in older records.
        let rest = read.rest();
        if !rest.is_empty() {
            let mut read = Decoder::new(rest, "snapshot");
            record.pid = read.number32()?;
            record.command = String::from_utf8_lossy(read.bytes()?).into_owned();
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_and_without_who_took_it() {
        let record = SnapshotRecord::new(SnapshotKind::Named, *b"n", "why");
        let known = record.clone().taken_by(7, "python x".into());
        for record in [record, known] {
            assert_eq!(SnapshotRecord::decode(&record.encode()).unwrap(), record);
        }
    }
}
