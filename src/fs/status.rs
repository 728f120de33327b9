//! The filesystem in numbers.

use super::Fs;

/// What `status.json` tells of the core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Threads.
    pub threads: u64,
    /// Deleted threads that are kept.
    pub deleted: u64,
    /// Inodes with a name.
    pub inodes: u64,
    /// Bytes of their content.
    pub bytes: u64,
    /// Snapshots: of threads, of deleted ones that are kept, and of everything.
    pub snapshots: u64,
    /// Bytes of content that the store keeps beside the present one, before compression: of snapshots,
    /// of documents' versions, and what was deleted last. About.
    pub history_bytes: u64,
    /// Drafts under way.
    pub drafts: u64,
    /// Locks held.
    pub locks: u64,
    /// Rejected drafts that are kept.
    pub rejected: u64,
    /// Documents committed since the mount.
    pub commits: u64,
    /// Documents refused since the mount.
    pub commits_rejected: u64,
    /// Bytes that the store takes on its disk.
    pub store_bytes: u64,
    /// The engine's name.
    pub engine: &'static str,
}

impl Fs {
    /// The present numbers.
    pub fn status(&self) -> Status {
        let usage = self.store.usage();
        Status {
            threads: self.store.thread_count(),
            deleted: self.deleted_count(),
            inodes: usage.inodes,
            bytes: usage.bytes,
            snapshots: self.store.snapshot_count(),
            history_bytes: self.store.engine().data_bytes().map_or(0, |all| all.saturating_sub(usage.bytes)),
            drafts: self.handles.draft_count(),
            locks: self.held_locks(),
            rejected: self.documents.rejected_count(),
            commits: self.metrics.commits.get(),
            commits_rejected: self.metrics.commits_rejected.get(),
            store_bytes: self.store.engine().space().map_or(0, |space| space.used),
            engine: self.store.engine().name(),
        }
    }
}
