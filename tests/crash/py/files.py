"""MOUNT MODE ROUND: writes one growing file, and acknowledges each write."""
import json, os, random, sys

root, mode, round_ = sys.argv[1], sys.argv[2], int(sys.argv[3])
r = random.Random(round_)
flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if mode == "append" else 0)
fd = os.open(f"{root}/{mode}-{round_}", flags)
pattern = bytes(n // 7 % 251 for n in range(7 * 251))
size = 0
try:
    while True:
        count = r.choice([1, 100, 4096, 70_000])
        start = size % len(pattern)
        data = (pattern * (count // len(pattern) + 2))[start : start + count]
        assert os.write(fd, data) == count
        size += count
        if mode == "fsync":
            os.fsync(fd)
        print(json.dumps({"size": size}), flush=True)
except OSError:
    pass
