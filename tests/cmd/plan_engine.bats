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

# stopped STEP PLAN…: runs the plan's file until a process stops at this step. $runner is its runner.
stopped() {
  GARTH_FAULT=stop:$1 "$garth" plan run "$T/plan.yaml" >"$T/o" 2>&1 </dev/null 3>&- & runner=$!
  eventually is_stopped $runner || complain "never stopped at $1" "$(<"$T/o")"
}
go_on() { kill -CONT "$runner" $(cat /proc/"$runner"/task/*/children); }

@test "T10 plan: an agent that is just being started does not outlive the cancelling of its stage, or of its plan" {
  local pid
  plan 'plan_id: stop' 'agent: script' 'stages:' '- {id: a, script: "sleep 1000"}'
  stopped plan-stage-noted
  # a command that was killed in the middle did not end it
  GARTH_FAULT=plan-cancelled "$garth" plan cancel stop || true
  [[ $("$garth" plan status stop --json | json 'd["plan_state"]') == cancelled ]]
  "$garth" plan cancel stop >"$T/c" 2>&1 3>&- & pid=$!
  eventually is_stage stop a cancelled
  go_on
  wait $pid || complain "$(<"$T/c")"
  wait $runner || true
  [[ $(field stop.a state) != running ]] || complain "$("$garth" ls)"
  # a stage alone
  plan 'plan_id: one' 'agent: script' 'stages:' '- {id: a, script: "sleep 1000"}' '- {id: b, script: "true"}'
  stopped plan-stage-noted
  "$garth" plan cancel one a >"$T/c" 2>&1 3>&- & pid=$!
  eventually is_stage one a cancelled
  go_on
  wait $pid || complain "$(<"$T/c")"
  wait $runner || true
  [[ $(field one.a state) != running ]] || complain "$("$garth" ls)"
  # a command that was killed: a second one ends what it left
  plan 'plan_id: twice' 'agent: script' 'stages:' '- {id: a, script: "sleep 1000"}' '- {id: b, script: "sleep 1000"}'
  "$garth" plan run -d "$T/plan.yaml"
  eventually is_stage twice a running
  eventually is_stage twice b running
  GARTH_FAULT=plan-stage-ended "$garth" plan cancel twice a || true
  GARTH_FAULT=plan-stage-ended "$garth" plan skip twice b || true
  "$garth" plan cancel twice a
  "$garth" plan skip twice b
  [[ $(field twice.a state) != running ]] || complain "$("$garth" ls)"
  [[ $(field twice.b state) != running ]] || complain "$("$garth" ls)"
  # before it was noted, it never starts
  plan 'plan_id: none' 'agent: script' 'stages:' '- {id: a, script: "sleep 1000"}'
  stopped plan-stage-told
  "$garth" plan cancel none
  go_on
  wait $runner || true
  [[ $(field none.a state) == created ]] || complain "$("$garth" ls)"
}

@test "T10 plan: with --fail-fast nothing begins after a failure; without it, what does not depend on the failed stage goes on" {
  plan 'plan_id: fast' 'agent: script' 'max_parallel: 1' 'retries: {crash: 0}' 'stages:' '- {id: bad, script: "exit 3"}' '- {id: other, script: "true"}' '- {id: after, dependencies: [bad], script: "true"}'
  call "$garth" plan run --fail-fast "$T/plan.yaml"
  [[ $code == 1 ]] || complain
  is_stage fast bad failed
  is_stage fast other ready
  is_stage fast after waiting
  call "$garth" plan resume fast
  [[ $code == 1 ]] || complain
  is_stage fast other 'done'
  is_stage fast after waiting
}

@test "T10 plan: a stage whose task was discarded fails and says how it comes back; a cancelled plan asks for nothing" {
  plan 'plan_id: gone' 'agent: script' 'merge: ask' 'stages:' '- {id: a, approve: after, script: "test -e a || { echo a >a; git add a; git commit -qm a; }"}' '- {id: b, script: "exit 1"}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 6 ]] || complain
  "$garth" discard -D gone.a
  "$garth" plan approve gone a
  call "$garth" plan resume gone
  [[ $err == *"a: failed: its task was discarded: 'garth undo gone.a' brings it back"* ]] || complain
  "$garth" undo gone.a
  "$garth" plan retry gone a
  call "$garth" plan resume gone
  # the same commit is approved already
  is_stage gone a 'done'
  [[ $(git show garth/gone:a) == a ]]
  fails 4 "task 'gone' is not running" "$garth" cancel gone
  [[ $(hint) == 'garth plan cancel gone' ]]
  "$garth" plan cancel gone
  call "$garth" plan status gone
  [[ $out == *failed* && $(hint) == '' ]] || complain
}

@test "T10 plan: a merge that is blocked by somebody is tried again, less and less often, and the status says why" {
  plan 'plan_id: lock' 'agent: script' 'stages:' '- {id: a, script: "echo 1 >b; git add b; git commit -qm b"}'
  stopped plan-stage-checked
  touch .git/refs/heads/garth/lock.lock
  go_on
  eventually gives 'it is tried again' "$garth" plan status lock
  # the point is that little happens
  sleep 2
  (($(history_of lock | grep -o merging | wc -l) <= 3)) || complain "$(history_of lock)"
  rm .git/refs/heads/garth/lock.lock
  wait $runner || complain "$(<"$T/o")"
  [[ $(<b) == 1 ]]
}

@test "T10 plan: artifacts may be large: a large file is not a stub, and is not read" {
  plan 'plan_id: large' 'agent: script' 'retries: {check: 0}' 'stages:' \
    '- {id: a, artifacts: ["big/*"], script: "mkdir big; truncate -s 70M big/1; echo 1 >big/2; git add big; git commit -qm a"}' \
    '- {id: b, wiring: [{source: big/1, pattern: x, description: x}], dependencies: [a], script: "true"}' \
    '- {id: c, artifacts: ["big/*"], dependencies: [a], script: ": >big/3; git add big; git commit -qm c"}' \
    '- {id: d, artifacts: ["big/*"], dependencies: [a], script: "echo TODO >big/3; git add big; git commit -qm d"}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 1 ]] || complain
  is_stage large a done
  [[ $(stage large b note) == *"'big/1' is larger than 48 MiB: it is not searched"* ]] || complain "$(stage large b note)"
  [[ $(stage large c note) == *"'big/3' is empty"* ]] || complain "$(stage large c note)"
  [[ $(stage large d note) == *"'big/3' contains a stub: TODO"* ]] || complain "$(stage large d note)"
}

@test "T10 plan: one undo takes back the whole plan and says so; the plan is then not merged" {
  two back 'merge: ask'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 0 ]] || complain
  # what a stage has merged is not taken back by itself
  call "$garth" undo
  [[ $code == 3 && $err == *'there is nothing to take back'* ]] || complain
  fails 4 "task 'back.b' is a stage of plan 'back', which is only taken back as a whole" "$garth" undo back.b
  # if somebody moves the plan's branch, no work is left out
  git update-ref refs/heads/garth/back "$(stage back a stage_tip)"
  fails 4 "the branch garth/back was moved, and lacks the work of stage 'b'" "$garth" plan merge back
  [[ $(hint) == 'garth merge back.b' ]]
  git update-ref refs/heads/garth/back "$(stage back b stage_tip)"
  # a check is made on what the branch would become, and the command is killed when it has merged
  echo 2 >c.txt; git add c.txt; git commit -qm c
  GARTH_FAULT=plan-landed "$garth" plan merge back || true
  [[ $(<b) == 'back a 1' ]]
  call "$garth" plan merge back
  [[ $code == 0 ]] || complain
  [[ $("$garth" ls --json | json 'd["tasks"]') == '[]' ]] || complain "$("$garth" ls)"
  [[ $("$garth" undo -n) == "plan 'back': its merge into main and the removal of 3 tasks: "* ]] || complain "$("$garth" undo -n)"
  call "$garth" undo
  says "the merge of plan 'back' is taken back: main is as it was, and 3 tasks are out of the trash"
  not test -e b
  [[ $("$garth" ls --json | json 'len(d["tasks"])') == 3 ]]
  [[ $("$garth" plan status back --json | json '[d["plan_state"], d["merged_tip"], d["note"]]') == '["done", null, "its merge was taken back"]' ]] || complain "$("$garth" plan status back --json)"
  call "$garth" plan status back
  [[ $(hint) == 'garth plan merge back' ]] || complain
  call "$garth" plan merge back
  [[ $code == 0 ]] || complain
  [[ $(<b) == 'back a 1' ]]
  call "$garth" plan status back
  [[ $(hint) == '' ]] || complain
}

@test "T10 plan: checks before a stage run on the commit that it begins from, even if the branch moves meanwhile" {
  plan 'plan_id: base' 'agent: script' 'stages:' \
    '- {id: a, before_stage: ["test ! -e late"], script: "test -e late || exit 0; git rm -q late; git commit -qm a"}'
  # a runner is killed when it has made the task; then somebody moves the branch
  stopped plan-stage-task
  kill -9 $(cat /proc/"$runner"/task/*/children) "$runner" 2>/dev/null || true
  wait $runner || true
  local tree; tree=$({ git ls-tree garth/base; printf '100644 blob %s\tlate\n' "$(echo 1 | git hash-object -w --stdin)"; } | git mktree)
  git update-ref refs/heads/garth/base "$(git commit-tree -p garth/base -m late "$tree")"
  eventually runs_again base
  [[ $code == 1 ]] || complain
  [[ $(stage base a note) == 'before it began: test ! -e late: exit code 1' ]] || complain
  # what was looked at is what it begins from
  [[ $(field base.a base) == "$(git rev-parse garth/base)" ]] || complain "$("$garth" show base.a)"
}

