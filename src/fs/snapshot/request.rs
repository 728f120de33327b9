//! What a snapshots' control file is asked and what it answers, as JSON.
//!
//! Names and paths are written as [`crate::fs::escaped`] makes them, since file names are any bytes.

use serde::{Deserialize, Serialize};

/// A request: one write(2) to `.snapshots/.control`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// Take a snapshot.
    Create {
        /// Its name; without one, a name is made up.
        #[serde(default)]
        name: Option<String>,
        /// Why.
        #[serde(default)]
        reason: String,
    },
    /// Go back to a snapshot.
    Restore {
        /// Which one.
        name: String,
        /// Only these, relative to the thread; none: everything.
        #[serde(default)]
        paths: Vec<String>,
    },
    /// What is different between two states.
    Diff {
        /// A snapshot.
        from: String,
        /// A later one; without, the present.
        #[serde(default)]
        to: Option<String>,
    },
    /// Every snapshot, with what changed since the one before.
    Log {
        /// Name the paths that changed, and not only how many.
        #[serde(default)]
        paths: bool,
    },
    /// The kept versions of a document, or of all documents.
    Versions {
        /// The document, relative to the thread.
        #[serde(default)]
        path: Option<String>,
    },
    /// The content of a version.
    Show {
        /// The document, relative to the thread.
        path: String,
        /// Its number.
        version: u64,
    },
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// What was asked for.
    Ok(serde_json::Value),
    /// Why not.
    Error(Refusal),
}

/// Why a request was not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// As errno(3).
    pub errno: i32,
    /// For people.
    pub message: String,
}

impl Refusal {
    pub(super) fn new(errno: i32, message: impl Into<String>) -> Refusal {
        Refusal { errno, message: message.into() }
    }
}

impl From<crate::fs::Error> for Refusal {
    fn from(error: crate::fs::Error) -> Refusal {
        Refusal { errno: error.errno(), message: error.to_string() }
    }
}

impl From<crate::store::Error> for Refusal {
    fn from(error: crate::store::Error) -> Refusal {
        crate::fs::Error::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Request, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn requests() {
        let diff = Request::Diff { from: "a".into(), to: None };
        assert_eq!(read(r#"{"op":"diff","from":"a"}"#), Ok(diff.clone()));
        assert_eq!(read(r#"{"op":"diff","from":"a","to":null}"#), Ok(diff));
        assert_eq!(read(r#"{"op":"log"}"#), Ok(Request::Log { paths: false }));
        let create = Request::Create { name: None, reason: "r".into() };
        assert_eq!(read(r#"{"op":"create","reason":"r"}"#), Ok(create.clone()));
        assert_eq!(read(&serde_json::to_string(&create).unwrap()), Ok(create));
        for wrong in [r#"{"op":"no"}"#, "{}", r#"{"op":"log","more":1}"#, r#"{"op":"restore"}"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn replies() {
        let reply = Reply::Error(Refusal::new(2, "none"));
        assert_eq!(serde_json::to_string(&reply).unwrap(), r#"{"error":{"errno":2,"message":"none"}}"#);
    }
}
