//! What all of these tests need.

use std::sync::Arc;
use std::time::Duration;

use threadfs::engine::Engine;
use threadfs::engine::memory::MemoryEngine;
use threadfs::fs::{Caller, Fs, FsOptions, Node};
use threadfs::store::Store;

use crate::faulty::Faulty;

/// Size of a chunk of a file's content.
pub const CHUNK: u64 = 1 << threadfs::store::record::Inode::NEW_CHUNK_SHIFT;

/// Largest document: small, so that the limit is met.
pub const DOCUMENT_MAX: u64 = 300;

/// Above the largest number of a process, proc_sys_kernel(5): so that no real one's capabilities count.
const NO_PROCESS: u32 = 1 << 23;

pub const ROOT_USER: Caller = Caller { uid: 0, gid: 0, pid: NO_PROCESS, umask: 0 };
pub const USER: Caller = Caller { uid: 1000, gid: 1001, pid: NO_PROCESS + 1, umask: 0 };

/// Without the snapshots that commits take: they keep what would be missed.
pub fn options() -> FsOptions {
    FsOptions {
        automatic_snapshots: false,
        keep_deleted: Duration::ZERO,
        max_document_bytes: DOCUMENT_MAX,
        versions_per_document: 3,
        version_bytes_per_document: 2 * DOCUMENT_MAX,
        ttl: Duration::from_secs(1),
        ..FsOptions::default()
    }
}

/// Mounts what an engine holds.
pub fn mount(engine: Arc<dyn Engine>) -> Arc<Fs> {
    mount_with(engine, options())
}

pub fn mount_with(engine: Arc<dyn Engine>, options: FsOptions) -> Arc<Fs> {
    Fs::new(Store::open(engine).unwrap(), options).unwrap()
}

/// A new filesystem in memory, and the engine below, whose calls can be made to fail.
pub fn fresh() -> (Arc<Faulty>, Arc<Fs>) {
    let engine = Faulty::new(Arc::new(MemoryEngine::new()));
    let fs = mount(engine.clone());
    (engine, fs)
}

/// The errno of a call that has to fail.
#[track_caller]
pub fn errno<T>(result: threadfs::fs::Result<T>) -> i32 {
    match result {
        Ok(_) => panic!("it succeeded"),
        Err(error) => error.errno(),
    }
}

/// The whole content of an open file.
pub fn read_all(fs: &Fs, fh: u64) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let part = fs.read(fh, all.len() as u64, 1 << 16, <[u8]>::to_vec).unwrap();
        if part.is_empty() {
            return all;
        }
        all.extend(part);
    }
}

/// The content that somebody who opens a file now sees.
pub fn content(fs: &Fs, node: Node) -> Vec<u8> {
    let opened = fs.open(ROOT_USER, node, libc::O_RDONLY).unwrap();
    let all = read_all(fs, opened.fh);
    fs.release(opened.fh);
    all
}

/// All that is wrong in the store.
pub fn assert_sound(fs: &Fs) {
    let report = threadfs::store::check::check_with(fs.store(), true).unwrap();
    assert!(report.problems.is_empty(), "the store is not sound: {:#?}", report.problems);
}

pub fn node(entry: &threadfs::fs::Entry) -> Node {
    Node::from_ino(entry.attr.ino)
}

pub fn mkdir(fs: &Fs, dir: Node, name: &str) -> Node {
    node(&fs.mkdir(ROOT_USER, dir, name.as_bytes(), 0o755).unwrap())
}

/// A thread of its own.
pub fn thread(fs: &Fs, name: &str) -> Node {
    let threads = fs.lookup(Node::ROOT, b"threads").map(|entry| node(&entry));
    let threads = threads.unwrap_or_else(|_| mkdir(fs, Node::ROOT, "threads"));
    mkdir(fs, threads, name)
}

/// Makes a file and opens it.
pub fn create(fs: &Fs, dir: Node, name: &str) -> (Node, u64) {
    let (entry, opened) = fs.create(ROOT_USER, dir, name.as_bytes(), 0o644, libc::O_RDWR).unwrap();
    (node(&entry), opened.fh)
}

/// Makes a file with a content.
pub fn file(fs: &Fs, dir: Node, name: &str, content: &[u8]) -> Node {
    let (node, fh) = create(fs, dir, name);
    if !content.is_empty() {
        fs.write(fh, 0, content, 0, None).unwrap();
    }
    fs.flush(fh, 1).unwrap();
    fs.release(fh);
    node
}

pub fn open(fs: &Fs, node: Node) -> u64 {
    fs.open(ROOT_USER, node, libc::O_RDWR).unwrap().fh
}

pub fn attr(fs: &Fs, node: Node) -> threadfs::fs::Attr {
    fs.getattr(node).unwrap().0
}

/// The names in a directory.
pub fn names(fs: &Fs, dir: Node) -> Vec<String> {
    let mut names: Vec<String> = fs
        .readdir(dir, 0, usize::MAX)
        .unwrap()
        .into_iter()
        .map(|entry| String::from_utf8_lossy(&entry.name).into_owned())
        .filter(|name| name != "." && name != "..")
        .collect();
    names.sort();
    names
}
