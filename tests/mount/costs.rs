//! What the history costs: taking it nothing, going back what was changed. Times are compared with those of
//! something small on the same mount, by turns and the best of several, with room for a busy machine: a
//! cost that grows with what is there misses by far.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::{Mount, scaled};

const QUIET: &[&str] = &["snapshots.auto=off"];

/// What a start of the program, or an interruption, may add.
const NOISE: Duration = Duration::from_millis(15);

fn timed(step: impl FnOnce()) -> Duration {
    let start = Instant::now();
    step();
    start.elapsed()
}

/// Does both by turns, with the number of the turn; the least time of each.
fn best(mut one: impl FnMut(usize), mut other: impl FnMut(usize)) -> (Duration, Duration) {
    let times = (0..7).map(|turn| (timed(|| one(turn)), timed(|| other(turn))));
    times.fold((Duration::MAX, Duration::MAX), |least, times| (least.0.min(times.0), least.1.min(times.1)))
}

#[track_caller]
fn assert_alike((small, large): (Duration, Duration), what: &str) {
    assert!(large < small * 2 + NOISE, "{what}: {large:?}, with little in it {small:?}");
}

/// A thread with this many files in one directory, and one file of 16 GiB in which this many chunks are there.
fn thread(mount: &Mount, name: &str, count: u64) {
    let dir = mount.make(&format!("threads/{name}/d"));
    for number in 0..count {
        fs::write(dir.join(format!("f{number}")), "x").unwrap();
    }
    let file = fs::File::create(mount.at(format!("threads/{name}/sparse"))).unwrap();
    file.set_len(16 << 30).unwrap();
    for number in 0..count {
        file.write_all_at(b"x", number * (16 << 20) / 8).unwrap();
    }
}

#[test]
fn snapshots_and_forks_cost_the_same_whatever_is_there() {
    let mount = Mount::with(QUIET);
    thread(&mount, "few", 10);
    thread(&mount, "many", scaled(5_000, 20_000));
    let snapshot = |thread: &str, turn: usize| fs::create_dir(mount.at(format!("threads/{thread}/.snapshots/s{turn}")));
    let times = best(|turn| snapshot("few", turn).unwrap(), |turn| snapshot("many", turn).unwrap());
    assert_alike(times, "a snapshot");
    let fork = |thread: &str, turn: usize| mount.threadfs(&["fork", thread, &format!("{thread}-{turn}")]).ok();
    let times = best(|turn| drop(fork("few", turn)), |turn| drop(fork("many", turn)));
    assert_alike(times, "a fork");
}

#[test]
fn a_snapshot_among_many_costs_what_it_costs_among_few() {
    let mount = Mount::with(QUIET);
    let few = mount.make("threads/few/.snapshots");
    let many = mount.make("threads/many/.snapshots");
    for number in 0..scaled(2_000, 10_000) {
        fs::create_dir(many.join(format!("s{number}"))).unwrap();
    }
    // Fifty of them, so that what each costs is more than noise.
    let work = |dir: &Path, turn: usize| {
        for number in 0..50 {
            let name = dir.join(format!("turn{turn}-{number}"));
            fs::create_dir(&name).unwrap();
            assert!(name.is_dir());
            assert_eq!(fs::create_dir(&name).unwrap_err().kind(), ErrorKind::AlreadyExists);
            fs::remove_dir(&name).unwrap();
        }
    };
    assert_alike(best(|turn| work(&few, turn), |turn| work(&many, turn)), "a snapshot");
}

