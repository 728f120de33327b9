//! The table of all keys. Reading, `threadfs config`, error messages and a test of
//! docs/configuration.md work from it, so a new key is one entry here and one row there.

use std::time::Duration;

use log::LevelFilter;

use super::kind::Kind;
use crate::fs::{Durability, OnInvalid};

/// One key of the configuration.
#[derive(Debug)]
pub struct Key {
    /// Section and name: `documents.max_bytes`.
    pub name: &'static str,
    /// What it does, in one or two sentences.
    pub doc: &'static str,
    /// How it is written, what is allowed, and which setting it changes.
    pub kind: Kind,
}

impl Key {
    /// The part before the dot.
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    /// The part after the dot.
    pub fn short_name(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, name)| name)
    }

    /// The environment variable that sets it: `THREADFS_DOCUMENTS_MAX_BYTES`.
    pub fn variable(&self) -> String {
        format!("THREADFS_{}", self.name.replace('.', "_").to_uppercase())
    }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const TIB: u64 = 1 << 40;
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(86_400);
const CENTURY: Duration = Duration::from_secs(36_500 * 86_400);

/// The key of this name.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// The names of all sections, each once, in the order of the table.
pub fn sections() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = KEYS.iter().map(Key::section).collect();
    names.dedup();
    names
}

