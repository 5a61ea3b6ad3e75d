load helpers

# A task with a published commit, a draft, and files of every kind that is not committed.
make() {
  "$garth" new t --backend "$1"
  inside t 'echo work >work; git add work; git commit -qm work; echo more >>work; echo new >new; echo o >x.o; rm dir/b.txt
    git update-ref refs/heads/kept $(git commit-tree -p HEAD -m draft $(printf "100644 blob %s\td\n" $(echo draft | git hash-object -w --stdin) | git mktree))'
}

# Everything that can be seen of the task.
picture() {
  inside t 'git status --porcelain --ignored; git log --format="%H %s" --all; cat work new x.o; git show kept:d'
  "$garth" show t --json | without_disk
  "$garth" diff t
  git for-each-ref
  if [[ -f $GARTH_HOME/worktrees/t/.git ]]; then at "$GARTH_HOME/worktrees/t" git diff-files --name-status; at "$GARTH_HOME/worktrees/t" git status --porcelain; fi
}

# Nothing half-made: what there is in the home and among the refs belongs to tasks that are listed.
sound() {
  local n
  n=$("$garth" ls --json | grep -c '^      "id": ' || true)
  [[ $(ls "$GARTH_HOME/tasks" | wc -l) == "$n" ]] || complain "tasks: $(ls "$GARTH_HOME/tasks")"
  [[ $(git for-each-ref refs/heads/garth | wc -l) == "$n" ]] || complain "refs: $(git for-each-ref)"
  [[ $n != 0 || -z $(git for-each-ref refs/garth/tasks) ]] || complain "pins: $(git for-each-ref)"
  [[ $(git for-each-ref refs/garth/trash --format='%(refname)' | cut -d/ -f4 | sort -u) == "$(ls "$GARTH_HOME/trash" | sort)" ]] ||
    complain "trash: $(ls "$GARTH_HOME/trash")" "$(git for-each-ref)"
  [[ $(git worktree list | grep -c /worktrees/) == $(find "$GARTH_HOME/worktrees" -mindepth 2 -maxdepth 2 -name .git -type f | wc -l) ]] || complain "$(git worktree list)"
  [[ -z $(find "$GARTH_HOME/worktrees" -mindepth 1 -maxdepth 1 -empty) ]] || complain "$(ls "$GARTH_HOME/worktrees")"
  ! git worktree list | grep -q prunable || complain "$(git worktree list)"
  git fsck --strict 2>/dev/null
}

# How many actions can be undone.
open_deeds() { sqlite3 "$GARTH_HOME/garth.db" 'SELECT count(*) FROM deed WHERE undone = 0'; }

