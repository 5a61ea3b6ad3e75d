# Garth's verdict and the command's own exit code are two facts; a failure for what was left goes with it.
load helpers

terminals() {
  { echo 'import subprocess; from terminal import *'; cat; } >"$T/script.py"
  PYTHONPATH=$BATS_TEST_DIRNAME PYTHONDONTWRITEBYTECODE=1 timeout 60 python3 "$T/script.py" </dev/null 3>&-
}

branched='/usr/bin/git checkout -q -b feature; echo 1 >one; /usr/bin/git add one; /usr/bin/git commit -qm one; echo 2 >two; /usr/bin/git add two; /usr/bin/git commit -qm two'

@test "T2 verdict: commits on another branch are reported correctly, and publish --from publishes them" {
  for b in overlay worktree; do
    call "$garth" run --task x-$b --backend $b -- sh -ec "$branched"
    [[ $code == 1 ]] || complain
    [[ $(state_of x-$b) == failed ]] || complain
    [[ $(field x-$b exit_code) == 0 ]] || complain
    [[ $err == *"2 commits are on branch 'feature', not on garth/x-$b"* ]] || complain
    [[ $err != *uncommitted* ]] || complain
    [[ $(hint) == "garth publish x-$b --from feature" ]] || complain
    # without --from nothing happens, and the hint is the same
    call "$garth" publish x-$b
    [[ $code == 0 ]] || complain
    [[ $(git rev-parse garth/x-$b) == $(git rev-parse main) ]] || complain
    [[ $(state_of x-$b) == failed ]] || complain
    call "$garth" publish x-$b --from feature
    [[ $code == 0 ]] || complain
    [[ $(git log --format=%s garth/x-$b | paste -sd,) == two,one,first ]] || complain
    [[ $(state_of x-$b) == done ]]
    [[ $(field x-$b note) == null ]]
    [[ $(field x-$b uncommitted) == '[]' ]]
    # inside, the task's branch is checked out at that commit, and work can continue there
    [[ $(inside x-$b 'git symbolic-ref HEAD; git status --porcelain; git log -1 --format=%s') == "refs/heads/garth/x-$b"$'\ntwo' ]]
    inside x-$b 'echo 3 >three; git add three; git commit -qm three'
    [[ $(git log -1 --format=%s garth/x-$b) == three ]]
    # merging the branch inside takes the failure back as well
    call "$garth" run --task y-$b --backend $b -- sh -ec "$branched"
    [[ $(state_of y-$b) == failed ]]
    inside y-$b "/usr/bin/git checkout -q garth/y-$b; git merge -q feature"
    [[ $(state_of y-$b) == done ]]
    [[ $(git log -1 --format=%s garth/y-$b) == two ]]
    [[ $(field y-$b note) == null ]]
  done
  "$garth" audit --verify
}

@test "T2 verdict: uncommitted files on the other branch are named as such, and a detached HEAD has its own message" {
  call "$garth" run --task x -- sh -ec "$branched; echo more >more"
  [[ $code == 1 ]] || complain
  [[ $err == *"2 commits are on branch 'feature', not on garth/x; 1 uncommitted file on 'feature': more"* ]] || complain
  call "$garth" publish x --from feature
  [[ $code == 0 ]] || complain
  [[ $(state_of x) == failed ]] || complain
  [[ $(field x note) == '1 uncommitted file: more' ]] || complain
  inside x 'rm more'
  [[ $(state_of x) == done ]]
  [[ $(field x note) == null ]]
  call "$garth" run --task d -- sh -ec '/usr/bin/git checkout -q --detach; echo 1 >one; /usr/bin/git add one; /usr/bin/git commit -qm one'
  [[ $code == 1 ]] || complain
  [[ $err == *'1 commit is on no branch (a detached HEAD), not on garth/d'* ]] || complain
  [[ $(hint) == 'garth publish d --from HEAD' ]] || complain
  call "$garth" publish d --from HEAD
  [[ $code == 0 ]] || complain
  [[ $(git log -1 --format=%s garth/d) == one ]] || complain
  [[ $(state_of d) == done ]] || complain
  # a branch without its own commits does not count
  call "$garth" run --task n -- sh -ec '/usr/bin/git checkout -q -b feature; echo 1 >one'
  [[ $code == 1 ]] || complain
  [[ $err == *$'1 uncommitted file\n  one'* ]] || complain
  [[ $(hint) == 'garth diff n' ]] || complain
}

@test "T2 verdict: publish --from applies all checks: names, protected paths, rewriting, files in the way" {
  "$garth" new x
  fails 3 "there is no branch 'nosuch'" "$garth" publish x --from nosuch
  fails 3 "there is no branch 'main~0'" "$garth" publish x --from main~0
  fails 3 "there is no branch '--all'" "$garth" publish x --from=--all
  inside x "$branched; /usr/bin/git checkout -q -b ci; mkdir -p .github/workflows; echo x >.github/workflows/x.yml; /usr/bin/git add .; /usr/bin/git commit -qm ci; /usr/bin/git checkout -q garth/x"
  call "$garth" publish x --from ci
  [[ $code == 4 ]] || complain
  [[ $err == *protected* ]] || complain
  # refused, and inside everything is as it was
  [[ $(inside x 'git symbolic-ref HEAD; git status --porcelain; git log -1 --format=%s; ls .github' 2>/dev/null) == $'refs/heads/garth/x\nfirst' ]]
  [[ $(git rev-parse garth/x) == $(git rev-parse main) ]]
  # with the task's branch checked out the files come along, unless they have changes of their own
  inside x 'echo mine >one'
  call "$garth" publish x --from feature
  [[ $code == 1 ]] || complain
  [[ $(inside x cat one) == mine ]] || complain
  [[ $(git rev-parse garth/x) == $(git rev-parse main) ]] || complain
  inside x 'rm one'
  "$garth" publish x --from "$(inside x /usr/bin/git rev-parse feature)"
  [[ $(git log -1 --format=%s garth/x) == two ]]
  [[ $(inside x 'cat two; git status --porcelain') == 2 ]]
  # policy.rewrite decides about other than fast-forwards
  inside x '/usr/bin/git branch side HEAD~1; /usr/bin/git checkout -q side; echo s >s; /usr/bin/git add s; /usr/bin/git commit -qm side'
  printf 'policy:\n  rewrite: refuse\n' | configure
  call "$garth" publish x --from side
  [[ $code == 4 ]] || complain
  [[ $(git log -1 --format=%s garth/x) == two ]] || complain
  git fsck --strict
}

