//! Operations at random without a model: what they do is not compared, only that nothing panics,
//! hangs, or leaves the store unsound.

use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use threadfs::fs::{Fs, Node, RenameMode, Result, SetAttr, SetTime, Whence};

use crate::support::{CHUNK, ROOT_USER, USER};

const NAMES: [&[u8]; 6] = [b"a", b"b", b"c", b"x.json", b"y.json", b"x.lock"];
const TEXTS: [&[u8]; 4] = [b"{}", b"[1, 2, 3]", b"{\"a\":", b"plain text"];

/// What the kernel does: who changes names in a directory is alone there.
#[derive(Default)]
pub struct Kernel {
    dirs: [RwLock<()>; 16],
}

impl Kernel {
    fn lock_of(&self, dir: Node) -> usize {
        (dir.realm.0 as usize * 7 + dir.local.0 as usize) % self.dirs.len()
    }

    fn shared(&self, dir: Node) -> RwLockReadGuard<'_, ()> {
        self.dirs[self.lock_of(dir)].read().unwrap()
    }

    fn alone(&self, dirs: &[Node]) -> Vec<RwLockWriteGuard<'_, ()>> {
        let mut locks: Vec<usize> = dirs.iter().map(|dir| self.lock_of(*dir)).collect();
        locks.sort_unstable();
        locks.dedup();
        locks.into_iter().map(|at| self.dirs[at].write().unwrap()).collect()
    }
}

/// One client.
pub struct Blind<'a> {
    fs: &'a Fs,
    kernel: &'a Kernel,
    state: u64,
    /// Each lookup, and whether it is a directory.
    known: Vec<(Node, bool)>,
    handles: Vec<(u64, Node)>,
    /// Errors that were met, by their errno.
    pub errors: Vec<i32>,
}

