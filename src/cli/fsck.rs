//! `threadfs fsck`.

use std::path::PathBuf;

use super::Output;
use super::text::{bytes, pairs};
use crate::daemon::{Error, fsck};
use crate::store::check::Report;

/// Check that a store is consistent; it must not be mounted.
///
/// Nothing is changed. Exit status 1 when something is wrong: then restore a backup, or mount the
/// store with -o ro and copy what is still there.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory of the store.
    store: PathBuf,
    /// Check every snapshot as a tree of its own, too.
    #[arg(long)]
    snapshots: bool,
}

/// Checks a store.
pub fn run(args: &Args) -> Output {
    let report = fsck(&args.store, args.snapshots)?;
    if report.is_clean() {
        return Ok(describe(&report).into_bytes());
    }
    let mut lines = report.problems.clone();
    if report.omitted > 0 {
        lines.push(format!("and {} more", report.omitted));
    }
    Err(Error::Refused(format!("{} is damaged:\n  {}", args.store.display(), lines.join("\n  "))))
}

fn describe(report: &Report) -> String {
    pairs(&[
        ("result", String::from("consistent")),
        ("threads", report.realms.saturating_sub(1).to_string()),
        ("inodes", report.inodes.to_string()),
        ("names", report.dirents.to_string()),
        ("chunks", format!("{}, {}", report.chunks, bytes(report.bytes))),
        ("snapshots", report.snapshots.to_string()),
        ("past records", report.history.to_string()),
    ])
}
