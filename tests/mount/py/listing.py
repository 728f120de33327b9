"""MOUNT COUNT: names that are there all the time are listed exactly once, whatever else changes."""
import ctypes, json, os, sys

root, count = sys.argv[1], int(sys.argv[2])
wrong = []


class Dirent(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("len", ctypes.c_uint16),
                ("kind", ctypes.c_uint8), ("name", ctypes.c_char * 256)]


libc = ctypes.CDLL(None, use_errno=True)
libc.opendir.restype = ctypes.c_void_p
libc.readdir.restype = ctypes.POINTER(Dirent)
libc.readdir.argtypes = libc.telldir.argtypes = libc.closedir.argtypes = libc.rewinddir.argtypes = [ctypes.c_void_p]
libc.telldir.restype = ctypes.c_long
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]


def read(stream):
    entry = libc.readdir(stream)
    return entry.contents.name.decode() if entry else None


for directory in ("plain", "threads/t"):
    path = f"{root}/{directory}"
    os.makedirs(path)
    stay = {f"stay{n}" for n in range(count // 2)}
    go = [f"go{n}" for n in range(count // 2)]
    for name in [*stay, *go]:
        os.close(os.open(f"{path}/{name}", os.O_CREAT))

    # Deleting and inserting while reading.
    seen, n = [], 0
    with os.scandir(path) as entries:
        for entry in entries:
            seen.append(entry.name)
            if go:
                os.unlink(f"{path}/{go.pop()}")
            n += 1
            if n % 3 == 0:
                os.close(os.open(f"{path}/new{n}", os.O_CREAT))
            if n > 10 * count:
                wrong.append("it does not end")
                break
    kept = [name for name in seen if name in stay]
    if sorted(kept) != sorted(stay):
        wrong.append([directory, "stay", len(kept), len(set(kept)), len(stay)])
    if len(seen) != len(set(seen)):
        wrong.append([directory, "repeated"])

    # seekdir goes to where telldir was, also after deletions.
    stream = libc.opendir(path.encode())
    places, order = [], []
    while True:
        places.append(libc.telldir(stream))
        name = read(stream)
        if name is None:
            break
        order.append(name)
    for at in (0, 1, 2, 5, len(order) // 3, len(order) // 2, len(order) - 1, len(order)):
        libc.seekdir(stream, places[at])
        name = read(stream)
        if name != (order[at] if at < len(order) else None):
            wrong.append([directory, "seekdir", at, name])
    middle = len(order) // 2
    for name in order[:middle]:
        if name not in (".", ".."):
            os.unlink(f"{path}/{name}")
    libc.seekdir(stream, places[middle])
    rest = []
    while (name := read(stream)) is not None:
        rest.append(name)
    if rest != order[middle:]:
        wrong.append([directory, "seekdir after deletion", len(rest), len(order) - middle])
    libc.rewinddir(stream)
    again = []
    while (name := read(stream)) is not None:
        again.append(name)
    if sorted(again) != sorted(set(os.listdir(path)) | {".", ".."}):
        wrong.append([directory, "rewinddir", len(again)])
    libc.closedir(stream)
print(json.dumps({"wrong": wrong}))
