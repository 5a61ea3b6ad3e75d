load helpers
load with_submodules

# subjects REF [DIR]: the subjects of the commits that the task published there.
subjects() { git -C "${2:-.}" log --format=%s "origin/HEAD..$1" | paste -sd,; }

@test "W5 G1 subpublish: a commit in a submodule goes to the user's repository of it, and the gitlink follows; nested, on every backend" {
  for backend in overlay worktree clone; do
    own=$(mod_own_state)
    "$garth" new t-$backend --backend $backend
    inside t-$backend 'cd libs/mod/deep && echo 2 >>deep.txt && git commit -qam deeper
      cd .. && echo more >>lib.txt && git commit -qam with-deeper
      cd ../.. && git commit -qam moved && git status --porcelain && git submodule status --recursive' >"$T/out"
    not grep '^[-+UM]' "$T/out"
    [[ $(subjects garth/t-$backend libs/mod/deep) == deeper ]]
    [[ $(subjects garth/t-$backend libs/mod) == with-deeper ]]
    [[ $(git rev-parse "garth/t-$backend:libs/mod") == $(git -C libs/mod rev-parse "garth/t-$backend") ]]
    [[ $(git -C libs/mod rev-parse "garth/t-$backend:deep") == $(git -C libs/mod/deep rev-parse "garth/t-$backend") ]]
    git -C libs/mod fsck --no-dangling
    [[ $("$garth" show t-$backend) == *'changed    0 files'* ]]
    [[ $("$garth" show t-$backend) == *'3 of 100 commits'* ]]
    [[ $("$garth" show t-$backend --json | json '[len(s["published"]) for s in d["submodules"]]') == '[40, 40]' ]]
    "$garth" audit t-$backend | grep -q 'publish .*submodule=libs/mod/deep'
    # the user's own checkout of it is as it was
    [[ $(mod_own_state) == "$own" ]]
    [[ $("$garth" diff --published t-$backend) == *$'+Subproject commit'*$'\n+++ b/libs/mod/lib.txt\n'*$'\n+++ b/libs/mod/deep/deep.txt\n'* ]]
    [[ $("$garth" diff --published --stat t-$backend libs/mod/deep) == *' libs/mod/deep:'*' deep.txt | 1 +'* ]]
    [[ $("$garth" diff t-$backend libs/mod/lib.txt) == *$'\n+more' ]]
  done
}

# refused_there SCRIPT: a commit is refused because of what it would publish, and nothing is published.
refused_there() {
  local before; before=$(git rev-parse garth/t; git -C libs/mod for-each-ref)
  call inside t "$2"
  [[ $err == *"BLOCKED: $1"* ]] || complain "not refused: $2" || return
  [[ $(git rev-parse garth/t; git -C libs/mod for-each-ref) == "$before" ]]
}

@test "W5 G5 ESCAPES subpublish: a gitlink may name only commits that the task published there" {
  "$garth" new t
  inside t 'cd libs/mod && echo 2 >>lib.txt && git commit -qam two'
  is_sub="'libs/mod' is a submodule"
  # a commit on another branch of the submodule, one of the nested one, one from before the base, one that does not exist
  refused_there "$is_sub" 'cd libs/mod && git checkout -qb side && echo 3 >>lib.txt && git commit -qam side; cd ../..; git add libs/mod; git commit -qm side; git reset -q; git -C libs/mod checkout -q garth/t'
  refused_there "$is_sub" 'git update-index --cacheinfo "160000,$(git -C libs/mod/deep rev-parse HEAD),libs/mod"; git commit -qm deep; git reset -q'
  refused_there "$is_sub" 'git update-index --cacheinfo "160000,$(git -C libs/mod rev-parse HEAD~2),libs/mod"; git commit -qm old; git reset -q'
  refused_there "$is_sub" 'git update-index --cacheinfo "160000,$(git rev-parse HEAD),libs/mod"; git commit -qm none; git reset -q'
  refused_there "'libs/other' is a submodule" 'git update-index --add --cacheinfo "160000,$(git -C libs/mod rev-parse HEAD),libs/other"; git commit -qm new; git reset -q'
  # one of the user's own commits, which was not published by the task
  users=$(git -C libs/mod commit-tree -p origin/HEAD -m users 'origin/HEAD^{tree}'); git -C libs/mod update-ref refs/heads/users "$users"
  refused_there "$is_sub" "git update-index --cacheinfo 160000,$users,libs/mod; git commit -qm users; git reset -q"
  # one that was hidden in a commit before the last
  refused_there "$is_sub" 'git update-index --cacheinfo "160000,$(git rev-parse HEAD),libs/mod"; a=$(git commit-tree -p HEAD -m a $(git write-tree)); git reset -q; b=$(git commit-tree -p $a -m b HEAD^{tree}); git update-ref refs/heads/garth/t $b'
  # control: the one that was published
  inside t 'git commit -qam moved'
  [[ $(git rev-parse garth/t:libs/mod) == $(git -C libs/mod rev-parse garth/t) ]]
}

