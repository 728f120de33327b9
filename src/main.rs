//! The `threadfs` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    threadfs::cli::run()
}
