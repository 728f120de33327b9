//! The configuration: defaults, over them a file, over it the environment, over it the options
//! of the command line. Everything works from one table, [`KEYS`].

mod builder;
mod environment;
mod error;
mod file;
mod keys;
mod kind;
mod options;
mod origin;
mod render;
mod settings;
#[cfg(test)]
mod tests;
mod units;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

pub use environment::FILE_VARIABLE;
pub use error::{Error, Problem};
pub use keys::{KEYS, Key};
pub use kind::{Kind, Refusal};
pub use options::MountFlags;
pub use origin::Origin;
pub use settings::Settings;
pub use units::{format_duration, format_size, parse_duration, parse_size};

use builder::Builder;

/// Where a configuration comes from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The file that `--config` names; it goes before the one that the environment names.
    pub file: Option<PathBuf>,
    /// The environment variables.
    pub environment: Vec<(OsString, OsString)>,
    /// The values of the `-o` options.
    pub options: Vec<String>,
}

impl Sources {
    /// The sources of a command: its flags and the environment of this process.
    pub fn of_command(file: Option<PathBuf>, options: Vec<String>) -> Sources {
        Sources { file, environment: std::env::vars_os().collect(), options }
    }
}

/// The configuration that is in force.
#[derive(Debug, Clone)]
pub struct Config {
    /// The values.
    pub settings: Settings,
    /// The plain mount options.
    pub mount: MountFlags,
    /// The file that was read.
    pub file: Option<PathBuf>,
    origins: BTreeMap<&'static str, Origin>,
}

impl Config {
    /// Reads all sources.
    ///
    /// # Errors
    /// All mistakes together, each with its place and what is allowed there.
    pub fn load(sources: &Sources) -> Result<Config, Error> {
        let mut builder = Builder::default();
        let file = sources.file.clone().or_else(|| environment::file(&sources.environment));
        if let Some(path) = &file {
            file::read(&mut builder, path);
        }
        environment::read(&mut builder, &sources.environment);
        let mount = options::read(&mut builder, &sources.options);
        if !builder.problems.is_empty() {
            return Err(Error { problems: builder.problems });
        }
        // The daemon changes its working directory, and the path is shown to others.
        let file = file.map(|path| std::path::absolute(&path).unwrap_or(path));
        Ok(Config { settings: builder.settings, mount, file, origins: builder.origins })
    }

    /// Where a key was set; `None` when its default is in force.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.origins.get(key)
    }

    /// The whole configuration as TOML with comments: what `threadfs config` prints.
    pub fn to_toml(&self) -> String {
        render::render(self)
    }
}
