//! The filesystem: what each system call does to the records, without FUSE.
//!
//! [`Fs`] has one method an operation of the kernel's protocol, spread over the modules by what
//! they work on. Each that changes something is one transaction of the store.

mod acl;
mod atime;
mod attr;
mod attributes;
mod document;
mod error;
mod escape;
mod file;
mod handle;
mod inodes;
mod lock;
mod metrics;
mod names;
mod namespace;
mod node;
mod notify;
mod options;
mod process;
mod rules;
mod setattr;
mod snapshot;
mod statfs;
mod status;
mod tick;
mod virtualdir;
mod xattr;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::RwLock;

pub use attr::{Attr, Caller, SetAttr, SetTime};
pub use document::{Invalid, validate};
pub use error::{Error, Result};
pub use escape::{escaped, unescaped};
pub use file::{Opened, Whence};
pub use metrics::{Metrics, OperationStats, Sample, Timer};
pub use namespace::{Entry, ListEntry, RenameMode};
pub use node::Node;
pub use notify::Invalidate;
pub use options::{Atime, Durability, FsOptions, OnInvalid};
pub use rules::Role;
pub use snapshot::{Refusal, Reply, Request, Restored, UNDELETE};
pub use statfs::StatFs;
pub use status::Status;
pub use virtualdir::VirtualFiles;

use crate::store::{Records, Store};

/// A mounted filesystem's core.
pub struct Fs {
    store: Arc<Store>,
    options: FsOptions,
    rules: rules::Rules,
    inodes: inodes::Inodes,
    handles: handle::Handles,
    atimes: atime::Atimes,
    documents: document::Documents,
    locks: lock::Locks,
    metrics: Metrics,
    virtual_files: VirtualFiles,
    views: snapshot::Views,
    automatic: snapshot::Automatic,
    deleted: snapshot::DeletedThreads,
    /// Held while a snapshot takes its name.
    snapshot_names: parking_lot::Mutex<()>,
    notifier: RwLock<Option<Arc<dyn Invalidate>>>,
    tick: tick::Ticks,
    /// Changes that a sync has not covered yet.
    unsynced: AtomicU64,
}

impl Fs {
    /// The filesystem in a store. Files that lost their last name while they were open, and were
    /// still open when the last mount ended, are freed.
    ///
    /// # Errors
    /// A pattern that cannot be read; a store that fails.
    pub fn new(store: Arc<Store>, options: FsOptions) -> Result<Arc<Fs>> {
        let rules = rules::Rules::new(&options.thread_patterns, &options.document_patterns, &options.lock_patterns)?;
        let fs = Fs {
            documents: document::Documents::new(&options),
            virtual_files: VirtualFiles::default(),
            rules,
            options,
            store,
            inodes: Default::default(),
            handles: Default::default(),
            atimes: Default::default(),
            locks: Default::default(),
            metrics: Metrics::default(),
            views: Default::default(),
            automatic: Default::default(),
            deleted: Default::default(),
            snapshot_names: Default::default(),
            notifier: RwLock::new(None),
            tick: Default::default(),
            unsynced: AtomicU64::new(0),
        };
        fs.sweep_orphans()?;
        fs.load_rejected()?;
        fs.load_deleted();
        Ok(Arc::new(fs))
    }

    /// The store below.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The settings.
    pub fn options(&self) -> &FsOptions {
        &self.options
    }

    /// Counters and histograms.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The files under `.threadfs`.
    pub fn virtual_files(&self) -> &VirtualFiles {
        &self.virtual_files
    }

    /// Where the kernel is told that what it caches is no longer true.
    pub fn set_notifier(&self, notifier: Arc<dyn Invalidate>) {
        *self.notifier.write() = Some(notifier);
    }

    fn tell(&self, tell: impl FnOnce(&dyn Invalidate)) {
        let notifier = self.notifier.read().clone();
        if let Some(notifier) = notifier {
            tell(&*notifier);
        }
    }

    /// Makes everything that was changed before the call durable.
    pub fn sync(&self) -> Result<()> {
        self.flush_atimes()?;
        self.store.sync()?;
        Ok(())
    }

    /// The last call: makes everything durable.
    pub fn shutdown(&self) {
        if let Err(error) = self.sync() {
            log::error!("the last sync failed: {error}");
        }
    }

    /// The rules of a directory, from its path if nobody asked before. No recursion: a tree can be
    /// deeper than a stack.
    fn rules_of(&self, dir: Node) -> Result<Arc<rules::DirRules>> {
        let generation = self.rules.generation();
        let reader = self.store.reader();
        let mut below = Vec::new();
        let mut at = dir;
        let mut rules = loop {
            if let Some(rules) = self.rules.known(at) {
                break rules;
            }
            if below.len() > names::MAX_DEPTH {
                return error::refuse(libc::ELOOP);
            }
            let (top, above) = match at {
                Node::ROOT => (self.rules.root(), None),
                _ => (Arc::default(), self.name_of(&reader, at)?),
            };
            let Some((parent, name)) = above else {
                self.rules.remember(at, &top, generation);
                break top;
            };
            below.push((at, name));
            at = parent;
        };
        for (dir, name) in below.into_iter().rev() {
            rules = self.rules.child(&rules, &name);
            self.rules.remember(dir, &rules, generation);
        }
        Ok(rules)
    }

    /// One of an inode's names: the directory and the name in it.
    fn name_of(&self, records: &impl Records, node: Node) -> Result<Option<(Node, Vec<u8>)>> {
        let holder = if node.is_thread_root() { Node::ROOT.realm } else { node.realm };
        let links = records.links(holder, node.realm, node.local)?;
        Ok(links.into_iter().next().map(|(dir, name)| (Node { realm: holder, local: dir }, name)))
    }

    /// A path of an inode from the root of the mount, for messages; None without a name.
    pub fn path_of(&self, node: Node) -> Result<Option<Vec<u8>>> {
        let records = self.store.reader();
        let mut parts = Vec::new();
        let mut at = node;
        while at != Node::ROOT {
            let Some((parent, name)) = self.name_of(&records, at)? else { return Ok(None) };
            parts.push(name);
            at = parent;
            if parts.len() > names::MAX_DEPTH {
                return Ok(None);
            }
        }
        parts.reverse();
        Ok(Some(parts.join(&b'/')))
    }

    /// The role of a regular file, from its name if the kernel did not look it up by one.
    fn role_of(&self, node: Node) -> Result<Role> {
        let generation = self.rules.generation();
        if let Some(role) = self.inodes.role(node, generation) {
            return Ok(role);
        }
        let role = match self.name_of(&self.store.reader(), node)? {
            Some((dir, name)) => self.rules.role(&*self.rules_of(dir)?, &name),
            None => Role::Ordinary,
        };
        self.inodes.set_role(node, role, generation);
        Ok(role)
    }
}

impl std::fmt::Debug for Fs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fs").field("store", &self.store).finish_non_exhaustive()
    }
}
