load helpers

# publish TASK SCRIPT [MESSAGE]: a commit on the task's branch, as the gateway would leave it.
publish() {
  local w=$T/publish
  git worktree add -q --detach "$w" "refs/heads/garth/$1"
  (cd "$w" && bash -ec "$2" && git add -A && git -c user.name=Agent -c user.email=agent@example.com commit -qm "${3:-work}" --date '2020-01-02T03:04:05+0200')
  git update-ref "refs/heads/garth/$1" "$(git -C "$w" rev-parse HEAD)"
  git worktree remove --force "$w"
}

# task NAME SCRIPT: a task that has published one commit.
task() { "$garth" new "$1" >/dev/null; publish "$1" "$2" "${3:-work of $1}"; }

# main moves on, so that nothing is a fast-forward.
move_on() { echo "${1:-on}" >"${2:-on.txt}"; commit "main goes on"; }

tidy() {
  [[ -z $(git status --porcelain) ]] || complain "status: $(git status --porcelain)"
  git diff-files --quiet || complain "stat data: $(git diff-files --name-only)"
  nothing_beside
  git fsck --strict
}

# Nothing of the machinery stays.
nothing_beside() {
  [[ -z $(find "$GARTH_HOME/merges" -name '*.json*') ]] || complain "a journal stayed"
  [[ -z $(find "$R" "$T"/elsewhere* \( -name '*garth-merge*' -o -name '*.lock' \) 2>/dev/null) ]] || complain "left: $(find "$R" -name '*garth-merge*' -o -name '*.lock')"
}

at_main() { git rev-parse main; }

@test "G10 merge: fast-forward where the target has not moved; the checkout comes along" {
  task t 'echo new >n.txt; echo 2 >>a.txt; git rm -q dir/sub/c.txt; ln -sf dir/b.txt link; chmod -x run.sh'
  call "$garth" merge t --json
  [[ $code == 0 && $(json '[d["fast_forward"], d["kind"], d["state"], d["target"]]' <<<"$out") == '[true, "merge", "merged", "refs/heads/main"]' ]] || complain
  [[ $(json 'd["checkout"]' <<<"$out") == "$R" && $(json 'd["new"]' <<<"$out") == $(git rev-parse garth/t) ]] || complain
  [[ $(at_main) == $(git rev-parse garth/t) && $(<n.txt) == new && $(<a.txt) == $'one\n2' && ! -e dir/sub && $(readlink link) == dir/b.txt && ! -x run.sh ]]
  tidy
  [[ $(git reflog -1 --format=%gs) == "garth merge: task 't'" && $(git reflog -1 --format=%gs main) == "garth merge: task 't'" ]]
  [[ $(state_of t) == merged ]]
  "$garth" audit --verify
}

@test "G10 merge: a merge commit by the user where both have moved, and with --no-ff" {
  task t 'echo new >n.txt'; task u 'echo u >u.txt'
  move_on
  call "$garth" merge t
  [[ $code == 0 ]] || complain
  [[ $(git log -1 --format='%s|%an|%ae|%cn') == "Merge task 't'|Test User|test@example.com|Test User" && $(git rev-parse HEAD^2) == $(git rev-parse garth/t) ]]
  [[ $(<n.txt) == new && $(<on.txt) == on ]]
  tidy
  git reset -q --hard garth/u~1
  call "$garth" merge u --no-ff -m 'my own words'
  [[ $code == 0 && $(git log -1 --format='%B|%p') == "my own words"*"|"*" "* ]] || complain "$(git log -1 --format='%B|%p')"
  tidy
}

@test "G10 merge: --squash is one commit of the user's, with the subjects and the task" {
  task t 'echo new >n.txt' 'first step'; publish t 'echo more >>n.txt' 'second step'
  move_on
  call "$garth" merge t --squash
  [[ $code == 0 ]] || complain
  [[ $(git log -1 --format=%B) == $'Merge task \'t\' (squashed)\n\n* first step\n* second step\n\nGarth-Task: t' ]] || complain "$(git log -1)"
  [[ $(git log -1 --format='%an %p' | wc -w) == 3 && $(git log -1 --format=%an) == 'Test User' && $(git log -1 --format='%(trailers:key=Garth-Task,valueonly)') == t ]]
  [[ $(<n.txt) == $'new\nmore' ]]
  tidy
}

