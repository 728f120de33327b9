//! Collects values, layer over layer, and the mistakes on the way.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::error::{Problem, refused};
use super::keys::Key;
use super::origin::Origin;
use super::settings::Settings;

/// A configuration in the making. A later value replaces an earlier one.
#[derive(Debug, Default)]
pub struct Builder {
    /// The values so far.
    pub settings: Settings,
    /// Which keys were set, and where last.
    pub origins: BTreeMap<&'static str, Origin>,
    /// The mistakes so far.
    pub problems: Vec<Problem>,
}

impl Builder {
    /// Notes a mistake.
    pub fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Takes a value of a configuration file; `source` is how it stands there.
    pub fn set_toml(&mut self, key: &'static Key, origin: Origin, value: &DeValue<'_>, source: &str) {
        match key.kind.set_toml(&mut self.settings, value) {
            Ok(()) => drop(self.origins.insert(key.name, origin)),
            Err(refusal) => self.problems.push(refused(origin, key, source, &refusal)),
        }
    }

    /// Takes a value that is a plain text.
    pub fn set_text(&mut self, key: &'static Key, origin: Origin, text: &str) {
        match key.kind.set_text(&mut self.settings, text) {
            Ok(()) => drop(self.origins.insert(key.name, origin)),
            Err(refusal) => {
                self.problems.push(refused(origin, key, &format!("{text:?}"), &refusal));
            }
        }
    }
}
