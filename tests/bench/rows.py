"""What is measured: one function per group of rows that share their repositories.

A group yields (key, garth's value, the peer's value, a note or None); TABLE says what the keys mean and where the
bars are.
"""
import concurrent.futures
import glob
import json
import os
import shutil
import sqlite3
import time

import agents
import credentials
import gate
import guard
import kinds
import layers
import lives
import made
import mcp
import older
import plan_check
import plans
import renames
import submodules
import tickets
from bubble import Bubble
from measure import CannotMeasure, alternate, median, say

MANY = 50_000
TASKS = 1_000
ROUNDS = 3  # for measurements that take seconds

# key, what, against, unit, (at least | at most, bar). "at least" compares peer / garth, "at most" garth / peer.
TABLE = [
    ("new-warm", "garth new -q, warm base, 50,000 files", "git worktree add of the same", "s", ("at least", 50)),
    ("new-scale", "garth new -q at 50,000 files", "garth new -q at 500 files", "s", ("at most", 3)),
    ("new-look", "garth new, 50,000 files: it names uncommitted changes", "git status in the checkout", "s", ("at most", 2)),
    ("new-first", "very first garth new, nothing cached", "git worktree add", "s", ("at most", 1.2)),
    ("new-delta", "garth new -q, 10 files further", "very first garth new", "s", ("at least", 20)),
    ("exec-stopped", "garth exec, stopped task", "bwrap, same namespaces and binds", "s", ("at most", 1.0)),
    ("exec-running", "garth exec, running task", "bwrap, same namespaces and binds", "s", ("at most", 0.8)),
    ("build", "C build inside, warm", "the same outside", "s", ("at most", 1.05)),
    ("mcp-read", "MCP: read 4 KiB, one in flight", "server-filesystem", "s", ("at least", 8)),
    ("mcp-late", "the same, 99th percentile", "server-filesystem", "s", ("at least", 8)),
    ("mcp-start", "MCP: start to first answer", "server-filesystem", "s", ("at least", 20)),
    ("grep", "grep -r over 50,000 files inside", "the same outside", "s", ("at most", 1.7)),
    ("status", "git status inside, 5 changed", "the same in a worktree", "s", ("at most", 0.5)),
    ("status-first", "first git status inside", "first in a fresh worktree", "s", ("at most", 1.0)),
    ("ls", "garth ls, 1,000 tasks, 50 running", "git worktree list, 1,000 worktrees", "s", ("at most", 1.0)),
    ("ls-commits", "garth ls, 1,000 tasks with commits, nothing changed", "10 ms", "s", ("at most", 1.0)),
    ("disk", "disk of a new workspace, 50,000 files", "git worktree add", "B", ("at least", 20)),
    ("keeper", "keeper's memory (RSS), running task", "8 MiB", "B", ("at most", 1.0)),
    *gate.TABLE,
    *guard.TABLE,
    *credentials.TABLE,
    *agents.TABLE,
    *plan_check.TABLE,
    *lives.TABLE,
    *kinds.TABLE,
    *older.TABLE,
    *plans.TABLE,
    *tickets.TABLE,
    *layers.TABLE,
    *submodules.TABLE,
    *renames.TABLE,
    ("start", "garth version", "true", "s", None),
]


class Bench:
    """Where things are, and the repositories, made when first asked for."""

    def __init__(self, top, build, run):
        self.top, self.run = top, run
        self.garth = os.path.join(build, "garth")
        self.git = shutil.which("git")
        self.home = run.env["GARTH_HOME"]
        self.serial = 0
        self._tree = None

    def path(self, name):
        return os.path.join(self.top, name)

    def name(self, stem):
        self.serial += 1
        return f"{stem}{self.serial}"

    def repo(self, name, files):
        path = self.path(name)
        if not os.path.isdir(path):
            say(f"making the repository '{name}'")
            made.repository(self.run, self.git, path, files)
        return path

    def big(self):
        return self.repo("big", made.small_files(MANY))

    def few(self):
        return self.repo("few", made.small_files(500))

    def new(self, repo, stem, *more):
        """A new task; its name."""
        name = self.name(stem)
        self.run.run([self.garth, "new", name, *more], repo)
        return name

    def inside(self, task, n, argv, ok=(0,), change=""):
        return self.run.inner([self.garth, "exec", task, "--"], self.top, n, argv, ok, change)

    def make_tree(self):
        """A worktree of the big repository; the time it took."""
        self._tree = self.path(self.name("tree"))
        return self.run.timed([self.git, "worktree", "add", "-q", "--detach", self._tree], self.big())

    def tree(self):
        if not self._tree:
            say("making a worktree")
            self.make_tree()
        return self._tree

    def remove(self, path):
        """rm -rf of a directory with garth's home directories in it: overlay leaves some that even their owner may
        not read."""
        for work in glob.glob(os.path.join(path, "home*/tasks/*/work")):
            self.run.run(["/bin/chmod", "-R", "u+rwX", work], "/")
        self.run.run(["/bin/rm", "-rf", path], "/")


