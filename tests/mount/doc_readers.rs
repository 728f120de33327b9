//! Readers: one pass is never torn.

use crate::support::{DOC, Mount};

#[test]
fn one_pass_reads_one_commit_and_the_start_reads_the_newest() {
    let mount = Mount::with_document("[\"aaaaaaaa\"]");
    let (reader, writer) = (mount.actor(), mount.actor());
    reader.run(&format!("fd = os.open('{DOC}', os.O_RDONLY)"));
    assert_eq!(reader.text("os.pread(fd, 4, 0)"), "[\"aa");
    writer.run(&format!("pathlib.Path('{DOC}').write_text('[\"bbbbbbbbbbbbbbbb\"]')"));
    assert_eq!(reader.text("os.pread(fd, 100, 4)"), "aaaaaa\"]");
    assert_eq!(reader.text("os.pread(fd, 100, 12)"), "");
    assert_eq!(reader.text("os.pread(fd, 100, 0)"), "[\"bbbbbbbbbbbbbbbb\"]");
    assert_eq!(reader.text("os.pread(fd, 100, 15)"), "bbb\"]");
}

#[test]
fn opening_pins_nothing() {
    let mount = Mount::with_document("[1]");
    let (reader, writer) = (mount.actor(), mount.actor());
    reader.run(&format!("fd = os.open('{DOC}', os.O_RDONLY)"));
    writer.run(&format!("pathlib.Path('{DOC}').write_text('[2, 2]')"));
    assert_eq!(reader.text("os.read(fd, 100)"), "[2, 2]");
}

#[test]
fn a_large_document_is_read_whole_while_it_is_replaced() {
    let text = format!("[{}]", vec!["1"; 1 << 20].join(","));
    let mount = Mount::with_document(&text);
    let (reader, writer) = (mount.actor(), mount.actor());
    reader.run(&format!("fd = os.open('{DOC}', os.O_RDONLY); parts = [os.read(fd, 100000)]"));
    writer.run(&format!("pathlib.Path('{DOC}').write_text('[2]')"));
    reader.run("while part := os.read(fd, 300000): parts.append(part)");
    assert_eq!(reader.text("b''.join(parts)"), text);
    assert_eq!(reader.text(&format!("open('{DOC}').read()")), "[2]");
}

#[test]
fn a_reader_keeps_an_unlinked_document() {
    let mount = Mount::with_document("[1]");
    let reader = mount.actor();
    reader.run(&format!("fd = os.open('{DOC}', os.O_RDONLY); os.unlink('{DOC}')"));
    assert_eq!(reader.text("os.read(fd, 100)"), "[1]");
    assert_eq!(reader.number("os.fstat(fd).st_nlink"), 0);
    assert_eq!(reader.number("os.fstat(fd).st_size"), 3);
}

#[test]
fn a_reader_keeps_a_document_that_was_renamed_over() {
    let mount = Mount::with_document("[1]");
    let reader = mount.actor();
    reader.run(&format!("fd = os.open('{DOC}', os.O_RDONLY)"));
    reader.run(&format!("pathlib.Path('threads/t/new').write_text('[2, 2]'); os.replace('threads/t/new', '{DOC}')"));
    assert_eq!(reader.text("os.read(fd, 100)"), "[1]");
    assert_eq!(mount.read(DOC), "[2, 2]");
}

#[test]
fn reading_sequentially_from_the_middle_pins_there() {
    let mount = Mount::with_document("[\"aaaaaaaa\"]");
    let (reader, writer) = (mount.actor(), mount.actor());
    reader.run(&format!("fd = os.open('{DOC}', os.O_RDONLY); os.lseek(fd, 6, 0)"));
    assert_eq!(reader.text("os.read(fd, 2)"), "aa");
    writer.run(&format!("pathlib.Path('{DOC}').write_text('[\"bbbbbbbb\"]')"));
    assert_eq!(reader.text("os.read(fd, 100)"), "aa\"]");
}

#[test]
fn copies_by_the_kernel_are_whole_and_new() {
    let mount = Mount::with_document("[\"old\"]");
    let (writer, reader) = (mount.actor(), mount.actor());
    let copies = [
        // sendfile, copy_file_range, and what cat does.
        format!("shutil.copyfile('{DOC}', 'copy')"),
        format!("subprocess.run(['cp', '{DOC}', 'copy'], check=True)"),
        format!("subprocess.run('cat {DOC} > copy', shell=True, check=True)"),
        format!("shutil.copyfile('{DOC}', 'threads/t/copy.json'); shutil.copyfile('threads/t/copy.json', 'copy')"),
    ];
    let mut old = String::from("[\"old\"]");
    for (n, copy) in copies.iter().enumerate() {
        let new = format!("[\"new\", {n}{}]", ", 0".repeat(n * 3000));
        reader.run(copy);
        assert_eq!(mount.read("copy"), old, "{copy}");
        writer.run(&format!("f = open('{DOC}', 'w'); f.write('{new}'); f.flush()"));
        // A draft leaks nothing into the page cache, and nothing stays there over the commit.
        reader.run(copy);
        assert_eq!(mount.read("copy"), old, "{copy}");
        writer.run("f.close()");
        reader.run(copy);
        assert_eq!(mount.read("copy"), new, "{copy}");
        old = new;
    }
}
