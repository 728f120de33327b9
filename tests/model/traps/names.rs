//! Names, directories, and what renames do to them.

use threadfs::fs::{Node, RenameMode};

use crate::support::*;

const REPLACE: RenameMode = RenameMode::Replace;
const EXCHANGE: RenameMode = RenameMode::Exchange;

#[test]
fn a_directory_does_not_go_into_itself() {
    let (_, fs) = fresh();
    let a = mkdir(&fs, Node::ROOT, "a");
    let b = mkdir(&fs, a, "b");
    let c = mkdir(&fs, b, "c");
    for below in [a, b, c] {
        assert_eq!(errno(fs.rename(ROOT_USER, (Node::ROOT, b"a"), (below, b"x"), REPLACE)), libc::EINVAL);
    }
    let d = mkdir(&fs, Node::ROOT, "d");
    mkdir(&fs, d, "e");
    assert_eq!(errno(fs.rename(ROOT_USER, (d, b"e"), (Node::ROOT, b"d"), REPLACE)), libc::ENOTEMPTY);
    // Neither the other way round.
    assert_eq!(errno(fs.rename(ROOT_USER, (a, b"b"), (Node::ROOT, b"a"), EXCHANGE)), libc::EINVAL);
    assert_eq!(errno(fs.rename(ROOT_USER, (Node::ROOT, b"a"), (a, b"b"), EXCHANGE)), libc::EINVAL);
    // A sibling is no ancestor.
    fs.rename(ROOT_USER, (a, b"b"), (d, b"b"), REPLACE).unwrap();
    assert_eq!((attr(&fs, a).nlink, attr(&fs, d).nlink), (2, 4));
    assert_sound(&fs);
}

#[test]
fn a_directory_replaces_only_an_empty_one() {
    let (_, fs) = fresh();
    let a = mkdir(&fs, Node::ROOT, "a");
    let full = mkdir(&fs, Node::ROOT, "full");
    file(&fs, full, "f", b"");
    mkdir(&fs, Node::ROOT, "empty");
    file(&fs, Node::ROOT, "file", b"");
    let onto = |name: &[u8]| fs.rename(ROOT_USER, (Node::ROOT, b"a"), (Node::ROOT, name), REPLACE);
    assert_eq!(errno(onto(b"full")), libc::ENOTEMPTY);
    assert_eq!(errno(onto(b"file")), libc::ENOTDIR);
    assert_eq!(errno(fs.rename(ROOT_USER, (Node::ROOT, b"file"), (Node::ROOT, b"a"), REPLACE)), libc::EISDIR);
    onto(b"empty").unwrap();
    assert_eq!(names(&fs, Node::ROOT), ["empty", "file", "full"]);
    assert_eq!(node(&fs.lookup(Node::ROOT, b"empty").unwrap()), a);
    assert_eq!(attr(&fs, Node::ROOT).nlink, 4);
    assert_sound(&fs);
}

#[test]
fn exchanging_a_directory_and_a_file_moves_the_link_of_the_parent() {
    let (_, fs) = fresh();
    let (a, b) = (mkdir(&fs, Node::ROOT, "a"), mkdir(&fs, Node::ROOT, "b"));
    let dir = mkdir(&fs, a, "x");
    let inside = mkdir(&fs, dir, "inside");
    let plain = file(&fs, b, "y", b"text");
    fs.rename(ROOT_USER, (a, b"x"), (b, b"y"), EXCHANGE).unwrap();
    assert_eq!((attr(&fs, a).nlink, attr(&fs, b).nlink), (2, 3));
    assert_eq!(node(&fs.lookup(a, b"x").unwrap()), plain);
    assert_eq!(node(&fs.lookup(b, b"y").unwrap()), dir);
    let dotdot = &fs.readdir(dir, 0, 9).unwrap()[1];
    assert_eq!((&dotdot.name[..], dotdot.node), (&b".."[..], b));
    // The other way round, and in one directory.
    fs.rename(ROOT_USER, (a, b"x"), (b, b"y"), EXCHANGE).unwrap();
    assert_eq!((attr(&fs, a).nlink, attr(&fs, b).nlink), (3, 2));
    file(&fs, a, "z", b"");
    fs.rename(ROOT_USER, (a, b"x"), (a, b"z"), EXCHANGE).unwrap();
    assert_eq!(attr(&fs, a).nlink, 3);
    assert_eq!(node(&fs.lookup(dir, b"inside").unwrap()), inside);
    assert_sound(&fs);
}