@test "G10 merge: --rebase keeps each commit's author, date and message, and skips empty ones" {
  task t 'echo 2 >>a.txt' $'first\n\nbody of it'; publish t 'echo on >on.txt' 'the same as main'; publish t 'echo new >n.txt' 'last'
  move_on
  call "$garth" merge t --rebase
  [[ $code == 0 ]] || complain
  [[ $(git log --format='%s|%an|%cn|%ad' --date=iso -2) == $'last|Agent|Test User|2020-01-02 03:04:05 +0200\nfirst|Agent|Test User|2020-01-02 03:04:05 +0200' ]] || complain "$(git log)"
  [[ $(git log --format=%B -1 --skip=1) == $'first\n\nbody of it' && $(git log --format=%s -1 --skip=2) == "main goes on" && $(git rev-list --merges --count HEAD) == 0 ]]
  [[ $(<n.txt) == new && $(<a.txt) == $'one\n2' ]]
  tidy
}

@test "G10 merge: --rebase where main has not moved is a fast-forward; strategies from the configuration" {
  task t 'echo new >n.txt'
  call "$garth" merge t --rebase --json
  [[ $(json 'd["fast_forward"]' <<<"$out") == true ]] || complain
  mkdir -p "$HOME/.config/garth"; printf 'merge:\n  strategy: squash\n' >"$HOME/.config/garth/config.yaml"
  task u 'echo u >u.txt'
  call "$garth" merge u --json
  [[ $(json 'd["kind"]' <<<"$out") == squash ]] || complain
  fails 2 "do not go together" "$garth" merge u --squash --rebase
  fails 2 "no meaning" "$garth" merge u --rebase -m x
  tidy
}

@test "G10 merge: conflicts by file, for each strategy, with nothing changed" {
  task t 'echo theirs >a.txt; echo theirs >dir/b.txt; echo fine >n.txt'
  echo ours >a.txt; echo ours >dir/b.txt; commit
  for s in '' --squash --rebase --no-ff --dry-run; do
    changes_nothing 5 "cannot merge task 't': 2 files conflict with main" "$garth" merge t $s
    [[ $err == *$'\n  a.txt\n  dir/b.txt'* && $(hint) == "garth sync t" ]] || complain
  done
  call "$garth" merge t --json
  [[ $code == 5 && $(json '[d["error"]["code"], d["conflicts"]]' <<<"$out") == '["conflict", ["a.txt", "dir/b.txt"]]' ]] || complain
  nothing_beside
  [[ $(state_of t) == created ]]
}

@test "ESCAPES 29 merge: the user's changes in the way are named, and nothing changes" {
  task t 'echo theirs >>a.txt; git rm -q dir/b.txt; echo new >n.txt; mkdir -p new/deep; echo x >new/deep/f; git rm -q run.sh; mkdir run.sh; echo x >run.sh/inner'
  move_on
  for c in 'echo mine >>a.txt:a.txt' 'echo mine >a.txt; git add a.txt:a.txt' 'rm a.txt:a.txt' 'git rm -q --cached a.txt:a.txt' 'echo mine >dir/b.txt:dir/b.txt' \
    'rm a.txt; mkdir a.txt; echo x >a.txt/y:a.txt' 'echo mine >n.txt:n.txt' 'mkdir n.txt:n.txt' 'ln -s /nowhere n.txt:n.txt' 'mkfifo n.txt:n.txt' \
    'echo mine >new:new/deep/f' 'mkdir -p new/deep/f/g; echo mine >new/deep/f/g/h:new/deep/f' 'mkdir '"$T"'/dir1; ln -s '"$T"'/dir1 new:new/deep/f' \
    'mv dir '"$T"'/dir2; ln -s '"$T"'/dir2 dir:dir/b.txt' 'echo n >n.txt; git add n.txt; rm n.txt:n.txt' 'mkdir n.txt; echo x >n.txt/staged; git add n.txt/staged; rm -r n.txt:n.txt/staged' \
    'echo mine >>a.txt; git update-index --assume-unchanged a.txt:a.txt' 'git update-index --skip-worktree a.txt:a.txt' 'echo other >run.sh:run.sh' 'chmod -x run.sh:run.sh'; do
    git worktree prune; rm -rf "$T/case"; cp -a "$R" "$T/case"
    eval "${c%:*}"
    for s in '' --dry-run; do
      changes_nothing 5 "in the way in '$R'" "$garth" merge t $s
      [[ $err == *"  ${c##*:}"* ]] || complain "$c"
    done
    nothing_beside
    rm -rf "$T/dir1" "$T/dir2"; rm -rf "$R"; cp -a "$T/case" "$R"; cd "$R"
  done
  call "$garth" merge t --json
  [[ $code == 0 && $(<run.sh/inner) == x && $(<new/deep/f) == x ]] || complain
  tidy
}

