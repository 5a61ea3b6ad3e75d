# Tickets in the hands of a hostile agent: more than the user allowed, other tasks' children, texts that are not what they seem;
# and processes of Garth that are killed at any point.
load helpers

# The agent of tickets runs the lines of its prompt that begin with DO.
agents() {
  cat >fake <<'SCRIPT'
#!/bin/sh
save() { git add -A && git commit -qm "$1"; }
if [ -f "$1" ]; then text=$(cat "$1"); else text=$1; printf '%s\n' "$1"; fi
eval "$(printf '%s\n' "$text" | sed -n 's/^DO: //p')"
SCRIPT
  chmod +x fake
  cp "$BATS_TEST_DIRNAME/../ask_tickets.py" .
  git add -A
  git commit -qm fake
  { cat; printf 'agents:\n  default: fake\n  fake: {programs: [fake], run: [./fake, "{prompt_file}"], resume: [./fake, "{answer}"]}\n'; } | configure
}
parent() { call "$garth" run --quiet --task "${p:-p}" --tickets "$1" "${@:3}" -- sh -c "new() { garth ticket new \"\$@\" >/dev/null; }; $2"; }
json_of() { python3 -ISc 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }
tasks() { "$garth" ls --json --all | json_of 'sorted(t["name"] for t in d["tasks"])'; }

