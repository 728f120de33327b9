//! Keys of the `data` keyspace, and what stands for them in the touched index.

use super::{number_at, tag};
use crate::store::{Epoch, Local, RealmId};

/// All chunks of a realm.
pub fn chunks_of_realm(realm: RealmId) -> Vec<u8> {
    realm.0.to_be_bytes().to_vec()
}

/// All chunks of a generation of an inode.
pub fn chunks_of(realm: RealmId, ino: Local, generation: u64) -> Vec<u8> {
    let mut key = chunks_of_realm(realm);
    key.reserve(32);
    key.extend_from_slice(&ino.0.to_be_bytes());
    key.extend_from_slice(&generation.to_be_bytes());
    key
}

/// All versions of a chunk.
pub fn chunk_versions(realm: RealmId, ino: Local, generation: u64, index: u32) -> Vec<u8> {
    let mut key = chunks_of(realm, ino, generation);
    key.extend_from_slice(&index.to_be_bytes());
    key
}

/// The index in the key of a chunk, or in the prefix of its versions.
pub fn chunk_index(key: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(key.get(20..24)?.try_into().ok()?))
}

/// One version of a chunk.
pub fn chunk(realm: RealmId, ino: Local, generation: u64, index: u32, epoch: Epoch) -> Vec<u8> {
    let mut key = chunk_versions(realm, ino, generation, index);
    key.extend_from_slice(&(!epoch).to_be_bytes());
    key
}

/// What a chunk's key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkKey {
    /// The realm.
    pub realm: RealmId,
    /// The inode.
    pub ino: Local,
    /// The data generation.
    pub generation: u64,
    /// Which chunk of the file.
    pub index: u32,
    /// The epoch in which it was written.
    pub epoch: Epoch,
}

/// Reads a chunk's key.
pub fn parse_chunk(key: &[u8]) -> Option<ChunkKey> {
    if key.len() != 32 {
        return None;
    }
    Some(ChunkKey {
        realm: RealmId(u32::from_be_bytes(key.get(..4)?.try_into().ok()?)),
        ino: Local(number_at(key, 4)?),
        generation: number_at(key, 12)?,
        index: chunk_index(key)?,
        epoch: !number_at(key, 24)?,
    })
}

/// A chunk in the touched index: the key's part between realm and epoch.
pub fn chunk_part(ino: Local, generation: u64, index: u32) -> Vec<u8> {
    let mut part = chunk_parts(ino, generation);
    part.extend_from_slice(&index.to_be_bytes());
    part
}

/// The number, the generation and the index in a touched chunk's part.
pub fn parse_chunk_part(part: &[u8]) -> Option<(Local, u64, u32)> {
    let index = u32::from_be_bytes(part.get(17..21)?.try_into().ok()?);
    Some((Local(number_at(part, 1)?), number_at(part, 9)?, index))
}

/// All chunks of a generation in one epoch of the touched index.
pub fn chunk_parts(ino: Local, generation: u64) -> Vec<u8> {
    let mut part = vec![tag::CHUNK];
    part.extend_from_slice(&ino.0.to_be_bytes());
    part.extend_from_slice(&generation.to_be_bytes());
    part
}

/// The prefix of the versions of the chunk that a touched entry names.
pub fn chunk_versions_of_part(realm: RealmId, part: &[u8]) -> Vec<u8> {
    let mut key = chunks_of_realm(realm);
    key.extend_from_slice(part.get(1..).unwrap_or_default());
    key
}

/// The version that a chunk in the touched index got in an epoch.
pub fn chunk_version_of_part(realm: RealmId, part: &[u8], epoch: Epoch) -> Vec<u8> {
    let mut key = chunk_versions_of_part(realm, part);
    key.extend_from_slice(&(!epoch).to_be_bytes());
    key
}
