//! Extended attributes.

use std::ffi::CString;
use std::io;
use std::path::Path;

use super::{c_path, check};

/// Sets an extended attribute.
pub fn set_attribute(path: &Path, name: &str, value: &[u8]) -> io::Result<()> {
    let path = c_path(path)?;
    let name = CString::new(name).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    // SAFETY: path and name end with NUL, and the value is as long as the call says.
    check(unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), value.as_ptr().cast(), value.len(), 0) }).map(drop)
}
