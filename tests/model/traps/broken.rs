//! A medium that fails: each request gets its error, and that is all.

use std::sync::Arc;

use threadfs::engine::memory::MemoryEngine;
use threadfs::fs::{Fs, Node};
use threadfs::store::Store;

use super::blind::{Blind, Kernel};
use crate::faulty::Faulty;
use crate::support::*;

#[test]
fn reads_and_writes_that_fail_at_random() {
    let kernel = Kernel::default();
    for seed in 0..40 {
        let engine = Faulty::new(Arc::new(MemoryEngine::new()));
        let fs = mount(engine.clone());
        thread(&fs, "a");
        let mut client = Blind::new(&fs, &kernel, seed);
        client.walk(&[b"threads", b"a"]);
        for step in 0..400 {
            engine.fail_reads([0, 5, 20, 100][step % 4], seed * 1000 + step as u64);
            if step % 7 == 0 {
                engine.refuse_writes_after((step / 7 % 3) as i64);
            }
            client.step();
            engine.accept_writes();
        }
        assert!(client.errors.contains(&libc::EIO) && client.errors.contains(&libc::ENOSPC));
        engine.fail_reads(0, 0);
        client.finish();
        assert_sound(&fs);
        drop(fs);
        // What could not be freed is freed by the next mount.
        let fs = mount(engine.clone());
        while !fs.collect_for(std::time::Duration::from_secs(1)) {}
        assert_sound(&fs);
        assert!(!names(&fs, Node::ROOT).is_empty());
        drop(fs);
        // A mount meets them too.
        for attempt in 0..20 {
            engine.fail_reads(3, attempt);
            if let Ok(store) = Store::open(engine.clone()) {
                let _ = Fs::new(store, options());
            }
        }
        engine.fail_reads(0, 0);
        assert_sound(&mount(engine));
    }
}
