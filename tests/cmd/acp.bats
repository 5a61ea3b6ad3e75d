load helpers
load ../acp

setup() {
  garth_setup
  acp_setup
}

@test "A9 acp: a session is a task: cwd, directories and links lead into the workspace, and its end names the branch" {
  fingerprint >"$T/before"
  editor <<'P'
m = Client([garth, "acp", "--"] + agent)
# what runs outside is offered to nobody
can = m.begun["result"]
assert can["agentCapabilities"] == {"loadSession": True, "promptCapabilities": {"embeddedContext": True}, "mcpCapabilities": {"http": True},
    "sessionCapabilities": {"close": {}, "list": {}}}, can
assert can["authMethods"] == [{"id": "plain", "methodId": "plain", "name": "Plain"}], can
top = os.getcwd()
s = m.new(top + "/dir", additionalDirectories=[top + "/dir/sub"], mcpServers=[
    {"name": "a", "command": top + "/run.sh", "args": ["--at", top], "env": [{"name": "K", "value": "secret"}]}])
assert len(s) == 36, s
link = {"type": "resource_link", "name": "a", "uri": "file://" + top + "/a.txt#L1"}
told = json.loads(m.prompt(s, "say(json.dumps(dict(told, cwd=os.getcwd(), top=sh('git rev-parse --show-toplevel').strip())))", link))
ws = told["top"]
assert ws.endswith("/worktrees/claude-1") and told["cwd"] == ws + "/dir", told
assert told["asked"]["clientCapabilities"] == {"elicitation": {"form": {}}, "_meta": {"terminal_output": True}}, told
assert told["open"] == {"cwd": ws + "/dir", "additionalDirectories": [ws + "/dir/sub"], "mcpServers": [
    {"name": "a", "command": ws + "/run.sh", "args": ["--at", ws], "env": []}]}, told["open"]
assert told["prompt"]["prompt"][1]["uri"] == "file://" + ws + "/a.txt#L1", told
# the first message tells where the work is, and what was left out
first = m.updates[0]["params"]["update"]
assert first["sessionUpdate"] == "agent_thought_chunk" and "garth diff claude-1" in first["content"]["text"], first
assert "--mcp-secrets a" in first["content"]["text"], first
# another file's link is refused, and a directory elsewhere
no = m.prompt(s, "say('no')", dict(link, uri="file://" + top + "/../secret"))
assert no["code"] == -32602 and "is not in the project" in no["message"], no
assert "allow_read" in m.new(top, additionalDirectories=["/srv"])["message"]
# what the agent asks of the editor
assert "outside the walls" in m.prompt(s, "say(ask('fs/read_text_file', {'sessionId': session, 'path': '/etc/passwd'}))")
assert "'optionId': 'yes'" in m.prompt(s, "say(ask('session/request_permission', {'sessionId': session, 'toolCall': {'toolCallId': '1', 'locations': [{'path': '/etc/passwd'}, {'path': os.getcwd()}]}, 'options': []}))")
assert m.asked[-1]["params"]["sessionId"] == s and m.asked[-1]["params"]["toolCall"]["locations"] == [{"path": ws + "/dir"}], m.asked
# work, seen outside at the same path
m.prompt(s, "open('new.txt', 'w').write('x'); say(sh('git add -A; git commit -qm work'))")
assert open(ws + "/dir/new.txt").read() == "x"
assert m.call("session/set_mode", {"sessionId": s, "modeId": "x"})["result"] == {}
assert m.call("session/none")["error"]["code"] == -32601
m.notify("session/cancel", {"sessionId": s})
waiting = m.ask("session/prompt", {"sessionId": s, "prompt": [{"type": "text", "text": "import time; time.sleep(100)"}]})
closing = m.ask("session/close", {"sessionId": s})
assert m.answer(waiting)["result"] == {"stopReason": "cancelled"}
assert m.answer(closing)["result"] == {}
assert "task 'claude-1' is done" in m.text(s) and "branch garth/claude-1" in m.text(s) and "garth diff claude-1" in m.text(s), m.text(s)
assert m.call("session/prompt", {"sessionId": s, "prompt": []})["error"]["code"] == -32002
assert m.end() == 0
P
  [[ $(git log -1 --format=%s garth/claude-1) == work ]]
  fingerprint >"$T/after"
  diff -u "$T/before" "$T/after"
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["claude-1"]' ]]
}

