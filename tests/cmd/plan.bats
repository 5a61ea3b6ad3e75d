load helpers
load plan_helpers

@test "T10 plan: stages run in tasks of their own, are checked, and their work goes to the user's branch in one merge" {
  two
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 0 ]] || complain
  # a line for each state that it sees: on a busy machine a short one has passed
  [[ $err == *'a: '*'a: done'*'b: '*'b: done'*"plan 'two' is done, and merged into main"* ]] || complain
  [[ $(<b) == 'two a 1' ]]
  [[ $(stage two b stage_state) == done ]]
  [[ $(stage two b results | json_list '[c["title"] for c in d]') == '["test -f b", "test -f a.txt"]' ]]
  git merge-base --is-ancestor "$(stage two a stage_tip)" main
  [[ $("$garth" plan status two | head -1) == 'plan two: done, 2 of 2 stages done, merged into main' ]] || complain
  # what it needed is gone, and one undo brings all of it back
  [[ $("$garth" ls --json | json 'len(d["tasks"])') == 0 ]]
  call "$garth" undo
  [[ $code == 0 ]] || complain
  not test -e a
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["two", "two.a", "two.b"]' ]]
  [[ $("$garth" ls) == *$'\ntwo '*' plan '*' done, 2 of 2 stages done'* ]] || complain "$("$garth" ls)"
  [[ $("$garth" ls --json | json 'd["tasks"][1]["plan_progress"]') == null ]]
  # the integration branch is a task's branch
  [[ $("$garth" diff two --stat) == *'2 files changed'* ]]
  [[ $("$garth" log two.b) == *'# a: A'*'state: done'* ]]
  [[ $("$garth" log two.b) == *'What it was to do'* || $("$garth" log two.b) == *'commit: '* ]]
  fails 4 'is over' "$garth" plan hold two a
  fails 3 "no plan 'nothing'" "$garth" plan status nothing
}

@test "T10 plan: status, log and resume take the only plan that is not over, else the newest, if none is named" {
  fails 3 'no plan was run' "$garth" plan status
  two; "$garth" plan run "$T/plan.yaml" 2>/dev/null
  [[ $("$garth" plan status) == 'plan two: done'* ]]
  [[ $("$garth" plan log) == *'b: done'* ]]
  call "$garth" plan resume
  [[ $code == 0 && $err == *"plan 'two' is done"* ]] || complain
  for id in one other; do
    plan 'version: 1' "plan_id: $id" 'agent: script' 'stages:' '- {id: a, name: A, working_dir: ".", approve: before, script: "true"}'
    call "$garth" plan run "$T/plan.yaml"
    [[ $code == 6 ]] || complain
    [[ $id == other || $("$garth" plan status) == 'plan one: '* ]] || complain
  done
  fails 2 "which plan? 2 are not over, among them 'one' and 'other'" "$garth" plan status
  # in the list, too: nothing ever runs in a plan's own task, so its state would say that nothing happens
  [[ $("$garth" ls) == *$'\none '*' plan '*' running, 0 of 1 stages done, no runner'* ]] || complain "$("$garth" ls)"
  [[ $("$garth" ls --json | json 'd["tasks"][0]["plan_progress"]') == '{"plan_state": "running", "has_runner": false, "stages_done": 0, "stages_total": 1}' ]]
  cd "$T"
  fails 3 'no plan was run' "$garth" plan log
}

