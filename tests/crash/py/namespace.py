"""MOUNT WRITER ROUND: makes, renames, links and removes names, and acknowledges each change."""
import json, os, random, sys

root, writer, round_ = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
r = random.Random(writer * 1000 + round_)
base = r.choice(["plain", "threads"]) + f"/n{writer}-{round_}"
os.makedirs(f"{root}/{base}", exist_ok=True)


def say(**changes):
    """Tells which names are there: true, false, or null while a change is under way."""
    print(json.dumps({f"{base}/{name}": there for name, there in changes.items()}), flush=True)


n = 0
try:
    while True:
        n += 1
        names = {key: f"{key}{n}" for key in ("file", "other", "dir", "link", "sym")}
        place = {key: f"{root}/{base}/{name}" for key, name in names.items()}
        os.close(os.open(place["file"], os.O_CREAT | os.O_EXCL))
        say(**{names["file"]: True})
        os.mkdir(place["dir"])
        say(**{names["dir"]: True})
        os.link(place["file"], place["link"])
        say(**{names["link"]: True})
        os.symlink("x", place["sym"])
        say(**{names["sym"]: True})
        if r.random() < 0.5:
            say(**{names["file"]: None, names["other"]: None})
            os.rename(place["file"], place["other"])
            say(**{names["file"]: False, names["other"]: True})
        for key, remove in (("link", os.unlink), ("dir", os.rmdir), ("sym", os.unlink)):
            if r.random() < 0.3:
                say(**{names[key]: None})
                remove(place[key])
                say(**{names[key]: False})
except OSError:
    pass
