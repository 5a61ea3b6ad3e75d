"""A client of MCP over pipes, for tests: `Client(words)` starts a server, `call` calls a tool."""
import json
import os
import select
import subprocess
import time

SECONDS = 60


class Client:
    def __init__(self, words, **how):
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **how)
        self.id, self.rest = 0, b""
        self.start = self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                             "clientInfo": {"name": "test", "version": "1"}})

    def send(self, data):
        """Raw bytes."""
        fd = self.child.stdin.fileno()
        while data:
            data = data[os.write(fd, data[:65536]):]

    def line(self):
        """The next line of the server's, within a time limit."""
        until = time.monotonic() + SECONDS
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.child.stdout], [], [], left)[0]:
                raise SystemExit("the server does not answer")
            more = os.read(self.child.stdout.fileno(), 1 << 20)
            if not more:
                raise SystemExit("the server ended")
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def ask(self, method, params=None):
        self.id += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.id, "method": method, **({} if params is None else {"params": params})}).encode() + b"\n")
        answer = self.line()
        assert answer.get("id") == self.id, answer
        return answer

    def call(self, name, **args):
        """The text of a result, or the error as an object."""
        answer = self.ask("tools/call", {"name": name, "arguments": args})
        assert "result" in answer, answer
        result = answer["result"]
        block = result["content"][0]
        if result.get("isError"):
            return json.loads(block["text"])["error"]
        assert "structuredContent" in result, result
        return block.get("text", block)

    def end(self):
        self.child.stdin.close()
        return self.child.wait(SECONDS)
