//! OPEN, CREATE, FLUSH, RELEASE.

use super::SetId;
use crate::fs::attr::Caller;
use crate::fs::error::{Result, refuse};
use crate::fs::handle::Handle;
use crate::fs::namespace::{Entry, New};
use crate::fs::rules::Role;
use crate::fs::{Fs, Node};
use crate::store::record::Kind;

/// How the kernel has to treat an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opened {
    /// The number that further requests name it by.
    pub fh: u64,
    /// Whether every read and write comes here, past the page cache.
    pub direct_io: bool,
    /// Whether a close has to be announced with FLUSH, because it may commit or fail.
    pub flush: bool,
}

impl Opened {
    /// Of a document: nothing of it may get into the page cache, which all open files share.
    pub(in crate::fs) fn document(fh: u64, flags: i32) -> Opened {
        let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_TRUNC != 0;
        Opened { fh, direct_io: true, flush: writes }
    }

    fn of(fh: u64, role: Role, flags: i32) -> Opened {
        match role {
            Role::Document => Opened::document(fh, flags),
            Role::Lock => Opened { fh, direct_io: true, flush: false },
            // A rename may make it a document while it is open, and closing it then commits.
            Role::Beside => Opened { fh, direct_io: false, flush: flags & libc::O_ACCMODE != libc::O_RDONLY },
            Role::Ordinary => Opened { fh, direct_io: false, flush: false },
        }
    }
}

impl Fs {
    /// Opens a regular file. With O_TRUNC its content is dropped; of a document, only in the
    /// draft of this open file.
    ///
    /// # Errors
    /// ESTALE when it is gone; ETXTBSY with O_TRUNC for a program that runs; ENOSPC.
    pub fn open(&self, caller: Caller, node: Node, flags: i32) -> Result<Opened> {
        if node.is_virtual() {
            return self.open_virtual(node, flags);
        }
        loop {
            let role = self.present_role(node)?;
            let truncates = flags & libc::O_TRUNC != 0;
            // The kernel looks for a running program only after an open with O_TRUNC was answered.
            if truncates && self.handles.is_running(node) {
                return refuse(libc::ETXTBSY);
            }
            if truncates && role != Role::Document && !self.truncate_on_open(caller, node, role)? {
                continue;
            }
            let (fh, handle) = self.handles.open(node, role, flags, None);
            match self.settle_role(&handle, role) {
                Ok(settled) if settled == role => {}
                other => {
                    self.handles.close(fh);
                    other?;
                    continue;
                }
            }
            handle.opener.store(caller.pid, std::sync::atomic::Ordering::SeqCst);
            let opened = Opened::of(fh, role, flags);
            if truncates {
                self.begin_solo(&handle);
            }
            if role == Role::Document && opened.flush {
                self.begin_draft_if_truncating(caller, &handle);
                // What the kernel has cached may be kept for long; from now on it must ask.
                self.tell(|kernel| kernel.attributes(node));
            }
            return Ok(opened);
        }
    }

    /// What an open file is, now that a rename sees that it is open. One that came before may have
    /// changed that since `role` was looked up.
    fn settle_role(&self, handle: &Handle, role: Role) -> Result<Role> {
        if handle.inode.handles.load(std::sync::atomic::Ordering::SeqCst) > 1 {
            return Ok(handle.inode.role());
        }
        let present = self.role_of(handle.node())?;
        if present != role {
            *handle.inode.role.write() = present;
        }
        Ok(present)
    }

    /// Drops the content; false when it turns out to be a document by now.
    fn truncate_on_open(&self, caller: Caller, node: Node, role: Role) -> Result<bool> {
        let inode = self.load(&self.store.reader(), node)?;
        // Lock files are opened with O_TRUNC before the lock is taken, again and again: an empty
        // one stays untouched.
        if role == Role::Lock && inode.size == 0 {
            return Ok(true);
        }
        self.resize(node, 0, SetId::GoesUnless(caller))
    }