@test "A9 acp: sessions have tasks of their own, and are listed and loaded again by another process" {
  editor <<'P'
m = Client([garth, "acp", "-e", "ACP_SESSION=20261118_1", "--"] + agent)
# agents may count their sessions from one in each new home
a, b = m.new(), m.new()
assert a != b, (a, b)
assert m.prompt(a, "open('which', 'w').write('a'); say(session)") == "20261118_1"
assert m.prompt(b, "open('which', 'w').write('b'); say(session)\nsecond line") != ""
one = [x["title"] for x in m.call("session/list", {"cwd": os.getcwd()})["result"]["sessions"]]
assert one == ["open('which', 'w').write('b'); say(session)", "open('which', 'w').write('a'); say(session)"], one
m.prompt(b, "notify('session/update', {'sessionId': session, 'update': {'sessionUpdate': 'session_info_update', 'title': 'Bee\\n\\x1b[31m'}})")
# a session is in one process at a time
n = Client([garth, "acp", "--"] + agent)
assert "in use" in n.call("session/load", {"sessionId": a, "cwd": os.getcwd(), "mcpServers": []})["error"]["message"]
# what the agent is at is cut short
m.ask("session/prompt", {"sessionId": a, "prompt": [{"type": "text", "text": "import time; time.sleep(100)"}]})
assert m.end() == 0
assert "1 uncommitted file" in m.text(a), m.text(a)
found = n.call("session/list")["result"]["sessions"]
assert [x["sessionId"] for x in found] == [a, b] or [x["sessionId"] for x in found] == [b, a], found
assert {x.get("title") for x in found} >= {"Bee ^[[31m"} and found[0]["cwd"] == os.getcwd(), found
assert n.call("session/list", {"cwd": "/tmp"})["result"]["sessions"] == []
loaded = n.call("session/load", {"sessionId": a, "cwd": os.getcwd(), "mcpServers": []})
assert loaded["result"] == {}, loaded
assert n.updates[0]["params"]["sessionId"] == a and n.updates[0]["params"]["update"]["content"]["text"] == "history"
assert n.prompt(a, "say(open('which').read())") == "a"
assert n.call("session/resume", {"sessionId": a, "cwd": os.getcwd()})["result"] == {}
# a session that was asked nothing leaves nothing
c = n.new()
assert n.call("session/close", {"sessionId": c})["result"] == {}
assert "is discarded" in n.text(c), n.text(c)
for session, why in ((c, "was discarded"), ("11111111-2222-4333-8444-555555555555", "no session"), ("", "no session")):
    no = n.call("session/load", {"sessionId": session, "cwd": os.getcwd(), "mcpServers": []})["error"]
    assert why in no["message"] and no["code"] == -32002, no
assert "belongs to the project" in n.call("session/load", {"sessionId": b, "cwd": sh("git init -q ../other; cd ../other; git commit -q --allow-empty -m x; pwd"), "mcpServers": []})["error"]["message"]
assert n.end() == 0
other = Client([garth, "acp", "--agent", "codex", "--"] + agent)
assert other.call("session/list")["result"]["sessions"] == []
assert "was with 'claude'" in other.call("session/load", {"sessionId": a, "cwd": os.getcwd(), "mcpServers": []})["error"]["message"]
other.end()
P
  [[ $("$garth" ls --json | json 'sorted(t["name"] for t in d["tasks"])') == '["claude-1", "claude-2"]' ]]
}

