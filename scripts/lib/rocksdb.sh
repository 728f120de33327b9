# shellcheck shell=bash
# RocksDB is C++ and takes far longer to compile than everything else together. It is
# compiled once, kept outside the clone and linked from there. Sourced by env.sh.

# The library depends on its version, on what is switched on, and on the compiler flags.
rocksdb_key() {
  local version line choices
  version=$(sed -n '/^name = "librocksdb-sys"$/{n;s/^version = "\(.*\)"$/\1/p}' "$ROOT/Cargo.lock")
  [ -n "$version" ] || die "Cargo.lock does not name librocksdb-sys"
  line=$(grep '^rocksdb *=' "$ROOT/Cargo.toml")
  choices=$(
    uname -m
    grep -o 'default-features = [a-z]*' <<<"$line"
    # These two kinds of features change the Rust side only.
    sed 's/.*features = \[\(.*\)\].*/\1/' <<<"$line" | tr -d '" ' | tr ',' '\n' |
      grep -vx 'multi-threaded-cf\|bindgen-.*' | sort
    sed 's/ *#.*//; /^$/d' "$ROOT/.cargo/config.toml"
  )
  printf '%s-%s\n' "$version" "$(printf '%s\n' "$choices" | sha256sum | cut -c1-12)"
}

# Makes the library if the cache has none, and tells cargo where it is.
ensure_rocksdb() {
  local key dir
  key=$(rocksdb_key)
  dir=$CACHE/rocksdb-$key
  if [ ! -f "$dir/librocksdb.a" ]; then
    # Two runs at once must not both compile it: the second waits and finds it made.
    (
      flock 9
      [ -f "$dir/librocksdb.a" ] || build_rocksdb "$key" "$dir"
    ) 9>"$CACHE/rocksdb.lock"
  fi
  export ROCKSDB_LIB_DIR=$dir ROCKSDB_STATIC=1
}

build_rocksdb() {
  local build=$CACHE/rocksdb-build-$1 made
  say "Compiling RocksDB. This happens once and takes some 16 minutes on 2 cores;"
  say "the result is kept in $2"
  (
    cd "$ROOT"
    unset ROCKSDB_LIB_DIR ROCKSDB_STATIC
    CARGO_TARGET_DIR=$build cargo build --release --locked -p librocksdb-sys >&2
  )
  made=$(find "$build/release/build" -path '*librocksdb-sys-*/out/librocksdb.a' | head -n 1)
  [ -n "$made" ] || die "The build made no librocksdb.a under $build"
  mkdir -p "$2"
  cp "$made" "$2/librocksdb.a.$$"
  mv "$2/librocksdb.a.$$" "$2/librocksdb.a"
  rm -rf "$build"
}
