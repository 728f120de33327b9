//! FLUSH, FSYNC and RELEASE of a document: its draft becomes the content, or it does not.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::rejected::Writer;
use super::{Committed, Draft, validate};
use crate::fs::attr::Caller;
use crate::fs::error::{Error, Result, refuse};
use crate::fs::file::{CAPABILITY, SetId};
use crate::fs::handle::{Handle, OpenInode};
use crate::fs::namespace::RECORD_BYTES;
use crate::fs::rules::Role;
use crate::fs::{Durability, Fs, Node, OnInvalid};
use crate::store::key;
use crate::store::record::{Dirent, Inode, Kind, Target, Timestamp};

impl Fs {
    /// Commits the draft of an open file, if it has one.
    ///
    /// # Errors
    /// EBADMSG when it is not valid; ESTALE when something else took the name of a new document;
    /// ENOENT when its directory is gone. The draft stays with the open file then.
    pub(in crate::fs) fn commit_handle(&self, handle: &Handle, pid: u32, durable: bool) -> Result<()> {
        let mut progress = handle.progress.lock();
        let done = match &progress.draft {
            Some(draft) => self.commit_draft(&handle.inode, draft, pid, durable),
            // It would be an empty file: `touch new.json`.
            None if handle.is_creating() => self.commit_draft(&handle.inode, &Draft::from(b""), pid, durable),
            None => return Ok(()),
        };
        match &done {
            Ok(()) => {
                progress.draft = None;
                progress.pin = None;
                *handle.writer.lock() = None;
            }
            Err(error) => *handle.writer.lock() = Some(Writer::look(pid, error.errno())),
        }
        done
    }

    /// Checks a draft and makes it the content of its document.
    pub(in crate::fs) fn commit_draft(&self, open: &OpenInode, draft: &Draft, pid: u32, durable: bool) -> Result<()> {
        if self.options.on_invalid == OnInvalid::Reject && validate(&draft.bytes, self.options.allow_nan).is_err() {
            return refuse(libc::EBADMSG);
        }
        // Held over the commit: so the contents reach the readers in the order of the commits.
        let mut committed = open.committed.lock();
        let node = open.node;
        let now = Timestamp::now();
        let realm = node.realm;
        let mut txn = self.store.begin(&[realm])?;
        // Held until there is a record: so no change of its attributes gets lost in between. Behind the
        // realm's lock, which nobody waits for with this one.
        let mut held = open.pending.lock();
        let pending = held.clone();
        let burst_kept = self.keep_burst(&mut txn, realm)?;
        let mtime = draft.mtime.unwrap_or(draft.written);
        let stamp = |inode: &mut Inode| {
            inode.mtime = mtime;
            inode.ctime = now;
            inode.version += 1;
            draft.setid.apply(inode);
        };
        let (inode, kept) = if let Some(pending) = &pending {
            let mut parent = self.dir_inode(&txn, pending.dir)?;
            if self.dirent(&txn, pending.dir, &pending.name)?.is_some() {
                return refuse(libc::ESTALE);
            }
            let mut inode = pending.inode.clone();
            inode.generation_born = txn.epoch(realm)?;
            txn.add_usage(realm, 1, 0)?;
            txn.write_content(realm, node.local, &mut inode, 0, &draft.bytes)?;
            stamp(&mut inode);
            inode.xattrs = 0;
            for (name, value) in
                pending.xattrs.iter().filter(|(name, _)| !draft.drops_capability || *name != CAPABILITY)
            {
                txn.put_record(key::xattr(realm, node.local, name), value)?;
                inode.xattrs += 1;
            }
            txn.put_inode(realm, node.local, &inode)?;
            let dirent = Dirent { target: Target::Inode(node.local), kind: Kind::File };
            self.add_name(&mut txn, pending.dir, &mut parent, &pending.name, &dirent, now)?;
            let kept = self.add_version(&mut txn, node, None, &inode, pid)?;
            (inode, kept)
        } else {
            let (mut inode, mut attributes) = self.load_in(&txn, node)?;
            let replaced = inode.clone();
            txn.begin_generation(realm, &mut inode)?;
            txn.write_content(realm, node.local, &mut inode, 0, &draft.bytes)?;
            stamp(&mut inode);
            if draft.drops_capability {
                self.drop_capability(&mut txn, node, &mut inode, &mut attributes)?;
            }
            let kept = self.add_version(&mut txn, node, Some(&replaced), &inode, pid)?;
            self.save_in(&mut txn, node, &inode, attributes)?;
            (inode, kept)
        };
        let reason = self.takes_snapshots(realm).then(|| {
            let name =
                pending.as_ref().map_or_else(|| self.name_for_reason(&txn, node), |pending| pending.name.clone());
            format!("commit of {} by process {pid}", String::from_utf8_lossy(&name))
        });
        let kept_too = match &reason {
            Some(reason) if !burst_kept => self.keep_commit(&mut txn, realm, reason, pid)?,
            _ => false,
        };
        txn.grow(RECORD_BYTES + draft.bytes.len() as u64);
        txn.set_durable(durable || self.options.durability == Durability::Sync);
        txn.commit()?;
        if burst_kept || kept_too {
            self.snapshot_was_taken(realm, reason.filter(|_| burst_kept));
        }
        self.note_change();
        self.version_was_added(node, kept);
        let content = Arc::new(Committed { generation: inode.generation, bytes: draft.bytes.clone() });
        self.documents.keep(node, &content);
        *committed = Some(content);
        // While `committed` is held: another creator who waits for it finds that the document is there.
        *held = None;
        drop(held);
        drop(committed);
        self.metrics.commits.add(1);
        if let Some(pending) = pending {
            self.documents.forget_pending(&pending, open);
            self.tell(|kernel| kernel.attributes(pending.dir));
        }
        Ok(())
    }

    /// The last descriptor of an open file is gone. A draft that is left is committed if it is
    /// valid (nobody asked yet), and else kept aside.
    pub(in crate::fs) fn release_document(&self, handle: &Handle) {
        let refused_before = handle.writer.lock().is_some();
        if handle.is_creating() {
            handle.progress.lock().draft.get_or_insert_with(|| Draft::from(b""));
        }
        let mut outcome = Ok(());
        if handle.progress.lock().draft.is_some() {
            outcome = match refused_before {
                true => Err(Error::Errno(handle.writer.lock().as_ref().map_or(libc::EBADMSG, |w| w.errno))),
                false => self.commit_handle(handle, 0, false),
            };
        }
        if let Err(error) = outcome {
            self.reject(handle, &error);
        }
    }

    /// An open file with O_TRUNC starts with an empty draft.
    pub(in crate::fs) fn begin_draft_if_truncating(&self, caller: Caller, handle: &Handle) {
        if handle.flags & libc::O_TRUNC != 0 {
            let mut draft = Draft::from(b"");
            draft.drop_privileges(SetId::GoesUnless(caller));
            handle.progress.lock().draft = Some(draft);
        }
    }

    /// Times that are set while drafts are open hold against the writes before.
    /// So do the bits and the capabilities that a file gives to whoever runs it.
    pub(in crate::fs) fn set_in_drafts(&self, node: Node, set: impl Fn(&mut Draft)) {
        let Some(open) = self.handles.inode(node) else { return };
        if open.role() != Role::Document || open.writers.load(Ordering::SeqCst) == 0 {
            return;
        }
        for handle in self.handles.of(node) {
            if let Some(draft) = &mut handle.progress.lock().draft {
                set(draft);
            }
        }
    }
}
