"""The row of `garth plan check`: a plan of 200 stages, with all that is looked up in the repository and on the machine."""
from measure import median, say

TABLE = [
    ("plan-check", "garth plan check, 200 stages", "50 ms", "s", ("at most", 1.0)),
]

STAGE = """- id: s{i}
  name: Stage {i}
  working_dir: src
  dependencies: [{needs}]
  description: |
    Do part {i},
    and nothing else.
  files: ["part{i}/**", "tests/t{i}.c"]
  artifacts: [part{i}/main.c]
  acceptance:
  - make test-{i}
  - {{command: grep -c main part{i}/main.c, stdout_contains: ["1"]}}
  wiring:
  - {{source: part{i}/main.c, pattern: 'main\\(', description: it is there}}
  truths: ["Part {i} works"]
"""


def checking(b):
    few = b.few()
    plan = few + "/../plan.yaml"
    with open(plan, "w") as f:
        f.write("stages:\n")
        for i in range(200):
            needs = ", ".join(f"s{j}" for j in (i - 7, i - 13) if j >= 0)
            f.write(STAGE.format(i=i, needs=needs))
    say("a plan of 200 stages")
    yield "plan-check", median([b.run.timed([b.garth, "plan", "check", "-q", plan], few) for _ in range(30)]), 0.05, None


GROUPS = [(("plan-check",), checking)]
