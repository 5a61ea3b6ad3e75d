load helpers

# Makes a task that runs until `go` is called for it, and then exits with a code.
start() { "$garth" run -q -d -t "$1" -- sh -c "until test -e /tmp/go; do sleep 0.02; done; exit $2" >/dev/null; }
go() { "$garth" exec "$1" -- touch /tmp/go || true; }

@test "wait: until the task has ended, with its exit code; a stopped one answers at once" {
  start t 3
  ("$garth" wait t >"$T/o" 2>"$T/e" </dev/null 3>&- || echo $? >"$T/c") &
  sleep 0.2
  [[ ! -e $T/c ]]
  go t
  timeout 20 tail --pid=$! -f /dev/null
  [[ $(<"$T/c") == 3 ]]
  [[ ! -s $T/o ]]
  [[ $(head -n1 "$T/e") == "✗ task 't' failed: exit code 3" ]]
  call timeout 10 "$garth" wait t
  [[ $code == 3 ]] || complain
  [[ $(hint) == 'garth log t' ]] || complain
  "$garth" new made
  call timeout 10 "$garth" wait made
  [[ $code == 0 ]] || complain
  "$garth" run -q -t dirty -- touch left || true
  call timeout 10 "$garth" wait dirty
  [[ $code == 1 ]] || complain
}

@test "wait: several tasks, the first code that is not 0 in the order given" {
  start a 0; start b 5; start c 7
  ("$garth" wait -q c a b a 2>/dev/null </dev/null 3>&- || echo $? >"$T/c") &
  go b; go c
  sleep 0.2
  [[ ! -e $T/c ]]
  go a
  timeout 20 tail --pid=$! -f /dev/null
  [[ $(<"$T/c") == 7 ]]
}

@test "wait: a question is 6, a killed keeper is 1, a cancelled task has its code" {
  "$garth" run -q -d -t q -- sh -c 'echo "{\"question\": \"Which?\"}" >question.json'
  call timeout 20 "$garth" wait q
  [[ $code == 6 ]] || complain
  [[ $(hint) == 'garth answer q "..."' ]] || complain
  "$garth" run -q -d -t k -- sleep 1000
  ("$garth" wait k 2>"$T/e" </dev/null 3>&- || echo $? >"$T/c") &
  kill -9 "$(keeper_of k)"
  timeout 20 tail --pid=$! -f /dev/null
  [[ $(<"$T/c") == 1 ]]
  [[ $(head -n1 "$T/e") == "○ task 'k' is interrupted" ]]
  "$garth" run -q -d -t x -- sleep 1000
  "$garth" cancel x
  call timeout 20 "$garth" wait x
  [[ $code == 143 ]] || complain
}

@test "wait --any: the name and the code of the first that ends" {
  start a 0; start b 4
  ("$garth" wait --any a b >"$T/o" 2>/dev/null </dev/null 3>&- || echo $? >"$T/c") &
  go b
  timeout 20 tail --pid=$! -f /dev/null
  [[ $(<"$T/c") == 4 ]]
  [[ $(<"$T/o") == b ]]
  [[ $(state_of a) == running ]]
  call "$garth" wait --any --json a b
  [[ $code == 4 ]] || complain
  [[ $(json '[[t["name"] for t in d["tasks"]], d["waiting"]]' <"$T/out") == '[["b"], ["a"]]' ]] || complain
}

@test "wait --timeout: 124, and which task still runs; wrong words" {
  start t 0
  call timeout 20 "$garth" wait --timeout 1s t
  [[ $code == 124 ]] || complain
  [[ $err == "▲ task 't' is still running after 1s" ]] || complain
  call timeout 20 "$garth" wait --timeout 0 --json t
  [[ $code == 124 ]] || complain
  [[ $(json '[d["tasks"], d["waiting"]]' <"$T/out") == '[[], ["t"]]' ]] || complain
  fails 2 "--timeout must be a time, such as 90s" "$garth" wait --timeout soon t
  fails 3 "there is no task 'none'" "$garth" wait none
  fails 2 "usage: garth wait" "$garth" wait
}

@test "wait: sleeps meanwhile, also beside commands that look at the task" {
  start t 0
  "$garth" wait t 2>/dev/null </dev/null 3>&- & waiter=$!
  sleep 0.2
  before=$(cut -d' ' -f14,15 /proc/$waiter/stat)
  switches=$(awk '/^voluntary/ { print $2 }' /proc/$waiter/status)
  for i in 1 2 3; do "$garth" ls >/dev/null; done
  sleep 0.3
  [[ $(cut -d' ' -f14,15 /proc/$waiter/stat) == "$before" ]]
  (($(awk '/^voluntary/ { print $2 }' /proc/$waiter/status) - switches < 20))
  go t
  wait $waiter
}
