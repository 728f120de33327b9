//! Extended attributes.

use crate::support::Mount;

#[test]
fn values_are_kept_and_changed() {
    let mount = Mount::new();
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run("open('f', 'w').close(); pathlib.Path('threads/t/a.json').write_text('[]')");
    for path in ["f", ".", "threads/t", "threads/t/a.json"] {
        actor
            .run(&format!("p = '{path}'; os.setxattr(p, 'user.a', b'1'); os.setxattr(p, 'user.b', bytes(range(256)))"));
        assert_eq!(actor.text("os.getxattr(p, 'user.a')"), "1", "{path}");
        assert!(actor.is("sorted(os.listxattr(p)) == ['user.a', 'user.b']"), "{path}");
        assert_eq!(actor.fails("os.setxattr(p, 'user.a', b'2', os.XATTR_CREATE)"), "EEXIST");
        assert_eq!(actor.fails("os.setxattr(p, 'user.c', b'2', os.XATTR_REPLACE)"), "ENODATA");
        actor.run("os.setxattr(p, 'user.a', b'', os.XATTR_REPLACE)");
        assert_eq!(actor.text("os.getxattr(p, 'user.a')"), "");
        actor.run("os.removexattr(p, 'user.a')");
        assert_eq!(actor.fails("os.getxattr(p, 'user.a')"), "ENODATA");
        assert_eq!(actor.fails("os.removexattr(p, 'user.a')"), "ENODATA");
    }
    // A commit keeps them.
    actor.run("pathlib.Path('threads/t/a.json').write_text('[1]')");
    mount.remount_after(actor);
    assert!(mount.actor().is("os.getxattr('threads/t/a.json', 'user.b') == bytes(range(256))"));
}

#[test]
fn limits() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("open('f', 'w').close(); os.setxattr('f', 'user.' + 'n' * 250, b'x'); os.setxattr('f', 'user.big', b'x' * 65536)");
    assert!(actor.is("os.getxattr('f', 'user.big') == b'x' * 65536"));
    assert_eq!(actor.fails("os.setxattr('f', 'user.' + 'n' * 251, b'x')"), "ERANGE");
    assert_eq!(actor.fails("os.setxattr('f', 'user.too', b'x' * 65537)"), "E2BIG");
    actor.run("for n in range(200): os.setxattr('f', f'user.{n}', b'x')");
    assert_eq!(actor.number("len(os.listxattr('f'))"), 202);
}

#[test]
fn namespaces() {
    let mount = Mount::new();
    let (root, user) = (mount.actor(), mount.actor_as(1234));
    root.run("open('f', 'w').close(); os.chmod('f', 0o666); os.setxattr('f', 'trusted.a', b'1'); os.setxattr('f', 'user.a', b'1')");
    assert!(root.is("sorted(os.listxattr('f')) == ['trusted.a', 'user.a']"));
    assert!(user.is("os.listxattr('f') == ['user.a']"));
    user.fails("os.setxattr('f', 'trusted.b', b'1')");
    user.run("os.setxattr('f', 'user.b', b'2')");
}

#[test]
fn tar_and_rsync_keep_attributes() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.mkdir('d'); pathlib.Path('d/f').write_text('x'); os.setxattr('d/f', 'user.a', b'1'); os.symlink('f', 'd/ln')");
    actor.run("os.utime('d/f', ns=(1, 1_234_567_890_123_456_789)); os.link('d/f', 'd/g')");
    actor.run("subprocess.run('tar --xattrs -cf t.tar d && mkdir out && tar --xattrs -xf t.tar -C out', shell=True, check=True)");
    assert_eq!(actor.text("os.getxattr('out/d/f', 'user.a')"), "1");
    assert!(actor.is("os.stat('out/d/f').st_ino == os.stat('out/d/g').st_ino and os.readlink('out/d/ln') == 'f'"));
    if actor.is("shutil.which('rsync') is not None") {
        actor.run("subprocess.run(['rsync', '-aXH', 'd/', 'r/'], check=True)");
        assert_eq!(actor.text("os.getxattr('r/f', 'user.a')"), "1");
        assert_eq!(actor.number("os.stat('r/f').st_mtime_ns"), 1_234_567_890_123_456_789);
        assert_eq!(actor.text("subprocess.run(['rsync', '-aXHin', 'd/', 'r/'], check=True, stdout=-1).stdout"), "");
    }
}
