//! Random operations on the core and on the model, compared after every step.

mod attributes;
mod content;
mod document;
mod listing;
mod names;
mod op;
mod rename;
mod tree;
mod verify;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use threadfs::engine::memory::MemoryEngine;
use threadfs::engine::rocks::RocksEngine;
use threadfs::engine::{Engine, EngineOptions};
use threadfs::fs::FsOptions;

use crate::support::options;
use op::Step;
use world::World;

fn run(reopen: impl FnMut() -> Arc<dyn Engine> + 'static, snapshots: bool, steps: &[Step]) {
    // One with every commit, or none.
    let options = FsOptions { automatic_snapshots: snapshots, snapshot_cooldown: Duration::ZERO, ..options() };
    let mut world = World::new(Box::new(reopen), options);
    let done = catch_unwind(AssertUnwindSafe(|| {
        for (at, step) in steps.iter().enumerate() {
            world.step(at, step);
        }
        world.tear_down();
        world.end();
    }));
    if let Err(why) = done {
        let why =
            why.downcast_ref::<String>().cloned().or_else(|| why.downcast_ref::<&str>().map(|why| why.to_string()));
        panic!("{}\n{}\n", why.unwrap_or_default(), world.story.join("\n"));
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() }
}

/// More cases than the build runs: THREADFS_TEST_CASES=5000.
fn cases(usual: u32) -> u32 {
    std::env::var("THREADFS_TEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(config(cases(1500)))]

    #[test]
    fn the_core_does_what_the_model_does(steps in op::anything(60), snapshots: bool) {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        run(move || Arc::clone(&engine), snapshots, &steps);
    }

    #[test]
    fn documents_are_what_the_design_says(steps in op::documents(80), snapshots: bool) {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        run(move || Arc::clone(&engine), snapshots, &steps);
    }
}

proptest! {
    #![proptest_config(config(cases(1500) / 50))]

    #[test]
    fn and_so_it_does_on_rocksdb(steps in prop_oneof![op::anything(60), op::documents(60)], snapshots: bool) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_path_buf();
        let options = EngineOptions { memory_bytes: 8 << 20, ..EngineOptions::default() };
        run(move || Arc::new(RocksEngine::open(&path, &options).unwrap()), snapshots, &steps);
    }
}
