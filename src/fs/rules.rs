//! Which directories are threads and which files are documents or lock files: the patterns.
//!
//! A pattern is a path from the root of the mount whose parts are globs. A directory's rules are
//! the patterns that its path matches so far; its children's follow from them and their names.
//! So matching needs no path, and a directory deeper than every pattern shares one empty set.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use globset::{GlobBuilder, GlobMatcher};
use parking_lot::RwLock;

use super::error::{Error, Result};
use super::node::Node;

/// What a regular file is, by its name and place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// A file as on any disk.
    #[default]
    Ordinary,
    /// The same, in a directory where a rename can make it a document.
    Beside,
    /// Committed as a whole, and only when valid.
    Document,
    /// Shows its holders.
    Lock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Thread,
    Document,
    Lock,
}

#[derive(Debug)]
struct Pattern {
    purpose: Purpose,
    parts: Vec<GlobMatcher>,
}

impl Pattern {
    fn new(purpose: Purpose, text: &str) -> Result<Pattern> {
        let wrong = |detail: String| Error::Pattern { pattern: text.into(), detail };
        let relative = text.trim_start_matches('/').trim_end_matches('/');
        if relative.is_empty() {
            return Err(wrong("it is empty".into()));
        }
        let parts = relative
            .split('/')
            .map(|part| {
                if matches!(part, "" | "." | ".." | "**") {
                    return Err(wrong(format!("{part:?} cannot stand between slashes: give a name or a glob")));
                }
                GlobBuilder::new(part)
                    .literal_separator(true)
                    .build()
                    .map(|glob| glob.compile_matcher())
                    .map_err(|e| wrong(e.to_string()))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Pattern { purpose, parts })
    }

    fn part_matches(&self, depth: usize, name: &[u8]) -> bool {
        self.parts.get(depth).is_some_and(|part| part.is_match(Path::new(OsStr::from_bytes(name))))
    }
}

/// The rules of one directory.
#[derive(Debug, Default)]
pub struct DirRules {
    /// How many names lead to it.
    depth: usize,
    /// The patterns that its path matches so far.
    open: Vec<usize>,
}

/// All patterns, and the rules of the directories that were asked for.
#[derive(Debug)]
pub struct Rules {
    patterns: Vec<Pattern>,
    none: Arc<DirRules>,
    known: RwLock<HashMap<Node, Arc<DirRules>>>,
    /// Counts the changes that make what was derived from a path untrue.
    generation: AtomicU64,
}

impl Rules {
    /// Reads the patterns.
    ///
    /// # Errors
    /// [`Error::Pattern`] names the one that is wrong.
    pub fn new(threads: &[String], documents: &[String], locks: &[String]) -> Result<Rules> {
        let mut patterns = Vec::new();
        for (purpose, texts) in [(Purpose::Thread, threads), (Purpose::Document, documents), (Purpose::Lock, locks)] {
            for text in texts {
                patterns.push(Pattern::new(purpose, text)?);
            }
        }
        Ok(Rules {
            patterns,
            none: Arc::new(DirRules { depth: usize::MAX, open: Vec::new() }),
            known: RwLock::default(),
            generation: AtomicU64::new(0),
        })
    }

    /// The rules of the root.
    pub fn root(&self) -> Arc<DirRules> {
        Arc::new(DirRules { depth: 0, open: (0..self.patterns.len()).collect() })
    }

    /// The rules of a directory from its parent's.
    pub fn child(&self, parent: &DirRules, name: &[u8]) -> Arc<DirRules> {
        let open: Vec<usize> = parent
            .open
            .iter()
            .copied()
            .filter(|index| {
                self.patterns.get(*index).is_some_and(|pattern| {
                    pattern.parts.len() > parent.depth + 1 && pattern.part_matches(parent.depth, name)
                })
            })
            .collect();
        if open.is_empty() { Arc::clone(&self.none) } else { Arc::new(DirRules { depth: parent.depth + 1, open }) }
    }

    fn last_parts<'a>(&'a self, dir: &'a DirRules) -> impl Iterator<Item = &'a Pattern> {
        dir.open
            .iter()
            .filter_map(|index| self.patterns.get(*index))
            .filter(|pattern| pattern.parts.len() == dir.depth + 1)
    }

