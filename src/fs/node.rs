//! Inode numbers as the core handles them.

use crate::store::{HOME, Local, ROOT, RealmId};

/// An inode: its realm and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// The realm.
    pub realm: RealmId,
    /// The number within it.
    pub local: Local,
}

impl Node {
    /// The root of the mount.
    pub const ROOT: Node = Node { realm: HOME, local: ROOT };

    /// The node of an inode number.
    pub fn from_ino(ino: u64) -> Node {
        let (realm, local) = Local::from_ino(ino);
        Node { realm, local }
    }

    /// Its inode number.
    pub fn ino(self) -> u64 {
        self.local.to_ino(self.realm)
    }

    /// Another inode of the same realm.
    pub fn sibling(self, local: Local) -> Node {
        Node { realm: self.realm, local }
    }

    /// Whether it is the root of a thread.
    pub fn is_thread_root(self) -> bool {
        self.realm != HOME && self.local == ROOT
    }
}

impl From<(RealmId, Local)> for Node {
    fn from((realm, local): (RealmId, Local)) -> Node {
        Node { realm, local }
    }
}
