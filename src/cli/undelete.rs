//! `threadfs undelete`.

use std::path::PathBuf;

use super::Output;
use super::text::printable;
use crate::daemon::{Mounted, undelete};

/// Bring a deleted thread back, with its history.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The thread: the path that it had, its id (the last name of that), or realm:N with N as
    /// `threadfs deleted` shows it. Of several with one path, the one that was deleted last.
    thread: String,
    /// What it shall be called, if not as before: a name beside the old one, or a path in the mount.
    new: Option<String>,
    /// The snapshot whose state it shall have; else that of its newest one.
    #[arg(long, value_name = "NAME")]
    at: Option<String>,
    /// The directory that is mounted on; else the mount of the working directory, or the only one.
    #[arg(long, value_name = "DIRECTORY")]
    mount: Option<PathBuf>,
}

/// Brings it back.
pub fn run(args: &Args) -> Output {
    let mounted = Mounted::locate(args.mount.as_deref())?;
    let path = undelete(&mounted, &args.thread, args.new.as_deref(), args.at.as_deref())?;
    Ok(format!("{} is back.\n", printable(&path.display().to_string())).into_bytes())
}
