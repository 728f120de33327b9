//! Extended attributes.

use std::sync::Arc;

use fuser::{ReplyEmpty, ReplyXattr, Request};

use crate::fs::{Caller, Fs, Node, Result};
use crate::fuse::convert;
use crate::fuse::pool::Pool;
use crate::fuse::reply::{Fail, empty, run};

/// Attributes that only those see who have CAP_SYS_ADMIN, xattr(7).
const TRUSTED: &[u8] = b"trusted.";

fn value(fs: &Fs, name: &'static str, size: u32, reply: ReplyXattr, operation: impl FnOnce() -> Result<Vec<u8>>) {
    match run(fs, name, operation) {
        Ok(value) if size == 0 => reply.size(value.len() as u32),
        Ok(value) if value.len() > size as usize => reply.fail(libc::ERANGE),
        Ok(value) => reply.data(&value),
        Err(errno) => reply.fail(errno),
    }
}

pub(super) fn get(fs: &Fs, node: Node, name: &[u8], size: u32, reply: ReplyXattr) {
    value(fs, "getxattr", size, reply, || fs.getxattr(node, name));
}

pub(super) fn list(fs: &Fs, caller: Caller, node: Node, size: u32, reply: ReplyXattr) {
    value(fs, "listxattr", size, reply, || {
        let list = fs.listxattr(node)?;
        let names = || list.split_inclusive(|byte| *byte == 0);
        if !names().any(|name| name.starts_with(TRUSTED)) || caller.sees_trusted() {
            return Ok(list);
        }
        Ok(names().filter(|name| !name.starts_with(TRUSTED)).collect::<Vec<_>>().concat())
    });
}

pub(super) fn set(fs: &Fs, caller: Caller, at: (Node, &[u8]), data: &[u8], flags: i32, reply: ReplyEmpty) {
    empty(fs, "setxattr", reply, || fs.setxattr(caller, at.0, at.1, data, flags));
}

/// Brings a deleted thread back, which takes as long as there is in it.
pub(super) fn undelete(fs: &Arc<Fs>, pool: &Pool, request: &Request, dir: Node, value: &[u8], reply: ReplyEmpty) {
    let (fs, caller, value) = (Arc::clone(fs), convert::caller(request), value.to_vec());
    pool.run(move || empty(&fs, "setxattr", reply, || fs.undelete_request(caller, dir, &value)));
}

pub(super) fn remove(fs: &Fs, node: Node, name: &[u8], reply: ReplyEmpty) {
    empty(fs, "removexattr", reply, || fs.removexattr(node, name));
}
