//! The tree in memory: inodes in a map, each directory with its names in the order in
//! which they came, so that a position in a listing survives changes.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::SystemTime;

use fuser::{Errno, FileAttr, FileType, INodeNo};

/// The root's inode number, fixed by FUSE.
pub const ROOT: u64 = 1;

/// All is in memory, holes too.
const LARGEST_FILE: usize = 4 << 30;

/// An inode.
pub struct Node {
    pub attr: FileAttr,
    pub body: Body,
    /// Named like a document when it got its last name: opened with direct I/O.
    pub document: bool,
    opens: u32,
}

/// What an inode holds.
pub enum Body {
    File(Vec<u8>),
    Directory(Directory),
    Link(Vec<u8>),
}

/// The names of a directory. The cookie of an entry is its place in the listing.
pub struct Directory {
    pub parent: u64,
    pub entries: BTreeMap<u64, (OsString, u64)>,
    cookies: HashMap<OsString, u64>,
    next_cookie: u64,
}

/// Who asks for a new inode, and with which mode.
pub struct Creator {
    pub uid: u32,
    pub gid: u32,
    pub mode: u32,
}

/// All inodes.
pub struct Tree {
    nodes: HashMap<u64, Node>,
    next_ino: u64,
}

impl Directory {
    fn new(parent: u64) -> Self {
        // Cookies 1 and 2 are "." and "..".
        Self { parent, entries: BTreeMap::new(), cookies: HashMap::new(), next_cookie: 3 }
    }

    fn get(&self, name: &OsStr) -> Option<u64> {
        let cookie = self.cookies.get(name)?;
        self.entries.get(cookie).map(|(_, ino)| *ino)
    }

    fn insert(&mut self, name: &OsStr, ino: u64) {
        let cookie = self.next_cookie;
        self.next_cookie += 1;
        self.cookies.insert(name.into(), cookie);
        self.entries.insert(cookie, (name.into(), ino));
    }

    fn remove(&mut self, name: &OsStr) {
        if let Some(cookie) = self.cookies.remove(name) {
            self.entries.remove(&cookie);
        }
    }
}

impl Tree {
    /// An empty tree whose root belongs to the caller of the process.
    pub fn new() -> Self {
        let mut tree = Self { nodes: HashMap::new(), next_ino: ROOT };
        // SAFETY: getuid and getgid always succeed.
        let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
        let by = Creator { uid, gid, mode: 0o755 };
        tree.add(&by, Body::Directory(Directory::new(ROOT)), false);
        tree
    }

    pub fn node(&self, ino: u64) -> Result<&Node, Errno> {
        self.nodes.get(&ino).ok_or(Errno::ENOENT)
    }

