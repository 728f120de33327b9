//! `threadfs rejected`.

use std::fs;
use std::io;
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::Value;

use super::Output;
use super::text::{field, list, printable, size_field, table, time_field};
use crate::daemon::{Error, Mounted};

/// Show and delete drafts that were not valid when their writer closed them.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory that is mounted on.
    mountpoint: PathBuf,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List them; what is done without a word.
    List {
        /// Print the content of .threadfs/rejected/index.json instead.
        #[arg(long)]
        json: bool,
    },
    /// Print the content of one.
    Show {
        /// Its number in the list.
        id: String,
    },
    /// Delete one or all.
    Delete {
        /// Its number in the list.
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        id: Option<String>,
        /// All of them.
        #[arg(long)]
        all: bool,
    },
}

/// Lists, shows or deletes.
pub fn run(args: &Args) -> Output {
    let mounted = Mounted::open(&args.mountpoint)?;
    match &args.action {
        Some(Action::List { json: true }) => mounted.read("rejected/index.json"),
        None | Some(Action::List { json: false }) => {
            Ok(describe(&mounted.read_json("rejected/index.json")?).into_bytes())
        }
        Some(Action::Show { id }) => {
            let path = draft(&mounted, id)?;
            fs::read(&path).map_err(|error| failed(&mounted, "read", id, error))
        }
        Some(Action::Delete { id: Some(id), .. }) => {
            delete(&mounted, id)?;
            Ok(format!("Deleted the rejected draft {}.\n", printable(id)).into_bytes())
        }
        Some(Action::Delete { id: None, .. }) => delete_all(&mounted),
    }
}

fn describe(index: &Value) -> String {
    let rows: Vec<Vec<String>> = list(index, "rejected").iter().map(row).collect();
    if rows.is_empty() {
        return String::from("No drafts are kept as rejected.\n");
    }
    table(&["ID", "TIME", "TIMES", "SIZE", "PID", "COMMAND", "PATH", "REASON"], &rows)
}

fn row(draft: &Value) -> Vec<String> {
    let text = |name| field(draft, name);
    vec![
        text("id"),
        time_field(draft, "time"),
        text("count"),
        size_field(draft, "bytes"),
        text("pid"),
        text("command"),
        text("path"),
        text("reason"),
    ]
}

/// The file of one draft. An identifier is one name, so that it cannot lead elsewhere.
fn draft(mounted: &Mounted, id: &str) -> Result<PathBuf, Error> {
    if id.is_empty() || id.contains('/') || matches!(id, "." | ".." | "index.json") {
        return Err(unknown(mounted, id));
    }
    Ok(mounted.file("rejected").join(id))
}

fn delete(mounted: &Mounted, id: &str) -> Result<(), Error> {
    let path = draft(mounted, id)?;
    fs::remove_file(&path).map_err(|error| failed(mounted, "delete", id, error))
}

fn delete_all(mounted: &Mounted) -> Output {
    let index = mounted.read_json("rejected/index.json")?;
    let mut deleted = 0;
    for entry in list(&index, "rejected") {
        let id = field(entry, "id");
        let path = draft(mounted, &id)?;
        match fs::remove_file(&path) {
            Ok(()) => deleted += 1,
            // Gone meanwhile, by age or by another command: that is what was wanted.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(mounted, "delete", &id, error)),
        }
    }
    Ok(match deleted {
        0 => String::from("No drafts are kept as rejected.\n"),
        1 => String::from("Deleted 1 rejected draft.\n"),
        _ => format!("Deleted {deleted} rejected drafts.\n"),
    }
    .into_bytes())
}

fn failed(mounted: &Mounted, action: &str, id: &str, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::NotFound {
        return unknown(mounted, id);
    }
    Error::System { action: format!("{action} the rejected draft {id}"), source: error }
}

fn unknown(mounted: &Mounted, id: &str) -> Error {
    let shown = mounted.path.display();
    Error::Refused(format!("no rejected draft {id:?}: threadfs rejected {shown} lists them"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_and_something() {
        assert_eq!(describe(&json!([])), "No drafts are kept as rejected.\n");
        let index = json!([{
            "id": 3, "path": "threads/a/x.json", "time": null, "pid": 7, "command": "python",
            "reason": "end of file in an object", "bytes": 2048, "count": 2
        }]);
        assert_eq!(
            describe(&index),
            "ID  TIME  TIMES  SIZE     PID  COMMAND  PATH              REASON\n\
             3   -     2      2.0 KiB  7    python   threads/a/x.json  end of file in an object\n"
        );
    }
}
