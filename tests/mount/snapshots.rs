//! `.snapshots`: taking, browsing, dropping; the automatic ones.

use std::process::Command;

use crate::support::{Mount, wait_for};

const QUIET: &[&str] = &["snapshots.auto=off"];

/// A thread with one of each kind of file.
fn thread(mount: &Mount) {
    mount.make("threads/t/ws");
    mount.actor().run(
        "os.chdir('threads/t')\n\
         pathlib.Path('a.json').write_text('[1]')\n\
         pathlib.Path('ws/f').write_bytes(b'x' * 100_000)\n\
         os.link('ws/f', 'ws/g'); os.symlink('f', 'ws/l'); os.mkfifo('ws/p')\n\
         os.setxattr('ws/f', 'user.a', b'1'); os.chmod('ws/f', 0o640); os.truncate('ws/f', 1 << 20)",
    );
}

/// Compares two trees with the system's own tool.
fn same(mount: &Mount, one: &str, two: &str) -> bool {
    // diff would wait for a writer of the named pipe.
    let compared =
        Command::new("diff").args(["-r", "--no-dereference", "-x", "p"]).arg(mount.at(one)).arg(mount.at(two)).status();
    compared.unwrap().success()
}

#[test]
fn a_snapshot_keeps_everything_as_it_was() {
    let mount = Mount::with(QUIET);
    thread(&mount);
    let actor = mount.actor();
    actor.run("os.mkdir('threads/t/.snapshots/one')");
    assert!(same(&mount, "threads/t/.snapshots/one", "threads/t"));
    actor.run(
        "pathlib.Path('threads/t/a.json').write_text('[2]'); os.unlink('threads/t/ws/l')\n\
         fd = os.open('threads/t/ws/f', os.O_RDWR); os.pwrite(fd, b'y', 5); os.truncate('threads/t/ws/f', 10)\n\
         pathlib.Path('threads/t/new').write_text('n'); os.rename('threads/t/ws/g', 'threads/t/h')\n\
         os.setxattr('threads/t/ws/f', 'user.a', b'2'); old = 'threads/t/.snapshots/one/'",
    );
    assert_eq!(actor.text("pathlib.Path(old + 'a.json').read_text()"), "[1]");
    assert!(actor.is("pathlib.Path(old + 'ws/f').read_bytes() == b'x' * 100_000 + bytes((1 << 20) - 100_000)"));
    assert!(actor.is("os.getxattr(old + 'ws/f', 'user.a') == b'1' and os.readlink(old + 'ws/l') == 'f'"));
    assert!(
        actor.is("os.stat(old + 'ws/f').st_ino == os.stat(old + 'ws/g').st_ino != os.stat('threads/t/ws/f').st_ino")
    );
    assert!(
        actor.is("stat.S_ISFIFO(os.stat(old + 'ws/p').st_mode) and os.stat(old + 'ws/f').st_mode & 0o777 == 0o640")
    );
    assert!(actor.is("sorted(os.listdir(old)) == ['a.json', 'ws'] and os.path.samefile(old + 'ws/..', old)"));
    assert!(actor.is("os.path.samefile(old + '../..', 'threads/t')"));
}

#[test]
fn it_survives_a_remount_and_a_crash() {
    let mount = Mount::with(QUIET);
    thread(&mount);
    mount.actor().run("os.mkdir('threads/t/.snapshots/one'); pathlib.Path('threads/t/a.json').write_text('[2]')");
    mount.remount();
    assert_eq!(mount.read("threads/t/.snapshots/one/a.json"), "[1]");
    mount.kill_daemon();
    mount.mount_again();
    assert_eq!(mount.read("threads/t/.snapshots/one/a.json"), "[1]");
}

