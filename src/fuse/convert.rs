//! The core's types as the protocol has them, and back.

use std::time::SystemTime;

use fuser::{FileAttr, FileType, FopenFlags, INodeNo, Request, TimeOrNow};

use crate::fs::{Attr, Caller, Opened, SetTime};
use crate::store::record::{Kind, Timestamp};

pub(super) fn file_type(kind: Kind) -> FileType {
    match kind {
        Kind::File => FileType::RegularFile,
        Kind::Directory => FileType::Directory,
        Kind::Symlink => FileType::Symlink,
        Kind::Fifo => FileType::NamedPipe,
        Kind::Socket => FileType::Socket,
        Kind::CharDevice => FileType::CharDevice,
        Kind::BlockDevice => FileType::BlockDevice,
    }
}

pub(super) fn attr(attr: &Attr) -> FileAttr {
    FileAttr {
        ino: INodeNo(attr.ino),
        size: attr.size,
        blocks: attr.blocks,
        atime: attr.atime.into(),
        mtime: attr.mtime.into(),
        ctime: attr.ctime.into(),
        crtime: attr.btime.into(),
        kind: file_type(attr.kind),
        perm: attr.perm,
        nlink: attr.nlink,
        uid: attr.uid,
        gid: attr.gid,
        rdev: attr.rdev,
        blksize: attr.blksize,
        flags: 0,
    }
}

/// Attributes of nothing: with inode number 0 a reply to LOOKUP says that a name is absent, and
/// the kernel may remember that.
pub(super) fn absent() -> FileAttr {
    bare(0, FileType::RegularFile)
}

/// As much as READDIRPLUS needs of "." and "..", which the kernel does not keep.
pub(super) fn bare(ino: u64, kind: FileType) -> FileAttr {
    FileAttr {
        ino: INodeNo(ino),
        size: 0,
        blocks: 0,
        atime: SystemTime::UNIX_EPOCH,
        mtime: SystemTime::UNIX_EPOCH,
        ctime: SystemTime::UNIX_EPOCH,
        crtime: SystemTime::UNIX_EPOCH,
        kind,
        perm: 0,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

pub(super) fn caller(request: &Request) -> Caller {
    Caller { uid: request.uid(), gid: request.gid(), pid: request.pid(), umask: 0 }
}

/// The caller of what makes a file.
pub(super) fn maker(request: &Request, umask: u32) -> Caller {
    Caller { umask, ..caller(request) }
}

pub(super) fn set_time(time: TimeOrNow) -> SetTime {
    match time {
        TimeOrNow::Now => SetTime::Now,
        // The crate takes the nanoseconds of a time before 1970 away where the kernel adds them.
        TimeOrNow::SpecificTime(time) => SetTime::To(match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(_) => time.into(),
            Err(before) => {
                Timestamp { secs: -(before.duration().as_secs() as i64), nanos: before.duration().subsec_nanos() }
            }
        }),
    }
}

pub(super) fn open_flags(opened: &Opened) -> FopenFlags {
    let mut flags = if opened.direct_io { FopenFlags::FOPEN_DIRECT_IO } else { FopenFlags::FOPEN_KEEP_CACHE };
    if !opened.flush {
        flags |= FopenFlags::FOPEN_NOFLUSH;
    }
    flags
}
