//! A store that only consistent changes were made to has no problem, at any time.

use proptest::prelude::*;
use threadfs::store::check::{check, check_with};
use threadfs::store::{HOME, Local, ROOT, RealmId, Store};

use super::assert_clean;
use crate::flaky::Flaky;
use crate::helpers::{collect_all, snapshot, store};
use crate::tree::Tree;

#[derive(Debug, Clone)]
enum Op {
    Create(u8, u8, u8),
    Mkdir(u8, u8, u8),
    Symlink(u8, u8, u8),
    Thread(u8),
    Link(u8, u8, u8, u8),
    Unlink(u8, u8, u8),
    Purge(u8),
    Rename(u8, (u8, u8), (u8, u8)),
    Write(u8, u8, u16, u16),
    Resize(u8, u8, u16),
    Commit(u8, u8, u16),
    Xattr(u8, u8, u8),
    Snapshot(u8),
    HomeSnapshot,
    Drop(u8, u8),
    DropHome(u8),
    Collect(u8),
    Reopen,
}

fn op() -> impl Strategy<Value = Op> {
    let n = any::<u8>;
    prop_oneof![
        4 => (n(), n(), n()).prop_map(|(realm, dir, name)| Op::Create(realm, dir, name)),
        3 => (n(), n(), n()).prop_map(|(realm, dir, name)| Op::Mkdir(realm, dir, name)),
        1 => (n(), n(), n()).prop_map(|(realm, dir, name)| Op::Symlink(realm, dir, name)),
        2 => n().prop_map(Op::Thread),
        1 => (n(), n(), n(), n()).prop_map(|(realm, ino, dir, name)| Op::Link(realm, ino, dir, name)),
        4 => (n(), n(), n()).prop_map(|(realm, dir, name)| Op::Unlink(realm, dir, name)),
        2 => n().prop_map(Op::Purge),
        3 => (n(), (n(), n()), (n(), n())).prop_map(|(realm, from, to)| Op::Rename(realm, from, to)),
        5 => (n(), n(), 0..500u16, 1..100u16).prop_map(|(realm, ino, from, length)| Op::Write(realm, ino, from, length)),
        2 => (n(), n(), 0..500u16).prop_map(|(realm, ino, size)| Op::Resize(realm, ino, size)),
        2 => (n(), n(), 0..300u16).prop_map(|(realm, ino, length)| Op::Commit(realm, ino, length)),
        1 => (n(), n(), n()).prop_map(|(realm, ino, name)| Op::Xattr(realm, ino, name)),
        3 => n().prop_map(Op::Snapshot),
        1 => Just(Op::HomeSnapshot),
        2 => (n(), n()).prop_map(|(realm, which)| Op::Drop(realm, which)),
        1 => n().prop_map(Op::DropHome),
        3 => n().prop_map(Op::Collect),
        1 => Just(Op::Reopen),
    ]
}

/// Inodes are tried by number: few are taken, and one that is not changes nothing.
fn ino(number: u8) -> Local {
    Local(u64::from(number % 12) + 1)
}

fn name(number: u8) -> [u8; 1] {
    [b'a' + number % 5]
}

