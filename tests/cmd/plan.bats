load helpers

# plan TEXT…: writes plan.yaml beside the repository. Stages are shell scripts.
plan() { printf '%s\n' "$@" >"$T/plan.yaml"; }

# two: two stages, the second of which needs what the first one does.
two() {
  plan 'version: 1' "plan_id: ${1:-two}" 'agent: script' 'acceptance: ["test -f a.txt"]' "${@:2}" 'stages:' \
    '- {id: a, name: A, working_dir: ".", files: [a], acceptance: ["test -f a"], script: "echo $GARTH_PLAN $GARTH_STAGE $GARTH_ATTEMPT >a; git add a; git commit -qm a"}' \
    '- {id: b, name: B, working_dir: ".", files: [b], dependencies: [a], acceptance: ["test -f b"], script: "cat a >b; git add b; git commit -qm b; cat .work/a.md"}'
}

stage() { "$garth" plan status "$1" --json | json "[s for s in d[\"stages\"] if s[\"stage\"] == \"$2\"][0][\"$3\"]"; }
is_stage() { [[ $(stage "$1" "$2" state) == "$3" ]]; }

# Whether a process, or one that it started, was stopped by a fault.
is_stopped() {
  local p
  for p in $1 $(cat /proc/"$1"/task/*/children 2>/dev/null); do
    if grep -q '^State:.*T' /proc/"$p"/status 2>/dev/null; then return 0; fi
  done
  return 1
}

@test "T10 plan: stages run in tasks of their own, are checked, and their work goes to the user's branch in one merge" {
  two
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 0 ]] || complain
  [[ $err == *'a: running'*'a: checking'*'a: done'*'b: running'*"plan 'two' is done, and merged into main"* ]] || complain
  [[ $(<b) == 'two a 1' ]]
  [[ $(stage two b state) == done ]]
  [[ $(stage two b checks | json_list '[c["title"] for c in d]') == '["test -f b", "test -f a.txt"]' ]]
  git merge-base --is-ancestor "$(stage two a commit)" main
  # what it needed is gone, and one undo brings all of it back
  [[ $("$garth" ls --json | json 'len(d["tasks"])') == 0 ]]
  call "$garth" undo
  [[ $code == 0 ]] || complain
  not test -e a
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["two", "two.a", "two.b"]' ]]
  # the integration branch is a task's branch
  [[ $("$garth" diff two --stat) == *'2 files changed'* ]]
  [[ $("$garth" log two.b) == *'# a: A'*'state: done'* ]]
  [[ $("$garth" log two.b) == *'What it was to do'* || $("$garth" log two.b) == *'commit: '* ]]
  fails 4 'is over' "$garth" plan hold two a
  fails 3 "no plan 'nothing'" "$garth" plan status nothing
}

@test "T10 plan: killed at any step, it reaches the same end, and nothing is merged twice" {
  local step pid n=0
  for step in plan-made-rows plan-made-task plan-step plan-deed plan-stage-task plan-stage-told plan-stage-noted plan-stage-run \
    plan-stage-running plan-check-task plan-check-ran plan-checked plan-stage-checked plan-merge-checked merge-journal merge-prepared merge-moved \
    merge-stored plan-merged plan-stage-done plan-landed; do
    n=$((n + 1))
    two "k$n"
    GARTH_FAULT=stop:$step "$garth" plan run "$T/plan.yaml" >"$T/o" 2>&1 </dev/null 3>&- & pid=$!
    eventually is_stopped $pid || complain "never stopped at $step" "$(<"$T/o")"
    kill -9 $pid; wait $pid 2>/dev/null || true
    eventually runs_again "k$n" || complain "not resumed after $step"
    [[ $code == 0 ]] || complain "after $step"
    [[ $(<b) == "k$n a "[12] ]] || complain "after $step: $(<b)"
    [[ $(git log --format=%s main | tr '\n' ' ') == 'b a first ' ]] || complain "after $step: $(git log --oneline main)"
    [[ $("$garth" ls --json | json 'len(d["tasks"])') == 0 ]] || complain "after $step" "$("$garth" ls)"
    git reset -q --hard HEAD~2
  done
}
# the processes of the last runner may need a moment to die
runs_again() { call "$garth" plan resume "$1"; [[ $err != *'another command runs the plan'* ]]; }

json_list() { python3 -ISc 'import json, sys; d = json.load(sys.stdin); print(json.dumps(eval(sys.argv[1])))' "$1"; }
