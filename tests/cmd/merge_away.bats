load helpers
load merging

# task NAME SCRIPT: through the gateway, not as merging.bash has it.
task() { "$garth" new "$1" >/dev/null; inside "$1" "$2; git add -A; git commit -qm 'work of $1'"; }

on_terminal() { err=$(script -qec "'$garth' $*" /dev/null </dev/null 2>&1); code=$?; }

# What is left of a task in the repository and in the home.
gone() { [[ -z $(git for-each-ref "refs/heads/garth/$1") ]] && ! "$garth" ls --json | grep -q "\"name\": \"$1\""; }
last_state() { "$garth" ls --all --json | json "[t['state'] for t in d['tasks'] if t['name'] == '$1'][-1]"; }

@test "T6 merge: the task is removed at once, with branch and workspace, and one undo restores all of it" {
  local old b; old=$(at_main)
  for b in overlay worktree clone; do
    "$garth" new t --backend $b
    inside t 'echo b >>.gitignore; echo built >b; echo new >n.txt; git add .; git commit -qm new; mkdir -p ~/notes; echo said >~/notes/n'
    on_terminal merge t
    [[ $err == *"is merged into main"*"in the trash for 7 days"*"garth undo t"* ]] || complain
    gone t
    [[ $(last_state t) == merged ]]
    [[ $(<n.txt) == new ]]
    [[ -z $(git worktree list | grep -F "$GARTH_HOME") ]]
    [[ -z $(ls "$GARTH_HOME/tasks") ]]
    fails 3 "there is no task 't'" "$garth" show t
    [[ $(hint) == 'garth undo t' ]] || complain
    on_terminal undo t
    [[ $err == *"the merge of task 't' is taken back: its target is as it was, and the task is out of the trash"* ]] || complain
    [[ $(at_main) == "$old" ]]
    [[ ! -e n.txt && $(state_of t) == created && $(inside t 'cat b n.txt ~/notes/n') == $'built\nnew\nsaid' ]]
    tidy
    # and once more, to the end
    "$garth" merge t --squash
    gone t
    "$garth" undo
    [[ $(at_main) == "$old" ]]
    [[ $(state_of t) == created ]]
    "$garth" discard -fD t
  done
  "$garth" audit --verify; git fsck --strict; call "$garth" doctor; [[ $code == 0 ]] || complain
}

@test "T6 merge: a task with more than was merged is kept, with the reason" {
  task t 'echo new >n.txt'
  inside t 'echo more >more'
  call "$garth" merge t
  [[ $code == 0 ]] || complain
  [[ $err == *"has work that is not merged: 1 file is not committed"* ]] || complain
  [[ $(state_of t) == merged ]] || complain
  [[ $(inside t 'cat more') == more ]]
  # commits that a rollback took off
  task r 'echo r >r.txt'
  "$garth" snapshot r
  inside r 'echo off >off.txt; git add .; git commit -qm off'
  "$garth" snapshot r
  "$garth" rollback r --to-snapshot 2
  call "$garth" merge r
  [[ $code == 0 ]] || complain
  [[ $err == *"kept: "*"only copy of its work: "*"commit"* ]] || complain
  [[ $(state_of r) == merged ]] || complain
  # drafts that never reached the branch
  task d 'echo d >d.txt'
  inside d 'GARTH_GATEWAY=1 git commit -q --allow-empty -m draft'
  call "$garth" merge d
  [[ $code == 0 ]] || complain
  [[ $(state_of d) == merged ]] || complain
  [[ $err == *"kept: "*"drafts in its repository (1 object)"* ]] || complain
  task s 'echo s >s.txt'
  inside s 'echo later >>s.txt; /usr/bin/git stash -q'
  call "$garth" merge s
  [[ $(state_of s) == merged ]] || complain
  [[ $err == *drafts* ]] || complain
  task w 'echo w >w.txt'
  inside w '/usr/bin/git worktree add -q --detach /tmp/other && cd /tmp/other && echo x >x && git add x && /usr/bin/git -c core.hooksPath=/dev/null commit -qm there'
  call "$garth" merge w
  [[ $(state_of w) == merged ]] || complain
  [[ $err == *drafts* ]] || complain
  task p 'echo p >p.txt'
  inside p "echo set aside >>p.txt; GIT_SEQUENCE_EDITOR='sed -i s/pick/edit/' /usr/bin/git rebase -q -i --autostash HEAD~1" || true
  call "$garth" merge p
  [[ $(state_of p) == merged ]] || complain
  [[ $err == *drafts* ]] || complain
  # but not objects that only `git add` made before a commit
  task a 'echo a >a1; git add a1; echo b >a1'; "$garth" merge a; gone a
  call "$garth" cleanup --merged; [[ -z $out ]] || complain
}

