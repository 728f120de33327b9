//! `threadfs mount`.

use std::path::PathBuf;

use super::Output;
use crate::daemon::config::Sources;
use crate::daemon::{MountRequest, mount};

/// Mount a store; returns when the mount is ready.
///
/// The store is created when it is not there. The daemon goes to the background; what keeps it
/// from becoming ready is printed, and is the exit status.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A directory that holds the filesystem, or memory: to keep nothing.
    store: String,
    /// The directory on which to mount.
    mountpoint: PathBuf,
    /// Stay in the foreground, and log to standard error.
    #[arg(short, long)]
    foreground: bool,
    /// Configuration file (TOML); without, the one that THREADFS_CONFIG names, or none.
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Log to this file; SIGHUP opens it anew.
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
    /// Mount on a directory that is not empty, and hide what is in it.
    #[arg(long)]
    nonempty: bool,
    /// Configuration keys (documents.on_invalid=accept) and mount options (ro, nosuid, nodev,
    /// noexec, noatime, relatime, strictatime, nodiratime, allow_other, noallow_other, remount),
    /// separated by commas.
    #[arg(short = 'o', value_name = "KEY=VALUE,...")]
    options: Vec<String>,
}

/// Mounts.
pub fn run(args: Args) -> Output {
    mount(&MountRequest {
        store: args.store,
        mountpoint: args.mountpoint,
        foreground: args.foreground,
        nonempty: args.nonempty,
        quiet: false,
        log_file: args.log_file,
        sources: Sources::of_command(args.config, args.options),
    })?;
    Ok(Vec::new())
}
