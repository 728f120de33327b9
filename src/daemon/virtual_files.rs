//! The files under `.threadfs` that the daemon makes: status.json, deleted.json, metrics, config.toml.

use std::sync::{Arc, Weak};
use std::time::Instant;

use super::config::Config;
use super::metrics::{self, Sample};
use super::status::Status;
use crate::fs::{self, Fs};

/// What does not change while the mount lasts.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The store, as shown to users.
    pub store: String,
    /// The mountpoint, as shown to users.
    pub mountpoint: String,
    /// The configuration file.
    pub config_file: Option<String>,
    /// When the filesystem was opened.
    pub since: Instant,
}

/// Registers the files.
pub fn register(fs: &Arc<Fs>, config: &Config, identity: Identity) {
    // The filesystem owns these closures: a strong reference would keep it alive for ever.
    let files = fs.virtual_files();
    let (weak, facts) = (Arc::downgrade(fs), identity.clone());
    files.register("status.json", produce(weak, move |fs| status(&fs.status(), &facts).to_json()));
    files.register("deleted.json", produce(Arc::downgrade(fs), |fs| fs.describe_deleted()));
    let weak = Arc::downgrade(fs);
    files.register("metrics", produce(weak, move |fs| page(fs, &identity).into_bytes()));
    let text = config.to_toml().into_bytes();
    files.register("config.toml", Box::new(move || text.clone()));
}

/// The content while the filesystem is there; empty in the moment of its end.
fn produce(
    fs: Weak<Fs>,
    content: impl Fn(&Arc<Fs>) -> Vec<u8> + Send + Sync + 'static,
) -> Box<dyn Fn() -> Vec<u8> + Send + Sync> {
    Box::new(move || fs.upgrade().map(|fs| content(&fs)).unwrap_or_default())
}

fn status(now: &fs::Status, identity: &Identity) -> Status {
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        store: identity.store.clone(),
        engine: now.engine.to_owned(),
        mountpoint: identity.mountpoint.clone(),
        uptime_s: identity.since.elapsed().as_secs(),
        threads: now.threads,
        deleted: now.deleted,
        inodes: now.inodes,
        bytes: now.bytes,
        snapshots: now.snapshots,
        history_bytes: now.history_bytes,
        drafts: now.drafts,
        locks: now.locks,
        rejected: now.rejected,
        commits: now.commits,
        commits_rejected: now.commits_rejected,
        store_bytes: now.store_bytes,
        config_file: identity.config_file.clone(),
    }
}

fn page(fs: &Arc<Fs>, identity: &Identity) -> String {
    let counters = fs.metrics();
    let mut samples = counters.counters();
    samples.extend(gauges(&fs.status(), identity));
    metrics::render(&counters.operations(), &counters.snapshot_work(), &samples)
}

/// The numbers of the status as metrics. Names that the filesystem's own counters have go
/// before these.
fn gauges(now: &fs::Status, identity: &Identity) -> Vec<Sample> {
    let uptime = identity.since.elapsed().as_secs_f64();
    let float = |count: u64| count as f64;
    vec![
        ("threadfs_uptime_seconds", "Time since the mount.", "gauge", uptime),
        ("threadfs_deleted_threads", "Deleted threads that are kept.", "gauge", float(now.deleted)),
        ("threadfs_threads", "Threads.", "gauge", float(now.threads)),
        ("threadfs_inodes", "Files, directories and all else that has an inode.", "gauge", float(now.inodes)),
        ("threadfs_bytes", "Bytes in files.", "gauge", float(now.bytes)),
        ("threadfs_snapshots", "Snapshots that exist.", "gauge", float(now.snapshots)),
        (
            "threadfs_history_bytes",
            "Bytes kept beside the present content, before compression, about.",
            "gauge",
            float(now.history_bytes),
        ),
        ("threadfs_open_drafts", "Documents that somebody is writing.", "gauge", float(now.drafts)),
        ("threadfs_locks", "Locks that are held.", "gauge", float(now.locks)),
        ("threadfs_rejected_drafts", "Rejected drafts that are kept.", "gauge", float(now.rejected)),
        ("threadfs_commits_total", "Documents committed.", "counter", float(now.commits)),
        ("threadfs_commits_rejected_total", "Documents rejected.", "counter", float(now.commits_rejected)),
        ("threadfs_store_bytes", "Bytes that the store takes.", "gauge", float(now.store_bytes)),
    ]
}
