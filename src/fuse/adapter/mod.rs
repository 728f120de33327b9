//! One method a request: decode, call the core, reply.
//!
//! The trait of the fuser crate wants all methods in one block; this one only hands on to the
//! files beside it.

mod dir;
mod file;
mod meta;
mod xattr;

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, CopyFileRangeFlags, Errno, FileHandle, Filesystem, Generation, INodeNo, InitFlags, IoctlFlags,
    KernelConfig, LockOwner, OpenFlags, PollEvents, PollFlags, PollNotifier, RenameFlags, ReplyAttr, ReplyCreate,
    ReplyData, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyLseek, ReplyOpen,
    ReplyPoll, ReplyStatfs, ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use parking_lot::Mutex;

use super::convert;
use super::pool::Pool;
use crate::fs::{Entry, Fs, Node, UNDELETE};

/// Largest write and read in bytes.
const MAX_WRITE: u32 = 1 << 20;

/// Requests that the kernel sends without anybody waiting: read-ahead.
const MAX_BACKGROUND: u16 = 64;

/// As many waiters as one sync can serve.
const WAITERS: usize = 8;

/// Restores and their like at a time.
const HISTORIANS: usize = 4;

/// Inode numbers are never used again, so all inodes have the same generation but the directories of
/// threads that came back.
const GENERATION: Generation = Generation(0);

/// What is asked of the kernel, as far as it can: see docs/design.md for the reasons.
const CAPABILITIES: [InitFlags; 9] = [
    InitFlags::FUSE_ATOMIC_O_TRUNC,
    InitFlags::FUSE_PARALLEL_DIROPS,
    InitFlags::FUSE_DO_READDIRPLUS,
    InitFlags::FUSE_READDIRPLUS_AUTO,
    InitFlags::FUSE_HANDLE_KILLPRIV_V2,
    InitFlags::FUSE_CACHE_SYMLINKS,
    InitFlags::FUSE_POSIX_ACL,
    InitFlags::FUSE_DONT_MASK,
    InitFlags::FUSE_NO_EXPORT_SUPPORT,
];

/// The core behind the protocol.
pub(super) struct Adapter {
    fs: Arc<Fs>,
    pool: Pool,
    /// For requests that end with the kernel being told of changes.
    history: Pool,
    ended: Mutex<mpsc::Sender<()>>,
}

impl Adapter {
    /// An adapter, and where it tells that the mount is gone.
    pub(super) fn new(fs: Arc<Fs>) -> (Adapter, mpsc::Receiver<()>) {
        let (ended, receiver) = mpsc::channel();
        let (pool, history) = (Pool::new("waiter", WAITERS), Pool::new("history", HISTORIANS));
        (Adapter { fs, pool, history, ended: Mutex::new(ended) }, receiver)
    }
}

fn node(ino: INodeNo) -> Node {
    Node::from_ino(ino.0)
}

fn generation(fs: &Fs, entry: &Entry) -> Generation {
    Generation(fs.generation(Node::from_ino(entry.attr.ino)))
}

fn bytes(name: &OsStr) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(name)
}

