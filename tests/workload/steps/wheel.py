"""FOLDER: builds a wheel with a module, a data file and a command."""
import base64, hashlib, os, sys, zipfile

files = {
    "sample/__init__.py": "__version__ = '1.0'\n",
    "sample/data/text": "data\n",
    "sample/command.py": (
        "import importlib.resources, sample\n"
        "def main():\n"
        "    data = importlib.resources.files(sample).joinpath('data/text').read_text().strip()\n"
        "    print('sample', sample.__version__, 'with its', data)\n"
    ),
    "sample-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n",
    "sample-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "sample-1.0.dist-info/entry_points.txt": "[console_scripts]\nsample = sample.command:main\n",
}
for number in range(200):
    files[f"sample/many/module{number}.py"] = f"number = {number}\n"
record = "sample-1.0.dist-info/RECORD"
lines = []
for name, text in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    lines.append(f"{name},sha256={digest},{len(text)}\n")
files[record] = "".join(lines) + f"{record},,\n"
with zipfile.ZipFile(os.path.join(sys.argv[1], "sample-1.0-py3-none-any.whl"), "w") as wheel:
    for name, text in files.items():
        wheel.writestr(name, text)