def make_files(b, many=2000):
    """The time to make a file. If many inodes were removed in the last minutes, ext4 searches long for a free one:
    then no figure is typical."""
    top = b.path(b.name("probe"))
    start = time.perf_counter()
    for i in range(many):
        if i % 100 == 0:
            os.makedirs(f"{top}/{i}")
        os.close(os.open(f"{top}/{i // 100 * 100}/{i}", os.O_CREAT | os.O_WRONLY, 0o600))
    return (time.perf_counter() - start) / many


def settle(b, minutes=6):
    """Waits until making a file is as fast as it should be."""
    for left in range(2 * minutes, 0, -1):
        took = make_files(b, 500)
        if took < 60e-6:
            return
        say(f"making a file takes {took * 1e6:.0f} us, many were removed lately: waiting, at most {left / 2:.0f} minutes")
        time.sleep(30)


def slow_disk(b):
    took = make_files(b)
    return f"making a file takes {took * 1e6:.0f} us: many were removed here lately, try again in 5 minutes" \
        if took > 100e-6 else None


def first_uses(b):
    """In turn a task without any cache and a worktree; and the first git status in a new one of each.

    What is made stays until the end: removing 50,000 files makes the next 50,000 slow (see slow_disk)."""
    big, times = b.big(), {"tree": [], "home": [], "tree-status": [], "home-status": []}
    look = [b.git, "status"]
    for left in reversed(range(ROUNDS)):
        run, name = b.run.with_env(GARTH_HOME=b.path(b.name("home"))), b.name("first")
        say(f"the very first garth new and git worktree add, 50,000 files: {left + 1} to go")
        os.sync()
        times["home"].append(run.timed([b.garth, "new", name], big))
        run.run([b.garth, "new", name + "-next"], big)
        times["home-status"] += run.inner([b.garth, "exec", name + "-next", "--"], big, 1, look)
        os.sync()
        times["tree"].append(b.make_tree())
        times["tree-status"] += b.run.inner([], b.tree(), 1, look)
    return {k: median(v) for k, v in times.items()}


def new(b):
    big, few, note = b.big(), b.few(), slow_disk(b)
    first = first_uses(b)
    b.new(big, "warm")
    b.new(few, "warm")
    os.sync()
    say("garth new, warm")

    def timed_new(repo, *more):
        return b.run.timed([b.garth, "new", *more, b.name("t")], repo)

    warm, small = alternate(25, lambda: timed_new(big, "-q"), lambda: timed_new(few, "-q"))
    loud, look = alternate(8, lambda: timed_new(big), lambda: b.run.timed([b.git, "status"], big))
    say("garth new, 10 files further")
    further = []
    for step in range(1, 8):
        made.go_further(b.run, b.git, big, step)
        further.append(timed_new(big, "-q"))
    yield "new-warm", median(warm), first["tree"], None
    yield "new-scale", median(warm), median(small), None
    yield "new-look", median(loud), median(look), None
    yield "new-first", first["home"], first["tree"], note
    yield "new-delta", median(further), first["home"], None
    yield "status-first", first["home-status"], first["tree-status"], None


def disk(b):
    big, tree = b.big(), b.tree()
    b.new(big, "warm")

    def used(path):
        # a directory that cannot be read (the overlay's work directory) is empty
        out = b.run.run(["/usr/bin/du", "-sB1", path], "/", ok=(0, 1))
        return int(out.split()[0])

    say("disk of a workspace")
    before = used(b.home)
    b.new(big, "disk")
    mine = used(b.home) - before
    theirs = used(tree) + used(os.path.join(big, ".git/worktrees", os.path.basename(tree)))
    yield "disk", mine, theirs, None


