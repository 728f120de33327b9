//! The filesystem beside its model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use threadfs::engine::Engine;
use threadfs::fs::{Caller, Fs, FsOptions, Node, Result};
use threadfs::store::record::{Kind, Timestamp};

use super::listing::Listing;
use super::op::{Op, Pick, Step};
use super::tree::{Id, Inode, Moment, ROOT, Role, Tree};
use crate::faulty::Faulty;
use crate::support::{ROOT_USER, USER, assert_sound, mount_with};

/// A draft of an open document.
#[derive(Debug, Clone)]
pub struct Draft {
    pub bytes: Vec<u8>,
    pub written: Moment,
    pub mtime: Option<Timestamp>,
    /// What its commit takes away.
    pub drops_setid: bool,
    pub drops_capability: bool,
}

/// An open file.
#[derive(Debug, Clone)]
pub struct Handle {
    pub fh: u64,
    pub id: Id,
    pub flags: i32,
    pub pin: Option<Vec<u8>>,
    pub draft: Option<Draft>,
    /// Of a file beside documents: what this open file alone wrote.
    pub alone: Option<Vec<u8>>,
    pub refused: bool,
}

impl Handle {
    pub fn reads(&self) -> bool {
        self.flags & libc::O_ACCMODE != libc::O_WRONLY
    }

    pub fn writes(&self) -> bool {
        self.flags & libc::O_ACCMODE != libc::O_RDONLY
    }

    pub fn appends(&self) -> bool {
        self.flags & libc::O_APPEND != 0
    }
}

type Reopen = Box<dyn FnMut() -> Arc<dyn Engine>>;

pub struct World {
    reopen: Reopen,
    options: FsOptions,
    engine: Option<Arc<Faulty>>,
    fs: Option<Arc<Fs>>,
    pub tree: Tree,
    pub handles: Vec<Handle>,
    pub listing: Option<Listing>,
    /// Drafts that have to be under .threadfs/rejected.
    pub rejected: Vec<Vec<u8>>,
    /// When the step began.
    pub began: Timestamp,
    /// Inodes whose content may have changed since it was compared.
    pub touched: BTreeSet<Id>,
    /// Inodes that were freed.
    pub freed: Vec<Node>,
    /// The engine refuses writes.
    full: bool,
    /// What was done, for the message of a failure.
    pub story: Vec<String>,
}

/// A name or a content for messages.
pub fn short(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..20).unwrap_or(bytes)).into_owned();
    if bytes.len() > 20 { format!("{text:?}... ({} bytes)", bytes.len()) } else { text }
}

pub fn caller(user: bool) -> Caller {
    if user { USER } else { ROOT_USER }
}

impl World {
    pub fn new(mut reopen: Reopen, options: FsOptions) -> World {
        let engine = Faulty::new(reopen());
        let fs = mount_with(engine.clone(), options.clone());
        let (attr, _) = fs.getattr(Node::ROOT).unwrap();
        let mut tree = Tree::default();
        tree.add(Inode {
            node: Node::ROOT,
            kind: Kind::Directory,
            perm: 0o755,
            uid: attr.uid,
            gid: attr.gid,
            rdev: 0,
            data: Vec::new(),
            target: Vec::new(),
            xattrs: BTreeMap::new(),
            entries: BTreeMap::new(),
            parent: ROOT,
            thread: None,
            mtime: Moment::at(attr.mtime),
            ctime: Moment::at(attr.ctime),
            lookups: 1,
            open: None,
            pending: None,
        });
        let mut world = World {
            reopen,
            options,
            engine: Some(engine),
            fs: Some(fs),
            tree,
            handles: Vec::new(),
            listing: None,
            rejected: Vec::new(),
            began: Timestamp::now(),
            touched: BTreeSet::new(),
            freed: Vec::new(),
            full: false,
            story: Vec::new(),
        };
        world.plant();
        world
    }

    /// The tree that every case begins with.
    fn plant(&mut self) {
        let threads = self.mkdir(ROOT, b"threads", 0o755, false).unwrap();
        self.mkdir(threads, b"a", 0o755, false).unwrap();
        self.mkdir(threads, b"b", 0o2775, true).unwrap();
        self.mkdir(ROOT, b"users", 0o755, false).unwrap();
        let user = self.mkdir(self.tree.child(ROOT, b"users").unwrap(), b"c", 0o755, false).unwrap();
        let threads = self.mkdir(user, b"threads", 0o755, false).unwrap();
        self.mkdir(threads, b"a", 0o755, false).unwrap();
    }

