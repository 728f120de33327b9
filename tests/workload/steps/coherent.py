"""COUNT SEED: changes of one file by direct, buffered and mapped writes, holes, zeros, sizes and copies at random; each
way of reading has to show at once what has to be there. Prints a digest of the file."""
import ctypes, hashlib, mmap, os, random, sys

count, seed = int(sys.argv[1]), int(sys.argv[2])
PAGE, PAGES = 4096, 64
SIZE = PAGES * PAGE
KEEP, PUNCH, ZERO = 1, 2, 16
libc = ctypes.CDLL(None, use_errno=True)
chance = random.Random(seed)
aligned = mmap.mmap(-1, 16 * PAGE)
buffered = os.open("file", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
direct = os.open("file", os.O_RDWR | os.O_DIRECT)
os.ftruncate(buffered, SIZE)
mapped = mmap.mmap(buffered, SIZE)
content = bytearray(SIZE)


def allocate(mode, offset, length):
    if libc.fallocate(buffered, mode, ctypes.c_int64(offset), ctypes.c_int64(length)):
        raise OSError(ctypes.get_errno(), f"fallocate {mode}")
    content[offset : offset + length] = bytes(length)


for number in range(count):
    kind = chance.randrange(11)
    offset, length = chance.randrange(SIZE - 16 * PAGE), chance.randrange(1, 16 * PAGE)
    page_offset, page_length = offset // PAGE * PAGE, -(-length // PAGE) * PAGE
    if kind == 0:
        aligned[:page_length] = data = chance.randbytes(page_length)
        assert os.pwritev(direct, [memoryview(aligned)[:page_length]], page_offset) == page_length
        content[page_offset : page_offset + page_length] = data
    elif kind == 1:
        data = chance.randbytes(length)
        assert os.pwrite(buffered, data, offset) == length
        content[offset : offset + length] = data
    elif kind == 2:
        mapped[offset : offset + length] = data = chance.randbytes(length)
        content[offset : offset + length] = data
    elif kind == 3:
        allocate(PUNCH | KEEP, offset, length)
    elif kind == 4:
        allocate(ZERO | chance.choice((0, KEEP)), offset, length)
    elif kind == 5:
        os.ftruncate(buffered, offset)
        os.ftruncate(buffered, SIZE)
        content[offset:] = bytes(SIZE - offset)
    elif kind == 6 and offset + 2 * length <= SIZE:
        copied = os.copy_file_range(buffered, buffered, length, offset, offset + length)
        content[offset + length : offset + length + copied] = content[offset : offset + copied]
    elif kind == 7:
        assert os.preadv(direct, [memoryview(aligned)[:page_length]], page_offset) == page_length
        assert aligned[:page_length] == content[page_offset : page_offset + page_length], f"direct at {number}"
    elif kind == 8:
        assert os.pread(buffered, length, offset) == content[offset : offset + length], f"buffered at {number}"
    elif kind == 9:
        assert mapped[offset : offset + length] == content[offset : offset + length], f"mapped at {number}"
    elif number % 50 == 0:
        os.fsync(buffered)
        os.posix_fadvise(buffered, 0, 0, os.POSIX_FADV_DONTNEED)
with open("file", "rb") as file:
    assert file.read() == content
print(hashlib.sha256(content).hexdigest())
