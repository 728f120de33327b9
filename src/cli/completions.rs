//! `threadfs completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Output};

/// Print a script that completes commands and options in a shell.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell.
    shell: Shell,
}

/// Prints it.
pub fn run(args: &Args) -> Output {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "threadfs", &mut script);
    Ok(script)
}
