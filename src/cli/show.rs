//! `threadfs show`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::Output;
use super::target::Target;
use crate::daemon::Error;
use crate::daemon::thread::name_of;
use crate::fs::Request;

/// Print a kept version of a document.
///
/// threadfs log THREAD --versions lists them.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// The document, relative to the thread, and the number of the version.
    #[arg(value_name = "FILE@VERSION")]
    version: OsString,
}

/// Prints it.
pub fn run(args: &Args) -> Output {
    let (file, version) = parts(&args.version)?;
    let thread = args.target.find()?;
    let path = thread.relative(Path::new(file))?;
    let reply = thread.ask(&Request::Show { path, version })?;
    let text = |name: &str| reply.get(name).and_then(serde_json::Value::as_str);
    match (text("content"), text("escaped")) {
        (Some(content), _) => Ok(content.as_bytes().to_vec()),
        (None, escaped) => Ok(name_of(escaped.unwrap_or_default()).as_bytes().to_vec()),
    }
}

fn parts(given: &OsStr) -> Result<(&OsStr, u64), Error> {
    let bytes = given.as_bytes();
    let split = bytes.iter().rposition(|byte| *byte == b'@').and_then(|at| {
        let (file, version) = bytes.split_at_checked(at)?;
        Some((OsStr::from_bytes(file), std::str::from_utf8(version.get(1..)?).ok()?.parse().ok()?))
    });
    split.ok_or_else(|| Error::Refused(format!("{} is not FILE@VERSION, as in sandbox.json@7", given.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_can_have_the_sign_in_its_name() {
        assert_eq!(parts(OsStr::new("a@b@7")).unwrap(), (OsStr::new("a@b"), 7));
        for wrong in ["a", "a@", "a@b", "7"] {
            assert!(parts(OsStr::new(wrong)).is_err(), "{wrong}");
        }
    }
}
