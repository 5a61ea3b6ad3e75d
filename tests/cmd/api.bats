load helpers

# The API over the task's socket, by curl from inside (G3), as a shell inside types it.
api='curl -sS --path-as-is --max-time 30 --unix-socket $GARTH_SOCKET'

tip() { git rev-parse "refs/heads/garth/${1:-t}"; }

# ask METHOD PATH [BODY]: the answer's status in $status, its JSON in $out.
ask() {
  local body=${3-}
  printf %s "$body" >"$T/body"
  out=$("$garth" exec t -- sh -c "$api -w '\n%{http_code}' -X $1 ${3+--data-binary @-} 'http://garth$2'" <"$T/body" 2>"$T/err" 3>&-) ||
    complain "curl: $(<"$T/err")" || return
  status=${out##*$'\n'} out=${out%$'\n'*}
}

# answers STATUS EXPRESSION METHOD PATH [BODY]: the expression over the answer d is true.
answers() {
  local want=$1 expression=$2; shift 2
  ask "$@" || return
  [[ $status == "$want" ]] || complain "wanted $want, got $status: $*" || return
  python3 -c 'import json, sys; d = json.loads(sys.argv[2]); sys.exit(not eval(sys.argv[1]))' "$expression" "$out" || complain "not so: $expression: $*"
}

# denies STATUS CODE METHOD PATH [BODY]: refused with these, as JSON; the audit log has it, and nothing changed.
denies() {
  local want=$1 reason=$2 before; shift 2
  before=$(git for-each-ref; git count-objects)
  answers "$want" "list(d) == ['error'] and d['error']['code'] == '$reason' and d['error']['message']" "$@" || return
  [[ $(git for-each-ref; git count-objects) == "$before" ]] || complain "something changed: $*" || return
  [[ $("$garth" audit t --json | json '[e["code"] for e in d["events"] if e["event"] == "refused"][-1]') == "$reason" ]] ||
    complain "not recorded: $*" "$("$garth" audit t | tail -n 2)"
}

@test "G1 G5 api: a pack sent with a request is optional: a bad one does no harm, a good one is checked like any other" {
  "$garth" new t
  draft='GARTH_GATEWAY=1 /usr/bin/git commit -qm draft; git rev-parse HEAD'
  pack='printf "HEAD\n^HEAD~1\n" | /usr/bin/git pack-objects -q --revs --stdout'
  # garbage, an empty pack, a truncated one, one without the tip, one of another commit: git inside is asked instead
  for offer in 'echo rubbish' ':' 'printf PACK' "$pack | head -c 40" "git rev-parse HEAD^{tree} | git pack-objects -q --stdout" "git rev-parse HEAD | git pack-objects -q --stdout" "$pack | tr a b"; do
    new=$(inside t "echo x >>a.txt; git add a.txt; $draft")
    offered=$(inside t "{ $offer; } | base64 -w0")
    answers 200 "d['tip'] == '$new'" POST /api/v1/git/publish "{\"tip\": \"$new\", \"pack\": \"$offered\"}" || return
    [[ $(tip) == "$new" ]]
  done
  git fsck --strict
  # the policy applies to it too
  new=$(inside t "mkdir -p .github/workflows; echo x >.github/workflows/x.yml; git add -A; $draft")
  offered=$(inside t "$pack | base64 -w0")
  denies 403 protected_path POST /api/v1/git/publish "{\"tip\": \"$new\", \"pack\": \"$offered\"}"
  inside t 'GARTH_GATEWAY=1 git reset -q --hard HEAD~1'
  # a tree that git itself refuses, made by hand
  new=$(inside t 'blob=$(echo x | git hash-object -w --stdin); tree=$(printf "100644 .git\0$(printf "$blob" | sed "s/../\\\\x&/g")" | git hash-object -w -t tree --literally --stdin); git commit-tree -p HEAD -m evil $tree')
  offered=$(inside t "printf '$new\n^HEAD\n' | /usr/bin/git pack-objects -q --revs --stdout | base64 -w0")
  ask POST /api/v1/git/publish "{\"tip\": \"$new\", \"pack\": \"$offered\"}"
  [[ $status == 403 ]] || complain "$status $out"
  [[ $(tip) != "$new" ]] || complain "$status $out"
  denies 400 bad_request POST /api/v1/git/publish "{\"tip\": \"$new\", \"pack\": \"@@@@\"}"
  denies 400 bad_request POST /api/v1/git/publish "{\"tip\": \"$new\", \"pack\": 7}"
  git fsck --strict
}

@test "G3 api: commit with curl commits and publishes what is staged, and answers sha and branch" {
  "$garth" new t
  inside t 'echo 1 >>a.txt; git add a.txt; echo 2 >>a.txt; echo n >untracked'
  answers 200 'd["branch"] == "garth/t" and sorted(d) == ["branch", "sha"]' POST /api/v1/git/commit \
    '{"repo": "app", "worktree": "t", "message": "first `$(words)`; \"quoted\" ü\n\nbody", "author": "An Agent <agent@example.com>"}'
  sha=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["sha"])' "$out")
  [[ $(tip) == "$sha" ]]
  [[ $(inside t 'git rev-parse HEAD; git symbolic-ref HEAD') == "$sha"$'\nrefs/heads/garth/t' ]]
  [[ $(git log -1 --format='%an <%ae>|%B' garth/t) == $'An Agent <agent@example.com>|first `$(words)`; "quoted" ü\n\nbody' ]] || complain "$(git log -1 garth/t)"
  [[ $(git show garth/t:a.txt) == $'one\n1' ]]
  [[ $(inside t 'git status --porcelain') == $' M a.txt\n?? untracked' ]]
  inside t 'git add a.txt'
  answers 200 'd["branch"] == "garth/t"' POST /api/v1/git/commit '{"message": "second"}'
  [[ $(git log -1 --format='%an|%s' garth/t) == "$(inside t 'git config user.name')|second" ]]
  [[ $("$garth" audit t --json | json '[e["by"] for e in d["events"] if e["event"] == "publish"]') == '["commit", "commit"]' ]]
  answers 200 'd["task"] == "t" and d["branch"] == "garth/t" and d["tip"] == "'"$(tip)"'" and d["commits"] == 2 and d["target"] == "main" and d["policy"]["max_commits"] == 100' GET /api/v1/task
  git fsck --strict
}

