//! What describes the store as a whole.

use crate::store::codec::{Decoder, Encoder};
use crate::store::{Error, Result};

/// The format that this program writes. 1 had reverse links that forks could not inherit.
pub const FORMAT: u64 = 4;

/// The store's first record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Superblock {
    /// Key of the hash that orders dirents: random, so that nobody can make names collide.
    pub hash_key: [u64; 2],
    /// The newest home snapshot ever taken; 0 for none.
    pub last_home_snapshot: u64,
    /// The next realm number.
    pub next_realm: u32,
    /// Seconds since the epoch of Unix when the store was created.
    pub created: i64,
}

const MAGIC: &[u8] = b"threadfs";

impl Superblock {
    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::new();
        out.bytes(MAGIC)
            .number(FORMAT)
            .number(self.hash_key[0])
            .number(self.hash_key[1])
            .number(self.last_home_snapshot)
            .number(u64::from(self.next_realm))
            .signed(self.created);
        out.finish()
    }

    /// Reads the record.
    ///
    /// # Errors
    /// [`Error::NewerFormat`] when a newer program wrote it, [`Error::OlderFormat`] for one of before.
    pub fn decode(bytes: &[u8]) -> Result<Superblock> {
        let mut read = Decoder::new(bytes, "superblock");
        if read.bytes()? != MAGIC {
            return Err(Error::corrupt("the first record is not a threadfs superblock"));
        }
        let format = read.number()?;
        if format > FORMAT {
            return Err(Error::NewerFormat { found: format, known: FORMAT });
        }
        if format < FORMAT {
            return Err(Error::OlderFormat { found: format });
        }
        Ok(Superblock {
            hash_key: [read.number()?, read.number()?],
            last_home_snapshot: read.number()?,
            next_realm: read.number32()?,
            created: read.signed()?,
        })
    }
}
