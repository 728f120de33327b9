//! Renames onto the names of documents and away from them.

use crate::support::{DOC, Mount, wait_for};

const OLD: &str = "[\"old\"]";

fn mount() -> Mount {
    Mount::with_document(OLD)
}

#[test]
fn a_valid_file_becomes_the_document_in_one_step() {
    let mount = mount();
    let writer = mount.actor();
    let commits = mount.counted("commits");
    writer.run("pathlib.Path('threads/t/tmp').write_text('[1, 2, 3, 4, 5, 6, 7]')");
    writer.run(&format!("os.replace('threads/t/tmp', '{DOC}')"));
    assert_eq!(mount.read(DOC), "[1, 2, 3, 4, 5, 6, 7]");
    assert_eq!(mount.list("threads/t"), ["sandbox.json"]);
    assert_eq!(mount.counted("commits"), commits + 1);
    assert_eq!(writer.number(&format!("os.stat('{DOC}').st_size")), 21);
}

#[test]
fn an_invalid_file_is_refused_and_both_stay() {
    let mount = mount();
    let writer = mount.actor();
    for text in ["", "[1", "7", "[1] x"] {
        writer.run(&format!("pathlib.Path('threads/t/tmp').write_text('{text}')"));
        assert_eq!(writer.fails(&format!("os.replace('threads/t/tmp', '{DOC}')")), "EBADMSG", "{text:?}");
        assert_eq!(mount.read(DOC), OLD);
        assert_eq!(mount.read("threads/t/tmp"), text);
    }
    assert!(mount.log_text().contains("rename of /threads/t/tmp onto a document refused"));
    assert_eq!(writer.fails("os.rename('threads/t/tmp', 'threads/t/new.json')"), "EBADMSG");
    assert_eq!(mount.list("threads/t"), ["sandbox.json", "tmp"]);
}

#[test]
fn a_rename_to_a_new_document_name() {
    let mount = mount();
    let writer = mount.actor();
    writer.run("pathlib.Path('threads/t/tmp').write_text('{}'); os.rename('threads/t/tmp', 'threads/t/new.json')");
    assert_eq!(mount.read("threads/t/new.json"), "{}");
    // From now on it is a document.
    writer.run("f = open('threads/t/new.json', 'w'); f.write('{'); f.flush()");
    assert_eq!(mount.read("threads/t/new.json"), "{}");
}

#[test]
fn tempfile_and_os_replace_as_deerflow_does_it() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!(
        "for n in range(50):\n\
        \x20   fd, name = tempfile.mkstemp(dir='threads/t', suffix='.tmp')\n\
        \x20   with os.fdopen(fd, 'w') as f:\n\
        \x20       json.dump({{'n': n}}, f); f.flush(); os.fsync(f.fileno())\n\
        \x20   os.replace(name, '{DOC}')\n\
        \x20   d = os.open('threads/t', os.O_RDONLY); os.fsync(d); os.close(d)\n\
        \x20   assert json.load(open('{DOC}')) == {{'n': n}}"
    ));
    assert_eq!(mount.list("threads/t"), ["sandbox.json"]);
}

#[test]
fn a_temporary_file_that_is_itself_a_document() {
    let mount = mount();
    let writer = mount.actor();
    writer.run("pathlib.Path('threads/t/.tmp.json').write_text('[1]')");
    writer.run(&format!("os.replace('threads/t/.tmp.json', '{DOC}')"));
    assert_eq!(mount.read(DOC), "[1]");
    assert_eq!(mount.list("threads/t"), ["sandbox.json"]);
}

#[test]
fn replacing_with_a_temporary_file_that_is_still_open_and_whole() {
    let mount = mount();
    let writer = mount.actor();
    writer.run("f = open('threads/t/tmp', 'w'); f.write('[1]'); f.flush()");
    writer.run(&format!("os.replace('threads/t/tmp', '{DOC}')"));
    assert_eq!(mount.read(DOC), "[1]");
    // What is written from now on is a draft.
    writer.run("f.seek(0); f.write('[2, '); f.flush()");
    assert_eq!(mount.read(DOC), "[1]");
    assert_eq!(std::fs::metadata(mount.at(DOC)).unwrap().len(), 3);
    writer.run("f.write('3]'); f.close()");
    assert_eq!(mount.read(DOC), "[2, 3]");
}

