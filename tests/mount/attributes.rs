//! Times, modes, owners, inode numbers.

use crate::support::Mount;

#[test]
fn times_with_nanoseconds_now_and_omit() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run(
        "libc = ctypes.CDLL(None, use_errno=True); OMIT, NOW = (1 << 30) - 2, (1 << 30) - 1\n\
         def utimens(path, a, m):\n\
        \x20   times = struct.pack('qqqq', *a, *m)\n\
        \x20   if libc.utimensat(-100, path.encode(), times, 0): raise OSError(ctypes.get_errno(), path)\n\
         def ns(path): s = os.stat(path); return [s.st_atime_ns, s.st_mtime_ns]",
    );
    actor.run("pathlib.Path('f').write_text('x'); utimens('f', (5, 123456789), (6, 987654321))");
    assert_eq!(actor.run("ns('f')"), serde_json::json!([5_123_456_789_i64, 6_987_654_321_i64]));
    actor.run("utimens('f', (0, OMIT), (7, 1))");
    assert_eq!(actor.run("ns('f')"), serde_json::json!([5_123_456_789_i64, 7_000_000_001_i64]));
    actor.run("utimens('f', (8, 2), (0, OMIT))");
    assert_eq!(actor.run("ns('f')"), serde_json::json!([8_000_000_002_i64, 7_000_000_001_i64]));
    actor.run("before = time.time_ns(); utimens('f', (0, OMIT), (0, NOW))");
    assert!(actor.is("ns('f')[0] == 8_000_000_002 and before - 10**9 <= ns('f')[1] <= time.time_ns() + 10**6"));
    // Before 1970 and far away.
    actor.run("os.utime('f', ns=(-1_500_000_000, 5_000_000_000_000_000_000))");
    assert_eq!(actor.run("ns('f')"), serde_json::json!([-1_500_000_000_i64, 5_000_000_000_000_000_000_i64]));
    mount.remount_after(actor);
    let actor = mount.actor();
    assert_eq!(actor.number("os.stat('f').st_mtime_ns"), 5_000_000_000_000_000_000);
    assert_eq!(actor.number("os.stat('f').st_atime_ns"), -1_500_000_000);
}

#[test]
fn mtime_and_ctime_follow_changes() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("def t(p): s = os.stat(p); return s.st_mtime_ns, s.st_ctime_ns");
    actor.run("f = open('f', 'w'); a = t('f'); f.write('x'); f.flush(); b = t('f')");
    assert!(actor.is("b[0] > a[0] and b[1] > a[1]"));
    actor.run("os.chmod('f', 0o600); c = t('f')");
    assert!(actor.is("c[0] == b[0] and c[1] > b[1]"));
    actor.run("os.link('f', 'g'); d = t('f')");
    assert!(actor.is("d[0] == b[0] and d[1] > c[1]"));
    actor.run("os.mkdir('d'); a = t('d'); open('d/x', 'w').close(); b = t('d'); os.unlink('d/x'); c = t('d')");
    assert!(actor.is("a[0] < b[0] < c[0] and a[1] < b[1] < c[1]"));
}

#[test]
fn a_mode_is_what_open_and_umask_make_of_it() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("def mode(p): return stat.S_IMODE(os.lstat(p).st_mode)");
    actor.run("os.umask(0o027); open('f', 'w').close(); os.mkdir('d'); os.mkfifo('p')");
    assert_eq!(actor.run("[mode('f'), mode('d'), mode('p')]"), serde_json::json!([0o640, 0o750, 0o640]));
    actor.run("os.makedirs('threads/t'); f = open('threads/t/a.json', 'w'); f.write('[]'); f.close()");
    assert_eq!(actor.run("[mode('threads/t'), mode('threads/t/a.json')]"), serde_json::json!([0o750, 0o640]));
    actor.run("os.umask(0); os.close(os.open('g', os.O_CREAT, 0o4755)); os.chmod('g', 0o7777)");
    assert_eq!(actor.number("mode('g')"), 0o7777);
}

