//! Inodes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::store::codec::{Decoder, Encoder};
use crate::store::{Epoch, Error, Local, RealmId, Result};

/// The kind of a file, as in the type bits of `st_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A Unix socket.
    Socket,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
}

impl Kind {
    const ALL: [(Kind, u8, u32); 7] = [
        (Kind::File, 0, libc::S_IFREG),
        (Kind::Directory, 1, libc::S_IFDIR),
        (Kind::Symlink, 2, libc::S_IFLNK),
        (Kind::Fifo, 3, libc::S_IFIFO),
        (Kind::Socket, 4, libc::S_IFSOCK),
        (Kind::CharDevice, 5, libc::S_IFCHR),
        (Kind::BlockDevice, 6, libc::S_IFBLK),
    ];

    /// The kind in the type bits of a mode; no type bits mean a regular file, as for mknod(2).
    pub fn from_mode(mode: u32) -> Option<Kind> {
        if mode & libc::S_IFMT == 0 {
            return Some(Kind::File);
        }
        Kind::ALL.iter().find(|(_, _, bits)| *bits == mode & libc::S_IFMT).map(|(kind, ..)| *kind)
    }

    /// The byte that stands for it in a record.
    pub fn code(self) -> u8 {
        Kind::ALL.iter().find(|(kind, ..)| *kind == self).map_or(0, |(_, code, _)| *code)
    }

    /// The kind that a byte in a record stands for.
    pub fn from_code(code: u8) -> Result<Kind> {
        Kind::ALL
            .iter()
            .find(|(_, known, _)| *known == code)
            .map(|(kind, ..)| *kind)
            .ok_or_else(|| Error::corrupt(format!("there is no kind of file {code}")))
    }
}

/// A point in time with nanoseconds; before 1970 the seconds are negative, as in `timespec`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Timestamp {
    /// Seconds since the epoch of Unix.
    pub secs: i64,
    /// Nanoseconds, 0 to 999,999,999.
    pub nanos: u32,
}

impl Timestamp {
    /// The present time.
    pub fn now() -> Timestamp {
        SystemTime::now().into()
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Timestamp {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Timestamp { secs: since.as_secs() as i64, nanos: since.subsec_nanos() },
            Err(before) => {
                let before = before.duration();
                let (secs, nanos) = (before.as_secs() as i64, before.subsec_nanos());
                match nanos {
                    0 => Timestamp { secs: -secs, nanos: 0 },
                    _ => Timestamp { secs: -secs - 1, nanos: 1_000_000_000 - nanos },
                }
            }
        }
    }
}

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> SystemTime {
        let nanos = Duration::from_nanos(u64::from(time.nanos));
        if time.secs >= 0 {
            UNIX_EPOCH + Duration::from_secs(time.secs.unsigned_abs()) + nanos
        } else {
            UNIX_EPOCH - Duration::from_secs(time.secs.unsigned_abs()) + nanos
        }
    }
}

/// Content that lies below an inode's own: chunks that it has not changed since it took them over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Layer {
    /// The realm of the chunks.
    pub realm: RealmId,
    /// The number that they are filed under.
    pub file: Local,
    /// Their generation.
    pub generation: u64,
    /// They show as they were at this epoch.
    pub epoch: Epoch,
}

/// Everything about a file but its names, its content and its extended attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inode {
    /// What it is.
    pub kind: Kind,
    /// The twelve permission bits.
    pub perm: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Names; of a directory 2 and one for each directory in it.
    pub nlink: u32,
    /// Device number of a device, as the kernel passes it.
    pub rdev: u32,
    /// Length in bytes; of a symlink the length of its target, of a directory its entries.
    pub size: u64,
    /// Bytes of the chunks that are there.
    pub allocated: u64,
    /// Last change of the content.
    pub mtime: Timestamp,
    /// Last change of the inode.
    pub ctime: Timestamp,
    /// Creation.
    pub btime: Timestamp,
    /// Which chunks are the content: another generation is other content.
    pub generation: u64,
    /// The epoch in which this generation began.
    pub generation_born: u64,
    /// The next generation's number.
    pub next_generation: u64,
    /// Binary logarithm of the chunk size in bytes.
    pub chunk_shift: u8,
    /// Commits of a document so far.
    pub version: u64,
    /// The directory that a directory is in, in the same realm (of a thread's root: in the home).
    pub parent: Local,
    /// Number of extended attributes.
    pub xattrs: u32,
    /// Where a symlink points.
    pub target: Vec<u8>,
    /// What it is whatever its number: a restored file has a new number, and the content and the
    /// versions that are filed under the old one. 0: its own number.
    pub file: Local,
    /// Where chunks come from that the inode has none of: the uppermost first. Those of a fork, or of
    /// an open file that a restore replaced.
    pub layers: Vec<Layer>,
    /// Whether this is the record of a fork's base, and the fork has none: so it has no chunks either.
    /// Not stored.
    pub is_inherited: bool,
}

