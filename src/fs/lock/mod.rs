//! Who holds which lock.
//!
//! The kernel keeps the locks itself: fast, interruptible, gone with their holder. What is held
//! is read from `/proc/locks` (proc(5)), which tells process numbers as the daemon's own pid
//! namespace sees them: 0 for a process that it cannot see.

mod proc_locks;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde::Serialize;

use self::proc_locks::ProcLock;
use super::Fs;
use super::node::Node;
use super::process::command_of;
use super::virtualdir::rfc3339;
use crate::store::record::Timestamp;

/// The locks as last seen.
#[derive(Debug, Default)]
pub(super) struct Locks {
    /// The mount's device number, major and minor; 0 before it is known.
    device: AtomicU64,
    /// Since when each has been seen.
    since: Mutex<HashMap<ProcLock, Timestamp>>,
}

/// One lock for users.
#[derive(Debug, Serialize)]
struct LockInfo {
    path: String,
    kind: &'static str,
    mode: &'static str,
    state: &'static str,
    pid: u32,
    command: String,
    host: String,
    since: String,
    start: u64,
    end: Option<u64>,
}

impl Fs {
    /// The mount's device, by which `/proc/locks` names it.
    pub fn set_device(&self, major: u32, minor: u32) {
        self.locks.device.store(u64::from(major) << 32 | u64::from(minor), Ordering::SeqCst);
    }

    /// Looks at the locks, and remembers since when each is there.
    fn scan_locks(&self) -> Vec<(ProcLock, Timestamp)> {
        let device = self.locks.device.load(Ordering::SeqCst);
        if device == 0 {
            return Vec::new();
        }
        let text = match std::fs::read_to_string("/proc/locks") {
            Ok(text) => text,
            Err(error) => {
                log::warn!("/proc/locks cannot be read, so no lock shows: {error}");
                return Vec::new();
            }
        };
        let device = ((device >> 32) as u32, device as u32);
        let now = Timestamp::now();
        let mut known = self.locks.since.lock();
        let seen: Vec<(ProcLock, Timestamp)> = proc_locks::parse(&text, device)
            .map(|lock| {
                let since = known.get(&lock).copied().unwrap_or(now);
                (lock, since)
            })
            .collect();
        *known = seen.iter().cloned().collect();
        seen
    }

    /// How many locks are held; each is known from then on.
    pub(super) fn held_locks(&self) -> u64 {
        self.scan_locks().iter().filter(|(lock, _)| !lock.waiting).count() as u64
    }

    fn lock_info(&self, lock: &ProcLock, since: Timestamp) -> LockInfo {
        let path = self.path_of(Node::from_ino(lock.ino)).ok().flatten();
        LockInfo {
            path: path
                .map_or_else(|| format!("inode {}", lock.ino), |path| String::from_utf8_lossy(&path).into_owned()),
            kind: lock.kind,
            mode: lock.mode,
            state: if lock.waiting { "waiting" } else { "held" },
            pid: lock.pid,
            command: command_of(lock.pid, usize::MAX).trim_end().to_string(),
            host: host(),
            since: rfc3339(since),
            start: lock.start,
            end: lock.end,
        }
    }

    fn lock_text(&self, wanted: impl Fn(&ProcLock) -> bool) -> Vec<u8> {
        let locks: Vec<LockInfo> = self
            .scan_locks()
            .iter()
            .filter(|(lock, _)| wanted(lock))
            .map(|(lock, since)| self.lock_info(lock, *since))
            .collect();
        let mut text = serde_json::to_vec_pretty(&locks).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// The content of `locks.json`.
    pub(super) fn describe_locks(&self) -> Vec<u8> {
        self.lock_text(|_| true)
    }

    /// What an empty lock file shows of itself.
    pub(super) fn describe_lock(&self, node: Node) -> Vec<u8> {
        self.lock_text(|lock| lock.ino == node.ino())
    }
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim_end().to_string()
}
