"""FOLDER: all that is to be known of a tree, one line for each name."""
import hashlib, os, stat, sys

root = os.fsencode(sys.argv[1])
first = {}


def line(path):
    status = os.lstat(path)
    kind = stat.S_IFMT(status.st_mode)
    said = [f"{status.st_mode:o} {status.st_uid}:{status.st_gid}", f"links={status.st_nlink}", f"mtime={status.st_mtime_ns}"]
    if kind == stat.S_IFREG:
        with open(path, "rb") as file:
            said.append(f"size={status.st_size} {hashlib.file_digest(file, 'sha256').hexdigest()[:16]}")
        if status.st_blocks * 512 < status.st_size // 2:
            said.append("sparse")
        if status.st_nlink > 1:
            said.append(f"same as {first.setdefault(status.st_ino, os.path.relpath(path, root))!r}")
    if kind == stat.S_IFLNK:
        said.append(f"size={status.st_size} to {os.readlink(path)!r}")
    if kind in (stat.S_IFBLK, stat.S_IFCHR):
        said.append(f"device={status.st_rdev}")
    for name in sorted(os.listxattr(path, follow_symlinks=False)):
        said.append(f"{name}={os.getxattr(path, name, follow_symlinks=False)!r}")
    return f"{os.path.relpath(path, root)!r} {' '.join(said)}"


print(line(root))
for path, folders, files in os.walk(root):
    folders.sort()
    for name in sorted(folders + files):
        print(line(os.path.join(path, name)))
