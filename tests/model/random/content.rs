//! Reading and changing the content of open files.

use threadfs::fs::{SetAttr, Whence};

use super::op::{Data, TEXTS};
use super::tree::{Id, Inode, Role};
use super::world::{World, short};
use crate::support::{DOCUMENT_MAX, ROOT_USER, USER};

/// Largest ordinary file.
const FILE_MAX: u64 = 1 << 44;

impl Data {
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Data::Fill(byte, length) => vec![*byte; *length],
            Data::Text(text) => TEXTS[*text].as_bytes().to_vec(),
        }
    }
}

/// What write(2) makes of a content.
pub fn written(old: &[u8], offset: u64, data: &[u8]) -> Vec<u8> {
    let mut new = old.to_vec();
    let end = offset as usize + data.len();
    new.resize(new.len().max(end), 0);
    new[offset as usize..end].copy_from_slice(data);
    new
}

impl World {
    /// After a change of the content: times, and privileges of an executable.
    pub fn content_changed(&mut self, id: Id, kill_suidgid: bool) {
        self.changed(id);
        self.touched.insert(id);
        let inode = self.tree.get_mut(id);
        inode.xattrs.remove(&b"security.capability"[..]);
        if kill_suidgid {
            drop_suidgid(inode, true);
        }
    }

    pub fn write(&mut self, at: usize, offset: u64, data: &[u8], kill: bool) {
        self.say(|w| format!("write {} at {offset}: {}", w.show_handle(at), short(data)));
        let handle = self.handles[at].clone();
        let flags = if handle.appends() { libc::O_APPEND } else { 0 };
        if self.is_document(at) {
            let write = |old: &[u8]| written(old, if handle.appends() { old.len() as u64 } else { offset }, data);
            let (wrong, draft) = self.drafted(at, write);
            let real = self.fs().write(handle.fh, offset, data, flags, kill.then_some(USER));
            if self.outcome(&wrong, real).is_some() {
                self.handles[at].draft = draft.map(|bytes| self.draft_of(at, bytes, kill));
            }
            self.handles[at].refused = false;
            return;
        }
        let real = self.fs().write(handle.fh, offset, data, flags, kill.then_some(USER));
        if let Some(size) = self.outcome(&[], real) {
            assert_eq!(size as usize, data.len());
            let old = &self.tree.get(handle.id).data;
            let offset = if handle.appends() { old.len() as u64 } else { offset };
            let new = written(old, offset, data);
            self.tree.get_mut(handle.id).data = new;
            self.content_changed(handle.id, kill);
            let write = |old: &[u8]| written(old, if handle.appends() { old.len() as u64 } else { offset }, data);
            self.change_alone(at, write);
        }
    }

    /// Notes what an open file does alone, up to the size of a document.
    fn change_alone(&mut self, at: usize, change: impl FnOnce(&[u8]) -> Vec<u8>) {
        let alone = self.handles[at].alone.take();
        self.handles[at].alone = alone.map(|old| change(&old)).filter(|new| new.len() as u64 <= DOCUMENT_MAX);
    }

    /// ftruncate(2).
    pub fn truncate(&mut self, at: usize, size: u64) {
        self.say(|w| format!("ftruncate {} {size}", w.show_handle(at)));
        let handle = self.handles[at].clone();
        let set = SetAttr { size: Some(size), ..SetAttr::default() };
        if self.is_document(at) {
            let resize = |old: &[u8]| {
                let mut new = old.to_vec();
                // Far too much is told from its length; that far it need not be made.
                new.resize(size.min(100_000) as usize, 0);
                new
            };
            let (wrong, draft) = self.drafted(at, resize);
            let real = self.fs().setattr(ROOT_USER, self.node(handle.id), set, Some(handle.fh));
            if self.outcome(&wrong, real).is_some() {
                self.handles[at].draft = draft.map(|bytes| self.draft_of(at, bytes, false));
                if self.tree.get(handle.id).pending.is_some() {
                    self.status_changed(handle.id);
                }
            }
            self.handles[at].refused = false;
            return;
        }
        let wrong = if size > FILE_MAX { vec![libc::EFBIG] } else { vec![] };
        let real = self.fs().setattr(ROOT_USER, self.node(handle.id), set, Some(handle.fh));
        self.change_alone(at, |old| {
            let mut new = old.to_vec();
            new.resize(size.min(1 << 20) as usize, 0);
            new
        });
        if self.outcome(&wrong, real).is_some() {
            self.tree.get_mut(handle.id).data.resize(size as usize, 0);
            self.content_changed(handle.id, false);
        }
    }

    pub fn read(&mut self, at: usize, offset: u64, size: u32) {
        self.say(|w| format!("read {} at {offset}: {size}", w.show_handle(at)));
        let handle = self.handles[at].clone();
        let real = self.fs().read(handle.fh, offset, size, <[u8]>::to_vec);
        let wanted = if let Some(draft) = &handle.draft {
            draft.bytes.clone()
        } else if self.role(handle.id) == Role::Document {
            if offset == 0 || handle.pin.is_none() {
                match self.committed(handle.id) {
                    Ok(bytes) => self.handles[at].pin = Some(bytes),
                    Err(errno) => {
                        self.outcome(&[errno], real);
                        return;
                    }
                }
            }
            self.handles[at].pin.clone().unwrap()
        } else {
            self.tree.get(handle.id).data.clone()
        };
        let Some(found) = self.outcome(&[], real) else { return };
        if self.role(handle.id) == Role::Lock && wanted.is_empty() {
            // An empty lock file shows who holds it: nobody.
            if offset == 0 {
                assert_eq!(found, b"[]\n"[..3.min(size as usize)].to_vec());
            }
            return;
        }
        let start = wanted.len().min(offset as usize);
        let end = wanted.len().min(start + size as usize);
        assert!(found == wanted[start..end], "{} bytes at {offset} are not what was written", end - start);
    }

