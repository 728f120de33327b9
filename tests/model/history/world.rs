//! The filesystem, and copies of everything that it has to remember.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use threadfs::engine::{Engine, Keyspace};
use threadfs::fs::{Fs, FsOptions, Node, RenameMode, Restored, SetAttr};
use threadfs::store::record::{Kind, SnapshotKind, SnapshotRecord};
use threadfs::store::{Epoch, key};

use super::dump::{Entry, Tree, differences, tree};
use super::op::{Change, Op};
use crate::support::{ROOT_USER, assert_sound, mkdir, mount_with, node, open, read_all};

type Reopen = Box<dyn FnMut() -> Arc<dyn Engine>>;

/// A thread and the copies of its past.
#[derive(Debug, Default)]
struct Thread {
    live: Tree,
    nodes: BTreeMap<Vec<u8>, Node>,
    snapshots: BTreeMap<String, Tree>,
    /// A path was restored: what is there can be a copy, with a number of its own.
    copied: bool,
}

/// An open file and what is in it.
struct Held {
    fh: u64,
    node: Node,
    content: Vec<u8>,
}

pub struct World {
    reopen: Reopen,
    options: FsOptions,
    fs: Option<Arc<Fs>>,
    threads: BTreeMap<String, Thread>,
    /// Those that were removed and can come back, by their realm.
    deleted: BTreeMap<u32, Thread>,
    home: BTreeMap<String, BTreeMap<String, Tree>>,
    held: Vec<Held>,
    named: u32,
}

fn pick<T: Clone>(from: impl IntoIterator<Item = T>, choice: u8) -> Option<T> {
    let from: Vec<T> = from.into_iter().collect();
    (!from.is_empty()).then(|| from[usize::from(choice) % from.len()].clone())
}

fn content(length: u16, fill: u8) -> Vec<u8> {
    (0..length).map(|at| fill.wrapping_add((at / 11) as u8)).collect()
}

impl World {
    pub fn new(mut reopen: Reopen, options: FsOptions) -> World {
        let fs = mount_with(reopen(), options.clone());
        mkdir(&fs, Node::ROOT, "threads");
        let (threads, deleted, home, held) = Default::default();
        let mut world = World { reopen, options, fs: Some(fs), threads, deleted, home, held, named: 0 };
        world.new_thread();
        world
    }

    fn fs(&self) -> Arc<Fs> {
        Arc::clone(self.fs.as_ref().unwrap())
    }

    fn name(&mut self, what: &str) -> String {
        self.named += 1;
        format!("{what}{}", self.named)
    }

    fn at(&self, from: Node, path: &str) -> Node {
        let fs = self.fs();
        path.split('/').filter(|part| !part.is_empty()).fold(from, |at, part| {
            let found = node(&fs.lookup(at, part.as_bytes()).unwrap());
            fs.forget(found, 1);
            found
        })
    }

    fn thread(&self, name: &str) -> Node {
        self.at(Node::ROOT, &format!("threads/{name}"))
    }

    fn any(&self, choice: u8) -> Option<String> {
        pick(self.threads.keys().cloned(), choice)
    }

    fn new_thread(&mut self) {
        let name = self.name("t");
        let made = mkdir(&self.fs(), self.at(Node::ROOT, "threads"), &name);
        self.fs().forget(made, 1);
        self.threads.insert(name.clone(), Thread::default());
        self.look(&name);
    }

    /// Takes the present tree as right.
    fn look(&mut self, name: &str) {
        let (live, nodes) = tree(&self.fs(), self.thread(name));
        let thread = self.threads.get_mut(name).unwrap();
        (thread.live, thread.nodes) = (live, nodes);
        self.look_at_held();
    }

    fn look_at_held(&mut self) {
        let fs = self.fs();
        for held in &mut self.held {
            held.content = read_all(&fs, held.fh);
        }
    }

    pub fn step(&mut self, op: &Op) {
        let what = format!("{op:?}");
        self.op(op);
        self.verify(&what);
    }

