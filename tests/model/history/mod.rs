//! The past of threads against whole copies: whatever is done, every snapshot reads back as the tree
//! was, a restore brings exactly that back, and a fork begins exactly so.

mod dump;
mod op;
mod world;

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use threadfs::engine::memory::MemoryEngine;
use threadfs::engine::rocks::RocksEngine;
use threadfs::engine::{Engine, EngineOptions};
use threadfs::fs::FsOptions;

use crate::support::options;
use op::Op;
use world::World;

fn run(mut reopen: impl FnMut() -> Arc<dyn Engine> + 'static, automatic: bool, ops: &[Op]) {
    let options = FsOptions {
        automatic_snapshots: automatic,
        snapshot_cooldown: Duration::ZERO,
        keep_deleted: Duration::from_secs(3600),
        ..options()
    };
    let mut world = World::new(Box::new(move || reopen()), options);
    for op in ops {
        world.step(op);
    }
    world.end();
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::default() }
}

/// More cases than the build runs: THREADFS_TEST_CASES=5000.
fn cases(usual: u32) -> u32 {
    std::env::var("THREADFS_TEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(config(cases(400)))]

    #[test]
    fn every_past_state_is_what_it_was(ops in proptest::collection::vec(op::op(), 1..60), automatic: bool) {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        run(move || Arc::clone(&engine), automatic, &ops);
    }
}

proptest! {
    #![proptest_config(config(cases(400) / 40))]

    #[test]
    fn and_so_it_is_on_rocksdb(ops in proptest::collection::vec(op::op(), 1..60), automatic: bool) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_path_buf();
        let options = EngineOptions { memory_bytes: 8 << 20, ..EngineOptions::default() };
        run(move || Arc::new(RocksEngine::open(&path, &options).unwrap()), automatic, &ops);
    }
}
