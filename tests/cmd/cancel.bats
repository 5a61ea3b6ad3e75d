load helpers

@test "ESCAPES 25 cancel: cancels a task that is just being started" {
  for i in 1 2 3 4 5; do
    "$garth" run -q -d -t c$i -- sleep 50 >/dev/null 3>&- &
    until call "$garth" cancel c$i; [[ $code != 3 && $err != *'is not running, it is creat'* ]]; do sleep 0.002; done
    [[ $code == 0 ]] || complain; wait
    [[ $(state_of c$i) == cancelled ]] || complain "$(state_of c$i)"
  done
}

@test "T1 cancel: stops a running task, keeps its workspace" {
  word=garth-cancelled-$$-$RANDOM
  "$garth" run -d -t t -- sh -c "echo work >work; trap '' TERM INT HUP; echo on; python3 -c 'import time; time.sleep(1000)' $word"
  eventually alive "$word"
  call timeout 30 "$garth" cancel t
  says "task 't' is cancelled; its workspace is kept"
  [[ -z $out ]] || complain
  [[ $(state_of t) == cancelled ]]
  [[ $(inside t cat work) == work ]]
  eventually not alive "$word"
  changes_nothing 4 "task 't' is not running, it is cancelled" "$garth" cancel t
}

@test "T1 cancel: a task that does not run is refused" {
  "$garth" new t
  changes_nothing 4 "task 't' is not running, it is created" "$garth" cancel t
}

@test "T1 cancel: a client that waits for the task is told" {
  "$garth" run -t t -- sh -c 'echo ready; exec sleep 1000' >"$T/o" 2>"$T/e" 3>&- &
  pid=$!
  eventually grep -q ready "$T/o"
  "$garth" cancel t
  code=0
  wait $pid || code=$?
  [[ $code != 0 ]]
  [[ $(state_of t) == cancelled ]]
}

@test "T1 ESCAPES 25 cancel: two cancels of one task at once" {
  "$garth" run -d -t t -- sleep 1000
  "$garth" cancel t >"$T/a" 2>&1 3>&- & a=$!
  "$garth" cancel t >"$T/b" 2>&1 3>&- & b=$!
  ca=0; wait $a || ca=$?; cb=0; wait $b || cb=$?
  [[ $ca == 0 || $cb == 0 ]]
  [[ $(state_of t) == cancelled ]]
  [[ $(cat "$T/a" "$T/b" | grep -vcE "^(✗ |✓ task 't' is cancelled)") == 0 ]]
}

@test "T1 cancel: a cancelled task can be used again, and discarded" {
  "$garth" run -d -t t -- sleep 1000
  "$garth" cancel t
  inside t true
  "$garth" discard t
  fails 3 "there is no task 't'" "$garth" show t
}
