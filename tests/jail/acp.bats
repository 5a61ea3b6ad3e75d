load helpers
load ../acp

setup() {
  jail_setup
  acp_setup
}
teardown() { garth_teardown; }

@test "41 A9 acp: nothing that an agent asks for runs, is read or is opened in the editor" {
  # The agent calls what the protocol has for the editor, and what only some editors have. Control: without Garth
  # between them, each call arrives.
  editor <<'P'
calls = """
what = [('fs/write_text_file', {'path': '/tmp/x', 'content': 'x'}), ('fs/read_text_file', {'path': '/etc/passwd'}),
    ('terminal/create', {'command': 'sh', 'args': ['-c', 'id']}), ('terminal/output', {'terminalId': '1'}), ('mcp/message', {'serverId': '1'}),
    ('mcp/connect', {}), ('_zed.dev/open', {'path': '/x'}), ('session/prompt', {'prompt': []}), ('initialize', {}), ('authenticate', {}),
    ('elicitation/create', {'mode': 'url', 'url': 'https://x', 'message': 'm'}), ('elicitation/create', {'message': 'm'}),
    ('fs/../session/request_permission', {}), ('Session/Request_Permission', {}), ('window/showDocument', {'uri': 'file:///x'})]
said = [ask(name, dict(params, sessionId=session)) for name, params in what]
say(sum('error' in x for x in said), )
for name, params in what: notify(name, dict(params, sessionId=session))
"""
m = Client([garth, "acp", "--"] + agent)
s = m.new()
assert m.prompt(s, calls) == "15", m.text(s)
assert not m.asked, m.asked
assert {u["method"] for u in m.updates} == {"session/update"}, m.updates
assert m.end() == 0
direct = Client(agent)
direct.prompt(direct.new(), calls)
assert len(direct.asked) == 15, direct.asked
direct.end()
P
  untouched
}

@test "41 A9 acp: an agent speaks for its own sessions only, and answers what it was asked" {
  # Another session's id, which the agent was told; ids of requests of another agent, of Garth and of nobody; the same
  # answer twice; the same request twice. Control: its own session's messages arrive between them.
  editor <<'P'
m = Client([garth, "acp", "--"] + agent)
a, b = m.new(), m.new()
m.prompt(a, "say('mine')")
m.updates.clear()
forged = """
other = OTHER
for x in (other, 'none', '', None, 7, ['s'], {'a': 1}, session + 'x', session[:-1]):
    notify('session/update', {'sessionId': x, 'update': {'sessionUpdate': 'agent_message_chunk', 'content': {'type': 'text', 'text': 'forged'}}})
    x == session or ask('session/request_permission', {'sessionId': x, 'toolCall': {'toolCallId': '1'}, 'options': []})
for x in (1, 2, 3, 4, 5, 6, 7, 0, -1, 'garth', 'garth-1', 'garth-2', '1'):
    send({'id': x, 'result': {'sessionId': 'forged', 'stopReason': 'forged'}})
raw(b'{"id":null,"result":{}}\\n{"method":"session/update","params":{"sessionId":"%s","sessionId":"forged"}}\\n' % session.encode())
notify('session/update', {'sessionId': session, 'update': {'sessionUpdate': 'subagent_update', 'sessionId': other}})
say('own')
"""
waits = m.ask("session/prompt", {"sessionId": a, "prompt": [{"type": "text", "text": "ask('session/request_permission', {'sessionId': session, 'toolCall': {'toolCallId': '1'}, 'options': []}); say('late')"}]}, 3)
m.until(lambda: m.asked, permission=None)
m.ask("session/prompt", {"sessionId": b, "prompt": [{"type": "text", "text": forged.replace("OTHER", repr(a))}]}, 90)
# the forged answer to 90 itself is its own business; those of others are none
assert m.answer(90, permission=None)["result"]["stopReason"] == "end_turn"
assert m.text(b) == "own" and m.text(a) == "", m.updates
assert "forged" not in json.dumps(m.updates) and [x["params"]["sessionId"] for x in m.asked] == [a], (m.updates, m.asked)
m.send({"id": m.asked.pop()["id"], "result": {}})
assert m.answer(waits)["result"]["stopReason"] == "end_turn" and m.text(a) == "late"
assert not m.stray, m.stray
# one request at a time with an id; a hundred wait at most
twice = """
import threading
got = []
def one(n): got.append(ask('session/request_permission', {'sessionId': session, 'toolCall': {'toolCallId': '1'}, 'options': []}, n))
for i in range(130): send({'id': 1000 + i, 'method': 'session/request_permission', 'params': {'sessionId': session, 'toolCall': {'toolCallId': '1'}, 'options': []}})
send({'id': 1000, 'method': 'session/request_permission', 'params': {'sessionId': session, 'toolCall': {'toolCallId': '1'}, 'options': []}})
with changed: changed.wait_for(lambda: sum(1000 <= k < 1130 for k in answers if isinstance(k, int)) >= 31 or len(answers) > 30, 30)
say('asked')
"""
number = m.ask("session/prompt", {"sessionId": b, "prompt": [{"type": "text", "text": twice}]})
m.answer(number, permission=None)
ids = [x["id"] for x in m.asked]
assert len(ids) == 100 and len(set(ids)) == 100, len(ids)
# nothing comes after a session's end
m.prompt(b, "import threading\nfor i in range(4): threading.Thread(target=lambda: [say('spam') for _ in range(1000000)], daemon=True).start()")
assert m.call("session/close", {"sessionId": b})["result"] == {}
last = len(m.updates)
assert m.call("session/list")["result"]["sessions"]
assert not [u for u in m.updates[last:] if u["params"]["sessionId"] == b], m.updates[last]
assert m.end() == 0
P
  untouched
}

