"""Requests about tickets that must all be refused: prints "WHAT: STATUS" for each."""
import http.client
import json
import os
import socket


class Gateway(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(os.environ["GARTH_SOCKET"])


def ask(method, path, body=None):
    c = Gateway("x")
    text = body if isinstance(body, (str, bytes)) or body is None else json.dumps(body)
    try:
        c.request(method, "/api/v1/tickets" + path, text)
    except BrokenPipeError:
        pass  # too long: the answer comes before all of it is sent
    return c.getresponse().status


t = {"title": "x"}
for what, body in (
    ("network", {**t, "network": {"mode": "host"}}),
    ("hosts", {**t, "allow": ["example.com"]}),
    ("sandbox", {**t, "sandbox": {"enabled": False}}),
    ("script", {**t, "script": "id"}),
    ("agent script", {**t, "agent": "script"}),
    ("agent codex", {**t, "agent": "codex"}),
    ("agent path", {**t, "agent": "../fake"}),
    ("tickets", {**t, "tickets": 8}),
    ("id", {**t, "id": "../../x"}),
    ("task", {**t, "task": "other"}),
    ("backend", {**t, "backend": "worktree"}),
    ("leads out", {**t, "files": ["../../etc/**"]}),
    ("submodule", {**t, "submodules": ["all"]}),
    ("depends on another's", {**t, "depends": ["other.t1"]}),
    ("depends on itself", {**t, "depends": ["t1"]}),
    ("long title", {"title": "x" * 201}),
    ("long prompt", {**t, "prompt": "x" * 65537}),
    ("many files", {**t, "files": ["a"] * 65}),
    ("long command", {**t, "acceptance": ["x" * 5000]}),
    ("deep", '{"title":' + "[" * 5000 + "]" * 5000 + "}"),
    ("no JSON", "{"),
    ("twice", '{"title":"x","title":"y"}'),
    ("NUL", '{"title":"a\\u0000b"}'),
    ("no UTF-8", b'{"title":"\xff\xfe"}'),
    ("huge", {**t, "prompt": "x" * (1 << 20)}),
    ("a list", [t]),
    ("timeout", {**t, "timeout": "-1s"}),
):
    print(what + ":", ask("POST", "", body))
for path in ("/t1", "/other.t1", "/p.t1", "/t1/../../task", "/%2e%2e/task", "/" + "a" * 5000, "/1", "/-1", "/t1%00", "//", "/refs%2fheads%2fmain"):
    print(path[:20] + ":", ask("GET", path))
for path in ("/t1/merge", "/other.t1/merge", "/other.t1/diff", "/t1/answer", "/main/merge", "/x/discard"):
    print(path + ":", ask("POST", path, {}))
print("wait:", ask("POST", "/wait", {"ids": ["other.t1"]}))
print("wait for a number:", ask("POST", "/wait", {"ids": [1]}))
