//! LangGraph's conformance kit with its SQLite checkpointers, as they are published.

use std::path::Path;

use serde_json::Value;

use crate::report::Run;
use crate::support::Mount;
use crate::tools;

/// So many of the tests of the kit pass on a disk.
const LEAST: u64 = 58;

/// The results of every test of the kit, with the database in a folder.
#[track_caller]
fn results(folder: &Path, saver: &str) -> Value {
    let done = tools::run(tools::langgraph().args(["-c", include_str!("py/langgraph.py"), saver]).current_dir(folder));
    assert!(done.status.success(), "{done:#?}");
    serde_json::from_str(done.stdout.lines().last().unwrap()).unwrap()
}

fn passed(results: &Value) -> u64 {
    results.as_object().unwrap().values().filter(|result| *result == "passed").count() as u64
}

#[track_caller]
fn as_on_the_disk(saver: &str) {
    let (mount, disk) = (Mount::new(), tools::disk());
    let run = Run::start("langgraph-checkpoint-conformance 0.0.2", saver);
    let here = results(&tools::workspace(&mount.path), saver);
    let there = results(&tools::workspace(disk.path()), saver);
    assert_eq!(here, there);
    assert!(passed(&here) >= LEAST, "{here:#}");
    let shown = |results: &Value| format!("{} pass", passed(results));
    run.ended(&shown(&here), &shown(&there));
}

#[test]
fn the_asynchronous_saver() {
    as_on_the_disk("AsyncSqliteSaver");
}

#[test]
fn the_synchronous_saver() {
    as_on_the_disk("SqliteSaver");
}