@test "ESCAPES 29 merge: ignored files in the way are the user's too; ignored files elsewhere stay" {
  task t 'git add -f . ; echo x >keep.o; mkdir ignored; echo x >ignored/f; git add -f keep.o ignored/f'
  echo mine >keep.o
  changes_nothing 5 "in the way" "$garth" merge t
  [[ $err == *"  keep.o"* ]] || complain
  rm keep.o; mkdir ignored; echo mine >ignored/f
  changes_nothing 5 "in the way" "$garth" merge t
  [[ $(hint) == "git -C '$R' status --ignored" ]] || complain
  mv ignored/f ignored/g; echo other >z.o
  call "$garth" merge t
  [[ $code == 0 && $(<ignored/g) == mine && $(<ignored/f) == x && $(<z.o) == other ]] || complain
  nothing_beside
}

@test "ESCAPES 29 merge: changes elsewhere, staged and not, stay as they are" {
  task t 'echo theirs >>a.txt; echo new >n.txt'
  move_on
  echo mine >>dir/b.txt; echo staged >>dir/sub/c.txt; git add dir/sub/c.txt; rm run.sh; echo u >untracked; touch a.txt
  git status --porcelain >"$T/before"
  call "$garth" merge t
  [[ $code == 0 ]] || complain
  git status --porcelain | diff "$T/before" -
  [[ $(<a.txt) == $'one\ntheirs' && $(<n.txt) == new && $(git diff --cached --name-only) == dir/sub/c.txt && $(<dir/b.txt) == $'two\nmine' && ! -e run.sh ]]
  nothing_beside
}

@test "G10 merge: files whose stat data is stale are looked at, not refused" {
  task t 'echo theirs >>a.txt; git rm -q dir/b.txt'
  touch -d '2001-01-01' a.txt dir/b.txt
  call "$garth" merge t
  [[ $code == 0 && $(<a.txt) == $'one\ntheirs' ]] || complain
  tidy
}

@test "G10 merge: a file that the user deleted and the task too" {
  task t 'git rm -q dir/b.txt; echo x >>a.txt'
  rm dir/b.txt
  call "$garth" merge t
  [[ $code == 0 && ! -e dir/b.txt ]] || complain
  tidy
}

@test "ESCAPES 29 merge: a merge, rebase, pick, revert or bisect in progress is left alone, by name" {
  task t 'echo new >n.txt'
  git checkout -q -b side; echo side >a.txt; commit side; git checkout -q main; echo main >a.txt; commit main; echo main2 >a.txt; commit main2
  for c in 'merge side:a merge is' 'cherry-pick side:a cherry-pick' 'revert HEAD~1:a revert' 'rebase side:a rebase of it' 'bisect start HEAD HEAD~2:a bisect of it' 'bisect start:a bisect is'; do
    git ${c%:*} >/dev/null 2>&1 || true
    changes_nothing 5 "${c##*:}" "$garth" merge t
    [[ $err == *"in progress in '$R', which is left alone"* ]] || complain "$c"
    case $c in bisect*) git bisect reset ;; *) git "${c%% *}" --abort ;; esac 2>/dev/null
  done
  touch .git/index.lock
  changes_nothing 1 "another git command is at work" "$garth" merge t
  [[ -e .git/index.lock ]]; rm .git/index.lock
  "$garth" merge t
  tidy
}

