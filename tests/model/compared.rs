//! Differences against two whole trees that are read and compared name by name.

use std::collections::BTreeMap;

use threadfs::fs::{Fs, Node, RenameMode, SetAttr};
use threadfs::store::diff::{Aspect, Change};
use threadfs::store::record::Kind;

use crate::support::{ROOT_USER, errno, file, fresh, mkdir, node, open, thread};

/// What a walk finds at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    local: u64,
    kind: Kind,
    perm: u16,
    content: Vec<u8>,
    xattrs: Vec<u8>,
}

type Tree = BTreeMap<String, Found>;

fn read(fs: &Fs, node: Node) -> Vec<u8> {
    let opened = fs.open(ROOT_USER, node, libc::O_RDONLY).unwrap();
    let content = crate::support::read_all(fs, opened.fh);
    fs.release(opened.fh);
    content
}

fn walk(fs: &Fs, root: Node) -> Tree {
    let mut tree = Tree::new();
    let mut left = vec![(String::new(), root)];
    while let Some((path, at)) = left.pop() {
        let (attr, _) = fs.getattr(at).unwrap();
        if attr.kind == Kind::Directory {
            for name in crate::support::names(fs, at) {
                let below = node(&fs.lookup(at, name.as_bytes()).unwrap());
                left.push((if path.is_empty() { name } else { format!("{path}/{name}") }, below));
            }
        }
        let content = if attr.kind == Kind::File { read(fs, at) } else { Vec::new() };
        let xattrs = fs.getxattr(at, b"user.x").unwrap_or_default();
        tree.insert(path, Found { local: at.local.0, kind: attr.kind, perm: attr.perm, content, xattrs });
    }
    tree
}

fn text(path: &[u8]) -> String {
    String::from_utf8(path.to_vec()).unwrap()
}

/// The old tree under the names that its directories got since.
fn renamed(old: &Tree, changes: &[Change]) -> Tree {
    let directories: BTreeMap<String, String> = changes
        .iter()
        .filter(|change| change.before.is_some_and(|before| before.kind == Kind::Directory))
        .filter_map(|change| Some((text(change.renamed_from.as_ref()?), text(&change.path))))
        .collect();
    let mut now: BTreeMap<&str, String> = BTreeMap::new();
    let mut tree = Tree::new();
    for (path, found) in old {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let above = now.get(above).cloned().unwrap_or_default();
        let mut new = if above.is_empty() { name.to_string() } else { format!("{above}/{name}") };
        if let Some(moved) = directories.get(&new).filter(|_| found.kind == Kind::Directory) {
            new = moved.clone();
        }
        now.insert(path, new.clone());
        assert!(tree.insert(new.clone(), found.clone()).is_none(), "two things were {new}");
    }
    tree
}

fn check(old: &Tree, new: &Tree, changes: &[Change], label: &str) {
    let old = renamed(old, changes);
    let told: BTreeMap<String, &Change> = changes.iter().map(|change| (text(&change.path), change)).collect();
    assert_eq!(told.len(), changes.len(), "{label}: a path is told twice");
    let left: Vec<String> = changes.iter().filter_map(|change| change.renamed_from.as_deref().map(text)).collect();
    let paths: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).chain(told.keys()).collect();
    for path in paths {
        let change = told.get(path).copied();
        let label = format!("{label}: {path:?}: {change:?}");
        let from = change.and_then(|change| change.renamed_from.as_deref()).map(text);
        let before = match &from {
            // A file is still under its old name in the old tree, a directory is not.
            Some(from) => old.get(path).or_else(|| old.get(from)),
            None => old.get(path),
        };
        match (before, new.get(path)) {
            (None, None) => panic!("{label}: it never was there"),
            (None, Some(_)) => assert!(change.is_some_and(|c| c.before.is_none() && c.after.is_some()), "{label}"),
            (Some(_), None) => {
                assert!(
                    left.contains(path) || change.is_some_and(|c| c.before.is_some() && c.after.is_none()),
                    "{label}"
                );
            }
            (Some(before), Some(after)) => {
                let aspects = change.map_or(Vec::new(), |change| change.aspects.clone());
                assert!(from.is_none() || before.local == after.local, "{label}: another inode");
                if before.kind != after.kind {
                    assert_eq!(aspects, [Aspect::Kind], "{label}");
                    continue;
                }
                assert_eq!(aspects.contains(&Aspect::Content), before.content != after.content, "{label}");
                assert_eq!(aspects.contains(&Aspect::Mode), before.perm != after.perm, "{label}");
                assert_eq!(aspects.contains(&Aspect::Xattrs), before.xattrs != after.xattrs, "{label}");
            }
        }
    }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// One change somewhere in a thread; some cannot be made, and are not.
