//! An engine that refuses writes on demand, as one on a full disk does, and that lets something
//! happen just before it answers.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use threadfs::engine::{Batch, Cursor, Engine, Error, Keyspace, Result, Space, View};

/// Passes everything on to another engine, until its writes run out.
pub struct Flaky {
    inner: Arc<dyn Engine>,
    /// Writes that still work; negative: all do.
    left: AtomicI64,
    before_get: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Flaky {
    pub fn new(inner: Arc<dyn Engine>) -> Arc<Flaky> {
        Arc::new(Flaky { inner, left: AtomicI64::new(-1), before_get: Mutex::default() })
    }

    /// Refuses all writes after the next `left`.
    pub fn refuse_after(&self, left: i64) {
        self.left.store(left, Ordering::SeqCst);
    }

    /// Does something before it answers the next [`View::get`].
    pub fn before_get(&self, what: impl FnOnce() + Send + 'static) {
        *self.before_get.lock().unwrap() = Some(Box::new(what));
    }

    /// Accepts all writes again.
    pub fn accept(&self) {
        self.left.store(-1, Ordering::SeqCst);
    }
}

impl View for Flaky {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let what = self.before_get.lock().unwrap().take();
        what.into_iter().for_each(|what| what());
        self.inner.get(space, key)
    }

    fn cursor(&self, space: Keyspace, from: &[u8], to: &[u8]) -> Result<Box<dyn Cursor + '_>> {
        self.inner.cursor(space, from, to)
    }
}

impl Engine for Flaky {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn is_new(&self) -> bool {
        self.inner.is_new()
    }

    fn view(&self) -> Box<dyn View + '_> {
        self.inner.view()
    }

    fn write(&self, batch: Batch) -> Result<()> {
        match self.left.load(Ordering::SeqCst) {
            0 => return Err(Error::NoSpace { detail: "the test says so".into() }),
            left if left > 0 => self.left.store(left - 1, Ordering::SeqCst),
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
        self.inner.space()
    }

    fn data_bytes(&self) -> Result<u64> {
        self.inner.data_bytes()
    }

    fn reclaim(&self) -> Result<()> {
        self.inner.reclaim()
    }
}
