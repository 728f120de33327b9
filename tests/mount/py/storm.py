"""MOUNT PROCESSES STEPS: all create, rename, link, list and remove in a few directories."""
import errno, json, os, random, sys

root, processes, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for n in range(3):
    os.makedirs(f"{root}/threads/s{n}/a/b")
# What two processes that do not know of each other may well meet.
expected = {errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.EXDEV, errno.ENOTDIR, errno.EISDIR, errno.EINVAL,
            errno.EBADMSG, errno.ESTALE, errno.EPERM, errno.EMLINK}


def place(r):
    where = r.choice(["", "a/", "a/b/", "c/"])
    return f"{root}/threads/s{r.randrange(3)}/{where}{r.choice('uvwxyz')}{r.choice(['', '.json', '.lock'])}"


def step(r):
    kind = r.randrange(10)
    a, b = place(r), place(r)
    if kind < 3:
        with open(a, "w") as f:
            f.write(r.choice(["[1]", "[1", ""]))
    elif kind == 3:
        os.rename(a, b)
    elif kind == 4:
        os.link(a, b)
    elif kind == 5:
        os.unlink(a)
    elif kind == 6:
        os.mkdir(r.choice([a, os.path.dirname(a)]))
    elif kind == 7:
        os.rmdir(r.choice([a, os.path.dirname(a)]))
    elif kind == 8:
        for entry in os.scandir(os.path.dirname(a)):
            entry.stat(follow_symlinks=False)
    else:
        with open(a) as f:
            f.read()


reports = []
for process in range(processes):
    read, write = os.pipe()
    if os.fork() == 0:
        r, errors = random.Random(process), []
        try:
            for _ in range(steps):
                try:
                    step(r)
                except OSError as error:
                    if error.errno not in expected:
                        errors.append(str(error))
            os.write(write, json.dumps(errors[:5]).encode())
        finally:
            os._exit(0)
    os.close(write)
    reports.append(read)
errors = [error for read in reports for error in json.loads(os.fdopen(read).read() or '["a process died"]')]
print(json.dumps({"errors": errors}))
