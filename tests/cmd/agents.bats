load helpers

agent() {
  mkdir -p "$HOME/.local/bin"
  printf '#!/bin/sh\n%s\n' "$2" >"$HOME/.local/bin/$1"; chmod +x "$HOME/.local/bin/$1"
  export PATH=$HOME/.local/bin:$PATH
}

logins() {
  mkdir -p "$HOME/.claude/projects" "$HOME/.codex" "$HOME/.gemini" "$HOME/.config/opencode" "$HOME/.local/share/opencode" "$HOME/.config/goose"
  echo '"claude-json"' >"$HOME/.claude.json"; echo '"claude-cred"' >"$HOME/.claude/.credentials.json"; echo history >"$HOME/.claude/projects/x"
  echo '"codex-auth"' >"$HOME/.codex/auth.json"; echo '"gemini-oauth"' >"$HOME/.gemini/oauth_creds.json"
  echo '"opencode-auth"' >"$HOME/.local/share/opencode/auth.json"; echo '"goose-secret"' >"$HOME/.config/goose/secrets.yaml"
}

all="cat ~/.claude.json ~/.claude/.credentials.json ~/.claude/projects/x ~/.codex/auth.json ~/.gemini/oauth_creds.json ~/.local/share/opencode/auth.json ~/.config/goose/secrets.yaml 2>/dev/null | tr -d '\"'; true"

@test "J6 agents: each agent finds its own log-in and no other's" {
  logins
  for a in claude:claude-json,claude-cred codex:codex-auth gemini:gemini-oauth opencode:opencode-auth goose:goose-secret; do
    agent "${a%:*}" "$all"
    [[ $("$garth" run --net host -t "t-${a%:*}" -- "${a%:*}" | paste -sd,) == "${a#*:}" ]] || complain "$a"
  done
  [[ -z $("$garth" run -t none -- sh -c "$all") ]]
}

@test "J6 agents: an agent is known by its program's path, and by --agent if a wrapper runs it" {
  logins; agent claude "$all"; agent wrapper "$all"
  [[ $("$garth" run -t a -- "$HOME/.local/bin/claude" | paste -sd,) == claude-json,claude-cred ]]
  [[ -z $("$garth" run -t b -- wrapper) ]]
  [[ $("$garth" run -t c --agent codex -- wrapper) == codex-auth ]]
}

@test "J6 agents: the log-in's copy is writable inside and closed to others; the user's file is unchanged" {
  logins; agent claude 'stat -c %a ~/.claude.json; echo renewed >~/.claude.json; rm ~/.claude/.credentials.json'
  [[ $("$garth" run -t t -- claude) == 600 ]]
  [[ $(<"$HOME/.claude.json") == '"claude-json"' ]]
  [[ $(<"$HOME/.claude/.credentials.json") == '"claude-cred"' ]]
  [[ $(inside t 'cat ~/.claude.json') == renewed ]]
}

# Log-ins are copied, and do not stay outside (cmd/credentials).
copies() {
  mkdir -p "$XDG_CONFIG_HOME/garth"
  printf 'agents: {claude: {credentials: copy}, codex: {credentials: copy}, gemini: {credentials: copy}, opencode: {credentials: copy}, goose: {credentials: copy}}\n' >"$XDG_CONFIG_HOME/garth/config.yaml"
}

@test "J6 agents: an agent gets its own variables and not other agents'" {
  copies
  agent claude 'echo "$ANTHROPIC_API_KEY,$OPENAI_API_KEY,$SECRET"'
  agent codex 'echo "$ANTHROPIC_API_KEY,$OPENAI_API_KEY,$SECRET"'
  export ANTHROPIC_API_KEY=a OPENAI_API_KEY=o SECRET=s
  [[ $("$garth" run -t a -- claude) == a,, ]]
  [[ $("$garth" run -t b -- codex) == ,o, ]]
  [[ $("$garth" run -t c -- sh -c 'echo $ANTHROPIC_API_KEY,$OPENAI_API_KEY') == , ]]
}

@test "J6 agents: an agent that the user defined in the configuration" {
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo conf >"$HOME/.aider.conf.yml"; agent aider 'cat ~/.aider.conf.yml; echo $MY_KEY'
  echo 'agents: {aider: {programs: [aider], login: [.aider.conf.yml], env: [MY_KEY]}}' >"$XDG_CONFIG_HOME/garth/config.yaml"
  [[ $(MY_KEY=k "$garth" run -t t -- aider) == $'conf\nk' ]]
}

