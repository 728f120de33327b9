//! A document before its first commit.

use crate::support::{DOC, Mount, wait_for};

fn mount() -> Mount {
    let mount = Mount::new();
    mount.make("threads/t");
    mount
}

/// Opens the document for writing, as open("w") does.
const OPEN: &str = "fd = os.open('threads/t/sandbox.json', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)";

#[test]
fn stat_and_readdir_do_not_know_it_before_the_first_commit() {
    let mount = mount();
    let (writer, reader) = (mount.actor(), mount.actor());
    writer.run(OPEN);
    writer.run("os.write(fd, b'[1, ')");
    for actor in [&writer, &reader] {
        assert_eq!(actor.fails(&format!("os.stat('{DOC}')")), "ENOENT");
        assert_eq!(actor.fails(&format!("open('{DOC}')")), "ENOENT");
        assert!(actor.is("os.listdir('threads/t') == []"));
        assert!(actor.is(&format!("not os.access('{DOC}', os.F_OK)")));
    }
    // Its writer can look at it all the same.
    assert_eq!(writer.number("os.fstat(fd).st_mode & 0o777"), 0o600);
    writer.run("os.write(fd, b'2]'); os.close(fd)");
    for actor in [&writer, &reader] {
        assert_eq!(actor.number(&format!("os.stat('{DOC}').st_size")), 6);
        assert!(actor.is("os.listdir('threads/t') == ['sandbox.json']"));
    }
    assert_eq!(mount.read(DOC), "[1, 2]");
}

#[test]
fn the_inode_number_of_the_open_file_is_that_of_the_name_later() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(OPEN);
    writer.run("ino = os.fstat(fd).st_ino; os.write(fd, b'[]'); os.close(fd)");
    assert!(writer.is(&format!("os.stat('{DOC}').st_ino == ino")));
}

#[test]
fn mode_and_owner_set_before_the_first_commit_hold() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(OPEN);
    writer.run("os.fchmod(fd, 0o640); os.fchown(fd, 7, 8); os.write(fd, b'[]'); os.close(fd)");
    let stat = writer.run(&format!("(lambda s: [s.st_mode & 0o777, s.st_uid, s.st_gid])(os.stat('{DOC}'))"));
    assert_eq!(stat, serde_json::json!([0o640, 7, 8]));
}

#[test]
fn the_directory_changes_with_the_first_commit() {
    let mount = mount();
    let (writer, reader) = (mount.actor(), mount.actor());
    reader.run("before = os.stat('threads/t').st_mtime_ns");
    writer.run(OPEN);
    writer.run("os.write(fd, b'[1]')");
    assert!(reader.is("os.stat('threads/t').st_mtime_ns == before"));
    writer.run("os.close(fd)");
    assert!(reader.is("os.stat('threads/t').st_mtime_ns > before"));
}

#[test]
fn a_cached_absence_and_a_cached_listing_end_with_the_first_commit() {
    let mount = mount();
    let (writer, reader) = (mount.actor(), mount.actor());
    for n in 0..50 {
        let path = format!("threads/t/{n}.json");
        assert!(reader.is(&format!("not os.path.exists('{path}')")));
        assert!(reader.is(&format!("len(os.listdir('threads/t')) == {n}")));
        writer.run(&format!("pathlib.Path('{path}').write_text('[]')"));
        assert!(reader.is(&format!("os.path.exists('{path}')")));
        assert!(reader.is(&format!("len(os.listdir('threads/t')) == {n} + 1")));
    }
}

#[test]
fn two_creators_share_an_inode_and_each_has_its_own_draft() {
    let mount = mount();
    let (first, second) = (mount.actor(), mount.actor());
    first.run(OPEN);
    second.run(OPEN);
    assert_eq!(first.number("os.fstat(fd).st_ino"), second.number("os.fstat(fd).st_ino"));
    first.run("os.write(fd, b'[1, 1]')");
    second.run("os.write(fd, b'[2]')");
    first.run("os.close(fd)");
    assert_eq!(mount.read(DOC), "[1, 1]");
    second.run("os.close(fd)");
    assert_eq!(mount.read(DOC), "[2]");
    assert!(mount.rejected().is_empty());
}

