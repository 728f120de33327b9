"""MOUNT WRITER ROUND: restores, snapshots, forks, removes and brings back threads, and acknowledges each.

A thread has two states, a and b, in which every file holds only that letter. A restore goes from one to
the other in one step.
"""
import json, os, random, shutil, sys

root, writer, round_ = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
r = random.Random(writer * 1000 + round_)
threads = f"{root}/threads"
name = f"w{writer}-{round_}"


def say(**facts):
    """What is there: true or false, or in which state; null while that is under way."""
    print(json.dumps(facts), flush=True)


def control(thread, **request):
    fd = os.open(f"{threads}/{thread}/.snapshots/.control", os.O_RDWR)
    try:
        os.write(fd, json.dumps(request).encode())
        reply = json.loads(os.pread(fd, 1 << 16, 0))
        assert "ok" in reply, reply
    finally:
        os.close(fd)


def ask(what, *parts):
    os.setxattr(threads, f"user.threadfs.{what}", b"\0".join(str(part).encode() for part in parts))


def setup():
    """Under a name that nobody looks at, until both states are kept."""
    top = f"{threads}/new-{name}"
    os.makedirs(f"{top}/d/e")
    for i in range(6):
        with open(f"{top}/d/f{i}", "wb") as f:
            f.write(b"a" * (9000 * i + 10))
    os.link(f"{top}/d/f1", f"{top}/d/e/link")
    os.mkdir(f"{top}/.snapshots/a")
    for i in range(5):
        fd = os.open(f"{top}/d/f{i}", os.O_WRONLY | (os.O_TRUNC if i % 2 else 0))
        os.pwrite(fd, b"b" * (9000 * i + 10), 0)
        os.close(fd)
    os.unlink(f"{top}/d/f5")
    os.rename(f"{top}/d/e", f"{top}/moved")
    os.rename(f"{top}/d/f0", f"{top}/moved/f0")
    with open(f"{top}/g", "wb") as f:
        f.write(b"b" * 20000)
    os.mkdir(f"{top}/.snapshots/b")
    os.rename(top, f"{threads}/{name}")
    say(**{f"={name}": "b"})


# As many as can be looked through afterwards.
TAKEN, FORKS, HOME = 5, 3, 2
n, taken, forks, removed, home = 0, [], [], [], []
try:
    os.makedirs(threads, exist_ok=True)
    setup()
    while True:
        n += 1
        what = r.choice(["restore", "restore", "snapshot", "drop", "fork", "remove", "undelete", "home"])
        if what == "restore":
            to = r.choice("ab")
            say(**{f"={name}": None})
            control(name, op="restore", name=to, paths=[])
            say(**{f"={name}": to})
        elif what == "snapshot" and len(taken) < TAKEN:
            path = f"{name}/.snapshots/s{n}"
            say(**{path: None})
            os.mkdir(f"{threads}/{path}")
            taken.append(path)
            say(**{path: True})
        elif what == "drop" and taken:
            path = taken.pop(r.randrange(len(taken)))
            say(**{path: None})
            os.rmdir(f"{threads}/{path}")
            say(**{path: False})
        elif what == "fork" and len(forks) < FORKS:
            new = f"{name}-{n}"
            source = r.choice([name, *forks])
            say(**{new: None})
            ask("fork", os.stat(f"{threads}/{source}").st_ino, r.choice(["", "a"] if source == name else [""]), new)
            forks.append(new)
            say(**{new: True})
        elif what == "remove" and forks:
            gone = forks.pop(r.randrange(len(forks)))
            say(**{gone: None})
            shutil.rmtree(f"{threads}/{gone}")
            removed.append(gone)
            say(**{gone: False})
        elif what == "undelete" and removed and len(forks) < FORKS:
            back = removed.pop()
            with open(f"{root}/.threadfs/deleted.json") as f:
                kept = [thread for thread in json.load(f) if thread["path"] == f"threads/{back}"]
            if kept:
                say(**{back: None})
                ask("undelete", kept[-1]["realm"], "", back)
                forks.append(back)
                say(**{back: True})
        elif what == "home":
            if len(home) >= HOME:
                say(**{home[0]: None})
                os.rmdir(f"{threads}/{home[0]}")
                say(**{home.pop(0): False})
            path = f"../.snapshots/h{name}-{n}"
            say(**{path: None})
            os.mkdir(f"{threads}/{path}")
            home.append(path)
            say(**{path: True})
except OSError:
    pass
except Exception as error:
    say(failed=repr(error))