@test "ESCAPES 29 merge: a target that is checked out in another worktree, and one that is rebased there" {
  task t 'echo new >n.txt; echo 2 >>a.txt'
  git checkout -q -b mine
  git worktree add -q "$T/elsewhere x" main
  fingerprint | grep -v refs/heads/main >"$T/fingerprint"
  echo mine >>"$T/elsewhere x/a.txt"
  changes_nothing 5 "in the way in '$T/elsewhere x'" "$garth" merge t
  git -C "$T/elsewhere x" checkout -q a.txt
  call "$garth" merge t --json
  [[ $code == 0 && $(json 'd["checkout"]' <<<"$out") == "$T/elsewhere x" ]] || complain
  fingerprint | grep -v refs/heads/main | diff "$T/fingerprint" -
  [[ $(<"$T/elsewhere x/n.txt") == new && -z $(git -C "$T/elsewhere x" status --porcelain) && $(git -C "$T/elsewhere x" reflog -1 --format=%gs) == "garth merge"* ]]
  tidy
  task u 'echo u >u.txt'
  git checkout -q -b side main~1; echo side >a.txt; commit side
  git -C "$T/elsewhere x" rebase side >/dev/null 2>&1 || true
  changes_nothing 5 "a rebase of it is in progress in '$T/elsewhere x'" "$garth" merge u --into main
}

@test "G10 merge: a worktree that is gone does not count; a branch that is checked out twice is left alone" {
  task t 'echo new >n.txt'
  git checkout -q -b mine
  git worktree add -q "$T/elsewhere" main; rm -rf "$T/elsewhere"
  call "$garth" merge t --json
  [[ $code == 0 && $(json 'd["checkout"]' <<<"$out") == null && $(git show main:n.txt) == new ]] || complain
  git worktree prune
  git checkout -q main; git reset -q --hard; git worktree add -qf "$T/elsewhere" main
  task u 'echo u >u.txt'
  changes_nothing 5 "checked out twice" "$garth" merge u
}

@test "G10 merge: a target that is not checked out: detached, unborn, another branch" {
  task t 'echo t >t.txt'; task u 'echo u >u.txt'; task v 'echo v >v.txt'
  git checkout -q --detach
  for c in t u v; do
    [[ $c != u ]] || git checkout -q --orphan unborn
    [[ $c != v ]] || git checkout -qf -b other main
    (find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; git ls-files -s) >"$T/before"
    "$garth" merge $c
    (find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; git ls-files -s) | diff "$T/before" -
    [[ $(git show "main:$c.txt") == $c ]]
  done
  git fsck --strict
}

@test "G10 merge: --into another branch, short and full name; bad names and tasks' branches are refused" {
  task t 'echo t >t.txt'; "$garth" new u
  git branch release; git branch rel/2
  call "$garth" merge t --into release --json
  [[ $code == 0 && $(json '[d["target"], d["checkout"]]' <<<"$out") == '["refs/heads/release", null]' && $(git show release:t.txt) == t ]] || complain
  "$garth" merge t --into refs/heads/rel/2
  [[ $(git show rel/2:t.txt) == t && ! -e t.txt ]]
  remember
  for b in nowhere ../../HEAD 'a b' '' -x 'main..x' "main~1" v1; do fails 3 "there is no branch" "$garth" merge t "--into=$b"; done
  fails 4 "is the branch of a task" "$garth" merge t --into garth/u
  nothing_changed
  git checkout -q --detach; "$garth" new d; publish d 'echo d >d.txt'
  fails 2 "no target" "$garth" merge d
  [[ $(hint) == "garth merge d --into BRANCH" ]]
}

