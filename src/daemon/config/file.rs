//! The configuration file: TOML, with the line of every key.

use std::fs;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::builder::Builder;
use super::error::{Problem, unknown_key, unknown_section};
use super::keys::{find, sections};
use super::origin::Origin;

/// Reads a file into the configuration; every mistake is noted there.
pub fn read(builder: &mut Builder, path: &Path) {
    let whole = |text: String| Problem { origin: origin(path, 0), text };
    match fs::read(path) {
        Err(error) => builder.problem(whole(format!(
            "cannot read the configuration file: {error}; give another with --config, or none"
        ))),
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => parse(builder, path, &text),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let line = line_at(&String::from_utf8_lossy(error.as_bytes()), valid);
                builder.problem(Problem {
                    origin: origin(path, line),
                    text: String::from("not UTF-8, as TOML has to be"),
                });
            }
        },
    }
}

/// Reads the text of a file.
pub fn parse(builder: &mut Builder, path: &Path, text: &str) {
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let line = error.span().map_or(0, |span| line_at(text, span.start));
            builder.problem(Problem {
                origin: origin(path, line),
                text: format!("not valid TOML: {}", error.message().trim()),
            });
            return;
        }
    };
    for (name, value) in document.get_ref() {
        let here = origin(path, line_at(text, name.span().start));
        let section: &str = name.get_ref();
        match value.get_ref() {
            DeValue::Table(table) if sections().contains(&section) => {
                for (name, value) in table {
                    let key = format!("{section}.{}", name.get_ref());
                    let here = origin(path, line_at(text, name.span().start));
                    let source = text.get(value.span()).unwrap_or_default();
                    match find(&key) {
                        Some(key) => builder.set_toml(key, here, value.get_ref(), source),
                        None => builder.problem(unknown_key(here, &key)),
                    }
                }
            }
            DeValue::Table(_) => builder.problem(unknown_section(here, section)),
            _ if sections().contains(&section) => builder.problem(Problem {
                origin: here,
                text: format!("{section} is a section: write [{section}] and its keys below"),
            }),
            _ => builder.problem(unknown_key(here, section)),
        }
    }
}

fn origin(path: &Path, line: usize) -> Origin {
    Origin::File { path: path.to_owned(), line }
}

/// The line, from 1, of a byte offset.
fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}
