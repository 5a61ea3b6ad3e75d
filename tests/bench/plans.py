"""Rows about plans: a hundred stages, and looking at two hundred."""
import os

import made
from measure import alternate, median, say

STAGES = 100
AT_ONCE = 4

TABLE = [
    ("plan-run", f"a plan of {STAGES} stages, `true` as agent and check, {AT_ONCE} at once",
     f"{STAGES} `garth run -- true` from a shell, {AT_ONCE} at once", "s", ("at most", 1.3)),
    ("plan-status", f"garth plan status, {2 * STAGES} stages", f"garth ls with their {2 * STAGES} tasks", "s", ("at most", 2)),
]


def plan(b, name, stages):
    path = b.path(f"{name}.yaml")
    with open(path, "w") as f:
        f.write(f"plan_id: {name}\nagent: script\nmerge: ask\nmax_parallel: {AT_ONCE}\nstages:\n")
        for i in range(stages):
            f.write(f'- {{id: s{i}, script: "true", files: ["d{i}/**"], acceptance: ["true"]}}\n')
    return path


def plans(b):
    repo = b.repo("plans", made.small_files(500))
    run = b.run.with_env(GARTH_HOME=b.path("plans-home"))
    say(f"plans of {STAGES} stages")
    run.run([b.garth, "run", "-q", "--", "true"], repo)
    loop = (f"seq {STAGES} | xargs -P{AT_ONCE} -I@ sh -c "
            f"'{b.garth} run -q -t \"$0-@\" -- true </dev/null' ")
    names = (b.name("plan") for _ in range(100))

    def whole():
        return run.timed([b.garth, "plan", "run", "-q", plan(b, next(names), STAGES)], repo)

    def single():
        return run.timed(["/bin/sh", "-c", loop + next(names)], repo)

    alternate(1, lambda: [whole()], lambda: [single()])
    mine, peer = alternate(3, lambda: [whole()], lambda: [single()])
    yield "plan-run", median(mine), median(peer), None

    other = b.run.with_env(GARTH_HOME=b.path("plans-other"))
    path = plan(b, "many", 2 * STAGES)
    other.run([b.garth, "plan", "run", "-q", path], repo)
    show, ls = [b.garth, "plan", "status", "many"], [b.garth, "ls"]
    mine, peer = alternate(20, lambda: [other.timed(show, repo)], lambda: [other.timed(ls, repo)])
    yield "plan-status", median(mine), median(peer), None


GROUPS = [([row[0] for row in TABLE], plans)]
