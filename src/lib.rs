//! threadfs: a FUSE filesystem for the state of agents, backed by an ordered key-value store.
//!
//! The layers, top to bottom; imports only point down:
//!
//! | module     | what it knows                                                          |
//! |------------|------------------------------------------------------------------------|
//! | [`cli`]    | one file a subcommand, no logic                                        |
//! | [`daemon`] | configuration, life cycle, metrics                                     |
//! | [`fuse`]   | the kernel protocol: decode, call the core, reply; errors to errno     |
//! | [`fs`]     | the filesystem: namespace, files, documents, locks, virtual files      |
//! | [`store`]  | records and keys; live and history; write batches                      |
//! | [`engine`] | an ordered key-value store: RocksDB or memory                          |

pub mod cli;
pub mod daemon;
pub mod engine;
pub mod fs;
pub mod fuse;
pub mod store;
mod suggest;