@test "A9 acp: --task shares one task and one agent; options hold; what cannot be started is an error of the protocol" {
  mkdir -p "$HOME/elsewhere"
  echo changed >>a.txt
  editor <<'P'
m = Client([garth, "acp", "-q", "--task", "fix", "--with-changes", "--on-dirty", "commit", "--mcp-secrets", "a", "-e", "MINE=1", "--"] + agent)
a = m.new(mcpServers=[{"name": "a", "command": "/bin/true", "args": [], "env": [{"name": "K", "value": "s"}]}])
b = m.new(os.getcwd() + "/dir")
assert m.prompt(a, "say(os.getpid())") == m.prompt(b, "say(os.getpid())")
assert m.prompt(b, "say(told['open']['cwd'])").endswith("/worktrees/fix/dir")
assert m.prompt(a, "say(os.environ['GARTH_TASK'], ); say(os.environ['MINE']); say(open('a.txt').read())") == "fix1one\nchanged\n"
assert m.call("session/close", {"sessionId": b})["result"] == {}
assert m.prompt(a, "say(told['session/close']['sessionId'])") != ""
assert "is not in the project" in m.new("/")["message"]
assert m.call("session/fork", {"sessionId": a, "cwd": os.getcwd()})["error"]["code"] == -32601
assert m.end() == 0 and not [u for u in m.updates if "garth diff" in json.dumps(u)], m.updates
# what happens to the task as a whole is told in the session
m = Client([garth, "acp", "--task", "paused", "--"] + agent)
a = m.new()
m.prompt(a, "say('x')")
sh(f"'{garth}' pause paused && '{garth}' resume paused")
m.prompt(a, "say('x')")
assert [u for u in m.updates if "is paused" in json.dumps(u)], m.updates
m.end()
sh(f"'{garth}' discard paused")
# the task goes on with the next editor
m = Client([garth, "acp", "--task", "fix", "--"] + agent)
assert m.prompt(m.new(), "say(os.getcwd())").endswith("/worktrees/fix")
m.end()
for argv, why in ((["no-such-agent"], "there is no program"), (["false"], "exit code 1"), (["--agent", "none", "x"], "there is no agent"), (["yes"], "does not answer")):
    no = Client([garth, "acp"] + argv, stderr=subprocess.DEVNULL)
    assert why in no.begun["error"]["message"], no.begun
    assert no.call("session/new", {"cwd": os.getcwd(), "mcpServers": []})["error"]["code"] == -32600
    assert no.end() == 0
m = Client([garth, "acp", "--"] + agent)
for cwd, why in ((os.environ["HOME"] + "/elsewhere", "not in a git repository"), ("relative", "absolute"), ("/no/such", "cannot open"), (os.environ["GARTH_HOME"], "Garth home")):
    no = m.new(cwd)
    assert why in no["message"], no
assert m.call("initialize", {})["error"]["code"] == -32600
assert m.call("authenticate", {"methodId": "term"})["error"]["code"] == -32602
assert m.call("authenticate", {"methodId": "plain"})["result"] == {}
m.raw(b'{"id": 77,\n[]\nnull\n\n{"id":78,"method":"x","params":[]}\n')
assert m.answer(None)["error"]["code"] == -32700
assert m.answer(78)["error"]["code"] == -32600
m.end()
m = Client([garth, "acp", "-e", "ACP_LOGGED_OUT=1", "--"] + agent)
no = m.new()
assert no["code"] == -32000 and "log in with the agent's own command outside" in no["message"], no
m.end()
P
  [[ $(git show garth/fix:a.txt) == $'one\nchanged' ]]
  # nothing is left of agents that did not start
  [[ $("$garth" ls --json --all-projects | json '[t["name"] for t in d["tasks"]]') == '["fix"]' ]]
  [[ -z $(git worktree list --porcelain | grep claude-) ]]
  fails 2 'usage: garth acp' "$garth" acp
}

