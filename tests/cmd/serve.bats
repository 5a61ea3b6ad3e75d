load helpers

setup() {
  garth_setup
  servers=()
}

teardown() {
  local pid
  for pid in "${servers[@]}"; do ended "$pid"; done
  garth_teardown
}

# ended PID: killed if it is there, and waited for.
ended() { kill -9 "$1" 2>/dev/null || true; wait "$1" 2>/dev/null || true; }

# up [ARGS…]: a server on a free port; $server is its pid, $url its address, $T/serve.N its output.
up() {
  said=$T/serve.${#servers[@]}
  : >"$said.out"
  "$garth" serve --port 0 "$@" >"$said.out" 2>"$said.err" </dev/null 3>&- &
  server=$!
  servers+=("$server")
  eventually grep -q /api/v1 "$said.out" || complain "$(cat "$said.err")"
  url=$(<"$said.out")
}

# get PATH [CURL ARGS…]: with the token; $status and $out.
get() {
  local path=$1; shift
  bare "$path" -H "Authorization: Bearer $(<"$GARTH_HOME/serve.token")" "$@"
}

# The same without the token.
bare() {
  local path=$1 body=$T/body.$BASHPID; shift
  status=$(curl -sS --path-as-is --max-time 20 -o "$body" -w '%{http_code}' "$@" "$url$path" 3>&-) || complain "curl: $path"
  out=$(<"$body")
}

# denied STATUS CODE get|bare PATH…: refused with these, as JSON, and nothing else is answered.
denied() {
  local want=$1 reason=$2; shift 2
  "$@"
  [[ $status == "$want" ]] || complain "wanted $want, got $status: $*" || return
  [[ $out =~ ^'{"version":2,"error":{"code":"'$reason'","message":"'[^\"]+'","hint":null}}'$ ]] || complain "$*"
}

# What of `show --json` two calls have in common while others use the disk.
steady() { json '{k: v for k, v in d.items() if k not in ("limits", "disk")}'; }

db() { sqlite3 -cmd '.timeout 20000' "$GARTH_HOME/garth.db" "$1"; }

# aged SECONDS TASK…: as if nothing had happened to them for that long.
aged() {
  local n=$1 name; shift
  for name; do
    db "UPDATE task SET created = created - $n, changed = changed - $n WHERE name = '$name';
      UPDATE run SET started = started - $n, ended = max(0, ended - $n) WHERE task_id IN (SELECT id FROM task WHERE name = '$name')"
  done
}

# last ROW: when it was last done.
last() { db "SELECT coalesce((SELECT value FROM fact WHERE key = 'serve_$1'), 'never')"; }
# earlier ROW SECONDS: as if it had been done that much earlier.
earlier() { db "UPDATE fact SET value = value - $2 WHERE key = 'serve_$1'"; }
was_done() { [[ $(last "$1") != never ]]; }
all_done() { was_done hourly && was_done daily && was_done weekly; }

names() { "$garth" ls --json | json '" ".join(sorted(t["name"] for t in d["tasks"]))' | tr -d '"'; }
# What a round did, in words.
ran() { "$garth" serve --once --json | tr -d ' "\n' | sed -nE 's/^\{ran:(\[[a-z,]*\]).*/\1/p'; }

@test "O1 serve: with the token it answers as the commands do; without it, or with another, it does not" {
  local token
  "$garth" new t; inside t 'echo x >x; git add x; git commit -qm x; echo y >y'; "$garth" new other
  up
  token=$(<"$GARTH_HOME/serve.token")
  [[ $token =~ ^[0-9a-f]{64}$ ]]
  [[ $(stat -c '%a %s' "$GARTH_HOME/serve.token") == '600 65' ]]
  [[ $(stat -c %a "$GARTH_HOME/serve.json") == 600 ]]
  for h in 'X: y' 'Authorization;' 'Authorization: Bearer' "Authorization: $token" "Authorization: Basic $token" "Authorization: Bearer ${token:1}" \
    "Authorization: Bearer ${token}0" "Authorization: Bearer ${token%?}$([[ $token == *0 ]] && echo 1 || echo 0)" "Authorization: Bearer ${token^^}x" "Cookie: token=$token"; do
    denied 401 no_token bare /tasks -H "$h"
  done
  for path in /tasks/t /tasks/t/diff /audit /nothing; do denied 401 no_token bare "$path"; done
  denied 401 no_token bare "/tasks?token=$token"
  # each answer, byte for byte
  get /tasks
  [[ $status == 200 ]] || complain
  [[ $out == "$("$garth" ls --json)" ]] || complain
  # except the limit of the disk, which follows the free space
  get /tasks/t
  [[ $status == 200 ]] || complain
  [[ $(steady <<<"$out") == "$("$garth" show t --json | steady)" ]] || complain
  get /tasks/t/diff
  [[ $status == 200 ]] || complain
  [[ $out == "$("$garth" diff t --json)" ]] || complain
  [[ $out == *'"path": "y"'* ]] || complain
  get /audit
  [[ $status == 200 ]] || complain
  [[ $out == "$("$garth" audit --json)" ]] || complain
  get '/audit?task=t'
  [[ $status == 200 ]] || complain
  [[ $out == "$("$garth" audit --json t)" ]] || complain
  [[ $out != *'"task":"other"'* ]] || complain
  get '/audit?lines=1&task=t'
  [[ $status == 200 ]] || complain
  [[ $out == "$("$garth" audit --json -n 1 t)" ]] || complain
  bare /tasks -H "authorization: bearer $token"
  [[ $status == 200 ]] || complain
}

@test "O1 serve: another server's name or page is refused, token or not (DNS rebinding)" {
  local port h
  up; port=${url##*127.0.0.1:} port=${port%%/*}
  for h in evil.example "evil.example:$port" 127.0.0.1 "127.0.0.1:1" "127.0.0.1:$port.evil.example" "localhost" "[::1]:$port" "127.0.0.1:0$port" "127.1:$port" "x127.0.0.1:$port"; do
    denied 403 foreign_host get /tasks -H "Host: $h"
  done
  denied 403 foreign_host get /tasks -H 'Host;'
  for h in http://evil.example "http://evil.example:$port" null "https://127.0.0.1:$port" http://127.0.0.1 "http://127.0.0.1:$port.evil.example" "http://localhost:1" 'file://'; do
    denied 403 foreign_origin get /tasks -H "Origin: $h"
    denied 403 foreign_origin get /tasks -X OPTIONS -H "Origin: $h" -H 'Access-Control-Request-Method: GET'
  done
  # the control: its own
  for h in "127.0.0.1:$port" "localhost:$port"; do
    get /tasks -H "Host: $h" -H "Origin: http://$h"; [[ $status == 200 ]] || complain "$h"
  done
  get /tasks -D "$T/head"
  not grep -qi '^access-control' "$T/head"
  grep -qi '^cache-control: no-store' "$T/head"
}

# raw LINE…: these lines as a request, with the token; $status and $out.
raw() {
  printf '%s\r\n' "$@" "Authorization: Bearer $(<"$GARTH_HOME/serve.token")" 'Connection: close' '' >"$T/request"
  out=$(python3 -c 'import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
s.sendall(open(sys.argv[2], "rb").read())
print(b"".join(iter(lambda: s.recv(65536), b"")).decode())' "$port" "$T/request")
  status=${out#* } status=${status%% *} out=${out##*$'\n\r\n'} out=${out##*$'\r\n'}
}

@test "O1 serve: a request that can be understood in two ways is refused: a header twice, a target that names a host" {
  local port h
  up; port=${url##*127.0.0.1:} port=${port%%/*}; h="Host: 127.0.0.1:$port"
  # the control
  raw 'GET /api/v1/tasks HTTP/1.1' "$h"; [[ $status == 200 ]] || complain
  denied 400 repeated_header raw 'GET /api/v1/tasks HTTP/1.1' "$h" 'Host: evil.example'
  denied 400 repeated_header raw 'GET /api/v1/tasks HTTP/1.1' 'Host: evil.example' "$h"
  denied 400 repeated_header raw 'GET /api/v1/tasks HTTP/1.1' "$h" "${h,,}"
  denied 400 repeated_header raw 'GET /api/v1/tasks HTTP/1.1' "$h" 'Authorization: Bearer x'
  denied 400 repeated_header raw 'GET /api/v1/tasks HTTP/1.1' "$h" "Origin: http://127.0.0.1:$port" 'Origin: http://evil.example'
  denied 400 bad_header raw 'GET /api/v1/tasks HTTP/1.1' 'Host : evil.example' "$h"
  denied 400 bad_target raw "GET http://127.0.0.1:$port/api/v1/tasks HTTP/1.1" "$h"
  denied 400 bad_target raw 'GET http://evil.example/api/v1/tasks HTTP/1.1' "$h"
  denied 400 bad_target raw "GET //127.0.0.1:$port/api/v1/tasks HTTP/1.1" "$h"
}

@test "O1 serve: only GET, only existing paths, only valid names; large and broken requests do no harm" {
  local m p
  "$garth" new t
  up
  for m in POST PUT OPTIONS BREW; do denied 405 bad_method get /tasks -X "$m"; done
  denied 405 bad_method get /tasks -d '{}'
  get /tasks -I; [[ $status == 405 ]]
  for p in '' / /task /tasksx /tasks/t/ /tasks/t/diff/ /tasks/t/log /audit/t /tasks//diff/x; do denied 404 unknown_path get "$p"; done
  for p in /tasks/ /tasks/-n /tasks/--help /tasks/.. /tasks/../audit /tasks/%74 /tasks/T /tasks/t%20x '/tasks/t%00' /tasks/a..b "/tasks/$(printf 'x%.0s' {1..65})" /tasks//diff; do
    get "$p"; [[ $status == 400 || $status == 404 ]] || complain "$p: $status"
  done
  denied 400 bad_request get /tasks/-n; denied 400 bad_request get /tasks/%74
  for p in '/tasks?x' '/audit?task=' '/audit?task=-x' '/audit?task=t&task=t' '/audit?lines=0' '/audit?lines=10001' '/audit?lines=-1' '/audit?lines=1x' '/audit?verify' '/audit?follow=1' '/audit?%74ask=t'; do
    denied 400 bad_request get "$p"
  done
  get /tasks/nobody
  [[ $status == 404 ]] || complain
  [[ $(json 'd["error"]["code"]' <<<"$out") == not_found ]] || complain
  get '/audit?task=nobody'
  [[ $status == 404 ]] || complain
  python3 - "${url##*//}" <<'PY'
import socket, sys
host, port = sys.argv[1].split("/")[0].split(":")
def say(data):
    s = socket.create_connection((host, int(port)), 20)
    try:
        s.sendall(data); s.shutdown(socket.SHUT_WR)
        return s.recv(100)
    except OSError:
        return b""
for data in (b"", b"\0" * 100, b"GET", b"GET / HTTP/9\r\n\r\n", b"GET /api/v1/tasks HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
             b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\n\r\n", b"POST /api/v1/tasks HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n" + b"x" * 100000):
    got = say(data)
    assert b" 200 " not in got, (data[:50], got)
PY
  # 12 at once, and then none is left
  for m in {1..12}; do (get /tasks/t; [[ $status == 200 ]] && echo fine) & done >"$T/fine"; wait $(jobs -p | grep -vx "$server")
  [[ $(wc -l <"$T/fine") == 12 ]]
  get /tasks; [[ $status == 200 ]] || complain
}

@test "O1 O2 serve: the port: any free one, the configured one, one that is taken; the token is kept" {
  local port token
  up; port=${url##*127.0.0.1:} port=${port%%/*} token=$(<"$GARTH_HOME/serve.token")
  [[ $(json '[d["pid"], d["port"]]' <"$GARTH_HOME/serve.json") == "[$server, $port]" ]]
  ss -Hltn "sport = :$port" | awk '{ print $4 }' | grep -qx "127.0.0.1:$port"; [[ $(ss -Hltn "sport = :$port" | wc -l) == 1 ]]
  fails 1 "cannot listen on port $port of 127.0.0.1" "$garth" serve --port "$port"
  [[ $(hint) == 'garth serve --port 0' ]]
  ended "$server"
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo "serve: {port: $port}" >"$XDG_CONFIG_HOME/garth/config.yaml"
  "$garth" serve --json >"$T/serve.json" 2>"$T/serve.err" 3>&- &
  servers+=("$!")
  eventually grep -q version "$T/serve.json"
  [[ $(json '[d["pid"], d["port"], d["url"]]' <"$T/serve.json") == "[$!, $port, \"$url\"]" ]]
  [[ $(<"$GARTH_HOME/serve.token") == "$token" ]]
  get /tasks
  [[ $status == 200 ]] || complain
  kill "$!"
  wait "$!"
  for p in -1 65536 x '' 1e3; do fails 2 'a port must be' "$garth" serve --port "$p"; done
  fails 2 '--once' "$garth" serve --once --port 1
  # a malformed token, or one that others could read, is not accepted
  chmod 644 "$GARTH_HOME/serve.token"; fails 4 'others' "$garth" serve --port 0
  echo short >"$GARTH_HOME/serve.token"; chmod 600 "$GARTH_HOME/serve.token"; fails 2 'not a token' "$garth" serve --port 0
  : >"$GARTH_HOME/serve.token"; fails 2 'not a token' "$garth" serve --port 0
  rm "$GARTH_HOME/serve.token"; mkfifo "$GARTH_HOME/serve.token"; fails 1 'serve.token' timeout 10 "$garth" serve --port 0
  rm "$GARTH_HOME/serve.token"; up; [[ $(<"$GARTH_HOME/serve.token") != "$token" ]]
}

@test "O1 T6 serve: a second server on the same home answers, leaves the timers to the first, and takes over" {
  local first one
  "$garth" new t; "$garth" serve --once
  up; first=$server one=$url
  up; [[ $url != "$one" ]]
  eventually grep -q 'another garth serve does the timers' "$said.err"
  get /tasks
  [[ $status == 200 ]] || complain
  [[ $out == "$("$garth" ls --json)" ]] || complain
  url=$one
  get /tasks
  [[ $status == 200 ]] || complain
  [[ $(json 'd["pid"]' <"$GARTH_HOME/serve.json") == "$first" ]]
  # many rounds at once do it once
  aged 700000 t; earlier hourly 4000
  local i
  for i in 1 2 3 4; do "$garth" serve --once --json >"$T/round.$i" & done
  wait $(jobs -p | grep -vxF -e "$first" -e "$server")
  [[ $(cat "$T"/round.* | grep -c '"hourly"') == 1 ]] || complain "$(cat "$T"/round.*)"
  [[ $(cat "$T"/round.* | grep -c "stale task 't' is removed") == 1 ]] || complain "$(cat "$T"/round.*)"
  [[ $(names) == '' ]] || complain "$(cat "$T"/round.*)"
  kill -9 "$first"
  eventually grep -q 'does the timers now' "$said.err"
  [[ $(json 'd["pid"]' <"$GARTH_HOME/serve.json") == "$server" ]]
}

@test "T6 ESCAPES 26 serve --once: stale work that exists elsewhere is removed; the only copy and what runs are kept and named" {
  "$garth" new merged; inside merged 'echo m >m; git add m; git commit -qm m'; "$garth" merge --keep merged
  "$garth" new only; inside only 'echo x >x'
  "$garth" new commits; inside commits 'echo x >x; git add x; git commit -qm x'
  "$garth" new empty; "$garth" new young
  "$garth" run -q -d -t busy -- sleep 1000
  aged 700000 merged only commits empty busy; aged 500000 young
  call "$garth" serve --once
  [[ $code == 0 ]] || complain
  [[ -z $out ]] || complain
  [[ $(names) == 'busy commits only young' ]] || complain
  [[ $err == *"stale task 'merged' is removed"* ]] || complain
  [[ $err == *"stale task 'empty' is removed"* ]] || complain
  [[ $err != *young* ]] || complain
  [[ $err == *"stale task 'only' is kept: task 'only' has the only copy of its work: 1 changed file: A x"* ]] || complain
  [[ $err == *"stale task 'commits' is kept"*"1 commit on garth/commits"* ]] || complain
  [[ $err == *"stale task 'busy' is kept: task 'busy' is running"* ]] || complain
  [[ $(wc -l <<<"$err") == 5 ]] || complain
  [[ $(inside only 'cat x') == x ]]
  [[ $(git show garth/commits:x) == x ]]
  [[ $(state_of busy) == running ]]
  "$garth" undo merged
  [[ $(names) == 'busy commits merged only young' ]]
  # at another age
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo 'cleanup: {stale_after: 5d}' >"$XDG_CONFIG_HOME/garth/config.yaml"
  earlier hourly 3600
  [[ $("$garth" serve --once --json | json '[d["ran"], d["actions"], len(d["warnings"])]') == "[[\"hourly\"], [\"stale task 'young' is removed\"], 3]" ]]
  "$garth" cancel busy
}

@test "T6 serve --once: hourly, daily and weekly jobs run when each is due, and not before" {
  [[ $(ran) == "[hourly,daily,weekly]" ]]
  local hourly=$(last hourly) weekly=$(last weekly)
  (($(date +%s) - hourly < 20))
  [[ $(ran) == "[]" ]]
  [[ $(last hourly) == "$hourly" ]]
  earlier hourly 3500
  [[ $(ran) == "[]" ]]
  earlier hourly 100
  [[ $(ran) == "[hourly]" ]]
  earlier daily 86000
  [[ $(ran) == "[]" ]]
  earlier daily 400
  [[ $(ran) == "[daily]" ]]
  [[ $(last weekly) == "$weekly" ]]
  earlier weekly 604000
  [[ $(ran) == "[]" ]]
  earlier weekly 800
  [[ $(ran) == "[weekly]" ]]
  # a clock that was wrong
  earlier daily -1000000
  [[ $(ran) == "[daily]" ]]
  [[ $(ran) == "[]" ]]
}

@test "T6 T9 G7 serve --once: expired trash is removed, dead processes are cleaned up after, a broken audit log is reported" {
  "$garth" new t; inside t 'echo work >w'; "$garth" discard -f t
  touch -d '8 days ago' "$GARTH_HOME/trash/$(ident 1)"
  "$garth" run -q -d -t lost -- sleep 1000
  kill -9 "$(keeper_of lost)"; eventually not lock_held lost
  call "$garth" serve --once
  [[ $code == 0 ]] || complain
  [[ $err == *"task 'lost' has lost its keeper and is interrupted"* ]] || complain
  [[ $err == *'1 discarded task and 0 leftovers removed for good'* ]] || complain
  [[ $err != *audit* ]] || complain
  [[ -z $(ls -A "$GARTH_HOME/trash") ]]
  [[ $(state_of lost) == interrupted ]]
  sed -i '2s/"event":"[a-z]*"/"event":"nothing"/' "$GARTH_HOME/audit.jsonl"
  call "$garth" serve --once
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  earlier weekly 700000
  call "$garth" serve --once
  [[ $code == 0 ]] || complain
  [[ $err == *'the audit log is not whole: line 2 (seq 2) was changed'* ]] || complain
  [[ $(wc -l <<<"$err") == 1 ]] || complain
}
lock_held() {
  python3 - "$(echo "$GARTH_HOME"/tasks/*/lock)" <<'PY'
import fcntl, struct, sys
f = open(sys.argv[1], "r+")
sys.exit(struct.unpack("hhqqi", fcntl.fcntl(f, 36, struct.pack("hhqqi", 1, 0, 0, 0, 0))[:28])[0] == 2)
PY
}

@test "T6 O1 serve: killed at any moment, the next one continues, and repeats nothing that was done" {
  local times
  "$garth" new t; "$garth" new u; aged 700000 t
  call "$garth" serve --once; [[ $err == *"stale task 't' is removed"* ]] || complain; all_done
  up
  times=$(last hourly; last daily; last weekly)
  ended "$server"
  [[ -f $GARTH_HOME/serve.json ]]
  up
  get /tasks
  [[ $status == 200 ]] || complain
  [[ $(json 'd["pid"]' <"$GARTH_HOME/serve.json") == "$server" ]]
  [[ $(
    last hourly
    last daily
    last weekly
  ) == "$times" ]]
  [[ ! -s $said.err ]]
  ended "$server"
  if has_faults; then
    # the round dies when its work is done and before it says so: it is done again
    aged 700000 u
    earlier hourly 4000
    code=0
    GARTH_FAULT=timers-done "$garth" serve --once 2>"$T/err" || code=$?
    [[ $code == 137 ]]
    [[ $(<"$T/err") == *"stale task 'u' is removed"* ]]
    [[ $(ran) == "[hourly]" ]]
    [[ $(names) == '' ]]
    # and within it
    "$garth" new v; aged 700000 v; earlier hourly 4000
    code=0; GARTH_FAULT=discard-marked "$garth" serve --once || code=$?
    [[ $code == 137 ]]
    up
    eventually was_gone v
    [[ $(names) == '' ]]
    "$garth" serve --once
    recent
  fi
}

@test "T6 O1 serve: in the first hour after its start nothing is removed; what would be is reported, once" {
  git init -q --bare "$T/origin.git"; git remote add origin "$T/origin.git"
  "$garth" new old; "$garth" new kept; inside kept 'echo m >m; git add m; git commit -qm m'; "$garth" merge --keep kept
  "$garth" new review; inside review 'echo r >r; git add r; git commit -qm r'; "$garth" push review
  "$garth" new gone; inside gone 'echo g >g'; "$garth" discard -f gone; touch -d '8 days ago' "$GARTH_HOME"/trash/*
  aged 700000 old
  up
  eventually was_done weekly
  eventually grep -q "merged task 'kept' would be removed" "$said.err"
  grep -q "stale task 'old' would be removed" "$said.err"
  not grep -q review "$said.err"
  [[ $(names) == 'kept old review' ]]
  [[ -n $(ls "$GARTH_HOME/trash") ]]
  [[ $(last hourly) == never ]]
  [[ $(last daily) == never ]]
  [[ $("$garth" serve --once --dry-run --json | json '[d["ran"], len(d["actions"])]') == '[["hourly", "daily"], 2]' ]]
  [[ $(names) == 'kept old review' ]]
  # control: an explicit round removes both, and keeps what is pushed
  "$garth" serve --once
  [[ $(names) == review ]]
  [[ -n $(git for-each-ref refs/heads/garth/review) ]]
  fails 2 '--once' "$garth" serve --dry-run
}

was_gone() { ! "$garth" show "$1"; }
recent() { (($(date +%s) - $(last hourly) < 100)); }

# Every process that has the server's word in its environment.
processes() { grep -lzs "^SERVE_TEST=$1\$" /proc/[0-9]*/environ | cut -d/ -f3; }

@test "O1 serve: SIGTERM and SIGINT end it, with what it has started, and nothing is left" {
  local sig word
  "$garth" run -q -d -t busy -- sleep 1000
  for sig in TERM INT HUP; do
    word=$sig.$RANDOM$RANDOM
    export SERVE_TEST=$word
    # with fault injection: with a command and a round that are stopped
    ! has_faults || export GARTH_FAULT=stop:settle
    up
    unset SERVE_TEST GARTH_FAULT
    if has_faults; then
      (get /tasks || true) >/dev/null 2>&1 &
      get_pid=$!
      eventually several "$word"
      # and a client that has asked and is gone
      curl -s -m 0.2 -H "Authorization: Bearer $(<"$GARTH_HOME/serve.token")" "$url/tasks" 3>&- || true
    fi
    kill "-$sig" "$server"
    code=0
    wait "$server" || code=$?
    [[ $code == 0 ]] || complain "$sig"
    [[ ! -e $GARTH_HOME/serve.json ]] || complain "$sig"
    eventually nobody "$word"
    ! has_faults || wait "$get_pid" || true
  done
  # nothing from the task
  [[ $(state_of busy) == running ]]
  "$garth" cancel busy
}
several() { (($(processes "$1" | wc -l) >= 3)); }
nobody() { [[ -z $(processes "$1") ]]; }

# The attack: an agent with the host's network finds the port, and looks for the token.
@test "O1 J2 ESCAPES 21 serve: an agent cannot use the API: not with network host, nor allow, nor none" {
  local port token
  "$garth" new t; "$garth" new victim
  up; port=${url##*127.0.0.1:} port=${port%%/*} token=$(<"$GARTH_HOME/serve.token")
  "$garth" exec --net host t -- sh -c "curl -sS -m 10 -w '%{http_code}' '$url/tasks'" >"$T/got" 2>&1
  [[ $(<"$T/got") == *no_token*401 ]] || complain "$(<"$T/got")"
  [[ $(<"$T/got") != *victim* ]] || complain "$(<"$T/got")"
  call "$garth" exec --net host t -- cat "$GARTH_HOME/serve.token"
  [[ $code != 0 ]] || complain
  [[ $out != *"$token"* ]] || complain
  call "$garth" exec --net host t -- sh -c "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'; find '$HOME' /tmp /run /var /etc -name 'serve.*' 2>/dev/null; ls -la '$GARTH_HOME'"
  [[ $out != *"$token"* ]] || complain
  [[ $out != *serve.token* ]] || complain
  [[ $out != *serve.json* ]] || complain
  for net in none allow; do
    call "$garth" exec --net "$net" t -- curl -sS -m 10 "$url/tasks"
    [[ $code != 0 ]] || complain "$net"
    [[ $out != *error* ]] || complain "$net"
    [[ $out != *victim* ]] || complain "$net"
  done
  # the control: with the token it would be reached
  "$garth" exec --net host t -- sh -c "curl -sS -m 10 -H 'Authorization: Bearer $token' '$url/tasks'" | grep -q victim
}

@test "O1 serve: optional: no command makes a token, a port or a process" {
  "$garth" run -q -t t -- true; "$garth" ls >/dev/null; "$garth" doctor >/dev/null || true; "$garth" gc >/dev/null
  [[ ! -e $GARTH_HOME/serve.token && ! -e $GARTH_HOME/serve.json && ! -e $GARTH_HOME/serve.lock ]]
  "$garth" serve --once; [[ ! -e $GARTH_HOME/serve.token && ! -e $GARTH_HOME/serve.json ]]
}
