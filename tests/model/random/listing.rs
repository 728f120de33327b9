//! A listing that is read in parts while names come and go.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Id;
use super::world::World;

#[derive(Debug)]
pub struct Listing {
    dir: Id,
    cookie: u64,
    /// Names that were there at the start.
    there: BTreeSet<Vec<u8>>,
    /// Names that came or went since.
    changed: BTreeSet<Vec<u8>>,
    /// How often each name was listed.
    seen: BTreeMap<Vec<u8>, u32>,
}

impl World {
    pub fn listed_change(&mut self, dir: Id, name: &[u8]) {
        if let Some(listing) = self.listing.as_mut().filter(|listing| listing.dir == dir) {
            listing.changed.insert(name.to_vec());
        }
    }

    /// Reads the next part of the listing; begins one of `dir` if there is none.
    pub fn list(&mut self, dir: Id, limit: usize) {
        self.say(|w| format!("list {} limit {limit}", w.show(dir)));
        let mut listing = self.listing.take().unwrap_or_else(|| Listing {
            dir,
            cookie: 0,
            there: self.tree.get(dir).entries.keys().cloned().collect(),
            changed: BTreeSet::new(),
            seen: BTreeMap::new(),
        });
        if !self.tree.inodes.contains_key(&listing.dir) {
            return;
        }
        let part = self.fs().readdir(self.node(listing.dir), listing.cookie, limit).unwrap();
        for entry in &part {
            assert!(entry.cookie > listing.cookie, "cookies have to go up");
            listing.cookie = entry.cookie;
            *listing.seen.entry(entry.name.clone()).or_default() += 1;
        }
        if !part.is_empty() {
            self.listing = Some(listing);
            return;
        }
        for dot in [&b"."[..], b".."] {
            assert_eq!(listing.seen.remove(dot), Some(1));
        }
        for name in listing.there.difference(&listing.changed) {
            assert_eq!(listing.seen.get(name), Some(&1), "{name:?} was there all the time");
        }
        for (name, times) in &listing.seen {
            let was_there = listing.there.contains(name) || listing.changed.contains(name);
            assert!(was_there, "{name:?} was never there");
            assert!(*times == 1 || listing.changed.contains(name), "{name:?} was listed {times} times");
        }
    }
}
