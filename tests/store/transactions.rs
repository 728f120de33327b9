//! Transactions: all or nothing, and their own changes show.

use threadfs::engine::{Engine, View};
use threadfs::store::record::Usage;
use threadfs::store::{Content, HOME, Local, ROOT, Records, Store, key};

use crate::helpers::{collect_all, directory, dump, file, keys_of, snapshot, store};

fn live(name: u8) -> Vec<u8> {
    key::xattr(HOME, Local(2), &[name])
}

#[test]
fn a_dropped_transaction_changes_nothing() {
    let (engine, store) = store();
    let before = dump(&*engine);
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.put_record(live(b'a'), b"1").unwrap();
    txn.take_snapshot(HOME, &snapshot()).unwrap();
    txn.add_usage(HOME, 5, 5).unwrap();
    let realm = txn.new_realm(&directory()).unwrap();
    drop(txn);
    assert_eq!(dump(&*engine), before);
    let home = store.realm(HOME).unwrap();
    assert!(home.read().snapshots.is_empty(), "a snapshot that was not committed stays in memory");
    assert_eq!(home.read().usage, Usage { inodes: 1, bytes: 0 });
    assert!(store.realm(realm).is_none());
}

#[test]
fn a_refused_commit_changes_nothing_and_can_be_done_again() {
    let (engine, store) = store();
    let attempt = |store: &Store| {
        let mut txn = store.begin(&[HOME]).unwrap();
        txn.put_record(live(b'a'), b"1").unwrap();
        let number = txn.take_snapshot(HOME, &snapshot()).unwrap();
        txn.put_record(live(b'a'), b"2").unwrap();
        txn.add_usage(HOME, 1, 10).unwrap();
        let realm = txn.new_realm(&directory()).unwrap();
        txn.commit().map(|()| (number, realm))
    };
    let before = dump(&*engine);
    engine.refuse_after(0);
    assert!(attempt(&store).is_err());
    assert!(store.take_home_snapshot(b"h", &snapshot()).is_err());
    engine.accept();
    assert_eq!(dump(&*engine), before);
    assert!(store.realm(HOME).unwrap().read().snapshots.is_empty());
    assert!(store.home_snapshots().is_empty());
    let (number, realm) = attempt(&store).unwrap();
    assert_eq!(store.reader().at(number).record(&live(b'a')).unwrap().unwrap(), b"1");
    assert_eq!(store.reader().record(&live(b'a')).unwrap().unwrap(), b"2");
    assert!(store.realm(realm).is_some());
}

#[test]
fn a_transaction_sees_its_own_records() {
    let (_, store) = store();
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.put_record(live(b'a'), b"1").unwrap();
    assert_eq!(txn.record(&live(b'a')).unwrap().unwrap(), b"1");
    txn.delete_record(live(b'a')).unwrap();
    assert_eq!(txn.record(&live(b'a')).unwrap(), None);
    assert_eq!(store.reader().record(&live(b'a')).unwrap(), None);
}

#[test]
fn a_snapshot_inside_shows_what_came_before_it_usage_too() {
    let (_, store) = store();
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.put_record(live(b'a'), b"before").unwrap();
    txn.add_usage(HOME, 1, 100).unwrap();
    let first = txn.take_snapshot(HOME, &snapshot()).unwrap();
    txn.put_record(live(b'a'), b"between").unwrap();
    txn.add_usage(HOME, 1, 100).unwrap();
    let second = txn.take_snapshot(HOME, &snapshot()).unwrap();
    txn.delete_record(live(b'a')).unwrap();
    txn.add_usage(HOME, -2, -200).unwrap();
    txn.commit().unwrap();
    let look = |epoch| {
        let reader = store.reader().at(epoch);
        (reader.record(&live(b'a')).unwrap(), reader.usage_record(HOME).unwrap())
    };
    assert_eq!(look(first), (Some(b"before".to_vec()), Usage { inodes: 2, bytes: 100 }));
    assert_eq!(look(second), (Some(b"between".to_vec()), Usage { inodes: 3, bytes: 200 }));
    assert_eq!(store.reader().usage_record(HOME).unwrap(), Usage { inodes: 1, bytes: 0 });
    assert_eq!(store.reader().record(&live(b'a')).unwrap(), None);
}

