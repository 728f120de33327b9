//! The values that are in force, typed.

use log::LevelFilter;

use crate::fs::FsOptions;

/// All settings. [`super::KEYS`] says how each of them is written, read and documented.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What the filesystem core is told.
    pub fs: FsOptions,
    /// Memory for the engine's caches and write buffers, in bytes.
    pub memory_bytes: u64,
    /// Threads that answer the kernel; 0 leaves the choice to the daemon.
    pub threads: u64,
    /// What is logged.
    pub log_level: LevelFilter,
    /// Whether users other than the one who mounts may use the mount.
    pub allow_other: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            fs: FsOptions::default(),
            memory_bytes: 128 << 20,
            threads: 0,
            log_level: LevelFilter::Info,
            allow_other: true,
        }
    }
}

impl Settings {
    /// The number of threads to start.
    ///
    /// One client is served best by few threads and many by several, so the automatic choice
    /// follows the processors within narrow limits.
    pub fn worker_threads(&self) -> usize {
        match usize::try_from(self.threads) {
            Ok(0) | Err(_) => std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8),
            Ok(given) => given,
        }
    }
}
