//! Names, and what is reserved.

use crate::support::Mount;

#[test]
fn any_byte_but_slash_and_nul_is_legal() {
    let mount = Mount::new();
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run("odd = [bytes([n]) + b'x' for n in range(1, 256) if n != 47] + [b'\\xff\\xfe', b' ', b'\\n', b'...', b'-rf', b'a' * 255]");
    for dir in ["b'.'", "b'threads/t'"] {
        actor.run(&format!("d = {dir}\nfor n in odd: os.close(os.open(os.path.join(d, n), os.O_CREAT | os.O_EXCL))"));
        assert!(actor.is("set(odd) <= set(os.listdir(d))"));
        assert!(actor.is("all(os.path.exists(os.path.join(d, n)) for n in odd)"));
    }
    mount.remount_after(actor);
    assert!(mount.actor().is("len(os.listdir(b'threads/t')) == 260"));
}

#[test]
fn lengths() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.mkdir('a' * 255); os.symlink('x', 'b' * 255); os.rename('b' * 255, 'c' * 255)");
    for call in [
        "open('x' * 256, 'w')",
        "os.mkdir('x' * 256)",
        "os.symlink('x', 'x' * 256)",
        "os.stat('x' * 256)",
        "os.rename('c' * 255, 'x' * 256)",
        "os.link('c' * 255, 'x' * 256, follow_symlinks=False)",
        "open('/'.join(['x' * 200] * 21))",
    ] {
        assert_eq!(actor.fails(call), "ENAMETOOLONG", "{call}");
    }
}

#[test]
fn reserved_names_are_reached_and_not_listed() {
    let mount = Mount::new();
    mount.make("threads/t");
    let actor = mount.actor();
    assert!(actor.is("os.listdir('.') == ['threads'] and os.listdir('threads/t') == []"));
    assert!(
        actor.is("os.path.isdir('.threadfs') and [d for d, _, _ in os.walk('.')] == ['.', './threads', './threads/t']")
    );
    assert!(
        actor.is(
            "sorted(os.listdir('.threadfs')) == ['config.toml', 'deleted.json', 'locks.json', 'metrics', 'rejected', 'status.json']"
        )
    );
    assert!(actor.is("list(pathlib.Path('.').rglob('status.json')) == []"));
    for call in [
        "os.mkdir('.threadfs')",
        "open('.threadfs/x', 'w')",
        "open('.threadfs/status.json', 'w')",
        "open('.threadfs/status.json', 'r+')",
        "os.unlink('.threadfs/status.json')",
        "os.rmdir('.threadfs')",
        "os.rename('.threadfs', 'x')",
        "os.rename('threads', '.threadfs')",
        "os.mkdir('.threadfs/x')",
        "os.mkdir('threads/t/.snapshots')",
        "open('threads/t/.snapshots', 'w')",
        "os.symlink('x', '.snapshots')",
        "os.chmod('.threadfs/status.json', 0o600)",
        "os.link('.threadfs/status.json', 'x')",
        "os.truncate('.threadfs/status.json', 0)",
        "os.setxattr('.threadfs/status.json', 'user.a', b'1')",
    ] {
        let error = actor.fails(call);
        assert!(
            ["EPERM", "EROFS", "EACCES", "EEXIST", "EBUSY", "ENOTEMPTY", "EXDEV", "EISDIR"].contains(&error.as_str()),
            "{call}: {error}"
        );
    }
    // Elsewhere they are names like others.
    actor.run("os.makedirs('a/.threadfs'); os.mkdir('a/.snapshots'); os.makedirs('threads/t/a/.snapshots')");
    actor.run("os.rmdir('threads/t/a/.snapshots'); shutil.rmtree('a'); os.rmdir('threads/t/a'); os.rmdir('threads/t')");
    assert!(mount.list("threads").is_empty());
}

#[test]
fn the_virtual_files_are_consistent_for_one_reader() {
    let mount = Mount::new();
    let actor = mount.actor();
    for name in ["status.json", "metrics", "config.toml", "locks.json", "rejected/index.json"] {
        actor.run(&format!("p = '.threadfs/{name}'; b = open(p, 'rb').read()"));
        assert!(actor.is("len(b) > 2"), "{name}");
        actor.run("s = os.stat(p); assert stat.S_ISREG(s.st_mode) and s.st_mode & 0o222 == 0");
        // In small parts, from one open file.
        actor.run("fd = os.open(p, os.O_RDONLY); parts = []\nwhile part := os.read(fd, 7): parts.append(part)");
        assert!(actor.is("b''.join(parts).endswith(b'\\n')"), "{name}");
        assert_eq!(actor.number("subprocess.run(['cat', p], stdout=-3).returncode"), 0);
        actor.run("subprocess.run(['cp', p, '/dev/null'], check=True)");
    }
    actor.run("subprocess.run(['ls', '-lR', '.threadfs'], check=True, stdout=-3)");
}

#[test]
fn absence_is_not_remembered_wrongly() {
    let mount = Mount::new();
    mount.make("threads/t");
    let (writer, reader) = (mount.actor(), mount.actor());
    for dir in [".", "threads/t"] {
        for make in ["open('{}', 'w').close()", "os.mkdir('{}')", "os.symlink('x', '{}')", "os.mkfifo('{}')"] {
            let path = format!("{dir}/name");
            assert!(reader.is(&format!("not os.path.lexists('{path}')")));
            writer.run(&make.replace("{}", &path));
            assert!(reader.is(&format!("os.path.lexists('{path}')")), "{make}");
            writer.run(&format!("subprocess.run(['rm', '-r', '{path}'], check=True)"));
            assert!(reader.is(&format!("not os.path.lexists('{path}')")), "{make}");
        }
    }
}
