//! Opening for writing, and the private draft.

use crate::support::{DOC, Mount};

const OLD: &str = r#"{"a": 1}"#;

fn mount() -> Mount {
    Mount::with_document(OLD)
}

#[test]
fn opening_for_writing_changes_nothing() {
    let mount = mount();
    let writer = mount.actor();
    for mode in ["w", "r+", "a"] {
        writer.run(&format!("f = open('{DOC}', '{mode}')"));
        assert_eq!(mount.read(DOC), OLD, "{mode}");
        assert_eq!(std::fs::metadata(mount.at(DOC)).unwrap().len(), OLD.len() as u64, "{mode}");
        // An unchanged "r+" and "a" close well; "w" has emptied its draft.
        let closed = writer.try_run("f.close()");
        assert_eq!(closed.is_err(), mode == "w", "{mode}: {closed:?}");
    }
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn opening_with_truncation_starts_an_empty_draft_for_that_open_file_only() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR | os.O_TRUNC)"));
    assert_eq!(writer.text("os.pread(fd, 100, 0)"), "");
    writer.run(&format!("other = os.open('{DOC}', os.O_RDONLY)"));
    assert_eq!(writer.text("os.pread(other, 100, 0)"), OLD);
    assert_eq!(writer.fails("os.close(fd)"), "EBADMSG");
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn a_draft_is_private_until_close_and_then_everybodys() {
    let mount = mount();
    let (writer, reader) = (mount.actor(), mount.actor());
    writer.run(&format!("f = open('{DOC}', 'w')"));
    for part in ["{\\\"b\\\":", " [1,", " 2]}"] {
        writer.run(&format!("f.write(\"{part}\"); f.flush()"));
        assert_eq!(reader.text(&format!("open('{DOC}').read()")), OLD);
    }
    // Whole by now, but not closed.
    assert_eq!(mount.counted("drafts"), 1);
    writer.run("f.close()");
    assert_eq!(reader.text(&format!("open('{DOC}').read()")), r#"{"b": [1, 2]}"#);
    assert_eq!(mount.counted("drafts"), 0);
}

#[test]
fn a_writer_reads_its_own_draft() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR)"));
    assert_eq!(writer.text("os.pread(fd, 100, 0)"), OLD);
    writer.run("os.pwrite(fd, b'7', 6)");
    assert_eq!(writer.text("os.pread(fd, 100, 0)"), r#"{"a": 7}"#);
    writer.run("os.pwrite(fd, b'  ', 20)");
    assert_eq!(writer.text("os.pread(fd, 100, 0)"), "{\"a\": 7}\0\0\0\0\0\0\0\0\0\0\0\0  ");
    writer.run("os.ftruncate(fd, 8); os.close(fd)");
    assert_eq!(mount.read(DOC), r#"{"a": 7}"#);
}

#[test]
fn writing_in_the_middle_keeps_the_rest() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY); os.pwrite(fd, b'9', 6); os.close(fd)"));
    assert_eq!(mount.read(DOC), r#"{"a": 9}"#);
}

#[test]
fn an_append_adds_to_the_newest_commit() {
    let mount = Mount::with_document("[1\n]");
    let (first, second) = (mount.actor(), mount.actor());
    let append = format!("fd = os.open('{DOC}', os.O_WRONLY | os.O_APPEND)");
    first.run(&append);
    second.run(&append);
    second.run("os.write(fd, b'  '); os.close(fd)");
    assert_eq!(mount.read(DOC), "[1\n]  ");
    // It was opened before the other's commit.
    first.run("os.write(fd, b'\\n'); os.write(fd, b'\\n'); os.close(fd)");
    assert_eq!(mount.read(DOC), "[1\n]  \n\n");
}

