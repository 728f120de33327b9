//! Listings.

use crate::support::{Mount, scaled};

#[test]
fn a_listing_survives_deletion_and_insertion_while_it_is_read() {
    let mount = Mount::new();
    let count = scaled(3000, 20_000);
    let result = mount.python(include_str!("py/listing.py"), &[&count.to_string()]);
    assert_eq!(result, serde_json::json!({"wrong": []}));
}

#[test]
fn rmtree_of_a_large_directory() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.mkdir('d'); [open(f'd/{n}', 'w').close() for n in range(3000)]");
    actor.run("shutil.rmtree('d')");
    assert!(mount.list("").is_empty());
    actor.run("os.mkdir('d'); [os.makedirs(f'd/{n}/{m}') for n in range(30) for m in range(10)]");
    actor.run("subprocess.run(['rm', '-rf', 'd'], check=True)");
    assert!(mount.list("").is_empty());
    assert_eq!(mount.counted("inodes"), 1);
}

#[test]
fn an_open_listing_starts_again_after_rewinddir() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.mkdir('d'); open('d/a', 'w').close(); fd = os.open('d', os.O_RDONLY)");
    assert!(actor.is("os.listdir(fd) == ['a']"));
    actor.run("open('d/b', 'w').close(); os.unlink('d/a')");
    assert!(actor.is("os.listdir(fd) == ['b']"));
}

#[test]
fn entries_tell_kind_and_inode() {
    let mount = Mount::new();
    mount.make("threads/t/d");
    let actor = mount.actor();
    actor.run("os.chdir('threads/t'); pathlib.Path('a.json').write_text('[]'); os.symlink('x', 'ln'); os.mkfifo('p')");
    let wrong = actor.run(
        "[e.name for e in os.scandir('.') if e.inode() != os.lstat(e.name).st_ino\n\
         or e.is_dir(follow_symlinks=False) != stat.S_ISDIR(os.lstat(e.name).st_mode)\n\
         or e.is_symlink() != stat.S_ISLNK(os.lstat(e.name).st_mode)]",
    );
    assert_eq!(wrong, serde_json::json!([]));
    actor.run("os.chdir('..')");
    assert!(actor.is("[e.inode() for e in os.scandir('.')] == [os.stat('t').st_ino]"));
    assert!(
        actor.is("os.stat('t/..').st_ino == os.stat('.').st_ino and os.stat('t/d/..').st_ino == os.stat('t').st_ino")
    );
}

#[test]
fn cached_listings_follow_every_change() {
    let mount = Mount::new();
    let (writer, reader) = (mount.actor(), mount.actor());
    writer.run("os.mkdir('d')");
    let mut expected = Vec::new();
    for n in 0..30 {
        reader.run("os.listdir('d'); os.listdir('d')");
        match n % 5 {
            0 | 1 => writer.run(&format!("open('d/f{n}', 'w').close()")),
            2 => writer.run(&format!("os.mkdir('d/f{n}')")),
            3 => writer.run(&format!("os.symlink('x', 'd/f{n}')")),
            _ => writer.run(&format!("os.rename('d/f{}', 'd/f{n}')", n - 1)),
        };
        if n % 5 == 4 {
            expected.pop();
        }
        expected.push(format!("f{n}"));
        let mut sorted = expected.clone();
        sorted.sort();
        assert_eq!(mount.list("d"), sorted, "{n}");
        assert_eq!(reader.run("sorted(os.listdir('d'))"), serde_json::json!(sorted), "{n}");
    }
}

#[test]
fn deep_trees() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("for n in range(200): os.mkdir('d'); os.chdir('d')");
    actor.run("open('leaf', 'w').close()");
    assert!(actor.is("os.path.exists('/'.join(['..'] * 50) + '/d' * 50 + '/leaf')"));
    actor.run("for n in range(200): os.chdir('..')");
    actor.run("subprocess.run(['rm', '-r', 'd'], check=True)");
    assert!(mount.list("").is_empty());
}

#[test]
fn errors_of_directories() {
    let mount = Mount::new();
    let actor = mount.actor();
    actor.run("os.makedirs('d/e'); open('f', 'w').close()");
    assert_eq!(actor.fails("os.rmdir('d')"), "ENOTEMPTY");
    assert_eq!(actor.fails("os.rmdir('f')"), "ENOTDIR");
    assert_eq!(actor.fails("os.unlink('d')"), "EISDIR");
    assert_eq!(actor.fails("os.mkdir('d')"), "EEXIST");
    assert_eq!(actor.fails("os.mkdir('f/x')"), "ENOTDIR");
    assert_eq!(actor.fails("open('d', 'w')"), "EISDIR");
    assert_eq!(actor.fails("os.mkdir('no/x')"), "ENOENT");
    assert_eq!(actor.fails("os.truncate('d', 0)"), "EISDIR");
    assert_eq!(actor.fails("os.rmdir('d/e/..')"), "ENOTEMPTY");
}
