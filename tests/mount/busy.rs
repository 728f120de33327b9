//! Ending a mount: in use, by signal, and what is there afterwards.

use std::time::Duration;

use crate::support::{Actor, DOC, Mount, exited, wait_for};

const COMMAND: Duration = Duration::from_secs(60);

#[test]
fn a_mount_in_use_is_not_unmounted_and_says_by_whom() {
    let mount = Mount::with_document("[1]");
    let actor = mount.actor();
    actor.run(&format!("fd = os.open('{DOC}', os.O_RDONLY)"));
    let told = mount.command("umount", &[]).refused();
    assert!(told.contains("is in use"), "{told}");
    assert!(told.contains(&format!("pid {} (python3)", actor.pid())), "{told}");
    assert!(told.contains("working directory, 1 open file") && told.contains("--lazy"), "{told}");
    assert_eq!(mount.read(DOC), "[1]");
    drop(actor);
    mount.unmount();
}

#[test]
fn a_mount_that_is_in_use_for_a_moment_is_unmounted_after_it() {
    // A descriptor on its way between two sockets is no process's, and keeps the mount busy.
    let mount = Mount::with_document("[1]");
    let actor = Actor::start(mount.path.parent().unwrap());
    let send = format!(
        "a, b = socket.socketpair(); fd = os.open('mnt/{DOC}', os.O_RDONLY); socket.send_fds(a, [b'x'], [fd]); os.close(fd)"
    );
    actor.run(&send);
    let told = mount.command("umount", &[]).refused();
    assert!(told.contains("by a process that cannot be seen from here"), "{told}");
    assert_eq!(mount.read(DOC), "[1]");
    actor.begin("time.sleep(0.3); a.close(); b.close()");
    mount.unmount();
    actor.end().unwrap();
}

#[test]
fn a_lazy_unmount_serves_what_is_open_until_it_is_closed() {
    let mount = Mount::with_document("[1]");
    let actor = mount.actor();
    actor.run(&format!("fd = os.open('{DOC}', os.O_RDWR)"));
    let pid = mount.pid();
    let told = mount.command("umount", &["--lazy"]).ok();
    assert!(told.contains("is detached"), "{told}");
    assert!(!mount.at("threads").exists());
    actor.run("os.pwrite(fd, b'2', 1); os.fsync(fd)");
    assert_eq!(actor.text("os.pread(fd, 10, 0)"), "[2]");
    assert!(!exited(pid, Duration::from_millis(100)));
    actor.run("os.pwrite(fd, b'3', 1); os.close(fd)");
    drop(actor);
    assert!(exited(pid, COMMAND));
    mount.was_unmounted();
    mount.mount_again();
    assert_eq!(mount.read(DOC), "[3]");
}

#[track_caller]
fn ends_by(signal: libc::c_int) {
    let mount = Mount::with_document("[1]");
    std::fs::write(mount.at("plain"), "x".repeat(100_000)).unwrap();
    let pid = mount.pid();
    mount.signal_daemon(signal);
    assert!(exited(pid, COMMAND));
    mount.was_unmounted();
    assert!(!mount.at("threads").exists());
    let log = mount.log_text();
    assert!(log.contains("unmounting") && log.contains("ended store="), "{log}");
    mount.mount_again();
    assert!(!mount.log_text().contains("dead mount"));
    assert_eq!(mount.read(DOC), "[1]");
    assert_eq!(mount.read("plain").len(), 100_000);
}

#[test]
fn sigterm_flushes_and_unmounts() {
    ends_by(libc::SIGTERM);
}

#[test]
fn sigint_flushes_and_unmounts() {
    ends_by(libc::SIGINT);
}

#[test]
fn sigterm_while_it_is_in_use() {
    let mount = Mount::with_document("[1]");
    let actor = mount.actor();
    actor.run("fd = os.open('plain', os.O_RDWR | os.O_CREAT); os.write(fd, b'abc')");
    actor.run(
        "m = os.open('m', os.O_RDWR | os.O_CREAT); os.ftruncate(m, 4096); m = mmap.mmap(m, 4096); m[0:3] = b'abc'",
    );
    let pid = mount.pid();
    mount.signal_daemon(libc::SIGTERM);
    assert!(exited(pid, COMMAND));
    assert_eq!(actor.fails("os.write(fd, b'd')"), "ENOTCONN");
    drop(actor);
    mount.was_unmounted();
    mount.mount_again();
    assert_eq!(mount.read("plain"), "abc");
    assert!(mount.read("m").starts_with("abc"));
}

#[test]
fn sighup_opens_the_log_anew() {
    let mount = Mount::with_document("[1]");
    let old = mount.log.with_extension("old");
    std::fs::rename(&mount.log, &old).unwrap();
    mount.signal_daemon(libc::SIGHUP);
    wait_for("the new log", || mount.log_text().contains("log file opened again"));
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn everything_is_there_after_a_remount() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.makedirs('threads/t/user-data'); pathlib.Path('threads/t/sandbox.json').write_text('[1]')");
    actor.run("pathlib.Path('threads/t/user-data/f').write_bytes(bytes(range(256)) * 1000); os.symlink('f', 'ln'); os.mkfifo('p')");
    actor.run("os.chmod('threads/t', 0o2770); os.chown('threads/t', 3, 4); os.setxattr('threads/t', 'user.a', b'1')");
    let walk = "sorted([(p, (lambda s: [s.st_ino, s.st_mode, s.st_uid, s.st_gid, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_nlink, s.st_blocks])(os.lstat(p))) for d, ds, fs in os.walk('.') for n in ds + fs + ['.'] for p in [os.path.join(d, n)]])";
    let before = actor.run(walk);
    drop(actor);
    for _ in 0..2 {
        mount.remount();
        let actor = mount.actor();
        assert_eq!(actor.run(walk), before);
        assert!(actor.is("open('threads/t/user-data/f', 'rb').read() == bytes(range(256)) * 1000"));
    }
    mount.kill_daemon();
    mount.mount_again();
    assert_eq!(mount.actor().run(walk), before);
}

#[test]
fn a_process_that_hangs_on_a_stopped_daemon_can_be_killed() {
    let mount = Mount::with_document("[1]");
    let actor = mount.actor();
    mount.signal_daemon(libc::SIGSTOP);
    actor.begin("open('new', 'w')");
    wait_for("the process to wait", || {
        let wchan = std::fs::read_to_string(format!("/proc/{}/wchan", actor.pid())).unwrap_or_default();
        wchan.contains("request_wait") || wchan.contains("fuse") || wchan == "0"
    });
    actor.kill();
    mount.signal_daemon(libc::SIGCONT);
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn a_panic_free_life_under_odd_requests() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("fd = os.open('f', os.O_RDWR | os.O_CREAT)");
    for call in [
        "os.lseek(fd, (1 << 63) - 1, 0); os.write(fd, b'x')",
        "os.ftruncate(fd, (1 << 63) - 1)",
        "os.pwrite(fd, b'x', (1 << 63) - 2)",
        "os.posix_fallocate(fd, (1 << 62), (1 << 62))",
        "os.lseek(fd, (1 << 62), os.SEEK_DATA)",
    ] {
        let error = actor.fails(call);
        assert!(["EFBIG", "EINVAL", "ENXIO", "EOVERFLOW"].contains(&error.as_str()), "{call}: {error}");
    }
    assert_eq!(actor.text("os.pread(fd, 10, (1 << 63) - 11)"), "");
    assert!(!mount.log_text().contains("panic"), "{}", mount.log_text());
}