#[test]
fn a_realm_can_be_made_snapshotted_and_changed_at_once() {
    let (_, store) = store();
    let mut txn = store.begin(&[HOME]).unwrap();
    let id = txn.new_realm(&directory()).unwrap();
    let taken = txn.take_snapshot(id, &snapshot()).unwrap();
    let mut root = directory();
    root.perm = 0o700;
    txn.put_inode(id, ROOT, &root).unwrap();
    txn.commit().unwrap();
    assert_eq!(store.reader().at(taken).inode(id, ROOT).unwrap().unwrap().perm, 0o755);
}

#[test]
fn a_realm_that_is_retired_with_a_last_snapshot_remembers_its_number() {
    let (engine, store) = store();
    let mut txn = store.begin(&[HOME]).unwrap();
    let id = txn.new_realm(&directory()).unwrap();
    txn.commit().unwrap();
    let mut txn = store.begin(&[HOME, id]).unwrap();
    let taken = txn.take_snapshot(id, &snapshot()).unwrap();
    txn.retire_realm(id).unwrap();
    txn.commit().unwrap();
    let store = Store::open(engine).unwrap();
    let record = store.realm(id).unwrap().read().record.clone();
    assert_eq!((record.last_snapshot, record.dead), (taken, Some(taken + 1)));
    assert!(store.take_snapshot(HOME, &snapshot()).unwrap() > taken);
}

#[test]
fn later_writes_of_a_transaction_build_on_earlier_ones() {
    let (engine, store) = store();
    let mut inode = file();
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.write_content(HOME, Local(5), &mut inode, 0, &[1; 40]).unwrap();
    txn.write_content(HOME, Local(5), &mut inode, 10, &[2; 10]).unwrap();
    let before = (inode.clone(), txn.take_snapshot(HOME, &snapshot()).unwrap());
    txn.write_content(HOME, Local(5), &mut inode, 15, &[3; 2]).unwrap();
    txn.clear_content(HOME, Local(5), &mut inode, 0..4).unwrap();
    txn.resize_content(HOME, Local(5), &mut inode, 30).unwrap();
    txn.put_inode(HOME, Local(5), &inode).unwrap();
    txn.commit().unwrap();
    let read = |epoch: Option<u64>, inode, length| {
        let reader = if let Some(epoch) = epoch { store.reader().at(epoch) } else { store.reader() };
        let mut bytes = vec![9; length];
        reader.read_content(&Content::of(HOME, Local(5), inode), 0, &mut bytes).unwrap();
        bytes
    };
    let mut wanted = [[1; 10], [2; 10], [1; 10], [1; 10]].concat();
    assert_eq!(read(Some(before.1), &before.0, 40), wanted);
    wanted[15..17].fill(3);
    wanted[..4].fill(0);
    assert_eq!(read(None, &inode, 40), [&wanted[..30], &[0; 10]].concat());
    assert_eq!((inode.size, inode.allocated), (30, 30));
    // What was written and dropped within one transaction leaves nothing.
    let mut txn = store.begin(&[HOME]).unwrap();
    let mut other = file();
    txn.write_content(HOME, Local(6), &mut other, 0, &[1; 40]).unwrap();
    txn.resize_content(HOME, Local(6), &mut other, 0).unwrap();
    txn.write_content(HOME, Local(6), &mut other, 0, &[2; 5]).unwrap();
    txn.commit().unwrap();
    collect_all(&store);
    let left = dump(&*engine).into_keys().filter_map(|(_, key)| key::parse_chunk(&key)).filter(|c| c.ino == Local(6));
    assert_eq!(left.map(|chunk| chunk.generation).collect::<Vec<_>>(), [1]);
}