@test "ESCAPES 43 A6: requests that race, from forks, get no more tickets than the user allowed" {
  agents </dev/null
  # the control: one after the other, there are as many as allowed
  p=c parent 3 'for i in 1 2 3 4; do garth ticket new x$i --prompt "DO: true" >/dev/null 2>&1 && echo made; done; garth ticket wait >/dev/null'
  [[ $(grep -c made <<<"$out") == 3 ]] || complain
  parent 3 'for i in $(seq 20); do (garth ticket new x$i --prompt "DO: true" >>/tmp/made 2>/dev/null) & done; wait; wc -l </tmp/made; garth ticket wait'
  [[ $code == 0 ]] || complain
  [[ $out == 3$'\n'* ]] || complain
  [[ $(tasks) == "['c', 'c.t1', 'c.t2', 'c.t3', 'p', 'p.t1', 'p.t2', 'p.t3']" ]] || complain "$(tasks)"
  # never more at once than allowed: three children ran, of one that may have one at once
  [[ $(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT count(*) FROM stage JOIN plan ON plan.id = plan_id JOIN task ON task.id = plan.task_id WHERE task.name = 'p'") == 3 ]]
}

@test "ESCAPES 43 A6: a request cannot name tickets of other tasks, nor ask for more than its task has" {
  agents </dev/null
  p=other parent 1 'new x --prompt "DO: echo secret >s; save s"; garth ticket wait >/dev/null; garth ticket merge t1'
  [[ $code == 0 ]] || complain
  parent 2 'python3 ask_tickets.py' --net none
  [[ $code == 0 ]] || complain
  [[ $out != *': 20'* ]] || complain
  [[ $(grep -c ': 4' <<<"$out") == $(grep -c . <<<"$out") ]] || complain
  # nothing was made, and the gateway lives
  [[ $(tasks) == "['other', 'other.t1', 'p']" ]] || complain "$(tasks)"
  untouched
}

# Each is a line in the plan's log, wakes the runner, and may never come to a run.
@test "ESCAPES 37 43 A6: a ticket is not cancelled and tried again for ever" {
  agents <<<'tickets: {at_once: 1}'
  call "$garth" run --quiet --task p --tickets 2 -- sh -c 'garth ticket new long --prompt "DO: sleep 100" >/dev/null; garth ticket new x --prompt "DO: true" >/dev/null
    for i in $(seq 25); do garth ticket cancel t2 >/dev/null && garth ticket retry t2 >/dev/null 2>&1 && echo again; done; garth ticket retry t2 2>&1; garth ticket cancel t1 >/dev/null'
  # the control: some are allowed
  (($(grep -c again <<<"$out") >= 5 && $(grep -c again <<<"$out") <= 20)) || complain
  [[ $out == *"BLOCKED: ticket 't2' has been tried too often"* ]] || complain
}

# Neither needs a run, so the limit on runs does not count them.
@test "ESCAPES 37 43 A6: a ticket is not cancelled and discarded by turns for ever" {
  agents </dev/null
  parent 1 'garth ticket new x --prompt "DO: echo 1 >f; save f" >/dev/null; garth ticket wait >/dev/null; for i in 1 2 3 4 5 6; do garth ticket cancel t1; garth ticket discard t1; done 2>&1'
  [[ $out == *'t1  discarded'*"BLOCKED: ticket 't1' is discarded"* ]] || complain
  [[ $(grep -c '"plan-skip"' "$GARTH_HOME/audit.jsonl") == 1 ]] || complain "$(grep -F '"plan-skip"' "$GARTH_HOME/audit.jsonl")"
  [[ $(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT count(*) FROM plan_event WHERE what IN ('cancelled', 'skipped')") -le 2 ]]
}

# Each ticket's commit can have a set-up of its own: what that asked for would have no end.
@test "ESCAPES 43 A6: the set-up of a ticket's commit, or of a check's, has no tickets" {
  printf '%s\n' 'garth ticket new deeper --prompt "DO: true" 2>&1; true' >setup.sh
  agents <<<$'tickets: {max: 1}\nworkspace: {setup: ["sh setup.sh"]}'
  # the control: the task itself has one
  call "$garth" run --task p -- sh -c 'echo "# changed" >>setup.sh; git commit -qam changed; garth ticket new x --prompt "DO: true" >/dev/null; garth ticket wait'
  [[ $out == *'t1  merged'* ]] || complain
  [[ $(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT group_concat(task) FROM stage") == p.t1 ]] || complain "$(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT task FROM stage")"
  # it is in the set-up's log
  grep -rqF 'set-ups have no tickets' "$GARTH_HOME"
}

# A set-up may reach hosts that its task may not. It runs what the agent wrote.
@test "ESCAPES 43 A6 J5: the set-up of an agent's commit reaches nothing if the task has no network" {
  local port mode want
  python3 -uc 'import socket
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])
while True: c, _ = s.accept(); print(c.recv(100)); c.close()' >"$T/heard" 2>/dev/null 3>&- & server=$!
  eventually test -s "$T/heard"; port=$(head -n 1 "$T/heard")
  echo true >setup.sh
  agents <<<$'tickets: {max: 1}\nworkspace: {setup: ["bash setup.sh"], setup_network: ["localhost:'"$port\"]}"
  for mode in none allow; do
    call "$garth" run --quiet --task "$mode" --net "$mode" -- sh -c "echo 'exec 3<>/dev/tcp/127.0.0.1/$port || exit; echo from-$mode >&3; cat <&3' >setup.sh; bash setup.sh; git commit -qam changed; garth ticket new x --prompt 'DO: true' >/dev/null; garth ticket wait"
    # the task itself reaches nothing
    [[ $err == *'Connection refused'* ]] || complain
    [[ $mode == allow || $out == *'failed'*'it had no network, because its task has none'* ]] || complain
  done
  # the control: with a network for the task, the set-up has its own
  [[ $(tail -n +2 "$T/heard") == "b'from-allow\\n'" ]] || complain "$(cat "$T/heard")"
  kill "$server"
}

# The attack asks for what takes long outside (a large difference, ignore rules with countless stars), hangs up, and asks again.
@test "ESCAPES 37 43 A6: a request whose client has gone leaves no git behind, and a large file is not compared" {
  agents </dev/null
  seq 600000 >large; git add large; git commit -qm large
  cat >gone.py <<'PY'
import os, socket, sys, time
def ask(text):
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ["GARTH_SOCKET"]); s.sendall(text); return s
s = ask(b"GET /api/v1/tickets/t1/diff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
text = b""
while piece := s.recv(65536): text += piece
print(text.decode()[-200:])
with open(".gitignore", "w") as f: f.writelines("*a*a*a*a*a*a*a*a*a*a*b%d\n" % i for i in range(15000))
for i in range(50): os.mkdir("a" * 60 + str(i)); open("a" * 60 + str(i) + "/" + "a" * 200, "w").close()
for i in range(3):
    s = ask(b"POST /api/v1/tickets HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\n\r\n{\"title\":\"x\"}")
    time.sleep(1.5); s.close(); time.sleep(1.5)
PY
  git add gone.py; git commit -qm gone
  "$garth" run --quiet --task p --tickets 2 -- sh -c 'garth ticket new x --prompt "DO: seq 2 600001 >large; save large" >/dev/null; garth ticket wait >/dev/null; python3 gone.py' >"$T/said" 2>&1 </dev/null 3>&- & runner=$!
  # the control: such a git runs, outside
  eventually has_git check-ignore || { cat "$T/said"; false; }
  wait "$runner" || true
  grep -q 'Binary files a/large and b/large differ' "$T/said" || { cat "$T/said"; false; }
  not_soon has_git check-ignore
}
# Whether a git works for this Garth home.
has_git() {
  local p
  for p in $(pgrep -x git); do
    if tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qF "GIT_DIR=$GARTH_HOME" && tr '\0' ' ' <"/proc/$p/cmdline" | grep -qF " $1 "; then return 0; fi
  done
  return 1
}
not_soon() { local i; for i in {1..100}; do "$@" || return 0; sleep 0.1; done; return 1; }

@test "ESCAPES 43 A6: texts are data: in listings, in names of branches, in the commands of a shell, in YAML" {
  agents </dev/null
  title=$(printf 'x\033]0;owned\007\033[2J"; touch /tmp/owned #${HOME} $(id)')
  printf '%s' "$title" >title; git add title; git commit -qm title
  parent 4 'garth ticket new "$(cat title)" --prompt "$(printf "a: b\n- {c: d}\n%%YAML\n--- \n...\n\"quotes\" \\\\ \`ticks\` <!-- x -->\nDO: cp \$1 brief; save b")" --accept "true" --files "/brief"; garth ticket wait >/dev/null; garth ticket merge t1'
  [[ $code == 0 ]] || complain
  [[ $out != *$'\033'* ]] || complain
  [[ $out == *'^[]0;owned^G^[[2J"; touch /tmp/owned #${HOME} $(id)'* ]] || complain
  for command in 'ls' 'show p' 'audit p' 'brief p' 'log p'; do
    call "$garth" $command
    [[ $code == 0 && $out != *$'\033'* ]] || complain "$command"
  done
  [[ ! -e /tmp/owned ]]
  [[ $(git show garth/p:brief) == *$'a: b\n- {c: d}\n%YAML\n--- \n...\n"quotes" \\'*'`ticks` <!-- x -->'* ]] || complain "$(git show garth/p:brief)"
}

@test "ESCAPES 43 A6: checks run behind the walls of the task that asked, without its log-ins" {
  agents </dev/null
  # the control: the same command outside reads the sentinel
  [[ $(cat "$HOME/.ssh/id_test") == "$SECRET" ]]
  parent 1 "new x --prompt 'DO: echo 1 >f; save f' --accept 'cat $HOME/.ssh/id_test $T/elsewhere/secret >seen 2>&1; ls $GARTH_HOME >>seen 2>&1; echo x >$T/open/x; env >>seen; cat seen; false'; garth ticket wait >/dev/null; garth ticket discard t1 >/dev/null" --net none
  call "$garth" audit p
  [[ $(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT output FROM stage_check") != *"$SECRET"* ]]
  [[ $(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT output FROM stage_check") != *garth.db* ]]
  [[ $(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT count(*) FROM stage_check") -ge 1 ]]
  [[ ! -e $T/open/x ]]
  untouched
}

# What was killed at a step is started again by the next command, and comes to the same end.
@test "43 A6: whichever process of Garth is killed, and when, the tickets end in the same way" {
  agents </dev/null
  local step
  for step in ticket-adding ticket-added ticket-runner plan-step plan-work plan-stage-task plan-stage-noted plan-stage-run \
    plan-check-task plan-stage-checked ticket-merged ticket-shown ticket-merging; do
    p=k-${step//_/-}
    # the agent goes on, as agents do
    GARTH_FAULT=$step parent 3 'garth ticket new x --prompt "DO: echo 1 >f; save f" --accept "test -f f" >/tmp/o 2>&1; garth ticket ls >/dev/null 2>&1; garth ticket wait >/dev/null 2>&1 & sleep 1; true'
    # a later command, without the fault
    eventually ends "$p" || complain "after $step" "$("$garth" show "$p")"
    [[ $(git show "garth/$p:f") == 1 ]] || complain "after $step"
    [[ $("$garth" show "$p" --json | json_of '[t["ticket_state"] for t in d["tickets"]]') == *"'merged'"* ]] || complain "after $step"
    [[ $("$garth" ls --json | json_of "len([t for t in d['tasks'] if '.check.' in t['name']])") == 0 ]] || complain "after $step: a check's task is left"
    [[ $("$garth" ls --json | json_of "len([t for t in d['tasks'] if t['name'].startswith('$p.t')])") -le 2 ]] || complain "after $step"
  done
}
# Asks for the ticket if there is none, waits, and merges. What is killed at each try is given up at last.
ends() {
  "$garth" exec "$1" -- sh -c 'garth ticket ls | grep -q . || garth ticket new x --prompt "DO: echo 1 >f; save f" --accept "test -f f" >/dev/null
    for t in $(garth ticket ls | sed -n "s/  failed .*killed again and again.*//p"); do garth ticket retry $t; done
    garth ticket wait >/dev/null; for t in $(garth ticket ls | sed -n "s/  finished.*//p"); do garth ticket merge $t; done; garth ticket ls | grep -q merged' >"$T/ends" 2>&1 </dev/null 3>&-
}

@test "43 A6: a task that waits is resumed once, whichever process is killed" {
  agents </dev/null
  local step
  for step in ticket-blocking ticket-resuming ticket-resumed; do
    p=w-$step
    GARTH_FAULT=$step call "$garth" run --quiet --task "$p" --tickets 2 --agent fake -- ./fake 'DO: garth ticket new one --prompt "DO: echo 1 >one; save one; sleep 0.5" >/dev/null; garth ticket wait --block >/dev/null 2>&1; true'
    eventually is_over "$p" || complain "after $step" "$("$garth" log "$p")" "$("$garth" show "$p")"
    [[ $("$garth" log "$p" | grep -c 'The tickets that you waited for') -le 1 ]] || complain "after $step" "$("$garth" log "$p")"
    [[ $step == ticket-blocking || $("$garth" log "$p" | grep -c 'The tickets that you waited for') == 1 ]] || complain "after $step" "$("$garth" log "$p")"
  done
}
# Its run is over, and it is not blocked. A command that looks starts the runner again.
is_over() {
  "$garth" wait --timeout 5 "$1" >/dev/null 2>&1 </dev/null 3>&-
  case $("$garth" ls --json | json_of "[t['state'] for t in d['tasks'] if t['name'] == '$1'][0]") in done | failed) ;; *) return 1 ;; esac
}
