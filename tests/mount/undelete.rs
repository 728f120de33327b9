//! Threads that come back after they were deleted.

use crate::support::{Done, Mount, NOBODY};

fn undelete(mount: &Mount, arguments: &[&str]) -> Done {
    let mut command = crate::support::threadfs(["undelete"]);
    command.args(arguments).arg("--mount").arg(&mount.path);
    crate::support::run(&mut command, std::time::Duration::from_secs(60))
}

/// Checks the store, snapshots and all, while it is not mounted.
fn check(mount: &Mount) {
    mount.unmount();
    let store = mount.store.to_str().unwrap().to_owned();
    let mut command = crate::support::threadfs(["fsck", "--snapshots", &store]);
    crate::support::run(&mut command, std::time::Duration::from_secs(60)).ok();
    mount.mount_again();
}

/// A thread with one of each kind of file.
fn thread(mount: &Mount) {
    mount.make("threads/t/ws/deep");
    mount.actor().run(
        "os.chdir('threads/t'); os.chmod('.', 0o750); os.setxattr('.', 'user.t', b'1')\n\
         pathlib.Path('a.json').write_text('[1]'); pathlib.Path('ws/f').write_bytes(b'x' * 100_000)\n\
         os.link('ws/f', 'ws/g'); os.symlink('f', 'ws/l'); pathlib.Path('ws/deep/x').write_text('deep')\n\
         os.setxattr('ws/f', 'user.a', b'1'); os.chmod('ws/f', 0o640)",
    );
}

const STATE: &str = "(pathlib.Path('threads/t/a.json').read_text(), os.stat('threads/t').st_mode & 0o777, \
     os.getxattr('threads/t', 'user.t'), sorted(os.listdir('threads/t')), sorted(os.listdir('threads/t/ws')), \
     os.stat('threads/t/ws/f').st_size, os.stat('threads/t/ws/f').st_nlink, os.readlink('threads/t/ws/l'), \
     pathlib.Path('threads/t/ws/deep/x').read_text(), os.stat('threads/t').st_nlink, os.stat('threads').st_nlink, \
     os.getxattr('threads/t/ws/f', 'user.a'))";

#[test]
fn it_is_what_it_was_when_it_was_removed() {
    let mount = Mount::new();
    thread(&mount);
    let actor = mount.actor();
    actor.run("pathlib.Path('threads/t/ws/deep/x').write_text('later')");
    let before = actor.run(STATE);
    let (inodes, bytes) = (mount.counted("inodes"), mount.counted("bytes"));
    actor.run("ino = os.stat('threads/t').st_ino; shutil.rmtree('threads/t')");
    assert_eq!(actor.fails("os.stat('threads/t')"), "ENOENT");
    let told = undelete(&mount, &["t"]).ok();
    assert_eq!(told, format!("{} is back.\n", mount.at("threads/t").display()));
    assert_eq!(actor.run(STATE), before);
    assert!(actor.is("os.stat('threads/t').st_ino == ino"));
    assert_eq!((mount.counted("inodes"), mount.counted("bytes")), (inodes, bytes));
    assert_eq!((mount.counted("threads"), mount.counted("deleted")), (1, 0));
    // Its history is its own again, and it can be written, and removed, like any other.
    assert!(mount.list("threads/t/.snapshots").len() >= 2);
    actor.run("pathlib.Path('threads/t/a.json').write_text('[3]'); pathlib.Path('threads/t/ws/new').write_text('n')");
    drop(actor);
    check(&mount);
    assert_eq!((mount.read("threads/t/a.json"), mount.read("threads/t/ws/new")), ("[3]".into(), "n".into()));
    mount.actor().run("shutil.rmtree('threads/t')");
    undelete(&mount, &["threads/t"]).ok();
    assert_eq!((mount.read("threads/t/a.json"), mount.read("threads/t/ws/new")), ("[3]".into(), "n".into()));
    check(&mount);
}

#[test]
fn a_shell_that_stood_in_it() {
    let mount = Mount::new();
    thread(&mount);
    let shell = mount.actor();
    shell.run("os.chdir('threads/t'); fd = os.open('ws/f', os.O_RDWR); d = os.open('ws', os.O_RDONLY)");
    let actor = mount.actor();
    actor.run("shutil.rmtree('threads/t')");
    undelete(&mount, &["t"]).ok();
    // Who comes anew finds all of it, and may make something in it.
    actor.run("pathlib.Path('threads/t/new').write_text('1'); os.mkdir('threads/t/ws/dir')");
    assert_eq!(actor.run("sorted(os.listdir('threads/t'))"), serde_json::json!(["a.json", "new", "ws"]));
    // What was open is the old file still; it is apart from the one that came back.
    shell.run("os.pwrite(fd, b'mine', 0)");
    assert_eq!(shell.text("os.pread(fd, 6, 0)"), "minexx");
    assert_eq!(actor.text("open('threads/t/ws/f', 'rb').read(6)"), "xxxxxx");
    assert!(shell.try_run("open('y', 'w')").is_err());
    shell.run("os.chdir(os.path.realpath('/')); os.close(fd); os.close(d)");
    drop(shell);
    assert_eq!(actor.text("open('threads/t/ws/f', 'rb').read(6)"), "xxxxxx");
    drop(actor);
    check(&mount);
}

