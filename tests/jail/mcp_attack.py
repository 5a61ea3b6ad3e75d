"""Attacks on the file tools: paths of every odd form in every tool, links that are swapped, bombs, half messages, odd
files. Words: the server's command. The workspace is the current directory; $OUTSIDE has a secret. Says what failed."""
import json
import os
import resource
import sys
import threading

from mcp_client import Client

SECRET = "GARTH-SECRET"
top, outside = os.getcwd(), os.environ["OUTSIDE"]
m = Client(sys.argv[1:])
TOOLS = [t["name"] for t in m.ask("tools/list")["result"]["tools"]]
os.makedirs("in", exist_ok=True)
for name, to in (("abs", outside), ("rel", os.path.relpath(outside)), ("file", f"{outside}/secret"), ("magic", "/proc/self/root"),
                 ("cwd", "/proc/self/cwd/.."), ("fd", "/proc/self/fd/3/.."), ("loop", "loop")):
    os.symlink(to, name)
FORMS = [f"{outside}/secret", os.path.relpath(f"{outside}/secret"), f"in/../{os.path.relpath(outside)}/secret", f"{top}-2/secret",
         "abs/secret", "rel/secret", "file", f"magic{outside}/secret", "cwd/x", "fd/x", "loop", "loop/x", f"/proc/self/root{outside}/secret",
         f"/proc/self/cwd/../x", "//" + f"{outside}/secret"[1:], f"{outside}//secret", f"file://{outside}/secret", "~/secret", "~root/x",
         "..", "../", "../..", "/", "a\nb", "x" * 5000, "/".join(["a"] * 3000), "\u202e", "．．/secret", "%2e%2e/secret", "C:\\x", "-rf", ":(top)",
         "a\x00b", "in/" + "../" * 50 + "etc/passwd", ".git/../../x"]


def state():
    out = []
    for base, _, files in os.walk(outside):
        out += [(base, f, open(f"{base}/{f}").read()) for f in sorted(files)]
    return out


before = state()
for tool in TOOLS:
    if tool in ("ask_question", "snapshot", "task_status"):
        continue
    for form in FORMS:
        for args in ({"path": form}, {"source": form, "destination": "in/x"}, {"source": "in", "destination": form}):
            answer = m.call(tool, **args, paths=[form], content="EVIL", pattern=SECRET[:5] + ".*", edits=[{"oldText": "", "newText": "EVIL"}],
                            recursive=True, message="x", excludePatterns=[form])
            text = json.dumps(answer)
            assert SECRET not in text, (tool, args, text[:300])
            assert "EVIL" not in text or not isinstance(answer, str) or tool == "edit_file", (tool, args)
    os.makedirs("in", exist_ok=True)
assert state() == before, "something outside changed"
assert os.path.isdir(top)

# a directory that is now inside and now a link outside
stop = threading.Event()
os.makedirs("real", exist_ok=True)


def swap():
    while not stop.is_set():
        try:
            os.symlink(outside, "tmp-link")
            os.rename("tmp-link", "swap")
            os.unlink("swap")
            os.mkdir("swap")
            with open("swap/secret", "w") as f:
                f.write("mine")
            os.unlink("swap/secret")
            os.rmdir("swap")
        except OSError:
            pass


worker = threading.Thread(target=swap)
worker.start()
for i in range(400):
    assert SECRET not in json.dumps(m.call("read_text_file", path="swap/secret"))
    m.call("write_file", path=f"swap/evil{i}", content="EVIL")
    m.call("delete_file", path="swap/secret")
    m.call("create_directory", path=f"swap/d{i}")
    m.call("move_file", source="swap/secret", destination=f"in/stolen{i}")
stop.set()
worker.join()
assert state() == before, "a swapped link led outside"

# bombs, and what is no message: an error each, and then the next one works
for bomb in (b"[" * 500000, b'{"a":' * 200000, b"[" + b"1," * 5000000, b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * 18000000, b"\xff\xfe", b'"\\ud800"', b"nul"):
    m.send(bomb + b"\n")
    assert "error" in m.line(), bomb[:20]
assert m.ask("ping")["result"] == {}

# files that would block or fill the memory
os.mkfifo("fifo")
os.symlink("/dev/zero", "zero")
with open("huge", "wb") as f:
    f.truncate(1 << 40)
for name in ("fifo", "zero", "huge"):
    for tool in ("read_text_file", "read_media_file", "edit_file", "get_file_info"):
        m.call(tool, path=name, edits=[], hash=True)
assert m.call("read_text_file", path="huge", byte_offset=1 << 39, byte_length=3) == "\0\0\0"
os.unlink("huge")
m.send(b'{"jsonrpc":"2.0","id":9,"method":"tools/call","par')
assert m.end() == 0, "a half message at the end"
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
assert used < (1 << 20) or "asan" in os.environ.get("BUILD", ""), f"{used} KB of memory"
print("unharmed")
