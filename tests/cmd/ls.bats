load helpers

@test "O3 ls: nothing at all" {
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
  [[ $(wc -l <<<"$out") == 2 ]] || complain
  [[ $out != *$'\e'* ]] || complain
  [[ $out != *$'\a'* ]] || complain
}

@test "O3 ls: a thousand tasks are listed quickly" {
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
