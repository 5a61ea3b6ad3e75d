"""A client of the Agent Client Protocol, for tests: an editor without a window."""

import json
import os
import queue
import subprocess
import threading


class Client:
    """Starts the command line and speaks to it; everything that it says is kept."""

    def __init__(self, argv, version=1, capabilities=None, begin=True, **options):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.said = queue.Queue()
        self.updates = []
        self.asked = []
        self.count = 0
        self.open = set()  # ids that were asked and not answered
        self.kept = {}  # answers that came before they were waited for
        self.stray = []  # answers to nothing
        self.paused = threading.Event()  # cleared: nothing is read
        self.paused.set()
        threading.Thread(target=self._read, daemon=True).start()
        if begin:
            everything = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True,
                          "auth": {"terminal": True}, "elicitation": {"form": {}, "url": {}}, "nes": {},
                          "_meta": {"terminal-auth": True, "terminal_output": True}}
            caps = everything if capabilities is None else capabilities
            self.begun = self.call("initialize", {
                "protocolVersion": version, "clientCapabilities": caps, "clientInfo": {"name": "t", "version": "1"},
                **({"capabilities": caps, "info": {"name": "t", "version": "1"}} if version > 1 else {})})

    def _read(self):
        for line in self.process.stdout:
            self.paused.wait()
            self.said.put(json.loads(line))
        self.said.put(None)

    def send(self, message):
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def ask(self, method, params=None, number=None):
        """Only asks; the id."""
        self.count += 1
        number = self.count if number is None else number
        self.open.add(number)
        self.send({"id": number, "method": method, "params": params or {}})
        return number

    def until(self, done, wait=60, permission="yes"):
        """Reads until done() is true; an agent's request for permission is granted."""
        while not done():
            message = self.said.get(timeout=wait)
            if message is None:
                raise EOFError("it has ended")
            if "method" in message and "id" in message:
                self.asked.append(message)
                if permission is not None:
                    self.send({"id": message["id"],
                               "result": {"outcome": {"outcome": "selected", "optionId": permission}}})
            elif "method" in message:
                self.updates.append(message)
            elif message["id"] in self.open:
                self.open.discard(message["id"])
                self.kept[message["id"]] = message
            else:
                self.stray.append(message)

    def answer(self, number, wait=60, permission="yes"):
        """Reads until the answer to a request is there."""
        if number not in self.kept:
            self.open.add(number)
        self.until(lambda: number in self.kept, wait, permission)
        return self.kept.pop(number)

    def call(self, method, params=None, wait=60):
        return self.answer(self.ask(method, params), wait)

    def new(self, cwd=None, **params):
        """A new session's id, or the error."""
        a = self.call("session/new", {"cwd": cwd or os.getcwd(), "mcpServers": [], **params})
        return a["result"]["sessionId"] if "result" in a else a["error"]

    def prompt(self, session, text, *more):
        """What the agent said to it."""
        before = len(self.updates)
        a = self.call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}, *more]})
        if "error" in a:
            return a["error"]
        return self.text(session, before)

    def text(self, session, since=0):
        """The agent's words in a session."""
        return "".join(u["params"]["update"]["content"]["text"] for u in self.updates[since:]
                       if u["method"] == "session/update" and u["params"]["sessionId"] == session
                       and u["params"]["update"].get("sessionUpdate") == "agent_message_chunk")

    def end(self):
        """Closes its input and reads the rest; the exit code."""
        self.process.stdin.close()
        while True:
            message = self.said.get(timeout=60)
            if message is None:
                break
            if "method" in message:
                self.updates.append(message)
        return self.process.wait(60)
