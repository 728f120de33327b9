//! Realms that show another one where they have nothing of their own. No call makes one yet: the
//! tests write its record, as the call will.

use std::sync::Arc;

use threadfs::engine::{Batch, Engine, Keyspace, View};
use threadfs::store::record::{RealmRecord, Superblock};
use threadfs::store::{Epoch, HOME, Local, RealmId, Records, Store, key};

use crate::flaky::Flaky;
use crate::helpers::{collect_all, directory, dump, keys_of, snapshot, store};

const NAME: &[u8] = b"x";

fn live(realm: RealmId, name: &[u8]) -> Vec<u8> {
    key::xattr(realm, Local(2), name)
}

fn put(store: &Store, realm: RealmId, name: &[u8], value: Option<&[u8]>) {
    let mut txn = store.begin(&[realm]).unwrap();
    match value {
        Some(value) => txn.put_record(live(realm, name), value).unwrap(),
        None => txn.delete_record(live(realm, name)).unwrap(),
    }
    txn.commit().unwrap();
}

fn get(store: &Store, realm: RealmId, at: Option<Epoch>, name: &[u8]) -> Option<Vec<u8>> {
    let reader = store.reader();
    let reader = if let Some(at) = at { reader.at(at) } else { reader };
    let single = reader.record(&live(realm, name)).unwrap();
    let mut listed = None;
    for (from, to) in [
        (key::numbered(key::tag::XATTR, realm, 2), key::numbered(key::tag::XATTR, realm, 3)),
        (key::of_realm(key::tag::XATTR, realm), key::after(&key::of_realm(key::tag::XATTR, realm))),
    ] {
        listed = None;
        reader
            .records(&from, &to, &mut |key, value| {
                if key == live(realm, name) {
                    listed = Some(value.to_vec());
                }
                Ok(std::ops::ControlFlow::Continue(()))
            })
            .unwrap();
        assert_eq!(listed, single, "a range and a single look differ");
    }
    listed
}

/// Makes a fork of a realm at an epoch, and opens the store anew.
fn fork(engine: &Arc<Flaky>, base: RealmId, at: Epoch) -> (Arc<Store>, RealmId) {
    let bytes = engine.get(Keyspace::Meta, key::SUPERBLOCK).unwrap().unwrap();
    let mut superblock = Superblock::decode(&bytes).unwrap();
    let id = RealmId(superblock.next_realm);
    superblock.next_realm += 1;
    let created = 1 + superblock.last_home_snapshot;
    let record = RealmRecord { created, base: Some((base, at)), ..RealmRecord::default() };
    let mut batch = Batch::new();
    batch.put(Keyspace::Meta, key::SUPERBLOCK.to_vec(), superblock.encode());
    batch.put(Keyspace::Meta, key::of_realm(key::tag::REALM, id), record.encode());
    batch.put(Keyspace::Meta, key::of_realm(key::tag::NEXT, id), 2000u64.to_be_bytes().to_vec());
    engine.write(batch).unwrap();
    (Store::open(engine.clone()).unwrap(), id)
}

/// A thread with one record, and a snapshot of it.
fn base() -> (Arc<Flaky>, RealmId, Epoch) {
    let (engine, store) = store();
    let mut txn = store.begin(&[HOME]).unwrap();
    let id = txn.new_realm(&directory()).unwrap();
    txn.commit().unwrap();
    put(&store, id, NAME, Some(b"base"));
    let at = store.take_snapshot(id, &snapshot()).unwrap();
    (engine, id, at)
}

fn retire(store: &Store, id: RealmId) {
    let mut txn = store.begin(&[HOME, id]).unwrap();
    txn.retire_realm(id).unwrap();
    txn.commit().unwrap();
}

#[test]
fn a_fork_shows_its_base_as_it_was() {
    let (engine, parent, at) = base();
    let (store, child) = fork(&engine, parent, at);
    put(&store, parent, NAME, Some(b"changed later"));
    put(&store, parent, b"new", Some(b"later"));
    assert_eq!(get(&store, child, None, NAME).unwrap(), b"base");
    assert_eq!(get(&store, child, None, b"new"), None);
    put(&store, child, NAME, Some(b"own"));
    assert_eq!(get(&store, child, None, NAME).unwrap(), b"own");
    assert_eq!(get(&store, parent, None, NAME).unwrap(), b"changed later");
}

#[test]
fn what_a_fork_deletes_does_not_show_through() {
    let (engine, parent, at) = base();
    let (store, child) = fork(&engine, parent, at);
    let before = store.take_snapshot(child, &snapshot()).unwrap();
    put(&store, child, NAME, None);
    assert_eq!(get(&store, child, None, NAME), None);
    assert_eq!(get(&store, child, Some(before), NAME).unwrap(), b"base", "at a time before, it does");
    let deleted = store.take_snapshot(child, &snapshot()).unwrap();
    put(&store, child, NAME, Some(b"again"));
    assert_eq!(get(&store, child, Some(deleted), NAME), None);
    assert_eq!(get(&store, child, None, NAME).unwrap(), b"again");
    // What the base does not have needs no mark.
    put(&store, child, b"own", Some(b"1"));
    put(&store, child, b"own", None);
    assert!(engine.get(Keyspace::Meta, &live(child, b"own")).unwrap().is_none());
}