#[test]
fn replacing_with_a_temporary_file_whose_content_is_still_in_the_buffer() {
    let mount = mount();
    let writer = mount.actor();
    writer.run("f = open('threads/t/tmp', 'w'); f.write('[1]')");
    assert_eq!(writer.fails(&format!("os.replace('threads/t/tmp', '{DOC}')")), "EBADMSG");
    assert_eq!(mount.read(DOC), OLD);
    writer.run("f.close()");
    assert_eq!(mount.read("threads/t/tmp"), "[1]");
    writer.run(&format!("os.replace('threads/t/tmp', '{DOC}')"));
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn a_draft_after_a_rename_that_is_refused_at_close() {
    let mount = mount();
    let writer = mount.actor();
    writer.run("fd = os.open('threads/t/tmp', os.O_RDWR | os.O_CREAT); os.write(fd, b'[1]')");
    writer.run(&format!("os.replace('threads/t/tmp', '{DOC}'); os.pwrite(fd, b'{{', 0)"));
    assert_eq!(writer.fails("os.close(fd)"), "EBADMSG");
    assert_eq!(mount.read(DOC), "[1]");
    assert_eq!(mount.rejected_when(1)[0]["path"], DOC);
}

#[test]
fn a_file_from_deeper_in_the_thread() {
    let mount = mount();
    mount.make("threads/t/user-data/outputs");
    let writer = mount.actor();
    writer.run("pathlib.Path('threads/t/user-data/outputs/x').write_text('[5]')");
    writer.run(&format!("os.replace('threads/t/user-data/outputs/x', '{DOC}')"));
    assert_eq!(mount.read(DOC), "[5]");
    // Still open there while it becomes a document.
    writer.run("fd = os.open('threads/t/user-data/y', os.O_RDWR | os.O_CREAT); os.write(fd, b'[6]')");
    writer.run(&format!("os.replace('threads/t/user-data/y', '{DOC}'); os.pwrite(fd, b'7', 1)"));
    assert_eq!(mount.read(DOC), "[6]");
    writer.run("os.fsync(fd)");
    assert_eq!(mount.read(DOC), "[7]");
    writer.run("os.pwrite(fd, b'8', 1); os.close(fd)");
    // Its close is not announced, because nothing said so when it was opened.
    wait_for("the draft to be committed", || mount.read(DOC) == "[8]");
}

#[test]
fn a_document_that_gets_an_ordinary_name_is_an_ordinary_file() {
    let mount = mount();
    let (writer, reader) = (mount.actor(), mount.actor());
    writer.run(&format!("os.rename('{DOC}', 'threads/t/backup')"));
    assert_eq!(mount.read("threads/t/backup"), OLD);
    writer.run("f = open('threads/t/backup', 'w'); f.write('half'); f.flush()");
    assert_eq!(reader.text("open('threads/t/backup').read()"), "half");
    writer.run("f.close()");
    assert_eq!(mount.read("threads/t/backup"), "half");
    assert!(!mount.at(DOC).exists());
}

#[test]
fn there_and_back_again_without_stale_pages() {
    let mount = mount();
    let (writer, reader) = (mount.actor(), mount.actor());
    for n in 0..10 {
        writer.run(&format!("pathlib.Path('threads/t/tmp').write_text('[{n}, \"tmp\"]')"));
        assert_eq!(reader.text("open('threads/t/tmp').read()"), format!("[{n}, \"tmp\"]"));
        writer.run(&format!("os.replace('threads/t/tmp', '{DOC}')"));
        writer.run(&format!("pathlib.Path('{DOC}').write_text('[{n}, \"doc\"]')"));
        assert_eq!(mount.read(DOC), format!("[{n}, \"doc\"]"));
        writer.run(&format!("os.rename('{DOC}', 'threads/t/tmp')"));
        assert_eq!(reader.text("open('threads/t/tmp').read()"), format!("[{n}, \"doc\"]"));
        writer.run("fd = os.open('threads/t/tmp', os.O_WRONLY); os.pwrite(fd, b'7', 1); os.close(fd)");
        assert_eq!(reader.text("open('threads/t/tmp').read()"), "[7, \"doc\"]");
    }
}

#[test]
fn an_ordinary_name_after_a_private_mapping() {
    let mount = mount();
    let (writer, reader) = (mount.actor(), mount.actor());
    reader.run(&format!("fd = os.open('{DOC}', os.O_RDONLY); m = mmap.mmap(fd, 7, mmap.MAP_PRIVATE, mmap.PROT_READ)"));
    assert_eq!(reader.text("m[:]"), OLD);
    writer.run(&format!("pathlib.Path('{DOC}').write_text('[\"new\"]'); os.rename('{DOC}', 'threads/t/backup')"));
    assert_eq!(mount.read("threads/t/backup"), "[\"new\"]");
}

#[test]
fn from_document_to_document() {
    let mount = mount();
    let writer = mount.actor();
    writer.run("pathlib.Path('threads/t/other.json').write_text('[\"other\"]')");
    writer.run(&format!("os.replace('{DOC}', 'threads/t/other.json')"));
    assert_eq!(mount.read("threads/t/other.json"), OLD);
    assert!(!mount.at(DOC).exists());
}

#[test]
fn a_draft_follows_its_document_to_another_document_name() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("f = open('{DOC}', 'w'); f.write('[1'); f.flush(); os.rename('{DOC}', 'threads/t/b.json')"));
    assert_eq!(mount.read("threads/t/b.json"), OLD);
    writer.run("f.write(']'); f.close()");
    assert_eq!(mount.read("threads/t/b.json"), "[1]");
    assert!(!mount.at(DOC).exists());
}