@test "ESCAPES 2 agents: a link in the user's home is followed, one in the task's is not" {
  logins; agent claude 'cat ~/.claude.json; rm -f ~/.claude.json ~/.claude/.credentials.json; rm -rf ~/.claude; ln -s '"$T"'/planted ~/.claude'
  mkdir "$T/planted"; mv "$HOME/.claude.json" "$T/real.json"; ln -s "$T/real.json" "$HOME/.claude.json"
  [[ $("$garth" run -t t -- claude) == '"claude-json"' ]]
  [[ -z $(ls "$T/planted") ]]
}

@test "T4 agents: a resumed agent keeps the options that it was run with, without the prompt" {
  local name; for name in claude codex gemini opencode goose; do agent $name 'echo "$*" >>~/words; [ -n "$GARTH_ANSWER" ] || echo "why?" >"$GARTH_QUESTION_FILE"'; done
  asks() { call "$garth" run -q -t "$1" -- "$@"; [[ $code == 6 ]] || complain; "$garth" answer "$1" yes; [[ $(inside "$1" 'tail -n 1 ~/words') == "$want" ]] || complain "$(inside "$1" 'cat ~/words')"; }
  want='--dangerously-skip-permissions --model opus --permission-mode=plan --continue -p yes'
  asks claude --dangerously-skip-permissions -p 'use --model' --model opus --permission-mode=plan --session-id x
  want='--disallowedTools Bash WebFetch --continue -p yes'; "$garth" discard -fD claude; asks claude -p do --disallowedTools Bash WebFetch
  want='exec --yolo -c a=b resume --last yes'; asks codex exec --yolo -c a=b 'do --json it'
  want='-y -m pro --resume latest -p yes'; asks gemini -y -m pro -p 'do it'
  want='run --auto -m a/b --continue yes'; asks opencode run --auto -m a/b 'do it' -- --thinking
  want='run --resume --text yes'; asks goose run --text 'do it'
}

# Prints the words of its command, in one piece: on a terminal something may be echoed between two.
words='all=; for w in "${0##*/}" "$@"; do all="$all[$w]"; done; printf "%s\n" "$all"'
# on_terminal WORD…: what garth prints on a terminal.
on_terminal() { script -qec "$(printf '%q ' "$garth" "$@")" /dev/null </dev/null | tr -d '\r'; }

@test "T1 agents: a prompt goes to the agent in its own way, on a terminal and without one" {
  local a; for a in claude codex gemini opencode goose; do agent $a "$words"; done
  local -A headless=([claude]='[claude][--dangerously-skip-permissions][-p][--][fix  "it" {answer}]'
    [codex]='[codex][exec][--dangerously-bypass-approvals-and-sandbox][--skip-git-repo-check][--][fix  "it" {answer}]'
    [gemini]='[gemini][--yolo][--skip-trust][--prompt=fix  "it" {answer}]'
    [opencode]='[opencode][run][--auto][--][fix  "it" {answer}]' [goose]='[goose][run][--text=fix  "it" {answer}]')
  local -A shown=([claude]='[claude][--][fix it]' [codex]='[codex][--sandbox][danger-full-access][--][fix it]'
    [gemini]='[gemini][--prompt-interactive=fix it]' [opencode]='[opencode][--prompt=fix it]' [goose]='[goose][run][--interactive][--text=fix it]')
  for a in "${!headless[@]}"; do
    [[ $("$garth" run -q --agent $a 'fix  "it" {answer}' </dev/null) == "${headless[$a]}" ]] || complain "$a"
    out=$(on_terminal run -q --agent $a 'fix it')
    [[ $out == *"${shown[$a]}"* ]] || complain "$a"
  done
  on_terminal run -q --agent codex | grep -F '[codex][--sandbox][danger-full-access]'
  on_terminal run -q --agent goose | grep -F '[goose]'
  [[ $("$garth" run -qd -t back --agent claude 'fix it') == back ]]
  eventually is_state back done
  "$garth" log back | grep -F '[claude][--dangerously-skip-permissions][-p][--][fix it]'
}

