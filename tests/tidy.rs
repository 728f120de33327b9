//! Rules of the house that no compiler checks: layers, file length, what must not stand in src.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// Top to bottom.
const LAYERS: [&str; 6] = ["cli", "daemon", "fuse", "fs", "store", "engine"];

/// Lines of a file, with the tests at its end.
const LONGEST: usize = 400;

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(dir: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found.retain(|(path, _)| path.file_name().is_some_and(|name| name != "tests.rs"));
    assert!(found.len() > 50, "the sources were not found");
    found
}

fn layer_of(path: &Path) -> Option<usize> {
    let relative = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let top = relative.components().next()?.as_os_str().to_str()?.to_string();
    LAYERS.iter().position(|layer| *layer == top)
}

/// The lines of a file up to its tests.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    lines.take_while(|(_, line)| line.trim() != "#[cfg(test)]")
}

#[test]
fn imports_point_down() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let Some(own) = layer_of(&path) else { continue };
        for (number, line) in code(&text) {
            for above in &LAYERS[..own] {
                if line.contains(&format!("crate::{above}::")) || line.contains(&format!("crate::{above};")) {
                    wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "imports that point upward:\n{}", wrong.join("\n"));
}

#[test]
fn libraries_stay_in_their_layer() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        let layer = layer_of(&path).map_or("", |index| LAYERS[index]);
        for (number, line) in code(&text) {
            let strays = [("fuser::", "fuse"), ("rocksdb::", "engine"), ("clap::", "cli")];
            for (library, home) in strays {
                let used = line.contains(library) && !line.trim_start().starts_with("//");
                if used && layer != home && !line.contains(&format!("crate::{home}")) {
                    wrong.push(format!("{}:{number}: {}", path.display(), line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "libraries outside of their layer:\n{}", wrong.join("\n"));
}

#[test]
fn files_read_in_one_sitting() {
    let long: Vec<String> = sources()
        .iter()
        .filter(|(_, text)| text.lines().count() > LONGEST)
        .map(|(path, text)| format!("{}: {} lines", path.display(), text.lines().count()))
        .collect();
    assert!(long.is_empty(), "split these by responsibility:\n{}", long.join("\n"));
}

#[test]
fn nothing_that_input_can_reach_panics() {
    let mut wrong = Vec::new();
    for (path, text) in sources() {
        for (number, line) in code(&text) {
            let line = line.trim();
            let panics = [".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!(", "unreachable!(", "let _ ="];
            if !line.starts_with("//") && panics.iter().any(|call| line.contains(call)) {
                wrong.push(format!("{}:{number}: {line}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "return an error instead:\n{}", wrong.join("\n"));
}