@test "G10 merge: nothing published is refused; what the target has already is no merge" {
  "$garth" new t
  changes_nothing 4 "task 't' has published nothing" "$garth" merge t
  [[ $(hint) == "garth diff t" ]]
  publish t 'echo t >t.txt'
  "$garth" merge t
  before=$(at_main)
  for s in '' --squash --rebase --no-ff; do
    call "$garth" merge t $s --json
    [[ $code == 0 && $(json 'd["nothing"]' <<<"$out") == true && $(at_main) == "$before" ]] || complain
  done
  git branch -qD garth/t
  fails 3 "there is no branch 'garth/t'" "$garth" merge t
}

@test "G10 merge: --dry-run says what would come of it and changes nothing" {
  task t 'echo new >n.txt'
  remember
  call "$garth" merge t --dry-run --json
  [[ $code == 0 && $(json '[d["dry_run"], d["fast_forward"], d["state"]]' <<<"$out") == '[true, true, "created"]' ]] || complain
  nothing_changed; nothing_beside
  ! grep -q '"event":"merge"' "$GARTH_HOME/audit.jsonl"
}

@test "G10 merge: uncommitted work in the task is counted, and stays" {
  "$garth" new t; inside t 'echo draft >draft; echo 2 >>a.txt'
  publish t 'echo 2 >>a.txt'
  call "$garth" merge t
  [[ $code == 0 && $err == *"has work that is not merged: 1 file"* && $(inside t cat draft) == draft ]] || complain
}

@test "G10 merge: a running task's published commits are merged; it goes on running" {
  "$garth" run -d -t t -- sleep 1000
  publish t 'echo new >n.txt'
  call "$garth" merge t
  [[ $code == 0 && $err == *"is running: what it had published by now is merged"* && $(<n.txt) == new && $(state_of t) == running ]] || complain
  "$garth" cancel t
}

@test "G10 merge: without a name git is not guessed at" {
  task t 'echo new >n.txt'; move_on
  git config --global --unset user.email
  changes_nothing 1 "git does not know the user's name" "$garth" merge t
  [[ $(hint) == "git config --global user.name"* ]] || complain
  git config user.email repo@example.com
  "$garth" merge t
  [[ $(git log -1 --format=%ae) == repo@example.com ]]
}

@test "G6 merge: no hook, no filter from the tree, no fsmonitor of the repository runs" {
  task t 'echo new >n.txt; echo 2 >>a.txt'
  move_on
  for h in post-merge post-checkout pre-merge-commit reference-transaction post-index-change commit-msg post-commit; do printf '#!/bin/sh\ntouch "%s/ran-%s"\n' "$T" $h >.git/hooks/$h; chmod +x .git/hooks/$h; done
  printf '#!/bin/sh\ntouch "%s/ran-fsmonitor"\n' "$T" >"$T/fsm"; chmod +x "$T/fsm"; git config core.fsmonitor "$T/fsm"
  git config filter.evil.smudge "touch $T/ran-filter; cat"; git config filter.evil.clean "touch $T/ran-filter; cat"; rm -f "$T"/ran-*
  "$garth" merge t
  [[ -z $(ls "$T" | grep ^ran-) ]] || complain "$(ls "$T")"
  task u 'echo "* filter=evil" >.gitattributes; echo f >f.txt'; rm -f "$T"/ran-*
  call "$garth" merge u
  [[ $code == 4 && $err == *filter* && -z $(ls "$T" | grep ^ran-) && ! -e f.txt ]] || complain
  nothing_beside
}

@test "G10 merge: line ends by attribute, as git writes them" {
  printf '*.bat text eol=crlf\n' >.gitattributes; printf 'a\r\n' >x.bat; git add -A; git commit -qm attributes 2>/dev/null
  task t 'printf "a\r\nb\r\n" >x.bat; printf "n\r\n" >n.bat; echo "*.txt2 text eol=crlf" >>.gitattributes; printf "q\r\n" >q.txt2'
  touch x.bat
  "$garth" merge t
  [[ $(od -c x.bat | head -1) == *'a  \r  \n   b  \r  \n'* && $(od -c q.txt2 | head -1) == *'q  \r  \n'* ]]
  tidy
}