#[test]
fn every_change_in_it_is_refused() {
    let mount = Mount::with(QUIET);
    thread(&mount);
    let actor = mount.actor();
    actor.run("os.mkdir('threads/t/.snapshots/one'); p = 'threads/t/.snapshots/one/'");
    for change in [
        "open(p + 'ws/f', 'w')",
        "open(p + 'n', 'w')",
        "open(p + 'a.json', 'r+')",
        "os.unlink(p + 'a.json')",
        "os.mkdir(p + 'd')",
        "os.rmdir(p + 'ws')",
        "os.rename(p + 'a.json', p + 'b')",
        "os.chmod(p + 'a.json', 0o777)",
        "os.chown(p + 'a.json', 1, 1)",
        "os.truncate(p + 'ws/f', 0)",
        "os.utime(p + 'a.json')",
        "os.symlink('x', p + 's')",
        "os.link(p + 'ws/f', p + 'k')",
        "os.setxattr(p + 'ws/f', 'user.b', b'')",
        "os.removexattr(p + 'ws/f', 'user.a')",
        "open('threads/t/.snapshots/x', 'w')",
        "os.rename('threads/t/a.json', p + 'x')",
    ] {
        assert_eq!(actor.fails(change), "EROFS", "{change}");
    }
}

#[test]
fn names_and_who_may() {
    let mount = Mount::with(QUIET);
    thread(&mount);
    let actor = mount.actor();
    actor.run("s = 'threads/t/.snapshots/'; os.mkdir(s + 'one'); os.mkdir(s + 'ü ' + 'x' * 190)");
    assert_eq!(actor.fails("os.mkdir(s + 'one')"), "EEXIST");
    assert_eq!(actor.fails("os.mkdir(s + '@noon')"), "EINVAL");
    assert_eq!(actor.fails("os.mkdir(s + 'auto-x')"), "EINVAL");
    assert_eq!(actor.fails("os.mkdir(s + 'x' * 201)"), "ENAMETOOLONG");
    assert_eq!(actor.fails("os.rmdir(s + 'none')"), "ENOENT");
    assert_eq!(actor.fails("os.rmdir('threads/t/.snapshots')"), "EPERM");
    let stranger = mount.actor_as(12345);
    assert_eq!(stranger.fails("os.mkdir('threads/t/.snapshots/two')"), "EACCES");
    assert_eq!(stranger.fails("os.rmdir('threads/t/.snapshots/one')"), "EACCES");
    assert_eq!(stranger.text("pathlib.Path('threads/t/.snapshots/one/a.json').read_text()"), "[1]");
}

#[test]
fn a_dropped_one_is_gone_and_its_space_too() {
    let mount = Mount::with(QUIET);
    thread(&mount);
    let actor = mount.actor();
    actor.run("os.mkdir('threads/t/.snapshots/one'); f = open('threads/t/.snapshots/one/ws/f', 'rb', buffering=0)");
    actor.run("os.unlink('threads/t/ws/f'); os.unlink('threads/t/ws/g'); os.rmdir('threads/t/.snapshots/one')");
    assert!(actor.is("os.listdir('threads/t/.snapshots') == []"));
    assert_eq!(actor.fails("os.stat('threads/t/.snapshots/one')"), "ENOENT");
    // Who has it open gets ESTALE, or what the kernel has already: never something else.
    actor.run("\ntry: got = f.read(1 << 20)\nexcept OSError as e: got = e.errno");
    assert!(actor.is("got == errno.ESTALE or got == b'x' * 100_000 + bytes((1 << 20) - 100_000)"));
}

#[test]
fn the_whole_home_at_one_instant() {
    let mount = Mount::with(QUIET);
    thread(&mount);
    mount.make("users/u/threads/v");
    let actor = mount.actor();
    actor.run("pathlib.Path('users/u/threads/v/b.json').write_text('[1]'); pathlib.Path('top').write_text('1')");
    actor.run("os.mkdir('.snapshots/all')");
    actor.run(
        "pathlib.Path('users/u/threads/v/b.json').write_text('[2]'); os.unlink('top'); shutil.rmtree('threads/t')",
    );
    assert_eq!(mount.read(".snapshots/all/users/u/threads/v/b.json"), "[1]");
    assert_eq!(mount.read(".snapshots/all/top"), "1");
    assert_eq!(mount.read(".snapshots/all/threads/t/a.json"), "[1]");
    assert!(actor.is("os.path.samefile('.snapshots/all/threads/t/..', '.snapshots/all/threads')"));
    // A thread of the same name has no part of the old one's history.
    mount.make("threads/t");
    assert!(mount.list("threads/t/.snapshots").is_empty());
    mount.remount_after(actor);
    assert_eq!(mount.read(".snapshots/all/threads/t/a.json"), "[1]");
}

