//! The engine on RocksDB: a directory on a local disk.
//!
//! The directory holds `db/` (RocksDB's files) and `LOCK.json` (who has it open). Every write
//! goes through RocksDB's log before it returns, so a crash of the process loses nothing; the
//! log reaches the disk with [`Engine::sync`] or a durable batch. Concurrent durable batches
//! share one fdatasync: RocksDB groups them.

mod convert;
mod freed;
mod holder;
mod options;
mod view;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use rocksdb::{ColumnFamily, DB, FlushOptions, ReadOptions, WriteBatch, WriteOptions, checkpoint::Checkpoint};

use self::convert::{from_io, from_rocks};
use self::freed::Freed;
use self::holder::Holder;
use self::options::Tuning;
use self::view::{BrokenView, GuardedCursor, RocksCursor, RocksView, get, pinned};
use super::{Batch, Cursor, Engine, EngineOptions, Error, Keyspace, Op, Result, Space, View};

const META: &str = "meta";
const DATA: &str = "data";

/// How long a write waits for room that comes back by itself. What grows is refused long before the
/// disk is full, so it is deletions that wait.
const FULL_PATIENCE: Duration = Duration::from_millis(1500);

/// How often a store that stopped writing for want of space is opened anew, at most.
const REOPEN_PAUSE: Duration = Duration::from_millis(200);

/// RocksDB in a directory.
pub struct RocksEngine {
    /// None only while a failed reopening is retried.
    db: RwLock<Option<DB>>,
    tuning: Tuning,
    created: bool,
    freed: Freed,
    directory: PathBuf,
    last_reopen: Mutex<Option<Instant>>,
    /// Dropped last: it says that the store is free.
    _holder: Holder,
}

impl RocksEngine {
    /// Opens the store in a directory, and creates it when the directory is missing or empty.
    pub fn open(directory: &Path, options: &EngineOptions) -> Result<Self> {
        let created = prepare(directory)?;
        let holder = Holder::take(directory, &options.holder)?;
        let tuning = Tuning::new(options.memory_bytes, convert::medium(directory)?.total);
        let db = tuning.open(&database(directory), created).map_err(|e| from_rocks(&e))?;
        Ok(RocksEngine {
            db: RwLock::new(Some(db)),
            tuning,
            created,
            freed: Freed::default(),
            directory: directory.to_path_buf(),
            last_reopen: Mutex::new(None),
            _holder: holder,
        })
    }

    fn read(&self) -> Result<RwLockReadGuard<'_, Option<DB>>> {
        // Recursive, because who holds a view may read beside it while a reopening waits.
        let guard = self.db.read_recursive();
        if guard.is_some() {
            return Ok(guard);
        }
        drop(guard);
        self.reopen()?;
        Ok(self.db.read_recursive())
    }

    /// RocksDB refuses every write once one failed for want of space, and its C interface has no
    /// call to resume. Opening it anew is that call: the log is replayed, nothing is lost.
    fn reopen(&self) -> Result<()> {
        let mut last = self.last_reopen.lock();
        if last.is_some_and(|at| at.elapsed() < REOPEN_PAUSE) {
            return Err(Error::NoSpace { detail: "waiting before the next attempt".into() });
        }
        *last = Some(Instant::now());
        let space = self.space()?;
        if space.available < self.tuning.reserve / 2 {
            return Err(Error::NoSpace { detail: format!("{} bytes are free", space.available) });
        }
        // Not for ever: who holds a view may wait for a lock that the caller of this holds.
        let Some(mut guard) = self.db.try_write_for(REOPEN_PAUSE) else {
            return Err(Error::NoSpace { detail: "waiting for readers before the next attempt".into() });
        };
        // The old one must be closed before the directory can be opened again.
        *guard = None;
        let db = self.tuning.open(&database(&self.directory), false).map_err(|e| from_rocks(&e))?;
        *guard = Some(db);
        log::info!("store {}: writing again after it had no space", self.directory.display());
        Ok(())
    }

    fn try_write(&self, ops: &[Op], durable: bool) -> Result<()> {
        let guard = self.read()?;
        let db = opened(&guard)?;
        let (meta, data) = (family(db, Keyspace::Meta)?, family(db, Keyspace::Data)?);
        let mut batch = WriteBatch::default();
        for op in ops {
            match op {
                Op::Put(Keyspace::Meta, key, value) => batch.put_cf(meta, key, value),
                Op::Put(Keyspace::Data, key, value) => batch.put_cf(data, key, value),
                Op::Delete(Keyspace::Meta, key) => batch.delete_cf(meta, key),
                Op::Delete(Keyspace::Data, key) => batch.delete_cf(data, key),
            }
        }
        let mut options = WriteOptions::default();
        options.set_sync(durable);
        db.write_opt(batch, &options).map_err(|e| from_rocks(&e))?;
        self.freed.note(ops);
        Ok(())
    }
}

/// Makes the directory ready; says whether the store in it is a new one.
fn prepare(directory: &Path) -> Result<bool> {
    match std::fs::create_dir_all(directory) {
        Ok(()) => {}
        Err(e) => return Err(from_io(directory, "create the directory", &e)),
    }
    if database(directory).join("CURRENT").exists() {
        return Ok(false);
    }
    let entries = std::fs::read_dir(directory).map_err(|e| from_io(directory, "list the directory", &e))?;
    for entry in entries {
        let name = entry.map_err(|e| from_io(directory, "list the directory", &e))?.file_name();
        // What an interrupted first start leaves, and what mkfs leaves on a disk of its own.
        if name != "db" && name != holder::FILE && name != "lost+found" {
            return Err(Error::NotAStore { path: directory.to_path_buf() });
        }
    }
    if has_records(&database(directory))? {
        // RocksDB would begin a new database here and remove the old one's files.
        let detail = format!("{}/CURRENT is missing", database(directory).display());
        return Err(Error::Corrupt { detail });
    }
    Ok(true)
}

