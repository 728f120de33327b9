//! One trap at a time.

use crate::support::*;
use threadfs::fs::{Node, RenameMode};

#[test]
fn tmp() {
    let (_, fs) = fresh();
    let t = Node::from_ino(fs.mkdir(USER, Node::ROOT, b"threads", 0o755).unwrap().attr.ino);
    let t = Node::from_ino(fs.mkdir(USER, t, b"a", 0o755).unwrap().attr.ino);
    let x = Node::from_ino(fs.mkdir(USER, t, b"x.json", 0o755).unwrap().attr.ino);
    fs.rename((t, b"x.json"), (t, b"a"), RenameMode::Replace).unwrap();
    let y = Node::from_ino(fs.mkdir(USER, t, b"x.json", 0o755).unwrap().attr.ino);
    fs.rename((t, b"x.json"), (t, b"a"), RenameMode::Replace).unwrap();
    eprintln!("{x:?} {y:?}");
    fs.forget(x, 1);
    eprintln!("{:?}", fs.getattr(x));
    for i in 0..3 {
        let (e, o) = fs.create(USER, t, format!("{i}.json").as_bytes(), 0o640, 0).unwrap();
        let _ = (e, o);
    }
}
