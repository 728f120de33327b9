//! What the filesystem core can be told: the daemon fills this from its configuration.

use std::time::Duration;

/// What happens to a document that is not valid JSON when its writer closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnInvalid {
    /// `close(2)` gives EBADMSG, the committed content stays, the draft is kept aside.
    Reject,
    /// It is committed like any other content.
    Accept,
}

/// When a change is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// With the next sync, [`FsOptions::sync_interval`] later at most; fsync(2) does not wait for it.
    Async,
    /// Before the call that made it returns.
    Sync,
}

/// Which reads are noted in a file's access time, mount(8).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Atime {
    /// Those of a file that changed since the last one that was noted, or when that is a day old.
    #[default]
    Relative,
    /// All that the kernel does not answer by itself.
    Strict,
    /// None.
    Never,
}

/// Settings of the filesystem core.
#[derive(Debug, Clone)]
pub struct FsOptions {
    /// Globs of the directories that are threads, relative to the root of the mount.
    pub thread_patterns: Vec<String>,
    /// Globs of the files that are documents.
    pub document_patterns: Vec<String>,
    /// Globs of the files that are lock files.
    pub lock_patterns: Vec<String>,
    /// What happens to an invalid document.
    pub on_invalid: OnInvalid,
    /// Whether NaN, Infinity and -Infinity count as JSON numbers.
    pub allow_nan: bool,
    /// Size limit of one document in bytes: over it, write(2) gives EFBIG.
    pub max_document_bytes: u64,
    /// How many committed versions of a document are kept.
    pub versions_per_document: u64,
    /// How many bytes the kept versions of one document may take together.
    pub version_bytes_per_document: u64,
    /// How long a version is kept.
    pub version_age: Duration,
    /// How many rejected drafts are kept.
    pub rejected_count: u64,
    /// How many bytes the rejected drafts may take together.
    pub rejected_bytes: u64,
    /// How long a rejected draft is kept.
    pub rejected_age: Duration,
    /// Whether threads get a snapshot with the commits of their documents.
    pub automatic_snapshots: bool,
    /// The shortest time between two automatic snapshots of a thread.
    pub snapshot_cooldown: Duration,
    /// How many of the newest automatic snapshots of a thread are kept.
    pub snapshot_versions: u64,
    /// For how many days one automatic snapshot a day is kept.
    pub snapshot_days: u64,
    /// After how many changes a thread gets a snapshot; 0 for never.
    pub snapshot_changes: u64,
    /// How long the snapshots of a deleted thread are kept.
    pub keep_deleted: Duration,
    /// Which reads are noted in access times.
    pub atime: Atime,
    /// Whether listing a directory counts as reading it.
    pub directory_atime: bool,
    /// When a change is on disk.
    pub durability: Durability,
    /// The longest that a change waits for the disk under [`Durability::Async`].
    pub sync_interval: Duration,
    /// How long the kernel may answer from its caches what only this mount can change.
    pub ttl: Duration,
    /// Memory for the committed content of documents, in bytes.
    pub document_cache_bytes: u64,
    /// Largest size of an ordinary file in bytes.
    pub max_file_bytes: u64,
}

impl Default for FsOptions {
    fn default() -> Self {
        let both = |tail: &str| vec![format!("threads/{tail}"), format!("users/*/threads/{tail}")];
        FsOptions {
            thread_patterns: both("*"),
            document_patterns: both("*/*.json"),
            lock_patterns: both("*/*.lock"),
            on_invalid: OnInvalid::Reject,
            allow_nan: false,
            max_document_bytes: 16 << 20,
            versions_per_document: 1000,
            version_bytes_per_document: 8 << 20,
            version_age: Duration::from_secs(7 * 24 * 3600),
            rejected_count: 1000,
            rejected_bytes: 64 << 20,
            rejected_age: Duration::from_secs(7 * 24 * 3600),
            automatic_snapshots: true,
            snapshot_cooldown: Duration::from_secs(1),
            snapshot_versions: 20,
            snapshot_days: 7,
            snapshot_changes: 0,
            keep_deleted: Duration::from_secs(24 * 3600),
            atime: Atime::Relative,
            directory_atime: true,
            durability: Durability::Async,
            sync_interval: Duration::from_secs(1),
            ttl: Duration::from_secs(3600),
            document_cache_bytes: 32 << 20,
            max_file_bytes: 1 << 44,
        }
    }
}
