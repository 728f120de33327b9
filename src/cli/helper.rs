//! `mount -t fuse.threadfs STORE MOUNTPOINT`, and lines of fstab(5): mount(8) runs the program under
//! the name `/sbin/mount.fuse.threadfs`, as its section "External helpers" says.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use crate::daemon::config::Sources;
use crate::daemon::{Error, MountRequest, mount};

/// The exit status for wrong usage (mount(8)).
pub const USAGE: u8 = 1;

/// The exit status for a mount that failed (mount(8)).
const FAILED: u8 = 32;

/// Mount a store for mount(8).
#[derive(Debug, Parser)]
#[command(name = "mount.fuse.threadfs", version)]
pub struct Args {
    /// A directory that holds the filesystem, or memory: to keep nothing.
    store: String,
    /// The directory on which to mount.
    mountpoint: PathBuf,
    /// Only look whether the options are right.
    #[arg(short)]
    fake: bool,
    /// Say what was mounted.
    #[arg(short)]
    verbose: bool,
    /// Nothing: there is no table to write.
    #[arg(short)]
    n: bool,
    /// Nothing: unknown options are errors.
    #[arg(short)]
    sloppy: bool,
    /// The type, which is known.
    #[arg(short, value_name = "TYPE")]
    t: Option<String>,
    /// Configuration keys and mount options, separated by commas.
    #[arg(short, value_name = "KEY=VALUE,...")]
    options: Vec<String>,
}

/// Whether the program was run under the name of a helper.
pub fn is_meant(program: Option<&OsString>) -> bool {
    let name = program.map(Path::new).and_then(Path::file_name);
    name.and_then(OsStr::to_str).is_some_and(|name| matches!(name, "mount.fuse.threadfs" | "mount.threadfs"))
}

/// The arguments of this process; an error is help, or wrong usage.
pub fn parse() -> Result<Args, clap::Error> {
    Args::try_parse()
}

/// Mounts; the status for mount(8), which prints nothing of its own.
pub fn run(args: Args, tell: impl FnOnce(&Error)) -> ExitCode {
    // Unlike FUSE, mount(8) has these in force where nothing else is said, and so does not say them.
    let mut options = vec![String::from("suid,dev")];
    options.extend(args.options);
    let sources = Sources::of_command(None, options);
    let result = if args.fake {
        crate::daemon::config::Config::load(&sources).map(drop).map_err(Error::from)
    } else {
        mount(&MountRequest {
            store: args.store,
            mountpoint: args.mountpoint,
            foreground: false,
            nonempty: false,
            quiet: !args.verbose,
            log_file: None,
            sources,
        })
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&error);
            ExitCode::from(FAILED)
        }
    }
}
