//! Renames, and what lies between threads.

use crate::support::{Actor, Mount};

fn actor(mount: &Mount) -> Actor {
    let actor = mount.actor();
    actor.run(include_str!("py/renameat2.py"));
    actor
}

#[test]
fn replacing_exchanging_and_not_replacing() {
    let mount = Mount::new();
    let actor = actor(&mount);
    actor.run("pathlib.Path('a').write_text('A'); pathlib.Path('b').write_text('B'); os.mkdir('d')");
    assert_eq!(actor.fails("renameat2('a', 'b', RENAME_NOREPLACE)"), "EEXIST");
    actor.run("renameat2('a', 'b', RENAME_EXCHANGE)");
    assert_eq!((mount.read("a"), mount.read("b")), ("B".into(), "A".into()));
    actor.run("renameat2('a', 'd', RENAME_EXCHANGE)");
    assert!(actor.is("os.path.isdir('a') and os.path.isfile('d')"));
    actor.run("renameat2('d', 'new', RENAME_NOREPLACE)");
    assert_eq!(mount.read("new"), "B");
    assert_eq!(actor.fails("renameat2('new', 'no', RENAME_EXCHANGE)"), "ENOENT");
    assert_eq!(actor.fails("renameat2('new', 'b', RENAME_NOREPLACE | RENAME_EXCHANGE)"), "EINVAL");
    actor.run("os.rename('new', 'b')");
    assert_eq!((mount.read("b"), mount.list("")), ("B".into(), vec!["a".into(), "b".into()]));
}

#[test]
fn a_whiteout_stays_where_a_name_was() {
    let mount = Mount::new();
    let actor = actor(&mount);
    actor.run("is_whiteout = lambda p: stat.S_ISCHR(os.lstat(p).st_mode) and os.lstat(p).st_rdev == 0");
    for folder in ["plain", "threads/t"] {
        mount.make(folder);
        actor.run(&format!("os.chdir({:?})", mount.path.join(folder)));
        actor.run("pathlib.Path('a').write_text('A'); pathlib.Path('b').write_text('B'); os.makedirs('d/e')");
        let before = actor.number("os.statvfs('.').f_files - os.statvfs('.').f_ffree");
        assert_eq!(actor.fails("renameat2('a', 'b', RENAME_WHITEOUT | RENAME_NOREPLACE)"), "EEXIST");
        assert_eq!(actor.fails("renameat2('a', 'b', RENAME_WHITEOUT | RENAME_EXCHANGE)"), "EINVAL");
        actor.run("renameat2('a', 'b', RENAME_WHITEOUT)");
        assert!(actor.is("is_whiteout('a') and open('b').read() == 'A' and sorted(os.listdir()) == ['a', 'b', 'd']"));
        actor.run("renameat2('d/e', 'e', RENAME_WHITEOUT | RENAME_NOREPLACE)");
        assert!(actor.is("is_whiteout('d/e') and os.listdir('d') == ['e'] and os.listdir('e') == []"));
        assert!(actor.is("[os.stat(p).st_nlink for p in ('d', 'e')] == [2, 2]"));
        // One file went and two whiteouts came.
        assert_eq!(actor.number("os.statvfs('.').f_files - os.statvfs('.').f_ffree"), before + 1);
        actor.run("os.unlink('a'); os.unlink('d/e'); os.rename('b', 'a')");
    }
}

#[test]
fn exchange_of_a_directory_and_a_file_in_two_directories() {
    let mount = Mount::new();
    let actor = actor(&mount);
    actor.run(
        "os.makedirs('x/d/sub'); os.mkdir('y'); open('y/f', 'w').close(); renameat2('x/d', 'y/f', RENAME_EXCHANGE)",
    );
    assert!(actor.is("os.listdir('y/f') == ['sub'] and os.path.isfile('x/d')"));
    assert_eq!(actor.run("[os.stat(d).st_nlink for d in ('x', 'y', 'y/f')]"), serde_json::json!([2, 3, 3]));
    assert!(actor.is("os.stat('y/f/..').st_ino == os.stat('y').st_ino"));
}

