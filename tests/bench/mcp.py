"""The file tools over MCP, next to @modelcontextprotocol/server-filesystem: $GARTH_SERVER_FILESYSTEM names its index.js."""
import json
import os
import shutil
import subprocess
import time

from measure import CannotMeasure, median, say

CALLS = 2000
FIRST = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}\n'


def session(words, path, calls):
    """A server's start to its first answer, then the time of each 4 KiB read, one in flight."""
    begin = time.perf_counter()
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
    to, back = child.stdin.fileno(), child.stdout.fileno()

    def ask(line):
        os.write(to, line)
        out = os.read(back, 1 << 16)
        while not out.endswith(b"\n"):
            out += os.read(back, 1 << 16)

    ask(FIRST)
    start = time.perf_counter() - begin
    read = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "read_text_file", "arguments": {"path": path}}}).encode() + b"\n"
    times = []
    for _ in range(calls):
        at = time.perf_counter()
        ask(read)
        times.append(time.perf_counter() - at)
    child.stdin.close()
    child.kill()
    child.wait()
    return start, sorted(times)


def reading(b):
    server, node = os.environ.get("GARTH_SERVER_FILESYSTEM"), shutil.which("node")
    if not server or not node or not os.path.exists(server):
        raise CannotMeasure("server-filesystem is not installed (GARTH_SERVER_FILESYSTEM)")
    top = b.path(b.name("mcp"))
    os.makedirs(top)
    path = os.path.join(top, "file")
    with open(path, "w", encoding="ascii") as f:
        f.write(("x" * 63 + "\n") * 64)
    ours = [os.path.join(os.path.dirname(b.garth), "garth-mcp"), top]
    say("MCP")
    runs = [[session(words, path, CALLS) for _ in range(3)] for words in (ours, [node, server, top])]
    start, each, late = ([median([pick(r) for r in side]) for side in runs] for pick in (
        lambda r: r[0], lambda r: sum(r[1]) / len(r[1]), lambda r: r[1][len(r[1]) * 99 // 100]))
    yield "mcp-read", each[0], each[1], f"{1 / each[0]:.0f} a second"
    yield "mcp-late", late[0], late[1], None
    yield "mcp-start", start[0], start[1], None


GROUPS = [(("mcp-read", "mcp-late", "mcp-start"), reading)]
