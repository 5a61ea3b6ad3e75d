load helpers

nothing_left() {
  [[ -z $(git for-each-ref refs/heads/garth refs/garth/shown) ]] || complain "refs: $(git for-each-ref)"
  [[ -z $(leftovers | grep -v ^trash/) ]] || complain "$(leftovers)"
  [[ $(git worktree list | wc -l) == 1 && ! -e .git/worktrees ]] || complain "$(git worktree list)"
}

@test "T1 discard: a task without work goes without a trace, for both backends" {
  fingerprint >"$T/before"
  for b in overlay worktree; do
    "$garth" new t --backend $b
    inside t true
    call "$garth" discard t
    [[ $code == 0 && -z $out && -z $err ]] || complain
    nothing_left
    [[ -z $(ls "$GARTH_HOME/trash") ]]
    fails 3 "there is no task 't'" "$garth" discard t
  done
  fingerprint | diff "$T/before" -
  git fsck --strict
}

@test "ESCAPES 26 discard: changed files are kept unless -f says so; then they are in the trash" {
  for b in overlay worktree; do
    "$garth" new t --backend $b
    inside t 'echo work >work; echo x >>a.txt'
    changes_nothing 4 "task 't' has the only copy of its work: 2 changed files" "$garth" discard t
    [[ $(hint) == "garth discard -f t" ]] || complain
    changes_nothing 4 "only copy" "$garth" discard -D t
    call "$garth" discard -f t --json
    trash=$(json 'd["trash"]' <<<"$out")
    [[ $(cat "$(find "$trash" -name work -type f)") == work ]]
    nothing_left
  done
}

@test "ESCAPES 26 discard: drafts are kept unless -D says so; then they are in the trash" {
  for b in overlay worktree; do
    "$garth" new t --backend $b
    inside t 'echo work >work; git add work; git commit -qm draft; git checkout -q -b other HEAD~1; git branch -m garth/t kept; git reset -q --hard'
    changes_nothing 4 "drafts in its repository" "$garth" discard t
    changes_nothing 4 "drafts in its repository" "$garth" discard -f t
    call bash -c "$(hint | sed "s,^garth,\"$garth\" ,") --json"
    trash=$(json 'd["trash"]' <<<"$out")
    [[ $(git --git-dir "$trash/git" cat-file -p kept:work) == work ]]
    git --git-dir "$trash/git" fsck --strict
    nothing_left
  done
}

@test "ESCAPES 26 discard: a stash and a detached commit are drafts too; -fD gives all up" {
  "$garth" new t
  inside t 'echo x >>a.txt; git stash -q; git checkout -q --detach'
  changes_nothing 4 "drafts" "$garth" discard t
  "$garth" discard -fD t
  nothing_left
}

@test "ESCAPES 26 discard: ignored files alone do not hold it" {
  "$garth" new t; inside t 'touch x.o; mkdir ignored; touch ignored/y'
  "$garth" discard t
  nothing_left
}

@test "ESCAPES 26 discard: a running task, and one that a command is at work in, are refused" {
  "$garth" run -d -t t -- sleep 1000
  changes_nothing 4 "task 't' is running" "$garth" discard -fD t
  [[ $(hint) == "garth cancel t" ]]
  "$garth" cancel t
  "$garth" exec t -- sh -c 'echo ready; sleep 1000' >"$T/o" 2>&1 3>&- &
  pid=$!
  eventually grep -q ready "$T/o"
  changes_nothing 1 "task 't' is in use by another command" "$garth" discard -fD t
  kill -INT $pid; wait $pid || true
  eventually "$garth" discard -fD t
}

@test "ESCAPES 26 discard: a branch that was moved on outside is kept" {
  "$garth" new t
  tip=$(git commit-tree -p HEAD -m more "HEAD^{tree}")
  git update-ref refs/heads/garth/t "$tip"
  "$garth" discard t
  [[ $(git rev-parse garth/t) == "$tip" ]]
  fails 1 "there is a branch 'garth/t' already" "$garth" new t
}

@test "ESCAPES 26 27 discard: the project is gone: what cannot be looked at is not given up unasked" {
  "$garth" run -t t -- sh -c 'echo work >work'
  mv "$R" "$R.away"; cd /
  fails 4 "only copy" "$garth" discard t
  call "$garth" discard -fD t --json
  trash=$(json 'd["trash"]' <<<"$out")
  [[ $code == 0 && $(cat "$trash/upper/work") == work ]] || complain
  mv "$R.away" "$R"; cd "$R"
}

@test "T1 discard: the trash is emptied of what is old, and of nothing else" {
  for t in old young; do "$garth" run -t $t -- sh -c 'echo work >work'; "$garth" discard -f $t; done
  touch -d '8 days ago' "$GARTH_HOME/trash/1"
  "$garth" new t; "$garth" discard t
  [[ $(ls "$GARTH_HOME/trash") == 2 ]]
  [[ $(git for-each-ref refs/garth/trash --format='%(refname)') == refs/garth/trash/2 ]]
}

@test "ESCAPES 4 discard: of t-1 leaves t-10, its branch and its pins" {
  git tag v1
  echo 2 >>a.txt; commit
  "$garth" new t-1; "$garth" new t-10; "$garth" new t-1.x
  "$garth" discard t-1
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["t-10", "t-1.x"]' ]]
  [[ $(git for-each-ref refs/heads/garth --format='%(refname)' | tr '\n' ' ') == "refs/heads/garth/t-1.x refs/heads/garth/t-10 " ]]
  [[ -n $(git for-each-ref refs/garth/shown) && $(inside t-10 cat a.txt) == $'one\n2' ]]
}

@test "ESCAPES 25 discard: twice at once" {
  "$garth" new t
  for i in 1 2 3 4; do (code=0; "$garth" discard t >"$T/o$i" 2>&1 3>&- || code=$?; echo $code >"$T/c$i") & done
  wait
  grep -qx 0 "$T"/c?
  [[ $(cat "$T"/o? | grep -vc '^✗ ') == 0 ]] || { cat "$T"/o?; false; }
  nothing_left
}
