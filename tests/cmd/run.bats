load helpers

@test "T1 run: makes a task, runs the command in it, returns its exit code" {
  fingerprint >"$T/before"
  call "$garth" run -t t -- sh -c 'cat a.txt; echo to-stderr >&2; exit 7'
  [[ $code == 7 ]] || complain
  [[ $out == one ]] || complain
  [[ $err == $'to-stderr\n✗ task \'t\' failed: exit code 7\n↳ garth diff t' ]] || complain
  [[ $(state_of t) == failed ]]
  [[ $(field t exit_code) == 7 ]]
  fingerprint | diff "$T/before" -
  call "$garth" run -t u true
  says "task 'u' is done"
  [[ $(state_of u) == done ]] || complain
}

@test "T2 run: uncommitted changes fail a task whose command succeeded, are named, and stay" {
  fingerprint >"$T/before"
  for b in "${backends[@]}"; do
    call "$garth" run -t t-$b --backend $b -- sh -c 'cat a.txt; echo x >>a.txt; echo new >new; rm dir/b.txt; touch x.o'
    [[ $code == 1 ]] || complain
    [[ $out == one ]] || complain
    [[ $err == "✗ task 't-$b' failed: 3 uncommitted files"$'\n  a.txt\n  dir/b.txt\n  new\n↳ garth diff t-'"$b" ]] || complain
    [[ $(hint) == "garth diff t-$b" ]] || complain
    [[ $(state_of t-$b) == failed ]]
    [[ $(field t-$b exit_code) == 0 ]]
    [[ $(field t-$b note) == "3 uncommitted files: a.txt, dir/b.txt, new" ]]
    [[ $(inside t-$b 'git status --porcelain' | paste -sd,) == ' M a.txt, D dir/b.txt,?? new' ]]
    # staged files are not committed either, and a commit is kept although the command failed after it
    call "$garth" run -t s-$b --backend $b -- sh -c 'echo x >>a.txt; git commit -qam x; echo y >>a.txt; git add a.txt'
    [[ $code == 1 ]] || complain
    [[ $err == *$'uncommitted file\n  a.txt'* ]] || complain
    [[ $(git show garth/s-$b:a.txt | tail -n1) == x ]] || complain
    # the command's own exit code is passed on
    call "$garth" run -t c-$b --backend $b -- sh -c 'echo new >new; exit 7'
    [[ $code == 7 ]] || complain
    [[ $err == *$'uncommitted file\n  new'* ]] || complain
    [[ $(field c-$b exit_code) == 7 ]] || complain
    # ignored files, and files that are back as they were, are no reason to fail
    call "$garth" run -t i-$b --backend $b -- sh -c 'touch x.o; mkdir ignored; echo >ignored/x; cp a.txt b; mv b a.txt; echo w >w; rm w'
    says "task 'i-$b' is done"
    [[ $(state_of i-$b) == done ]] || complain
    [[ $(field i-$b note) == null ]] || complain
  done
  fingerprint | diff "$T/before" -
}

@test "T2 run: --on-dirty keep and commit" {
  for b in "${backends[@]}"; do
    call "$garth" run -t k-$b --backend $b --on-dirty keep -- sh -c 'echo new >new'
    says "task 'k-$b' is done: 1 uncommitted file"$'\n  new'
    [[ $(state_of k-$b) == done ]] || complain
    [[ $(inside k-$b 'git status --porcelain') == '?? new' ]] || complain
    call "$garth" run -t c-$b --backend $b --on-dirty commit -- sh -c 'echo x >>a.txt; git commit -qam mine; echo new >new; rm dir/b.txt; touch x.o'
    [[ $code == 0 ]] || complain
    [[ $(state_of c-$b) == done ]] || complain
    [[ -z $(inside c-$b 'git status --porcelain') ]]
    [[ $(inside c-$b 'git log --format=%s | wc -l') == 3 ]]
    [[ $(git diff --name-status main garth/c-$b | paste -sd' ') == $'M\ta.txt D\tdir/b.txt A\tnew' ]] || complain "$(git diff --name-status main garth/c-$b)"
    call "$garth" run -t n-$b --backend $b --on-dirty commit -- true
    [[ $code == 0 ]] || complain
    [[ $(git rev-parse garth/n-$b) == "$(git rev-parse main)" ]] || complain
  done
  changes_nothing 2 "--on-dirty is fail, commit or keep, not 'x'" "$garth" run -t x --on-dirty x -- true
  git fsck --strict
}

