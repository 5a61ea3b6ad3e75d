load helpers

@test "O3 ls: without any task it says so" {
  call "$garth" ls
  [[ $code == 0 ]] || complain
  [[ -z $out ]] || complain
  [[ -z $err ]] || complain
  [[ $("$garth" ls --json | json 'd["tasks"]') == "[]" ]]
}

@test "O3 ls: a table with a line for each task" {
  "$garth" new one; "$garth" run -t two -- sh -c 'exit 3' || true
  call "$garth" ls
  [[ $code == 0 ]] || complain
  [[ $(wc -l <<<"$out") == 3 ]] || complain
  [[ $(awk '{ print $1, $2 }' <<<"$out") == $'TASK STATE\ntwo failed\none created' ]] || complain
  grep -qE '^two .* exit code 3  sh -c' <<<"$out"
}

# A task that is done, and that nobody has looked at.
done_task() { "$garth" run -q -t "$1" -- sh -c "${2-true}" </dev/null; }
attention() { "$garth" ls --json | json "[t['attention'] for t in d['tasks'] if t['name'] == '$1'][0]"; }
names() { "$garth" ls "$@" 2>/dev/null | awk 'NR > 1 { print $1 }' | tr '\n' ' '; }

@test "O3 ls: what wants attention comes first, in groups; within a group the oldest" {
  "$garth" new idle
  "$garth" run -q -d -t busy -- sleep 300
  done_task done1; done_task done2; "$garth" show done1 >/dev/null
  done_task clash1 'echo 1 >a.txt; git commit -qam "one line"'
  done_task clash2 'echo 2 >a.txt; git commit -qam two'
  done_task broken 'exit 3' || true
  done_task asks 'echo "Which one?" >"$GARTH_QUESTION_FILE"' || true
  [[ $(names) == 'asks broken clash1 clash2 done2 busy idle done1 ' ]]
  [[ $(names --state attention) == 'asks broken clash1 clash2 done2 ' ]]
  [[ $("$garth" ls --json | json '[t["attention"] for t in d["tasks"]]') == '[null, null, null, "unseen", "conflict", "conflict", "failed", "blocked"]' ]]
  call "$garth" ls
  grep -qE '^asks +blocked +=  .* asks: Which one\?$' <<<"$out"
  grep -qE '^clash1 +done, new +! +\+1 +\+1 −1 .*  one line$' <<<"$out"
  grep -qE '^done2 +done, new ' <<<"$out"
  grep -qE '^done1 +done  ' <<<"$out"
  [[ $(grep -c . <<<"$err") == 3 ]] || complain
  [[ $err == *"▲ clash1 conflicts with clash2: a.txt"* ]] || complain
}

@test "O3 ls: the project of the current directory; elsewhere all, with their projects" {
  mkdir "$T/home/src/lib" "$T/home/src/none" "$T/home/plain"
  git init -q "$T/home/src/lib"; git init -q "$T/home/src/none"
  git -C "$T/home/src/lib" commit -q --allow-empty -m first
  "$garth" new mine; at "$T/home/src/lib" "$garth" new theirs
  [[ $(names) == 'mine ' ]]
  [[ $(at dir "$garth" ls | head -n 1) != *PROJECT* ]]
  [[ $(names --all-projects) == 'mine theirs ' ]]
  "$garth" ls -A | grep -qE '^theirs +created +lib '
  for dir in "$T/home/plain" "$T/home/src/none" /; do
    [[ $(cd "$dir" && names) == 'mine theirs ' ]]
    at "$dir" "$garth" ls | grep -qE '^mine +created +app '
  done
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["mine"]' ]]
  [[ $("$garth" ls -A --json | json '[t["name"] for t in d["tasks"]]') == '["mine", "theirs"]' ]]
  at "$T/home/src/lib" "$garth" run -q -t bad -- false || true
  T=$T terminals <<'PY'
t = garth("ls"); t.wait()
assert "1 task of other projects wants attention" in t.text and "garth ls --all-projects" in t.text, t.text
os.chdir(os.environ["T"] + "/home/src/none")
t = garth("ls"); t.wait()
assert "this project has no tasks; these are all others" in t.text, t.text
PY
}