#[test]
fn a_setgid_directory_gives_its_group() {
    let mount = Mount::new();
    let root = mount.actor();
    root.run("os.mkdir('d'); os.chown('d', 0, 4242); os.chmod('d', 0o2777); os.makedirs('threads/t')");
    root.run("os.chown('threads/t', 0, 4242); os.chmod('threads/t', 0o2777)");
    let user = mount.actor_as(1234);
    user.run("open('d/f', 'w').close(); os.mkdir('d/e'); f = open('threads/t/a.json', 'w'); f.write('[]'); f.close()");
    assert_eq!(
        user.run("[os.stat(p).st_gid for p in ('d/f', 'd/e', 'threads/t/a.json')]"),
        serde_json::json!([4242, 4242, 4242])
    );
    assert_eq!(user.run("[os.stat(p).st_uid for p in ('d/f', 'd/e')]"), serde_json::json!([1234, 1234]));
    assert_eq!(user.number("os.stat('d/e').st_mode & 0o7000"), 0o2000);
    assert_eq!(user.number("os.stat('d/f').st_mode & 0o7000"), 0);
}

#[test]
fn a_sticky_directory_protects_what_is_anothers() {
    let mount = Mount::new();
    let root = mount.actor();
    root.run("os.mkdir('d'); os.chmod('d', 0o1777)");
    let (owner, other) = (mount.actor_as(1234), mount.actor_as(1235));
    owner.run("open('d/f', 'w').close()");
    assert_eq!(other.fails("os.unlink('d/f')"), "EPERM");
    assert_eq!(other.fails("os.rename('d/f', 'd/g')"), "EPERM");
    owner.run("os.unlink('d/f')");
}

#[test]
fn writing_takes_setuid_away_from_who_may_not_give_it() {
    let mount = Mount::new();
    let root = mount.actor();
    root.run("pathlib.Path('f').write_text('x'); os.chmod('f', 0o6777); os.chmod('.', 0o777)");
    let user = mount.actor_as(1234);
    user.run("f = open('f', 'r+'); f.write('y'); f.close()");
    assert_eq!(user.number("os.stat('f').st_mode & 0o7777"), 0o777);
    root.run("os.chmod('f', 0o6777); os.chown('f', 1234, 1234)");
    assert_eq!(root.number("os.stat('f').st_mode & 0o7777"), 0o777);
    root.run("os.chmod('f', 0o6777)");
    user.run("os.truncate('f', 0)");
    assert_eq!(user.number("os.stat('f').st_mode & 0o7777"), 0o777);
}

#[test]
fn other_users_get_what_the_modes_say() {
    let mount = Mount::new();
    let root = mount.actor();
    root.run("pathlib.Path('secret').write_text('s'); os.chmod('secret', 0o600); os.mkdir('closed'); os.chmod('closed', 0o700)");
    let user = mount.actor_as(1234);
    assert_eq!(user.fails("open('secret')"), "EACCES");
    assert_eq!(user.fails("os.listdir('closed')"), "EACCES");
    assert_eq!(user.fails("open('mine', 'w')"), "EACCES");
    assert_eq!(user.fails("os.chmod('secret', 0o666)"), "EPERM");
    assert_eq!(user.fails("os.chown('secret', 1234, 1234)"), "EPERM");
    // A change of permissions holds at once.
    root.run("os.mkdir('open'); os.chmod('open', 0o777)");
    user.run("os.listdir('open')");
    root.run("os.chmod('open', 0)");
    assert_eq!(user.fails("os.listdir('open')"), "EACCES");
    root.run("os.chmod('open', 0o755); os.chown('open', 1234, 1234)");
    user.run("open('open/f', 'w').close()");
}

