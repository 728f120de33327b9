//! Counters and latency histograms.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Upper bounds of the latency buckets in microseconds.
const BOUNDS: [u64; 15] =
    [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 1_000_000];

/// The operations of the kernel's protocol that are timed.
pub const OPERATIONS: [&str; 28] = [
    "lookup",
    "getattr",
    "setattr",
    "readlink",
    "mknod",
    "mkdir",
    "unlink",
    "rmdir",
    "symlink",
    "rename",
    "link",
    "open",
    "read",
    "write",
    "flush",
    "release",
    "fsync",
    "readdir",
    "readdirplus",
    "fsyncdir",
    "statfs",
    "setxattr",
    "getxattr",
    "listxattr",
    "removexattr",
    "create",
    "fallocate",
    "lseek",
];

/// What is timed besides: copy_file_range, in the slot behind [`OPERATIONS`].
const COPY: &str = "copy_file_range";

/// The work with snapshots that is timed: taking one by itself (those in the batch of a commit or of
/// a removal are part of it), restoring, forking, and bringing a deleted thread back.
const SNAPSHOT_WORK: [&str; 4] = ["take", "restore", "fork", "undelete"];

/// A number that only goes up.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
struct Operation {
    count: Counter,
    errors: Counter,
    nanos: Counter,
    buckets: [Counter; BOUNDS.len()],
}

impl Operation {
    fn stats(&self, name: &'static str) -> OperationStats {
        let mut below = 0;
        let buckets = BOUNDS.iter().zip(&self.buckets).map(|(bound, bucket)| {
            below += bucket.get();
            (*bound as f64 / 1e6, below)
        });
        OperationStats {
            name,
            buckets: buckets.collect(),
            count: self.count.get(),
            errors: self.errors.get(),
            seconds_sum: self.nanos.get() as f64 / 1e9,
        }
    }
}

/// Everything that is counted.
#[derive(Debug)]
pub struct Metrics {
    operations: Vec<Operation>,
    /// Documents committed.
    pub commits: Counter,
    /// Documents refused.
    pub commits_rejected: Counter,
    /// What takes longer with snapshots, in the order of [`SNAPSHOT_WORK`].
    snapshot_work: Vec<Operation>,
    /// Snapshots that the daemon took by itself.
    pub snapshots_automatic: Counter,
    /// Snapshots of threads that users took.
    pub snapshots_named: Counter,
    /// Snapshots of everything.
    pub snapshots_home: Counter,
    /// Automatic snapshots that could not be taken.
    pub snapshots_failed: Counter,
    /// Automatic snapshots that retention dropped.
    pub snapshots_pruned: Counter,
    /// Bytes that programs read.
    pub bytes_read: Counter,
    /// Bytes that programs wrote.
    pub bytes_written: Counter,
    /// Handlers that panicked; each gave EIO.
    pub panics: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            operations: (0..=OPERATIONS.len()).map(|_| Operation::default()).collect(),
            snapshot_work: SNAPSHOT_WORK.iter().map(|_| Operation::default()).collect(),
            snapshots_automatic: Counter::default(),
            snapshots_named: Counter::default(),
            snapshots_home: Counter::default(),
            commits: Counter::default(),
            commits_rejected: Counter::default(),
            snapshots_failed: Counter::default(),
            snapshots_pruned: Counter::default(),
            bytes_read: Counter::default(),
            bytes_written: Counter::default(),
            panics: Counter::default(),
        }
    }
}

/// One operation's numbers.
#[derive(Debug, Clone)]
pub struct OperationStats {
    /// Its name.
    pub name: &'static str,
    /// How often.
    pub count: u64,
    /// How often with an error.
    pub errors: u64,
    /// Time spent, in seconds.
    pub seconds_sum: f64,
    /// Upper bounds in seconds, and how many took no longer.
    pub buckets: Vec<(f64, u64)>,
}

/// A name for Prometheus, its help text, its type, and the value.
pub type Sample = (&'static str, &'static str, &'static str, f64);

/// Times one operation until it is dropped.
pub struct Timer<'a> {
    operation: Option<&'a Operation>,
    began: Instant,
    failed: bool,
}

impl Timer<'_> {
    /// Notes that it ended with an error.
    pub fn fail(&mut self) {
        self.failed = true;
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        let Some(operation) = self.operation else { return };
        let took = self.began.elapsed();
        operation.count.add(1);
        operation.nanos.add(took.as_nanos() as u64);
        if self.failed {
            operation.errors.add(1);
        }
        let micros = took.as_micros() as u64;
        if let Some(bucket) = BOUNDS.iter().position(|bound| micros <= *bound).and_then(|i| operation.buckets.get(i)) {
            bucket.add(1);
        }
    }
}

impl Metrics {
    /// Times an operation, by its name in [`OPERATIONS`].
    pub fn time(&self, name: &'static str) -> Timer<'_> {
        let index = OPERATIONS.iter().position(|known| *known == name).unwrap_or(OPERATIONS.len());
        Timer { operation: self.operations.get(index), began: Instant::now(), failed: false }
    }

    /// Times work with snapshots: `take`, `restore`, `fork` or `undelete`.
    pub fn snapshot_seconds(&self, work: &'static str) -> Timer<'_> {
        let operation = SNAPSHOT_WORK.iter().position(|known| *known == work).and_then(|i| self.snapshot_work.get(i));
        Timer { operation, began: Instant::now(), failed: false }
    }

    /// The numbers of each operation.
    pub fn operations(&self) -> Vec<OperationStats> {
        let names = OPERATIONS.into_iter().chain([COPY]);
        names.zip(&self.operations).map(|(name, operation)| operation.stats(name)).collect()
    }

    /// The numbers of the work with snapshots.
    pub fn snapshot_work(&self) -> Vec<OperationStats> {
        SNAPSHOT_WORK.into_iter().zip(&self.snapshot_work).map(|(name, work)| work.stats(name)).collect()
    }

    /// The plain counters.
    pub fn counters(&self) -> Vec<Sample> {
        let counter = |name, help, value: &Counter| (name, help, "counter", value.get() as f64);
        vec![
            counter("threadfs_read_bytes_total", "Bytes that programs read.", &self.bytes_read),
            counter("threadfs_written_bytes_total", "Bytes that programs wrote.", &self.bytes_written),
            counter(
                "threadfs_snapshots_taken_total{kind=\"automatic\"}",
                "Snapshots that were taken, by kind.",
                &self.snapshots_automatic,
            ),
            counter("threadfs_snapshots_taken_total{kind=\"named\"}", "", &self.snapshots_named),
            counter("threadfs_snapshots_taken_total{kind=\"home\"}", "", &self.snapshots_home),
            counter(
                "threadfs_snapshots_failed_total",
                "Automatic snapshots that could not be taken.",
                &self.snapshots_failed,
            ),
            counter(
                "threadfs_snapshots_pruned_total",
                "Automatic snapshots that retention dropped.",
                &self.snapshots_pruned,
            ),
            counter("threadfs_panics_total", "Handlers that panicked; each gave EIO.", &self.panics),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_counted_once_and_in_every_wider_bucket() {
        let metrics = Metrics::default();
        metrics.time("read").fail();
        drop(metrics.time("copy_file_range"));
        let all = metrics.operations();
        let read = all.iter().find(|stats| stats.name == "read").unwrap();
        assert_eq!((read.count, read.errors), (1, 1));
        assert_eq!(read.buckets.last().unwrap().1, 1);
        assert_eq!(all.iter().find(|stats| stats.name == COPY).unwrap().count, 1);
    }
}
