//! The content of `.threadfs/status.json`.

use serde::{Deserialize, Serialize};

/// What a daemon tells about itself and its filesystem.
///
/// A later version may add fields: a reader ignores what it does not know, and takes the
/// default for a count that is not there.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Status {
    /// The version of threadfs.
    pub version: String,
    /// The daemon, as numbered where it runs.
    pub pid: u32,
    /// The store: a directory, or `memory:`.
    pub store: String,
    /// The engine: `rocksdb` or `memory`.
    pub engine: String,
    /// Where it is mounted.
    pub mountpoint: String,
    /// Seconds since the mount became ready.
    #[serde(default)]
    pub uptime_s: u64,
    /// Threads, in the sense of the configuration's thread patterns.
    #[serde(default)]
    pub threads: u64,
    /// Deleted threads that are kept.
    #[serde(default)]
    pub deleted: u64,
    /// Files, directories and all else that has an inode.
    #[serde(default)]
    pub inodes: u64,
    /// Bytes in files.
    #[serde(default)]
    pub bytes: u64,
    /// Snapshots that exist.
    #[serde(default)]
    pub snapshots: u64,
    /// Bytes that the store keeps beside the present content, before compression. About.
    #[serde(default)]
    pub history_bytes: u64,
    /// Documents that somebody is writing.
    #[serde(default)]
    pub drafts: u64,
    /// Locks that are held.
    #[serde(default)]
    pub locks: u64,
    /// Drafts that were rejected and are kept.
    #[serde(default)]
    pub rejected: u64,
    /// Documents committed since the mount.
    #[serde(default)]
    pub commits: u64,
    /// Documents rejected since the mount.
    #[serde(default)]
    pub commits_rejected: u64,
    /// Bytes that the store takes.
    #[serde(default)]
    pub store_bytes: u64,
    /// The configuration file that was read.
    #[serde(default)]
    pub config_file: Option<String>,
}

impl Status {
    /// The text of the file: one object, indented, with a line break at its end.
    pub fn to_json(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }
}