@test "ESCAPES 30 merge: paths with spaces, line breaks, quotes and bytes that are not UTF-8" {
  odd=$'sp ace\nline "q" \'s\' \xff%41'
  task t 'mkdir -p "d/:(top)"; echo x >"d/:(top)/*"; printf y >"$(printf "sp ace\nline \377%%41")"'
  git worktree add -q -b release "$T/elsewhere-$odd"
  call "$garth" merge t --into release
  [[ $code == 0 && $(<"$T/elsewhere-$odd/d/:(top)/*") == x && $(<"$T/elsewhere-$odd"/$'sp ace\nline \xff%41') == y ]] || complain
  [[ -z $(git -C "$T/elsewhere-$odd" status --porcelain) ]]
  "$garth" merge t
  tidy
}

@test "G10 merge: many files at once; a split index" {
  task t 'for i in $(seq 400); do echo $i >f$i; done; echo 2 >>a.txt'
  git config core.splitIndex true; git update-index --split-index
  "$garth" merge t
  [[ $(<f400) == 400 ]]
  tidy
  git config --unset core.splitIndex
  task u 'for i in $(seq 400); do echo more >>f$i; done; git rm -qf f1'
  echo mine >>f399
  changes_nothing 5 "in the way" "$garth" merge u
  git checkout -q f399; touch f2 f3
  "$garth" merge u
  [[ $(<f400) == $'400\nmore' && ! -e f1 ]]
  tidy
}

# Either before or after, in whole.
old_or_new() {
  local now; now=$(at_main)
  if [[ $now == "$old" ]]; then [[ ! -e n.txt && $(<a.txt) == one && -e dir/b.txt && $(state_of t) == created ]] || complain "half old"
  else [[ $(<n.txt) == new && $(<a.txt) == $'one\n2' && ! -e dir/b.txt && $(state_of t) == merged ]] || complain "half new"; fi
  tidy
}

