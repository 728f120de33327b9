//! Documents, as section 3 of the design has them: drafts, commits, refusals.

use threadfs::store::record::Timestamp;

use super::content::drop_suidgid;
use super::tree::{Id, Moment, Role, is_document};
use super::world::{Draft, World};
use crate::support::DOCUMENT_MAX;

impl World {
    /// What everybody sees of a document.
    pub fn committed(&self, id: Id) -> Result<Vec<u8>, i32> {
        let data = &self.tree.get(id).data;
        // Content from before it was a document may be too large for one.
        if data.len() as u64 > DOCUMENT_MAX { Err(libc::EFBIG) } else { Ok(data.clone()) }
    }

    /// A change of an open file's draft: what is wrong with it, or what the draft becomes. The
    /// first one begins with what this open file last read, else with the newest commit.
    pub fn drafted(&self, at: usize, change: impl FnOnce(&[u8]) -> Vec<u8>) -> (Vec<i32>, Option<Vec<u8>>) {
        let handle = &self.handles[at];
        let base = match (&handle.draft, &handle.pin) {
            (Some(draft), _) => Ok(draft.bytes.clone()),
            (None, Some(pin)) => Ok(pin.clone()),
            (None, None) => self.committed(handle.id),
        };
        match base.map(|base| change(&base)) {
            Err(errno) => (vec![errno], None),
            Ok(bytes) if bytes.len() as u64 > DOCUMENT_MAX => (vec![libc::EFBIG], None),
            Ok(bytes) => (vec![], Some(bytes)),
        }
    }

    /// A draft that was changed just now.
    pub fn draft_of(&self, at: usize, bytes: Vec<u8>, user: bool) -> Draft {
        let drops_setid = user || self.handles[at].draft.as_ref().is_some_and(|draft| draft.drops_setid);
        Draft { bytes, written: Moment::since(self.began), mtime: None, drops_setid, drops_capability: true }
    }

    /// What keeps a draft from being committed.
    fn wrong_commit(&self, id: Id, draft: &[u8]) -> Vec<i32> {
        let mut wrong = Vec::new();
        if !is_document(draft) {
            wrong.push(libc::EBADMSG);
        }
        if let Some((dir, name)) = &self.tree.get(id).pending {
            if !self.tree.is_named(*dir) {
                wrong.push(libc::ENOENT);
            } else if self.tree.child(*dir, name).is_some() {
                wrong.push(libc::ESTALE);
            }
        }
        wrong
    }

    /// The draft is the content now.
    pub fn commit(&mut self, id: Id, draft: Draft) {
        self.touched.insert(id);
        self.status_changed(id);
        let inode = self.tree.get_mut(id);
        inode.mtime = draft.mtime.map_or(draft.written, Moment::at);
        inode.data = draft.bytes;
        if draft.drops_setid {
            drop_suidgid(inode, true);
        }
        if draft.drops_capability {
            inode.xattrs.remove(&b"security.capability"[..]);
        }
        if let Some((dir, name)) = inode.pending.take() {
            self.insert_name(dir, &name, id);
        }
    }

    /// close(2) of one of several descriptors, or fsync(2).
    pub fn flush(&mut self, at: usize, sync: bool) {
        self.say(|w| format!("flush {} sync {sync}", w.show_handle(at)));
        let handle = self.handles[at].clone();
        let beside = self.role(handle.id) == Role::Beside;
        if let Some(open) =
            self.tree.get_mut(handle.id).open.as_mut().filter(|open| beside && !sync && open.writers > 1)
        {
            open.finished = handle.alone.clone().or(open.finished.take());
        }
        let real = if sync { self.fs().fsync(handle.fh, 1) } else { self.fs().flush(handle.fh, 1) };
        let Some(draft) = handle.draft else {
            // Nothing was written: of a file that is not there yet that may be said.
            let wrong = match (&real, &self.tree.get(handle.id).pending) {
                (Err(_), Some(_)) => vec![libc::EBADMSG],
                _ => vec![],
            };
            self.outcome(&wrong, real);
            return;
        };
        let mut wrong = self.wrong_commit(handle.id, &draft.bytes);
        if self.role(handle.id) != Role::Document && real.is_ok() {
            // It was a document when the draft began. Now nobody needs it to be valid.
            wrong.clear();
        }
        if self.outcome(&wrong, real).is_none() {
            self.handles[at].refused = true;
            return;
        }
        self.commit(handle.id, draft);
        let handle = &mut self.handles[at];
        (handle.draft, handle.pin, handle.refused) = (None, None, false);
    }

    /// The last descriptor of an open file is closed. A draft that nobody asked about is committed
    /// if it can be; any other is kept aside.
    pub fn release(&mut self, at: usize) {
        self.say(|w| format!("release {}", w.show_handle(at)));
        let invalid = |draft: &Draft| !is_document(&draft.bytes);
        if self.role(self.handles[at].id) != Role::Document && self.handles[at].draft.as_ref().is_some_and(invalid) {
            self.flush(at, false);
        }
        let handle = self.handles.remove(at);
        let writes = handle.writes();
        self.fs().release(handle.fh);
        if let Some(draft) = handle.draft {
            if handle.refused || !self.wrong_commit(handle.id, &draft.bytes).is_empty() {
                self.rejected.push(draft.bytes);
            } else {
                self.commit(handle.id, draft);
            }
        }
        let inode = self.tree.get_mut(handle.id);
        let open = inode.open.as_mut().unwrap();
        open.count -= 1;
        open.writers -= usize::from(writes);
        if open.count > 0 {
            return;
        }
        inode.open = None;
        if inode.pending.is_some() {
            let (node, lookups) = (inode.node, inode.lookups);
            self.tree.inodes.remove(&handle.id);
            self.fs().forget(node, lookups);
            self.freed.push(node);
        }
    }

    /// utimensat(2): times that are set while drafts are open hold against the writes before.
    pub fn set_draft_times(&mut self, id: Id, mtime: Timestamp) {
        self.set_in_drafts(id, |draft| draft.mtime = Some(mtime));
    }

    /// The same holds for what gives privileges.
    pub fn set_in_drafts(&mut self, id: Id, set: impl Fn(&mut Draft)) {
        let is_document = self.tree.get(id).open.as_ref().is_some_and(|open| open.role == Role::Document);
        if is_document {
            for handle in self.handles.iter_mut().filter(|handle| handle.id == id) {
                if let Some(draft) = &mut handle.draft {
                    set(draft);
                }
            }
        }
    }
}
