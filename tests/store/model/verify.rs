//! Every state that exists reads back exactly.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use threadfs::store::record::Inode;
use threadfs::store::{Content, Local, Reader, RealmId, Records, key};

use super::{State, World};

impl World {
    pub fn verify(&self, when: &str) {
        for (id, realm) in &self.realms {
            if !realm.dead {
                self.verify_state(&self.store.reader(), *id, &realm.live, &format!("{id:?} {when}"));
                self.verify_state(&self.store.view(), *id, &realm.live, &format!("{id:?} frozen {when}"));
                let state = self.store.realm(*id).expect("a living realm is there");
                assert_eq!(state.read().usage, realm.live.usage, "usage of {id:?} {when}");
            }
            for (ino, (inode, bytes)) in &realm.orphans {
                verify_content(&self.store.reader(), *id, *ino, inode, bytes, &format!("an orphan of {id:?} {when}"));
            }
            for kept in &realm.kept {
                let what = format!("a version in {id:?} {when}");
                verify_content(&self.store.reader(), *id, kept.ino, &kept.inode, &kept.bytes, &what);
            }
            for (epoch, state) in &realm.snapshots {
                let what = format!("{id:?} at snapshot {epoch} {when}");
                self.verify_state(&self.store.reader().at(*epoch), *id, state, &what);
            }
        }
        for (epoch, states) in &self.home {
            for (id, state) in states {
                let what = format!("{id:?} at home snapshot {epoch} {when}");
                self.verify_state(&self.store.view().at(*epoch), *id, state, &what);
            }
        }
    }

    fn verify_state(&self, reader: &Reader<'_>, id: RealmId, state: &State, what: &str) {
        let mut found = BTreeMap::new();
        for tag in key::VERSIONED {
            found.extend(records(reader, &key::of_realm(tag, id)));
        }
        assert_eq!(found, state.records, "the records of {what}");
        for part in &self.parts {
            let value = reader.record(&key::live(id, part)).unwrap();
            assert_eq!(value.as_ref(), state.records.get(part), "record {part:?} of {what}");
        }
        for ino in 0..3 {
            let prefix = key::numbered(key::tag::XATTR, id, ino);
            let part = key::record_part(&prefix);
            let wanted = state.records.iter().filter(|(key, _)| key.starts_with(&part));
            let wanted: BTreeMap<_, _> = wanted.map(|(key, value)| (key.clone(), value.clone())).collect();
            assert_eq!(records(reader, &prefix), wanted, "the attributes of inode {ino} of {what}");
        }
        for (ino, (inode, bytes)) in &state.files {
            verify_content(reader, id, *ino, inode, bytes, what);
        }
    }
}

/// All records with a prefix, by their keys without the realm.
fn records(reader: &Reader<'_>, prefix: &[u8]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut last = Vec::new();
    reader
        .records(prefix, &key::after(prefix), &mut |key, value| {
            assert!(last.as_slice() < key, "records are not in order");
            last = key.to_vec();
            found.insert(key::record_part(key), value.to_vec());
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    found
}

fn verify_content(reader: &Reader<'_>, id: RealmId, ino: Local, inode: &Inode, bytes: &[u8], what: &str) {
    let content = Content::of(id, ino, inode);
    assert_eq!(inode.size, bytes.len() as u64);
    let mut read = vec![0xee; bytes.len() + 20];
    reader.read_content(&content, 0, &mut read).unwrap();
    let (inside, behind) = read.split_at(bytes.len());
    assert!(behind.iter().all(|byte| *byte == 0), "bytes behind the end of {ino:?} of {what}");
    assert_eq!(inside, bytes, "the content of {ino:?} of {what}");
    let middle = bytes.len() / 3;
    let mut part = vec![0xee; bytes.len() / 2];
    reader.read_content(&content, middle as u64, &mut part).unwrap();
    assert_eq!(part, bytes[middle..middle + part.len()], "a part of {ino:?} of {what}");
    // Outside of the runs that are said to hold data there are only zeros.
    let mut at = 0;
    while at < inode.size {
        let data = reader.data_at(&content, at, inode.size).unwrap().unwrap_or(inode.size..inode.size);
        assert!(at <= data.start && data.end <= inode.size && (data.start < data.end || data.start == inode.size));
        assert!(bytes[at as usize..data.start as usize].iter().all(|byte| *byte == 0), "data in a hole of {what}");
        at = data.end;
    }
}