#[test]
fn two_names_of_one_file_stay_two() {
    let (_, fs) = fresh();
    let a = mkdir(&fs, Node::ROOT, "a");
    let plain = file(&fs, Node::ROOT, "x", b"text");
    fs.link(plain, a, b"y").unwrap();
    let before = (attr(&fs, plain), attr(&fs, a), attr(&fs, Node::ROOT));
    fs.rename(ROOT_USER, (Node::ROOT, b"x"), (a, b"y"), REPLACE).unwrap();
    fs.rename(ROOT_USER, (Node::ROOT, b"x"), (a, b"y"), EXCHANGE).unwrap();
    fs.rename(ROOT_USER, (Node::ROOT, b"x"), (Node::ROOT, b"x"), REPLACE).unwrap();
    assert_eq!(errno(fs.rename(ROOT_USER, (Node::ROOT, b"x"), (a, b"y"), RenameMode::NoReplace)), libc::EEXIST);
    assert_eq!((attr(&fs, plain), attr(&fs, a), attr(&fs, Node::ROOT)), before);
    assert_eq!(attr(&fs, plain).nlink, 2);
}

#[test]
fn a_file_that_is_replaced_lives_while_it_is_known() {
    let (_, fs) = fresh();
    let (old, fh) = create(&fs, Node::ROOT, "old");
    fs.write(fh, 0, b"old text", 0, None).unwrap();
    file(&fs, Node::ROOT, "new", b"new text");
    fs.rename(ROOT_USER, (Node::ROOT, b"new"), (Node::ROOT, b"old"), REPLACE).unwrap();
    assert_eq!(read_all(&fs, fh), b"old text");
    fs.write(fh, 0, b"OLD", 0, None).unwrap();
    assert_eq!(read_all(&fs, fh), b"OLD text");
    assert_eq!(attr(&fs, old).nlink, 0);
    assert_eq!(fs.store().usage().inodes, 2);
    fs.release(fh);
    assert_eq!(attr(&fs, old).size, 8, "the kernel knows it still");
    fs.forget(old, 1);
    assert_eq!(errno(fs.getattr(old)), libc::ESTALE);
    assert_sound(&fs);
}

#[test]
fn a_directory_that_somebody_is_in_can_be_removed() {
    let (_, fs) = fresh();
    for dir in [mkdir(&fs, Node::ROOT, "cwd"), thread(&fs, "cwd")] {
        let parent = if dir.is_thread_root() { node(&fs.lookup(Node::ROOT, b"threads").unwrap()) } else { Node::ROOT };
        fs.rmdir(ROOT_USER, parent, b"cwd").unwrap();
        assert_eq!(attr(&fs, dir).nlink, 0);
        while !fs.collect_for(std::time::Duration::from_secs(1)) {}
        assert_eq!(errno(fs.mkdir(USER, dir, b"x", 0o755)), libc::ENOENT);
        assert_eq!(errno(fs.create(USER, dir, b"x", 0o644, libc::O_RDWR)), libc::ENOENT);
        assert_eq!(errno(fs.create(USER, dir, b"x.json", 0o644, libc::O_RDWR)), libc::ENOENT);
        assert_eq!(errno(fs.symlink(USER, dir, b"x", b"y")), libc::ENOENT);
        assert_eq!(errno(fs.lookup(dir, b"x")), libc::ENOENT);
        let (plain, fh) = create(&fs, parent, "f");
        let moved = errno(fs.rename(ROOT_USER, (parent, b"f"), (dir, b"f"), REPLACE));
        assert!([libc::ENOENT, libc::EXDEV].contains(&moved));
        let linked = errno(fs.link(plain, dir, b"f"));
        assert!([libc::ENOENT, libc::EXDEV].contains(&linked));
        fs.release(fh);
        fs.unlink(ROOT_USER, parent, b"f").unwrap();
        fs.forget(plain, 1);
        assert_eq!(names(&fs, dir), [""; 0]);
        fs.forget(dir, 1);
        assert_eq!(errno(fs.getattr(dir)), libc::ESTALE);
        while !fs.collect_for(std::time::Duration::from_secs(1)) {}
        assert_sound(&fs);
    }
}

#[test]
fn names_of_the_filesystem_are_taken() {
    let (_, fs) = fresh();
    let t = thread(&fs, "t");
    let plain = file(&fs, t, "plain", b"");
    for (dir, name) in [(Node::ROOT, &b".threadfs"[..]), (Node::ROOT, b".snapshots"), (t, b".snapshots")] {
        assert_eq!(errno(fs.mkdir(USER, dir, name, 0o755)), libc::EPERM);
        assert_eq!(errno(fs.create(USER, dir, name, 0o644, libc::O_RDWR)), libc::EPERM);
        assert!(!names(&fs, dir).contains(&String::from_utf8_lossy(name).into_owned()));
    }
    assert_eq!(errno(fs.link(plain, t, b".snapshots")), libc::EPERM);
    assert_eq!(errno(fs.rename(ROOT_USER, (t, b"plain"), (t, b".snapshots"), REPLACE)), libc::EPERM);
    assert_eq!(errno(fs.rename(ROOT_USER, (t, b".snapshots"), (t, b"x"), REPLACE)), libc::EPERM);
    // Elsewhere they are names like others.
    let sub = mkdir(&fs, t, "sub");
    mkdir(&fs, sub, ".snapshots");
    mkdir(&fs, t, ".threadfs");
    assert_sound(&fs);
}

