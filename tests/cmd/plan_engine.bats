load helpers
load plan_helpers

# What happened to the stages, in order: "a running", "a done" …
history_of() { "$garth" plan log "$1" --json | json '"; ".join(v["stage"] + " " + v["what"] for v in d["history"] if "stage" in v)'; }

@test "T10 plan: stages that may change the same files do not run at once, and a held one ends the run of those that wait for it" {
  plan 'plan_id: same' 'agent: script' 'stages:' \
    '- {id: a, files: ["x/**"], script: "mkdir x; echo 1 >x/a; git add x; git commit -qm a"}' \
    '- {id: b, files: ["x/**"], script: "mkdir -p x; echo 1 >x/b; git add x; git commit -qm b"}' \
    '- {id: c, files: [y], script: "echo 1 >y; git add y; git commit -qm c"}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 0 ]] || complain
  [[ $(history_of same) == *'a done'*'b running'* ]] || complain "$(history_of same)"
  plan 'plan_id: held' 'agent: script' 'merge: never' 'stages:' \
    '- {id: a, files: ["x/**"], approve: after, script: "echo 2 >x/a; git commit -qam a"}' \
    '- {id: b, files: ["x/**"], script: "echo 2 >x/b; git commit -qam b"}'
  call timeout 60 "$garth" plan run "$T/plan.yaml"
  [[ $code == 6 ]] || complain
  is_stage held a approval
  "$garth" plan hold held a
  call timeout 60 "$garth" plan resume held
  [[ $code == 6 ]] || complain
  [[ $err == *'garth plan release held a'* ]] || complain
  call "$garth" plan status held
  [[ $out == *'b '*'after a, which may change the same files and is held'* ]] || complain
  "$garth" plan release held a
  "$garth" plan approve held a
  call "$garth" plan resume held
  [[ $code == 0 ]] || complain
}
