//! Stores that cannot be opened: refused with what, where and what to do, and nothing changed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use threadfs::engine::{Batch, EngineOptions, Keyspace, StoreSpec, View, open};
use threadfs::store::key;

use crate::support::{DOC, Mount};

/// Every file of a directory, by name; not the engine's own log of what it did.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(files(&entry.path()).into_iter().map(|(inner, text)| (format!("{name}/{inner}"), text)));
        } else {
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// A store with a document in it, not mounted.
fn store() -> Mount {
    let mount = Mount::builder().tolerating_errors().mount();
    mount.make("threads/t");
    fs::write(mount.at(DOC), "[1]").unwrap();
    mount.unmount();
    mount
}

/// Changes the superblock's bytes.
fn change_superblock(mount: &Mount, change: impl FnOnce(&mut Vec<u8>)) {
    let engine = open(&StoreSpec::Directory(mount.store.clone()), &EngineOptions::default()).unwrap();
    let view: &dyn View = &*engine.view();
    let mut bytes = view.get(Keyspace::Meta, key::SUPERBLOCK).unwrap().unwrap();
    change(&mut bytes);
    let mut batch = Batch::new();
    batch.put(Keyspace::Meta, key::SUPERBLOCK.to_vec(), bytes);
    batch.set_durable(true);
    engine.write(batch).unwrap();
}

#[test]
fn a_store_of_a_newer_format() {
    use threadfs::store::record::{FORMAT, Superblock};
    let mount = store();
    let mut original = Vec::new();
    change_superblock(&mount, |bytes| {
        original.clone_from(bytes);
        // The format is the number behind the magic.
        let at = bytes.windows(8).position(|part| part == b"threadfs").unwrap() + 8;
        assert!(Superblock::decode(bytes).is_ok());
        let format = bytes[at..].iter().position(|byte| u64::from(*byte) == FORMAT).unwrap() + at;
        bytes[format] = 99;
        assert!(Superblock::decode(bytes).is_err());
    });
    let told = mount.try_mount().refused();
    assert!(
        told.contains("format 99")
            && told.contains(&format!("knows up to {FORMAT}"))
            && told.contains("nothing was changed"),
        "{told}"
    );
    assert!(told.contains(mount.store.to_str().unwrap()), "{told}");
    // With the old superblock all is as it was.
    change_superblock(&mount, |bytes| *bytes = original);
    mount.mount_again();
    assert_eq!(mount.read(DOC), "[1]");
}

#[test]
fn a_superblock_that_is_none() {
    let mount = store();
    change_superblock(&mount, |bytes| *bytes = b"nonsense".to_vec());
    let told = mount.try_mount().refused();
    assert!(told.contains("damaged") && told.contains(mount.store.to_str().unwrap()), "{told}");
}

#[test]
fn a_directory_that_is_no_store() {
    let mount = Mount::builder().prepare();
    fs::create_dir(&mount.store).unwrap();
    fs::write(mount.store.join("precious.txt"), "x").unwrap();
    let before = files(&mount.store);
    let told = mount.try_mount().refused();
    assert!(
        told.contains("is not a threadfs store and not empty") && told.contains(mount.store.to_str().unwrap()),
        "{told}"
    );
    assert_eq!(files(&mount.store), before);
}

#[test]
fn a_file_in_place_of_a_store() {
    let mount = Mount::builder().prepare();
    fs::write(&mount.store, "x").unwrap();
    let told = mount.try_mount().refused();
    assert!(told.contains("is not a directory"), "{told}");
    assert_eq!(fs::read_to_string(&mount.store).unwrap(), "x");
}

#[test]
fn an_unknown_engine() {
    let mount = Mount::builder().prepare();
    let command = |store: &str| {
        let mut command = crate::support::threadfs(["mount", store]);
        crate::support::run(command.arg(&mount.path), std::time::Duration::from_secs(60)).refused()
    };
    let told = command("postgres:whatever");
    assert!(told.contains("no engine named \"postgres\"") && told.contains("memory:"), "{told}");
    let told = command("memory:x");
    assert!(told.contains("memory:"), "{told}");
    let told = command("");
    assert!(told.contains("empty"), "{told}");
}

#[test]
fn a_store_with_a_missing_file() {
    let mount = store();
    let missing = files(&mount.store).into_keys().find(|name| name.ends_with("CURRENT")).unwrap();
    fs::remove_file(mount.store.join(missing)).unwrap();
    let told = mount.try_mount().refused();
    assert!(told.contains(mount.store.to_str().unwrap()) || told.contains("damaged"), "{told}");
}

/// Overwrites what files of an ending hold, and says how many there were.
fn overwrite(mount: &Mount, ending: &str) -> usize {
    let names: Vec<String> = files(&mount.store).into_keys().filter(|name| name.ends_with(ending)).collect();
    for name in &names {
        let path = mount.store.join(name);
        let length = fs::metadata(&path).unwrap().len() as usize;
        fs::write(&path, vec![0x5a; length]).unwrap();
    }
    names.len()
}

/// The mount is refused, or the damage shows where it is read: never silently other content.
#[track_caller]
fn is_noticed(mount: &Mount) {
    let done = mount.try_mount();
    if !done.status.success() {
        let told = done.refused();
        assert!(told.contains("damaged"), "{told}");
        return;
    }
    match fs::read_to_string(mount.at(DOC)) {
        Ok(text) => panic!("a damaged store gave {text:?}"),
        Err(error) => assert_eq!(error.raw_os_error(), Some(libc::EIO), "{error}"),
    }
}

#[test]
fn a_store_whose_tables_are_overwritten() {
    let mount = store();
    let engine = open(&StoreSpec::Directory(mount.store.clone()), &EngineOptions::default()).unwrap();
    engine.reclaim().unwrap();
    drop(engine);
    assert!(overwrite(&mount, ".sst") > 0);
    is_noticed(&mount);
}

#[test]
fn a_store_whose_log_is_overwritten_after_an_unmount() {
    let mount = store();
    overwrite(&mount, ".log");
    overwrite(&mount, ".sst");
    is_noticed(&mount);
}

#[test]
fn no_permission_for_the_store() {
    use std::os::unix::process::CommandExt;
    let mount = store();
    let program = mount.path.with_file_name("threadfs");
    fs::copy(env!("CARGO_BIN_EXE_threadfs"), &program).unwrap();
    std::os::unix::fs::chown(&mount.path, Some(1234), Some(1234)).unwrap();
    let mut command = std::process::Command::new(&program);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .uid(1234)
        .gid(1234)
        .arg("mount")
        .arg(&mount.store)
        .arg(&mount.path);
    let told = crate::support::run(&mut command, std::time::Duration::from_secs(60)).refused();
    assert!(told.contains("ermission"), "{told}");
}
