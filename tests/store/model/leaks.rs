//! After the collector is done nothing is left that nobody needs.

use std::collections::{BTreeMap, BTreeSet};

use threadfs::engine::Keyspace;
use threadfs::store::record::Header;
use threadfs::store::{Epoch, Local, RealmId, key};

use super::World;
use crate::helpers::dump;

type Generation = (RealmId, Local, u64);

impl World {
    /// Recomputes what is needed, key by key, without what the store knows.
    pub fn no_leaks(&self) {
        let mut chunks = BTreeMap::<(Generation, u32), Vec<(Epoch, u64)>>::new();
        let mut kept_garbage = BTreeSet::new();
        for ((space, key), value) in dump(&*self.engine) {
            if space == Keyspace::Data {
                let chunk = key::parse_chunk(&key).expect("a chunk's key");
                let versions = chunks.entry(((chunk.realm, chunk.ino, chunk.generation), chunk.index)).or_default();
                versions.push((chunk.epoch, value.len() as u64));
                continue;
            }
            if key == key::SUPERBLOCK {
                continue;
            }
            let id = key::realm_of(&key).unwrap();
            let refs = self.refs(id);
            let realm = &self.realms[&id];
            assert!(
                !realm.dead || !refs.is_empty() || !realm.orphans.is_empty(),
                "{key:?} is left of the dead {id:?}, which nobody needs"
            );
            match key[0] {
                key::tag::HISTORY => {
                    let (part, last) = key::parse_history(&key).unwrap();
                    let born = Header::unwrap(&value).unwrap().0.born;
                    assert!(born <= last, "the history of {part:?} in {id:?} ends before it begins");
                    let needed = refs.range(born..=last).next().is_some();
                    assert!(needed, "nobody needs the history of {part:?} in {id:?} from {born} to {last}");
                }
                key::tag::TOUCHED => {
                    let (epoch, part) = key::parse_touched(&key).unwrap();
                    let oldest = refs.keys().next();
                    assert!(
                        oldest.is_some_and(|oldest| *oldest < epoch),
                        "nobody asks what {part:?} was before {epoch}"
                    );
                }
                key::tag::PENDING | key::tag::GARBAGE => panic!("{key:?} is still in a queue"),
                key::tag::KEPT => {
                    let (_, until, ino, generation) = key::parse_garbage(&key).unwrap();
                    let shown = refs.get(&until).and_then(|state| state.files.get(&ino));
                    assert!(shown.is_some_and(|(inode, _)| inode.generation == generation), "{key:?} is not shown");
                    kept_garbage.insert((id, ino, generation));
                }
                _ => {}
            }
        }
        for (((id, ino, generation), index), versions) in chunks {
            self.chunk_is_needed((id, ino, generation), index, &versions, &kept_garbage);
        }
    }

    fn chunk_is_needed(
        &self,
        generation: Generation,
        index: u32,
        versions: &[(Epoch, u64)],
        kept_garbage: &BTreeSet<Generation>,
    ) {
        let (id, ino, number) = generation;
        let realm = &self.realms[&id];
        let is = |inode: &threadfs::store::record::Inode| inode.generation == number;
        let live = realm.live.files.get(&ino).is_some_and(|(inode, _)| is(inode));
        let orphan = realm.orphans.get(&ino).is_some_and(|(inode, _)| is(inode));
        let version = realm.kept.iter().any(|kept| kept.ino == ino && is(&kept.inode));
        // In a dead realm the files that still had a name stay until the realm goes.
        let held = live || orphan || version || (realm.dead && !kept_garbage.contains(&generation));
        assert!(held || kept_garbage.contains(&generation), "{generation:?} is in no list");
        let (_, oldest) = versions.last().unwrap();
        assert!(*oldest > 0, "a hole that hides nothing: chunk {index} of {generation:?}");
        let refs = self.refs(id);
        let mut newer = Epoch::MAX;
        for (epoch, _) in versions {
            let mut shown = refs.range(*epoch..newer);
            let needed = match newer {
                Epoch::MAX if held => true,
                // While it has no name, later snapshots seem to need it.
                _ if orphan => shown.next().is_some(),
                _ => shown.any(|(_, state)| state.files.get(&ino).is_some_and(|(inode, _)| is(inode))),
            };
            assert!(needed || realm.dead, "nobody needs chunk {index} of {generation:?} as of {epoch}");
            newer = *epoch;
        }
    }

    /// With no snapshots there is only the newest state.
    pub fn nothing_but_the_present(&self) {
        let mut allocated = BTreeMap::<Generation, u64>::new();
        let mut seen = BTreeSet::new();
        for ((space, key), value) in dump(&*self.engine) {
            match space {
                Keyspace::Meta => {
                    let left = [key::tag::HISTORY, key::tag::TOUCHED, key::tag::KEPT, key::tag::SNAPSHOT];
                    assert!(!left.contains(&key[0]), "{key:?} is left");
                }
                Keyspace::Data => {
                    let chunk = key::parse_chunk(&key).unwrap();
                    let generation = (chunk.realm, chunk.ino, chunk.generation);
                    assert!(seen.insert((generation, chunk.index)), "two versions of {chunk:?}");
                    *allocated.entry(generation).or_default() += value.len() as u64;
                }
            }
        }
        for (id, realm) in &self.realms {
            for (ino, (inode, _)) in &realm.live.files {
                let found = allocated.remove(&(*id, *ino, inode.generation)).unwrap_or(0);
                assert_eq!(found, inode.allocated, "allocated of {ino:?} in {id:?}");
            }
        }
        assert!(allocated.is_empty(), "chunks of nobody: {allocated:?}");
    }
}