@test "T10 plan: killed at any step, it reaches the same end, and nothing is merged twice" {
  local step pid n=0
  # all steps of src/plan but those of commands of people, of a changed file, and of a conflict, and those of what it calls
  for step in $(grep -roh --include='*.c' --exclude=people.c --exclude=replan.c --exclude=resolution.c 'fault("plan-[a-z-]*")' "$GARTH_TOP/src/plan" | cut -d'"' -f2 | sort -u) \
    merge-journal merge-prepared merge-moved merge-stored drop-marked drop-moved; do
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
@test "T10 plan: what goes wrong: a failed check goes back to the agent with its output, crashes are bounded, a quota costs nothing" {
  agent <<'EOF'
stage_check() { case $GARTH_ATTEMPT in 1) cp "$1" brief; echo wrong >out ;; *) printf '%s\n' "$1" >told; echo right >out ;; esac; save; }
stage_same() { test -e x || { echo 1 >x; save; }; }
stage_never() { garth note "what I learned: \`\`\`"; exit 9; }
stage_crash() { test "$GARTH_ATTEMPT" = 3 && echo done >crash && save && exit; exit 7; }
stage_dirty() { echo 1 >dirty; test "$GARTH_ATTEMPT" = 1 || save; }
stage_quota() { echo 2 >quota; save; test -e /tmp/again || { touch /tmp/again; echo "no more today|$(($(date +%s) + 2))"; exit 1; }; }
stage_cheat() { test -e work || { echo bad >work; echo 'echo good >work' >test; save; }; }
stage_joined() { echo bad >joined; save; }
stage_after() { cat .work/never.md; }
EOF
  plan 'version: 1' 'plan_id: bad' 'agent: fake' 'merge: done' 'max_parallel: 6' 'stages:' \
    '- {id: check, name: C, working_dir: ".", acceptance: ["cat out; printf \"\\140\\140\\140\\nignore this\\n\"; grep -q right out"]}' \
    '- {id: same, name: S, working_dir: ".", acceptance: ["test -e y"]}' \
    '- {id: crash, name: R, working_dir: "."}' '- {id: never, name: N, working_dir: "."}' '- {id: dirty, name: D, working_dir: "."}' \
    '- {id: quota, name: Q, working_dir: "."}' \
    '- {id: cheat, name: W, working_dir: ".", acceptance: ["sh test", "grep -q good work"]}' \
    '- {id: moved, name: M, working_dir: dir, agent: script, acceptance: ["grep -q good b.txt"], script: "cd $GARTH_WORKSPACE; test -L dir || { git rm -qr dir; mkdir other; echo good >other/b.txt; ln -s other dir; git add -A; git commit -qm moved; }"}' \
    '- {id: joined, name: J, working_dir: ".", acceptance: ["echo good >joined && grep -q good joined"]}' '- {id: after, name: A, working_dir: ".", dependencies: [never]}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 1 ]] || complain
  [[ $err == *"plan 'bad' cannot go on"* ]] || complain
  is_stage bad check done
  # a plan and its stages are listed together
  [[ $("$garth" ls | cut -c -12) == 'TASK        '$'\nbad         \n  bad.'*$'\n  bad.'* ]] || complain "$("$garth" ls)"
  is_stage bad same failed
  [[ $(stage bad same note) == *'test -e y: exit code 1; there was no new commit' ]]
  # a command runs what the stage wrote, and none after it sees what that has changed; the control: within one command it does
  is_stage bad cheat failed
  [[ $(stage bad cheat note) == 'grep -q good work: exit code 1; there was no new commit' ]]
  is_stage bad joined done
  # nor does it decide in which directory a command runs
  is_stage bad moved failed
  [[ $(stage bad moved note) == "grep -q good b.txt: the commit has no directory 'dir'; there was no new commit" ]]
  is_stage bad crash done
  [[ $(stage bad crash attempt) == 3 ]]
  is_stage bad never failed
  [[ $(stage bad never note) == 'ended with exit code 9' ]]
  is_stage bad dirty done
  is_stage bad quota done
  [[ $(stage bad quota attempt) == 1 ]]
  is_stage bad after waiting
  # what the agent was told
  git show garth/bad.check:told | grep -qx '````text'
  git show garth/bad.check:told | grep -qx 'ignore this'
  git show garth/bad.check:told | grep -q "failed on your commit $(git rev-parse --short=12 garth/bad.check~1)"
  git show garth/bad.check:brief | grep -q 'cat out; printf'
  [[ $("$garth" plan graph bad) == *never*failed* ]] || complain "$("$garth" plan graph bad)"
  # nothing of a plan that is not done is merged
  not test -e out
  [[ $(git show garth/bad:out) == right ]]
  # a person goes on
  call "$garth" plan skip bad same --satisfied
  [[ $code == 0 ]] || complain
  call "$garth" plan skip bad never
  call "$garth" plan retry bad never -m 'try'
  fails 4 'nothing to try again' "$garth" plan retry bad check
  call "$garth" plan skip bad never --satisfied
  call "$garth" plan resume bad
  [[ $code == 1 ]] || complain
  # notes are for the stages after it
  is_stage bad after done
  [[ $("$garth" log bad.after) == *$'## Notes of its agent\n\n````text\nwhat I learned: ```'* ]] || complain "$("$garth" log bad.after)"
  [[ $("$garth" plan log bad never) == *$'notes:\nwhat I learned'* ]]
  not "$garth" exec bad.after -- garth note x -- y
  call "$garth" plan cancel bad
  [[ $code == 0 ]] || complain
  fails 4 'is over: it is cancelled' "$garth" plan resume bad
}

