//! Threads that were deleted, and came back.

use std::sync::Arc;

use threadfs::store::check::check_with;
use threadfs::store::record::{Deletion, Orphan};
use threadfs::store::{Epoch, HOME, Local, ROOT, RealmId, Records, Store, key};

use crate::helpers::{collect_all, directory, file, keys_of, snapshot, store};

fn thread(store: &Store) -> RealmId {
    let mut txn = store.begin(&[HOME]).unwrap();
    let id = txn.new_realm(&directory()).unwrap();
    txn.commit().unwrap();
    id
}

fn write(store: &Store, id: RealmId, text: &[u8]) -> Local {
    let mut txn = store.begin(&[id]).unwrap();
    let ino = txn.new_ino(id).unwrap();
    let mut inode = file();
    inode.generation_born = txn.epoch(id).unwrap();
    txn.write_content(id, ino, &mut inode, 0, text).unwrap();
    txn.put_inode(id, ino, &inode).unwrap();
    txn.commit().unwrap();
    ino
}

/// Removes the root, as rmdir does; `kept` says whether the snapshots stay.
fn delete(store: &Store, id: RealmId, kept: bool) {
    let mut txn = store.begin(&[HOME, id]).unwrap();
    let root = txn.inode(id, ROOT).unwrap().unwrap();
    txn.delete_record(key::inode(id, ROOT)).unwrap();
    txn.add_usage(id, -1, 0).unwrap();
    if kept {
        txn.keep_deleted(id, Deletion { path: b"t".to_vec(), ..Deletion::default() }).unwrap();
    } else {
        txn.drop_snapshots(id).unwrap();
    }
    txn.put_plain(
        key::numbered(key::tag::ORPHAN, id, ROOT.0),
        Orphan { inode: root, xattrs: Default::default() }.encode(),
    );
    txn.retire_realm(id).unwrap();
    txn.commit().unwrap();
    let mut txn = store.begin(&[id]).unwrap();
    txn.delete_plain(key::numbered(key::tag::ORPHAN, id, ROOT.0));
    txn.commit().unwrap();
}

fn revive(store: &Store, id: RealmId) {
    let mut txn = store.begin(&[HOME, id]).unwrap();
    txn.revive_realm(id).unwrap();
    txn.put_inode(id, ROOT, &directory()).unwrap();
    txn.add_usage(id, 1, 0).unwrap();
    txn.commit().unwrap();
}

fn root_at(store: &Store, id: RealmId, epoch: Epoch) -> bool {
    store.view().at(epoch).inode(id, ROOT).unwrap().is_some()
}

#[test]
fn its_snapshots_are_references_until_it_is_forgotten() {
    let (engine, store) = store();
    let id = thread(&store);
    let ino = write(&store, id, b"content");
    let taken = store.take_snapshot(id, &snapshot()).unwrap();
    let mut txn = store.begin(&[id]).unwrap();
    txn.delete_record(key::inode(id, ino)).unwrap();
    txn.commit().unwrap();
    delete(&store, id, true);
    collect_all(&store);
    let store = Store::open(engine.clone()).unwrap();
    assert_eq!(store.thread_count(), 0);
    let inode = store.view().at(taken).inode(id, ino).unwrap().unwrap();
    let mut bytes = [0; 7];
    store.view().at(taken).read_content(&threadfs::store::Content::of(id, ino, &inode), 0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"content");
    assert!(store.forget_deleted(id).unwrap());
    assert!(!store.forget_deleted(id).unwrap());
    collect_all(&store);
    assert!(store.realm(id).is_none() && !store.forget_deleted(id).unwrap());
    assert!(!crate::helpers::dump(&*engine).keys().any(|(_, key)| key::realm_of(key) == Some(id)));
}

#[test]
fn nothing_is_taken_of_one_that_is_gone() {
    let (_, store) = store();
    let id = thread(&store);
    store.take_snapshot(id, &snapshot()).unwrap();
    delete(&store, id, true);
    store.take_snapshot(id, &snapshot()).unwrap_err();
    revive(&store, id);
    store.take_snapshot(id, &snapshot()).unwrap();
}