@test "O3 ls: a task without a repository is in every list" {
  "$garth" new mine
  "$garth" new --empty free
  [[ $(names) == 'mine free ' ]]
  [[ $("$garth" ls | head -n 1) != *PROJECT* ]]
}

@test "O3 ls: a task is seen after diff, show, log, review or merge, and unseen after more" {
  local c n=0
  for c in "diff" "diff --published" "show" "log" "review --print"; do
    n=$((n + 1)); done_task t$n "echo x >x$n; git add .; git commit -qm x"
    "$garth" ls >/dev/null
    [[ $(attention t$n) == unseen ]]
    "$garth" $c t$n >/dev/null
    [[ $(attention t$n) == null ]]
  done
  inside t1 'git commit -q --allow-empty -m more'; [[ $(attention t1) == unseen ]]
  # a program that reads the JSON does not count as the user
  done_task u
  for c in "diff --json u" "show --json u" "log --json u"; do "$garth" $c >/dev/null; done
  [[ $(attention u) == unseen ]]
  done_task v 'echo v >v; git add v; git commit -qm v'
  "$garth" merge -q --keep v; "$garth" undo -q v
  [[ $(attention v) == null ]]
  # the user was there when it ended
  terminals <<'PY'
t = garth("run", "-t", "w", "--", "true"); assert t.wait() == 0
PY
  [[ $(attention w) == null ]]
}

@test "O3 ls: in a copied Garth home looking marks nothing, and fails at nothing" {
  done_task t
  cp -a "$GARTH_HOME" "$T/copy" 2>/dev/null || true  # an overlay leaves a directory that nobody may read
  GARTH_HOME=$T/copy "$garth" show t >/dev/null
  [[ $(GARTH_HOME=$T/copy "$garth" ls --json | json 'd["tasks"][0]["seen"]') == false ]]
  [[ $(attention t) == unseen ]]
}

@test "O3 ls: lines of the diff against the target, the last subject, a mark for uncommitted work" {
  done_task t 'printf "1\n2\n3\n" >n; echo 2 >a.txt; git add n; git commit -qam "$(printf "sub\033[31mject\n\nbody")"; echo >left' || true
  call "$garth" ls
  grep -qE '^t +failed +\* +\+1 +\+4 −1 +[a-z0-9]+  1 uncommitted file: left  sub\^\[\[31mject$' <<<"$out"
  [[ $("$garth" ls --json | json '[d["tasks"][0][k] for k in ("diff", "dirty", "compared")]') == '[{"file_count": 2, "insertions": 4, "deletions": 1}, true, true]' ]]
  inside t 'rm left'; "$garth" show t >/dev/null
  [[ $("$garth" ls --json | json 'd["tasks"][0]["dirty"]') == false ]]
  # the target moves: the same diff, one behind
  git commit -q --allow-empty -m on
  "$garth" ls | grep -qE '^t +done +\+1 -1 +\+4 −1 '
  # after a merge that keeps it, only what is new counts
  "$garth" merge -q --keep t; inside t 'echo 5 >five; git add five; git commit -qm five'
  "$garth" ls | grep -qE '^t +done, new +\+1 -2 +\+1 −0 .* five$'
}

