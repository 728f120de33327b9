//! What becomes a document, and what ceases to be one.

use threadfs::fs::{Fs, Node, RenameMode};

use crate::support::*;

fn rename(fs: &Fs, from: (Node, &str), to: (Node, &str)) -> i32 {
    let done = fs.rename(ROOT_USER, (from.0, from.1.as_bytes()), (to.0, to.1.as_bytes()), RenameMode::Replace);
    done.map_or_else(|error| error.errno(), |()| 0)
}

/// Nothing is renamed but a directory above, and what was a document is none for a while.
#[test]
fn documents_below_a_directory_that_is_renamed() {
    let (_, fs) = fresh();
    let t = thread(&fs, "t");
    let document = file(&fs, t, "x.json", b"[1]");
    assert_eq!(content(&fs, document), b"[1]");
    assert_eq!(rename(&fs, (Node::ROOT, "threads"), (Node::ROOT, "away")), 0);
    // An ordinary file: written in place, valid or not.
    let fh = open(&fs, document);
    fs.write(fh, 0, b"<2>", 0, None).unwrap();
    assert_eq!(content(&fs, document), b"<2>");
    fs.flush(fh, 1).unwrap();
    fs.release(fh);
    assert_sound(&fs);
    assert_eq!(rename(&fs, (Node::ROOT, "away"), (Node::ROOT, "threads")), 0);
    assert_eq!(content(&fs, document), b"<2>", "not what was remembered of the document");
    let fh = open(&fs, document);
    fs.write(fh, 0, b"[3]", 0, None).unwrap();
    assert_eq!(content(&fs, document), b"<2>", "a draft again");
    fs.flush(fh, 1).unwrap();
    assert_eq!(content(&fs, document), b"[3]");
    fs.release(fh);
    assert_sound(&fs);
}

#[test]
fn a_version_is_recorded_once() {
    let (_, fs) = fresh();
    let t = thread(&fs, "t");
    let document = file(&fs, t, "x.json", b"[1]");
    assert_eq!(rename(&fs, (Node::ROOT, "threads"), (Node::ROOT, "away")), 0);
    assert_eq!(rename(&fs, (t, "x.json"), (t, "y")), 0);
    assert_eq!(rename(&fs, (Node::ROOT, "away"), (Node::ROOT, "threads")), 0);
    assert_eq!(rename(&fs, (t, "y"), (t, "x.json")), 0);
    assert_sound(&fs);
    let fh = open(&fs, document);
    // More than are kept: with the oldest one its content goes, which must not be another's too.
    for text in [b"[2]", b"[3]", b"[4]", b"[5]"] {
        fs.write(fh, 0, text, 0, None).unwrap();
        fs.flush(fh, 1).unwrap();
        assert_sound(&fs);
    }
    fs.release(fh);
    fs.unlink(ROOT_USER, t, b"x.json").unwrap();
    fs.forget(document, 1);
    while !fs.collect_for(std::time::Duration::from_secs(1)) {}
    assert_sound(&fs);
}

/// An open file that was read as a document, then written as an ordinary file, and is a document
/// again: its next draft begins with what is there now.
#[test]
fn an_old_pin_is_no_base_for_a_draft() {
    let (_, fs) = fresh();
    let t = thread(&fs, "t");
    let document = file(&fs, t, "x.json", b"[1, 2]");
    let fh = open(&fs, document);
    assert_eq!(read_all(&fs, fh), b"[1, 2]");
    assert_eq!(rename(&fs, (t, "x.json"), (t, "x")), 0);
    fs.write(fh, 0, b"[3, 4]", 0, None).unwrap();
    assert_eq!(read_all(&fs, fh), b"[3, 4]");
    assert_eq!(rename(&fs, (t, "x"), (t, "x.json")), 0);
    fs.write(fh, 1, b"5", 0, None).unwrap();
    fs.flush(fh, 1).unwrap();
    assert_eq!(content(&fs, document), b"[5, 4]");
}

/// A draft of what is no document any more is still what its writer reads and closes.
#[test]
fn a_draft_outlives_the_name() {
    let (_, fs) = fresh();
    let t = thread(&fs, "t");
    let document = file(&fs, t, "x.json", b"[1]");
    let fh = open(&fs, document);
    fs.write(fh, 1, b"2", 0, None).unwrap();
    assert_eq!(rename(&fs, (t, "x.json"), (t, "x")), 0);
    fs.write(fh, 2, b", 3]", 0, None).unwrap();
    assert_eq!(read_all(&fs, fh), b"[2, 3]");
    assert_eq!(content(&fs, document), b"[1]");
    fs.flush(fh, 1).unwrap();
    assert_eq!(content(&fs, document), b"[2, 3]");
    fs.write(fh, 0, b"<", 0, None).unwrap();
    assert_eq!(content(&fs, document), b"<2, 3]", "an ordinary file from now on");
    fs.release(fh);
    assert_sound(&fs);
}

/// A rename that fails leaves the open files what they were.
#[test]
fn a_rename_without_room_changes_no_role() {
    let (engine, fs) = fresh();
    let t = thread(&fs, "t");
    let (plain, fh) = create(&fs, t, "x");
    fs.write(fh, 0, b"[1]", 0, None).unwrap();
    let document = file(&fs, t, "y.json", b"[1]");
    let other = open(&fs, document);
    engine.refuse_writes_after(0);
    assert_eq!(rename(&fs, (t, "x"), (t, "x.json")), libc::ENOSPC);
    assert_eq!(rename(&fs, (t, "y.json"), (t, "y")), libc::ENOSPC);
    engine.accept_writes();
    fs.write(fh, 0, b"<2>", 0, None).unwrap();
    assert_eq!(content(&fs, plain), b"<2>", "written in place");
    fs.write(other, 0, b"<2>", 0, None).unwrap();
    assert_eq!(content(&fs, document), b"[1]", "written to a draft");
    assert_eq!(errno(fs.flush(other, u32::MAX)), libc::EBADMSG);
}
