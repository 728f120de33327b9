//! What people do in a home directory with the programs that they use: git, pip, tar, rsync, vim,
//! make and others.
//!
//! Most of it runs twice, on a mount and on the local disk, and has to look the same.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../support/mod.rs"]
mod support;

mod acl;
mod archives;
mod cargo;
mod containers;
mod editors;
mod full_disk;
mod git;
mod leases;
mod limits;
mod make;
mod places;
mod privileges;
mod python;
mod races;
mod saved;
mod sqlite;
mod trees;
mod users;
mod watchers;