@test "O3 ls: runs no program that the repository's configuration or attributes name" {
  printf '#!/bin/sh\ntouch %s/ran\ncat\n' "$T" >"$T/evil"; chmod +x "$T/evil"
  echo '* diff=evil merge=evil' >.gitattributes; git add .gitattributes; git commit -qm attributes
  done_task t 'echo 1 >a.txt; git commit -qam t'
  done_task u 'echo 2 >a.txt; git commit -qam u'
  local k
  for k in diff.evil.textconv diff.evil.command diff.external filter.evil.clean filter.evil.smudge filter.evil.process merge.evil.driver core.fsmonitor core.pager core.alternateRefsCommand; do git config $k "$T/evil"; done
  "$garth" ls | grep -qE '^t .* \+1 −1 '
  [[ $(attention t) == conflict ]]
  [[ ! -e $T/ran ]]
}

@test "O3 ls: --state and --agent choose, and wrong words are refused" {
  "$garth" new idle; done_task t; done_task broken false || true
  [[ $(names --state failed) == 'broken ' ]]
  [[ $(names --state failed,created) == 'broken idle ' ]]
  [[ $(names -s done -s created) == 't idle ' ]]
  [[ $(names --agent false) == '' ]]
  [[ $(names --agent sh) == 'broken t ' ]]
  call "$garth" ls --state merged
  [[ $code == 0 ]] || complain
  [[ -z $out ]] || complain
  "$garth" discard idle
  [[ $(names --state discarded) == 'idle ' ]]
  fails 2 "there is no state 'dnoe': there are attention, blocked," "$garth" ls --state dnoe
  fails 2 "there is no state ''" "$garth" ls --state failed,
  [[ $("$garth" ls --json --state failed | json '[t["name"] for t in d["tasks"]]') == '["broken"]' ]]
}

@test "O3 ls: nothing wraps at 80 columns, and at 200 the last column gets the room; wide characters count twice" {
  done_task a-task-with-a-very-long-name-that-takes-forty-columns 'echo 1 >a.txt; git commit -qam "日本語のコミットメッセージは長い — naïve café and more words until it is over"'
  done_task b 'echo 2 >a.txt; git commit -qam "short"'
  LC_ALL=C.UTF-8 NO_COLOR=1 terminals <<'PY'
import unicodedata
def wide(s): return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in s)
for cols in (60, 80, 200):
    t = Terminal(["sh", "-c", "stty cols %d; exec \"$@\"" % cols, "sh", GARTH, "ls"], cols=cols); t.wait()
    table = [l for l in t.text.replace("\r", "").split("\n") if l.startswith(("TASK", "a-task", "b "))]
    assert len(table) == 3, t.text
    assert all(wide(l) <= cols for l in table), (cols, table)
    assert cols == 200 or wide(table[1]) >= cols - 1, (cols, table)
    assert ("until it is over" in table[1]) == (cols == 200), table
    assert ("a-task-with-a-very-long-name-that-takes-forty-columns" in table[1]) == (cols == 200), table
    # the columns are below their titles
    at = table[0].index("LAST")
    assert table[2][at:] == "short", table
PY
}

@test "O3 ls: --watch follows changes, rings the bell if one more task wants attention, sets the title, quits with q" {
  "$garth" run -q -d -t busy -- sh -c 'until [ -e go ]; do sleep 0.05; done; exit 3'
  NO_COLOR=1 terminals <<'PY'
t = garth("ls", "--watch", rows=10, cols=80)
before = None
t.expect("\x1b[?1049h"); t.expect("\x1b]0;garth: 1 running\a"); t.expect("busy  running")
assert "\a\x1b[H" not in t.text, t.text
subprocess.run([GARTH, "new", "other"], check=True, capture_output=True)
t.expect("other  created")
assert "\a\x1b[H" not in t.text, t.text
subprocess.run([GARTH, "exec", "busy", "--", "touch", "go"], check=True, capture_output=True)
t.expect("\a\x1b[H\x1b]0;garth: 1 wants attention\a"); t.expect("busy   failed")
subprocess.run([GARTH, "new", "third"], check=True, capture_output=True)
t.expect("third  created")
assert t.text.count("\a\x1b[H") == 1, t.text
# smaller: nothing is wider or longer than the screen
t.resize(4, 30); t.expect("and 2 more")
last = t.text[t.text.rindex("\x1b[H"):]
rows = re.sub(r"\x1b\][^\a]*\a|\x1b\[[0-9?]*[A-Za-z]", "", last).replace("\r", "").split("\n")
assert len(rows) == 4 and all(len(r) <= 30 for r in rows), rows
# a line that is full to the last column is not erased
assert "…\x1b[K" not in t.text and "…\x1b[J" not in t.text, t.text
t.send("q"); assert t.wait() == 0
assert t.text.endswith("\x1b[?7h\x1b[?25h\x1b[?1049l\x1b[23;0t"), t.text[-80:]
PY
}

