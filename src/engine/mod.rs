//! An ordered key-value store: all that the layers above ask of a disk.
//!
//! Two engines exist: [`rocks`], a directory, and [`memory`], which keeps nothing. One
//! conformance suite (`tests/engine`) runs against both, and a new engine has to pass it.
//!
//! What an engine promises:
//! - keys are byte strings, ordered bytewise, in two independent [`Keyspace`]s;
//! - [`Engine::write`] applies a whole [`Batch`] or nothing, and a later read sees it;
//! - a [`View`] is one instant: writes that come after it was taken do not show in it;
//! - after a crash of the process every write that returned is there; after a crash of the
//!   machine, every write before the last [`Engine::sync`] or durable batch.
//!
//! What the layers above rely on beyond that, said here and nowhere else: **this process is
//! the only writer**. [`crate::store`] keeps epochs, counters and allocation in memory between
//! batches. An engine that is shared between processes has to bring a lease for them.

mod batch;
mod error;
pub mod memory;
pub mod rocks;
mod spec;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

pub use batch::{Batch, Op};
pub use error::{Error, Result};
pub use spec::StoreSpec;

/// The two sets of keys. They differ in what they hold, so an engine can tune them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keyspace {
    /// Small records, read one at a time.
    Meta,
    /// The content of files: large values, read in runs.
    Data,
}

/// What a scan calls for each pair, in key order, until it breaks.
pub type Visit<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>;

/// A place among the pairs of a range, in key order. What it shows was there when it was made.
pub trait Cursor {
    /// The pair that it stands at; None behind the last one.
    fn item(&self) -> Option<(&[u8], &[u8])>;

    /// Goes to the next pair.
    fn advance(&mut self) -> Result<()>;

    /// Goes to the first pair of its range that is not before `key`.
    fn seek(&mut self, key: &[u8]) -> Result<()>;
}

/// Reading, from the newest state or from a [`View`].
pub trait View {
    /// The value of one key.
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// A cursor at the first pair with `from <= key < to`. An empty `to` means no upper bound.
    fn cursor(&self, space: Keyspace, from: &[u8], to: &[u8]) -> Result<Box<dyn Cursor + '_>>;

    /// Visits the pairs with `from <= key < to` in key order. An empty `to` means no upper bound.
    fn scan(&self, space: Keyspace, from: &[u8], to: &[u8], visit: Visit<'_>) -> Result<()> {
        let mut cursor = self.cursor(space, from, to)?;
        while let Some((key, value)) = cursor.item() {
            if visit(key, value).is_break() {
                break;
            }
            cursor.advance()?;
        }
        Ok(())
    }

    /// The first pair with `from <= key < to`.
    fn first(&self, space: Keyspace, from: &[u8], to: &[u8]) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let mut found = None;
        self.scan(space, from, to, &mut |key, value| {
            found = Some((key.to_vec(), value.to_vec()));
            ControlFlow::Break(())
        })?;
        Ok(found)
    }
}

/// How much room there is, in bytes, where the engine keeps its data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Space {
    /// Size of the whole medium.
    pub total: u64,
    /// What is free for anybody (`statvfs` f_bavail).
    pub available: u64,
    /// What is free for root too (`statvfs` f_bfree).
    pub free: u64,
    /// What the engine itself takes.
    pub used: u64,
    /// What has to stay free for the engine's own work: growth below it is refused, so that
    /// deletions still find room for their records.
    pub reserve: u64,
}

/// An ordered key-value store. See the module's text for what it promises.
pub trait Engine: View + Send + Sync {
    /// A short name for the status: `rocksdb` or `memory`.
    fn name(&self) -> &'static str;

    /// Whether nothing was there when it was opened.
    fn is_new(&self) -> bool;

    /// The present state, frozen.
    fn view(&self) -> Box<dyn View + '_>;

    /// Applies a batch, whole or not at all.
    ///
    /// # Errors
    /// [`Error::NoSpace`] when the medium is full: nothing of the batch was applied, and later
    /// writes work again when there is room, without a restart.
    fn write(&self, batch: Batch) -> Result<()>;

    /// Returns when every batch that was applied before the call is on the medium.
    fn sync(&self) -> Result<()>;

    /// Makes a copy of the present state in a directory that does not exist yet, to be opened
    /// as a store of its own. Meant for backups.
    fn checkpoint(&self, to: &Path) -> Result<()>;

    /// Room on the medium.
    fn space(&self) -> Result<Space>;

    /// Bytes of the values in [`Keyspace::Data`], before compression. Cheap, and so about: what was
    /// written last may be missing, and what was deleted last be counted still.
    fn data_bytes(&self) -> Result<u64>;

    /// Gives the space of deleted data back to the medium. May take long; called from a
    /// background thread when room is short.
    fn reclaim(&self) -> Result<()>;
}

/// How an engine is opened.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Memory for caches and write buffers together, in bytes.
    pub memory_bytes: u64,
    /// Who opens it and what for, for the message that a second opener gets.
    pub holder: String,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions { memory_bytes: 128 << 20, holder: String::from("threadfs") }
    }
}

/// Opens the engine that a specification names, and creates its store when there is none.
pub fn open(spec: &StoreSpec, options: &EngineOptions) -> Result<Arc<dyn Engine>> {
    Ok(match spec {
        StoreSpec::Memory => Arc::new(memory::MemoryEngine::new()),
        StoreSpec::Directory(path) => Arc::new(rocks::RocksEngine::open(path, options)?),
    })
}