@test "G3 G2 api: paths that are not the task's own are refused" {
  "$garth" new t; "$garth" new other
  inside t 'echo 1 >>a.txt; git add a.txt'
  head=$(inside t 'git rev-parse HEAD')
  for worktree in ../other ../../app /etc "$GARTH_HOME/worktrees/t" "$GARTH_HOME/worktrees/other" . .. t/ ./t t/../other 't\u0000' '' 'T' ; do
    if [[ $worktree == *u0000* ]]; then code=bad_request status=400; else code=outside_workspace status=403; fi
    if [[ $worktree == T ]]; then code=not_yours; fi
    denies $status $code POST /api/v1/git/commit '{"message": "m", "worktree": "'"$worktree"'"}'
  done
  denies 403 not_yours POST /api/v1/git/commit '{"message": "m", "worktree": "other"}'
  denies 403 not_yours POST /api/v1/git/commit '{"message": "m", "repo": "elsewhere"}'
  denies 403 outside_workspace POST /api/v1/git/commit '{"message": "m", "repo": "../elsewhere"}'
  denies 403 outside_workspace POST /api/v1/git/commit '{"message": "m", "repo": "/'"$R"'"}'
  # the control: with its own names the same works
  [[ $(inside t 'git rev-parse HEAD; git diff --cached --name-only') == "$head"$'\na.txt' ]]
  answers 200 'd["sha"]' POST /api/v1/git/commit '{"message": "m", "repo": "app", "worktree": "t"}'
  [[ $(tip other) == $(git rev-parse main) ]]
}

