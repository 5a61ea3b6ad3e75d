load helpers

# chain N TASK…: appends N events of each task to the audit log, as its format says, and tells the store.
chain() {
  [[ -f $GARTH_HOME/garth.db ]] || "$garth" ls >/dev/null
  "$python" - "$GARTH_HOME" "$@" <<'PY'
import hashlib, json, os, sqlite3, sys
home, n, tasks = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
path = home + "/audit.jsonl"
seq, prev = 0, ""
if os.path.exists(path):
    for line in open(path):
        o = json.loads(line)
        seq, prev = o["seq"], o["hash"]
with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as f:
    for i in range(n):
        for t in tasks:
            seq += 1
            o = {"v": 1, "seq": seq, "time": "2026-01-31T12:00:%02d.123Z" % (i % 60), "event": "publish", "task": t,
                 "task_id": 7, "n": i, "words": "a b=c\n\u001b[2J", "tip": "abc123", "prev": prev}
            body = json.dumps(o, separators=(",", ":"))[:-1]
            prev = hashlib.sha256(body.encode()).hexdigest()
            f.write(body + ',"hash":"' + prev + '"}\n')
db = sqlite3.connect(home + "/garth.db")
db.execute("INSERT OR REPLACE INTO fact VALUES ('audit_head', ?)", ("%d %s" % (seq, prev),))
db.commit()
PY
}

log() { printf %s "$GARTH_HOME/audit.jsonl"; }

@test "G7 audit: an empty log" {
  call "$garth" audit
  [[ $code == 0 ]] || complain
  [[ -z $out ]] || complain
  [[ -z $err ]] || complain
  [[ $("$garth" audit --json | json "d['events']") == '[]' ]]
  [[ $("$garth" audit --verify) == '✓ 0 lines, whole' ]]
}

@test "G7 audit: one line per event, cleaned for a terminal" {
  chain 2 fix other
  call "$garth" audit
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  [[ $(wc -l <<<"$out") == 4 ]] || complain
  [[ $(head -n1 <<<"$out") =~ ^'2026-01-31 12:00:00  fix '\ +'publish '\ +'n=0 words="a b=c\n\u001'[bB]'[2J" tip=abc123'$ ]] || complain
  not grep -q $'\033' <<<"$out"
}

@test "G7 audit: long values are cut" {
  chain 1 fix
  "$python" - "$(log)" <<'PY'
import sys
p = sys.argv[1]
s = open(p).read().replace("abc123", "\\u00e4" * 500)
open(p, "w").write(s)
PY
  call "$garth" audit
  (($(wc -c <<<"$out") < 300)) || complain
  [[ $out == *ä...* ]] || complain
}

@test "G7 audit: the events of one task, the last events, and those of a removed task" {
  chain 5 fix other
  [[ $("$garth" audit fix | wc -l) == 5 ]]
  [[ $("$garth" audit | wc -l) == 10 ]]
  [[ $("$garth" audit -n 3 | wc -l) == 3 ]]
  [[ $("$garth" audit -n 0 | wc -l) == 0 ]]
  [[ $("$garth" audit -n 100 other | wc -l) == 5 ]]
  [[ $("$garth" audit -n 2 fix --json | json "[(e['n'], e['task']) for e in d['events']]") == '[[3, "fix"], [4, "fix"]]' ]]
  changes_nothing 3 "there is no task 'nobody'" "$garth" audit nobody
  changes_nothing 3 "there is no task 'nobody'" "$garth" audit -f nobody
  changes_nothing 2 "'x' is not a number" "$garth" audit -n x
  changes_nothing 2 "'-1' is not a number" "$garth" audit -n -1
}

@test "G7 audit: existing and discarded tasks are known, even if nothing is recorded about them" {
  "$garth" new here
  "$garth" new gone
  "$garth" discard gone
  call "$garth" audit here
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  call "$garth" audit gone
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  "$garth" audit --verify
}

@test "G7 audit --json: the lines as they are, in one object" {
  chain 3 fix
  "$garth" audit --json >"$T/got"
  [[ $(json "len(d['events'])" <"$T/got") == 3 ]]
  while read -r line; do grep -qF -- "$line" "$T/got"; done <"$(log)"
}

