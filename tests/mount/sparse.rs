//! Holes and space.

use crate::support::{Mount, scaled};

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

/// The most memory that a process has had, in MiB.
fn peak_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
fn cutting_off_and_punching_much_takes_little_memory() {
    let mount = Mount::with(&["cache.memory=8MiB"]);
    mount.make("threads/t");
    let actor = mount.actor();
    actor.run(FALLOCATE);
    actor.run(&format!("mib = {}; os.chdir('threads/t'); noise = os.urandom((1 << 20) - 8)", scaled(400, 2048)));
    actor.run("block = lambda n: noise + n.to_bytes(8, 'big')");
    actor.run("fd = os.open('f', os.O_RDWR | os.O_CREAT)");
    actor.run(
        "same = lambda fd, begin, end: all(os.pread(fd, 1 << 20, n << 20) == block(n) for n in range(begin, end))",
    );
    actor.run("fill = lambda: [os.pwrite(fd, block(n), n << 20) for n in range(mib)] and os.fsync(fd)");
    // With the old content needed and not, by name and by descriptor.
    for (snapshot, name) in [("pass", "'f'"), ("os.mkdir('.snapshots/full')", "fd")] {
        actor.run("fill()");
        actor.run(snapshot);
        let before = peak_mib(mount.pid());
        actor.run(&format!("os.truncate({name}, (3 << 20) + 5)"));
        assert!(actor.is("os.fstat(fd).st_size == (3 << 20) + 5 and os.fstat(fd).st_blocks < 7000"));
        actor.run("os.ftruncate(fd, mib << 20)");
        assert!(actor.is("same(fd, 0, 3) and os.pread(fd, 1 << 20, 3 << 20) == block(3)[:5] + bytes((1 << 20) - 5)"));
        assert!(
            actor.is("os.lseek(fd, 4 << 20, os.SEEK_HOLE) == 4 << 20 and os.pread(fd, 9, (mib << 20) - 9) == bytes(9)")
        );
        actor.run("fill(); fallocate(fd, PUNCH | KEEP, 1 << 20, (mib - 2) << 20)");
        assert!(actor.is("os.fstat(fd).st_blocks < 5000 and same(fd, 0, 1) and same(fd, mib - 1, mib)"));
        assert!(actor.is("os.lseek(fd, 1 << 20, os.SEEK_DATA) == (mib - 1) << 20"));
        let grown = peak_mib(mount.pid()) - before;
        assert!(grown < 80, "the daemon took {grown} MiB more");
    }
    assert!(actor.is("same(os.open('.snapshots/full/f', os.O_RDONLY), 0, mib)"));
}