#[test]
fn nothing_that_walks_the_tree_enters_it() {
    let mount = Mount::with(QUIET);
    thread(&mount);
    mount.actor().run("os.mkdir('threads/t/.snapshots/one'); os.mkdir('.snapshots/all')");
    assert!(!mount.list("").contains(&".snapshots".to_string()));
    let found = Command::new("find").arg(mount.at("")).output().unwrap();
    assert!(!String::from_utf8_lossy(&found.stdout).contains(".snapshots"));
    mount.actor().run("shutil.rmtree('threads/t')");
}

#[test]
fn commits_are_kept_and_the_last_of_a_burst_too() {
    let mount = Mount::with(&["snapshots.cooldown=300ms"]);
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run("for n in range(20): pathlib.Path('threads/t/a.json').write_text(f'[{n}]')");
    let newest = || {
        let names = mount.list("threads/t/.snapshots");
        names.iter().max().map(|name| mount.read(&format!("threads/t/.snapshots/{name}/a.json")))
    };
    wait_for("the last state of the burst in a snapshot", || newest().as_deref() == Some("[19]"));
    let first = mount.list("threads/t/.snapshots").into_iter().min().unwrap();
    assert_eq!(mount.read(&format!("threads/t/.snapshots/{first}/a.json")), "[0]");
    assert!(first.starts_with("auto-20"));
    let reason = actor.text(&format!("os.getxattr('threads/t/.snapshots/{first}', 'user.threadfs.reason').decode()"));
    assert!(reason.starts_with("commit of a.json by process "), "{reason}");
    assert!(mount.list("threads/t/.snapshots").len() < 20);
}

#[test]
fn a_time_leads_to_the_newest_state_that_old() {
    let mount = Mount::with(&["snapshots.cooldown=0s"]);
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run("pathlib.Path('threads/t/a.json').write_text('[1]'); between = time.time(); time.sleep(0.01)");
    actor.run("pathlib.Path('threads/t/a.json').write_text('[2]'); s = 'threads/t/.snapshots/@'");
    assert_eq!(actor.text("pathlib.Path(f'{s}{between:.6f}/a.json').read_text()"), "[1]");
    assert_eq!(actor.text("pathlib.Path(f'{s}{time.time() + 1:.3f}/a.json').read_text()"), "[2]");
    let stamp = "datetime.datetime.fromtimestamp(between, datetime.timezone.utc).isoformat()";
    actor.run("import datetime");
    assert_eq!(actor.text(&format!("pathlib.Path(s + {stamp} + '/a.json').read_text()")), "[1]");
    assert_eq!(actor.fails("os.stat(s + '100')"), "ENOENT");
    assert_eq!(actor.fails("os.stat(s + 'noon')"), "ENOENT");
}

#[test]
fn retention_thins_the_automatic_ones_only() {
    let mount = Mount::with(&["snapshots.cooldown=0s", "snapshots.max_versions=3"]);
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run("pathlib.Path('threads/t/a.json').write_text('[1]'); os.mkdir('threads/t/.snapshots/mine')");
    actor.run("for n in range(30): pathlib.Path('threads/t/a.json').write_text(f'[{n}]')");
    // Three of the newest, and one of this minute (two, when it has just ended).
    wait_for("the snapshots to be thinned", || mount.list("threads/t/.snapshots").len() <= 6);
    assert_eq!(mount.read("threads/t/.snapshots/mine/a.json"), "[1]");
}

/// The reasons of a thread's snapshots, oldest first.
fn reasons(mount: &Mount) -> Vec<String> {
    let names = mount.list("threads/t/.snapshots");
    let reason = |name: &String| {
        mount.actor().text(&format!("os.getxattr('threads/t/.snapshots/{name}', 'user.threadfs.reason').decode()"))
    };
    names.iter().map(reason).collect()
}

