//! fsx: random reads, writes, mappings, truncations and copies of one file, each compared with
//! what it has to contain.

use std::fs;

use crate::report::Run;
use crate::support::{Mount, scaled};
use crate::tools;

/// A number that `scripts/conformance` passes on.
fn given(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |value| value.parse().unwrap())
}

/// It leaks the mapping of each read through one, a seventh of its operations. Each truncation and each msync goes through
/// all of them, and Linux lets a process have 65,530 (vm.max_map_count): so a long run is many short ones.
const RUN: u64 = 10_000;

/// Each seed on a mount of its own, and once more after a remount with what is there by then.
#[track_caller]
fn exercise(config: &str, what: &str, operations: u64, seeds: u64) {
    let run = Run::start("fsx 0.3.2", format!("{what}, {operations} operations with each of {seeds} seeds"));
    for seed in 1..=seeds {
        let (mount, scratch) = (Mount::new(), tools::disk());
        let path = scratch.path().join("fsx.toml");
        fs::write(&path, config).unwrap();
        let file = tools::workspace(&mount.path).join("file");
        for from in (0..operations).step_by(RUN as usize) {
            let mut command = tools::tool("fsx");
            command.arg("-f").arg(&path).arg("-P").arg(scratch.path()).current_dir(scratch.path());
            let (count, seed) = (RUN.min(operations - from), seed + from);
            command.args(["-N", &count.to_string(), "-S", &seed.to_string()]);
            let done = tools::run(command.arg(&file));
            assert!(done.status.success(), "seed {seed}: {}\n{}", done.stdout, done.stderr);
        }
        // It leaves the file, unless it is a failed one.
        let before = fs::read(&file).unwrap();
        mount.remount();
        assert!(before == fs::read(&file).unwrap(), "seed {seed}: not the same after a remount");
    }
    run.ended("no difference", "");
}

#[test]
fn a_file_of_256_kib() {
    let operations = given("THREADFS_FSX_OPERATIONS", scaled(20_000, 1_000_000));
    let config = format!("flen = 262144\n[opsize]\nmax = 65536\n{}", include_str!("fsx.toml"));
    exercise(&config, "256 KiB, up to 64 KiB at once", operations, given("THREADFS_FSX_SEEDS", scaled(2, 5)));
}

#[test]
fn a_file_of_8_mib() {
    let operations = given("THREADFS_FSX_OPERATIONS", scaled(40_000, 1_000_000)) / 20;
    let config = format!("flen = 8388608\n[opsize]\nmax = 1048576\n{}", include_str!("fsx.toml"));
    exercise(&config, "8 MiB, up to 1 MiB at once", operations, given("THREADFS_FSX_SEEDS", scaled(1, 5)));
}
