load helpers

nothing_left() {
  [[ -z $(git for-each-ref refs/heads/garth refs/garth/tasks) ]] || complain "refs: $(git for-each-ref)"
  [[ -z $(leftovers | grep -v ^trash/) ]] || complain "$(leftovers)"
  [[ $(git worktree list | wc -l) == 1 && ! -e .git/worktrees ]] || complain "$(git worktree list)"
}

@test "T1 discard: a task without work is removed completely, with both backends" {
  fingerprint >"$T/before"
  for b in "${backends[@]}"; do
    "$garth" new t --backend $b
    inside t true
    call "$garth" discard t
    says "task 't' is discarded; there was no work in it"
    [[ -z $out ]] || complain
    nothing_left
    [[ -z $(ls "$GARTH_HOME/trash") ]]
    fails 3 "there is no task 't'" "$garth" discard t
  done
  fingerprint | diff "$T/before" -
  git fsck --strict
}

@test "ESCAPES 26 discard: changed files are kept unless -f says so; then they are in the trash" {
  for b in "${backends[@]}"; do
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

@test "discard: large files are compared by their sizes; only one of the same size is read" {
  head -c 2000000 /dev/zero >big; cp big same; git add big same; git commit -qm big
  "$garth" new t
  # a file without permissions can be compared only by its size
  inside t 'echo more >>big; head -c 3000000 /dev/zero >new; touch same; chmod 0 big new'
  changes_nothing 4 "task 't' has the only copy of its work: 2 changed files" "$garth" discard t
  [[ $err == *$'\n  M big\n  A new\n'* ]] || complain
  inside t 'chmod 644 big new; git checkout -q big; rm new; printf x | dd of=same conv=notrunc status=none'
  changes_nothing 4 "task 't' has the only copy of its work: 1 changed file" "$garth" discard t
  [[ $err == *$'\n  M same\n'* ]] || complain
}

# A commit that is published nowhere, on a branch of the agent's own.
make_draft() {
  inside "$1" 'b=$(echo work | git hash-object -w --stdin); t=$(printf "100644 blob %s\twork\n" $b | git mktree)
    git update-ref refs/heads/kept $(git commit-tree -p HEAD -m draft $t)'
}

@test "ESCAPES 26 discard: drafts are kept unless -D says so; then they are in the trash" {
  for b in "${backends[@]}"; do
    "$garth" new t --backend $b
    make_draft t
    changes_nothing 4 "drafts in its repository (3 objects)" "$garth" discard t
    [[ $(hint) == "garth discard -D t" ]] || complain
    changes_nothing 4 "drafts in its repository" "$garth" discard -f t
    call bash -c "$(hint | sed "s,^garth,\"$garth\" ,") --json"
    trash=$(json 'd["trash"]' <<<"$out")
    [[ $(git --git-dir "$trash/git" cat-file -p kept:work) == work ]]
    GIT_ALTERNATE_OBJECT_DIRECTORIES=$R/.git/objects git --git-dir "$trash/git" fsck --strict
    nothing_left
  done
}

@test "ESCAPES 26 discard: an object that was only staged is a draft; -fD discards everything" {
  "$garth" new t
  inside t 'echo x >>a.txt; git add a.txt; git restore -q --staged a.txt'
  changes_nothing 4 "1 changed file, drafts in its repository (1 object)" "$garth" discard t
  [[ $(hint) == "garth discard -fD t" ]] || complain
  changes_nothing 4 "drafts" "$garth" discard -f t
  changes_nothing 4 "changed file" "$garth" discard -D t
  "$garth" discard -fD t
  nothing_left
}

@test "ESCAPES 26 discard: packs, odd names and very many objects count as drafts" {
  "$garth" new t; g=$(task_dir t)/git
  # what the shared repository has is no draft
  o=$(inside t 'git cat-file -p HEAD | git hash-object -t commit -w --stdin')
  [[ -f $g/objects/${o:0:2}/${o:2} ]]
  [[ $("$garth" show t --json | json 'd["drafts"]') == false ]]
  : >"$g/objects/${o:0:2}/tmp_obj_x"
  changes_nothing 4 "(1 object)" "$garth" discard t
  rm "$g/objects/${o:0:2}/tmp_obj_x"; : >"$g/objects/pack/pack-x.pack"
  changes_nothing 4 "(1 object)" "$garth" discard t
  rm "$g/objects/pack/pack-x.pack"
  # names that git would take for something else than an object
  : >"$g/objects/${o:0:2}/HEAD"; : >"$g/objects/${o:0:2}/${o:2:20}"$'\n'"${o:2:17}"
  changes_nothing 4 "(2 objects)" "$garth" discard t
  rm -rf "$g/objects/${o:0:2}"
  # once is enough: a disk is slow for minutes after so many
  if ! is_root; then
    python3 - "$g/objects/aa" <<'PY'
import os, sys
os.mkdir(sys.argv[1])
for i in range(100001): os.close(os.open("%s/%038x" % (sys.argv[1], i), os.O_CREAT | os.O_WRONLY, 0o644))
PY
    changes_nothing 4 "(100,001 objects)" "$garth" discard t
    rm -r "$g/objects/aa"
  fi
  "$garth" discard t
  nothing_left
}

