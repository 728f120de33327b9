//! Symlinks, hard links, pipes, sockets, devices.

use crate::support::Mount;

#[test]
fn symlinks_are_kept_as_they_are() {
    let mount = Mount::new();
    let actor = mount.actor();
    for target in ["x", "/absolute/path", "../..", "a\\nb", "x' * 4000 + '"] {
        actor.run(&format!("os.symlink('{target}', 'ln'); target = '{target}'"));
        assert!(actor.is("os.readlink('ln') == target and os.lstat('ln').st_size == len(target)"), "{target}");
        actor.run("os.unlink('ln')");
    }
    actor.run("pathlib.Path('f').write_text('text'); os.symlink('f', 'ln'); os.symlink('ln', 'ln2'); os.symlink('no', 'dangling')");
    assert_eq!(mount.read("ln2"), "text");
    assert_eq!(actor.fails("open('dangling')"), "ENOENT");
    actor.run("os.symlink('loop', 'loop')");
    assert_eq!(actor.fails("open('loop')"), "ELOOP");
    assert_eq!(actor.fails("os.readlink('f')"), "EINVAL");
    assert_eq!(actor.fails("open('ln', opener=lambda p, f: os.open(p, f | os.O_NOFOLLOW))"), "ELOOP");
    assert_eq!(actor.fails("os.symlink('x' * 4096, 'long')"), "ENAMETOOLONG");
    // Its own owner and times.
    actor.run("os.lchown('ln', 5, 6); os.utime('ln', ns=(1, 2), follow_symlinks=False)");
    assert!(
        actor.is(
            "(lambda s: s.st_uid == 5 and s.st_mtime_ns == 2 and s.st_mode == stat.S_IFLNK | 0o777)(os.lstat('ln'))"
        )
    );
    mount.remount_after(actor);
    assert_eq!(std::fs::read_link(mount.at("ln2")).unwrap().to_str(), Some("ln"));
}

#[test]
fn hard_links_are_one_file() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("pathlib.Path('a').write_text('one'); os.mkdir('d'); os.link('a', 'd/b')");
    assert!(actor.is("os.stat('a').st_ino == os.stat('d/b').st_ino and os.stat('a').st_nlink == 2"));
    actor.run("pathlib.Path('d/b').write_text('two')");
    assert_eq!(mount.read("a"), "two");
    actor.run("os.unlink('a')");
    assert_eq!(mount.read("d/b"), "two");
    assert_eq!(actor.fails("os.link('d', 'e')"), "EPERM");
    assert_eq!(actor.fails("os.link('d/b', 'd/b')"), "EEXIST");
    assert_eq!(actor.fails("os.link('no', 'e')"), "ENOENT");
    actor.run("os.symlink('d/b', 'ln'); os.link('ln', 'ln2', follow_symlinks=False)");
    assert_eq!(actor.text("os.readlink('ln2')"), "d/b");
    // Two names of one file: rename does nothing, as POSIX has it.
    actor.run("os.link('d/b', 'c'); os.rename('d/b', 'c')");
    assert!(actor.is("os.path.exists('d/b') and os.path.exists('c')"));
}

#[test]
fn a_pipe_between_two_processes() {
    let mount = Mount::new();
    let (writer, reader) = (mount.actor(), mount.actor());
    writer.run("os.mkfifo('p', 0o600)");
    reader.begin("text = open('p').read()");
    writer.run("f = open('p', 'w'); f.write('through the pipe'); f.close()");
    reader.end().unwrap();
    assert_eq!(reader.text("text"), "through the pipe");
    assert!(reader.is("stat.S_ISFIFO(os.stat('p').st_mode)"));
}

#[test]
fn a_socket_between_two_processes() {
    let mount = Mount::new();
    let (server, client) = (mount.actor(), mount.actor());
    server.run("s = socket.socket(socket.AF_UNIX); s.bind('sock'); s.listen(1)");
    client.run("c = socket.socket(socket.AF_UNIX); c.connect('sock'); c.sendall(b'hello')");
    assert_eq!(server.text("s.accept()[0].recv(5)"), "hello");
    assert!(client.is("stat.S_ISSOCK(os.stat('sock').st_mode)"));
    server.run("s.close(); os.unlink('sock')");
}

#[test]
fn device_nodes_keep_their_numbers() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.mknod('null', stat.S_IFCHR | 0o666, os.makedev(1, 3)); os.mknod('blk', stat.S_IFBLK, os.makedev(259, 70000))");
    assert!(actor.is("os.stat('null').st_rdev == os.makedev(1, 3)"));
    assert!(actor.is("os.stat('blk').st_rdev == os.makedev(259, 70000)"));
    actor.run("os.mknod('plain', stat.S_IFREG | 0o640)");
    assert_eq!(actor.number("os.stat('plain').st_size"), 0);
    mount.remount_after(actor);
    let actor = mount.actor();
    assert!(actor.is("stat.S_ISCHR(os.stat('null').st_mode) and os.stat('blk').st_rdev == os.makedev(259, 70000)"));
    actor.run("os.unlink('null'); os.unlink('blk')");
}

#[test]
fn what_fuse_does_not_have_is_said_so() {
    let mount = Mount::new();
    let actor = mount.actor();
    assert_eq!(actor.fails("os.open('.', os.O_TMPFILE | os.O_RDWR)"), "EOPNOTSUPP");
    // Python falls back by itself.
    actor.run("t = tempfile.TemporaryFile(dir='.'); t.write(b'x'); t.seek(0); assert t.read() == b'x'; t.close()");
    assert!(mount.list("").is_empty());
}
