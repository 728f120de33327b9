//! Readers and writers at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use threadfs::store::{HOME, Local, Records, Store, key};

use crate::check::assert_clean;
use crate::helpers::{collect_all, directory, snapshot, store};
use crate::tree::Tree;

/// Runs one thing again and again while others run once.
fn while_running<R: Send>(again: impl Fn() + Sync, once: impl FnOnce() -> R + Send) -> R {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                again();
            }
        });
        // When the other panics, too: else the test would never end.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(once));
        done.store(true, Ordering::SeqCst);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[test]
fn a_snapshot_is_read_right_while_its_records_become_history() {
    let (_, store) = store();
    // Each record is changed once after the snapshot: that moves its value.
    let live = |number: u64| key::xattr(HOME, Local(number), b"x");
    let mut txn = store.begin(&[HOME]).unwrap();
    (0..3000).for_each(|number| txn.put_record(live(number), &number.to_be_bytes()).unwrap());
    txn.commit().unwrap();
    let taken = store.take_snapshot(HOME, &snapshot()).unwrap();
    let reader = store.reader().at(taken);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..3000 {
                let mut txn = store.begin(&[HOME]).unwrap();
                match number % 2 {
                    0 => txn.put_record(live(number), b"new").unwrap(),
                    _ => txn.delete_record(live(number)).unwrap(),
                }
                txn.commit().unwrap();
            }
        });
        let mut number = 0;
        while !writer.is_finished() {
            number = (number + 1) % 3000;
            for near in number..(number + 3).min(3000) {
                let value = reader.record(&live(near)).unwrap();
                assert_eq!(value, Some(near.to_be_bytes().to_vec()), "record {near}");
            }
        }
    });
}

#[test]
fn a_value_that_becomes_history_between_two_looks_is_found() {
    let (engine, store) = store();
    let live = key::xattr(HOME, Local(2), b"x");
    for deleted in [false, true] {
        let mut txn = store.begin(&[HOME]).unwrap();
        txn.put_record(live.clone(), b"old").unwrap();
        txn.commit().unwrap();
        let taken = store.take_snapshot(HOME, &snapshot()).unwrap();
        // The reader looked into the history, and now at the live record.
        let (other, key) = (store.clone(), live.clone());
        engine.before_get(move || {
            let mut txn = other.begin(&[HOME]).unwrap();
            match deleted {
                true => txn.delete_record(key).unwrap(),
                false => txn.put_record(key, b"new").unwrap(),
            }
            txn.commit().unwrap();
        });
        assert_eq!(store.reader().at(taken).record(&live).unwrap().unwrap(), b"old");
    }
}

#[test]
fn the_numbers_of_a_store_can_be_asked_while_threads_come_and_go() {
    let (_, store) = store();
    let started = Instant::now();
    let make = |store: &Store| {
        let mut txn = store.begin(&[HOME]).unwrap();
        let id = txn.new_realm(&directory()).unwrap();
        txn.commit().unwrap();
        id
    };
    let ask = || {
        store.thread_count();
        store.usage();
        store.home_snapshots();
    };
    while_running(ask, || {
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..60 {
                        let id = make(&store);
                        let mut txn = store.begin(&[id, HOME]).unwrap();
                        txn.xattr_names(id, Local(1)).unwrap(); // looks the realm up with its lock held
                        txn.retire_realm(id).unwrap();
                        txn.commit().unwrap();
                    }
                });
            }
            scope.spawn(|| {
                for _ in 0..60 {
                    store.take_home_snapshot(b"h", &snapshot()).unwrap();
                    store.collect().unwrap();
                }
            });
        });
    });
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn collecting_beside_changes_loses_nothing() {
    let (engine, store) = store();
    let tree = Tree { store: store.clone() };
    let id = tree.thread(Local(1), b"t").unwrap();
    let files: Vec<Local> = (0..4u8).map(|name| tree.create(id, Local(1), &[b'a' + name]).unwrap()).collect();
    let collect = || _ = store.collect().unwrap();
    while_running(collect, || {
        for round in 0..250u64 {
            for (at, ino) in files.iter().enumerate() {
                match (round + at as u64) % 5 {
                    0 => tree.edit(id, *ino, |txn, inode| txn.resize_content(id, *ino, inode, round % 3 * 20).unwrap()),
                    1 => tree.edit(id, *ino, |txn, inode| txn.clear_content(id, *ino, inode, 0..64).unwrap()),
                    _ => tree.write(id, *ino, round % 7 * 16, &[round as u8; 40]),
                }
            }
            let taken = tree.store.take_snapshot(id, &snapshot()).unwrap();
            let all = tree.store.realm(id).unwrap().read().snapshots.clone();
            if round % 3 != 0 {
                tree.store.drop_snapshot(id, *all.iter().nth(all.len() / 2).unwrap_or(&taken)).unwrap();
            }
            if all.len() > 10 {
                tree.store.drop_snapshot(id, *all.first().unwrap()).unwrap();
            }
            if round % 25 == 0 {
                assert_clean(&tree.store, &format!("in round {round}"));
            }
        }
    });
    collect_all(&store);
    assert_clean(&store, "in the end");
    assert_clean(&Store::open(engine).unwrap(), "after a reopening");
}
