//! The FUSE operations on the tree, with the flags and times that threadfs uses.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow,
    WriteFlags,
};
use parking_lot::RwLock;

use crate::tree::{Body, Creator, Node, Tree};

const TTL: Duration = Duration::from_secs(3600);
const GENERATION: Generation = Generation(0);
const MAX_WRITE: u32 = 1 << 20;

/// The filesystem: one tree under one lock.
pub struct NullFs {
    tree: RwLock<Tree>,
}

impl NullFs {
    pub fn new() -> Self {
        Self { tree: RwLock::new(Tree::new()) }
    }

    fn attr(&self, ino: u64) -> Result<FileAttr, Errno> {
        self.tree.read().node(ino).map(|node| node.attr)
    }

    /// Calls `add` for each entry after `offset` until it says that the buffer is full.
    fn list(&self, ino: u64, offset: u64, mut add: impl FnMut(&FileAttr, u64, &OsStr) -> bool) -> Result<(), Errno> {
        let tree = self.tree.read();
        let directory = tree.directory(ino)?;
        let dots = [(1, ".", ino), (2, "..", directory.parent)];
        for (cookie, name, target) in dots {
            if cookie > offset && add(&tree.node(target)?.attr, cookie, OsStr::new(name)) {
                return Ok(());
            }
        }
        for (cookie, (name, target)) in directory.entries.range(offset.max(2) + 1..) {
            if add(&tree.node(*target)?.attr, *cookie, name) {
                return Ok(());
            }
        }
        Ok(())
    }
}

fn creator(req: &Request, mode: u32, umask: u32) -> Creator {
    Creator { uid: req.uid(), gid: req.gid(), mode: mode & !umask }
}

/// Documents bypass the page cache, and their close tells the filesystem.
fn open_flags(node: &Node, flags: OpenFlags) -> FopenFlags {
    match (node.document, flags.acc_mode()) {
        (false, _) => FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_NOFLUSH,
        (true, OpenAccMode::O_RDONLY) => FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_NOFLUSH,
        (true, _) => FopenFlags::FOPEN_DIRECT_IO,
    }
}

fn reply_entry(reply: ReplyEntry, result: Result<FileAttr, Errno>) {
    match result {
        Ok(attr) => reply.entry(&TTL, &attr, GENERATION),
        Err(error) => reply.error(error),
    }
}

fn reply_attr(reply: ReplyAttr, result: Result<FileAttr, Errno>) {
    match result {
        Ok(attr) => reply.attr(&TTL, &attr),
        Err(error) => reply.error(error),
    }
}

fn reply_empty(reply: ReplyEmpty, result: Result<(), Errno>) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

fn time(value: TimeOrNow) -> SystemTime {
    match value {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
    }
}

