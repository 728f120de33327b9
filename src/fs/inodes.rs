//! The inodes that the kernel knows, by how many lookups.
//!
//! A file without a name lives on for as long as something knows it: an open file, a working
//! directory, a mapping. The kernel tells when that ends, with FORGET.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use parking_lot::Mutex;

use super::node::Node;
use super::rules::Role;

const SHARDS: usize = 16;

#[derive(Debug, Clone, Copy)]
struct Known {
    lookups: u64,
    role: Role,
    /// The rules that the role was derived from.
    generation: u64,
}

/// The table of known inodes.
#[derive(Debug, Default)]
pub(super) struct Inodes {
    shards: [Mutex<HashMap<Node, Known>>; SHARDS],
}

impl Inodes {
    fn shard(&self, node: Node) -> &Mutex<HashMap<Node, Known>> {
        let index = (node.local.0 as usize ^ node.realm.0 as usize) % SHARDS;
        // The remainder is below the length.
        self.shards.get(index).unwrap_or(&self.shards[0])
    }

    /// The kernel was told of an inode once more, under a name that gives it this role.
    pub(super) fn looked_up(&self, node: Node, role: Role, generation: u64) {
        let mut shard = self.shard(node).lock();
        let known = shard.entry(node).or_insert(Known { lookups: 0, role, generation });
        known.lookups += 1;
        (known.role, known.generation) = (role, generation);
    }

    /// The kernel forgot some lookups; says whether it knows the inode no more.
    pub(super) fn forget(&self, node: Node, lookups: u64) -> bool {
        let mut shard = self.shard(node).lock();
        let Entry::Occupied(mut entry) = shard.entry(node) else { return true };
        entry.get_mut().lookups = entry.get().lookups.saturating_sub(lookups);
        if entry.get().lookups > 0 {
            return false;
        }
        entry.remove();
        true
    }

    /// Whether the kernel knows an inode.
    pub(super) fn is_known(&self, node: Node) -> bool {
        self.shard(node).lock().contains_key(&node)
    }

    /// The role of a known inode, if no path changed since it was derived.
    pub(super) fn role(&self, node: Node, generation: u64) -> Option<Role> {
        let shard = self.shard(node).lock();
        shard.get(&node).filter(|known| known.generation == generation).map(|known| known.role)
    }

    /// Gives a known inode another role: it was renamed.
    pub(super) fn set_role(&self, node: Node, role: Role, generation: u64) {
        if let Some(known) = self.shard(node).lock().get_mut(&node) {
            (known.role, known.generation) = (role, generation);
        }
    }
}
