"""MOUNT: what is in two states at once, in every thread, in its snapshots, and in those of everything."""
import json, os, sys

root = sys.argv[1]
states, wrong, seen = {}, [], 0


def state(top):
    global seen
    letters = set()
    for path, _, files in os.walk(top):
        for file in files:
            with open(f"{path}/{file}", "rb") as f:
                content = f.read()
            seen += 1
            letters |= {chr(letter) for letter in set(content)}
    if len(letters) > 1:
        wrong.append([top, sorted(letters)])
    return "".join(sorted(letters))


def is_ready(thread):
    return thread.startswith("w")


for thread in filter(is_ready, os.listdir(f"{root}/threads")):
    top = f"{root}/threads/{thread}"
    states[thread] = state(top)
    for snapshot in os.listdir(f"{top}/.snapshots"):
        if not snapshot.startswith("auto-") or thread.count("-") > 1:
            state(f"{top}/.snapshots/{snapshot}")
for snapshot in os.listdir(f"{root}/.snapshots"):
    for thread in filter(is_ready, os.listdir(f"{root}/.snapshots/{snapshot}/threads")):
        state(f"{root}/.snapshots/{snapshot}/threads/{thread}")
print(json.dumps({"states": states, "wrong": wrong, "seen": seen}))
