//! chmod, chown, truncate, utimensat, and extended attributes.

use threadfs::fs::{SetAttr, SetTime};
use threadfs::store::record::{Kind, Timestamp};

use super::content::drop_suidgid;
use super::op::{Set, XATTRS};
use super::tree::{Id, Moment, Role, is_document};
use super::world::{Draft, World, caller};
use crate::support::{DOCUMENT_MAX, ROOT_USER};

/// Largest value of an extended attribute.
const XATTR_MAX: usize = 65_536;

fn time(secs: i64) -> Timestamp {
    Timestamp { secs, nanos: 5 }
}

impl World {
    pub fn setattr(&mut self, id: Id, set: &Set, user: bool) {
        self.say(|w| format!("setattr {} {set:?}", w.show(id)));
        let mut set = set.clone();
        let inode = self.tree.get(id);
        if inode.open.is_none() && !self.tree.is_named(id) {
            // truncate(2) needs a name.
            set.size = None;
        }
        let pending = inode.pending.is_some();
        let document = inode.kind == Kind::File && (pending || self.role(id) == Role::Document);
        let data = inode.data.clone();
        let cut = set.size.map(|size| {
            let mut cut = data.clone();
            cut.resize(size.min(1 << 20) as usize, 0);
            cut
        });
        let mut wrong = Vec::new();
        if let (Some(size), Some(cut)) = (set.size, &cut) {
            match inode.kind {
                Kind::File if document => {
                    if let Err(errno) = self.committed(id) {
                        wrong.push(errno);
                    } else if cut.len() as u64 > DOCUMENT_MAX {
                        wrong.push(libc::EFBIG);
                    } else if *cut != data && !is_document(cut) {
                        wrong.push(libc::EBADMSG);
                    }
                }
                Kind::File if size > 1 << 44 => wrong.push(libc::EFBIG),
                Kind::File => {}
                Kind::Directory => wrong.push(libc::EISDIR),
                _ => wrong.push(libc::EINVAL),
            }
        }
        let real = self.fs().setattr(
            caller(user),
            self.node(id),
            SetAttr {
                mode: set.mode,
                uid: set.uid,
                gid: set.gid,
                size: set.size,
                atime: set.atime.map(|secs| SetTime::To(time(secs))),
                mtime: set.mtime.map(|secs| SetTime::To(time(secs))),
            },
            None,
        );
        let Some((attr, _)) = self.outcome(&wrong, real) else { return };
        if let Some(atime) = set.atime.filter(|_| !pending) {
            assert_eq!(attr.atime, time(atime));
        }
        if let Some(cut) = cut {
            if document {
                if cut != data {
                    let written = Moment::since(self.began);
                    let draft = Draft { bytes: cut, written, mtime: None, drops_setid: user, drops_capability: true };
                    self.commit(id, draft);
                }
                // The kernel sends the times along with a size, and a commit has its own.
                set.mtime = None;
            } else {
                self.tree.get_mut(id).data = cut;
                self.content_changed(id, user);
            }
        }
        if let Some(mtime) = set.mtime {
            self.set_draft_times(id, time(mtime));
        }
        if set.mode.is_some() {
            self.set_in_drafts(id, |draft| draft.drops_setid = false);
        }
        self.set_status(user, id, &set, document);
    }

    fn set_status(&mut self, user: bool, id: Id, set: &Set, document: bool) {
        let only_size =
            set.mode.is_none() && set.uid.is_none() && set.gid.is_none() && set.mtime.is_none() && set.atime.is_none();
        if only_size && (set.size.is_none() || document) && self.tree.get(id).pending.is_none() {
            return;
        }
        self.status_changed(id);
        let inode = self.tree.get_mut(id);
        if set.uid.is_some() || set.gid.is_some() {
            if inode.kind == Kind::File {
                drop_suidgid(inode, user);
            }
            inode.uid = set.uid.unwrap_or(inode.uid);
            inode.gid = set.gid.unwrap_or(inode.gid);
            inode.xattrs.remove(&b"security.capability"[..]);
        }
        inode.perm = set.mode.map_or(inode.perm, |mode| mode & 0o7777);
        if let Some(mtime) = set.mtime {
            inode.mtime = Moment::at(time(mtime));
        }
    }

    pub fn setxattr(&mut self, id: Id, name: usize, length: usize, flags: i32) {
        self.say(|w| format!("setxattr {} {name} {length} {flags}", w.show(id)));
        let name = XATTRS[name % XATTRS.len()];
        let value = vec![b'v'; length];
        let old = self.tree.get(id).xattrs.get(name);
        let mut wrong = Vec::new();
        if length > XATTR_MAX {
            wrong.push(libc::E2BIG);
        }
        if old.is_some() && flags & libc::XATTR_CREATE != 0 {
            wrong.push(libc::EEXIST);
        }
        if old.is_none() && flags & libc::XATTR_REPLACE != 0 {
            wrong.push(libc::ENODATA);
        }
        let real = self.fs().setxattr(ROOT_USER, self.node(id), name, &value, flags);
        if self.outcome(&wrong, real).is_some() {
            self.tree.get_mut(id).xattrs.insert(name.to_vec(), value);
            if name == b"security.capability" {
                self.set_in_drafts(id, |draft| draft.drops_capability = false);
            }
            self.status_changed(id);
        }
    }

    pub fn removexattr(&mut self, id: Id, name: usize) {
        self.say(|w| format!("removexattr {} {name}", w.show(id)));
        let name = XATTRS[name % XATTRS.len()];
        let there = self.tree.get(id).xattrs.contains_key(name);
        let wrong = if there { vec![] } else { vec![libc::ENODATA] };
        let real = self.fs().removexattr(self.node(id), name);
        if self.outcome(&wrong, real).is_some() {
            self.tree.get_mut(id).xattrs.remove(name);
            self.status_changed(id);
        }
    }
}
