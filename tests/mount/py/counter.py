"""MOUNT MODE PROCESSES EACH: all processes count up in one document under a lock."""
import fcntl, json, os, sys

root, mode, processes, each = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.makedirs(root + "/threads/count")
path, lock_path = root + "/threads/count/sandbox.json", root + "/threads/count/sandbox.lock"
with open(path, "w") as f:
    json.dump({"n": 0, "filling": "x" * 100}, f)


def step_w(lock=fcntl.flock):
    with open(lock_path, "w") as held:
        lock(held, fcntl.LOCK_EX)
        with open(path) as f:
            state = json.load(f)
        state["n"] += 1
        with open(path, "w") as f:
            json.dump(state, f)


def step_replace():
    with open(lock_path, "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with open(path) as f:
            state = json.load(f)
        state["n"] += 1
        with open(path + ".tmp", "w") as f:
            json.dump(state, f)
        os.replace(path + ".tmp", path)


def step_r_plus():
    # Opened before the lock is taken.
    with open(path, "r+") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        state = json.load(f)
        state["n"] += 1
        state["filling"] = "x" * (state["n"] % 50)
        f.seek(0)
        json.dump(state, f)
        f.truncate()


step = {"w": step_w, "r+": step_r_plus, "replace": step_replace, "lockf": lambda: step_w(fcntl.lockf)}[mode]
reports = []
for _ in range(processes):
    r, w = os.pipe()
    if os.fork() == 0:
        try:
            for _ in range(each):
                step()
        except BaseException as error:
            os.write(w, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(w)
    reports.append(r)
errors = [text for r in reports if (text := os.fdopen(r).read())]
print(json.dumps({"counted": json.load(open(path))["n"], "errors": errors}))