fn change(fs: &Fs, root: Node, dice: &mut Dice) {
    let tree = walk(fs, root);
    let at = |local: u64| root.sibling(threadfs::store::Local(local));
    let directories: Vec<Node> =
        tree.values().filter(|found| found.kind == Kind::Directory).map(|found| at(found.local)).collect();
    let all: Vec<(&String, Node, Kind)> = tree
        .iter()
        .filter(|(path, _)| !path.is_empty())
        .map(|(path, found)| (path, at(found.local), found.kind))
        .collect();
    let dir = *dice.one(&directories);
    let name = *dice.one(&[&b"a"[..], b"b", b"c", b"d"]);
    let place = |path: &str| {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        (at(tree[above].local), name.as_bytes().to_vec())
    };
    if all.is_empty() || dice.below(4) == 0 {
        if fs.lookup(dir, name).is_err() {
            match dice.below(2) {
                0 => drop(mkdir(fs, dir, std::str::from_utf8(name).unwrap())),
                _ => drop(file(fs, dir, std::str::from_utf8(name).unwrap(), b"new")),
            }
        }
        return;
    }
    let (path, picked, kind) = *dice.one(&all);
    let (above, old_name) = place(path);
    // What cannot be done is refused and changes nothing.
    let refused = match (dice.below(6), kind) {
        (0, Kind::Directory) => fs.rmdir(ROOT_USER, above, &old_name).err(),
        (0, _) => fs.unlink(ROOT_USER, above, &old_name).err(),
        (1, Kind::File) => fs.link(picked, dir, name).err(),
        (2, Kind::File) => {
            let fh = open(fs, picked);
            fs.write(fh, dice.below(30_000) as u64, &[dice.below(3) as u8], 0, None).unwrap();
            fs.release(fh);
            None
        }
        (3, _) => {
            let mode = Some(0o700 + dice.below(3) as u32);
            fs.setattr(ROOT_USER, picked, SetAttr { mode, ..SetAttr::default() }, None).err()
        }
        (4, _) => fs.setxattr(ROOT_USER, picked, b"user.x", &[dice.below(3) as u8], 0).err(),
        _ => {
            let mode = if dice.below(3) == 0 { RenameMode::Exchange } else { RenameMode::Replace };
            // The kernel refuses to move a directory into itself.
            let target = tree.iter().find(|(_, found)| at(found.local) == dir).map(|(path, _)| format!("{path}/"));
            let into_itself = target.is_some_and(|target| target.starts_with(&format!("{path}/")));
            let over = tree.iter().any(|(other, found)| {
                format!("{path}/").starts_with(&format!("{other}/"))
                    && place(other) == (dir, name.to_vec())
                    && !other.is_empty()
                    && found.kind == Kind::Directory
            });
            match into_itself || over {
                true => None,
                false => fs.rename(ROOT_USER, (above, &old_name), (dir, name), mode).err(),
            }
        }
    };
    drop(refused);
}

#[test]
fn every_difference_and_no_other() {
    let (mut renames, mut told) = (0, 0);
    for seed in 0..120 {
        let (_, fs) = fresh();
        let root = thread(&fs, "t");
        let mut dice = Dice(seed);
        for _ in 0..25 {
            change(&fs, root, &mut dice);
        }
        let snapshots = node(&fs.lookup(root, b".snapshots").unwrap());
        let first = node(&fs.mkdir(ROOT_USER, snapshots, b"first", 0o755).unwrap());
        for _ in 0..1 + dice.below(12) {
            change(&fs, root, &mut dice);
        }
        let second = node(&fs.mkdir(ROOT_USER, snapshots, b"second", 0o755).unwrap());
        for _ in 0..dice.below(8) {
            change(&fs, root, &mut dice);
        }
        let number = |view: Node| -> u64 {
            String::from_utf8(fs.getxattr(view, b"user.threadfs.version").unwrap()).unwrap().parse().unwrap()
        };
        let changes = |from: Node, to: Option<Node>| {
            fs.store().comparison(root.realm, number(from), to.map(number)).changes().unwrap()
        };
        let (one, two, now) = (walk(&fs, first), walk(&fs, second), walk(&fs, root));
        for (from, to, old, new) in
            [(first, Some(second), &one, &two), (first, None, &one, &now), (second, None, &two, &now)]
        {
            let changes = changes(from, to);
            renames += changes.iter().filter(|change| change.renamed_from.is_some()).count();
            told += changes.len();
            check(old, new, &changes, &format!("seed {seed}"));
        }
        assert_eq!(errno(fs.lookup(snapshots, b"third")), libc::ENOENT);
    }
    assert!(renames > 50 && told > 500, "{renames} of {told}: too little was compared");
}