@test "W5 G5 subpublish: rules hold in a submodule, by its own paths and by those of the task, and limits are the task's" {
  printf 'policy:\n  protected: [libs/mod/src/**]\nlimits:\n  max_commits: 3\n' | configure
  "$garth" new t
  # this one is protected at the top of a repository only
  refused_there "'libs/mod/.github/workflows/ci.yml' is protected" 'cd libs/mod && mkdir -p .github/workflows && echo x >.github/workflows/ci.yml && git add -A && git commit -qm ci; git reset -q --hard'
  refused_there "'libs/mod/src/code.c' is protected" 'cd libs/mod && echo x >>src/code.c && git commit -qam code; git reset -q --hard'
  "$garth" allow t libs/mod/src/code.c
  inside t 'cd libs/mod && echo x >>src/code.c && git commit -qam code && cd deep && echo y >>deep.txt && git commit -qam deep && cd ../../.. && echo z >>a.txt && git commit -qm a a.txt'
  refused_there 'the task adds more than 3 commits' 'cd libs/mod && echo 2 >>lib.txt && git commit -qam four'
}

# The task has the target's commit as a parent, so a merge brings nothing again that the target has.
@test "W5 G5 ESCAPES 10 subpublish: a gitlink that lacks the target's commits in the submodule is refused" {
  printf 'policy:\n  protected: [libs/mod/src/**]\n' | configure
  "$garth" new t
  inside t 'cd libs/mod && echo mine >>lib.txt && git commit -qam mine && cd ../.. && git commit -qam moved'
  git -C libs/mod stash -q -u
  (cd libs/mod && git checkout -q --detach && echo theirs >>src/code.c && git commit -qam theirs)
  git commit -qm 'moved it' libs/mod
  theirs=$(git -C libs/mod rev-parse HEAD)
  into="/usr/bin/git update-ref refs/heads/garth/t \$(/usr/bin/git commit-tree -p HEAD -p $(git rev-parse main) -m merged"
  refused_there "'libs/mod' is a submodule" "$into HEAD^{tree})"
  # nor is a commit that begins before the base
  refused_there "'libs/mod' is a submodule" 'cd libs/mod && git checkout -q --detach HEAD~2 && echo x >x && git add x && git commit -qm x; cd ../..; git add libs/mod; git commit -qm back; git reset -q; git -C libs/mod checkout -q garth/t'
  # control: one that contains it
  inside t "cd libs/mod && /usr/bin/git merge -q -m both $theirs && cd ../.. && git add libs/mod && $into \$(/usr/bin/git write-tree))"
  [[ $(git rev-parse garth/t:libs/mod) == $(git -C libs/mod rev-parse garth/t) ]]
}

# A commit that is published from one submodule could then be named in the other, although the other's rules forbid it.
@test "W5 G5 ESCAPES 33 subpublish: two submodules do not share a repository" {
  at=$(git rev-parse HEAD:libs/mod)
  for name in libs/mod libs/mod/modules/deep; do
    printf '[submodule "libs/mod"]\n\tpath = libs/mod\n\turl = x\n[submodule "%s"]\n\tpath = other\n\turl = x\n' "$name" >.gitmodules
    [[ $name == libs/mod ]] || at=$(git -C libs/mod rev-parse "$at:deep")
    git add .gitmodules; git update-index --add --cacheinfo "160000,$at,other"; git commit -qm alias
    changes_nothing 4 "submodule 'other' has the same repository as 'libs/mod" "$garth" new named --submodule libs/mod/deep --submodule other
    call "$garth" new "t-${name##*/}" --submodule all
    [[ $err == *"  other: has the same repository as 'libs/mod"* ]] || complain
    [[ -z $(inside "t-${name##*/}" 'ls -A other') ]]
  done
}

