//! What works on open files.

use std::sync::Arc;

use fuser::{FileHandle, ReplyCreate, ReplyData, ReplyEmpty, ReplyLseek, ReplyOpen, ReplyWrite, Request, WriteFlags};

use super::GENERATION;
use crate::fs::{Caller, Fs, Node, Whence};
use crate::fuse::convert;
use crate::fuse::pool::Pool;
use crate::fuse::reply::{Fail, empty, run};

/// Drafts from this many bytes on are checked by a thread that no other request waits for.
const LARGE_DRAFT: usize = 64 << 10;

pub(super) fn open(fs: &Fs, request: &Request, node: Node, flags: i32, reply: ReplyOpen) {
    match run(fs, "open", || fs.open(convert::caller(request), node, flags)) {
        Ok(opened) => reply.opened(FileHandle(opened.fh), convert::open_flags(&opened)),
        Err(errno) => reply.fail(errno),
    }
}

pub(super) fn create(fs: &Fs, caller: Caller, at: (Node, &[u8]), mode: u32, flags: i32, reply: ReplyCreate) {
    match run(fs, "create", || fs.create(caller, at.0, at.1, mode, flags)) {
        Ok((entry, opened)) => {
            let ttl = entry.attr_ttl.min(entry.entry_ttl);
            let (attr, flags) = (convert::attr(&entry.attr), convert::open_flags(&opened));
            reply.created(&ttl, &attr, GENERATION, FileHandle(opened.fh), flags);
        }
        Err(errno) => reply.fail(errno),
    }
}

pub(super) fn read(fs: &Fs, fh: u64, offset: u64, size: u32, reply: ReplyData) {
    let mut reply = Some(reply);
    let done = run(fs, "read", || {
        fs.read(fh, offset, size, |data| {
            fs.metrics().bytes_read.add(data.len() as u64);
            if let Some(reply) = reply.take() {
                reply.data(data);
            }
        })
    });
    if let (Err(errno), Some(reply)) = (done, reply) {
        reply.fail(errno);
    }
}

pub(super) fn write(
    fs: &Fs,
    request: &Request,
    fh: u64,
    (offset, data): (u64, &[u8]),
    write_flags: WriteFlags,
    flags: i32,
    reply: ReplyWrite,
) {
    let kills_suidgid = write_flags.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID);
    let unprivileged = kills_suidgid.then(|| convert::caller(request));
    // What the page cache writes back has its place already, however the file was opened.
    let flags = if write_flags.contains(WriteFlags::FUSE_WRITE_CACHE) { flags & !libc::O_APPEND } else { flags };
    match run(fs, "write", || fs.write(fh, offset, data, flags, unprivileged)) {
        Ok(size) => {
            fs.metrics().bytes_written.add(u64::from(size));
            reply.written(size);
        }
        Err(errno) => reply.fail(errno),
    }
}

/// A request to a snapshots' control file: it may take long.
pub(super) fn control(fs: &Arc<Fs>, pool: &Pool, request: &Request, fh: u64, at: (u64, &[u8]), reply: ReplyWrite) {
    let (fs, caller, offset, data) = (Arc::clone(fs), convert::caller(request), at.0, at.1.to_vec());
    pool.run(move || match run(&fs, "control", || fs.control_write(caller, fh, offset, &data)) {
        Ok(size) => reply.written(size),
        Err(errno) => reply.fail(errno),
    });
}

pub(super) fn flush(fs: &Arc<Fs>, pool: &Pool, pid: u32, fh: u64, reply: ReplyEmpty) {
    if fs.draft_bytes(fh) < LARGE_DRAFT {
        return empty(fs, "flush", reply, || fs.flush(fh, pid));
    }
    let fs = Arc::clone(fs);
    pool.run(move || empty(&fs, "flush", reply, || fs.flush(fh, pid)));
}

pub(super) fn release(fs: &Fs, fh: u64, reply: ReplyEmpty) {
    empty(fs, "release", reply, || {
        fs.release(fh);
        Ok(())
    });
}

pub(super) fn fsync(fs: &Fs, pid: u32, fh: u64, reply: ReplyEmpty) {
    empty(fs, "fsync", reply, || fs.fsync(fh, pid));
}

pub(super) fn fallocate(
    fs: &Fs,
    request: &Request,
    fh: u64,
    (offset, length): (u64, u64),
    mode: i32,
    reply: ReplyEmpty,
) {
    empty(fs, "fallocate", reply, || fs.fallocate(convert::caller(request), fh, offset, length, mode));
}

pub(super) fn lseek(fs: &Fs, fh: u64, offset: i64, whence: i32, reply: ReplyLseek) {
    let whence = match whence {
        libc::SEEK_DATA => Whence::Data,
        libc::SEEK_HOLE => Whence::Hole,
        _ => return reply.fail(libc::EINVAL),
    };
    let Ok(offset) = u64::try_from(offset) else { return reply.fail(libc::ENXIO) };
    match run(fs, "lseek", || fs.seek(fh, offset, whence)) {
        Ok(offset) => reply.offset(offset as i64),
        Err(errno) => reply.fail(errno),
    }
}

pub(super) fn copy_file_range(
    fs: &Fs,
    request: &Request,
    from: (u64, u64),
    to: (u64, u64),
    length: u64,
    reply: ReplyWrite,
) {
    match run(fs, "copy_file_range", || fs.copy_file_range(convert::caller(request), from, to, length)) {
        Ok(size) => reply.written(size),
        Err(errno) => reply.fail(errno),
    }
}
