load helpers

# serves TASK PORT…: a task in the background in which those ports are listened on, by a server that sends back what it
# gets, in capitals, after the end of the input.
serves() {
  local task=$1; shift
  cat >"$T/home/serve.py" <<'E'
import socket, sys, threading
def serve(c):
    data = b""
    while piece := c.recv(65536):
        data += piece
    c.sendall(data.upper())
    c.close()
for p in sys.argv[2:]:
    s = socket.create_server((sys.argv[1], int(p)), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, backlog=128)
    def loop(s=s):
        while True:
            threading.Thread(target=serve, args=s.accept()[:1], daemon=True).start()
    threading.Thread(target=loop).start()
E
  "$garth" exec "$task" -- sh -c 'cat >/tmp/serve.py' <"$T/home/serve.py"
  (cd "$R" && "$garth" exec "$task" -- /usr/bin/python3 /tmp/serve.py "${address:-127.0.0.1}" "$@" >/dev/null 2>&1 3>&- &)
}

# talk ADDRESS TEXT: what comes back
talk() {
  /usr/bin/python3 - "$@" <<'E'
import socket, sys
host, port = sys.argv[1].rsplit(":", 1)
s = socket.create_connection((host, int(port)), 20)
s.sendall(sys.argv[2].encode())
s.shutdown(socket.SHUT_WR)
data = b""
while piece := s.recv(65536):
    data += piece
print(data.decode(), end="")
E
}

background() { "$garth" run -q -d --net none "$@" -- sleep 300 >/dev/null; }

@test "J11 ESCAPES 20 port: a task that lets its queue fill up blocks nobody's commands" {
  "$garth" run -q -d -t full -p 3000 -- /usr/bin/python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 3000)); s.listen(0)
mine = [socket.socket() for i in range(4)]
for c in mine: c.setblocking(False); c.connect_ex(("127.0.0.1", 3000))
open("/tmp/ready", "w"); time.sleep(100)'
  eventually inside full 'test -e /tmp/ready'
  python3 - "$("$garth" show full --json | json 'd["ports"][0]["outside"]')" "$garth" <<'PY'
import socket, subprocess, sys, time
held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for i in range(60)]
start = time.monotonic(); subprocess.run([sys.argv[2], "exec", "full", "--", "true"], check=True)
assert time.monotonic() - start < 5, time.monotonic() - start
PY
}

@test "J11 port: opened by run or later, the same port in every task, shown, and the same if asked for twice" {
  local a b
  "$garth" new closed
  call "$garth" port closed
  [[ $code == 0 && -z $out ]]
  [[ $err == *"no port of task 'closed' is open"* ]]
  background --task one -p 3000
  background --task two
  a=$("$garth" port one)
  [[ $a =~ ^3000→(127.0.0.1:[0-9]+)$ ]]
  a=${BASH_REMATCH[1]}
  b=$("$garth" port two 3000)
  [[ $b == 127.0.0.1:* ]]
  [[ $b != "$a" ]]
  [[ $("$garth" port two 3000) == "$b" ]]
  serves one 3000
  serves two 3000
  eventually talk "$a" x
  eventually talk "$b" x
  [[ $(talk "$a" hello) == HELLO ]]
  [[ $(talk "$b" there) == THERE ]]
  [[ $("$garth" ls) == *"3000→$a"* ]]
  [[ $("$garth" show two) == *"3000→$b"* ]]
  "$garth" port two --json | python3 -c '
import json, sys
assert [(p["inside"], "127.0.0.1:%d" % p["outside"]) for p in json.load(sys.stdin)["ports"]] == [(3000, sys.argv[1])]' "$b"
}

@test "J11 port: every byte arrives, in both directions, for many at once; a server on ::1 is reached too" {
  local a
  background --task t; address=::1 serves t 4000
  a=$("$garth" port t 4000)
  eventually talk "$a" x
  /usr/bin/python3 - "$a" <<'E'
import hashlib, os, socket, sys, threading
host, port = sys.argv[1].rsplit(":", 1)
bad = []
def one(n):
    sent = os.urandom(n).hex().encode()
    s = socket.create_connection((host, int(port)), 60)
    def send():
        s.sendall(sent)
        s.shutdown(socket.SHUT_WR)
    threading.Thread(target=send).start()
    got = b""
    while piece := s.recv(1 << 20):
        got += piece
    if got != sent.upper():
        bad.append((n, len(got)))
all = [threading.Thread(target=one, args=(n,)) for n in [5_000_000] + [1000] * 100]
[t.start() for t in all]
[t.join() for t in all]
assert not bad, bad
E
}

@test "J11 port: if nobody listens the connection is reset, and the next one works when somebody does" {
  local a
  background --task t -p 5000
  a=$("$garth" port t); a=${a#*→}
  run talk "$a" x
  [[ $status != 0 ]]
  serves t 5000; eventually talk "$a" x
  [[ $(talk "$a" now) == NOW ]]
}

@test "J11 port: it is open on the host's loopback only, and closes with the task, however that ends" {
  local a other keeper
  background --task t; background --task k
  serves t 6000; a=$("$garth" port t 6000); eventually talk "$a" x
  for other in $(hostname -I 2>/dev/null); do
    [[ $other == *:* ]] || ! talk "$other:${a##*:}" x 2>/dev/null || false
  done
  [[ $(inside t "curl -s -m 2 http://$a/ || echo refused") == *refused ]]
  "$garth" cancel t
  ! talk "$a" x 2>/dev/null || false
  [[ -z $("$garth" port t) ]]
  fails 4 'not running' "$garth" port t 6000
  a=$("$garth" port k 6000)
  keeper=$(pgrep -f -u "$(id -u)" "garth run -q -d --net none --task k" | head -n 1)
  kill -9 "$keeper"
  eventually not talk "$a" x
  [[ -z $("$garth" port k) ]]
  [[ $("$garth" ls) != *→* ]]
}

@test "J11 port: invalid port numbers are refused" {
  "$garth" new t
  for p in 0 65536 -1 x 3000x '' 1e3; do fails 2 'a port must be' "$garth" port t -- "$p"; done
  fails 2 'a port must be' "$garth" run -p 0 -- true
  fails 2 'at most 16' "$garth" run $(printf -- '-p %d ' {1..17}) -- true
  fails 3 'no task' "$garth" port nobody 3000
  [[ $(state_of t) == created ]]
  [[ $("$garth" ls --json | grep -c '"name"') == 1 ]]
}