#[test]
fn home_snapshots_from_its_absence_are_no_references() {
    let (engine, store) = store();
    let id = thread(&store);
    let home = |store: &Store| store.take_home_snapshot(b"h", &snapshot()).unwrap();
    let before = home(&store);
    store.take_snapshot(id, &snapshot()).unwrap();
    delete(&store, id, true);
    let away = home(&store);
    revive(&store, id);
    let after = home(&store);
    delete(&store, id, true);
    revive(&store, id);
    let last = home(&store);
    for reopened in [false, true] {
        let store = if reopened { Store::open(engine.clone()).unwrap() } else { Arc::clone(&store) };
        let realm = store.realm(id).unwrap();
        let refs = realm.read().refs(&store.home_snapshots());
        let shown: Vec<Epoch> = [before, away, after, last].into_iter().filter(|e| refs.contains(*e)).collect();
        assert_eq!(shown, [before, after, last]);
        assert!(root_at(&store, id, before) && !root_at(&store, id, away) && root_at(&store, id, after));
        assert_eq!(realm.read().record.absences.len(), 2);
    }
    // Each goes by itself, in an order in which neighbours go first.
    for gone in [after, away, before, last] {
        store.drop_home_snapshot(gone).unwrap();
        collect_all(&store);
    }
    delete(&store, id, false);
    collect_all(&store);
    assert!(store.realm(id).is_none());
    let left = check_with(&store, true).unwrap();
    assert!(left.is_clean(), "{:#?}", left.problems);
    assert!(keys_of(&*engine, key::tag::HISTORY).is_empty() && keys_of(&*engine, key::tag::TOUCHED).is_empty());
}

#[test]
fn only_one_that_is_deleted_comes_back() {
    let (_, store) = store();
    let id = thread(&store);
    let mut txn = store.begin(&[HOME, id]).unwrap();
    txn.revive_realm(id).unwrap_err();
}

#[test]
fn what_changed_since_the_last_snapshot() {
    let (engine, store) = store();
    let id = thread(&store);
    let changed = |store: &Store| store.begin(&[id]).unwrap().is_changed(id).unwrap();
    let put = |store: &Store, removal: bool| {
        let mut txn = store.begin(&[id]).unwrap();
        if removal {
            txn.set_removal();
        }
        txn.put_record(key::xattr(id, ROOT, b"x"), b"1").unwrap();
        txn.commit().unwrap();
    };
    assert!(changed(&store), "it is new");
    store.take_snapshot(id, &snapshot()).unwrap();
    assert!(!changed(&store));
    put(&store, true);
    assert!(!changed(&store), "a removal is no change");
    assert_eq!(store.begin(&[id]).unwrap().changes(id).unwrap(), 1);
    put(&store, false);
    assert!(changed(&store));
    let store = Store::open(engine).unwrap();
    assert!(changed(&store) && changed(&store), "and it is after a start");
    let home = store.take_home_snapshot(b"h", &snapshot()).unwrap();
    assert!(!changed(&store), "a snapshot of everything is one of it too");
    assert_eq!(store.begin(&[id]).unwrap().changes(id).unwrap(), 0);
    store.drop_home_snapshot(home).unwrap();
    assert!(!changed(&store));
}

#[test]
fn a_fork_is_no_snapshot_of_what_it_comes_from() {
    let (engine, store) = store();
    let id = thread(&store);
    store.take_snapshot(id, &snapshot()).unwrap();
    write(&store, id, b"new");
    for committed in [false, true] {
        let mut txn = store.begin(&[HOME, id]).unwrap();
        txn.fork_realm(id, None, |root| root).unwrap();
        if committed {
            txn.commit().unwrap();
        } else {
            drop(txn);
        }
        assert!(store.begin(&[id]).unwrap().is_changed(id).unwrap());
    }
    let store = Store::open(engine).unwrap();
    assert!(store.begin(&[id]).unwrap().is_changed(id).unwrap());
    store.take_snapshot(id, &snapshot()).unwrap();
    assert!(!store.begin(&[id]).unwrap().is_changed(id).unwrap());
}
