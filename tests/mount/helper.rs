//! What mount(8) runs: the program under the name of a mount helper, and plain mount options.

use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Duration;

use crate::support::{Done, Mount, exited, run, threadfs, wait_for};

const COMMAND: Duration = Duration::from_secs(60);

/// Runs the program as mount(8) does, with these options.
fn helper(mount: &Mount, arguments: &[&str]) -> Done {
    let program = mount.path.with_file_name("mount.fuse.threadfs");
    if !program.exists() {
        symlink(env!("CARGO_BIN_EXE_threadfs"), &program).unwrap();
    }
    run(Command::new(program).env_clear().arg(&mount.store).arg(&mount.path).args(arguments), COMMAND)
}

/// Unmounts as umount(8) does, which does not wait for the daemon; its number.
fn plain_umount(mount: &Mount) -> u32 {
    let pid = mount.status()["pid"].as_u64().unwrap() as u32;
    // A child that another test is starting can have a file of this one open until it has begun.
    wait_for("umount", || run(Command::new("umount").arg(&mount.path), COMMAND).status.success());
    pid
}

#[test]
fn the_helper_mounts_with_the_options_of_fstab() {
    let mount = Mount::builder().prepare();
    let options = "rw,noauto,user,_netdev,x-systemd.automount,noexec,cache.ttl=5m";
    assert_eq!(helper(&mount, &["-n", "-o", options, "-t", "fuse.threadfs"]).ok(), "");
    assert!(mount.read(".threadfs/config.toml").contains("ttl = \"5m\""));
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = table.lines().find(|line| line.contains(mount.path.to_str().unwrap())).unwrap();
    assert!(line.contains("noexec") && line.contains(" fuse.threadfs "), "{line}");
    // mount(8) says these only when they are off.
    assert!(!line.contains("nosuid") && !line.contains("nodev"), "{line}");
    assert!(exited(plain_umount(&mount), COMMAND));
    let verbose = helper(&mount, &["-v"]).ok();
    assert!(verbose.starts_with("threadfs: ") && verbose.contains(" mounted on "), "{verbose}");
    assert!(exited(plain_umount(&mount), COMMAND));
}

#[test]
fn the_helper_fails_as_mount_8_expects() {
    let mount = Mount::builder().prepare();
    let done = helper(&mount, &["-o", "nosuchopt"]);
    assert_eq!(done.status.code(), Some(32), "{done:#?}");
    assert!(done.stderr.starts_with("threadfs: option -o nosuchopt: unknown mount option"), "{done:#?}");
    assert_eq!(helper(&mount, &["-f", "-o", "nosuchopt"]).status.code(), Some(32));
    assert_eq!(helper(&mount, &["--nonsense"]).status.code(), Some(1));
    assert_eq!(helper(&mount, &["-f", "-o", "ro"]).ok(), "");
    assert!(!mount.store.exists());
}

#[test]
fn a_store_whose_mount_is_gone_is_waited_for() {
    let mount = Mount::builder().prepare();
    for round in 0..10 {
        assert_eq!(helper(&mount, &[]).ok(), "");
        std::fs::write(mount.at(format!("f{round}")), vec![b'x'; 1 << 20]).unwrap();
        // The daemon is still closing the store when the next mount begins.
        plain_umount(&mount);
    }
    assert_eq!(helper(&mount, &[]).ok(), "");
    assert_eq!(mount.list("").len(), 10);
    assert!(exited(plain_umount(&mount), COMMAND));
}

#[test]
fn remount_changes_the_flags_and_nothing_else() {
    let mount = Mount::builder().option("suid").mount();
    let actor = mount.actor();
    actor.run("f = open('f', 'w'); f.close()");
    let pid = mount.pid();
    let remount = |options: &str| helper(&mount, &["-o", &format!("remount,{options}")]);
    assert_eq!(remount("ro").ok(), "");
    assert_eq!(actor.fails("open('f', 'w')"), "EROFS");
    assert_eq!(mount.read("f"), "");
    assert_eq!(remount("rw,noexec").ok(), "");
    actor.run("open('f', 'w').write('x')");
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = table.lines().find(|line| line.contains(mount.path.to_str().unwrap())).unwrap();
    assert!(line.contains("noexec") && !line.contains("nosuid"), "{line}");
    assert_eq!(mount.status()["pid"], pid);
    let busy = run(threadfs(["mount", "-o", "remount,ro", "x"]).arg(mount.at("f")), COMMAND).refused();
    assert!(busy.contains("is not a threadfs mount"), "{busy}");
    actor.run("f = open('f', 'a')");
    assert!(remount("ro").stderr.contains("cannot remount"));
}

#[test]
fn access_times_of_directories_can_be_turned_off() {
    let accessed = |option: &str| {
        let mount = Mount::with(&[option]);
        let actor = mount.actor();
        actor.run("os.mkdir('d'); pathlib.Path('d/f').write_text('x'); os.symlink('f', 'd/l')");
        actor.run("[os.utime(p, ns=(1, 1), follow_symlinks=False) for p in ('d/f', 'd/l', 'd')]");
        actor.run("before = [os.lstat(p).st_atime_ns for p in ('d', 'd/f', 'd/l')]");
        assert!(actor.is("before == [1, 1, 1]"));
        actor.run("open('d/f').read(); os.listdir('d'); os.readlink('d/l')");
        // The kernel has the attributes that it was told before.
        mount.remount_after(actor);
        let actor = mount.actor();
        ["d", "d/f", "d/l"].map(|path| actor.is(&format!("os.lstat('{path}').st_atime_ns > 1")))
    };
    assert_eq!(accessed("relatime"), [true, true, true]);
    assert_eq!(accessed("nodiratime"), [false, true, true]);
}
