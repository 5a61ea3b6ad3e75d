"""garth new next to an older garth: $GARTH_OLDER names the program `garth` of a release build of another commit.

It is how to see that a plain repository does not pay for what other kinds of repositories need.
"""
import os

import made
from measure import CannotMeasure, alternate, median, say

TABLE = [
    ("new-older", "garth new -q, plain repository, 500 files", "an older garth", "s", ("at most", 1.1)),
    ("new-older-more", "the same, 5,000 files", "an older garth", "s", ("at most", 1.1)),
]


def older(b):
    garth = os.environ.get("GARTH_OLDER")
    if not garth:
        raise CannotMeasure("there is no older garth (GARTH_OLDER)")
    run = b.run.with_env(GARTH_HOME=b.path("home-of-older"))
    say("garth new and an older garth")
    for key, files in ("new-older", 500), ("new-older-more", 5000):
        repo = b.repo(f"plain{files}", made.small_files(files))
        calls = (lambda: b.run.timed([b.garth, "new", "-q", b.name("t")], repo),
                 lambda: run.timed([garth, "new", "-q", b.name("older")], repo))
        alternate(3, *calls)
        mine, peer = alternate(25, *calls)
        yield key, median(mine), median(peer), None


GROUPS = [(("new-older", "new-older-more"), older)]
