//! `.threadfs`: what the daemon knows, as files.
//!
//! The directory is hidden from listings of the root, so that nothing that walks the tree enters
//! it, and is reached by its name.

mod rejected;
mod time;
mod tree;

use parking_lot::RwLock;

pub(in crate::fs) use time::rfc3339;

use super::node::Node;
use crate::store::{Local, NO_REALMS, RealmId};

/// The realm of the control directory.
const VIRTUAL: RealmId = RealmId(NO_REALMS.end - 1);

const ROOT: Node = Node { realm: VIRTUAL, local: Local(1) };
const REJECTED: Node = Node { realm: VIRTUAL, local: Local(2) };
const INDEX: Node = Node { realm: VIRTUAL, local: Local(3) };
const LOCKS: Node = Node { realm: VIRTUAL, local: Local(4) };
const FIRST_FILE: u64 = 16;
const FIRST_DRAFT: u64 = 1 << 16;

impl Node {
    /// Whether it has no record of its own: the control directory, and views of the past.
    pub fn is_virtual(self) -> bool {
        NO_REALMS.contains(&self.realm.0)
    }

    /// Whether it is the control directory or in it.
    pub fn is_control(self) -> bool {
        self.realm == VIRTUAL
    }
}

type Produce = Box<dyn Fn() -> Vec<u8> + Send + Sync>;

/// The files that the layers above add.
#[derive(Default)]
pub struct VirtualFiles {
    files: RwLock<Vec<(String, Produce)>>,
}

impl VirtualFiles {
    /// Adds a file, whose content is made anew for each open.
    pub fn register(&self, name: &str, produce: Produce) {
        self.files.write().push((name.to_string(), produce));
    }

    fn names(&self) -> Vec<String> {
        self.files.read().iter().map(|(name, _)| name.clone()).collect()
    }

    fn produce(&self, index: u64) -> Option<Vec<u8>> {
        let files = self.files.read();
        files.get(index as usize).map(|(_, produce)| produce())
    }
}
