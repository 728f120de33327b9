//! Every key of the store, in one place.
//!
//! Numbers in keys are big-endian, so that bytewise order is numeric order. `realm` takes 4
//! bytes, everything else 8 unless noted. Names end with a NUL, which no name contains: so no
//! key of a record is a prefix of another, and a record's history stands together.
//!
//! Keyspace `meta`:
//!
//! | key                                      | value                                   | versioned |
//! |------------------------------------------|-----------------------------------------|-----------|
//! | `!`                                      | superblock: format, hash key, counters  | no        |
//! | `R` realm                                | realm: life, base, inode ranges         | no        |
//! | `N` realm                                | first inode number not yet given out    | no        |
//! | `I` realm ino                            | inode                                   | yes       |
//! | `D` realm dir hash name NUL              | dirent                                  | yes       |
//! | `L` realm ino-realm ino dir name NUL     | reverse link: empty                     | yes       |
//! | `X` realm ino name NUL                   | extended attribute: its value           | yes       |
//! | `U` realm                                | usage: inodes and bytes                 | yes       |
//! | `H` realm record-key last                | a record's value up to epoch `last`     |           |
//! | `T` realm epoch record-key               | touched: empty                          |           |
//! | `S` realm number                         | snapshot                                | no        |
//! | `M` realm name number                    | nothing: a snapshot has that name       | no        |
//! | `V` realm file version                   | document version: its data generation   | no        |
//! | `F` realm file ino                       | an inode with another one's content     | no        |
//! | `O` realm ino                            | orphan: an inode without a name         | no        |
//! | `A` realm ino                            | access time                             | no        |
//! | `G` realm died file generation           | garbage generation, not yet looked at   | no        |
//! | `K` realm until file generation          | one that snapshot `until` still shows   | no        |
//! | `J` id                                   | rejected draft                          | no        |
//! | `P` realm number                         | a dropped snapshot, to be collected     | no        |
//!
//! `file` is the number of the inode whose content it is, or was at first: a restored file has a new
//! inode number and keeps the old one's content.
//!
//! `record-key` is the key of a versioned record with the tag first and the realm left out.
//! A versioned value starts with a header: a flag byte (1: whiteout) and the epoch of birth.
//!
//! Keyspace `data`:
//!
//! | key                                      | value                                   |
//! |------------------------------------------|-----------------------------------------|
//! | realm file generation index(4) ~epoch    | a chunk; empty: a hole                  |
//! | ffffffff id                              | the content of a rejected draft         |
//!
//! The epoch is stored inverted, so that the newest version of a chunk comes first.

use super::{Epoch, Local, RealmId};

/// The superblock's key.
pub const SUPERBLOCK: &[u8] = b"!";

/// First bytes of the keys in the `meta` keyspace.
pub mod tag {
    #![allow(missing_docs)]
    pub const REALM: u8 = b'R';
    pub const NEXT: u8 = b'N';
    pub const INODE: u8 = b'I';
    pub const DIRENT: u8 = b'D';
    pub const LINK: u8 = b'L';
    pub const XATTR: u8 = b'X';
    pub const USAGE: u8 = b'U';
    pub const HISTORY: u8 = b'H';
    pub const TOUCHED: u8 = b'T';
    pub const SNAPSHOT: u8 = b'S';
    pub const NAMED: u8 = b'M';
    pub const VERSION: u8 = b'V';
    pub const FILE: u8 = b'F';
    pub const ORPHAN: u8 = b'O';
    pub const ATIME: u8 = b'A';
    pub const GARBAGE: u8 = b'G';
    pub const KEPT: u8 = b'K';
    pub const REJECTED: u8 = b'J';
    pub const PENDING: u8 = b'P';
    /// Only in the touched index, where it stands for a key of the `data` keyspace.
    pub const CHUNK: u8 = b'C';
}

/// The tags of versioned records.
pub const VERSIONED: [u8; 5] = [tag::INODE, tag::DIRENT, tag::LINK, tag::XATTR, tag::USAGE];

/// A realm number that no realm has: under it lie the contents of rejected drafts.
const REJECTED_REALM: RealmId = RealmId(u32::MAX);

/// A key under construction.
struct Key(Vec<u8>);

impl Key {
    fn new(tag: u8, realm: RealmId) -> Key {
        let mut key = Vec::with_capacity(48);
        key.push(tag);
        key.extend_from_slice(&realm.0.to_be_bytes());
        Key(key)
    }

