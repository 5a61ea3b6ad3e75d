"""Claude Code's start to its first request to the model, inside and outside: $GARTH_CLAUDE names the program."""
import json
import os
import subprocess
import sys
import time

from measure import CannotMeasure, alternate, median, say

ROUNDS = 7
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../agents/model.py")
TABLE = [("claude", "start of Claude Code to its first request, running task", "the same outside", "s", ("at most", 1.1))]
QUIET = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")


def first_request(run, argv, cwd, log):
    """From the command's start to the model's first request of the conversation."""
    with open(log, "a", encoding="utf-8") as f:
        before = f.tell()
    start = time.time()
    run.run(argv, cwd)
    with open(log, encoding="utf-8") as f:
        f.seek(before)
        for line in map(json.loads, f):
            if line["path"].startswith("/v1/messages"):
                return line["time"] - start
    raise CannotMeasure("Claude Code asked the model nothing")


def starting(b):
    claude = os.environ.get("GARTH_CLAUDE")
    if not claude or not os.path.exists(claude):
        raise CannotMeasure("Claude Code is not installed (GARTH_CLAUDE)")
    claude = os.path.realpath(claude)
    config = b.path(b.name("config"))
    with open(config, "w", encoding="utf-8") as f:
        json.dump({"jail": {"allow_read": [os.path.dirname(claude)]}}, f)
    few, log, port = b.few(), b.path(b.name("log")), b.path(b.name("port"))
    home = b.path(b.name("user"))
    os.makedirs(home)
    with open(f"{home}/.claude.json", "w", encoding="ascii") as f:
        json.dump({"hasCompletedOnboarding": True}, f)
    model = subprocess.Popen([sys.executable, MODEL, "--port-file", port, log], stdin=subprocess.PIPE)
    task = b.name("claude")
    try:
        while not os.path.exists(port):
            time.sleep(0.05)
        with open(port, encoding="ascii") as f:
            url = f"http://127.0.0.1:{int(f.read())}"
        run = b.run.with_env(HOME=home, ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="sk-ant-api03-" + "x" * 40,
                             GARTH_CONFIG=config, **{name: "1" for name in QUIET})
        run.run([b.garth, "run", "-q", "-d", "--task", task, "--agent", "claude", "--", "sleep", "3600"], few)
        say("Claude Code")
        inside = [b.garth, "exec", "--agent", "claude", task, "--", claude, "-p", "hi"]
        calls = lambda: first_request(run, inside, few, log), lambda: first_request(run, [claude, "-p", "hi"], few, log)
        alternate(2, *calls)
        mine, peer = alternate(ROUNDS, *calls)
    finally:
        b.run.run([b.garth, "cancel", task], few, ok=(0, 1, 3, 4))
        model.kill()
        model.wait()
    yield "claude", median(mine), median(peer), None


GROUPS = [(("claude",), starting)]
