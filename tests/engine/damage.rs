//! Damaged files give an error that says so, never a panic and never wrong content.

use std::fs;
use std::path::PathBuf;

use threadfs::engine::{Error, Result};

use super::*;

/// A store with tables and a log, as a crash leaves it: a copy of the files of one that is open.
fn store() -> TempDir {
    let (original, directory) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let engine = open(original.path());
    for number in 0..64u8 {
        put(&engine, META, &[number], &[number; 200]);
        put(&engine, DATA, &[number], &[number; 9000]);
    }
    engine.reclaim().unwrap();
    put(&engine, META, b"log", b"only in the log");
    fs::create_dir(directory.path().join("db")).unwrap();
    for entry in fs::read_dir(original.path().join("db")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, directory.path().join("db").join(path.file_name().unwrap())).unwrap();
    }
    directory
}

fn files(directory: &TempDir, is: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(directory.path().join("db"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| is(path.file_name().unwrap().to_str().unwrap()))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "the test finds no file to damage");
    found
}

/// Opens a store and reads all of it.
fn read_all(directory: &TempDir) -> Result<()> {
    let engine = RocksEngine::open(directory.path(), &options())?;
    for space in [META, DATA] {
        for number in 0..64u8 {
            let length = if space == META { 200 } else { 9000 };
            assert_eq!(engine.get(space, &[number])?, Some(vec![number; length]));
        }
        engine.scan(space, b"", b"", &mut |_, _| ControlFlow::Continue(()))?;
    }
    Ok(())
}

fn refused_as_damaged(directory: &TempDir) {
    let error = read_all(directory).expect_err("the damage was not noticed");
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("damaged") && text.contains("backup"), "{text}");
}

#[test]
fn a_healthy_store_is_read() {
    read_all(&store()).unwrap();
}

#[test]
fn a_current_that_names_nothing_is_damage() {
    for text in ["", "garbage", "MANIFEST-999999\n"] {
        let directory = store();
        fs::write(directory.path().join("db/CURRENT"), text).unwrap();
        refused_as_damaged(&directory);
    }
}

#[test]
fn a_lost_current_does_not_begin_a_new_store() {
    let directory = store();
    fs::remove_file(directory.path().join("db/CURRENT")).unwrap();
    let before = super::directory::content(directory.path());
    refused_as_damaged(&directory);
    assert_eq!(super::directory::content(directory.path()), before, "what is left must stay for a rescue");
}

#[test]
fn a_damaged_manifest_is_noticed() {
    for at in [0, 30] {
        let directory = store();
        let manifest = files(&directory, |name| name.starts_with("MANIFEST")).pop().unwrap();
        let mut bytes = fs::read(&manifest).unwrap();
        bytes[at..at + 8].iter_mut().for_each(|byte| *byte ^= 0xff);
        fs::write(&manifest, bytes).unwrap();
        refused_as_damaged(&directory);
    }
}

#[test]
fn a_lost_manifest_is_noticed() {
    let directory = store();
    for manifest in files(&directory, |name| name.starts_with("MANIFEST")) {
        fs::remove_file(manifest).unwrap();
    }
    refused_as_damaged(&directory);
}

#[test]
fn a_damaged_table_is_noticed() {
    let directory = store();
    for table in files(&directory, |name| name.ends_with(".sst")) {
        let mut bytes = fs::read(&table).unwrap();
        bytes[10..40].iter_mut().for_each(|byte| *byte ^= 0xff);
        fs::write(&table, bytes).unwrap();
    }
    refused_as_damaged(&directory);
}

#[test]
fn a_short_table_is_noticed() {
    let directory = store();
    for table in files(&directory, |name| name.ends_with(".sst")) {
        let bytes = fs::read(&table).unwrap();
        fs::write(&table, &bytes[..bytes.len() / 2]).unwrap();
    }
    refused_as_damaged(&directory);
}

#[test]
fn a_lost_table_is_noticed() {
    let directory = store();
    fs::remove_file(files(&directory, |name| name.ends_with(".sst")).pop().unwrap()).unwrap();
    refused_as_damaged(&directory);
}

#[test]
fn a_torn_log_loses_only_what_was_torn() {
    let directory = store();
    let log = files(&directory, |name| name.ends_with(".log")).pop().unwrap();
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, &bytes[..bytes.len() - 3]).unwrap();
    read_all(&directory).unwrap();
    assert_eq!(open(directory.path()).get(META, b"log").unwrap(), None);
}
