"""The row about tickets: from an agent's request to the first command inside the ticket's task."""
import json

import made
from measure import alternate, median, say

TABLE = [
    ("ticket", "a ticket, request to first command inside", "`garth run`, to its first command", "s", ("at most", 1.3)),
]

TELL = "import time; print(time.monotonic())"
CONFIG = "agents: {{default: probe, probe: {{programs: [probe], run: [/usr/bin/python3, -SEc, {tell}]}}}}\ntickets: {{max: 900}}\n"
# Prints the seconds; the ticket's clock is the last line of its log.
ASK = """
import json, os, subprocess, time
def garth(*words):
    return subprocess.run(["garth", "ticket", *words], stdout=subprocess.PIPE, check=True, text=True).stdout
start = time.monotonic()
id = garth("new", "x").split()[0]
garth("wait", id)
print(float(garth("log", id).split()[-1]) - start)
"""
RUN = """
import subprocess, sys, time
start = time.monotonic()
print(float(subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True, text=True).stdout.split()[-1]) - start)
"""


def tickets(b):
    repo = b.repo("tickets", made.small_files(500))
    config = b.path("tickets.yaml")
    with open(config, "w") as f:
        f.write(CONFIG.format(tell=json.dumps(TELL)))
    run = b.run.with_env(GARTH_HOME=b.path("tickets-home"), GARTH_CONFIG=config)
    say("tickets")
    run.run([b.garth, "run", "-q", "-t", "parent", "--", "true"], repo)
    python = ["/usr/bin/python3", "-SEc"]

    def ticket():
        return float(run.run([b.garth, "exec", "parent", "--", *python, ASK], repo).split()[-1])

    def single():
        return float(run.run([*python, RUN, b.garth, "run", "-q", "--", *python, TELL], repo).split()[-1])

    alternate(2, lambda: [ticket()], lambda: [single()])
    mine, peer = alternate(30, lambda: [ticket()], lambda: [single()])
    yield "ticket", median(mine), median(peer), None


GROUPS = [([row[0] for row in TABLE], tickets)]