    fn op(&mut self, op: &Op) {
        let fs = self.fs();
        match *op {
            Op::Change(thread, ref change) => {
                if let Some(name) = self.any(thread) {
                    self.change(&name, change);
                    self.look(&name);
                }
            }
            Op::NewThread if self.threads.len() < 5 => self.new_thread(),
            Op::NewThread => {}
            Op::Remove(thread) => {
                if let Some(name) = self.any(thread) {
                    self.remove(&name);
                }
            }
            Op::Undelete(which, snapshot) => {
                if let Some(realm) = pick(self.deleted.keys().copied(), which).filter(|_| self.threads.len() < 5) {
                    self.undelete(realm, snapshot);
                }
            }
            Op::Snapshot(thread) => {
                let Some(thread) = self.any(thread) else { return };
                let name = self.name("s");
                mkdir(&fs, self.at(self.thread(&thread), ".snapshots"), &name);
                let thread = self.threads.get_mut(&thread).unwrap();
                thread.snapshots.insert(name, thread.live.clone());
            }
            Op::HomeSnapshot => {
                let name = self.name("h");
                mkdir(&fs, self.at(Node::ROOT, ".snapshots"), &name);
                let all = self.threads.iter().map(|(name, thread)| (name.clone(), thread.live.clone()));
                self.home.insert(name, all.collect());
            }
            Op::Drop(thread, which) => {
                let Some(thread) = self.any(thread) else { return };
                let Some(name) = pick(self.threads[&thread].snapshots.keys().cloned(), which) else { return };
                fs.rmdir(ROOT_USER, self.at(self.thread(&thread), ".snapshots"), name.as_bytes()).unwrap();
                self.threads.get_mut(&thread).unwrap().snapshots.remove(&name);
            }
            Op::DropHome(which) => {
                let Some(name) = pick(self.home.keys().cloned(), which) else { return };
                fs.rmdir(ROOT_USER, self.at(Node::ROOT, ".snapshots"), name.as_bytes()).unwrap();
                self.home.remove(&name);
            }
            Op::Restore(thread, which) => {
                if let Some(name) = self.any(thread) {
                    self.restore(&name, which);
                }
            }
            Op::RestorePath(thread, which, path) => {
                if let Some(name) = self.any(thread) {
                    self.restore_path(&name, which, path);
                }
            }
            Op::Fork(thread, at) => {
                if let Some(name) = self.any(thread).filter(|_| self.threads.len() < 5) {
                    self.fork(&name, at);
                }
            }
            Op::Hold(thread, file) => {
                let Some(thread) = self.any(thread).filter(|_| self.held.len() < 3) else { return };
                let is_file = |(path, entry): &(&Vec<u8>, &Entry)| entry.kind == Kind::File && !path.ends_with(b"json");
                let files = self.threads[&thread].live.iter().filter(is_file).map(|(path, _)| path.clone());
                let Some(path) = pick(files.collect::<Vec<_>>(), file) else { return };
                let node = self.threads[&thread].nodes[&path];
                let fh = open(&fs, node);
                // The kernel knows what it opened.
                let path = String::from_utf8(path).unwrap();
                let (dir, name) = path.rsplit_once('/').unwrap_or(("", &path));
                fs.lookup(self.at(self.thread(&thread), dir), name.as_bytes()).unwrap();
                self.held.push(Held { fh, node, content: read_all(&fs, fh) });
            }
            Op::WriteHeld(held, offset, length, fill) => {
                let Some(fh) = pick(self.held.iter().map(|held| held.fh), held) else { return };
                fs.write(fh, u64::from(offset), &content(length, fill), 0, None).unwrap();
                self.look_everywhere();
            }
            Op::TruncateHeld(held, size) => {
                let Some((fh, node)) = pick(self.held.iter().map(|held| (held.fh, held.node)), held) else { return };
                let size = SetAttr { size: Some(u64::from(size)), ..SetAttr::default() };
                fs.setattr(ROOT_USER, node, size, Some(fh)).unwrap();
                self.look_everywhere();
            }
            Op::Release(held) => {
                if let Some(at) = pick(0..self.held.len(), held) {
                    self.release(at);
                }
            }
            Op::Collect => self.collect(),
            Op::Remount => {
                drop(fs);
                self.remount();
            }
        }
    }