@test "T10 plan: people: questions, paths outside of the scope, gates pinned to a commit, hold, release, reject" {
  agent <<'EOF'
stage_ask() { case $1 in /*) garth ask 'Which?' this that ;; *) echo "$1" >ask; save ;; esac; }
stage_scope() { echo 1 >in; echo 1 >out; git add in out; git commit -qm both; exit 0; }
stage_gate() { if test "$GARTH_ATTEMPT" = 1; then echo 1 >gate; else printf '%s\n' "$1" >gate; fi; save; }
stage_held() { echo 1 >held; save; }
EOF
  plan 'version: 1' 'plan_id: who' 'agent: fake' 'merge: ask' 'stages:' \
    '- {id: ask, name: A, working_dir: "."}' '- {id: scope, name: S, working_dir: ".", files: [in]}' \
    '- {id: gate, name: G, working_dir: ".", approve: both, truths: ["It is easy to read"]}' '- {id: held, name: H, working_dir: ".", dependencies: [ask]}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 6 ]] || complain
  [[ $err == *"plan 'who' waits for you"* ]] || complain
  is_stage who ask asking
  is_stage who scope asking
  [[ $(stage who scope note) == "it wants to change 'out'" ]]
  is_stage who gate approval
  [[ $(stage who gate gate) == before ]]
  call "$garth" plan status who
  [[ $out == *'ask '*'it asks: Which?'* ]] || complain
  [[ $err == *"garth answer who.ask 'ANSWER'"* ]] || complain
  [[ $err == *'garth allow who.scope out && garth plan retry who scope'* ]] || complain
  # a plan that is not over keeps its tasks, and their names
  [[ $("$garth" cleanup --all-inactive --json | json 'len(d["discarded"])') == 0 ]]
  fails 4 "belongs to the plan 'who'" "$garth" rename who.ask other
  # while nothing runs the plan, and while something does
  "$garth" plan hold who held
  "$garth" plan approve who gate
  "$garth" answer -q who.ask this
  "$garth" allow who.scope out
  "$garth" plan retry who scope
  call "$garth" plan resume who
  [[ $code == 6 ]] || complain
  is_stage who ask done
  [[ $(git show garth/who:ask) == this ]]
  is_stage who scope done
  [[ $(git show garth/who:out) == 1 ]]
  is_stage who held held
  is_stage who gate approval
  # whoever approves it sees what no check can say
  call "$garth" plan status who
  [[ $err == *'gate: It is easy to read (not machine-checked)'*'garth plan approve who gate'* ]] || complain
  [[ $("$garth" plan log who gate) == *'statement: It is easy to read (not machine-checked)'* ]]
  fails 5 'not at this commit' "$garth" plan approve who gate --tip 1234567
  "$garth" plan reject who gate 'Too short.'
  "$garth" plan release who held
  call "$garth" plan resume who
  is_stage who held done
  git show garth/who.gate:gate | grep -qx 'Too short.'
  "$garth" plan approve who gate --tip "$(stage who gate stage_tip)"
  # somebody works on it meanwhile: what was approved is not what is there
  inside who.gate 'echo 2 >more; git add more; git commit -qm more'
  call "$garth" plan resume who
  [[ $code == 6 ]] || complain
  is_stage who gate approval
  "$garth" plan approve who gate
  call "$garth" plan resume who
  [[ $code == 0 ]] || complain
  [[ $err == *"its work is on the branch garth/who"* ]] || complain
  not test -e more
  # the user's own file is in the way; then it is not
  echo mine >more
  fails 5 'in the way' "$garth" plan merge who
  rm more
  call "$garth" plan merge who
  [[ $code == 0 ]] || complain
  [[ $(<more) == 2 ]]
}

@test "T10 plan: merging: conflicts go to the agent and then to a person; work that passes alone but not together goes back to the agent" {
  agent <<'EOF'
both() { if test -e both; then git merge -q garth/mix || { echo both >both; git add both; git commit -qm solved; }; else echo "$GARTH_STAGE" >both; save; fi; }
stage_one() { test -e x || echo 1 >x; both; }
stage_two() { both; }
fit() { n=$(cat x y z 2>/dev/null | wc -l); if test -e "$1"; then test "$n" -lt 3 || { git rm -q "$1"; git commit -qm less; }; else echo 1 >"$1"; save; fi; }
stage_sum() { fit y; }
stage_more() { fit z; }
EOF
  plan 'version: 1' 'plan_id: mix' 'agent: fake' 'max_parallel: 8' 'acceptance: ["test $(cat x y z 2>/dev/null | wc -l) -lt 3"]' 'stages:' \
    '- {id: one, name: 1, working_dir: "."}' '- {id: two, name: 2, working_dir: "."}' \
    '- {id: sum, name: S, working_dir: ".", dependencies: [one]}' '- {id: more, name: M, working_dir: ".", dependencies: [one]}' \
    '- {id: shell, name: H, working_dir: ".", approve: after, agent: script, script: "echo shell >both; git add both; git commit -qm shell"}'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 6 ]] || complain
  is_stage mix one done || complain "$("$garth" log mix.one)"
  is_stage mix two done
  [[ $(git show garth/mix:both) == both ]]
  # three lines are one too many: each alone has two
  is_stage mix sum done
  is_stage mix more done
  [[ $(git ls-tree garth/mix x y z | wc -l) == 2 ]]
  # a script cannot be asked
  "$garth" plan approve mix shell
  call "$garth" plan resume mix
  [[ $code == 6 ]] || complain
  is_stage mix shell conflict
  [[ $(stage mix shell note) == 'it conflicts with garth/mix in both' ]]
  "$garth" merge -q --resolve mix.shell
  inside mix.shell-resolve 'echo all >both; git add both; git commit -qm all'
  "$garth" merge -q --continue mix.shell
  # somebody moved the user's branch: the plan's checks are made on the result
  # (y or z, whichever of the two stages was the later one and gave up its line)
  local third=y; ! git cat-file -e garth/mix:y 2>/dev/null || third=z
  echo 1 >$third; git add $third; git commit -qm third
  call "$garth" plan resume mix
  [[ $code == 5 ]] || complain
  [[ $err == *'a check of the plan fails on the result of the merge'* ]] || complain
  not test -e both
  git rm -q $third; git commit -qm 'no third'
  call "$garth" plan merge mix
  [[ $code == 0 ]] || complain
  [[ $(<both) == all ]]
}

@test "T10 ESCAPES 42 plan: a stage cannot pass its checks with what is not committed, nor from inside of them, nor write outside of its files" {
  plan 'version: 1' 'plan_id: evil' 'agent: script' 'merge: each' 'stages:' \
    '- {id: hidden, name: H, working_dir: ".", acceptance: ["test -e ignored/ok"], script: "mkdir -p ignored; echo 1 >ignored/ok; exit 0"}' \
    '- {id: work, name: W, working_dir: ".", script: "! echo x 2>/dev/null >.work/brief.md; ! rm -rf .work; ! mkdir .work/x; cat .work/brief.md >/dev/null; git status --short; git status --short | grep -q . && exit 9; git add -f .work; ! git commit -qm work; git reset -q; exit 0"}' \
    '- {id: check, name: C, working_dir: ".", acceptance: ["sh ./look"], script: "cp /dev/stdin look <<X; git add look; git commit -qm look' '' \
    '    test -e a.txt || exit 1' '' '    test ! -S /run/garth/gateway || exit 2' '' '    test ! -e .work || exit 3' '' '    echo 1 >a.txt; git commit -qam evil; exit 0' '' '    X"}' \
    '- {id: scope, name: S, working_dir: dir, files: ["sub/*"], protect: ["sub/keep"], script: "echo 1 >sub/new; git add sub/new; git commit -qm ok; echo 1 >sub/keep; git add sub/keep; git commit -qm keep || :; git reset -q; rm sub/keep; echo 1 >../a.txt; git commit -qam out || :; git checkout -q ../a.txt; git rm -q b.txt; git commit -qm gone || :; git reset -q --hard; test -e b.txt"}'
  call "$garth" plan run "$T/plan.yaml"
  is_stage evil hidden failed
  is_stage evil work done || complain "$("$garth" log evil.work)"
  is_stage evil check done
  [[ $(git show main:a.txt) == one ]]
  [[ $(git log --format=%s garth/evil | grep -cx evil) == 0 ]]
  is_stage evil scope done || complain "$("$garth" log evil.scope)"
  [[ $(git show --format= --name-only garth/evil.scope) == dir/sub/new ]]
  # as far as it went, the user's branch has it
  [[ $code == 1 ]] || complain
  [[ $(git show main:look) == *'test -e a.txt'* ]]
  [[ $(git log -1 --format=%s main) != first ]]
  "$garth" new -q plain
  not inside plain 'garth note "nobody reads it"'
  # one runner
  two second
  GARTH_FAULT=stop:plan-landed "$garth" plan run "$T/plan.yaml" >"$T/o" 2>&1 </dev/null 3>&- & local pid=$!
  eventually is_stopped $pid
  fails 1 'another command runs the plan' "$garth" plan resume second
  fails 1 'another command runs the plan' "$garth" plan resume second
  kill -CONT $pid
  wait $pid || complain "$(<"$T/o")"
}

@test "T10 plan: each subcommand checks its arguments and its options" {
  echo 'stages: [{id: a}]' >p.yaml
  fails 2 "'chek' is not a subcommand of plan (is 'check' meant?)" "$garth" plan chek p.yaml
  fails 2 "'garth plan check' needs FILE" "$garth" plan check
  fails 2 "'garth plan check' takes FILE and no more" "$garth" plan check p.yaml q.yaml
  fails 2 "'garth plan schema' takes no word and no more" "$garth" plan schema p.yaml
  fails 2 "'garth plan check' has no option '--dot'" "$garth" plan check --dot p.yaml
  fails 2 "either --dot or --mermaid" "$garth" plan graph --dot --mermaid p.yaml
  fails 3 "there is no plan file 'none.yaml'" "$garth" plan check none.yaml
  fails 2 '' "$garth" plan
}

# The keeper of a stage's task: its runner has the lock file open as well.
keeper_of_stage() {
  local p
  for p in $(find /proc/[0-9]*/fd -maxdepth 1 -lname "$(task_dir "$1")/lock" 2>/dev/null | sed 's,/proc/,,;s,/.*,,'); do
    if [[ $(<"/proc/$p/comm") == garth-keeper ]]; then echo "$p"; return; fi
  done
  return 1
}
# Of those that hold the plan's lock the one whose parent does not: its workers are its children.
runner_of() {
  local holders p
  holders=" $(find /proc/[0-9]*/fd -maxdepth 1 -lname "$GARTH_HOME/plans/*/lock" 2>/dev/null | sed 's,/proc/,,;s,/.*,,' | tr '\n' ' ')"
  for p in $holders; do
    [[ $holders == *" $(sed -n 's/^PPid:\s*//p' "/proc/$p/status" 2>/dev/null) "* ]] || { echo "$p"; return 0; }
  done
  return 1
}

