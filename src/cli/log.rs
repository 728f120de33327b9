//! `threadfs log`.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use super::Output;
use super::target::{Target, change_line, counts, who};
use super::text::{field, json_text, list, printable, table};
use crate::fs::Request;

/// Show the timeline of a thread: its snapshots, the oldest first, and what changed from each to the next.
///
/// The last line, "now", is what changed since the newest snapshot.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Name the paths that changed.
    #[arg(long)]
    paths: bool,
    /// Show the kept versions of the documents, or of one, instead.
    #[arg(long, value_name = "FILE", conflicts_with = "paths", num_args = 0..=1)]
    versions: Option<Option<OsString>>,
    /// Print JSON instead.
    #[arg(long)]
    json: bool,
}

/// Shows the timeline.
pub fn run(args: &Args) -> Output {
    let thread = args.target.find()?;
    let reply = match &args.versions {
        Some(file) => {
            let path = file.as_deref().map(|file| thread.relative(Path::new(file))).transpose()?;
            thread.ask(&Request::Versions { path })?
        }
        None => thread.ask(&Request::Log { paths: args.paths })?,
    };
    Ok(match (args.json, &args.versions) {
        (true, _) => json_text(&reply),
        (false, Some(_)) => describe_versions(&reply).into_bytes(),
        (false, None) => describe(&reply).into_bytes(),
    })
}

fn describe(log: &Value) -> String {
    let snapshots = list(log, "snapshots");
    if snapshots.is_empty() {
        return String::from("There are no snapshots.\n");
    }
    let now = log.get("now").filter(|now| now.is_object());
    let row = |entry: &Value, time: String| {
        let text = |name| field(entry, name);
        vec![time, text("name"), text("kind"), counts(entry), who(entry), text("reason")]
    };
    let mut rows: Vec<Vec<String>> = snapshots.iter().map(|entry| row(entry, field(entry, "time"))).collect();
    rows.extend(now.map(|now| row(now, String::from("now"))));
    let text = table(&["TIME", "NAME", "KIND", "CHANGES", "WHO", "WHY"], &rows);
    let mut lines = text.lines();
    let mut done = format!("{}\n", lines.next().unwrap_or_default());
    for (line, entry) in lines.zip(snapshots.iter().chain(now)) {
        done += &format!("{line}\n");
        for change in list(entry, "changes") {
            done += &format!("  {}\n", printable(&change_line(change)));
        }
    }
    done
}

fn describe_versions(reply: &Value) -> String {
    let rows: Vec<Vec<String>> = list(reply, "versions")
        .iter()
        .map(|version| ["time", "path", "version", "size", "pid"].map(|name| field(version, name)).to_vec())
        .collect();
    if rows.is_empty() {
        return String::from("No versions are kept.\n");
    }
    table(&["TIME", "PATH", "VERSION", "BYTES", "PID"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_timeline_with_paths() {
        let counts = json!({"added": 1, "removed": 0, "changed": 0});
        let log = json!({
            "snapshots": [{"name": "one", "time": "T", "kind": "named", "reason": "", "pid": 7, "command": "sh"}],
            "now": {"counts": counts, "changes": [{"path": "a\n", "change": "added", "kind": "file", "after": 1}]},
        });
        assert_eq!(
            describe(&log),
            "TIME  NAME  KIND   CHANGES   WHO   WHY\n\
             T     one   named  -         7 sh  -\n\
             now   -     -      +1 -0 ~0  -     -\n  + a\\n  (1 bytes)\n"
        );
        assert_eq!(describe(&json!({"snapshots": [], "now": null})), "There are no snapshots.\n");
    }
}