    fn remount(&mut self) {
        self.held.clear();
        self.fs.take().unwrap().shutdown();
        self.fs = Some(mount_with((self.reopen)(), self.options.clone()));
    }

    fn undelete(&mut self, realm: u32, which: u8) {
        let snapshot = pick(self.deleted[&realm].snapshots.keys().cloned(), which).unwrap();
        let name = self.name("u");
        let dir = self.at(Node::ROOT, "threads");
        let value = format!("{realm}\0{snapshot}\0{name}");
        self.fs().undelete_request(ROOT_USER, dir, value.as_bytes()).unwrap();
        let mut thread = self.deleted.remove(&realm).unwrap();
        assert_eq!(self.thread(&name).realm.0, realm);
        let (is, nodes) = tree(&self.fs(), self.thread(&name));
        thread.live = thread.snapshots[&snapshot].clone();
        // The root has a new name.
        thread.live.get_mut(&b""[..]).unwrap().times.1 = is[&b""[..]].times.1;
        thread.nodes = nodes;
        self.threads.insert(name, thread);
    }

    fn release(&mut self, at: usize) {
        let held = self.held.swap_remove(at);
        let fs = self.fs();
        fs.release(held.fh);
        fs.forget(held.node, 1);
    }

    fn look_everywhere(&mut self) {
        self.look_at_held();
        self.threads.keys().cloned().collect::<Vec<_>>().iter().for_each(|name| self.look(name));
    }

    fn restore(&mut self, name: &str, which: u8) {
        let fs = self.fs();
        let Some(snapshot) = pick(self.threads[name].snapshots.keys().cloned(), which) else { return };
        let realm = self.thread(name).realm;
        let epoch = self.epoch(self.thread(name), &snapshot);
        let safety = self.name("before");
        let record = SnapshotRecord::new(SnapshotKind::Automatic, safety.clone(), "before");
        let was = std::mem::take(&mut self.threads.get_mut(name).unwrap().live);
        let done = fs.restore(realm, epoch, &record, &[]).unwrap() != Restored::Already;
        let should = self.threads[name].snapshots[&snapshot].clone();
        let alike = differences(&was, &should).is_empty();
        assert!(done || alike, "something differs and nothing is done");
        // Files that a restore of paths copied have other numbers: those are brought back too.
        assert!(!done || !alike || self.threads[name].copied, "something is done and nothing differs");
        let (_, nodes) = tree(&fs, self.thread(name));
        let thread = self.threads.get_mut(name).unwrap();
        for (path, node) in &nodes {
            let same = thread.nodes.get(path).is_none_or(|before| before == node);
            let unchanged = was.get(path) == should.get(path);
            let both = [&was, &should].iter().all(|tree| tree.get(path).is_some_and(|e| e.kind == Kind::Directory));
            if path.is_empty() || !done || (unchanged && !both && !thread.copied) {
                assert!(same, "{path:?} has another inode number and did not change");
            }
        }
        // A directory that is there before and after has the number that it had, wherever it is.
        (thread.live, thread.nodes) = (should, nodes);
        if done {
            thread.snapshots.insert(safety, was);
        }
        // Once more there is nothing to do.
        let again = SnapshotRecord { name: self.name("again").into_bytes(), ..record };
        assert_eq!(
            fs.restore(realm, epoch, &again, &[]).unwrap(),
            Restored::Already,
            "a second restore finds something to do"
        );
    }

