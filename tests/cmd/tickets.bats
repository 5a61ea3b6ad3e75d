load helpers

# The agent of tickets: a shell script in the repository, which runs the lines of its prompt that begin with DO.
agents() {
  cat >fake <<'SCRIPT'
#!/bin/sh
save() { git add -A && git commit -qm "$1"; }
echo "run $GARTH_TICKET $GARTH_ATTEMPT of $GARTH_PARENT"
if [ -f "$1" ]; then text=$(cat "$1"); else text=$1; printf '%s\n' "$1"; fi
eval "$(printf '%s\n' "$text" | sed -n 's/^DO: //p')"
SCRIPT
  chmod +x fake
  mkdir -p src
  echo x >src/x
  git add -A
  git commit -qm fake
  { cat; printf 'agents:\n  default: fake\n  fake: {programs: [fake], run: [./fake, "{prompt_file}"], resume: [./fake, "{answer}"]}\n'; } | configure
}

# parent N SCRIPT: runs the task p with N tickets; $out is what its script printed.
parent() { call "$garth" run --quiet --task p --tickets "$1" "${@:3}" -- sh -c "new() { garth ticket new \"\$@\" >/dev/null; }; $2"; }
# again SCRIPT: another command in it.
again() { call "$garth" exec p -- sh -c "$1"; }
# ticket ID KEY
ticket() { "$garth" show p --json | json "[t for t in d[\"tickets\"] if t[\"ticket\"] == \"$1\"][0][\"$2\"]"; }
is_ticket() { [[ $(ticket "$1" ticket_state) == "$2" ]]; }

@test "A6 tickets: an agent asks for a task, waits, and merges its result with git; the merge is published as its own" {
  agents </dev/null
  parent 4 'garth ticket new "Say hello" --prompt "DO: echo hi >h; save one" --accept "test -f h"; garth ticket wait; git branch --format "%(refname:short)"; git merge -q garth/p.t1; garth ticket ls --json'
  [[ $code == 0 ]] || complain
  [[ $out == 't1  '*'  garth/p.t1  Say hello'* ]] || complain
  [[ $out == *'t1  finished  garth/p.t1  Say hello'* ]] || complain
  [[ $out == *$'garth/p\ngarth/p.t1\nmain'* ]] || complain
  [[ $out == *'"state":"merged"'*'"max":4,"at_once":3,"left":3'* ]] || complain
  [[ $(state_of p) == done ]]
  [[ $(git show garth/p:h) == hi ]]
  [[ $("$garth" log p.t1) == *'run t1 1 of p'* ]]
  # children stand under their parent
  [[ $("$garth" ls) == *$'\np '*$'\n  p.t1 '* ]] || complain "$("$garth" ls)"
  [[ $("$garth" show p) == *'tickets    p.t1 merged'* ]]
  [[ $("$garth" audit p) == *ticket*'Say hello'* ]]
  # one merge takes both
  call "$garth" merge p
  [[ $code == 0 ]] || complain
  [[ $(<h) == hi ]]
  [[ $("$garth" ls --json | json 'len(d["tasks"])') == 0 ]] || complain "$("$garth" ls)"
  call "$garth" undo
  [[ $code == 0 ]] || complain
  [[ $err == *"the merge of task 'p' is taken back: main is as it was, and 2 tasks are out of the trash"* ]] || complain
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["p", "p.t1"]' ]] || complain "$("$garth" ls)"
  # a discard that is refused removes no ticket
  fails 4 "task 'p' has the only copy of its work" "$garth" discard p
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["p", "p.t1"]' ]] || complain "$("$garth" ls)"
}

@test "A6 tickets: without the user's permission there are none, and the agent is not told about them" {
  agents </dev/null
  "$garth" run --quiet --task q -- sh -c 'garth ticket new x >o 2>&1; echo $? >>o; garth ticket ls >>o 2>&1; echo "$GARTH_TICKETS" >>o; garth brief | grep -ci ticket >>o; git add o; git commit -qm o'
  call git show garth/q:o
  [[ $out == 'BLOCKED: this task may have no tickets: the user starts it with --tickets N'*$'\n4\nBLOCKED: '* ]] || complain
  [[ $out == *$'\n\n0' ]] || complain
  parent 2 'echo "$GARTH_TICKETS"; garth brief'
  [[ $out == '2'*'Tickets: tasks of your own'*'up to 2 tasks, of which 3 run at once'*'garth/p.ID'*'on the socket `/'* ]] || complain
  fails 2 '--tickets must be a number' "$garth" run --tickets many -- true
  fails 2 '--tickets must be a number' "$garth" run --tickets -1 -- true
}

