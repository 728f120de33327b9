//! What works on names and directories.

use fuser::{
    FileHandle, FopenFlags, INodeNo, RenameFlags, ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry,
    ReplyOpen, Request,
};

use super::{GENERATION, generation};
use crate::fs::{Caller, Entry, Fs, Node, RenameMode, Result};
use crate::fuse::convert;
use crate::fuse::reply::{Fail, empty, run};

/// Names that one READDIR can hold at most, of the shortest kind.
const LIST_LIMIT: usize = 512;

/// The same for READDIRPLUS, whose entries are larger.
const LIST_PLUS_LIMIT: usize = 64;

type Name<'a> = (Node, &'a [u8]);

fn entry(fs: &Fs, name: &'static str, reply: ReplyEntry, operation: impl FnOnce() -> Result<Entry>) {
    match run(fs, name, operation) {
        Ok(entry) => {
            let generation = generation(fs, &entry);
            reply.entry_with_ttls(&entry.attr_ttl, &entry.entry_ttl, &convert::attr(&entry.attr), generation);
        }
        Err(errno) => reply.fail(errno),
    }
}

pub(super) fn mknod(fs: &Fs, caller: Caller, at: Name<'_>, mode: u32, rdev: u32, reply: ReplyEntry) {
    entry(fs, "mknod", reply, || fs.mknod(caller, at.0, at.1, mode, rdev));
}

pub(super) fn mkdir(fs: &Fs, caller: Caller, at: Name<'_>, mode: u32, reply: ReplyEntry) {
    entry(fs, "mkdir", reply, || fs.mkdir(caller, at.0, at.1, mode));
}

pub(super) fn symlink(fs: &Fs, request: &Request, at: Name<'_>, target: &[u8], reply: ReplyEntry) {
    entry(fs, "symlink", reply, || fs.symlink(convert::caller(request), at.0, at.1, target));
}

pub(super) fn link(fs: &Fs, node: Node, at: Name<'_>, reply: ReplyEntry) {
    entry(fs, "link", reply, || fs.link(node, at.0, at.1));
}

pub(super) fn unlink(fs: &Fs, request: &Request, at: Name<'_>, reply: ReplyEmpty) {
    empty(fs, "unlink", reply, || fs.unlink(convert::caller(request), at.0, at.1));
}

pub(super) fn rmdir(fs: &Fs, request: &Request, at: Name<'_>, reply: ReplyEmpty) {
    empty(fs, "rmdir", reply, || fs.rmdir(convert::caller(request), at.0, at.1));
}

pub(super) fn rename(fs: &Fs, request: &Request, from: Name<'_>, to: Name<'_>, flags: RenameFlags, reply: ReplyEmpty) {
    let mode = match flags {
        flags if flags.is_empty() => RenameMode::Replace,
        RenameFlags::RENAME_NOREPLACE => RenameMode::NoReplace,
        RenameFlags::RENAME_EXCHANGE => RenameMode::Exchange,
        RenameFlags::RENAME_WHITEOUT => RenameMode::Whiteout { replaces: true },
        flags if flags == RenameFlags::RENAME_WHITEOUT | RenameFlags::RENAME_NOREPLACE => {
            RenameMode::Whiteout { replaces: false }
        }
        _ => return reply.fail(libc::EINVAL),
    };
    empty(fs, "rename", reply, || fs.rename(convert::caller(request), from, to, mode));
}

pub(super) fn fsyncdir(fs: &Fs, reply: ReplyEmpty) {
    empty(fs, "fsyncdir", reply, || fs.fsyncdir());
}

pub(super) fn opendir(fs: &Fs, dir: Node, reply: ReplyOpen) {
    let flags = match fs.may_cache_listing(dir) {
        true => FopenFlags::FOPEN_CACHE_DIR | FopenFlags::FOPEN_KEEP_CACHE,
        false => FopenFlags::empty(),
    };
    reply.opened(FileHandle(0), flags);
}

pub(super) fn readdir(fs: &Fs, dir: Node, offset: u64, mut reply: ReplyDirectory) {
    match run(fs, "readdir", || fs.readdir(dir, offset, LIST_LIMIT)) {
        Ok(listed) => {
            for item in listed {
                if reply.add(
                    INodeNo(item.node.ino()),
                    item.cookie,
                    convert::file_type(item.kind),
                    std::ffi::OsStr::new(os(&item.name)),
                ) {
                    break;
                }
            }
            reply.ok();
        }
        Err(errno) => reply.fail(errno),
    }
}

pub(super) fn readdirplus(fs: &Fs, dir: Node, offset: u64, mut reply: ReplyDirectoryPlus) {
    let filled = run(fs, "readdirplus", || {
        for item in fs.readdir(dir, offset, LIST_PLUS_LIMIT)? {
            let name = os(&item.name);
            if matches!(&item.name[..], b"." | b"..") {
                let attr = convert::bare(item.node.ino(), convert::file_type(item.kind));
                if reply.add(attr.ino, item.cookie, name, &std::time::Duration::ZERO, &attr, GENERATION) {
                    break;
                }
                continue;
            }
            let Some(entry) = fs.list_entry_attr(dir, &item)? else { continue };
            let ttl = entry.attr_ttl.min(entry.entry_ttl);
            let attr = convert::attr(&entry.attr);
            if reply.add(attr.ino, item.cookie, name, &ttl, &attr, generation(fs, &entry)) {
                // It did not fit, so the kernel has not heard of this inode.
                fs.forget(item.node, 1);
                break;
            }
        }
        Ok(())
    });
    match filled {
        Ok(()) => reply.ok(),
        Err(errno) => reply.fail(errno),
    }
}

fn os(name: &[u8]) -> &std::ffi::OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(name)
}
