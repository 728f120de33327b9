//! A tree as a whole copy.

use std::collections::BTreeMap;

use threadfs::fs::{Fs, Node};
use threadfs::store::record::{Kind, Timestamp};

use crate::support::{ROOT_USER, node, read_all};

/// What can be told of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    pub perm: u16,
    pub owner: (u32, u32),
    pub nlink: u32,
    pub size: u64,
    pub blocks: u64,
    pub times: (Timestamp, Timestamp, Timestamp),
    pub target: Vec<u8>,
    pub xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    pub content: Vec<u8>,
    /// The first name of the same inode.
    pub same_as: Vec<u8>,
}

/// Paths from the top of the tree; the top itself is the empty one.
pub type Tree = BTreeMap<Vec<u8>, Entry>;

/// A tree, and the node of each path.
pub fn tree(fs: &Fs, top: Node) -> (Tree, BTreeMap<Vec<u8>, Node>) {
    let (mut tree, mut nodes, mut first) = (Tree::new(), BTreeMap::new(), BTreeMap::new());
    let mut left = vec![(Vec::new(), top)];
    while let Some((path, at)) = left.pop() {
        nodes.insert(path.clone(), at);
        let kind = fs.getattr(at).unwrap().0.kind;
        if kind == Kind::Directory {
            for listed in fs.readdir(at, 0, usize::MAX).unwrap() {
                if listed.name != b"." && listed.name != b".." {
                    let found = node(&fs.lookup(at, &listed.name).unwrap());
                    fs.forget(found, 1);
                    assert_eq!(found, listed.node, "a listing and a lookup of {:?}", listed.name);
                    let separator: &[u8] = if path.is_empty() { b"" } else { b"/" };
                    left.push(([&path, separator, &listed.name].concat(), found));
                }
            }
        }
        tree.insert(path, entry(fs, at, kind));
    }
    for (path, at) in &nodes {
        let first: &mut Vec<u8> = first.entry(*at).or_insert_with(|| path.clone());
        tree.get_mut(path).unwrap().same_as = first.clone();
    }
    (tree, nodes)
}

fn entry(fs: &Fs, at: Node, kind: Kind) -> Entry {
    let attr = fs.getattr(at).unwrap().0;
    let mut xattrs = BTreeMap::new();
    for name in fs.listxattr(at).unwrap().split(|byte| *byte == 0) {
        // A snapshot tells of itself there.
        if !name.is_empty() && !name.starts_with(b"user.threadfs.") {
            xattrs.insert(name.to_vec(), fs.getxattr(at, name).unwrap());
        }
    }
    let content = match kind {
        Kind::File => {
            let opened = fs.open(ROOT_USER, at, libc::O_RDONLY).unwrap();
            let content = read_all(fs, opened.fh);
            fs.release(opened.fh);
            content
        }
        _ => Vec::new(),
    };
    Entry {
        kind,
        perm: attr.perm,
        owner: (attr.uid, attr.gid),
        nlink: attr.nlink,
        size: attr.size,
        blocks: attr.blocks,
        times: (attr.mtime, attr.ctime, attr.btime),
        target: if kind == Kind::Symlink { fs.readlink(at).unwrap() } else { Vec::new() },
        xattrs,
        content,
        same_as: Vec::new(),
    }
}

/// What is different, in words.
pub fn differences(is: &Tree, should: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for path in is.keys().chain(should.keys().filter(|path| !is.contains_key(*path))) {
        let (is, should) = (is.get(path), should.get(path));
        if is != should {
            let brief = |entry: Option<&Entry>| {
                entry.map(|entry| Entry { content: entry.content.iter().take(30).copied().collect(), ..entry.clone() })
            };
            let path = String::from_utf8_lossy(path).into_owned();
            found.push(format!("{path:?}\n  is {:?}\n  should be {:?}", brief(is), brief(should)));
        }
    }
    found
}