@test "T1 agents: the task is named after the prompt; an agent that took one is resumed with its options" {
  agent claude '[ -n "$GARTH_ANSWER" ] || echo "why?" >"$GARTH_QUESTION_FILE"; printf "[%s]" "$@"'
  call "$garth" run "Fix the user's login: it's slow, and fails" </dev/null
  [[ $code == 6 ]] || complain
  [[ $err == *"agent claude, the only one that is installed here"* ]] || complain
  [[ $(state_of fix-the-users-login-its) == blocked ]]
  call "$garth" answer fix-the-users-login-its yes
  [[ $out == '[--dangerously-skip-permissions][--continue][-p][yes]' ]] || complain
  "$garth" run -q "fix the users' login its" </dev/null || true
  [[ $(state_of fix-the-users-login-its-2) == blocked ]]
  "$garth" run -q "Ä ö" </dev/null || true
  [[ $(state_of task) == blocked ]]
}

@test "T1 agents: the agent is --agent, else agents.default, else the only one installed; else the error lists the choices" {
  agent claude "$words"; agent codex "$words"
  fails 2 "which agent is meant? Installed are claude, codex; for one of them always, put 'agents: {default: claude}' into $XDG_CONFIG_HOME/garth/config.yaml" "$garth" run 'fix it'
  fails 2 'garth run --agent claude' "$garth" run
  echo 'agents: {default: codex}' | configure
  [[ $("$garth" run -q 'fix it' </dev/null) == '[codex][exec]'* ]]
  [[ $("$garth" run -q --agent claude 'fix it' </dev/null) == '[claude]'* ]]
  fails 2 "there is no terminal to talk to codex: give it a prompt" "$garth" run </dev/null
  rm "$HOME/.local/bin/codex"
  fails 127 "there is no program 'codex'" "$garth" run 'fix it'
  echo 'agents: {mine: {programs: [claude], prompt: [claude, "a={prompt}b"]}, default: mine}' | configure
  [[ $("$garth" run -q 'fix it' </dev/null) == '[claude][a=fix itb]' ]]
  echo 'agents: {mine: {programs: [claude]}, default: mine}' | configure
  fails 2 "agents.mine.prompt in the configuration is missing" "$garth" run 'fix it'
  echo 'agents: {default: clade}' | configure
  fails 3 "config.yaml:1:10: there is no agent 'clade' (is 'claude' meant?)" "$garth" run 'fix it'
  echo 'agents: {default: claude}' | configure
  [[ $("$garth" config --json | json 'd["config"]["agents"]["default"]') == claude ]]
  "$garth" config | grep -qE '^  default: claude +# .*config.yaml:1:10$'
  rm "$HOME/.local/bin/claude"; : | configure
  fails 127 "no agent that garth knows is installed" "$garth" run 'fix it'
}

@test "T1 agents: a program with a space in its name is not a prompt" {
  printf '#!/bin/sh\necho ran\n' >'my tool'; chmod +x 'my tool'; git add .; git commit -qm tool
  [[ $("$garth" run -q './my tool') == ran ]]
  agent claude "$words"
  [[ $("$garth" run -q 'my tools are' </dev/null) == '[claude]'* ]]
  fails 127 'if it is a prompt, options come before it' "$garth" run 'my tools are' --agent claude
}

@test "J5 agents: a model's host named by the user's variables is reached without a flag, and no other host is" {
  agent claude 'true'
  ANTHROPIC_BASE_URL=https://llm.example:8443/v1 OPENAI_BASE_URL=https://other.example DB_HOST=db.example "$garth" run -q -t a -e DB_HOST -- claude
  [[ $("$garth" show a --json | json 'd["network"]["hosts"]') == *'"llm.example:8443"'* ]] || complain "$("$garth" show a)"
  [[ $("$garth" show a --json | json 'd["network"]["hosts"]') != *@(other|db).example* ]] || complain "$("$garth" show a)"
  ANTHROPIC_BASE_URL=https://llm.example "$garth" run -q -t n --net none -- claude
  [[ $("$garth" show n) == *'network    none'* ]]
  agent codex 'true'
  call "$garth" run -t c -- codex exec --sandbox workspace-write x
  [[ $err == *"codex brings a sandbox of its own"* ]] || complain
  # without such an option it uses no sandbox: a file in the task's /etc switches it off
  call "$garth" run -t f -- codex exec x
  [[ $err != *sandbox* ]] || complain
  call "$garth" run -t d -- codex exec --yolo x
  [[ $err != *sandbox* ]] || complain
  call "$garth" run -t w --agent codex -- sh -c true
  [[ -z $err || $err != *sandbox* ]] || complain
  mkdir -p "$HOME/.codex"
  echo 'sandbox_mode = "read-only"' >"$HOME/.codex/config.toml"
  # a file in /etc overrides the user's own
  call "$garth" run -t g -- codex exec x
  [[ $err != *sandbox* ]] || complain
  [[ $(inside g 'cat /etc/codex/managed_config.toml') == *'sandbox_mode = "danger-full-access"'* ]]
}

