"""MOUNT ROUNDS: a name that is renamed over again and again is always there, with whole content."""
import json, os, sys

root, rounds = sys.argv[1], int(sys.argv[2])
missing = broken = 0
for directory in (root, root + "/threads/t"):
    path = directory + "/memory.json"
    with open(path, "w") as f:
        f.write("[0]")
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            for n in range(rounds):
                with open(path + ".tmp", "w") as f:
                    json.dump([n] * (n % 50 + 1), f)
                os.replace(path + ".tmp", path)
        finally:
            os._exit(0)
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        try:
            with open(path) as f:
                json.load(f)
            os.stat(path)
        except FileNotFoundError:
            missing += 1
        except ValueError:
            broken += 1
print(json.dumps({"missing": missing, "broken": broken}))
