//! Folders of a thread that are bound into the mount namespace of a container.

use crate::support::{Actor, Mount};

/// The user in the container.
const USER: u32 = 1234;

/// The folders of a thread for a container, which anybody may write to; a process of the owner there, and one
/// in the container, which has them at /mnt.
fn outside_and_inside(mount: &Mount) -> (Actor, Actor) {
    let folder = mount.make("threads/t/user-data");
    let outside = Actor::start(&folder);
    outside.run("for name in ('workspace', 'uploads', 'outputs'): os.mkdir(name); os.chmod(name, 0o777)");
    (outside, Actor::start_in_container(&folder, USER))
}

#[test]
fn what_one_side_does_the_other_side_sees_at_once() {
    let mount = Mount::new();
    let (outside, inside) = outside_and_inside(&mount);
    assert_eq!(inside.text("os.getcwd()"), "/mnt");
    assert!(inside.is("sorted(os.listdir()) == ['outputs', 'uploads', 'workspace'] and os.getuid() == 1234"));
    // Each side has looked before, so that the kernel knows what was there and what was not.
    for (one, other) in [(&outside, &inside), (&inside, &outside)] {
        for actor in [one, other] {
            actor.run("os.chdir('workspace')");
        }
        for n in 0..20 {
            assert!(other.is(&format!("not os.path.exists('f{n}') and 'f{n}' not in os.listdir()")));
            one.run(&format!("pathlib.Path('f{n}').write_text('first'); os.chmod('f{n}', 0o666)"));
            assert_eq!(other.text(&format!("open('f{n}').read()")), "first");
            assert!(other.is(&format!("'f{n}' in os.listdir()")));
            other.run(&format!("pathlib.Path('f{n}').write_text('second and longer')"));
            assert_eq!(one.text(&format!("open('f{n}').read()")), "second and longer");
            one.run(&format!("pathlib.Path('new').write_text('third'); os.replace('new', 'f{n}')"));
            assert_eq!(other.text(&format!("open('f{n}').read()")), "third");
            assert_eq!(other.number(&format!("os.stat('f{n}').st_size")), 5);
            one.run(&format!("os.mkdir('d{n}'); os.rename('f{n}', 'd{n}/moved')"));
            assert!(other.is(&format!("not os.path.exists('f{n}') and os.listdir('d{n}') == ['moved']")));
            one.run(&format!("os.unlink('d{n}/moved')"));
            assert_eq!(other.fails(&format!("os.stat('d{n}/moved')")), "ENOENT");
            one.run(&format!("os.rmdir('d{n}')"));
            assert!(other.is("os.listdir() == []"));
        }
        for actor in [one, other] {
            actor.run("os.chdir('..')");
        }
    }
}

#[test]
fn an_open_file_is_read_while_the_other_side_writes_it() {
    let mount = Mount::new();
    let (outside, inside) = outside_and_inside(&mount);
    inside.run("log = open('outputs/log', 'a', buffering=1)");
    inside.run("log.write('line 0\\n')");
    outside.run("log = open('outputs/log')");
    for n in 0..50 {
        assert_eq!(outside.text("log.readline()"), format!("line {n}\n"));
        assert_eq!(outside.text("log.readline()"), "");
        inside.run(&format!("log.write('line {}\\n')", n + 1));
    }
    // Lines that both append are all there.
    let append = "fd = os.open('outputs/both', os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o666); os.fchmod(fd, 0o666)";
    inside.run(append);
    outside.run("fd = os.open('outputs/both', os.O_APPEND | os.O_WRONLY)");
    for actor in [&outside, &inside] {
        actor.begin("[os.write(fd, b'%d %d\\n' % (os.getuid(), n)) for n in range(500)] and None");
    }
    for actor in [&outside, &inside] {
        actor.end().unwrap();
    }
    assert!(outside.is("sorted(open('outputs/both')) == sorted(f'{u} {n}\\n' for u in (0, 1234) for n in range(500))"));
    // And pages that both have mapped.
    outside.run("pathlib.Path('workspace/page').write_bytes(bytes(4096)); os.chmod('workspace/page', 0o666)");
    for actor in [&outside, &inside] {
        actor.run("file = open('workspace/page', 'r+b'); page = mmap.mmap(file.fileno(), 4096)");
    }
    inside.run("page[7:11] = b'seen'");
    assert_eq!(outside.text("page[7:11]"), "seen");
}

