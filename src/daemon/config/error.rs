//! What is wrong with a configuration: all of it at once, each with its place.

use std::fmt;

use super::keys::{KEYS, Key, sections};
use super::kind::Refusal;
use super::origin::Origin;
use crate::suggest::nearest;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub origin: Origin,
    /// What is wrong and what is allowed.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.text)
    }
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    /// The mistakes, in the order in which they were found; at least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

/// A value that its key does not take.
pub fn refused(origin: Origin, key: &Key, given: &str, refusal: &Refusal) -> Problem {
    let allowed = key.kind.allowed();
    let name = key.name;
    let text = match refusal {
        Refusal::Kind => {
            let hint = nearest(given.trim_matches('"'), key.kind.choices().iter().copied())
                .map(|near| format!(", did you mean \"{near}\"?"))
                .unwrap_or_default();
            format!("{name} cannot be {given}{hint}; allowed: {allowed}")
        }
        Refusal::Range => format!("{name} = {given} is out of range; allowed: {allowed}"),
        Refusal::Pattern(why) => format!("{name}: the pattern {why}; allowed: {allowed}"),
    };
    Problem { origin, text }
}

/// A key that does not exist, written with its section or without.
pub fn unknown_key(origin: Origin, name: &str) -> Problem {
    let hint = nearest(name, KEYS.iter().map(|key| key.name))
        .map(|near| format!(", did you mean {near}?"))
        .unwrap_or_default();
    let section = name.split_once('.').map_or("", |(section, _)| section);
    let here: Vec<&str> = KEYS.iter().filter(|key| key.section() == section).map(Key::short_name).collect();
    let allowed = if here.is_empty() {
        format!("sections are {}", sections().join(", "))
    } else {
        format!("[{section}] has {}", here.join(", "))
    };
    Problem { origin, text: format!("unknown key {name}{hint} ({allowed})") }
}

/// A section that does not exist.
pub fn unknown_section(origin: Origin, name: &str) -> Problem {
    let hint = nearest(name, sections()).map(|near| format!(", did you mean [{near}]?")).unwrap_or_default();
    let text = format!("unknown section [{name}]{hint} (sections are {})", sections().join(", "));
    Problem { origin, text }
}
