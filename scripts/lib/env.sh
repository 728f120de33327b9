# shellcheck shell=bash
# Sourced by the scripts beside this folder: where things are, and what must be there.
# Nothing here builds the project itself.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/threadfs
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$CACHE/target}
[ ! -d "$HOME/.cargo/bin" ] || PATH=$HOME/.cargo/bin:$PATH
mkdir -p "$CACHE"

# shellcheck source=packages.sh
. "$ROOT/scripts/lib/packages.sh"
# shellcheck source=rocksdb.sh
. "$ROOT/scripts/lib/rocksdb.sh"
# shellcheck source=tools.sh
. "$ROOT/scripts/lib/tools.sh"

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# All that a build needs.
ensure_build() {
  ensure_packages "${BUILD_PACKAGES[@]}"
  command -v cargo >/dev/null || die "cargo is not on the PATH: install Rust 1.91 or newer first"
  # The bindings generator has no headers of its own: it borrows those of gcc.
  BINDGEN_EXTRA_CLANG_ARGS=-I$(gcc -print-file-name=include)
  export BINDGEN_EXTRA_CLANG_ARGS
  ensure_rocksdb
}

# What a mount needs from the machine.
ensure_fuse() {
  [ -e /dev/fuse ] || die "/dev/fuse is missing: load the fuse module (modprobe fuse), or give it to the container (--device /dev/fuse --cap-add SYS_ADMIN)"
  [ "$(id -u)" = 0 ] || command -v fusermount3 >/dev/null || die "mounting as an ordinary user needs fusermount3: install the package fuse3"
}