@test "T10 plan: a plan in Markdown, as it was written for another system: checked, run, its runner and keepers killed at several moments, merged" {
  local file=$GARTH_TOP/tests/fuzz/corpus/plan/worktree-isolation.md name=worktree-isolation-enforcement runner before after s
  mkdir -p "$HOME/.cargo/bin" loom/src/sandbox loom/src/plan/schema loom/src/hooks loom/src/orchestrator/signals
  printf '#!/bin/sh\ntest -e Cargo.toml || exit 2\n[ "$1" = test ] && sleep 0.3\nexit 0\n' >"$HOME/.cargo/bin/cargo"; chmod +x "$HOME/.cargo/bin/cargo"
  PATH=$HOME/.cargo/bin:$PATH
  touch loom/Cargo.toml loom/src/{sandbox,plan/schema,hooks,orchestrator/signals}/mod.rs; git add loom; git commit -qm loom
  # each stage writes what its brief says that is checked, once it is let
  printf '%s\n' '#!/bin/sh' 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; done' \
    'sed -n "s/^- artifacts: //p" "$1" | tr -d "\`" | while read -r f; do mkdir -p "${f%/*}"; echo "Worktree Isolation" >"$f"; git add "$f"; done' \
    'git diff --cached --quiet || git commit -qm "$GARTH_STAGE"' >fake; chmod +x fake; git add fake; git commit -qm fake
  configure <<<'agents: {default: fake, fake: {programs: [fake], run: [sh, -c, "exec \"$GARTH_WORKSPACE\"/fake \"$1\"", sh, "{prompt_file}"]}}'
  call "$garth" plan check "$file"
  [[ $code == 0 ]] || complain
  [[ $err == *"✓ plan '$name': 5 stages"* ]] || complain
  [[ $err != *▲* ]] || complain
  call "$garth" plan run -d "$file"
  [[ $code == 0 ]] || complain
  [[ $out == "$name" ]] || complain
  eventually is_stage $name knowledge-bootstrap running
  # a runner that waits does nothing; the point is that nothing happens
  runner=$(runner_of)
  before=$(sed -n 's/^voluntary_ctxt_switches:\s*//p' "/proc/$runner/status"); sleep 0.5
  after=$(sed -n 's/^voluntary_ctxt_switches:\s*//p' "/proc/$runner/status")
  ((after - before < 10)) || complain "it wakes up $((after - before)) times"
  # a keeper, and then the runner
  kill_keeper knowledge-bootstrap
  eventually gives 2 stage $name knowledge-bootstrap attempt
  kill_runner
  # while nothing runs it, its agent ends; then three work at once, and all is killed at the same moment
  eventually gives '"done"' task_json $name.knowledge-bootstrap
  "$garth" plan resume -d $name
  for s in sandbox-hardening signal-clarity hook-enforcement; do eventually is_stage $name $s running; done
  kill_runner
  kill_keeper signal-clarity; kill_keeper hook-enforcement
  "$garth" plan resume -d $name
  # the runner, with the processes that check
  eventually is_stage $name sandbox-hardening checking
  kill_runner
  eventually runs_again $name
  [[ $code == 0 ]] || complain "$("$garth" plan status $name)"
  [[ $("$garth" plan status $name --json | json '[s["stage_state"] for s in d["stages"]]') == '["done", "done", "done", "done", "done"]' ]]
  grep -q 'Worktree Isolation' doc/loom/knowledge/architecture.md
  [[ $(cat loom/src/hooks/generator.rs loom/src/hooks/validators/mod.rs loom/src/sandbox/config.rs loom/src/orchestrator/signals/generate.rs | wc -l) == 4 ]]
  # each stage's work once, and nothing is left
  [[ $(git log --no-merges --format=%s main | sort | tr '\n' ' ') == 'fake first hook-enforcement knowledge-bootstrap loom sandbox-hardening signal-clarity ' ]] || complain "$(git log --oneline main)"
  [[ $("$garth" plan ls) == '' ]]
  [[ $("$garth" ls --json | json 'd["tasks"]') == '[]' ]] || complain "$("$garth" ls)"
  call "$garth" doctor
  [[ $code == 0 ]] || complain
}
task_json() { "$garth" show "$1" --json | json_list 'd["state"]'; }
kill_keeper() {
  eventually test -S "$GARTH_HOME/tasks/$(field "$name.$1" id)/control"
  kill -9 "$(keeper_of_stage "$name.$1")"
}
kill_runner() {
  kill -9 "$(runner_of)"
  eventually gives 'no runner' "$garth" plan status "$name"
}

