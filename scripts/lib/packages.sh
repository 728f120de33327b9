# shellcheck shell=bash
# Debian packages, installed only where they are missing. Sourced by env.sh.

BUILD_PACKAGES=(g++ make libclang1-14)
DEMO_PACKAGES=(fuse3)
# The tests run the programs that people use in a home directory.
TEST_PACKAGES=(fuse3 git attr acl libcap2-bin rsync vim-tiny e2fsprogs)

# What the suite of scripts/xfstests builds with and runs, by its README.
XFSTESTS_PACKAGES=(acl attr automake bc dbench dump e2fsprogs fio gawk gcc git indent libacl1-dev libaio-dev
  libcap-dev libgdbm-compat-dev libgdbm-dev libtool libtool-bin liburing-dev lvm2 make psmisc python3
  quota sed sqlite3 uuid-dev uuid-runtime xfslibs-dev xfsprogs)

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# A program that is already there, from wherever, is as good as its package.
is_there() {
  case $1 in
    g++ | make | git | rsync | npm | zip | unzip | stress-ng) command -v "$1" >/dev/null || is_installed "$1" ;;
    *) is_installed "$1" ;;
  esac
}

# ensure_packages NAME...
ensure_packages() {
  local missing=() name
  if ! command -v dpkg-query >/dev/null; then
    say "This is not a Debian system: make sure that it has the equivalents of $*"
    return
  fi
  for name in "$@"; do
    is_there "$name" || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || die "Missing packages. As root: apt-get install ${missing[*]}"
  say "Installing packages: ${missing[*]}"
  apt_get update
  apt_get install -y --no-install-recommends "${missing[@]}"
}

# Quiet while all is well.
apt_get() {
  local log=$CACHE/apt.log
  if ! DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 "$@" >"$log" 2>&1; then
    cat "$log" >&2
    die "apt-get $* failed"
  fi
}

# ensure_venv NAME PACKAGE...   a Python environment under the cache; prints its folder
ensure_venv() {
  local venv=$CACHE/venv-$1 wanted
  shift
  wanted=$(printf '%s\n' "$@")
  if [ "$(cat "$venv/.packages" 2>/dev/null)" != "$wanted" ]; then
    say "Installing into a Python environment: $*"
    # Debian's own Python comes without this part.
    python3 -c 'import ensurepip' 2>/dev/null || ensure_packages python3-venv
    python3 -m venv "$venv" >&2
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
    printf '%s\n' "$wanted" >"$venv/.packages"
  fi
  printf '%s\n' "$venv"
}
