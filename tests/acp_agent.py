#!/usr/bin/python3
"""An agent that speaks the Agent Client Protocol and does as it is told, for tests. It runs inside.

A prompt is Python, with these words: say(text), ask(method, params) (the editor's answer as a dictionary),
raw(bytes) (anything, to the editor), notify(method, params), told (what initialize and session/new had), session,
and sh(command). Its exception is said. $ACP_VERSION is the protocol's version that it answers; $ACP_SESSION the id of
its first session ("" for none).
"""

import json
import os
import subprocess
import sys
import threading

told = {}
answers = {}
changed = threading.Condition()
lock = threading.Lock()
count = [0]
sessions = []


def raw(data):
    with lock:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def send(message):
    raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def notify(method, params):
    send({"method": method, "params": params})


def ask(method, params, number=None):
    """The editor's answer: {"result": …} or {"error": …}."""
    with changed:
        count[0] += 1
        number = count[0] if number is None else number
    send({"id": number, "method": method, "params": params})
    with changed:
        changed.wait_for(lambda: number in answers, 60)
        return answers.pop(number, None)


def sh(command):
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    return done.stdout + done.stderr


def prompt(message):
    session = message["params"]["sessionId"]
    version = told["initialize"]["protocolVersion"]

    def say(text):
        chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": str(text)}}
        if version > 1:
            chunk["messageId"] = "m"
        notify("session/update", {"sessionId": session, "update": chunk})

    told["prompt"] = message["params"]
    words = dict(globals(), say=say, session=session)
    try:
        exec(message["params"]["prompt"][0]["text"], words)  # pylint: disable=exec-used
    except BaseException as e:  # pylint: disable=broad-except
        say(repr(e))
    result = {"stopReason": "end_turn"} if version == 1 else {"messageId": "m"}
    send({"id": message["id"], "result": result})
    if version > 1:
        notify("session/update", {"sessionId": session, "update": {"sessionUpdate": "state_update", "state": "idle"}})


def initialize(params):
    version = int(os.environ.get("ACP_VERSION", "1"))
    told["initialize"] = dict(params, protocolVersion=version)
    told["asked"] = params
    log_ins = [
        {"id": "plain", "methodId": "plain", "name": "Plain", "_meta": {"terminal-auth": {"command": "/bin/sh"}}},
        {"id": "term", "methodId": "term", "name": "Terminal", "type": "terminal", "args": ["--evil"]},
    ]
    if version > 1:
        session = {"mcp": {"stdio": {}, "http": {}, "acp": {}}, "delete": {}, "fork": {}}
        return {"protocolVersion": 2, "info": {"name": "fake", "version": "1"}, "capabilities": {"session": session},
                "authMethods": log_ins}
    can = {"loadSession": True, "sessionCapabilities": {"close": {}, "fork": {}, "delete": {}},
           "mcpCapabilities": {"http": True, "acp": True}, "promptCapabilities": {"embeddedContext": True},
           "auth": {"logout": {}}, "nes": {}}
    return {"protocolVersion": version, "agentCapabilities": can, "authMethods": log_ins}


def opened(message):
    params = message["params"]
    told["open"] = params
    if message["method"] == "session/new":
        sessions.append(os.environ.get("ACP_SESSION", f"s-{os.getpid()}-{len(sessions)}"))
        with open(os.path.expanduser("~/.acp-history"), "a", encoding="utf-8") as f:
            f.write(sessions[-1] + "\n")
        if os.environ.get("ACP_LOGGED_OUT"):
            return {"error": {"code": -32000, "message": "Authentication required"}}
        return {"result": {"sessionId": sessions[-1]} if sessions[-1] else {}}
    with open(os.path.expanduser("~/.acp-history"), encoding="utf-8") as f:
        known = f.read().split()
    if params["sessionId"] not in known:
        return {"error": {"code": -32002, "message": "no such session", "data": {"sessionId": params["sessionId"]}}}
    sessions.append(params["sessionId"])
    notify("session/update", {"sessionId": params["sessionId"], "update": {
        "sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "history"}}})
    return {"result": {}}


def main():
    sys.stderr.write("the agent is here\n")
    for line in sys.stdin:
        message = json.loads(line)
        method = message.get("method")
        if method is None:
            with changed:
                answers[message["id"]] = message
                changed.notify_all()
        elif method == "initialize":
            send({"id": message["id"], "result": initialize(message["params"])})
        elif method in ("session/new", "session/load", "session/resume"):
            send({"id": message["id"], **opened(message)})
        elif method == "session/prompt":
            threading.Thread(target=prompt, args=(message,), daemon=True).start()
        elif "id" in message:
            told[method] = message.get("params")
            send({"id": message["id"], "result": {}})
        else:
            told[method] = message.get("params")


main()
