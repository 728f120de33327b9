//! What cannot be done to a document.

use crate::support::{DOC, Mount};

const OLD: &str = "[\"old\"]";

fn mount() -> Mount {
    Mount::with_document(OLD)
}

#[test]
fn links_from_and_to_the_name_of_a_document() {
    let mount = mount();
    let writer = mount.actor();
    assert_eq!(writer.fails(&format!("os.link('{DOC}', 'threads/t/other')")), "EPERM");
    assert_eq!(writer.fails(&format!("os.link('{DOC}', 'threads/t/other.json')")), "EPERM");
    writer.run("pathlib.Path('threads/t/x').write_text('[]')");
    assert_eq!(writer.fails("os.link('threads/t/x', 'threads/t/other.json')"), "EPERM");
    assert_eq!(mount.list("threads/t"), ["sandbox.json", "x"]);
    assert_eq!(writer.number(&format!("os.stat('{DOC}').st_nlink")), 1);
}

#[test]
fn a_shared_mapping() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR)"));
    assert_eq!(writer.fails("mmap.mmap(fd, 7, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)"), "ENODEV");
    assert_eq!(writer.fails("mmap.mmap(fd, 7, mmap.MAP_SHARED, mmap.PROT_READ)"), "ENODEV");
    assert_eq!(writer.text("mmap.mmap(fd, 7, mmap.MAP_PRIVATE, mmap.PROT_READ)[:]"), OLD);
}

#[test]
fn truncation_by_path_unless_the_result_is_valid() {
    let mount = Mount::with_document("[1]    ");
    let writer = mount.actor();
    for size in [0, 2, 8] {
        assert_eq!(writer.fails(&format!("os.truncate('{DOC}', {size})")), "EBADMSG", "{size}");
        assert_eq!(mount.read(DOC), "[1]    ");
    }
    assert_eq!(writer.number(&format!("os.stat('{DOC}').st_size")), 7);
    writer.run(&format!("os.truncate('{DOC}', 7)"));
    writer.run(&format!("os.truncate('{DOC}', 3)"));
    assert_eq!(mount.read(DOC), "[1]");
    assert_eq!(writer.number(&format!("os.stat('{DOC}').st_size")), 3);
}

#[test]
fn a_write_over_the_limit() {
    let mount = Mount::with(&["documents.max_bytes=4KiB"]);
    mount.make("threads/t");
    std::fs::write(mount.at(DOC), OLD).unwrap();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR | os.O_TRUNC)"));
    writer.run("assert os.write(fd, b'[' + b' ' * 4095) == 4096");
    assert_eq!(writer.fails("os.write(fd, b']')"), "EFBIG");
    assert_eq!(writer.fails("os.pwrite(fd, b'x', 1 << 40)"), "EFBIG");
    assert_eq!(writer.fails("os.ftruncate(fd, 4097)"), "EFBIG");
    // What was there before is there still.
    writer.run("os.pwrite(fd, b']', 4095); os.close(fd)");
    assert_eq!(writer.number(&format!("os.stat('{DOC}').st_size")), 4096);
    assert_eq!(writer.fails(&format!("os.truncate('{DOC}', 5000)")), "EFBIG");
    // Of one large write the part below the limit is taken, and the rest refused.
    writer.run(&format!("fd = os.open('{DOC}', os.O_WRONLY | os.O_TRUNC)"));
    assert_eq!(writer.fails("os.write(fd, b'[' * 5000)"), "EFBIG");
    assert_eq!(writer.fails("os.close(fd)"), "EBADMSG");
    writer.run("pathlib.Path('threads/t/x').write_text('[' + ' ' * 5000 + ']')");
    assert_eq!(writer.fails(&format!("os.replace('threads/t/x', '{DOC}')")), "EFBIG");
    assert_eq!(std::fs::metadata(mount.at(DOC)).unwrap().len(), 4096);
}

#[test]
fn a_write_over_the_default_limit() {
    let mount = mount();
    let writer = mount.actor();
    let limit = 16 << 20;
    writer.run(&format!("f = open('{DOC}', 'wb', buffering=0); data = b'[' + b' ' * ({limit} - 2) + b']'"));
    writer.run("sent = 0\nwhile sent < len(data): sent += f.write(data[sent:])");
    assert_eq!(writer.fails("f.write(b' ')"), "EFBIG");
    writer.run("f.close()");
    assert_eq!(writer.number(&format!("os.stat('{DOC}').st_size")), limit);
    assert!(writer.is(&format!("open('{DOC}', 'rb').read() == data")));
}