#[test]
fn a_draft_follows_its_document_to_an_ordinary_name() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR); os.pwrite(fd, b'[1, ', 0)"));
    writer.run(&format!("os.rename('{DOC}', 'threads/t/plain')"));
    writer.run("os.pwrite(fd, b'2', 4)");
    assert_eq!(writer.text("os.pread(fd, 100, 0)"), "[1, 2\"]");
    // It began as one of a document, and is judged as one.
    assert_eq!(mount.read("threads/t/plain"), OLD);
    assert_eq!(writer.fails("os.close(fd)"), "EBADMSG");
    assert_eq!(mount.read("threads/t/plain"), OLD);
    writer.run("fd = os.open('threads/t/plain', os.O_WRONLY); os.write(fd, b'[1'); os.close(fd)");
    assert_eq!(mount.read("threads/t/plain"), "[1old\"]");
}

#[test]
fn an_exchange_with_a_document() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(include_str!("py/renameat2.py"));
    writer.run("pathlib.Path('threads/t/x').write_text('[9]')");
    writer.run(&format!("renameat2('threads/t/x', '{DOC}', RENAME_EXCHANGE)"));
    assert_eq!((mount.read(DOC), mount.read("threads/t/x")), ("[9]".into(), OLD.into()));
    writer.run("pathlib.Path('threads/t/x').write_text('not json')");
    assert_eq!(writer.fails(&format!("renameat2('threads/t/x', '{DOC}', RENAME_EXCHANGE)")), "EBADMSG");
    assert_eq!((mount.read(DOC), mount.read("threads/t/x")), ("[9]".into(), "not json".into()));
    // A document in the place of a plain file, the plain one invalid: refused as well.
    assert_eq!(writer.fails(&format!("renameat2('{DOC}', 'threads/t/x', RENAME_EXCHANGE)")), "EBADMSG");
}

#[test]
fn no_replace_onto_a_document() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(include_str!("py/renameat2.py"));
    writer.run("pathlib.Path('threads/t/x').write_text('[9]')");
    assert_eq!(writer.fails(&format!("renameat2('threads/t/x', '{DOC}', RENAME_NOREPLACE)")), "EEXIST");
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn a_file_with_two_names_does_not_become_a_document() {
    let mount = mount();
    let writer = mount.actor();
    writer.run("pathlib.Path('threads/t/x').write_text('[9]'); os.link('threads/t/x', 'threads/t/y')");
    assert_eq!(writer.fails(&format!("os.replace('threads/t/x', '{DOC}')")), "EPERM");
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn a_rename_wins_against_an_open_writer_of_the_old_document() {
    let mount = mount();
    let (writer, other) = (mount.actor(), mount.actor());
    writer.run(&format!("f = open('{DOC}', 'w'); f.write('[1]'); f.flush()"));
    other.run(&format!("pathlib.Path('threads/t/x').write_text('[2]'); os.replace('threads/t/x', '{DOC}')"));
    writer.run("f.close()");
    // The writer's document lost its name; the new one is another file.
    assert_eq!(mount.read(DOC), "[2]");
}

#[test]
fn editors_that_save_by_rename() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("subprocess.run(['sed', '-i', 's/old/new/', '{DOC}'], check=True)"));
    assert_eq!(mount.read(DOC), "[\"new\"]");
    assert_ne!(writer.number(&format!("subprocess.run(['sed', '-i', 's/]//', '{DOC}'], stderr=-3).returncode")), 0);
    assert_eq!(mount.read(DOC), "[\"new\"]");
}