    pub fn node_mut(&mut self, ino: u64) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&ino).ok_or(Errno::ENOENT)
    }

    pub fn directory(&self, ino: u64) -> Result<&Directory, Errno> {
        match &self.node(ino)?.body {
            Body::Directory(directory) => Ok(directory),
            _ => Err(Errno::ENOTDIR),
        }
    }

    pub fn lookup(&self, parent: u64, name: &OsStr) -> Result<&Node, Errno> {
        let ino = self.directory(parent)?.get(name).ok_or(Errno::ENOENT)?;
        self.node(ino)
    }

    /// Makes an inode and names it; the name must be free.
    pub fn create(&mut self, parent: u64, name: &OsStr, by: &Creator, body: Body) -> Result<u64, Errno> {
        if name.len() > 255 {
            return Err(Errno::ENAMETOOLONG);
        }
        if self.directory(parent)?.get(name).is_some() {
            return Err(Errno::EEXIST);
        }
        let ino = self.add(by, body, is_document(name));
        self.attach(parent, name, ino)?;
        Ok(ino)
    }

    pub fn make_directory(&mut self, parent: u64, name: &OsStr, by: &Creator) -> Result<u64, Errno> {
        self.create(parent, name, by, Body::Directory(Directory::new(parent)))
    }

    pub fn link(&mut self, ino: u64, parent: u64, name: &OsStr) -> Result<(), Errno> {
        if self.directory(parent)?.get(name).is_some() {
            return Err(Errno::EEXIST);
        }
        let node = self.node_mut(ino)?;
        node.attr.nlink += 1;
        node.attr.ctime = SystemTime::now();
        self.attach(parent, name, ino)
    }

    pub fn unlink(&mut self, parent: u64, name: &OsStr) -> Result<(), Errno> {
        let ino = self.lookup(parent, name)?.attr.ino.0;
        self.detach(parent, name, ino)?;
        self.drop_link(ino);
        Ok(())
    }

    pub fn rmdir(&mut self, parent: u64, name: &OsStr) -> Result<(), Errno> {
        let ino = self.lookup(parent, name)?.attr.ino.0;
        if !self.directory(ino)?.entries.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        self.unlink(parent, name)
    }

    pub fn rename(&mut self, from: (u64, &OsStr), to: (u64, &OsStr)) -> Result<(), Errno> {
        let ino = self.lookup(from.0, from.1)?.attr.ino.0;
        match self.lookup(to.0, to.1).map(|node| (node.attr.ino.0, node.attr.kind)) {
            Ok((old, _)) if old == ino => return Ok(()),
            Ok((_, FileType::Directory)) => self.rmdir(to.0, to.1)?,
            Ok(_) => self.unlink(to.0, to.1)?,
            Err(_) => {}
        }
        self.detach(from.0, from.1, ino)?;
        self.attach(to.0, to.1, ino)?;
        let node = self.node_mut(ino)?;
        node.document = is_document(to.1);
        node.attr.ctime = SystemTime::now();
        if let Body::Directory(directory) = &mut node.body {
            directory.parent = to.0;
        }
        Ok(())
    }

    pub fn opened(&mut self, ino: u64, truncate: bool) -> Result<&Node, Errno> {
        let node = self.node_mut(ino)?;
        node.opens += 1;
        if truncate {
            node.resize(0)?;
        }
        Ok(node)
    }

    pub fn released(&mut self, ino: u64) {
        if let Ok(node) = self.node_mut(ino) {
            node.opens = node.opens.saturating_sub(1);
        }
        self.drop_unused(ino);
    }

    /// How many inodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    fn add(&mut self, by: &Creator, body: Body, document: bool) -> u64 {
        let ino = self.next_ino;
        self.next_ino += 1;
        let (kind, size, nlink) = match &body {
            Body::File(_) => (FileType::RegularFile, 0, 1),
            Body::Directory(_) => (FileType::Directory, 4096, 2),
            Body::Link(target) => (FileType::Symlink, target.len() as u64, 1),
        };
        let now = SystemTime::now();
        let attr = FileAttr {
            ino: INodeNo(ino),
            size,
            blocks: size.div_ceil(512),
            atime: now,
            mtime: now,
            ctime: now,
            crtime: now,
            kind,
            perm: (by.mode & 0o7777) as u16,
            nlink,
            uid: by.uid,
            gid: by.gid,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        };
        self.nodes.insert(ino, Node { attr, body, document, opens: 0 });
        ino
    }

    fn attach(&mut self, parent: u64, name: &OsStr, ino: u64) -> Result<(), Errno> {
        let is_dir = self.node(ino)?.attr.kind == FileType::Directory;
        self.changed(parent, |directory| directory.insert(name, ino), i64::from(is_dir))
    }

    fn detach(&mut self, parent: u64, name: &OsStr, ino: u64) -> Result<(), Errno> {
        let is_dir = self.node(ino)?.attr.kind == FileType::Directory;
        self.changed(parent, |directory| directory.remove(name), -i64::from(is_dir))
    }

    /// Applies a change to a directory: its times, and its links when a subdirectory came or went.
    fn changed(&mut self, ino: u64, change: impl FnOnce(&mut Directory), links: i64) -> Result<(), Errno> {
        let node = self.node_mut(ino)?;
        let Body::Directory(directory) = &mut node.body else {
            return Err(Errno::ENOTDIR);
        };
        change(directory);
        node.attr.nlink = node.attr.nlink.saturating_add_signed(links as i32);
        node.attr.mtime = SystemTime::now();
        node.attr.ctime = node.attr.mtime;
        Ok(())
    }

    fn drop_link(&mut self, ino: u64) {
        if let Ok(node) = self.node_mut(ino) {
            let last = if node.attr.kind == FileType::Directory { 2 } else { 1 };
            node.attr.nlink = node.attr.nlink.saturating_sub(last);
            node.attr.ctime = SystemTime::now();
        }
        self.drop_unused(ino);
    }

    fn drop_unused(&mut self, ino: u64) {
        if self.node(ino).is_ok_and(|node| node.attr.nlink == 0 && node.opens == 0) {
            self.nodes.remove(&ino);
        }
    }
}

impl Node {
    /// The bytes from `offset`, at most `size` of them.
    pub fn read(&self, offset: u64, size: u32) -> &[u8] {
        let Body::File(data) = &self.body else {
            return &[];
        };
        let start = (offset as usize).min(data.len());
        let end = start.saturating_add(size as usize).min(data.len());
        data.get(start..end).unwrap_or_default()
    }

    pub fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
        let Body::File(data) = &mut self.body else {
            return Err(Errno::EISDIR);
        };
        let start = offset as usize;
        let end = start.saturating_add(bytes.len());
        if end > LARGEST_FILE {
            return Err(Errno::EFBIG);
        }
        if start == data.len() {
            data.extend_from_slice(bytes);
        } else {
            if data.len() < end {
                data.resize(end, 0);
            }
            if let Some(target) = data.get_mut(start..end) {
                target.copy_from_slice(bytes);
            }
        }
        self.content_changed();
        Ok(())
    }

    pub fn resize(&mut self, size: u64) -> Result<(), Errno> {
        let Body::File(data) = &mut self.body else {
            return Err(Errno::EISDIR);
        };
        if size as usize > LARGEST_FILE {
            return Err(Errno::EFBIG);
        }
        data.resize(size as usize, 0);
        self.content_changed();
        Ok(())
    }

    fn content_changed(&mut self) {
        if let Body::File(data) = &self.body {
            self.attr.size = data.len() as u64;
            self.attr.blocks = self.attr.size.div_ceil(512);
        }
        self.attr.mtime = SystemTime::now();
        self.attr.ctime = self.attr.mtime;
    }
}

/// threadfs opens documents with direct I/O; here the ending of the name decides.
fn is_document(name: &OsStr) -> bool {
    name.as_bytes().ends_with(b".json")
}
