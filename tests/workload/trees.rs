//! Programs that walk, copy, count and delete trees, and what a shell does with files.

use crate::places::{Places, on, same_as_on_the_disk};

#[test]
fn find_by_every_property() {
    let steps = r#"
        python3 "$steps/tree.py" tree
        cd tree
        look() { echo "-- $*"; find . "$@" | LC_ALL=C sort; }
        look -empty
        look -type f -size +1M
        look -type f -links +1
        look -samefile third
        look -perm -4000
        look -perm 0
        look -user 1234
        look -type l
        look -xtype l
        look -lname 'deep*'
        look -newermt 2050-01-01
        look ! -newermt 1970-01-01
        look -name 'n*' -prune -o -type p -print
        look -regex '.*deep/[12]/er/.*' -type f
        look -maxdepth 1 -type d
        find . -type f -printf '%s %m %n %T@ %P\0' | LC_ALL=C sort -z | grep -vz large | sha256sum
        find . -type f -name '*.txt' -print0 | xargs -0 -n 3 -P 4 cat | wc -lc
        [ "$(find . -inum "$(stat -c %i third)" | wc -l)" = 3 ]
        find deep -depth -delete
        look -maxdepth 1"#;
    let told = same_as_on_the_disk(steps);
    assert!(told.contains("-- -perm -4000\n./folder 4755\n./mode 4755\n"), "{told}");
}

#[test]
fn du_and_df_tell_something_true() {
    let steps = r#"
        dd if=/dev/urandom of=large bs=1M count=8 status=none
        truncate -s 1G sparse
        ln large again
        close() { [ "$1" -ge "$2" ] && [ "$1" -le $(($2 * 11 / 10 + 64)) ] || echo "$1 and not $2"; }
        close "$(du -k large | cut -f 1)" 8192
        close "$(du -sk . | cut -f 1)" 8192
        close "$(du -k sparse | cut -f 1)" 0
        du -b --apparent-size large sparse again
        df --output=fstype . | grep -c . "#;
    same_as_on_the_disk(steps);
}

#[test]
fn copies_moves_and_removals() {
    let steps = r#"
        state() { python3 "$steps/manifest.py" . | sed "s/ mtime=[0-9]*//; s/\(size=3145731\) [^ ]*/\1/"; }
        python3 "$steps/tree.py" tree
        cp -al tree linked
        cmp tree/large linked/large
        [ tree/large -ef linked/large ]
        rm -rf tree/deep
        cp -r --preserve=mode linked/deep other
        mv linked/deep/4 other/moved
        mv -T linked/links linked/renamed
        chmod -R u+w,go-w other
        chown -R 7:8 other
        touch -r linked/large other/0
        rm -r linked/deep
        diff -rq linked/renamed/second tree/third
        rename_all() { for name in *; do mv "$name" "$name.old"; done; }
        (cd other && rename_all)
        state
        rm -rf tree linked other
        ls -A"#;
    same_as_on_the_disk(steps);
}

#[test]
fn redirections_of_a_shell() {
    let steps = r#"
        echo one >file
        echo two >>file
        cat file file >both 2>&1
        (set -C; echo three >file) 2>/dev/null || echo refused
        exec 5<>file
        read -r line <&5
        echo "$line" then >&5
        exec 5>&-
        cat file both
        for n in $(seq 200); do echo "$n"; done | while read -r n; do echo "$n" >>lines; done
        wc -l lines
        (for n in $(seq 100); do echo "a$n" >>shared; done) &
        for n in $(seq 100); do echo "b$n" >>shared; done
        wait
        sort shared | uniq | wc -l
        mkfifo pipe
        seq 1000 >pipe &
        wc -l <pipe
        : >file
        stat -c %s file
        umask 077
        mkdir private
        touch private/file
        stat -c '%a %n' private private/file
        cd private && rmdir ../private 2>/dev/null || echo not empty
        : >"$(printf 'odd \x01\x7f\xff name')"
        printf '%q\n' *"#;
    same_as_on_the_disk(steps);
}

#[test]
fn a_log_is_followed_with_tail_while_it_is_written() {
    let steps = r#"
        exec 3>>log
        sleep 20 & keeper=$!
        tail -n +1 -f --pid=$keeper --sleep-interval=0.05 log >"$elsewhere/seen" &
        for n in $(seq 20); do
          echo "line $n" >&3
          until grep -qx "line $n" "$elsewhere/seen" 2>/dev/null; do sleep 0.01; done
        done
        kill $keeper
        wait || true
        cat "$elsewhere/seen""#;
    assert_eq!(same_as_on_the_disk(steps).lines().count(), 20);
}

#[test]
fn who_walks_the_whole_home_meets_nothing_hidden() {
    let places = Places::new();
    let steps = r#"
        cd ../../../..
        mkdir -p users/u/threads/v/user-data
        echo '{"a": 1}' >threads/t/sandbox.json
        : >threads/t/sandbox.lock
        echo text >users/u/threads/v/user-data/file
        find . | sort
        tar -cf - . | tar -tf - | sort
        rsync -a ./ "$elsewhere/copy"
        find "$elsewhere/copy" -printf '%P\n' | sort
        python3 -c 'import pathlib; print(*sorted(map(str, pathlib.Path().rglob("*"))), sep="\n")'
        grep -rl text . | sort
        rm -r threads users
        ls -A"#;
    let told = places.same(steps);
    assert!(!told.contains(".threadfs") && !told.contains(".snapshots"), "{told}");
    // And they are there all the same.
    on(&places.mount.path, "cat ../../../../.threadfs/status.json");
}