def executing(b):
    few = b.few()
    stopped, running = b.new(few, "stopped"), b.name("running")
    b.run.run([b.garth, "run", "-d", "--task", running, "--", "sleep", "600"], few)
    jail = json.loads(b.run.run([b.garth, "show", stopped, "--jail", "--json"], few))
    bwrap = shutil.which("bwrap")
    if not bwrap:
        raise CannotMeasure("there is no bwrap (Debian: bubblewrap)")
    os.makedirs(b.path("bubble"), exist_ok=True)
    bubble = Bubble(bwrap, jail, b.home, b.path("bubble"))

    def peer():
        bubble.rewind()
        return b.run.timed(bubble.argv, b.top)

    def mine(task):
        return lambda: b.run.timed([b.garth, "exec", task, "--", "true"], few)

    say("garth exec and bwrap")
    calls = mine(stopped), mine(running), peer
    try:
        alternate(3, *calls, rest=0.02)
        s, r, p = alternate(60, *calls, rest=0.02)
    finally:
        b.run.run([b.garth, "cancel", running], few)
    binds = sum(row["kind"] == "bind" for row in jail["rows"])
    note = f"{binds} binds; bwrap has a bind for the overlay, no Landlock and no seccomp"
    yield "exec-stopped", median(s), median(p), note
    yield "exec-running", median(r), median(p), None


def building(b):
    repo = b.repo("program", made.c_project(60))
    task = b.new(repo, "build")
    make = ["/bin/sh", "-c", "make -s clean && make -s -j2"]
    say("a C build")
    calls = lambda: b.inside(task, 1, make), lambda: b.run.inner([], repo, 1, make)
    alternate(1, *calls)
    inside, outside = alternate(9, *calls)
    yield "build", median(inside), median(outside), None


def searching(b):
    big = b.big()
    task, tree = b.new(big, "grep"), b.tree()
    # a pattern that matches nothing: grep stops at the first match if it writes to /dev/null
    grep = ["/bin/grep", "-r", "nowhere to be found", "src"]
    say("grep -r")
    # the first run of each call has a new mount and is not counted: the row is about a warm cache
    calls = (lambda: b.inside(task, 3, grep, (1,))[1:]), (lambda: b.run.inner([], tree, 3, grep, (1,))[1:])
    alternate(1, *calls)
    # two mounts of the same layers differ by up to a tenth, so many are measured
    inside, outside = alternate(15, *calls)
    yield "grep", median(inside), median(outside), None


def status(b):
    big = b.big()
    task, tree = b.new(big, "status"), b.tree()
    changed = " ".join(f"src/part0{i}/dir{i * 20:03d}/file{i * 2000:05d}.c" for i in range(5))
    change = ["/bin/sh", "-c", f"for f in {changed}; do echo changed >> $f; done; git status --porcelain | wc -l"]
    for said in b.run.run([b.garth, "exec", task, "--", *change], big), b.run.run(change, tree):
        if said.strip() != "5":
            raise CannotMeasure(f"git status shows {said.strip()} changes, not 5")
    time.sleep(1.1)  # so that the next index is younger than the files it lists
    say("git status, 5 changed")
    calls = (lambda: b.inside(task, 6, [b.git, "status"])[1:]), (lambda: b.run.inner([], tree, 6, [b.git, "status"])[1:])
    alternate(1, *calls)
    inside, outside = alternate(6, *calls)
    yield "status", median(inside), median(outside), None


