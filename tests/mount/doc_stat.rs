//! What stat tells of a document: the newest commit, never a draft.

use crate::support::{DOC, Mount};

const OLD: &str = "[\"0123456789\"]";

fn mount() -> Mount {
    Mount::with_document(OLD)
}

fn path_size(mount: &Mount) -> u64 {
    std::fs::metadata(mount.at(DOC)).unwrap().len()
}

#[test]
fn size_and_mtime_are_those_of_the_newest_commit_during_a_draft() {
    let mount = mount();
    let (writer, reader) = (mount.actor(), mount.actor());
    let before = reader.number(&format!("os.stat('{DOC}').st_mtime_ns"));
    reader.run(&format!("seen = os.open('{DOC}', os.O_RDONLY)"));
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR | os.O_TRUNC)"));
    for step in ["os.write(fd, b'[')", "os.write(fd, b'1' * 100)", "os.ftruncate(fd, 50)", "os.ftruncate(fd, 5000)"] {
        writer.run(step);
        assert_eq!(path_size(&mount), OLD.len() as u64, "{step}");
        assert_eq!(reader.number(&format!("os.stat('{DOC}').st_size")), OLD.len() as i64, "{step}");
        assert_eq!(reader.number("os.fstat(seen).st_size"), OLD.len() as i64, "{step}");
        assert_eq!(reader.number(&format!("os.stat('{DOC}').st_mtime_ns")), before, "{step}");
    }
    writer.run("os.ftruncate(fd, 0); os.pwrite(fd, b'[7]', 0); os.close(fd)");
    assert_eq!(path_size(&mount), 3);
    assert_eq!(reader.number("os.fstat(seen).st_size"), 3);
    assert!(reader.number(&format!("os.stat('{DOC}').st_mtime_ns")) > before);
}

#[test]
fn fstat_of_the_writer_tells_the_newest_commit() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR | os.O_TRUNC); os.write(fd, b'[1')"));
    assert_eq!(writer.number("os.fstat(fd).st_size"), OLD.len() as i64);
    writer.run("os.write(fd, b']'); os.fsync(fd)");
    assert_eq!(writer.number("os.fstat(fd).st_size"), 3);
}

#[test]
fn a_refused_draft_changes_neither_size_nor_times() {
    let mount = mount();
    let writer = mount.actor();
    let stat = format!("[os.stat('{DOC}').st_size, os.stat('{DOC}').st_mtime_ns, os.stat('{DOC}').st_ino]");
    let before = writer.run(&stat);
    writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY | os.O_TRUNC); os.write(fd, b'[' * 100)"));
    assert_eq!(writer.fails("os.close(fd)"), "EBADMSG");
    assert_eq!(writer.run(&stat), before);
    mount.rejected_when(1);
    assert_eq!(writer.run(&stat), before);
}

#[test]
fn a_commit_keeps_inode_owner_and_mode() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("os.chmod('{DOC}', 0o640); os.chown('{DOC}', 11, 12)"));
    let stat = format!("(lambda s: [s.st_ino, s.st_mode, s.st_uid, s.st_gid, s.st_nlink])(os.stat('{DOC}'))");
    let before = writer.run(&stat);
    for n in 0..10 {
        writer.run(&format!("pathlib.Path('{DOC}').write_text('[{n}]')"));
        assert_eq!(writer.run(&stat), before);
    }
}

#[test]
fn the_mtime_is_that_of_the_last_write_and_not_of_close() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("f = open('{DOC}', 'w'); before = time.time_ns(); f.write('[1]'); f.flush()"));
    writer.run("after = time.time_ns()\nwhile time.time_ns() < after + 20_000_000: pass");
    writer.run("f.close()");
    assert!(writer.is(&format!("before - 20_000_000 <= os.stat('{DOC}').st_mtime_ns <= after")));
    assert!(writer.is(&format!("os.stat('{DOC}').st_ctime_ns > after")));
}

#[test]
fn times_set_before_close_hold_against_the_writes_before() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("f = open('{DOC}', 'w'); f.write('[1]'); f.flush()"));
    writer.run("os.utime(f.fileno(), ns=(123_000_000_007, 456_000_000_009)); f.close()");
    assert_eq!(writer.number(&format!("os.stat('{DOC}').st_mtime_ns")), 456_000_000_009);
    assert_eq!(writer.number(&format!("os.stat('{DOC}').st_atime_ns")), 123_000_000_007);
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn a_write_after_times_were_set_holds_against_them() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("f = open('{DOC}', 'w'); f.write('[1]'); f.flush()"));
    writer.run("os.utime(f.fileno(), ns=(1, 456_000_000_009)); f.write('  '); f.close()");
    assert!(writer.is(&format!("os.stat('{DOC}').st_mtime > time.time() - 100")));
}

#[test]
fn copying_with_attributes_keeps_the_times() {
    let mount = mount();
    let writer = mount.actor();
    writer.run("pathlib.Path('source').write_text('[1]'); os.utime('source', ns=(5, 456_000_000_009))");
    writer.run("shutil.copy2('source', 'threads/t/copy.json')");
    assert_eq!(writer.number("os.stat('threads/t/copy.json').st_mtime_ns"), 456_000_000_009);
    writer.run(&format!("subprocess.run(['cp', '-p', 'source', '{DOC}'], check=True)"));
    assert_eq!(writer.number(&format!("os.stat('{DOC}').st_mtime_ns")), 456_000_000_009);
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn blocks_and_statfs_do_not_count_drafts() {
    let mount = mount();
    let writer = mount.actor();
    let bytes = mount.counted("bytes");
    writer.run(&format!("f = open('{DOC}', 'wb'); f.write(b' ' * 1_000_000); f.flush()"));
    assert_eq!(mount.counted("bytes"), bytes);
    assert!(writer.number(&format!("os.stat('{DOC}').st_blocks")) < 1000);
    writer.run("f.write(b'[]'); f.close()");
    assert!(mount.counted("bytes") >= bytes + 900_000);
}
