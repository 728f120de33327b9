//! The store against a model that copies everything.

mod actions;
mod leaks;
mod steps;
mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use threadfs::engine::memory::MemoryEngine;
use threadfs::engine::rocks::RocksEngine;
use threadfs::engine::{Engine, EngineOptions};
use threadfs::store::record::{Inode, Usage};
use threadfs::store::{Epoch, HOME, Local, ROOT, RealmId, Records, Store, key};

use crate::flaky::Flaky;
use steps::Step;

/// A realm at one moment.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// All versioned records, by their key without the realm.
    pub records: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Files with their content.
    pub files: BTreeMap<Local, (Inode, Vec<u8>)>,
    pub usage: Usage,
}

/// A generation that a document keeps beside its content.
#[derive(Debug, Clone)]
pub struct Kept {
    pub ino: Local,
    pub inode: Inode,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Default)]
pub struct Realm {
    pub live: State,
    pub snapshots: BTreeMap<Epoch, State>,
    /// Files without a name that are still open.
    pub orphans: BTreeMap<Local, (Inode, Vec<u8>)>,
    pub kept: Vec<Kept>,
    pub dead: bool,
}

/// The real store beside its model.
pub struct World {
    pub engine: Arc<Flaky>,
    pub store: Arc<Store>,
    pub realms: BTreeMap<RealmId, Realm>,
    pub home: BTreeMap<Epoch, BTreeMap<RealmId, State>>,
    /// Every record that ever was.
    pub parts: BTreeSet<Vec<u8>>,
    /// Every inode number that was given out, and whether its transaction was committed.
    pub given: BTreeMap<(RealmId, Local), bool>,
}

impl World {
    fn new(engine: Arc<dyn Engine>) -> World {
        let engine = Flaky::new(engine);
        let store = Store::open(engine.clone()).unwrap();
        let mut home = Realm::default();
        let root = store.reader().inode(HOME, ROOT).unwrap().unwrap();
        home.live.records.insert(key::record_part(&key::inode(HOME, ROOT)), root.encode());
        home.live.set_usage(1, 0);
        let realms = BTreeMap::from([(HOME, home)]);
        World { engine, store, realms, home: BTreeMap::new(), parts: BTreeSet::new(), given: BTreeMap::new() }
    }

    /// All that needs a realm as it was.
    fn refs(&self, realm: RealmId) -> BTreeMap<Epoch, &State> {
        let own = self.realms.get(&realm).into_iter().flat_map(|realm| &realm.snapshots);
        let home = self.home.iter().filter_map(|(epoch, states)| Some((epoch, states.get(&realm)?)));
        own.chain(home).map(|(epoch, state)| (*epoch, state)).collect()
    }
}

impl State {
    pub fn set_usage(&mut self, inodes: i64, bytes: i64) {
        self.usage.inodes = self.usage.inodes.checked_add_signed(inodes).unwrap();
        self.usage.bytes = self.usage.bytes.checked_add_signed(bytes).unwrap();
        self.records.insert(vec![key::tag::USAGE], self.usage.encode());
    }
}

fn run(engine: Arc<dyn Engine>, steps: &[Step]) {
    let mut world = World::new(engine);
    for (at, step) in steps.iter().enumerate() {
        world.step(step);
        world.verify(&format!("after step {at}, {step:?}"));
    }
    world.tear_down();
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 5000, ..ProptestConfig::default() }
}

/// More cases than the build runs: THREADFS_TEST_CASES=5000.
fn cases(usual: u32) -> u32 {
    std::env::var("THREADFS_TEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(config(cases(400)))]

    #[test]
    fn the_store_does_what_the_model_does(steps in proptest::collection::vec(steps::step(), 1..50)) {
        run(Arc::new(MemoryEngine::new()), &steps);
    }
}

proptest! {
    #![proptest_config(config(cases(400) / 40))]

    #[test]
    fn and_so_it_does_on_rocksdb(steps in proptest::collection::vec(steps::step(), 1..50)) {
        let directory = tempfile::tempdir().unwrap();
        let options = EngineOptions { memory_bytes: 8 << 20, ..EngineOptions::default() };
        run(Arc::new(RocksEngine::open(directory.path(), &options).unwrap()), &steps);
    }
}
