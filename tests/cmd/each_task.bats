# Commands that take several tasks.
load helpers

names() { "$garth" ls --json | json '" ".join(t["name"] for t in d["tasks"])'; }

@test "T6 many: discard takes several tasks; one that fails does not stop the others; one undo brings all back" {
  for t in a b c d; do "$garth" new $t; inside $t 'echo work >work'; done
  "$garth" exec b -- sh -c 'git add work; git commit -qm work'
  # b has commits that -f does not give up
  call "$garth" discard -f a b nosuch c a
  [[ $code == 4 ]] || complain
  [[ $(grep -c '^✓ ' <<<"$err") == 2 ]] || complain
  [[ $err == *"✓ task 'a' is discarded"*"✗ task 'b' has the only copy of its work"*"✗ there is no task 'nosuch'"*"✓ task 'c' is discarded"* ]] || complain
  [[ $(names) == 'b d' ]] || complain
  [[ $("$garth" undo -n) == 'the removal of 2 tasks: a, c' ]]
  call "$garth" undo
  says "the removal of 2 tasks is taken back: they are out of the trash"
  [[ $(names) == 'a b c d' ]] || complain
  [[ $(inside a cat work)$(inside c cat work) == workwork ]]
  # a name brings that one back alone
  "$garth" discard -f a c
  "$garth" undo c
  [[ $(names) == 'b c d' ]] || complain
  # the first failure gives the exit code
  call "$garth" discard nosuch b
  [[ $code == 3 ]] || complain
  # without any word nothing is done
  changes_nothing 2 "usage: garth discard [OPTIONS] TASK..." "$garth" discard
}

@test "T6 many: archive takes several tasks, and one undo brings them back" {
  for t in a b; do "$garth" new $t; inside $t "echo $t >work"; done
  call "$garth" archive a nosuch b
  [[ $code == 3 ]] || complain
  [[ $(wc -l <<<"$out") == 2 ]] || complain
  [[ -z $(names) ]] || complain
  call "$garth" undo
  says "the removal of 2 tasks is taken back: they are out of their archives"
  [[ $(inside a cat work)$(inside b cat work) == ab ]]
}

@test "T1 many: pause and cancel take several tasks" {
  "$garth" run -d -t a -- sleep 1000
  "$garth" run -d -t b -- sleep 1000
  "$garth" new idle
  call "$garth" pause a idle b
  [[ $code == 4 ]] || complain
  [[ $err == "✓ task 'a' is paused"$'\n'"✗ task 'idle' is not running, it is created"$'\n'"✓ task 'b' is paused" ]] || complain
  [[ $(state_of a)$(state_of b) == pausedpaused ]]
  call "$garth" cancel b idle a
  [[ $code == 4 ]] || complain
  [[ $(state_of a)$(state_of b) == cancelledcancelled ]]
}

# Tasks that each add a file named after them, except c, which conflicts with b.
four() {
  for t in a b d; do "$garth" new $t; inside $t "echo $t >$t; git add $t; git commit -qm $t"; done
  "$garth" new c
  inside c 'echo c >b; git add b; git commit -qm c'
}

@test "G10 many: merge takes tasks in order, stops at the first that cannot be merged, and says what was merged" {
  four
  call "$garth" merge a b c d
  [[ $code == 5 ]] || complain
  [[ $err == *"✓ task 'a' is merged"*"✓ task 'b' is merged"*"✗ cannot merge task 'c': 1 file conflicts with main"$'\n  b\n'*"▲ merged: a, b; not merged: c, d" ]] || complain
  [[ $(names) == 'd c' ]] || complain
  [[ -e a && -e b && ! -e d ]]
  # each merge is undone on its own, the last one first
  "$garth" undo
  [[ -e a && ! -e b ]]
  "$garth" undo
  [[ ! -e a ]]
  call "$garth" merge -q a d
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  [[ -e a && -e d ]]
  fails 2 "--resolve and --continue take one task" "$garth" merge --resolve b c
}

@test "O3 many: --json answers with an object for one task, and with tasks, errors and skipped for several" {
  four
  call "$garth" merge --json a b c d
  [[ $code == 5 ]] || complain
  [[ $(json '[[t["task"] for t in d["tasks"]], [[e["task"], e["error"]["code"], e["conflicts"]] for e in d["errors"]], d["skipped"]]' <<<"$out") == '[["a", "b"], [["c", "conflict", [{"task": null, "path": "b"}]]], ["d"]]' ]] || complain
  call "$garth" discard --json -D d nosuch c
  [[ $code == 3 ]] || complain
  [[ $(json '[[t["task"] for t in d["tasks"]], [e["error"]["code"] for e in d["errors"]], d["skipped"]]' <<<"$out") == '[["d", "c"], ["not_found"], []]' ]] || complain
  "$garth" undo -q
  call "$garth" discard --json -D d
  [[ $(json '[d["task"], "tasks" in d]' <<<"$out") == '["d", false]' ]] || complain
  call "$garth" discard --json nosuch
  [[ $(json 'd["error"]["code"]' <<<"$out") == not_found ]] || complain
}
