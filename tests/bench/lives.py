"""Rows about the life of a task: discarding, idling, pushing, the proxy."""
import os
import subprocess
import time

from measure import CannotMeasure, median, say

IDLE = 100
PUSHES = 10
DOWNLOAD = 512 << 20

TABLE = [
    ("discard", "garth discard, worktree task, 50,000 files", "git worktree remove", "s", ("at most", 0.1)),
    ("idle", f"{IDLE} idle running tasks, memory in all", "1 GiB", "B", ("at most", 1.0)),
    ("pushes", f"{PUSHES} pushes at once to one bare repository", "git pull --rebase and push, one after the other", "s", None),
    ("proxy", "a download through network allow, into a file", "the same, direct", "s", ("at most", 1.25)),
    ("stream", "a download through network allow, thrown away", "the same, direct", "s", None),
    ("relay", "a download through network allow, thrown away", "through a bare loop of splice", "s", ("at most", 1.1)),
]

SERVER = f"""
import os, socket, sys
block = bytes(1 << 20)
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    if os.fork() == 0:
        c.recv(65536)
        c.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: {DOWNLOAD}\\r\\nConnection: close\\r\\n\\r\\n")
        for _ in range({DOWNLOAD} >> 20):
            c.sendall(block)
        os._exit(0)
    c.close()
"""


# The minimum that a proxy between two sockets can do: no check, no record, one direction.
RELAY = """
import os, socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
r, w = os.pipe()
while True:
    a, _ = s.accept()
    if os.fork() == 0:
        b = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        b.sendall(a.recv(65536))
        while n := os.splice(b.fileno(), w, 1 << 20):
            while n:
                n -= os.splice(r, a.fileno(), n)
        os._exit(0)
    a.close()
"""


def until_removed(home):
    """Waits until garth has removed everything in the background, so that it does not slow the peer down."""
    for _ in range(600):
        if not [name for name in os.listdir(home + "/trash") if name.endswith(".empty")]:
            return
        time.sleep(0.1)
    raise CannotMeasure("the trash does not get empty")


def discarding(b):
    """Measured with worktrees whose files are on the disk, like those of any task older than a minute."""
    big, times = b.big(), ([], [])
    say("garth discard and git worktree remove")
    for i in range(3):
        name = b.new(big, "thrown", "--backend", "worktree")
        tree = b.path(b.name("thrown-tree"))
        b.run.run([b.git, "worktree", "add", "-q", "--detach", tree], big)
        os.sync()
        times[0].append(b.run.timed([b.garth, "discard", name], big))
        until_removed(b.home)
        os.sync()
        times[1].append(b.run.timed([b.git, "worktree", "remove", tree], big))
    yield "discard", median(times[0]), median(times[1]), None


def status_of(pid, key):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(key))


