"""The stressors of stress-ng that work on files, and those of them that no FUSE filesystem can pass."""

# Its class `filesystem` without what works on no file below the given folder (binderfs, eventfd, ioprio, procfs) or
# has to be forced (bind-mount) or walks over the whole machine (getdent), and those of other classes that write to files.
NAMES = """
access chattr chdir chmod chown copy-file dentry dir dirdeep dirmany dnotify dup fallocate fanotify fcntl fiemap
file-ioctl filename flock fpunch fsize fstat handle hdd inode-flags inotify io iomix lease link locka lockf
lockofd mknod open rename symlink sync-file touch utime verity xattr aio aiol io-uring mmap msync readahead revio
seek sendfile
"""
STRESSORS = {name: () for name in NAMES.split()}
STRESSORS["mmap"] = ("--mmap-file",)

CANNOT = {
    "fiemap": "FUSE does not pass FS_IOC_FIEMAP on",
}
