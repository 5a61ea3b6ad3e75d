load helpers
# a clone's repository is like an overlay's and its files like a worktree's; cmd/clone has the rest
backends=(overlay worktree)

tip() { git rev-parse "refs/heads/garth/${1:-t}"; }
whole() { git fsck --strict --no-dangling >/dev/null && "$garth" audit --verify >/dev/null; }
note() { field "${1:-t}" note; }

@test "T2 exit: uncommitted changes fail the task, are listed, and everything is kept" {
  for b in "${backends[@]}"; do
    call "$garth" run -t d-$b --backend $b -- sh -c 'echo x >>a.txt; echo n >"new file"; git rm -q --cached dir/b.txt; rm dir/b.txt; mkdir ignored; echo i >ignored/i; echo o >x.o'
    [[ $code == 1 ]] || complain
    [[ $(state_of d-$b) == failed ]] || complain
    [[ $(note d-$b) == *uncommitted*a.txt* ]] || complain "$(note d-$b)"
    [[ $(note d-$b) == *dir/b.txt* ]] || complain "$(note d-$b)"
    [[ $(note d-$b) == *'new file'* ]] || complain "$(note d-$b)"
    [[ $(note d-$b) != *x.o* ]] || complain "$(note d-$b)"
    [[ $err == *a.txt* ]] || complain "not told"
    [[ $err == *'new file'* ]] || complain "not told"
    [[ $(inside d-$b 'cat "new file" ignored/i x.o') == $'n\ni\no' ]]
    # only ignored files: done
    call "$garth" run -t i-$b --backend $b -- sh -c 'mkdir ignored; echo i >ignored/i; echo o >x.o'
    [[ $code == 0 ]] || complain
    [[ $(state_of i-$b) == done ]] || complain
    # everything committed, by hand or not at all: done
    call "$garth" run -t c-$b --backend $b -- sh -c 'echo x >>a.txt; echo n >n; git add -A; git commit -qm x'
    [[ $code == 0 ]] || complain
    [[ $(state_of c-$b) == done ]] || complain
    [[ $(note c-$b) == null ]] || complain
    # the command's own failure is what counts
    call "$garth" run -t f-$b --backend $b -- sh -c 'echo x >>a.txt; exit 7'
    [[ $code == 7 ]] || complain
    [[ $(state_of f-$b) == failed ]] || complain
  done
  # Garth looks for itself: the agent's index, excludes and settings are not used
  call "$garth" run -t h -- sh -c 'echo x >>a.txt; echo h >hidden; git update-index --assume-unchanged a.txt; echo hidden >>.git/info/exclude; git config core.fileMode false; git config status.showUntrackedFiles no; test -z "$(git status --porcelain)"'
  [[ $code == 1 ]] || complain "$(note h)"
  [[ $(note h) == *a.txt* ]] || complain "$(note h)"
  [[ $(note h) == *hidden* ]] || complain "$(note h)"
}

@test "T2 exit: --on-dirty commit and keep, by flag and by configuration" {
  for b in "${backends[@]}"; do
    call "$garth" run -t c-$b --backend $b --on-dirty commit -- sh -c 'echo x >>a.txt; echo n >n; echo o >x.o'
    [[ $code == 0 ]] || complain "$(note c-$b)"
    [[ $(state_of c-$b) == done ]] || complain "$(note c-$b)"
    [[ $(git show garth/c-$b:a.txt) == $'one\nx' ]]
    [[ $(git show garth/c-$b:n) == n ]]
    [[ $(git ls-tree -r --name-only garth/c-$b) != *x.o* ]]
    call "$garth" run -t k-$b --backend $b --on-dirty keep -- sh -c 'echo x >>a.txt'
    [[ $code == 0 ]] || complain
    [[ $(state_of k-$b) == done ]] || complain
    [[ $(tip k-$b) == $(git rev-parse main) ]] || complain
    [[ $(inside k-$b 'cat a.txt') == $'one\nx' ]] || complain
  done
  # nothing to commit: no commit
  call "$garth" run -t n --on-dirty commit -- true
  [[ $code == 0 ]] || complain
  [[ $(tip n) == $(git rev-parse main) ]] || complain
  # what policy refuses stays, and fails the task
  call "$garth" run -t p --on-dirty commit -- sh -c 'mkdir -p .github/workflows; echo x >.github/workflows/x.yml'
  [[ $code == 1 ]] || complain "$(note p)"
  [[ $(state_of p) == failed ]] || complain "$(note p)"
  [[ $(note p) == *protected* ]] || complain "$(note p)"
  [[ $(tip p) == $(git rev-parse main) ]] || complain "$(note p)"
  [[ $(inside p 'cat .github/workflows/x.yml') == x ]]
  # a commit that cannot be made does not keep the drafts before it from being published
  call "$garth" run -t h --on-dirty commit -- sh -c 'echo d >d; git add d; GARTH_GATEWAY=1 /usr/bin/git commit -qm draft; echo x >x; git config user.useConfigOnly true; git config --unset user.email; git config commit.gpgSign true; git config gpg.program false'
  [[ $code == 1 ]] || complain "$(note h)"
  [[ $(git log -1 --format=%s garth/h) == draft ]] || complain "$(note h)"
  [[ $(note h) == *'could not commit'* ]] || complain "$(note h)"
  [[ $(inside h 'cat x') == x ]] || complain "$(note h)"
  configure <<<'task: {on_dirty: keep}'
  call "$garth" run -t q -- sh -c 'echo x >>a.txt'
  [[ $code == 0 ]] || complain
  [[ $(state_of q) == done ]] || complain
  call "$garth" run -t r --on-dirty fail -- sh -c 'echo x >>a.txt'
  [[ $code == 1 ]] || complain
  whole
}

