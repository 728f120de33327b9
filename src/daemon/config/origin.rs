//! Where a value was set.

use std::fmt;
use std::path::PathBuf;

/// Where a value was set; for messages and for the comments of `threadfs config`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A configuration file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1; 0 when the whole file is meant.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
    /// An `-o` option of the command line.
    Option(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { path, line: 0 } => write!(f, "{}", path.display()),
            Origin::File { path, line } => write!(f, "{} line {line}", path.display()),
            Origin::Variable(name) => write!(f, "environment variable {name}"),
            Origin::Option(text) => write!(f, "option -o {text}"),
        }
    }
}