    pub fn fs(&self) -> &Fs {
        self.fs.as_deref().unwrap()
    }

    pub fn say(&mut self, what: impl FnOnce(&World) -> String) {
        let what = what(self);
        self.story.push(if self.full { format!("{what} (no space)") } else { what });
    }

    /// An open file for messages.
    pub fn show_handle(&self, at: usize) -> String {
        let handle = &self.handles[at];
        format!("{} ({})", self.show(handle.id), handle.fh)
    }

    pub fn node(&self, id: Id) -> Node {
        self.tree.get(id).node
    }

    pub fn step(&mut self, at: usize, step: &Step) {
        self.began = Timestamp::now();
        // What leaves nothing to tell a refusal by, or has several parts, runs undisturbed.
        let whole = !matches!(
            step.op,
            Op::Release { .. }
                | Op::Forget { .. }
                | Op::Save { .. }
                | Op::Tick
                | Op::MoveThreads
                | Op::Remount
                | Op::List { .. }
        );
        self.full = step.full && whole;
        if self.full {
            self.engine.as_ref().unwrap().refuse_writes_after(0);
        }
        self.apply(&step.op);
        self.engine.as_ref().unwrap().accept_writes();
        self.full = false;
        self.sweep();
        self.verify(at % 8 == 7);
    }

    pub fn end(&mut self) {
        self.verify(true);
        assert_sound(self.fs());
        self.remount();
        self.verify(true);
        self.collect();
        assert_sound(self.fs());
        self.verify(true);
    }

    fn collect(&self) {
        while !self.fs().collect_for(std::time::Duration::from_secs(10)) {}
    }

    /// Deletes everything, as the kernel would: then nothing may be left in the store.
    pub fn tear_down(&mut self) {
        self.began = Timestamp::now();
        while !self.handles.is_empty() {
            self.release(0);
        }
        let mut all = self.tree.below(ROOT);
        all.dedup();
        // What is deepest comes last.
        for id in all.into_iter().rev() {
            for (dir, name) in self.tree.names(id) {
                self.know(dir);
                match self.tree.get(id).is_dir() {
                    true => self.rmdir(dir, &name),
                    false => self.unlink(dir, &name),
                }
            }
        }
        for id in self.tree.inodes.keys().copied().collect::<Vec<_>>() {
            self.forget(id);
        }
        self.sweep();
        self.verify(true);
        self.collect();
        assert_sound(self.fs());
        self.verify_empty();
    }

    /// What a call has to end with: one of these errors, or success if there is none. With
    /// success its value is handed on.
    #[track_caller]
    pub fn outcome<T>(&self, wrong: &[i32], real: Result<T>) -> Option<T> {
        let name = |errno: i32| std::io::Error::from_raw_os_error(errno).to_string();
        match (wrong, real) {
            ([], Ok(value)) => Some(value),
            (_, Err(error)) if self.full && error.errno() == libc::ENOSPC => None,
            ([], Err(error)) => panic!("it has to succeed, and fails: {error}"),
            (_, Err(error)) if wrong.contains(&error.errno()) => None,
            (_, Err(error)) => {
                let wanted: Vec<String> = wrong.iter().copied().map(name).collect();
                panic!("it fails with {error} and not with {wanted:?}")
            }
            (_, Ok(_)) => {
                let wanted: Vec<String> = wrong.iter().copied().map(name).collect();
                panic!("it succeeds, and has to fail with {wanted:?}")
            }
        }
    }

    /// Frees in the model what nothing knows any more.
    fn sweep(&mut self) {
        let before: Vec<(Id, Node)> = self.tree.inodes.iter().map(|(id, inode)| (*id, inode.node)).collect();
        self.tree.sweep();
        let gone = before.into_iter().filter(|(id, _)| !self.tree.inodes.contains_key(id));
        self.freed.extend(gone.map(|(_, node)| node));
    }

    /// Makes the filesystem know an inode as the kernel would: by looking its path up.
    pub fn know(&mut self, id: Id) {
        if self.tree.get(id).lookups > 0 {
            return;
        }
        let Some((dir, name)) = self.tree.names(id).into_iter().next() else { return };
        self.know(dir);
        self.look_up(dir, &name);
    }