#[test]
fn under_another_name_and_at_an_older_state() {
    let mount = Mount::with(&["snapshots.auto=off"]);
    thread(&mount);
    let actor = mount.actor();
    actor.run("os.mkdir('threads/t/.snapshots/one'); pathlib.Path('threads/t/a.json').write_text('[2]')");
    actor.run("os.mkdir('threads/t/.snapshots/two'); shutil.rmtree('threads/t'); os.makedirs('users/7/threads')");
    actor.run("os.mkdir('threads/t')");
    let told = undelete(&mount, &["t"]).refused();
    assert!(told.contains("threads/t is there: give a new name"), "{told}");
    assert!(undelete(&mount, &["t", "users/7/elsewhere"]).refused().contains("threads.patterns"));
    assert!(undelete(&mount, &["t", "u", "--at", "none"]).refused().contains("no snapshot \"none\""));
    assert!(undelete(&mount, &["v"]).refused().contains("no deleted thread \"v\" is kept"));
    assert!(undelete(&mount, &["t", "gone/threads/t"]).refused().contains("gone/threads is not there"));
    undelete(&mount, &["t", "users/7/threads/u", "--at", "one"]).ok();
    assert_eq!(mount.read("users/7/threads/u/a.json"), "[1]");
    assert_eq!(mount.list("users/7/threads/u/.snapshots"), ["one", "two"]);
    assert_eq!(mount.read("users/7/threads/u/.snapshots/two/a.json"), "[2]");
    assert!(mount.list("threads/t").is_empty());
    assert!(undelete(&mount, &["t"]).refused().contains("no deleted thread"));
    drop(actor);
    check(&mount);
}

#[test]
fn snapshots_of_everything_do_not_show_it_while_it_was_away() {
    let mount = Mount::with(&["snapshots.auto=off"]);
    thread(&mount);
    let actor = mount.actor();
    actor.run("os.mkdir('threads/t/.snapshots/one'); os.mkdir('.snapshots/before'); shutil.rmtree('threads/t')");
    actor.run("os.mkdir('.snapshots/away')");
    undelete(&mount, &["t"]).ok();
    actor.run("os.mkdir('.snapshots/after'); pathlib.Path('threads/t/a.json').write_text('[9]')");
    drop(actor);
    check(&mount);
    assert!(mount.list(".snapshots/away/threads").is_empty());
    for name in ["before", "after"] {
        assert_eq!(mount.read(&format!(".snapshots/{name}/threads/t/a.json")), "[1]");
    }
    let actor = mount.actor();
    actor.run("os.rmdir('.snapshots/away'); os.rmdir('.snapshots/before'); os.rmdir('threads/t/.snapshots/one')");
    drop(actor);
    check(&mount);
    assert_eq!(mount.read(".snapshots/after/threads/t/a.json"), "[1]");
    mount.actor().run("shutil.rmtree('threads/t'); os.rmdir('.snapshots/after')");
    check(&mount);
}

#[test]
fn who_may() {
    let mount = Mount::with(&["snapshots.auto=off"]);
    mount.make("threads");
    let root = mount.actor();
    root.run("os.chmod('threads', 0o777)");
    let owner = mount.actor_as(NOBODY);
    owner.run("os.mkdir('threads/o'); os.mkdir('threads/o/.snapshots/s'); os.rmdir('threads/o')");
    let realm = mount.control("deleted.json")[0]["realm"].to_string();
    let ask = format!("os.setxattr('threads', 'user.threadfs.undelete', b'{realm}\\0\\0o')");
    let stranger = mount.actor_as(12345);
    assert_eq!(stranger.fails(&ask), "EPERM");
    for wrong in ["b''", "b'x'", "b'1\\0'", "b'-1\\0\\0o'"] {
        assert_eq!(owner.fails(&format!("os.setxattr('threads', 'user.threadfs.undelete', {wrong})")), "EINVAL");
    }
    assert_eq!(owner.fails("os.setxattr('threads', 'user.threadfs.undelete', b'77\\0\\0o')"), "ENOENT");
    assert_eq!(root.fails(&ask.replace("'threads'", "'.'")), "EINVAL");
    owner.run(&ask);
    assert!(owner.is("os.stat('threads/o').st_uid == os.getuid()"));
    assert_eq!(owner.fails(&ask), "ENOENT", "it is back already");
}