impl<'a> Blind<'a> {
    pub fn new(fs: &'a Fs, kernel: &'a Kernel, seed: u64) -> Blind<'a> {
        Blind {
            fs,
            kernel,
            state: seed * 2 + 1,
            known: vec![(Node::ROOT, true)],
            handles: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % below
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let at = self.draw(from.len().max(1) as u64);
        from.get(at as usize).copied()
    }

    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.errors.push(error.errno())).ok()
    }

    fn learn(&mut self, result: Result<threadfs::fs::Entry>) {
        if let Some(entry) = self.note(result) {
            let is_dir = entry.attr.kind == threadfs::store::record::Kind::Directory;
            self.known.push((Node::from_ino(entry.attr.ino), is_dir));
        }
    }

    /// Walks down to a path.
    pub fn walk(&mut self, path: &[&[u8]]) {
        let mut at = Node::ROOT;
        for name in path {
            let found = self.fs.lookup(at, name);
            if let Ok(entry) = &found {
                at = Node::from_ino(entry.attr.ino);
            }
            self.learn(found);
        }
    }

    pub fn step(&mut self) {
        let dirs: Vec<Node> = self.known.iter().filter(|(_, is_dir)| *is_dir).map(|(node, _)| *node).collect();
        let dir = self.pick(&dirs).unwrap();
        let name = self.pick(&NAMES).unwrap();
        let (fs, kernel) = (self.fs, self.kernel);
        match self.draw(30) {
            0 | 1 => {
                let _dir = kernel.shared(dir);
                self.learn(fs.lookup(dir, name));
            }
            2 => {
                let _dir = kernel.alone(&[dir]);
                self.learn(fs.mkdir(USER, dir, name, 0o755));
            }
            3 => {
                let _dir = kernel.alone(&[dir]);
                self.learn(fs.symlink(USER, dir, name, b"target"));
            }
            4..=7 => {
                let flags = [libc::O_RDWR, libc::O_RDWR | libc::O_TRUNC, libc::O_RDWR | libc::O_EXCL, libc::O_RDONLY];
                let flags = self.pick(&flags).unwrap();
                let _dir = kernel.alone(&[dir]);
                let made = fs.create(USER, dir, name, 0o644, flags);
                if let Some((entry, opened)) = self.note(made) {
                    let node = Node::from_ino(entry.attr.ino);
                    self.known.push((node, false));
                    self.handles.push((opened.fh, node));
                }
            }
            8 => {
                let Some((node, _)) = self.pick(&self.known.clone()) else { return };
                let _dir = kernel.alone(&[dir]);
                self.learn(fs.link(node, dir, name));
            }
            9 | 10 => {
                let _dir = kernel.alone(&[dir]);
                let done = fs.unlink(ROOT_USER, dir, name);
                self.note(done);
            }
            11 => {
                let _dir = kernel.alone(&[dir]);
                let done = fs.rmdir(ROOT_USER, dir, name);
                self.note(done);
            }
            12..=14 => {
                let (to, to_name) = (self.pick(&dirs).unwrap(), self.pick(&NAMES).unwrap());
                let modes = [RenameMode::Replace, RenameMode::Replace, RenameMode::NoReplace, RenameMode::Exchange];
                let mode = self.pick(&modes).unwrap();
                let _dirs = kernel.alone(&[dir, to]);
                let done = fs.rename(ROOT_USER, (dir, name), (to, to_name), mode);
                self.note(done);
            }
            15 => {
                let _dir = kernel.shared(dir);
                let Some(listed) = self.note(fs.readdir(dir, 0, 9)) else { return };
                for entry in listed.iter().filter(|entry| entry.name != b"." && entry.name != b"..") {
                    if let Some(Some(found)) = self.note(fs.list_entry_attr(dir, entry)) {
                        self.learn(Ok(found));
                    }
                }
            }
            16 => {
                let forgettable: Vec<usize> = (0..self.known.len())
                    .filter(|at| !self.known[*at].1 && self.handles.iter().all(|(_, node)| *node != self.known[*at].0))
                    .collect();
                if let Some(at) = self.pick(&forgettable) {
                    let (node, _) = self.known.swap_remove(at);
                    fs.forget(node, 1);
                }
            }
            17 => {
                let Some((node, _)) = self.pick(&self.known.clone()) else { return };
                let size = (self.draw(4) == 0).then_some(CHUNK + 5);
                let set = SetAttr { mode: Some(0o755), size, atime: Some(SetTime::Now), ..SetAttr::default() };
                let done = fs.setattr(USER, node, set, None);
                self.note(done);
            }
            18 => {
                let Some((node, _)) = self.pick(&self.known.clone()) else { return };
                let done = fs.setxattr(ROOT_USER, node, b"user.a", b"x", 0);
                self.note(done);
                self.note(fs.listxattr(node));
                if self.draw(2) == 0 {
                    let done = fs.removexattr(node, b"user.a");
                    self.note(done);
                }
            }
            19 => {
                let Some((node, _)) = self.pick(&self.known.clone()) else { return };
                self.note(fs.getattr(node));
                self.note(fs.readlink(node));
                self.note(fs.path_of(node));
            }
            _ => self.step_on_handle(),
        }
    }

    fn step_on_handle(&mut self) {
        let fs = self.fs;
        let Some((fh, node)) = self.pick(&self.handles.clone()) else { return };
        let text = self.pick(&TEXTS).unwrap();
        let offset = [0, 1, CHUNK - 1, 3 * CHUNK];
        let (from, to) = (self.pick(&offset).unwrap(), self.pick(&offset).unwrap());
        match self.draw(10) {
            0 | 1 => {
                let done = fs.write(fh, from, text, 0, Some(USER));
                self.note(done);
            }
            2 => {
                let set = SetAttr { size: Some(0), ..SetAttr::default() };
                let done = fs.setattr(USER, node, set, Some(fh));
                self.note(done);
                let done = fs.write(fh, 0, text, 0, None);
                self.note(done);
                let done = fs.flush(fh, u32::MAX);
                self.note(done);
            }
            3 => {
                let done = fs.read(fh, from, 100, <[u8]>::len);
                self.note(done);
            }
            4 => {
                let done = fs.fsync(fh, u32::MAX);
                self.note(done);
            }
            5 => {
                let done = fs.seek(fh, from, if to == 0 { Whence::Hole } else { Whence::Data });
                self.note(done);
            }
            6 => {
                let done =
                    fs.fallocate(ROOT_USER, fh, from, 1 + to, libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE);
                self.note(done);
            }
            7 => {
                let Some((other, _)) = self.pick(&self.handles.clone()) else { return };
                let done = fs.copy_file_range(ROOT_USER, (fh, from), (other, to), 20);
                self.note(done);
            }
            8 => {
                let done = fs.open(USER, node, libc::O_RDWR);
                if let Some(opened) = self.note(done) {
                    self.handles.push((opened.fh, node));
                }
            }
            _ => {
                let done = fs.flush(fh, u32::MAX);
                self.note(done);
                self.handles.retain(|(other, _)| *other != fh);
                fs.release(fh);
            }
        }
    }

    /// Closes and forgets everything.
    pub fn finish(&mut self) {
        for (fh, _) in self.handles.drain(..) {
            let _ = self.fs.flush(fh, u32::MAX);
            self.fs.release(fh);
        }
        for (node, _) in self.known.drain(..).filter(|(node, _)| *node != Node::ROOT) {
            self.fs.forget(node, 1);
        }
    }
}
