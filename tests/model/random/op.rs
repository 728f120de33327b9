//! What is done at random. Things are named by their place among those that are there, so that
//! every operation means something in every tree, and cases shrink well.

use proptest::collection::vec;
use proptest::prelude::*;
use threadfs::store::record::Kind;

use crate::support::CHUNK;

/// One of the known directories, inodes or open files, by its number modulo how many there are.
pub type Pick = u8;

#[derive(Debug, Clone)]
pub enum Op {
    Lookup {
        dir: Pick,
        name: usize,
    },
    Forget {
        node: Pick,
    },
    Mknod {
        dir: Pick,
        name: usize,
        kind: Kind,
        mode: u32,
        user: bool,
    },
    Mkdir {
        dir: Pick,
        name: usize,
        mode: u32,
        user: bool,
    },
    Symlink {
        dir: Pick,
        name: usize,
        length: usize,
    },
    Link {
        node: Pick,
        dir: Pick,
        name: usize,
    },
    Unlink {
        dir: Pick,
        name: usize,
    },
    Rmdir {
        dir: Pick,
        name: usize,
    },
    Rename {
        from: (Pick, usize),
        to: (Pick, usize),
        mode: u8,
    },
    /// Renames one existing name onto another.
    Swap {
        from: Pick,
        to: Pick,
        mode: u8,
    },
    Create {
        dir: Pick,
        name: usize,
        flags: i32,
        mode: u32,
        user: bool,
    },
    Open {
        node: Pick,
        flags: i32,
        user: bool,
    },
    Write {
        handle: Pick,
        offset: u64,
        data: Data,
        kill: bool,
    },
    /// Truncates through the open file, writes a text and closes a descriptor: how documents are saved.
    Save {
        handle: Pick,
        text: usize,
    },
    Read {
        handle: Pick,
        offset: u64,
        size: u32,
    },
    Flush {
        handle: Pick,
    },
    Fsync {
        handle: Pick,
    },
    Release {
        handle: Pick,
    },
    Fallocate {
        handle: Pick,
        mode: i32,
        offset: u64,
        length: u64,
    },
    Seek {
        handle: Pick,
        offset: u64,
        hole: bool,
    },
    Copy {
        from: (Pick, u64),
        to: (Pick, u64),
        length: u64,
    },
    SetAttr {
        node: Pick,
        set: Set,
        user: bool,
    },
    Truncate {
        handle: Pick,
        size: u64,
    },
    SetXattr {
        node: Pick,
        name: usize,
        length: usize,
        flags: i32,
    },
    RemoveXattr {
        node: Pick,
        name: usize,
    },
    Readlink {
        node: Pick,
    },
    /// Goes on with a listing, of this directory if none is under way.
    List {
        dir: Pick,
        limit: usize,
    },
    Tick,
    /// Renames /threads to /c, or back: what is in it changes its meaning.
    MoveThreads,
    /// Ends the process without closing anything, and mounts again.
    Remount,
}

#[derive(Debug, Clone)]
pub enum Data {
    Fill(u8, usize),
    Text(usize),
}

#[derive(Debug, Clone, Default)]
pub struct Set {
    pub mode: Option<u32>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    pub size: Option<u64>,
    pub atime: Option<i64>,
    pub mtime: Option<i64>,
}

/// A step: an operation, and whether the engine refuses writes while it runs.
#[derive(Debug, Clone)]
pub struct Step {
    pub op: Op,
    pub full: bool,
}

/// Names that mean something in `threads`, in a thread, or nowhere.
pub const NAMES: [&str; 9] = ["a", "b", "c", "threads", "x.json", "y.json", "x.lock", "255", "256"];

/// The bytes of a name.
pub fn name(index: usize) -> Vec<u8> {
    match NAMES[index % NAMES.len()] {
        "255" => vec![b'n'; 255],
        "256" => vec![b'n'; 256],
        name => name.as_bytes().to_vec(),
    }
}

/// Contents for documents: some whole, some not, one too large.
pub const TEXTS: [&str; 9] = [
    "{}",
    "[1, 2]",
    "{\"a\": 1}  \n",
    "{\"a\": \"bcd\"}",
    "{\"a\":",
    "\"a\"",
    "[1] 2",
    "  [\"..........................................................................................\"]  ",
    "]",
];

pub const XATTRS: [&[u8]; 4] = [b"user.a", b"user.b", b"security.capability", b"trusted.c"];

fn offset() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..20u64,
        2 => (1..4u64, 0..5u64).prop_map(|(chunk, off)| chunk * CHUNK + off - 2),
        1 => 250..320u64,
        1 => 0..4 * CHUNK,
    ]
}

fn length() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 1..40u64, 2 => CHUNK - 2..CHUNK + 3, 1 => 1..3 * CHUNK]
}

fn data() -> impl Strategy<Value = Data> {
    prop_oneof![
        2 => (1..=255u8, length()).prop_map(|(byte, length)| Data::Fill(byte, length as usize)),
        3 => (0..TEXTS.len()).prop_map(Data::Text),
    ]
}