@test "T6 merge: a running task is kept; so it is with --keep, merge.keep, --into and --dry-run" {
  "$garth" run -d -t busy -- sh -c 'echo x >x; git add x; git commit -qm x; touch ready; exec sleep 60'
  eventually gives 'x' git log -1 --format=%s garth/busy
  call "$garth" merge busy
  [[ $code == 0 ]] || complain
  [[ $(state_of busy) == running ]] || complain
  [[ -e x ]] || complain
  "$garth" cancel busy
  for t in k i n c; do task $t "echo $t >$t.txt"; done
  "$garth" merge n --dry-run
  [[ $(state_of n) == created ]]
  call "$garth" merge k --keep --json
  [[ $(state_of k) == merged ]] || complain
  [[ $(json 'd["workspace_removed"]' <<<"$out") == false ]] || complain
  git branch side
  "$garth" merge i --into side
  [[ $(state_of i) == created ]]
  "$garth" merge i
  gone i
  configure <<<'merge: {keep: true}'
  "$garth" merge c
  [[ $(state_of c) == merged ]]
  call "$garth" cleanup --merged
  [[ $out == $'k\nc' ]] || complain
  configure <<<'merge: {keep: false}'
  call "$garth" merge n --json
  gone n
  [[ $(json '[d["workspace_removed"], d["state"]]' <<<"$out") == '[true, "merged"]' ]] || complain
}

@test "T6 merge: if the target has moved since, undo restores the task and says that the merge stays" {
  task t 'echo new >n.txt'
  "$garth" merge t
  echo on >on.txt
  commit on
  local now
  now=$(at_main)
  call "$garth" undo t
  [[ $code == 5 ]] || complain
  [[ $err == *"out of the trash, but its merge stays"*"main has moved since"* ]] || complain
  [[ $(at_main) == "$now" ]]
  [[ $(state_of t) == merged ]]
  [[ $(inside t 'cat n.txt') == new ]]
  call "$garth" undo t
  [[ $code == 5 ]] || complain
  [[ $(at_main) == "$now" ]] || complain
  [[ $(state_of t) == merged ]] || complain
  [[ $("$garth" audit --json t | grep -c '"undo-failed"') == 2 ]]
  "$garth" audit --verify
  "$garth" discard t
  "$garth" undo t
  [[ $(state_of t) == merged ]]
}

@test "T6 merge --continue: both tasks are removed, and one undo restores both as they were" {
  local old
  task v 'echo v >>a.txt'
  echo m >>a.txt
  commit m
  old=$(at_main)
  "$garth" merge --resolve v
  inside v-resolve 'printf "one\nm\nv\n" >a.txt; git commit -qam solved'
  call "$garth" merge --continue v
  gone v
  gone v-resolve
  [[ $(git log -1 --format=%s) == solved ]]
  # which is one line of the list
  [[ $("$garth" undo --list | sed 's/.*  the /the /') == "the merge of task 'v-resolve', and the removal of 'v-resolve' and 'v'" ]]
  call "$garth" undo
  [[ $err == *"it and task 'v' are out of the trash"* ]] || complain
  [[ $(at_main) == "$old" ]]
  [[ $(state_of v) == created ]]
  [[ $(state_of v-resolve) == created ]]
  [[ $(inside v 'cat a.txt') == $'one\nv' ]]
  call "$garth" cleanup --merged
  [[ -z $out ]] || complain
  "$garth" merge --continue v --keep
  [[ $(state_of v) == merged ]]
  [[ $(state_of v-resolve) == merged ]]
  "$garth" undo
  [[ $(at_main) == "$old" ]]
  [[ $(state_of v) == created ]]
  [[ $(state_of v-resolve) == created ]]
}

