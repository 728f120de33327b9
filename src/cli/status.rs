//! `threadfs status`.

use std::path::PathBuf;

use super::Output;
use super::text::{bytes, pairs, period};
use crate::daemon::{Mounted, Status};

/// Show what a mount is and how much is in it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory that is mounted on.
    mountpoint: PathBuf,
    /// Print the content of .threadfs/status.json instead.
    #[arg(long)]
    json: bool,
}

/// Shows the status.
pub fn run(args: &Args) -> Output {
    let mounted = Mounted::open(&args.mountpoint)?;
    if args.json {
        return Ok(mounted.status.to_json());
    }
    Ok(describe(&mounted.status).into_bytes())
}

fn describe(status: &Status) -> String {
    let count = |number: u64| number.to_string();
    pairs(&[
        ("mountpoint", status.mountpoint.clone()),
        ("store", format!("{} ({})", status.store, status.engine)),
        ("version", status.version.clone()),
        ("pid", status.pid.to_string()),
        ("up for", period(status.uptime_s)),
        ("configuration", status.config_file.clone().unwrap_or_else(|| String::from("no file"))),
        ("threads", count(status.threads)),
        ("deleted threads", format!("{} kept", status.deleted)),
        ("inodes", count(status.inodes)),
        ("content", bytes(status.bytes)),
        (
            "history",
            format!("{} snapshots, about {} beside the content", status.snapshots, bytes(status.history_bytes)),
        ),
        ("store size", bytes(status.store_bytes)),
        ("locks held", count(status.locks)),
        ("open drafts", count(status.drafts)),
        ("commits", format!("{}, {} rejected", status.commits, status.commits_rejected)),
        ("rejected drafts", format!("{} kept", status.rejected)),
    ])
}
