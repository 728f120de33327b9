//! Whether a closed descriptor was the last one of its open file.
//!
//! FLUSH comes for every close(2) of every descriptor: of a dup(2), of a child that inherited
//! it. Only the last one ends the writing; the ones before must not fail because the draft is
//! half done. The kernel does not tell which it is, but /proc does (proc_pid_fdinfo(5)): the
//! closed descriptor is gone from its table by then.

use std::sync::atomic::Ordering;

use crate::fs::Fs;
use crate::fs::handle::Handle;

impl Fs {
    /// Whether the process that closed a descriptor, or the one that opened the file, still has
    /// another descriptor of this open file. False when that cannot be seen.
    pub(in crate::fs) fn is_still_held(&self, handle: &Handle, closer: u32) -> bool {
        let opener = process_of(handle.opener.load(Ordering::SeqCst));
        let closer = process_of(closer);
        let opened_by = |pid: u32| {
            let handles = self.handles.of(handle.node());
            handles.iter().filter(|h| h.is_writable() && process_of(h.opener.load(Ordering::SeqCst)) == pid).count()
        };
        // Each open file that a process opened has at least one descriptor, unless it was
        // closed; so as many descriptors as open files means that this one is among them.
        let held_by = |pid: u32, others: usize| pid != 0 && descriptors(pid, handle.node().ino()) > others;
        if closer == opener {
            held_by(closer, opened_by(closer).saturating_sub(1))
        } else {
            held_by(opener, opened_by(opener).saturating_sub(1)) || held_by(closer, opened_by(closer))
        }
    }
}

/// The process of a thread: requests carry the number of the thread.
fn process_of(thread: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let field = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    field.and_then(|number| number.trim().parse().ok()).unwrap_or(thread)
}

/// How many writable descriptors of an inode a process has. Reading them asks the mount nothing.
fn descriptors(pid: u32, ino: u64) -> usize {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fdinfo")) else { return 0 };
    entries
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path()).ok())
        .filter(|info| {
            let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            let flags = field("flags:").and_then(|flags| i32::from_str_radix(flags, 8).ok()).unwrap_or(0);
            field("ino:").and_then(|number| number.parse::<u64>().ok()) == Some(ino)
                && flags & libc::O_ACCMODE != libc::O_RDONLY
        })
        .count()
}
