//! An engine that fails on demand: writes as on a full disk, reads as on a broken one.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use threadfs::engine::{Batch, Cursor, Engine, Error, Keyspace, Result, Space, View};

/// When reads fail.
#[derive(Debug, Default)]
struct Reads {
    /// One in so many fails; 0: none.
    one_in: AtomicU64,
    state: AtomicU64,
}

impl Reads {
    fn check(&self) -> Result<()> {
        let one_in = self.one_in.load(Ordering::Relaxed);
        if one_in == 0 {
            return Ok(());
        }
        // A linear congruential generator: the same failures for the same seed.
        let next = |x: u64| x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = self.state.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |x| Some(next(x))).unwrap();
        match (next(drawn) >> 33).is_multiple_of(one_in) {
            true => Err(Error::Io { detail: "the test says so".into() }),
            false => Ok(()),
        }
    }
}

type Before = (Vec<u8>, Box<dyn FnOnce() + Send>);

/// Passes everything on to another engine, as long as it is let.
pub struct Faulty {
    inner: Arc<dyn Engine>,
    reads: Reads,
    /// Writes that still work; negative: all do.
    writes: AtomicI64,
    refused: AtomicBool,
    /// Whether only the reserve is left.
    short: AtomicBool,
    /// What to run before the next read of a key.
    before_get: Mutex<Option<Before>>,
}

impl Faulty {
    pub fn new(inner: Arc<dyn Engine>) -> Arc<Faulty> {
        Arc::new(Faulty {
            inner,
            reads: Reads::default(),
            writes: AtomicI64::new(-1),
            refused: AtomicBool::new(false),
            short: AtomicBool::new(false),
            before_get: Mutex::default(),
        })
    }

    /// Says that room is short.
    pub fn set_short(&self, short: bool) {
        self.short.store(short, Ordering::SeqCst);
    }

    /// Refuses all writes after the next `left`.
    pub fn refuse_writes_after(&self, left: i64) {
        self.refused.store(false, Ordering::SeqCst);
        self.writes.store(left, Ordering::SeqCst);
    }

    /// Accepts all writes again; says whether one was refused.
    pub fn accept_writes(&self) -> bool {
        self.writes.store(-1, Ordering::SeqCst);
        self.refused.load(Ordering::SeqCst)
    }

    /// Runs something before the next read of a key, but for reads in a frozen view.
    pub fn before_next_get(&self, key: Vec<u8>, run: impl FnOnce() + Send + 'static) {
        *self.before_get.lock().unwrap() = Some((key, Box::new(run)));
    }

    /// Makes one read in so many fail, in an order that the seed decides; 0 ends that.
    pub fn fail_reads(&self, one_in: u64, seed: u64) {
        self.reads.state.store(seed, Ordering::SeqCst);
        self.reads.one_in.store(one_in, Ordering::SeqCst);
    }
}

impl View for Faulty {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let before = self.before_get.lock().unwrap().take_if(|(wanted, _)| *wanted == key);
        if let Some((_, run)) = before {
            run();
        }
        self.reads.check()?;
        self.inner.get(space, key)
    }

    fn cursor(&self, space: Keyspace, from: &[u8], to: &[u8]) -> Result<Box<dyn Cursor + '_>> {
        self.reads.check()?;
        self.inner.cursor(space, from, to)
    }
}

struct FaultyView<'a> {
    inner: Box<dyn View + 'a>,
    reads: &'a Reads,
}

impl View for FaultyView<'_> {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.reads.check()?;
        self.inner.get(space, key)
    }

    fn cursor(&self, space: Keyspace, from: &[u8], to: &[u8]) -> Result<Box<dyn Cursor + '_>> {
        self.reads.check()?;
        self.inner.cursor(space, from, to)
    }
}

impl Engine for Faulty {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn is_new(&self) -> bool {
        self.inner.is_new()
    }

    fn view(&self) -> Box<dyn View + '_> {
        Box::new(FaultyView { inner: self.inner.view(), reads: &self.reads })
    }

    fn write(&self, batch: Batch) -> Result<()> {
        match self.writes.load(Ordering::SeqCst) {
            0 => {
                self.refused.store(true, Ordering::SeqCst);
                return Err(Error::NoSpace { detail: "the test says so".into() });
            }
            left if left > 0 => self.writes.store(left - 1, Ordering::SeqCst),
            _ => {}
        }
        self.inner.write(batch)
    }

    fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    fn checkpoint(&self, to: &Path) -> Result<()> {
        self.inner.checkpoint(to)
    }

    fn space(&self) -> Result<Space> {
        let space = self.inner.space()?;
        let reserve = if self.short.load(Ordering::SeqCst) { space.available } else { space.reserve };
        Ok(Space { reserve, ..space })
    }

    fn data_bytes(&self) -> Result<u64> {
        self.inner.data_bytes()
    }

    fn reclaim(&self) -> Result<()> {
        self.inner.reclaim()
    }
}