#[test]
fn the_end_of_one_creator_leaves_the_other() {
    let mount = mount();
    let (first, second) = (mount.actor(), mount.actor());
    first.run(OPEN);
    second.run(OPEN);
    first.run("os.write(fd, b'[1')");
    assert_eq!(first.fails("os.close(fd)"), "EBADMSG");
    mount.rejected_when(1);
    second.run("os.write(fd, b'[2]'); os.close(fd)");
    assert_eq!(mount.read(DOC), "[2]");
}

#[test]
fn exclusive_creation_of_a_pending_name() {
    let mount = mount();
    let (first, second) = (mount.actor(), mount.actor());
    first.run(OPEN);
    assert_eq!(second.fails(&format!("open('{DOC}', 'x')")), "EEXIST");
    first.run("os.write(fd, b'[1]'); os.close(fd)");
    assert_eq!(second.fails(&format!("open('{DOC}', 'x')")), "EEXIST");
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn exclusive_creation_after_a_creator_gave_up() {
    let mount = mount();
    let (first, second) = (mount.actor(), mount.actor());
    first.run(&format!("fd = os.open('{DOC}', os.O_WRONLY | os.O_CREAT | os.O_EXCL)"));
    first.run("os.write(fd, b'[')");
    assert_eq!(first.fails("os.close(fd)"), "EBADMSG");
    // RELEASE is not waited for.
    wait_for("the name to be free", || second.try_run(&format!("f = open('{DOC}', 'x')")).is_ok());
    second.run("f.write('[2]'); f.close()");
    assert_eq!(mount.read(DOC), "[2]");
}

#[test]
fn exactly_one_of_many_exclusive_creators_wins() {
    let mount = mount();
    let script = include_str!("py/exclusive.py");
    let result = mount.python(script, &["8", "40"]);
    assert_eq!(result, serde_json::json!({"names": 40, "winners": 40, "wrong": []}));
}

#[test]
fn a_file_that_takes_the_name_wins_and_the_commit_is_stale() {
    let mount = mount();
    let (first, second) = (mount.actor(), mount.actor());
    first.run(OPEN);
    first.run("os.write(fd, b'[1]')");
    second.run("pathlib.Path('threads/t/tmp').write_text('[2]')");
    second.run(&format!("os.rename('threads/t/tmp', '{DOC}')"));
    assert_eq!(first.fails("os.close(fd)"), "ESTALE");
    assert_eq!(mount.read(DOC), "[2]");
    let draft = &mount.rejected_when(1)[0];
    assert_eq!(draft["reason"], "something else took its name before its first commit");
    assert_eq!(draft["path"], DOC);
    let id = draft["id"].to_string();
    assert_eq!(mount.read(&format!(".threadfs/rejected/{id}")), "[1]");
}

#[test]
fn a_directory_or_symlink_that_takes_the_name_wins_too() {
    let mount = mount();
    for (n, make) in [format!("os.mkdir('{DOC}')"), format!("os.symlink('x', '{DOC}')")].iter().enumerate() {
        let (first, second) = (mount.actor(), mount.actor());
        first.run(OPEN);
        first.run("os.write(fd, b'[1]')");
        second.run(make);
        assert_eq!(first.fails("os.close(fd)"), "ESTALE");
        assert!(second.is(&format!("os.path.lexists('{DOC}') and not os.path.isfile('{DOC}')")));
        wait_for("the draft to be kept", || mount.rejected().iter().any(|draft| draft["count"] == n + 1));
        second.run(&format!("subprocess.run(['rm', '-r', '{DOC}'], check=True)"));
    }
}

#[test]
fn removing_the_directory_wins_and_the_commit_is_enoent() {
    let mount = mount();
    mount.make("threads/other");
    let writer = mount.actor();
    writer.run(OPEN);
    writer.run("os.write(fd, b'[1]')");
    // rmdir ignores a name that is pending.
    writer.run("os.rmdir('threads/t')");
    assert_eq!(writer.fails("os.close(fd)"), "ENOENT");
    let draft = &mount.rejected_when(1)[0];
    assert_eq!(draft["reason"], "its directory was removed before its first commit");
    assert!(!mount.at("threads/t").exists());
    // A new thread of that name is another one.
    writer.run("os.mkdir('threads/t')");
    assert!(mount.list("threads/t").is_empty());
}

#[test]
fn rmtree_with_a_pending_document() {
    let mount = mount();
    let (writer, other) = (mount.actor(), mount.actor());
    other.run("pathlib.Path('threads/t/other.json').write_text('[]'); os.makedirs('threads/t/a/b')");
    writer.run(OPEN);
    writer.run("os.write(fd, b'[1]')");
    other.run("shutil.rmtree('threads/t')");
    assert_eq!(writer.fails("os.close(fd)"), "ENOENT");
    assert_eq!(mount.list("threads"), [""; 0]);
}

#[test]
fn a_pending_document_has_no_name_to_remove_or_rename() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(OPEN);
    assert_eq!(writer.fails(&format!("os.unlink('{DOC}')")), "ENOENT");
    assert_eq!(writer.fails(&format!("os.rename('{DOC}', 'threads/t/y.json')")), "ENOENT");
    writer.run("os.write(fd, b'[1]'); os.close(fd)");
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn an_unlinked_document_is_created_anew() {
    let mount = mount();
    let writer = mount.actor();
    for n in 0..20 {
        writer.run(&format!("pathlib.Path('{DOC}').write_text('[{n}]')"));
        assert_eq!(mount.read(DOC), format!("[{n}]"));
        writer.run(&format!("os.unlink('{DOC}')"));
        assert!(!mount.at(DOC).exists());
    }
}

#[test]
fn creation_without_truncation_needs_content_as_well() {
    let mount = mount();
    let writer = mount.actor();
    for (n, mode) in ["a", "x"].iter().enumerate() {
        writer.run(&format!("f = open('{DOC}', '{mode}')"));
        assert_eq!(writer.fails("f.close()"), "EBADMSG", "{mode}");
        assert!(!mount.at(DOC).exists());
        wait_for("the draft to be kept", || mount.counted("commits_rejected") == n as u64 + 1);
    }
    assert_eq!(mount.rejected_when(1)[0]["reason"], "it is empty");
    writer.run(&format!("f = open('{DOC}', 'a'); f.write('[]'); f.close()"));
    assert_eq!(mount.read(DOC), "[]");
}

#[test]
fn it_survives_a_remount_only_with_its_commit() {
    let mount = mount();
    {
        let writer = mount.actor();
        writer.run("pathlib.Path('threads/t/a.json').write_text('[]')");
        writer.run(OPEN);
        writer.run("os.write(fd, b'[1')");
        mount.kill_daemon();
    }
    mount.mount_again();
    assert_eq!(mount.list("threads/t"), ["a.json"]);
}

#[test]
fn copies_with_all_attributes_make_documents() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(
        "pathlib.Path('source').write_text('[1]'); os.setxattr('source', 'user.a', b'1'); os.chmod('source', 0o640)",
    );
    writer.run("os.utime('source', ns=(5, 456_000_000_009)); os.chown('source', 3, 4)");
    let tar = "tar --format=posix -cf - --transform s/source/new.json/ source | tar -xf - -C threads/t";
    for copy in ["cp -a source threads/t/new.json", "rsync -aX source threads/t/new.json", tar] {
        let program = copy.split(' ').next().unwrap();
        if !writer.is(&format!("shutil.which('{program}') is not None")) {
            eprintln!("{program} is not installed: not tried");
            continue;
        }
        writer.run(&format!("subprocess.run('{copy}', shell=True, check=True)"));
        let stat = "(lambda s: [s.st_mode & 0o777, s.st_uid, s.st_gid, s.st_mtime_ns])(os.stat('threads/t/new.json'))";
        assert_eq!(writer.run(stat), serde_json::json!([0o640, 3, 4, 456_000_000_009_i64]), "{copy}");
        assert_eq!(mount.read("threads/t/new.json"), "[1]");
        writer.run("os.unlink('threads/t/new.json')");
    }
}

#[test]
fn extended_attributes_set_before_the_first_commit_come_with_it() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(OPEN);
    writer.run("os.setxattr(fd, 'user.a', b'1'); os.setxattr(fd, 'user.b', b'2'); os.removexattr(fd, 'user.b')");
    assert!(writer.is("os.listxattr(fd) == ['user.a'] and os.getxattr(fd, 'user.a') == b'1'"));
    assert_eq!(writer.fails("os.setxattr(fd, 'user.a', b'3', os.XATTR_CREATE)"), "EEXIST");
    writer.run("os.write(fd, b'[]'); os.close(fd)");
    assert_eq!(writer.text(&format!("os.getxattr('{DOC}', 'user.a')")), "1");
    assert!(writer.is(&format!("os.listxattr('{DOC}') == ['user.a']")));
}
