//! The steps that the model test takes at random.

use proptest::prelude::*;
use threadfs::store::record::{Dirent, Kind, Target};
use threadfs::store::{Error, HOME, Local, ROOT, RealmId, Result, Store, key};

use super::actions::{Action, Doing, action, pick};
use super::{Realm, World};
use crate::helpers::{collect_all, directory, dump, snapshot};

#[derive(Debug, Clone)]
pub enum Op {
    Txn { realm: u8, actions: Vec<Action>, commit: bool },
    NewRealm,
    Retire(u8),
    Snapshot(u8),
    HomeSnapshot,
    Drop(u8, u8),
    DropHome(u8),
    Collect(u8),
    CollectAll,
    Reopen,
}

/// An operation; refused: the engine takes no write meanwhile.
#[derive(Debug, Clone)]
pub struct Step {
    op: Op,
    refused: bool,
}

pub fn step() -> impl Strategy<Value = Step> {
    let op = prop_oneof![
        16 => (any::<u8>(), proptest::collection::vec(action(), 1..6), proptest::bool::weighted(0.93))
            .prop_map(|(realm, actions, commit)| Op::Txn { realm, actions, commit }),
        2 => Just(Op::NewRealm),
        1 => any::<u8>().prop_map(Op::Retire),
        4 => any::<u8>().prop_map(Op::Snapshot),
        2 => Just(Op::HomeSnapshot),
        3 => (any::<u8>(), any::<u8>()).prop_map(|(realm, which)| Op::Drop(realm, which)),
        2 => any::<u8>().prop_map(Op::DropHome),
        3 => (1..4u8).prop_map(Op::Collect),
        1 => Just(Op::CollectAll),
        1 => Just(Op::Reopen),
    ];
    (op, proptest::bool::weighted(0.05)).prop_map(|(op, refused)| Step { op, refused })
}

fn is_refusal<T>(result: &Result<T>) -> bool {
    matches!(result, Err(Error::Engine(threadfs::engine::Error::NoSpace { .. })))
}

impl World {
    pub fn step(&mut self, step: &Step) {
        if step.refused {
            self.engine.refuse_after(0);
            let (disk, memory) = (dump(&*self.engine), self.memory());
            self.op(&step.op, true);
            self.engine.accept();
            assert_eq!(dump(&*self.engine), disk, "a refused {step:?} changed the disk");
            assert_eq!(self.memory(), memory, "a refused {step:?} changed the memory");
        } else {
            self.op(&step.op, false);
        }
    }

    /// What the store remembers, without the counters that are given out at once.
    fn memory(&self) -> Vec<String> {
        let realms = self.store.realms();
        let states = realms.iter().map(|realm| {
            let state = realm.read();
            let reserved = state.reserved;
            format!("{:?} {:?} {:?} {:?} {reserved}", realm.id(), state.record, state.snapshots, state.usage)
        });
        states.chain([format!("{:?}", self.store.home_snapshots())]).collect()
    }

    fn op(&mut self, op: &Op, refused: bool) {
        let ids: Vec<RealmId> = self.realms.keys().copied().collect();
        let any = |choice: u8| pick(ids.iter().copied(), choice).expect("the home is always there");
        match op {
            Op::Txn { realm, actions, commit } => self.transaction(any(*realm), actions, *commit, refused),
            Op::NewRealm => self.new_realm(refused),
            Op::Retire(realm) => self.retire(any(*realm), refused),
            Op::Snapshot(realm) => {
                let id = any(*realm);
                if self.realms[&id].dead {
                    return;
                }
                let taken = self.store.take_snapshot(id, &snapshot());
                if refused {
                    return assert!(is_refusal(&taken));
                }
                let realm = self.realms.get_mut(&id).unwrap();
                realm.snapshots.insert(taken.unwrap(), realm.live.clone());
            }
            Op::HomeSnapshot => {
                let taken = self.store.take_home_snapshot(b"home", &snapshot());
                if refused {
                    return assert!(is_refusal(&taken));
                }
                let states = self.realms.iter().filter(|(_, realm)| !realm.dead);
                self.home.insert(taken.unwrap(), states.map(|(id, realm)| (*id, realm.live.clone())).collect());
            }
            Op::Drop(realm, which) => {
                let id = any(*realm);
                if self.store.realm(id).is_none() {
                    return; // purged
                }
                let Some(number) = pick(self.realms[&id].snapshots.keys().copied(), *which) else {
                    return assert!(!self.store.drop_snapshot(id, 12345).unwrap());
                };
                let dropped = self.store.drop_snapshot(id, number);
                if refused {
                    return assert!(is_refusal(&dropped));
                }
                assert!(dropped.unwrap());
                self.realms.get_mut(&id).unwrap().snapshots.remove(&number);
            }
            Op::DropHome(which) => {
                let Some(number) = pick(self.home.keys().copied(), *which) else {
                    return assert!(!self.store.drop_home_snapshot(12345).unwrap());
                };
                let dropped = self.store.drop_home_snapshot(number);
                if refused {
                    return assert!(is_refusal(&dropped));
                }
                assert!(dropped.unwrap());
                self.home.remove(&number);
            }
            Op::Collect(steps) => {
                for _ in 0..*steps {
                    match self.store.collect() {
                        Ok(true) => {}
                        Ok(false) => break,
                        error if refused => assert!(is_refusal(&error)),
                        Err(error) => panic!("{error}"),
                    }
                }
            }
            Op::CollectAll if refused => {}
            Op::CollectAll => self.collect_all(),
            Op::Reopen => {
                self.store = Store::open(self.engine.clone()).unwrap();
                self.given.retain(|_, committed| *committed);
            }
        }
    }