@test "ESCAPES 23 merge: killed at each step, doctor finishes it or takes it back" {
  has_faults || skip "a build without fault injection"
  task t 'echo new >n.txt; echo 2 >>a.txt; git rm -q dir/b.txt; mkdir nd; echo x >nd/f'
  move_on; old=$(at_main); echo mine >z.o
  for s in '' --squash; do
    for step in merge-journal:old merge-prepared:old merge-half:old merge-tree:old merge-moved:new merge-stored:new; do
      call env GARTH_FAULT="${step%:*}" "$garth" merge t $s
      [[ $code == 137 ]] || complain "did not die at $step"
      eventually not test -e .git/refs/heads/main.lock
      call "$garth" doctor
      [[ $code == 0 && $err == *"merge of 't' into main: "* ]] || complain "$step"
      [[ ${step#*:} == old && $(at_main) == "$old" || ${step#*:} == new && $(at_main) != "$old" ]] || complain "$step"
      old_or_new
      [[ $(<z.o) == mine ]]
      call "$garth" doctor
      [[ -z $err ]] || complain
      "$garth" audit --verify
      if [[ ${step#*:} == new ]]; then
        [[ $(sqlite3 "$GARTH_HOME/garth.db" 'select count(*) from deed where undone = 0') == 1 ]]
        "$garth" undo t
        [[ $(at_main) == "$old" && $(state_of t) == created ]] || complain
        old_or_new
      fi
    done
  done
}

@test "ESCAPES 23 merge: after a crash the next merge settles it, without doctor" {
  has_faults || skip "a build without fault injection"
  task t 'echo new >n.txt; echo 2 >>a.txt; git rm -q dir/b.txt'; task u 'echo u >u.txt'
  for step in merge-half merge-tree merge-moved; do
    old=$(at_main)
    call env GARTH_FAULT=$step "$garth" merge t
    [[ $code == 137 ]] || complain
    eventually not test -e .git/refs/heads/main.lock
    call "$garth" merge t
    [[ $code == 0 ]] || complain "$step"
    old_or_new
    "$garth" undo t
    tidy
  done
}

@test "ESCAPES 23 merge: what the user did to a file after the crash stays" {
  has_faults || skip "a build without fault injection"
  task t 'echo 2 >>a.txt; echo new >n.txt'
  call env GARTH_FAULT=merge-tree "$garth" merge t
  echo mine >>a.txt; echo mine >>n.txt
  eventually not test -e .git/refs/heads/main.lock
  call "$garth" doctor
  [[ $code == 0 && $err == *"taken back; left as the user made it: "* ]] || complain
  [[ $(<a.txt) == $'one\n2\nmine' && $(<n.txt) == $'new\nmine' ]]
  nothing_beside; git fsck --strict
}

stopped() { [[ $(ps -o stat= -p "$1") == T* ]]; }

@test "ESCAPES 29 merge: a file that is changed or appears in the middle of it is not lost" {
  has_faults || skip "a build without fault injection"
  task t 'echo 2 >>a.txt; echo new >n.txt; git rm -q dir/b.txt'
  for c in 'echo mine >>a.txt:a.txt' 'echo mine >n.txt:n.txt' 'echo mine >dir/b.txt:dir/b.txt' 'echo mine >x; mv x a.txt:a.txt'; do
    GARTH_FAULT=stop:merge-prepared "$garth" merge t >"$T/o" 2>&1 3>&- & pid=$!
    eventually stopped $pid
    eval "${c%:*}"; cp "${c##*:}" "$T/kept"
    git status --porcelain >"$T/before"
    kill -CONT $pid; code=0; wait $pid || code=$?
    [[ $code == 5 ]] && grep -q "${c##*:}" "$T/o" || { cat "$T/o"; complain "$c"; }
    cmp "$T/kept" "${c##*:}"
    git status --porcelain | diff "$T/before" -
    nothing_beside
    rm -f n.txt; git checkout -q .
  done
  "$garth" merge t
  tidy
}

@test "ESCAPES 29 merge: the target moves in the middle of it: the merge is made anew" {
  has_faults || skip "a build without fault injection"
  task t 'echo 2 >>a.txt'
  git checkout -q --detach
  GARTH_FAULT=stop:merge-journal "$garth" merge t >"$T/o" 2>&1 3>&- & pid=$!
  eventually stopped $pid
  git update-ref refs/heads/main "$(git commit-tree -p main -m moved 'main^{tree}')"
  kill -CONT $pid
  eventually stopped $pid
  kill -CONT $pid; code=0; wait $pid || code=$?
  [[ $code == 0 && $(git log -1 --format=%s main) == "Merge task 't'" && $(git log -1 --format=%s main^1) == moved ]] || { cat "$T/o"; git log --graph main; false; }
}

@test "ESCAPES 25 merge: several tasks into one target at once: all arrive" {
  for i in 1 2 3 4 5; do task t$i "echo $i >f$i"; done
  for i in 1 2 3 4 5; do "$garth" merge t$i >"$T/o$i" 2>&1 3>&- </dev/null & done
  wait
  for i in 1 2 3 4 5; do [[ $(<f$i) == $i && $(state_of t$i) == merged ]] || { cat "$T"/o?; false; }; done
  tidy
  "$garth" audit --verify
}

@test "T3 merge: undo takes it back as long as the target has not moved, by the same rules" {
  task t 'echo new >n.txt; echo 2 >>a.txt; git rm -q dir/b.txt'
  fingerprint >"$T/before"
  "$garth" merge t
  echo mine >>a.txt
  fails 5 "in the way" "$garth" undo t
  [[ $(<a.txt) == $'one\n2\nmine' ]]; git checkout -q a.txt
  echo mine >dir/b.txt
  fails 5 "in the way" "$garth" undo t
  rm -r dir/b.txt
  "$garth" undo t
  fingerprint | diff "$T/before" -
  [[ $(state_of t) == created ]]; tidy
  "$garth" merge t --no-ff; move_on
  fails 5 "main has moved since" "$garth" undo t
  "$garth" audit --verify
}
