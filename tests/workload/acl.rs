//! POSIX access control lists, with the programs that people set them with.

use crate::places::same_as_on_the_disk;

/// In the steps: `as USER GROUP COMMAND`, and the lists of everything below a folder in a fixed order.
const TOOLS: &str = r#"
    umask 022
    as() { setpriv --reuid="$1" --regid="$2" --clear-groups -- "${@:3}"; }
    lists() { find "$@" | sort | while read -r name; do getfacl -cpns "$name"; stat -c '%a %F %n' "$name"; done; }
    refused() { if "$@"; then echo "not refused: $*"; return 1; fi 2>&1; }
"#;

#[track_caller]
fn same(steps: &str) -> String {
    same_as_on_the_disk(&format!("{TOOLS}\n{steps}"))
}

#[test]
fn a_list_and_the_mode_say_the_same() {
    let shown = same(
        r#"
        for file in plain ../../doc.json; do
          echo '{}' >"$file"
          setfacl -m u:1234:rw "$file"; ls -l "$file" | cut -c1-11; lists "$file"
          chmod 640 "$file"; lists "$file"
          setfacl -m g:55:rwx,m::rw "$file"; lists "$file"
          chmod 2755 "$file"; lists "$file"
          setfacl -x u:1234 "$file"; lists "$file"
          getfattr -m - "$file"
          # What the mode can say is in the mode alone.
          setfacl -b "$file"; lists "$file"; getfattr -m - "$file"
          setfacl -m m::r "$file"; lists "$file"
          setfattr -x system.posix_acl_access "$file"; lists "$file"
          setfattr -x system.posix_acl_access "$file"; setfattr -x user.none "$file" 2>&1 || true
          setfacl --set u::rw,g::r,o::r "$file"; lists "$file"; getfattr -m - "$file"
        done"#,
    );
    assert!(shown.contains("-rw-rw-r--+\n") && shown.contains("user:1234:rw-\t#effective:r--"), "{shown}");
}

