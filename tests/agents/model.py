#!/usr/bin/env python3
"""A model for agents that answers by a script, on loopback.

    model.py [--run COMMAND] [--each-turn] [--say TEXT] [--port-file FILE] [--tls DIR] [--lasts SECONDS] LOG

Speaks Anthropic's messages, OpenAI's responses and chat completions, and Gemini's generateContent, each with and
without streaming. A conversation that has no tool's result yet is answered with one call of the client's shell tool
that runs COMMAND; every other one with TEXT. Without COMMAND, always with TEXT. With --each-turn, COMMAND runs once after each
prompt: what came before the model's last TEXT does not count. Each request is one line of JSON in LOG: {"path", "time",
"headers", "body"}. FILE gets the port. Ends when its standard input does.

With --tls it is also an HTTPS proxy (CONNECT) that answers for every host itself: with certificates of an authority in
DIR/ca.pem. With HTTPS_PROXY and SSL_CERT_FILE set to them, Garth takes it for the Internet. It then knows log-ins: a
refresh token "rt-N" is taken once and gives "at-N+1", which lasts SECONDS (3600), and "rt-N+1" (a Google log-in keeps its
"rt-0"); an access token that is not the newest is answered with 401. DIR/hosts has a line for each host asked for.
"""

import argparse
import json
import os
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The names of shell tools, and of the argument that is the command.
SHELLS = {
    "Bash": "command",  # Claude Code
    "exec_command": "cmd",  # Codex
    "shell_command": "command",
    "run_shell_command": "command",  # Gemini CLI
    "bash": "command",  # OpenCode
    "shell": "command",  # Goose
    "developer__shell": "command",
}


def shell_tool(names):
    for name in SHELLS:
        if name in names:
            return name
    return None


def shell_input(name, command):
    words = {SHELLS[name]: command}
    if name in ("bash", "Bash"):
        words["description"] = "run a command"
    return words