#[test]
fn an_append_that_spoils_the_document_is_refused() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("f = open('{DOC}', 'a'); f.write('{{}}')"));
    assert_eq!(writer.fails("f.close()"), "EBADMSG");
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn truncating_an_open_file_changes_its_draft() {
    let mount = Mount::with_document("[1]   ");
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR); os.ftruncate(fd, 3)"));
    assert_eq!(mount.read(DOC), "[1]   ");
    assert_eq!(writer.text("os.pread(fd, 100, 0)"), "[1]");
    writer.run("os.close(fd)");
    assert_eq!(mount.read(DOC), "[1]");
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR); os.ftruncate(fd, 5)"));
    assert_eq!(writer.text("os.pread(fd, 100, 0)"), "[1]\0\0");
    assert_eq!(writer.fails("os.close(fd)"), "EBADMSG");
}

#[test]
fn a_draft_begins_from_what_its_writer_read() {
    let mount = mount();
    let (writer, other) = (mount.actor(), mount.actor());
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR); os.pread(fd, 100, 0)"));
    other.run(&format!("pathlib.Path('{DOC}').write_text('[1, 2, 3, 4, 5]')"));
    writer.run("os.pwrite(fd, b'5', 6)");
    assert_eq!(writer.text("os.pread(fd, 100, 0)"), r#"{"a": 5}"#);
    writer.run("os.close(fd)");
    assert_eq!(mount.read(DOC), r#"{"a": 5}"#);
}

#[test]
fn a_draft_of_who_has_not_read_begins_from_the_newest_commit() {
    let mount = mount();
    let (writer, other) = (mount.actor(), mount.actor());
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR)"));
    other.run(&format!("pathlib.Path('{DOC}').write_text('[1, 2, 3, 4, 5]')"));
    writer.run("os.pwrite(fd, b'7', 1); os.close(fd)");
    assert_eq!(mount.read(DOC), "[7, 2, 3, 4, 5]");
}

#[test]
fn load_change_dump_truncate_through_one_open_file() {
    let mount = Mount::with_document(r#"{"sandbox": "a-rather-long-identifier", "n": 1}"#);
    let writer = mount.actor();
    writer.run(&format!(
        "f = open('{DOC}', 'r+')\n\
         fcntl.flock(f, fcntl.LOCK_EX)\n\
         state = json.load(f)\n\
         f.seek(0)\n\
         json.dump({{'n': state['n'] + 1}}, f)\n\
         f.truncate()\n\
         f.close()"
    ));
    assert_eq!(mount.read(DOC), r#"{"n": 2}"#);
}

#[test]
fn two_writers_each_commit_a_whole_document_and_the_last_close_wins() {
    let mount = mount();
    let (first, second) = (mount.actor(), mount.actor());
    first.run(&format!("f = open('{DOC}', 'w'); f.write('[1, 1, 1, 1]'); f.flush()"));
    second.run(&format!("f = open('{DOC}', 'w'); f.write('[2]'); f.flush()"));
    first.run("f.write(' ')");
    second.run("f.close()");
    assert_eq!(mount.read(DOC), "[2]");
    first.run("f.close()");
    assert_eq!(mount.read(DOC), "[1, 1, 1, 1] ");
}

#[test]
fn several_drafts_of_one_process_do_not_mix() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("a, b = open('{DOC}', 'w'), open('{DOC}', 'w')"));
    writer.run("a.write('[\"a\"]'); b.write('[\"b\", \"b\"]'); a.flush(); b.flush()");
    writer.run("b.close()");
    assert_eq!(mount.read(DOC), r#"["b", "b"]"#);
    writer.run("a.close()");
    assert_eq!(mount.read(DOC), r#"["a"]"#);
}

#[test]
fn what_is_not_committed_is_gone_with_the_daemon_and_what_is_stays() {
    let mount = mount();
    {
        let writer = mount.actor();
        writer.run(&format!("pathlib.Path('{DOC}').write_text('[1]')"));
        writer.run(&format!("f = open('{DOC}', 'w'); f.write('[2]'); f.flush()"));
        mount.kill_daemon();
    }
    mount.mount_again();
    assert_eq!(mount.read(DOC), "[1]");
}
