# For tests of editors: an agent that does as it is told (acp_agent.py), and an editor without a window (acp_client.py).

acp_setup() {
  mkdir -p "$HOME/.local/bin"
  install -m 755 "$GARTH_TOP/tests/acp_agent.py" "$HOME/.local/bin/claude-agent-acp"
  PATH=$HOME/.local/bin:$PATH
}

# editor: runs the Python script on stdin, with Client, garth, agent and sh(COMMAND).
editor() {
  { echo 'import json, os, signal, subprocess, sys, time; from acp_client import Client; garth = sys.argv[1]
sh = lambda c: subprocess.run(["bash", "-c", c], capture_output=True, text=True, check=True).stdout.strip()
agent = ["claude-agent-acp"]'; cat; } >"$T/script.py"
  PYTHONPATH=$GARTH_TOP/tests PYTHONDONTWRITEBYTECODE=1 timeout 300 python3 "$T/script.py" "$garth" 2>"$T/err" 3>&- ||
    { cut -c -2000 "$T/err" | tail -n 60; return 1; }
}
