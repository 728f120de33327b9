//! Copies that keep everything: within a mount, from it to the disk, and back.

use crate::places::same_as_on_the_disk;

/// Copies a tree of everything with the function `copy FROM TO`, there and to the disk and back.
#[track_caller]
fn keeps_everything(copy: &str) {
    let steps = format!(
        r#"
        copy() {{ {copy}
        }}
        manifest() {{ python3 "$steps/manifest.py" "$1"; }}
        python3 "$steps/tree.py" source
        manifest source >"$elsewhere/of source"
        copy source copy
        copy source "$elsewhere/tree"
        copy "$elsewhere/tree" back
        for tree in copy "$elsewhere/tree" back; do
          manifest "$tree" | diff "$elsewhere/of source" -
        done
        # The content is random.
        sed 's/\(size=3145731\) [^ ]*/\1/' "$elsewhere/of source"
        find . -mindepth 1 -delete"#
    );
    let manifest = same_as_on_the_disk(&steps);
    assert!(manifest.lines().count() > 80, "{manifest}");
    assert!(manifest.contains(" sparse") && manifest.contains("user.binary="), "{manifest}");
}

#[test]
fn tar_keeps_everything() {
    keeps_everything(
        r#"
        local kept=(--format=posix --numeric-owner --xattrs "--xattrs-include=*")
        mkdir "$2"
        tar "${kept[@]}" --sparse -cf "$elsewhere/archive.tar" -C "$1" .
        tar "${kept[@]}" -xpf "$elsewhere/archive.tar" -C "$2"
        tar "${kept[@]}" --compare -f "$elsewhere/archive.tar" -C "$2""#,
    );
}

#[test]
fn rsync_keeps_everything_and_finds_nothing_more_to_do() {
    keeps_everything(
        r#"
        rsync -aHAX --sparse --numeric-ids "$1/" "$2"
        rsync -aHAX --sparse --numeric-ids --checksum --itemize-changes --dry-run "$1/" "$2" |
          sed "s/^/rsync is not done: /"
        "#,
    );
}

#[test]
fn cp_keeps_everything() {
    keeps_everything(r#"cp -a "$1" "$2""#);
}

#[test]
fn rsync_updates_in_place_and_deletes() {
    let steps = r#"
        python3 "$steps/tree.py" "$elsewhere/source"
        rsync -aHX "$elsewhere/source/" copy
        head -c 1000000 /dev/zero >>"$elsewhere/source/large"
        rm -r "$elsewhere/source/deep/3"
        mv "$elsewhere/source/third" "$elsewhere/source/moved"
        rsync -aHX --inplace --no-whole-file --delete --backup --backup-dir="$PWD/before" "$elsewhere/source/" copy
        rsync -aHX --checksum --itemize-changes --dry-run --delete "$elsewhere/source/" copy
        find before copy | sort"#;
    let names = same_as_on_the_disk(steps);
    assert!(names.contains("copy/moved") && names.contains("before/third"), "{names}");
}

#[test]
fn zip_and_other_archives_of_python() {
    let steps = r#"
        python3 "$steps/tree.py" source
        python3 - <<'EOF'
import shutil
shutil.copytree("source/deep", "files")
shutil.copy2("source/sparse", "files")
for kind in ("zip", "tar", "gztar", "xztar"):
    shutil.unpack_archive(shutil.make_archive(f"of {kind}", kind, "files"), f"from {kind}")
EOF
        for kind in zip tar gztar xztar; do diff -r files "from $kind"; done
        python3 "$steps/manifest.py" "from gztar" | sed 's/^\(b.\.. .*\) mtime=.*/\1/'
        python3 -m zipfile --test "of zip.zip""#;
    same_as_on_the_disk(steps);
}