impl Filesystem for NullFs {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let wanted = InitFlags::FUSE_ASYNC_READ
            | InitFlags::FUSE_BIG_WRITES
            | InitFlags::FUSE_MAX_PAGES
            | InitFlags::FUSE_ATOMIC_O_TRUNC
            | InitFlags::FUSE_DO_READDIRPLUS
            | InitFlags::FUSE_READDIRPLUS_AUTO
            | InitFlags::FUSE_PARALLEL_DIROPS
            | InitFlags::FUSE_HANDLE_KILLPRIV_V2
            | InitFlags::FUSE_CACHE_SYMLINKS
            | InitFlags::FUSE_ASYNC_DIO;
        config
            .add_capabilities(wanted)
            .map_err(|missing| io::Error::other(format!("the kernel does not know these flags: {missing:?}")))?;
        config.set_max_write(MAX_WRITE).map_err(|nearest| io::Error::other(format!("max_write: at most {nearest}")))?;
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.tree.read().lookup(parent.0, name).map(|node| node.attr);
        reply_entry(reply, found);
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        reply_attr(reply, self.attr(ino.0));
    }

    fn setattr(
        &self,
        _req: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut tree = self.tree.write();
        let result = tree.node_mut(ino.0).and_then(|node| {
            if let Some(size) = size {
                node.resize(size)?;
            }
            let attr = &mut node.attr;
            attr.perm = mode.map_or(attr.perm, |mode| (mode & 0o7777) as u16);
            attr.uid = uid.unwrap_or(attr.uid);
            attr.gid = gid.unwrap_or(attr.gid);
            attr.atime = atime.map_or(attr.atime, time);
            attr.mtime = mtime.map_or(attr.mtime, time);
            attr.ctime = SystemTime::now();
            Ok(*attr)
        });
        reply_attr(reply, result);
    }

    fn readlink(&self, _req: &Request, ino: INodeNo, reply: ReplyData) {
        match self.tree.read().node(ino.0).map(|node| &node.body) {
            Ok(Body::Link(target)) => reply.data(target),
            Ok(_) => reply.error(Errno::EINVAL),
            Err(error) => reply.error(error),
        }
    }

    fn mkdir(&self, req: &Request, parent: INodeNo, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        let made = self.tree.write().make_directory(parent.0, name, &creator(req, mode, umask));
        reply_entry(reply, made.and_then(|ino| self.attr(ino)));
    }

    fn symlink(&self, req: &Request, parent: INodeNo, link_name: &OsStr, target: &Path, reply: ReplyEntry) {
        let body = Body::Link(target.as_os_str().as_bytes().to_vec());
        let made = self.tree.write().create(parent.0, link_name, &creator(req, 0o777, 0), body);
        reply_entry(reply, made.and_then(|ino| self.attr(ino)));
    }

    fn link(&self, _req: &Request, ino: INodeNo, newparent: INodeNo, newname: &OsStr, reply: ReplyEntry) {
        let linked = self.tree.write().link(ino.0, newparent.0, newname);
        reply_entry(reply, linked.and_then(|()| self.attr(ino.0)));
    }

    fn unlink(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(reply, self.tree.write().unlink(parent.0, name));
    }

    fn rmdir(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        reply_empty(reply, self.tree.write().rmdir(parent.0, name));
    }

    fn rename(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let mut tree = self.tree.write();
        let taken = tree.lookup(newparent.0, newname).is_ok();
        let result = match flags {
            RenameFlags::RENAME_NOREPLACE if taken => Err(Errno::EEXIST),
            _ if !(flags - RenameFlags::RENAME_NOREPLACE).is_empty() => Err(Errno::EINVAL),
            _ => tree.rename((parent.0, name), (newparent.0, newname)),
        };
        reply_empty(reply, result);
    }

    fn open(&self, _req: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let truncate = flags.0 & libc::O_TRUNC != 0;
        match self.tree.write().opened(ino.0, truncate) {
            Ok(node) => reply.opened(FileHandle(0), open_flags(node, flags)),
            Err(error) => reply.error(error),
        }
    }

    fn create(
        &self,
        req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let mut tree = self.tree.write();
        let by = creator(req, mode, umask);
        let made = tree.create(parent.0, name, &by, Body::File(Vec::new()));
        match made.and_then(|ino| tree.opened(ino, false)) {
            Ok(node) => {
                let how = open_flags(node, OpenFlags(flags));
                reply.created(&TTL, &node.attr, GENERATION, FileHandle(0), how);
            }
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.tree.read().node(ino.0) {
            Ok(node) => reply.data(node.read(offset, size)),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        write_flags: WriteFlags,
        flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut tree = self.tree.write();
        let append = flags.0 & libc::O_APPEND != 0 && !write_flags.contains(WriteFlags::FUSE_WRITE_CACHE);
        let result = tree.node_mut(ino.0).and_then(|node| {
            let at = if append { node.attr.size } else { offset };
            node.write(at, data)
        });
        match result {
            Ok(()) => reply.written(data.len() as u32),
            Err(error) => reply.error(error),
        }
    }

    fn flush(&self, _req: &Request, _ino: INodeNo, _fh: FileHandle, _lock_owner: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.tree.write().released(ino.0);
        reply.ok();
    }

    fn fsync(&self, _req: &Request, _ino: INodeNo, _fh: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn opendir(&self, _req: &Request, _ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_CACHE_DIR;
        reply.opened(FileHandle(0), flags);
    }

    fn readdir(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let add = |attr: &FileAttr, cookie, name: &OsStr| reply.add(attr.ino, cookie, attr.kind, name);
        match self.list(ino.0, offset, add) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn readdirplus(&self, _req: &Request, ino: INodeNo, _fh: FileHandle, offset: u64, mut reply: ReplyDirectoryPlus) {
        let add = |attr: &FileAttr, cookie, name: &OsStr| reply.add(attr.ino, cookie, name, &TTL, attr, GENERATION);
        match self.list(ino.0, offset, add) {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn fsyncdir(&self, _req: &Request, _ino: INodeNo, _fh: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn statfs(&self, _req: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        const BLOCKS: u64 = 1 << 28;
        let files = self.tree.read().len() as u64;
        reply.statfs(BLOCKS, BLOCKS, BLOCKS, files + BLOCKS, BLOCKS, 4096, 255, 4096);
    }

    // Attributes are answered with "none" and not with "not supported", which would
    // make the kernel stop asking: threadfs has them, so the question costs the same here.
    fn getxattr(&self, _req: &Request, _ino: INodeNo, _name: &OsStr, _size: u32, reply: ReplyXattr) {
        reply.error(Errno::NO_XATTR);
    }

    fn listxattr(&self, _req: &Request, _ino: INodeNo, size: u32, reply: ReplyXattr) {
        match size {
            0 => reply.size(0),
            _ => reply.data(&[]),
        }
    }
}