@test "A6 W6 tickets: a ticket begins with what is published; a task with uncommitted files is told which" {
  agents </dev/null
  parent 2 'echo new >src/new; garth ticket new x 2>&1; echo $?; git add -A; git commit -qm new; new x --prompt "DO: cat src/new >copy; save copy"; garth ticket wait >/dev/null; garth ticket merge t1; cat copy'
  [[ $code == 0 ]] || complain
  [[ $out == 'BLOCKED: a ticket begins with what is published, and 1 file of this task is not: commit first'*src/new*$'\n5\n'* ]] || complain
  [[ $out == *$'t1  merged  garth/p.t1  x\nnew' ]] || complain
  # and with nothing else: the user may have moved on
  [[ $(git merge-base garth/p.t1 garth/p) == $(git rev-parse garth/p.t1) ]]
}

@test "A6 tickets: their number in all and at once is limited, and their time is divided" {
  agents <<<'tickets: {at_once: 1, timeout: 100s}'
  mkdir "$T/go"; mkfifo "$T/go/f"
  parent 2 'new a --prompt "DO: sleep 0.3; echo a >a; save a"; new b --prompt "DO: echo b >b; save b" --timeout 10s; garth ticket new c 2>&1; echo $?; garth ticket ls; garth ticket wait >/dev/null; for i in 1 2; do garth ticket show t$i; done; garth ticket merge t1; garth ticket merge t2'
  [[ $code == 0 ]] || complain
  [[ $out == 'BLOCKED: this task may have 2 tickets in all, and has had 2'*$'\n4\nt1  '*$'\nt2  '[wq]* ]] || complain
  # half of what there was, and what was asked for
  [[ $out == *'"timeout":50}'*'"timeout":10}'* ]] || complain
  [[ $out == *'t1  merged'*'t2  merged'* ]] || complain
  # one after the other
  [[ $(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT (SELECT ended FROM task JOIN run ON run.task_id = task.id WHERE name = 'p.t1' AND ended > 0 LIMIT 1) <= (SELECT started FROM task JOIN run ON run.task_id = task.id WHERE name = 'p.t2' LIMIT 1)" 2>/dev/null || echo 1) == 1 ]]
  # what is left is not enough
  call "$garth" run --quiet --task r --tickets 3 --timeout 60s -- sh -c 'garth ticket new a --timeout 2m 2>&1; garth ticket new b --timeout 60s >/dev/null; garth ticket new c --timeout 50s 2>&1; garth ticket cancel t1 >/dev/null'
  [[ $out == 'BLOCKED: this task itself has only 60 seconds'*'BLOCKED: the tickets of this task have 100 seconds together, of which 40 are left'* ]] || complain
}

@test "A6 tickets: all runs of a ticket have its time together" {
  agents <<<'tickets: {timeout: 3s}'
  parent 1 'again="DO: sleep 1.5; echo x >>f; save f"; new a --prompt "$again" --accept "false"
    for i in 1 2 3 4; do garth ticket wait >/dev/null; garth ticket retry t1 "$again" >/dev/null 2>&1 || break; done; garth ticket retry t1 2>&1; garth ticket ls'
  [[ $out == *'BLOCKED: its time is used up: 3 seconds for all of its runs'* ]] || complain
  # the control: until then it ran again
  (($(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT count(*) FROM run JOIN task ON task.id = task_id WHERE name = 'p.t1'") >= 2))
  (($(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT sum(ended - started) FROM run JOIN task ON task.id = task_id WHERE name = 'p.t1'") <= 4))
  # and its checks as much again
  call "$garth" run --quiet --task q --tickets 1 -- sh -c 'garth ticket new a --prompt "DO: echo x >>f; save f" --accept "sleep 50" >/dev/null; for i in 1 2 3; do garth ticket wait; garth ticket retry t1 "DO: echo x >>f; save f" >/dev/null; done; garth ticket wait'
  [[ $out == *'there is no time left for the checks of this ticket'* ]] || complain
  [[ $(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT why FROM stage_check JOIN stage ON stage.id = stage_id WHERE task = 'q.t1' ORDER BY stage_check.id LIMIT 1") == 'it took longer than 3 seconds' ]]
  (($(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT sum(ms) FROM stage_check JOIN stage ON stage.id = stage_id WHERE task = 'q.t1'") < 12000))
}

@test "A6 tickets: a ticket has the walls of the task that asked, and no more" {
  agents <<<'policy: {scope: [/src, /o]}'
  parent 4 'garth ticket new w --files "**" 2>&1; garth ticket new y --agent claude 2>&1; new x --files "src/a/**" --prompt "DO: mkdir src/a; echo 1 >src/a/f; save a; echo 2 >src/b; git add -A; git commit -qm b 2>&1; git checkout -q -f HEAD; git clean -fdq; garth ticket new deeper 2>&1; env | grep -ci proxy"; garth ticket wait' --net none
  [[ $out == *"BLOCKED: '**' is more than this task may change"* ]] || complain
  [[ $out == *"BLOCKED: the agent 'claude' is not among those that tickets may name"* ]] || complain
  [[ $("$garth" log p.t1) == *"'src/b' is outside of what this task may change"* ]] || complain "$("$garth" log p.t1)"
  [[ $("$garth" log p.t1) == *'a ticket itself, and tickets have no tickets'* || $("$garth" log p.t1) == *'may have no tickets'* ]] || complain "$("$garth" log p.t1)"
  [[ $("$garth" show p.t1 --json | json 'd["network"]["mode"]') == none ]]
  [[ $(git show --name-only --format= garth/p.t1) == src/a/f ]]
}

@test "A6 tickets: Garth runs the checks; a failure goes back to the agent, then the ticket fails, and is given up" {
  agents </dev/null
  parent 4 'new x --prompt "DO: echo no >x; save x" --accept "grep -q yes x"; garth ticket wait; echo $?; garth ticket log t1; garth ticket merge t1 2>&1; echo $?'
  [[ $code == 0 ]] || complain
  [[ $out == *'t1  failed  garth/p.t1  x  (grep -q yes x: '*')'* ]] || complain
  [[ $out == *'run t1 2 of p'* ]] || complain
  [[ $out == *"BLOCKED: ticket 't1' is failed, and has no result that could be merged"*$'\n5' ]] || complain
  [[ $(state_of p) == done ]]
  # another prompt helps
  again 'garth ticket retry t1 "DO: echo yes >x; save y"; garth ticket wait t1; garth ticket diff t1; garth ticket merge t1'
  [[ $code == 0 ]] || complain
  [[ $out == *'t1  finished'*'+yes'*'t1  merged'* ]] || complain
  [[ $(git show garth/p:x) == yes ]]
  # a name whose beginning is no name
  local long; long=$(printf 'a%.0s' {1..31}).b
  call "$garth" run --quiet --task "$long" --tickets 1 -- sh -c 'garth ticket new x --prompt "DO: true" --accept true >/dev/null; garth ticket wait'
  [[ $out == 't1  finished'* || $out == 't1  merged'* ]] || complain
}

@test "A6 tickets: a result that conflicts leaves everything as it was" {
  agents </dev/null
  parent 2 'new x --prompt "DO: echo theirs >a.txt; save a"; garth ticket wait >/dev/null; echo ours >a.txt; git commit -qam ours; garth ticket merge t1 2>&1; echo $?; git status --porcelain; git log -1 --format=%s; test -e .git/MERGE_HEAD || echo none'
  [[ $out == 'BLOCKED: 1 file conflict'*$'\n  a.txt\n5\nours\nnone' ]] || complain
  # a task with tickets that are not merged is not done
  [[ $code == 1 ]] || complain
  [[ $(state_of p) == failed ]]
  [[ $("$garth" ls) == *'its tickets are not merged: t1 (finished)'* ]] || complain "$("$garth" ls)"
  call "$garth" merge p
  [[ $err == *"task 'p' has not merged its tickets: t1 (finished)"* ]] || complain
  # it is not removed, because the ticket's work is nowhere else
  [[ $(state_of p) == merged ]]
  fails 4 "task 'p' has tickets that it has not merged: task 'p.t1' has the only copy of its work" "$garth" discard p
  fails 4 "task 'p.t1' is a ticket of task 'p', which merges it itself" "$garth" merge p.t1
  [[ $(hint) == 'garth exec p -- garth ticket merge t1' ]]
  again 'git merge -q -s ours -m both garth/p.t1 && garth ticket ls'
  [[ $out == 't1  merged'* ]] || complain
  call "$garth" discard -D p
  [[ $code == 0 ]] || complain
  [[ $("$garth" ls --json | json 'len(d["tasks"])') == 0 ]]
}

@test "A6 tickets: wait --block ends the run, and the task is resumed with the results" {
  agents </dev/null
  call "$garth" run --task p --tickets 3 --agent fake -- ./fake 'DO: garth ticket new one --prompt "DO: sleep 0.5; echo 1 >one; save one" >/dev/null; garth ticket new two --prompt "DO: echo 2 >two; save two" >/dev/null; garth ticket new w --prompt "DO: mkdir -p .github/workflows; echo 1 >.github/workflows/w; save w" >/dev/null; garth ticket wait --block'
  [[ $code == 6 ]] || complain
  [[ $out == *'End now: this task is resumed with the results'* ]] || complain
  [[ $err == *"task 'p' waits for its tickets, and then goes on"* ]] || complain
  # whoever waits for the task waits for its tickets too
  call "$garth" wait p
  [[ $code == 1 ]] || complain
  [[ $err == *"task 'p' failed: its tickets are not merged: t1 (finished), t2 (finished), t3 (asking)"* ]] || complain
  has_resumed || complain "$("$garth" log p)" "$("$garth" ls)"
  # only the user can allow a path: the task is not told to answer
  [[ $("$garth" log p) == *"t3 (w): asking; what is said of it: \"it wants to change '.github/workflows/w'\""* ]] || complain "$("$garth" log p)"
  [[ $("$garth" log p) == *'t1 (one): finished; merge it: git merge garth/p.t1'*'t2 (two): finished; merge it: git merge garth/p.t2'* ]] || complain "$("$garth" log p)"
}
has_resumed() { [[ $("$garth" log p) == *'The tickets that you waited for'* && $(state_of p) != running ]]; }

@test "A6 tickets: the task answers questions of its tickets, but cannot allow what only the user can" {
  agents </dev/null
  parent 2 'new x --prompt "DO: garth ask \"Which?\" >/dev/null"; garth ticket wait; garth ticket answer t1 "DO: echo this >x; save x"; garth ticket wait; garth ticket merge t1; new y --prompt "DO: mkdir -p .github/workflows; echo 1 >.github/workflows/w; git add -A; git commit -qm w"; garth ticket wait; garth ticket answer t2 yes 2>&1; echo $?; garth ticket discard t2; garth ticket ls'
  [[ $code == 0 ]] || complain
  [[ $out == *'t1  asking  garth/p.t1  x  (it asks: Which?)'*'t1  finished'*'t1  merged'* ]] || complain
  [[ $out == *"t2  asking"*"it wants to change '.github/workflows/w'"*"BLOCKED: only the user can allow what ticket 't2' asks for"*$'\n4\nt2  discarded'* ]] || complain
  [[ $(git show garth/p:x) == this ]]
  fails 3 "no task 'p.t2'" "$garth" show p.t2
}

@test "A6 tickets: after the user has allowed what a ticket wants, it tries again" {
  agents </dev/null
  parent 1 'new y --prompt "DO: mkdir -p .github/workflows; echo 1 >.github/workflows/w; save w"; garth ticket wait'
  [[ $out == *"t1  asking"*"it wants to change '.github/workflows/w'"* ]] || complain
  call "$garth" allow p.t1 .github/workflows/w
  [[ $code == 0 ]] || complain
  again 'garth ticket retry t1 "DO: save w" >/dev/null; garth ticket wait'
  [[ $out == 't1  finished'* ]] || complain "$("$garth" log p.t1)"
  # the task itself may not publish it either, before the user has said so
  again 'garth ticket merge t1 2>&1; echo $?; git log -1 --format=%s'
  [[ $out == "BLOCKED: '.github/workflows/w' is protected"*$'\n4\nfake' ]] || complain
}

@test "A6 tickets: one that depends on another begins when that is merged" {
  agents </dev/null
  parent 4 'new a --prompt "DO: echo a >a; save a"; new b --after t1 --prompt "DO: cat a >b; save b"; garth ticket new c --after t9 2>&1; garth ticket wait; git merge -q garth/p.t1; garth ticket wait; garth ticket retry t2 2>&1; garth ticket merge t2; garth ticket cancel t2 2>&1; cat b'
  [[ $code == 0 ]] || complain
  [[ $out == "BLOCKED: this task has no ticket 't9'"* ]] || complain
  [[ $out == *$'t1  finished'*$'t2  waiting'*'t2  finished'*"BLOCKED: ticket 't2' is finished: there is nothing to try again"*'t2  merged'*"BLOCKED: ticket 't2' is merged"*$'\na' ]] || complain
}

@test "A6 tickets: cancelling the task cancels its tickets; otherwise they survive its end" {
  agents </dev/null
  parent 2 'new long --prompt "DO: sleep 600"; while ! garth ticket ls | grep -q running; do sleep 0.1; done'
  [[ $code == 1 ]] || complain
  [[ $(state_of p) == failed ]]
  [[ $(state_of p.t1) == running ]]
  fails 4 "task 'p.t1' is running" "$garth" discard -D p
  call "$garth" cancel p
  [[ $code == 0 && $err == *'1 of its tickets is cancelled'* ]] || complain
  [[ $(state_of p.t1) == cancelled ]]
  is_ticket t1 cancelled
  call "$garth" discard -D p
  [[ $code == 0 ]] || complain
  # with a task that runs, all of them, and its end speaks of none
  "$garth" run --quiet -d --task p --tickets 2 -- sh -c 'garth ticket new long --prompt "DO: sleep 600"; garth ticket new next --after t1; sleep 600'
  eventually is_ticket t2 waiting
  eventually is_ticket t1 running
  call "$garth" cancel p
  [[ $code == 0 && $err == *'2 of its tickets are cancelled'* ]] || complain
  [[ $("$garth" ls) != *'not merged'* ]] || complain "$("$garth" ls)"
}

@test "A6 tickets: over HTTP, and as MCP tools if the task may have tickets" {
  agents </dev/null
  cat >"$T/http.py" <<'PY'
import http.client, json, os, socket, sys
class C(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX); self.sock.connect(os.environ["GARTH_SOCKET"])
def ask(method, path, body=None):
    c = C("x"); c.request(method, "/api/v1/tickets" + path, json.dumps(body) if body is not None else None)
    r = c.getresponse(); return r.status, json.loads(r.read())
s, t = ask("POST", "", {"title": "x", "prompt": "DO: echo x >x; save x"})
print(s, t["id"], t["task"], t["branch"], t["state"])
print([t["id"] for t in ask("GET", "")[1]["tickets"]])
print(ask("POST", "/wait", {"ids": ["t1"]})[1]["over"])
print(ask("GET", "/t1")[1]["prompt"])
print("+x" in ask("GET", "/t1/diff")[1]["diff"], "run t1" in ask("GET", "/t1/log")[1]["log"])
print(ask("POST", "/t1/merge", {})[1]["state"])
for method, path in (("PUT", ""), ("GET", "/wait/x"), ("GET", "/t9"), ("POST", "/t1"), ("GET", "/../task"), ("POST", "/t1/publish")):
    print(method, path, ask(method, path)[0])
PY
  cp "$T/http.py" over_http.py; git add over_http.py; git commit -qm http
  parent 2 'python3 over_http.py; printf "%s\n" "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}" | garth mcp | grep -o "ticket_[a-z]*" | sort -u | tr "\n" " "'
  [[ $code == 0 ]] || complain
  [[ $out == "201 t1 p.t1 garth/p.t1 queued"$'\n'"['t1']"$'\nTrue\nDO: echo x >x; save x\nTrue True\nmerged\n'* ]] || complain
  [[ $out == *$'PUT  405\nGET /wait/x 404\nGET /t9 404\nPOST /t1 405\nGET /../task 404\nPOST /t1/publish 404\n'* ]] || complain
  [[ $out == *'ticket_answer ticket_cancel ticket_diff ticket_discard ticket_list ticket_log ticket_merge ticket_new ticket_retry ticket_show ticket_wait ' ]] || complain
  call "$garth" run --quiet --task q -- sh -c 'printf "%s\n" "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}" | garth mcp | grep -c ticket_'
  [[ $out == 0 ]] || complain
}

@test "A6 tickets: with every backend, also if the task borrows no objects" {
  agents </dev/null
  local with key n=0
  for with in '--backend=overlay --strict-isolation' "${backends[@]/#/--backend=}"; do
    call "$garth" run --quiet --task "b$((++n))" --tickets 2 $with -- sh -c 'garth ticket new x --prompt "DO: echo 1 >f; save f" >/dev/null; garth ticket wait >/dev/null; git merge -q "garth/$GARTH_TASK.t1" && cat f; garth ticket new y --prompt "DO: echo 2 >g; save g" >/dev/null; garth ticket wait >/dev/null; garth ticket merge t2'
    [[ $code == 0 ]] || complain "$with"
    [[ $out == $'1\nt2  merged'* ]] || complain "$with"
    [[ $(git show "garth/b$n:g") == 2 ]] || complain "$with"
    for key in backend strict; do
      [[ $("$garth" show "b$n.t1" --json | json "d[\"$key\"]") == "$("$garth" show "b$n" --json | json "d[\"$key\"]")" ]] || complain "$with: $key"
    done
  done
  call "$garth" doctor
  [[ $code == 0 ]] || complain
}

@test "A6 T10 tickets: if a model takes no more requests, tickets of another agent on the same log-in wait too" {
  agents </dev/null
  local both='programs: [fake], run: [./fake, "{prompt_file}"], resume: [./fake, x], env: [THE_KEY], quota: [no more today]'
  configure <<CONFIG
tickets: {agents: [second], at_once: 1}
agents: {default: fake, fake: {$both}, second: {$both}}
CONFIG
  # the key is one that this run alone has
  parent 4 'new one --prompt "DO: test -e /tmp/again || { touch /tmp/again; echo \"no more today|\$((\$(date +%s) + 4))\"; exit 1; }; echo >a; save a"
    new two --agent second --prompt "DO: echo >b; save b"
    i=0; until garth ticket ls --json | grep -q "log-in of second takes no more" || [ $((i += 1)) = 80 ]; do sleep 0.1; done
    garth ticket ls --json; garth ticket cancel t1; garth ticket cancel t2' --env THE_KEY=k
  [[ $out == *'the log-in of second takes no more requests'* ]] || complain
}

@test "A6 tickets: what the user cancelled, the task cannot try again; what it cancelled itself, it can; the user resumes one" {
  agents </dev/null
  parent 3 'new one --prompt "DO: sleep 600"; new two --prompt "DO: sleep 600"; while [ $(garth ticket ls | grep -c running) != 2 ]; do sleep 0.1; done'
  call "$garth" cancel p.t1
  [[ $code == 0 ]] || complain
  [[ $(state_of p.t1) == cancelled ]]
  is_ticket t1 cancelled
  again 'garth ticket retry t1; echo $?; garth ticket cancel t1; garth ticket retry t1 "DO: echo no >no; save no"; garth ticket cancel t2; garth ticket retry t2 "DO: echo 2 >two; save two"; garth ticket wait; garth ticket ls' 2>&1
  [[ $err == *"BLOCKED: the user cancelled ticket 't1'"*"BLOCKED: the user cancelled ticket 't1'"* ]] || complain
  [[ $out == 4$'\n'*'t1  cancelled'*'(the user cancelled it)'*'t2  finished'* ]] || complain
  call "$garth" resume p.t1
  [[ $code == 0 ]] || complain
  again 'garth ticket wait; garth ticket merge t1'
  [[ $out == *'t1  merged'* ]] || complain
}

# spent TASK SECONDS: as if its run had begun that much earlier.
spent() { sqlite3 "$GARTH_HOME/garth.db" "UPDATE run SET started = started - $2 WHERE task_id = (SELECT id FROM task WHERE name = '$1')"; }
block() { call "$garth" run --quiet --task "$1" --tickets 1 --timeout 1h --agent fake -- ./fake 'DO: garth ticket new one --prompt "DO: sleep 2" >/dev/null; garth ticket wait --block'; }

@test "ESCAPES 26 A6 H6 tickets: a task is discarded with its tickets, or none of them; that is one undo" {
  agents </dev/null
  parent 2 'for i in 1 2; do new x$i --prompt "DO: echo $i >f$i; save f$i"; done; garth ticket wait; garth ticket merge t1; garth ticket merge t2; echo only >only'
  [[ $out == *'t2  merged'* ]] || complain
  fails 4 "task 'p' has the only copy of its work" "$garth" discard p
  # in which order they ended is not known
  names() { "$garth" ls --json | json 'sorted(t["name"] for t in d["tasks"])'; }
  [[ $(names) == '["p", "p.t1", "p.t2"]' ]] || complain "$(names)"
  call "$garth" discard -fD p
  [[ $(names) == '[]' ]] || complain "$(names)"
  call "$garth" undo
  [[ $(names) == '["p", "p.t1", "p.t2"]' ]] || complain "$(names)"
  [[ $(inside p 'cat only; garth ticket ls') == 'only'*'t1  merged'*'t2  merged'* ]] || complain "$(inside p 'garth ticket ls')"
}

@test "ESCAPES 26 A6 tickets: a task is archived with its tickets: emptying the trash loses nothing" {
  agents </dev/null
  parent 2 'for i in 1 2; do new x$i --prompt "DO: echo $i >f$i; save f$i"; done; garth ticket wait; garth ticket merge t1'
  "$garth" archive p
  [[ $("$garth" ls --json | json 'd["tasks"]') == '[]' ]] || complain
  "$garth" gc --empty-trash
  call "$garth" undo
  [[ $code == 0 ]] || complain
  [[ $(inside p 'garth ticket merge t2; cat f1 f2') == *'t2  merged'*$'1\n2' ]] || complain "$(inside p 'garth ticket ls')"
}

@test "A6 tickets: a task that waits for its tickets does not have its --timeout anew when it is resumed" {
  agents </dev/null
  configure <<'CONFIG'
agents: {default: fake, fake: {programs: [fake], run: [./fake, "{prompt_file}"], resume: [sh, -c, "echo resumed; sleep 600", "{answer}"]}}
CONFIG
  block p
  [[ $code == 6 ]] || complain
  spent p 3597
  call timeout 60 "$garth" wait p
  [[ $err == *"task 'p' failed: stopped when its time was up"* ]] || complain
  [[ $("$garth" log p) == *resumed* ]] || complain "$("$garth" log p)"
  # if nothing is left, the user is asked, and nothing waits any more
  block q
  [[ $code == 6 ]] || complain
  spent q 3601
  call timeout 60 "$garth" wait q
  [[ $code == 6 ]] || complain
  [[ $("$garth" show q) == *'It is not resumed: its time is used up: 3600 seconds for all of its runs'* ]] || complain "$("$garth" show q)"
}

@test "A6 tickets: a request that is answered while another one adds a ticket does not fail" {
  if ! has_faults; then skip 'needs a build with faults'; fi
  agents </dev/null
  parent 3 'new one --prompt "DO: true"; garth ticket wait'
  local id listing; id=$(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT id FROM task WHERE name = 'p'")
  GARTH_FAULT=stop:tickets-listed "$garth" ticket-request "$id" GET "" </dev/null >"$T/list" 2>&1 3>&- & listing=$!
  eventually stopped "$listing"
  "$garth" ticket-request "$id" POST "" <<<'{"title": "two", "prompt": "DO: echo 2 >two; save two"}' >"$T/new"
  [[ $(<"$T/new") == '{"status":201,'* ]] || complain "$(<"$T/new")"
  kill -CONT "$listing"; wait "$listing"
  [[ $(<"$T/list") == '{"status":200,"answer":{"tickets":[{"id":"t1",'* ]] || complain "$(<"$T/list")"
  eventually is_ticket t2 finished
}
