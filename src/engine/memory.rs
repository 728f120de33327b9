//! The engine that keeps nothing: for tests, for models and for trying things out.
//!
//! Its maps are persistent trees, so that a view is a cheap copy of the roots.

use std::ops::{Bound, ControlFlow};
use std::path::Path;

use imbl::OrdMap;
use parking_lot::RwLock;

use super::{Batch, Cursor, Engine, Error, Keyspace, Op, Result, Space, View};

type Map = OrdMap<Vec<u8>, Vec<u8>>;

/// What statfs tells of a store that has only memory: a round number, since there is no medium.
const NOMINAL_BYTES: u64 = 1 << 40;

/// One instant of the maps.
#[derive(Debug, Clone, Default)]
struct State {
    meta: Map,
    data: Map,
    bytes: u64,
}

impl State {
    fn map(&self, space: Keyspace) -> &Map {
        match space {
            Keyspace::Meta => &self.meta,
            Keyspace::Data => &self.data,
        }
    }

    fn map_mut(&mut self, space: Keyspace) -> &mut Map {
        match space {
            Keyspace::Meta => &mut self.meta,
            Keyspace::Data => &mut self.data,
        }
    }
}

/// Ordered maps in memory.
#[derive(Debug, Default)]
pub struct MemoryEngine {
    state: RwLock<State>,
}

impl MemoryEngine {
    /// An empty engine.
    pub fn new() -> Self {
        MemoryEngine::default()
    }
}

impl View for State {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Ok(self.map(space).get(key).cloned())
    }

    fn cursor(&self, space: Keyspace, from: &[u8], to: &[u8]) -> Result<Box<dyn Cursor + '_>> {
        Ok(Box::new(MemoryCursor::new(self.map(space).clone(), from, to)))
    }
}

/// On a copy of the map: who has it may call back into the engine.
struct MemoryCursor {
    map: Map,
    from: Vec<u8>,
    to: Vec<u8>,
    item: Option<(Vec<u8>, Vec<u8>)>,
}

impl MemoryCursor {
    fn new(map: Map, from: &[u8], to: &[u8]) -> MemoryCursor {
        let mut cursor = MemoryCursor { map, from: from.to_vec(), to: to.to_vec(), item: None };
        cursor.go(Bound::Included(from));
        cursor
    }

    fn go(&mut self, start: Bound<&[u8]>) {
        let next = self.map.range::<_, [u8]>((start, Bound::Unbounded)).next();
        let next = next.filter(|(key, _)| self.to.is_empty() || **key < self.to);
        self.item = next.map(|(key, value)| (key.clone(), value.clone()));
    }
}

impl Cursor for MemoryCursor {
    fn item(&self) -> Option<(&[u8], &[u8])> {
        self.item.as_ref().map(|(key, value)| (&key[..], &value[..]))
    }

    fn advance(&mut self) -> Result<()> {
        if let Some((key, _)) = self.item.take() {
            self.go(Bound::Excluded(&key));
        }
        Ok(())
    }

    fn seek(&mut self, key: &[u8]) -> Result<()> {
        let start = self.from.clone();
        self.go(Bound::Included(key.max(&start)));
        Ok(())
    }
}

impl View for MemoryEngine {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.state.read().get(space, key)
    }

    fn cursor(&self, space: Keyspace, from: &[u8], to: &[u8]) -> Result<Box<dyn Cursor + '_>> {
        let map = self.state.read().map(space).clone();
        Ok(Box::new(MemoryCursor::new(map, from, to)))
    }
}

impl Engine for MemoryEngine {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn is_new(&self) -> bool {
        let state = self.state.read();
        state.meta.is_empty() && state.data.is_empty()
    }

    fn view(&self) -> Box<dyn View + '_> {
        Box::new(self.state.read().clone())
    }

    fn write(&self, batch: Batch) -> Result<()> {
        let mut state = self.state.write();
        for op in batch.into_ops() {
            let (added, removed) = match op {
                Op::Put(space, key, value) => {
                    let added = key.len() + value.len();
                    let klen = key.len();
                    let old = state.map_mut(space).insert(key, value);
                    (added, old.map_or(0, |v| klen + v.len()))
                }
                Op::Delete(space, key) => {
                    let old = state.map_mut(space).remove(&key);
                    (0, old.map_or(0, |v| key.len() + v.len()))
                }
            };
            state.bytes = (state.bytes + added as u64).saturating_sub(removed as u64);
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn checkpoint(&self, _to: &Path) -> Result<()> {
        Err(Error::Unsupported { engine: "memory", what: "write a checkpoint: it keeps nothing on disk" })
    }

    fn space(&self) -> Result<Space> {
        let used = self.state.read().bytes;
        let free = NOMINAL_BYTES.saturating_sub(used);
        Ok(Space { total: NOMINAL_BYTES, available: free, free, used, reserve: 0 })
    }

    fn data_bytes(&self) -> Result<u64> {
        let mut bytes = 0;
        self.scan(Keyspace::Data, b"", b"", &mut |_, value| {
            bytes += value.len() as u64;
            ControlFlow::Continue(())
        })?;
        Ok(bytes)
    }

    fn reclaim(&self) -> Result<()> {
        Ok(())
    }
}
