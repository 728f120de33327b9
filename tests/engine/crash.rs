//! A process that is killed loses nothing that it was told is written.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use super::*;

const DIRECTORY: &str = "THREADFS_TEST_DIRECTORY";

/// The writing process. It is this test binary again, which runs only this.
#[test]
#[ignore = "started by the tests below"]
fn child_writes() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let engine = open(Path::new(&directory));
    let mut out = std::io::stdout();
    writeln!(out, "\nopened").unwrap();
    for number in 0u64.. {
        let mut batch = Batch::new();
        batch.put(META, number.to_be_bytes().to_vec(), b"meta".to_vec());
        batch.put(DATA, number.to_be_bytes().to_vec(), vec![number as u8; 3000]);
        engine.write(batch).unwrap();
        writeln!(out, "wrote {number}").unwrap();
        out.flush().unwrap();
    }
}

fn start(directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child_writes", "--ignored", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Lets a child write until it has told of `count` writes, kills it and returns all it told.
fn write_and_kill(directory: &Path, count: usize) -> BTreeSet<u64> {
    let mut child = start(directory);
    let mut told = BTreeSet::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while told.len() < count {
        let line = lines.next().expect("the child ended").unwrap();
        told.extend(line.strip_prefix("wrote ").map(|number| number.parse::<u64>().unwrap()));
    }
    child.kill().unwrap();
    // What was in the pipe when it died was told too; its last line may be torn.
    for line in lines.map_while(Result::ok) {
        told.extend(line.strip_prefix("wrote ").and_then(|number| number.parse::<u64>().ok()));
    }
    child.wait().unwrap();
    told
}

#[test]
fn a_killed_process_loses_no_write() {
    let directory = tempfile::tempdir().unwrap();
    for count in [1, 20, 300, 2500] {
        let told = write_and_kill(directory.path(), count);
        let engine = open(directory.path());
        for number in &told {
            let key = number.to_be_bytes();
            assert_eq!(engine.get(META, &key).unwrap().as_deref(), Some(&b"meta"[..]), "write {number} is lost");
            assert_eq!(engine.get(DATA, &key).unwrap(), Some(vec![*number as u8; 3000]));
        }
        // A batch that nobody was told of is there whole or not at all.
        assert_eq!(keys(&engine, META, b"", b""), keys(&engine, DATA, b"", b""));
        drop(engine);
    }
}

#[test]
fn a_holder_in_another_process_is_named_until_it_dies() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = start(directory.path());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while lines.next().expect("the child ended").unwrap() != "opened" {}
    let error = RocksEngine::open(directory.path(), &options()).err().expect("it was opened twice");
    child.kill().unwrap();
    child.wait().unwrap();
    let text = error.to_string();
    assert!(text.contains(&format!("process {}", child.id())) && text.contains("the test"), "{text}");
    drop(open(directory.path()));
}