/// All keys; those of one section stand together.
pub static KEYS: &[Key] = &[
    Key {
        name: "threads.patterns",
        doc: "Directories that are threads: the unit of history. Relative to the mount; * matches \
              within one name.",
        kind: Kind::Patterns(|s| &mut s.fs.thread_patterns),
    },
    Key {
        name: "documents.patterns",
        doc: "Files that are documents: readers see only whole, valid, committed content.",
        kind: Kind::Patterns(|s| &mut s.fs.document_patterns),
    },
    Key {
        name: "documents.on_invalid",
        doc: "What happens to a document that is not valid JSON when its writer closes it: reject \
              fails the close with EBADMSG and keeps the old content, accept commits it as it is.",
        kind: Kind::Choice {
            allowed: &["reject", "accept"],
            get: |s| match s.fs.on_invalid {
                OnInvalid::Reject => "reject",
                OnInvalid::Accept => "accept",
            },
            set: |s, name| {
                s.fs.on_invalid = if name == "accept" { OnInvalid::Accept } else { OnInvalid::Reject };
            },
        },
    },
    Key {
        name: "documents.allow_nan",
        doc: "Whether NaN, Infinity and -Infinity count as valid numbers, as Python's json module \
              writes them.",
        kind: Kind::Flag(|s| &mut s.fs.allow_nan),
    },
    Key {
        name: "documents.max_bytes",
        doc: "Largest size of one document; a write beyond it fails with EFBIG.",
        kind: Kind::Size { min: KIB, max: 1024 * MIB, field: |s| &mut s.fs.max_document_bytes },
    },
    Key {
        name: "documents.versions",
        doc: "How many committed versions of a document are kept.",
        kind: Kind::Count { min: 1, max: 1_000_000, field: |s| &mut s.fs.versions_per_document },
    },
    Key {
        name: "documents.versions_bytes",
        doc: "How much the kept versions of one document may take together.",
        kind: Kind::Size { min: 0, max: TIB, field: |s| &mut s.fs.version_bytes_per_document },
    },
    Key {
        name: "documents.versions_age",
        doc: "How long a version of a document is kept.",
        kind: Kind::Duration { min: SECOND, max: CENTURY, field: |s| &mut s.fs.version_age },
    },
    Key {
        name: "documents.cache_bytes",
        doc: "Memory for the committed content of documents.",
        kind: Kind::Size { min: 0, max: TIB, field: |s| &mut s.fs.document_cache_bytes },
    },
    Key {
        name: "locks.patterns",
        doc: "Files that are lock files: an empty one shows who holds it when it is read.",
        kind: Kind::Patterns(|s| &mut s.fs.lock_patterns),
    },
    Key {
        name: "rejected.max_count",
        doc: "How many rejected drafts are kept under .threadfs/rejected.",
        kind: Kind::Count { min: 0, max: 1_000_000, field: |s| &mut s.fs.rejected_count },
    },
    Key {
        name: "rejected.max_bytes",
        doc: "How much the rejected drafts may take together.",
        kind: Kind::Size { min: 0, max: TIB, field: |s| &mut s.fs.rejected_bytes },
    },
    Key {
        name: "rejected.max_age",
        doc: "How long a rejected draft is kept.",
        kind: Kind::Duration { min: SECOND, max: CENTURY, field: |s| &mut s.fs.rejected_age },
    },
    Key {
        name: "snapshots.auto",
        doc: "When the daemon takes snapshots of a thread by itself: with the commits of its documents, before \
              removals and when a writer ends in the middle of a document; or never.",
        kind: Kind::Choice {
            allowed: &["on-commit", "off"],
            get: |s| if s.fs.automatic_snapshots { "on-commit" } else { "off" },
            set: |s, name| s.fs.automatic_snapshots = name == "on-commit",
        },
    },
    Key {
        name: "snapshots.cooldown",
        doc: "The shortest time between two automatic snapshots of a thread; the last state of a burst is \
              always kept.",
        kind: Kind::Duration { min: Duration::ZERO, max: DAY, field: |s| &mut s.fs.snapshot_cooldown },
    },
    Key {
        name: "snapshots.max_versions",
        doc: "How many of the newest automatic snapshots of a thread are kept. Of older ones the newest of \
              each minute is kept for an hour, and of each hour for a day.",
        kind: Kind::Count { min: 1, max: 1_000_000, field: |s| &mut s.fs.snapshot_versions },
    },
    Key {
        name: "snapshots.retain_days",
        doc: "For how many days the newest automatic snapshot of each day is kept.",
        kind: Kind::Count { min: 0, max: 36_500, field: |s| &mut s.fs.snapshot_days },
    },
    Key {
        name: "snapshots.every_changes",
        doc: "After how many changes in a thread the daemon takes a snapshot of it, whatever was changed; 0 \
              for never. snapshots.cooldown holds.",
        kind: Kind::Count { min: 0, max: 1_000_000_000, field: |s| &mut s.fs.snapshot_changes },
    },
    Key {
        name: "snapshots.keep_deleted",
        doc: "How long a thread that was deleted can be brought back: its snapshots are kept until then, or \
              until the store is short of room. With 0 they go at once.",
        kind: Kind::Duration { min: Duration::ZERO, max: CENTURY, field: |s| &mut s.fs.keep_deleted },
    },
    Key {
        name: "durability.mode",
        doc: "When a change is on disk: async within durability.sync_interval (a crash of the \
              daemon loses nothing, fsync is always a real sync), sync before the call returns.",
        kind: Kind::Choice {
            allowed: &["async", "sync"],
            get: |s| match s.fs.durability {
                Durability::Async => "async",
                Durability::Sync => "sync",
            },
            set: |s, name| {
                s.fs.durability = if name == "sync" { Durability::Sync } else { Durability::Async };
            },
        },
    },
    Key {
        name: "durability.sync_interval",
        doc: "The longest that a change waits for the disk under durability.mode = \"async\".",
        kind: Kind::Duration {
            min: Duration::from_millis(10),
            max: Duration::from_secs(3600),
            field: |s| &mut s.fs.sync_interval,
        },
    },
    Key {
        name: "cache.memory",
        doc: "Memory for the caches and write buffers of the engine.",
        kind: Kind::Size { min: 8 * MIB, max: TIB, field: |s| &mut s.memory_bytes },
    },
    Key {
        name: "cache.ttl",
        doc: "How long the kernel may answer from its own caches what only this mount can change.",
        kind: Kind::Duration { min: Duration::ZERO, max: DAY.saturating_mul(365), field: |s| &mut s.fs.ttl },
    },
    Key {
        name: "limits.max_file_bytes",
        doc: "Largest size of an ordinary file; a write beyond it fails with EFBIG.",
        kind: Kind::Size { min: MIB, max: 256 * TIB, field: |s| &mut s.fs.max_file_bytes },
    },
    Key {
        name: "daemon.threads",
        doc: "Threads that answer the kernel; 0 takes the number of processors, 2 at least and 8 \
              at most.",
        kind: Kind::Count { min: 0, max: 64, field: |s| &mut s.threads },
    },
    Key {
        name: "daemon.log_level",
        doc: "What is logged: the given level and all that is more severe.",
        kind: Kind::Choice {
            allowed: &["error", "warn", "info", "debug", "trace"],
            get: |s| match s.log_level {
                LevelFilter::Off | LevelFilter::Error => "error",
                LevelFilter::Warn => "warn",
                LevelFilter::Info => "info",
                LevelFilter::Debug => "debug",
                LevelFilter::Trace => "trace",
            },
            set: |s, name| s.log_level = name.parse().unwrap_or(LevelFilter::Info),
        },
    },
    Key {
        name: "mount.allow_other",
        doc: "Whether users other than the one who mounts may use the mount; the permissions of \
              the files decide what they may do.",
        kind: Kind::Flag(|s| &mut s.allow_other),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_stand_together() {
        let mut sorted = sections();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), sections().len());
    }

    #[test]
    fn names_are_well_formed_and_unique() {
        for (i, key) in KEYS.iter().enumerate() {
            assert!(!key.section().is_empty() && !key.short_name().is_empty(), "{}", key.name);
            assert!(key.doc.ends_with('.'), "{}", key.name);
            assert!(KEYS.iter().skip(i + 1).all(|other| other.variable() != key.variable()));
        }
        assert_eq!(find("cache.ttl").map(Key::variable).as_deref(), Some("THREADFS_CACHE_TTL"));
        assert!(find("cache").is_none());
    }
}
