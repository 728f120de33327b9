//! `threadfs diff`.

use std::ffi::OsString;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::target::{Target, change_line};
use super::text::{field, json_text, list, printable};
use crate::daemon::Error;
use crate::daemon::thread::{Thread, fields, name_of, text_of};
use crate::fs::Request;

/// Show what is different between a snapshot and another one, or the present.
///
/// Documents are compared field by field. Exit status 0, whether there are differences or not; see
/// --exit-code.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// A snapshot; a time such as @2026-11-30T11:55:00Z stands for the newest that old.
    #[arg(value_name = "A")]
    from: OsString,
    /// Another one; without, the present.
    #[arg(value_name = "B")]
    to: Option<OsString>,
    /// Print JSON instead.
    #[arg(long)]
    json: bool,
    /// Exit status 1 if there are differences.
    #[arg(long)]
    exit_code: bool,
}

/// Shows the differences; the status says whether there are some, where that was asked for.
pub fn run(args: &Args) -> Result<(Vec<u8>, ExitCode), Error> {
    let thread = args.target.find()?;
    if args.to.is_none() {
        thread.sync()?;
    }
    let request = Request::Diff { from: text_of(&args.from), to: args.to.as_deref().map(text_of) };
    let mut reply = thread.ask(&request)?;
    add_fields(&thread, &mut reply);
    let differs = args.exit_code && !list(&reply, "changes").is_empty();
    let text = if args.json { json_text(&reply) } else { describe(&reply).into_bytes() };
    Ok((text, if differs { ExitCode::FAILURE } else { ExitCode::SUCCESS }))
}

/// Takes the documents apart that differ, as far as this user may read them.
fn add_fields(thread: &Thread, reply: &mut Value) {
    let before = thread.snapshot(&name_of(&field(reply, "from")));
    let after = match reply.get("to").and_then(Value::as_str) {
        Some(to) => thread.snapshot(&name_of(to)),
        None => thread.path.clone(),
    };
    let changes = reply.get_mut("changes").and_then(Value::as_array_mut).into_iter().flatten();
    for change in changes {
        let is_document = change.get("document") == Some(&Value::Bool(true));
        let differs = change.get("what").and_then(Value::as_array).is_some_and(|what| what.contains(&json!("content")));
        if !is_document || !differs {
            continue;
        }
        let path = field(change, "path");
        let old = change.get("from").and_then(Value::as_str).unwrap_or(&path);
        let found = fields::of_files(&before.join(name_of(old)), &after.join(name_of(&path)));
        if let (Some(found), Some(change)) = (found, change.as_object_mut()) {
            change.insert(String::from("fields"), json!(found));
        }
    }
}

fn describe(reply: &Value) -> String {
    let mut text = String::new();
    for change in list(reply, "changes") {
        text += &format!("{}\n", printable(&change_line(change)));
        for field in list(change, "fields") {
            text += &format!("    {}\n", printable(&field_line(field)));
        }
    }
    if text.is_empty() { String::from("There are no differences.\n") } else { text }
}

fn field_line(entry: &Value) -> String {
    let pointer = field(entry, "pointer");
    match (entry.get("before"), entry.get("after")) {
        (Some(before), Some(after)) => format!("~ {pointer}: {before} -> {after}"),
        (Some(before), None) => format!("- {pointer}: {before}"),
        (None, after) => format!("+ {pointer}: {}", after.unwrap_or(&Value::Null)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_below_their_document() {
        let reply = json!({"changes": [{
            "path": "a.json", "change": "changed", "kind": "file", "what": ["content"], "before": 5, "after": 5,
            "fields": [{"pointer": "/a", "before": 1, "after": "x"}, {"pointer": "/b", "after": null}]
        }]});
        assert_eq!(describe(&reply), "~ a.json  (content)\n    ~ /a: 1 -> \"x\"\n    + /b: null\n");
        assert_eq!(describe(&json!({"changes": []})), "There are no differences.\n");
    }
}
