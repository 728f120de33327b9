//! Set-user-ID, set-group-ID and capabilities.

use threadfs::fs::{Caller, Node, SetAttr};

use crate::support::*;

#[test]
fn a_directory_hands_its_group_on() {
    let (_, fs) = fresh();
    let owner = Caller { uid: 7, gid: 70, pid: 1, umask: 0 };
    let shared = node(&fs.mkdir(owner, Node::ROOT, b"shared", 0o2775).unwrap());
    let below = fs.mkdir(USER, shared, b"below", 0o755).unwrap().attr;
    assert_eq!((below.uid, below.gid, below.perm), (USER.uid, 70, 0o2755));
    let (entry, opened) = fs.create(USER, shared, b"file", 0o644, libc::O_RDWR).unwrap();
    assert_eq!((entry.attr.uid, entry.attr.gid, entry.attr.perm), (USER.uid, 70, 0o644));
    fs.release(opened.fh);
    let link = fs.symlink(USER, shared, b"link", b"x").unwrap().attr;
    assert_eq!((link.gid, link.perm), (70, 0o777));
    let deeper = fs.mkdir(USER, Node::from_ino(below.ino), b"deeper", 0o700).unwrap().attr;
    assert_eq!((deeper.gid, deeper.perm), (70, 0o2700));
    // And a document that is not there yet.
    let t = thread(&fs, "t");
    fs.setattr(ROOT_USER, t, SetAttr { mode: Some(0o2775), gid: Some(9), ..SetAttr::default() }, None).unwrap();
    let (entry, opened) = fs.create(USER, t, b"x.json", 0o600, libc::O_RDWR).unwrap();
    fs.write(opened.fh, 0, b"{}", 0, None).unwrap();
    fs.flush(opened.fh, 1).unwrap();
    let found = attr(&fs, node(&entry));
    assert_eq!((found.uid, found.gid, found.perm), (USER.uid, 9, 0o600));
}

#[test]
fn who_changes_a_file_does_not_get_its_privileges() {
    const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let (_, fs) = fresh();
    let (plain, fh) = create(&fs, Node::ROOT, "f");
    let (_, source) = create(&fs, Node::ROOT, "source");
    fs.write(source, 0, b"text", 0, None).unwrap();
    let arm = |mode: u32| {
        fs.setattr(ROOT_USER, plain, SetAttr { mode: Some(mode), ..SetAttr::default() }, None).unwrap();
        fs.setxattr(ROOT_USER, plain, b"security.capability", b"x", 0).unwrap();
    };
    let disarmed = |what: &str, wanted: u16| {
        assert_eq!(attr(&fs, plain).perm, wanted, "{what}");
        assert_eq!(errno(fs.getxattr(plain, b"security.capability")), libc::ENODATA, "{what}");
    };
    let size = |caller: Caller, size: u64| {
        fs.setattr(caller, plain, SetAttr { size: Some(size), ..SetAttr::default() }, None).unwrap();
    };
    arm(0o6755);
    fs.write(fh, 0, b"text", 0, Some(USER)).unwrap();
    disarmed("write", 0o755);
    arm(0o6755);
    fs.write(fh, 0, b"text", 0, None).unwrap();
    disarmed("write by root", 0o6755);
    // Without the group's execute bit, set-group-ID means something else, and is its group's affair.
    arm(0o6745);
    fs.write(fh, 0, b"text", 0, Some(USER)).unwrap();
    disarmed("write from outside the group", 0o745);
    fs.setattr(ROOT_USER, plain, SetAttr { gid: Some(USER.gid), ..SetAttr::default() }, None).unwrap();
    for from_outside in [false, true] {
        let caller = Caller { gid: USER.gid + u32::from(from_outside), ..USER };
        let wanted = if from_outside { 0o745 } else { 0o2745 };
        arm(0o6745);
        fs.write(fh, 0, b"text", 0, Some(caller)).unwrap();
        disarmed("write", wanted);
        arm(0o6745);
        fs.fallocate(caller, fh, 0, 1, PUNCH).unwrap();
        disarmed("fallocate", wanted);
        arm(0o6745);
        size(caller, 3);
        disarmed("truncate", wanted);
        arm(0o6745);
        fs.setattr(caller, plain, SetAttr { uid: Some(5), ..SetAttr::default() }, None).unwrap();
        disarmed("chown", wanted);
    }
    arm(0o6755);
    size(USER, 2);
    disarmed("truncate", 0o755);
    arm(0o6755);
    size(ROOT_USER, 1);
    disarmed("truncate by root", 0o6755);
    arm(0o6755);
    fs.fallocate(USER, fh, 0, 1, PUNCH).unwrap();
    disarmed("fallocate", 0o755);
    arm(0o6755);
    fs.fallocate(ROOT_USER, fh, 0, 1, PUNCH).unwrap();
    disarmed("fallocate by root", 0o6755);
    fs.copy_file_range(USER, (source, 0), (fh, 0), 4).unwrap();
    disarmed("copy_file_range", 0o755);
    arm(0o6755);
    let opened = fs.open(USER, plain, libc::O_WRONLY | libc::O_TRUNC).unwrap();
    fs.release(opened.fh);
    disarmed("open with O_TRUNC", 0o755);
    // chown(2): of root too.
    arm(0o6755);
    fs.setattr(ROOT_USER, plain, SetAttr { uid: Some(5), ..SetAttr::default() }, None).unwrap();
    disarmed("chown", 0o755);
    arm(0o6745);
    fs.setattr(ROOT_USER, plain, SetAttr { gid: Some(5), ..SetAttr::default() }, None).unwrap();
    disarmed("chgrp", 0o2745);
    // With a mode in the same request, the mode is what was asked for.
    let both = SetAttr { uid: Some(6), mode: Some(0o6711), ..SetAttr::default() };
    fs.setattr(ROOT_USER, plain, both, None).unwrap();
    assert_eq!(attr(&fs, plain).perm, 0o6711);
    // A directory keeps its bits.
    let dir = node(&fs.mkdir(ROOT_USER, Node::ROOT, b"d", 0o2775).unwrap());
    fs.setattr(ROOT_USER, dir, SetAttr { uid: Some(5), ..SetAttr::default() }, None).unwrap();
    assert_eq!(attr(&fs, dir).perm, 0o2775);
    assert_sound(&fs);
}

/// Between the moment at which a commit reads what a document is to be and that at which it is there.
#[test]
fn nothing_that_is_set_during_the_first_commit_is_lost() {
    let (_, fs) = fresh();
    let t = thread(&fs, "t");
    for round in 0..300 {
        let (entry, opened) = fs.create(ROOT_USER, t, format!("{round}.json").as_bytes(), 0o600, libc::O_RDWR).unwrap();
        let document = node(&entry);
        fs.write(opened.fh, 0, b"{}", 0, None).unwrap();
        let start = std::sync::Barrier::new(3);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                start.wait();
                fs.flush(opened.fh, 1).unwrap();
            });
            scope.spawn(|| {
                start.wait();
                fs.setxattr(ROOT_USER, document, b"user.a", b"x", 0).unwrap();
            });
            start.wait();
            fs.setattr(ROOT_USER, document, SetAttr { mode: Some(0o644), ..SetAttr::default() }, None).unwrap();
        });
        fs.release(opened.fh);
        assert_eq!(attr(&fs, document).perm, 0o644, "in round {round}");
        assert_eq!(fs.getxattr(document, b"user.a").unwrap(), b"x", "in round {round}");
    }
    assert_sound(&fs);
}