@test "G7 audit --verify: finds changed, removed, swapped and cut-off lines" {
  chain 20 fix
  [[ $("$garth" audit --verify) == '✓ 20 lines, whole' ]]
  [[ $("$garth" audit --verify --json | json "[d['line_count'], d['whole']]") == '[20, true]' ]]
  cp "$(log)" "$T/log"
  sed '7s/publish/PUBLISH/' "$T/log" >"$(log)"
  fails 5 "line 7 (seq 7) was changed" "$garth" audit --verify
  sed '7d' "$T/log" >"$(log)"
  fails 5 "after line 6: seq 7 is missing" "$garth" audit --verify
  sed '7{h;d};8G' "$T/log" >"$(log)"
  fails 5 "line 7 (seq 8) is not in its place" "$garth" audit --verify
  head -n 15 "$T/log" >"$(log)"
  fails 5 "the log ends at seq 15, the store knows of 20" "$garth" audit --verify
  sh -c "$(hint)"
  [[ -f $(log).old ]]
  [[ ! -e $(log) ]]
  fails 5 "the log ends at seq 0" "$garth" audit --verify
  # what comes after a new beginning is verified as before
  for i in 1 2 3; do "$garth" new a$i; done; fails 5 "the log begins at seq 21: what was before is missing" "$garth" audit --verify
  sed -i '2s/a2/a9/' "$(log)"; fails 5 "the log begins at seq 21 (what was before is missing), and further on: line 2 (seq 22) was changed" "$garth" audit --verify
  call "$garth" audit --verify --json
  [[ $code == 5 ]] || complain
  [[ $(json "d['error']['code']" <<<"$out") == conflict ]] || complain
  fails 2 "--verify" "$garth" audit --verify fix
}

@test "G7 audit: a line that cannot be read is reported and hides nothing else" {
  chain 3 fix
  sed -i '2s/^./x/' "$(log)"
  call "$garth" audit
  [[ $code == 0 ]] || complain
  [[ $(wc -l <<<"$out") == 2 ]] || complain
  [[ $err == *'1 line of the audit log cannot be read'* ]] || complain
  call "$garth" audit --json
  [[ $(json "len(d['events'])" <<<"$out") == 2 ]] || complain
}

@test "G7 audit --follow: prints what is appended, and ends with its reader" {
  chain 2 fix
  "$garth" audit --follow --json fix >"$T/follow" 3>&- &
  pid=$!
  eventually bash -c '(($(wc -l <"$0") == 2))' "$T/follow"
  chain 1 other fix
  eventually bash -c '(($(wc -l <"$0") == 3))' "$T/follow"
  # another log at its place
  mv "$(log)" "$(log).old"
  chain 1 fix
  eventually bash -c '(($(wc -l <"$0") == 4))' "$T/follow"
  kill "$pid"
  wait "$pid" || true
  "$python" -c 'import json, sys
for l in open(sys.argv[1]): assert json.loads(l)["task"] == "fix"' "$T/follow"
  timeout 20 bash -c '"$0" audit --follow | head -n 1' "$garth" 3>&- >"$T/one"
  [[ $(wc -l <"$T/one") == 1 ]]
}

