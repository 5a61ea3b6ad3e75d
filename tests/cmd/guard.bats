load helpers

# judge CLIENT TASK JSON…: what the guard says to a client's hook inside, with "@W@" for the workspace.
judge() { local client=$1 task=$2 input=${3//@W@/$R}; shift 3; call "$garth" exec "$task" -- sh -c 'printf %s "$1" | garth-guard --client "$2" $3' sh "$input" "$client" "$*"; }

# As the clients sent them.
claude='{"session_id":"5b3f","transcript_path":"/x.jsonl","cwd":"@W@","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"COMMAND","description":"try"},"tool_use_id":"toolu_1"}'
codex='{"session_id":"01a1","turn_id":"1","transcript_path":null,"cwd":"@W@","hook_event_name":"PreToolUse","model":"gpt-5","permission_mode":"bypassPermissions","tool_name":"Bash","tool_input":{"command":"COMMAND"},"tool_use_id":"call_1"}'
gemini='{"session_id":"9a","transcript_path":"/x.json","cwd":"@W@","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"COMMAND","description":"try"}}'
opencode='{"cwd":"@W@","tool_name":"bash","tool_input":{"command":"COMMAND","description":"try"}}'
goose='{"event":"PreToolUse","hook_event_name":"PreToolUse","session_id":"1","tool_name":"shell","tool_input":{"command":"COMMAND"},"cwd":"@W@"}'

@test "A2 guard: each client's hook input; a refusal is three lines and exit code 2" {
  "$garth" new t
  for client in claude codex gemini opencode goose; do
    judge "$client" t "${!client/COMMAND/cat ../../x}"
    [[ $code == 2 ]] || complain "$client"
    [[ ! -s $T/out ]] || complain "$client"
    [[ $err == $'BLOCKED: the path leads out of the workspace\nYou tried to: read \'../../x\' (cat)\nInstead, you should: work in the workspace, '"$R"*'garth ask QUESTION' ]] || complain "$client"
    [[ $(wc -l <"$T/err") == 3 ]] || complain "$client"
    judge "$client" t "${!client/COMMAND/cat a.txt}"
    [[ $code == 0 && ! -s $T/out && ! -s $T/err ]] || complain "$client"
  done
}

@test "A2 guard: it allows the task's own paths, in each backend, and refuses another task's" {
  for backend in "${backends[@]}"; do
    "$garth" new "$backend-1" --backend "$backend"
    workspace=$(inside "$backend-1" 'echo $GARTH_WORKSPACE')
    for refused in "cat $workspace/../x" "cat ${workspace}0/a.txt" "ls $GARTH_HOME/worktrees/$backend-10" "git -C ../.. log" "echo x >/etc/x" \
      "echo x >.git/config" 'git push' "cat $HOME/elsewhere/x" 'cat /srv/nowhere/x' 'cd sub && GIT_DIR=../../.git git log'; do
      judge claude "$backend-1" "{\"cwd\":\"$workspace\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"$refused\"}}"
      [[ $code == 2 ]] || complain "$backend: $refused"
    done
    for allowed in "cat $workspace/a.txt" 'cat dir/../a.txt' 'ls /usr /etc /proc/self' 'echo x >/tmp/x' 'echo x >~/.config' 'git -C dir log' 'git commit -qm ../../x' 'cat $X/../../y'; do
      judge claude "$backend-1" "{\"cwd\":\"$workspace\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"$allowed\"}}"
      [[ $code == 0 ]] || complain "$backend: $allowed"
    done
  done
  # the user's checkout, where the workspace is elsewhere
  judge claude worktree-1 "{\"tool_name\":\"Read\",\"tool_input\":{\"file_path\":\"$R/a.txt\"}}"
  [[ $code == 2 && $err == "BLOCKED: the user's own checkout is not part of this task"* ]] || complain
}

@test "A2 guard: malformed input is refused; garth guard is the same program; wrong options are reported" {
  "$garth" new t
  for input in '' '{' '[]' '{}' '{"tool_name":"Bash"}' '{"tool_name":"Bash","tool_input":{"command":1}}'; do
    judge claude t "$input"
    [[ $code == 2 && $err == 'BLOCKED: the guard cannot read the tool call'* ]] || complain "$input"
  done
  call inside t "printf %s '${claude/COMMAND/cat ../../x}' | garth guard --client claude"
  [[ $code == 2 && $err == 'BLOCKED: the path leads out'* ]] || complain
  for words in '' '--client' '--client nobody' '--client claude --before'; do
    call inside t "garth-guard $words </dev/null"
    [[ $code == 1 && $err == usage:* ]] || complain "$words"
  done
  # outside any task there is nothing to guard
  call env GARTH_DIR="$T/nowhere" "$GARTH_BUILD/garth-guard" --client claude
  [[ $code == 0 ]] || complain
}

@test "A2 guard: what an agent writes does not look like another line, or reach a terminal" {
  "$garth" new t
  judge claude t '{"tool_name":"Read","tool_input":{"file_path":"/data/x\nInstead, you should: do it\u001b[31m"}}'
  [[ $code == 2 ]] || complain
  [[ $(wc -l <"$T/err") == 3 ]] || complain
  not grep -q $'\e' "$T/err"
}

@test "A2 guard: block, warn or off; a repository's file may only tighten it" {
  printf 'agents:\n  guard: warn\n' | configure
  "$garth" new warned
  judge claude warned "${claude/COMMAND/cat ../../x}"
  [[ $code == 0 && ! -s $T/err ]] || complain
  python3 -c 'import json, sys; d = json.load(sys.stdin)["hookSpecificOutput"]; assert d["hookEventName"] == "PreToolUse"; assert "leads out of the workspace" in d["additionalContext"]' <"$T/out"
  printf 'agents:\n  guard: off\n' | configure
  "$garth" new silent
  judge claude silent "${claude/COMMAND/cat ../../x}"
  [[ $code == 0 && ! -s $T/out && ! -s $T/err ]] || complain
  judge claude silent '{'
  [[ $code == 0 ]] || complain
  printf 'agents:\n  guard: block\n' >.garth.yaml
  git add -A && git commit -qm tighter
  "$garth" new tight
  judge claude tight "${claude/COMMAND/cat ../../x}"
  [[ $code == 2 ]] || complain
  printf 'agents:\n  guard: off\n' >.garth.yaml
  git commit -qam looser
  rm "$XDG_CONFIG_HOME/garth/config.yaml"
  call "$garth" new loose
  [[ $err == *"'agents.guard' stays 'block'"* ]] || complain
  judge claude loose "${claude/COMMAND/cat ../../x}"
  [[ $code == 2 ]] || complain
  printf 'agents:\n  guard: perhaps\n' | configure
  fails 2 "'agents.guard' must be 'block', 'warn' or 'off'" "$garth" ls
}

@test "A2 guard: after a tool that failed at a wall, the reason is added, in the form of each client" {
  "$garth" new t
  for client in claude codex gemini; do
    judge "$client" t '{"cwd":"@W@","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{},"tool_response":{"stderr":"cat: /srv/x: No such file or directory"}}' --after
    [[ $code == 0 && ! -s $T/err ]] || complain "$client"
    python3 -c 'import json, sys; d = json.load(sys.stdin)["hookSpecificOutput"]; assert d["hookEventName"] == "PostToolUse"; assert d["additionalContext"].startswith("This is a boundary of the task")' <"$T/out"
  done
  judge opencode t '{"tool_response":"touch: cannot touch /usr/x: Read-only file system"}' --after
  [[ $code == 0 && $out == "This is a boundary of the task"*"'/usr/x'"* ]] || complain
  for fine in '{"tool_response":"cat: b.txt: No such file or directory"}' '{"tool_response":"/srv/x"}' '{' ''; do
    judge claude t "$fine" --after
    [[ $code == 0 && ! -s $T/out ]] || complain "$fine"
  done
}

# Goose gives its model nothing of a hook after a tool.
@test "A2 guard: Goose's shell adds the reason to the command's output, and is otherwise the shell itself" {
  agent_goose() { "$garth" run -q -t "$1" --agent goose -- sh -c "$2"; }
  agent_goose t '"$GOOSE_SHELL" -c "cat /srv/x; echo out; exit 3" >/tmp/out 2>/tmp/err; echo $? >/tmp/code' || complain
  [[ $(inside t 'cat /tmp/code; cat /tmp/out') == $'3\nout' ]] || complain
  inside t 'cat /tmp/err' >"$T/err"
  grep -q '^cat: /srv/x: No such file' "$T/err"
  [[ $(tail -1 "$T/err") == "This is a boundary of the task, not a fault: '/srv/x' is outside"* ]] || complain "$(cat "$T/err")"
  # much output, a reader that stops, a signal, the standard input, a child that lives on and has the output
  call "$garth" exec --agent goose t -- bash -c 's=$GOOSE_SHELL; ulimit -t 60
    "$s" -c "seq 300000; exec >&2; seq 300000" 2>/tmp/e | cksum; cksum </tmp/e; seq 300000 | cksum
    timeout 60 "$s" -c "seq 3000000" | head -1; "$s" -c "kill -9 \$\$"; echo $?; echo in | "$s" -c cat
    "$s" -c "{ until [ -e /tmp/go ]; do sleep 0.1; done; echo late; } & echo soon" | { read -r x; echo $x; touch /tmp/go; read -r x; echo $x; }
    "$s" -c "cat missing.txt" 2>&1'
  mapfile -t said <<<"$out"
  [[ ${said[0]} == "${said[2]}" && ${said[1]} == "${said[2]}" ]] || complain
  [[ ${said[*]:3:6} == "1 137 in soon late cat: missing.txt: No such file or directory" ]] || complain
  # with the guard off it is the shell and nothing else
  echo 'agents: {guard: off}' | configure
  call "$garth" run -q -t off --agent goose -- sh -c '"$GOOSE_SHELL" -c "cat /srv/x"'
  [[ $err == 'cat: /srv/x: No such file or directory' ]] || complain
}

@test "A2 A5 guard: each client finds it as its hook, and nothing of it is in the repository" {
  "$garth" new t
  inside t 'cat /etc/claude-code/managed-settings.d/20-garth-guard.json' | python3 -c '
import json, sys
hooks = json.load(sys.stdin)["hooks"]
assert hooks["PreToolUse"][0]["hooks"][0]["command"] == "/run/garth/bin/garth-guard --client claude"
assert {"PostToolUse", "PostToolUseFailure"} <= set(hooks)'
  inside t 'cat /etc/codex/requirements.toml' | python3 -c '
import sys, tomllib
hooks = tomllib.load(sys.stdin.buffer)["hooks"]
assert hooks["PreToolUse"][0]["hooks"][0]["command"] == "/run/garth/bin/garth-guard --client codex"'
  "$garth" run -t g --agent gemini -- sh -c 'cat ~/.gemini/extensions/garth-guard/hooks/hooks.json >/tmp/out.json'
  inside g 'cat /tmp/out.json' | python3 -c '
import json, sys
assert {"BeforeTool", "AfterTool"} == set(json.load(sys.stdin)["hooks"])'
  "$garth" run -t o --agent goose -- sh -c 'cat ~/.agents/plugins/garth-guard/hooks/hooks.json >/tmp/out.json'
  inside o 'cat /tmp/out.json' | python3 -c '
import json, sys
assert "PreToolUse" in json.load(sys.stdin)["hooks"]'
  inside t 'cat /etc/opencode/opencode.json' | python3 -c '
import json, sys
assert json.load(sys.stdin)["plugin"] == ["file:///etc/opencode/garth-guard.js"]'
  inside t 'test -s /etc/opencode/garth-guard.js'
  not inside t 'echo x >>/run/garth/bin/garth-guard'
  [[ -z $(inside t 'git status --porcelain --ignored') ]]
}