impl Filesystem for Adapter {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        for capability in CAPABILITIES {
            if let Err(missing) = config.add_capabilities(capability) {
                log::info!("the kernel does not have {missing:?}");
            }
        }
        // Each returns the nearest possible value as its error, and keeps the one before.
        if let Err(nearest) = config.set_max_write(MAX_WRITE) {
            log::info!("largest write: {nearest} bytes at most");
        }
        if let Err(nearest) = config.set_max_background(MAX_BACKGROUND) {
            log::info!("background requests: at least {nearest}");
        }
        Ok(())
    }

    fn destroy(&mut self) {
        self.pool.close();
        self.history.close();
        if self.ended.lock().send(()).is_err() {
            log::debug!("nobody waited for the end of the mount");
        }
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        meta::lookup(&self.fs, node(parent), bytes(name), reply);
    }

    fn forget(&self, _: &Request, ino: INodeNo, lookups: u64) {
        self.fs.forget(node(ino), lookups);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        meta::getattr(&self.fs, node(ino), reply);
    }

    fn setattr(
        &self,
        request: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        fh: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let set = meta::set_attr(mode, uid, gid, size, atime, mtime);
        meta::setattr(&self.fs, request, node(ino), set, fh, reply);
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        meta::readlink(&self.fs, node(ino), reply);
    }

    fn mknod(
        &self,
        request: &Request,
        dir: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        rdev: u32,
        reply: ReplyEntry,
    ) {
        dir::mknod(&self.fs, convert::maker(request, umask), (node(dir), bytes(name)), mode, rdev, reply);
    }

    fn mkdir(&self, request: &Request, dir: INodeNo, name: &OsStr, mode: u32, umask: u32, reply: ReplyEntry) {
        dir::mkdir(&self.fs, convert::maker(request, umask), (node(dir), bytes(name)), mode, reply);
    }

    fn symlink(&self, request: &Request, dir: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        dir::symlink(&self.fs, request, (node(dir), bytes(name)), bytes(target.as_os_str()), reply);
    }

    fn link(&self, _: &Request, ino: INodeNo, dir: INodeNo, name: &OsStr, reply: ReplyEntry) {
        dir::link(&self.fs, node(ino), (node(dir), bytes(name)), reply);
    }

    fn unlink(&self, request: &Request, dir: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        dir::unlink(&self.fs, request, (node(dir), bytes(name)), reply);
    }

    fn rmdir(&self, request: &Request, dir: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        dir::rmdir(&self.fs, request, (node(dir), bytes(name)), reply);
    }

    fn rename(
        &self,
        request: &Request,
        dir: INodeNo,
        name: &OsStr,
        to: INodeNo,
        to_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        dir::rename(&self.fs, request, (node(dir), bytes(name)), (node(to), bytes(to_name)), flags, reply);
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        dir::opendir(&self.fs, node(ino), reply);
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, reply: ReplyDirectory) {
        dir::readdir(&self.fs, node(ino), offset, reply);
    }

    fn readdirplus(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, reply: ReplyDirectoryPlus) {
        dir::readdirplus(&self.fs, node(ino), offset, reply);
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let fs = Arc::clone(&self.fs);
        self.pool.run(move || dir::fsyncdir(&fs, reply));
    }

    fn open(&self, request: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        file::open(&self.fs, request, node(ino), flags.0, reply);
    }

    fn create(
        &self,
        request: &Request,
        dir: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        file::create(&self.fs, convert::maker(request, umask), (node(dir), bytes(name)), mode, flags, reply);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        file::read(&self.fs, fh.0, offset, size, reply);
    }

    fn write(
        &self,
        request: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        data: &[u8],
        write_flags: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if self.fs.is_control_file(fh.0) {
            return file::control(&self.fs, &self.history, request, fh.0, (offset, data), reply);
        }
        file::write(&self.fs, request, fh.0, (offset, data), write_flags, flags.0, reply);
    }

    fn flush(&self, request: &Request, _: INodeNo, fh: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        file::flush(&self.fs, &self.pool, request.pid(), fh.0, reply);
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        file::release(&self.fs, fh.0, reply);
    }

    fn fsync(&self, request: &Request, _: INodeNo, fh: FileHandle, _: bool, reply: ReplyEmpty) {
        let (fs, pid) = (Arc::clone(&self.fs), request.pid());
        self.pool.run(move || file::fsync(&fs, pid, fh.0, reply));
    }

    fn fallocate(
        &self,
        request: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        file::fallocate(&self.fs, request, fh.0, (offset, length), mode, reply);
    }

    fn lseek(&self, _: &Request, _: INodeNo, fh: FileHandle, offset: i64, whence: i32, reply: ReplyLseek) {
        file::lseek(&self.fs, fh.0, offset, whence, reply);
    }

    fn copy_file_range(
        &self,
        request: &Request,
        _: INodeNo,
        from: FileHandle,
        from_offset: u64,
        _: INodeNo,
        to: FileHandle,
        to_offset: u64,
        length: u64,
        _: CopyFileRangeFlags,
        reply: ReplyWrite,
    ) {
        file::copy_file_range(&self.fs, request, (from.0, from_offset), (to.0, to_offset), length, reply);
    }

    /// Python's open(2) asks each file whether it is a terminal.
    fn ioctl(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: IoctlFlags,
        _: u32,
        _: &[u8],
        _: u32,
        reply: ReplyIoctl,
    ) {
        reply.error(Errno::ENOTTY);
    }

    /// Files are always ready: with this answer the kernel asks no more.
    fn poll(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: PollNotifier,
        _: PollEvents,
        _: PollFlags,
        reply: ReplyPoll,
    ) {
        reply.error(Errno::ENOSYS);
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        meta::statfs(&self.fs, reply);
    }

    fn setxattr(
        &self,
        request: &Request,
        ino: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        if bytes(name) == UNDELETE {
            return xattr::undelete(&self.fs, &self.history, request, node(ino), value, reply);
        }
        xattr::set(&self.fs, convert::caller(request), (node(ino), bytes(name)), value, flags, reply);
    }

    fn getxattr(&self, _: &Request, ino: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        xattr::get(&self.fs, node(ino), bytes(name), size, reply);
    }

    fn listxattr(&self, request: &Request, ino: INodeNo, size: u32, reply: ReplyXattr) {
        xattr::list(&self.fs, convert::caller(request), node(ino), size, reply);
    }

    fn removexattr(&self, _: &Request, ino: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        xattr::remove(&self.fs, node(ino), bytes(name), reply);
    }
}