#[test]
fn restore_and_diff_cost_what_was_changed() {
    let mount = Mount::with(QUIET);
    for (name, count) in [("few", 10), ("many", scaled(5_000, 20_000))] {
        thread(&mount, name, count);
        fs::create_dir(mount.at(format!("threads/{name}/.snapshots/s"))).unwrap();
    }
    let change = |thread: &str, turn: usize| {
        let at = |path: &str| mount.at(format!("threads/{thread}/{path}"));
        fs::rename(at("d/f5"), at("d/other")).unwrap();
        let sparse = OpenOptions::new().write(true).open(at("sparse")).unwrap();
        sparse.write_all_at(format!("{turn}").as_bytes(), 1 << 20).unwrap();
    };
    let diff = |thread: &str| {
        let told = mount.threadfs(&["diff", thread, "s"]).ok();
        assert!(told.contains("sparse") && told.contains("other"), "{told}");
    };
    let restore = |thread: &str| drop(mount.threadfs(&["restore", thread, "s"]).ok());
    change("few", 0);
    change("many", 0);
    assert_alike(best(|_| diff("few"), |_| diff("many")), "a diff");
    restore("few");
    restore("many");
    let again = |thread: &str, turn: usize| {
        change(thread, turn);
        restore(thread);
    };
    assert_alike(best(|turn| again("few", turn), |turn| again("many", turn)), "a restore");
}

#[test]
fn the_end_of_a_large_file_that_a_snapshot_keeps_costs_nothing() {
    let mount = Mount::with(QUIET);
    let dir = mount.make("threads/t");
    let block = vec![7; 1 << 20];
    for (kind, mib) in [("small", 1), ("large", 24)] {
        for turn in 0..7 {
            let file = fs::File::create(dir.join(format!("{kind}{turn}"))).unwrap();
            (0..mib).for_each(|at| file.write_all_at(&block, at << 20).unwrap());
        }
    }
    fs::create_dir(dir.join(".snapshots/s")).unwrap();
    let truncate = |kind: &str, turn: usize| {
        let path = dir.join(format!("{kind}{turn}"));
        drop(OpenOptions::new().write(true).truncate(true).open(path).unwrap());
    };
    assert_alike(best(|turn| truncate("small", turn), |turn| truncate("large", turn)), "O_TRUNC");
    fs::create_dir(dir.join(".snapshots/t")).unwrap();
    let kept = |kind: &str, turn: usize| dir.join(format!(".snapshots/s/{kind}{turn}"));
    assert_eq!(fs::metadata(kept("large", 3)).unwrap().len(), 24 << 20);
    let rewrite = |kind: &str, mib: u64, turn: usize| {
        let file = fs::File::create(dir.join(format!("{kind}{turn}"))).unwrap();
        (0..mib).for_each(|at| file.write_all_at(&block, at << 20).unwrap());
    };
    for turn in 0..7 {
        rewrite("small", 1, turn);
        rewrite("large", 24, turn);
    }
    let unlink = |kind: &str, turn: usize| fs::remove_file(dir.join(format!("{kind}{turn}"))).unwrap();
    assert_alike(best(|turn| unlink("small", turn), |turn| unlink("large", turn)), "unlink");
    assert_eq!(fs::read(kept("large", 3)).unwrap()[23 << 20..], block);
}

#[test]
fn a_deep_fork_reads_like_its_first_base() {
    const DEPTH: usize = 12;
    let mount = Mount::with(QUIET);
    thread(&mount, "fork0", 300);
    for level in 1..=DEPTH {
        let (below, name) = (format!("fork{}", level - 1), format!("fork{level}"));
        mount.threadfs(&["fork", &below, &name]).ok();
        fs::write(mount.at(format!("threads/{name}/d/f{level}")), "changed").unwrap();
        let sparse = OpenOptions::new().write(true).open(mount.at(format!("threads/{name}/sparse"))).unwrap();
        sparse.write_all_at(b"y", level as u64 * (16 << 20) / 8).unwrap();
    }
    let read = |name: &str| {
        let dir = mount.at(format!("threads/{name}/d"));
        let paths: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(paths.len(), 300);
        assert!(paths.iter().all(|path| !fs::read(path).unwrap().is_empty()));
        let sparse = fs::File::open(mount.at(format!("threads/{name}/sparse"))).unwrap();
        for number in 0..300 {
            sparse.read_exact_at(&mut [0; 1], number * (16 << 20) / 8).unwrap();
        }
    };
    // Nothing is in the kernel's cache the first time.
    let mut least = (Duration::MAX, Duration::MAX);
    for _ in 0..4 {
        mount.remount();
        let deep = format!("fork{DEPTH}");
        least = (least.0.min(timed(|| read("fork0"))), least.1.min(timed(|| read(&deep))));
    }
    assert_alike(least, "reading");
}
