//! A program that changes things on a mount and says what it has done.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Mount, scaled, wait_for};

/// How long at least a round lasts before the daemon is killed.
const SHORTEST: Duration = Duration::from_millis(50);

/// How much longer it may last.
const SPREAD: u64 = 700;

/// A running program.
pub struct Load {
    child: Child,
    count: Arc<AtomicUsize>,
    lines: JoinHandle<Vec<Value>>,
}

impl Load {
    /// Starts it; each line that it prints acknowledges one change.
    pub fn start(mount: &Mount, script: &str, arguments: &[&str]) -> Load {
        let mut child = Command::new("python3")
            .args(["-I", "-u", "-c", script])
            .arg(&mount.path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&count);
        // A line that is cut off was not acknowledged.
        let lines = thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            let noted = lines.inspect(|_| {
                seen.fetch_add(1, Ordering::SeqCst);
            });
            noted.filter_map(|line| serde_json::from_str(&line).ok()).collect()
        });
        Load { child, count, lines }
    }

    /// What it has acknowledged, once it has ended: it does when its mount is dead.
    pub fn acknowledged(mut self) -> Vec<Value> {
        wait_for("the load to end", || self.child.try_wait().unwrap().is_some());
        self.lines.join().unwrap()
    }
}

/// Runs rounds of load, kill, remount and a look; at the end the store is checked.
pub fn rounds(
    seed: u64,
    mut start: impl FnMut(&Mount, u64) -> Vec<Load>,
    mut check: impl FnMut(&Mount, u64, Vec<Vec<Value>>),
) {
    let mount = Mount::new();
    let mut random = seed;
    for round in 0..scaled(4, 20) {
        let loads = start(&mount, round);
        wait_for("the load to begin", || loads.iter().all(|load| load.count.load(Ordering::SeqCst) > 0));
        // A small generator of random numbers is enough to pick moments.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let time = SHORTEST + Duration::from_millis((random >> 33) % SPREAD);
        let until = Instant::now() + time;
        thread::sleep(until.saturating_duration_since(Instant::now()));
        mount.kill_daemon();
        let acknowledged: Vec<Vec<Value>> = loads.into_iter().map(Load::acknowledged).collect();
        mount.mount_again();
        let count: usize = acknowledged.iter().map(Vec::len).sum();
        println!("round {round}: killed after {time:?}, {count} acknowledged");
        check(&mount, round, acknowledged);
    }
    mount.unmount();
    check_store(&mount);
}

/// Nothing is wrong in the store.
fn check_store(mount: &Mount) {
    use threadfs::engine::{EngineOptions, StoreSpec, open};
    let engine = open(&StoreSpec::Directory(mount.store.clone()), &EngineOptions::default()).unwrap();
    let store = threadfs::store::Store::open(engine).unwrap();
    let report = threadfs::store::check::check_with(&store, true).unwrap();
    assert!(report.is_clean(), "{report:#?}");
    println!("checked: {} inodes, {} names, {} chunks", report.inodes, report.dirents, report.chunks);
}
