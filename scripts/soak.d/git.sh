# The repository of this very program: cloned with links, committed to, merged, packed and checked.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@localhost GIT_AUTHOR_DATE='2026-01-01T00:00:00Z'
export GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@localhost GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
checked() { git -C "$1" fsck --full --strict --no-progress >&2; git -C "$1" status --porcelain; git -C "$1" rev-parse HEAD; }
git clone --quiet --no-hardlinks "$(dirname "$(dirname "$here")")" origin
git -C origin checkout --quiet -B main
git clone --quiet origin clone
checked clone
cd clone
for n in $(seq 100); do
  git checkout --quiet -b "branch-$n" main
  for file in $(git ls-files '*.rs' | awk "NR % 100 == $n % 100"); do echo "// $n" >>"$file"; done
  echo "$n" >"file-$n"
  git add --all
  git commit --quiet --message="change $n"
  git checkout --quiet main
  git merge --quiet --no-edit "branch-$n" >&2
  [ $((n % 25)) != 0 ] || git gc --quiet
done
checked .
git log --format=%H | sha256sum
git worktree add --quiet ../tree branch-50
checked ../tree
git repack -a -d -f --quiet
git bundle create ../all.bundle --all --quiet
git clone --quiet ../all.bundle ../unbundled --branch main
checked ../unbundled
git archive HEAD | sha256sum
git push --quiet origin HEAD:pushed
git -C ../origin rev-parse pushed
git rebase --quiet --onto main~5 main~2 branch-100 >&2 || git rebase --abort
git checkout --quiet main
git clean --quiet -dffx
checked .
