"""Rows about kinds of repositories: small ones, long histories, many refs, a base that is far behind, many ignored files."""
import os

import made
from measure import alternate, median, say

SMALL = 2_000
COMMITS = 30_000
REFS = 100_000
BEHIND, CHANGED = 1_000, 500
IGNORED = int(os.environ.get("GARTH_BENCH_IGNORED", 200_000))

TABLE = [
    ("new-cold", f"very first garth new, {SMALL:,} files", "git worktree add", "s", ("at most", 1.0)),
    ("status-fresh", "git status in the first task on a fresh base, 500 files", "in a fresh worktree", "s", ("at most", 2)),
    ("commit-history", f"first commit of a task, {COMMITS:,} commits, no commit-graph", "in a plain worktree", "s", ("at most", 4)),
    ("new-refs", f"garth new -q, {REFS:,} refs", "with 10 refs", "s", ("at most", 2)),
    ("new-far", f"garth new -q, {BEHIND:,} commits and {CHANGED} files further", "a cold base, 20,000 files", "s", ("at least", 10)),
    ("snapshot-ignored", f"garth snapshot, {IGNORED:,} ignored files", "cp -a of them", "s", ("at most", 1)),
    ("rollback-ignored", "garth rollback with them", "cp -a of them", "s", ("at most", 0.1)),
    ("undo-ignored", "garth undo of that", "cp -a of them", "s", ("at most", 0.1)),
    ("gc-ignored", "garth gc --empty-trash of them", "rm -rf of them", "s", ("at most", 1.2)),
]


def cold(b):
    """A new home, a new repository and a new worktree, five times."""
    times = {"new": [], "tree": [], "status": [], "tree-status": []}
    say(f"the very first garth new and git worktree add, {SMALL:,} files")
    for _ in range(5):
        repo, few = b.repo(b.name("cold"), made.small_files(SMALL)), b.repo(b.name("cold-few"), made.small_files(500))
        run = b.run.with_env(GARTH_HOME=b.path(b.name("cold-home")))
        tree, few_tree = b.path(b.name("cold-tree")), b.path(b.name("cold-tree"))
        run.run([b.garth, "ls"], repo)
        os.sync()
        times["new"].append(run.timed([b.garth, "new", "t"], repo))
        os.sync()
        times["tree"].append(run.timed([b.git, "worktree", "add", "-q", "--detach", tree], repo))
        run.run([b.garth, "new", "few"], few)
        run.run([b.git, "worktree", "add", "-q", "--detach", few_tree], few)
        times["status"] += run.inner([b.garth, "exec", "few", "--"], few, 1, [b.git, "status"])
        times["tree-status"] += run.inner([], few_tree, 1, [b.git, "status"])
    yield "new-cold", median(times["new"]), median(times["tree"]), None
    yield "status-fresh", median(times["status"]), median(times["tree-status"]), None


def long_history(b):
    repo = b.path("long")
    say(f"making a repository with {COMMITS:,} commits")
    made.long_history(b.run, b.git, repo, COMMITS)
    commit = ["/bin/sh", "-c", "echo more >>file && git commit -qam more"]
    mine, peer = [], []
    say("the first commit of a task")
    for _ in range(5):
        task, tree = b.new(repo, "long"), b.path(b.name("long-tree"))
        b.run.run([b.git, "worktree", "add", "-q", "--detach", tree], repo)
        mine += b.inside(task, 1, commit)
        peer += b.run.inner([], tree, 1, commit)
    yield "commit-history", median(mine), median(peer), None


def many_refs(b):
    """Tags of one commit, packed as after a clone."""
    repos = {}
    for count in 10, REFS:
        repos[count] = b.repo(f"refs{count}", made.small_files(500))
        made.tags(b.run, b.git, repos[count], count)
        b.new(repos[count], "refs")
    say(f"garth new with {REFS:,} refs")
    many, few = alternate(10, lambda: b.run.timed([b.garth, "new", "-q", b.name("refs")], repos[REFS]),
                          lambda: b.run.timed([b.garth, "new", "-q", b.name("refs")], repos[10]))
    yield "new-refs", median(many), median(few), None


def far(b):
    """The newest base is 1,000 commits behind; against a home without any base."""
    repo, mine, cold = b.repo("far", made.small_files(20_000)), [], []
    b.new(repo, "far")
    for step in range(3):
        say(f"garth new, {BEHIND:,} commits further")
        made.many_commits(b.run, b.git, repo, BEHIND, CHANGED, step)
        os.sync()
        mine.append(b.run.timed([b.garth, "new", "-q", b.name("far")], repo))
        run = b.run.with_env(GARTH_HOME=b.path(b.name("far-home")))
        run.run([b.garth, "ls"], repo)
        os.sync()
        cold.append(run.timed([b.garth, "new", "-q", b.name("far-cold")], repo))
    yield "new-far", median(mine), median(cold), None


def ignored(b):
    repo = b.repo("ignoring", [(".gitignore", "cache/\n"), ("file", "text\n")])
    # every file has different content: git stores equal content only once
    fill = (f"mkdir cache && cd cache && for d in $(seq {IGNORED // 100}); do mkdir $d; "
            "for i in 0 1 2 3 4 5 6 7 8 9; do for k in 0 1 2 3 4 5 6 7 8 9; do echo $d.$i.$k >$d/$i$k; done; done; done")
    times = {"snapshot": [], "rollback": [], "undo": [], "copy": [], "gc": [], "rm": []}
    say(f"snapshots of {IGNORED:,} ignored files")
    outside = b.path("ignored-files")
    os.makedirs(outside)
    b.run.run(["/bin/sh", "-c", fill], outside)
    for _ in range(3):
        task = b.new(repo, "ignoring")
        b.run.run([b.garth, "exec", task, "--", "sh", "-c", fill], repo)
        os.sync()
        copy = b.path(b.name("copy"))
        times["copy"].append(b.run.timed(["/bin/cp", "-a", outside, copy], b.top))
        times["snapshot"].append(b.run.timed([b.garth, "snapshot", task], repo))
        times["rollback"].append(b.run.timed([b.garth, "rollback", task, "--full"], repo))
        times["undo"].append(b.run.timed([b.garth, "undo", task], repo))
        b.run.run([b.garth, "discard", "-fD", task], repo)
        os.sync()
        times["rm"].append(b.run.timed(["/bin/rm", "-rf", copy], b.top))
        times["gc"].append(b.run.timed([b.garth, "gc", "--empty-trash"], repo))
    for what in "snapshot", "rollback", "undo":
        yield f"{what}-ignored", median(times[what]), median(times["copy"]), None
    yield "gc-ignored", median(times["gc"]), median(times["rm"]), None


GROUPS = [
    (("new-cold", "status-fresh"), cold),
    (("commit-history",), long_history),
    (("new-refs",), many_refs),
    (("new-far",), far),
    (("snapshot-ignored", "rollback-ignored", "undo-ignored", "gc-ignored"), ignored),
]
