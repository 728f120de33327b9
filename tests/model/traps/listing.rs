//! Listings that are read in parts.

use threadfs::fs::{Fs, Node};
use threadfs::store::record::{Dirent, Kind, Target};
use threadfs::store::{HOME, Local, ROOT, key};

use crate::support::*;

/// All names, in parts of about `limit`.
fn in_parts(fs: &Fs, dir: Node, limit: usize, mut between: impl FnMut(usize)) -> Vec<String> {
    let (mut all, mut cookie) = (Vec::new(), 0);
    for part in 0.. {
        let listed = fs.readdir(dir, cookie, limit).unwrap();
        let Some(last) = listed.last() else { break };
        cookie = last.cookie;
        all.extend(listed.into_iter().map(|entry| String::from_utf8(entry.name).unwrap()));
        between(part);
    }
    all
}

#[test]
fn what_stays_is_listed_once_while_others_come_and_go() {
    let (_, fs) = fresh();
    for at in 0..300 {
        file(&fs, Node::ROOT, &format!("stays{at}"), b"");
        file(&fs, Node::ROOT, &format!("goes{at}"), b"");
    }
    let listed = in_parts(&fs, Node::ROOT, 7, |part| {
        for at in [3 * part, 3 * part + 1, 3 * part + 2] {
            let _ = fs.unlink(ROOT_USER, Node::ROOT, format!("goes{at}").as_bytes());
            file(&fs, Node::ROOT, &format!("comes{at}"), b"");
        }
    });
    for at in 0..300 {
        assert_eq!(listed.iter().filter(|name| **name == format!("stays{at}")).count(), 1);
    }
    let mut once = listed.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), listed.len());
    assert_eq!(&listed[..2], [".", ".."]);
}

/// The hash is keyed at random, so names that collide cannot be found. But a listing does not ask
/// which hash a name has: so the records of such names can be made.
#[test]
fn names_of_one_cookie_come_together() {
    let (_, fs) = fresh();
    let plain = file(&fs, Node::ROOT, "plain", b"");
    let mut txn = fs.store().begin(&[HOME]).unwrap();
    let dirent = Dirent { target: Target::Inode(plain.local), kind: Kind::File };
    for at in 0..40u64 {
        // Four names each.
        let key = key::dirent(HOME, ROOT, 1000 + at / 4, format!("c{at}").as_bytes());
        txn.put_record(key, &dirent.encode()).unwrap();
    }
    txn.commit().unwrap();
    for limit in 1..12 {
        let mut listed = in_parts(&fs, Node::ROOT, limit, |_| ());
        listed.sort();
        let mut wanted: Vec<String> = (0..40).map(|at| format!("c{at}")).collect();
        wanted.extend([".".into(), "..".into(), "plain".into()]);
        wanted.sort();
        assert_eq!(listed, wanted, "in parts of {limit}");
    }
}

#[test]
fn a_listing_of_no_directory() {
    let (_, fs) = fresh();
    let plain = file(&fs, Node::ROOT, "plain", b"");
    assert_eq!(errno(fs.readdir(plain, 0, 9)), libc::ENOTDIR);
    assert_eq!(errno(fs.readdir(plain.sibling(Local(99)), 0, 9)), libc::ESTALE);
    assert!(fs.readdir(Node::ROOT, i64::MAX as u64, 9).unwrap().is_empty());
}
