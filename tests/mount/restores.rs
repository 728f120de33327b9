//! Restore in place, under everything that can be open.

use std::process::Command;
use std::time::Duration;

use crate::support::{Mount, run};

const QUIET: &[&str] = &["snapshots.auto=off"];

/// A thread with two directories and some files, and a snapshot `s` of it.
fn mount() -> Mount {
    let mount = Mount::with(QUIET);
    mount.make("threads/t/ws/deep");
    mount.make("threads/t/same");
    mount.actor().run(
        "t = pathlib.Path('threads/t')\n\
         (t / 'a.json').write_text('[1]'); (t / 'ws/f').write_bytes(b'old' * 10_000); (t / 'ws/deep/g').write_text('g')\n\
         (t / 'same/h').write_text('h'); os.link(t / 'ws/f', t / 'ws/link'); os.symlink('f', t / 'ws/l')\n\
         os.setxattr(t / 'ws', 'user.a', b'1'); os.mkdir(t / '.snapshots/s')",
    );
    mount
}

fn restore(mount: &Mount) -> String {
    mount.threadfs(&["restore", "t", "s"]).ok()
}

/// The name of the snapshot that a restore took first.
fn safety(told: &str) -> &str {
    let (_, rest) = told.split_once("is the snapshot ").unwrap();
    rest.split_once([';', ' ']).unwrap().0
}

fn same_as_snapshot(mount: &Mount) -> bool {
    let compared = Command::new("diff")
        .args(["-r", "--no-dereference"])
        .args([mount.at("threads/t/.snapshots/s"), mount.at("threads/t")])
        .status();
    compared.unwrap().success()
}

#[test]
fn everything_is_what_it_was_and_what_did_not_change_has_its_number() {
    let mount = mount();
    let actor = mount.actor();
    actor.run(
        "t = pathlib.Path('threads/t'); n = {str(p): os.lstat(p).st_ino for p in t.rglob('*')}\n\
         (t / 'a.json').write_text('[2]'); (t / 'ws/f').write_bytes(b'new'); (t / 'ws/n').write_text('n')\n\
         os.unlink(t / 'ws/l'); os.rename(t / 'ws/deep', t / 'moved'); os.setxattr(t / 'ws', 'user.a', b'2')\n\
         os.chmod(t / 'ws', 0o700); os.mkdir(t / 'empty'); [p.stat() for p in t.rglob('*')]",
    );
    assert_eq!(mount.read("threads/t/a.json"), "[2]");
    restore(&mount);
    assert!(same_as_snapshot(&mount));
    assert!(actor.is("os.getxattr(t / 'ws', 'user.a') == b'1' and stat.S_IMODE(os.stat(t / 'ws').st_mode) == 0o755"));
    assert!(
        actor.is("os.stat(t / 'ws/f').st_ino == os.stat(t / 'ws/link').st_ino and os.stat(t / 'ws/f').st_nlink == 2")
    );
    // Directories keep their numbers, moved ones too; so does what did not change. The others have new ones.
    assert!(
        actor.is(
            "all(n[str(t / p)] == os.stat(t / p).st_ino for p in ['ws', 'ws/deep', 'same', 'same/h', 'ws/deep/g'])"
        )
    );
    assert!(actor.is("all(n[str(t / p)] != os.lstat(t / p).st_ino for p in ['a.json', 'ws/f', 'ws/l'])"));
    assert!(actor.is("not (t / 'empty').exists() and not (t / 'moved').exists()"));
}

#[test]
fn a_restore_is_undone_by_another_and_needs_nothing_to_be_done_twice() {
    let mount = mount();
    mount
        .actor()
        .run("t = pathlib.Path('threads/t'); (t / 'a.json').write_text('[2]'); (t / 'ws/f').write_text('new')");
    let told = restore(&mount);
    assert_eq!(restore(&mount), "threads/t is as it was at s already.\n");
    assert_eq!(mount.read("threads/t/a.json"), "[1]");
    let reason = mount
        .actor()
        .text(&format!("os.getxattr('threads/t/.snapshots/{}', 'user.threadfs.reason').decode()", safety(&told)));
    assert_eq!(reason, "before the restore of s");
    mount.threadfs(&["restore", "t", safety(&told)]).ok();
    assert_eq!((mount.read("threads/t/a.json"), mount.read("threads/t/ws/f")), ("[2]".into(), "new".into()));
    // A restored document goes on with its versions.
    let versions = mount.threadfs(&["log", "t", "--versions"]).ok();
    assert_eq!(versions.lines().count(), 5, "{versions}");
    mount.remount();
    assert_eq!(mount.read("threads/t/a.json"), "[2]");
}

