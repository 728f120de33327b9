//! Shared mappings of ordinary files.

use crate::support::Mount;

#[test]
fn two_processes_see_each_others_stores() {
    let mount = Mount::new();
    let (first, second) = (mount.actor(), mount.actor());
    first.run("fd = os.open('m', os.O_RDWR | os.O_CREAT); os.ftruncate(fd, 65536); m = mmap.mmap(fd, 65536)");
    second.run("fd = os.open('m', os.O_RDWR); m = mmap.mmap(fd, 65536)");
    first.run("m[100:105] = b'hello'");
    assert_eq!(second.text("m[100:105]"), "hello");
    second.run("m[40000:40005] = b'world'");
    assert_eq!(first.text("m[40000:40005]"), "world");
    // And so does who reads.
    assert_eq!(second.text("os.pread(fd, 5, 100)"), "hello");
    first.run("os.pwrite(fd, b'written', 200)");
    assert_eq!(second.text("m[200:207]"), "written");
}

#[test]
fn what_was_stored_is_there_after_a_remount() {
    let mount = Mount::new();
    {
        let writer = mount.actor();
        writer.run("fd = os.open('m', os.O_RDWR | os.O_CREAT); os.ftruncate(fd, 1 << 20); m = mmap.mmap(fd, 1 << 20)");
        writer.run("m[:] = bytes(range(256)) * 4096; m.flush(); m[5:6] = b'!'; m.close(); os.close(fd)");
    }
    mount.remount();
    let reader = mount.actor();
    assert!(reader.is("open('m', 'rb').read() == b'\\0\\1\\2\\3\\4!' + (bytes(range(256)) * 4096)[6:]"));
}

#[test]
fn after_the_close_of_the_descriptor() {
    let mount = Mount::new();
    {
        let writer = mount.actor();
        writer.run("fd = os.open('m', os.O_RDWR | os.O_CREAT); os.ftruncate(fd, 8192); m = mmap.mmap(fd, 8192)");
        writer.run("os.close(fd); m[0:3] = b'abc'");
    }
    mount.remount();
    assert!(mount.read("m").starts_with("abc"));
}

#[test]
fn of_an_unlinked_file() {
    let mount = Mount::new();
    let writer = mount.actor();
    writer.run("fd = os.open('m', os.O_RDWR | os.O_CREAT); os.ftruncate(fd, 8192); m = mmap.mmap(fd, 8192)");
    writer.run("os.unlink('m'); m[0:3] = b'abc'; m.flush()");
    assert_eq!(writer.text("os.pread(fd, 3, 0)"), "abc");
    writer.run("os.close(fd); m[4096:4099] = b'def'; m.flush()");
    assert_eq!(writer.text("m[0:3] + m[4096:4099]"), "abcdef");
    assert!(mount.list("").is_empty());
}

#[test]
fn a_mapping_beyond_a_truncated_end() {
    let mount = Mount::new();
    let writer = mount.actor();
    writer.run("pathlib.Path('m').write_bytes(b'x' * 5000); fd = os.open('m', os.O_RDWR); m = mmap.mmap(fd, 5000)");
    writer.run("os.ftruncate(fd, 100); os.ftruncate(fd, 5000)");
    assert!(writer.is("m[:] == b'x' * 100 + bytes(4900)"));
}

#[test]
fn executing_a_program_on_the_mount() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("shutil.copy2('/bin/true', 'program')");
    assert_eq!(actor.number("subprocess.run(['./program']).returncode"), 0);
}
