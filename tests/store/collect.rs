//! The collector: it frees all and only what nobody needs, and always gets done.

use std::sync::Arc;

use threadfs::engine::memory::MemoryEngine;
use threadfs::engine::{Batch, Engine, Keyspace, View};
use threadfs::store::record::Inode;
use threadfs::store::{Content, Epoch, HOME, Local, RealmId, Records, Store, key};

use crate::check::assert_clean;
use crate::flaky::Flaky;
use crate::helpers::{collect_all, directory, dump, file, keys_of, snapshot, store};
use crate::tree::Tree;

const INO: Local = Local(50);

fn change(store: &Store, inode: &mut Inode, change: impl FnOnce(&mut threadfs::store::Txn<'_>, &mut Inode)) {
    let mut txn = store.begin(&[HOME]).unwrap();
    change(&mut txn, inode);
    txn.put_inode(HOME, INO, inode).unwrap();
    txn.commit().unwrap();
}

fn write(store: &Store, inode: &mut Inode, offset: u64, data: &[u8]) {
    change(store, inode, |txn, inode| txn.write_content(HOME, INO, inode, offset, data).unwrap());
}

fn take(store: &Store) -> Epoch {
    store.take_snapshot(HOME, &snapshot()).unwrap()
}

fn drop_it(store: &Store, number: Epoch) {
    assert!(store.drop_snapshot(HOME, number).unwrap());
    collect_all(store);
}

fn chunks(engine: &Flaky) -> Vec<(u64, u32, Epoch)> {
    let all =
        dump(engine).into_keys().filter_map(|(space, key)| key::parse_chunk(&key).filter(|_| space == Keyspace::Data));
    all.map(|chunk| (chunk.generation, chunk.index, chunk.epoch)).collect()
}

fn content(store: &Store, at: Epoch, inode: &Inode) -> Vec<u8> {
    let mut bytes = vec![9; inode.size as usize];
    store.reader().at(at).read_content(&Content::of(HOME, INO, inode), 0, &mut bytes).unwrap();
    bytes
}

#[test]
fn a_file_that_grew_after_a_snapshot_and_is_gone_takes_only_what_the_snapshot_shows() {
    let (engine, store) = store();
    let mut inode = file();
    write(&store, &mut inode, 0, &[1; 32]);
    let (first, then) = (take(&store), inode.clone());
    write(&store, &mut inode, 16, &[2; 16 * 1200]);
    let second = take(&store);
    write(&store, &mut inode, 0, &[3; 5]);
    change(&store, &mut inode, |txn, inode| txn.new_generation(HOME, INO, inode).unwrap());
    drop_it(&store, second);
    assert_eq!(chunks(&engine), [(0, 0, 1), (0, 1, 1)], "chunks that no snapshot shows are left");
    assert_eq!(content(&store, first, &then), [1; 32]);
    drop_it(&store, first);
    assert!(chunks(&engine).is_empty() && keys_of(&*engine, key::tag::KEPT).is_empty());
}

#[test]
fn a_file_that_was_open_after_its_unlink_is_not_needed_by_later_snapshots() {
    let (engine, store) = store();
    let mut inode = file();
    write(&store, &mut inode, 0, &[1; 400]);
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.delete_record(key::inode(HOME, INO)).unwrap();
    txn.commit().unwrap();
    take(&store);
    take(&store);
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.drop_generation(HOME, INO, &inode).unwrap();
    txn.commit().unwrap();
    collect_all(&store);
    assert!(chunks(&engine).is_empty(), "a snapshot keeps a file that it does not show");
}

#[test]
fn a_version_that_was_replaced_within_an_epoch_is_not_needed_by_its_snapshot() {
    let (engine, store) = store();
    let mut inode = file();
    inode.generation_born = 1;
    write(&store, &mut inode, 0, &[1; 16]);
    change(&store, &mut inode, |txn, inode| {
        txn.begin_generation(HOME, inode).unwrap();
        txn.write_content(HOME, INO, inode, 0, &[2; 16]).unwrap();
    });
    let taken = take(&store);
    let then = inode.clone();
    change(&store, &mut inode, |txn, inode| txn.begin_generation(HOME, inode).unwrap());
    let mut txn = store.begin(&[HOME]).unwrap();
    txn.discard(HOME, INO, 0, 1, 1).unwrap();
    txn.discard(HOME, INO, 1, 1, 1).unwrap();
    txn.commit().unwrap();
    collect_all(&store);
    assert_eq!(chunks(&engine), [(1, 0, 1)]);
    assert_eq!(content(&store, taken, &then), [2; 16]);
}

#[test]
fn holes_hide_what_a_snapshot_shows_and_go_with_it() {
    let (engine, store) = store();
    let mut inode = file();
    write(&store, &mut inode, 0, &[1; 48]);
    let taken = take(&store);
    let then = inode.clone();
    change(&store, &mut inode, |txn, inode| txn.clear_content(HOME, INO, inode, 0..48).unwrap());
    assert_eq!(inode.allocated, 0);
    write(&store, &mut inode, 64, &[2; 3]);
    let mut now = vec![9; 67];
    store.reader().read_content(&Content::of(HOME, INO, &inode), 0, &mut now).unwrap();
    assert_eq!(now, [&[0; 64][..], &[2; 3]].concat());
    assert_eq!(content(&store, taken, &then), [1; 48]);
    let segment = store.reader().data_at(&Content::of(HOME, INO, &inode), 0, inode.size).unwrap();
    assert_eq!(segment, Some(64..67), "a hole counts as data");
    drop_it(&store, taken);
    assert_eq!(chunks(&engine), [(0, 4, taken + 1)]);
}

#[test]
fn a_hole_that_is_written_over_goes_if_no_snapshot_shows_it() {
    for emptied in [false, true] {
        let (engine, store) = store();
        let mut inode = file();
        write(&store, &mut inode, 0, &[1; 48]);
        let taken = take(&store);
        if emptied {
            change(&store, &mut inode, |txn, inode| txn.clear_content(HOME, INO, inode, 0..48).unwrap());
        } else {
            change(&store, &mut inode, |txn, inode| txn.resize_content(HOME, INO, inode, 16).unwrap());
            change(&store, &mut inode, |txn, inode| txn.clear_content(HOME, INO, inode, 0..16).unwrap());
        }
        // Another epoch.
        let dropped = take(&store);
        drop_it(&store, dropped);
        if emptied {
            change(&store, &mut inode, |txn, inode| txn.resize_content(HOME, INO, inode, 0).unwrap());
        }
        write(&store, &mut inode, 16, &[2; 16]);
        collect_all(&store);
        let hole = chunks(&engine)
            .into_iter()
            .find(|(generation, index, epoch)| (*generation, *index, *epoch) == (inode.generation, 1, taken + 1));
        assert_eq!(hole, None, "emptied: {emptied}");
        assert_eq!(content(&store, Epoch::MAX, &inode), [[0; 16], [2; 16]].concat());
    }
}

#[test]
fn more_entries_than_a_step_are_walked_once_even_if_they_stay() {
    let (engine, store) = store();
    let live = |number: u32| key::xattr(HOME, Local(3), &number.wrapping_add(0x0101_0101).to_be_bytes());
    let put = |value: &[u8]| {
        let mut txn = store.begin(&[HOME]).unwrap();
        (0..2000).for_each(|number| txn.put_record(live(number), value).unwrap());
        txn.commit().unwrap();
    };
    put(b"0");
    let oldest = take(&store);
    put(b"1");
    let middle = take(&store);
    put(b"2");
    let newest = take(&store);
    put(b"3");
    store.drop_snapshot(HOME, middle).unwrap();
    let mut steps = 0;
    while store.collect().unwrap() {
        steps += 1;
    }
    assert!(steps < 20, "{steps} steps for 2000 records");
    assert_eq!(keys_of(&*engine, key::tag::HISTORY).len(), 4000);
    for (epoch, value) in [(oldest, b"0"), (newest, b"2")] {
        assert_eq!(store.reader().at(epoch).record(&live(1999)).unwrap().unwrap(), value);
    }
    drop_it(&store, newest);
    drop_it(&store, oldest);
    assert!(keys_of(&*engine, key::tag::HISTORY).is_empty() && keys_of(&*engine, key::tag::TOUCHED).is_empty());
}

#[test]
fn a_home_snapshot_is_collected_in_every_realm() {
    let (engine, store) = store();
    let realms: Vec<RealmId> = (0..700)
        .map(|_| {
            let mut txn = store.begin(&[HOME]).unwrap();
            let id = txn.new_realm(&directory()).unwrap();
            txn.commit().unwrap();
            id
        })
        .collect();
    let home = store.take_home_snapshot(b"h", &snapshot()).unwrap();
    for id in &realms {
        let mut txn = store.begin(&[*id]).unwrap();
        txn.put_inode(*id, threadfs::store::ROOT, &directory()).unwrap();
        txn.commit().unwrap();
    }
    assert_eq!(keys_of(&*engine, key::tag::HISTORY).len(), 700);
    store.drop_home_snapshot(home).unwrap();
    collect_all(&store);
    assert!(keys_of(&*engine, key::tag::HISTORY).is_empty() && keys_of(&*engine, key::tag::TOUCHED).is_empty());
}

/// A store with something of every kind to collect.
fn full() -> (Arc<MemoryEngine>, RealmId, RealmId) {
    let engine = Arc::new(MemoryEngine::new());
    let tree = Tree { store: Store::open(engine.clone()).unwrap() };
    let dead = tree.thread(threadfs::store::ROOT, b"dead").unwrap();
    let living = tree.thread(threadfs::store::ROOT, b"living").unwrap();
    for id in [dead, living] {
        let mut snapshots = Vec::new();
        for round in 0..3u8 {
            for number in 0..220u8 {
                let name = format!("n{number}").into_bytes();
                match tree.create(id, threadfs::store::ROOT, &name) {
                    Some(ino) => tree.write(id, ino, 0, &[round; 60]),
                    None if number % 2 == 0 => tree.unlink(id, threadfs::store::ROOT, &name),
                    None => {}
                }
            }
            snapshots.push(tree.store.take_snapshot(id, &snapshot()).unwrap());
        }
        let large = tree.create(id, threadfs::store::ROOT, b"large").unwrap();
        tree.write(id, large, 0, &[7; 16 * 1500]);
        tree.store.take_home_snapshot(b"h", &snapshot()).unwrap();
        tree.edit(id, large, |txn, inode| txn.resize_content(id, large, inode, 0).unwrap());
        for ino in tree.orphans(id) {
            tree.purge(id, ino);
        }
        let taken = tree.store.realm(id).unwrap().read().snapshots.clone();
        taken.into_iter().for_each(|number| assert!(tree.store.drop_snapshot(id, number).unwrap()));
    }
    tree.store.home_snapshots().into_iter().for_each(|number| assert!(tree.store.drop_home_snapshot(number).unwrap()));
    let mut txn = tree.store.begin(&[HOME, dead]).unwrap();
    let dirent = txn.dirent(HOME, threadfs::store::ROOT, tree.store.name_hash(b"dead"), b"dead").unwrap().unwrap();
    txn.delete_dirent(HOME, threadfs::store::ROOT, b"dead", &dirent).unwrap();
    let mut root = txn.inode(HOME, threadfs::store::ROOT).unwrap().unwrap();
    (root.size, root.nlink) = (root.size - 1, root.nlink - 1);
    txn.put_inode(HOME, threadfs::store::ROOT, &root).unwrap();
    txn.retire_realm(dead).unwrap();
    txn.commit().unwrap();
    (engine, dead, living)
}

#[test]
fn a_collection_that_is_interrupted_at_any_batch_is_finished_later() {
    let (original, dead, living) = full();
    let wanted = {
        let engine = copy(&original);
        collect_all(&Store::open(engine.clone()).unwrap());
        dump(&*engine)
    };
    for batches in 0.. {
        let engine = Flaky::new(copy(&original));
        let store = Store::open(engine.clone()).unwrap();
        engine.refuse_after(batches);
        let finished = loop {
            match store.collect() {
                Ok(true) => {}
                Ok(false) => break true,
                Err(_) => break false,
            }
        };
        engine.accept();
        // In the same process, and after a crash.
        let store = if batches % 2 == 0 { store } else { Store::open(engine.clone()).unwrap() };
        assert_clean(&store, &format!("interrupted after {batches} batches"));
        collect_all(&store);
        assert!(store.realm(dead).is_none() && store.realm(living).is_some());
        assert_eq!(dump(&*engine), wanted, "interrupted after {batches} batches");
        if finished {
            assert!(batches > 10, "the test has too little to interrupt: {batches}");
            break;
        }
    }
    assert!(wanted.keys().all(|(_, key)| ![key::tag::HISTORY, key::tag::KEPT].contains(&key[0])));
}

fn copy(from: &MemoryEngine) -> Arc<MemoryEngine> {
    let to = Arc::new(MemoryEngine::new());
    let mut batch = Batch::new();
    for ((space, key), value) in dump(from) {
        batch.put(space, key, value);
    }
    to.write(batch).unwrap();
    to
}

#[test]
fn a_dead_realm_with_an_open_file_waits_for_it() {
    let (engine, store) = store();
    let tree = Tree { store: store.clone() };
    let id = tree.thread(threadfs::store::ROOT, b"t").unwrap();
    let ino = tree.create(id, threadfs::store::ROOT, b"f").unwrap();
    tree.write(id, ino, 0, &[1; 30]);
    tree.unlink(id, threadfs::store::ROOT, b"f");
    tree.unlink(HOME, threadfs::store::ROOT, b"t");
    tree.purge(id, threadfs::store::ROOT);
    collect_all(&store);
    assert!(store.realm(id).is_some() && !chunks(&engine).is_empty());
    tree.purge(id, ino);
    collect_all(&store);
    assert!(store.realm(id).is_none() && chunks(&engine).is_empty());
    assert_clean(&store, "after the thread");
}

#[test]
fn what_cannot_be_read_in_a_queue_is_an_error_and_no_panic() {
    for (key, value) in [
        (key::numbered(key::tag::PENDING, HOME, u64::MAX), vec![0]),
        (key::numbered(key::tag::PENDING, HOME, 1), vec![]),
        (key::of_realm(key::tag::PENDING, HOME), vec![0]),
        (key::garbage(HOME, 0, INO, 0), vec![]),
        (key::of_realm(key::tag::GARBAGE, HOME), vec![1]),
        (key::garbage(HOME, u64::MAX, INO, 0), vec![1]),
        (key::garbage(RealmId(77), 3, INO, 0), vec![1]),
        (key::touched(HOME, u64::MAX, b""), vec![]),
        (key::of_realm(key::tag::TOUCHED, HOME), vec![]),
    ] {
        let (engine, store) = store();
        let taken = take(&store);
        let mut batch = Batch::new();
        batch.put(Keyspace::Meta, key.clone(), value);
        engine.write(batch).unwrap();
        store.drop_snapshot(HOME, taken).unwrap();
        let mut steps = 0;
        while store.collect().unwrap_or(false) {
            steps += 1;
            assert!(steps < 100, "{key:?} is never done");
        }
        threadfs::store::check::check_with(&store, true).unwrap();
        assert!(engine.get(Keyspace::Meta, key::SUPERBLOCK).unwrap().is_some());
    }
}