#[test]
fn the_first_removal_keeps_what_it_ends() {
    let mount = Mount::with(&["snapshots.cooldown=1h"]);
    mount.make("threads/t/ws");
    let actor = mount.actor();
    actor.run("os.chdir('threads/t'); [pathlib.Path(f'ws/{n}').write_text(str(n)) for n in range(20)]");
    actor.run("pathlib.Path('ws/big').write_bytes(b'x' * 100_000); pid = os.getpid(); shutil.rmtree('ws')");
    let names = mount.list("threads/t/.snapshots");
    assert_eq!(names.len(), 1, "{names:?}");
    assert_eq!(mount.list(&format!("threads/t/.snapshots/{}/ws", names[0])).len(), 21);
    let reason = reasons(&mount).remove(0);
    assert!(reason.starts_with("before the removal of ") && reason.ends_with(&actor.text("str(pid)")), "{reason}");
    // Nothing but removals since, and files that come and go: no other one within the cooldown.
    actor.run("for n in range(20): pathlib.Path('tmp').write_text('1'); os.unlink('tmp')");
    actor.run("os.mkdir('d'); os.rmdir('d')");
    assert_eq!(mount.list("threads/t/.snapshots").len(), 1);
}

#[test]
fn within_the_cooldown_only_what_the_last_one_has_older_is_kept() {
    let mount = Mount::with(&["snapshots.cooldown=1h"]);
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run("os.chdir('threads/t'); pathlib.Path('a').write_text('1'); pathlib.Path('b').write_text('1')");
    actor.run("pathlib.Path('c').write_text('1'); os.unlink('c')");
    assert_eq!(mount.list("threads/t/.snapshots").len(), 1);
    // b is as it was; a is not.
    actor.run("pathlib.Path('a').write_text('2'); os.unlink('b')");
    assert_eq!(mount.list("threads/t/.snapshots").len(), 1);
    actor.run("os.unlink('a')");
    let names = mount.list("threads/t/.snapshots");
    assert_eq!(names.len(), 2);
    assert_eq!(mount.read(&format!("threads/t/.snapshots/{}/a", names.iter().max().unwrap())), "2");
}

#[test]
fn a_removal_after_a_remount() {
    let mount = Mount::with(&["snapshots.cooldown=0s"]);
    mount.make("threads/t");
    mount.actor().run("os.chdir('threads/t'); [pathlib.Path(n).write_text('1') for n in 'abc']; os.unlink('a')");
    assert_eq!(mount.list("threads/t/.snapshots").len(), 1);
    mount.remount();
    // The removal of a was after the snapshot: that is known no more, and one too many is no harm.
    mount.actor().run("os.chdir('threads/t'); os.unlink('b')");
    assert_eq!(mount.list("threads/t/.snapshots").len(), 2);
    mount.actor().run("os.mkdir('threads/t/.snapshots/mine')");
    mount.remount();
    mount.actor().run("os.unlink('threads/t/c')");
    assert_eq!(mount.list("threads/t/.snapshots").len(), 3, "nothing changed since mine");
}

#[test]
fn without_automatic_ones_a_removal_takes_none() {
    let mount = Mount::with(QUIET);
    thread(&mount);
    mount.actor().run("shutil.rmtree('threads/t/ws')");
    assert!(mount.list("threads/t/.snapshots").is_empty());
}

