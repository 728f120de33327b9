"""MOUNT STATS: two writers save documents of two sizes in parts; stat sees no other size."""
import collections, json, os, signal, sys

root, stats = sys.argv[1], int(sys.argv[2])
os.makedirs(root + "/threads/stat")
path = root + "/threads/stat/sandbox.json"
texts = [json.dumps({"filling": "x" * n}) for n in (200, 5000)]
with open(path, "w") as f:
    f.write(texts[0])
writers = []
for n in (0, 1):
    pid = os.fork()
    if pid == 0:
        try:
            stop = []
            signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
            while not stop:
                text = texts[n]
                n = 1 - n
                with open(path, "w") as f:
                    f.write(text[:100])
                    f.flush()
                    f.write(text[100:])
                with open(path, "r+") as f:
                    f.truncate(50)
                    f.seek(0)
                    f.write(text)
        finally:
            os._exit(0)
    writers.append(pid)
sizes = {len(text) for text in texts}
readers = []
for _ in range(2):
    r, w = os.pipe()
    if os.fork() == 0:
        try:
            os.close(r)
            wrong, done = collections.Counter(), 0
            seen = os.open(path, os.O_RDONLY)
            while done < stats // 2 + 1:
                for size in (os.stat(path).st_size, os.fstat(seen).st_size):
                    done += 1
                    if size not in sizes:
                        wrong[size] += 1
            os.write(w, json.dumps([done, wrong]).encode())
        finally:
            os._exit(0)
    os.close(w)
    readers.append(r)
total, wrong = 0, collections.Counter()
for r in readers:
    done, other = json.loads(os.fdopen(r).read() or '[0, {"a reader died": 1}]')
    total += done
    wrong.update(other)
for pid in writers:
    os.kill(pid, signal.SIGTERM)
    os.waitpid(pid, 0)
print(json.dumps({"stats": total, "wrong": wrong}))