@test "A9 acp: version 2 of the protocol, with another kind of workspace" {
  editor <<'P'
m = Client([garth, "acp", "--backend", "overlay", "-e", "ACP_VERSION=2", "--"] + agent, version=2)
can = m.begun["result"]
assert can["capabilities"] == {"session": {"mcp": {"stdio": {}, "http": {}}}} and can["protocolVersion"] == 2, can
s = m.new(os.getcwd() + "/dir")
told = json.loads(m.prompt(s, "say(json.dumps(told))"))
assert told["asked"]["capabilities"] == {"elicitation": {"form": {}}, "_meta": {"terminal_output": True}}, told
assert told["open"]["cwd"] == os.getcwd() + "/dir", told
first = m.updates[0]["params"]["update"]
assert first["sessionUpdate"] == "notice" and "garth diff claude-1" in first["description"], first
m.prompt(s, "sh('echo x >x; git add -A; git commit -qm two')")
assert m.call("auth/login", {"methodId": "plain"})["result"] == {}
assert m.prompt(m.new(), "say(told['auth/login'])") == "{'methodId': 'plain'}"
assert m.call("session/list")["result"]["sessions"][1]["sessionId"] == s
assert m.call("session/close", {"sessionId": s})["result"] == {}
last = m.updates[-1]["params"]["update"]
assert last["sessionUpdate"] == "notice" and last["title"] == "task 'claude-1' is done" and "branch garth/claude-1" in last["description"], last
assert m.call("session/resume", {"sessionId": s, "cwd": os.getcwd() + "/dir", "replayFrom": {"type": "start"}})["result"] == {}
assert m.end() == 0
P
  [[ $(git log -1 --format=%s garth/claude-1) == two ]]
}

@test "A9 acp: on Landlock alone, where an agent cannot be asked before there is a task" {
  is_root && skip 'root never has it'
  python3 "$BATS_TEST_DIRNAME/without-userns" true || skip 'no user namespace can be made to try it in'
  editor <<'P'
without = ["python3", os.environ["GARTH_TOP"] + "/tests/cmd/without-userns", garth, "acp", "--allow-weaker"]
m = Client(without + ["--"] + agent)
assert "needs namespaces" in m.new()["message"] and m.end() == 0
m = Client(without + ["--net", "none", "--"] + agent)
assert m.begun["result"]["agentCapabilities"] == {"sessionCapabilities": {"close": {}}}, m.begun
assert m.prompt(m.new(), "say(sh('echo x >x; git add -A; git commit -qm work')); say(os.getcwd())").endswith("/alone/claude-1")
assert m.end() == 0
m = Client(without + ["--net", "none", "--"] + agent)
assert m.begun["result"]["agentCapabilities"]["loadSession"], m.begun
m.end()
P
  [[ $(git log -1 --format=%s garth/claude-1) == work ]]
}

# ended NAME STATE: the task ended so, and its commit is published.
ended() { is_state "$1" "$2" && [[ $(git log -1 --format=%s "garth/$1") == work ]]; }

@test "A9 ESCAPES 23 acp: however it ends, the task ends like any other and its work is published" {
  work="sh('echo x >x; git add -A; git commit -qm work; echo y >y')"
  export work
  editor <<'P'
def begin(*options):
    m = Client([garth, "acp", *options, "--"] + agent)
    s = m.new()
    m.prompt(s, os.environ["work"])
    return m, s
m, s = begin("--task", "eof")
assert m.end() == 0 and "task 'eof' is done" in m.text(s), m.text(s)
m, s = begin("--task", "term")
m.process.send_signal(signal.SIGTERM)
assert m.process.wait(60) == 0
m, s = begin("--task", "killed")
m.process.kill()
m, s = begin("--task", "crash")
no = m.prompt(s, "os._exit(3)")
assert no["code"] == -32603 and "exit code 3" in m.text(s), (no, m.text(s))
# the same editor goes on
assert m.call("session/load", {"sessionId": s, "cwd": os.getcwd(), "mcpServers": []})["result"] == {}
assert m.prompt(s, "say(os.path.exists('x'))") == "True"
m.prompt(s, "os._exit(3)")
m.end()
# an agent that does not end with its input, as codex-acp
m, s = begin("--task", "deaf")
m.ask("session/prompt", {"sessionId": s, "prompt": [{"type": "text", "text": "os.execvp('sh', ['sh', '-c', 'trap : TERM HUP; echo hears nothing >&2; while :; do sleep 1; done'])"}]})
while "hears nothing" not in open(os.environ["HOME"] + "/../err").read():
    time.sleep(0.05)
m.process.stdin.close()
# a second signal does not wait
m.process.send_signal(signal.SIGTERM)
m.process.send_signal(signal.SIGINT)
m.process.wait(60)
P
  eventually ended eof done
  eventually ended term done
  eventually ended killed done
  eventually ended crash failed
  # nobody is left who could end it
  eventually ended deaf done
  "$garth" doctor
}