@test "T1 run: names itself after the program" {
  "$garth" run -- true; "$garth" run -- /bin/true; "$garth" run -- sh -c :
  git branch garth/true-3
  "$garth" run -- true
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["true-1", "true-2", "sh-1", "true-4"]' ]]
}

@test "T8 run: a megabyte through stdin and stdout, byte for byte" {
  head -c 1048576 /dev/urandom >"$T/in"
  "$garth" run -qt t -- cat <"$T/in" >"$T/got" 2>"$T/err"
  cmp "$T/in" "$T/got"
  [[ ! -s $T/err ]]
  "$garth" exec t -- sh -c 'cat >&2' <"$T/in" >"$T/got" 2>"$T/err"
  cmp "$T/in" "$T/err"
  [[ ! -s $T/got ]]
  # the log has the run's output too
  "$garth" log t | cmp "$T/in" -
}

@test "T8 run: stdin from a pipe, closed, empty, and not read" {
  [[ $(printf 'a\nb\n' | "$garth" run -t t -- sh -c 'read x; echo $x; cat') == $'a\nb' ]]
  [[ $("$garth" exec t -- cat </dev/null) == "" ]]
  [[ $("$garth" exec t -- cat <&-) == "" ]]
  head -c 3000000 /dev/zero | "$garth" exec t -- true
  [[ $(yes | "$garth" exec t -- head -n 2) == $'y\ny' ]]
}

@test "T8 run: if its reader goes away, a writer inside ends" {
  call bash -c '"$0" run -t t -- sh -c "yes; echo \$? >ended" | head -n 1' "$garth"
  [[ $out == y ]] || complain
  eventually not is_state t running
  [[ $(inside t cat ended) == 141 ]]
}

@test "O3 run: 126 and 127 for what cannot be executed, 128 and the signal for what was killed" {
  "$garth" new a
  call "$garth" exec a -- nosuch-program
  [[ $code == 127 ]] || complain
  [[ -z $out ]] || complain
  [[ $err == *nosuch-program* ]] || complain
  call "$garth" run -t b -- ./a.txt
  [[ $code == 126 ]] || complain
  [[ -z $out ]] || complain
  [[ $err == *a.txt* ]] || complain
  call "$garth" run -t c -- ./dir
  [[ $code == 126 || $code == 127 ]] || complain
  call "$garth" run -t d -- sh -c 'kill -9 $$'
  [[ $code == 137 ]] || complain
  call "$garth" run -t e -- sh -c 'kill -TERM $$'
  [[ $code == 143 ]] || complain
  call "$garth" run -t f -- sh -c 'exit 255'
  [[ $code == 255 ]] || complain
  for t in b c d e f; do [[ $(state_of $t) == failed ]]; done
}

@test "T8 run: signals are passed on" {
  for sig in INT:130 TERM:143 HUP:129 QUIT:131 USR1:138 USR2:140; do
    name=t-$(tr A-Z a-z <<<"${sig%:*}")
    : >"$T/o"
    "$garth" run -t "$name" -- sh -c 'echo ready; exec sleep 60' >"$T/o" 2>&1 3>&- &
    pid=$!
    eventually grep -q ready "$T/o"
    kill -"${sig%:*}" $pid
    code=0; wait $pid || code=$?
    [[ $code == "${sig#*:}" ]] || complain "$sig"
  done
  : >"$T/o"
  "$garth" run -t h -- sh -c 'trap "echo caught; exit 9" TERM; echo ready; while :; do sleep 0.05; done' >"$T/o" 3>&- &
  pid=$!
  eventually grep -q ready "$T/o"
  kill -TERM $pid
  code=0
  wait $pid || code=$?
  [[ $code == 9 ]] || complain
  [[ $(<"$T/o") == $'ready\ncaught' ]] || complain
}

