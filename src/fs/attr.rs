//! What stat(2) tells, and what chmod, chown, truncate and utimensat change.

use crate::store::record::{Inode, Kind, Timestamp};

/// The unit of `st_blocks` in bytes.
const BLOCK: u64 = 512;

/// The attributes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attr {
    /// Inode number.
    pub ino: u64,
    /// Kind of file.
    pub kind: Kind,
    /// Permission bits.
    pub perm: u16,
    /// Number of names.
    pub nlink: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Device number.
    pub rdev: u32,
    /// Size in bytes.
    pub size: u64,
    /// Space taken, in blocks of 512 bytes.
    pub blocks: u64,
    /// Preferred size of I/O in bytes.
    pub blksize: u32,
    /// Last read.
    pub atime: Timestamp,
    /// Last change of the content.
    pub mtime: Timestamp,
    /// Last change of the inode.
    pub ctime: Timestamp,
    /// Creation.
    pub btime: Timestamp,
}

impl Attr {
    /// The attributes that an inode has.
    pub fn of(ino: u64, inode: &Inode, atime: Timestamp) -> Attr {
        let (size, blocks) = match inode.kind {
            // As on most filesystems a directory looks as large as a block or more.
            Kind::Directory => (4096.max(inode.size * 32), 8),
            _ => (inode.size, inode.allocated.div_ceil(BLOCK)),
        };
        Attr {
            ino,
            kind: inode.kind,
            perm: inode.perm,
            nlink: inode.nlink,
            uid: inode.uid,
            gid: inode.gid,
            rdev: inode.rdev,
            size,
            blocks,
            blksize: 4096.max(inode.chunk_bytes() as u32),
            atime,
            mtime: inode.mtime,
            ctime: inode.ctime,
            btime: inode.btime,
        }
    }
}

/// A time to set: UTIME_NOW or a given one. UTIME_OMIT is no time at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetTime {
    /// The present time.
    Now,
    /// This time.
    To(Timestamp),
}

impl SetTime {
    /// The time that it stands for.
    pub fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            SetTime::Now => now,
            SetTime::To(time) => time,
        }
    }
}

/// What a SETATTR changes; None leaves as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SetAttr {
    /// Permission bits.
    pub mode: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Size in bytes.
    pub size: Option<u64>,
    /// Time of the last read.
    pub atime: Option<SetTime>,
    /// Time of the last change of the content.
    pub mtime: Option<SetTime>,
}

/// Who asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caller {
    /// Its user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its process, 0 when the kernel asks by itself.
    pub pid: u32,
    /// The permission bits that what it makes does not get, umask(2).
    pub umask: u32,
}
