STRESSORS = {name: () for name in """
access bind-mount chattr chdir chmod chown copy-file dentry dir dirdeep dirmany dnotify dup fallocate fanotify
fcntl fiemap file-ioctl filename flock fpunch fsize fstat getdent handle hdd inode-flags inotify io iomix
lease link locka lockf lockofd mknod open rename symlink sync-file touch utime verity xattr
aio aiol io-uring readahead revio seek sendfile msync mmap
""".split()}
STRESSORS["mmap"] = ("--mmap-file",)
CANNOT = {}