#[test]
fn errors_of_directory_renames() {
    let mount = Mount::new();
    let actor = actor(&mount);
    actor.run("os.makedirs('d/e'); os.mkdir('empty'); open('f', 'w').close()");
    assert_eq!(actor.fails("os.rename('d', 'd/e/x')"), "EINVAL");
    assert_eq!(actor.fails("os.rename('d', 'f')"), "ENOTDIR");
    assert_eq!(actor.fails("os.rename('f', 'd')"), "EISDIR");
    assert_eq!(actor.fails("os.rename('empty', 'd')"), "ENOTEMPTY");
    assert_eq!(actor.fails("os.rename('d/e', 'd')"), "ENOTEMPTY");
    assert_eq!(actor.fails("os.rename('no', 'x')"), "ENOENT");
    assert_eq!(actor.fails("renameat2('d', 'd/e', RENAME_EXCHANGE)"), "EINVAL");
    actor.run("os.rename('d', 'empty')");
    assert!(actor.is("os.listdir('.') in (['f', 'empty'], ['empty', 'f']) and os.listdir('empty') == ['e']"));
}

#[test]
fn between_threads_and_between_a_thread_and_the_rest() {
    let mount = Mount::new();
    mount.make("threads/a/d");
    mount.make("threads/b");
    mount.make("users/7/threads/c");
    mount.make("plain/d");
    let actor = actor(&mount);
    actor.run("for d in ('threads/a', 'threads/b', 'plain'): open(d + '/f', 'w').close()");
    for (from, to) in [
        ("threads/a/f", "threads/b/g"),
        ("threads/a/f", "users/7/threads/c/g"),
        ("threads/a/f", "plain/g"),
        ("plain/f", "threads/a/g"),
        ("threads/a/d", "threads/b/d"),
        ("threads/a/d", "plain/e"),
        ("plain/d", "threads/a/e"),
        // A directory does not become a thread, nor cease to be one.
        ("plain/d", "threads/d"),
        ("threads/a", "plain/a"),
        ("threads/a", "a"),
    ] {
        assert_eq!(actor.fails(&format!("os.rename('{from}', '{to}')")), "EXDEV", "{from} {to}");
    }
    for (from, to) in [("threads/a/f", "threads/b/g"), ("threads/a/f", "plain/g"), ("plain/f", "threads/a/g")] {
        assert_eq!(actor.fails(&format!("os.link('{from}', '{to}')")), "EXDEV", "{from} {to}");
    }
    assert_eq!(actor.fails("renameat2('threads/a/f', 'plain/f', RENAME_EXCHANGE)"), "EXDEV");
    // mv copies instead.
    actor
        .run("subprocess.run(['mv', 'threads/a/f', 'threads/b/g'], check=True); shutil.move('plain/d', 'threads/a/e')");
    assert!(actor.is("os.path.exists('threads/b/g') and os.path.isdir('threads/a/e')"));
}

#[test]
fn a_thread_may_be_renamed_to_another_thread() {
    let mount = Mount::new();
    mount.make("threads/a");
    mount.make("users/7/threads/t");
    let actor = actor(&mount);
    actor.run(
        "pathlib.Path('threads/a/sandbox.json').write_text('[1]'); ino = os.stat('threads/a/sandbox.json').st_ino",
    );
    actor.run("os.rename('threads/a', 'threads/b')");
    assert_eq!(mount.read("threads/b/sandbox.json"), "[1]");
    assert!(actor.is("os.stat('threads/b/sandbox.json').st_ino == ino"));
    actor.run("os.rename('threads/b', 'users/7/threads/b')");
    assert_eq!(mount.read("users/7/threads/b/sandbox.json"), "[1]");
    actor.run("f = open('users/7/threads/b/sandbox.json', 'w'); f.write('[')");
    assert_eq!(actor.fails("f.close()"), "EBADMSG");
    // Over an empty one.
    actor.run("os.rename('users/7/threads/b', 'users/7/threads/t')");
    assert_eq!(mount.list("users/7/threads"), ["t"]);
    assert_eq!(mount.counted("threads"), 1);
}

#[test]
fn an_ancestor_of_threads_renames_freely() {
    let mount = Mount::new();
    mount.make("users/old/threads/t");
    let actor = actor(&mount);
    actor.run("pathlib.Path('users/old/threads/t/sandbox.json').write_text('[1]'); fd = os.open('users/old/threads/t/x', os.O_RDWR | os.O_CREAT)");
    actor.run("os.rename('users/old', 'users/new'); os.write(fd, b'x')");
    assert_eq!(mount.read("users/new/threads/t/sandbox.json"), "[1]");
    assert_eq!(mount.read("users/new/threads/t/x"), "x");
    mount.remount_after(actor);
    assert_eq!(mount.read("users/new/threads/t/sandbox.json"), "[1]");
}

#[test]
fn a_reader_always_finds_a_name_that_is_renamed_over() {
    let mount = Mount::new();
    mount.make("threads/t");
    let result = mount.python(include_str!("py/replaced.py"), &["1500"]);
    assert_eq!(result, serde_json::json!({"missing": 0, "broken": 0}));
}
