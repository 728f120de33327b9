//! The model: a POSIX tree in plain maps, and what section 3 of the design says of documents.

use std::collections::BTreeMap;

use threadfs::fs::Node;
use threadfs::store::record::{Kind, Timestamp};

pub type Id = usize;

pub const ROOT: Id = 0;

/// When something happened, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Moment {
    pub fn at(time: Timestamp) -> Moment {
        Moment { from: time, to: time }
    }

    /// Between `from` and now.
    pub fn since(from: Timestamp) -> Moment {
        Moment { from, to: Timestamp::now() }
    }

    pub fn holds(&self, time: Timestamp) -> bool {
        self.from <= time && time <= self.to
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Ordinary,
    /// Ordinary, in a directory that has documents.
    Beside,
    Document,
    Lock,
}

/// What is shared by all that have an inode open.
#[derive(Debug, Clone)]
pub struct Open {
    pub role: Role,
    pub count: usize,
    pub writers: usize,
    /// Where several wrote a file beside documents: what the one wrote that closed last.
    pub finished: Option<Vec<u8>>,
}

#[derive(Debug, Clone)]
pub struct Inode {
    /// What the filesystem calls it.
    pub node: Node,
    pub kind: Kind,
    pub perm: u32,
    pub uid: u32,
    pub gid: u32,
    pub rdev: u32,
    pub data: Vec<u8>,
    pub target: Vec<u8>,
    pub xattrs: BTreeMap<Vec<u8>, Vec<u8>>,
    pub entries: BTreeMap<Vec<u8>, Id>,
    /// Of a directory.
    pub parent: Id,
    /// The root of the thread that it is in.
    pub thread: Option<Id>,
    pub mtime: Moment,
    pub ctime: Moment,
    /// What the kernel would count.
    pub lookups: u64,
    pub open: Option<Open>,
    /// Of a document before its first commit: where its name will be.
    pub pending: Option<(Id, Vec<u8>)>,
}

impl Inode {
    pub fn is_dir(&self) -> bool {
        self.kind == Kind::Directory
    }
}

#[derive(Debug, Default, Clone)]
pub struct Tree {
    pub inodes: BTreeMap<Id, Inode>,
    next: Id,
}

impl Tree {
    pub fn add(&mut self, inode: Inode) -> Id {
        let id = self.next;
        self.next += 1;
        self.inodes.insert(id, inode);
        id
    }

    pub fn get(&self, id: Id) -> &Inode {
        &self.inodes[&id]
    }

    pub fn get_mut(&mut self, id: Id) -> &mut Inode {
        self.inodes.get_mut(&id).unwrap()
    }

    pub fn child(&self, dir: Id, name: &[u8]) -> Option<Id> {
        self.get(dir).entries.get(name).copied()
    }

    /// All names of an inode.
    pub fn names(&self, id: Id) -> Vec<(Id, Vec<u8>)> {
        let each =
            self.inodes.iter().flat_map(|(dir, inode)| inode.entries.iter().map(move |(name, id)| (*dir, name, *id)));
        each.filter(|(.., target)| *target == id).map(|(dir, name, _)| (dir, name.clone())).collect()
    }

    pub fn is_named(&self, id: Id) -> bool {
        id == ROOT || !self.names(id).is_empty()
    }

    pub fn nlink(&self, id: Id) -> usize {
        match (self.get(id).is_dir(), self.is_named(id)) {
            (true, true) => 2 + self.get(id).entries.values().filter(|child| self.get(**child).is_dir()).count(),
            (true, false) => 0,
            (false, _) if self.get(id).pending.is_some() => 1,
            (false, _) => self.names(id).len(),
        }
    }

    /// The names that lead to a directory; None when it has been removed.
    pub fn path(&self, dir: Id) -> Option<Vec<Vec<u8>>> {
        let mut path = Vec::new();
        let mut at = dir;
        while at != ROOT {
            let (parent, name) = self.names(at).into_iter().next()?;
            path.push(name);
            at = parent;
        }
        path.reverse();
        Some(path)
    }

    /// Whether directories made here are threads: in /threads and in /users/*/threads.
    pub fn makes_threads(&self, dir: Id) -> bool {
        let Some(path) = self.path(dir) else { return false };
        match &path[..] {
            [threads] => threads == b"threads",
            [users, _, threads] => users == b"users" && threads == b"threads",
            _ => false,
        }
    }

    /// What a regular file of this name is: in a thread, *.json and *.lock are special.
    pub fn role(&self, dir: Id, name: &[u8]) -> Role {
        let in_thread = match self.path(dir).as_deref() {
            Some([threads, _]) => threads == b"threads",
            Some([users, _, threads, _]) => users == b"users" && threads == b"threads",
            _ => false,
        };
        match () {
            () if in_thread && name.ends_with(b".json") => Role::Document,
            () if in_thread && name.ends_with(b".lock") => Role::Lock,
            () if in_thread => Role::Beside,
            () => Role::Ordinary,
        }
    }

    /// What an inode is: what it was opened as, else what its name says.
    pub fn role_of(&self, id: Id) -> Role {
        let inode = self.get(id);
        if inode.kind != Kind::File {
            return Role::Ordinary;
        }
        match (&inode.open, self.names(id).first()) {
            (Some(open), _) => open.role,
            (None, Some((dir, name))) => self.role(*dir, name),
            (None, None) => Role::Ordinary,
        }
    }

    /// Whether a directory is another one or lies below it.
    pub fn is_within(&self, dir: Id, other: Id) -> bool {
        let mut at = dir;
        loop {
            if at == other {
                return true;
            }
            if at == ROOT || !self.is_named(at) {
                return false;
            }
            at = self.get(at).parent;
        }
    }

    /// All inodes below a directory.
    pub fn below(&self, dir: Id) -> Vec<Id> {
        let children: Vec<Id> = self.get(dir).entries.values().copied().collect();
        let deeper: Vec<Id> = children.iter().flat_map(|child| self.below(*child)).collect();
        [children, deeper].concat()
    }

    /// Frees what nobody knows and what has no name.
    pub fn sweep(&mut self) {
        let gone: Vec<Id> = self
            .inodes
            .iter()
            .filter(|(id, inode)| inode.lookups == 0 && inode.pending.is_none() && !self.is_named(**id))
            .map(|(id, _)| *id)
            .collect();
        for id in gone {
            self.inodes.remove(&id);
        }
    }

    /// The inodes that have a name: what the usage counts.
    pub fn named_count(&self) -> u64 {
        self.inodes.keys().filter(|id| self.is_named(**id)).count() as u64
    }
}

/// Whether a text is a document, by another parser's judgement than the filesystem's own code.
pub fn is_document(text: &[u8]) -> bool {
    matches!(serde_json::from_slice(text), Ok(serde_json::Value::Object(_) | serde_json::Value::Array(_)))
}
