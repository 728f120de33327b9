//! Which inodes have, or had, one and the same content.
//!
//! A restored file has a new inode number. What it is stays: the number that its content is filed
//! under. So at any epoch at most one inode has it, and a record leads from it to all that ever had.

use std::ops::ControlFlow;

use super::{Local, RealmId, Result, Store, key};
use crate::engine::{Batch, Keyspace};

impl Store {
    /// The inodes that can have the content of this number. Those of a fork's bases too: it
    /// inherited them.
    pub fn owners(&self, realm: RealmId, file: Local) -> Result<Vec<Local>> {
        let mut owners = vec![file];
        let mut layer = Some(realm);
        while let Some(realm) = layer {
            self.add_owners(realm, file, &mut owners)?;
            layer = self.realm(realm).and_then(|realm| realm.base()).map(|(base, _)| base);
        }
        Ok(owners)
    }

    fn add_owners(&self, realm: RealmId, file: Local, owners: &mut Vec<Local>) -> Result<()> {
        let prefix = key::numbered(key::tag::FILE, realm, file.0);
        self.engine.scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut |key, _| {
            owners.extend(key::parse_file(key));
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// A generation is freed. The records of owners that no longer exist anywhere go too.
    pub(super) fn forget_owners(&self, realm: RealmId, file: Local, batch: &mut Batch) -> Result<()> {
        let mut owners = Vec::new();
        self.add_owners(realm, file, &mut owners)?;
        for owner in owners {
            let live = key::inode(realm, owner);
            let past = key::history(realm, &key::record_part(&live), None);
            let orphan = key::numbered(key::tag::ORPHAN, realm, owner.0);
            let exists = self.engine.get(Keyspace::Meta, &live)?.is_some()
                || self.engine.get(Keyspace::Meta, &orphan)?.is_some()
                || self.engine.first(Keyspace::Meta, &past, &key::after(&past))?.is_some();
            if !exists {
                batch.delete(Keyspace::Meta, key::file(realm, file, owner));
            }
        }
        Ok(())
    }
}