# Removes the task for good, so that the next one with the name is the only one.
wipe_task() {
  "$garth" discard -fD t
  touch -d '8 days ago' "$GARTH_HOME"/trash/*
  "$garth" new t; "$garth" discard t
  sqlite3 -cmd '.timeout 5000' "$GARTH_HOME/garth.db" 'DELETE FROM deed'
}

collect() { git reflog expire --expire=now --all; git gc -q --prune=now; }

@test "ESCAPES 26 undo: a discarded task is restored as it was, with both backends" {
  git tag v1; echo 2 >>a.txt; commit
  for b in "${backends[@]}"; do
    make $b; picture >"$T/was"
    deeds=$(open_deeds)
    "$garth" discard -fD t
    collect
    call "$garth" undo --json
    [[ $(open_deeds) == "$deeds" ]]
    [[ $code == 0 ]] || complain
    [[ $(json '[d["task"], d["undone"]]' <<<"$out") == '["t", "discard"]' ]] || complain
    picture | diff "$T/was" - || complain "$b"
    sound
    # and it works: commit, discard and undo once more
    inside t 'git add -A; git commit -qm rest'
    tip=$(git rev-parse garth/t)
    "$garth" discard -D t
    "$garth" undo t
    [[ $(git rev-parse garth/t) == "$tip" ]]
    [[ $("$garth" show t --json | json 'd["uncommitted"]') == "[]" ]]
    call "$garth" discard -D t
    [[ $code == 0 ]] || complain
    sound
    "$garth" ls --all --json >/dev/null
  done
}

@test "ESCAPES 26 undo: if nothing was discarded and kept, there is nothing to undo" {
  fails 3 "there is nothing to take back" "$garth" undo
  "$garth" new t; "$garth" discard t
  fails 3 "there is nothing of task 't' to take back" "$garth" undo t
}

@test "ESCAPES 26 undo: the state, the runs and the output are restored" {
  "$garth" run --on-dirty keep -t t -- sh -c 'echo said; echo work >work; exit 7' || true
  "$garth" show t --json | without_disk >"$T/was"
  "$garth" discard -f t
  "$garth" undo t
  "$garth" show t --json | without_disk | diff "$T/was" -
  [[ $("$garth" log t) == *said* ]]
  [[ $(state_of t) == failed ]]
}

@test "ESCAPES 26 undo: the last of several, also of several with the same name" {
  for i in 1 2; do "$garth" new t; inside t "echo $i >work"; "$garth" discard -f t; done
  "$garth" new s; inside s 'echo s >work'; "$garth" discard -f s
  "$garth" undo t
  [[ $(inside t cat work) == 2 ]]
  # the older one's name is taken
  changes_nothing 1 "there is another task 't' by now" "$garth" undo t
  [[ $(hint) == "garth discard t" ]] || complain
  "$garth" undo s
  [[ $(inside s cat work) == s ]]
  "$garth" discard -f t
  "$garth" undo t; [[ $(inside t cat work) == 2 ]]
}

@test "ESCAPES 26 undo: a branch of that name was made meanwhile: it is named, nothing changes" {
  for b in "${backends[@]}"; do
    make $b; picture >"$T/was"; "$garth" discard -fD t
    git branch garth/t main
    changes_nothing 1 "there is another branch 'garth/t' by now" "$garth" undo
    [[ $(hint) == "git branch -m garth/t OTHER_NAME" ]] || complain
    git branch -m garth/t mine
    "$garth" undo
    picture | diff <(cat "$T/was"; true) - | grep '^[<>]' | grep -v refs/heads/mine && complain "$b"
    git branch -D -q mine; "$garth" discard -fD t
  done
}

@test "ESCAPES 26 undo: something else is in the worktree's place: nothing changes, and it is left alone" {
  make worktree; w=$("$garth" path t); picture >"$T/was"
  "$garth" discard -fD t
  mkdir -p "$w"; echo mine >"$w/.git"; echo mine >"$w/file"
  git for-each-ref >"$T/refs"
  fails 1 "is there already" "$garth" undo
  [[ $(cat "$w/.git" "$w/file") == $'mine\nmine' ]]
  git for-each-ref | diff "$T/refs" -
  [[ $("$garth" ls --json | json 'd["tasks"]') == "[]" ]]
  rm -r "$w"
  "$garth" undo
  picture | diff "$T/was" -
  sound
}

@test "ESCAPES 26 undo: the trash was emptied by hand" {
  "$garth" new t; inside t 'echo work >work'; "$garth" discard -f t
  wipe "$GARTH_HOME/trash/$(ident 1)"
  changes_nothing 3 "task 't' cannot be restored: it is not in the trash any more" "$garth" undo
}

@test "ESCAPES 23 26 undo: killed at each step: nothing is lost, and the next undo restores it" {
  has_faults || { means_nothing; return; }
  git tag v1; echo 2 >>a.txt; commit
  for b in "${backends[@]}"; do
    make $b; picture >"$T/was"
    for step in undo-marked undo-moved undo-refs undo-worktree undo-clone undo-placed undo-stored; do
      case $step:$b in undo-worktree:worktree | undo-clone:clone) ;; undo-worktree:* | undo-clone:*) continue ;; esac
      "$garth" discard -fD t
      git for-each-ref >"$T/refs"
      call env GARTH_FAULT=$step "$garth" undo
      [[ $code == 137 ]] || complain "did not die at $step"
      collect
      if [[ $step != undo-stored ]]; then
        # without doctor, by any command
        call "$garth" doctor --repair
        [[ $code == 0 ]] || complain "$b $step"
        sound
        git for-each-ref | diff "$T/refs" - || complain "$b $step"
        call env GARTH_FAULT=$step "$garth" undo
        # and without any command in between
        call "$garth" undo t
        [[ $code == 0 ]] || complain "$b $step"
      fi
      picture | diff "$T/was" - || complain "$b $step"
      sound
      [[ $(open_deeds) == 0 ]] || complain "$b $step"
    done
    wipe_task
  done
}

@test "ESCAPES 23 26 undo: killed at each step of discarding published work, then undone" {
  has_faults || { means_nothing; return; }
  for b in "${backends[@]}"; do
    make $b; picture >"$T/was"
    for step in discard-marked discard-workspace discard-refs discard-moved; do
      call env GARTH_FAULT=$step "$garth" discard -fD t
      [[ $code == 137 ]] || complain "did not die at $step"
      collect
      call "$garth" undo
      [[ $code == 0 ]] || complain "$b $step"
      picture | diff "$T/was" - || complain "$b $step"
      sound
    done
    wipe_task
  done
}


@test "ESCAPES 25 undo: two at once undo one deed" {
  for t in first t; do "$garth" new $t; inside $t 'echo work >work'; "$garth" discard -f $t; done
  for i in 1 2 3 4; do (code=0; "$garth" undo t >"$T/o$i" 2>&1 3>&- || code=$?; echo $code >"$T/c$i") & done
  wait
  [[ $(cat "$T"/c? | grep -cx 0) == 1 ]] || {
    cat "$T"/o? "$T"/c?
    false
  }
  [[ $(cat "$T"/o? | grep -vcE '^(✗ |✓ .*is taken back)') == 0 ]] || {
    cat "$T"/o?
    false
  }
  [[ $(inside t cat work) == work ]]
  [[ $("$garth" ls --json | json 'len(d["tasks"])') == 1 ]]
}

waits() { ls -l "/proc/$1/fd" | grep -q undo.lock; }

@test "ESCAPES 25 undo: an undo that waited for another does not undo one more deed" {
  has_faults || { means_nothing; return; }
  for t in first t; do "$garth" new $t; inside $t 'echo work >work'; "$garth" discard -f $t; done
  GARTH_FAULT=stop:undo-marked "$garth" undo >"$T/o" 2>&1 </dev/null 3>&- & one=$!
  eventually stopped $one
  "$garth" undo >"$T/o2" 2>&1 </dev/null 3>&- & two=$!
  eventually waits $two
  kill -CONT $one
  wait $one
  code=0
  wait $two || code=$?
  [[ $code == 1 ]] || complain "$(<"$T/o2")"
  [[ $(<"$T/o2") == "✗ another command took the discard of task 't' back" ]] || complain "$(<"$T/o2")"
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["t"]' ]]
}

@test "ESCAPES 25 undo: during an undo, other commands read, discard, clean up and empty the trash without harm" {
  has_faults || { means_nothing; return; }
  for b in "${backends[@]}"; do
    make $b; picture >"$T/was"; id=$(field t id)
    for step in undo-marked undo-moved undo-refs undo-placed; do
      "$garth" discard -fD t
      GARTH_FAULT=stop:$step "$garth" undo >"$T/o" 2>&1 </dev/null 3>&- & pid=$!
      eventually stopped $pid
      "$garth" ls >/dev/null
      call "$garth" doctor --repair
      [[ $code == 0 ]] || complain "$b $step"
      [[ $out != *▲* ]] || complain "$b $step"
      fails 1 "in use by another command" "$garth" discard -fD t
      fails 1 "there is a task 't' already" "$garth" new t
      [[ $step != undo-marked ]] || touch -d '8 days ago' "$GARTH_HOME/trash/$id"
      "$garth" new s; "$garth" discard s
      kill -CONT $pid; wait $pid || { cat "$T/o"; false; }
      picture | diff "$T/was" - || complain "$b $step"
      sound
    done
    wipe_task
  done
}

@test "ESCAPES 25 undo: a task that is being restored is not removed from the trash" {
  has_faults || { means_nothing; return; }
  "$garth" new t; inside t 'echo work >work'; "$garth" discard -f t
  "$garth" new s
  touch -d '8 days ago' "$GARTH_HOME/trash/$(ident 1)"
  GARTH_FAULT=stop:trash-unpinned "$garth" discard s >"$T/o" 2>&1 </dev/null 3>&- & pid=$!
  eventually stopped $pid
  fails 3 "it is not in the trash any more" "$garth" undo t
  kill -CONT $pid; wait $pid
}

@test "ESCAPES 26 undo: other tasks with the same pins come and go meanwhile" {
  git tag v1; first=$(git rev-parse v1); echo 2 >>a.txt; commit
  "$garth" new other; make overlay; picture | grep -v other >"$T/was"
  "$garth" discard -fD t; "$garth" discard other
  [[ -z $(git for-each-ref refs/garth/tasks) ]]
  git tag -d v1 >/dev/null; git checkout -q --orphan bare; git branch -D -q main; collect
  "$garth" undo
  [[ $(git for-each-ref refs/garth/tasks | wc -l) == 1 ]]
  collect
  # by its id: the tag is gone outside, so it goes inside, sooner or later
  [[ $(inside t "git log -1 --format=%s $first; cat a.txt") == $'first\none\n2' ]]
}

@test "G7 undo: recorded, and a merge is undone too, before the discard that came after it" {
  "$garth" new t; inside t 'echo work >work; git add work; git commit -qm work'
  old=$(git rev-parse main)
  "$garth" merge --keep t
  [[ -e work ]]
  [[ $(git rev-parse main) != "$old" ]]
  "$garth" discard t
  "$garth" undo
  [[ $(state_of t) == merged ]]
  "$garth" undo
  [[ $(git rev-parse main) == "$old" ]]
  [[ ! -e work && $(state_of t) != merged ]]
  fails 3 "nothing to take back" "$garth" undo
  [[ $("$garth" audit --json | python3 -c '
import json, sys
print([l["kind"] for l in json.load(sys.stdin)["events"] if l["event"] == "undo"])') == "['discard', 'merge']" ]]
  "$garth" audit --verify
}

@test "undo: usage" {
  fails 2 "one word too many" "$garth" undo a b
  "$garth" undo --help | grep -q -- --json
  [[ $("$garth" completion bash un) == undo ]]
}

@test "G10 undo: without a name it stays in the current directory's repository" {
  "$garth" new t; inside t 'echo x >x; git add x; git commit -qm x'; "$garth" merge t; merged=$(git rev-parse main)
  git init -q "$T/home/other"; cd "$T/home/other"; git commit -q --allow-empty -m first
  fails 3 "nothing to take back" "$garth" undo
  [[ $(git -C "$R" rev-parse main) == "$merged" ]]
  cd "$T"
  fails 4 "is in no repository" "$garth" undo
  [[ $(git -C "$R" rev-parse main) == "$merged" ]]
  # in a linked worktree, and in a directory below
  git -C "$R" worktree add -q --detach "$T/linked"; cd "$T/linked/dir/sub"; "$garth" undo; [[ $(git -C "$R" rev-parse main) != "$merged" ]]
}

# A second project with a task, in the same Garth home.
second() { git init -q "$T/home/second"; (cd "$T/home/second" && echo 2 >2 && git add 2 && git commit -qm 2 && "$garth" new "$1" >/dev/null && inside "$1" 'echo s >s; git add s; git commit -qm s'); }
undoable() { "$garth" undo --list --json "$@" | json '[[x["kind"], x["task_names"], x["project"]] for x in d["deeds"]]'; }

@test "H6 undo: outside a repository nothing is undone without a name; within one, only what was done there" {
  "$garth" new t; inside t 'echo x >x; git add x; git commit -qm x'; second s
  "$garth" discard -D t; (cd "$T/home/second"; "$garth" discard -D s)
  # the newest deed of all is the other project's
  cd "$T"
  changes_nothing 4 "is in no repository" "$garth" undo
  [[ $(hint) == 'garth undo --list' ]] || complain
  changes_nothing 4 "is in no repository" "$garth" undo --dry-run
  cd "$R"
  [[ $(at "$T" undoable) == '[["discard", ["s"], "second"], ["discard", ["t"], "app"]]' ]]
  [[ $(undoable) == '[["discard", ["t"], "app"]]' ]]
  remember
  [[ $("$garth" undo -n) == "the discard of task 't'" ]]
  [[ $("$garth" undo --dry-run --json s | json '[d["task_names"], d["dry_run"]]') == '[["s"], true]' ]]
  nothing_changed
  "$garth" undo
  [[ $(state_of t) == created ]]
  [[ $(state_of s) == '' ]]
  fails 3 'there is nothing to take back' "$garth" undo
  # in a repository that has no task at all
  git init -q "$T/home/third"; (cd "$T/home/third" && git commit -q --allow-empty -m 3 && fails 3 'there is nothing to take back' "$garth" undo)
  # by name, from anywhere
  at "$T" "$garth" undo s; [[ $(state_of s) == created ]]
}

@test "H6 undo: a name that tasks of two projects had is asked about, or refused; each repository has its own" {
  "$garth" new t
  inside t 'echo x >x; git add x; git commit -qm x'
  "$garth" discard -D t
  second t
  (
    cd "$T/home/second"
    "$garth" discard -D t
  )
  cd "$T"
  changes_nothing 4 "tasks named 't' were in several projects: 'second', 'app'" "$garth" undo t
  [[ $(hint) == "garth undo $T/home/second/t" ]] || complain
  cd "$R"
  [[ $(undoable t) == '[["discard", ["t"], "app"]]' ]]
  "$garth" undo t
  [[ $("$garth" show t --json | json 'd["project"]') == app ]]
  "$garth" discard -D t
  # on a terminal the user chooses; what is not a number chooses nothing
  cd "$T"
  terminals <<'PY'
t = garth("undo", "t")
t.expect("or nothing: "); t.send("\n"); t.wait()
assert re.search(" 1  .*app .*discard of task", t.text), t.text
PY
  [[ $(state_of t) == '' ]]
  terminals <<'PY'
t = garth("undo", "t")
t.expect("or nothing: "); t.send("2\n")
assert t.wait() == 0, t.text
PY
  [[ $("$garth" show t --json | json 'd["project"]') == second ]]
}

@test "H6 undo: one cleanup is one undo, within the repository; a task that cannot be restored does not stop the others" {
  local n
  for n in a b c; do
    "$garth" new $n
    inside $n "echo $n >$n; git add $n; git commit -qm $n"
  done
  second s
  "$garth" rollback a --full
  "$garth" cleanup --force-all <<<remove
  [[ -z $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]' | tr -d '[]') ]]
  [[ $(undoable) == '[["discard", ["a", "b", "c"], "app"], ["rollback", ["a"], "app"]]' ]]
  [[ $("$garth" undo -n) == 'the removal of 3 tasks: a, b, c' ]]
  [[ $("$garth" undo --json | json '[d["task_names"], d["undone"]]') == '[["a", "b", "c"], "discard"]' ]]
  [[ $(state_of a)$(state_of b)$(state_of c) == createdcreatedcreated ]]
  [[ $(state_of s) == '' ]]
  [[ $(undoable) == '[["rollback", ["a"], "app"]]' ]]
  (cd "$T/home/second"; "$garth" undo); [[ $(state_of s) == created ]]
  # one by one is possible too, and a name that is taken does not stop the others
  "$garth" cleanup --force-all <<<remove
  "$garth" undo a
  "$garth" new c
  call "$garth" undo
  [[ $code == 1 ]] || complain
  [[ $err == *"there is another task 'c' by now"* ]] || complain
  [[ $(state_of b) == created ]] || complain
}

@test "H6 undo --list: newest first; a merge with its task is one; what was removed from the trash is not listed" {
  "$garth" new t; inside t 'echo x >x; git add x; git commit -qm x'; "$garth" merge t; "$garth" new u; inside u 'echo y >y'; "$garth" rollback u --full
  [[ $(undoable) == '[["rollback", ["u"], "app"], ["merge", ["t"], "app"]]' ]]
  "$garth" undo --list | sed -n 2p | grep -q "app .*the merge of task 't', and its removal"
  "$garth" discard u; "$garth" new v; inside v 'echo z >z'; "$garth" discard -f v; "$garth" gc --empty-trash
  # the merge can be taken back without its task
  [[ $(undoable) != *'"v"'* ]]
  [[ $(undoable) == *'["merge", ["t"], "app"]'* ]]
  fails 3 'it is not in the trash any more' "$garth" undo
  [[ $(hint) == 'garth undo --list' ]] || complain
  "$garth" undo t
  [[ ! -e x ]]
}