/// Most inodes have their content under their own number and nothing below it.
const PLAIN: u8 = 1;
const LAYERED: u8 = 2;

impl Inode {
    /// In place of the next generation's number: the inode that had the content's number before is
    /// gone, and with it the knowledge of which numbers were used. New content goes elsewhere.
    pub const SEALED: u64 = 0;

    /// Binary logarithm of the chunk size that new files get.
    pub const NEW_CHUNK_SHIFT: u8 = crate::store::chunk::CHUNK_SHIFT;

    /// The record.
    pub fn encode(&self) -> Vec<u8> {
        let is_plain = self.file == Local(0) && self.layers.is_empty();
        let mut out = Encoder::new();
        out.byte(if is_plain { PLAIN } else { LAYERED })
            .byte(self.kind.code())
            .number(u64::from(self.perm))
            .number(u64::from(self.uid))
            .number(u64::from(self.gid))
            .number(u64::from(self.nlink))
            .number(u64::from(self.rdev))
            .number(self.size)
            .number(self.allocated);
        for time in [self.mtime, self.ctime, self.btime] {
            out.signed(time.secs).number(u64::from(time.nanos));
        }
        out.number(self.generation)
            .number(self.generation_born)
            .number(self.next_generation)
            .byte(self.chunk_shift)
            .number(self.version)
            .number(self.parent.0)
            .number(u64::from(self.xattrs))
            .bytes(&self.target);
        if !is_plain {
            out.number(self.file.0).number(self.layers.len() as u64);
            for layer in &self.layers {
                out.number(u64::from(layer.realm.0)).number(layer.file.0).number(layer.generation).number(layer.epoch);
            }
        }
        out.finish()
    }

    /// Reads a record.
    pub fn decode(bytes: &[u8]) -> Result<Inode> {
        let mut read = Decoder::new(bytes, "inode");
        let layout = read.byte()?;
        if !matches!(layout, PLAIN | LAYERED) {
            return Err(Error::corrupt(format!("an inode record has layout {layout}")));
        }
        let kind = Kind::from_code(read.byte()?)?;
        let perm = read.number32()? as u16 & 0o7777;
        let (uid, gid, nlink, rdev) = (read.number32()?, read.number32()?, read.number32()?, read.number32()?);
        let (size, allocated) = (read.number()?, read.number()?);
        let mut times = [Timestamp::default(); 3];
        for time in &mut times {
            *time = Timestamp { secs: read.signed()?, nanos: read.number32()? };
        }
        let [mtime, ctime, btime] = times;
        let mut inode = Inode {
            kind,
            perm,
            uid,
            gid,
            nlink,
            rdev,
            size,
            allocated,
            mtime,
            ctime,
            btime,
            generation: read.number()?,
            generation_born: read.number()?,
            next_generation: read.number()?,
            chunk_shift: read.byte()?,
            version: read.number()?,
            parent: Local(read.number()?),
            xattrs: read.number32()?,
            target: read.bytes()?.to_vec(),
            file: Local(0),
            layers: Vec::new(),
            is_inherited: false,
        };
        if layout == LAYERED {
            inode.file = Local(read.number()?);
            for _ in 0..read.number()? {
                inode.layers.push(Layer {
                    realm: RealmId(read.number32()?),
                    file: Local(read.number()?),
                    generation: read.number()?,
                    epoch: read.number()?,
                });
            }
        }
        Ok(inode)
    }

    /// The number that the content of inode `ino` is filed under.
    pub fn file_of(&self, ino: Local) -> Local {
        if self.file == Local(0) { ino } else { self.file }
    }

    /// The same inode as a fork of its realm sees it, that was made at `epoch`: what is its own here
    /// lies below there.
    pub fn inherited(mut self, realm: RealmId, ino: Local, epoch: Epoch) -> Inode {
        if self.kind == Kind::File && self.allocated > 0 {
            let layer = Layer { realm, file: self.file_of(ino), generation: self.generation, epoch };
            self.layers.insert(0, layer);
        }
        self.is_inherited = true;
        self
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Chunk size in bytes.
    pub fn chunk_bytes(&self) -> u64 {
        1 << self.chunk_shift.min(30)
    }
}