# published TASK: publishes a commit with a new file.
published() { inside "$1" 'echo work >work; git add work; git commit -qm work'; }

@test "ESCAPES 26 discard: an unmerged branch is kept unless -D says so; then its commits are pinned" {
  for b in "${backends[@]}"; do
    "$garth" new t --backend $b
    published t; inside t 'git commit -q --allow-empty -m more'
    tip=$(git rev-parse garth/t) id=$(field t id)
    changes_nothing 4 "task 't' has the only copy of its work: 2 commits on garth/t that are not in main" "$garth" discard t
    [[ $(hint) == "garth discard -D t" ]] || complain
    changes_nothing 4 "not in main" "$garth" discard -f t
    inside t 'echo x >>work'
    changes_nothing 4 "1 changed file, 2 commits" "$garth" discard -D t
    [[ $(hint) == "garth discard -fD t" ]] || complain
    "$garth" discard -fD t
    nothing_left
    [[ $(git for-each-ref --format='%(refname) %(objectname)' refs/garth/trash/$id) == "refs/garth/trash/$id/tip $tip" ]]
    git reflog expire --expire=now --all; git gc -q --prune=now
    [[ $(git show "$tip:work") == work ]]
  done
}

@test "ESCAPES 26 discard: a branch that is in the target, or merged, needs no option" {
  "$garth" new t; published t
  git merge -q --ff-only garth/t
  "$garth" discard t
  nothing_left
  "$garth" new s; inside s 'echo s >s; git add s; git commit -qm s'
  "$garth" merge --keep s --squash
  git merge-base --is-ancestor garth/s main && false
  call "$garth" discard s --json
  [[ $code == 0 ]] || complain
  nothing_left
  # merged once, but moved on by hand since
  "$garth" new m; inside m 'echo m >m; git add m; git commit -qm m'
  "$garth" merge --keep m --squash
  git update-ref refs/heads/garth/m "$(git commit-tree -p garth/m -m mine garth/m^{tree})"
  changes_nothing 4 "1 commit on garth/m that is not in main" "$garth" discard m
}

@test "ESCAPES 26 discard: if the target is gone, or there was none, commits beyond the base are unmerged" {
  git checkout -q -b feature; "$garth" new t; published t
  git checkout -q main; git branch -D -q feature
  changes_nothing 4 "1 commit on garth/t that is not in feature" "$garth" discard t
  git checkout -q --detach; "$garth" new d; inside d 'echo d >d; git add d; git commit -qm d'
  changes_nothing 4 "1 commit on garth/d that is not in $(git rev-parse HEAD)" "$garth" discard d
}

@test "ESCAPES 26 discard: if the task's directory is gone, its branch is not removed without an option" {
  "$garth" new t; published t; tip=$(git rev-parse garth/t)
  wipe "$(task_dir t)"
  changes_nothing 4 "1 commit on garth/t that is not in main" "$garth" discard t
  "$garth" discard -D t
  nothing_left
  [[ $(git rev-parse refs/garth/trash/$(ident 1)/tip) == "$tip" ]]
}

@test "ESCAPES 26 discard: the user removed the branch: what was published is still pinned" {
  "$garth" new t; published t; tip=$(git rev-parse garth/t)
  git update-ref -d refs/heads/garth/t
  changes_nothing 4 "1 commit on garth/t" "$garth" discard t
  "$garth" discard -D t
  [[ $(git rev-parse refs/garth/trash/$(ident 1)/tip) == "$tip" ]]
  "$garth" undo
  [[ $(git rev-parse garth/t) == "$tip" ]]
}

@test "ESCAPES 26 discard: ignored files alone do not prevent it" {
  "$garth" new t; inside t 'touch x.o; mkdir ignored; touch ignored/y'
  "$garth" discard t
  nothing_left
}

