//! How much of something there can be.

use threadfs::fs::Node;

use crate::support::*;

#[test]
fn a_name_has_255_bytes() {
    let (_, fs) = fresh();
    let (longest, too_long) = (vec![b'n'; 255], vec![b'n'; 256]);
    for name in [&longest[..], &[0xff; 255]] {
        let dir = node(&fs.mkdir(USER, Node::ROOT, name, 0o755).unwrap());
        assert_eq!(node(&fs.lookup(Node::ROOT, name).unwrap()), dir);
        fs.rmdir(ROOT_USER, Node::ROOT, name).unwrap();
    }
    let plain = file(&fs, Node::ROOT, "f", b"");
    assert_eq!(errno(fs.mkdir(USER, Node::ROOT, &too_long, 0o755)), libc::ENAMETOOLONG);
    assert_eq!(errno(fs.create(USER, Node::ROOT, &too_long, 0o755, libc::O_RDWR)), libc::ENAMETOOLONG);
    assert_eq!(errno(fs.lookup(Node::ROOT, &too_long)), libc::ENAMETOOLONG);
    assert_eq!(errno(fs.link(plain, Node::ROOT, &too_long)), libc::ENAMETOOLONG);
    assert_eq!(errno(fs.symlink(USER, Node::ROOT, b"s", &[b't'; 4096])), libc::ENAMETOOLONG);
    let target = vec![b't'; 4095];
    let link = node(&fs.symlink(USER, Node::ROOT, b"s", &target).unwrap());
    assert_eq!(fs.readlink(link).unwrap(), target);
    assert_eq!(attr(&fs, link).size, 4095);
}

#[test]
fn a_file_has_65000_names() {
    let (_, fs) = fresh();
    let plain = file(&fs, Node::ROOT, "f", b"text");
    for name in 1..65_000 {
        fs.link(plain, Node::ROOT, format!("{name}").as_bytes()).unwrap();
    }
    assert_eq!(attr(&fs, plain).nlink, 65_000);
    assert_eq!(errno(fs.link(plain, Node::ROOT, b"one more")), libc::EMLINK);
    fs.unlink(ROOT_USER, Node::ROOT, b"7").unwrap();
    fs.link(plain, Node::ROOT, b"one more").unwrap();
    assert_eq!(fs.store().usage().inodes, 2);
}

#[test]
fn attributes_have_limits() {
    let (_, fs) = fresh();
    let plain = file(&fs, Node::ROOT, "f", b"");
    let set = |name: &[u8], value: &[u8], flags: i32| fs.setxattr(ROOT_USER, plain, name, value, flags);
    let name = [&b"user."[..], &[b'n'; 250]].concat();
    set(&name, &vec![1; 65_536], 0).unwrap();
    assert_eq!(fs.getxattr(plain, &name).unwrap().len(), 65_536);
    assert_eq!(errno(set(b"user.a", &vec![1; 65_537], 0)), libc::E2BIG);
    assert_eq!(errno(set(&[&name[..], b"n"].concat(), b"", 0)), libc::ERANGE);
    assert_eq!(errno(set(b"user.a", b"", libc::XATTR_REPLACE)), libc::ENODATA);
    set(b"user.a", b"", libc::XATTR_CREATE).unwrap();
    assert_eq!(errno(set(b"user.a", b"", libc::XATTR_CREATE)), libc::EEXIST);
    set(b"user.a", b"text", libc::XATTR_REPLACE).unwrap();
    assert_eq!(fs.getxattr(plain, b"user.a").unwrap(), b"text");
    // Names of no kind, and lists that are none.
    assert_eq!(errno(set(b"system.a", b"", 0)), libc::EOPNOTSUPP);
    assert_eq!(errno(set(b"a", b"", 0)), libc::EOPNOTSUPP);
    assert_eq!(errno(set(b"user.", b"", 0)), libc::EINVAL);
    assert_eq!(errno(set(b"system.posix_acl_access", b"", 0)), libc::EINVAL);
    assert_eq!(errno(set(b"system.posix_acl_default", &[2, 0, 0, 0, 1, 0, 7, 0], 0)), libc::EINVAL);
    // Names up to what listxattr(2) can give.
    let mut count = 2;
    while set(format!("user.{count:0245}").as_bytes(), b"", 0).is_ok() {
        count += 1;
    }
    assert_eq!(errno(set(format!("user.{count:0245}").as_bytes(), b"", 0)), libc::ENOSPC);
    let list = fs.listxattr(plain).unwrap();
    assert!(list.len() <= 65_536 && list.len() > 65_000);
    assert_eq!(list.iter().filter(|byte| **byte == 0).count(), count);
    fs.unlink(ROOT_USER, Node::ROOT, b"f").unwrap();
    fs.forget(plain, 1);
    assert_sound(&fs);
}
