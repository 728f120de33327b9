//! Open files.
//!
//! All handles of one inode share an [`OpenInode`]: what it is (a rename can make a document of
//! a file that is open), and the committed content of a document.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock};

use super::document::{Committed, Draft, Pending, Writer};
use super::node::Node;
use super::rules::Role;

/// What the kernel adds to the flags when execve(2) opens a program: __FMODE_EXEC of its
/// include/linux/fs.h.
const FMODE_EXEC: i32 = 0x20;

/// An inode that is open at least once.
#[derive(Debug)]
pub(super) struct OpenInode {
    pub(super) node: Node,
    pub(super) role: RwLock<Role>,
    pub(super) handles: AtomicUsize,
    /// Handles by which it runs as a program.
    pub(super) running: AtomicUsize,
    /// Handles that may change it.
    pub(super) writers: AtomicUsize,
    /// The newest committed content of a document, once somebody asked. Its lock is held while
    /// a commit is made, so that commits reach it in their order.
    pub(super) committed: Mutex<Option<Arc<Committed>>>,
    /// Of a file beside documents that several write: what the one wrote that closed last.
    pub(super) finished: Mutex<Option<Arc<Vec<u8>>>>,
    /// A document that has no name before its first commit.
    pub(super) pending: Mutex<Option<Pending>>,
}

impl OpenInode {
    pub(super) fn role(&self) -> Role {
        *self.role.read()
    }

    /// Whether a draft may be under way, so that the kernel must not keep attributes.
    pub(super) fn is_in_flux(&self) -> bool {
        self.writers.load(Ordering::SeqCst) > 0 && self.role() == Role::Document
    }
}

/// What one open file of a document has read and written.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The content that its reads come from.
    pub(super) pin: Option<Arc<Committed>>,
    /// Its changes that are not committed.
    pub(super) draft: Option<Draft>,
    /// Of a file beside documents: what this open file alone wrote. See document/solo.rs.
    pub(super) solo: Option<Draft>,
}

/// One open file.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) inode: Arc<OpenInode>,
    /// The flags of open(2).
    pub(super) flags: i32,
    pub(super) progress: Mutex<Progress>,
    /// What a virtual file or an empty lock file shows to this reader.
    pub(super) shown: Mutex<Option<Arc<Vec<u8>>>>,
    /// The process that opened it.
    pub(super) opener: AtomicU32,
    /// Whether a virtual file.
    pub(super) is_virtual: bool,
    /// Whose close was refused last: RELEASE comes without a pid.
    pub(super) writer: Mutex<Option<Writer>>,
}

impl Handle {
    /// Whether execve(2) opened it; it is closed when the program ends.
    fn runs(&self) -> bool {
        self.flags & FMODE_EXEC != 0
    }

    pub(super) fn is_writable(&self) -> bool {
        self.flags & libc::O_ACCMODE != libc::O_RDONLY
    }

    pub(super) fn node(&self) -> Node {
        self.inode.node
    }

    /// Whether it is open for writing on a document that has no name yet.
    pub(super) fn is_creating(&self) -> bool {
        self.is_writable() && self.inode.pending.lock().is_some()
    }
}

/// All open files.
#[derive(Debug, Default)]
pub(super) struct Handles {
    next: AtomicU64,
    handles: RwLock<HashMap<u64, Arc<Handle>>>,
    inodes: Mutex<HashMap<Node, Arc<OpenInode>>>,
}