@test "T10 plan: a check runs again if the walls, the environment or the included files have changed" {
  known() { stage "$1" a results | json_list '[c["known"] for c in d]'; }
  plan_of() { plan "plan_id: $1" 'agent: script' 'merge: never' 'stages:' '- {id: a, acceptance: ["test -f a.txt"], script: "true"}'; "$garth" plan run "$T/plan.yaml" || complain; }
  configure <<<'{jail: {env: [WHERE]}, workspace: {include: [.env]}}'
  echo .env >.gitignore; git add .gitignore; git commit -qm ignore
  plan_of first
  plan_of again
  [[ $(known again) == '[true]' ]]
  WHERE=here plan_of env
  [[ $(known env) == '[false]' ]]
  echo 1 >.env
  plan_of include
  [[ $(known include) == '[false]' ]]
  plan_of same
  [[ $(known same) == '[true]' ]]
  configure <<<'{jail: {env: [WHERE], deny_write: [secret]}, workspace: {include: [.env]}}'
  plan_of walls
  [[ $(known walls) == '[false]' ]]
}

@test "T10 plan: a plan without an agent, or with one that cannot run a stage, is refused before anything is made, and the check warns" {
  plan 'plan_id: none' 'stages: [{id: a}]'
  PATH=/usr/bin:/bin call "$garth" plan check "$T/plan.yaml"
  [[ $code == 0 ]] || complain
  [[ $err == *"▲ stage 'a' has no agent: neither it nor the plan nor agents.default names one"* ]] || complain
  PATH=/usr/bin:/bin fails 2 'agents.default' "$garth" plan run "$T/plan.yaml"
  [[ $("$garth" plan ls) == '' ]]
  [[ -z $(git for-each-ref 'refs/heads/garth/*') ]]
  configure <<<'agents: {odd: {programs: [odd]}, none: {programs: [nowhere], run: [nowhere, "{prompt}"]}}'
  plan 'plan_id: none' 'agent: odd' 'stages: [{id: a}]'
  fails 2 "plan.yaml:3:15: agents.odd.run in the configuration is missing" "$garth" plan run "$T/plan.yaml"
  plan 'plan_id: none' 'agent: none' 'stages: [{id: a}]'
  call "$garth" plan check "$T/plan.yaml"
  [[ $err == *"a stage would have no program 'nowhere', which agent 'none' runs"* ]] || complain
}