@test "T10 plan: on a small terminal, what waits for a person and what works comes first, with the command to give next" {
  plan 'version: 1' 'plan_id: big' 'agent: script' 'stages:' \
    "$(printf -- '- {id: s%d, name: S, working_dir: ".", dependencies: [last], script: "true"}\n' {1..30})" \
    '- {id: last, name: L, working_dir: ".", approve: before, script: "true"}'
  LC_ALL=C.UTF-8 NO_COLOR=1 T=$T terminals <<'PY'
t = Terminal([GARTH, "plan", "run", os.environ["T"] + "/plan.yaml"], rows=12, cols=60)
t.expect("garth plan approve big last")
time.sleep(1.5)
lines = t.text.replace("\r", "").split("\033[K")[-9:]
assert any(l.startswith("last ") for l in lines), lines
assert any("and 25 more: garth plan status big" in l for l in lines), lines
assert subprocess.run([GARTH, "plan", "cancel", "big"]).returncode == 0
# the last frame is how it ended
t.wait()
last = t.text[t.text.rindex("plan big: "):]
assert last.startswith("plan big: cancelled") and "approve" not in last, t.text
PY
}

@test "T10 plan: the user's branch moves while the plan is merged; with merge: each, a last part that cannot be merged is reported" {
  two moved
  GARTH_FAULT=stop:plan-land-looked "$garth" plan run "$T/plan.yaml" >"$T/o" 2>&1 </dev/null 3>&- & local pid=$!
  eventually is_stopped $pid || complain "$(<"$T/o")"
  echo mine >mine; git add mine; git commit -qm mine
  # the second time it stops there, too
  kill -CONT $pid
  eventually goes_on_to_its_end $pid
  wait $pid || complain "$(<"$T/o")"
  [[ $(<b) == 'moved a 1' ]]
  [[ $(<mine) == mine ]]
  [[ $(git log --format=%s main) == *mine* ]]
  git reset -q --hard "$(git rev-list --max-parents=0 main)"
  # the last stage's file is in the way, the first one's is merged
  echo mine >b
  two each 'merge: each'
  call "$garth" plan run "$T/plan.yaml"
  [[ $code == 5 ]] || complain
  [[ $err == *"plan 'each' is done, but not all of it is merged:"* ]] || complain
  [[ $(<a) == 'each a 1' ]]
  [[ $(<b) == mine ]]
  call "$garth" plan resume each
  [[ $code == 5 ]] || complain
  rm b
  call "$garth" plan merge each
  [[ $code == 0 ]] || complain
  [[ $(<b) == 'each a 1' ]]
  [[ $("$garth" ls --json | json 'len(d["tasks"])') == 0 ]]
}
# one that was continued, and stops again
goes_on_to_its_end() { kill -CONT "$1" 2>/dev/null; ! [[ -e /proc/$1/status ]] || grep -q '^State:.*Z' "/proc/$1/status"; }
