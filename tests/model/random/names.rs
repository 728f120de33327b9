//! Making, linking and removing names.

use std::collections::BTreeMap;

use threadfs::fs::{Entry, Node, Opened};
use threadfs::store::record::Kind;

use super::tree::{Id, Inode, Moment, Open, Role};
use super::world::{Draft, Handle, World, caller, short};
use crate::support::ROOT_USER;

const SETGID: u32 = 0o2000;

impl World {
    /// What is wrong with making a name.
    pub fn wrong_new(&self, dir: Id, name: &[u8]) -> Vec<i32> {
        let mut wrong = Vec::new();
        if name.len() > 255 {
            wrong.push(libc::ENAMETOOLONG);
        }
        if !self.tree.is_named(dir) {
            wrong.push(libc::ENOENT);
        }
        if self.tree.child(dir, name).is_some() {
            wrong.push(libc::EEXIST);
        }
        wrong
    }

    pub fn insert_name(&mut self, dir: Id, name: &[u8], id: Id) {
        self.tree.get_mut(dir).entries.insert(name.to_vec(), id);
        self.changed(dir);
        self.listed_change(dir, name);
    }

    pub fn remove_name(&mut self, dir: Id, name: &[u8]) -> Id {
        let id = self.tree.get_mut(dir).entries.remove(name).unwrap();
        self.changed(dir);
        self.listed_change(dir, name);
        id
    }

    /// A file lost a name.
    pub fn lost_name(&mut self, id: Id) {
        self.status_changed(id);
    }

    /// A new inode, not yet in the tree: its owner is the caller, and in a directory with the
    /// set-group-ID bit its group is the directory's; a directory takes the bit over.
    fn new_inode(&self, dir: Id, kind: Kind, mode: u32, user: bool, entry: &Entry) -> Inode {
        let parent = self.tree.get(dir);
        let inherits = parent.perm & SETGID != 0;
        let who = caller(user);
        Inode {
            node: Node::from_ino(entry.attr.ino),
            kind,
            perm: (mode & 0o7777) | if inherits && kind == Kind::Directory { SETGID } else { 0 },
            uid: who.uid,
            gid: if inherits { parent.gid } else { who.gid },
            rdev: 0,
            data: Vec::new(),
            target: Vec::new(),
            xattrs: BTreeMap::new(),
            entries: BTreeMap::new(),
            parent: dir,
            thread: parent.thread,
            mtime: Moment::since(self.began),
            ctime: Moment::since(self.began),
            lookups: 1,
            open: None,
            pending: None,
        }
    }

    fn made(&mut self, dir: Id, name: &[u8], inode: Inode) -> Id {
        assert!(self.tree.inodes.values().all(|other| other.node != inode.node), "an inode number is used twice");
        let id = self.tree.add(inode);
        self.insert_name(dir, name, id);
        self.touched.insert(id);
        id
    }

    pub fn mknod(&mut self, dir: Id, name: &[u8], kind: Kind, mode: u32, user: bool) {
        self.say(|w| format!("mknod {}{} {kind:?} {mode:o}", w.show(dir), short(name)));
        let bits = match kind {
            Kind::File => libc::S_IFREG,
            Kind::Fifo => libc::S_IFIFO,
            Kind::Socket => libc::S_IFSOCK,
            Kind::CharDevice => libc::S_IFCHR,
            Kind::BlockDevice => libc::S_IFBLK,
            Kind::Directory | Kind::Symlink => panic!("mknod does not make those"),
        };
        let mut wrong = self.wrong_new(dir, name);
        if kind == Kind::File && self.tree.role(dir, name) == Role::Document {
            wrong.push(libc::EPERM);
        }
        let rdev = if matches!(kind, Kind::CharDevice | Kind::BlockDevice) { 0x103 } else { 0 };
        let real = self.fs().mknod(caller(user), self.node(dir), name, mode & 0o7777 | bits, rdev);
        if let Some(entry) = self.outcome(&wrong, real) {
            let inode = Inode { rdev, ..self.new_inode(dir, kind, mode, user, &entry) };
            self.made(dir, name, inode);
        }
    }

    /// A rename left a whiteout at its old place.
    pub fn whiteout_is_at(&mut self, (dir, name): (Id, &[u8])) {
        let entry = self.fs().lookup(self.node(dir), name).unwrap();
        let inode = self.new_inode(dir, Kind::CharDevice, 0, false, &entry);
        self.made(dir, name, inode);
    }