@test "T2 verdict: a failure for uncommitted work ends when it is committed, removed or rolled back; the command's own stays" {
  for b in "${backends[@]}"; do
    for how in commit remove rollback; do
      call "$garth" run --task $how-$b --backend $b -- sh -c 'echo x >x'
      [[ $code == 1 ]] || complain
      [[ $(state_of $how-$b) == failed ]] || complain
      [[ $(field $how-$b exit_code) == 0 ]] || complain
      [[ $("$garth" show $how-$b) == *'exit code  0'* ]]
    done
    inside commit-$b 'git add x; git commit -qm x'; inside remove-$b 'rm x'; "$garth" rollback rollback-$b --full
    for how in commit remove rollback; do
      [[ $(state_of $how-$b) == done ]] || complain $how
      [[ $(field $how-$b note) == null ]] || complain $how
    done
    call "$garth" run --task own-$b --backend $b -- sh -c 'echo x >x; exit 3'
    [[ $code == 3 ]] || complain
    [[ $(field own-$b exit_code) == 3 ]] || complain
    [[ $(field own-$b note) == '1 uncommitted file: x' ]] || complain
    inside own-$b 'rm x'
    [[ $(state_of own-$b) == failed ]]
    [[ $(field own-$b note) == null ]]
  done
  # files of a worktree are removed on the host: the next command notices it
  "$garth" run -q --task w --backend worktree -- sh -c 'echo x >x' || true
  rm "$("$garth" path w)/x"; "$garth" show w >/dev/null; [[ $(state_of w) == done ]]
  # only part of it is gone
  "$garth" run -q --task part -- sh -c 'echo x >x; echo y >y' || true
  inside part 'rm x'
  [[ $(state_of part) == failed ]]
  [[ $(field part note) == '1 uncommitted file: y' ]]
}

@test "T2 verdict: refused commits are a failure until they are published" {
  call "$garth" run --task t -- sh -ec 'mkdir -p .github/workflows; echo x >.github/workflows/x.yml; /usr/bin/git add .; GARTH_GATEWAY=1 /usr/bin/git commit -qm ci'
  [[ $code == 1 ]] || complain
  [[ $(state_of t) == failed ]] || complain
  [[ $(field t exit_code) == 0 ]] || complain
  [[ $err == *'not published'* ]] || complain
  "$garth" allow t '.github/**'
  "$garth" publish t
  [[ $(state_of t) == done ]] || complain "$("$garth" show t)"
  [[ $(field t note) == null ]] || complain "$("$garth" show t)"
}

@test "T1 T8 verdict: inspecting a task with a shell is no failure, whatever was typed last; other commands are as before" {
  terminals <<'PY'
t = garth("run", "-t", "look", "--", "bash", "--norc")
t.expect("$"); t.send("false\r"); t.send("exit\r")
assert t.wait() == 1 and "task 'look' is done" in t.text, t.text
t = garth("run", "-t", "stop", "--", "bash", "--norc")
t.expect("$"); t.send("echo a-$((1+1))\r"); t.expect("a-2"); t.expect("$")
# the kernel throws away what a terminal shows at a Ctrl-C, before it echoes that: perhaps the next prompt too
t.send("\x03"); t.expect("^C"); t.send("\r"); t.expect("$"); t.send("exit\r")
assert t.wait() == 130 and "task 'stop' is done" in t.text, t.text
t = garth("run", "-t", "left", "--", "bash", "--norc")
t.expect("$"); t.send("echo x >x\r"); t.send("exit\r")
assert t.wait() == 0 and "task 'left' is done: 1 uncommitted file\r\n  x" in t.text, t.text
t = garth("run", "-t", "script", "--", "bash", "-c", "echo x >x; exit 3")
assert t.wait() == 3 and "task 'script' failed: exit code 3" in t.text, t.text
t = garth("run", "-t", "dirty", "--", "sh", "-c", "echo x >x")
assert t.wait() == 1 and "task 'dirty' failed: 1 uncommitted file\r\n  x" in t.text, t.text
PY
  for t in look stop left; do [[ $(state_of $t) == done ]]; done
  [[ $(field look exit_code) == 1 ]]
  [[ $(field left note) == '1 uncommitted file: x' ]]
  [[ $(inside left cat x) == x ]]
  [[ $(state_of script) == failed ]]
  [[ $(state_of dirty) == failed ]]
  # without a terminal a shell is a command like any other
  call "$garth" run --task pipe -- bash <<<'false'
  [[ $(state_of pipe) == done ]]
  "$garth" run --task pipe2 -- bash <<<'exit 4' || true
  [[ $(state_of pipe2) == failed ]]
}