@test "41 20 A9 acp: half lines, giant lines, bombs and floods of an agent stop neither the editor nor other sessions" {
  # Each of them comes between two messages that arrive. Memory outside is measured.
  editor <<'P'
def peak(m):
    return int(next(l for l in open(f"/proc/{m.process.pid}/status") if l.startswith("VmHWM")).split()[1]) >> 10
m = Client([garth, "acp", "--"] + agent)
a, b = m.new(), m.new()
odd = [r"b'\n\n  \n'", r"b'half a line'), raw(b' and the rest\n'", r"b'\xff\xfe\x00\x1b[31m\n'", r"b'{\"id\":1}{\"id\":2}\n'", r"b'nul\x00l\n'",
    r"b'[' * 3000000 + b'\n'", r"b'{\"a\":' * 100000 + b'\n'", r"b'{\"method\":\"session/update\",\"params\":{\"a\":[' + b'{},' * 5000000 + b'{}]}}\n'",
    r"b'\"' + b'x' * 20000000 + b'\n'", r"b'{\"method\":\"session/update\",\"params\":{\"sessionId\":\"' + b'x' * 9000000 + b'\"}}\n'",
    r"b'{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"x\"}\n'", r"b'123456789012345678901234567890\n'", r"b'{\"id\":99999999999999999999,\"result\":1}\n'"]
for x in odd:
    assert m.prompt(a, f"say('before'); raw({x}); say('after')") == "beforeafter", x
# cut in the middle of a character, as JavaScript does
cut = r"""raw(('{"method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"cut \\ud83c"}}}}\n' % session).encode())"""
assert m.prompt(a, cut) == "cut \ufffd", m.text(a)
assert peak(m) < 300, peak(m)
# a flood, while the editor reads nothing
flood = "x = json.dumps({'method': 'session/update', 'params': {'sessionId': session, 'update': {'sessionUpdate': 'agent_message_chunk', 'content': {'type': 'text', 'text': 'x' * 100000}}}}).encode() + b'\\n'\nfor i in range(350): raw(x)"
f = Client([garth, "acp", "--"] + agent)
s = f.new()
before = peak(f)
number = f.ask("session/prompt", {"sessionId": s, "prompt": [{"type": "text", "text": flood}]})
f.paused.clear()
time.sleep(1.5)
assert peak(f) < before + 20, (before, peak(f))
f.paused.set()
f.answer(number)
assert sum(len(u["params"]["update"]["content"]["text"]) for u in f.updates if u["params"]["update"].get("content")) >= 35000000
assert f.prompt(s, "say('here')") == "here" and f.end() == 0
# an agent that reads nothing is ended; the other one is not
m.ask("session/prompt", {"sessionId": a, "prompt": [{"type": "text", "text": "os.kill(os.getpid(), 19)"}]})
for i in range(5):
    m.ask("session/prompt", {"sessionId": a, "prompt": [{"type": "text", "text": "x" * 9000000}]})
assert m.prompt(b, "say('here')") == "here"
while "agent reads nothing" not in open(os.environ["HOME"] + "/../err").read():
    assert m.prompt(b, "say('here')").endswith("here")
assert m.end() == 0
# half a line is the last thing that it says
m = Client([garth, "acp", "--"] + agent)
s = m.new()
m.prompt(s, "say('x'); raw(b'{\"id\":1,\"result\"'); os._exit(0)")
assert m.call("session/list")["result"]["sessions"]
m.end()
# what it answers to session/new
for answer in ("", "x" * 600):
    m = Client([garth, "acp", "-e", "ACP_SESSION=" + answer, "--"] + agent)
    no = m.new()
    assert "no id" in no["message"], no
    m.end()
P
  untouched
}