@test "O3 ls: a task that is paused does not run" {
  "$garth" run -q -d -t a -- sleep 1000 >/dev/null
  "$garth" run -q -d -t b -- sleep 1000 >/dev/null
  "$garth" pause -q b
  NO_COLOR=1 terminals <<'PY'
t = garth("ls", "--watch", rows=10, cols=80)
t.expect("0 want attention, 1 runs, 2 listed")
t.send("q"); assert t.wait() == 0
PY
}

@test "O3 ls: what a running task prints is activity" {
  active() { "$garth" ls --json | json 'd["tasks"][0]["last_active"]'; }
  "$garth" run -q -d -t t -- sh -c 'until [ -e go ]; do sleep 0.05; done; echo hello; exec sleep 1000' >/dev/null
  before=$(active); sleep 1.1
  [[ $(active) == "$before" ]]
  "$garth" exec t -- touch go
  later() { [[ $(active) > $before ]]; }
  eventually later
}

@test "O3 ls: --watch restores the terminal on Ctrl-C and on a signal, and needs one" {
  "$garth" new t
  terminals <<'PY'
import termios
shell = 'trap : INT; stty -a >"$T/before"; "$0" ls --watch; echo "code $?"; stty -a >"$T/after"; cmp "$T/before" "$T/after" && echo same'
os.environ["T"] = os.environ["HOME"]
for how, code in (("\x03", 0), (None, 143)):
    t = Terminal(["sh", "-c", shell, GARTH]); t.expect("created")
    if how:
        t.send(how)
    else:
        [pid] = subprocess.run(["pgrep", "-P", str(t.pid)], capture_output=True, text=True).stdout.split()
        os.kill(int(pid), signal.SIGTERM)
    t.expect("\x1b[?1049l"); t.expect("code %d" % code); t.expect("same"); t.wait()
PY
  fails 4 "--watch needs a terminal" "$garth" ls --watch
  call "$garth" ls --watch --json
  [[ $code == 2 ]] || complain
}

@test "O3 ls: from anywhere, and --json with every field" {
  "$garth" run -t t -- sh -c 'exit 3' || true
  cd /
  "$garth" ls --json | json 'd["tasks"][0]' >"$T/t"
  python3 - "$T/t" <<'PY'
import json, sys
t = json.load(open(sys.argv[1]))
assert set(t) >= {"id", "name", "project", "state", "branch", "base", "target", "backend", "workspace", "strict",
                  "created", "removed", "command", "session", "started", "ended", "exit_code"}, t
assert t["exit_code"] == 3 and t["state"] == "failed" and t["created"].endswith("Z") and t["removed"] is None
PY
}

@test "O3 ls: --all shows discarded ones too" {
  "$garth" new one; "$garth" new two; "$garth" discard one
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["two"]' ]]
  [[ $("$garth" ls -a --json | json '[[t["name"], t["state"], t["removed"] is None] for t in d["tasks"]]') == '[["one", "discarded", false], ["two", "created", true]]' ]]
  "$garth" new one
  [[ $("$garth" ls --all | grep -c '^one ') == 2 ]]
}

