//! What gives a program more rights than its user has, and attributes that not everybody may use.

use crate::places::same_as_on_the_disk;

const TOOLS: &str = r#"
    umask 022; PATH=/usr/sbin:/usr/bin:/sbin:/bin
    as() { setpriv --reuid="$1" --regid="$2" --clear-groups -- "${@:3}"; }
    refused() { if "$@"; then echo "not refused: $*"; return 1; fi 2>&1; }
    chmod 755 . .. ../..; chmod 777 ../..
"#;

#[track_caller]
fn same(steps: &str) -> String {
    same_as_on_the_disk(&format!("{TOOLS}\n{steps}"))
}

/// Ordinary files and documents: what takes the bits and the capabilities away, and what does not.
#[test]
fn changes_take_privileges_away() {
    let shown = same(
        r#"
        arm() { echo '{"a": 1}' >"$1"; chown 0:0 "$1"; chmod "$2" "$1"; setcap cap_net_raw+ep "$1"; }
        look() { echo "$1: $(stat -c %a "$2") $(getcap "$2")"; }
        for file in plain ../../doc.json; do
          arm "$file" 6777; look armed "$file"
          as 1234 5 bash -c 'echo "[]" >"$1"' - "$file"; look "written by a user" "$file"
          arm "$file" 6777; as 1234 5 python3 -c 'import sys
with open(sys.argv[1], "r+") as f: f.write("[]"); f.truncate()' "$file"; look "changed by a user" "$file"
          arm "$file" 6777; as 1234 5 python3 -c 'import os, sys; os.truncate(sys.argv[1], 8)' "$file"; look "truncated by a user" "$file"
          arm "$file" 6777; as 1234 5 python3 -c 'import os, sys
os.close(os.open(sys.argv[1], os.O_RDWR))' "$file"; look "opened by a user" "$file"
          arm "$file" 6777; echo '[2]' >"$file"; look "written by root" "$file"
          arm "$file" 6777; setpriv --bounding-set=-fsetid --inh-caps=-fsetid bash -c 'echo "[3]" >"$1"' - "$file"
          look "written by root without the right to" "$file"
          arm "$file" 6777; chown 0:5 "$file"; look "chgrp" "$file"
          arm "$file" 6777; chmod 4755 "$file"; look "chmod" "$file"
          arm "$file" 6777; mv "$file" "$file.else"; mv "$file.else" "$file"; look "renamed" "$file"
          # What was given after the last write stays, and what was before it goes.
          python3 - "$file" <<'END'
import os, subprocess, sys
path = sys.argv[1]
os.setgroups([]); os.chown(path, 1234, 5)
fd = os.open(path, os.O_RDWR | os.O_TRUNC)
os.setegid(5); os.seteuid(1234)
os.write(fd, b"[4]"); os.fchmod(fd, 0o4755); os.close(fd)
os.seteuid(0)
print(oct(os.stat(path).st_mode))
fd = os.open(path, os.O_RDWR | os.O_TRUNC)
os.write(fd, b"[5]"); subprocess.run(["setcap", "cap_net_raw+ep", path], check=True); os.close(fd)
print(subprocess.run(["getcap", path], stdout=-1, text=True).stdout)
os.chmod(path, 0o6755)
os.seteuid(1234)
fd = os.open(path, os.O_RDWR); os.fchmod(fd, 0o4755); os.write(fd, b"[6]"); os.close(fd)
os.seteuid(0)
print(oct(os.stat(path).st_mode), subprocess.run(["getcap", path], stdout=-1, text=True).stdout)
END
          setcap -r "$file" 2>&1 || true
        done"#,
    );
    assert!(shown.contains("armed: 6777 plain cap_net_raw=ep"), "{shown}");
    assert!(shown.contains("written by a user: 777 \n") && shown.contains("written by root: 6777 \n"), "{shown}");
}

#[test]
fn other_changes_than_writes() {
    same(
        r#"
        arm() { head -c 20000 /dev/zero >f; chmod 6777 f; setcap cap_net_raw+ep f; }
        look() { echo "$1: $(stat -c %a f) $(getcap f)"; }
        arm; as 1234 5 fallocate -p -o 0 -l 4096 f; look "a hole by a user"
        arm; fallocate -p -o 0 -l 4096 f; look "a hole by root"
        arm; as 1234 5 python3 -c 'import os
a, b = os.open("f", os.O_RDONLY), os.open("f", os.O_WRONLY)
os.copy_file_range(a, b, 100, 0, 10000)'; look "copied into by a user"
        arm; as 1234 5 python3 -c 'import os
os.pwrite(os.open("f", os.O_WRONLY), b"x", 5)'; look "written into by a user"
        arm; as 1234 5 python3 -c 'import os
os.open("f", os.O_WRONLY | os.O_TRUNC)'; look "emptied by a user"
        mkdir d; chmod 6777 d; chown 1234:5 d; stat -c %a d"#,
    );
}

#[test]
fn who_may_use_which_attribute() {
    let shown = same(
        r#"
        touch f; chmod 666 f; mkfifo p; ln -s f l; mkdir d sticky; chmod 777 d; chmod 1777 sticky; chmod 666 p
        set_() { setfattr -h -n "$1" -v x "$2"; }
        set_ user.a f; set_ user.a d; as 1234 5 setfattr -n user.b -v x f; as 1234 5 setfattr -n user.b -v x d
        refused set_ user.a p; refused set_ user.a l; refused as 1234 5 setfattr -n user.b -v x sticky
        set_ user.a sticky
        set_ trusted.a f; set_ trusted.a p; set_ trusted.a l; set_ security.a f
        refused as 1234 5 setfattr -n trusted.b -v x f; refused as 1234 5 setfattr -n security.b -v x f
        refused as 1234 5 setfattr -n security.capability -v 0sAQAAAgAgAAAAAAAAAAAAAAAAAAA= f
        refused as 1234 5 setfattr -x security.a f; refused as 1234 5 getfattr -n trusted.a f
        getfattr -hd -m - f p l d sticky; as 1234 5 getfattr -hd -m - f p l
        # Root without the capability is no more than a user.
        setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin getfattr -hd -m - f
        for name in system.a other.a noname user. trusted.; do refused set_ "$name" f; done
        chmod 600 f; refused as 1234 5 setfattr -n user.c -v x f; refused as 1234 5 getfattr -n user.a f"#,
    );
    assert!(shown.contains("trusted.a=\"x\""), "{shown}");
}

/// Without the group's execute bit, set-group-ID stays for the members of its group.
#[test]
fn set_group_id_that_is_none_to_run() {
    same(
        r#"
        look() { echo "$1: $(stat -c %a file)"; }
        for group in 5 6; do
          arm() { echo '[1, 2, 3]' >file; chown 1234:5 file; chmod 2666 file; }
          arm; as 1234 $group bash -c 'echo "[]" >file'; look "written by $group"
          arm; as 1234 $group truncate -s 3 file; look "truncated by $group"
          arm; as 1234 $group fallocate -l 100 file; look "longer by $group"
          arm; as 1234 $group fallocate --punch-hole -l 5 file; look "punched by $group"
          arm; as 1234 $group chown 1234:$group file; look "chown by $group"
          arm; setpriv --reuid=1234 --regid=$group --groups=5 -- bash -c 'echo "[]" >file'; look "with another group"
          arm; as 0 $group bash -c 'echo "[]" >file'; look "root of $group"
        done"#,
    );
}
