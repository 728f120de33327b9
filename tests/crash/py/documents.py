"""MOUNT WRITER ROUND: saves documents and acknowledges each close, until the mount is dead."""
import json, os, random, sys

root, writer, round_ = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
r = random.Random(writer * 1000 + round_)
n = 0
try:
    while True:
        n += 1
        thread = f"threads/w{writer}-{r.randrange(4)}"
        path = f"{thread}/{r.choice(['sandbox', 'state'])}.json"
        os.makedirs(f"{root}/{thread}", exist_ok=True)
        value = {"first": n, "round": round_, "n": n, "filling": "x" * r.choice([0, 100, 5000, 300_000]), "last": n}
        how = r.randrange(3)
        target = f"{root}/{path}" if how else f"{root}/{path}.tmp"
        with open(target, "w") as f:
            json.dump(value, f)
            if how == 1:
                f.flush()
                os.fsync(f.fileno())
        if how == 0:
            os.replace(target, f"{root}/{path}")
        print(json.dumps({"path": path, "n": n}), flush=True)
except OSError:
    pass
