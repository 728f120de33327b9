//! Files that lose their last name while they are open.

use crate::support::{Mount, wait_for};

#[test]
fn an_unlinked_file_lives_as_long_as_it_is_open() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("fd = os.open('f', os.O_RDWR | os.O_CREAT); os.write(fd, b'x' * 100_000); os.unlink('f')");
    assert!(mount.list("").is_empty());
    assert_eq!(actor.number("os.fstat(fd).st_nlink"), 0);
    actor.run("os.pwrite(fd, b'y' * 100_000, 50_000); os.ftruncate(fd, 120_000); os.fchmod(fd, 0o600); os.fsync(fd)");
    assert!(actor.is("os.pread(fd, 200_000, 0) == b'x' * 50_000 + b'y' * 70_000"));
    assert_eq!(actor.number("os.fstat(fd).st_size"), 120_000);
    actor.run("os.utime(fd, ns=(1, 2)); fcntl.flock(fd, fcntl.LOCK_EX)");
    assert_eq!(actor.number("os.fstat(fd).st_mtime_ns"), 2);
    // The same name is another file.
    actor.run("pathlib.Path('f').write_text('new')");
    assert_eq!(mount.read("f"), "new");
    actor.run("libc = ctypes.CDLL(None, use_errno=True)");
    let linkat =
        "libc.linkat(-100, f'/proc/self/fd/{fd}'.encode(), -100, b'g', 0x400), ctypes.get_errno() == errno.ENOENT";
    assert_eq!(actor.run(linkat), serde_json::json!([-1, true]));
}

#[test]
fn the_attributes_of_what_has_no_name_any_more() {
    let mount = Mount::new();
    mount.make("threads/t");
    let actor = mount.actor();
    let make = "pathlib.Path('f').write_text('text'); fd = os.open('f', os.O_RDWR)";
    let give = "os.setxattr(fd, 'user.a', b'1'); os.setxattr(fd, 'security.capability', bytes.fromhex('0100000201000000') + bytes(12))";
    let unlinked = format!("{make}; {give}; os.unlink('f')");
    let replaced = format!("{make}; {give}; pathlib.Path('g').write_text('new'); os.rename('g', 'f')");
    let removed = "os.makedirs('d'); fd = os.open('d', os.O_RDONLY); os.setxattr(fd, 'user.a', b'1'); os.rmdir('d')";
    for (what, has_capability) in [(unlinked.as_str(), true), (&replaced, true), (removed, false)] {
        actor.run(&format!("os.chdir({:?}); {what}", mount.path));
        actor.run("os.setxattr(fd, 'user.b', b'2' * 5000); os.setxattr(fd, 'user.a', b'3', os.XATTR_REPLACE)");
        assert_eq!(actor.fails("os.setxattr(fd, 'user.b', b'', os.XATTR_CREATE)"), "EEXIST", "{what}");
        assert_eq!(actor.fails("os.getxattr(fd, 'user.none')"), "ENODATA", "{what}");
        let named = |names: &str| assert_eq!(actor.text("' '.join(sorted(os.listxattr(fd)))"), names, "{what}");
        named(if has_capability { "security.capability user.a user.b" } else { "user.a user.b" });
        assert!(actor.is("os.getxattr(fd, 'user.a') == b'3' and os.getxattr(fd, 'user.b') == b'2' * 5000"));
        if has_capability {
            actor.run("os.pwrite(fd, b'TEXT', 0)");
            named("user.a user.b");
        }
        actor.run("os.fchmod(fd, 0o700); os.removexattr(fd, 'user.b')");
        assert_eq!(actor.fails("os.removexattr(fd, 'user.b')"), "ENODATA", "{what}");
        named("user.a");
        actor.run("os.close(fd)");
    }
    // What a restore puts another file in place of.
    actor.run("os.chdir('threads/t'); pathlib.Path('f').write_text('1'); os.mkdir('.snapshots/s')");
    actor.run("fd = os.open('f', os.O_RDWR); os.setxattr(fd, 'user.a', b'1'); os.pwrite(fd, b'2', 0)");
    mount.threadfs(&["restore", "t", "s"]).ok();
    assert!(actor.is("os.listxattr('f') == [] and os.listxattr(fd) == ['user.a'] and os.pread(fd, 9, 0) == b'2'"));
    drop(actor);
}