    fn restore_path(&mut self, name: &str, which: u8, path: u8) {
        let Some(snapshot) = pick(self.threads[name].snapshots.keys().cloned(), which) else { return };
        let epoch = self.epoch(self.thread(name), &snapshot);
        let then = self.threads[name].snapshots[&snapshot].clone();
        let Some(path) = pick(then.keys().filter(|path| !path.is_empty()).cloned(), path) else { return };
        let safety = self.name("before");
        let record = SnapshotRecord::new(SnapshotKind::Automatic, safety.clone(), "before");
        let was = self.threads[name].live.clone();
        let done = self.fs().restore(self.thread(name).realm, epoch, &record, std::slice::from_ref(&path));
        let (parent, _) = split(&path);
        if was.get(parent).is_none_or(|parent| parent.kind != Kind::Directory) {
            assert!(matches!(done.unwrap(), Restored::Refused { .. }));
            return;
        }
        let is_below = |at: &Vec<u8>| *at == path || at.strip_prefix(&path[..]).is_some_and(|rest| rest[0] == b'/');
        let (is, nodes) = tree(&self.fs(), self.thread(name));
        // Names outside keep what they have; a count of links can be another.
        let brief = |entry: &Entry| Entry {
            nlink: 0,
            blocks: 0,
            times: Default::default(),
            same_as: Vec::new(),
            ..entry.clone()
        };
        let inside = |tree: &Tree| {
            tree.iter().filter(|(at, _)| is_below(at)).map(|(at, e)| (at.clone(), brief(e))).collect::<Tree>()
        };
        let outside = |tree: &Tree| {
            let all = tree.iter().filter(|(at, _)| !is_below(at) && *at != parent);
            all.map(|(at, entry)| (at.clone(), brief(entry))).collect::<Tree>()
        };
        let different = differences(&inside(&is), &inside(&then));
        assert!(different.is_empty(), "the path is not what it was:\n{}", different.join("\n"));
        for (at, entry) in is.iter().filter(|(at, _)| is_below(at)) {
            assert_eq!(entry.times.0, then[at].times.0, "the mtime of {at:?}");
        }
        let different = differences(&outside(&is), &outside(&was));
        assert!(different.is_empty(), "something else changed:\n{}", different.join("\n"));
        let thread = self.threads.get_mut(name).unwrap();
        (thread.live, thread.nodes, thread.copied) = (is, nodes, true);
        if done.unwrap() != Restored::Already {
            thread.snapshots.insert(safety, was);
        } else {
            assert_eq!(thread.live, was);
        }
    }

    fn epoch(&self, top: Node, snapshot: &str) -> Epoch {
        let view = self.at(top, &format!(".snapshots/{snapshot}"));
        let number = self.fs().getxattr(view, b"user.threadfs.version").unwrap();
        String::from_utf8(number).unwrap().parse().unwrap()
    }

    fn fork(&mut self, source: &str, at: Option<u8>) {
        let name = self.name("f");
        let snapshots = self.threads[source].snapshots.keys().cloned().collect::<Vec<_>>();
        let snapshot = at.and_then(|which| pick(snapshots, which));
        let top = self.thread(source);
        let epoch = snapshot.as_ref().map(|snapshot| self.epoch(top, snapshot));
        let dir = self.at(Node::ROOT, "threads");
        self.fs().fork(top.realm, epoch, dir, name.as_bytes()).unwrap();
        let source = &self.threads[source];
        let mut live = snapshot.map_or_else(|| source.live.clone(), |snapshot| source.snapshots[&snapshot].clone());
        let (is, nodes) = tree(&self.fs(), self.thread(&name));
        // The root has a new name.
        live.get_mut(&b""[..]).unwrap().times.1 = is[&b""[..]].times.1;
        self.threads.insert(name, Thread { live, nodes, ..Thread::default() });
    }

