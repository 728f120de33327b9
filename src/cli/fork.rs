//! `threadfs fork`.

use std::ffi::OsString;

use super::Output;
use super::target::Target;
use super::text::printable;

/// Make a thread that begins as another one is, or was at a snapshot.
///
/// It takes no room but for what becomes different.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// The path of the new thread, or a name beside the other one.
    new: OsString,
    /// Begin as it was at this snapshot, or at a time such as @2026-11-30T11:55:00Z.
    #[arg(long, value_name = "NAME")]
    at: Option<OsString>,
}

/// Forks.
pub fn run(args: &Args) -> Output {
    let thread = args.target.find()?;
    if args.at.is_none() {
        thread.sync()?;
    }
    let path = thread.fork(&args.new, args.at.as_deref())?;
    let (new, old) = (printable(&path.display().to_string()), printable(&thread.shown()));
    Ok(format!("Made {new} from {old}.\n").into_bytes())
}