@test "O3 ls: what a command line holds is cleaned for the table" {
  "$garth" run -t t -- sh -c $'true \e[31m\a\n second line' || true
  call "$garth" ls
  [[ $(wc -l <<<"$out") == 2 ]] || complain
  [[ $out != *$'\e'* ]] || complain
  [[ $out != *$'\a'* ]] || complain
}

@test "O3 ls: a thousand tasks are listed without a git for each of them" {
  "$garth" new t
  python3 - "$GARTH_HOME/garth.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
row = db.execute("SELECT project_id, branch, base, layer, target, backend, workspace, shown, strict, created, changed FROM task").fetchone()
db.executemany("INSERT INTO task (project_id, branch, base, layer, target, backend, workspace, shown, strict, created, changed, name, state)"
               " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,'created')", [row + ("n%d" % i,) for i in range(1000)])
db.commit()
PY
  strace -f -qq -e trace=execve -e signal=none -o "$T/trace" "$garth" ls >"$T/out"
  [[ $(wc -l <"$T/out") == 1002 ]]
  (($(grep -c 'execve(.*= 0$' "$T/trace") < 10)) || complain "$(head "$T/trace")"
}

@test "T1 T6 ls, show: a task without events for cleanup.stale_after is marked, running or not" {
  "$garth" new old; "$garth" new young; "$garth" new gone; "$garth" discard gone
  "$garth" run -q -d -t busy -- sleep 300
  python3 - "$GARTH_HOME/garth.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE task SET changed = changed - 700000 WHERE name != 'young'")
db.execute("UPDATE run SET started = started - 700000")
db.commit()
PY
  [[ $("$garth" ls -a --json | json 'sorted(t["name"] for t in d["tasks"] if t["stale"])') == '["busy", "old"]' ]]
  [[ $(field old stale) == true ]]
  [[ $(field young stale) == false ]]
  "$garth" show old | grep -qx 'state  *created, stale'
  "$garth" show young | grep -qx 'state  *created'
  "$garth" ls >"$T/out"
  grep -qE '^busy .* stale  sleep 300' "$T/out"
  grep -q '^old .* stale' "$T/out"
  not grep -q '^young .*stale' "$T/out"
  # a running task is not stale, however old its last run is
  python3 -c 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.execute("UPDATE run SET ended = started + 699990"); db.commit()' "$GARTH_HOME/garth.db"
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"] if t["stale"]]') == '["old"]' ]]
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo 'cleanup: {stale_after: 9d}' >"$XDG_CONFIG_HOME/garth/config.yaml"
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"] if t["stale"]]') == '[]' ]]
}

@test "G11 ls: conflicting tasks with their paths, each pair once" {
  local t
  for t in a b c; do
    "$garth" new $t
    inside $t "echo $t >>a.txt; git commit -qam $t"
  done
  inside c 'echo c >n; git add n; git commit -qm n'
  "$garth" new d
  inside d 'echo d >n; git add n; git commit -qm n'
  call "$garth" ls
  [[ $code == 0 ]] || complain
  [[ $(grep conflicts <<<"$err") == $'▲ a conflicts with b, c: a.txt\n▲ b conflicts with c: a.txt\n▲ c conflicts with d: n' ]] || complain
}

@test "G11 ls, show: conflicts concern a task's own changes, with its target and with other tasks" {
  "$garth" new old; inside old 'echo old >>a.txt; git commit -qam old'
  "$garth" new idle; inside idle 'echo x >x; git add x; git commit -qm x'; "$garth" merge --keep idle
  echo new >>a.txt; commit
  "$garth" sync idle
  call "$garth" ls; [[ $(grep conflicts <<<"$err") == '▲ old conflicts with main: a.txt' ]] || complain
  [[ $("$garth" show old --json | json 'd["conflicts"]') == '[{"task": null, "path": "a.txt"}]' ]]
  [[ $("$garth" show idle --json | json 'd["conflicts"]') == '[]' ]]
  "$garth" show old | grep -qx 'conflicts  *main: a.txt'
}