@test "W5 W7 ESCAPES 39 subpublish: a set-up that commits in a submodule leaves no ref there" {
  refs=$(git -C libs/mod for-each-ref)
  printf 'workspace:\n  setup: ["cd libs/mod; echo s >>lib.txt; git commit -qam s; git commit -q --amend -m s2"]\n' | configure
  "$garth" new t
  "$garth" audit | grep -q 'publish .*submodule=libs/mod'
  [[ $(git -C libs/mod for-each-ref) == "$refs" ]]
  [[ -z $(git for-each-ref | grep setup) ]]
}

@test "W5 subpublish: amended commits, and commits that were named before, are kept" {
  "$garth" new t
  inside t 'cd libs/mod && echo 2 >>lib.txt && git commit -qam two && cd ../.. && git commit -qam moved && cd libs/mod && git commit -q --amend -m better && cd ../.. && git commit -qam again'
  [[ $(subjects garth/t libs/mod) == better ]]
  first=$(git rev-parse garth/t~1:libs/mod)
  [[ $first != "$(git rev-parse garth/t:libs/mod)" ]]
  git -C libs/mod reflog expire --expire=now --all; git -C libs/mod gc -q --prune=now
  [[ $(git -C libs/mod cat-file -t "$first") == commit ]]
  # one ref beside the branch
  [[ $(git -C libs/mod for-each-ref --format='%(refname)' | grep -c garth) == 2 ]]
}

@test "W5 T2 subpublish: what is committed in the submodule and not named by the superproject is reported at the end; --on-dirty commit commits all of it" {
  call "$garth" run -t t -- sh -c 'cd libs/mod && echo mine >>lib.txt && git commit -qam mine'
  [[ $code == 1 ]] || complain
  [[ $err == *$'1 uncommitted file\n  libs/mod\n'* ]] || complain
  fails 4 'that is not in main' "$garth" discard -f t
  inside t 'git commit -qam moved'
  [[ $(state_of t) == done ]]
  call "$garth" run -t c --on-dirty commit -- sh -c 'echo 2 >>a.txt; echo mine >>libs/mod/lib.txt; echo 3 >>libs/mod/deep/deep.txt'
  [[ $code == 0 ]] || complain
  [[ $(git diff --name-only main garth/c | paste -sd' ') == 'a.txt libs/mod' ]]
  [[ $(git -C libs/mod diff --name-only origin/HEAD garth/c | paste -sd' ') == 'deep lib.txt' ]]
  # commits that another git made without the hook are published at the end
  "$garth" run -t h -- sh -c 'cd libs/mod && echo h >>lib.txt && git -c core.hooksPath=/nowhere commit -qam h && cd ../.. && git -c core.hooksPath=/nowhere commit -qam moved'
  [[ $(git rev-parse garth/h:libs/mod) == $(git -C libs/mod rev-parse garth/h) ]]
}

@test "W5 T3 subpublish: a rollback brings submodules back to the snapshot, and undo takes that back, with what was uncommitted" {
  for backend in overlay worktree; do
    "$garth" new t-$backend --backend $backend
    inside t-$backend 'cd libs/mod && echo 1 >>lib.txt && git commit -qam one && cd ../.. && git commit -qam s-one'
    n=$("$garth" snapshot t-$backend)
    inside t-$backend 'cd libs/mod && echo 2 >>lib.txt && git commit -qam two && echo 3 >>lib.txt && echo new >new.txt && cd ../.. && echo x >>a.txt && git commit -qam s-two'
    call "$garth" rollback t-$backend --to-snapshot "$n"
    [[ $err == *$'▲ uncommitted changes in 1 submodule are in its stash now\n  libs/mod'* ]] || complain
    [[ $(inside t-$backend 'git log -1 --format=%s; git status --porcelain; git -C libs/mod log -1 --format=%s; git -C libs/mod status --porcelain') == $'s-one\none' ]]
    [[ $(subjects garth/t-$backend libs/mod) == one ]]
    "$garth" undo t-$backend
    [[ $(inside t-$backend 'git log -1 --format=%s; git -C libs/mod log -1 --format=%s; git -C libs/mod status --porcelain; cat libs/mod/new.txt') == $'s-two\ntwo\n M lib.txt\n?? new.txt\nnew' ]]
    [[ $(subjects garth/t-$backend libs/mod) == two,one ]]
    "$garth" rollback --full t-$backend
    [[ $(inside t-$backend 'git status --porcelain; git -C libs/mod log -1 --format=%s; ls libs/mod') == $'nested\ndeep\nlib.txt\nsrc' ]]
    "$garth" undo t-$backend
    [[ $(subjects garth/t-$backend libs/mod) == two,one ]]
  done
}

