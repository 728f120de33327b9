//! LOOKUP, GETATTR, SETATTR, READLINK, STATFS.

use fuser::{FileHandle, ReplyAttr, ReplyData, ReplyEntry, ReplyStatfs, Request, TimeOrNow};

use super::{GENERATION, generation};
use crate::fs::{Fs, Node, SetAttr};
use crate::fuse::convert;
use crate::fuse::reply::{Fail, run};

pub(super) fn lookup(fs: &Fs, dir: Node, name: &[u8], reply: ReplyEntry) {
    match run(fs, "lookup", || fs.lookup(dir, name)) {
        Ok(entry) => {
            let generation = generation(fs, &entry);
            reply.entry_with_ttls(&entry.attr_ttl, &entry.entry_ttl, &convert::attr(&entry.attr), generation);
        }
        Err(libc::ENOENT) if fs.may_cache_absence(dir, name) => {
            reply.entry(&fs.options().ttl, &convert::absent(), GENERATION);
        }
        Err(errno) => reply.fail(errno),
    }
}

pub(super) fn getattr(fs: &Fs, node: Node, reply: ReplyAttr) {
    match run(fs, "getattr", || fs.getattr(node)) {
        Ok((attr, ttl)) => reply.attr(&ttl, &convert::attr(&attr)),
        Err(errno) => reply.fail(errno),
    }
}

pub(super) fn set_attr(
    mode: Option<u32>,
    uid: Option<u32>,
    gid: Option<u32>,
    size: Option<u64>,
    atime: Option<TimeOrNow>,
    mtime: Option<TimeOrNow>,
) -> SetAttr {
    SetAttr { mode, uid, gid, size, atime: atime.map(convert::set_time), mtime: mtime.map(convert::set_time) }
}

pub(super) fn setattr(fs: &Fs, request: &Request, node: Node, set: SetAttr, fh: Option<FileHandle>, reply: ReplyAttr) {
    match run(fs, "setattr", || fs.setattr(convert::caller(request), node, set, fh.map(|fh| fh.0))) {
        Ok((attr, ttl)) => reply.attr(&ttl, &convert::attr(&attr)),
        Err(errno) => reply.fail(errno),
    }
}

pub(super) fn readlink(fs: &Fs, node: Node, reply: ReplyData) {
    match run(fs, "readlink", || fs.readlink(node)) {
        Ok(target) => reply.data(&target),
        Err(errno) => reply.fail(errno),
    }
}

pub(super) fn statfs(fs: &Fs, reply: ReplyStatfs) {
    match run(fs, "statfs", || fs.statfs()) {
        Ok(stat) => reply.statfs(
            stat.blocks,
            stat.free,
            stat.available,
            stat.files,
            stat.files_free,
            stat.block_bytes,
            stat.name_max,
            stat.block_bytes,
        ),
        Err(errno) => reply.fail(errno),
    }
}