    fn transaction(&mut self, id: RealmId, actions: &[Action], commit: bool, refused: bool) {
        if self.store.realm(id).is_none() {
            return; // purged
        }
        let before = self.memory();
        let mut realm = self.realms[&id].clone();
        let store = self.store.clone();
        let mut txn = store.begin(&[id]).unwrap();
        let mut doing = Doing { store: &store, txn: &mut txn, id, realm: &mut realm, given: Vec::new() };
        actions.iter().for_each(|action| doing.act(action));
        let given = doing.given;
        for ino in &given {
            let before = self.given.insert((id, *ino), false);
            assert!(before.is_none(), "inode {ino:?} of {id:?} is given out twice");
        }
        if !commit {
            drop(txn);
            return assert_eq!(self.memory(), before, "a transaction that was dropped changed something");
        }
        let done = txn.commit();
        if refused && done.is_err() {
            return assert!(is_refusal(&done));
        }
        done.unwrap();
        self.given.extend(given.into_iter().map(|ino| ((id, ino), true)));
        self.parts.extend(realm.live.records.keys().cloned());
        self.realms.insert(id, realm);
    }

    fn new_realm(&mut self, refused: bool) {
        if self.realms.len() > 5 {
            return;
        }
        let mut txn = self.store.begin(&[HOME]).unwrap();
        let root = directory();
        let id = txn.new_realm(&root).unwrap();
        let name = id.0.to_string().into_bytes();
        let dirent = Dirent { target: Target::Thread(id), kind: Kind::Directory };
        txn.put_dirent(HOME, Local(7), &name, &dirent).unwrap();
        let done = txn.commit();
        if refused {
            assert!(is_refusal(&done) && self.store.realm(id).is_none());
            return;
        }
        done.unwrap();
        let home = &mut self.realms.get_mut(&HOME).unwrap().live.records;
        let hash = self.store.name_hash(&name);
        home.insert(key::record_part(&key::dirent(HOME, Local(7), hash, &name)), dirent.encode());
        home.insert(key::record_part(&key::link(HOME, id, ROOT, Local(7), &name)), Vec::new());
        let mut realm = Realm::default();
        realm.live.records.insert(key::record_part(&key::inode(id, ROOT)), root.encode());
        realm.live.set_usage(1, 0);
        assert!(self.realms.insert(id, realm).is_none(), "a realm number is given out twice");
    }

    fn retire(&mut self, id: RealmId, refused: bool) {
        if id == HOME || self.realms[&id].dead {
            return;
        }
        let mut txn = self.store.begin(&[HOME, id]).unwrap();
        txn.retire_realm(id).unwrap();
        let done = txn.commit();
        if refused {
            return assert!(is_refusal(&done));
        }
        done.unwrap();
        let realm = self.realms.get_mut(&id).unwrap();
        realm.dead = true;
        // What still had a name, and its versions, are unreachable now.
        realm.live = Default::default();
        realm.kept.clear();
    }

    fn collect_all(&mut self) {
        collect_all(&self.store);
        self.no_leaks();
    }

    /// Drops everything that is not the newest state: then nothing else may be left.
    pub fn tear_down(mut self) {
        self.collect_all();
        let ids: Vec<RealmId> = self.realms.keys().copied().collect();
        for id in ids {
            while let Some((number, _)) = self.realms.get_mut(&id).unwrap().snapshots.pop_last() {
                assert!(self.store.drop_snapshot(id, number).unwrap());
            }
            let orphans = self.realms[&id].orphans.len() + self.realms[&id].kept.len();
            let close = [Action::Close(0), Action::DropVersion(0)].repeat(orphans);
            self.transaction(id, &close, true, false);
        }
        while let Some((number, _)) = self.home.pop_first() {
            assert!(self.store.drop_home_snapshot(number).unwrap());
        }
        self.collect_all();
        self.nothing_but_the_present();
        self.verify("after the end");
        self.store = Store::open(self.engine.clone()).unwrap();
        self.verify("after the end and a reopening");
    }
}