@test "W5 T3 ESCAPES 23 subpublish: a rollback that is killed when a submodule has moved is done by the next one" {
  has_faults || { means_nothing; return; }
  "$garth" new t
  inside t 'cd libs/mod && echo 1 >>lib.txt && git commit -qam one && cd ../.. && git commit -qam s-one'
  n=$("$garth" snapshot t)
  inside t 'cd libs/mod && echo 2 >>lib.txt && git commit -qam two && echo 3 >>lib.txt && cd ../.. && git commit -qam s-two'
  two=$(git -C libs/mod rev-parse garth/t)
  not env GARTH_FAULT=rollback-submodule "$garth" rollback t --to-snapshot "$n"
  git -C libs/mod for-each-ref --contains "$two" | grep -q .
  call "$garth" rollback t --to-snapshot "$n"
  [[ $code == 0 ]] || complain
  [[ $(inside t 'git log -1 --format=%s; git status --porcelain; git -C libs/mod log -1 --format=%s; git -C libs/mod status --porcelain') == $'s-one\none' ]]
  [[ $(subjects garth/t libs/mod) == one ]]
  git -C libs/mod for-each-ref --contains "$two" | grep -q .
  [[ $(inside t 'cd libs/mod && git stash show -p | tail -n1') == +3 ]]
  call "$garth" doctor
  [[ $code == 0 ]] || complain
}

@test "W5 G10 subpublish: a sync whose target moved the submodule elsewhere is a conflict; one that contains the task's commits is not" {
  "$garth" new t
  inside t 'cd libs/mod && echo mine >>lib.txt && git commit -qam mine && cd ../.. && git commit -qam moved'
  git -C libs/mod stash -q -u
  (cd libs/mod && git checkout -q --detach && echo theirs >>src/code.c && git commit -qam theirs)
  git commit -qm 'moved it' libs/mod
  fails 5 libs/mod "$garth" sync t
  [[ $(inside t 'git log -1 --format=%s; git status --porcelain') == moved ]]
  (cd libs/mod && git merge -q -m both garth/t)
  git commit -qm 'moved it again' libs/mod
  "$garth" sync t
  [[ $(inside t 'git status --porcelain; tail -n1 libs/mod/lib.txt libs/mod/src/code.c' | grep -v '^==>' | paste -sd' ') == 'mine  theirs' ]]
  # and the task can continue from there
  inside t 'cd libs/mod && echo more >>lib.txt && git commit -qam more && cd ../.. && git commit -qam on'
  [[ $(git rev-parse garth/t:libs/mod) == $(git -C libs/mod rev-parse garth/t) ]]
}

@test "W5 ESCAPES subpublish: a gateway that dies at any step loses nothing, and the next one continues" {
  n=0
  for step in publish-taken publish-checked publish-recorded publish-kept publish-moved publish-stored; do
    n=$((n + 1))
    "$garth" new t$n
    GARTH_FAULT=$step call inside t$n "cd libs/mod && echo $step >>lib.txt && git commit -qam $step"
    inside t$n 'cd libs/mod && git status --porcelain; git add -A; git commit -qm again 2>/dev/null; cd ../..; git commit -qam moved'
    [[ $(git -C libs/mod show "garth/t$n:lib.txt" | tail -n1) == "$step" ]]
    [[ $(git rev-parse "garth/t$n:libs/mod") == $(git -C libs/mod rev-parse "garth/t$n") ]]
  done
  git -C libs/mod fsck --no-dangling
}

@test "W5 J10 ESCAPES subpublish: a user's branch with the task's name is not moved, and a commit that the user put on it is not lost" {
  git -C libs/mod branch garth/t HEAD~1
  "$garth" new t
  call inside t 'cd libs/mod && echo 2 >>lib.txt && git commit -qam two'
  [[ $err == *'has a branch garth/t that is not this task'* ]] || complain
  [[ $(git -C libs/mod rev-parse garth/t) == $(git -C libs/mod rev-parse origin/HEAD~1) ]]
  # nor may the superproject name it
  call inside t 'git update-index --cacheinfo "160000,$(git -C libs/mod rev-parse HEAD~1),libs/mod"; git commit -qm old; git reset -q'
  [[ $err == *"'libs/mod' is a submodule"* ]] || complain
  "$garth" new u
  inside u 'cd libs/mod && echo 2 >>lib.txt && git commit -qam two'
  git -C libs/mod update-ref refs/heads/garth/u "$(git -C libs/mod commit-tree -p garth/u -m by-hand garth/u^{tree})"
  call inside u 'cd libs/mod && echo 3 >>lib.txt && git commit -qam three'
  [[ $err == *'was moved outside'* ]] || complain
  [[ $(git -C libs/mod log -1 --format=%s garth/u) == by-hand ]]
}

