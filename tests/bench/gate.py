"""The gateway's rows: publishing, the shim, merging, conflicts between tasks."""
import concurrent.futures
import os

import made
from measure import CannotMeasure, alternate, median, say

TABLE = [
    ("commit-many", "git commit -am inside, published, 50,000 files", "in a plain worktree", "s", ("at most", 0.8)),
    ("commit-few", "the same, 500 files", "in a plain worktree", "s", ("at most", 2)),
    ("shim", "git status, diff, log through the shim, the most more", "1.5 ms", "s", ("at most", 1.0)),
    ("parallel", "50 tasks, 20 commits each, at once", "one after the other in worktrees", "s", ("at most", 1.0)),
    ("merge", "garth merge, 50,000 files", "git merge in a checkout", "s", ("at most", 1.0)),
    ("review", "garth review --print, 500 changed files", "git diff of the same", "s", ("at most", 2)),
    ("pairs", "garth ls, 20 tasks, pairs cached", "git worktree list, 20 worktrees", "s", ("at most", 2)),
]


def running(b, repo, stem):
    name = b.name(stem)
    b.run.run([b.garth, "run", "-d", "--on-dirty", "keep", "--task", name, "--", "sleep", "3600"], repo)
    return name


def committing(b, key, repo, tree, rounds):
    task = running(b, repo, "commit")
    name = made.first_file()
    commit = ["/run/garth/bin/git", "commit", "-qam", "more"], [b.git, "commit", "-qam", "more"]
    say(f"git commit -am, {key}")
    calls = (lambda: b.inside(task, 4, commit[0], change=name)[1:]), \
            (lambda: b.run.inner([], tree, 4, commit[1], change=name)[1:])
    try:
        alternate(1, *calls)
        inside, outside = alternate(rounds, *calls)
    finally:
        b.run.run([b.garth, "cancel", task], repo)
    tip = b.run.run([b.git, "rev-list", "--count", f"main..garth/{task}"], repo).strip()
    if int(tip) != 4 * (rounds + 1):
        raise CannotMeasure(f"{tip} commits are published, not {4 * (rounds + 1)}")
    yield key, median(inside), median(outside), None


def commit_many(b):
    yield from committing(b, "commit-many", b.big(), b.tree(), 6)


def commit_few(b):
    few, tree = b.few(), b.path(b.name("tree"))
    b.run.run([b.git, "worktree", "add", "-q", "--detach", tree], few)
    yield from committing(b, "commit-few", few, tree, 12)


def shim(b):
    few = b.few()
    task = running(b, few, "shim")
    more = []
    say("the shim")
    try:
        for words in (["status"], ["diff"], ["log", "-1"]):
            calls = [lambda g=g: b.inside(task, 20, [g, *words])[1:] for g in ("/run/garth/bin/git", b.git)]
            alternate(1, *calls)
            mine, real = alternate(6, *calls)
            more.append(max(median(mine) - median(real), 0.0))
    finally:
        b.run.run([b.garth, "cancel", task], few)
    yield "shim", max(more), 0.0015, ", ".join(f"{m * 1e3:.2f} ms" for m in more)


def parallel(b, tasks=50, commits=20):
    repo = b.repo("parallel", made.small_files(500))
    # every commit is different: an equal one would have the same id and be in the shared repository already
    script = f"for i in $(seq {commits}); do echo $0 $i >> {made.first_file()}; git commit -qam $i || exit 1; done"
    names = [b.new(repo, "at-once") for _ in range(tasks)]
    trees = [b.path(f"at-once/{i}") for i in range(tasks)]
    for t in trees:
        b.run.run([b.git, "worktree", "add", "-q", "--detach", t], repo)
    say(f"{tasks} tasks, {commits} commits each")

    def one(name):
        b.run.run([b.garth, "exec", name, "--", "sh", "-c", script, name], repo)

    def all_at_once():
        with concurrent.futures.ThreadPoolExecutor(tasks) as pool:
            list(pool.map(one, names))

    def one_by_one():
        for t in trees:
            b.run.run(["/bin/sh", "-c", script, t], t)

    mine, peer = alternate(1, lambda: made.seconds(all_at_once), lambda: made.seconds(one_by_one))
    for name in names:
        n = int(b.run.run([b.git, "rev-list", "--count", f"main..garth/{name}"], repo))
        if n != commits:
            raise CannotMeasure(f"{name} has {n} commits")
    b.run.run([b.git, "fsck", "--strict"], repo)
    b.run.run([b.garth, "audit", "--verify"], repo)
    yield "parallel", median(mine), median(peer), "git fsck --strict and the audit chain are clean"