@test "T2 exit: commits on other branches and on a detached HEAD are named; refused drafts fail the task and are kept" {
  call "$garth" run -t t -- sh -c 'echo own >own; git add own; git commit -qm own; git branch merged HEAD; git branch old HEAD~1
    /usr/bin/git switch -qc feature; echo f >f; git add f; git commit -qm feature; /usr/bin/git checkout -q --detach; echo h >h; git add h; git commit -qm detached'
  # files in the workspace that are not on the branch are work that the branch lacks
  [[ $code == 1 ]] || complain "$(note)"
  [[ $(note) == *"'feature'"* ]] || complain "$(note)"
  [[ $(note) == *"2 commits are on no branch"* ]] || complain "$(note)"
  [[ $(note) != *merged* ]] || complain "$(note)"
  [[ $(note) != *"'old'"* ]] || complain "$(note)"
  [[ $(note) != *main* ]] || complain "$(note)"
  [[ $(note) != *"'garth/t'"* ]] || complain "$(note)"
  [[ $(inside t 'git show feature:f; git show HEAD:h') == $'f\nh' ]]
  call "$garth" run -t s -- sh -c '/usr/bin/git switch -qc feature; echo f >f; git add f; git commit -qm feature; /usr/bin/git switch -q garth/s'
  [[ $code == 0 ]] || complain "$(note s)"
  [[ $(state_of s) == done ]] || complain "$(note s)"
  [[ $(note s) == *"'feature'"* ]] || complain "$(note s)"
  [[ $(inside s 'git show feature:f') == f ]] || complain "$(note s)"
  call "$garth" run -t u -- sh -c 'mkdir -p .github/workflows; echo x >.github/workflows/x.yml; git add -A; rm .git/hooks/reference-transaction; /usr/bin/git commit -qm draft; git rev-parse HEAD'
  head=$out
  [[ $code == 1 ]] || complain "$(note u)"
  [[ $(state_of u) == failed ]] || complain "$(note u)"
  [[ $(note u) == *'not published'*protected* ]] || complain "$(note u)"
  [[ $(tip u) == $(git rev-parse main) ]] || complain "$(note u)"
  [[ $(inside u 'git rev-parse HEAD; git show HEAD:.github/workflows/x.yml') == "$head"$'\nx' ]]
  fails 4 "only copy" "$garth" discard u
  # the user allows it, and then it can be published
  "$garth" allow u .github/workflows/x.yml
  "$garth" publish u
  [[ $(tip u) == "$head" ]]
  whole
}

@test "T2 exit: a branch that was moved without new objects is published too" {
  git tag start; git commit -q --allow-empty -m more
  "$garth" run -t t -- sh -c 'rm .git/hooks/reference-transaction; /usr/bin/git reset -q --hard start'
  [[ $(tip) == $(git rev-parse start) ]]
  "$garth" run -t u -- sh -c 'GARTH_GATEWAY=1 /usr/bin/git reset -q --hard start; /usr/bin/git pack-refs --all'
  [[ $(tip u) == $(git rev-parse start) ]]
}