#[test]
fn who_has_the_old_file_open_goes_on_with_it() {
    let mount = mount();
    let actor = mount.actor();
    actor.run(
        "p = 'threads/t/ws/f'; fd = os.open(p, os.O_RDWR); os.pwrite(fd, b'now', 0); r = os.open(p, os.O_RDONLY)\n\
         m = mmap.mmap(fd, 30_000); j = os.open('threads/t/a.json', os.O_RDONLY); os.pread(j, 9, 0)\n\
         before = os.fstat(fd).st_ino",
    );
    mount.actor().run("pathlib.Path('threads/t/a.json').write_text('[2]')");
    restore(&mount);
    assert!(
        actor.is("os.pread(r, 6, 0) == b'nowold' and os.fstat(fd).st_ino == before and os.fstat(fd).st_nlink == 0")
    );
    actor.run("os.pwrite(fd, b'more', 10); m[0:5] = b'mmap!'; m.flush(); os.fsync(fd)");
    assert!(actor.is("os.pread(r, 14, 0)[10:] == b'more' and os.pread(r, 5, 0) == b'mmap!'"));
    assert!(actor.is("open(p, 'rb').read() == b'old' * 10_000 and os.stat(p).st_ino != before"));
    actor.run("os.ftruncate(fd, 5)");
    assert!(actor.is("os.pread(r, 99, 0) == b'mmap!' and os.stat(p).st_size == 30_000"));
    drop(actor);
    assert!(same_as_snapshot(&mount));
    mount.unmount();
    mount.threadfs(&["fsck", mount.store.to_str().unwrap()]).ok();
}

#[test]
fn a_dirty_shared_mapping_is_in_the_state_before() {
    let mount = mount();
    let actor = mount.actor();
    actor.run("fd = os.open('threads/t/ws/f', os.O_RDWR); m = mmap.mmap(fd, 30_000); m[0:5] = b'dirty'");
    let told = restore(&mount);
    assert!(actor.is("open('threads/t/ws/f', 'rb').read(5) == b'oldol' and m[0:5] == b'dirty'"));
    let kept = format!("open('threads/t/.snapshots/{}/ws/f', 'rb').read(5) == b'dirty'", safety(&told));
    assert!(actor.is(&kept));
}

#[test]
fn an_open_database_and_a_shell_inside() {
    let mount = mount();
    let actor = mount.actor();
    actor.run(
        "import sqlite3\n\
         db = sqlite3.connect('threads/t/ws/d.db'); db.execute('pragma journal_mode=wal'); db.execute('create table x(y)')\n\
         db.execute('insert into x values (1)'); db.commit(); os.mkdir('threads/t/.snapshots/with')\n\
         db.execute('insert into x values (2)'); db.commit(); top = os.getcwd(); os.chdir('threads/t/ws/deep')\n\
         fd = os.open('.', os.O_RDONLY); pathlib.Path('new').write_text('n'); os.listdir('.')",
    );
    mount.threadfs(&["restore", "t", "with"]).ok();
    // The shell sees the restored directory, where it stands and by what it opened.
    assert!(actor.is("os.listdir('.') == ['g'] and os.listdir(fd) == ['g'] and pathlib.Path('g').read_text() == 'g'"));
    assert!(actor.is("os.getcwd() == top + '/threads/t/ws/deep' and not os.path.exists('new')"));
    actor.run("pathlib.Path('again').write_text('a')");
    // The open database goes on with what it has; who opens it now has the restored one.
    actor.run("db.execute('insert into x values (3)'); db.commit()");
    assert!(actor.is("[y for y, in db.execute('select y from x')] == [1, 2, 3]"));
    // (Closing it would remove the write-ahead log by its path, and with it the restored one's.)
    let other = mount.actor();
    other.run("import sqlite3; new = sqlite3.connect('threads/t/ws/d.db')");
    assert!(other.is("[y for y, in new.execute('select y from x')] == [1]"));
    assert!(other.is("new.execute('pragma integrity_check').fetchone() == ('ok',)"));
}

