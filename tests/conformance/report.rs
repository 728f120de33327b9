//! What `scripts/conformance` puts into its table.

use std::fs::OpenOptions;
use std::io::Write;
use std::time::Instant;

use serde_json::json;

/// Times a run of a suite and adds it to the file that `THREADFS_CONFORMANCE_REPORT` names.
pub struct Run {
    suite: &'static str,
    what: String,
    start: Instant,
}

impl Run {
    pub fn start(suite: &'static str, what: impl Into<String>) -> Run {
        Run { suite, what: what.into(), start: Instant::now() }
    }

    /// The results on the mount and, where they were compared, on the disk.
    pub fn ended(self, mount: &str, disk: &str) {
        let seconds = self.start.elapsed().as_secs();
        println!("{}: {}: {mount} ({seconds} s)", self.suite, self.what);
        let Some(path) = std::env::var_os("THREADFS_CONFORMANCE_REPORT") else { return };
        let line = json!({ "suite": self.suite, "what": self.what, "mount": mount, "disk": disk, "seconds": seconds });
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}