@test "J6 run: the environment is an allow-list" {
  call env SECRET=s3cret AWS_SECRET_ACCESS_KEY=k SSH_AUTH_SOCK=/x LD_LIBRARY_PATH=/x BASH_ENV=/x GIT_DIR=/x GIT_SSH=/x \
    PYTHONPATH=/x DBUS_SESSION_BUS_ADDRESS=x ANTHROPIC_API_KEY=k XDG_RUNTIME_DIR=/x LC_TIME=C TZ=UTC "$garth" run -t t -- env
  [[ $code == 0 ]] || complain
  for v in SECRET AWS_SECRET_ACCESS_KEY SSH_AUTH_SOCK LD_LIBRARY_PATH BASH_ENV GIT_DIR GIT_SSH PYTHONPATH \
    DBUS_SESSION_BUS_ADDRESS ANTHROPIC_API_KEY XDG_RUNTIME_DIR GARTH_HOME XDG_CONFIG_HOME; do
    ! grep -q "^$v=" <<<"$out" || complain "$v leaked"
  done
  for v in LC_TIME=C TZ=UTC "HOME=$HOME" GARTH_TASK=t TMPDIR=/tmp "GARTH_WORKSPACE=$R"; do
    grep -qx "$v" <<<"$out" || complain "no $v"
  done
}

@test "J6 run: -e passes a variable in, by value or by name" {
  call env FOO=foo BAR=bar "$garth" run -t t -e FOO -e X=1 -e Y= -e 'Z=a b=c' -e NOSUCH -- sh -c 'echo "$FOO,$BAR,$X,${Y-unset},$Z,${NOSUCH-unset}"'
  [[ $out == foo,,1,,a\ b=c,unset ]] || complain
  [[ $(FOO=foo "$garth" exec -e FOO t -- sh -c 'echo $FOO') == foo ]]
  # variables that Garth sets inside cannot be changed
  [[ $("$garth" exec -e HOME=/root -e GARTH_TASK=x t -- sh -c 'echo $HOME $GARTH_TASK') == "$HOME t" ]]
}