    fn names(&self, dir: &DirRules, name: &[u8], purpose: Purpose) -> bool {
        self.last_parts(dir).any(|pattern| pattern.purpose == purpose && pattern.part_matches(dir.depth, name))
    }

    /// Whether a directory of this name is a thread.
    pub fn is_thread(&self, dir: &DirRules, name: &[u8]) -> bool {
        self.names(dir, name, Purpose::Thread)
    }

    /// What a regular file of this name is.
    pub fn role(&self, dir: &DirRules, name: &[u8]) -> Role {
        if dir.open.is_empty() {
            Role::Ordinary
        } else if self.names(dir, name, Purpose::Document) {
            Role::Document
        } else if self.names(dir, name, Purpose::Lock) {
            Role::Lock
        } else if self.has_documents(dir) {
            Role::Beside
        } else {
            Role::Ordinary
        }
    }

    /// Whether a file in a directory can be a document.
    pub fn has_documents(&self, dir: &DirRules) -> bool {
        self.last_parts(dir).any(|pattern| pattern.purpose == Purpose::Document)
    }

    /// Whether a directory in it can be a thread.
    pub fn has_threads(&self, dir: &DirRules) -> bool {
        self.last_parts(dir).any(|pattern| pattern.purpose == Purpose::Thread)
    }

    /// The rules of a directory if they are known.
    pub fn known(&self, dir: Node) -> Option<Arc<DirRules>> {
        self.known.read().get(&dir).cloned()
    }

    /// Remembers the rules of a directory, unless a path changed since `generation`.
    pub fn remember(&self, dir: Node, rules: &Arc<DirRules>, generation: u64) {
        let mut known = self.known.write();
        if generation == self.generation() {
            known.insert(dir, Arc::clone(rules));
        }
    }

    /// Forgets one directory, which is gone.
    pub fn forget(&self, dir: Node) {
        self.known.write().remove(&dir);
    }

    /// A directory was renamed: what lies below has other paths.
    pub fn paths_changed(&self) {
        let mut known = self.known.write();
        self.generation.fetch_add(1, Ordering::SeqCst);
        known.clear();
    }

    /// Changes whenever something derived from a path may have become untrue.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        let options = crate::fs::FsOptions::default();
        Rules::new(&options.thread_patterns, &options.document_patterns, &options.lock_patterns).unwrap()
    }

    fn walk(rules: &Rules, path: &str) -> Arc<DirRules> {
        path.split('/')
            .filter(|part| !part.is_empty())
            .fold(rules.root(), |dir, name| rules.child(&dir, name.as_bytes()))
    }

    #[test]
    fn both_layouts_are_known() {
        let rules = rules();
        for home in ["", "users/7"] {
            let threads = walk(&rules, &format!("{home}/threads"));
            assert!(rules.is_thread(&threads, b"t1"));
            assert_eq!(rules.role(&threads, b"a.json"), Role::Ordinary);
            let thread = walk(&rules, &format!("{home}/threads/t1"));
            assert_eq!(rules.role(&thread, b"sandbox.json"), Role::Document);
            assert_eq!(rules.role(&thread, b"sandbox.lock"), Role::Lock);
            assert_eq!(rules.role(&thread, b"sandbox.json.tmp"), Role::Beside);
            let workspace = walk(&rules, &format!("{home}/threads/t1/user-data"));
            assert_eq!(rules.role(&workspace, b"a.json"), Role::Ordinary);
        }
        assert!(!rules.is_thread(&walk(&rules, "other"), b"t1"));
    }

    #[test]
    fn names_are_bytes() {
        let rules = rules();
        let thread = walk(&rules, "threads/t");
        assert_eq!(rules.role(&thread, b"\xff\xfe.json"), Role::Document);
        assert_eq!(rules.role(&thread, b".json"), Role::Document);
    }

    #[test]
    fn a_wrong_pattern_is_named() {
        for text in ["", "a//b", "a/[", "a/**/b"] {
            let error = Rules::new(&[text.to_string()], &[], &[]).unwrap_err();
            assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        }
    }
}