class Authority:
    """Certificates for any host, all of one authority."""

    def __init__(self, top):
        self.top, self.lock, self.contexts = top, threading.Lock(), {}
        os.makedirs(top, exist_ok=True)
        self.new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        self.openssl("req", "-x509", *self.new, "-keyout", "ca.key", "-out", "ca.part", "-days", "3", "-subj", "/CN=Test")
        os.rename(f"{top}/ca.part", f"{top}/ca.pem")

    def openssl(self, *args):
        subprocess.run(["openssl", *args], check=True, cwd=self.top, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def context(self, host):
        with self.lock:
            if host not in self.contexts:
                with open(f"{self.top}/ext", "w", encoding="ascii") as f:
                    f.write(f"subjectAltName=DNS:{host}\n")
                with open(f"{self.top}/hosts", "a", encoding="ascii") as f:
                    f.write(host + "\n")
                self.openssl("req", *self.new, "-keyout", "s.key", "-out", "s.csr", "-subj", "/CN=x")
                self.openssl("x509", "-req", "-in", "s.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                             "-days", "3", "-extfile", "ext", "-out", "s.crt")
                self.contexts[host] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                self.contexts[host].load_cert_chain(f"{self.top}/s.crt", f"{self.top}/s.key")
            return self.contexts[host]


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    host = None  # the one that was asked for with CONNECT

    def log_message(self, *args):
        pass

    def note(self, body):
        line = {"host": self.host, "path": self.path, "time": time.time(), "headers": dict(self.headers), "body": body}
        with self.server.lock, open(self.server.log, "a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")

    def answer(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events, named):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            if named:
                self.wfile.write(b"event: %s\n" % event["type"].encode())
            text = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(b"data: %s\n\n" % text.encode())
            self.wfile.flush()
        self.close_connection = True

    def do_CONNECT(self):
        if not self.server.authority:
            return self.answer({}, 405)
        self.host = self.path.rsplit(":", 1)[0]
        self.send_response(200)
        self.end_headers()
        try:
            self.connection = self.server.authority.context(self.host).wrap_socket(self.connection, server_side=True)
        except (OSError, ssl.SSLError):
            self.close_connection = True
            return None
        self.rfile = self.connection.makefile("rb", -1)
        self.wfile = self.connection.makefile("wb", 0)
        self.close_connection = False

    def new_in(self, items, is_said):
        """What the conversation has after the model's last text; all of it without --each-turn."""
        said = [i for i, item in enumerate(items) if is_said(item)]
        return items[said[-1] + 1:] if self.server.each_turn and said else items

    def new_id(self, kind):
        """Clients take answers with the same id for parts of one."""
        with self.server.lock:
            self.server.answers += 1
            return "%s_%d" % (kind, self.server.answers)

    # Log-ins

    def renew(self, raw):
        try:
            given = json.loads(raw)
        except ValueError:
            given = dict(urllib.parse.parse_qsl(raw.decode()))
        token, server = given.get("refresh_token", ""), self.server
        with server.lock:
            good = token == "rt-%d" % server.renewed or self.path == "/token" and token == "rt-0"
            server.renewed += good
            n = server.renewed
        if not good:
            return self.answer({"error": "invalid_grant", "error_description": "Refresh token not found or invalid"}, 400)
        reply = {"access_token": "at-%d" % n, "token_type": "Bearer", "expires_in": server.lasts, "scope": given.get("scope", "")}
        if self.path != "/token":
            reply["refresh_token"] = "rt-%d" % n
        return self.answer(reply)

    def known(self):
        """Whether the request has the newest access token, or none at all."""
        said = self.headers.get("Authorization") or ""
        return not self.server.authority or not said.startswith("Bearer at-") or said == "Bearer at-%d" % self.server.renewed

    def account(self):
        """An answer about the account, or None."""
        if self.path.startswith("/api/oauth/profile"):
            return {"account": {"uuid": "u", "email": "a@b.example"}, "organization": {"uuid": "o", "organization_type": "claude_max"}}
        if self.path.startswith("/tokeninfo"):
            return {"email": "a@b.example", "expires_in": 3600, "scope": "", "aud": "x"}
        if self.path.startswith("/oauth2/v2/userinfo"):
            return {"email": "a@b.example"}
        if self.path.endswith(":loadCodeAssist"):
            tier = {"id": "standard-tier", "name": "x", "isDefault": True}
            return {"currentTier": tier, "allowedTiers": [tier], "cloudaicompanionProject": "p"}
        return None

    def do_GET(self):
        self.note(None)
        if not self.known():
            return self.answer({"type": "error", "error": {"type": "authentication_error", "message": "Invalid bearer token"}}, 401)
        if self.account():
            return self.answer(self.account())
        if self.headers.get("Upgrade"):
            return self.answer({"error": {"message": "no WebSocket here"}}, 426)
        self.answer({"object": "list", "data": [], "models": []})

    do_HEAD = do_GET

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "zstd":  # Codex with a ChatGPT log-in
            raw = subprocess.run(["zstd", "-dc"], input=raw, stdout=subprocess.PIPE, check=True).stdout
        try:
            body = json.loads(raw)
        except ValueError:
            body = raw.decode("utf-8", "replace")
        self.note(body)
        path = self.path.split("?")[0]
        if self.server.authority and path in ("/v1/oauth/token", "/oauth/token", "/token"):
            return self.renew(raw)
        if not self.known():
            return self.answer({"type": "error", "error": {"type": "authentication_error", "message": "Invalid bearer token"}}, 401)
        if self.account():
            return self.answer(self.account())
        if not isinstance(body, dict):
            return self.answer({})
        if path.endswith("/messages"):
            return self.anthropic(body)
        if path.endswith("/count_tokens"):
            return self.answer({"input_tokens": 1})
        if path.endswith("/responses"):
            return self.openai_responses(body)
        if path.endswith("/chat/completions"):
            return self.openai_completions(body)
        if path.endswith(":countTokens"):
            return self.answer({"totalTokens": 1})
        if path.endswith("enerateContent"):
            return self.gemini(body, path.endswith(":streamGenerateContent"))
        self.answer({})

    # Anthropic

    def anthropic(self, body):

        def has(message, kind):
            return isinstance(message["content"], list) and any(p.get("type") == kind for p in message["content"])

        new = self.new_in(body["messages"], lambda m: m["role"] == "assistant" and not has(m, "tool_use"))
        used = any(has(m, "tool_result") for m in new)
        tool = shell_tool([t.get("name") for t in body.get("tools", [])])
        if self.server.run and tool and not used:
            part = {"type": "tool_use", "id": self.new_id("toolu"), "name": tool, "input": shell_input(tool, self.server.run)}
            reason = "tool_use"
        else:
            part, reason = {"type": "text", "text": self.server.say}, "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": self.new_id("msg"), "type": "message", "role": "assistant", "model": body.get("model", "m"), "usage": usage}
        if not body.get("stream"):
            return self.answer(dict(message, content=[part], stop_reason=reason, stop_sequence=None))
        if part["type"] == "text":
            empty, delta = dict(part, text=""), {"type": "text_delta", "text": part["text"]}
        else:
            empty, delta = dict(part, input={}), {"type": "input_json_delta", "partial_json": json.dumps(part["input"])}
        self.stream(
            [
                {"type": "message_start", "message": dict(message, content=[], stop_reason=None, stop_sequence=None)},
                {"type": "content_block_start", "index": 0, "content_block": empty},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
                {"type": "message_stop"},
            ],
            True,
        )

    # OpenAI

    def openai_responses(self, body):
        given = body.get("input")
        items = given if isinstance(given, list) else []
        new = self.new_in(items, lambda i: isinstance(i, dict) and i.get("role") == "assistant")
        used = any(i.get("type", "").endswith("call_output") for i in new if isinstance(i, dict))
        tool = shell_tool([t.get("name") or t.get("type") for t in body.get("tools", [])])
        spaces = [t for i in items if isinstance(i, dict) and i.get("type") == "additional_tools" for t in i["tools"]]
        code = [s for s in spaces for t in s.get("tools", []) if t.get("type") == "custom" and t.get("name") == "exec"]
        if self.server.run and code and not used:
            # Codex, whose model calls tools from JavaScript
            script = "const r = await tools.exec_command({cmd: %s}); text(r)" % json.dumps(self.server.run)
            item = {"type": "custom_tool_call", "id": self.new_id("ctc"), "call_id": self.new_id("call"), "name": "exec", "input": script}
            item.update(namespace=code[0]["name"], status="completed")
        elif self.server.run and tool and not used:
            item = {
                "type": "function_call",
                "id": self.new_id("fc"),
                "call_id": self.new_id("call"),
                "name": tool,
                "arguments": json.dumps(shell_input(tool, self.server.run)),
            }
        else:
            text = {"type": "output_text", "text": self.server.say, "annotations": []}
            item = {"type": "message", "id": self.new_id("msg"), "role": "assistant", "status": "completed", "content": [text]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        usage["input_tokens_details"] = {"cached_tokens": 0}
        usage["output_tokens_details"] = {"reasoning_tokens": 0}
        response = {"id": self.new_id("resp"), "object": "response", "status": "completed", "model": body.get("model", "m")}
        response.update(output=[item], usage=usage)
        if not body.get("stream"):
            return self.answer(response)
        events = [
            {"type": "response.created", "response": dict(response, status="in_progress", output=[], usage=None)},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
        ]
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            events.append(dict(place, type="response.output_text.delta", delta=self.server.say))
        elif item["type"] == "function_call":
            place = {"item_id": item["id"], "output_index": 0}
            events[1]["item"] = dict(item, arguments="", status="in_progress")
            events.append(dict(place, type="response.function_call_arguments.delta", delta=item["arguments"]))
            events.append(dict(place, type="response.function_call_arguments.done", arguments=item["arguments"]))
            item["status"] = "completed"
        events.append({"type": "response.output_item.done", "output_index": 0, "item": item})
        events.append({"type": "response.completed", "response": response})
        for number, event in enumerate(events):
            event["sequence_number"] = number
        self.stream(events, True)

    def openai_completions(self, body):
        new = self.new_in(body["messages"], lambda m: m.get("role") == "assistant" and not m.get("tool_calls"))
        used = any(m.get("role") == "tool" for m in new)
        tool = shell_tool([t["function"]["name"] for t in body.get("tools", [])])
        if self.server.run and tool and not used:
            function = {"name": tool, "arguments": json.dumps(shell_input(tool, self.server.run))}
            message = {"role": "assistant", "content": None}
            message["tool_calls"] = [{"index": 0, "id": self.new_id("call"), "type": "function", "function": function}]
            reason = "tool_calls"
        else:
            message, reason = {"role": "assistant", "content": self.server.say}, "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        base = {"id": self.new_id("chatcmpl"), "created": 1, "model": body.get("model", "m")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return self.answer(dict(base, object="chat.completion", choices=[choice], usage=usage))
        base["object"] = "chat.completion.chunk"
        self.stream(
            [
                dict(base, choices=[{"index": 0, "delta": message, "finish_reason": None}]),
                dict(base, choices=[{"index": 0, "delta": {}, "finish_reason": reason}]),
                dict(base, choices=[], usage=usage),
                "[DONE]",
            ],
            False,
        )

    # Gemini

    def gemini(self, body, streams):
        wrapped = "request" in body  # with a log-in at Google
        body = body["request"] if wrapped else body
        said = lambda c: c.get("role") == "model" and not any("functionCall" in p for p in c.get("parts", []))
        new = self.new_in(body.get("contents", []), said)
        used = any("functionResponse" in p for c in new for p in c.get("parts", []))
        names = [f["name"] for t in body.get("tools", []) for f in t.get("functionDeclarations", [])]
        tool = shell_tool(names)
        schema = body.get("generationConfig", {}).get("responseJsonSchema")
        if schema:
            # it asks which model should answer, or whether the conversation goes on
            known = {"reasoning": "", "model_choice": "flash", "next_speaker": "user", "complexity_score": 1}
            known["complexity_reasoning"] = ""
            part = {"text": json.dumps({k: known.get(k, "") for k in schema.get("properties", {})})}
        elif self.server.run and tool and not used:
            part = {"functionCall": {"name": tool, "args": shell_input(tool, self.server.run)}}
        else:
            part = {"text": self.server.say}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}
        answer = {"response": answer} if wrapped else answer
        if streams:
            self.stream([answer], False)
        else:
            self.answer(answer)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--run")
    parser.add_argument("--each-turn", action="store_true")
    parser.add_argument("--say", default="done")
    parser.add_argument("--port-file")
    parser.add_argument("--tls")
    parser.add_argument("--lasts", type=int, default=3600)
    parser.add_argument("log")
    args = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    server.lock, server.log, server.run, server.say = threading.Lock(), args.log, args.run, args.say
    server.each_turn, server.answers = args.each_turn, 0
    server.authority, server.renewed, server.lasts = args.tls and Authority(args.tls), 0, args.lasts
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if args.port_file:
        with open(args.port_file + ".part", "w", encoding="ascii") as out:
            out.write("%d\n" % server.server_port)
        os.rename(args.port_file + ".part", args.port_file)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
