//! Ordinary files: nothing is hidden until close.

use crate::support::{Mount, scaled};

#[test]
fn asynchronous_direct_writes_are_seen_by_buffered_reads() {
    let mount = Mount::new();
    let rounds = crate::support::scaled(100, 1000).to_string();
    assert_eq!(mount.python(include_str!("py/async_direct.py"), &[&rounds]), 0, "reads of old bytes");
}

#[test]
fn a_file_that_is_being_written_is_read_as_it_grows() {
    let mount = Mount::new();
    mount.make("threads/t/user-data/workspace");
    let (writer, reader) = (mount.actor(), mount.actor());
    let path = "threads/t/user-data/workspace/log.txt";
    writer.run(&format!("f = open('{path}', 'w')"));
    assert_eq!(reader.text(&format!("open('{path}').read()")), "");
    reader.run(&format!("tail = open('{path}')"));
    for n in 0..50 {
        writer.run(&format!("print('line {n}', file=f, flush=True)"));
        assert_eq!(reader.text("tail.readline()"), format!("line {n}\n"));
        assert_eq!(reader.number(&format!("os.stat('{path}').st_size")), reader.number("tail.tell()"));
    }
}

#[test]
fn appends_of_many_processes_do_not_mix() {
    let mount = Mount::new();
    let lines = scaled(200, 2000);
    let result = mount.python(include_str!("py/append.py"), &["6", &lines.to_string()]);
    assert_eq!(result, serde_json::json!({"lines": lines * 6, "broken": 0, "disordered": 0}));
}

#[test]
fn contents_of_odd_sizes_survive_a_remount() {
    let mount = Mount::new();
    {
        let writer = mount.actor();
        writer.run("import random; r = random.Random(7); sizes = [0, 1, 511, 4095, 4096, 4097, 65535, 65537, 131071, 131073, 1048577]");
        writer.run("for n in sizes: pathlib.Path(f'f{n}').write_bytes(r.randbytes(n))");
        writer.run(
            "import hashlib; sums = [hashlib.sha1(pathlib.Path(f'f{n}').read_bytes()).hexdigest() for n in sizes]",
        );
        let sums = writer.run("sums");
        drop(writer);
        mount.remount();
        let reader = mount.actor();
        reader.run("import hashlib; sizes = [0, 1, 511, 4095, 4096, 4097, 65535, 65537, 131071, 131073, 1048577]");
        assert_eq!(reader.run("[hashlib.sha1(pathlib.Path(f'f{n}').read_bytes()).hexdigest() for n in sizes]"), sums);
        assert!(reader.is("all(os.stat(f'f{n}').st_size == n for n in sizes)"));
    }
}

#[test]
fn random_writes_and_truncations_match_a_plain_file() {
    let mount = Mount::new();
    let steps = scaled(400, 5000);
    let result = mount.python(include_str!("py/random_io.py"), &["1", &steps.to_string()]);
    assert_eq!(result, serde_json::json!({"steps": steps, "wrong": null}));
}

#[test]
fn copy_file_range_copies_and_continues() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("data = os.urandom(3_000_000); pathlib.Path('a').write_bytes(data)");
    actor.run("a, b = os.open('a', os.O_RDONLY), os.open('b', os.O_RDWR | os.O_CREAT)");
    actor.run("sent = 0\nwhile n := os.copy_file_range(a, b, 10_000_000): sent += n");
    assert_eq!(actor.number("sent"), 3_000_000);
    assert!(actor.is("open('b', 'rb').read() == data"));
    actor.run("assert os.copy_file_range(a, b, 5000, 1234, 999) == 5000");
    assert!(actor.is("open('b', 'rb').read() == data[:999] + data[1234:6234] + data[5999:]"));
    actor.run("assert os.copy_file_range(b, b, 100, 0, 3_500_000) == 100");
    assert!(actor.is("open('b', 'rb').read()[3_000_000:] == bytes(500_000) + data[:100]"));
    assert_eq!(actor.fails("os.copy_file_range(b, b, 1000, 0, 10)"), "EINVAL");
}