@test "T10 plan: the task of a check is removed when the runner ends; after a kill, by the next runner or by cancel" {
  checks_left() { sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT count(*) FROM task WHERE name LIKE '%.check.%'"; }
  local how
  for how in int kill cancel; do
    plan "plan_id: left$how" 'agent: script' 'stages: [{id: a, acceptance: ["sleep 1000"], check_timeout: 20m, script: "true"}]'
    "$garth" plan run "$T/plan.yaml" >"$T/o" 2>&1 </dev/null 3>&- & runner=$!
    eventually gives 1 checks_left
    [[ $how == int ]] || kill -9 $(cat /proc/"$runner"/task/*/children) "$runner"
    [[ $how != int ]] || kill -INT $runner
    wait $runner || true
    case $how in
    kill)
      [[ $(checks_left) == 1 ]]
      GARTH_FAULT=plan-step eventually runs_again leftkill ;;
    cancel) "$garth" plan cancel leftcancel ;;
    esac
    [[ $(checks_left) == 0 ]] || complain "$how"
  done
}

@test "T10 plan: a repository that tracks .work is refused, as the files of stages would hide it" {
  mkdir .work; echo 1 >.work/x; git add -f .work; git commit -qm work
  two
  call "$garth" plan check "$T/plan.yaml"
  [[ $err == *"▲ commit $(git rev-parse --short=12 HEAD) tracks '.work'"* ]] || complain
  fails 4 "tracks '.work'" "$garth" plan run "$T/plan.yaml"
  [[ $("$garth" plan ls) == '' ]]
}

@test "T10 plan: words in braces in a stage's description stay as they are, in every run; model and effort become options" {
  printf '#!/bin/sh\nprintf "%%s|" "$@" >"said$GARTH_ATTEMPT"; git add .; git commit -qm said; test "$GARTH_ATTEMPT" = 2\n' >fake; chmod +x fake
  git add fake; git commit -qm fake
  configure <<<'agents: {fake: {programs: [fake], run: [./fake, "--id={session}", "{prompt}"], model: [-m, "{model}"], effort: ["-c=e={effort}"]}}'
  plan 'plan_id: brace' 'agent: fake' 'stages:' '- {id: a, model: big, reasoning_effort: high, description: "use {session}, {prompt} and {answer}"}'
  call "$garth" plan check "$T/plan.yaml"
  [[ $err != *'has no effect'* ]] || complain
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 0 ]] || complain
  [[ $(<said1) == '-m|big|-c=e=high|--id='????????-*'|# Stage a'*'use {session}, {prompt} and {answer}'* ]] || complain "$(<said1)"
  # an agent without a command to be resumed by runs again as it was
  cmp said1 said2
  configure <<<'agents: {fake: {programs: [fake], run: [./fake, "{prompt}"]}}'
  call "$garth" plan check "$T/plan.yaml"
  [[ $err == *"'model' has no effect: agents.fake.model does not say how it is given"* ]] || complain
}

@test "T10 plan: a changed file has no effect without --replan; with it, stages are kept, changed, sent back, added and removed, all or nothing" {
  agent <<'X'
stage_done() { test -e done || { echo 1 >done; save; }; }
stage_late() { echo "$1" >told; cp "$1" late 2>/dev/null || cp .work/brief.md late; save; }
stage_asks() { case $1 in /*) garth ask 'Which?' ;; *) cp .work/brief.md asks; printf '%s\n' "$1" >prompt; save ;; esac; }
stage_bad() { exit 3; }
stage_new() { echo 1 >new; save; }
X
  plan 'plan_id: re' 'agent: fake' 'retries: {crash: 0}' 'stages:' '- {id: done, description: D}' '- {id: late, dependencies: [bad], description: old}' \
    '- {id: asks, description: old, files: [asks]}' '- {id: bad}' '- {id: gone, dependencies: [bad]}'
  call "$garth" plan run "$(realpath --relative-to=. "$T/plan.yaml")"
  is_stage re done done
  is_stage re asks asking
  is_stage re bad failed
  fails 1 "the plan 're' has already begun, and is running" "$garth" plan run "$T/plan.yaml"
  # what is done cannot change
  plan 'plan_id: re' 'agent: fake' 'stages:' '- {id: done, description: other}' '- {id: late, description: new}'
  fails 1 "has changed since" "$garth" plan run "$T/plan.yaml"
  [[ $(hint) == "garth plan run --replan $T/plan.yaml" ]]
  fails 4 "stage 'done' is done: its part of the plan cannot be changed" "$garth" plan run --replan "$T/plan.yaml"
  plan 'plan_id: re' 'agent: fake' 'stages:' '- {id: late, description: new}'
  fails 4 "stage 'done' is done: it cannot be taken out" "$garth" plan run --replan "$T/plan.yaml"
  [[ $("$garth" plan status re --json | json 'len(d["stages"])') == 5 ]]
  # the next one is killed before it has written anything
  plan 'plan_id: re' 'agent: fake' 'stages:' '- {id: new, dependencies: [done]}' '- {id: late, description: new, dependencies: [new]}' \
    '- {id: asks, description: new, files: [asks, prompt]}' '- {id: done, description: D, timeout: 2h}'
  GARTH_FAULT=plan-replan "$garth" plan run --replan "$T/plan.yaml" || true
  [[ $("$garth" plan status re --json | json 'len(d["stages"])') == 5 ]]
  # its file is found from any directory of the repository
  mkdir -p sub/sub/sub; cd sub/sub/sub
  call "$garth" plan resume --replan re
  cd ../../..; rm -r sub
  [[ $code == 0 ]] || complain
  [[ $err == *"stage 'new' is new"*"stage 'late' has a new text"*"stage 'asks' has a new text, and goes on with it"*"stage 'bad' is not in the plan any more; its task 're.bad' is still there"*"stage 'gone' is not in the plan any more"* ]] || complain
  [[ $("$garth" plan status re --json | json '[s["stage"] + s["stage_state"] for s in d["stages"]]') == '["newdone", "latedone", "asksdone", "donedone"]' ]]
  # the agent was told, may write what it may write now, and reads the new text
  grep -q '^new$' asks
  grep -q 'The plan was changed' prompt
  grep -q '^new$' late
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["re.bad"]' ]]
  fails 4 "is over: it is merged" "$garth" plan run --replan "$T/plan.yaml"
  # a script runs as it is now
  plan 'plan_id: script' 'agent: script' 'stages:' '- {id: a, script: "exit 1"}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 1 ]] || complain
  plan 'plan_id: script' 'agent: script' 'stages:' '- {id: a, script: "echo 2 >script; git add script; git commit -qm script"}'
  call "$garth" plan run --replan "$T/plan.yaml"
  [[ $code == 0 ]] || complain
  [[ $(<script) == 2 ]]
}

@test "T10 plan: an agent can have its stage checked while it runs, and leave values for the stages after it" {
  agent <<'X'
stage_a() {
  echo 1 >a; save
  garth stage complete >said1 2>&1; echo "$?" >code1
  git add said1 code1; echo 2 >a; save
  garth stage complete >said2 2>&1; echo "$?" >code2
  garth stage output where=here; garth stage output 'WHAT=a b=c'; garth stage output where=there
  garth stage output '1=x' 2>bad && exit 9
  garth stage output "two=a$(printf '\n ')b" 2>>bad && exit 8
  git add -A; save
}
stage_b() { cat .work/a.outputs >got; save; cp "$1" brief; save; }
X
  plan 'plan_id: ask' 'agent: fake' 'stages:' '- {id: a, acceptance: ["grep 2 a || { echo no two; exit 1; }"]}' \
    '- {id: b, dependencies: [a], description: "then run loom stage complete b"}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 0 ]] || complain "$("$garth" log ask.a)"
  [[ $(<code1) == 1 ]]
  [[ $(<said1) == "failed on commit "*": acceptance 'grep 2 a"*": exit code 1"*'no two' ]] || complain "$(<said1)"
  [[ $(<said2) == 'passed: all checks of this stage, on commit '* ]] || complain "$(<said2)"
  [[ $(<code2) == 0 ]]
  [[ $(wc -l <said2) == 1 ]]
  [[ $(<got) == $'WHAT=a b=c\nwhere=there' ]] || complain "$(<got)"
  grep -q '`loom stage complete`, that is `garth stage complete` here' brief
  # elsewhere there is nothing to complete; without a runner it says that
  "$garth" new -q plain
  not inside plain 'garth stage complete'
  not inside plain 'garth stage output a=b'
}

@test "T10 plan: what a person leaves out does not keep the rest from being merged, and a person can think again" {
  plan 'plan_id: out' 'agent: script' 'retries: {crash: 0}' 'stages:' \
    '- {id: a, script: "echo 1 >a; git add a; git commit -qm a"}' '- {id: b, dependencies: [a], script: "exit 3"}' \
    '- {id: c, dependencies: [b], script: "echo 1 >c; git add c; git commit -qm c"}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 1 ]] || complain
  fails 4 "stage 'b' has failed" "$garth" plan merge out
  call "$garth" plan skip out b
  fails 4 "stage 'c' is waiting" "$garth" plan merge out
  # a part of it, as it is: the plan needs its task
  call "$garth" merge out
  [[ $code == 0 ]] || complain
  [[ $err == *"kept: task 'out' belongs to the plan 'out', which is not over"* ]] || complain
  fails 4 "belongs to the plan 'out', which is not over" "$garth" discard -f -D out
  fails 4 "belongs to the plan 'out', which is not over" "$garth" archive out
  [[ $(<a) == 1 ]]
  call "$garth" plan skip --satisfied out b
  [[ $code == 0 ]] || complain
  call "$garth" plan resume out
  [[ $code == 1 ]] || complain
  [[ $err == *'garth plan merge out'* ]] || complain
  call "$garth" plan merge out
  [[ $code == 0 ]] || complain
  [[ $(<c) == 1 ]]
  [[ $("$garth" plan status out --json | json 'd["plan_state"]') == 'done' ]]
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["out.b"]' ]] || complain "$("$garth" ls)"
}

# An agent for conflicts: `first` is merged before the others, which wait for approval.
conflicting() {
  agent <<'X'
told() { cp "$1" "told-$GARTH_STAGE" 2>/dev/null || printf '%s\n' "$1" >"told-$GARTH_STAGE"; git add .; git commit -qm told; }
solve() { git merge -q "$1" || { git checkout -q --theirs both; git add -A; git commit -qm solved; }; }
stage_first() { echo first >both; echo first >extra; save; }
stage_own() { case $GARTH_ATTEMPT in
  1) echo own >both; save ;;
  2) told "$1"; solve garth/con; echo own >both; save ;;
  *) solve garth/con.own ;;
esac; }
stage_new() { case $GARTH_ATTEMPT in
  1) echo new >both; echo kept >kept; echo wish >wish; save || exit 0 ;;
  2) save ;;
  3) echo "$GARTH_TASK" >extra; told "$1" ;;
  *) solve garth/sol.new ;;
esac; }
stage_lost() { test "$GARTH_ATTEMPT" != 1 || { echo lost >both; save; }; }
stage_human() { echo human >both; save; }
X
}

@test "T10 plan: a conflict: the stage's agent solves it, or a task for that alone, which may change what both sides may" {
  conflicting
  plan 'plan_id: sol' 'agent: fake' 'stages:' '- {id: first, description: "what the first does"}' \
    '- {id: new, approve: after, files: [both, kept], protect: [wish], acceptance: ["test -e kept"], description: "new work", on_conflict: resolver}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 6 ]] || complain
  # what the user allowed the stage is allowed there, too
  "$garth" allow sol.new wish
  "$garth" plan retry sol new
  call "$garth" plan resume sol
  "$garth" plan approve sol new
  # whatever is killed, and when, it is one task, and comes to the same end
  for step in plan-stage-task plan-stage-noted plan-stage-run plan-stage-checked; do killed_at $step sol; done
  eventually runs_again sol
  is_stage sol new approval
  [[ $(stage sol new task) == sol.new.resolve ]] || complain "$("$garth" plan status sol --json)"
  "$garth" plan log sol new | grep -q "rework: git merge garth/sol.new: that branch is not merged here" || complain "$("$garth" plan log sol new)"
  [[ $("$garth" ls) == *'  sol.new.resolve'* ]] || complain "$("$garth" ls)"
  "$garth" plan approve sol new
  killed_at plan-merged sol
  eventually runs_again sol
  [[ $code == 0 ]] || complain
  [[ $(<both) == new ]]
  [[ $(<kept) == kept ]]
  [[ $(<wish) == wish ]]
  # outside of its own stage's files
  [[ $(<extra) == sol.new.resolve ]]
  [[ $(<told-new) == '# Stage new'*'new work'*'## A conflict'*'on the branch garth/sol.new'*'in: both'*'### Stage first'*'what the first does'* ]] || complain "$(<told-new)"
  [[ $("$garth" ls --json | json 'd["tasks"]') == '[]' ]] || complain "$("$garth" ls)"
}

# The runner, and its processes, are killed when one of them has come to this step.
killed_at() {
  eventually stops_at "$@" || complain "never stopped at $1" "$(<"$T/o")"
  kill -9 $runner; wait $runner 2>/dev/null || true
}
# The processes of the last one may still be about to end.
stops_at() {
  GARTH_FAULT=stop:$1 "$garth" plan resume "$2" >"$T/o" 2>&1 </dev/null 3>&- & runner=$!
  eventually stops_or_ends $runner
  is_stopped $runner
}
stops_or_ends() { is_stopped "$1" || ! kill -0 "$1" 2>/dev/null; }

@test "T10 plan: a conflict: what the agent, or the task for it, does not solve is for a person" {
  conflicting
  plan 'plan_id: con' 'agent: fake' 'max_parallel: 4' 'stages:' '- {id: first}' '- {id: own, approve: after}' \
    '- {id: lost, approve: after, on_conflict: resolver}' '- {id: human, approve: after, on_conflict: human}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 6 ]] || complain
  "$garth" plan approve con own; "$garth" plan approve con lost
  killed_at plan-resolution-end con
  "$garth" plan approve con human
  eventually runs_again con
  [[ $code == 6 ]] || complain
  is_stage con human conflict
  # what came to nothing is in the trash, and a person goes on with the stage's own task
  is_stage con lost conflict
  [[ $(stage con lost note) == 'the conflict was not solved: git merge garth/con.lost: '* ]] || complain "$(stage con lost note)"
  [[ $err == *'garth merge --resolve con.human'* ]] || complain
  [[ $err == *'garth merge --resolve con.lost'* ]] || complain
  [[ $("$garth" ls) != *con.lost.resolve* ]] || complain "$("$garth" ls)"
  # a person solves one, in the same way as ever
  "$garth" merge --resolve con.lost
  "$garth" exec con.lost-resolve -- sh -c 'echo lost >both; git add both; git commit -qm solved'
  "$garth" merge --continue con.lost
  # the agent's solution is in conflict again: now another task solves it
  "$garth" plan approve con own
  call "$garth" plan resume con
  is_stage con lost done
  is_stage con own approval
  [[ $(stage con own task) == con.own.resolve ]] || complain "$("$garth" plan log con own)"
  "$garth" plan approve con own
  call "$garth" plan resume con
  is_stage con own done
  [[ $(git show garth/con:told-own) == 'Your work passed its checks, but it conflicts'* ]]
}

@test "T10 plan: if a model takes no more requests, all agents on its log-in wait, whatever their names, and no others" {
  cat >fake <<'SCRIPT'
#!/bin/sh
case $GARTH_STAGE in first|third)
  test -e /tmp/again || { touch /tmp/again; echo "no more today|$(($(date +%s) + 4))"; exit 1; } ;;
esac
echo 1 >"$GARTH_STAGE"; git add -A; git commit -qm "$GARTH_STAGE"
SCRIPT
  chmod +x fake; git add fake; git commit -qm fake
  local run='run: [./fake, x], resume: [./fake, x], quota: [no more today]'
  configure <<CONFIG
agents:
  file: {$run, login: [.one/auth.json]}
  file2: {$run, login: [.two/auth.json, .one/auth.json]}
  key: {$run, env: [THE_API_*]}
  key2: {$run, env: [THE_URL, THE_API_KEY]}
  other: {$run, login: [.three/auth.json], env: [THE_URL, NO_KEY]}
CONFIG
  plan 'plan_id: q' 'max_parallel: 1' 'stages:' \
    '- {id: first, agent: file}' '- {id: second, agent: file2}' '- {id: third, agent: key}' '- {id: fourth, agent: key2}' \
    '- {id: fifth, agent: other}'
  THE_API_KEY=secret THE_URL=u call "$garth" plan run "$T/plan.yaml"
  [[ $code == 0 ]] || complain
  # with the same log-in file, with the same key; the control: the last one goes on meanwhile
  [[ $out$err == *'the log-in of file2 takes no more requests'* ]] || complain
  [[ $out$err == *'the log-in of key2 takes no more requests'* ]] || complain
  [[ $out$err != *'the log-in of other takes'* ]] || complain
  [[ $out$err == *"fifth: done"*"first: ready"* ]] || complain
}
