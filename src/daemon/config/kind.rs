//! The kinds of values: how each is read from TOML or from a text, checked and written.

use std::fmt;
use std::time::Duration;

use toml::de::DeValue;

use super::settings::Settings;
use super::units::{DURATION_FORM, SIZE_FORM, format_duration, format_size, parse_duration, parse_size};

/// What kind of value a key has, and which setting it is.
///
/// The accessors are function pointers, so that the table of keys is a constant and a key
/// cannot be connected to a setting of another type.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A list of globs.
    Patterns(fn(&mut Settings) -> &mut Vec<String>),
    /// Yes or no.
    Flag(fn(&mut Settings) -> &mut bool),
    /// A whole number.
    Count {
        /// The smallest that is allowed.
        min: u64,
        /// The largest that is allowed.
        max: u64,
        /// The setting.
        field: fn(&mut Settings) -> &mut u64,
    },
    /// A number of bytes.
    Size {
        /// The smallest that is allowed.
        min: u64,
        /// The largest that is allowed.
        max: u64,
        /// The setting.
        field: fn(&mut Settings) -> &mut u64,
    },
    /// A length of time.
    Duration {
        /// The shortest that is allowed.
        min: Duration,
        /// The longest that is allowed.
        max: Duration,
        /// The setting.
        field: fn(&mut Settings) -> &mut Duration,
    },
    /// One of a few names.
    Choice {
        /// The names.
        allowed: &'static [&'static str],
        /// The name of the present value.
        get: fn(&Settings) -> &'static str,
        /// Sets the value; only called with one of the names.
        set: fn(&mut Settings, &str),
    },
}

/// Why a value was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is not of this kind at all.
    Kind,
    /// It is of this kind, but too small or too large.
    Range,
    /// One of the globs in the list is wrong; says which and why.
    Pattern(String),
}

/// A number in either bounds, or a refusal.
fn within<T: PartialOrd>(value: Option<T>, min: T, max: T) -> Result<T, Refusal> {
    match value {
        None => Err(Refusal::Kind),
        Some(value) if value < min || value > max => Err(Refusal::Range),
        Some(value) => Ok(value),
    }
}

/// A glob that the filesystem can use: relative to the mount, without empty or dotted parts.
fn check_pattern(pattern: &str) -> Result<(), Refusal> {
    let wrong = |why: &str| Err(Refusal::Pattern(format!("{pattern:?} {why}")));
    if pattern.starts_with('/') {
        return wrong("starts with /: write it relative to the mount");
    }
    if pattern.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return wrong("has an empty part, . or ..");
    }
    match globset::Glob::new(pattern) {
        Ok(_) => Ok(()),
        Err(error) => wrong(&format!("is not a glob: {}", error.kind())),
    }
}

impl Kind {
    /// Takes a value from a configuration file. Types are strict there.
    pub fn set_toml(&self, settings: &mut Settings, value: &DeValue<'_>) -> Result<(), Refusal> {
        match self {
            Kind::Patterns(_) => {
                let items = value.as_array().ok_or(Refusal::Kind)?;
                let mut patterns = Vec::new();
                for item in items.iter() {
                    patterns.push(item.get_ref().as_str().ok_or(Refusal::Kind)?.to_owned());
                }
                self.set_patterns(settings, patterns)
            }
            Kind::Flag(field) => {
                *field(settings) = value.as_bool().ok_or(Refusal::Kind)?;
                Ok(())
            }
            Kind::Count { min, max, field } => {
                *field(settings) = within(integer(value)?, *min, *max)?;
                Ok(())
            }
            Kind::Size { min, max, field } => {
                let bytes = match value.as_str() {
                    Some(text) => parse_size(text),
                    None => integer(value)?,
                };
                *field(settings) = within(bytes, *min, *max)?;
                Ok(())
            }
            Kind::Duration { .. } | Kind::Choice { .. } => {
                self.set_text(settings, value.as_str().ok_or(Refusal::Kind)?)
            }
        }
    }

