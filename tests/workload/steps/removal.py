"""SECONDS: removes a tree while others write to it; only what such a race allows may happen."""
import errno, os, random, shutil, sys, time

until = time.monotonic() + int(sys.argv[1])
# What a writer meets whose directory goes, and what a removal meets whose directory is filled again.
ALLOWED = {errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST}
GO = "tree"


def write(seed):
    chance = random.Random(seed)
    while time.monotonic() < until:
        folder = f"{GO}/{chance.randrange(4)}/{chance.randrange(4)}"
        try:
            os.makedirs(folder, exist_ok=True)
            for number in range(5):
                name = f"{folder}/{chance.randrange(100)}"
                with open(name, "w") as file:
                    file.write("text" * chance.randrange(10_000))
                if chance.random() < 0.3:
                    os.replace(name, f"{folder}/moved {chance.randrange(10)}")
                if chance.random() < 0.3:
                    os.link(name, f"{folder}/linked {seed} {number}")
        except OSError as error:
            if error.errno not in ALLOWED:
                raise


def remove():
    while time.monotonic() < until:
        try:
            shutil.rmtree(GO)
        except OSError as error:
            if error.errno not in ALLOWED:
                raise


children = []
for seed in range(4):
    if not (pid := os.fork()):
        write(seed)
        os._exit(0)
    children.append(pid)
if not (pid := os.fork()):
    remove()
    os._exit(0)
children.append(pid)
print({os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children})
if os.path.exists(GO):
    shutil.rmtree(GO)
