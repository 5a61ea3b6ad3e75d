load helpers

# A command that dies at a step, in builds that can; in others the variable must mean nothing.
dies_at() {
  local step=$1; shift
  call env GARTH_FAULT="$step" "$@"
  if has_faults; then [[ $code == 137 ]] || complain "did not die at $step"; else [[ $code == 0 ]] || complain "GARTH_FAULT has a meaning"; fi
}

# Nothing is half made: everything in the home and among the refs belongs to a task that is listed.
sound() {
  local n
  n=$("$garth" ls --json | json 'len(d["tasks"])')
  [[ $(ls "$GARTH_HOME/tasks" | wc -l) == "$n" ]] || complain "tasks: $(ls "$GARTH_HOME/tasks")"
  [[ $(git for-each-ref refs/heads/garth | wc -l) == "$n" ]] || complain "refs: $(git for-each-ref)"
  [[ $n != 0 || -z $(git for-each-ref refs/garth/tasks) ]] || complain "pins: $(git for-each-ref)"
  [[ -z $(ls "$GARTH_HOME/scratch") ]] || complain "scratch: $(ls "$GARTH_HOME/scratch")"
  [[ $(git worktree list | grep -c /worktrees/) == $(ls "$GARTH_HOME/worktrees" | wc -l) ]] || complain "$(git worktree list)"
  ! git worktree list | grep -q prunable || complain "$(git worktree list)"
  git fsck --strict
}