@test "G2 W5 subpublish: the number in a request can only name a submodule of the task" {
  "$garth" new t
  for n in 2 99 -1 '"0"' null '[]'; do
    [[ $(inside t "curl -sS -o /dev/null -w '%{http_code}' --unix-socket \"\$GARTH_SOCKET\" -d '{\"tip\":\"'\$(git rev-parse HEAD)'\",\"submodule\":$n}' http://x/api/v1/git/publish") == 400 ]]
  done
  # what is not in that submodule cannot be published there
  [[ $(inside t "curl -sS -o /dev/null -w '%{http_code}' --unix-socket \"\$GARTH_SOCKET\" -d '{\"tip\":\"'\$(git rev-parse HEAD)'\",\"submodule\":0}' http://x/api/v1/git/publish") == 403 ]]
}

# Runs the command that the last refusal hints at.
do_hint() { eval "$(sed -n 's/.*git --git-dir/git --git-dir/p' <<<"$err")"; }

@test "W5 G9 subpublish: a push that names a submodule's commit which no remote has is refused, with the command that pushes it" {
  for name in app lib deep; do git init -q --bare "$T/home/$name.git"; done
  git remote add origin "$T/home/app.git"; git push -q origin main
  for sub in libs/mod:lib libs/mod/deep:deep; do
    git -C "${sub%:*}" remote set-url origin "$T/home/${sub#*:}.git"; git -C "${sub%:*}" push -q origin HEAD:refs/heads/main
  done
  # a task that moved none, although another branch of the user's there is on no remote
  "$garth" new other; inside other 'echo o >o.txt; git add o.txt; git commit -qm other'
  git -C libs/mod branch mine "$(git -C libs/mod commit-tree -p HEAD -m mine 'HEAD^{tree}')"
  "$garth" push other
  "$garth" new t
  inside t 'cd libs/mod/deep && echo 2 >>deep.txt && git commit -qam deeper && cd .. && git commit -qam with-deeper && cd ../.. && git commit -qam moved
    cd libs/mod && echo 3 >>lib.txt && git commit -qam third && cd ../.. && git commit -qam third'
  for named in libs/mod/deep libs/mod; do
    call "$garth" push t
    [[ $code == 4 && $err == *"no remote of submodule '$named' has commit "* ]] || complain
    [[ -z $(git -C "$T/home/app.git" for-each-ref refs/heads/garth/t) ]]
    do_hint
  done
  "$garth" push t
  for name in lib deep; do git config --global url."$T/home/$name.git".insteadOf "$made/$name"; done
  GIT_ALLOW_PROTOCOL=file git clone -q --recurse-submodules -b garth/t "$T/home/app.git" "$T/clone"
  [[ $(cat "$T/clone/libs/mod/deep/deep.txt") == $'deep\n2' ]]
  # a commit before the last one counts; not if the user says that nothing does
  "$garth" new u
  inside u 'cd libs/mod && echo 1 >>lib.txt && git commit -qam one && cd ../.. && git commit -qam one && cd libs/mod && echo 2 >>lib.txt && git commit -qam two && cd ../.. && git commit -qam two'
  git -C libs/mod push -q origin garth/u~1:refs/heads/half
  call "$garth" push u
  [[ $code == 4 && $err == *"'libs/mod' has commit $(git -C libs/mod rev-parse --short=12 garth/u)"* ]] || complain
  # a clone of one branch keeps no record of what it pushed to another: the remote is asked
  git -C libs/mod config remote.origin.fetch +refs/heads/main:refs/remotes/origin/main; git -C libs/mod update-ref -d refs/remotes/origin/half
  "$garth" new w
  inside w 'cd libs/mod && echo 1 >>lib.txt && git commit -qam one && cd ../.. && git commit -qam one'
  call "$garth" push w
  do_hint
  [[ -z $(git -C libs/mod for-each-ref refs/remotes/origin/garth/w) ]]
  "$garth" push w
  [[ -z $(git -C libs/mod for-each-ref refs/garth/fetched) ]]
  call "$garth" push u
  [[ $code == 4 ]] || complain
  git config push.recurseSubmodules no
  "$garth" push u
  [[ $(git -C "$T/home/app.git" rev-parse garth/u) == $(git rev-parse garth/u) ]]
}
