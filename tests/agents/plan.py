#!/usr/bin/env python3
"""Real agents in the stages of a plan, with a scripted model: by hand, as tests have no npm.

    plan.py GARTH AGENT…        claude, codex, gemini, opencode, goose; their programs are in PATH

Each agent has two stages, the second of which needs the first. The model runs one command after each prompt, which adds the
number of the agent's run to a file and commits it. The check of each stage wants two runs: so the first one fails it, and the agent has
to come back with the check's output in the same conversation. Prints a line for each agent; exit status 1 if something is wrong.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model.py")
RUN = 'echo "$GARTH_ATTEMPT" >>"$GARTH_STAGE" && git add "$GARTH_STAGE" && git commit -qm "$GARTH_STAGE $GARTH_ATTEMPT"'
KEYS = {"ANTHROPIC_API_KEY": "sk-ant-api03-" + "x" * 40, "OPENAI_API_KEY": "sk-" + "x" * 40, "CODEX_API_KEY": "sk-" + "x" * 40,
        "GEMINI_API_KEY": "AIza" + "x" * 35}
MODELS = {"opencode": "anthropic/claude-sonnet-4-5"}
FIRST, TOLD = "make the first file", "it wants a second run"


def plan_of(agents):
    stages = []
    for agent in agents:
        for part, needs in (("a", []), ("b", [f"{agent}-a"])):
            name = f"{agent}-{part}"
            stages.append({"id": name, "agent": agent, "dependencies": needs, "files": [name], "timeout": "3m", "description": FIRST,
                           "acceptance": [f"echo {TOLD}; grep -qx 2 {name}"]})
    return {"plan_id": "clients", "merge": "done", "retries": {"crash": 0, "check": 2}, "stages": stages}


class Run:
    def __init__(self, garth, top):
        self.garth, self.top, self.repo = garth, top, f"{top}/home/repo"
        self.log = f"{top}/model.log"
        self.env = dict(os.environ, HOME=f"{top}/home", GARTH_HOME=f"{top}/home/.garth", TERM="dumb", **KEYS)
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "http_proxy", "https_proxy", "HTTP_PROXY",
                     "NO_PROXY", "no_proxy", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            self.env.pop(name, None)

    def start_model(self):
        port, tls = f"{self.top}/port", f"{self.top}/tls"
        self.model = subprocess.Popen([sys.executable, MODEL, "--run", RUN, "--each-turn", "--tls", tls, "--port-file", port, self.log],
                                      stdin=subprocess.PIPE)
        while not os.path.exists(port):
            time.sleep(0.05)
        with open(port, encoding="ascii") as f:
            self.env["HTTPS_PROXY"] = f"http://127.0.0.1:{int(f.read())}"
        self.env["SSL_CERT_FILE"] = self.env["NODE_EXTRA_CA_CERTS"] = f"{tls}/ca.pem"

    def make_repo(self):
        os.makedirs(self.repo)
        home = self.env["HOME"]
        with open(f"{home}/.claude.json", "w", encoding="ascii") as f:
            json.dump({"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": ["x" * 20]}}, f)
        os.makedirs(f"{home}/.config/opencode")
        with open(f"{home}/.config/opencode/opencode.json", "w", encoding="ascii") as f:
            json.dump({"model": MODELS["opencode"]}, f)
        os.makedirs(f"{home}/.gemini")
        with open(f"{home}/.gemini/settings.json", "w", encoding="ascii") as f:
            json.dump({"security": {"auth": {"selectedType": "gemini-api-key"}}}, f)
        for words in (["init", "-q", "-b", "main"], ["config", "user.name", "T"], ["config", "user.email", "t@example.com"],
                      ["commit", "-q", "--allow-empty", "-m", "first"]):
            subprocess.run(["git", *words], cwd=self.repo, env=self.env, check=True)

    def call(self, *words):
        return subprocess.run([self.garth, *words], cwd=self.repo, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def conversation(self, agent):
        """Whether one request to the model has both the first prompt and the output of the check that failed."""
        with open(self.log, encoding="utf-8") as f:
            for line in f:
                body = json.dumps(json.loads(line)["body"])
                if f"Stage {agent}-a of" in body and FIRST in body and f"A check of stage {agent}-a failed" in body:
                    return True
        return False

    def look(self, agents):
        status = json.loads(self.call("plan", "status", "clients", "--json").stdout)
        good = True
        for agent in agents:
            stages = [s for s in status["stages"] if s["stage"].startswith(agent + "-")]
            wrong = [f"{s['stage']} is {s['stage_state']} after {s['attempt']} runs: {s['note']}" for s in stages
                     if s["stage_state"] != "done" or s["attempt"] != 2]
            if not wrong and not self.conversation(agent):
                wrong = ["the second run was not in the first one's conversation"]
            good = good and not wrong
            print(f"{agent}: {'; '.join(wrong) or 'two stages, each in two runs of one conversation'}", flush=True)
        return good


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    garth, agents = os.path.abspath(sys.argv[1]), sys.argv[2:]
    top = tempfile.mkdtemp(prefix="garth-clients.", dir=os.environ.get("HOME"))
    run = Run(garth, top)
    run.make_repo()
    run.start_model()
    with open(f"{top}/plan.yaml", "w", encoding="ascii") as f:
        json.dump(plan_of(agents), f)
    code = run.call("plan", "run", f"{top}/plan.yaml").returncode
    good = run.look(agents)
    run.model.stdin.close()
    print(f"exit status {code}; what the model was asked is in {run.log}")
    sys.exit(not good or code != 0)


main()
