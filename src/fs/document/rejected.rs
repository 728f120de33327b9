//! Drafts that were refused, kept for their writers.
//!
//! Not every program looks at what close(2) returns, so a refused draft is not thrown away: it
//! is under `.threadfs/rejected` with its path, time, process and reason, within limits.

use std::ops::ControlFlow;

use super::validate;
use crate::engine::{Batch, Keyspace};
use crate::fs::Fs;
use crate::fs::error::{Error, Result, refuse};
use crate::fs::handle::Handle;
use crate::fs::process::command_of;
use crate::store::key;
use crate::store::record::{Rejected, Timestamp};

/// PF_SIGNALED of the kernel's include/linux/sched.h.
const PF_SIGNALED: u64 = 0x400;

/// Places of `flags` and `exit_code` in /proc/pid/stat, counted behind the command.
const FLAGS: usize = 6;
const EXIT_CODE: usize = 49;

/// The bits of an exit code, as wait(2) gives it, that name a signal.
const SIGNAL: u64 = 0x7f;

/// Longest command that is kept, in bytes.
const COMMAND_MAX: usize = 256;

/// Whose close was refused, and with what.
#[derive(Debug, Clone)]
pub(in crate::fs) struct Writer {
    pub(in crate::fs) pid: u32,
    pub(in crate::fs) command: String,
    /// Whether the process was ending, and the kernel closed what it had open.
    pub(in crate::fs) ended: bool,
    /// Whether a signal ended it.
    pub(in crate::fs) killed: bool,
    pub(in crate::fs) errno: i32,
}

impl Writer {
    /// Looks at a process that waits for the answer to its close, and so still exists.
    pub(in crate::fs) fn look(pid: u32, errno: i32) -> Writer {
        let command = command_of(pid, COMMAND_MAX);
        let (ended, killed) = is_ending(pid);
        Writer { pid, command, ended, killed, errno }
    }
}

/// Whether a process that closes a file does so because it ends, and whether a signal ends it.
///
/// Most of /proc/pid waits while the process executes another program, which may be just when
/// it closes the file and waits for this answer. Its status does not, and tells by the absence
/// of memory that it is ending; then nothing else waits either.
fn is_ending(pid: u32) -> (bool, bool) {
    let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let status = String::from_utf8_lossy(&read("status")).into_owned();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if status.is_empty() || field("VmSize:").is_some() {
        return (false, false);
    }
    let stat = String::from_utf8_lossy(&read("stat")).into_owned();
    // The command in parentheses may contain anything.
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let number = |at: usize| behind.split_ascii_whitespace().nth(at).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    // The code shows to whom the process's memory would. Of a process with threads that ends by
    // itself all threads but one are signaled too, but nothing is pending for the whole of it.
    let pending = field("ShdPnd:").and_then(|bits| u64::from_str_radix(bits, 16).ok()).unwrap_or(0);
    (true, number(EXIT_CODE) & SIGNAL != 0 || (number(FLAGS) & PF_SIGNALED != 0 && pending != 0))
}

impl Fs {
    /// Keeps the draft of an open file that could not be committed, and logs it.
    pub(in crate::fs) fn reject(&self, handle: &Handle, error: &Error) {
        let Some(draft) = handle.progress.lock().draft.take() else { return };
        let writer = handle.writer.lock().clone();
        let path = self.document_path(handle);
        let mut reason = match error.errno() {
            libc::EBADMSG => match validate(&draft.bytes, self.options.allow_nan) {
                Err(invalid) => invalid.to_string(),
                Ok(()) => String::from("it was refused when its writer closed it"),
            },
            libc::ESTALE => String::from("something else took its name before its first commit"),
            libc::ENOENT => String::from("its directory was removed before its first commit"),
            _ => format!("it could not be committed: {error}"),
        };
        if writer.as_ref().is_some_and(|writer| writer.killed) {
            reason.push_str("; its writer was killed");
        }
        let interrupted = writer.as_ref().filter(|writer| writer.ended).map(|writer| {
            let pending = handle.inode.pending.lock().as_ref().map(|pending| pending.name.clone());
            let name = pending.unwrap_or_else(|| self.name_for_reason(&self.store.reader(), handle.node()));
            let (pid, command, name) = (writer.pid, &writer.command, String::from_utf8_lossy(&name));
            format!("process {pid} ({command}) ended in the middle of writing {name}")
        });
        let (pid, command) = writer.map_or((0, String::new()), |writer| (writer.pid, writer.command));
        let owner = self.document_owner(handle);
        let size = draft.bytes.len() as u64;
        let record = Rejected { path, reason, time: Timestamp::now(), pid, command, owner, size, count: 1 };
        self.metrics.commits_rejected.add(1);
        log::warn!(
            "document /{} not committed, its old content stays: {} (process {} {}, {} bytes); \
             the draft is under .threadfs/rejected",
            String::from_utf8_lossy(&record.path),
            record.reason,
            record.pid,
            record.command,
            record.size
        );
        if let Err(error) = self.keep_rejected(record, draft.bytes) {
            log::error!("the draft could not be kept: {error}");
        }
        if let Some(reason) = interrupted {
            self.keep_interrupted(handle.node().realm, &reason, pid);
        }
    }

