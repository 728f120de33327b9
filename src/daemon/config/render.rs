//! The text of `threadfs config`: a configuration file that says what is in force and why.

use std::fmt::Write as _;

use super::Config;
use super::keys::{KEYS, Key};
use super::settings::Settings;

/// The width at which comments are broken.
const WIDTH: usize = 96;

/// Writes the whole configuration as TOML with comments. Reading it again gives the same.
pub fn render(config: &Config) -> String {
    let defaults = Settings::default();
    let mut text = String::new();
    comment(&mut text, "The configuration of threadfs that is in force, as a configuration file.");
    match &config.file {
        Some(path) => comment(&mut text, &format!("File: {}", path.display())),
        None => comment(&mut text, "File: none"),
    }
    let mut section = "";
    for key in KEYS {
        if key.section() != section {
            section = key.section();
            text.push_str(&format!("\n[{section}]\n"));
        } else {
            text.push('\n');
        }
        entry(&mut text, config, key, &defaults);
    }
    text
}

fn entry(text: &mut String, config: &Config, key: &Key, defaults: &Settings) {
    comment(text, key.doc);
    comment(text, &format!("Allowed: {}.", key.kind.allowed()));
    comment(text, &format!("Default: {}", key.kind.show(defaults)));
    if let Some(origin) = config.origins.get(key.name) {
        comment(text, &format!("Set by: {origin}"));
    }
    // Writing to a String cannot fail.
    writeln!(text, "{} = {}", key.short_name(), key.kind.show(&config.settings)).unwrap_or_default();
}

/// Adds a comment, broken into lines; control characters cannot end it early.
fn comment(text: &mut String, words: &str) {
    let words = words.replace(char::is_control, "?");
    let mut line = String::from("#");
    for word in words.split(' ') {
        if line.len() + 1 + word.len() > WIDTH && line.len() > 1 {
            text.push_str(&line);
            text.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}