    /// Makes a regular file and opens it; opens the one that is there, without O_EXCL.
    ///
    /// # Errors
    /// EEXIST with O_EXCL; else as [`Fs::mknod`] and [`Fs::open`].
    pub fn create(&self, caller: Caller, dir: Node, name: &[u8], mode: u32, flags: i32) -> Result<(Entry, Opened)> {
        let role = self.new_role(dir, name)?;
        loop {
            if self.dirent(&self.store.reader(), dir, name)?.is_some() {
                return self.open_existing(caller, dir, name, flags);
            }
            let made = if role == Role::Document {
                self.create_pending(caller, dir, name, mode, flags)
            } else {
                self.make(caller, dir, name, &New::file(mode)).map(|entry| {
                    let node = Node::from_ino(entry.attr.ino);
                    let (fh, handle) = self.handles.open(node, role, flags & !libc::O_TRUNC, None);
                    handle.opener.store(caller.pid, std::sync::atomic::Ordering::SeqCst);
                    self.begin_solo(&handle);
                    (entry, Opened::of(fh, role, flags))
                })
            };
            match made {
                // Somebody was quicker, or a pending document was committed just now.
                Err(error) if error.errno() == libc::EEXIST && flags & libc::O_EXCL == 0 => continue,
                Err(error) if error.errno() == libc::ESTALE => continue,
                made => return made,
            }
        }
    }

    fn open_existing(&self, caller: Caller, dir: Node, name: &[u8], flags: i32) -> Result<(Entry, Opened)> {
        if flags & libc::O_EXCL != 0 {
            return refuse(libc::EEXIST);
        }
        let mut entry = self.lookup(dir, name)?;
        let node = Node::from_ino(entry.attr.ino);
        let opened = match entry.attr.kind {
            Kind::File => self.open(caller, node, flags),
            Kind::Directory => refuse(libc::EISDIR),
            Kind::Symlink => refuse(libc::ELOOP),
            _ => refuse(libc::EEXIST),
        };
        let opened = opened.and_then(|opened| match self.getattr(node) {
            Ok(attr) => {
                (entry.attr, entry.attr_ttl) = attr;
                Ok(opened)
            }
            Err(error) => {
                self.release(opened.fh);
                Err(error)
            }
        });
        if opened.is_err() {
            // The kernel does not hear of this lookup, so it will not forget it.
            self.forget(node, 1);
        }
        Ok((entry, opened?))
    }

    /// An open file.
    ///
    /// # Errors
    /// EBADF for a number that is none.
    pub(in crate::fs) fn handle(&self, fh: u64) -> Result<std::sync::Arc<Handle>> {
        self.handles.get(fh).ok_or(crate::fs::Error::Errno(libc::EBADF))
    }

    /// A descriptor of an open file was closed: a document's draft is committed.
    ///
    /// # Errors
    /// EBADMSG when the draft is not valid; what close(2) returns.
    pub fn flush(&self, fh: u64, pid: u32) -> Result<()> {
        let handle = self.handle(fh)?;
        if handle.inode.role() == Role::Beside {
            self.finish_solo(&handle);
        }
        match self.commit_handle(&handle, pid, false) {
            // Half a document, and whoever writes it is not done: see document/descriptor.rs.
            Err(error) if error.errno() == libc::EBADMSG && self.is_still_held(&handle, pid) => {
                *handle.writer.lock() = None;
                Ok(())
            }
            done => done,
        }
    }

    /// How many bytes a FLUSH or FSYNC of this file would have to check.
    pub fn draft_bytes(&self, fh: u64) -> usize {
        let Some(handle) = self.handles.get(fh) else { return 0 };
        let progress = handle.progress.lock();
        progress.draft.as_ref().map_or(0, |draft| draft.bytes.len())
    }

    /// The last descriptor of an open file is gone.
    pub fn release(&self, fh: u64) {
        let Some(handle) = self.handles.get(fh) else { return };
        // Before it is closed: who opens the document meanwhile shares what is known of it.
        if !handle.is_virtual && self.is_drafted(&handle) {
            self.release_document(&handle);
        }
        self.close_pending(&handle, || self.handles.close(fh).is_some_and(|(_, last)| last));
    }
}