#[test]
fn an_inode_without_a_name_is_in_nobodys_usage() {
    let (_, store) = store();
    let mut inode = file();
    inode.nlink = 0;
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.write_content(HOME, Local(5), &mut inode, 0, &[1; 40]).unwrap();
    txn.commit().unwrap();
    assert_eq!((inode.allocated, store.usage().bytes), (40, 0));
    inode.nlink = 1;
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.add_usage(HOME, 0, 40).unwrap();
    txn.begin_generation(HOME, &mut inode).unwrap();
    txn.write_content(HOME, Local(5), &mut inode, 0, &[1; 7]).unwrap();
    txn.commit().unwrap();
    assert_eq!((inode.allocated, store.usage().bytes), (7, 7));
}

#[test]
fn writing_nothing_changes_nothing() {
    let (engine, store) = store();
    let before = dump(&*engine);
    let mut inode = file();
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.write_content(HOME, Local(5), &mut inode, 1000, b"").unwrap();
    txn.commit().unwrap();
    assert_eq!((inode.size, inode.allocated, dump(&*engine)), (0, 0, before));
}

#[test]
fn only_locked_realms_can_be_changed() {
    let (_, store) = store();
    let mut txn = store.begin(&[HOME]).unwrap();
    let id = txn.new_realm(&directory()).unwrap();
    txn.commit().unwrap();
    let mut txn = store.begin(&[id]).unwrap();
    assert!(txn.put_record(live(b'a'), b"1").is_err());
    assert!(txn.new_realm(&directory()).is_err(), "a thread is made with the home locked");
    drop(txn);
    assert!(store.begin(&[threadfs::store::RealmId(77)]).is_err());
}

#[test]
fn a_whole_kind_is_listed_at_a_snapshot() {
    let (_, store) = store();
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.put_record(live(b'a'), b"1").unwrap();
    txn.put_record(live(b'b'), b"1").unwrap();
    txn.commit().unwrap();
    let taken = store.take_snapshot(HOME, &snapshot()).unwrap();
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.delete_record(live(b'a')).unwrap();
    txn.put_record(live(b'c'), b"1").unwrap();
    txn.commit().unwrap();
    let list = |from: &[u8], to: &[u8]| {
        let mut found = Vec::new();
        let reader = store.reader().at(taken);
        reader
            .records(from, to, &mut |key, _| {
                found.push(key.to_vec());
                Ok(std::ops::ControlFlow::Continue(()))
            })
            .unwrap();
        found
    };
    let kind = key::of_realm(key::tag::XATTR, HOME);
    assert_eq!(list(&kind, &key::after(&kind)), [live(b'a'), live(b'b')]);
    assert_eq!(list(&kind, b""), [live(b'a'), live(b'b')]);
    assert_eq!(list(&live(b'a'), &live(b'b')), [live(b'a')]);
    let behind = [&live(b'a')[..], &[0]].concat();
    assert_eq!(list(&behind, &key::after(&kind)), [live(b'b')], "a cursor behind a record that is history");
}

#[test]
fn a_store_of_a_newer_format_is_left_alone() {
    let (engine, store) = store();
    drop(store);
    let mut newer = threadfs::store::codec::Encoder::new();
    newer.bytes(b"threadfs").number(99);
    let mut batch = threadfs::engine::Batch::new();
    batch.put(threadfs::engine::Keyspace::Meta, key::SUPERBLOCK.to_vec(), newer.finish());
    engine.write(batch).unwrap();
    let before = dump(&*engine);
    let error = Store::open(engine.clone()).unwrap_err();
    assert!(matches!(error, threadfs::store::Error::NewerFormat { found: 99, .. }), "{error:?}");
    assert_eq!(dump(&*engine), before);
    assert!(engine.get(threadfs::engine::Keyspace::Meta, b"none").unwrap().is_none());
    assert!(keys_of(&*engine, key::tag::HISTORY).is_empty());
}