@test "ESCAPES 23 crash: killed at each step of making a task: nothing is left, the name is free" {
  git tag v1; echo 2 >>a.txt; commit
  fingerprint >"$T/before"
  for step in create-reserved:overlay create-refs:overlay create-base:overlay create-index:overlay base-checkout:overlay base-made:overlay \
    create-reserved:worktree create-refs:worktree create-worktree:worktree; do
    rm -rf "$GARTH_HOME/bases"/*
    dies_at "${step%:*}" "$garth" new t --backend "${step#*:}"
    if has_faults; then
      call "$garth" doctor --repair
      [[ $code == 0 ]] || complain "$step"
      [[ $out == *"t: was left half made"*"✓ removed"* ]] || complain "$step"
    else
      "$garth" discard t
    fi
    sound
    "$garth" new t --backend "${step#*:}"
    [[ $(inside t 'cat a.txt; git status --porcelain') == $'one\n2' ]] || complain "$step"
    "$garth" discard t
    sound
    [[ -z $(find "$GARTH_HOME/bases" -name '*.part') ]] || complain "$step"
  done
  fingerprint | diff "$T/before" -
}

@test "ESCAPES 23 crash: after a crash the next command with the name works, without doctor" {
  for step in create-reserved create-refs create-index; do
    dies_at $step "$garth" new t
    if has_faults; then
      fails 3 "there is no task 't'" "$garth" show t
    fi
    "$garth" ls >/dev/null
    has_faults || "$garth" discard t
    "$garth" new t; "$garth" discard t
  done
  dies_at create-refs "$garth" new t
  has_faults || "$garth" discard t
  call "$garth" new t
  [[ $code == 0 ]] || complain "the name is not free at once"
}

@test "ESCAPES 23 26 crash: killed at each step of discarding: it is completed, and the work is in the trash" {
  for b in "${backends[@]}"; do
    for step in discard-marked discard-refs discard-moved; do
      "$garth" new t --backend $b
      inside t 'echo work >work; echo d >draft; git add draft; git commit -qm draft'
      id=$(field t id)
      dies_at $step "$garth" discard -fD t
      call "$garth" doctor --repair
      [[ $code == 0 ]] || complain
      [[ $("$garth" ls --json | json 'd["tasks"]') == "[]" ]] || complain "$step"
      sound
      [[ $(cat "$(find "$GARTH_HOME/trash/$id" -name work -type f)") == work ]] || complain "$step"
      [[ $(git --git-dir "$GARTH_HOME/trash/$id/git" show garth/t:draft) == d ]] || complain "$step"
    done
  done
}

@test "ESCAPES 23 crash: kill -9 of the keeper: interrupted, everything inside is dead, the work is there" {
  word=garth-orphan-$$-$RANDOM
  for b in "${backends[@]}"; do
    "$garth" run -d -t t-$b --backend $b -- sh -c "echo work >work; git add work; git commit -qm work; echo more >more; touch ready
      setsid python3 -c 'import time; time.sleep(1000)' $word & exec sleep 1000"
    eventually inside t-$b 'test -e ready'
    eventually alive "$word"
    kill -9 "$(keeper_of t-$b)"
    eventually not alive "$word"
    eventually is_state t-$b interrupted
    [[ $(inside t-$b 'cat work more; git log -1 --format=%s; git status --porcelain; git fsck --strict --no-dangling 2>/dev/null') == $'work\nmore\nwork\n?? more\n?? ready' ]]
    [[ $(state_of t-$b) == interrupted ]]
    fails 4 "only copy" "$garth" discard t-$b
    fails 4 "is not running, it is interrupted" "$garth" attach t-$b
  done
  "$garth" log t-overlay
}

@test "ESCAPES 23 crash: kill -9 of the keeper ends the client that waits, with one clear line" {
  "$garth" run -t t -- sh -c 'echo ready; exec sleep 1000' >"$T/o" 2>"$T/e" </dev/null 3>&- &
  pid=$!
  eventually grep -q ready "$T/o"
  kill -9 "$(keeper_of t)"
  code=0
  wait $pid || code=$?
  [[ $code != 0 ]] || {
    cat "$T/e"
    false
  }
  [[ $code -lt 128 ]] || {
    cat "$T/e"
    false
  }
  [[ $(wc -l <"$T/e") -le 2 ]] || {
    cat "$T/e"
    false
  }
  [[ $(<"$T/e") == '✗ '* ]] || {
    cat "$T/e"
    false
  }
}

@test "ESCAPES 23 crash: kill -9 of garth run: the task runs to its end" {
  "$garth" run -t t -- sh -c 'echo ready; until test -e go; do sleep 0.05; done; echo finished; exit 3' >"$T/o" 2>&1 </dev/null 3>&- &
  pid=$!
  eventually grep -q ready "$T/o"
  kill -9 $pid; wait $pid || true
  [[ $(state_of t) == running ]]
  inside t 'touch go' || true
  eventually is_state t failed
  [[ $(field t exit_code) == 3 ]]
  "$garth" log t | grep -q finished
}

@test "ESCAPES 23 crash: kill -9 of garth exec ends its command, not the task" {
  word=garth-execd-$$-$RANDOM
  "$garth" run -d -t t -- sleep 1000
  "$garth" exec t -- python3 -c 'import time; print("ready", flush=True); time.sleep(1000)' "$word" >"$T/o" 2>&1 </dev/null 3>&- &
  pid=$!
  eventually grep -q ready "$T/o"
  kill -9 $pid; wait $pid || true
  eventually not alive "$word"
  [[ $(state_of t) == running ]]
  "$garth" cancel t
}

@test "ESCAPES 23 crash: an agent that is killed has an exit code" {
  word=garth-agent-$$-$RANDOM
  "$garth" run -t t -- python3 -c 'import time; print("ready", flush=True); time.sleep(1000)' "$word" >"$T/o" 2>&1 </dev/null 3>&- &
  pid=$!
  eventually grep -q ready "$T/o"
  inside t 'for p in /proc/[0-9]*; do if grep -qzs "^'"$word"'" $p/cmdline && ! grep -qzs "^sh" $p/cmdline; then kill -9 ${p#/proc/}; fi; done' || true
  code=0
  wait $pid || code=$?
  [[ $code == 137 ]]
  [[ $(state_of t) == failed ]]
}

@test "ESCAPES 25 crash: if a discard and execs run at once, one of them succeeds and nothing is left half done" {
  "$garth" new t; inside t 'echo work >work'
  for i in 1 2 3 4; do "$garth" exec t -- sh -c 'cat work' >"$T/o$i" 2>&1 </dev/null 3>&- & done
  call "$garth" discard t
  wait
  [[ $code == 4 || $code == 1 ]] || complain
  for i in 1 2 3 4; do [[ $(<"$T/o$i") == work ]] || { cat "$T/o$i"; false; }; done
  for i in 1 2 3 4; do "$garth" exec t -- true >"$T/o$i" 2>&1 </dev/null 3>&- & done
  call "$garth" discard -fD t
  wait || true
  [[ $(cat "$T"/o? | grep -vc '^✗ ') == 0 ]] || { cat "$T"/o?; false; }
  if [[ $code == 0 ]]; then fails 3 "there is no task" "$garth" show t; else [[ $(inside t cat work) == work ]]; fi
}

@test "ESCAPES 28 crash: the worktree is deleted while a task runs, and while it does not" {
  "$garth" run -d -t t --backend worktree -- sh -c 'touch ready; exec sleep 1000'
  w=$("$garth" path t)
  eventually test -e "$w/ready"
  rm -rf "$w"
  for c in "ls" "show t" "diff t" "exec t -- pwd" "log t" "export t $T/x"; do
    call timeout 30 "$garth" $c
    [[ $code -lt 128 ]] || complain "$c"
    [[ $(grep -c . <<<"$err") -le 3 ]] || complain "$c"
  done
  "$garth" cancel t
  for c in "exec t -- true:3" "diff t:3" "export t $T/y:3"; do fails "${c##*:}" "worktree" "$garth" ${c%:*}; done
  call "$garth" discard -fD t
  [[ $code == 0 ]] || complain
  sound
}

@test "ESCAPES 28 crash: a task's directory is deleted while it runs" {
  "$garth" run -d -t t -- sh -c 'touch ready; exec sleep 1000'
  eventually inside t 'test -e ready'
  pid=$(keeper_of t)
  wipe "$(task_dir t)"
  for c in "ls" "show t" "diff t" "log t" "exec t -- true" "export t $T/x" "doctor"; do
    call timeout 30 "$garth" $c
    [[ $code -lt 126 ]] || complain "$c"
    [[ $(grep -c . <<<"$err") -le 3 ]] || complain "$c"
  done
  kill -TERM "$pid" 2>/dev/null || true
  eventually not test -e "/proc/$pid/fd/0" || kill -9 "$pid"
  call "$garth" discard -fD t
  [[ $code == 0 ]] || complain
}

@test "ESCAPES 28 crash: the Garth home is deleted while an agent works" {
  "$garth" run -t t -- sh -c 'echo ready; while ! test -e /tmp/go; do sleep 0.05; echo x >>f || true; done; exit 5' >"$T/o" 2>"$T/e" </dev/null 3>&- &
  pid=$!
  eventually grep -q ready "$T/o"
  keeper=$(keeper_of t)
  wipe "$GARTH_HOME" || wipe "$GARTH_HOME"
  for c in "ls" "show t" "diff t" "exec t -- true" "cancel t" "discard t"; do
    call timeout 30 "$garth" $c
    [[ $code -lt 126 ]] || complain "$c"
    [[ $(grep -c . <<<"$err") -le 2 ]] || complain "$c"
  done
  kill -TERM $pid
  code=0; wait $pid || code=$?
  eventually not test -e "/proc/$keeper/fd/0"
  ! grep -qiE 'segmentation|AddressSanitizer|runtime error' "$T/e" || { cat "$T/e"; false; }
  fingerprint >/dev/null; git fsck --strict
  # only the branch of the lost task is left; the user can go on
  git branch -D -q garth/t
  "$garth" new t; inside t true
}

@test "ESCAPES 27 crash: the project is moved while a task runs, and back" {
  "$garth" run -d -t t -- sleep 1000
  mv "$R" "$R.moved"; cd "$R.moved"
  [[ $("$garth" exec t -- cat a.txt) == one ]]
  call "$garth" diff t
  [[ $code == 0 || $(grep -c '^✗ ' <<<"$err") == 1 ]] || complain
  "$garth" cancel t
  mv "$R.moved" "$R"; cd "$R"
  [[ $(inside t 'cat a.txt; git status --porcelain') == one ]]
}


@test "ESCAPES 25 settle: what another command has finished meanwhile is left alone" {
  local making looking
  GARTH_FAULT=stop:create-reserved "$garth" new t >"$T/new" 2>&1 3>&- & making=$!
  if has_faults; then
    eventually stopped "$making"
    GARTH_FAULT=stop:settle "$garth" ls >"$T/ls" 2>&1 3>&- & looking=$!
    eventually stopped "$looking"
    kill -CONT "$making"; wait "$making"
    kill -CONT "$looking"; wait "$looking"
  else
    wait "$making"
  fi
  [[ $(state_of t) == created ]]
  "$garth" exec t -- git status
  "$garth" discard t
}

@test "ESCAPES 23 crash: lock files that a killed git left do not block the task; those of a running git stay" {
  for b in overlay worktree clone; do
    "$garth" new t --backend $b
    inside t 'd=$(git rev-parse --git-dir); mkdir -p $d/refs/heads/garth; touch $d/HEAD.lock $d/index.lock $d/config.lock $d/packed-refs.lock $d/refs/heads/garth/t.lock $d/refs/heads/main.lock; git commit -q --allow-empty -m x && exit 1; true' 2>/dev/null
    inside t 'echo 1 >one; git add one; git commit -qm one'
    [[ $(git show garth/t:one) == 1 ]]; "$garth" sync t; "$garth" discard -fD t
  done
  # a symbolic link in the way leads nowhere
  "$garth" new t; mkdir -p "$T/open/garth"; : >"$T/open/garth/t.lock"
  inside t "rm -rf .git/refs/heads/garth; ln -s $T/open/garth .git/refs/heads/garth"; inside t true; [[ -e $T/open/garth/t.lock ]]
}

# A git that is killed leaves its locks, and then every git fails.
@test "ESCAPES 23 crash: if the whole process group is killed, git ends its transaction and leaves no lock" {
  "$garth" new t; inside t 'echo x >x; git add x; git commit -qm x'
  git config core.packedRefsTimeout 60000; : >.git/packed-refs.lock
  setsid "$garth" discard -fD t >"$T/out" 2>&1 3>&- &
  pid=$!
  # git has the lock of the branch and waits for the one of all
  eventually test -e .git/refs/heads/garth/t.lock
  kill -9 -- -$pid; wait $pid || true
  rm .git/packed-refs.lock
  no_lock() { [[ -z $(find .git -name '*.lock') ]]; }
  eventually no_lock
  "$garth" doctor --repair
  [[ -z $(git for-each-ref refs/heads/garth) ]]
}

@test "crash: a lock that another git left is named" {
  "$garth" new t; inside t 'echo x >x; git add x; git commit -qm x'
  git config core.packedRefsTimeout 0; : >.git/packed-refs.lock
  fails 1 "Unable to create '$R/.git/packed-refs.lock': File exists" "$garth" discard -fD t
  rm .git/packed-refs.lock
  # the next command ends the discard
  "$garth" ls
  [[ -z $(git for-each-ref refs/heads/garth) ]]
}
