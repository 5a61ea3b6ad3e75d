load helpers
load merging

@test "G10 merge: fast-forward if the target has not moved; the checkout is updated" {
  task t 'echo new >n.txt; echo 2 >>a.txt; git rm -q dir/sub/c.txt; ln -sf dir/b.txt link; chmod -x run.sh'
  call "$garth" merge --keep t --json
  [[ $code == 0 ]] || complain
  [[ $(json '[d["fast_forward"], d["strategy"], d["state"], d["target"]]' <<<"$out") == '[true, "merge", "merged", "main"]' ]] || complain
  [[ $(json 'd["checkout"]' <<<"$out") == "$R" ]] || complain
  [[ $(json 'd["new_tip"]' <<<"$out") == $(git rev-parse garth/t) ]] || complain
  [[ $(at_main) == $(git rev-parse garth/t) ]]
  [[ $(<n.txt) == new ]]
  [[ $(<a.txt) == $'one\n2' ]]
  [[ ! -e dir/sub && $(readlink link) == dir/b.txt && ! -x run.sh ]]
  tidy
  [[ $(git reflog -1 --format=%gs) == "garth merge: task 't'" ]]
  [[ $(git reflog -1 --format=%gs main) == "garth merge: task 't'" ]]
  [[ $(state_of t) == merged ]]
  "$garth" audit --verify
}

@test "G10 merge: a merge commit by the user if both have moved, and with --no-ff" {
  task t 'echo new >n.txt'; task u 'echo u >u.txt'
  move_on
  call "$garth" merge --keep t
  [[ $code == 0 ]] || complain
  [[ $(git log -1 --format='%s|%an|%ae|%cn') == "Merge task 't'|Test User|test@example.com|Test User" ]]
  [[ $(git rev-parse HEAD^2) == $(git rev-parse garth/t) ]]
  [[ $(<n.txt) == new ]]
  [[ $(<on.txt) == on ]]
  tidy
  git reset -q --hard garth/u~1
  call "$garth" merge u --no-ff -m 'my own words'
  [[ $code == 0 ]] || complain "$(git log -1 --format='%B|%p')"
  [[ $(git log -1 --format='%B|%p') == "my own words"*"|"*" "* ]] || complain "$(git log -1 --format='%B|%p')"
  tidy
}

@test "G10 merge: --squash makes one commit by the user, with the subjects and the task" {
  task t 'echo new >n.txt' 'first step'; publish t 'echo more >>n.txt' 'second step'
  move_on
  call "$garth" merge t --squash
  [[ $code == 0 ]] || complain
  [[ $(git log -1 --format=%B) == $'Merge task \'t\' (squashed)\n\n* first step\n* second step\n\nGarth-Task: t' ]] || complain "$(git log -1)"
  [[ $(git log -1 --format='%an %p' | wc -w) == 3 ]]
  [[ $(git log -1 --format=%an) == 'Test User' ]]
  [[ $(git log -1 --format='%(trailers:key=Garth-Task,valueonly)') == t ]]
  [[ $(<n.txt) == $'new\nmore' ]]
  tidy
}

@test "G10 merge: --rebase keeps each commit's author, date and message, and skips empty ones" {
  task t 'echo 2 >>a.txt' $'first\n\nbody of it'; publish t 'echo on >on.txt' 'the same as main'; publish t 'echo new >n.txt' 'last'
  move_on
  call "$garth" merge t --rebase
  [[ $code == 0 ]] || complain
  [[ $(git log --format='%s|%an|%cn|%ad' --date=iso -2) == $'last|Agent|Test User|2020-01-02 03:04:05 +0200\nfirst|Agent|Test User|2020-01-02 03:04:05 +0200' ]] || complain "$(git log)"
  [[ $(git log --format=%B -1 --skip=1) == $'first\n\nbody of it' ]]
  [[ $(git log --format=%s -1 --skip=2) == "main goes on" ]]
  [[ $(git rev-list --merges --count HEAD) == 0 ]]
  [[ $(<n.txt) == new ]]
  [[ $(<a.txt) == $'one\n2' ]]
  tidy
}

@test "G10 merge: --rebase is a fast-forward if main has not moved; strategies from the configuration" {
  task t 'echo new >n.txt'
  call "$garth" merge t --rebase --json
  [[ $(json 'd["fast_forward"]' <<<"$out") == true ]] || complain
  mkdir -p "$HOME/.config/garth"; printf 'merge:\n  strategy: squash\n' >"$HOME/.config/garth/config.yaml"
  task u 'echo u >u.txt'
  call "$garth" merge u --json
  [[ $(json 'd["strategy"]' <<<"$out") == squash ]] || complain
  fails 2 "do not go together" "$garth" merge u --squash --rebase
  fails 2 "does not go with a rebase" "$garth" merge u --rebase -m x
  tidy
}