fn mode() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(0o644u32), 2 => Just(0o755), 1 => Just(0o2775), 1 => 0..0o10000u32]
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        3 => Just(Kind::File),
        1 => Just(Kind::Fifo),
        1 => Just(Kind::Socket),
        1 => Just(Kind::CharDevice),
        1 => Just(Kind::BlockDevice),
    ]
}

fn open_flags() -> impl Strategy<Value = i32> {
    let access = prop_oneof![1 => Just(libc::O_RDONLY), 1 => Just(libc::O_WRONLY), 3 => Just(libc::O_RDWR)];
    (access, proptest::bool::weighted(0.3), proptest::bool::weighted(0.2)).prop_map(|(access, truncate, append)| {
        let truncate = if truncate && access != libc::O_RDONLY { libc::O_TRUNC } else { 0 };
        access | truncate | if append { libc::O_APPEND } else { 0 }
    })
}

fn create_flags() -> impl Strategy<Value = i32> {
    (open_flags(), proptest::bool::weighted(0.2))
        .prop_map(|(flags, exclusive)| flags | libc::O_CREAT | if exclusive { libc::O_EXCL } else { 0 })
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(0u64), 2 => 1..12u64, 3 => offset(), 1 => Just(1 << 45)]
}

fn set() -> impl Strategy<Value = Set> {
    let mode = proptest::option::weighted(0.3, mode());
    let id = || proptest::option::weighted(0.2, 0..3u32);
    let time = || proptest::option::weighted(0.3, -5..5i64);
    let size = proptest::option::weighted(0.4, size());
    (mode, id(), id(), size, time(), time()).prop_map(|(mode, uid, gid, size, atime, mtime)| Set {
        mode,
        uid,
        gid,
        size,
        atime,
        mtime,
    })
}

fn fallocate_mode() -> impl Strategy<Value = i32> {
    const KEEP: i32 = libc::FALLOC_FL_KEEP_SIZE;
    prop_oneof![
        1 => Just(0),
        1 => Just(KEEP),
        3 => Just(libc::FALLOC_FL_PUNCH_HOLE | KEEP),
        1 => Just(libc::FALLOC_FL_ZERO_RANGE),
        1 => Just(libc::FALLOC_FL_ZERO_RANGE | KEEP),
        1 => Just(libc::FALLOC_FL_COLLAPSE_RANGE),
    ]
}

fn names() -> impl Strategy<Value = Op> {
    let pick = any::<Pick>;
    // The long ones seldom.
    let name = || prop_oneof![20 => 0..3usize, 20 => 0..7usize, 1 => 7..9usize];
    let user = any::<bool>;
    prop_oneof![
        1 => (pick(), name()).prop_map(|(dir, name)| Op::Lookup { dir, name }),
        2 => pick().prop_map(|node| Op::Forget { node }),
        2 => (pick(), name(), kind(), mode(), user())
            .prop_map(|(dir, name, kind, mode, user)| Op::Mknod { dir, name, kind, mode, user }),
        4 => (pick(), name(), mode(), user()).prop_map(|(dir, name, mode, user)| Op::Mkdir { dir, name, mode, user }),
        1 => (pick(), name(), prop_oneof![9 => 1..40usize, 1 => 4090..4100usize])
            .prop_map(|(dir, name, length)| Op::Symlink { dir, name, length }),
        2 => (pick(), pick(), name()).prop_map(|(node, dir, name)| Op::Link { node, dir, name }),
        3 => (pick(), name()).prop_map(|(dir, name)| Op::Unlink { dir, name }),
        3 => (pick(), name()).prop_map(|(dir, name)| Op::Rmdir { dir, name }),
        6 => (pick(), name(), pick(), name(), prop_oneof![4 => Just(0u8), 1 => Just(1), 2 => Just(2), 1 => 3..5u8])
            .prop_map(|(a, b, c, d, mode)| Op::Rename { from: (a, b), to: (c, d), mode }),
        4 => (pick(), pick(), prop_oneof![2 => Just(0u8), 3 => Just(2)]).prop_map(|(from, to, mode)| Op::Swap { from, to, mode }),
        3 => (pick(), 1..6usize).prop_map(|(dir, limit)| Op::List { dir, limit }),
        1 => pick().prop_map(|node| Op::Readlink { node }),
    ]
}

fn files() -> impl Strategy<Value = Op> {
    let pick = any::<Pick>;
    let name = || prop_oneof![20 => 0..7usize, 1 => 7..9usize];
    prop_oneof![
        6 => (pick(), name(), create_flags(), mode(), any::<bool>())
            .prop_map(|(dir, name, flags, mode, user)| Op::Create { dir, name, flags, mode, user }),
        3 => (pick(), open_flags(), any::<bool>()).prop_map(|(node, flags, user)| Op::Open { node, flags, user }),
        8 => (pick(), offset(), data(), any::<bool>())
            .prop_map(|(handle, offset, data, kill)| Op::Write { handle, offset, data, kill }),
        5 => (pick(), 0..TEXTS.len()).prop_map(|(handle, text)| Op::Save { handle, text }),
        3 => (pick(), offset(), 0..100_000u32).prop_map(|(handle, offset, size)| Op::Read { handle, offset, size }),
        3 => pick().prop_map(|handle| Op::Flush { handle }),
        1 => pick().prop_map(|handle| Op::Fsync { handle }),
        3 => pick().prop_map(|handle| Op::Release { handle }),
        3 => (pick(), fallocate_mode(), offset(), length())
            .prop_map(|(handle, mode, offset, length)| Op::Fallocate { handle, mode, offset, length }),
        2 => (pick(), offset(), any::<bool>()).prop_map(|(handle, offset, hole)| Op::Seek { handle, offset, hole }),
        2 => (pick(), offset(), pick(), offset(), length())
            .prop_map(|(a, b, c, d, length)| Op::Copy { from: (a, b), to: (c, d), length }),
        2 => (pick(), size()).prop_map(|(handle, size)| Op::Truncate { handle, size }),
    ]
}

