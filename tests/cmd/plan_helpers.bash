# Plans, for tests of commands.

# plan TEXT…: writes plan.yaml beside the repository. Stages are shell scripts.
plan() { printf '%s\n' "$@" >"$T/plan.yaml"; }

# two: two stages, the second of which needs what the first one does.
two() {
  plan 'version: 1' "plan_id: ${1:-two}" 'agent: script' 'acceptance: ["test -f a.txt"]' "${@:2}" 'stages:' \
    '- {id: a, name: A, working_dir: ".", files: [a], acceptance: ["test -f a"], script: "echo $GARTH_PLAN $GARTH_STAGE $GARTH_ATTEMPT >a; git add a; git commit -qm a"}' \
    '- {id: b, name: B, working_dir: ".", files: [b], dependencies: [a], acceptance: ["test -f b"], script: "cat a >b; git add b; git commit -qm b; cat .work/a.md"}'
}

stage() { "$garth" plan status "$1" --json | json "[s for s in d[\"stages\"] if s[\"stage\"] == \"$2\"][0][\"$3\"]"; }
is_stage() { [[ $(stage "$1" "$2" stage_state) == "$3" ]] || { "$garth" plan status "$1"; false; }; }

json_list() { python3 -ISc 'import json, sys; d = json.load(sys.stdin); print(json.dumps(eval(sys.argv[1])))' "$1"; }

# A scripted agent, in the repository: a function for each stage. $1 is the file of its brief, or what it is told later.
agent() {
  { printf '#!/bin/sh\nsave() { git add -A && git commit -qm "$GARTH_STAGE $GARTH_ATTEMPT"; }\n'; cat; printf 'stage_"$GARTH_STAGE" "$1"\n'; } >fake
  chmod +x fake; git add fake; git commit -qm fake
  configure <<<'agents: {fake: {programs: [fake], run: [./fake, "{prompt_file}"], resume: [./fake, "{answer}"], quota: [no more today]}}'
}

# Whether a process, or one that it started, was stopped by a fault.
is_stopped() {
  local p
  for p in $1 $(cat /proc/"$1"/task/*/children 2>/dev/null); do
    if grep -q '^State:.*T' /proc/"$p"/status 2>/dev/null; then return 0; fi
  done
  return 1
}

# the processes of the last runner may need a moment to die
runs_again() { call "$garth" plan resume "$1"; [[ $err != *'another command runs the plan'* ]]; }