    fn remove(&mut self, name: &str) {
        let fs = self.fs();
        let nodes = std::mem::take(&mut self.threads.get_mut(name).unwrap().nodes);
        for (path, at) in nodes.iter().rev().filter(|(path, _)| !path.is_empty()) {
            let path = std::str::from_utf8(path).unwrap();
            let (dir, file) = path.rsplit_once('/').unwrap_or(("", path));
            let dir = nodes[dir.as_bytes()];
            match fs.getattr(*at).unwrap().0.kind {
                Kind::Directory => fs.rmdir(ROOT_USER, dir, file.as_bytes()).unwrap(),
                _ => fs.unlink(ROOT_USER, dir, file.as_bytes()).unwrap(),
            }
        }
        let realm = self.thread(name).realm.0;
        fs.rmdir(ROOT_USER, self.at(Node::ROOT, "threads"), name.as_bytes()).unwrap();
        let thread = self.threads.remove(name).unwrap();
        if !thread.snapshots.is_empty() {
            self.deleted.insert(realm, thread);
        }
    }

    fn change(&mut self, name: &str, change: &Change) {
        let fs = self.fs();
        let thread = &self.threads[name];
        let of_kind = |kind: Kind| {
            let all = thread.live.iter().filter(move |(_, entry)| entry.kind == kind);
            all.map(|(path, _)| (path.clone(), thread.nodes[path])).collect::<Vec<_>>()
        };
        let dir = |choice: u8| pick(of_kind(Kind::Directory), choice).unwrap().1;
        let file = |choice: u8| {
            let files = of_kind(Kind::File).into_iter().filter(|(path, _)| !path.ends_with(b"json"));
            pick(files, choice).map(|(_, node)| node)
        };
        let any = |choice: u8| pick(thread.nodes.iter().map(|(path, node)| (path.clone(), *node)), choice).unwrap();
        let called = |name: u8| [b'a' + name];
        // Many of these cannot be done at the moment, and are refused: that is for others to test.
        match *change {
            Change::Create { dir: at, name, length, fill } => {
                if let Ok((entry, opened)) = fs.create(ROOT_USER, dir(at), &called(name), 0o640, libc::O_RDWR) {
                    fs.write(opened.fh, 0, &content(length, fill), 0, None).unwrap();
                    fs.release(opened.fh);
                    fs.forget(node(&entry), 1);
                }
            }
            Change::Document { name, number } => {
                let name = format!("{name}.json");
                let flags = libc::O_WRONLY | libc::O_TRUNC;
                let (entry, opened) =
                    fs.create(ROOT_USER, thread.nodes[&b""[..]], name.as_bytes(), 0o600, flags).unwrap();
                fs.write(opened.fh, 0, format!("{{\"n\": {number}}}").as_bytes(), 0, None).unwrap();
                fs.flush(opened.fh, 1).unwrap();
                fs.release(opened.fh);
                fs.forget(node(&entry), 1);
            }
            Change::Write { file: which, offset, length, fill } => {
                if let Some(node) = file(which) {
                    let fh = open(&fs, node);
                    fs.write(fh, u64::from(offset), &content(length, fill), 0, None).unwrap();
                    fs.release(fh);
                }
            }
            Change::Truncate { file: which, size } => {
                if let Some(node) = file(which) {
                    let size = SetAttr { size: Some(u64::from(size)), ..SetAttr::default() };
                    fs.setattr(ROOT_USER, node, size, None).unwrap();
                }
            }
            Change::Mkdir { dir: at, name } => forget(&fs, fs.mkdir(ROOT_USER, dir(at), &called(name), 0o755)),
            Change::Symlink { dir: at, name } => forget(&fs, fs.symlink(ROOT_USER, dir(at), &called(name), b"a/b")),
            Change::Remove { what } => {
                let (path, _) = any(what);
                let (parent, name) = split(&path);
                let parent = thread.nodes[parent];
                if fs.unlink(ROOT_USER, parent, name).is_err() {
                    drop(fs.rmdir(ROOT_USER, parent, name));
                }
            }
            Change::Rename { what, dir: at, name } => {
                let (path, _) = any(what);
                let (parent, old) = split(&path);
                drop(fs.rename(ROOT_USER, (thread.nodes[parent], old), (dir(at), &called(name)), RenameMode::Replace));
            }
            Change::Link { file: which, dir: at, name } => {
                if let Some(node) = file(which) {
                    forget(&fs, fs.link(node, dir(at), &called(name)));
                }
            }
            Change::Mode { what, perm } => {
                let mode = SetAttr { mode: Some(u32::from(perm)), ..SetAttr::default() };
                fs.setattr(ROOT_USER, any(what).1, mode, None).unwrap();
            }
            Change::Xattr { what, name, value } => {
                let name = [b"user.", &called(name)[..]].concat();
                match value {
                    Some(value) => fs.setxattr(ROOT_USER, any(what).1, &name, &[value], 0).unwrap(),
                    None => drop(fs.removexattr(any(what).1, &name)),
                }
            }
        }
    }

