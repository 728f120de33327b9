"""MOUNT SIZE READS: two writers and three readers on one document of about SIZE bytes."""
import json, os, signal, sys

root, size, reads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.makedirs(root + "/threads/torn")
path = root + "/threads/torn/sandbox.json"


def text(writer, n):
    # Another length each time, and the same mark at both ends.
    mark = f"{writer}-{n}"
    return json.dumps({"first": mark, "filling": "x" * (size + n % 3 * size // 3), "last": mark})


with open(path, "w") as f:
    f.write(text(0, 0))


def write(writer, report):
    n, stop = 0, []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    while not stop:
        n += 1
        whole = text(writer, n)
        with open(path, "w") as f:
            # As it is, and in parts.
            if n % 2:
                f.write(whole)
            else:
                f.write(whole[: len(whole) // 2])
                f.flush()
                f.write(whole[len(whole) // 2 :])
    report({"writes": n})


def read(_, report):
    wrong, done = [], 0
    for done in range(1, reads // 3 + 2):
        with open(path) as f:
            seen = f.read()
        try:
            value = json.loads(seen)
            if value["first"] != value["last"]:
                wrong.append("mixed")
        except ValueError:
            wrong.append(f"{len(seen)} characters")
        if len(wrong) > 5:
            break
    report({"reads": done, "wrong": wrong})


def start(function, *arguments):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(r)
            function(*arguments, lambda result: os.write(w, json.dumps(result).encode()))
        finally:
            os._exit(0)
    os.close(w)
    return pid, os.fdopen(r)


writers = [start(write, n) for n in (1, 2)]
readers = [start(read, n) for n in (1, 2, 3)]
result = {"reads": 0, "writes": 0, "wrong": []}
for _, pipe in readers:
    part = json.loads(pipe.read() or '{"reads": 0, "wrong": ["a reader died"]}')
    result["reads"] += part["reads"]
    result["wrong"] += part["wrong"]
for pid, pipe in writers:
    os.kill(pid, signal.SIGTERM)
    result["writes"] += json.loads(pipe.read() or '{"writes": 0}')["writes"]
print(json.dumps(result))
