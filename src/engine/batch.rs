//! A set of changes that is applied whole or not at all.

use super::Keyspace;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Sets a key's value.
    Put(Keyspace, Vec<u8>, Vec<u8>),
    /// Removes a key; nothing when it is not there.
    Delete(Keyspace, Vec<u8>),
}

/// Changes in the order in which they apply: of two for one key the later one wins.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    ops: Vec<Op>,
    durable: bool,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Batch::default()
    }

    /// Adds the setting of a value.
    pub fn put(&mut self, space: Keyspace, key: Vec<u8>, value: Vec<u8>) {
        self.ops.push(Op::Put(space, key, value));
    }

    /// Adds the removal of a key.
    pub fn delete(&mut self, space: Keyspace, key: Vec<u8>) {
        self.ops.push(Op::Delete(space, key));
    }

    /// Asks that the batch be on the medium before [`super::Engine::write`] returns.
    pub fn set_durable(&mut self, durable: bool) {
        self.durable = durable;
    }

    /// Whether it has to be on the medium before the write returns.
    pub fn is_durable(&self) -> bool {
        self.durable
    }

    /// Whether there is nothing to apply.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// How many changes it holds.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// One change, by its place in the order.
    pub fn get(&self, at: usize) -> Option<&Op> {
        self.ops.get(at)
    }

    /// The changes, in order.
    pub fn into_ops(self) -> Vec<Op> {
        self.ops
    }
}
