//! Plausible readings of the design that lose data, each as a test of the real store. The names
//! are those of the list BAD in the executable model.

use std::sync::Arc;

use threadfs::engine::{Keyspace, View};
use threadfs::store::{Epoch, HOME, Local, RealmId, Records, Store, key};

use crate::flaky::Flaky;
use crate::helpers::{collect_all, directory, file, keys_of, snapshot, store};

fn record(name: u8) -> Vec<u8> {
    key::xattr(HOME, Local(2), &[name])
}

fn put(store: &Store, live: &[u8], value: &[u8]) {
    let mut txn = store.begin(&[key::realm_of(live).unwrap()]).unwrap();
    txn.put_record(live.to_vec(), value).unwrap();
    txn.commit().unwrap();
}

fn delete(store: &Store, live: &[u8]) {
    let mut txn = store.begin(&[key::realm_of(live).unwrap()]).unwrap();
    txn.delete_record(live.to_vec()).unwrap();
    txn.commit().unwrap();
}

fn take(store: &Store) -> Epoch {
    store.take_snapshot(HOME, &snapshot()).unwrap()
}

fn at(store: &Store, live: &[u8], epoch: Epoch) -> Option<Vec<u8>> {
    store.reader().at(epoch).record(live).unwrap()
}

fn epoch(store: &Store, realm: RealmId) -> Epoch {
    store.begin(&[realm]).unwrap().epoch(realm).unwrap()
}

fn thread(store: &Store) -> RealmId {
    let mut txn = store.begin(&[HOME]).unwrap();
    let id = txn.new_realm(&directory()).unwrap();
    txn.commit().unwrap();
    id
}

fn is_touched(engine: &Flaky, live: &[u8], epoch: Epoch) -> bool {
    let key = key::touched(key::realm_of(live).unwrap(), epoch, &key::record_part(live));
    engine.get(Keyspace::Meta, &key).unwrap().is_some()
}

#[test]
fn newest_existing_epoch() {
    for reopened in [false, true] {
        let (engine, mut store) = store();
        put(&store, &record(b'a'), b"0");
        let first = take(&store);
        let second = take(&store);
        put(&store, &record(b'a'), b"1");
        let before = epoch(&store, HOME);
        assert!(store.drop_snapshot(HOME, second).unwrap());
        if reopened {
            store = Store::open(engine.clone()).unwrap();
        }
        assert_eq!(epoch(&store, HOME), before, "a dropped snapshot's number comes back");
        put(&store, &record(b'b'), b"born after");
        let third = take(&store);
        assert!(third > second);
        put(&store, &record(b'a'), b"2");
        collect_all(&store);
        assert_eq!(at(&store, &record(b'a'), first).unwrap(), b"0");
        assert_eq!(at(&store, &record(b'b'), first), None);
        assert_eq!(at(&store, &record(b'a'), third).unwrap(), b"1");
    }
}

#[test]
fn newest_existing_epoch_of_the_home() {
    let (engine, store) = store();
    let id = thread(&store);
    let live = key::xattr(id, Local(2), b"x");
    let home = store.take_home_snapshot(b"h", &snapshot()).unwrap();
    store.drop_home_snapshot(home).unwrap();
    collect_all(&store);
    let store = Store::open(engine).unwrap();
    assert_eq!(epoch(&store, id), home + 1);
    put(&store, &live, b"1");
    assert!(store.take_home_snapshot(b"h", &snapshot()).unwrap() > home);
}

#[test]
fn touch_on_preserve() {
    let (engine, store) = store();
    put(&store, &record(b'a'), b"0");
    put(&store, &record(b'd'), b"0");
    assert!(keys_of(&*engine, key::tag::TOUCHED).is_empty(), "with nothing to go back to there is no index");
    let taken = take(&store);
    put(&store, &record(b'c'), b"created: nothing was preserved");
    put(&store, &record(b'a'), b"1");
    delete(&store, &record(b'd'));
    for name in [b'c', b'a', b'd'] {
        assert!(is_touched(&engine, &record(name), taken + 1), "{}", char::from(name));
    }
}

#[test]
fn touch_gc_with_snapshot() {
    let (engine, store) = store();
    put(&store, &record(b'a'), b"0");
    let first = take(&store);
    put(&store, &record(b'a'), b"1");
    let second = take(&store);
    put(&store, &record(b'a'), b"2");
    store.drop_snapshot(HOME, second).unwrap();
    collect_all(&store);
    assert!(is_touched(&engine, &record(b'a'), first + 1) && is_touched(&engine, &record(b'a'), second + 1));
    let entries = keys_of(&*engine, key::tag::HISTORY).len();
    assert_eq!(entries, 1, "what only the second snapshot needed is gone");
    store.drop_snapshot(HOME, first).unwrap();
    collect_all(&store);
    assert!(keys_of(&*engine, key::tag::TOUCHED).is_empty() && keys_of(&*engine, key::tag::HISTORY).is_empty());
}

