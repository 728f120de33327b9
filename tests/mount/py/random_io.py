"""MOUNT SEED STEPS: random writes, truncations, holes and reads of one file against a model."""
import ctypes, json, os, random, sys

root, seed, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
PUNCH, KEEP, ZERO = 2, 1, 16
r = random.Random(seed)
model = bytearray()
limit = 700_000
path = root + "/random"
fd = os.open(path, os.O_RDWR | os.O_CREAT)
second = os.open(path, os.O_RDWR)
wrong = None


def fallocate(mode, offset, length):
    if libc.fallocate(fd, mode, ctypes.c_int64(offset), ctypes.c_int64(length)) != 0:
        raise OSError(ctypes.get_errno(), "fallocate")


for step in range(steps):
    kind = r.choice(["write", "write", "write", "read", "read", "truncate", "punch", "zero", "append", "reopen"])
    offset = r.randrange(limit) if r.random() < 0.5 else r.randrange(len(model) + 1)
    length = r.choice([1, 100, 4096, 5000, 131072, r.randrange(1, 200_000)])
    if kind == "write":
        data = r.randbytes(length)
        assert os.pwrite(r.choice([fd, second]), data, offset) == length
        if offset > len(model):
            model.extend(bytes(offset - len(model)))
        model[offset:offset + length] = data
    elif kind == "append":
        data = r.randbytes(r.randrange(1, 3000))
        with open(path, "ab", buffering=0) as f:
            f.write(data)
        model.extend(data)
    elif kind == "truncate":
        size = r.randrange(limit)
        os.ftruncate(fd, size) if r.random() < 0.5 else os.truncate(path, size)
        del model[size:]
        model.extend(bytes(size - len(model)))
    elif kind == "punch":
        fallocate(PUNCH | KEEP, offset, length)
        end = min(offset + length, len(model))
        if offset < end:
            model[offset:end] = bytes(end - offset)
    elif kind == "zero":
        keep = r.random() < 0.5
        fallocate(ZERO | (KEEP if keep else 0), offset, length)
        end = min(offset + length, len(model)) if keep else offset + length
        if end > len(model):
            model.extend(bytes(end - len(model)))
        if offset < end:
            model[offset:end] = bytes(end - offset)
    elif kind == "reopen":
        os.close(second)
        second = os.open(path, os.O_RDWR)
    seen = os.pread(second, length, offset)
    if seen != model[offset:offset + length] or os.fstat(fd).st_size != len(model):
        wrong = [step, kind, offset, length, os.fstat(fd).st_size, len(model)]
        break
if wrong is None and open(path, "rb").read() != model:
    wrong = ["end"]
print(json.dumps({"steps": steps, "wrong": wrong}))