def merging(b):
    big, times = b.repo("merging", made.small_files(50_000)), ([], [])
    say("garth merge and git merge")
    for i in range(6):
        name = b.new(big, "merge")
        change = f"echo {i} >> {made.nth_file(i * 2)}; git commit -qam task"
        b.run.run([b.garth, "exec", name, "--", "sh", "-c", change], big)
        b.run.run(["/bin/sh", "-c", f"git branch peer{i} && git worktree add -q --no-checkout ../peer{i} peer{i} && "
                   f"cd ../peer{i} && git reset -q && git update-index --cacheinfo 100644,$(echo {i} | git hash-object -w "
                   f"--stdin),{made.nth_file(i * 2 + 1)} && git commit -qm peer"], big)
        made.go_further(b.run, b.git, big, i + 1)
        times[0].append(b.run.timed([b.garth, "merge", name], big))
        made.go_further(b.run, b.git, big, i + 20)
        times[1].append(b.run.timed([b.git, "merge", "-q", "--no-edit", f"peer{i}"], big))
    if b.run.run([b.git, "status", "--porcelain"], big):
        raise CannotMeasure("the checkout is not clean after merging")
    yield "merge", median(times[0][1:]), median(times[1][1:]), None


def reviewing(b):
    few = b.few()
    task = b.new(few, "review")
    say("garth review --print and git diff, 500 files")
    b.run.run([b.garth, "exec", task, "--", "sh", "-c",
               "git ls-files -z | xargs -0 sed -i '1s/$/ changed/' && git commit -qam task"], few)
    changed = len(b.run.run([b.git, "diff", "--name-only", "main", f"garth/{task}"], few).split())
    if changed < 500:
        raise CannotMeasure(f"{changed} files are changed, not 500")
    mine, peer = alternate(30, lambda: b.run.timed([b.garth, "review", "--print", task], few),
                           lambda: b.run.timed([b.git, "diff", "-M", "main", f"garth/{task}"], few))
    yield "review", median(mine), median(peer), None


def pairs(b, tasks=20):
    repo = b.repo("pairs", made.small_files(500))
    run = b.run.with_env(GARTH_HOME=b.path("home-of-pairs"))
    for i in range(tasks):
        run.run([b.garth, "new", f"pair{i}"], repo)
        run.run([b.garth, "exec", f"pair{i}", "--", "sh", "-c",
                 f"echo {i} >> {made.nth_file(i // 2)}; git commit -qam {i}"], repo)
        run.run([b.git, "worktree", "add", "-q", "--no-checkout", "--detach", b.path(f"pairs-of/{i}")], repo)
    say("conflicts between 20 tasks")
    run.run([b.garth, "ls"], repo)
    mine, peer = alternate(30, lambda: run.timed([b.garth, "ls"], repo),
                           lambda: run.timed([b.git, "worktree", "list"], repo))
    yield "pairs", median(mine), median(peer), None


# These rows run before anything large is made and removed, the others after them.
SMALL = [
    (("commit-few",), commit_few),
    (("shim",), shim),
    (("parallel",), parallel),
    (("review",), reviewing),
    (("pairs",), pairs),
]
LARGE = [
    (("commit-many",), commit_many),
    (("merge",), merging),
]
