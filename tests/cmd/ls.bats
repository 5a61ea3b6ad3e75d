load helpers

@test "O3 ls: nothing at all" {
  call "$garth" ls
  [[ $code == 0 && -z $out && -z $err ]] || complain
  [[ $("$garth" ls --json | json 'd["tasks"]') == "[]" ]]
}

@test "O3 ls: a table with a line for each task" {
  "$garth" new one; "$garth" run -t two -- sh -c 'exit 3' || true
  call "$garth" ls
  [[ $code == 0 && $(wc -l <<<"$out") == 3 ]] || complain
  [[ $(awk '{ print $1, $2 }' <<<"$out") == $'TASK STATE\none created\ntwo failed' ]] || complain
  grep -qE '^two .*sh -c' <<<"$out"
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
  [[ $(wc -l <<<"$out") == 2 && $out != *$'\e'* && $out != *$'\a'* ]] || complain
}

@test "O3 ls: a thousand tasks in a blink" {
  "$garth" new t
  python3 - "$GARTH_HOME/garth.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
row = db.execute("SELECT project_id, branch, base, layer, target, backend, workspace, shown, strict, created, changed FROM task").fetchone()
db.executemany("INSERT INTO task (project_id, branch, base, layer, target, backend, workspace, shown, strict, created, changed, name, state)"
               " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,'created')", [row + ("n%d" % i,) for i in range(1000)])
db.commit()
PY
  began=$(date +%s%N)
  "$garth" ls >"$T/out"
  took=$((($(date +%s%N) - began) / 1000000))
  [[ $(wc -l <"$T/out") == 1002 ]]
  ((took < 1000)) || complain "$took ms"
}
