//! Reading RocksDB: one instant of it, and places in a range.

use parking_lot::RwLockReadGuard;
use rocksdb::{DB, DBRawIterator, ReadOptions, Snapshot};

use super::convert::from_rocks;
use super::family;
use crate::engine::{Cursor, Error, Keyspace, Result, View};

/// What is read at once of a range of chunks, in bytes; RocksDB stops at the range's end (auto_readahead_size). Else
/// each iterator begins with single blocks, and a request of the kernel is over before that has grown.
const READ_AHEAD: usize = 1 << 20;

pub(super) fn get(db: &DB, space: Keyspace, key: &[u8], options: &ReadOptions) -> Result<Option<Vec<u8>>> {
    let value = db.get_pinned_cf_opt(family(db, space)?, key, options).map_err(|e| from_rocks(&e))?;
    Ok(value.map(|v| v.to_vec()))
}

/// The database for as long as a guard is kept beside it.
pub(super) fn pinned<'a>(db: &DB, _guard: &RwLockReadGuard<'a, Option<DB>>) -> &'a DB {
    // SAFETY: the database lives inside the RwLock that the guard borrows for 'a, and the guard, which every
    // caller keeps in the same struct, keeps each writer (which alone could move or drop it) out for as long.
    unsafe { &*std::ptr::from_ref(db) }
}

/// One instant of RocksDB. It keeps the database from being reopened under it.
pub(super) struct RocksView<'a> {
    // The order matters: fields drop in the order of their declaration.
    snapshot: Snapshot<'a>,
    db: &'a DB,
    _guard: RwLockReadGuard<'a, Option<DB>>,
}

impl<'a> RocksView<'a> {
    pub(super) fn new(db: &'a DB, guard: RwLockReadGuard<'a, Option<DB>>) -> RocksView<'a> {
        RocksView { snapshot: db.snapshot(), db, _guard: guard }
    }

    fn options(&self) -> ReadOptions {
        let mut options = ReadOptions::default();
        options.set_snapshot(&self.snapshot);
        options
    }
}

impl View for RocksView<'_> {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Vec<u8>>> {
        get(self.db, space, key, &self.options())
    }

    fn cursor(&self, space: Keyspace, from: &[u8], to: &[u8]) -> Result<Box<dyn Cursor + '_>> {
        Ok(Box::new(RocksCursor::new(self.db, space, from, to, self.options())?))
    }
}

/// An iterator of RocksDB; it has a view of its own.
pub(super) struct RocksCursor<'a> {
    iterator: DBRawIterator<'a>,
    /// RocksDB takes a range whose end is before its start for a mistake.
    is_empty: bool,
    from: Vec<u8>,
}

impl<'a> RocksCursor<'a> {
    pub(super) fn new(db: &'a DB, space: Keyspace, from: &[u8], to: &[u8], mut options: ReadOptions) -> Result<Self> {
        let is_empty = !to.is_empty() && from >= to;
        if !to.is_empty() && !is_empty {
            options.set_iterate_upper_bound(to);
        }
        if space == Keyspace::Data {
            options.set_readahead_size(READ_AHEAD);
        }
        let iterator = db.raw_iterator_cf_opt(family(db, space)?, options);
        let mut cursor = RocksCursor { iterator, is_empty, from: from.to_vec() };
        cursor.seek(from)?;
        Ok(cursor)
    }

    fn status(&self) -> Result<()> {
        if self.is_empty || self.iterator.valid() {
            return Ok(());
        }
        self.iterator.status().map_err(|e| from_rocks(&e))
    }
}

impl Cursor for RocksCursor<'_> {
    fn item(&self) -> Option<(&[u8], &[u8])> {
        self.iterator.item()
    }

    fn advance(&mut self) -> Result<()> {
        // Behind the last one the iterator is not valid, and must not be moved.
        if self.iterator.valid() {
            self.iterator.next();
        }
        self.status()
    }

    fn seek(&mut self, key: &[u8]) -> Result<()> {
        if !self.is_empty {
            self.iterator.seek(key.max(&self.from));
        }
        self.status()
    }
}

/// A cursor on the newest state. It keeps the database from being reopened under it.
pub(super) struct GuardedCursor<'a> {
    // The order matters: fields drop in the order of their declaration.
    pub(super) cursor: RocksCursor<'a>,
    pub(super) _guard: RwLockReadGuard<'a, Option<DB>>,
}

impl Cursor for GuardedCursor<'_> {
    fn item(&self) -> Option<(&[u8], &[u8])> {
        self.cursor.item()
    }

    fn advance(&mut self) -> Result<()> {
        self.cursor.advance()
    }

    fn seek(&mut self, key: &[u8]) -> Result<()> {
        self.cursor.seek(key)
    }
}

/// What a view is when the store cannot be read at all: the error, each time.
pub(super) struct BrokenView(pub(super) Error);

impl View for BrokenView {
    fn get(&self, _: Keyspace, _: &[u8]) -> Result<Option<Vec<u8>>> {
        Err(self.0.clone())
    }

    fn cursor(&self, _: Keyspace, _: &[u8], _: &[u8]) -> Result<Box<dyn Cursor + '_>> {
        Err(self.0.clone())
    }
}
