"""MOUNT PROCESSES HOLD: all queue on one flock, each holds it for a time."""
import fcntl, json, os, sys, time

root, processes, hold = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
path = root + "/threads/t/queue.lock"
began = time.monotonic()
for n in range(1000):
    with open(path, "w") as f:
        pass
with open(path, "w") as f:
    began = time.monotonic()
    for n in range(1000):
        fcntl.flock(f, fcntl.LOCK_EX)
        fcntl.flock(f, fcntl.LOCK_UN)
    uncontended = (time.monotonic() - began) * 1e6 / 1000

gate = open(path, "w")
fcntl.flock(gate, fcntl.LOCK_EX)
ready_r, ready_w = os.pipe()
r, w = os.pipe()
for _ in range(processes):
    if os.fork() == 0:
        try:
            gate.close()
            f = open(path, "w")
            os.write(ready_w, b".")
            fcntl.flock(f, fcntl.LOCK_EX)
            start = time.monotonic_ns()
            time.sleep(hold)
            end = time.monotonic_ns()
            fcntl.flock(f, fcntl.LOCK_UN)
            os.write(w, f"{start} {end}\n".encode())
        finally:
            os._exit(0)
os.close(w)
ready = 0
while ready < processes:
    ready += len(os.read(ready_r, 100))
began = time.monotonic()
# The children have closed their copies, or are about to: this frees it for all of them.
fcntl.flock(gate, fcntl.LOCK_UN)
with os.fdopen(r) as f:
    turns = sorted(tuple(map(int, line.split())) for line in f)
seconds = time.monotonic() - began
overlaps = sum(a[1] > b[0] for a, b in zip(turns, turns[1:]))
print(json.dumps({"done": len(turns), "overlaps": overlaps, "seconds": seconds, "uncontended_us": uncontended}))