#[test]
fn a_fork_of_a_fork() {
    let (engine, parent, at) = base();
    let (store, child) = fork(&engine, parent, at);
    put(&store, child, b"child", Some(b"1"));
    let middle = store.take_snapshot(child, &snapshot()).unwrap();
    put(&store, child, NAME, None);
    let (store, grandchild) = fork(&engine, child, middle);
    assert_eq!(get(&store, grandchild, None, NAME).unwrap(), b"base");
    assert_eq!(get(&store, grandchild, None, b"child").unwrap(), b"1");
    put(&store, grandchild, NAME, None);
    assert_eq!(get(&store, grandchild, None, NAME), None);
    let newest = store.take_snapshot(child, &snapshot()).unwrap();
    let (store, other) = fork(&engine, child, newest);
    assert_eq!(get(&store, other, None, NAME), None, "the fork's deletion holds for its own forks");
}

#[test]
fn a_base_that_changes_after_it_was_found_unchanged() {
    let (engine, parent, at) = base();
    let (store, child) = fork(&engine, parent, at);
    let middle = store.take_snapshot(child, &snapshot()).unwrap();
    let (store, grandchild) = fork(&engine, child, middle);
    for shows in [child, grandchild] {
        assert_eq!(get(&store, shows, None, b"nothing"), None, "so it is found out that nothing was changed");
    }
    put(&store, parent, NAME, None);
    put(&store, parent, b"nothing", Some(b"later"));
    put(&store, child, b"child", Some(b"later"));
    let look = |store: &Store| {
        for shows in [child, grandchild] {
            assert_eq!(get(store, shows, None, NAME).unwrap(), b"base", "it moved to the past of the base");
            assert_eq!(get(store, shows, None, b"nothing"), None);
        }
        assert_eq!(get(store, grandchild, None, b"child"), None);
    };
    look(&store);
    look(&Store::open(engine).unwrap());
}

#[test]
fn a_listing_jumps_over_a_long_past_and_over_nothing_else() {
    let (engine, parent, at) = base();
    let store = Store::open(engine).unwrap();
    let longer = [NAME, b"y"].concat();
    let mut seen = vec![(at, None)];
    for number in 0..20u8 {
        put(&store, parent, NAME, Some(&[number]));
        put(&store, parent, &longer, Some(&[number]));
        seen.push((store.take_snapshot(parent, &snapshot()).unwrap(), Some(vec![number])));
    }
    put(&store, parent, NAME, None);
    put(&store, parent, &longer, None);
    for (at, value) in seen {
        assert_eq!(get(&store, parent, Some(at), &longer), value, "at {at}");
        assert_eq!(get(&store, parent, Some(at), NAME), value.or(Some(b"base".to_vec())), "at {at}");
    }
}

#[test]
fn pin_ignored_on_drop() {
    let (engine, parent, at) = base();
    let (store, child) = fork(&engine, parent, at);
    put(&store, parent, NAME, Some(b"changed later"));
    assert!(store.drop_snapshot(parent, at).unwrap());
    collect_all(&store);
    let store = Store::open(engine.clone()).unwrap();
    assert_eq!(get(&store, child, None, NAME).unwrap(), b"base");
    retire(&store, parent);
    collect_all(&store);
    assert_eq!(get(&store, child, None, NAME).unwrap(), b"base", "a deleted realm with a fork stays");
    retire(&store, child);
    collect_all(&store);
    assert!(store.realm(child).is_none() && store.realm(parent).is_none());
    assert!(keys_of(&*engine, key::tag::HISTORY).is_empty() && keys_of(&*engine, key::tag::PENDING).is_empty());
}

#[test]
fn a_crash_when_a_fork_goes_frees_what_only_it_needed() {
    for batches in 0..20 {
        let (engine, parent, at) = base();
        let (store, child) = fork(&engine, parent, at);
        put(&store, parent, NAME, Some(b"changed later"));
        store.drop_snapshot(parent, at).unwrap();
        collect_all(&store);
        assert_eq!(keys_of(&*engine, key::tag::HISTORY).len(), 1);
        retire(&store, child);
        engine.refuse_after(batches);
        let interrupted = loop {
            match store.collect() {
                Ok(true) => {}
                Ok(false) => break false,
                Err(_) => break true,
            }
        };
        engine.accept();
        let store = Store::open(engine.clone()).unwrap();
        collect_all(&store);
        assert_eq!(keys_of(&*engine, key::tag::HISTORY), [b""; 0], "interrupted after {batches} batches");
        assert!(!dump(&*engine).keys().any(|(_, key)| key::realm_of(key) == Some(child)));
        if !interrupted {
            assert!(batches > 1);
            return;
        }
    }
    panic!("the collection never gets done");
}

#[test]
fn a_realm_with_two_forks_waits_for_both() {
    let (engine, parent, at) = base();
    let (_, first) = fork(&engine, parent, at);
    let (store, second) = fork(&engine, parent, at);
    store.drop_snapshot(parent, at).unwrap();
    put(&store, parent, NAME, Some(b"changed later"));
    retire(&store, first);
    collect_all(&store);
    assert!(store.realm(first).is_none());
    assert_eq!(get(&store, second, None, NAME).unwrap(), b"base");
    retire(&store, second);
    collect_all(&store);
    let left = [keys_of(&*engine, key::tag::HISTORY), keys_of(&*engine, key::tag::TOUCHED)].concat();
    assert_eq!(left, [b""; 0]);
    assert_eq!(get(&store, parent, None, NAME).unwrap(), b"changed later");
}