    fn collect(&self) {
        while !self.fs().collect_for(Duration::from_secs(1)) {}
        assert_sound(&self.fs());
    }

    fn verify(&self, what: &str) {
        let fs = self.fs();
        let compare = |top: Node, should: &Tree, which: &str| {
            let different = differences(&tree(&fs, top).0, should);
            assert!(different.is_empty(), "after {what}, {which}:\n{}", different.join("\n"));
        };
        for (name, thread) in &self.threads {
            let top = self.thread(name);
            compare(top, &thread.live, name);
            for (snapshot, should) in &thread.snapshots {
                compare(self.at(top, &format!(".snapshots/{snapshot}")), should, &format!("{name} at {snapshot}"));
            }
        }
        for (home, threads) in &self.home {
            let shown = crate::support::names(&fs, self.at(Node::ROOT, &format!(".snapshots/{home}/threads")));
            let should: Vec<String> = threads.keys().cloned().collect();
            assert_eq!(shown, should, "after {what}, the threads at {home}");
            for (name, should) in threads {
                let top = self.at(Node::ROOT, &format!(".snapshots/{home}/threads/{name}"));
                compare(top, should, &format!("{name} at {home}"));
            }
        }
        for held in &self.held {
            assert!(read_all(&fs, held.fh) == held.content, "after {what}, an open file reads differently");
        }
    }

    /// Without threads and snapshots nothing of the past is left.
    pub fn end(mut self) {
        self.collect();
        while !self.held.is_empty() {
            self.release(0);
        }
        let mut names: Vec<String> = self.threads.keys().cloned().collect();
        // Parents first: their forks need them no less.
        names.sort();
        for name in names {
            self.look(&name);
            self.remove(&name);
            self.collect();
            self.verify(&format!("the removal of {name}"));
        }
        self.options.keep_deleted = Duration::ZERO;
        self.remount();
        for _ in 0..=self.named / 16 {
            self.fs().tick();
        }
        for name in std::mem::take(&mut self.home).into_keys() {
            self.fs().rmdir(ROOT_USER, self.at(Node::ROOT, ".snapshots"), name.as_bytes()).unwrap();
        }
        self.collect();
        let fs = self.fs();
        for space in [Keyspace::Meta, Keyspace::Data] {
            let left = &mut |found: &[u8], _: &[u8]| {
                let is_home = key::realm_of(found).is_some_and(|realm| realm == threadfs::store::HOME);
                let fine =
                    space == Keyspace::Meta && (found == key::SUPERBLOCK || (is_home && found[0] != key::tag::HISTORY));
                assert!(fine, "{} is left", found.escape_ascii());
                std::ops::ControlFlow::Continue(())
            };
            fs.store().engine().scan(space, b"", b"", left).unwrap();
        }
    }
}

/// The kernel of this test remembers nothing that is not open.
fn forget(fs: &Fs, made: threadfs::fs::Result<threadfs::fs::Entry>) {
    if let Ok(entry) = made {
        fs.forget(node(&entry), 1);
    }
}

fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}
