//! `threadfs locks`.

use std::path::PathBuf;

use serde_json::Value;

use super::Output;
use super::text::{field, list, table, time_field};
use crate::daemon::Mounted;

/// Show who holds locks and who waits for one.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory that is mounted on.
    mountpoint: PathBuf,
    /// Print the content of .threadfs/locks.json instead.
    #[arg(long)]
    json: bool,
}

/// Shows the locks.
pub fn run(args: &Args) -> Output {
    let mounted = Mounted::open(&args.mountpoint)?;
    if args.json {
        return mounted.read("locks.json");
    }
    Ok(describe(&mounted.read_json("locks.json")?).into_bytes())
}

fn describe(locks: &Value) -> String {
    let rows: Vec<Vec<String>> = list(locks, "locks").iter().map(row).collect();
    if rows.is_empty() {
        return String::from("No locks are held.\n");
    }
    table(&["STATE", "KIND", "MODE", "PID", "COMMAND", "HOST", "SINCE", "PATH"], &rows)
}

fn row(lock: &Value) -> Vec<String> {
    let text = |name| field(lock, name);
    vec![
        text("state"),
        text("kind"),
        text("mode"),
        text("pid"),
        text("command"),
        text("host"),
        time_field(lock, "since"),
        text("path"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_and_something() {
        assert_eq!(describe(&json!([])), "No locks are held.\n");
        let locks = json!([{
            "path": "threads/a\n/sandbox.lock", "kind": "flock", "mode": "write", "state": "held",
            "pid": 7, "command": "python", "host": "h", "since": null
        }]);
        assert_eq!(
            describe(&locks),
            "STATE  KIND   MODE   PID  COMMAND  HOST  SINCE  PATH\n\
             held   flock  write  7    python   h     -      threads/a\\n/sandbox.lock\n"
        );
    }
}