/// Whether a database directory has files that come to be only after its CURRENT.
fn has_records(database: &Path) -> Result<bool> {
    let entries = match std::fs::read_dir(database) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(from_io(database, "list the directory", &e)),
    };
    for entry in entries {
        let path = entry.map_err(|e| from_io(database, "list the directory", &e))?.path();
        if path.extension().is_some_and(|kind| kind == "sst" || kind == "log") {
            return Ok(true);
        }
    }
    Ok(false)
}

fn database(directory: &Path) -> PathBuf {
    directory.join("db")
}

fn opened(guard: &Option<DB>) -> Result<&DB> {
    guard.as_ref().ok_or_else(|| Error::Io { detail: "the store is closed".into() })
}

fn family(db: &DB, space: Keyspace) -> Result<&ColumnFamily> {
    let name = match space {
        Keyspace::Meta => META,
        Keyspace::Data => DATA,
    };
    db.cf_handle(name).ok_or_else(|| Error::Corrupt { detail: format!("the keyspace {name} is missing") })
}

impl View for RocksEngine {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let guard = self.read()?;
        get(opened(&guard)?, space, key, &ReadOptions::default())
    }

    fn cursor(&self, space: Keyspace, from: &[u8], to: &[u8]) -> Result<Box<dyn Cursor + '_>> {
        let guard = self.read()?;
        let db = pinned(opened(&guard)?, &guard);
        let cursor = RocksCursor::new(db, space, from, to, ReadOptions::default())?;
        Ok(Box::new(GuardedCursor { cursor, _guard: guard }))
    }
}

impl Engine for RocksEngine {
    fn name(&self) -> &'static str {
        "rocksdb"
    }

    fn is_new(&self) -> bool {
        self.created
    }

    fn view(&self) -> Box<dyn View + '_> {
        let guard = match self.read() {
            Ok(guard) => guard,
            Err(e) => return Box::new(BrokenView(e)),
        };
        let Some(db) = guard.as_ref() else {
            return Box::new(BrokenView(Error::Io { detail: "the store is closed".into() }));
        };
        let db = pinned(db, &guard);
        Box::new(RocksView::new(db, guard))
    }

    fn write(&self, batch: Batch) -> Result<()> {
        let durable = batch.is_durable();
        let ops = batch.into_ops();
        let until = Instant::now() + FULL_PATIENCE;
        loop {
            let detail = match self.try_write(&ops, durable) {
                Err(Error::NoSpace { detail }) => detail,
                done => return done,
            };
            match self.reopen() {
                Ok(()) if Instant::now() < until => {}
                Ok(()) => return Err(Error::NoSpace { detail }),
                // A compaction that failed for want of room gives it back a moment later.
                Err(Error::NoSpace { .. }) if Instant::now() < until => std::thread::sleep(REOPEN_PAUSE / 4),
                Err(Error::NoSpace { .. }) => return Err(Error::NoSpace { detail }),
                Err(e) => return Err(e),
            }
        }
    }

    fn sync(&self) -> Result<()> {
        let guard = self.read()?;
        opened(&guard)?.flush_wal(true).map_err(|e| from_rocks(&e))
    }

    fn checkpoint(&self, to: &Path) -> Result<()> {
        let guard = self.read()?;
        std::fs::create_dir(to).map_err(|e| from_io(to, "create the directory", &e))?;
        Checkpoint::new(opened(&guard)?).and_then(|c| c.create_checkpoint(database(to))).map_err(|e| from_rocks(&e))
    }

    fn space(&self) -> Result<Space> {
        let used = convert::file_bytes(&database(&self.directory))?;
        Ok(Space { used, reserve: self.tuning.reserve, ..convert::medium(&self.directory)? })
    }

    fn data_bytes(&self) -> Result<u64> {
        let guard = self.read()?;
        let db = opened(&guard)?;
        let properties = db
            .property_value_cf(family(db, Keyspace::Data)?, rocksdb::properties::AGGREGATED_TABLE_PROPERTIES)
            .map_err(|e| from_rocks(&e))?
            .unwrap_or_default();
        Ok(convert::raw_value_bytes(&properties))
    }

    fn reclaim(&self) -> Result<()> {
        let guard = self.read()?;
        let db = opened(&guard)?;
        for space in [Keyspace::Meta, Keyspace::Data] {
            db.flush_cf_opt(family(db, space)?, &FlushOptions::default()).map_err(|e| from_rocks(&e))?;
        }
        // Only where something was deleted: a compaction needs room for what it keeps.
        for (from, to) in self.freed.take() {
            db.compact_range_cf(family(db, Keyspace::Data)?, Some(from), Some(to));
        }
        Ok(())
    }
}

impl Drop for RocksEngine {
    fn drop(&mut self) {
        if let Some(db) = self.db.get_mut() {
            // Into tables, whose every block has a checksum: a log that is damaged afterwards
            // could only be read up to the damage.
            for space in [Keyspace::Meta, Keyspace::Data] {
                let flushed = family(db, space).and_then(|family| db.flush_cf(family).map_err(|e| from_rocks(&e)));
                if let Err(e) = flushed {
                    log::warn!("store {}: the last flush failed, the log has it: {e}", self.directory.display());
                }
            }
            if let Err(e) = db.flush_wal(true) {
                log::error!("store {}: the last sync failed: {e}", self.directory.display());
            }
            db.cancel_all_background_work(true);
        }
    }
}