    pub fn mkdir(&mut self, dir: Id, name: &[u8], mode: u32, user: bool) -> Option<Id> {
        self.say(|w| format!("mkdir {}{} {mode:o}", w.show(dir), short(name)));
        let wrong = self.wrong_new(dir, name);
        let is_thread = self.tree.get(dir).thread.is_none() && self.tree.makes_threads(dir);
        let real = self.fs().mkdir(caller(user), self.node(dir), name, mode);
        let entry = self.outcome(&wrong, real)?;
        let inode = self.new_inode(dir, Kind::Directory, mode, user, &entry);
        let id = self.made(dir, name, inode);
        if is_thread {
            self.tree.get_mut(id).thread = Some(id);
        }
        let other = if is_thread { id } else { dir };
        assert_eq!(
            self.node(id).realm == self.node(dir).realm,
            self.tree.get(other).thread == self.tree.get(dir).thread,
            "a thread is a realm of its own, and nothing else is"
        );
        Some(id)
    }

    pub fn symlink(&mut self, dir: Id, name: &[u8], length: usize) {
        self.say(|w| format!("symlink {}{} {length}", w.show(dir), short(name)));
        let target = vec![b't'; length];
        let mut wrong = self.wrong_new(dir, name);
        if length > 4095 {
            wrong.push(libc::ENAMETOOLONG);
        }
        let real = self.fs().symlink(caller(true), self.node(dir), name, &target);
        if let Some(entry) = self.outcome(&wrong, real) {
            let inode = Inode { target, ..self.new_inode(dir, Kind::Symlink, 0o777, true, &entry) };
            self.made(dir, name, inode);
        }
    }

    pub fn link(&mut self, id: Id, dir: Id, name: &[u8]) {
        self.say(|w| format!("link {} {}{}", w.show(id), w.show(dir), short(name)));
        let inode = self.tree.get(id);
        if inode.pending.is_some() {
            return;
        }
        // Which of its names decides what a file is would be a matter of luck.
        let new_role = self.tree.role(dir, name);
        let documents = new_role == Role::Document || self.role(id) == Role::Document;
        if inode.kind == Kind::File && new_role != self.role(id) && !documents {
            return;
        }
        let mut wrong = self.wrong_new(dir, name);
        if inode.thread != self.tree.get(dir).thread {
            wrong.push(libc::EXDEV);
        }
        if inode.is_dir() {
            wrong.push(libc::EPERM);
        }
        if !self.tree.is_named(id) {
            wrong.push(libc::ENOENT);
        }
        if inode.kind == Kind::File && documents {
            wrong.push(libc::EPERM);
        }
        let real = self.fs().link(self.node(id), self.node(dir), name);
        if let Some(entry) = self.outcome(&wrong, real) {
            assert_eq!(Node::from_ino(entry.attr.ino), self.node(id));
            self.insert_name(dir, name, id);
            self.status_changed(id);
            self.tree.get_mut(id).lookups += 1;
        }
    }

    pub fn unlink(&mut self, dir: Id, name: &[u8]) {
        self.say(|w| format!("unlink {}{}", w.show(dir), short(name)));
        let found = self.tree.child(dir, name);
        let wrong = match found {
            None => vec![libc::ENOENT],
            Some(id) if self.tree.get(id).is_dir() => vec![libc::EISDIR],
            Some(id) => {
                self.know(id);
                vec![]
            }
        };
        let real = self.fs().unlink(ROOT_USER, self.node(dir), name);
        if self.outcome(&wrong, real).is_some() {
            let id = self.remove_name(dir, name);
            self.lost_name(id);
        }
    }

    pub fn rmdir(&mut self, dir: Id, name: &[u8]) {
        self.say(|w| format!("rmdir {}{}", w.show(dir), short(name)));
        let found = self.tree.child(dir, name);
        let wrong = match found.map(|id| self.tree.get(id)) {
            None => vec![libc::ENOENT],
            Some(inode) if !inode.is_dir() => vec![libc::ENOTDIR],
            Some(inode) if !inode.entries.is_empty() => vec![libc::ENOTEMPTY],
            Some(_) => vec![],
        };
        if let Some(id) = found {
            self.know(id);
        }
        let real = self.fs().rmdir(ROOT_USER, self.node(dir), name);
        if self.outcome(&wrong, real).is_some() {
            let id = self.remove_name(dir, name);
            self.lost_name(id);
        }
    }

