//! `threadfs snapshot`.

use std::ffi::OsString;

use clap::Subcommand;
use serde_json::Value;

use super::Output;
use super::target::{Target, counts};
use super::text::{field, json_text, list, printable, size_field, table};
use crate::daemon::thread::text_of;
use crate::fs::Request;

/// Take, list and delete snapshots.
///
/// They stand as directories in .snapshots of the thread, not listed there, to be read with cat, cp and
/// diff. Only the owner of the thread's directory and root may use this command.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Take one; as mkdir THREAD/.snapshots/NAME, with a reason.
    Create {
        #[command(flatten)]
        target: Target,
        /// Its name; without, one is made up.
        name: Option<OsString>,
        /// Why.
        #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
        reason: String,
    },
    /// List them, the oldest first: with the size that deleting each alone would free, and with how many
    /// paths were added, removed and changed since the one before.
    List {
        #[command(flatten)]
        target: Target,
        /// Print JSON instead.
        #[arg(long)]
        json: bool,
    },
    /// Delete some; as rmdir THREAD/.snapshots/NAME (rm -rf does not work, since they cannot be changed).
    Delete {
        #[command(flatten)]
        target: Target,
        /// Their names; a time such as @2026-11-30T11:55:00Z stands for the newest that old.
        #[arg(required = true, value_name = "NAME")]
        names: Vec<OsString>,
    },
}

/// Takes, lists or deletes.
pub fn run(args: &Args) -> Output {
    match &args.action {
        Action::Create { target, name, reason } => {
            let thread = target.find()?;
            thread.sync()?;
            let name = name.as_deref().map(text_of);
            let taken = thread.ask(&Request::Create { name, reason: reason.clone() })?;
            let name = printable(&field(&taken, "name"));
            // Nothing but the name: a script goes on with it.
            Ok(format!("{name}\n").into_bytes())
        }
        Action::List { target, json } => {
            let log = target.find()?.ask(&Request::Log { paths: false })?;
            match json {
                true => Ok(json_text(log.get("snapshots").unwrap_or(&Value::Null))),
                false => Ok(describe(&log).into_bytes()),
            }
        }
        Action::Delete { target, names } => {
            let thread = target.find()?;
            let mut text = String::new();
            for name in names {
                let name = thread.drop_snapshot(name)?;
                text += &format!("Deleted the snapshot {}.\n", printable(&text_of(&name)));
            }
            Ok(text.into_bytes())
        }
    }
}

fn describe(log: &Value) -> String {
    let rows: Vec<Vec<String>> = list(log, "snapshots").iter().map(row).collect();
    if rows.is_empty() {
        return String::from("There are no snapshots.\n");
    }
    table(&["TIME", "NAME", "KIND", "SIZE", "CHANGES", "REASON"], &rows)
}

fn row(snapshot: &Value) -> Vec<String> {
    let text = |name| field(snapshot, name);
    vec![text("time"), text("name"), text("kind"), size_field(snapshot, "bytes"), counts(snapshot), text("reason")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_and_something() {
        assert_eq!(describe(&json!({"snapshots": []})), "There are no snapshots.\n");
        let log = json!({"snapshots": [{
            "name": "one", "time": "2026-11-30T12:00:00.000Z", "kind": "named", "bytes": 2048, "reason": "",
            "counts": {"added": 1, "removed": 0, "changed": 2}
        }]});
        assert_eq!(
            describe(&log),
            "TIME                      NAME  KIND   SIZE     CHANGES   REASON\n\
             2026-11-30T12:00:00.000Z  one   named  2.0 KiB  +1 -0 ~2  -\n"
        );
    }
}
