"""MOUNT PROCESSES LINES: all append lines to one file."""
import json, os, sys

root, processes, lines = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
path = root + "/runs.jsonl"
pids = []
for process in range(processes):
    pid = os.fork()
    if pid == 0:
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            for n in range(lines):
                line = json.dumps({"p": process, "n": n, "x": "x" * (n % 500)}).encode() + b"\n"
                assert os.write(fd, line) == len(line)
        finally:
            os._exit(0)
    pids.append(pid)
for pid in pids:
    os.waitpid(pid, 0)
seen, broken, disordered = [0] * processes, 0, 0
total = 0
for line in open(path):
    total += 1
    try:
        value = json.loads(line)
    except ValueError:
        broken += 1
        continue
    if value["n"] != seen[value["p"]]:
        disordered += 1
    seen[value["p"]] = value["n"] + 1
print(json.dumps({"lines": total, "broken": broken, "disordered": disordered}))