    fn number(mut self, value: u64) -> Key {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    fn bytes(mut self, value: &[u8]) -> Key {
        self.0.extend_from_slice(value);
        self
    }

    fn name(mut self, name: &[u8]) -> Key {
        self.0.extend_from_slice(name);
        self.0.push(0);
        self
    }
}

/// The first key behind all that start with `prefix`; empty when there is none.
pub fn after(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            break;
        }
    }
    end
}

/// All keys of one kind.
pub fn all(tag: u8) -> Vec<u8> {
    vec![tag]
}

/// All keys of one kind in a realm; also the whole key of kinds that have one key a realm.
pub fn of_realm(tag: u8, realm: RealmId) -> Vec<u8> {
    Key::new(tag, realm).0
}

/// Keys with a realm and one number: `I`, `O`, `A`, `S`; and the prefix of `D`, `X`, `V`.
pub fn numbered(tag: u8, realm: RealmId, number: u64) -> Vec<u8> {
    Key::new(tag, realm).number(number).0
}

/// An inode.
pub fn inode(realm: RealmId, ino: Local) -> Vec<u8> {
    numbered(tag::INODE, realm, ino.0)
}

/// A dirent.
pub fn dirent(realm: RealmId, dir: Local, hash: u64, name: &[u8]) -> Vec<u8> {
    Key::new(tag::DIRENT, realm).number(dir.0).number(hash).name(name).0
}

/// Where the dirents of a directory with at least this hash start.
pub fn dirents_from(realm: RealmId, dir: Local, hash: u64) -> Vec<u8> {
    Key::new(tag::DIRENT, realm).number(dir.0).number(hash).0
}

/// The hash and the name in a dirent's key.
pub fn parse_dirent(key: &[u8]) -> Option<(Local, u64, &[u8])> {
    let dir = number_at(key, 5)?;
    let hash = number_at(key, 13)?;
    let (_nul, name) = key.get(21..)?.split_last()?;
    Some((Local(dir), hash, name))
}

/// All reverse links of an inode: `ino_realm` differs from `realm` for the root of a thread, and is
/// 0 in the key if it does not, so that a fork finds the links of its base.
pub fn links_of(realm: RealmId, ino_realm: RealmId, ino: Local) -> Vec<u8> {
    let ino_realm = if ino_realm == realm { 0 } else { ino_realm.0 };
    Key::new(tag::LINK, realm).bytes(&ino_realm.to_be_bytes()).number(ino.0).0
}

/// A reverse link.
pub fn link(realm: RealmId, ino_realm: RealmId, ino: Local, dir: Local, name: &[u8]) -> Vec<u8> {
    Key(links_of(realm, ino_realm, ino)).number(dir.0).name(name).0
}

/// The inode, the directory and the name in a reverse link's key.
pub fn parse_link(key: &[u8]) -> Option<((RealmId, Local), Local, &[u8])> {
    let ino_realm = match u32::from_be_bytes(key.get(5..9)?.try_into().ok()?) {
        0 => realm_of(key)?,
        other => RealmId(other),
    };
    let ino = number_at(key, 9)?;
    let dir = number_at(key, 17)?;
    let (_nul, name) = key.get(25..)?.split_last()?;
    Some(((ino_realm, Local(ino)), Local(dir), name))
}

/// An extended attribute.
pub fn xattr(realm: RealmId, ino: Local, name: &[u8]) -> Vec<u8> {
    Key::new(tag::XATTR, realm).number(ino.0).name(name).0
}

/// The inode and the name in an extended attribute's key.
pub fn parse_xattr(key: &[u8]) -> Option<(Local, &[u8])> {
    let ino = number_at(key, 5)?;
    let (_nul, name) = key.get(13..)?.split_last()?;
    Some((Local(ino), name))
}

/// A document's version.
pub fn version(realm: RealmId, ino: Local, version: u64) -> Vec<u8> {
    Key::new(tag::VERSION, realm).number(ino.0).number(version).0
}

/// An inode that has, or had, the content that is filed under another one's number.
pub fn file(realm: RealmId, file: Local, ino: Local) -> Vec<u8> {
    Key::new(tag::FILE, realm).number(file.0).number(ino.0).0
}

/// The inode in such a key.
pub fn parse_file(key: &[u8]) -> Option<Local> {
    number_at(key, 13).map(Local)
}

/// The version in a document version's key.
pub fn parse_version(key: &[u8]) -> Option<u64> {
    number_at(key, 13)
}

/// A garbage generation, by the epoch in which it was replaced.
pub fn garbage(realm: RealmId, died: Epoch, ino: Local, generation: u64) -> Vec<u8> {
    Key::new(tag::GARBAGE, realm).number(died).number(ino.0).number(generation).0
}

