//! The whole tree, compared.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use threadfs::engine::Keyspace;
use threadfs::fs::{Attr, Fs, Node};
use threadfs::store::key;
use threadfs::store::record::{Kind, Timestamp};
use threadfs::store::{HOME, ROOT as ROOT_LOCAL, Records, Store};

use super::tree::{Id, Inode, Moment, ROOT, Role};
use super::world::World;
use crate::support::{content, errno};

impl World {
    /// Compares everything but contents; those that changed, or all.
    pub fn verify(&mut self, all_content: bool) {
        let ids: Vec<Id> = self.tree.inodes.keys().copied().collect();
        for id in &ids {
            self.verify_inode(*id);
        }
        for node in std::mem::take(&mut self.freed) {
            assert_eq!(errno(self.fs().getattr(node)), libc::ESTALE, "{node:?} has to be freed");
        }
        let touched = std::mem::take(&mut self.touched);
        for id in ids.iter().filter(|id| all_content || touched.contains(id)) {
            self.verify_content(*id);
        }
        self.verify_usage();
        if all_content {
            self.verify_rejected();
        }
    }

    fn verify_inode(&mut self, id: Id) {
        let (attr, _) = self.fs().getattr(self.node(id)).unwrap_or_else(|e| panic!("{}: {e}", self.show(id)));
        let shown = self.show(id);
        self.verify_attr(id, &attr, &shown);
        let inode = self.tree.get(id);
        if inode.is_dir() {
            self.verify_list(id, inode, &shown);
        }
        if inode.kind == Kind::Symlink {
            assert_eq!(self.fs().readlink(inode.node).unwrap(), inode.target, "{shown}: target");
        }
        verify_xattrs(self.fs(), inode, &shown);
        // From now on the times are known exactly.
        let inode = self.tree.get_mut(id);
        (inode.mtime, inode.ctime) = (Moment::at(attr.mtime), Moment::at(attr.ctime));
    }

    fn verify_attr(&self, id: Id, attr: &Attr, shown: &str) {
        let inode = self.tree.get(id);
        let size = match inode.kind {
            Kind::Directory => attr.size,
            Kind::Symlink => inode.target.len() as u64,
            _ => inode.data.len() as u64,
        };
        let wanted =
            (inode.node.ino(), inode.kind, inode.perm, self.tree.nlink(id), inode.uid, inode.gid, inode.rdev, size);
        let found =
            (attr.ino, attr.kind, u32::from(attr.perm), attr.nlink as usize, attr.uid, attr.gid, attr.rdev, attr.size);
        assert_eq!(found, wanted, "{shown}: (ino, kind, perm, nlink, uid, gid, rdev, size)");
        let now = Timestamp::now();
        for (what, found, wanted) in [("mtime", attr.mtime, inode.mtime), ("ctime", attr.ctime, inode.ctime)] {
            // What changed in this step changed before now.
            let wanted = if wanted.from < self.began { wanted } else { Moment { to: now, ..wanted } };
            assert!(
                wanted.holds(found),
                "{shown}: {what} is {found:?} and not {wanted:?}; the step began at {:?}",
                self.began
            );
        }
        if inode.kind == Kind::File {
            let has_data = inode.data.iter().any(|byte| *byte != 0);
            assert!(attr.blocks > 0 || !has_data, "{shown}: data takes room");
            assert!(attr.blocks == 0 || attr.size > 0, "{shown}: nothing takes room");
        }
    }

    fn verify_list(&self, id: Id, inode: &Inode, shown: &str) {
        let listed = self.fs().readdir(inode.node, 0, usize::MAX).unwrap();
        let (dots, names): (Vec<_>, Vec<_>) =
            listed.into_iter().partition(|entry| entry.name.iter().all(|b| *b == b'.'));
        let found: BTreeMap<_, _> = names.iter().map(|entry| (&entry.name, (entry.node, entry.kind))).collect();
        let of = |id: &Id| (self.node(*id), self.tree.get(*id).kind);
        let wanted: BTreeMap<_, _> = inode.entries.iter().map(|(name, id)| (name, of(id))).collect();
        assert_eq!(found, wanted, "{shown}: names");
        assert_eq!(names.len(), inode.entries.len(), "{shown}: a name is listed twice");
        assert_eq!(dots.len(), 2, "{shown}: . and ..");
        assert_eq!(dots[0].node, inode.node, "{shown}: .");
        if self.tree.is_named(id) {
            assert_eq!(dots[1].node, self.node(inode.parent), "{shown}: ..");
        }
        for (name, child) in &inode.entries {
            let entry = self.fs().lookup(inode.node, name).unwrap();
            self.fs().forget(self.node(*child), 1);
            assert_eq!(Node::from_ino(entry.attr.ino), self.node(*child), "{shown}: lookup of {name:?}");
        }
        if inode.entries.is_empty() {
            assert_eq!(errno(self.fs().lookup(inode.node, b"a")), libc::ENOENT);
        }
    }