fn attributes() -> impl Strategy<Value = Op> {
    let pick = any::<Pick>;
    let flags = || prop_oneof![3 => Just(0), 1 => Just(libc::XATTR_CREATE), 1 => Just(libc::XATTR_REPLACE)];
    prop_oneof![
        4 => (pick(), set(), any::<bool>()).prop_map(|(node, set, user)| Op::SetAttr { node, set, user }),
        2 => (pick(), 0..XATTRS.len(), prop_oneof![9 => 0..20usize, 1 => 65_530..65_540usize], flags())
            .prop_map(|(node, name, length, flags)| Op::SetXattr { node, name, length, flags }),
        1 => (pick(), 0..XATTRS.len()).prop_map(|(node, name)| Op::RemoveXattr { node, name }),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        15 => names(),
        15 => files(),
        4 => attributes(),
        1 => Just(Op::Tick),
        1 => Just(Op::MoveThreads),
        1 => Just(Op::Remount),
    ]
}

/// What happens to the documents of one thread.
fn document_op() -> impl Strategy<Value = Op> {
    let handle = any::<Pick>;
    // Two documents, two files that may become some, and one in the directory above.
    let place = || prop_oneof![6 => Just((2u8, 4usize)), 1 => Just((2, 5)), 3 => Just((2, 0)), 1 => Just((3, 4))];
    let set = (size(), any::<bool>(), proptest::option::weighted(0.3, -5..5i64))
        .prop_map(|(size, resize, mtime)| Set { size: resize.then_some(size), mtime, ..Set::default() });
    prop_oneof![
        6 => (place(), create_flags()).prop_map(|((dir, name), flags)| Op::Create { dir, name, flags, mode: 0o640, user: true }),
        4 => (handle(), open_flags()).prop_map(|(node, flags)| Op::Open { node, flags, user: true }),
        8 => (handle(), 0..TEXTS.len()).prop_map(|(handle, text)| Op::Save { handle, text }),
        5 => (handle(), 0..20u64, 0..TEXTS.len())
            .prop_map(|(handle, offset, text)| Op::Write { handle, offset, data: Data::Text(text), kill: false }),
        5 => (handle(), prop_oneof![2 => Just(0u64), 1 => 1..20u64])
            .prop_map(|(handle, offset)| Op::Read { handle, offset, size: 50 }),
        2 => (handle(), size()).prop_map(|(handle, size)| Op::Truncate { handle, size }),
        4 => handle().prop_map(|handle| Op::Flush { handle }),
        1 => handle().prop_map(|handle| Op::Fsync { handle }),
        5 => handle().prop_map(|handle| Op::Release { handle }),
        7 => (place(), place(), prop_oneof![4 => Just(0u8), 1 => Just(1), 2 => Just(2), 1 => 3..5u8])
            .prop_map(|(from, to, mode)| Op::Rename { from, to, mode }),
        3 => place().prop_map(|(dir, name)| Op::Unlink { dir, name }),
        1 => (handle(), place()).prop_map(|(node, (dir, name))| Op::Link { node, dir, name }),
        1 => place().prop_map(|(dir, name)| Op::Mkdir { dir, name, mode: 0o755, user: true }),
        3 => (handle(), set).prop_map(|(node, set)| Op::SetAttr { node, set, user: true }),
        2 => handle().prop_map(|node| Op::Forget { node }),
        2 => (handle(), 0..XATTRS.len()).prop_map(|(node, name)| Op::SetXattr { node, name, length: 3, flags: 0 }),
        1 => (handle(), 0..XATTRS.len()).prop_map(|(node, name)| Op::RemoveXattr { node, name }),
        2 => Just(Op::MoveThreads),
        1 => Just(Op::Tick),
        1 => Just(Op::Remount),
    ]
}

fn steps(op: impl Strategy<Value = Op>, most: usize) -> impl Strategy<Value = Vec<Step>> {
    vec((op, proptest::bool::weighted(0.05)).prop_map(|(op, full)| Step { op, full }), 1..most)
}

/// A sequence of steps.
pub fn anything(most: usize) -> impl Strategy<Value = Vec<Step>> {
    steps(op(), most)
}

/// A sequence of steps that are about documents.
pub fn documents(most: usize) -> impl Strategy<Value = Vec<Step>> {
    steps(document_op(), most)
}
