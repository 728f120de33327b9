//! What the values of the store hold: one file a kind, each with its byte layout.

mod dirent;
mod inode;
mod lifecycle;
mod side;
mod snapshot;
mod superblock;

pub use dirent::{Dirent, Target};
pub use inode::{Inode, Kind, Layer, Timestamp};
pub use lifecycle::{Deletion, RealmRecord};
pub use side::{Garbage, Orphan, Rejected, Usage, VersionRecord};
pub use snapshot::{SnapshotKind, SnapshotRecord};
pub use superblock::{FORMAT, Superblock};

/// The header of a versioned value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The epoch in which the value came to be.
    pub born: u64,
    /// Whether it says that the record does not exist, although a fork's base has one.
    pub whiteout: bool,
}

const WHITEOUT: u8 = 1;

impl Header {
    /// A value with its header in front.
    pub fn wrap(self, payload: &[u8]) -> Vec<u8> {
        let mut out = super::codec::Encoder::new();
        out.byte(if self.whiteout { WHITEOUT } else { 0 }).number(self.born);
        let mut bytes = out.finish();
        bytes.extend_from_slice(payload);
        bytes
    }

    /// The header and the value behind it.
    pub fn unwrap(bytes: &[u8]) -> super::Result<(Header, &[u8])> {
        let mut read = super::codec::Decoder::new(bytes, "versioned");
        let flags = read.byte()?;
        let born = read.number()?;
        Ok((Header { born, whiteout: flags & WHITEOUT != 0 }, read.rest()))
    }
}
