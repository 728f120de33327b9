//! Every key is of a known kind, in a known realm.

use super::{Checker, Result, key};
use crate::engine::Keyspace;
use crate::store::RealmId;
use crate::store::key::tag;

impl Checker<'_> {
    pub(super) fn keys(&self) -> Result<()> {
        self.pairs(Keyspace::Meta, b"", &mut |key, _| {
            if key == key::SUPERBLOCK || key::parse_rejected(key).is_some_and(|id| key::rejected(id) == key) {
                return Ok(());
            }
            let (Some(kind), Some(realm)) = (key.first().copied(), key::realm_of(key)) else {
                self.problem(format!("key {} is of no known kind", key.escape_ascii()));
                return Ok(());
            };
            if !has_layout(kind, key) {
                self.problem(format!("key {} is of no known kind", key.escape_ascii()));
            } else if !self.states_have(realm) {
                self.problem(format!("key {} is of realm {}, which does not exist", key.escape_ascii(), realm.0));
            }
            Ok(())
        })?;
        self.pairs(Keyspace::Data, b"", &mut |key, value| {
            if key::parse_rejected_content(key).is_some() {
                return Ok(());
            }
            let Some(chunk) = key::parse_chunk(key) else {
                self.problem(format!("data key {} is of no known kind", key.escape_ascii()));
                return Ok(());
            };
            if !self.states_have(chunk.realm) {
                self.problem(format!("a chunk of realm {}, which does not exist: {chunk:?}", chunk.realm.0));
            }
            self.count(|report| {
                report.chunks += 1;
                report.bytes += value.len() as u64;
            });
            Ok(())
        })
    }

    /// Whether a realm has a record of its own; one that has only others was loaded too.
    fn states_have(&self, realm: RealmId) -> bool {
        self.states.contains_key(&realm)
            && matches!(self.view.get(Keyspace::Meta, &key::of_realm(tag::REALM, realm)), Ok(Some(_)))
    }
}

/// Whether a key is as long as keys of its kind are.
fn has_layout(kind: u8, key: &[u8]) -> bool {
    let length = key.len();
    match kind {
        tag::REALM | tag::NEXT | tag::USAGE => length == 5,
        tag::INODE | tag::SNAPSHOT | tag::ORPHAN | tag::ATIME | tag::PENDING => length == 13,
        tag::VERSION | tag::FILE => length == 21,
        tag::GARBAGE | tag::KEPT => length == 29,
        tag::NAMED => length > 13 && key.get(length - 9) == Some(&0),
        tag::DIRENT => length > 21 && key.ends_with(&[0]),
        tag::LINK => length > 25 && key.ends_with(&[0]),
        tag::XATTR => length > 13 && key.ends_with(&[0]),
        tag::HISTORY => key::parse_history(key).is_some_and(|(part, _)| is_part(part)),
        tag::TOUCHED => key::parse_touched(key).is_some_and(|(_, part)| match part.first() {
            Some(&tag::CHUNK) => part.len() == 21,
            _ => is_part(part),
        }),
        _ => false,
    }
}

/// Whether it is the key of a versioned record, without its realm.
fn is_part(part: &[u8]) -> bool {
    part.first().is_some_and(|kind| key::VERSIONED.contains(kind) && has_layout(*kind, &key::live(RealmId(0), part)))
}
