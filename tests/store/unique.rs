//! What is told of a snapshot's own bytes is what dropping it frees.

use threadfs::engine::Keyspace;
use threadfs::store::record::Inode;
use threadfs::store::{Epoch, HOME, Local, RealmId, Store};

use crate::flaky::Flaky;
use crate::helpers::{collect_all, directory, dump, file, snapshot, store};

const FILES: u64 = 6;

fn bytes(engine: &Flaky) -> u64 {
    dump(engine).iter().filter(|((space, _), _)| *space == Keyspace::Data).map(|(_, value)| value.len() as u64).sum()
}

/// A thread with files that change at random, and snapshots of it and of the home.
struct World {
    store: std::sync::Arc<Store>,
    realm: RealmId,
    files: Vec<Option<Inode>>,
    next: u64,
    random: u64,
}

impl World {
    fn below(&mut self, end: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % end
    }

    fn step(&mut self) {
        let index = self.below(FILES);
        let at = Local(self.next + index);
        let (kind, offset, length) = (self.below(8), self.below(400), 1 + self.below(300));
        let mut txn = self.store.begin(&[self.realm]).unwrap();
        let mut inode = self.files[index as usize].take().unwrap_or_else(|| {
            let mut inode = file();
            inode.generation_born = txn.epoch(self.realm).unwrap();
            inode
        });
        match kind {
            0 => txn.new_generation(self.realm, at, &mut inode).unwrap(),
            1 => {
                txn.drop_generation(self.realm, at, &inode).unwrap();
                txn.delete_record(threadfs::store::key::inode(self.realm, at)).unwrap();
                txn.commit().unwrap();
                // Numbers are never used again.
                self.next += FILES;
                self.files.fill(None);
                return;
            }
            2 => txn.resize_content(self.realm, at, &mut inode, offset).unwrap(),
            _ => txn.write_content(self.realm, at, &mut inode, offset, &vec![kind as u8; length as usize]).unwrap(),
        }
        txn.put_inode(self.realm, at, &inode).unwrap();
        txn.commit().unwrap();
        self.files[index as usize] = Some(inode);
    }
}

#[test]
fn what_is_told_is_what_is_freed() {
    let mut sum = 0;
    for seed in 0..200 {
        let (engine, store) = store();
        let mut txn = store.begin(&[HOME]).unwrap();
        let realm = txn.new_realm(&directory()).unwrap();
        txn.commit().unwrap();
        let mut world =
            World { store: store.clone(), realm, files: vec![None; FILES as usize], next: 50, random: seed };
        let mut all: Vec<(RealmId, Epoch)> = Vec::new();
        for _ in 0..60 {
            match world.below(12) {
                0 => all.push((HOME, store.take_home_snapshot(b"h", &snapshot()).unwrap())),
                1 | 2 => all.push((realm, store.take_snapshot(realm, &snapshot()).unwrap())),
                3 if world.below(2) == 0 => collect_all(&store),
                _ => world.step(),
            }
        }
        while !all.is_empty() {
            let index = world.below(all.len() as u64) as usize;
            let (of, number) = all.remove(index);
            // Garbage that nothing needs is nobody's: it goes first.
            if world.below(2) == 0 {
                world.step();
            }
            collect_all(&store);
            let (told, before) = (store.unique_bytes(of, number).unwrap(), bytes(&engine));
            sum += told;
            let dropped = if of == HOME {
                store.drop_home_snapshot(number).unwrap()
            } else {
                store.drop_snapshot(of, number).unwrap()
            };
            assert!(dropped);
            collect_all(&store);
            assert_eq!(told, before - bytes(&engine), "seed {seed}, snapshot {number}");
        }
    }
    assert!(sum > 100_000, "{sum} bytes are too few to prove anything");
}

#[test]
fn what_is_told_does_not_wait_for_the_collector() {
    let (engine, store) = store();
    let mut inode = file();
    let ino = Local(50);
    let put = |inode: &mut Inode, change: &dyn Fn(&mut threadfs::store::Txn<'_>, &mut Inode)| {
        let mut txn = store.begin(&[HOME]).unwrap();
        change(&mut txn, inode);
        txn.put_inode(HOME, ino, inode).unwrap();
        txn.commit().unwrap();
    };
    put(&mut inode, &|txn, inode| txn.write_content(HOME, ino, inode, 0, &[1; 64]).unwrap());
    let number = store.take_snapshot(HOME, &snapshot()).unwrap();
    put(&mut inode, &|txn, inode| txn.write_content(HOME, ino, inode, 16, &[2; 16]).unwrap());
    assert_eq!(store.unique_bytes(HOME, number).unwrap(), 16);
    put(&mut inode, &|txn, inode| txn.new_generation(HOME, ino, inode).unwrap());
    assert_eq!(store.unique_bytes(HOME, number).unwrap(), 64);
    collect_all(&store);
    assert_eq!(store.unique_bytes(HOME, number).unwrap(), 64);
    assert!(store.drop_snapshot(HOME, number).unwrap());
    collect_all(&store);
    assert_eq!(bytes(&engine), 0);
}
