"""Rows about the set-up layer: 40,000 dependency files that every task shares."""
import os

import made
from measure import alternate, median, say

FILES = 40_000
FILL = (f"mkdir deps && cd deps && for d in $(seq {FILES // 100}); do mkdir $d; "
        "for i in 0 1 2 3 4 5 6 7 8 9; do for k in 0 1 2 3 4 5 6 7 8 9; do echo $d.$i.$k >$d/$i$k; done; done; done")

TABLE = [
    ("layer-new", f"garth new, set-up layer of {FILES:,} files", "git worktree add and cp -a", "s", ("at least", 100)),
    ("layer-disk", "disk of that workspace", "git worktree add and cp -a", "B", ("at least", 100)),
    ("layer-stat", "stat of every file of the layer inside", "the same outside", "s", ("at most", 1.7)),
]


def layer(b):
    repo = b.repo("setup", [(".gitignore", "deps/\n"), ("package-lock.json", "{}\n"), *made.small_files(500)])
    config = b.path("setup.yaml")
    with open(config, "w") as f:
        f.write(f"workspace:\n  setup:\n    - {FILL!r}\n")
    run = b.run.with_env(GARTH_CONFIG=config)
    say(f"a set-up of {FILES:,} files")
    run.run([b.garth, "warm"], repo)
    outside = b.path("setup-files")
    os.makedirs(outside)
    run.run(["/bin/sh", "-c", FILL], outside)
    run.run([b.garth, "new", b.name("layer")], repo)
    os.sync()
    trees = []

    def worktree():
        trees.append(b.path(b.name("setup-tree")))
        return (run.timed([b.git, "worktree", "add", "-q", "--detach", trees[-1]], repo) +
                run.timed(["/bin/cp", "-a", outside + "/deps", trees[-1]], b.top))

    mine, peer = [], []
    for _ in range(3):
        mine += [run.timed([b.garth, "new", b.name("layer")], repo) for _ in range(8)]
        peer.append(worktree())
        os.sync()
    yield "layer-new", median(mine), median(peer), None

    def used(path):
        return int(run.run(["/usr/bin/du", "-sB1", path], "/", ok=(0, 1)).split()[0])

    before, task = used(b.home), b.name("layer")
    run.run([b.garth, "new", task], repo)
    yield "layer-disk", used(b.home) - before, used(trees[-1]), None
    # -newermt needs the times of each file
    stat = ["/usr/bin/find", "deps", "-newermt", "2100-01-01"]
    say("stat of the layer's files")
    calls = ((lambda: run.inner([b.garth, "exec", task, "--"], repo, 4, stat)[1:]),
             (lambda: run.inner([], trees[-1], 4, stat)[1:]))
    alternate(1, *calls)
    inside, outside = alternate(8, *calls)
    yield "layer-stat", median(inside), median(outside), None


GROUPS = [(("layer-new", "layer-disk", "layer-stat"), layer)]
