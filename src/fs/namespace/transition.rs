//! A rename can make a document of an ordinary file, and the other way round.

use std::sync::Arc;

use crate::fs::document::validate;
use crate::fs::error::{Result, refuse};
use crate::fs::rules::Role;
use crate::fs::{Fs, Node, OnInvalid};
use crate::store::record::{Inode, Timestamp, VersionRecord};
use crate::store::{Content, Records, Txn, key};

/// What a rename makes of a regular file.
pub(super) struct Transition {
    node: Node,
    from: Role,
    to: Role,
    /// Of a file that becomes a document: the inode whose content was found valid.
    checked: Option<Inode>,
    /// What the content becomes, where the present one is a mixture of several writers.
    instead: Option<Arc<Vec<u8>>>,
    leaves: bool,
}

impl Transition {
    /// Of what is no regular file.
    pub(super) fn none(node: Node) -> Transition {
        Transition { node, from: Role::Ordinary, to: Role::Ordinary, checked: None, instead: None, leaves: false }
    }

    /// Whether the content is still the one that was checked.
    pub(super) fn still_holds(&self, txn: &Txn<'_>) -> bool {
        let Some(checked) = &self.checked else { return true };
        match txn.inode(self.node.realm, self.node.local) {
            Ok(Some(inode)) => {
                // The ctime, as utimensat(2) can set the mtime back.
                let state = |inode: &Inode| (inode.generation, inode.size, inode.ctime, inode.nlink);
                state(&inode) == state(checked)
            }
            _ => false,
        }
    }
}

impl Fs {
    pub(super) fn prepare_transition(&self, node: Node, from: Role, to: Role) -> Result<Transition> {
        let mut transition = Transition { node, from, to, checked: None, instead: None, leaves: false };
        if from == Role::Document && to != Role::Document {
            transition.leaves = true;
        }
        if from == Role::Document || to != Role::Document {
            return Ok(transition);
        }
        let view = self.store.view();
        let Some(inode) = view.inode(node.realm, node.local)? else { return refuse(libc::ENOENT) };
        if inode.nlink > 1 {
            // The other names would be a way round the checks.
            return refuse(libc::EPERM);
        }
        if inode.size > self.options.max_document_bytes {
            return refuse(libc::EFBIG);
        }
        if self.options.on_invalid == OnInvalid::Reject || !inode.layers.is_empty() {
            let mut content = vec![0; inode.size as usize];
            view.read_content(&Content::of(node.realm, node.local, &inode), 0, &mut content)?;
            let verdict = match self.options.on_invalid {
                OnInvalid::Reject => validate(&content, self.options.allow_nan),
                OnInvalid::Accept => Ok(()),
            };
            if verdict.is_err() {
                transition.instead = self.finished_solo(node);
            } else if !inode.layers.is_empty() {
                // A version is kept by itself, whatever becomes of what it lay upon.
                transition.instead = Some(Arc::new(content));
            }
            if let (Err(why), None) = (verdict, &transition.instead) {
                self.metrics.commits_rejected.add(1);
                let path = self.path_of(node)?.unwrap_or_default();
                log::warn!(
                    "rename of /{} onto a document refused: {why}; both files are as they were",
                    String::from_utf8_lossy(&path)
                );
                return refuse(libc::EBADMSG);
            }
        }
        transition.checked = Some(inode);
        Ok(transition)
    }

    pub(super) fn apply_transition(&self, txn: &mut Txn<'_>, transition: &Transition) -> Result<()> {
        let node = transition.node;
        if transition.leaves {
            // From now on it may be written in place, so its content is no version any more.
            let inode = txn.named_inode(node.realm, node.local)?;
            txn.delete_plain(key::version(node.realm, inode.file_of(node.local), inode.version));
        }
        if transition.checked.is_some() {
            let mut inode = txn.named_inode(node.realm, node.local)?;
            // If it was a document before, in a directory that was renamed since, the same content
            // is recorded already.
            txn.delete_plain(key::version(node.realm, inode.file_of(node.local), inode.version));
            if let Some(content) = &transition.instead {
                txn.new_generation(node.realm, node.local, &mut inode)?;
                txn.write_content(node.realm, node.local, &mut inode, 0, content)?;
            }
            inode.version += 1;
            let record = VersionRecord {
                generation: inode.generation,
                size: inode.size,
                time: Timestamp::now(),
                epoch: inode.generation_born,
                pid: 0,
            };
            txn.put_plain(key::version(node.realm, inode.file_of(node.local), inode.version), record.encode());
            txn.put_inode(node.realm, node.local, &inode)?;
        }
        Ok(())
    }

    /// Makes known what the file is. Before the commit, while its realm is locked: who waits for
    /// the lock to write into an open file looks at it again. `generation` is from before the role
    /// was derived from a path.
    pub(super) fn take_role(&self, transition: &Transition, generation: u64) {
        self.set_role(transition.node, transition.to, generation);
    }

    /// The rename failed.
    pub(super) fn give_role_back(&self, transition: &Transition, generation: u64) {
        self.set_role(transition.node, transition.from, generation);
    }

    fn set_role(&self, node: Node, role: Role, generation: u64) {
        // In this order: an open that is under way enters its handle, and then asks for the role.
        self.inodes.set_role(node, role, generation);
        if let Some(open) = self.handles.inode(node) {
            *open.role.write() = role;
        }
    }

    pub(super) fn finish_transition(&self, transition: &Transition) {
        let node = transition.node;
        let is_document = transition.to == Role::Document;
        if let Some(open) = self.handles.inode(node) {
            *open.committed.lock() = None;
            if is_document != (transition.from == Role::Document) {
                // What was read before is no base for a draft after.
                for handle in self.handles.of(node) {
                    handle.progress.lock().pin = None;
                }
            }
            if is_document {
                self.tell(|kernel| kernel.attributes(node));
            }
        }
        self.documents.forget(node);
        if transition.checked.is_some() {
            self.metrics.commits.add(1);
        }
    }
}