# oauth SECONDS: log-in files of all five as their clients write them, whose access tokens end that many seconds from now.
oauth() {
  logins
  python3 - "$HOME" "$1" <<'PY'
import base64, json, os, sys, time
home, end = sys.argv[1], int(time.time()) + int(sys.argv[2])
def put(path, what):
    with open(os.path.join(home, path), "w") as f: f.write(what if isinstance(what, str) else json.dumps(what))
jwt = "e30." + base64.urlsafe_b64encode(json.dumps({"exp": end}).encode()).rstrip(b"=").decode() + ".c2ln"
put(".claude.json", {"oauthAccount": {}})
put(".claude/.credentials.json", {"claudeAiOauth": {"accessToken": "acc-ess", "refreshToken": "re-fresh", "expiresAt": end * 1000}})
put(".codex/auth.json", {"tokens": {"id_token": jwt, "access_token": jwt, "refresh_token": "re-fresh", "note": "acc-ess"}})
put(".gemini/oauth_creds.json", {"access_token": "acc-ess", "refresh_token": "re-fresh", "expiry_date": end * 1000})
put(".gemini/gemini-credentials.json", "00:00:re-fresh")
put(".local/share/opencode/auth.json", {"anthropic": {"type": "oauth", "access": "acc-ess", "refresh": "re-fresh", "expires": end * 1000}})
put(".config/goose/secrets.yaml", "ANTHROPIC_API_KEY: acc-ess\nX_OAUTH: {refresh_token: re-fresh}\n")
PY
}

@test "J7 agents: no refresh token is copied into a task, for any of the five agents; the user is told when the log-in expires" {
  local a
  copies; oauth 240
  for a in claude codex gemini opencode goose; do
    agent "$a" 'cd ~; grep -rl re-fres[h] . ; grep -rq acc-es[s] . && echo in; true'
    call "$garth" run -t "$a" --on-dirty keep -- "$a" --yolo
    [[ $code == 0 ]] || complain "$a"
    [[ $out == in ]] || complain "$a"
    [[ $a == goose || $err == *"the log-in of $a ends in 4 minutes, and a task cannot renew it: run $a once outside, then this again"* ]] || complain "$a"
    [[ $a != gemini || $err == *'~/.gemini/gemini-credentials.json is not copied into the task: it cannot be read, and may hold a refresh token'* ]] || complain
    grep -rq re-fresh "$HOME"/.[cgl]* || complain "the user's own is gone"
  done
  # renewed outside: the task has it at its next start, and nothing is said
  oauth 36000
  sed -i s/acc-ess/new-er/ "$HOME/.claude/.credentials.json"
  agent claude 'grep -o new-er ~/.claude/.credentials.json'
  call "$garth" exec claude -- claude
  [[ $out == new-er ]] || complain
  [[ $err != *log-in* ]] || complain
  oauth -60
  call "$garth" run -t e -- claude
  [[ $err == *'the log-in of claude has ended, and a task cannot renew it'* ]] || complain
  call "$garth" run -q -t q -- claude
  [[ -z $err ]] || complain
}

@test "J7 agents: a refresh token that an earlier version copied into a task is removed at its next start" {
  oauth 36000; agent claude 'grep -c re-fresh ~/.claude/.credentials.json'
  "$garth" new t; mkdir -p "$(task_dir t)/home/.claude"; cp "$HOME/.claude/.credentials.json" "$(task_dir t)/home/.claude/"
  if is_root; then chown -R 1879050000:1879050000 "$(task_dir t)/home/.claude"; fi
  call "$garth" exec t -- claude; [[ $out == 0 ]] || complain
}
