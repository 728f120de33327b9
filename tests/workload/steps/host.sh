# Runs the steps of a test in a mount namespace that stands for a host: the working directory is mounted shared, as
# everything is where systemd runs. The store is to be mounted at `home` in it.
#   container COMMANDS   in the background: in a mount namespace that has the directory bound with rslave
#   start, stop          the daemon; $pid is its process
#   until_there FILE     waits

mount --bind . .
cd .
mount --make-shared .
mkdir home
host=$PWD
export host

until_there() { until [ -e "$1" ]; do sleep 0.01; done; }
export -f until_there

start() {
  pid=$("$threadfs" mount "$elsewhere/store" "$host/home" --log-file "$elsewhere/log" | sed 's/.*, pid //')
}

stop() { "$threadfs" umount "$host/home"; }

container() {
  unshare --mount --propagation slave bash -euo pipefail -c '
    mkdir "$elsewhere/inside"
    mount --rbind "$host" "$elsewhere/inside"
    mount --make-rslave "$elsewhere/inside"
    umount -l "$host"
    cd "$elsewhere/inside"
    eval "$1"' container "$1" &
}

clean_up() {
  umount -l "$host/home" 2>/dev/null || true
  jobs -p | xargs -r kill 2>/dev/null || true
}
trap clean_up EXIT

# Nothing else that is mounted is held up by this namespace.
awk '$9 == "fuse.threadfs" || $8 == "fuse.threadfs" { print $5 }' /proc/self/mountinfo |
  while read -r other; do umount -l "$other" 2>/dev/null || true; done

eval "$steps_of_test"
