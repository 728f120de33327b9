//! `threadfs deleted`.

use std::path::PathBuf;

use serde_json::Value;

use super::Output;
use super::text::{field, list, size_field, table, time_field};
use crate::daemon::Mounted;

/// Show the deleted threads that can be brought back.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory that is mounted on; else the mount of the working directory, or the only one.
    #[arg(long, value_name = "DIRECTORY")]
    mount: Option<PathBuf>,
    /// Print the content of .threadfs/deleted.json instead.
    #[arg(long)]
    json: bool,
}

/// Shows them.
pub fn run(args: &Args) -> Output {
    let mounted = Mounted::locate(args.mount.as_deref())?;
    if args.json {
        return mounted.read("deleted.json");
    }
    Ok(describe(&mounted.read_json("deleted.json")?).into_bytes())
}

fn describe(deleted: &Value) -> String {
    let rows: Vec<Vec<String>> = list(deleted, "deleted").iter().map(row).collect();
    if rows.is_empty() {
        return String::from("No deleted threads are kept.\n");
    }
    table(&["REALM", "DELETED", "GONE AT", "UID", "PID", "COMMAND", "SIZE", "SNAPSHOTS", "NEWEST", "PATH"], &rows)
}

fn row(thread: &Value) -> Vec<String> {
    let text = |name| field(thread, name);
    let snapshots = thread.get("snapshots").map(|snapshots| list(snapshots, "snapshots")).unwrap_or_default();
    vec![
        text("realm"),
        time_field(thread, "deleted"),
        time_field(thread, "gone_at"),
        text("uid"),
        text("pid"),
        text("command"),
        size_field(thread, "bytes"),
        snapshots.len().to_string(),
        snapshots.last().map_or_else(|| String::from("-"), |newest| field(newest, "name")),
        text("path"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_and_something() {
        assert_eq!(describe(&json!([])), "No deleted threads are kept.\n");
        let deleted = json!([{
            "realm": 3, "id": "a", "path": "threads/a", "deleted": null, "gone_at": null, "uid": 0, "pid": 7,
            "command": "rm -rf a", "bytes": 2048, "snapshots": [{"name": "one"}, {"name": "two"}]
        }]);
        assert_eq!(
            describe(&deleted),
            "REALM  DELETED  GONE AT  UID  PID  COMMAND   SIZE     SNAPSHOTS  NEWEST  PATH\n\
             3      -        -        0    7    rm -rf a  2.0 KiB  2          two     threads/a\n"
        );
    }
}
