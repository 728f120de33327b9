//! The disk of the store is full.

use std::ffi::CString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{Actor, Mount, wait_for};

/// A small disk, unmounted when it is dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn new() -> SmallDisk {
        let folder = crate::places::folder();
        let (target, kind, size) = (path(folder.path()), c"tmpfs", c"size=60m");
        // SAFETY: all of them end with NUL.
        let done = unsafe { libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), 0, size.as_ptr().cast()) };
        assert_eq!(done, 0, "mounting a tmpfs: {}", io::Error::last_os_error());
        SmallDisk(folder)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // SAFETY: the path ends with NUL.
        unsafe { libc::umount2(path(self.0.path()).as_ptr(), libc::MNT_DETACH) };
    }
}

fn path(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

/// Functions for the process that fills it.
const STEPS: &str = "
def fill():
    count = 0
    while True:
        with open(f'fill{count}', 'wb') as file:
            file.write(os.urandom(1 << 20))
            file.flush()
            os.fsync(file.fileno())
        count += 1
def save(state):
    with open('sandbox.json', 'w') as file:
        file.write(state)
def names():
    return sorted(os.listdir())
";

/// A mount whose store is on a small disk, a document, and a process in its thread.
fn small() -> (SmallDisk, Mount, Actor) {
    let disk = SmallDisk::new();
    // What fails because the disk is full is logged.
    let mut mount = Mount::builder().tolerating_errors().prepare();
    mount.store = disk.0.path().join("store");
    mount.mount_again();
    let actor = Actor::start(&mount.make("threads/t"));
    actor.run(STEPS);
    actor.run("save('{\"state\": 1}')");
    (disk, mount, actor)
}

#[track_caller]
fn works_again(actor: &Actor) {
    // Room comes back in the background, some at a time.
    wait_for("room for writing", || actor.try_run("open('after', 'wb').write(b'y' * 200_000)").is_ok());
    wait_for("room for a save", || actor.try_run("save('{\"state\": 2}')").is_ok());
    assert_eq!(actor.text("open('sandbox.json').read()"), "{\"state\": 2}");
}

#[test]
fn writers_get_enospc_and_everything_else_goes_on() {
    let (_disk, mount, actor) = small();
    assert_eq!(actor.fails("fill()"), "ENOSPC");
    assert_eq!(actor.text("open('sandbox.json').read()"), "{\"state\": 1}");
    assert!(actor.run("names()").as_array().unwrap().len() > 10);
    assert!(actor.number("len(open('fill0', 'rb').read())") == 1 << 20);
    assert!(mount.counted("inodes") > 10);
    actor.run("[os.unlink(name) for name in names() if name.startswith('fill')]");
    works_again(&actor);
}

#[test]
fn a_store_that_was_full_when_its_daemon_was_killed_opens_again() {
    let (_disk, mount, actor) = small();
    assert_eq!(actor.fails("fill()"), "ENOSPC");
    let whole = actor.run("[name for name in names() if os.path.getsize(name) == 1 << 20]");
    drop(actor);
    mount.kill_daemon();
    mount.mount_again();
    let actor = Actor::start(&mount.at("threads/t"));
    actor.run(STEPS);
    for name in whole.as_array().unwrap() {
        assert_eq!(fs::read(mount.at("threads/t").join(name.as_str().unwrap())).unwrap().len(), 1 << 20, "{name}");
    }
    assert_eq!(actor.text("open('sandbox.json').read()"), "{\"state\": 1}");
    actor.run("[os.unlink(name) for name in names() if name.startswith('fill')]");
    works_again(&actor);
}

#[test]
fn a_full_document_keeps_its_old_content() {
    let (_disk, _mount, actor) = small();
    assert_eq!(actor.fails("fill()"), "ENOSPC");
    // Larger than what is left for deletions and the like, and each another one.
    actor.run("large = lambda: '[\"' + os.urandom(3 << 20).hex() + '\"]'");
    let mut refused = false;
    for _ in 0..20 {
        refused |= actor.try_run("save(large())").is_err();
    }
    assert!(refused, "twenty large documents had room on a full disk");
    let kept = actor.number("len(open('sandbox.json').read())");
    assert!(kept == 12 || kept == (6 << 20) + 4, "{kept}");
    actor.run("[os.unlink(name) for name in names() if name.startswith('fill')]");
    works_again(&actor);
}

#[test]
fn without_room_there_is_no_snapshot_restore_or_fork_and_the_thread_goes_on() {
    let (_disk, mount, actor) = small();
    actor.run("os.mkdir('.snapshots/first')");
    // What a restore would bring back.
    actor.run("open('large', 'wb').write(os.urandom(4 << 20))");
    actor.run("os.mkdir('.snapshots/second')");
    actor.run("os.truncate('large', 0)");
    assert_eq!(actor.fails("fill()"), "ENOSPC");
    // The last bytes, which the store keeps for deletions, by a file beside it.
    let beside = mount.store.with_file_name("beside");
    let filled = fs::File::create(&beside).unwrap().write_all(&vec![1; 64 << 20]);
    assert_eq!(filled.unwrap_err().kind(), io::ErrorKind::StorageFull);
    // What the store was promised when it last looked is used up first.
    actor.run("def snapshots():\n    for number in range(100_000):\n        os.mkdir(f'.snapshots/s{number}')");
    assert_eq!(actor.fails("snapshots()"), "ENOSPC");
    let listed = actor.run("sorted(os.listdir('.snapshots'))");
    let thread = mount.at("threads/t");
    let thread = thread.to_str().unwrap();
    let refused = |command: &[&str]| {
        let refusal = mount.threadfs(command).refused();
        assert!(refusal.to_lowercase().contains("no space left"), "{command:?}: {refusal}");
    };
    refused(&["restore", thread, "second"]);
    refused(&["snapshot", "create", thread, "another"]);
    refused(&["fork", thread, "u"]);
    assert_eq!(actor.run("sorted(os.listdir('.snapshots'))"), listed, "and none was left half made");
    assert!(!mount.at("threads/u").exists());
    assert_eq!(actor.number("os.stat('large').st_size"), 0);
    assert_eq!(actor.number("os.stat('.snapshots/second/large').st_size"), 4 << 20);
    assert_eq!(actor.text("open('sandbox.json').read()"), "{\"state\": 1}");
    fs::remove_file(beside).unwrap();
    actor.run("[os.unlink(name) for name in names() if name.startswith('fill')]");
    works_again(&actor);
    wait_for("room for a restore", || mount.threadfs(&["restore", thread, "second"]).status.success());
    assert_eq!(actor.number("os.stat('large').st_size"), 4 << 20);
    mount.threadfs(&["fork", thread, "u"]).ok();
}
