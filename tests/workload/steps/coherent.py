"""COUNT SEED: changes of one file by calls and through a mapping, holes, zeros, sizes and copies at random; each way of
reading has to show at once what has to be there. Prints a digest of the file."""
import ctypes, hashlib, mmap, os, random, sys

count, seed = int(sys.argv[1]), int(sys.argv[2])
PAGE, PAGES = 4096, 64
SIZE = PAGES * PAGE
KEEP, PUNCH, ZERO = 1, 2, 16
libc = ctypes.CDLL(None, use_errno=True)
chance = random.Random(seed)
fd = os.open("file", os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, SIZE)
mapped = mmap.mmap(fd, SIZE)
content = bytearray(SIZE)


def allocate(mode, offset, length):
    if libc.fallocate(fd, mode, ctypes.c_int64(offset), ctypes.c_int64(length)):
        raise OSError(ctypes.get_errno(), f"fallocate {mode}")
    content[offset : offset + length] = bytes(length)


for number in range(count):
    kind = chance.randrange(9)
    offset, length = chance.randrange(SIZE - 16 * PAGE), chance.randrange(1, 16 * PAGE)
    if kind == 0:
        data = chance.randbytes(length)
        assert os.pwrite(fd, data, offset) == length
        content[offset : offset + length] = data
    elif kind == 1:
        mapped[offset : offset + length] = data = chance.randbytes(length)
        content[offset : offset + length] = data
    elif kind == 2:
        allocate(PUNCH | KEEP, offset, length)
    elif kind == 3:
        allocate(ZERO | chance.choice((0, KEEP)), offset, length)
    elif kind == 4:
        os.ftruncate(fd, offset)
        os.ftruncate(fd, SIZE)
        content[offset:] = bytes(SIZE - offset)
    elif kind == 5 and offset + 2 * length <= SIZE:
        copied = os.copy_file_range(fd, fd, length, offset, offset + length)
        content[offset + length : offset + length + copied] = content[offset : offset + copied]
    elif kind == 6:
        assert os.pread(fd, length, offset) == content[offset : offset + length], f"read at {number}"
    elif kind == 7:
        assert mapped[offset : offset + length] == content[offset : offset + length], f"mapped at {number}"
    elif number % 50 == 0:
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
with open("file", "rb") as file:
    assert file.read() == content
print(hashlib.sha256(content).hexdigest())