#[test]
fn create_in_place_of_what_is_no_file_leaves_nothing_behind() {
    let (_, fs) = fresh();
    let dir = mkdir(&fs, Node::ROOT, "dir");
    let link = node(&fs.symlink(USER, Node::ROOT, b"link", b"x").unwrap());
    let fifo = node(&fs.mknod(USER, Node::ROOT, b"fifo", libc::S_IFIFO | 0o600, 0).unwrap());
    for (name, wanted) in [(&b"dir"[..], libc::EISDIR), (b"link", libc::ELOOP), (b"fifo", libc::EEXIST)] {
        assert_eq!(errno(fs.create(USER, Node::ROOT, name, 0o644, libc::O_RDWR)), wanted);
    }
    fs.rmdir(ROOT_USER, Node::ROOT, b"dir").unwrap();
    fs.unlink(ROOT_USER, Node::ROOT, b"link").unwrap();
    fs.unlink(ROOT_USER, Node::ROOT, b"fifo").unwrap();
    // The kernel was told of each once.
    for gone in [dir, link, fifo] {
        fs.forget(gone, 1);
        assert_eq!(errno(fs.getattr(gone)), libc::ESTALE);
    }
}

#[test]
fn threads_are_disks_of_their_own() {
    let (_, fs) = fresh();
    let (a, b) = (thread(&fs, "a"), thread(&fs, "b"));
    let threads = node(&fs.lookup(Node::ROOT, b"threads").unwrap());
    let plain = file(&fs, a, "plain", b"text");
    file(&fs, b, "other", b"text");
    for dir in [b, threads, Node::ROOT] {
        assert_eq!(errno(fs.rename(ROOT_USER, (a, b"plain"), (dir, b"x"), REPLACE)), libc::EXDEV);
        assert_eq!(errno(fs.link(plain, dir, b"x")), libc::EXDEV);
    }
    assert_eq!(errno(fs.rename(ROOT_USER, (a, b"plain"), (b, b"other"), EXCHANGE)), libc::EXDEV);
    let ordinary = mkdir(&fs, Node::ROOT, "ordinary");
    assert_eq!(errno(fs.rename(ROOT_USER, (Node::ROOT, b"ordinary"), (threads, b"c"), REPLACE)), libc::EXDEV);
    assert_eq!(errno(fs.rename(ROOT_USER, (threads, b"a"), (ordinary, b"a"), REPLACE)), libc::EXDEV);
    // A thread keeps being one under another name, and where other threads are.
    fs.rename(ROOT_USER, (threads, b"a"), (threads, b"c"), REPLACE).unwrap();
    let users = mkdir(&fs, Node::ROOT, "users");
    let user = mkdir(&fs, users, "u");
    let others = mkdir(&fs, user, "threads");
    fs.rename(ROOT_USER, (threads, b"c"), (others, b"d"), REPLACE).unwrap();
    assert_eq!(content(&fs, node(&fs.lookup(a, b"plain").unwrap())), b"text");
    fs.rename(ROOT_USER, (users, b"u"), (users, b"v"), REPLACE).unwrap();
    assert_eq!(fs.path_of(plain).unwrap().unwrap(), b"users/v/threads/d/plain");
    // Over an empty one, which ends.
    thread(&fs, "e");
    fs.rename(ROOT_USER, (threads, b"e"), (threads, b"b"), REPLACE).unwrap_err();
    fs.unlink(ROOT_USER, b, b"other").unwrap();
    fs.rename(ROOT_USER, (threads, b"e"), (threads, b"b"), REPLACE).unwrap();
    assert_eq!(attr(&fs, b).nlink, 0);
    fs.forget(b, 1);
    while !fs.collect_for(std::time::Duration::from_secs(1)) {}
    assert_eq!(fs.store().thread_count(), 2);
    assert_sound(&fs);
}

/// Far deeper than a path can say, as with mkdir and chdir in turn.
#[test]
fn a_very_deep_tree() {
    const DEPTH: usize = 30_000;
    let (engine, fs) = fresh();
    let mut dirs = vec![Node::ROOT];
    for _ in 0..DEPTH {
        let deeper = mkdir(&fs, *dirs.last().unwrap(), "d");
        dirs.push(deeper);
    }
    let deepest = *dirs.last().unwrap();
    drop(fs);
    // After a mount nothing is known of the way down.
    let fs = mount(engine);
    let (_, fh) = create(&fs, deepest, "x.json");
    fs.release(fh);
    assert_eq!(fs.path_of(deepest).unwrap().unwrap().len(), 2 * DEPTH - 1);
    assert_eq!(errno(fs.rename(ROOT_USER, (Node::ROOT, b"d"), (deepest, b"d"), REPLACE)), libc::EINVAL);
    assert_sound(&fs);
}