#[test]
fn space_set_aside_for_a_document() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR)"));
    writer.run(include_str!("py/fallocate.py"));
    for mode in ["0", "KEEP", "PUNCH | KEEP", "ZERO"] {
        assert_eq!(writer.fails(&format!("fallocate(fd, {mode}, 0, 100)")), "EOPNOTSUPP");
    }
    writer.run("os.close(fd)");
    assert_eq!(mount.read(DOC), OLD);
    // The C library writes zeros instead, which is no document.
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR); os.posix_fallocate(fd, 0, 100)"));
    assert_eq!(writer.fails("os.close(fd)"), "EBADMSG");
    assert_eq!(mount.read(DOC), OLD);
}

#[test]
fn a_device_or_pipe_with_the_name_of_a_document_is_none() {
    let mount = mount();
    let writer = mount.actor();
    assert_eq!(writer.fails("os.mknod('threads/t/x.json', stat.S_IFREG | 0o644)"), "EPERM");
    writer
        .run("os.mkfifo('threads/t/fifo.json'); os.mkdir('threads/t/dir.json'); os.symlink('x', 'threads/t/ln.json')");
    assert_eq!(mount.list("threads/t"), ["dir.json", "fifo.json", "ln.json", "sandbox.json"]);
}

#[test]
fn writing_without_permission() {
    let mount = mount();
    let (owner, other) = (mount.actor(), mount.actor_as(1234));
    owner.run(&format!("os.chmod('{DOC}', 0o644)"));
    assert_eq!(other.text(&format!("open('{DOC}').read()")), OLD);
    assert_eq!(other.fails(&format!("open('{DOC}', 'w')")), "EACCES");
    assert_eq!(other.fails("open('threads/t/new.json', 'w')"), "EACCES");
    owner.run("os.chmod('threads/t', 0o777)");
    other.run("f = open('threads/t/new.json', 'w'); f.write('[]'); f.close()");
    assert_eq!(other.number("os.stat('threads/t/new.json').st_uid"), 1234);
}

#[test]
fn removal_is_for_good() {
    let mount = mount();
    let writer = mount.actor();
    writer.run(&format!("os.unlink('{DOC}')"));
    assert_eq!(writer.fails(&format!("open('{DOC}')")), "ENOENT");
    assert_eq!(writer.fails(&format!("os.unlink('{DOC}')")), "ENOENT");
    mount.remount_after(writer);
    assert!(mount.list("threads/t").is_empty());
}

#[test]
fn a_copy_into_a_document_by_the_kernel_falls_back() {
    let mount = mount();
    let writer = mount.actor();
    writer.run("pathlib.Path('threads/t/x').write_text('[1, 2]')");
    writer.run("source = os.open('threads/t/x', os.O_RDONLY)");
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR | os.O_TRUNC)"));
    let copied = writer.try_run("os.copy_file_range(source, fd, 100)");
    // The kernel may copy by itself where the filesystem cannot; half done is the only wrong.
    match copied {
        Ok(size) => assert_eq!(size, 6),
        Err(raised) => {
            assert_eq!(raised.name, "EXDEV");
            writer.run("os.write(fd, b'[1, 2]')");
        }
    }
    assert_eq!(mount.read(DOC), OLD);
    writer.run("os.close(fd)");
    assert_eq!(mount.read(DOC), "[1, 2]");
}

#[test]
fn unlinking_while_a_reader_and_a_writer_have_it_open() {
    let mount = mount();
    let (reader, writer) = (mount.actor(), mount.actor());
    reader.run(&format!("fd = os.open('{DOC}', os.O_RDONLY)"));
    writer.run(&format!("fd = os.open('{DOC}', os.O_RDWR)"));
    mount.actor().run(&format!("os.unlink('{DOC}')"));
    writer.run("os.pwrite(fd, b'[\"now\"]', 0); os.fsync(fd)");
    assert_eq!(reader.text("os.pread(fd, 100, 0)"), "[\"now\"]");
    writer.run("os.close(fd)");
    assert!(!mount.at(DOC).exists());
}