#[test]
fn what_is_made_in_a_directory_begins_with_its_default_list() {
    let shown = same(
        r#"
        mkdir d; setfacl -d -m u:1234:rwx,g:55:r-x,o::- d; lists d
        (umask 077; touch d/file; mkdir -p d/dir/below; mkfifo d/pipe; ln -s file d/link
         install -m 600 /dev/null d/secret; mkdir -m 710 d/mode; python3 -c 'import socket as s
s.socket(s.AF_UNIX).bind("d/socket")')
        lists d
        ln d/file d/hard; mv d/file other; echo >new; mv new d/file; lists d/hard d/file other
        # As much as a mode can say, and the umask does not count.
        setfacl -b d; setfacl -d --set u::rwx,g::rwx,o::r d; (umask 077; touch d/all; mkdir d/alldir); lists d/all d/alldir
        setfacl -k d; (umask 027; touch d/none; mkdir d/nonedir); lists d d/none d/nonedir
        chmod 2770 d; setfacl -d -m u:1234:r d; mkdir d/setgid; lists d/setgid
        setfacl -d -m u:1234:rw ../..; umask 077; echo '{}' >../../doc.json; echo '{}' >../../doc.tmp
        mv ../../doc.tmp ../../renamed.json; lists ../../*.json
        echo '[]' >../../doc.json; chmod 600 ../../doc.json; lists ../../doc.json"#,
    );
    assert!(shown.contains("group:55:r-x\t#effective:---") || shown.contains("default:group:55:r-x"), "{shown}");
}

#[test]
fn a_list_says_who_may() {
    same(
        r#"
        chmod 755 . .. ../..; mkdir d; echo text >d/f; chmod 600 d/f; chmod 711 d
        refused as 1234 5 cat d/f
        setfacl -m u:1234:r d/f; as 1234 5 cat d/f
        refused as 1234 5 bash -c 'echo x >>d/f'
        refused as 1235 5 cat d/f
        setfacl -m g:5:rw d/f; as 1235 5 bash -c 'echo by 1235 >>d/f'; as 1235 5 cat d/f
        # The user counts before the group, and the mask over both.
        refused as 1234 5 bash -c 'echo x >>d/f'
        setfacl -m m::- d/f; refused as 1234 5 cat d/f; refused as 1235 5 cat d/f
        setfacl -m m::rwx d/f; as 1234 5 cat d/f
        chmod g=w,o=r d/f; refused as 1234 5 cat d/f; as 1236 7 cat d/f
        setfacl -b d/f; chmod 644 d/f; setfacl -m u:1234:- d/f; refused as 1234 5 cat d/f; as 1236 7 cat d/f
        # Directories: entering, listing, making.
        refused as 1234 5 ls d; setfacl -m u:1234:rx d; as 1234 5 ls d
        refused as 1234 5 touch d/new; setfacl -m u:1234:rwx d; as 1234 5 touch d/new; as 1234 5 rm d/new
        setfacl -m u:1235:- d; refused as 1235 5 stat d/f
        # What stands for a thread.
        refused as 1234 5 mkdir ../../../other; setfacl -m u:1234:rwx ../../..; as 1234 5 mkdir ../../../other
        as 1234 5 rmdir ../../../other; setfacl -b ../../..
        echo '{}' >../../doc.json; chmod 600 ../../doc.json; refused as 1234 5 cat ../../doc.json
        setfacl -m u:1234:rw ../../doc.json; as 1234 5 bash -c 'echo "[]" >../../doc.json; cat ../../doc.json'"#,
    );
}

#[test]
fn only_the_owner_and_root_set_one() {
    same(
        r#"
        chmod 755 . .. ../..; touch f; chmod 666 f; chown 1234:77 f
        refused as 1235 5 setfacl -m u:1235:rw f; refused as 1235 5 setfacl -d -m u:1235:rw .
        as 1234 5 setfacl -m u:1235:rw f; refused as 1235 5 setfacl -b f; lists f
        # As with chmod, set-group-ID stays for those only who are in the group.
        chmod 2775 f; as 1234 5 setfacl -m u:9:r f; lists f
        chmod 2775 f; as 1234 77 setfacl -m u:9:rw f; lists f
        chmod 2775 f; setpriv --reuid=1234 --regid=5 --groups=77 -- setfacl -m u:9:rwx f; lists f
        chmod 2775 f; setfacl -m u:9:x f; lists f
        chmod 2775 f; as 1234 5 setfacl -b f; lists f
        mkdir d; chown 1234:77 d; chmod 2775 d; as 1234 5 setfacl -d -m u:9:r d; lists d
        as 1234 5 setfacl -m u:9:r d; lists d"#,
    );
}

#[test]
fn copies_keep_lists() {
    let shown = same(
        r#"
        mkdir -p d/e; echo x >d/e/f; echo y >d/g; setfacl -m u:1234:rw,g:55:r d/e/f; setfacl -d -m u:1234:rwx d d/e
        setfacl -m g:66:rx d/e; chmod 640 d/g; setfattr -n user.a -v 1 d/e/f
        here() { (cd "$1"; lists .); }
        here d
        cp -a d copied; here copied
        rsync -aHAX d/ synced; here synced; rsync -aHAXin d/ synced
        tar --acls --xattrs -cf d.tar d; mkdir out; tar --acls --xattrs -xpf d.tar -C out; here out/d
        cp -a d "$elsewhere/d"; here "$elsewhere/d"; cp -a "$elsewhere/d" back; here back
        mv d moved; mv moved "$elsewhere/moved"; mv "$elsewhere/moved" d; here d
        getfacl -R d >saved; setfacl -Rb d; setfacl --restore=saved; here d
        cp --no-preserve=all d/e/f plain; lists plain"#,
    );
    assert!(shown.matches("user:1234:rw-").count() > 6, "{shown}");
}

#[test]
fn what_is_no_list_is_refused() {
    same(
        r#"
        touch f; mkdir d; ln -s f l; mkfifo p
        refused setfacl -d -m u:1:r f; setfacl -k f
        setfacl -m u:1:r p; lists p
        set_raw() { refused setfattr -n "system.posix_acl_$1" -v "$2" "$3"; }
        set_raw access 0x02 f; set_raw access 0x01000000 f; set_raw access 0x0200000001000600ffffffff f
        set_raw access 0x020000000100060001 f
        # Out of order, without a mask, and a permission that is none.
        set_raw access 0x0200000004000600ffffffff01000600ffffffff20000600ffffffff f
        set_raw access 0x0200000001000600ffffffff020006000100000004000600ffffffff20000600ffffffff f
        set_raw access 0x0200000001000e00ffffffff04000600ffffffff20000600ffffffff f
        set_raw default 0x0200000001000600ffffffff d
        refused setfattr -h -n system.posix_acl_access -v 0x0200000001000600ffffffff04000600ffffffff20000600ffffffff l
        lists f d
        # A list of nothing is none.
        setfacl -m u:1:rw f; setfattr -n system.posix_acl_access -v 0x02000000 f; lists f
        setfattr -n system.posix_acl_access -v 0x0200000001000600ffffffff04000400ffffffff20000000ffffffff f; lists f
        getfattr -m - f"#,
    );
}