#[test]
fn inode_numbers_survive_a_remount() {
    let mount = Mount::new();
    let list = "sorted((os.path.relpath(os.path.join(d, n)), os.lstat(os.path.join(d, n)).st_ino) for d, ds, fs in os.walk('.') for n in ds + fs)";
    let before = {
        let actor = mount.actor();
        actor.run("for t in range(5): os.makedirs(f'threads/t{t}/user-data'); pathlib.Path(f'threads/t{t}/sandbox.json').write_text('[]')");
        actor.run("os.symlink('x', 'link'); os.mkfifo('pipe'); open('f', 'w').close(); os.link('f', 'g')");
        assert_eq!(actor.number("os.stat('.').st_ino"), 1);
        actor.run(list)
    };
    mount.remount();
    assert_eq!(mount.actor().run(list), before);
    mount.kill_daemon();
    mount.mount_again();
    let actor = mount.actor();
    assert_eq!(actor.run(list), before);
    // A new file gets a new number.
    actor.run("open('new', 'w').close(); os.mkdir('threads/new')");
    let numbers: Vec<i64> = before.as_array().unwrap().iter().map(|pair| pair[1].as_i64().unwrap()).collect();
    for name in ["new", "threads/new"] {
        let number = actor.number(&format!("os.stat('{name}').st_ino"));
        assert!(!numbers.contains(&number) && number < 1 << 53, "{name}: {number}");
    }
}

#[test]
fn numbers_of_links() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.mkdir('d'); n = os.stat('d').st_nlink; os.mkdir('d/a'); os.mkdir('d/b'); open('d/f', 'w').close()");
    assert!(actor.is("n == 2 and os.stat('d').st_nlink == 4"));
    actor.run("os.rmdir('d/a'); os.rename('d/b', 'b')");
    assert_eq!(actor.number("os.stat('d').st_nlink"), 2);
    actor.run("os.link('d/f', 'd/g'); os.link('d/f', 'h')");
    assert_eq!(actor.number("os.stat('h').st_nlink"), 3);
    actor.run("os.unlink('d/f')");
    assert_eq!(actor.number("os.stat('h').st_nlink"), 2);
    mount.make("threads/t");
    assert_eq!(actor.number("os.stat('threads').st_nlink"), 3);
}

/// Reads a file past the page cache, lists a directory, loads a document: whether that moved their access times.
const READS: &str = "
def reads():
    paths = 'f', 'd', 'threads/t/a.json'
    before = [os.lstat(path).st_atime_ns for path in paths]
    with open('f') as f: os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED); f.read()
    os.listdir('d'), json.load(open('threads/t/a.json'))
    return [os.lstat(path).st_atime_ns > time for path, time in zip(paths, before)]
def make():
    os.mkdir('d'); os.makedirs('threads/t')
    for path in 'f', 'd/f', 'threads/t/a.json': pathlib.Path(path).write_text('{}')
def change():
    pathlib.Path('f').write_text('{}'); pathlib.Path('threads/t/a.json').write_text('[]')
    pathlib.Path('d/g').touch(); os.unlink('d/g')
";

#[test]
fn reading_moves_the_access_time_once_a_change() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run(READS);
    actor.run("make()");
    for _ in 0..2 {
        assert_eq!(actor.run("reads()"), serde_json::json!([true, true, true]));
        assert_eq!(actor.run("reads()"), serde_json::json!([false, false, false]));
        actor.run("change()");
    }
    // One that was set a day ago counts as none.
    actor.run("past = time.time_ns() - 25 * 3600 * 10**9; reads()");
    for path in ["f", "threads/t/a.json"] {
        actor.run(&format!("os.utime('{path}', ns=(past + 5, past))"));
    }
    let moved = actor.run("reads()");
    assert!(moved[0] == true && moved[2] == true, "{moved}");
    mount.remount_after(actor);
    let actor = mount.actor();
    assert!(actor.is("os.stat('threads/t/a.json').st_atime_ns > os.stat('threads/t/a.json').st_mtime_ns"));
}

#[test]
fn access_times_stay_or_always_move_where_the_mount_says_so() {
    let mount = Mount::with(&["noatime"]);
    let actor = mount.actor();
    actor.run(READS);
    actor.run("make()");
    assert_eq!(actor.run("reads()"), serde_json::json!([false, false, false]));
    assert!(
        std::fs::read_to_string("/proc/mounts")
            .unwrap()
            .lines()
            .any(|line| { line.contains(mount.path.to_str().unwrap()) && line.contains("noatime") })
    );
    let mount = Mount::with(&["strictatime"]);
    let actor = mount.actor();
    actor.run(READS);
    actor.run("make()");
    for _ in 0..3 {
        let moved = actor.run("reads()");
        // The kernel answers for the directory.
        assert!(moved[0] == true && moved[2] == true, "{moved}");
    }
}
