//! Sizes, holes and what reads as zeros.

use threadfs::fs::{Fs, Node, SetAttr, Whence};

use crate::support::*;

fn resize(fs: &Fs, node: Node, size: u64) {
    fs.setattr(ROOT_USER, node, SetAttr { size: Some(size), ..SetAttr::default() }, None).unwrap();
}

#[test]
fn what_is_cut_off_does_not_come_back() {
    let (_, fs) = fresh();
    for cut in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK - 1] {
        let (plain, fh) = create(&fs, Node::ROOT, &format!("f{cut}"));
        let text = vec![b'x'; 3 * CHUNK as usize];
        fs.write(fh, 0, &text, 0, None).unwrap();
        resize(&fs, plain, cut);
        assert_eq!(attr(&fs, plain).blocks, cut.div_ceil(512));
        resize(&fs, plain, 3 * CHUNK);
        let found = read_all(&fs, fh);
        assert!(found[..cut as usize].iter().all(|byte| *byte == b'x'));
        assert!(found[cut as usize..].iter().all(|byte| *byte == 0), "cut at {cut}");
        assert_eq!(found.len() as u64, 3 * CHUNK);
    }
    assert_sound(&fs);
}

#[test]
fn writing_behind_the_end_leaves_zeros() {
    let (_, fs) = fresh();
    let (plain, fh) = create(&fs, Node::ROOT, "f");
    fs.write(fh, 0, b"start", 0, None).unwrap();
    fs.write(fh, 4 * CHUNK + 7, b"end", 0, None).unwrap();
    let found = read_all(&fs, fh);
    assert_eq!(found.len() as u64, 4 * CHUNK + 10);
    assert_eq!((&found[..5], &found[found.len() - 3..]), (&b"start"[..], &b"end"[..]));
    assert!(found[5..found.len() - 3].iter().all(|byte| *byte == 0));
    assert!(attr(&fs, plain).blocks * 512 < 3 * CHUNK, "holes take no room");
    assert_eq!(fs.seek(fh, CHUNK, Whence::Data).unwrap(), 4 * CHUNK);
    assert_eq!(fs.seek(fh, 0, Whence::Hole).unwrap(), CHUNK);
    assert_eq!(fs.seek(fh, 4 * CHUNK + 8, Whence::Hole).unwrap(), 4 * CHUNK + 10, "the end is a hole");
    assert_eq!(errno(fs.seek(fh, 4 * CHUNK + 10, Whence::Data)), libc::ENXIO);
    // An append goes to the end, whatever the kernel believes.
    fs.write(fh, 0, b"!", libc::O_APPEND, None).unwrap();
    assert_eq!(attr(&fs, plain).size, 4 * CHUNK + 11);
}

#[test]
fn a_hole_reads_as_zeros_and_gives_room_back() {
    const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let (_, fs) = fresh();
    let (plain, fh) = create(&fs, Node::ROOT, "f");
    let mut text: Vec<u8> = (0..4 * CHUNK).map(|at| 1 + (at % 255) as u8).collect();
    fs.write(fh, 0, &text, 0, None).unwrap();
    let (from, to) = (CHUNK / 2, 3 * CHUNK + 5);
    fs.fallocate(ROOT_USER, fh, from, to - from, PUNCH).unwrap();
    text[from as usize..to as usize].fill(0);
    assert!(read_all(&fs, fh) == text);
    assert_eq!(attr(&fs, plain).blocks, 2 * CHUNK / 512);
    assert_eq!(attr(&fs, plain).size, 4 * CHUNK);
    assert_eq!(fs.seek(fh, 0, Whence::Hole).unwrap(), CHUNK);
    fs.write(fh, 2 * CHUNK - 1, b"ab", 0, None).unwrap();
    text[2 * CHUNK as usize - 1..2 * CHUNK as usize + 1].copy_from_slice(b"ab");
    assert!(read_all(&fs, fh) == text);
    // All of it, and far behind the end.
    fs.fallocate(ROOT_USER, fh, 0, 1 << 40, PUNCH).unwrap();
    assert_eq!((attr(&fs, plain).blocks, attr(&fs, plain).size), (0, 4 * CHUNK));
    assert_eq!(errno(fs.seek(fh, 0, Whence::Data)), libc::ENXIO);
    assert_eq!(fs.store().usage().bytes, 0);
    assert_sound(&fs);
}

#[test]
fn ranges_at_the_end_of_all_numbers() {
    let (_, fs) = fresh();
    let (plain, fh) = create(&fs, Node::ROOT, "f");
    fs.write(fh, 0, b"text", 0, None).unwrap();
    let far = i64::MAX as u64;
    for offset in [far, u64::MAX] {
        assert_eq!(errno(fs.write(fh, offset, b"x", 0, None)), libc::EFBIG);
        assert_eq!(errno(fs.fallocate(ROOT_USER, fh, offset, 9, 0)), libc::EFBIG);
        assert_eq!(errno(fs.copy_file_range(ROOT_USER, (fh, 0), (fh, offset), 4)), libc::EFBIG);
        assert_eq!(fs.copy_file_range(ROOT_USER, (fh, offset), (fh, 0), 4).unwrap(), 0);
        assert_eq!(fs.read(fh, offset, u32::MAX, <[u8]>::len).unwrap(), 0);
        assert_eq!(errno(fs.seek(fh, offset, Whence::Data)), libc::ENXIO);
        let set = SetAttr { size: Some(offset), ..SetAttr::default() };
        assert_eq!(errno(fs.setattr(ROOT_USER, plain, set, None)), libc::EFBIG);
    }
    assert_eq!(fs.copy_file_range(ROOT_USER, (fh, 0), (fh, 1), u64::MAX).map_err(|e| e.errno()), Err(libc::EINVAL));
    assert_eq!(read_all(&fs, fh), b"text");
    // The largest file that may be.
    resize(&fs, plain, 1 << 44);
    fs.write(fh, (1 << 44) - 1, b"x", 0, None).unwrap();
    assert_eq!(errno(fs.write(fh, (1 << 44) - 1, b"xy", 0, None)), libc::EFBIG);
    assert_eq!(fs.seek(fh, CHUNK, Whence::Data).unwrap(), (1 << 44) - CHUNK);
    resize(&fs, plain, 4);
    assert_eq!(read_all(&fs, fh), b"text");
    // A document's offsets.
    let t = thread(&fs, "t");
    let (_, fh) = create(&fs, t, "x.json");
    assert_eq!(errno(fs.write(fh, u64::MAX, b"x", 0, None)), libc::EFBIG);
    assert_eq!(fs.read(fh, u64::MAX, u32::MAX, <[u8]>::len).unwrap(), 0);
    assert_sound(&fs);
}