    fn document_path(&self, handle: &Handle) -> Vec<u8> {
        let pending = handle.inode.pending.lock().clone();
        let found = match pending {
            Some(pending) => self
                .path_of(pending.dir)
                .map(|dir| dir.map(|dir| [&dir[..], &pending.name].join(&b'/')).or(Some(pending.name))),
            None => self.path_of(handle.node()),
        };
        found.ok().flatten().unwrap_or_else(|| format!("inode {}", handle.node().ino()).into_bytes())
    }

    fn document_owner(&self, handle: &Handle) -> (u32, u32, u16) {
        let pending = handle.inode.pending.lock().clone();
        let inode = match pending {
            Some(pending) => Some(pending.inode),
            None => self.load(&self.store.reader(), handle.node()).ok(),
        };
        inode.map_or((0, 0, 0o600), |inode| (inode.uid, inode.gid, inode.perm & 0o666))
    }

    fn keep_rejected(&self, mut record: Rejected, content: Vec<u8>) -> Result<()> {
        self.store.take_room(content.len() as u64)?;
        let mut all = self.documents.rejected.lock();
        let mut batch = Batch::new();
        let same = all.iter().rev().find(|(_, old)| old.path == record.path && old.size == record.size);
        let repeated = match same {
            Some((id, old)) if self.rejected_content(*id)? == content => Some((*id, old.count)),
            _ => None,
        };
        let id = match repeated {
            Some((id, count)) => {
                record.count = count + 1;
                id
            }
            None => {
                let id = self.documents.new_rejected_id();
                batch.put(Keyspace::Data, key::rejected_content(id), content);
                id
            }
        };
        batch.put(Keyspace::Meta, key::rejected(id), record.encode());
        let before = all.insert(id, record);
        let gone = over_limits(&all, &self.options);
        for id in &gone {
            batch.delete(Keyspace::Meta, key::rejected(*id));
            batch.delete(Keyspace::Data, key::rejected_content(*id));
        }
        if let Err(error) = self.store.engine().write(batch) {
            match before {
                Some(before) => all.insert(id, before),
                None => all.remove(&id),
            };
            return Err(error.into());
        }
        for id in gone {
            all.remove(&id);
        }
        Ok(())
    }

    /// The content of a kept draft.
    pub(in crate::fs) fn rejected_content(&self, id: u64) -> Result<Vec<u8>> {
        match self.store.engine().get(Keyspace::Data, &key::rejected_content(id))? {
            Some(content) => Ok(content),
            None => refuse(libc::ENOENT),
        }
    }

    /// Deletes a kept draft.
    pub(in crate::fs) fn delete_rejected(&self, id: u64) -> Result<()> {
        let mut all = self.documents.rejected.lock();
        if !all.contains_key(&id) {
            return refuse(libc::ENOENT);
        }
        let mut batch = Batch::new();
        batch.delete(Keyspace::Meta, key::rejected(id));
        batch.delete(Keyspace::Data, key::rejected_content(id));
        self.store.engine().write(batch)?;
        all.remove(&id);
        Ok(())
    }

    /// Deletes the drafts that are too old.
    pub(in crate::fs) fn expire_rejected(&self) -> Result<()> {
        let expired = over_limits(&self.documents.rejected.lock(), &self.options);
        for id in expired {
            self.delete_rejected(id)?;
        }
        Ok(())
    }

    /// Reads what earlier mounts kept.
    pub(in crate::fs) fn load_rejected(&self) -> Result<()> {
        let prefix = key::all(key::tag::REJECTED);
        let mut all = self.documents.rejected.lock();
        let mut failure = None;
        self.store.engine().scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut |found, value| {
            match (key::parse_rejected(found), Rejected::decode(value)) {
                (Some(id), Ok(record)) => {
                    all.insert(id, record);
                }
                (_, Err(error)) => failure = Some(error),
                (None, _) => {}
            }
            ControlFlow::Continue(())
        })?;
        let next = all.last_key_value().map_or(1, |(id, _)| id + 1);
        self.documents.next_rejected.store(next, std::sync::atomic::Ordering::SeqCst);
        failure.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// The drafts to delete, oldest first.
fn over_limits(all: &std::collections::BTreeMap<u64, Rejected>, options: &crate::fs::FsOptions) -> Vec<u64> {
    let oldest = Timestamp::now().secs - options.rejected_age.as_secs() as i64;
    let mut count = all.len() as u64;
    let mut bytes: u64 = all.values().map(|record| record.size).sum();
    let mut gone = Vec::new();
    for (id, record) in all {
        if count <= options.rejected_count && bytes <= options.rejected_bytes && record.time.secs >= oldest {
            continue;
        }
        gone.push(*id);
        count -= 1;
        bytes -= record.size;
    }
    gone
}
