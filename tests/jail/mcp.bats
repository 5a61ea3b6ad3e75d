load helpers

attack() { PYTHONPATH=$BATS_TEST_DIRNAME/..:$BATS_TEST_DIRNAME PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 "$BATS_TEST_DIRNAME/mcp_attack.py" "$@" 3>&-; }

@test "61 A4 mcp: even without walls the server stays in its directory (paths, swapped links, bombs, odd files)" {
  mkdir -p "$T/m/ws" "$T/m/ws-2" "$T/m/outside"
  for f in ws-2 outside; do echo GARTH-SECRET >"$T/m/$f/secret"; done
  # the control: the same path works for others
  grep -q GARTH-SECRET "$T/m/ws/../outside/secret"
  cd "$T/m/ws"
  export OUTSIDE=$T/m/outside
  [[ $(attack "$GARTH_BUILD/garth-mcp" "$T/m/ws") == unharmed ]]
  [[ $(<"$T/m/ws-2/secret") == GARTH-SECRET ]]
}

@test "61 A4 G2 mcp: a thousand sessions that are not the task's, and smuggled headers, are refused" {
  "$garth" new t
  "$garth" exec t -- python3 -c '
import socket
def ask(head, body=b"{}"):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect("/run/garth/gateway")
    s.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n" + head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    out = b""
    while True:
        more = s.recv(65536)
        if not more:
            return out
        out += more
for i in range(1000):
    assert b" 404 " in ask(b"Garth-Session: %08x-0000-4000-8000-000000000000\r\n" % i)[:20]
for bad in (b"../../x", b"0", b"-" * 36, b"a" * 5000):
    assert b" 404 " in ask(b"Garth-Session: " + bad + b"\r\n")[:20]
assert b" 400 " in ask(b"Mcp-Method: a\r\nMcp-Method: b\r\n")[:20]
assert b" 400 " in ask(b"", b"[" * 900000)[:20]
'
  [[ $("$garth" exec t -- garth status) == *garth/t* ]]
}

@test "20 61 A4 mcp: the memory for large answers that no client reads is limited" {
  "$garth" new t
  "$garth" exec t -- python3 -c '
import json, os, socket
with open("big.txt", "w") as f: f.write("\"" * (7 << 20))
body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read_text_file", "arguments": {"path": "big.txt"}}}).encode()
kept, seen = [], []
for i in range(16):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect("/run/garth/gateway")
    s.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nMcp-Session-Id: %s\r\nContent-Length: %d\r\n\r\n" % (os.environ["GARTH_SESSION"].encode(), len(body)) + body)
    seen.append(s.recv(12)[9:])
    kept.append(s)
    if seen[-1] == b"429": break
assert seen[0] == b"200" and seen[-1] == b"429", seen
'
}
