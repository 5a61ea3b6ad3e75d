load helpers

# client TASK: runs the Python script on stdin with a client `m` of the task's server.
client() {
  { echo 'import json, os, sys; from mcp_client import Client; m = Client(sys.argv[1:])'; cat; } >"$T/script.py"
  PYTHONPATH=$BATS_TEST_DIRNAME/.. PYTHONDONTWRITEBYTECODE=1 timeout 120 python3 "$T/script.py" "$garth" mcp "$1" 3>&-
}

# ask CURL-OPTION…: a request to the task's socket, from inside task t; the status, then the body.
ask() { "$garth" exec t -- curl -sS -m 60 -w '\n%{http_code}' --unix-socket /run/garth/gateway -H 'Content-Type: application/json' "$@" | tac -s $'\n' | tr '\n' ' '; }

@test "A4 mcp: an outside client reads, writes, finds and commits in the task; the checkout stays as it is" {
  "$garth" new t
  fingerprint >"$T/before"
  client t <<'P'
assert m.start["result"]["serverInfo"]["name"] == "garth"
assert m.call("read_text_file", path="a.txt") == "one\n"
assert m.call("write_file", path="new.txt", content="hello\n") == "Successfully wrote to new.txt"
m.call("write_file", path="ignored/x.o", content="hello\n") if m.call("create_directory", path="ignored") else None
assert m.call("grep", pattern="h.llo") == "new.txt:1:hello"
assert "ignored" not in m.call("glob", pattern="**")
assert "new.txt" in m.call("glob", pattern="*.txt")
assert json.loads(m.call("task_status"))["task"] == "t"
assert "sha" in json.loads(m.call("commit", message="by a tool", paths=["new.txt"]))
assert json.loads(m.call("snapshot", message="good"))["snapshot"] > 0
no = m.call("read_text_file", path="/etc/passwd")
assert no["code"] == "outside_workspace" and no["path"] == "/etc/passwd" and no["boundary"] == os.getcwd(), no
assert m.call("commit", message="again")["code"] == "nothing_staged"
assert m.end() == 0
P
  [[ $(git log -1 --format=%s garth/t) == 'by a tool' ]]
  fingerprint >"$T/after"
  diff -u "$T/before" "$T/after"
}

@test "A4 A8 mcp: inside, garth mcp is the same server; without a name it is the only task" {
  "$garth" new t
  line='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"a.txt"}}}'
  [[ $("$garth" exec t -- garth mcp <<<"$line") == *'"content":"one\n"'* ]]
  [[ $("$garth" mcp <<<"$line") == *'"content":"one\n"'* ]]
  "$garth" new u
  fails 2 'there are 2 tasks here' "$garth" mcp
  fails 3 'no task' "$garth" mcp none
}

@test "A4 G2 mcp: over HTTP on the task's socket, with sessions and stateless" {
  "$garth" new t
  s=$("$garth" exec t -- sh -c 'echo $GARTH_SESSION')
  ping='{"jsonrpc":"2.0","id":1,"method":"ping"}'
  meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
  read='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_text_file","arguments":{"path":"a.txt"},'$meta'}}'
  u=http://garth/mcp
  [[ $(ask -D - -d '{"jsonrpc":"2.0","id":1,"method":"initialize"}' $u) == 200*"Mcp-Session-Id: $s"* ]]
  [[ $(ask -d "$ping" $u) == 400*Mcp-Session-Id* ]]
  [[ $(ask -d "$ping" -H "Mcp-Session-Id: $s" $u) == 200*'"result":{}'* ]]
  [[ $(ask -d "$ping" "$u/$s") == 200*'"result":{}'* ]]
  [[ $(ask -d "$ping" -H 'Mcp-Session-Id: 11111111-2222-3333-4444-555555555555' $u) == 404* ]]
  [[ $(ask -d "$ping" -H "Mcp-Session-Id: $s" -H 'Origin: http://evil.example' $u) == 403* ]]
  [[ $(ask -d "$ping" -H "Mcp-Session-Id: $s" -H 'Origin: http://localhost' -H 'Origin: http://localhost' $u) == 400*twice* ]]
  [[ $(ask $u) == 405* ]]
  [[ $(ask -d "$read" -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: read_text_file' $u) == 200*'one\n'* ]]
  [[ $(ask -d "$read" -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: write_file' $u) == 400*-32020* ]]
  # a tool that asks this gateway does not wait for itself
  [[ $(ask -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"task_status"}}' "$u/$s") == 200*'garth/t'* ]]
}

@test "A3 context: found by the session id, with clear errors without one; a second agent has its own session" {
  "$garth" new t
  s=$("$garth" exec t -- sh -c 'echo $GARTH_SESSION')
  [[ $("$garth" exec t -- sh -c 'echo $GARTH_SESSION') == "$s" ]]
  u=http://garth/api/v1/context
  [[ $(ask $u) == 400*no_session* ]]
  [[ $(ask -H 'Garth-Session: x' $u) == 404*unknown_session* ]]
  [[ $(ask -H "Garth-Session: $s" $u) == 200*"\"main\":\"$R\""*'"branch":"garth/t"'*'"target":"main"'*'"limits"'* ]]
  [[ $(ask -H "Mcp-Session-Id: $s" $u) == 200*"$s"* ]]
  other=$("$garth" run --in t -- sh -c 'echo $GARTH_SESSION')
  [[ $other != "$s" ]]
  [[ $(ask -H "Garth-Session: $other" $u) == 200*'"main_session":false'*"\"parent\":\"$s\""* ]]
  # of another task it is none
  "$garth" new u
  foreign=$("$garth" exec u -- sh -c 'echo $GARTH_SESSION')
  [[ $(ask -H "Garth-Session: $foreign" $u) == 404* ]]
  fails 2 'with --in nothing is made' "$garth" run --in t -t x -- true
  # the user removed the files
  "$garth" run -q -d -t w --backend worktree -- sleep 600
  s=$("$garth" exec w -- sh -c 'echo $GARTH_SESSION'); rm -rf "$("$garth" path w)"
  socket=$(ls -d "$GARTH_HOME"/tasks/*/ | sort | tail -1)gateway
  out=$(curl -s --unix-socket "$socket" -H "Garth-Session: $s" $u); [[ $out == *no_workspace* ]] || complain
  "$garth" cancel w
}