@test "G10 merge: conflicts by file, for each strategy, and nothing changes" {
  task t 'echo theirs >a.txt; echo theirs >dir/b.txt; echo fine >n.txt'
  echo ours >a.txt; echo ours >dir/b.txt; commit
  for s in '' --squash --rebase --no-ff --dry-run; do
    changes_nothing 5 "cannot merge task 't': 2 files conflict with main" "$garth" merge t $s
    [[ $err == $'✗ cannot merge task \'t\': 2 files conflict with main\n  a.txt\n  dir/b.txt\n↳ garth merge --resolve t' ]] || complain
    [[ $(hint) == "garth merge --resolve t" ]] || complain
  done
  call "$garth" merge --keep t --json
  [[ $code == 5 ]] || complain
  [[ $(json '[d["error"]["code"], d["conflicts"]]' <<<"$out") == '["conflict", [{"task": null, "path": "a.txt"}, {"task": null, "path": "dir/b.txt"}]]' ]] || complain
  nothing_beside
  [[ $(state_of t) == created ]]
}

@test "G10 merge: files with stale stat data are compared, not refused" {
  task t 'echo theirs >>a.txt; git rm -q dir/b.txt'
  touch -d '2001-01-01' a.txt dir/b.txt
  call "$garth" merge --keep t
  [[ $code == 0 ]] || complain
  [[ $(<a.txt) == $'one\ntheirs' ]] || complain
  tidy
}

@test "G10 merge: a file that both the user and the task deleted" {
  task t 'git rm -q dir/b.txt; echo x >>a.txt'
  rm dir/b.txt
  call "$garth" merge --keep t
  [[ $code == 0 ]] || complain
  [[ ! -e dir/b.txt ]] || complain
  tidy
}

@test "G10 merge: a missing worktree does not count; a branch that is checked out twice is left alone" {
  task t 'echo new >n.txt'
  git checkout -q -b mine
  git worktree add -q "$T/elsewhere" main; rm -rf "$T/elsewhere"
  call "$garth" merge --keep t --json
  [[ $code == 0 ]] || complain
  [[ $(json 'd["checkout"]' <<<"$out") == null ]] || complain
  [[ $(git show main:n.txt) == new ]] || complain
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
  [[ $code == 0 ]] || complain
  [[ $(json '[d["target"], d["checkout"]]' <<<"$out") == '["release", null]' ]] || complain
  [[ $(git show release:t.txt) == t ]] || complain
  "$garth" merge t --into refs/heads/rel/2
  [[ $(git show rel/2:t.txt) == t ]]
  [[ ! -e t.txt ]]
  remember
  for b in nowhere ../../HEAD 'a b' '' -x 'main..x' "main~1" v1; do fails 3 "there is no branch" "$garth" merge t "--into=$b"; done
  fails 4 "is the branch of a task" "$garth" merge t --into garth/u
  git symbolic-ref refs/heads/alias refs/heads/main; remember
  fails 4 "is a name for another branch" "$garth" merge t --into alias
  nothing_changed
  git checkout -q --detach; "$garth" new d; publish d 'echo d >d.txt'
  fails 2 "no target" "$garth" merge d
  [[ $(hint) == "garth merge d --into BRANCH" ]]
}

@test "G10 merge: refused if nothing is published; what the target has already is no merge" {
  "$garth" new t
  changes_nothing 4 "task 't' has published nothing" "$garth" merge t
  [[ $(hint) == "garth diff t" ]]
  # if there are changes, the hint is how to commit them
  "$garth" run -q -t left --on-dirty keep -- sh -c 'echo x >x'
  changes_nothing 4 "task 'left' has published nothing: its changes are not committed" "$garth" merge left
  [[ $(hint) == 'garth shell left '*'git commit' ]]
  publish t 'echo t >t.txt'
  "$garth" merge --keep t
  before=$(at_main)
  for s in '' --squash --rebase --no-ff; do
    call "$garth" merge --keep t $s --json
    [[ $code == 0 ]] || complain
    [[ $(json 'd["up_to_date"]' <<<"$out") == true ]] || complain
    [[ $(at_main) == "$before" ]] || complain
  done
  git branch -qD garth/t
  fails 3 "there is no branch 'garth/t'" "$garth" merge t
}

@test "G10 merge: --dry-run says what would happen and changes nothing" {
  task t 'echo new >n.txt'
  remember
  call "$garth" merge t --dry-run --json
  [[ $code == 0 ]] || complain
  [[ $(json '[d["dry_run"], d["fast_forward"], d["state"]]' <<<"$out") == '[true, true, "created"]' ]] || complain
  nothing_changed
  nothing_beside
  not grep -q '"event":"merge"' "$GARTH_HOME/audit.jsonl"
}

