//! Which files are documents.

use crate::support::Mount;

/// Whether writing half a document under a name is seen by others, and what close says.
#[track_caller]
fn is_document(mount: &Mount, path: &str) -> bool {
    let writer = mount.actor();
    writer.run(&format!("fd = os.open({path}, os.O_WRONLY | os.O_CREAT | os.O_TRUNC); os.write(fd, b'[1, ')"));
    let seen = writer.is(&format!("os.path.exists({path})"));
    let refused = writer.try_run("os.close(fd)").is_err();
    assert_eq!(seen, !refused, "{path}");
    refused
}

#[test]
fn both_layouts() {
    let mount = Mount::new();
    mount.make("threads/t");
    mount.make("users/7/threads/t");
    for path in
        ["'threads/t/sandbox.json'", "'threads/t/x.json'", "'users/7/threads/t/sandbox.json'", "'threads/t/.json'"]
    {
        assert!(is_document(&mount, path), "{path}");
    }
}

#[test]
fn the_same_name_elsewhere_is_an_ordinary_file() {
    let mount = Mount::new();
    for dir in ["threads/t/user-data", "users/7/threads/t/a", "other/t", "users/7", "threads/t/.json"] {
        mount.make(dir);
    }
    for path in [
        "'sandbox.json'",
        "'threads/sandbox.json'",
        "'threads/t/user-data/sandbox.json'",
        "'users/7/threads/t/a/sandbox.json'",
        "'users/7/sandbox.json'",
        "'users/7/threads/sandbox.json'",
        "'other/t/sandbox.json'",
        "'threads/t/.json/sandbox.json'",
        "'threads/t/sandbox.jso'",
        "'threads/t/sandbox.json.tmp'",
        "'threads/t/sandbox.json~'",
        "'threads/t/SANDBOX.JSON'",
        "'threads/t/sandbox.lock'",
    ] {
        assert!(!is_document(&mount, path), "{path}");
    }
}

#[test]
fn names_of_any_bytes_and_of_255_bytes() {
    let mount = Mount::new();
    mount.make("threads/t");
    for path in [
        "b'threads/t/\\xff\\xfe.json'",
        "'threads/t/' + '\\u00e4' * 50 + '.json'",
        "'threads/t/' + 'x' * 250 + '.json'",
        "'threads/t/a b\\n.json'",
        "'threads/t/*.json'",
    ] {
        assert!(is_document(&mount, path), "{path}");
    }
    let writer = mount.actor();
    assert_eq!(writer.fails("open('threads/t/' + 'x' * 251 + '.json', 'w')"), "ENAMETOOLONG");
}

#[test]
fn the_thread_itself_may_have_any_name() {
    let mount = Mount::new();
    mount.make("threads");
    let writer = mount.actor();
    writer.run("names = ['a b', '\\u00fc', '.hidden', 'x' * 255, 'a.json']");
    writer.run("for n in names: os.mkdir('threads/' + n); pathlib.Path('threads', n, 'a.json').write_text('[]')");
    writer
        .run("fds = [os.open(f'threads/{n}/a.json', os.O_WRONLY) for n in names]; [os.write(fd, b'{') for fd in fds]");
    writer.run(
        "refused = 0\n\
         for fd in fds:\n\
        \x20   try: os.close(fd)\n\
        \x20   except OSError as e: refused += e.errno == errno.EBADMSG",
    );
    assert_eq!(writer.number("refused"), 5);
}

#[test]
fn a_renamed_ancestor_keeps_documents_documents() {
    let mount = Mount::new();
    mount.make("users/old/threads/t");
    mount.make("elsewhere");
    let writer = mount.actor();
    writer.run("pathlib.Path('users/old/threads/t/a.json').write_text('[1]'); os.rename('users/old', 'users/new')");
    assert_eq!(mount.read("users/new/threads/t/a.json"), "[1]");
    assert!(is_document(&mount, "'users/new/threads/t/b.json'"));
    writer.run("f = open('users/new/threads/t/a.json', 'w'); f.write('[')");
    assert_eq!(writer.fails("f.close()"), "EBADMSG");
    // Out of the pattern by an ancestor: nothing in it is a document, and back.
    if writer.try_run("os.rename('users/new', 'elsewhere/new')").is_ok() {
        assert!(!is_document(&mount, "'elsewhere/new/threads/t/b.json'"));
        writer.run("os.unlink('elsewhere/new/threads/t/b.json'); os.rename('elsewhere/new', 'users/again')");
        assert!(is_document(&mount, "'users/again/threads/t/b.json'"));
    }
}