#[test]
fn who_may_do_what_in_a_container() {
    let mount = Mount::new();
    let (outside, inside) = outside_and_inside(&mount);
    outside.run("pathlib.Path('workspace/mine').write_text('of root'); os.mkdir('private', 0o700)");
    assert_eq!(inside.fails("open('workspace/mine', 'a')"), "EACCES");
    assert_eq!(inside.fails("os.chmod('workspace/mine', 0o666)"), "EPERM");
    assert_eq!(inside.fails("os.listdir('private')"), "EACCES");
    assert_eq!(inside.fails("os.mkdir('another')"), "EACCES");
    // In a directory of mode 0777 anybody removes anything.
    inside.run("os.unlink('workspace/mine')");
    inside.run("os.close(os.open('workspace/theirs', os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))");
    assert!(outside.is("(lambda s: (s.st_uid, s.st_gid, s.st_mode & 0o777, s.st_nlink))(os.stat('workspace/theirs')) == (1234, 1234, 0o600, 1)"));
    // What an upload is checked for: no link of either kind has been put in its place.
    inside.run("os.symlink('/etc/passwd', 'uploads/link'); os.symlink('theirs', 'workspace/near')");
    for link in ["uploads/link", "workspace/near"] {
        for flags in ["os.O_RDONLY", "os.O_WRONLY", "os.O_CREAT | os.O_WRONLY", "os.O_TRUNC | os.O_RDWR"] {
            assert_eq!(outside.fails(&format!("os.open('{link}', {flags} | os.O_NOFOLLOW)")), "ELOOP");
        }
        let exclusively = format!("os.open('{link}', os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW)");
        assert_eq!(outside.fails(&exclusively), "EEXIST");
    }
    outside.run("fd = os.open('workspace/theirs', os.O_RDWR | os.O_NOFOLLOW); before = os.fstat(fd).st_nlink");
    inside.run("os.link('workspace/theirs', 'uploads/theirs')");
    assert!(outside.is("(before, os.fstat(fd).st_nlink) == (1, 2)"));
    inside.run("os.unlink('uploads/theirs')");
    assert_eq!(outside.number("os.fstat(fd).st_nlink"), 1);
    outside.run("os.ftruncate(fd, 100)");
    assert_eq!(inside.number("os.stat('workspace/theirs').st_size"), 100);
}

#[test]
fn a_lock_counts_on_both_sides() {
    let mount = Mount::new();
    let (outside, inside) = outside_and_inside(&mount);
    let open = "fd = os.open('workspace/lock', os.O_CREAT | os.O_RDWR, 0o666)";
    inside.run(open);
    inside.run("os.fchmod(fd, 0o666)");
    outside.run(open);
    for lock in ["fcntl.flock", "fcntl.lockf"] {
        for (one, other) in [(&outside, &inside), (&inside, &outside)] {
            one.run(&format!("{lock}(fd, fcntl.LOCK_EX)"));
            assert_eq!(other.fails(&format!("{lock}(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)")), "EAGAIN");
            other.begin(&format!("{lock}(fd, fcntl.LOCK_EX)"));
            one.run(&format!("{lock}(fd, fcntl.LOCK_UN)"));
            other.end().unwrap();
            other.run(&format!("{lock}(fd, fcntl.LOCK_UN)"));
        }
    }
    inside.run("fcntl.flock(fd, fcntl.LOCK_EX)");
    outside.begin("fcntl.flock(fd, fcntl.LOCK_EX)");
    inside.kill();
    outside.end().unwrap();
}

#[test]
fn a_thread_that_is_removed_under_a_container() {
    let mount = Mount::new();
    let (outside, inside) = outside_and_inside(&mount);
    inside.run("os.chdir('workspace'); file = open('open', 'w+'); file.write('kept'); file.flush()");
    drop(outside);
    std::fs::remove_dir_all(mount.at("threads/t")).unwrap();
    assert_eq!(inside.text("file.seek(0) or file.read()"), "kept");
    assert!(inside.is("os.listdir('/mnt') == []"));
    for call in ["open('new', 'w')", "os.mkdir('/mnt/new')", "os.stat('open')"] {
        assert_eq!(inside.fails(call), "ENOENT", "{call}");
    }
    // Another of that name is another one.
    mount.make("threads/t/user-data/workspace");
    assert_eq!(inside.fails("os.stat('/mnt/workspace')"), "ENOENT");
}

/// Runs steps in a mount namespace that stands for a host, as `steps/host.sh` says.
#[track_caller]
fn on_a_host(steps: &str) -> String {
    let folder = crate::places::folder();
    let variables = format!("threadfs={} steps_of_test='{steps}'", env!("CARGO_BIN_EXE_threadfs"));
    let host = r#"unshare --mount --propagation private bash -euo pipefail "$steps/host.sh""#;
    crate::places::on(folder.path(), &format!("export {variables}\n{host}"))
}