#[test]
fn a_bind_mount_in_another_namespace_sees_it_at_once() {
    let mount = mount();
    let target = tempfile::tempdir().unwrap();
    let actor = mount.actor();
    actor.run(&format!(
        "import ctypes\n\
         libc = ctypes.CDLL(None, use_errno=True)\n\
         assert libc.unshare(0x20000) == 0\n\
         assert libc.mount(b'none', b'/', None, 0x44000, None) == 0\n\
         assert libc.mount(os.path.abspath('threads/t/ws').encode(), b'{0}', None, 0x1000, None) == 0\n\
         w = pathlib.Path('{0}'); [p.lstat() for p in w.rglob('*')]; (w / 'f').read_bytes(); (w / 'absent').exists()",
        target.path().display()
    ));
    mount.actor().run(
        "w = pathlib.Path('threads/t/ws'); (w / 'f').write_text('2'); (w / 'absent').write_text('x'); os.unlink(w / 'l')\n\
         os.rename(w / 'deep/g', w / 'deep/h'); os.chmod(w, 0o711)",
    );
    assert!(actor.is("(w / 'f').read_text() == '2' and sorted(os.listdir(w)) == ['absent', 'deep', 'f', 'link']"));
    assert!(actor.is("not (w / 'l').is_symlink() and not (w / 'deep/g').exists()"));
    restore(&mount);
    assert!(actor.is("(w / 'f').read_bytes() == b'old' * 10_000 and (w / 'f').stat().st_size == 30_000"));
    assert!(actor.is("sorted(os.listdir(w)) == ['deep', 'f', 'l', 'link'] and os.readlink(w / 'l') == 'f'"));
    assert!(
        actor.is("(w / 'deep/g').read_text() == 'g' and not (w / 'deep/h').exists() and not (w / 'absent').exists()")
    );
    assert!(actor.is("stat.S_IMODE(w.stat().st_mode) == 0o755"));
    actor.run("(w / 'made').write_text('m')");
    assert_eq!(mount.read("threads/t/ws/made"), "m");
}

#[test]
fn paths_come_back_alone() {
    let mount = mount();
    let actor = mount.actor();
    actor.run(
        "t = pathlib.Path('threads/t'); (t / 'a.json').write_text('[2]'); (t / 'ws/f').write_text('new')\n\
         os.unlink(t / 'ws/deep/g'); (t / 'ws/deep/x').write_text('x'); (t / 'ws/absent').exists()",
    );
    mount.threadfs(&["restore", "t", "s", "--", "ws/deep"]).ok();
    assert_eq!(mount.list("threads/t/ws/deep"), ["g"]);
    assert_eq!((mount.read("threads/t/a.json"), mount.read("threads/t/ws/f")), ("[2]".into(), "new".into()));
    let at = mount.at("threads/t/a.json");
    mount.threadfs(&["restore", "t", "s", "--", at.to_str().unwrap()]).ok();
    assert_eq!(mount.read("threads/t/a.json"), "[1]");
    let told = mount.threadfs(&["restore", "t", "s", "--", "ws/nothing"]).refused();
    assert_eq!(told, "threadfs: threads/t: \"s\" has no \"ws/nothing\": nothing was restored\n");
    actor.run("shutil.rmtree(t / 'ws')");
    let told = mount.threadfs(&["restore", "t", "s", "--", "ws/deep/g"]).refused();
    assert!(told.contains("does not exist now: restore that one, or make it first"), "{told}");
    mount.threadfs(&["restore", "t", "s", "--", "ws", "same"]).ok();
    assert!(same_as_snapshot(&mount));
}

#[test]
fn only_root_and_the_owner_may() {
    let mount = mount();
    mount.actor().run("t = pathlib.Path('threads/t'); (t / 'a.json').write_text('[2]'); os.chmod(t, 0o777)");
    let mut command = Command::new("setpriv");
    command.args(["--reuid=4711", "--regid=4711", "--clear-groups"]).arg(env!("CARGO_BIN_EXE_threadfs"));
    command.args(["restore", mount.at("threads/t").to_str().unwrap(), "s"]);
    let done = run(&mut command, Duration::from_secs(30));
    assert!(done.refused().to_lowercase().contains("permission"));
    assert_eq!(mount.read("threads/t/a.json"), "[2]");
}

#[test]
fn a_restore_that_finds_no_room_changes_nothing() {
    let mount = mount();
    let told = mount.threadfs(&["restore", "t", "z"]).refused();
    assert_eq!(told, "threadfs: threads/t: there is no snapshot \"z\"; the nearest is \"s\"\n");
    assert!(mount.threadfs(&["restore", "u", "s"]).refused().contains("\"t\""));
    assert!(mount.threadfs(&["restore", "/", "s"]).refused().contains("only threads can be restored"));
}