@test "T6 merge: killed at any step of the merge or the undo, it is finished, and nothing is lost" {
  has_faults || { means_nothing; return; }
  local step old; old=$(at_main)
  for step in discard-marked discard-workspace discard-refs discard-moved undo-marked undo-moved undo-refs undo-placed undo-stored; do
    task t 'echo new >n.txt'
    if [[ $step == discard-* ]]; then call env GARTH_FAULT=$step "$garth" merge t; else
      "$garth" merge t
      call env GARTH_FAULT=$step "$garth" undo t
    fi
    [[ $code == 137 ]] || complain "did not die at $step"
    [[ -e n.txt ]] || complain "did not die at $step"
    "$garth" ls >/dev/null
    "$garth" undo t
    [[ $(at_main) == "$old" ]] || complain "$step"
    [[ ! -e n.txt && $(state_of t) == created && $(inside t 'cat n.txt') == new ]] || complain "$step"
    "$garth" discard -fD t
  done
  call "$garth" doctor; [[ $code == 0 ]] || complain; "$garth" audit --verify
}

@test "T6 merge: a merged task with new commits is not merged any more" {
  task t 'echo 1 >1'
  "$garth" merge --keep t
  [[ $(state_of t) == merged ]]
  inside t 'echo 2 >2; git add 2; git commit -qm 2'
  [[ $(state_of t) == done ]]
  call "$garth" cleanup --merged
  [[ -z $out ]] || complain
  changes_nothing 4 "1 commit on garth/t that is not in main" "$garth" discard t
}

@test "T6 ESCAPES 25 merge: a task that published more during its merge is not merged" {
  has_faults || { means_nothing; return; }
  task x 'echo 1 >1'; task y 'echo y >y'
  call env GARTH_FAULT=merge-moved "$garth" merge x; [[ $code == 137 ]] || complain
  inside x 'echo 2 >2; git add 2; git commit -qm 2'; "$garth" merge y
  [[ $(state_of x) != merged ]] || complain "$(state_of x)"
  changes_nothing 4 "1 commit on garth/x that is not in main" "$garth" discard x
}

fails_with_warning() { local want=$1 text=$2; shift 2; call "$@"; [[ $code == "$want" && $err == *"▲ "*"✗ "*"$text"* ]] || complain; }

