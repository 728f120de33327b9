//! What a store in a directory does beyond the common suite.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use threadfs::engine::{self, Error, StoreSpec};

use super::*;

/// Every file below a directory with its content.
pub fn content(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.insert(path.clone(), Vec::new());
            files.extend(content(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn reopening_keeps_everything() {
    let directory = tempfile::tempdir().unwrap();
    let large = vec![5; 3 << 20];
    for round in 0..3u8 {
        let engine = open(directory.path());
        assert_eq!(all(&engine, META).len(), usize::from(round));
        put(&engine, META, &[round], b"value");
        put(&engine, DATA, &[round], &large);
    }
    let engine = open(directory.path());
    assert_eq!(keys(&engine, DATA, b"", b""), [[0], [1], [2]]);
    assert!(engine.get(DATA, &[1]).unwrap().unwrap() == large);
}

#[test]
fn the_directory_is_made_with_its_parents() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a/b/store");
    put(&open(&path), META, b"k", b"v");
    assert_eq!(open(&path).get(META, b"k").unwrap().unwrap(), b"v");
}

#[test]
fn a_second_opener_is_told_who_has_it() {
    let directory = tempfile::tempdir().unwrap();
    let first = EngineOptions { holder: "mount of /srv/home".into(), ..options() };
    let engine = RocksEngine::open(directory.path(), &first).unwrap();
    put(&engine, META, b"k", b"v");
    let Err(error) = RocksEngine::open(directory.path(), &options()) else { panic!("it was opened twice") };
    assert!(matches!(&error, Error::InUse { path, .. } if path == directory.path()), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("mount of /srv/home") && text.contains(&std::process::id().to_string()), "{text}");
    assert_eq!(engine.get(META, b"k").unwrap().unwrap(), b"v", "the first is not disturbed");
    drop(engine);
    assert_eq!(open(directory.path()).get(META, b"k").unwrap().unwrap(), b"v");
}

#[test]
fn a_directory_with_other_files_is_refused_and_left_alone() {
    for name in ["notes.txt", "CURRENT", "data/table.sst"] {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine").unwrap();
        let before = content(directory.path());
        let Err(error) = RocksEngine::open(directory.path(), &options()) else { panic!("{name} was ignored") };
        assert!(matches!(error, Error::NotAStore { .. }), "{error:?}");
        assert_eq!(content(directory.path()), before);
    }
}

#[test]
fn what_an_interrupted_first_start_leaves_is_no_obstacle() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("lost+found")).unwrap();
    fs::create_dir(directory.path().join("db")).unwrap();
    fs::write(directory.path().join("db/LOG"), "").unwrap();
    fs::write(directory.path().join("LOCK.json"), "{").unwrap();
    put(&open(directory.path()), META, b"k", b"v");
    assert_eq!(open(directory.path()).get(META, b"k").unwrap().unwrap(), b"v");
}

#[test]
fn a_file_is_no_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, "mine").unwrap();
    assert!(RocksEngine::open(&path, &options()).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_checkpoint_is_a_store_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let (first, copy) = (directory.path().join("first"), directory.path().join("copy"));
    let engine = open(&first);
    for number in 0..50u8 {
        put(&engine, META, &[number], b"old");
        put(&engine, DATA, &[number], &[number; 5000]);
    }
    engine.checkpoint(&copy).unwrap();
    put(&engine, META, &[0], b"new");
    let opened = open(&copy);
    assert_eq!(opened.get(META, &[0]).unwrap().unwrap(), b"old");
    assert_eq!(all(&opened, DATA), all(&engine, DATA));
    put(&opened, META, &[1], b"changed in the copy");
    assert_eq!(engine.get(META, &[1]).unwrap().unwrap(), b"old");
    assert!(engine.checkpoint(&copy).is_err(), "what exists is not written over");
    drop(opened);
    assert_eq!(open(&copy).get(META, &[1]).unwrap().unwrap(), b"changed in the copy");
}

#[test]
fn memory_says_that_it_cannot_write_a_checkpoint() {
    let directory = tempfile::tempdir().unwrap();
    let error = memory().engine.checkpoint(&directory.path().join("copy")).unwrap_err();
    assert!(matches!(error, Error::Unsupported { engine: "memory", .. }), "{error:?}");
}

#[test]
fn a_specification_opens_its_engine() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let named = |text: &str| engine::open(&StoreSpec::parse(text).unwrap(), &options()).unwrap().name();
    assert_eq!(named("memory:"), "memory");
    assert_eq!(named(path.to_str().unwrap()), "rocksdb");
    assert_eq!(named(&format!("rocksdb:{}", path.display())), "rocksdb");
    for wrong in ["", "memory:x", "redis:host", "sqlite:file"] {
        assert!(StoreSpec::parse(wrong).is_err(), "{wrong:?}");
    }
    assert_eq!(StoreSpec::parse("./a:b").unwrap(), StoreSpec::Directory("./a:b".into()));
}
