//! The promises of docs/design.md on a real mount, with real processes.
//!
//! One file a subject. Counts are small unless `THREADFS_TEST_SCALE=full`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../support/mod.rs"]
mod support;

mod acl;
mod attributes;
mod busy;
mod commands;
mod configuration;
mod contention;
mod control_file;
mod costs;
mod damage;
mod deleted;
mod diff;
mod directories;
mod doc_close;
mod doc_creation;
mod doc_draft;
mod doc_invalid;
mod doc_killed;
mod doc_names;
mod doc_readers;
mod doc_refused;
mod doc_rejected;
mod doc_rename;
mod doc_settings;
mod doc_stat;
mod files;
mod forks;
mod helper;
mod lock_files;
mod locks;
mod mapped;
mod metrics;
mod mountpoint;
mod names;
mod orphans;
mod renames;
mod requests;
mod restores;
mod snapshots;
mod sparse;
mod special;
mod sqlite;
mod timeline;
mod undelete;
mod xattrs;
