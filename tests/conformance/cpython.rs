//! The tests of the Python interpreter's own library, as far as they use files.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

use crate::report::Run;
use crate::support::{Mount, is_full};
use crate::tools;

/// These are fast.
const MODULES: &str = "test_os test_posix test_fcntl test_mmap test_shutil test_tempfile test_fileio test_file \
    test_filecmp test_fileinput test_glob test_pathlib test_genericpath test_posixpath test_stat test_largefile \
    test_sqlite3 test_zipimport test_mailbox test_dbm test_dbm_dumb test_shelve test_import test_linecache \
    test_unicode_file test_unicode_file_functions test_univnewlines test_pkgutil test_runpy test_py_compile";

/// These take a while.
const SLOW_MODULES: &str = "test_io test_bufio test_tarfile test_zipfile test_zipfile64 test_compileall test_gzip \
    test_bz2 test_lzma test_venv test_subprocess test_logging test_zipapp test_httpservers test_socketserver";

/// With fewer tests, something was left out.
const LEAST: usize = 1500;

fn modules() -> impl Iterator<Item = &'static str> {
    let slow = if is_full() { SLOW_MODULES } else { "" };
    MODULES.split_whitespace().chain(slow.split_whitespace())
}

/// Each test and how it ended, with temporary files in a folder.
#[track_caller]
fn results(folder: &Path) -> BTreeMap<String, String> {
    let mut command = tools::cpython();
    command.args(["-c", include_str!("py/cpython.py")]).args(modules());
    let done = tools::run(command.current_dir(folder).env("TMPDIR", folder).env("HOME", folder));
    assert!(done.status.success(), "{done:#?}");
    serde_json::from_str(done.stdout.lines().last().unwrap()).unwrap()
}

fn shown(results: &BTreeMap<String, String>) -> String {
    let count = |result: &str| results.values().filter(|found| *found == result).count();
    format!("{} pass, {} skipped, {} fail", count("passed"), count("skipped"), count("failed"))
}

#[test]
fn the_library_of_python_works_as_on_the_disk() {
    let (mount, disk) = (Mount::new(), tools::disk());
    let run = Run::start("Python's own tests", format!("{} modules", modules().count()));
    let (here, there) = thread::scope(|scope| {
        let here = scope.spawn(|| results(&tools::workspace(&mount.path)));
        let there = scope.spawn(|| results(&tools::workspace(disk.path())));
        (here.join().unwrap(), there.join().unwrap())
    });
    let names = here.keys().chain(there.keys());
    let differing: BTreeMap<_, _> = names
        .filter(|name| here.get(*name) != there.get(*name))
        .map(|name| (name, (here.get(name), there.get(name))))
        .collect();
    assert!(differing.is_empty(), "(on the mount, on the disk): {differing:#?}");
    assert!(here.len() >= LEAST, "{}", shown(&here));
    run.ended(&shown(&here), &shown(&there));
}