    pub fn fallocate(&mut self, at: usize, mode: i32, offset: u64, length: u64) {
        self.say(|w| format!("fallocate {} mode {mode} at {offset}: {length}", w.show_handle(at)));
        const KEEP: i32 = libc::FALLOC_FL_KEEP_SIZE;
        let handle = self.handles[at].clone();
        let known =
            [0, KEEP, libc::FALLOC_FL_PUNCH_HOLE | KEEP, libc::FALLOC_FL_ZERO_RANGE, libc::FALLOC_FL_ZERO_RANGE | KEEP];
        let refused = self.is_document(at) || !known.contains(&mode);
        let wrong = if refused { vec![libc::EOPNOTSUPP] } else { vec![] };
        let real = self.fs().fallocate(USER, handle.fh, offset, length, mode);
        if self.outcome(&wrong, real).is_none() {
            return;
        }
        let data = &mut self.tree.get_mut(handle.id).data;
        let end = (offset + length) as usize;
        if mode & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) != 0 {
            let (from, to) = (data.len().min(offset as usize), data.len().min(end));
            data[from..to].fill(0);
        }
        if mode & KEEP == 0 && end > data.len() {
            data.resize(end, 0);
        }
        self.content_changed(handle.id, true);
    }

    /// Holes need not be found, but what is called a hole has to read as zeros.
    pub fn seek(&mut self, at: usize, offset: u64, hole: bool) {
        self.say(|w| format!("seek {} at {offset} hole {hole}", w.show_handle(at)));
        let handle = self.handles[at].clone();
        let whence = if hole { Whence::Hole } else { Whence::Data };
        let real = self.fs().seek(handle.fh, offset, whence);
        let data = match (&handle.draft, self.role(handle.id)) {
            (Some(draft), _) => draft.bytes.clone(),
            (None, Role::Document) => match self.committed(handle.id) {
                Ok(bytes) => bytes,
                Err(errno) => {
                    self.outcome(&[errno], real);
                    return;
                }
            },
            _ => self.tree.get(handle.id).data.clone(),
        };
        let start = offset as usize;
        if start >= data.len() {
            self.outcome(&[libc::ENXIO], real);
            return;
        }
        match (real, hole) {
            (Ok(found), true) => {
                let found = found as usize;
                assert!((start..=data.len()).contains(&found), "a hole at {found}, from {start} of {}", data.len());
                assert!(found == data.len() || data[found] == 0, "a hole at {found} that is none");
            }
            (Ok(found), false) => {
                let found = found as usize;
                assert!((start..data.len()).contains(&found), "data at {found}, from {start} of {}", data.len());
                assert!(data[start..found].iter().all(|byte| *byte == 0), "data before {found} is passed over");
            }
            (Err(error), false) if error.errno() == libc::ENXIO => {
                assert!(data[start..].iter().all(|byte| *byte == 0), "data behind {start} is not found");
            }
            (Err(error), _) => panic!("seek fails: {error}"),
        }
    }

    pub fn copy(&mut self, from: (usize, u64), to: (usize, u64), length: u64) {
        self.say(|w| {
            format!("copy {} at {} to {} at {}: {length}", w.show_handle(from.0), from.1, w.show_handle(to.0), to.1)
        });
        let (source, target) = (self.handles[from.0].clone(), self.handles[to.0].clone());
        if !source.reads() || !target.writes() || target.appends() {
            return;
        }
        let special = |at: usize, id: Id| self.is_document(at) || self.role(id) == Role::Lock;
        let mut wrong = Vec::new();
        if special(from.0, source.id)
            || special(to.0, target.id)
            || self.tree.get(source.id).thread != self.tree.get(target.id).thread
        {
            wrong.push(libc::EXDEV);
        }
        let data = &self.tree.get(source.id).data;
        let start = data.len().min(from.1 as usize);
        let end = data.len().min(start + length as usize);
        let copied = data[start..end].to_vec();
        let length = copied.len() as u64;
        if source.id == target.id && length > 0 && from.1 < to.1 + length && to.1 < from.1 + length {
            wrong.push(libc::EINVAL);
        }
        let real = self.fs().copy_file_range(USER, (source.fh, from.1), (target.fh, to.1), length.max(1));
        if let Some(size) = self.outcome(&wrong, real) {
            assert_eq!(u64::from(size), length);
            if length > 0 {
                let new = written(&self.tree.get(target.id).data, to.1, &copied);
                self.tree.get_mut(target.id).data = new;
                self.content_changed(target.id, true);
            }
        }
    }
}

/// What write(2) and chown(2) by root or the other user say of the bits that give privileges. Without the group's
/// execute bit, set-group-ID stays for root, and in the user's own group.
pub fn drop_suidgid(inode: &mut Inode, user: bool) {
    inode.perm &= !0o4000;
    if inode.perm & 0o010 != 0 || user && inode.gid != USER.gid {
        inode.perm &= !0o2000;
    }
}
