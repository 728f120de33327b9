# shellcheck shell=bash
# The suites that others wrote and our tests run, kept in the cache. Sourced by env.sh.

PJDFSTEST=0.2.2
FSX=0.3.2
LANGGRAPH=(langgraph-checkpoint-conformance==0.0.2 langgraph-checkpoint-sqlite==3.1.2)

# Installs what the tests run, and tells them where it is.
ensure_tools() {
  ensure_packages "${TEST_PACKAGES[@]}"
  # Debian's own Python comes without this part, which `python3 -m venv` needs.
  python3 -c 'import ensurepip' 2>/dev/null || ensure_packages python3-venv
  ensure_suite pjdfstest "$PJDFSTEST"
  ensure_suite fsx "$FSX"
  # pjdfstest becomes this user, and nobody.
  if ! id tests >/dev/null 2>&1; then
    [ "$(id -u)" = 0 ] || die "The tests need a user. As root: useradd --system --user-group tests"
    useradd --system --user-group --no-create-home --shell /usr/sbin/nologin tests
  fi
  THREADFS_LANGGRAPH=$(ensure_venv langgraph "${LANGGRAPH[@]}")
  THREADFS_CPYTHON=$(ensure_python_tests)
  THREADFS_TOOLS=$CACHE/tools
  export THREADFS_TOOLS THREADFS_LANGGRAPH THREADFS_CPYTHON
}

# ensure_suite NAME VERSION   a program from crates.io, compiled once
ensure_suite() {
  local build=$CACHE/tools-build-$1
  if grep -qs "^\"$1 $2 " "$CACHE/tools/.crates.toml" && [ -x "$CACHE/tools/bin/$1" ]; then return; fi
  # pjdfstest tries access control lists.
  [ "$1" != pjdfstest ] || ensure_packages libacl1-dev
  say "Compiling $1 $2. This happens once and takes about a minute on 2 cores"
  # Elsewhere, so that the settings of this project do not count.
  (cd "$CACHE" && CARGO_TARGET_DIR=$build cargo install --quiet --locked --force --root "$CACHE/tools" "$1@$2" >&2)
  rm -rf "$build"
}

# Prints a Python that has the tests of its library: Debian keeps them in a package.
ensure_python_tests() {
  local python
  for python in python3 /usr/bin/python3.11; do
    if "$python" -c 'import sys, test.test_os; print(sys.executable)' 2>/dev/null; then return; fi
  done
  ensure_packages libpython3.11-testsuite
  echo /usr/bin/python3.11
}
