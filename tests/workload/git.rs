//! git with a few thousand files.

use crate::places::same_as_on_the_disk;

/// The same commits at every run.
const START: &str = r#"
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_AUTHOR_DATE='2026-01-01T00:00:00Z'
    export GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@localhost GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
    files() { python3 -c '
import os, sys
for number in range(int(sys.argv[1])):
    os.makedirs(f"part{number % 30}", exist_ok=True)
    with open(f"part{number % 30}/file{number}.txt", "w") as file:
        file.write(f"line of {number}\n" * (number % 50 + 1))' "$1"; }
    is_clean() { [ -z "$(git -C "$1" status --porcelain)" ]; git -C "$1" fsck --full --strict --no-progress; }
    git init --quiet --initial-branch=main repository
    cd repository
    "#;

#[test]
fn three_thousand_files_from_init_to_gc() {
    let steps = r#"
        files 3000
        git add .
        git commit --quiet --message=first
        is_clean .

        git checkout --quiet -b feature
        for n in $(seq 0 29); do echo changed >>"part$n/file$n.txt"; done
        git mv part1 moved
        git rm --quiet -rf part2
        ln -s part3 link
        chmod +x part4/file4.txt
        git add .
        git commit --quiet --message=feature

        git checkout --quiet main
        [ -d part2 ] && [ ! -e moved ]
        for n in $(seq 33 59); do echo other >>"part$((n - 30))/file$n.txt"; done
        git commit --quiet --all --message=main
        git merge --quiet --no-edit feature
        is_clean .
        git log --format='%H %s'
        git ls-files --stage | sha256sum

        echo unfinished >part3/file3.txt
        git stash --quiet
        git rebase --quiet feature 2>&1 | grep -v warning || true
        git stash pop --quiet
        git diff --stat
        git checkout --quiet part3
        git gc --quiet --prune=now
        is_clean .
        git count-objects -v | grep -v size
        git rev-parse HEAD"#;
    let told = same_as_on_the_disk(&format!("{START}{steps}"));
    assert!(told.contains("in-pack: "), "{told}");
    assert!(told.contains("part3/file3.txt"), "{told}");
}

#[test]
fn clones_by_path_and_work_trees() {
    let steps = r#"
        files 300
        git add .
        git commit --quiet --message=first
        # Within a thread, where objects are linked, and to another, where they are copied.
        mkdir -p ../../../../u/user-data
        n=0
        for clone in ../clone ../../../../u/user-data/clone; do
          n=$((n + 1))
          git clone --quiet . "$clone"
          is_clean "$clone"
          echo more >"$clone/more"
          git -C "$clone" add more
          git -C "$clone" commit --quiet --message=more
          git -C "$clone" push --quiet origin "HEAD:from-$n"
          git -C "$clone" log --format='%H %s'
        done
        git worktree add --quiet ../tree -b tree
        is_clean ../tree
        git worktree remove ../tree
        git clone --quiet --bare "file://$PWD" ../bare.git
        git clone --quiet ../bare.git "$elsewhere/out"
        is_clean "$elsewhere/out"
        git branch --all --format='%(refname) %(objectname)'
        find ../clone/.git/objects -type f -links +1 | wc -l"#;
    let told = same_as_on_the_disk(&format!("{START}{steps}"));
    assert!(told.contains("refs/heads/from-2"), "{told}");
    assert_ne!(told.lines().last(), Some("0"), "a clone within a thread has to link");
}

#[test]
fn an_index_that_was_just_written_is_not_doubted() {
    // git believes the times, sizes and inode numbers that it has noted.
    let steps = r#"
        files 300
        git add .
        git commit --quiet --message=first
        for n in $(seq 20); do
          echo "$n" >part1/file1.txt
          git diff --quiet && echo "edit $n was not noticed"
          git commit --quiet --all --message="$n"
          git diff-files --quiet || echo "after $n: a difference that is none"
        done
        git update-index --refresh
        git log --oneline | wc -l"#;
    assert_eq!(same_as_on_the_disk(&format!("{START}{steps}")).trim(), "21");
}