    pub fn look_up(&mut self, dir: Id, name: &[u8]) {
        self.say(|w| format!("lookup {}{}", w.show(dir), short(name)));
        let mut wrong = Vec::new();
        let found = self.tree.child(dir, name);
        if name.len() > 255 {
            wrong.push(libc::ENAMETOOLONG);
        } else if found.is_none() {
            wrong.push(libc::ENOENT);
        }
        let real = self.fs().lookup(self.node(dir), name);
        if let (Some(entry), Some(id)) = (self.outcome(&wrong, real), found) {
            assert_eq!(Node::from_ino(entry.attr.ino), self.node(id), "a name leads to another inode");
            self.tree.get_mut(id).lookups += 1;
        }
    }

    fn pick_from(&mut self, ids: Vec<Id>, pick: Pick) -> Option<Id> {
        let id = *ids.get(usize::from(pick) % ids.len().max(1))?;
        self.know(id);
        Some(id)
    }

    /// A directory, removed ones that are still known included.
    fn dir(&mut self, pick: Pick) -> Id {
        let ids = self.tree.inodes.iter().filter(|(_, inode)| inode.is_dir()).map(|(id, _)| *id).collect();
        self.pick_from(ids, pick).unwrap()
    }

    fn any(&mut self, pick: Pick) -> Id {
        let ids = self.tree.inodes.keys().copied().collect();
        self.pick_from(ids, pick).unwrap()
    }

    fn file(&mut self, pick: Pick) -> Option<Id> {
        let of = |id: &Id| self.tree.get(*id).kind == Kind::File && self.tree.is_named(*id);
        let ids = self.tree.inodes.keys().copied().filter(of).collect();
        self.pick_from(ids, pick)
    }

    fn handle(&self, pick: Pick) -> Option<usize> {
        (!self.handles.is_empty()).then(|| usize::from(pick) % self.handles.len())
    }

    fn apply(&mut self, op: &Op) {
        let name = super::op::name;
        match op {
            Op::Lookup { dir, name: n } => {
                let dir = self.dir(*dir);
                self.look_up(dir, &name(*n));
            }
            Op::Forget { node } => {
                let id = self.any(*node);
                self.forget(id);
            }
            Op::Mknod { dir, name: n, kind, mode, user } => {
                let dir = self.dir(*dir);
                self.mknod(dir, &name(*n), *kind, *mode, *user);
            }
            Op::Mkdir { dir, name: n, mode, user } => {
                let dir = self.dir(*dir);
                self.mkdir(dir, &name(*n), *mode, *user);
            }
            Op::Symlink { dir, name: n, length } => {
                let dir = self.dir(*dir);
                self.symlink(dir, &name(*n), *length);
            }
            Op::Link { node, dir, name: n } => {
                let (id, dir) = (self.any(*node), self.dir(*dir));
                self.link(id, dir, &name(*n));
            }
            Op::Unlink { dir, name: n } => {
                let dir = self.dir(*dir);
                self.unlink(dir, &name(*n));
            }
            Op::Rmdir { dir, name: n } => {
                let dir = self.dir(*dir);
                self.rmdir(dir, &name(*n));
            }
            Op::Rename { from, to, mode } => {
                let (a, b) = (self.dir(from.0), self.dir(to.0));
                self.rename((a, &name(from.1)), (b, &name(to.1)), *mode);
            }
            Op::Swap { from, to, mode } => {
                let each = |(dir, inode): (&Id, &Inode)| {
                    inode.entries.keys().map(|name| (*dir, name.clone())).collect::<Vec<_>>()
                };
                let all: Vec<(Id, Vec<u8>)> = self.tree.inodes.iter().flat_map(each).collect();
                let (from, to) = (&all[usize::from(*from) % all.len()], &all[usize::from(*to) % all.len()]);
                self.know(from.0);
                self.know(to.0);
                self.rename((from.0, &from.1), (to.0, &to.1), *mode);
            }
            Op::Create { dir, name: n, flags, mode, user } => {
                let dir = self.dir(*dir);
                self.create(dir, &name(*n), *flags, *mode, *user);
            }
            Op::Open { node, flags, user } => {
                if let Some(id) = self.file(*node) {
                    self.open(id, *flags, *user);
                }
            }
            Op::SetAttr { node, set, user } => {
                let id = self.any(*node);
                self.setattr(id, set, *user);
            }
            Op::SetXattr { node, name, length, flags } => {
                let id = self.any(*node);
                self.setxattr(id, *name, *length, *flags);
            }
            Op::RemoveXattr { node, name } => {
                let id = self.any(*node);
                self.removexattr(id, *name);
            }
            Op::Readlink { node } => {
                let id = self.any(*node);
                self.readlink(id);
            }
            Op::List { dir, limit } => {
                let dir = self.dir(*dir);
                self.list(dir, *limit);
            }
            Op::Tick => self.fs().tick(),
            Op::MoveThreads => {
                while !self.handles.is_empty() {
                    self.release(0);
                }
                let here = self.tree.child(ROOT, b"threads").is_some();
                let (from, to): (&[u8], &[u8]) = if here { (b"threads", b"c") } else { (b"c", b"threads") };
                self.rename((ROOT, from), (ROOT, to), 1);
            }
            Op::Remount => self.remount(),
            of_handle => self.apply_to_handle(of_handle),
        }
    }