/// A garbage generation that a reference keeps, by the newest that does.
pub fn kept(realm: RealmId, until: Epoch, ino: Local, generation: u64) -> Vec<u8> {
    Key::new(tag::KEPT, realm).number(until).number(ino.0).number(generation).0
}

/// The realm, the epoch, the inode and the generation in a garbage key or a kept one's.
pub fn parse_garbage(key: &[u8]) -> Option<(RealmId, Epoch, Local, u64)> {
    Some((realm_of(key)?, number_at(key, 5)?, Local(number_at(key, 13)?), number_at(key, 21)?))
}

/// A rejected draft's record.
pub fn rejected(id: u64) -> Vec<u8> {
    let mut key = vec![tag::REJECTED];
    key.extend_from_slice(&id.to_be_bytes());
    key
}

/// The id in a rejected draft's key.
pub fn parse_rejected(key: &[u8]) -> Option<u64> {
    number_at(key, 1)
}

/// A rejected draft's content, in the `data` keyspace.
pub fn rejected_content(id: u64) -> Vec<u8> {
    let mut key = rejected_contents();
    key.extend_from_slice(&id.to_be_bytes());
    key
}

/// All contents of rejected drafts, in the `data` keyspace.
pub fn rejected_contents() -> Vec<u8> {
    REJECTED_REALM.0.to_be_bytes().to_vec()
}

/// The id in the key of a rejected draft's content.
pub fn parse_rejected_content(key: &[u8]) -> Option<u64> {
    let id = key.strip_prefix(&REJECTED_REALM.0.to_be_bytes())?;
    Some(u64::from_be_bytes(id.try_into().ok()?))
}

/// The realm in a key of the `meta` keyspace.
pub fn realm_of(key: &[u8]) -> Option<RealmId> {
    Some(RealmId(u32::from_be_bytes(key.get(1..5)?.try_into().ok()?)))
}

/// The number behind the realm in a key of the `meta` keyspace.
pub fn number_of(key: &[u8]) -> Option<u64> {
    number_at(key, 5)
}

fn number_at(key: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_be_bytes(key.get(at..at + 8)?.try_into().ok()?))
}

/// A versioned record's key without its realm: the tag and what follows the realm.
pub fn record_part(key: &[u8]) -> Vec<u8> {
    let mut part = Vec::with_capacity(key.len());
    part.extend_from_slice(key.get(..1).unwrap_or_default());
    part.extend_from_slice(key.get(5..).unwrap_or_default());
    part
}

/// The live key of a record part.
pub fn live(realm: RealmId, part: &[u8]) -> Vec<u8> {
    let (tag, rest) = part.split_first().map_or((0, part), |(tag, rest)| (*tag, rest));
    Key::new(tag, realm).bytes(rest).0
}

/// That a snapshot has a name.
pub fn snapshot_name(realm: RealmId, name: &[u8], number: Epoch) -> Vec<u8> {
    Key::new(tag::NAMED, realm).name(name).number(number).0
}

/// All snapshots of a name: the daemon's own ones are not kept from having one and the same.
pub fn snapshots_named(realm: RealmId, name: &[u8]) -> Vec<u8> {
    Key::new(tag::NAMED, realm).name(name).0
}

/// A history entry; without `last`, the prefix of all entries of the record.
pub fn history(realm: RealmId, part: &[u8], last: Option<Epoch>) -> Vec<u8> {
    let key = Key::new(tag::HISTORY, realm).bytes(part);
    match last {
        Some(last) => key.number(last).0,
        None => key.0,
    }
}

/// The number that a key ends with.
pub fn last_number(key: &[u8]) -> Option<u64> {
    number_at(key, key.len().checked_sub(8)?)
}

/// The record part and the last epoch in a history key.
pub fn parse_history(key: &[u8]) -> Option<(&[u8], Epoch)> {
    let at = key.len().checked_sub(8)?;
    Some((key.get(5..at)?, number_at(key, at)?))
}

/// An entry of the touched index; with an empty part, where an epoch's entries start.
pub fn touched(realm: RealmId, epoch: Epoch, part: &[u8]) -> Vec<u8> {
    Key::new(tag::TOUCHED, realm).number(epoch).bytes(part).0
}

/// The epoch and the record part in a touched key.
pub fn parse_touched(key: &[u8]) -> Option<(Epoch, &[u8])> {
    Some((number_at(key, 5)?, key.get(13..)?))
}

mod chunk;

pub use chunk::*;

#[cfg(test)]
mod tests;
