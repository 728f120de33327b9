//! Committed content in memory.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::Pending;
use super::versions::Kept;
use crate::fs::handle::OpenInode;
use crate::fs::{FsOptions, Node};
use crate::store::record::Rejected;

/// The content of one commit.
#[derive(Debug, Default)]
pub(in crate::fs) struct Committed {
    /// The data generation that holds it.
    pub(in crate::fs) generation: u64,
    pub(in crate::fs) bytes: Vec<u8>,
}

/// Open inodes that have no name yet, by the one that they are to get.
type Creating = HashMap<(Node, Vec<u8>), Arc<OpenInode>>;

/// What is kept in memory about documents.
#[derive(Debug)]
pub(in crate::fs) struct Documents {
    recent: Mutex<Recent>,
    /// Names that exist only for those who are creating them.
    pub(in crate::fs) pending: Mutex<Creating>,
    /// What is known of the kept versions, by document.
    pub(in crate::fs) kept: Mutex<HashMap<Node, Kept>>,
    /// Where the search for versions over their age goes on.
    pub(in crate::fs) expired_up_to: Mutex<Vec<u8>>,
    /// Rejected drafts by their id.
    pub(in crate::fs) rejected: Mutex<std::collections::BTreeMap<u64, Rejected>>,
    pub(in crate::fs) next_rejected: AtomicU64,
}

/// Content that nobody has open now, so that the next open finds it. A content is valid for as
/// long as the inode is at the generation that it was read at.
#[derive(Debug)]
struct Recent {
    entries: HashMap<Node, Arc<Committed>>,
    order: VecDeque<Node>,
    bytes: u64,
    limit: u64,
}

impl Documents {
    pub(in crate::fs) fn new(options: &FsOptions) -> Documents {
        Documents {
            recent: Mutex::new(Recent {
                entries: HashMap::new(),
                order: VecDeque::new(),
                bytes: 0,
                limit: options.document_cache_bytes,
            }),
            pending: Mutex::default(),
            kept: Mutex::default(),
            expired_up_to: Mutex::default(),
            rejected: Mutex::default(),
            next_rejected: AtomicU64::new(1),
        }
    }

    /// The content of an inode at a generation.
    pub(in crate::fs) fn recent(&self, node: Node, generation: u64) -> Option<Arc<Committed>> {
        let recent = self.recent.lock();
        recent.entries.get(&node).filter(|content| content.generation == generation).cloned()
    }

    /// Keeps a content for later; the ones that were kept first go when there are too many.
    pub(in crate::fs) fn keep(&self, node: Node, content: &Arc<Committed>) {
        let mut recent = self.recent.lock();
        let size = |content: &Committed| content.bytes.len() as u64 + 128;
        if size(content) > recent.limit / 4 {
            return;
        }
        recent.bytes += size(content);
        match recent.entries.insert(node, Arc::clone(content)) {
            Some(old) => recent.bytes = recent.bytes.saturating_sub(size(&old)),
            None => recent.order.push_back(node),
        }
        while recent.bytes > recent.limit {
            let Some(oldest) = recent.order.pop_front() else { break };
            if let Some(old) = recent.entries.remove(&oldest) {
                recent.bytes = recent.bytes.saturating_sub(size(&old));
            }
        }
    }

    /// Forgets an inode: it is gone, or no document any more.
    pub(in crate::fs) fn forget(&self, node: Node) {
        let mut recent = self.recent.lock();
        if let Some(old) = recent.entries.remove(&node) {
            recent.bytes = recent.bytes.saturating_sub(old.bytes.len() as u64 + 128);
            recent.order.retain(|kept| *kept != node);
        }
        drop(recent);
        self.kept.lock().remove(&node);
    }

    /// Forgets all contents: a directory was renamed, so documents below it may be ordinary files
    /// now, which are written in place.
    pub(in crate::fs) fn forget_all(&self) {
        let mut recent = self.recent.lock();
        recent.entries.clear();
        recent.order.clear();
        recent.bytes = 0;
        drop(recent);
        self.kept.lock().clear();
    }

    /// A name is no longer being created through this open file; by a later creator it may be.
    pub(in crate::fs) fn forget_pending(&self, pending: &Pending, open: &OpenInode) {
        let mut all = self.pending.lock();
        let key = (pending.dir, pending.name.clone());
        if all.get(&key).is_some_and(|known| std::ptr::eq(Arc::as_ptr(known), open)) {
            all.remove(&key);
        }
    }

    /// How many rejected drafts are kept.
    pub(in crate::fs) fn rejected_count(&self) -> u64 {
        self.rejected.lock().len() as u64
    }

    pub(in crate::fs) fn new_rejected_id(&self) -> u64 {
        self.next_rejected.fetch_add(1, Ordering::SeqCst)
    }
}
