"""MOUNT PROCESSES NAMES: all processes create each name with O_EXCL; one may win."""
import errno, json, os, sys

root, processes, names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.makedirs(root + "/threads/race", exist_ok=True)
gate_r, gate_w = os.pipe()
reports = []
for process in range(processes):
    r, w = os.pipe()
    if os.fork() == 0:
        try:
            os.close(gate_w)
            os.read(gate_r, 1)
            won = []
            for name in range(names):
                try:
                    fd = os.open(f"{root}/threads/race/{name}.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
                except FileExistsError:
                    continue
                os.write(fd, b'{"winner": %d}' % process)
                os.close(fd)
                won.append(name)
            os.write(w, json.dumps(won).encode())
        finally:
            os._exit(0)
    os.close(w)
    reports.append(r)
os.close(gate_w)
winners, wrong = {}, []
for process, r in enumerate(reports):
    with os.fdopen(r) as f:
        text = f.read()
    for name in json.loads(text) if text else [f"process {process} died"]:
        if name in winners:
            wrong.append(name)
        winners[name] = process
for name, process in winners.items():
    if json.load(open(f"{root}/threads/race/{name}.json"))["winner"] != process:
        wrong.append(name)
print(json.dumps({"names": names, "winners": len(winners), "wrong": wrong}))
