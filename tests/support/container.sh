# FOLDER UID COMMAND...: runs a command as another user with a folder bound at /mnt, in a mount namespace that has
# nothing else of what is mounted outside: as a container does.
set -eu
from=$1 uid=$2
shift 2
# Of the folders that are mounted below, none comes along.
mount --bind / /mnt
mount --rbind /dev /mnt/dev
mount --bind /proc /mnt/proc
mount --bind "$from" /mnt/mnt
cd /mnt
pivot_root . .
umount -l .
cd /mnt
# What another user can run, too.
PATH=/usr/local/bin:/usr/bin:/bin exec setpriv --reuid "$uid" --regid "$uid" --clear-groups "$@"