# The attack asks for hundreds of things that are recorded: the same refused host again and again, and long words that are
# six times as long when they are escaped.
@test "G7 ESCAPES 20 22 audit: a flood of events becomes few lines with the right count, and the chain is complete" {
  call "$garth" run --net allow -t t -- python3 -c '
import http.client, os, socket
for i in range(300):
    s = socket.create_connection(("127.0.0.1", 23128)); s.sendall(b"CONNECT registry.example:443 HTTP/1.1\r\n\r\n"); s.recv(100); s.close()
class unix(http.client.HTTPConnection):
    def connect(self): self.sock = socket.socket(socket.AF_UNIX); self.sock.connect(os.environ["GARTH_SOCKET"])
c = unix("garth")
for i in range(300):
    c.request("POST", "/api/v1/git/reset", "{\"args\": [%s]}" % ", ".join("\"%03d%s\"" % (i, "\\u0001" * 190) for k in range(20)))
    c.getresponse().read()
    if i % 2: c.request("POST", "/api/v1/note", "{\"text\": \"%d%s\"}" % (i, "\\u0001" * 1000))
    else: c.request("POST", "/api/v1/stage/output", "{\"name\": \"n%d\", \"value\": \"%s\"}" % (i, "\\u0001" * 1000))
    c.getresponse().read()
open("new", "w").close(); os.system("git add new; git commit -qm new")'
  [[ $code == 0 ]] || complain
  (($(stat -c %s "$GARTH_HOME/audit.jsonl") < 320000)) || complain "$(stat -c %s "$GARTH_HOME/audit.jsonl") bytes"
  times='sum(e.get("repeated", 1) for e in d["events"] if e["event"] == '
  [[ $("$garth" audit t --json | json "$times\"connect-refused\")") == 300 ]] || complain "$("$garth" audit t | cut -c -200)"
  [[ $("$garth" audit t --json | json "$times\"asked\")") == 300 ]] || complain
  [[ $("$garth" audit t --json | json "$times\"note\")") == 150 ]] || complain
  [[ $("$garth" audit t --json | json "$times\"output\")") == 150 ]] || complain
  (($("$garth" audit t --json | json 'len([e for e in d["events"] if e["event"] == "connect-refused"])') <= 8)) || complain "$("$garth" audit t | cut -c -200)"
  [[ $("$garth" audit t --json | json '[e["event"] for e in d["events"] if e["event"] in ("create", "start", "publish", "end")]') == '["create", "start", "publish", "end"]' ]] ||
    complain "$("$garth" audit t | cut -c -200)"
  "$garth" audit --verify
}

# The attack repeats allowed actions that each get a line: it moves its branch between two published commits and takes
# snapshots, with refusals in between that are counted. It also writes a message of a megabyte to the store.
@test "G7 ESCAPES 20 37 audit: what an agent may do at will leaves little in log, store and reflog, and real work goes on" {
  cat >flood.py <<'PY'
import http.client, json, os, socket, subprocess, sys
class unix(http.client.HTTPConnection):
    def connect(self): self.sock = socket.socket(socket.AF_UNIX); self.sock.connect(os.environ["GARTH_SOCKET"])
c = unix("garth")
def ask(path, **body):
    c.request("POST", "/api/v1/" + path, json.dumps(body)); r = c.getresponse(); return r.status, json.loads(r.read())
def commit(n): return subprocess.check_output("echo %d >>a.txt; git commit -qam %d; git rev-parse HEAD" % (n, n), shell=True, text=True).strip()
tips = commit(1), commit(2)
codes = []
for i in range(300):
    codes.append(ask("git/publish", tip=tips[i % 2])[0])
    if i % 3 == 0: ask("nothing%d" % i)
    if i % 3 == 1: ask("git/reset", args=["\x01" * 190, str(i)])
print("moves", codes.count(200), codes[-1])
codes = [ask("snapshot", message="m%d" % i)[0] for i in range(100)]
print("snapshots", codes.count(200), codes[-1])
print("long", ask("snapshot", message="x" * 1000000)[0])
# what is new is published all the same
subprocess.check_call("git reset -q --hard %s" % subprocess.check_output(["git", "rev-parse", "garth/t"], text=True).strip(), shell=True)
print("new", commit(3))
PY
  commit flood
  call "$garth" run -q -t t -- /usr/bin/python3 flood.py
  [[ $code == 0 ]] || complain
  # the control: the first ones are done
  (($(sed -nE 's/^moves ([0-9]+) .*/\1/p' <<<"$out") >= 30)) || complain
  [[ $out == *'moves '*' 403'*'snapshots '*' 403'*'long 40'* ]] || complain
  [[ $(git rev-parse garth/t) == "$(sed -n 's/^new //p' <<<"$out")" ]] || complain
  (($(stat -c %s "$GARTH_HOME/audit.jsonl") < 320000)) || complain "$(stat -c %s "$GARTH_HOME/audit.jsonl") bytes"
  (($(sqlite3 -readonly "$GARTH_HOME/garth.db" 'SELECT sum(length(message)) FROM snapshot') < 10000))
  "$garth" audit --verify
  # the user takes as many as wanted
  "$garth" snapshot t -m "of the user's"
}
