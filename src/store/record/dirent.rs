//! Directory entries.

use super::Kind;
use crate::store::codec::{Decoder, Encoder};
use crate::store::{Local, ROOT, RealmId, Result};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// An inode of the directory's own realm.
    Inode(Local),
    /// A thread: the root of another realm.
    Thread(RealmId),
}

/// One name in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dirent {
    /// What it stands for.
    pub target: Target,
    /// The kind, so that a listing needs no inode.
    pub kind: Kind,
}

impl Dirent {
    /// The realm and the number of the inode, for a dirent in `realm`.
    pub fn inode_of(&self, realm: RealmId) -> (RealmId, Local) {
        match self.target {
            Target::Inode(ino) => (realm, ino),
            Target::Thread(thread) => (thread, ROOT),
        }
    }
}

const INODE: u8 = 0;
const THREAD: u8 = 1;

impl Dirent {
    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        match self.target {
            Target::Inode(ino) => out.byte(INODE).number(ino.0),
            Target::Thread(realm) => out.byte(THREAD).number(u64::from(realm.0)),
        };
        out.byte(self.kind.code());
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<Dirent> {
        let mut read = Decoder::new(bytes, "dirent");
        let target = match read.byte()? {
            THREAD => Target::Thread(RealmId(read.number32()?)),
            _ => Target::Inode(Local(read.number()?)),
        };
        Ok(Dirent { target, kind: Kind::from_code(read.byte()?)? })
    }
}