    /// Takes a value from a text: an environment variable or an option of the command line.
    pub fn set_text(&self, settings: &mut Settings, text: &str) -> Result<(), Refusal> {
        match self {
            Kind::Patterns(_) => {
                if text.trim_start().starts_with('[') {
                    let value = DeValue::parse(text).map_err(|_| Refusal::Kind)?;
                    return self.set_toml(settings, value.get_ref());
                }
                self.set_patterns(settings, vec![text.to_owned()])
            }
            Kind::Flag(field) => {
                *field(settings) = match text {
                    "true" => true,
                    "false" => false,
                    _ => return Err(Refusal::Kind),
                };
                Ok(())
            }
            Kind::Count { min, max, field } => {
                *field(settings) = within(text.trim().parse().ok(), *min, *max)?;
                Ok(())
            }
            Kind::Size { min, max, field } => {
                *field(settings) = within(parse_size(text), *min, *max)?;
                Ok(())
            }
            Kind::Duration { min, max, field } => {
                *field(settings) = within(parse_duration(text), *min, *max)?;
                Ok(())
            }
            Kind::Choice { allowed, set, .. } => {
                if !allowed.contains(&text) {
                    return Err(Refusal::Kind);
                }
                set(settings, text);
                Ok(())
            }
        }
    }

    fn set_patterns(&self, settings: &mut Settings, patterns: Vec<String>) -> Result<(), Refusal> {
        for pattern in &patterns {
            check_pattern(pattern)?;
        }
        if let Kind::Patterns(field) = self {
            *field(settings) = patterns;
        }
        Ok(())
    }

    /// The value in the settings, as TOML.
    pub fn show(&self, settings: &Settings) -> String {
        // The accessors want a mutable place; a copy of the few settings is cheap.
        let mut copy = settings.clone();
        match self {
            Kind::Patterns(field) => {
                let items: Vec<String> = field(&mut copy).iter().map(|item| quoted(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Kind::Flag(field) => field(&mut copy).to_string(),
            Kind::Count { field, .. } => field(&mut copy).to_string(),
            Kind::Size { field, .. } => quoted(&format_size(*field(&mut copy))),
            Kind::Duration { field, .. } => quoted(&format_duration(*field(&mut copy))),
            Kind::Choice { get, .. } => quoted(get(settings)),
        }
    }

    /// What may be written, in words.
    pub fn allowed(&self) -> String {
        match self {
            Kind::Patterns(_) => String::from("a list of texts, each a glob like \"threads/*/*.json\""),
            Kind::Flag(_) => String::from("true or false"),
            Kind::Count { min, max, .. } => format!("a whole number from {min} to {max}"),
            Kind::Size { min, max, .. } => {
                format!("{SIZE_FORM}; from {} to {}", format_size(*min), format_size(*max))
            }
            Kind::Duration { min, max, .. } => {
                format!("{DURATION_FORM}; from {} to {}", format_duration(*min), format_duration(*max))
            }
            Kind::Choice { allowed, .. } => {
                let names: Vec<String> = allowed.iter().map(|name| quoted(name)).collect();
                names.join(" or ")
            }
        }
    }

    /// The allowed names of a choice; empty for the other kinds.
    pub fn choices(&self) -> &'static [&'static str] {
        match self {
            Kind::Choice { allowed, .. } => allowed,
            _ => &[],
        }
    }
}

/// A TOML integer as a count: `None` when it is negative or too large to be one.
fn integer(value: &DeValue<'_>) -> Result<Option<u64>, Refusal> {
    let integer = value.as_integer().ok_or(Refusal::Kind)?;
    match i64::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(number) => u64::try_from(number).map(Some).map_err(|_| Refusal::Range),
        Err(_) => Err(Refusal::Range),
    }
}

/// A text as a TOML string.
pub fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.allowed())
    }
}
