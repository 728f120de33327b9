//! The environment: `THREADFS_SECTION_KEY`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::builder::Builder;
use super::error::Problem;
use super::keys::{KEYS, Key, sections};
use super::origin::Origin;
use crate::suggest::nearest;

/// The variable that names the configuration file.
pub const FILE_VARIABLE: &str = "THREADFS_CONFIG";

/// The configuration file that the environment names, if it names one.
pub fn file(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    environment
        .iter()
        .find(|(name, value)| name == FILE_VARIABLE && !value.is_empty())
        .map(|(_, value)| PathBuf::from(value))
}

/// Reads all variables that are keys.
///
/// Other variables that start with `THREADFS_` are somebody else's (container platforms make
/// some from the names of services), unless they look so much like a key that they are most
/// likely a misspelling of it.
pub fn read(builder: &mut Builder, environment: &[(OsString, OsString)]) {
    for (name, value) in environment {
        let Some(name) = name.to_str().filter(|name| name.starts_with("THREADFS_")) else { continue };
        let origin = Origin::Variable(name.to_owned());
        match KEYS.iter().find(|key| key.variable() == name) {
            Some(key) => set(builder, key, origin, value),
            None => {
                if let Some(near) = misspelt(name) {
                    let text = format!("no key is set by it, did you mean {near}?");
                    builder.problem(Problem { origin, text });
                }
            }
        }
    }
}

fn set(builder: &mut Builder, key: &'static Key, origin: Origin, value: &OsStr) {
    match value.to_str() {
        Some(text) => builder.set_text(key, origin, text),
        None => builder.problem(Problem { origin, text: String::from("its value is not UTF-8") }),
    }
}

/// The variable that was meant, when a name has the section of a key and nearly its name.
fn misspelt(name: &str) -> Option<String> {
    sections().into_iter().find_map(|section| {
        let prefix = format!("THREADFS_{}_", section.to_uppercase());
        let rest = name.strip_prefix(&prefix)?;
        let names = KEYS.iter().filter(|key| key.section() == section).map(Key::short_name);
        nearest(rest, names).map(|near| format!("{prefix}{}", near.to_uppercase()))
    })
}
