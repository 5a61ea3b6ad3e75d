"""Starts commands and measures their time.

A command is started with posix_spawn (no copy of this interpreter's memory is in the figure) and timed from
there to its end. Commands whose own start-up must not count are timed by INNER, a loop that runs beside them,
inside the jail or outside it alike.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import time

INNER = r"""
import json, os, sys, time
n, change, argv = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
quiet = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
times = []
for _ in range(n):
    if change:
        with open(change, "a") as f:
            f.write("more\n")
    start = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=quiet)
    status = os.waitpid(pid, 0)[1]
    times.append(time.perf_counter() - start)
print(json.dumps({"times": times, "code": os.waitstatus_to_exitcode(status)}))
"""


class CannotMeasure(Exception):
    pass


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def environment(home, config):
    """The user's own environment, except for configuration that would change what is compared."""
    env = {k: v for k, v in os.environ.items() if not re.match("GIT_|GARTH_", k)}
    env.update(GARTH_HOME=home, GARTH_CONFIG=config, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", LC_ALL="C")
    return env


class Runner:
    """Runs commands with one environment; `scratch` is a directory for their messages."""

    def __init__(self, scratch, env):
        self.err = os.path.join(scratch, "stderr")
        self.env = env

    def with_env(self, **more):
        other = Runner(os.path.dirname(self.err), dict(self.env, **more))
        return other

    def run(self, argv, cwd, ok=(0,), text=""):
        """The command's standard output; its time does not matter. text: its standard input."""
        done = subprocess.run(argv, cwd=cwd, env=self.env, input=text.encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode not in ok:
            raise CannotMeasure(f"{' '.join(argv)[:200]}: exit code {done.returncode}: {done.stderr.decode()[-400:]}")
        return done.stdout.decode()

    def timed(self, argv, cwd):
        """Seconds from the start of the command to its end."""
        os.chdir(cwd)
        files = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                 (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                 (os.POSIX_SPAWN_OPEN, 2, self.err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
        start = time.perf_counter()
        pid = os.posix_spawn(argv[0], argv, self.env, file_actions=files)
        status = os.waitpid(pid, 0)[1]
        took = time.perf_counter() - start
        if status:
            with open(self.err, errors="replace") as f:
                raise CannotMeasure(f"{' '.join(argv)[:200]}: {f.read()[-400:] or status}")
        return took

    def inner(self, prefix, cwd, n, argv, ok=(0,), change=""):
        """Times of n runs of argv, measured next to it: in `cwd`, or where `prefix` (a garth exec …) leads. Before each,
        the file `change` gets a line more."""
        got = json.loads(self.run([*prefix, "/usr/bin/python3", "-SEc", INNER, str(n), change, *argv], cwd))
        if got["code"] not in ok:
            raise CannotMeasure(f"{' '.join(argv)[:200]}: exit code {got['code']}")
        return got["times"]


def alternate(rounds, *what, rest=0.0):
    """Calls each of `what` in turn, `rounds` times; a list of times for each. A call returns a time or several."""
    times = [[] for _ in what]
    for _ in range(rounds):
        for i, call in enumerate(what):
            if rest:
                time.sleep(rest)
            took = call()
            times[i].extend(took if isinstance(took, list) else [took])
    return times


def median(times):
    return statistics.median(times)