fn apply(tree: &mut Tree, engine: &std::sync::Arc<Flaky>, op: &Op) {
    let realms: Vec<RealmId> = tree.store.realms().iter().map(|realm| realm.id()).collect();
    let any = |number: &u8| realms[usize::from(*number) % realms.len()];
    let alive =
        |number: &u8| Some(any(number)).filter(|id| tree.store.realm(*id).unwrap().read().record.dead.is_none());
    let is_dir = |realm: RealmId, dir: Local| {
        use threadfs::store::Records;
        tree.store.reader().inode(realm, dir).unwrap().is_some_and(|inode| inode.is_dir())
    };
    let place = |number: &u8, dir: &u8| alive(number).map(|realm| (realm, ino(*dir))).filter(|(r, d)| is_dir(*r, *d));
    match op {
        Op::Create(realm, dir, named) => {
            place(realm, dir).map(|(realm, dir)| tree.create(realm, dir, &name(*named)));
        }
        Op::Mkdir(realm, dir, named) => {
            place(realm, dir).map(|(realm, dir)| tree.mkdir(realm, dir, &name(*named)));
        }
        Op::Symlink(realm, dir, named) => {
            place(realm, dir).map(|(realm, dir)| tree.symlink(realm, dir, &name(*named)));
        }
        Op::Thread(named) => drop(tree.thread(ROOT, &[b'A' + named % 3])),
        Op::Link(realm, number, dir, named) => {
            if let Some((realm, dir)) = place(realm, dir) {
                tree.link(realm, ino(*number), dir, &name(*named));
            }
        }
        Op::Unlink(0..30, _, named) => tree.unlink(HOME, ROOT, &[b'A' + named % 3]),
        Op::Unlink(realm, dir, named) => {
            if let Some((realm, dir)) = place(realm, dir) {
                tree.unlink(realm, dir, &name(*named));
            }
        }
        Op::Purge(realm) => {
            let realm = any(realm);
            tree.orphans(realm).first().into_iter().for_each(|ino| tree.purge(realm, *ino));
        }
        Op::Rename(realm, from, to) => {
            if let (Some((realm, old)), Some((_, new))) = (place(realm, &from.0), place(realm, &to.0)) {
                tree.rename(realm, (old, &name(from.1)), (new, &name(to.1)));
            }
        }
        Op::Write(realm, number, from, length) => {
            alive(realm).into_iter().for_each(|realm| {
                tree.write(realm, ino(*number), u64::from(*from), &vec![7; usize::from(*length)]);
            });
        }
        Op::Resize(realm, number, size) => alive(realm).into_iter().for_each(|realm| {
            let ino = ino(*number);
            tree.edit(realm, ino, |txn, inode| txn.resize_content(realm, ino, inode, u64::from(*size)).unwrap());
        }),
        Op::Commit(realm, number, length) => alive(realm).into_iter().for_each(|realm| {
            tree.commit(realm, ino(*number), &vec![9; usize::from(*length)]);
        }),
        Op::Xattr(realm, number, named) => {
            alive(realm).into_iter().for_each(|realm| tree.set_xattr(realm, ino(*number), &name(*named)));
        }
        Op::Snapshot(realm) => drop(alive(realm).map(|realm| tree.store.take_snapshot(realm, &snapshot()).unwrap())),
        Op::HomeSnapshot => drop(tree.store.take_home_snapshot(b"home", &snapshot()).unwrap()),
        Op::Drop(realm, which) => {
            let realm = any(realm);
            let taken: Vec<u64> = tree.store.realm(realm).unwrap().read().snapshots.iter().copied().collect();
            if !taken.is_empty() {
                tree.store.drop_snapshot(realm, taken[usize::from(*which) % taken.len()]).unwrap();
            }
        }
        Op::DropHome(which) => {
            let taken: Vec<u64> = tree.store.home_snapshots().into_iter().collect();
            if !taken.is_empty() {
                tree.store.drop_home_snapshot(taken[usize::from(*which) % taken.len()]).unwrap();
            }
        }
        Op::Collect(0..100) => collect_all(&tree.store),
        Op::Collect(_) => drop(tree.store.collect().unwrap()),
        Op::Reopen => tree.store = Store::open(engine.clone()).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn consistent_changes_keep_it_clean(ops in proptest::collection::vec(op(), 1..80)) {
        let (engine, store) = store();
        let mut tree = Tree { store };
        for (at, op) in ops.iter().enumerate() {
            apply(&mut tree, &engine, op);
            assert_clean(&tree.store, &format!("after step {at}, {op:?}"));
        }
        collect_all(&tree.store);
        assert_clean(&tree.store, "after the collection");
    }
}

#[test]
fn a_new_store_is_clean_and_counted() {
    let (_, store) = store();
    let report = check(&store).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!((report.realms, report.inodes, report.dirents, report.chunks), (1, 1, 0, 0));
}

#[test]
fn what_there_is_is_counted() {
    let (_, store) = store();
    let tree = Tree { store };
    let thread = tree.thread(ROOT, b"T").unwrap();
    let file = tree.create(thread, ROOT, b"f").unwrap();
    tree.write(thread, file, 0, &[1; 40]);
    tree.store.take_snapshot(thread, &snapshot()).unwrap();
    tree.store.take_home_snapshot(b"home", &snapshot()).unwrap();
    tree.write(thread, file, 0, &[2; 16]);
    let report = check_with(&tree.store, true).unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!((report.realms, report.inodes, report.dirents, report.snapshots), (2, 3, 2, 2));
    assert_eq!((report.chunks, report.bytes), (4, 56));
    assert!(report.history > 0);
}

#[test]
fn a_store_in_use_is_checked_at_one_instant() {
    let (_, store) = store();
    let tree = Tree { store };
    let thread = tree.thread(ROOT, b"T").unwrap();
    let dir = tree.mkdir(thread, ROOT, b"d").unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for round in 0..300u32 {
                let name = (round % 7).to_string();
                match tree.create(thread, dir, name.as_bytes()) {
                    Some(ino) => tree.write(thread, ino, 0, &[1; 50]),
                    None => tree.unlink(thread, dir, name.as_bytes()),
                }
                tree.rename(thread, (dir, name.as_bytes()), (ROOT, name.as_bytes()));
                if round % 20 == 0 {
                    tree.store.take_snapshot(thread, &snapshot()).unwrap();
                }
            }
        });
        while !writer.is_finished() {
            assert_clean(&tree.store, "while others write");
            tree.store.collect().unwrap();
        }
    });
}