@test "G3 api: bad input is refused with a JSON error" {
  "$garth" new t
  denies 403 nothing_staged POST /api/v1/git/commit '{"message": "m"}'
  inside t 'echo 1 >>a.txt; git add a.txt'
  for body in '' '{}' '{"message": ""}' '{"message": " \n\t"}' '{"message": null}' '{"message": 7}' '{"message": ["m"]}' '{"message": {"a": 1}}' \
    '{"message": "m", "author": "nobody"}' '{"message": "m", "author": ""}' '{"message": "m", "author": "<a@b>"}' '{"message": "m", "author": "A <a@b> x"}' \
    '{"message": "m", "author": "A <a@b>\nparent 0000"}' '{"message": "m", "author": "A <>"}' '{"message": "m", "author": 1}' '{"message": "m", "repo": 1}' '{"message": "m", "worktree": []}' \
    'not json' '{"message": "m"' '{"message": "m"} more' '[]' '"m"' '1' 'null' '{"message": "m", "message": "n"}' $'{"message": "\xff\xfe"}' '{"message": "\ud800"}' \
    '{"message": "a\u0000b"}' "$(printf '[%.0s' {1..5000})" "{\"message\": \"$(head -c 70000 /dev/zero | tr '\0' m)\"}"; do
    denies 400 bad_request POST /api/v1/git/commit "$body" || complain "${body:0:60}"
  done
  denies 404 unknown_path POST /api/v1/git/nothing '{}'
  denies 404 unknown_path GET /
  denies 404 unknown_path GET '/api/v1/task/../git/commit'
  denies 404 unknown_path POST /user/v1/rollback '{"full": true}'
  denies 404 unknown_path POST /user/v1/publish '{}'
  denies 404 unknown_path POST /user/v1/snapshot '{}'
  denies 404 unknown_path POST /user/v1/sync '{}'
  denies 405 bad_method GET /api/v1/git/commit
  denies 405 bad_method POST /api/v1/task '{}'
  denies 405 bad_method PUT /api/v1/git/commit '{}'
  denies 405 bad_method DELETE /api/v1/task
  denies 403 push_not_allowed POST /api/v1/git/push '{}'
  denies 403 fetch_not_allowed POST /api/v1/git/fetch '{}'
  denies 400 bad_request POST /api/v1/git/reset '{"args": "x"}'
  denies 400 bad_request POST /api/v1/git/reset '{"args": [1]}'
  denies 403 bad_tip POST /api/v1/git/publish '{"tip": "main"}'
  denies 403 bad_tip POST /api/v1/git/publish '{"tip": "--all"}'
  denies 400 bad_request POST /api/v1/git/publish '{"tip": 5}'
  # what was staged is still staged, and the next request works
  answers 200 'd["sha"]' POST /api/v1/git/commit '{"message": "m", "author": "Ä <ä@b>"}'
  answers 200 'True' POST /api/v1/git/reset '{"args": ["--hard", "HEAD~1"]}'
  [[ $("$garth" audit t --json | json '[e["args"] for e in d["events"] if e["event"] == "asked"]') == '["--hard HEAD~1"]' ]]
  "$garth" audit --verify
}

@test "G3 api: a commit that policy refuses leaves everything staged; no commit on another branch or during a merge" {
  "$garth" new t
  inside t 'mkdir -p .github/workflows; echo x >.github/workflows/x.yml; echo 1 >>a.txt; git add -A'
  head=$(inside t 'git rev-parse HEAD')
  denies 403 protected_path POST /api/v1/git/commit '{"message": "m"}'
  [[ $(python3 -c 'import json, sys; e = json.loads(sys.argv[1])["error"]; print(e["path"], bool(e["tried"]), bool(e["instead"]), e["boundary"])' "$out") == '.github/workflows/x.yml True True .github/workflows/**'* ]] || complain
  [[ $(inside t 'git rev-parse HEAD; git status --porcelain') == "$head"$'\nA  .github/workflows/x.yml\nM  a.txt' ]]
  inside t 'git reset -q --hard; /usr/bin/git switch -qc side; echo s >s; git add s'
  denies 403 other_branch POST /api/v1/git/commit '{"message": "m"}'
  inside t 'git commit -qm side; /usr/bin/git switch -q garth/t; echo o >o; git add o; git commit -qm own; git merge -q --no-commit --no-ff side'
  denies 403 merge_in_progress POST /api/v1/git/commit '{"message": "m"}'
  inside t 'git commit -qm merged'
  [[ $(git rev-list --count --merges garth/t) == 1 ]]
}

