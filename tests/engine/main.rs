//! One suite that every engine has to pass, and what only a directory can do.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod conformance;
mod crash;
mod damage;
mod directory;
mod random;
mod views;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use threadfs::engine::memory::MemoryEngine;
use threadfs::engine::rocks::RocksEngine;
use threadfs::engine::{Batch, Engine, EngineOptions, Keyspace, View};

/// An engine, and what has to outlive it.
pub struct Fixture {
    pub engine: Arc<dyn Engine>,
    _directory: Option<TempDir>,
}

/// A new, empty memory engine.
pub fn memory() -> Fixture {
    Fixture { engine: Arc::new(MemoryEngine::new()), _directory: None }
}

/// A new, empty RocksDB engine in a directory of its own.
pub fn rocksdb() -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let engine: Arc<dyn Engine> = Arc::new(open(directory.path()));
    Fixture { engine, _directory: Some(directory) }
}

/// Opens a directory with little memory, so that small tests reach the tables too.
pub fn open(directory: &Path) -> RocksEngine {
    RocksEngine::open(directory, &options()).unwrap()
}

pub fn options() -> EngineOptions {
    EngineOptions { memory_bytes: 8 << 20, holder: String::from("the test") }
}

pub const META: Keyspace = Keyspace::Meta;
pub const DATA: Keyspace = Keyspace::Data;

/// Writes one pair.
pub fn put(engine: &dyn Engine, space: Keyspace, key: &[u8], value: &[u8]) {
    let mut batch = Batch::new();
    batch.put(space, key.to_vec(), value.to_vec());
    engine.write(batch).unwrap();
}

/// Removes one key.
pub fn delete(engine: &dyn Engine, space: Keyspace, key: &[u8]) {
    let mut batch = Batch::new();
    batch.delete(space, key.to_vec());
    engine.write(batch).unwrap();
}

/// Everything in a range.
pub fn range<V: View + ?Sized>(view: &V, space: Keyspace, from: &[u8], to: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut pairs = Vec::new();
    view.scan(space, from, to, &mut |key, value| {
        pairs.push((key.to_vec(), value.to_vec()));
        ControlFlow::Continue(())
    })
    .unwrap();
    pairs
}

/// The keys of a range.
pub fn keys<V: View + ?Sized>(view: &V, space: Keyspace, from: &[u8], to: &[u8]) -> Vec<Vec<u8>> {
    range(view, space, from, to).into_iter().map(|(key, _)| key).collect()
}

/// Everything in a keyspace.
pub fn all<V: View + ?Sized>(view: &V, space: Keyspace) -> Vec<(Vec<u8>, Vec<u8>)> {
    range(view, space, b"", b"")
}
