//! Mounting: where, what, and what is refused.

use std::fs;
use std::time::Duration;

use crate::support::{DOC, Mount, NOBODY, exited, run, threadfs, wait_for};

const COMMAND: Duration = Duration::from_secs(60);

#[test]
fn one_line_when_the_mount_is_ready() {
    let mount = Mount::builder().prepare();
    let done = mount.try_mount();
    let expected =
        format!("threadfs: {} mounted on {}, pid {}\n", mount.store.display(), mount.path.display(), mount.pid());
    assert_eq!(done.ok(), expected);
    // It is ready: the first thing that is done works.
    assert!(mount.list("").is_empty());
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = table.lines().find(|line| line.contains(mount.path.to_str().unwrap())).unwrap();
    assert!(line.contains(" - fuse.threadfs ") && line.contains(mount.store.to_str().unwrap()), "{line}");
    let log = mount.log_text();
    assert!(log.lines().any(|line| line.contains(" INFO mounted store=")), "{log}");
    mount.unmount();
    assert!(mount.log_text().lines().any(|line| line.contains(" INFO ended store=")));
    assert!(fs::read_dir(&mount.path).unwrap().next().is_none());
}

#[test]
fn a_missing_store_is_created_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let mount = Mount::new();
    assert_eq!(fs::metadata(&mount.store).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_second_mount_of_the_store_is_refused_with_who_holds_it() {
    let mount = Mount::with_document("[1]");
    let second = mount.path.with_file_name("second");
    fs::create_dir(&second).unwrap();
    let told = run(threadfs(["mount"]).arg(&mount.store).arg(&second), COMMAND).refused();
    assert!(told.contains(&format!("process {}", mount.pid())), "{told}");
    assert!(told.contains(&format!("threadfs mounted on {}", mount.path.display())), "{told}");
    assert!(told.contains("unmount it there first"), "{told}");
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn a_mount_over_a_live_mount_is_refused() {
    let mount = Mount::with_document("[1]");
    let told = run(threadfs(["mount", "memory:"]).arg(&mount.path), COMMAND).refused();
    assert!(told.contains("is already a threadfs mount"), "{told}");
    assert!(
        told.contains(&format!("by pid {}", mount.pid())) && told.contains(mount.store.to_str().unwrap()),
        "{told}"
    );
    let told = run(threadfs(["mount", "memory:"]).arg(&mount.path).arg("--nonempty"), COMMAND).refused();
    assert!(told.contains("is already a threadfs mount"), "{told}");
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn a_dead_mount_is_cleared_and_mounted_again() {
    let mount = Mount::with_document("[1]");
    mount.kill_daemon();
    let error = fs::metadata(mount.at(DOC)).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENOTCONN));
    for command in ["status", "locks", "rejected"] {
        let told = mount.command(command, &[]).refused();
        assert!(told.contains("is a dead mount") && told.contains("threadfs umount"), "{told}");
    }
    mount.mount_again();
    assert_eq!(mount.read(DOC), "[1]");
    let log = mount.log_text();
    assert!(log.contains(" WARN ") && log.contains("was a dead mount"), "{log}");
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert_eq!(table.matches(mount.path.to_str().unwrap()).count(), 1);
}

#[test]
fn a_dead_mount_with_open_files_is_cleared_too() {
    let mount = Mount::with_document("[1]");
    let actor = mount.actor();
    actor.run(&format!("fd = os.open('{DOC}', os.O_RDONLY)"));
    mount.kill_daemon();
    assert_eq!(actor.fails("os.read(fd, 10)"), "ENOTCONN");
    mount.mount_again();
    assert_eq!(mount.read(DOC), "[1]");
    // Old descriptors stay dead.
    assert_eq!(actor.fails("os.read(fd, 10)"), "ENOTCONN");
}

#[test]
fn umount_clears_a_dead_mount() {
    let mount = Mount::new();
    mount.kill_daemon();
    let told = mount.command("umount", &[]).ok();
    assert!(told.contains("was a dead mount and is cleared"), "{told}");
    mount.was_unmounted();
    assert!(mount.command("umount", &[]).refused().contains("is not a threadfs mount"));
}

#[test]
fn mountpoints_that_cannot_be_used() {
    let mount = Mount::builder().prepare();
    let root = mount.path.parent().unwrap();
    let refused = |at: &str, more: &[&str]| {
        run(threadfs(["mount"]).arg(&mount.store).arg(root.join(at)).args(more), COMMAND).refused()
    };
    let told = refused("missing", &[]);
    assert!(told.contains("does not exist") && told.contains("mkdir -p"), "{told}");
    fs::write(root.join("file"), "x").unwrap();
    let told = refused("file", &[]);
    assert!(told.contains("is not a directory"), "{told}");
    fs::create_dir(root.join("full")).unwrap();
    fs::write(root.join("full/file"), "x").unwrap();
    let told = refused("full", &[]);
    assert!(told.contains("is not empty") && told.contains("--nonempty"), "{told}");
    let told = run(threadfs(["mount"]).arg(root.join("full/store")).arg(root.join("full")).arg("--nonempty"), COMMAND);
    assert!(told.refused().contains("inside one another"));
    // Nothing was made.
    assert!(!mount.store.exists());
    assert!(!root.join("full/store").exists());
}

#[test]
fn a_mountpoint_that_is_not_empty_with_nonempty() {
    let mount = Mount::builder().argument("--nonempty").prepare();
    fs::write(mount.path.join("hidden"), "x").unwrap();
    mount.mount_again();
    assert!(mount.list("").is_empty());
    mount.unmount();
    assert_eq!(fs::read_to_string(mount.path.join("hidden")).unwrap(), "x");
}

#[test]
fn a_mountpoint_given_as_link_or_relative_path() {
    let mount = Mount::builder().prepare();
    let root = mount.path.parent().unwrap();
    std::os::unix::fs::symlink("mnt", root.join("link")).unwrap();
    let done = run(threadfs(["mount", "./store", "link"]).current_dir(root), COMMAND);
    let line = done.ok();
    let pid: u32 = line.trim_end().rsplit_once(' ').unwrap().1.parse().unwrap();
    assert!(line.contains(&format!("{} mounted on {}", mount.store.display(), mount.path.display())), "{line}");
    assert!(mount.list("").is_empty());
    assert_eq!(run(threadfs(["umount", "link"]).current_dir(root), COMMAND).ok(), "");
    assert!(exited(pid, COMMAND));
}

#[test]
fn in_the_foreground_it_logs_to_standard_error_and_ends_with_the_mount() {
    use std::process::Stdio;
    let mount = Mount::builder().prepare();
    let child = threadfs(["mount", "--foreground"])
        .arg(&mount.store)
        .arg(&mount.path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    wait_for("the mount", || mount.path.join(".threadfs/status.json").exists());
    assert_eq!(mount.status()["pid"], pid);
    assert_eq!(run(threadfs(["umount"]).arg(&mount.path), COMMAND).ok(), "");
    let done = crate::support::finish(child, COMMAND);
    assert!(done.status.success() && done.stdout.is_empty(), "{done:#?}");
    assert!(done.stderr.contains("INFO mounted store=") && done.stderr.contains("INFO ended store="), "{done:#?}");
}

#[test]
fn a_read_only_mount() {
    let mount = Mount::builder().config("").mount();
    mount.make("threads/t");
    fs::write(mount.at(DOC), "[1]").unwrap();
    mount.unmount();
    let line = run(threadfs(["mount", "-o", "ro"]).arg(&mount.store).arg(&mount.path), COMMAND).ok();
    let pid: u32 = line.trim_end().rsplit_once(' ').unwrap().1.parse().unwrap();
    let actor = mount.actor();
    assert_eq!(mount.read(DOC), "[1]");
    assert_eq!(actor.fails(&format!("open('{DOC}', 'w')")), "EROFS");
    assert_eq!(actor.fails("os.mkdir('x')"), "EROFS");
    drop(actor);
    run(threadfs(["umount"]).arg(&mount.path), COMMAND).ok();
    assert!(exited(pid, COMMAND));
}

#[test]
fn the_waiting_command_does_not_keep_the_daemons_pipes_open() {
    // run() reads standard output and error to their ends, which come only if the daemon let go.
    let mount = Mount::new();
    let fds = fs::read_dir(format!("/proc/{}/fd", mount.pid())).unwrap();
    let links: Vec<_> = fds.flatten().filter_map(|fd| fs::read_link(fd.path()).ok()).collect();
    assert!(!links.iter().any(|link| link.to_string_lossy().starts_with("pipe:")), "{links:?}");
}

#[test]
fn an_ordinary_user_mounts_where_fusermount3_is() {
    use std::os::unix::process::CommandExt;
    if !fs::exists("/usr/bin/fusermount3").unwrap() {
        eprintln!("fusermount3 is not installed: not tried");
        return;
    }
    let mount = Mount::builder().prepare();
    let root = mount.path.parent().unwrap();
    std::os::unix::fs::chown(root, Some(NOBODY), Some(NOBODY)).unwrap();
    std::os::unix::fs::chown(&mount.path, Some(NOBODY), Some(NOBODY)).unwrap();
    // The program and the device must be within the user's reach.
    let program = root.join("threadfs");
    fs::copy(env!("CARGO_BIN_EXE_threadfs"), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .uid(NOBODY)
        .gid(NOBODY)
        .arg("mount")
        .arg(&mount.store)
        .arg(&mount.path);
    let done = run(&mut command, COMMAND);
    if !done.status.success() {
        assert!(done.stderr.contains("no permission"), "{done:#?}");
        eprintln!("not tried: {}", done.stderr);
        return;
    }
    let pid: u32 = done.stdout.trim_end().rsplit_once(' ').unwrap().1.parse().unwrap();
    let user = crate::support::Actor::start_as(std::path::Path::new("/"), NOBODY, NOBODY);
    let at = mount.path.display();
    user.run(&format!("os.makedirs('{at}/threads/t'); p = pathlib.Path('{at}/{DOC}'); p.write_text('[1]')"));
    assert_eq!(user.text("p.read_text()"), "[1]");
    assert_eq!(user.number("os.stat(p).st_uid"), i64::from(NOBODY));
    let mut command = std::process::Command::new(&program);
    command.env_clear().env("PATH", "/usr/bin:/bin").uid(NOBODY).gid(NOBODY).arg("umount").arg(&mount.path);
    run(&mut command, COMMAND).ok();
    assert!(exited(pid, COMMAND));
}
