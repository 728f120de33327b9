//! The smaller records beside the tree.

use std::collections::BTreeMap;

use super::{Inode, Timestamp};
use crate::store::codec::{Decoder, Encoder};
use crate::store::{Epoch, Result};

/// What a realm holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Inodes that have a name.
    pub inodes: u64,
    /// Bytes of their chunks.
    pub bytes: u64,
}

impl Usage {
    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.number(self.inodes).number(self.bytes);
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<Usage> {
        let mut read = Decoder::new(bytes, "usage");
        Ok(Usage { inodes: read.number()?, bytes: read.number()? })
    }
}

/// A committed version of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRecord {
    /// The data generation that holds its content.
    pub generation: u64,
    /// Its length in bytes.
    pub size: u64,
    /// When it was committed.
    pub time: Timestamp,
    /// In which epoch.
    pub epoch: Epoch,
    /// Whose close committed it.
    pub pid: u32,
}

impl VersionRecord {
    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.number(self.generation)
            .number(self.size)
            .signed(self.time.secs)
            .number(u64::from(self.time.nanos))
            .number(self.epoch)
            .number(u64::from(self.pid));
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<VersionRecord> {
        let mut read = Decoder::new(bytes, "version");
        Ok(VersionRecord {
            generation: read.number()?,
            size: read.number()?,
            time: Timestamp { secs: read.signed()?, nanos: read.number32()? },
            epoch: read.number()?,
            pid: read.number32()?,
        })
    }
}

/// An inode that has lost its last name while the kernel still knew it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// The inode as it was, with no links.
    pub inode: Inode,
    /// Its extended attributes, which are no records of their own any more.
    pub xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Orphan {
    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.bytes(&self.inode.encode()).number(self.xattrs.len() as u64);
        for (name, value) in &self.xattrs {
            out.bytes(name).bytes(value);
        }
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<Orphan> {
        let mut read = Decoder::new(bytes, "orphan");
        let inode = Inode::decode(read.bytes()?)?;
        let mut xattrs = BTreeMap::new();
        for _ in 0..read.number()? {
            xattrs.insert(read.bytes()?.to_vec(), read.bytes()?.to_vec());
        }
        Ok(Orphan { inode, xattrs })
    }
}

/// A data generation that no live inode has any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Garbage {
    /// The epoch in which the generation began: a snapshot from then on may need it.
    pub born: Epoch,
}

impl Garbage {
    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.number(self.born);
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<Garbage> {
        Ok(Garbage { born: Decoder::new(bytes, "garbage").number()? })
    }
}

/// A draft that was refused, kept for its writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The document's path from the root of the mount.
    pub path: Vec<u8>,
    /// Why it was refused.
    pub reason: String,
    /// When it was refused last.
    pub time: Timestamp,
    /// The writer.
    pub pid: u32,
    /// The writer's command.
    pub command: String,
    /// The document's owner, group and permission bits.
    pub owner: (u32, u32, u16),
    /// The draft's length in bytes.
    pub size: u64,
    /// How often the same draft of the same document was refused.
    pub count: u64,
}

impl Rejected {
    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.bytes(&self.path)
            .bytes(self.reason.as_bytes())
            .signed(self.time.secs)
            .number(u64::from(self.time.nanos))
            .number(u64::from(self.pid))
            .bytes(self.command.as_bytes())
            .number(u64::from(self.owner.0))
            .number(u64::from(self.owner.1))
            .number(u64::from(self.owner.2))
            .number(self.size)
            .number(self.count);
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<Rejected> {
        let mut read = Decoder::new(bytes, "rejected draft");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Rejected {
            path: read.bytes()?.to_vec(),
            reason: text(read.bytes()?),
            time: Timestamp { secs: read.signed()?, nanos: read.number32()? },
            pid: read.number32()?,
            command: text(read.bytes()?),
            owner: (read.number32()?, read.number32()?, read.number32()? as u16),
            size: read.number()?,
            count: read.number()?,
        })
    }
}