    pub fn create(&mut self, dir: Id, name: &[u8], flags: i32, mode: u32, user: bool) {
        self.say(|w| format!("create {}{} flags {flags:o} mode {mode:o}", w.show(dir), short(name)));
        let exclusive = flags & libc::O_EXCL != 0;
        let existing = self.tree.child(dir, name);
        let pending = self
            .tree
            .inodes
            .iter()
            .find(|(_, inode)| inode.pending.as_ref().is_some_and(|(d, n)| *d == dir && n == name))
            .map(|(id, _)| *id);
        let mut wrong = Vec::new();
        if name.len() > 255 {
            wrong.push(libc::ENAMETOOLONG);
        }
        if !self.tree.is_named(dir) {
            wrong.push(libc::ENOENT);
        }
        match existing.map(|id| self.tree.get(id).kind) {
            Some(_) if exclusive => wrong.push(libc::EEXIST),
            None | Some(Kind::File) => {}
            Some(Kind::Directory) => wrong.push(libc::EISDIR),
            Some(Kind::Symlink) => wrong.push(libc::ELOOP),
            Some(_) => wrong.push(libc::EEXIST),
        }
        if existing.is_none() && pending.is_some() && exclusive {
            wrong.push(libc::EEXIST);
        }
        let real = self.fs().create(caller(user), self.node(dir), name, mode, flags);
        let Some((entry, opened)) = self.outcome(&wrong, real) else { return };
        let node = Node::from_ino(entry.attr.ino);
        if let Some(id) = existing {
            assert_eq!(node, self.node(id), "an existing name leads to another inode");
            self.tree.get_mut(id).lookups += 1;
            self.opened(id, opened, flags, user);
            return;
        }
        let role = self.tree.role(dir, name);
        let id = match pending {
            Some(id) => {
                assert_eq!(node, self.node(id), "creators of one document have different inodes");
                self.tree.get_mut(id).lookups += 1;
                id
            }
            None => {
                let inode = self.new_inode(dir, Kind::File, mode, user, &entry);
                if role == Role::Document {
                    self.tree.add(Inode { pending: Some((dir, name.to_vec())), ..inode })
                } else {
                    self.made(dir, name, inode)
                }
            }
        };
        // A new file is empty: there is nothing to truncate but a document's draft.
        let truncate = if role == Role::Document { flags } else { flags & !libc::O_TRUNC };
        self.opened(id, opened, truncate, user);
        self.begin_alone(self.handles.len() - 1);
    }

    pub fn open(&mut self, id: Id, flags: i32, user: bool) {
        self.say(|w| format!("open {} flags {flags:o}", w.show(id)));
        let real = self.fs().open(caller(user), self.node(id), flags);
        if let Some(opened) = self.outcome(&[], real) {
            self.opened(id, opened, flags, user);
        }
    }

    fn opened(&mut self, id: Id, opened: Opened, flags: i32, user: bool) {
        let role = match self.tree.get(id).pending {
            Some(_) => Role::Document,
            None => self.role(id),
        };
        let mut handle = Handle { fh: opened.fh, id, flags, pin: None, draft: None, alone: None, refused: false };
        let open = self.tree.get_mut(id).open.get_or_insert(Open { role, count: 0, writers: 0, finished: None });
        open.count += 1;
        open.writers += usize::from(handle.writes());
        let direct = matches!(role, Role::Document | Role::Lock);
        assert_eq!(opened.direct_io, direct, "only ordinary files go through the page cache");
        if flags & libc::O_TRUNC != 0 {
            if role == Role::Document {
                let written = Moment::since(self.began);
                let bytes = Vec::new();
                handle.draft = Some(Draft { bytes, written, mtime: None, drops_setid: user, drops_capability: true });
            } else if role != Role::Lock || !self.tree.get(id).data.is_empty() {
                self.tree.get_mut(id).data.clear();
                self.content_changed(id, user);
            }
        }
        self.handles.push(handle);
        if flags & libc::O_TRUNC != 0 {
            self.begin_alone(self.handles.len() - 1);
        }
    }

    /// What an open file writes from now on is a whole by itself: the file is empty.
    fn begin_alone(&mut self, at: usize) {
        if self.role(self.handles[at].id) == Role::Beside && self.handles[at].writes() {
            self.handles[at].alone = Some(Vec::new());
        }
    }

    pub fn readlink(&mut self, id: Id) {
        let inode = self.tree.get(id);
        if inode.pending.is_some() {
            return;
        }
        let wrong = if inode.kind == Kind::Symlink { vec![] } else { vec![libc::EINVAL] };
        let real = self.fs().readlink(inode.node);
        if let Some(target) = self.outcome(&wrong, real) {
            assert_eq!(target, self.tree.get(id).target);
        }
    }
}
