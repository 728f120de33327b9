"""MOUNT: everything that is listed can be looked at, and removed."""
import json, os, shutil, sys

wrong = []
for directory, dirs, files in os.walk(sys.argv[1], onerror=lambda e: wrong.append(str(e))):
    links = 2 + sum(not os.path.islink(f"{directory}/{name}") for name in dirs)
    if os.stat(directory).st_nlink != links:
        wrong.append([directory, "links", os.stat(directory).st_nlink, links])
    for name in dirs + files:
        try:
            os.lstat(f"{directory}/{name}")
        except OSError as error:
            wrong.append(str(error))
for name in os.listdir(sys.argv[1]):
    if name != "threads":
        shutil.rmtree(f"{sys.argv[1]}/{name}")
print(json.dumps({"wrong": wrong}))
