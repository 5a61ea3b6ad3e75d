"""garth new next to an older garth, in turn: $GARTH_OLDER is a commit, which is built, or the program `garth` of a
release build.

It is how to see that a plain repository does not pay for what other kinds of repositories need: c72ee6b is the commit
before submodules, layers and included files.
"""
import os

import made
from measure import CannotMeasure, alternate, median, say

TABLE = [
    ("new-older", "garth new -q, plain repository, 500 files", "an older garth", "s", ("at most", 1.1)),
    ("new-older-more", "the same, 5,000 files", "an older garth", "s", ("at most", 1.1)),
]


def build(b, commit):
    """The program of another commit, built in a directory of this build, where it stays."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    oid = b.run.run([b.git, "-C", top, "rev-parse", "--verify", "--short", f"{commit}^{{commit}}"], "/").strip()
    place = os.path.join(os.path.dirname(b.garth), f"older-{oid}")
    source, made = os.path.join(place, "source"), os.path.join(place, "build")
    if not os.path.isdir(made):
        say(f"building commit {oid}")
        os.makedirs(source, exist_ok=True)
        tar = os.path.join(place, "source.tar")
        b.run.run([b.git, "-C", top, "archive", "-o", tar, oid], "/")
        b.run.run(["/bin/tar", "-xf", tar, "-C", source], "/")
        b.run.run(["/usr/bin/meson", "setup", made, source, "--buildtype=release", "-Dtests=false"], "/")
    b.run.run(["/usr/bin/ninja", "-C", made], "/")
    return os.path.join(made, "garth")


def older(b):
    garth = os.environ.get("GARTH_OLDER")
    if not garth:
        raise CannotMeasure("it is not said which older garth: GARTH_OLDER=COMMIT")
    if not os.path.isfile(garth):
        garth = build(b, garth)
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
