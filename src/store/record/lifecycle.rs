//! Realms: the life of a thread.

use super::Timestamp;
use crate::store::codec::{Decoder, Encoder};
use crate::store::{Epoch, RealmId, Result};

/// What is kept of a realm whatever is restored in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RealmRecord {
    /// The epoch in which it was made.
    pub created: Epoch,
    /// The epoch in which its thread was deleted.
    pub dead: Option<Epoch>,
    /// The newest snapshot of it ever taken, dropped ones included; 0 for none.
    pub last_snapshot: Epoch,
    /// Of a fork: the realm and the epoch that it shows where it has no record of its own.
    pub base: Option<(RealmId, Epoch)>,
    /// How its thread was deleted, for as long as its snapshots are kept.
    pub deletion: Option<Deletion>,
    /// When its thread was deleted and came back: the epoch of the one and of the other.
    pub absences: Vec<(Epoch, Epoch)>,
}

/// How a thread was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deletion {
    /// When.
    pub time: Timestamp,
    /// The path that it had, from the root of the mount.
    pub path: Vec<u8>,
    /// The user who deleted it.
    pub uid: u32,
    /// The process that did; 0 when it is not known.
    pub pid: u32,
    /// That process's command.
    pub command: String,
}

impl RealmRecord {
    /// Whether its thread was there in an epoch.
    pub fn alive_at(&self, epoch: Epoch) -> bool {
        self.created <= epoch
            && self.dead.is_none_or(|dead| epoch < dead)
            && !self.absences.iter().any(|(from, to)| (*from..*to).contains(&epoch))
    }

    /// The record. What only a deleted thread has comes last, and only where there is some of it:
    /// so the records of other threads are as they were before there was such a thing.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.number(self.created).number(self.dead.map_or(0, |epoch| epoch + 1)).number(self.last_snapshot);
        match self.base {
            Some((realm, epoch)) => out.byte(1).number(u64::from(realm.0)).number(epoch),
            None => out.byte(0),
        };
        if self.deletion.is_none() && self.absences.is_empty() {
            return out.finish();
        }
        out.number(self.absences.len() as u64);
        for (from, to) in &self.absences {
            out.number(*from).number(*to);
        }
        match &self.deletion {
            Some(deletion) => out
                .byte(1)
                .signed(deletion.time.secs)
                .number(u64::from(deletion.time.nanos))
                .bytes(&deletion.path)
                .number(u64::from(deletion.uid))
                .number(u64::from(deletion.pid))
                .bytes(deletion.command.as_bytes()),
            None => out.byte(0),
        };
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<RealmRecord> {
        let mut read = Decoder::new(bytes, "realm");
        let mut record = RealmRecord {
            created: read.number()?,
            dead: read.number()?.checked_sub(1),
            last_snapshot: read.number()?,
            base: match read.byte()? {
                0 => None,
                _ => Some((RealmId(read.number32()?), read.number()?)),
            },
            ..RealmRecord::default()
        };
        if read.is_at_end() {
            return Ok(record);
        }
        for _ in 0..read.number()? {
            record.absences.push((read.number()?, read.number()?));
        }
        if read.byte()? != 0 {
            record.deletion = Some(Deletion {
                time: Timestamp { secs: read.signed()?, nanos: read.number32()? },
                path: read.bytes()?.to_vec(),
                uid: read.number32()?,
                pid: read.number32()?,
                command: String::from_utf8_lossy(read.bytes()?).into_owned(),
            });
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_old_and_new() {
        let old = RealmRecord { created: 3, base: Some((RealmId(2), 9)), ..RealmRecord::default() };
        assert_eq!(old.encode(), [3, 0, 0, 1, 2, 9]);
        assert_eq!(RealmRecord::decode(&old.encode()).unwrap(), old);
        let deletion = Deletion {
            time: Timestamp { secs: -5, nanos: 6 },
            path: b"threads/a".to_vec(),
            uid: 1000,
            pid: 7,
            command: "rm -rf a".into(),
        };
        let dead = RealmRecord { dead: Some(12), deletion: Some(deletion), absences: vec![(4, 8)], ..old };
        assert_eq!(RealmRecord::decode(&dead.encode()).unwrap(), dead);
        let back = RealmRecord { dead: None, deletion: None, ..dead };
        assert_eq!(RealmRecord::decode(&back.encode()).unwrap(), back);
    }

    #[test]
    fn when_a_thread_was_there() {
        let mut record = RealmRecord { created: 3, absences: vec![(5, 7), (9, 9)], ..RealmRecord::default() };
        let alive: Vec<Epoch> = (0..12).filter(|epoch| record.alive_at(*epoch)).collect();
        assert_eq!(alive, [3, 4, 7, 8, 9, 10, 11]);
        record.dead = Some(10);
        assert!(record.alive_at(9) && !record.alive_at(10));
    }
}
