"""MOUNT: every document parses."""
import glob, json, sys

broken = []
paths = glob.glob(sys.argv[1] + "/threads/*/*.json")
for path in paths:
    try:
        json.load(open(path))
    except ValueError as error:
        broken.append([path, str(error)])
print(json.dumps({"broken": broken, "documents": len(paths)}))
