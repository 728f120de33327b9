//! `threadfs restore`.

use std::ffi::OsString;
use std::path::Path;

use super::Output;
use super::target::Target;
use super::text::{field, printable};
use crate::daemon::thread::text_of;
use crate::fs::Request;

/// Make a thread, or some paths in it, what it was at a snapshot.
///
/// A snapshot of the present state is taken first, so nothing is lost: its name is printed. Directories keep
/// their inode numbers; who has a file open goes on with what it was.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// The snapshot; a time such as @2026-11-30T11:55:00Z stands for the newest that old.
    name: OsString,
    /// Only these, relative to the thread.
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<OsString>,
}

/// Restores.
pub fn run(args: &Args) -> Output {
    let thread = args.target.find()?;
    let paths = args.paths.iter().map(|path| thread.relative(Path::new(path))).collect::<Result<Vec<_>, _>>()?;
    // Pages of shared mappings that the kernel has not written yet are part of what is kept first.
    thread.sync()?;
    let reply = thread.ask(&Request::Restore { name: text_of(&args.name), paths })?;
    let (shown, name) = (printable(&thread.shown()), printable(&field(&reply, "name")));
    Ok(match reply.get("safety").and_then(serde_json::Value::as_str) {
        None => format!("{shown} is as it was at {name} already.\n"),
        Some(safety) => {
            let safety = printable(safety);
            format!(
                "{shown} is as it was at {name}: {} changes.\n\
                 The state before is the snapshot {safety}; to undo:\n  threadfs restore {} {safety}\n",
                field(&reply, "changes"),
                printable(&thread.path.display().to_string())
            )
        }
    }
    .into_bytes())
}
