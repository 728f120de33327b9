//! What is done at random.

use proptest::prelude::*;

/// Numbers choose among what there is, whatever that is.
#[derive(Debug, Clone)]
pub enum Op {
    /// Something in a thread.
    Change(u8, Change),
    NewThread,
    /// The whole tree goes, as by shutil.rmtree.
    Remove(u8),
    /// One that was removed comes back, at a snapshot.
    Undelete(u8, u8),
    Snapshot(u8),
    HomeSnapshot,
    Drop(u8, u8),
    DropHome(u8),
    Restore(u8, u8),
    /// One path of a snapshot.
    RestorePath(u8, u8, u8),
    /// At a snapshot, or as it is.
    Fork(u8, Option<u8>),
    /// Opens a file and keeps it open.
    Hold(u8, u8),
    WriteHeld(u8, u16, u16, u8),
    TruncateHeld(u8, u16),
    Release(u8),
    Collect,
    Remount,
}

#[derive(Debug, Clone)]
pub enum Change {
    Create { dir: u8, name: u8, length: u16, fill: u8 },
    Document { name: u8, number: u8 },
    Write { file: u8, offset: u16, length: u16, fill: u8 },
    Truncate { file: u8, size: u16 },
    Mkdir { dir: u8, name: u8 },
    Symlink { dir: u8, name: u8 },
    Remove { what: u8 },
    Rename { what: u8, dir: u8, name: u8 },
    Link { file: u8, dir: u8, name: u8 },
    Mode { what: u8, perm: u8 },
    Xattr { what: u8, name: u8, value: Option<u8> },
}

pub fn op() -> impl Strategy<Value = Op> {
    let any = any::<u8>;
    prop_oneof![
        30 => (any(), change()).prop_map(|(thread, change)| Op::Change(thread, change)),
        1 => Just(Op::NewThread),
        2 => any().prop_map(Op::Remove),
        2 => (any(), any()).prop_map(|(thread, which)| Op::Undelete(thread, which)),
        5 => any().prop_map(Op::Snapshot),
        2 => Just(Op::HomeSnapshot),
        3 => (any(), any()).prop_map(|(thread, which)| Op::Drop(thread, which)),
        1 => any().prop_map(Op::DropHome),
        5 => (any(), any()).prop_map(|(thread, which)| Op::Restore(thread, which)),
        3 => (any(), any(), any()).prop_map(|(thread, which, path)| Op::RestorePath(thread, which, path)),
        2 => (any(), proptest::option::of(any())).prop_map(|(thread, which)| Op::Fork(thread, which)),
        2 => (any(), any()).prop_map(|(thread, file)| Op::Hold(thread, file)),
        3 => (any(), offset(), length(), any()).prop_map(|(h, o, l, f)| Op::WriteHeld(h, o, l, f)),
        1 => (any(), offset()).prop_map(|(held, size)| Op::TruncateHeld(held, size)),
        1 => any().prop_map(Op::Release),
        3 => Just(Op::Collect),
        1 => Just(Op::Remount),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let any = any::<u8>;
    let name = || 0..5u8;
    prop_oneof![
        5 => (any(), name(), length(), any())
            .prop_map(|(dir, name, length, fill)| Change::Create { dir, name, length, fill }),
        3 => (0..2u8, any()).prop_map(|(name, number)| Change::Document { name, number }),
        6 => (any(), offset(), length(), any())
            .prop_map(|(file, offset, length, fill)| Change::Write { file, offset, length, fill }),
        2 => (any(), prop_oneof![Just(0), offset()]).prop_map(|(file, size)| Change::Truncate { file, size }),
        4 => (any(), name()).prop_map(|(dir, name)| Change::Mkdir { dir, name }),
        1 => (any(), name()).prop_map(|(dir, name)| Change::Symlink { dir, name }),
        4 => any().prop_map(|what| Change::Remove { what }),
        4 => (any(), any(), name()).prop_map(|(what, dir, name)| Change::Rename { what, dir, name }),
        2 => (any(), any(), name()).prop_map(|(file, dir, name)| Change::Link { file, dir, name }),
        2 => (any(), any()).prop_map(|(what, perm)| Change::Mode { what, perm }),
        2 => (any(), 0..3u8, proptest::option::of(any()))
            .prop_map(|(what, name, value)| Change::Xattr { what, name, value }),
    ]
}

/// Over several chunks.
fn offset() -> impl Strategy<Value = u16> {
    prop_oneof![0..200u16, any::<u16>().prop_map(|at| at / 2)]
}

fn length() -> impl Strategy<Value = u16> {
    prop_oneof![0..50u16, any::<u16>().prop_map(|length| length / 4)]
}
