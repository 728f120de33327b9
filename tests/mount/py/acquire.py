"""MOUNT PROCESSES THREADS: all processes acquire the sandbox of each thread, as DeerFlow does."""
import fcntl, json, os, pathlib, sys, uuid

root, processes, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def acquire(thread):
    directory = pathlib.Path(root, "threads", f"thread_{thread}")
    directory.mkdir(parents=True, exist_ok=True)
    with open(directory / "sandbox.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            state = directory / "sandbox.json"
            if state.exists():
                return "recovered", json.loads(state.read_text())["sandbox_id"]
            sandbox = uuid.uuid4().hex
            state.write_text(json.dumps({"sandbox_id": sandbox, "base_url": "http://localhost:8080"}, indent=2))
            return "created", sandbox
        finally:
            fcntl.flock(lock, fcntl.LOCK_UN)


gate_r, gate_w = os.pipe()
reports = []
for _ in range(processes):
    r, w = os.pipe()
    if os.fork() == 0:
        try:
            os.close(gate_w)
            os.read(gate_r, 1)
            with os.fdopen(w, "w") as report:
                json.dump([acquire(thread) for thread in range(threads)], report)
        finally:
            os._exit(0)
    os.close(w)
    reports.append(r)
os.close(gate_w)
counts = {"created": 0, "recovered": 0}
ids, wrong = {}, []
for r in reports:
    with os.fdopen(r) as f:
        text = f.read()
    if not text:
        wrong.append("a process died")
        continue
    for thread, (how, sandbox) in enumerate(json.loads(text)):
        counts[how] += 1
        if ids.setdefault(thread, sandbox) != sandbox:
            wrong.append(thread)
print(json.dumps({"threads": threads, **counts, "wrong": wrong}))
