"""Rows about submodules: a workspace with five submodules, and a published commit in one."""
import os

import made
from measure import alternate, median, say

COUNT, FILES = 5, 400

TABLE = [
    ("submodules-new", f"garth new -q, {COUNT} submodules of {FILES} files", "git worktree add and submodule update", "s",
     ("at least", 20)),
    ("submodules-commit", "git commit in a submodule inside, published", "git commit in a submodule", "s", None),
]


def make(b):
    """A repository with submodules that are checked out from local clones."""
    repo = b.repo("super", made.small_files(500))
    allow = ["-c", "protocol.file.allow=always"]
    for i in range(COUNT):
        lib = b.repo(f"lib{i}", made.small_files(FILES))
        b.run.run([b.git, *allow, "submodule", "--quiet", "add", lib, f"libs/lib{i}"], repo)
        for key, value in (("user.name", "Bench"), ("user.email", "bench@example.org")):
            b.run.run([b.git, "-C", f"libs/lib{i}", "config", key, value], repo)
    b.run.run([b.git, "commit", "-qm", "submodules"], repo)
    return repo, allow


def submodules(b):
    say(f"{COUNT} submodules")
    repo, allow = make(b)
    b.run.run([b.garth, "new", b.name("sub")], repo)
    os.sync()

    def worktree():
        tree = b.path(b.name("sub-tree"))
        return (b.run.timed([b.git, "worktree", "add", "-q", "--detach", tree], repo) +
                b.run.timed([b.git, *allow, "submodule", "--quiet", "update", "--init"], tree))

    mine, peer = [], []
    for _ in range(3):
        mine += [b.run.timed([b.garth, "new", "-q", b.name("sub")], repo) for _ in range(8)]
        peer += [worktree() for _ in range(2)]
        os.sync()
    yield "submodules-new", median(mine), median(peer), None
    task, commit = b.name("sub"), [b.git, "-C", "libs/lib0", "commit", "-qam", "more"]
    change = "libs/lib0/" + list(made.small_files(FILES))[0][0]
    b.run.run([b.garth, "new", task], repo)
    inside, outside = alternate(3, (lambda: b.run.inner([b.garth, "exec", task, "--"], repo, 5, commit, change=change)),
                                (lambda: b.run.inner([], repo, 5, commit, change=change)))
    yield "submodules-commit", median(inside), median(outside), None


GROUPS = [(("submodules-new", "submodules-commit"), submodules)]
