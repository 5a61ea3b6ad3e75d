load helpers

# program PATH SCRIPT: an executable file.
program() { mkdir -p "${1%/*}"; printf '#!/bin/sh\n%s\n' "$2" >"$1"; chmod +x "$1"; }

@test "A5 agent: ls, show and test; a new agent is a few lines of YAML" {
  program "$HOME/tools/x/aider-like" 'case $1 in --version) echo "aider-like 1.2";; *) cat ~/.aider-like/brief.md ~/.aider-like/conv; echo "$* $AIDER_UP";; esac'
  PATH=$HOME/tools/x:$PATH; mkdir "$HOME/.aider-like"; echo conv >"$HOME/.aider-like/conv"; echo s >"$HOME/.aider-like/key"
  fails 3 "there is no agent 'aider-like'" "$garth" agent show aider-like
  printf '%s\n' 'agents:' '  aider-like:' '    programs: [aider-like]' '    prompt: [aider-like, --message, "{prompt}"]' \
    '    headless: [aider-like, --yes, --message, "{prompt}"]' '    settings: [.aider-like/conv]' '    set: [AIDER_UP=no]' '    files: ["~/.aider-like/brief.md={brief}"]' | configure
  call "$garth" agent test aider-like
  [[ $code == 0 ]] || complain
  [[ $err == *'✓ aider-like runs inside: aider-like 1.2'* ]] || complain
  [[ $err == *'there is no log-in of aider-like'* ]] || complain
  [[ $("$garth" ls --all --json | json 'd["tasks"]') == '[]' ]]
  [[ -z $(ls "$GARTH_HOME/trash") ]]
  [[ $("$garth" agent ls) == *"aider-like"*"$HOME/tools/x/aider-like"* ]]
  [[ $("$garth" agent ls) == *"claude "*"not installed"* ]]
  [[ $("$garth" agent show aider-like) == *"shown      $HOME/tools/x"*"$HOME/.aider-like/conv"* ]]
  [[ $("$garth" agent show aider-like --json | json 'd["can_run"]') == true ]]
  out=$("$garth" run -q --agent aider-like 'fix it' </dev/null)
  [[ $out == *'Worktree Isolation'*conv*'--yes --message fix it no' ]] || complain
  fails 127 "agent 'codex' is not installed: there is no program 'codex'" "$garth" agent test codex
  program "$HOME/tools/x/codex" 'echo broken; exit 3'
  fails 1 "fails inside with exit code 3: broken" "$garth" agent test codex
  fails 2 "'list' is neither ls, show nor test" "$garth" agent list
  fails 2 "which agent is meant?" "$garth" agent test
  # a key in a setting is refused when it is written
  echo 'agents: {x: {settings: [.ssh]}}' | configure
  fails 2 "holds keys or log-ins" "$garth" agent ls
}

@test "A4 A5 agent: with agents.mcp each client is given the file tools, beside what the user has; not without" {
  # of EXPRESSION: of the JSON on stdin
  of() { python3 -ISc 'import json, sys; d = json.load(sys.stdin); print(json.dumps(eval(sys.argv[1])))' "$1"; }
  echo '{"mcpServers":{"mine":{"command":"x"}},"userID":"u"}' >"$HOME/.claude.json"
  "$garth" new without
  [[ $(inside without 'cat /etc/codex/config.toml /etc/opencode/opencode.json') != *mcp* ]]
  echo 'agents: {mcp: true, aider: {programs: [aider], mcp: ["/etc/aider/tools=it"]}}' | configure
  "$garth" new t
  inside t 'cat /etc/codex/config.toml' | python3 -c '
import sys, tomllib
c = tomllib.load(sys.stdin.buffer)
assert c["mcp_servers"]["garth"] == {"command": "garth", "args": ["mcp"]}
assert c["sandbox_mode"] == "danger-full-access" and c["analytics"] == {"enabled": False}'
  [[ $(inside t 'cat /etc/opencode/opencode.json' | of 'd["mcp"]["garth"]["command"]') == '["garth", "mcp"]' ]]
  [[ $(inside t 'cat /etc/opencode/opencode.json' | of 'd["permission"]') == '{"*": "allow"}' ]]
  [[ $(inside t 'cat /etc/goose/config.yaml') == *'cmd: garth, args: [mcp]'* ]]
  [[ $(inside t 'cat /etc/aider/tools') == it ]]
  out=$("$garth" run -q -t g --agent gemini -- sh -c 'cat ~/.gemini/extensions/garth/gemini-extension.json')
  [[ $(of 'd["mcpServers"]["garth"]["command"], d["contextFileName"]' <<<"$out") == '["garth", "brief.md"]' ]] || complain
  out=$("$garth" run -q -t c --agent claude -- sh -c 'cat ~/.claude.json')
  [[ $(of 'sorted(d["mcpServers"]), d["userID"]' <<<"$out") == '[["garth", "mine"], "u"]' ]] || complain
  [[ $(<"$HOME/.claude.json") != *garth* ]]
  # and what it starts are the tools
  [[ $("$garth" exec c -- garth mcp <<<'{"jsonrpc":"2.0","id":1,"method":"ping"}') == *result* ]]
}