def processes():
    """Keepers, first processes, and the processes in the tasks, by pid."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm") as f:
                comm = f.read().strip()
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read()
        except OSError:
            continue
        if comm in ("garth-keeper", "garth-init") or line == b"sleep\x007654\x00":
            found[pid] = comm
    return found


def memory(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("Pss:")) << 10


def idling(b):
    few = b.few()
    before = set(processes())
    say(f"{IDLE} idle tasks")
    names = [b.name("idle") for _ in range(IDLE)]
    try:
        for name in names:
            b.run.run([b.garth, "run", "-d", "--task", name, "--", "sleep", "7654"], few)
        time.sleep(3)
        mine = {p: c for p, c in processes().items() if p not in before}
        if len(mine) != 3 * IDLE:
            raise CannotMeasure(f"{len(mine)} processes, not {3 * IDLE}")
        try:
            total = sum(memory(p) for p in mine)
        except PermissionError:
            raise CannotMeasure("the memory of processes that are not dumpable is for root to read")
        switches = lambda: sum(status_of(p, "voluntary_ctxt_switches") for p in mine)
        first = switches()
        time.sleep(20)
        wakes = (switches() - first) / 20 / IDLE
    finally:
        for name in names:
            b.run.run([b.garth, "cancel", name], few)
    yield "idle", total, 1 << 30, f"{wakes:.2f} wake-ups a second for each task"


def pushing(b):
    """Pushes of ten tasks at once, and of ten clones one after the other; all must arrive."""
    few, bare = b.few(), b.path("bare.git")
    git = lambda where, *words: b.run.run([b.git, *words], where)
    git(few, "clone", "-q", "--bare", few, bare)
    git(few, "remote", "add", "local", bare)
    say(f"{PUSHES} pushes at once")
    tasks = [b.new(few, "push") for _ in range(PUSHES)]
    for name in tasks:
        b.run.run([b.garth, "exec", name, "--", "sh", "-c", f"echo {name} >{name}; git add {name}; git commit -qm {name}"], few)
    start = time.perf_counter()
    running = [subprocess.Popen([b.garth, "push", name, "bench"], cwd=few, env=b.run.env, stdin=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL) for name in tasks]
    failed = sum(p.wait() != 0 for p in running)
    mine = time.perf_counter() - start
    arrived = len([s for s in git(bare, "log", "--format=%s", "bench").split() if s in tasks])
    if failed or arrived != PUSHES:
        raise CannotMeasure(f"{arrived} of {PUSHES} pushes arrived, {failed} failed")
    who = ("-c", "user.name=B", "-c", "user.email=b@example.com")
    clones = [b.path(f"clone{i}") for i in range(PUSHES)]
    for where in clones:
        git(few, "clone", "-q", "-b", "bench", bare, where)
        git(where, *who, "commit", "-q", "--allow-empty", "-m", where)
    peer = sum(b.run.timed([b.git, *who, "pull", "-q", "--rebase"], where) + b.run.timed([b.git, "push", "-q"], where)
               for where in clones)
    yield "pushes", mine, peer, f"{arrived} of {PUSHES} arrived"


def downloading(b):
    few, config = b.few(), b.path("large-files.yaml")
    with open(config, "w") as f:
        f.write("limits: {max_file_size: 2GB}\n")
    run = b.run.with_env(GARTH_CONFIG=config)
    server = subprocess.Popen(["/usr/bin/python3", "-c", SERVER], stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline())
    relay = subprocess.Popen(["/usr/bin/python3", "-c", RELAY, str(port)], stdout=subprocess.PIPE, text=True)
    say("a download through the proxy, through a bare relay, and without")
    try:
        bare = int(relay.stdout.readline())
        task = b.new(few, "download")
        fetch = lambda at, to: ["/usr/bin/curl", "-s", "-o", to, "--noproxy", "", f"http://127.0.0.1:{at}/"]
        ways = [("--allow", f"127.0.0.1:{port}", port), ("--net", "host", port), ("--net", "host", bare)]
        took = {(way, to): [] for way in range(3) for to in ("/tmp/file", "/dev/null")}
        for _ in range(16):
            for (way, to), times in took.items():
                times.append(run.timed([b.garth, "exec", *ways[way][:2], task, "--", *fetch(ways[way][2], to)], few))
                if to != "/dev/null":
                    run.run([b.garth, "exec", task, "--", "rm", to], few)
    finally:
        for p in (relay, server):
            p.kill()
            p.wait()
    note = f"{DOWNLOAD >> 20} MiB on loopback, two processors"
    of = lambda way, to: median(took[way, to][1:])
    yield "proxy", of(0, "/tmp/file"), of(1, "/tmp/file"), note
    yield "stream", of(0, "/dev/null"), of(1, "/dev/null"), note
    yield "relay", of(0, "/dev/null"), of(2, "/dev/null"), note


SMALL = [(("idle",), idling), (("pushes",), pushing), (("proxy", "stream", "relay"), downloading)]
LARGE = [(("discard",), discarding)]