# gateway_of TASK: the gateway's process, a child of the keeper.
gateway_of() { pgrep -P "$(keeper_of "$1")" -x garth-gateway; }

# A client that speaks the socket byte by byte.
client='import os, socket, sys, time
def conn():
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ["GARTH_SOCKET"]); s.settimeout(30); return s
def take(s):
    data = b""
    try:
        while chunk := s.recv(65536): data += chunk
    except (ConnectionError, TimeoutError): pass
    return data
def good():
    s = conn(); s.sendall(b"GET /api/v1/task HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); return take(s)
def works():
    a = good(); assert a.startswith(b"HTTP/1.1 200") and b"\"task\":\"t\"" in a, a
'

# speak SCRIPT: runs it in the running task t.
speak() { "$garth" exec t -- "$python" -c "$client$1" || complain "$1"; }

recorded() { "$garth" audit t --json | json 'len([e for e in d["events"] if e["event"] == "refused" and e["code"] == "'"${1:-bad_request}"'"])'; }

@test "G2 ESCAPES 15 api: malformed requests are refused and recorded, and the next one works" {
  "$garth" run -d -t t -- sleep 1000
  speak 'works()'
  n=0
  # one request on each line; every one is answered with an error or not at all
  while read -r text; do
    speak "s = conn(); s.sendall($text); s.shutdown(socket.SHUT_WR); a = take(s); assert not a or a[9:10] in b'45', a; works()"
    n=$((n + 1))
  done <<'END'
b"rubbish\r\n\r\n"
b"GET\r\n\r\n"
b"GET /api/v1/task\r\n\r\n"
b"GET /api/v1/task HTTP/9.9\r\n\r\n"
b"BREW /api/v1/task HTTP/1.1\r\nHost: x\r\n\r\n"
b"PATCH /api/v1/git/commit HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
b"GET /api/v1/task HTTP/1.1\r\nno colon\r\n\r\n"
b"POST /api/v1/git/commit HTTP/1.1\r\nContent-Length: -5\r\n\r\n{}"
b"POST /api/v1/git/commit HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n{}"
b"POST /api/v1/git/commit HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"
b"POST /api/v1/git/commit HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}\r\n0\r\n\r\n"
b"\x00\x01\x02\xff\xfe\r\n\r\n"
b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
b"GET /\xff\xfe%00%ff HTTP/1.1\r\nHost: x\r\n\r\n"
b"POST /api/v1/git/commit HTTP/1.1\r\nContent-Length: 2097152\r\n\r\n" + b"x" * 2097152
b"GET /api/v1/task HTTP/1.1\r\nX: " + b"a" * 100000 + b"\r\n\r\n"
b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n"
b"GET /api/v1/task HTTP/1.1\r\n" + b"a: b\r\n" * 20000 + b"\r\n"
b"POST /api/v1/git/commit HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2097152\r\n\r\n"
END
  # the answers are in the log, as far as there was something to answer
  [[ $(recorded) -ge $((n / 2)) ]] || complain "$n wrong ones, of which the log has $(recorded)"
  # a body that is too large is refused, and one of half a megabyte is read
  speak 's = conn(); s.sendall(b"POST /api/v1/git/commit HTTP/1.1\r\nContent-Length: 500000\r\nConnection: close\r\n\r\n" + b"{" + b" " * 499998 + b"}"); a = take(s); assert b"message" in a and a.startswith(b"HTTP/1.1 400"), a'
  "$garth" audit --verify
}

@test "G2 ESCAPES 15 api: incomplete requests, many connections, pipelining and slow clients do not block others" {
  "$garth" run -d -t t -- sleep 1000
  # pipelined: each is answered, in order
  speak 's = conn(); s.sendall(b"GET /api/v1/task HTTP/1.1\r\nHost: x\r\n\r\n" * 20 + b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
a = take(s); assert a.count(b"HTTP/1.1 200") == 20 and a.count(b"HTTP/1.1 404") == 1, a; works()'
  # two hundred at once: all of them are answered in the end
  speak 'from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(200) as pool: answers = list(pool.map(lambda i: good(), range(200)))
assert all(a.startswith(b"HTTP/1.1 200") for a in answers); works()'
  # forty that send half a request and stay connected: the user can still connect, and others can when they are gone
  "$garth" exec t -- "$python" -c "$client"'
ss = [conn() for i in range(40)]
for s in ss: s.sendall(b"POST /api/v1/git/commit HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
open("/tmp/held", "w").close()
began = time.time()
for s in ss[:32]:
    s.settimeout(40); take(s)
assert time.time() - began < 35, "they are still there"
for s in ss: s.close()
works()' >"$T/o" 2>&1 3>&- &
  pid=$!
  eventually inside t 'test -e /tmp/held'
  began=$SECONDS
  timeout 8 "$garth" snapshot t >/dev/null || complain "the user is kept out by the agent's connections"
  wait $pid || complain "$(<"$T/o")"
  # a client that sends one byte a second, without end
  speak 's = conn(); s.sendall(b"GET /api/v1/task HTTP/1.1\r\n"); began = time.time()
try:
    while time.time() - began < 40: s.sendall(b"X"); time.sleep(1)
    sys.exit("still listened to after %d seconds" % (time.time() - began))
except (BrokenPipeError, ConnectionError): pass
works()'
  # a client that never reads its answer
  speak 's = conn(); s.settimeout(2)
try:
    for i in range(20000): s.sendall(b"GET /api/v1/task HTTP/1.1\r\nHost: x\r\n\r\n")
except (TimeoutError, ConnectionError): pass
t = conn(); s.close(); works()'
  memory=$(awk '/VmRSS/ { print $2 }' "/proc/$(gateway_of t)/status")
  ((memory < 300000)) || complain "the gateway has $memory kB"
}

@test "ESCAPES 15 20 api: a client that keeps asking is slowed down: the log does not grow without limit" {
  "$garth" run -d -t t -- sleep 1000
  speak 'began = time.time(); n = 0
while time.time() - began < 6:
    s = conn(); s.sendall(b"GET /%s HTTP/1.1\r\nConnection: close\r\n\r\n" % (b"a" * 4000)); take(s); n += 1
assert n < 700, n'
  size=$(stat -c %s "$GARTH_HOME/audit.jsonl")
  ((size < 1000000)) || complain "the log has $size bytes"
  speak 'works()'
}

@test "G2 api: a waiting gateway uses no processor time, and ends with the task" {
  "$garth" run -d -t t -- sleep 1000
  # after a refusal, and after a git that the gateway started inside was killed: answers for which nobody waits stay unread
  inside t 'mkdir -p .github/workflows; echo x >.github/workflows/x; git add -A; git commit -qm x; git reset -q --hard; head -c 700000 /dev/urandom >large; git add large; git commit -qm 1' 2>/dev/null
  kill_packer() { inside t 'for p in /proc/[0-9]*; do if tr "\0" " " <$p/cmdline | grep -q "pack-""objects"; then kill -9 ${p#/proc/}; echo killed; fi; done' 2>/dev/null | grep -q killed; }
  eventually kill_packer
  pid=$(gateway_of t)
  ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
  before=$(ticks); sleep 2; after=$(ticks)
  ((after - before < 40)) || complain "$((after - before)) ticks in two seconds of rest"
  "$garth" cancel t
  eventually not kill -0 "$pid"
}

@test "G3 api: a client that hangs up before the answer sent no malformed request, and nothing is done for it" {
  cat >hang.py <<'PY'
import os, socket
for i in range(20):
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ["GARTH_SOCKET"])
    s.sendall(b"POST /api/v1/git/nothing HTTP/1.1\r\nHost: garth\r\nContent-Length: 2\r\n\r\n{}"); s.close()
PY
  commit hang; "$garth" run -q -d -t t -- sleep 1000
  ask GET /api/v1/task; local gateway; gateway=$(pgrep -P "$(keeper_of t)" -x garth-gateway)
  # it has all of them before it looks at the first
  kill -STOP "$gateway"; inside t '/usr/bin/python3 hang.py'; kill -CONT "$gateway"
  ask GET /api/v1/task; [[ $status == 200 ]]
  [[ $("$garth" audit t --json | json 'len([e for e in d["events"] if e["event"] == "refused"])') == 0 ]] || complain "$("$garth" audit t)"
  "$garth" cancel t
}
