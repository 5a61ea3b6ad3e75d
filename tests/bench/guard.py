"""The guard's rows: a decision about a tool call, as a client asks for it."""
import json

from measure import median, say

TABLE = [
    ("guard", "guard's decision about a shell command", "a sh hook that does nothing", "s", ("at most", 1.0)),
    ("guard-time", "the same, its median", "1.5 ms", "s", ("at most", 1.0)),
]

# The guard and its peer are started in turn, with the same input, inside the task.
INNER = r"""
import json, os, sys, time
text = sys.argv[1].encode()
def once(argv):
    r, w = os.pipe()
    os.write(w, text)
    os.close(w)
    files = [(os.POSIX_SPAWN_DUP2, r, 0), (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
             (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)]
    start = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=files)
    os.waitpid(pid, 0)
    took = time.perf_counter() - start
    os.close(r)
    return took
guard, sh = ["/run/garth/bin/garth-guard", "--client", "claude"], ["/bin/sh", "-c", "exit 0"]
for _ in range(20):
    once(guard), once(sh)
print(json.dumps(list(zip(*((once(guard), once(sh)) for _ in range(300))))))
"""


def guarding(b):
    few = b.few()
    task = b.new(few, "guard")
    command = "cd src && for f in *.c; do grep -n 'include' \"$f\" | head -5; done && git -C . status && make -j4 2>&1 | tail -20"
    call = json.dumps({"session_id": "x", "cwd": few, "hook_event_name": "PreToolUse", "tool_name": "Bash",
                       "tool_input": {"command": command, "description": "look"}})
    say("the guard")
    mine, peer = json.loads(b.run.run([b.garth, "exec", task, "--", "/usr/bin/python3", "-SEc", INNER, call], few))
    yield "guard", median(mine), median(peer), None
    yield "guard-time", median(mine), 0.0015, None


GROUPS = [(("guard", "guard-time"), guarding)]