@test "G10 merge: uncommitted work in the task is counted, and stays" {
  "$garth" new t; inside t 'echo draft >draft; echo 2 >>a.txt'
  publish t 'echo 2 >>a.txt'
  call "$garth" merge --keep t
  [[ $code == 0 ]] || complain
  [[ $err == *"has work that is not merged: 1 file"* ]] || complain
  [[ $(inside t cat draft) == draft ]] || complain
}

@test "G10 merge: a running task's published commits are merged; it keeps running" {
  "$garth" run -d -t t -- sleep 1000
  publish t 'echo new >n.txt'
  call "$garth" merge --keep t
  [[ $code == 0 ]] || complain
  [[ $err == *"is running: what it had published by now is merged"* ]] || complain
  [[ $(<n.txt) == new ]] || complain
  [[ $(state_of t) == running ]] || complain
  "$garth" cancel t
}

@test "G10 merge: without a user name git does not guess one" {
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
  task u 'echo "* filter=evil" >.gitattributes; echo f >f.txt'; rm -f "$T"/ran-*; "$garth" allow u .gitattributes
  call "$garth" merge u
  [[ $code == 4 ]] || complain
  [[ $err == *filter* ]] || complain
  [[ -z $(ls "$T" | grep ^ran-) ]] || complain
  [[ ! -e f.txt ]] || complain
  nothing_beside
}

@test "G10 merge: line ends by attribute, as git writes them" {
  printf '*.bat text eol=crlf\n' >.gitattributes; printf 'a\r\n' >x.bat; git add -A; git commit -qm attributes 2>/dev/null
  task t 'printf "a\r\nb\r\n" >x.bat; printf "n\r\n" >n.bat; echo "*.txt2 text eol=crlf" >>.gitattributes; printf "q\r\n" >q.txt2'; "$garth" allow t .gitattributes
  touch x.bat
  "$garth" merge t
  [[ $(od -c x.bat | head -1) == *'a  \r  \n   b  \r  \n'* ]]
  [[ $(od -c q.txt2 | head -1) == *'q  \r  \n'* ]]
  tidy
}

@test "ESCAPES 30 merge: paths with spaces, line breaks, quotes and bytes that are not UTF-8" {
  odd=$'sp ace\nline "q" \'s\' \xff%41'
  task t 'mkdir -p "d/:(top)"; echo x >"d/:(top)/*"; printf y >"$(printf "sp ace\nline \377%%41")"'
  git worktree add -q -b release "$T/elsewhere-$odd"
  call "$garth" merge t --into release
  [[ $code == 0 ]] || complain
  [[ $(<"$T/elsewhere-$odd/d/:(top)/*") == x ]] || complain
  [[ $(<"$T/elsewhere-$odd"/$'sp ace\nline \xff%41') == y ]] || complain
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
  [[ $(<f400) == $'400\nmore' ]]
  [[ ! -e f1 ]]
  tidy
}

@test "G10 merge: a branch without a common commit with the target is refused with that reason" {
  task t 'echo t >t.txt'; git checkout -q --orphan other; git commit -qm alone; git checkout -q main
  changes_nothing 4 "cannot merge task 't' into other: they have no commit in common" "$garth" merge t --into other
}

@test "ESCAPES 25 merge: several tasks into one target at once: all arrive" {
  for i in 1 2 3 4 5; do task t$i "echo $i >f$i"; done
  for i in 1 2 3 4 5; do "$garth" merge t$i >"$T/o$i" 2>&1 3>&- </dev/null & done
  wait
  for i in 1 2 3 4 5; do
    [[ $(<f$i) == $i ]] || {
      cat "$T"/o?
      false
    }
    [[ -z $(git for-each-ref refs/heads/garth/t$i) ]] || {
      cat "$T"/o?
      false
    }
  done
  tidy
  "$garth" audit --verify
}

@test "T3 merge: undo undoes it as long as the target has not moved, by the same rules" {
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

@test "G5 ESCAPES 10 merge: a file that becomes protected by a rename in the target needs the user's permission" {
  seq 100 150 >job.yml; git add .; git commit -qm base
  "$garth" new t; inside t 'sed -i "s/120/evil/" job.yml; git commit -qam mod'
  "$garth" new plain; inside plain 'sed -i "s/140/fine/" job.yml; git commit -qam fine'
  mkdir -p .github/workflows; git mv job.yml .github/workflows/job.yml; git commit -qm moved
  # control: plain git follows it
  git merge-tree --write-tree main garth/t >"$T/tree"; git show "$(<"$T/tree"):.github/workflows/job.yml" | grep -q evil
  local how
  for how in "" --squash --rebase --no-ff; do
    changes_nothing 4 "it changes 1 protected path" "$garth" merge $how t
    [[ $err == *.github/workflows/job.yml* ]] || complain
    [[ $(hint) == "garth allow t '"*"'" ]] || complain
  done
  "$garth" allow t .github/workflows/job.yml; "$garth" merge t
  grep -q evil .github/workflows/job.yml
  changes_nothing 4 "protected" "$garth" merge plain
}