@test "J6 run: the home is the task's own, and stays" {
  echo secret >"$HOME/.netrc"; mkdir -p "$HOME/.ssh"; echo key >"$HOME/.ssh/id"
  "$garth" new t; "$garth" new u
  [[ $(inside t 'ls -A ~; cat ~/.netrc ~/.ssh/id 2>/dev/null' || true) == src ]]
  local x=/tmp/x-${T##*/}
  inside t "echo mine >~/.rc; echo tmp >$x"
  [[ $(inside t "cat ~/.rc $x") == $'mine\ntmp' ]]
  [[ ! -e $HOME/.rc ]]
  [[ ! -e $x ]]
  call inside u "cat ~/.rc $x"
  [[ $code != 0 ]] || complain
  [[ -z $out ]] || complain
}

@test "J6 run: tool directories of the home are visible, read-only, and in the PATH" {
  mkdir -p "$HOME/.volta/bin" "$HOME/.cargo/bin"
  printf '#!/bin/sh\necho tool $1\n' >"$HOME/.volta/bin/mytool"; chmod +x "$HOME/.volta/bin/mytool"
  echo token >"$HOME/.cargo/credentials.toml"
  PATH=$HOME/.volta/bin:$PATH "$garth" run -t t -- mytool works | grep -x 'tool works'
  call inside t 'echo x >~/.volta/bin/mytool'
  [[ $code != 0 ]] || complain
  call inside t 'rm -f ~/.volta/bin/mytool; touch ~/.volta/bin/new'
  [[ $code != 0 ]] || complain
  call inside t 'cat ~/.cargo/credentials.toml'
  [[ $code != 0 ]] || complain
  [[ -z $out ]] || complain
  [[ $("$HOME/.volta/bin/mytool" x) == "tool x" ]]
  [[ $(ls "$HOME/.volta/bin") == mytool ]]
}

@test "T1 run: -d prints the name at once and the task keeps running" {
  call timeout 20 "$garth" run -d -t t -- sh -c 'echo begun; until test -e go; do sleep 0.05; done; echo over; exit 4'
  [[ $code == 0 ]] || complain
  [[ $out == t ]] || complain
  [[ $(state_of t) == running ]]
  [[ $(field t exit_code) == null ]]
  eventually bash -c '"$0" log t | grep -q begun' "$garth"
  inside t 'touch go' || true
  eventually is_state t failed
  [[ $(field t exit_code) == 4 ]]
  "$garth" log t | tr -d '\r' | grep -x over
}

@test "O3 run: -d on a terminal prints lines without empty ones between them" {
  NO_COLOR=1 terminals <<'PY'
t = garth("run", "-d", "-t", "t", "--", "sleep", "1000")
assert t.wait() == 0
assert t.text.split("\r\n") == ["○ task 't' (overlay, network allow)", "t", "○ task 't' is running", "↳ garth attach t", ""], t.text
PY
}

@test "T1 run: -d reports what cannot be started" {
  call "$garth" run -d -t t -- ./a.txt
  [[ $code == 126 ]] || complain
  [[ $err == *a.txt* ]] || complain
  [[ $(state_of t) == failed ]]
}

# program NAME DIR: an executable file that prints "hi".
program() { mkdir -p "$2"; printf '#!/bin/sh\necho hi\n' >"$2/$1"; chmod +x "$2/$1"; }

@test "T1 run: a program that is not installed is an error before a task is made" {
  changes_nothing 127 "there is no program 'clod'" "$garth" run -- clod
  changes_nothing 127 "there is no program 'claud' (is 'claude' meant?)" "$garth" run -d -- claud
  call "$garth" run -- goose
  [[ $err == "✗ there is no program 'goose'" ]] || complain
  changes_nothing 127 "there is no program '/nowhere/x'" "$garth" run -- /nowhere/x
  changes_nothing 127 "there is no program './x'" "$garth" run --empty -- ./x
  changes_nothing 127 'garth run "fix the login"' "$garth" run fix the login
  [[ $("$garth" ls --json | json 'd["tasks"]') == '[]' ]]
  call "$garth" run --json -- clod
  [[ $(json 'd["error"]["code"]' <<<"$out") == no_program ]] || complain
}

@test "T1 run: a program where a task does not see it is named with the line of configuration that shows it" {
  program mine "$HOME/stuff/bin"; program other "$T/srv/tools"; program linked "$HOME/.local/lib/x"
  ln -s ../stuff/bin/mine "$HOME/.local/theirs"; mkdir -p "$HOME/.local/bin"; ln -s "$HOME/stuff/bin/mine" "$HOME/.local/bin/theirs"
  export PATH=$PATH:$HOME/stuff/bin:$T/srv/tools:$HOME/.local/bin
  changes_nothing 127 "jail: {tools: [stuff/bin]}    # in $XDG_CONFIG_HOME/garth/config.yaml" "$garth" run -- mine
  changes_nothing 127 "jail: {tools: [stuff/bin]}" "$garth" run -- "$HOME/stuff/bin/mine"
  changes_nothing 127 "jail: {tools: [stuff/bin]}" "$garth" run -- theirs
  changes_nothing 127 "jail: {allow_read: [$T/srv/tools]}" "$garth" run -- other
  echo 'jail: {tools: [stuff/bin]}' | configure
  [[ $("$garth" run -t a -- mine) == hi ]]
  [[ $("$garth" run -t b -- theirs) == hi ]]
  echo "jail: {allow_read: [$T/srv/tools]}" | configure
  [[ $("$garth" run -t c -- other) == hi ]]
  [[ $("$garth" run -t d -- "$T/srv/tools/other") == hi ]]
  # in a cache, in a writable place, and denied by a rule
  echo "jail: {caches: {~/stuff: task}, allow_write: [$T/srv/tools]}" | configure
  [[ $("$garth" run -t e -- mine) == hi ]]
  [[ $("$garth" run -t f -- other) == hi ]]
  echo "jail: {allow_read: [$T/srv/tools], deny_read: [$T/srv/tools/other]}" | configure
  changes_nothing 127 "which jail.deny_read '$T/srv/tools/other'" "$garth" run -- other
}

@test "T1 run: a tool directory that is a link shows its programs" {
  program moved "$T/elsewhere/bin"; ln -s "$T/elsewhere" "$HOME/.nvm"
  export PATH=$PATH:$HOME/.nvm/bin
  [[ $("$garth" run -- moved) == hi ]]
}

@test "T1 run: a path is looked up in the base commit, not in the checkout" {
  [[ $("$garth" run -t a -- ./run.sh) == run ]]
  [[ $(cd dir && "$garth" run -t b -- ../run.sh) == run ]]
  [[ $("$garth" run -t c -- "$R/run.sh") == run ]]
  git rm -q --cached run.sh; git commit -qm gone
  changes_nothing 127 "'run.sh' is not committed" "$garth" run -- ./run.sh
  changes_nothing 127 "'run.sh' is not committed" "$garth" run -- "$R/run.sh"
  changes_nothing 127 "there is no file 'dir/run.sh' in commit" "$garth" run --cwd dir -- ./run.sh
  [[ $("$garth" run -t d --base HEAD~ -- ./run.sh) == run ]]
  [[ $("$garth" run -t e --with-changes --on-dirty keep -- ./run.sh) == run ]]
  # a path behind a link is looked up inside, not here
  ln -s dir ways; cp run.sh dir/; git add ways dir; git commit -qm ways
  [[ $("$garth" run -t f -- ways/run.sh) == run ]]
}

@test "T1 run: starts in the directory that it was called from, with each backend, and says if there is none" {
  cd dir/sub
  for b in "${backends[@]}"; do
    [[ $("$garth" run -t "$b" --backend "$b" -- sh -c 'pwd; cat c.txt') == *"/dir/sub"$'\n'three ]] || complain
  done
  mkdir new; cd new
  call "$garth" run -t n -- cat a.txt
  [[ $out == one ]] || complain
  [[ $err == *"has no directory 'dir/sub/new': the task starts in its top directory"* ]] || complain
  echo x >file
  [[ $("$garth" run -t w --with-changes --on-dirty keep -- cat file) == x ]]
  git -C "$R" worktree add -q "$T/other"; cd "$T/other/dir"
  [[ $("$garth" run -t o -- cat b.txt) == two ]]
  cd /
  [[ $("$garth" run -t e --empty -- sh -c '[ "$PWD" = "$GARTH_WORKSPACE" ] && echo top') == top ]]
}

@test "T1 run: --cwd names a directory of the project, and leads nowhere else" {
  ln -s /etc out; ln -s dir way; git add -A; git commit -qm links
  [[ $("$garth" run -t a --cwd dir/sub -- cat c.txt) == three ]]
  [[ $("$garth" run -t b --cwd "$R/dir" -- cat b.txt) == two ]]
  [[ $(cd dir/sub && "$garth" run -t c --cwd .. -- cat b.txt) == two ]]
  [[ $(cd dir && "$garth" run -t d --cwd ../dir/./sub/.. -- cat b.txt) == two ]]
  changes_nothing 2 "'..' is not in the project" "$garth" run --cwd .. -- true
  changes_nothing 2 "is not in the project" "$garth" run --cwd dir/../../x -- true
  changes_nothing 2 "'/etc' is not in the project" "$garth" run --cwd /etc -- true
  changes_nothing 2 "'out' is not in the project" "$garth" run --cwd out -- true
  changes_nothing 2 "'.git' is not in the project" "$garth" run --cwd .git -- true
  changes_nothing 3 "there is no directory 'nope'" "$garth" run --cwd nope -- true
  changes_nothing 3 "there is no directory 'a.txt'" "$garth" run --cwd a.txt -- true
  changes_nothing 2 "leave --cwd out" "$garth" run --empty --cwd dir -- true
  rm out way; mkdir out way
  changes_nothing 2 "'out' is a symbolic link" "$garth" run --cwd out -- true
  changes_nothing 2 "leads through one" "$garth" run --cwd way/sub -- true
  git checkout -q out way
}

@test "T4 run: a resumed task starts in its directory again, at the top if that is gone; a planted link stays inside" {
  call "$garth" run -t t --cwd dir/sub -- sh -c 'pwd; [ -z "$GARTH_ANSWER" ] || exit 0; echo "Go on?" >"$GARTH_QUESTION_FILE"'
  [[ $out == */dir/sub ]] || complain
  call "$garth" answer t yes
  [[ $out == */dir/sub ]] || complain
  inside t 'rm -rf dir'
  call "$garth" resume t
  [[ $out == "$R" ]] || complain
  [[ $err == *"there is no directory '$R/dir/sub' in the task"* ]] || complain
  # the link leads to a directory that only the host has
  mkdir "$HOME/secret"; echo key >"$HOME/secret/key"
  inside t "ln -s '$HOME' dir; mkdir -p dir/sub"
  call "$garth" resume t
  [[ $out == "$HOME/sub" ]] || complain
  [[ ! -e $HOME/sub ]]
  call "$garth" exec t -- cat "$R/dir/secret/key"
  [[ $code != 0 ]] || complain
}

@test "T5 run: --timeout ends the command; a wrong time makes no task" {
  call timeout 20 "$garth" run -t t --timeout 1s -- sleep 30
  [[ $code == 143 ]] || complain
  [[ $err == *"task 't' failed: stopped when its time was up"* ]] || complain
  for time in 0 x 1w -1 ''; do changes_nothing 2 "--timeout must be a time above 0" "$garth" run --timeout "$time" -- true; done
}

@test "L1 run: --limit sets limits of the task, which stay" {
  "$garth" run -t t --limit max_files=3 --limit max_commits=2 --limit max_files=4 -- true
  "$garth" show t | grep -F '0 of 4 files, 0 of 2 commits'
  "$garth" resume t --limit max_commits=5
  "$garth" show t | grep -F '0 of 4 files, 0 of 5 commits'
  [[ $("$garth" run -t o --limit max_open_files=77 -- sh -c 'ulimit -n') == 77 ]]
  changes_nothing 2 "unknown key 'limits.max_fils' (is 'max_files' meant?)" "$garth" run --limit max_fils=3 -- true
  [[ $(hint) == 'man garth-config' ]]
  changes_nothing 2 "a limit is given as NAME=VALUE" "$garth" run --limit max_files -- true
  changes_nothing 2 "a limit is given as NAME=VALUE" "$garth" run --limit 'max_files=3 #' -- true
}

@test "J9 run: everything inside dies with the task, whatever it tried" {
  word=garth-survivor-$$-$RANDOM
  "$garth" run -t t -- sh -c "
    setsid sh -c 'trap \"\" HUP TERM INT; exec -a x sleep 1000' $word-a >/dev/null 2>&1 &
    (setsid python3 -c 'import os,signal,time,sys
for s in (1,2,15): signal.signal(s, signal.SIG_IGN)
if os.fork(): os._exit(0)
os.setsid()
time.sleep(1000)' $word-b </dev/null >/dev/null 2>&1 &)
    nohup sleep 1000 $word-c 2>/dev/null & sleep 0.3; true"
  eventually not alive "$word"
  [[ $(state_of t) == done ]]
}

@test "J9 run: control: without a jail such a process survives" {
  word=garth-survivor-$$-$RANDOM
  sh -c "setsid python3 -c 'import time; time.sleep(30)' $word >/dev/null 2>&1 3>&- &"
  eventually alive "$word"
  for p in /proc/[0-9]*; do
    if grep -qzsx -- "$word" "$p/cmdline"; then kill -9 "${p#/proc/}"; fi
  done
  eventually not alive "$word"
}

@test "O3 run: with -q and without a terminal Garth prints nothing on stderr" {
  call "$garth" run -q -t t -- sh -c 'echo out; echo err >&2'
  [[ $out == out ]] || complain
  [[ $err == err ]] || complain
}

@test "J2 run: --net none has only loopback, --net host the host's network" {
  [[ $("$garth" run -t t -- sh -c 'cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d " "') == lo ]]
  host=$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort)
  [[ $("$garth" run --net host -t u -- sh -c 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "' | sort) == "$host" ]]
}

@test "T1 run: a task's command can be run again under the name only by exec" {
  "$garth" run -t t -- true
  changes_nothing 1 "there is a task 't' already" "$garth" run -t t -- true
  [[ $(hint) == 'garth exec t -- ...' ]] || complain
}

@test "O3 run: a word that looks like an option belongs to the command" {
  [[ $("$garth" run -t t echo --net none -t x) == "--net none -t x" ]]
  [[ $("$garth" run -t u -- echo -- a) == "-- a" ]]
}

@test "T1 run: many arguments, large ones, and empty ones" {
  big=$(head -c 100000 /dev/zero | tr '\0' x)
  [[ $("$garth" run -t t -- sh -c 'echo ${#1} ${#2} $#' sh "$big" "" a b | tail -n1) == "100000 0 4" ]]
  [[ $("$garth" run -t u -- sh -c 'echo $#' sh $(seq 1 50000)) == 50000 ]]
}

@test "T8 J10 run: with pipes, /dev/stdin, /dev/stdout and /dev/stderr can be opened, in run and exec, as user and root" {
  script='cat /dev/stdin; echo out >/dev/stdout; echo err >/dev/stderr; echo fd >/proc/self/fd/1'
  for how in run exec; do
    words=(exec t); [[ $how == exec ]] || words=(run -q --task t)
    code=0
    echo in | "$garth" "${words[@]}" -- sh -c "$script" >"$T/out" 2>"$T/err" || code=$?
    [[ $code == 0 ]] || {
      cat "$T/out" "$T/err"
      false
    }
    [[ $(<"$T/out") == $'in\nout\nfd' ]] || {
      cat "$T/out" "$T/err"
      false
    }
    [[ $(<"$T/err") == err ]] || {
      cat "$T/out" "$T/err"
      false
    }
  done
  # a pipe at both ends is the same
  [[ $(echo in | "$garth" exec t -- sh -c "$script" 2>&1 | cat | sort | paste -sd,) == err,fd,in,out ]]
}
