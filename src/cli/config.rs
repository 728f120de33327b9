//! `threadfs config`.

use std::path::PathBuf;

use super::Output;
use crate::daemon::config::{Config, Sources};

/// Print the configuration that is in force, with comments.
///
/// The output is itself a configuration file. That of a running mount stands in
/// .threadfs/config.toml under its mountpoint.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Configuration file (TOML); without, the one that THREADFS_CONFIG names, or none.
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Configuration keys, as for mount.
    #[arg(short = 'o', value_name = "KEY=VALUE,...")]
    options: Vec<String>,
}

/// Prints it.
pub fn run(args: Args) -> Output {
    let config = Config::load(&Sources::of_command(args.config, args.options))?;
    Ok(config.to_toml().into_bytes())
}