#[test]
fn a_container_that_was_there_before_sees_the_mount() {
    let told = on_a_host(
        r#"
        container "
          touch started
          until_there home/threads/t/sandbox.json
          cat home/threads/t/sandbox.json
          echo from inside >home/threads/t/user-data"
        until_there started
        start
        mkdir -p home/threads/t
        echo [1] >home/threads/t/sandbox.json
        wait
        cat home/threads/t/user-data
        stop"#,
    );
    assert_eq!(told, "[1]\nfrom inside\n");
}

#[test]
fn a_container_sees_the_new_mount_after_a_restart_of_the_daemon() {
    let told = on_a_host(
        r#"
        start
        mkdir -p home/threads/t
        echo [1] >home/threads/t/sandbox.json
        container "
          cat home/threads/t/sandbox.json
          touch ready
          until_there again
          cat home/threads/t/sandbox.json
          echo [3] >home/threads/t/sandbox.json
          grep -c fuse.threadfs /proc/self/mountinfo"
        until_there ready
        stop
        start
        echo [2] >home/threads/t/sandbox.json
        touch again
        wait
        cat home/threads/t/sandbox.json
        stop"#,
    );
    assert_eq!(told, "[1]\n[2]\n1\n[3]\n");
}

#[test]
fn a_container_sees_the_new_mount_after_the_daemon_was_killed() {
    // Also with a file open on the dead mount, and a process whose working directory is there.
    let told = on_a_host(
        r#"
        start
        mkdir -p home/threads/t
        echo [1] >home/threads/t/sandbox.json
        container "
          exec 5<home/threads/t/sandbox.json
          (cd home/threads/t && exec sleep 100) & sleeper=\$!
          touch ready
          until_there dead
          cat <&5 2>&1 | tail -n 1 || true
          cat home/threads/t/sandbox.json 2>&1 | tail -n 1 || true
          touch tried
          until_there again
          cat home/threads/t/sandbox.json
          cat <&5 2>&1 | tail -n 1 || true
          echo [3] >home/threads/t/sandbox.json
          kill \$sleeper"
        until_there ready
        kill -9 "$pid"
        until ! ls home 2>/dev/null; do sleep 0.01; done
        touch dead
        until_there tried
        start
        echo [2] >home/threads/t/sandbox.json
        touch again
        wait
        cat home/threads/t/sandbox.json
        stop"#,
    );
    let dead = "Transport endpoint is not connected";
    assert_eq!(told, format!("cat: -: {dead}\ncat: home/threads/t/sandbox.json: {dead}\n[2]\ncat: -: {dead}\n[3]\n"));
}

#[test]
fn a_bind_of_a_folder_alone_stays_dead_after_the_daemon_was_killed() {
    // What is bound is the folder of the old mount: only a new bind sees the new one.
    let told = on_a_host(
        r#"
        start
        mkdir -p home/threads/t/user-data
        echo text >home/threads/t/user-data/file
        container "
          mkdir bound
          mount --bind home/threads/t/user-data bound
          cat bound/file
          touch ready
          until_there again
          ls bound 2>&1 | tail -n 1 || true
          umount bound
          mount --bind home/threads/t/user-data bound
          cat bound/file"
        until_there ready
        kill -9 "$pid"
        start
        touch again
        wait
        stop"#,
    );
    assert_eq!(told, "text\nls: cannot open directory 'bound': Transport endpoint is not connected\ntext\n");
}

#[test]
fn a_workspace_as_the_upper_directory_of_an_overlay() {
    let steps = r#"
        mkdir -p "$elsewhere/lower/folder/deep" "$elsewhere/merged" upper work
        for name in kept changed removed moved folder/file folder/deep/file; do echo "$name" >"$elsewhere/lower/$name"; done
        cat >"$elsewhere/steps.sh" <<'EOF'
        mount -t overlay overlay -o "lowerdir=$elsewhere/lower,upperdir=$PWD/upper,workdir=$PWD/work" "$elsewhere/merged"
        cd "$elsewhere/merged"
        echo more >>changed
        rm removed
        mv moved folder/moved
        chmod 600 folder/file
        cp -r folder copy
        rm -r folder/deep
        mkdir folder/deep
        python3 -c 'import os; os.rename("kept", "renamed"); os.replace("changed", "folder/deep/changed")'
        ln renamed second
        find . -printf '%P %y %m %n %s\n' | sort
        cat folder/deep/changed second copy/deep/file
EOF
        unshare --mount --propagation private bash -euo pipefail "$elsewhere/steps.sh"
        find upper -type c -printf '%P %m\n' | sort
        (cd "$elsewhere/lower" && grep -r . | sort)"#;
    let shown = crate::places::same_as_on_the_disk(steps);
    assert!(shown.contains("\nchanged 0\n") && shown.contains("\nfolder/deep/changed f "), "{shown}");
}