@test "T6 merge: a merge can be undone even if its task cannot be restored; an older merge is not undone with a removal" {
  local old
  old=$(at_main)
  task t 'echo 1 >1'
  "$garth" merge t
  chmod -R u+rwX "$GARTH_HOME/trash"
  rm -rf "$GARTH_HOME"/trash/*
  fails 3 "there is no task 't'" "$garth" show t
  [[ -z $(hint) ]] || complain
  # what was merged is on no other branch
  local new
  new=$(at_main)
  call "$garth" undo t
  [[ $code == 0 ]] || complain
  [[ $err == *"it is not in the trash any more"*"stay on branch garth/t"* ]] || complain
  [[ $(at_main) == "$old" ]] || complain
  [[ ! -e 1 ]] || complain
  [[ $(git rev-parse garth/t) == "$new" ]]
  git branch -q -D garth/t
  # if the target has moved, nothing is made
  task m 'echo m >m'; "$garth" merge m; chmod -R u+rwX "$GARTH_HOME/trash"; rm -rf "$GARTH_HOME"/trash/*; echo z >z; commit; fails_with_warning 5 "main has moved since" "$garth" undo m
  [[ -z $(git for-each-ref refs/heads/garth/m) ]]; git reset -q --hard "$old"
  # a task that is restored later has its real state
  task n 'echo n >n'
  "$garth" merge n
  "$garth" new n
  call "$garth" undo n
  [[ $code == 0 ]] || complain
  [[ $(at_main) == "$old" ]] || complain
  "$garth" discard n
  "$garth" undo n
  [[ $(state_of n) == done ]] || complain "$(state_of n)"
  call "$garth" cleanup --merged
  [[ -z $out ]] || complain
  changes_nothing 4 "1 commit on garth/n that is not in main" "$garth" discard n
  "$garth" discard -D n
  git branch other
  task u 'echo u >u'
  "$garth" merge u --into other
  git merge -q --ff-only garth/u
  local now
  now=$(git rev-parse other)
  "$garth" merge u
  gone u
  "$garth" undo u
  [[ $(git rev-parse other) == "$now" ]]
  [[ $(state_of u) == merged ]]
}

# looks TASK HOW: somebody has the task's branch, in the main checkout or in a worktree, or is about to come back to it.
looks() {
  case $2 in
    main) git switch -q "garth/$1";;
    linked) git worktree add -q "$T/look" "garth/$1";;
    rebase) git worktree add -q "$T/look" "garth/$1"; GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git -C "$T/look" rebase -q -i HEAD~1 2>/dev/null;;
    bisect) git worktree add -q "$T/look" "garth/$1"; git -C "$T/look" bisect start -q HEAD HEAD~1 >/dev/null;;
  esac
}
leaves() { git worktree remove --force "$T/look" 2>/dev/null || git switch -q main; git branch -D "garth/$1"; }

@test "T6 merge, discard, cleanup and archive: a branch that is checked out is kept, and reported" {
  local how verb tip
  for how in main linked rebase bisect; do
    for verb in 'merge --squash' 'discard -D' 'cleanup --older-than 0s' archive; do
      task t "echo $how >n.txt"
      inside t "echo two >two.txt; git add -A; git commit -qm two"
      tip=$(git rev-parse garth/t)
      looks t $how
      if [[ $verb == cleanup* ]]; then
        git update-ref refs/heads/main "$tip"
        call "$garth" $verb
      else call "$garth" $verb t; fi
      [[ $code == 0 ]] || complain "$how $verb"
      [[ $err == *"branch garth/t stays: it is checked out in '"*"switch main && git -C "*" branch -D garth/t"* ]] || complain "$how $verb"
      [[ $(git rev-parse garth/t) == "$tip" ]] || complain "$how $verb"
      [[ $(state_of t) == '' ]] || complain "$how $verb"
      if [[ $how == main ]]; then
        [[ -z $(git status --porcelain) ]]
        [[ $(git symbolic-ref HEAD) == refs/heads/garth/t ]]
      fi
      [[ $how != linked ]] || [[ -z $(git -C "$T/look" status --porcelain) ]]
      # it comes back, with the branch that was there all along
      "$garth" undo t
      [[ $(git rev-parse garth/t) == "$tip" ]]
      [[ $(inside t 'cat two.txt') == two ]]
      leaves t
      git update-ref refs/heads/garth/t "$tip"
      "$garth" discard -fD t
      [[ -z $(git for-each-ref refs/heads/garth) ]]
      git reset -q --hard "$(git rev-list --max-parents=0 main)"
    done
  done
  call "$garth" doctor; [[ $code == 0 ]] || complain
}

@test "T6 undo: a kept branch with new commits becomes the task's again, of every kind" {
  local b
  for b in overlay worktree clone; do
    "$garth" new t --backend $b
    inside t 'echo n >n.txt; git add .; git commit -qm n'
    git checkout -q --ignore-other-worktrees garth/t
    "$garth" discard -D t
    echo mine >mine.txt
    commit mine
    "$garth" undo t
    [[ $(git log -1 --format=%s garth/t) == mine ]]
    [[ $(state_of t) == created ]]
    [[ $(git symbolic-ref HEAD) == refs/heads/garth/t ]]
    git switch -q main
    "$garth" discard -fD t
    [[ -z $(git for-each-ref refs/heads/garth) ]]
  done
}

@test "T6 doctor: a removed task's branch is deleted when nobody has it checked out any more" {
  task t 'echo n >n.txt'; git worktree add -q "$T/look" garth/t; "$garth" merge t; "$garth" gc --empty-trash
  git -C "$T/look" -c advice.detachedHead=false checkout -q --detach; git -C "$T/look" bisect start -q 2>/dev/null; printf 'garth/t\n' >"$(git -C "$T/look" rev-parse --git-path BISECT_START)"
  call "$garth" doctor --repair; [[ -n $(git for-each-ref refs/heads/garth/t) ]] || complain
  git worktree remove --force "$T/look"; call "$garth" doctor --repair; [[ -z $(git for-each-ref refs/heads/garth/t) ]] || complain
}