#[test]
fn copies_between_threads() {
    let mount = Mount::new();
    mount.make("threads/a");
    mount.make("threads/b");
    let actor = mount.actor();
    actor.run("data = os.urandom(300_000); pathlib.Path('threads/a/x').write_bytes(data)");
    actor.run("shutil.copyfile('threads/a/x', 'threads/b/x'); subprocess.run(['cp', 'threads/a/x', 'y'], check=True)");
    assert!(actor.is("open('threads/b/x', 'rb').read() == data == open('y', 'rb').read()"));
    actor.run("shutil.move('threads/a/x', 'threads/b/moved')");
    assert!(actor.is("open('threads/b/moved', 'rb').read() == data and not os.path.exists('threads/a/x')"));
}

#[test]
fn opening_with_truncation_is_seen_at_once() {
    let mount = Mount::new();
    let (writer, reader) = (mount.actor(), mount.actor());
    writer.run("pathlib.Path('f').write_text('x' * 100000)");
    assert_eq!(reader.number("len(open('f').read())"), 100_000);
    reader.run("fd = os.open('f', os.O_RDONLY)");
    writer.run("f = open('f', 'w')");
    assert_eq!(reader.number("os.stat('f').st_size"), 0);
    assert_eq!(reader.text("os.pread(fd, 10, 0)"), "");
    writer.run("f.write('y'); f.flush()");
    assert_eq!(reader.text("os.pread(fd, 10, 0)"), "y");
}

#[test]
fn direct_and_synchronous_io() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("b = mmap.mmap(-1, 8192); b[:] = b'd' * 8192");
    actor.run("fd = os.open('f', os.O_RDWR | os.O_CREAT | os.O_DIRECT); assert os.writev(fd, [b]) == 8192");
    assert_eq!(actor.text("open('f').read(3)"), "ddd");
    actor.run("pathlib.Path('f').write_text('e' * 8192); b2 = mmap.mmap(-1, 4096)");
    assert_eq!(actor.number("os.preadv(fd, [b2], 4096)"), 4096);
    assert_eq!(actor.text("b2[:3]"), "eee");
    actor
        .run("fd = os.open('g', os.O_WRONLY | os.O_CREAT | os.O_SYNC); os.write(fd, b's'); os.fsync(fd); os.close(fd)");
    assert_eq!(mount.read("g"), "s");
}

#[test]
fn the_largest_size_is_a_limit_of_the_configuration() {
    let mount = Mount::with(&["limits.max_file_bytes=2MiB"]);
    let actor = mount.actor();
    actor.run("signal.signal(signal.SIGXFSZ, signal.SIG_IGN); fd = os.open('f', os.O_RDWR | os.O_CREAT)");
    actor.run("os.ftruncate(fd, 2 << 20)");
    assert_eq!(actor.fails("os.ftruncate(fd, (2 << 20) + 1)"), "EFBIG");
    assert_eq!(actor.fails("os.pwrite(fd, b'x', 2 << 20)"), "EFBIG");
    assert_eq!(actor.fails("os.posix_fallocate(fd, 0, 3 << 20)"), "EFBIG");
    assert_eq!(actor.number("os.stat('f').st_size"), 2 << 20);
}

#[test]
fn statfs_tells_true_numbers() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("s = os.statvfs('.')");
    assert!(actor.is("s.f_blocks > 0 and 0 < s.f_bavail <= s.f_bfree <= s.f_blocks"));
    assert!(actor.is("s.f_files > 0 and 0 < s.f_ffree <= s.f_files and s.f_namemax == 255 and s.f_bsize > 0"));
    actor.run("used = s.f_files - s.f_ffree; [open(f'f{n}', 'w').close() for n in range(10)]; s = os.statvfs('.')");
    assert_eq!(actor.number("s.f_files - s.f_ffree - used"), 10);
    assert_eq!(actor.number("subprocess.run(['df', '.'], stdout=-3).returncode"), 0);
}

#[test]
fn many_handlers_at_once() {
    let mount = Mount::new();
    let result = mount.python(include_str!("py/storm.py"), &["6", &scaled(150, 2000).to_string()]);
    assert_eq!(result, serde_json::json!({"errors": []}));
}