    fn verify_content(&self, id: Id) {
        let inode = self.tree.get(id);
        let can_be_opened = self.tree.is_named(id) || inode.open.is_some();
        if inode.kind != Kind::File || inode.pending.is_some() || !can_be_opened {
            return;
        }
        let wanted = match self.role(id) {
            Role::Document => match self.committed(id) {
                Ok(bytes) => bytes,
                Err(_) => return,
            },
            Role::Lock if inode.data.is_empty() => b"[]\n".to_vec(),
            _ => inode.data.clone(),
        };
        let found = content(self.fs(), inode.node);
        assert!(found == wanted, "{}: the content differs: {} bytes, not {}", self.show(id), found.len(), wanted.len());
    }

    fn verify_usage(&self) {
        let usage = self.fs().store().usage();
        assert_eq!(usage.inodes, self.tree.named_count(), "usage: inodes");
        let reader = self.fs().store().reader();
        let named = self.tree.inodes.iter().filter(|(id, _)| self.tree.is_named(**id));
        let bytes: u64 =
            named.map(|(_, inode)| reader.inode(inode.node.realm, inode.node.local).unwrap().unwrap().allocated).sum();
        assert_eq!(usage.bytes, bytes, "usage: bytes");
        // What has no name is an orphan exactly while it is known.
        let nameless =
            self.tree.inodes.iter().filter(|(id, inode)| inode.pending.is_none() && !self.tree.is_named(**id)).count();
        assert_eq!(orphans(self.fs().store()), nameless, "orphans");
    }

    fn verify_rejected(&self) {
        let control = Node::from_ino(self.fs().lookup(Node::ROOT, b".threadfs").unwrap().attr.ino);
        let rejected = Node::from_ino(self.fs().lookup(control, b"rejected").unwrap().attr.ino);
        let mut kept = Vec::new();
        for entry in self.fs().readdir(rejected, 0, usize::MAX).unwrap() {
            if entry.kind == Kind::File && entry.name != b"index.json" {
                kept.push(content(self.fs(), entry.node));
            }
        }
        for draft in &self.rejected {
            assert!(kept.contains(draft), "a refused draft is not kept: {:?}", String::from_utf8_lossy(draft));
        }
    }

    /// Nothing is left but the root, and refused drafts.
    pub fn verify_empty(&self) {
        let mut left = Vec::new();
        for space in [Keyspace::Meta, Keyspace::Data] {
            let mut add = |key: &[u8], _: &[u8]| {
                let of_root = key::number_of(key).is_none_or(|number| number == ROOT_LOCAL.0);
                let of_home = key::realm_of(key) == Some(HOME) && b"RNIUAX".contains(&key[0]) && of_root;
                let of_drafts = key[0] == key::tag::REJECTED;
                let expected = match space {
                    Keyspace::Meta => key == key::SUPERBLOCK || of_home || of_drafts,
                    Keyspace::Data => key.starts_with(&[0xff; 4]),
                };
                if !expected {
                    left.push(String::from_utf8_lossy(key).into_owned());
                }
                ControlFlow::Continue(())
            };
            self.fs().store().engine().scan(space, b"", b"", &mut add).unwrap();
        }
        assert!(left.is_empty(), "left in the store: {left:?}");
    }

    /// An inode for messages.
    pub fn show(&self, id: Id) -> String {
        if id == ROOT {
            return "/".into();
        }
        let inode = self.tree.get(id);
        match self.tree.names(id).first() {
            Some((dir, name)) => format!("{}{}/", self.show(*dir), String::from_utf8_lossy(name)),
            None => format!("({:?} without a name, {:?})", inode.kind, inode.node),
        }
    }
}

fn verify_xattrs(fs: &Fs, inode: &Inode, shown: &str) {
    let list = fs.listxattr(inode.node).unwrap();
    let found: BTreeMap<Vec<u8>, Vec<u8>> = list
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| (name.to_vec(), fs.getxattr(inode.node, name).unwrap()))
        .collect();
    assert_eq!(found, inode.xattrs, "{shown}: extended attributes");
    assert_eq!(errno(fs.getxattr(inode.node, b"user.never")), libc::ENODATA);
}

fn orphans(store: &Store) -> usize {
    let mut count = 0;
    let prefix = key::all(key::tag::ORPHAN);
    store
        .engine()
        .scan(Keyspace::Meta, &prefix, &key::after(&prefix), &mut |_, _| {
            count += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
    count
}
