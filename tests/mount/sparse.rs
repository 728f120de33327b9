//! Holes and space.

use crate::support::Mount;

const FALLOCATE: &str = include_str!("py/fallocate.py");

#[test]
fn a_sparse_file_takes_little_space() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("fd = os.open('f', os.O_RDWR | os.O_CREAT); os.pwrite(fd, b'x', 1 << 40)");
    assert_eq!(actor.number("os.stat('f').st_size"), (1 << 40) + 1);
    assert!(actor.number("os.stat('f').st_blocks") < 2048);
    assert!(actor.is("os.pread(fd, 10, 1 << 39) == bytes(10)"));
    assert_eq!(actor.text("os.pread(fd, 10, 1 << 40)"), "x");
    actor.run("os.ftruncate(fd, 1 << 43); os.ftruncate(fd, 10)");
    assert_eq!(actor.number("os.stat('f').st_blocks"), 0);
}

#[test]
fn seek_data_and_seek_hole() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run(
        "fd = os.open('f', os.O_RDWR | os.O_CREAT); os.pwrite(fd, b'x' * 4096, 1 << 20); os.ftruncate(fd, 4 << 20)",
    );
    actor.run("data = os.lseek(fd, 0, os.SEEK_DATA); hole = os.lseek(fd, 1 << 20, os.SEEK_HOLE)");
    assert!(actor.is("0 < data <= 1 << 20 and (1 << 20) + 4096 <= hole <= 2 << 20"));
    assert_eq!(actor.number("os.lseek(fd, 0, os.SEEK_HOLE)"), 0);
    assert_eq!(actor.fails("os.lseek(fd, 3 << 20, os.SEEK_DATA)"), "ENXIO");
    assert_eq!(actor.fails("os.lseek(fd, 4 << 20, os.SEEK_HOLE)"), "ENXIO");
    assert_eq!(actor.number("os.lseek(fd, 3 << 20, os.SEEK_HOLE)"), 3 << 20);
}

#[test]
fn a_punched_hole_reads_as_zeros_and_frees_space() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run(FALLOCATE);
    actor.run(
        "fd = os.open('f', os.O_RDWR | os.O_CREAT); os.write(fd, b'x' * (4 << 20)); before = os.stat('f').st_blocks",
    );
    actor.run("m = mmap.mmap(fd, 4 << 20); m[0:1]; fallocate(fd, PUNCH | KEEP, 1 << 20, 2 << 20)");
    assert!(actor.is("os.pread(fd, 4 << 20, 0) == b'x' * (1 << 20) + bytes(2 << 20) + b'x' * (1 << 20)"));
    assert!(actor.is("m[(1 << 20) - 1:(1 << 20) + 1] == b'x\\0'"));
    assert!(actor.is("os.stat('f').st_blocks <= before // 2 + 8"));
    assert_eq!(actor.number("os.stat('f').st_size"), 4 << 20);
    actor.run("fallocate(fd, PUNCH | KEEP, 100, 10)");
    assert!(actor.is("os.pread(fd, 12, 99) == b'x' + bytes(10) + b'x'"));
}

#[test]
fn room_made_in_advance() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run(FALLOCATE);
    actor.run("fd = os.open('f', os.O_RDWR | os.O_CREAT); os.write(fd, b'abc')");
    actor.run("fallocate(fd, KEEP, 0, 1 << 20)");
    assert_eq!(actor.number("os.stat('f').st_size"), 3);
    actor.run("os.posix_fallocate(fd, 0, 1 << 20)");
    assert_eq!(actor.number("os.stat('f').st_size"), 1 << 20);
    assert!(actor.is("os.pread(fd, 10, 0) == b'abc' + bytes(7)"));
    actor.run("fallocate(fd, ZERO, 1, 1)");
    assert!(actor.is("os.pread(fd, 3, 0) == b'a\\0c'"));
    for mode in ["COLLAPSE", "INSERT"] {
        assert_eq!(actor.fails(&format!("fallocate(fd, {mode}, 0, 4096)")), "EOPNOTSUPP");
    }
    assert_eq!(actor.fails("fallocate(fd, 0, 0, 0)"), "EINVAL");
}

#[test]
fn copies_keep_holes_as_zeros() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("fd = os.open('f', os.O_RDWR | os.O_CREAT); os.pwrite(fd, b'end', 10 << 20)");
    actor.run("subprocess.run(['cp', '--sparse=always', 'f', 'g'], check=True); shutil.copy('f', 'h')");
    actor.run("data = open('f', 'rb').read()");
    assert!(actor.is("open('g', 'rb').read() == data == open('h', 'rb').read() == bytes(10 << 20) + b'end'"));
    assert!(actor.number("os.stat('g').st_blocks") < 2048);
}

#[test]
fn blocks_follow_the_content() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("pathlib.Path('f').write_bytes(b'x' * 1_000_000)");
    assert!(actor.is("1_000_000 // 512 <= os.stat('f').st_blocks <= 1_000_000 // 512 + 300"));
    actor.run("os.truncate('f', 0)");
    assert_eq!(actor.number("os.stat('f').st_blocks"), 0);
    actor.run("pathlib.Path('g').write_bytes(b'x')");
    assert!(actor.is("0 < os.stat('g').st_blocks <= 8"));
}

#[test]
fn the_end_of_a_shortened_file_does_not_come_back() {
    let mount = Mount::new();
    let actor = mount.actor();
    for size in [1, 4095, 4096, 70_000, 131_072, 200_000] {
        actor.run(&format!(
            "pathlib.Path('f').write_bytes(b'x' * 300_000); os.truncate('f', {size}); os.truncate('f', 300_000)"
        ));
        assert!(actor.is(&format!("open('f', 'rb').read() == b'x' * {size} + bytes(300_000 - {size})")), "{size}");
    }
}
