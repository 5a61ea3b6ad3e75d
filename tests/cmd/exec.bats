load helpers

@test "T1 exec: runs in a stopped task, returns the exit code, and keeps the task's state" {
  "$garth" run -t t -- sh -c 'exit 2' || true
  call "$garth" exec t -- sh -c 'echo x >x; exit 5'
  [[ $code == 5 ]] || complain
  [[ -z $out ]] || complain
  [[ -z $err ]] || complain
  [[ $(state_of t) == failed ]]
  [[ $(field t exit_code) == 2 ]]
  [[ $(inside t cat x) == x ]]
}

@test "T1 exec: starts in the current directory of the project or of the workspace, else at the top" {
  "$garth" new o; "$garth" new --backend worktree w
  for t in o w; do [[ $(cd dir/sub && "$garth" exec $t -- cat c.txt) == three ]] || complain $t; done
  [[ $(cd "$("$garth" path w)/dir" && "$garth" exec w -- cat b.txt) == two ]]
  git worktree add -q "$T/other"
  [[ $(cd "$T/other/dir" && "$garth" exec o -- cat b.txt) == two ]]
  for d in / "$R/.git/refs" "$GARTH_HOME" "$("$garth" path w)/dir"; do
    cd "$d"
    call "$garth" exec app/o -- cat a.txt
    [[ $out == one ]] || complain "$d"
    [[ -z $err ]] || complain "$d"
  done
  mkdir "$R/new"; cd "$R/new"
  call "$garth" exec o -- cat a.txt
  [[ $out == one ]] || complain
  [[ $err == "garth: there is no directory '$R/new' in the task; this is its top directory" ]] || complain
  # another repository's directories are not this one's
  mkdir -p "$T/else/dir"; cd "$T/else/dir"; git init -q ..
  [[ $("$garth" exec app/o -- cat a.txt) == one ]]
}

@test "T1 exec: joins a running task: the same processes, /tmp and network" {
  "$garth" run -d -t t -- sh -c 'echo shared >/tmp/x; exec sleep 1000'
  eventually inside t 'test -e /tmp/x'
  [[ $(inside t 'cat /tmp/x; ls /proc | grep -c "^[0-9]"') != "" ]]
  inside t 'for p in /proc/[0-9]*; do tr "\0" " " <$p/cmdline; done' | grep -q 'sleep 1000'
  [[ $(state_of t) == running ]]
  "$garth" cancel t
}

@test "T1 exec: several at once, in a stopped and in a running task" {
  "$garth" new t
  for round in stopped running; do
    for i in {1..8}; do
      "$garth" exec t -- sh -c "echo $i; sleep 0.1; exit $i" >"$T/o$i" 2>"$T/e$i" </dev/null 3>&- &
      pids[i]=$!
    done
    for i in {1..8}; do
      code=0
      wait "${pids[i]}" || code=$?
      [[ $code == "$i" ]] || complain "$round $i: $(<"$T/e$i")"
      [[ $(<"$T/o$i") == "$i" ]] || complain "$round $i: $(<"$T/e$i")"
      [[ ! -s $T/e$i ]] || complain "$round $i: $(<"$T/e$i")"
    done
    [[ $round == running ]] || "$garth" run -d -t r -- sleep 1000
  done
}

@test "T1 exec: in a stopped task, its background processes end with it" {
  "$garth" new t
  word=garth-left-$$-$RANDOM
  inside t "setsid python3 -c 'import time; time.sleep(1000)' $word >/dev/null 2>&1 &"
  eventually not alive "$word"
}

@test "T1 exec: in the workspace, with the usual options and without --" {
  # a wrong one after the task's name is named as one before it is
  fails 2 "unknown option '--foo'" "$garth" exec t --foo
  [[ $(hint) == 'garth exec --help' ]]
  "$garth" new t
  [[ $("$garth" exec t pwd) == "$R" ]]
  [[ $("$garth" exec -e A=b t -- printenv A) == b ]]
  fails 2 "no command given" "$garth" exec t --
  [[ $(hint) == "garth shell t" ]]
  call "$garth" exec t -- nosuch-program
  [[ $code == 127 ]] || complain
  call "$garth" exec t -- ./a.txt
  [[ $code == 126 ]] || complain
}

@test "T8 exec: signals are passed on" {
  "$garth" new t
  "$garth" exec t -- sh -c 'echo ready; exec sleep 60' >"$T/o" 3>&- &
  pid=$!
  eventually grep -q ready "$T/o"
  kill -INT $pid
  code=0
  wait $pid || code=$?
  [[ $code == 130 ]]
}

@test "T1 exec: works from anywhere, even if the current directory is gone" {
  "$garth" new t
  [[ $(at / "$garth" exec t -- cat a.txt) == one ]]
  mv "$R" "$R.moved"
  call at / "$garth" exec t -- cat a.txt
  [[ $code != 0 ]] || complain
  [[ $(grep -c '^✗ ' <<<"$err") == 1 ]] || complain
  [[ $err == *"$R"* ]] || complain
  mv "$R.moved" "$R"
  [[ $(inside t cat a.txt) == one ]]
}

@test "J9 exec, snapshot: if no namespace can be made, both say so" {
  "$garth" new t
  fails 125 'cannot make namespaces' python3 "$BATS_TEST_DIRNAME/without-userns" "$garth" exec t -- true
  fails 125 'cannot make namespaces' python3 "$BATS_TEST_DIRNAME/without-userns" "$garth" snapshot t
}