@test "ESCAPES 26 discard: a running task, and one in which a command runs, are refused" {
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

@test "ESCAPES 26 T3 discard: what only a snapshot has is work too, whoever made the snapshot" {
  for b in "${backends[@]}"; do
    for asked in yes no; do
      "$garth" new t --backend $b; inside t 'echo x >precious; git add .; git commit -qm precious; echo u >un'
      was=$(git rev-parse garth/t); [[ $asked == no ]] || "$garth" snapshot t -m 'keep me' >/dev/null
      "$garth" rollback t --full
      changes_nothing 4 "1 commit on garth/t that is not in main" "$garth" discard t
      call "$garth" cleanup --all-inactive
      [[ $err == *"task 't' has the only copy"* ]] || complain
      [[ $(state_of t) == created ]] || complain
      "$garth" discard -D t
      git gc -q --prune=now
      "$garth" undo t
      "$garth" rollback t --to-snapshot 2 >/dev/null
      [[ $(inside t 'cat precious un; git rev-parse HEAD') == $'x\nu\n'"$was" ]]
      "$garth" discard -fD t
    done
  done
}

@test "T4 T6 ESCAPES 26 discard: a conversation in the task's home goes to the trash; a blocked task is not cleaned up" {
  "$garth" run -q -t b -- sh -c 'mkdir -p ~/.agent; echo talk >~/.agent/s; echo "Which db?" >$GARTH_QUESTION_FILE' || true
  [[ $(state_of b) == blocked ]]
  call "$garth" cleanup --all-inactive
  [[ $err == *"task 'b' waits for an answer"* ]] || complain
  configure <<<'cleanup: {stale_after: 1s}'
  sleep 2.1
  "$garth" serve --once >/dev/null 2>&1
  [[ $(state_of b) == blocked ]]
  call "$garth" cleanup --force-all </dev/null
  [[ $code == 4 ]] || complain
  [[ $err == *"task 'b' waits for an answer"* ]] || complain
  "$garth" discard b
  "$garth" undo b
  [[ $(state_of b) == blocked ]]
  [[ $(inside b 'cat ~/.agent/s') == talk ]]
  [[ $("$garth" show b 2>&1) == *'Which db?'* ]]
  "$garth" new n
  inside n 'echo notes >~/notes'
  "$garth" discard n
  "$garth" undo n
  [[ $(inside n 'cat ~/notes') == notes ]]
}

@test "ESCAPES 26 discard: commits that the user added to the branch are the user's work" {
  "$garth" new t
  tip=$(git commit-tree -p HEAD -m more "HEAD^{tree}")
  git update-ref refs/heads/garth/t "$tip"
  changes_nothing 4 "1 commit on garth/t that is not in main" "$garth" discard t
  "$garth" discard -D t
  nothing_left
  [[ $(git rev-parse refs/garth/trash/$(ident 1)/tip) == "$tip" ]]
}

@test "ESCAPES 25 26 discard: a branch that moves during the discard is kept" {
  has_faults || { means_nothing; return; }
  "$garth" new t; published t
  call env GARTH_FAULT=discard-marked "$garth" discard -D t
  mine=$(git commit-tree -p garth/t -m mine garth/t^{tree})
  git update-ref refs/heads/garth/t "$mine"
  "$garth" ls
  [[ $(git rev-parse garth/t) == "$mine" ]]
  [[ $(git rev-parse refs/garth/trash/$(ident 1)/tip) == $(git rev-parse "$mine^") ]]
}

@test "ESCAPES 26 27 discard: if the project is gone, what cannot be checked is not removed without an option" {
  "$garth" run --on-dirty keep -t t -- sh -c 'echo work >work'
  mv "$R" "$R.away"; cd /
  fails 4 "only copy" "$garth" discard t
  call "$garth" discard -fD t --json
  trash=$(json 'd["trash"]' <<<"$out")
  [[ $code == 0 ]] || complain
  [[ $(cat "$trash/upper/work") == work ]] || complain
  fails 3 "is not there any more" "$garth" undo t
  mv "$R.away" "$R"; cd "$R"
  "$garth" undo
  [[ $(inside t cat work) == work ]]
}

@test "T1 discard: expired tasks are removed from the trash with all their pins, and nothing else is" {
  git tag v1; echo 2 >>a.txt; commit
  for t in 1 2 3; do
    "$garth" new t$t; published t$t; inside t$t 'echo x >>work'
    [[ $t == 3 ]] || "$garth" discard -fD t$t
  done
  git update-ref refs/garth/trash/12 main
  mkdir "$GARTH_HOME/trash/12"; touch "$GARTH_HOME/trash/12/lock"; printf '%s' "$R/.git" >"$GARTH_HOME/trash/12/keep"
  touch -d '8 days ago' "$GARTH_HOME/trash/$(ident 1)"
  "$garth" new t; "$garth" discard t
  [[ $(ls "$GARTH_HOME/trash" | sort -n) == 12$'\n'$(ident 2) ]]
  [[ -z $(git for-each-ref refs/garth/trash/$(ident 1) refs/garth/tasks/$(ident 1)) ]]
  [[ $(git for-each-ref "refs/garth/trash/$(ident 2)" | wc -l) == 1 ]]
  [[ $(git for-each-ref refs/garth/tasks/$(ident 3) | wc -l) == 1 ]]
  # as an earlier version left it
  touch -d '8 days ago' "$GARTH_HOME/trash/12"
  "$garth" new t
  "$garth" discard t
  [[ $(ls "$GARTH_HOME/trash") == "$(ident 2)" ]]
  [[ -z $(git for-each-ref refs/garth/trash/12) ]]
  fails 3 "there is nothing of task 'nobody' to take back" "$garth" undo nobody
  fails 3 "task 't1' cannot be restored: it is not in the trash any more" "$garth" undo t1
}

@test "ESCAPES 23 discard: killed while the trash is emptied: the rest is removed the next time" {
  "$garth" new t; published t; "$garth" discard -D t
  touch -d '8 days ago' "$GARTH_HOME/trash/$(ident 1)"
  "$garth" new s
  call env GARTH_FAULT=trash-unpinned "$garth" discard s
  if has_faults; then
    [[ $code == 137 ]] || complain
    [[ $(ls "$GARTH_HOME/trash") == "$(ident 1).gone" ]] || complain
    fails 3 "task 't' cannot be restored: it is not in the trash any more" "$garth" undo t
  fi
  "$garth" new u
  "$garth" discard u
  [[ -z $(ls "$GARTH_HOME/trash") ]]
  [[ -z $(git for-each-ref refs/garth/trash) ]]
}

@test "T1 discard: a task without work takes its snapshots along, and what the gateway left half checked" {
  "$garth" new t; "$garth" new t2
  git update-ref refs/garth/snapshots/$(ident 1)/1 main; git update-ref refs/garth/snapshots/$(ident 2)/1 main
  mkdir -p .git/objects/garth-$(ident 1)/pack .git/objects/garth-$(ident 2)
  "$garth" discard t
  [[ $(git for-each-ref refs/garth/snapshots --format='%(refname)') == refs/garth/snapshots/$(ident 2)/1 ]]
  [[ ! -e .git/objects/garth-$(ident 1) && -d .git/objects/garth-$(ident 2) ]]
}

@test "G7 discard: recorded before it is done, with what the task had" {
  "$garth" new t; published t
  fails 4 "not in main" "$garth" discard t
  "$garth" discard -D t
  [[ $("$garth" audit t --json | python3 -c '
import json, sys
for l in json.load(sys.stdin)["events"]:
    if l["event"] == "discard": print(l["unmerged"], l["files"], l["kept"])') == "1 0 True" ]]
  "$garth" new s
  echo '{}' >"$GARTH_HOME/audit.jsonl"
  changes_nothing 5 "audit log" "$garth" discard s
}

@test "ESCAPES 4 discard: discarding t-1 leaves t-10, its branch and its pins" {
  git tag v1
  echo 2 >>a.txt; commit
  "$garth" new t-1; "$garth" new t-10; "$garth" new t-1.x
  "$garth" discard t-1
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["t-10", "t-1.x"]' ]]
  [[ $(git for-each-ref refs/heads/garth --format='%(refname)' | tr '\n' ' ') == "refs/heads/garth/t-1.x refs/heads/garth/t-10 " ]]
  [[ $(git for-each-ref refs/garth/tasks | wc -l) == 2 ]]
  [[ $(inside t-10 cat a.txt) == $'one\n2' ]]
}

@test "ESCAPES 25 discard: two discards of one task at once" {
  "$garth" new t
  for i in 1 2 3 4; do (code=0; "$garth" discard t >"$T/o$i" 2>&1 3>&- || code=$?; echo $code >"$T/c$i") & done
  wait
  grep -qx 0 "$T"/c?
  [[ $(cat "$T"/o? | grep -vcE "^(✗ |✓ task 't' is discarded)") == 0 ]] || { cat "$T"/o?; false; }
  nothing_left
}

@test "T1 discard: another Garth home has its own pins in the same repository, for the same refs" {
  "$garth" new mine; GARTH_HOME=$T/other "$garth" new theirs
  [[ $(git for-each-ref refs/garth/tasks | wc -l) == 2 ]]
  "$garth" discard mine
  [[ $(git for-each-ref refs/garth/tasks | wc -l) == 1 ]]
  # what the other task is shown stays, whatever becomes of the branch
  git checkout -q --orphan bare; git branch -D -q main; git reflog expire --expire=now --all; git gc -q --prune=now
  GARTH_HOME=$T/other "$garth" exec theirs -- git log --format=%s main | grep -qx first
}