#[test]
fn a_writer_that_ends_in_the_middle() {
    let mount = Mount::new();
    mount.make("threads/t");
    let writer = mount.actor();
    writer.run("pathlib.Path('threads/t/other').write_text('at that time')");
    writer.run("f = open('threads/t/a.json', 'w'); f.write('[1, '); f.flush()");
    let pid = writer.pid();
    writer.kill();
    wait_for("a snapshot", || !mount.list("threads/t/.snapshots").is_empty());
    let reason = reasons(&mount).remove(0);
    assert!(reason.starts_with(&format!("process {pid} (python3")), "{reason}");
    assert!(reason.ends_with(") ended in the middle of writing a.json"), "{reason}");
    let name = &mount.list("threads/t/.snapshots")[0];
    assert_eq!(mount.list(&format!("threads/t/.snapshots/{name}")), ["other"]);
    // Within the cooldown it is kept at the end of the burst.
    let writer = mount.actor();
    writer.run("pathlib.Path('threads/t/b.json').write_text('[1]')");
    writer.run("f = open('threads/t/b.json', 'w'); f.write('[1, '); f.flush()");
    writer.kill();
    wait_for("the end of the burst in a snapshot", || {
        reasons(&mount).last().is_some_and(|reason| reason.ends_with("ended in the middle of writing b.json"))
    });
    // A close that was refused is no such end.
    let count = mount.list("threads/t/.snapshots").len();
    let actor = mount.actor();
    actor.run("f = open('threads/t/b.json', 'w'); f.write('[2, ')");
    assert_eq!(actor.fails("f.close()"), "EBADMSG");
    mount.rejected_when(3);
    assert_eq!(mount.list("threads/t/.snapshots").len(), count);
}

#[test]
fn a_snapshot_after_so_many_changes() {
    let mount = Mount::with(&["snapshots.every_changes=50", "snapshots.cooldown=0s"]);
    mount.make("threads/t");
    mount.actor().run("for n in range(120): os.mkdir(f'threads/t/{n}')");
    let reasons = reasons(&mount);
    assert_eq!(reasons, ["after 50 changes", "after 50 changes"]);
}

#[test]
fn they_are_counted_and_timed() {
    let mount = Mount::new();
    thread(&mount);
    mount.actor().run("os.mkdir('threads/t/.snapshots/one'); os.mkdir('.snapshots/all'); os.unlink('threads/t/ws/l')");
    let page = mount.read(".threadfs/metrics");
    for line in [
        "threadfs_snapshots_taken_total{kind=\"named\"} 1",
        "threadfs_snapshots_taken_total{kind=\"home\"} 1",
        "threadfs_snapshot_seconds_count{op=\"restore\"} 0",
        "threadfs_deleted_threads 0",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} in {page}");
    }
    let value = |name: &str| -> f64 {
        let line = page.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name} in {page}"));
        line.trim().parse().unwrap()
    };
    assert!(value("threadfs_snapshots_taken_total{kind=\"automatic\"}") >= 1.0);
    assert!(value("threadfs_snapshot_seconds_count{op=\"take\"}") >= 2.0);
}

#[test]
fn a_reader_of_a_snapshot_is_not_disturbed() {
    let mount = Mount::with(QUIET);
    mount.make("threads/t/d");
    let reader = mount.actor();
    let writer = mount.actor();
    writer.run(
        "t = pathlib.Path('threads/t')\n\
         for i in range(20): (t / f'd/f{i}').write_bytes(bytes([i]) * 30_000)\n\
         (t / 'a.json').write_text('[0]'); os.mkdir(t / '.snapshots/s')",
    );
    reader.run(
        "import hashlib\n\
         def look(): return hashlib.sha1(repr([(p, os.stat(p).st_mtime_ns, os.path.isfile(p) and open(p, 'rb').read()) \
         for p in sorted(str(q) for q in pathlib.Path('threads/t/.snapshots/s').rglob('*'))]).encode()).hexdigest()\n\
         first = look(); end = time.monotonic() + 1.5",
    );
    reader.begin(
        "n = 0\n\
         while time.monotonic() < end:\n\
         \x20   assert look() == first\n\
         \x20   n += 1",
    );
    // Everything that could get in its way: other content, truncation, other snapshots, and what frees them.
    while reader.is_busy() {
        writer.run(
            "for i in range(20):\n\
             \x20   p = t / f'd/f{i}'\n\
             \x20   with open(p, 'r+b' if i % 2 else 'wb') as f: f.write(os.urandom(9_000))\n\
             (t / 'a.json').write_text('[1]'); os.mkdir(t / '.snapshots/x'); os.unlink(t / 'd/f0'); os.rmdir(t / '.snapshots/x')",
        );
    }
    reader.end().unwrap();
    assert!(reader.number("n") > 3);
}