impl Handles {
    /// Opens an inode once more.
    pub(super) fn open(&self, node: Node, role: Role, flags: i32, pending: Option<Pending>) -> (u64, Arc<Handle>) {
        let mut inodes = self.inodes.lock();
        let inode = inodes.entry(node).or_insert_with(|| {
            Arc::new(OpenInode {
                node,
                role: RwLock::new(role),
                handles: AtomicUsize::new(0),
                running: AtomicUsize::new(0),
                writers: AtomicUsize::new(0),
                committed: Mutex::new(None),
                finished: Mutex::default(),
                pending: Mutex::new(pending),
            })
        });
        let handle = Arc::new(Handle {
            inode: Arc::clone(inode),
            flags,
            progress: Mutex::default(),
            shown: Mutex::default(),
            is_virtual: false,
            writer: Mutex::default(),
            opener: AtomicU32::new(0),
        });
        handle.inode.handles.fetch_add(1, Ordering::SeqCst);
        if handle.is_writable() || flags & libc::O_TRUNC != 0 {
            handle.inode.writers.fetch_add(1, Ordering::SeqCst);
        }
        if handle.runs() {
            handle.inode.running.fetch_add(1, Ordering::SeqCst);
        }
        drop(inodes);
        (self.insert(Arc::clone(&handle)), handle)
    }

    /// Opens what is in no store.
    pub(super) fn open_virtual(&self, node: Node, content: Vec<u8>) -> u64 {
        self.open_apart(node, Some(Arc::new(content)))
    }

    /// Opens a file of the past.
    pub(super) fn open_past(&self, node: Node) -> u64 {
        self.open_apart(node, None)
    }

    fn open_apart(&self, node: Node, content: Option<Arc<Vec<u8>>>) -> u64 {
        let inode = OpenInode {
            node,
            role: RwLock::default(),
            handles: AtomicUsize::new(1),
            running: AtomicUsize::new(0),
            writers: AtomicUsize::new(0),
            committed: Mutex::default(),
            finished: Mutex::default(),
            pending: Mutex::default(),
        };
        self.insert(Arc::new(Handle {
            inode: Arc::new(inode),
            flags: libc::O_RDONLY,
            progress: Mutex::default(),
            shown: Mutex::new(content),
            is_virtual: true,
            writer: Mutex::default(),
            opener: AtomicU32::new(0),
        }))
    }

    fn insert(&self, handle: Arc<Handle>) -> u64 {
        let fh = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.handles.write().insert(fh, handle);
        fh
    }

    pub(super) fn get(&self, fh: u64) -> Option<Arc<Handle>> {
        self.handles.read().get(&fh).cloned()
    }

    /// Whether an inode runs as a program.
    pub(super) fn is_running(&self, node: Node) -> bool {
        self.inode(node).is_some_and(|open| open.running.load(Ordering::SeqCst) > 0)
    }

    pub(super) fn inode(&self, node: Node) -> Option<Arc<OpenInode>> {
        self.inodes.lock().get(&node).cloned()
    }

    /// Closes a handle; the second value says whether it was the inode's last.
    pub(super) fn close(&self, fh: u64) -> Option<(Arc<Handle>, bool)> {
        let handle = self.handles.write().remove(&fh)?;
        if handle.is_virtual {
            return Some((handle, false));
        }
        let mut inodes = self.inodes.lock();
        if handle.is_writable() || handle.flags & libc::O_TRUNC != 0 {
            handle.inode.writers.fetch_sub(1, Ordering::SeqCst);
        }
        if handle.runs() {
            handle.inode.running.fetch_sub(1, Ordering::SeqCst);
        }
        let last = handle.inode.handles.fetch_sub(1, Ordering::SeqCst) == 1;
        if last {
            inodes.remove(&handle.inode.node);
        }
        Some((handle, last))
    }

    /// Handles with changes that are not committed.
    pub(super) fn draft_count(&self) -> u64 {
        // On a copy of the list: a handle that commits is locked for long, and who opens or closes
        // a file must not wait for it.
        let handles: Vec<Arc<Handle>> = self.handles.read().values().cloned().collect();
        handles.iter().filter(|handle| handle.progress.lock().draft.is_some()).count() as u64
    }

    /// The handles of an inode.
    pub(super) fn of(&self, node: Node) -> Vec<Arc<Handle>> {
        self.handles.read().values().filter(|handle| handle.node() == node).cloned().collect()
    }
}