#[test]
fn space_of_an_open_orphan_is_freed_with_its_last_descriptor() {
    let mount = Mount::new();
    let actor = mount.actor();
    let before = (mount.counted("inodes"), mount.counted("bytes"));
    actor.run("fd = os.open('f', os.O_RDWR | os.O_CREAT); os.write(fd, b'x' * 1_000_000); os.unlink('f')");
    assert_eq!((mount.counted("inodes"), mount.counted("bytes")), before);
    actor.run("os.close(fd)");
    actor.run("pathlib.Path('g').write_text('x')");
    assert_eq!(mount.counted("inodes"), before.0 + 1);
}

#[test]
fn an_orphan_is_freed_after_a_remount() {
    let mount = Mount::new();
    let inodes = mount.counted("inodes");
    {
        let actor = mount.actor();
        actor.run("fd = os.open('f', os.O_RDWR | os.O_CREAT); os.write(fd, b'x' * 1_000_000); os.unlink('f')");
        actor.run("os.mkdir('d'); d = os.open('d', os.O_RDONLY); os.rmdir('d')");
        actor.run("os.makedirs('threads/t'); e = os.open('threads/t', os.O_RDONLY); os.rmdir('threads/t'); os.rmdir('threads')");
        mount.kill_daemon();
    }
    mount.mount_again();
    assert_eq!(mount.counted("inodes"), inodes);
    assert!(mount.list("").is_empty());
    mount.unmount();
    assert_eq!(orphan_records(&mount), 0);
}

/// Records of inodes without a name in the store, which must not be mounted.
fn orphan_records(mount: &Mount) -> usize {
    use threadfs::engine::{EngineOptions, Keyspace, StoreSpec, View, open};
    use threadfs::store::key;
    let engine = open(&StoreSpec::Directory(mount.store.clone()), &EngineOptions::default()).unwrap();
    let (from, mut count) = (key::all(key::tag::ORPHAN), 0);
    let mut visit = |_: &[u8], _: &[u8]| {
        count += 1;
        std::ops::ControlFlow::Continue(())
    };
    let view: &dyn View = &*engine.view();
    view.scan(Keyspace::Meta, &from, &key::after(&from), &mut visit).unwrap();
    count
}

#[test]
fn nothing_is_left_after_an_ordinary_unmount() {
    let mount = Mount::new();
    {
        let actor = mount.actor();
        actor.run("for n in range(50): pathlib.Path(f'f{n}').write_text('x'); os.unlink(f'f{n}')");
        actor.run("fd = os.open('f', os.O_RDWR | os.O_CREAT); os.unlink('f'); os.close(fd)");
    }
    mount.unmount();
    assert_eq!(orphan_records(&mount), 0);
}

#[test]
fn a_file_that_is_renamed_over_lives_on_for_who_has_it_open() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("pathlib.Path('a').write_text('old'); fd = os.open('a', os.O_RDWR)");
    actor.run("pathlib.Path('b').write_text('new'); os.rename('b', 'a')");
    assert_eq!(actor.text("os.pread(fd, 10, 0)"), "old");
    actor.run("os.pwrite(fd, b'OLD', 0)");
    assert_eq!((actor.text("os.pread(fd, 10, 0)"), mount.read("a")), ("OLD".into(), "new".into()));
}

#[test]
fn a_removed_working_directory() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.makedirs('a/b'); os.chdir('a/b'); os.rmdir('../../a/b')");
    assert_eq!(actor.fails("open('f', 'w')"), "ENOENT");
    assert_eq!(actor.fails("os.mkdir('d')"), "ENOENT");
    assert!(actor.is("os.listdir('.') == []"));
    assert_eq!(actor.number("os.stat('.').st_nlink"), 0);
    actor.run("os.chdir('/')");
    drop(actor);
    wait_for("the directory to be empty", || mount.list("a").is_empty());
}

#[test]
fn a_removed_thread_with_open_files() {
    let mount = Mount::new();
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run("fd = os.open('threads/t/f', os.O_RDWR | os.O_CREAT); os.write(fd, b'abc'); shutil.rmtree('threads/t')");
    actor.run("os.pwrite(fd, b'd', 3)");
    assert_eq!(actor.text("os.pread(fd, 10, 0)"), "abcd");
    actor.run("os.mkdir('threads/t')");
    assert!(mount.list("threads/t").is_empty());
    actor.run("os.close(fd)");
    mount.remount_after(actor);
    assert!(mount.list("threads/t").is_empty());
}