def listing(b):
    tasks, trees = b.repo("tasks", made.small_files(3)), b.repo("trees", made.small_files(3))
    home = b.path("home-of-many")
    run = b.run.with_env(GARTH_HOME=home)
    run.run([b.garth, "new", "first"], tasks)
    say(f"making {TASKS:,} tasks with garth new")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda i: run.run([b.garth, "new", f"task{i}"], tasks), range(1, TASKS)))
    running = [f"running{i}" for i in range(50)]
    for name in running:
        run.run([b.garth, "run", "-d", "--task", name, "--", "sleep", "3600"], tasks)
    say(f"making {TASKS:,} worktrees")
    for i in range(TASKS):
        run.run([b.git, "worktree", "add", "-q", "--no-checkout", "--detach", b.path(f"many/{i}")], trees)
    if len(run.run([b.garth, "ls"], tasks).splitlines()) <= TASKS:
        raise CannotMeasure("garth ls does not show all tasks")
    say("garth ls and git worktree list")
    try:
        mine, peer = alternate(30, lambda: run.timed([b.garth, "ls"], tasks),
                               lambda: run.timed([b.git, "worktree", "list"], trees))
    finally:
        for name in running:
            run.run([b.garth, "cancel", name], tasks)
    yield "ls", median(mine), median(peer), None
    say(f"garth ls, {TASKS:,} tasks with commits")
    publish_all(b, tasks, os.path.join(home, "garth.db"))
    first = run.timed([b.garth, "ls"], tasks)
    mine, _ = alternate(30, lambda: run.timed([b.garth, "ls"], tasks), lambda: 0.0)
    yield "ls-commits", median(mine), 0.010, f"{first * 1000:.0f} ms the first time"


def publish_all(b, repo, path):
    """Gives each task that is made and never ran a commit of its own, without starting it."""
    db = sqlite3.connect(path)
    rows = db.execute("SELECT id, branch, base FROM task WHERE state = 'created'").fetchall()
    text = "".join(f"commit {ref}\ncommitter T <t@example.com> 1700000000 +0000\ndata <<E\ntask {i}: what it did\nE\n"
                   f"from {base}\nM 100644 inline own/{i}.txt\ndata <<E\n{i}\nE\n\n" for i, ref, base in rows)
    b.run.run([b.git, "fast-import", "--quiet", "--force"], repo, text=text)
    refs = dict(line.split() for line in b.run.run([b.git, "for-each-ref", "--format=%(refname) %(objectname)",
                                                    "refs/heads/garth"], repo).splitlines())
    db.executemany("UPDATE task SET published = ?, commits = 1 WHERE id = ?", [(refs[ref], i) for i, ref, _ in rows])
    db.commit()
    db.close()


def keeper_pid(task):
    """The keeper, which has the command line of `garth run`: its launch and what runs inside have other ones."""
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path) as f:
                words = f.read().split("\0")
        except OSError:
            continue
        if words[1:2] == ["run"] and task in words:
            return int(path.split("/")[2])
    raise CannotMeasure("the keeper is not among the processes")


def memory_of(pid):
    """RSS in bytes and, where it may be read, PSS for the note."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            kib = {line.split(":")[0]: int(line.split()[1]) for line in f if line.endswith("kB\n")}
        return kib["Rss"] * 1024, f"PSS {kib['Pss']} KiB"
    except OSError:
        with open(f"/proc/{pid}/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE"), "PSS may not be read"


def memory(b):
    few, task = b.few(), b.name("keeper")
    say("the keeper's memory")
    b.run.run([b.garth, "run", "-d", "--task", task, "--", "sh", "-c", "seq 1000000; exec sleep 600"], few)
    try:
        for _ in range(4):
            b.run.run([b.garth, "exec", task, "--", "seq", "100000"], few)
        time.sleep(1)
        rss, note = memory_of(keeper_pid(task))
    finally:
        b.run.run([b.garth, "cancel", task], few)
    yield "keeper", rss, 8 << 20, note


def starting(b):
    true = shutil.which("true")
    mine, peer = alternate(40, lambda: b.run.timed([b.garth, "version"], b.top), lambda: b.run.timed([true], b.top))
    yield "start", median(mine), median(peer), "for information"


GROUPS = [
    (("start",), starting),
    (("exec-stopped", "exec-running"), executing),
    (("keeper",), memory),
    (("build",), building),
    *gate.SMALL,
    *guard.GROUPS,
    *credentials.GROUPS,
    *agents.GROUPS,
    *plan_check.GROUPS,
    *lives.SMALL,
    *kinds.GROUPS,
    *older.GROUPS,
    *plans.GROUPS,
    *tickets.GROUPS,
    *layers.GROUPS,
    *submodules.GROUPS,
    *renames.GROUPS,
    *mcp.GROUPS,
    (("new-warm", "new-scale", "new-look", "new-first", "new-delta", "status-first"), new),
    (("disk",), disk),
    (("status",), status),
    (("grep",), searching),
    (("ls", "ls-commits"), listing),
    *gate.LARGE,
    *lives.LARGE,
]
