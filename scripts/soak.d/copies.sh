# A tree of some thousand files, copied by every program that copies.
python3 - <<'EOF'
import os, random
chance = random.Random(1)
for number in range(4000):
    folder = "source/" + "/".join(str(chance.randrange(6)) for _ in range(chance.randrange(1, 5)))
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/file {number}", "wb") as file:
        file.write(chance.randbytes(int(chance.paretovariate(0.6) * 100) % 300_000))
    os.chmod(file.name, chance.choice((0o644, 0o600, 0o755)))
    os.utime(file.name, ns=(number * 10**9, number * 10**9 + number))
    if number % 50 == 0:
        os.link(file.name, f"source/link {number}")
        os.symlink(os.path.relpath(file.name, "source"), f"source/symlink {number}")
        os.utime(f"source/symlink {number}", ns=(0, 1), follow_symlinks=False)
        os.setxattr(file.name, "user.number", b"%d" % number)
for path, _, _ in os.walk("source", topdown=False):
    os.utime(path, ns=(0, 0))
EOF
manifest() { python3 "$steps/manifest.py" "$1" | sed '1d'; }
manifest source >"$kept/manifest.$$"
sha256sum <"$kept/manifest.$$"
same() { manifest "$1" | cmp - "$kept/manifest.$$" && echo "$1 is the same"; rm -rf "$1"; }
tar --xattrs -cf archive.tar source
mkdir by-tar
tar --xattrs -xpf archive.tar -C by-tar --strip-components=1
same by-tar
rsync -aHAX source/ by-rsync
rsync -aHAX --checksum --itemize-changes source/ by-rsync
same by-rsync
cp -a source by-cp
same by-cp
cp -al source by-link
find by-link -type f -links +1 | wc -l
rm -rf by-link
zip -qry archive.zip source
unzip -q archive.zip -d by-zip
diff -r source by-zip/source && echo by-zip is the same
du -sb --apparent-size source/* | awk '{ sum += $1 } END { print sum > 1000000 }'
find source -newermt 1970-01-01T00:30:00 -type f | wc -l
grep -rlc a source | wc -l
rm -rf by-zip source
ls