#[test]
fn preserve_last_taken() {
    let (engine, store) = store();
    put(&store, &record(b'a'), b"0");
    let taken = take(&store);
    store.drop_snapshot(HOME, taken).unwrap();
    put(&store, &record(b'a'), b"1");
    assert!(keys_of(&*engine, key::tag::HISTORY).is_empty(), "a value was kept for a snapshot that is gone");
}

#[test]
fn home_per_realm_epoch() {
    let (_, store) = store();
    let id = thread(&store);
    let live = key::xattr(id, Local(2), b"x");
    put(&store, &live, b"0");
    let own = store.take_snapshot(id, &snapshot()).unwrap();
    let home = store.take_home_snapshot(b"h", &snapshot()).unwrap();
    put(&store, &live, b"1");
    assert_eq!(at(&store, &live, home).unwrap(), b"0");
    store.drop_snapshot(id, own).unwrap();
    collect_all(&store);
    assert_eq!(at(&store, &live, home).unwrap(), b"0");
    // And in a realm that has no snapshot of its own.
    let other = thread(&store);
    let live = key::xattr(other, Local(2), b"x");
    put(&store, &live, b"0");
    let home = store.take_home_snapshot(b"h", &snapshot()).unwrap();
    assert_eq!(epoch(&store, other), home + 1);
    put(&store, &live, b"1");
    delete(&store, &live);
    collect_all(&store);
    assert_eq!(at(&store, &live, home).unwrap(), b"0");
    let younger = thread(&store);
    let live = key::xattr(younger, Local(2), b"x");
    put(&store, &live, b"0");
    assert_eq!(at(&store, &live, home), None, "a realm that was made later is not in it");
}

#[test]
fn counter_versioned() {
    let (engine, mut store) = store();
    let mut given = std::collections::BTreeSet::new();
    for round in 0..4 {
        let before = take(&store);
        for kept in [true, false] {
            let mut txn = store.begin(&[HOME]).unwrap();
            for _ in 0..700 {
                assert!(given.insert(txn.new_ino(HOME).unwrap()), "a number was given out twice");
            }
            if kept {
                txn.commit().unwrap();
            }
        }
        store.drop_snapshot(HOME, before).unwrap();
        if round == 2 {
            // Numbers of a transaction that was never committed may come again.
            let last = given.pop_last().unwrap();
            given.retain(|ino| ino.0 + 700 <= last.0);
            store = Store::open(engine.clone()).unwrap();
        }
    }
    assert!(!keys_of(&*engine, key::tag::HISTORY).iter().any(|key| key[5] == key::tag::NEXT));
}

#[test]
fn range_delete_parent() {
    let (engine, store) = store();
    let id = thread(&store);
    let live = key::xattr(id, Local(2), b"x");
    put(&store, &live, b"0");
    let mut txn = store.begin(&[id]).unwrap();
    let ino = txn.new_ino(id).unwrap();
    let mut inode = file();
    txn.write_content(id, ino, &mut inode, 0, b"content").unwrap();
    txn.put_inode(id, ino, &inode).unwrap();
    txn.commit().unwrap();
    let home = store.take_home_snapshot(b"h", &snapshot()).unwrap();
    let own = store.take_snapshot(id, &snapshot()).unwrap();
    let mut txn = store.begin(&[HOME, id]).unwrap();
    txn.retire_realm(id).unwrap();
    txn.commit().unwrap();
    assert_eq!(store.thread_count(), 0);
    collect_all(&store);
    store.drop_snapshot(id, own).unwrap();
    collect_all(&store);
    let later = store.take_home_snapshot(b"h", &snapshot()).unwrap();
    let store = Store::open(engine.clone()).unwrap();
    assert_eq!(at(&store, &live, home).unwrap(), b"0");
    let mut bytes = [0; 7];
    let content = threadfs::store::Content::of(id, ino, &inode);
    store.view().at(home).read_content(&content, 0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"content");
    store.drop_home_snapshot(home).unwrap();
    collect_all(&store);
    assert!(store.realm(id).is_none(), "a later home snapshot does not need it");
    store.drop_home_snapshot(later).unwrap();
    collect_all(&store);
    let left = crate::helpers::dump(&*engine).into_keys().filter(|(space, key)| match space {
        Keyspace::Meta => key::realm_of(key) == Some(id),
        Keyspace::Data => key.starts_with(&key::chunks_of_realm(id)),
    });
    assert_eq!(left.count(), 0);
    let again: Arc<Store> = Store::open(engine).unwrap();
    assert_ne!(thread(&again), id, "a realm's number is never given out again");
}