    fn apply_to_handle(&mut self, op: &Op) {
        let pick = match op {
            Op::Write { handle, .. }
            | Op::Save { handle, .. }
            | Op::Read { handle, .. }
            | Op::Flush { handle }
            | Op::Fsync { handle }
            | Op::Release { handle }
            | Op::Fallocate { handle, .. }
            | Op::Seek { handle, .. }
            | Op::Truncate { handle, .. }
            | Op::Copy { from: (handle, _), .. } => *handle,
            other => panic!("{other:?} is not of an open file"),
        };
        let Some(at) = self.handle(pick) else { return };
        let writes = self.handles[at].writes();
        match op {
            Op::Write { offset, data, kill, .. } if writes => self.write(at, *offset, &data.bytes(), *kill),
            Op::Save { text, .. } if writes => {
                self.truncate(at, 0);
                self.write(at, 0, super::op::TEXTS[*text].as_bytes(), false);
                self.flush(at, false);
            }
            Op::Read { offset, size, .. } if self.handles[at].reads() => self.read(at, *offset, *size),
            Op::Flush { .. } => self.flush(at, false),
            Op::Fsync { .. } => self.flush(at, true),
            Op::Release { .. } => self.release(at),
            Op::Fallocate { mode, offset, length, .. } if writes => self.fallocate(at, *mode, *offset, *length),
            Op::Seek { offset, hole, .. } => self.seek(at, *offset, *hole),
            Op::Truncate { size, .. } if writes => self.truncate(at, *size),
            Op::Copy { from, to, length } => {
                let Some(target) = self.handle(to.0) else { return };
                self.copy((at, from.1), (target, to.1), *length);
            }
            // The kernel refuses it.
            _ => {}
        }
    }

    /// The kernel forgets an inode, unless something of its own holds it.
    fn forget(&mut self, id: Id) {
        self.say(|w| format!("forget {}", w.show(id)));
        let inode = self.tree.get(id);
        let waited_for =
            self.tree.inodes.values().any(|other| other.pending.as_ref().is_some_and(|(dir, _)| *dir == id));
        if id == ROOT || inode.open.is_some() || inode.lookups == 0 || waited_for {
            return;
        }
        self.fs().forget(inode.node, inode.lookups);
        self.tree.get_mut(id).lookups = 0;
    }

    /// The process ends, and the filesystem is mounted again.
    fn remount(&mut self) {
        self.say(|_| "remount".into());
        self.handles.clear();
        self.listing = None;
        let nameless: Vec<Id> =
            self.tree.inodes.iter().filter(|(_, inode)| inode.pending.is_some()).map(|(id, _)| *id).collect();
        for id in nameless {
            self.tree.inodes.remove(&id);
        }
        for (id, inode) in &mut self.tree.inodes {
            inode.open = None;
            inode.lookups = u64::from(*id == ROOT);
        }
        self.sweep();
        self.fs = None;
        self.engine = None;
        let engine = Faulty::new((self.reopen)());
        self.fs = Some(mount_with(engine.clone(), self.options.clone()));
        self.engine = Some(engine);
        self.touched.extend(self.tree.inodes.keys());
    }

    /// Whether operations on an open file go to a draft.
    pub fn is_document(&self, at: usize) -> bool {
        let handle = &self.handles[at];
        handle.draft.is_some() || self.role(handle.id) == Role::Document
    }

    pub fn role(&self, id: Id) -> Role {
        self.tree.role_of(id)
    }

    /// Times after a change of an inode, or of a directory's list.
    pub fn changed(&mut self, id: Id) {
        let now = Moment::since(self.began);
        let inode = self.tree.get_mut(id);
        (inode.mtime, inode.ctime) = (now, now);
    }

    pub fn status_changed(&mut self, id: Id) {
        let now = Moment::since(self.began);
        self.tree.get_mut(id).ctime = now;
    }
}
