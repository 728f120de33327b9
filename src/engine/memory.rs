//! The engine that keeps nothing: for tests, for models and for trying things out.
//!
//! Its maps are persistent trees, so that a view is a cheap copy of the roots.

use std::ops::{Bound, ControlFlow};
use std::path::Path;

use imbl::OrdMap;
use parking_lot::RwLock;

use super::{Batch, Engine, Error, Keyspace, Op, Result, Space, View, Visit};

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

    fn scan(&self, space: Keyspace, from: &[u8], to: &[u8], visit: Visit<'_>) -> Result<()> {
        let upper = if to.is_empty() { Bound::Unbounded } else { Bound::Excluded(to) };
        if !to.is_empty() && from >= to {
            return Ok(());
        }
        for (key, value) in self.map(space).range::<_, [u8]>((Bound::Included(from), upper)) {
            if let ControlFlow::Break(()) = visit(key, value) {
                break;
            }
        }
        Ok(())
    }
}

impl View for MemoryEngine {
    fn get(&self, space: Keyspace, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.state.read().get(space, key)
    }

    fn scan(&self, space: Keyspace, from: &[u8], to: &[u8], visit: Visit<'_>) -> Result<()> {
        // On a copy: the visitor may call back into the engine.
        let state = self.state.read().clone();
        state.scan(space, from, to, visit)
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
