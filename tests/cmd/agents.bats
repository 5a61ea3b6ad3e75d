load helpers

agent() {
  mkdir -p "$HOME/.local/bin"
  printf '#!/bin/sh\n%s\n' "$2" >"$HOME/.local/bin/$1"; chmod +x "$HOME/.local/bin/$1"
  export PATH=$HOME/.local/bin:$PATH
}

logins() {
  mkdir -p "$HOME/.claude/projects" "$HOME/.codex" "$HOME/.gemini" "$HOME/.config/opencode" "$HOME/.local/share/opencode" "$HOME/.config/goose"
  echo claude-json >"$HOME/.claude.json"; echo claude-cred >"$HOME/.claude/.credentials.json"; echo history >"$HOME/.claude/projects/x"
  echo codex-auth >"$HOME/.codex/auth.json"; echo gemini-oauth >"$HOME/.gemini/oauth_creds.json"
  echo opencode-auth >"$HOME/.local/share/opencode/auth.json"; echo goose-secret >"$HOME/.config/goose/secrets.yaml"
}

all='cat ~/.claude.json ~/.claude/.credentials.json ~/.claude/projects/x ~/.codex/auth.json ~/.gemini/oauth_creds.json ~/.local/share/opencode/auth.json ~/.config/goose/secrets.yaml 2>/dev/null; true'

@test "J6 agents: each finds its own log-in and no other's" {
  logins
  for a in claude:claude-json,claude-cred codex:codex-auth gemini:gemini-oauth opencode:opencode-auth goose:goose-secret; do
    agent "${a%:*}" "$all"
    [[ $("$garth" run --net host -t "t-${a%:*}" -- "${a%:*}" | paste -sd,) == "${a#*:}" ]] || complain "$a"
  done
  [[ -z $("$garth" run -t none -- sh -c "$all") ]]
}

@test "J6 agents: by its path, and by --agent for a wrapper" {
  logins; agent claude "$all"; agent wrapper "$all"
  [[ $("$garth" run -t a -- "$HOME/.local/bin/claude" | paste -sd,) == claude-json,claude-cred ]]
  [[ -z $("$garth" run -t b -- wrapper) ]]
  [[ $("$garth" run -t c --agent codex -- wrapper) == codex-auth ]]
}

@test "J6 agents: the copy is the task's: writable inside, closed to others, the user's stays as it is" {
  logins; agent claude 'stat -c %a ~/.claude.json; echo renewed >~/.claude.json; rm ~/.claude/.credentials.json'
  [[ $("$garth" run -t t -- claude) == 600 ]]
  [[ $(<"$HOME/.claude.json") == claude-json && $(<"$HOME/.claude/.credentials.json") == claude-cred ]]
  [[ $(inside t 'cat ~/.claude.json') == renewed ]]
}

@test "J6 agents: its variables come along, other agents' do not" {
  agent claude 'echo "$ANTHROPIC_API_KEY,$OPENAI_API_KEY,$SECRET"'
  agent codex 'echo "$ANTHROPIC_API_KEY,$OPENAI_API_KEY,$SECRET"'
  export ANTHROPIC_API_KEY=a OPENAI_API_KEY=o SECRET=s
  [[ $("$garth" run -t a -- claude) == a,, && $("$garth" run -t b -- codex) == ,o, && $("$garth" run -t c -- sh -c 'echo $ANTHROPIC_API_KEY,$OPENAI_API_KEY') == , ]]
}

@test "J6 agents: one of the user's own, from the configuration" {
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo conf >"$HOME/.aider.conf.yml"; agent aider 'cat ~/.aider.conf.yml; echo $MY_KEY'
  echo 'agents: {aider: {programs: [aider], login: [.aider.conf.yml], env: [MY_KEY]}}' >"$XDG_CONFIG_HOME/garth/config.yaml"
  [[ $(MY_KEY=k "$garth" run -t t -- aider) == $'conf\nk' ]]
}

@test "ESCAPES 2 agents: a link in the user's home is followed, one in the task's is not" {
  logins; agent claude 'cat ~/.claude.json; rm -f ~/.claude.json ~/.claude/.credentials.json; rm -rf ~/.claude; ln -s '"$T"'/planted ~/.claude'
  mkdir "$T/planted"; mv "$HOME/.claude.json" "$T/real.json"; ln -s "$T/real.json" "$HOME/.claude.json"
  [[ $("$garth" run -t t -- claude) == claude-json ]]
  [[ -z $(ls "$T/planted") ]]
}

@test "T4 agents: who is resumed keeps the options that it was run with, and no prompt" {
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

@test "J5 agents: a model that the user's variables name is reached without a flag, and nothing beside it" {
  agent claude 'true'
  ANTHROPIC_BASE_URL=https://llm.example:8443/v1 OPENAI_BASE_URL=https://other.example DB_HOST=db.example "$garth" run -q -t a -e DB_HOST -- claude
  [[ $("$garth" show a --json | json 'd["network"]["hosts"]') == *'"llm.example:8443"'* && $("$garth" show a --json | json 'd["network"]["hosts"]') != *@(other|db).example* ]] || complain "$("$garth" show a)"
  ANTHROPIC_BASE_URL=https://llm.example "$garth" run -q -t n --net none -- claude; [[ $("$garth" show n) == *'network    none'* ]]
  agent codex 'true'; call "$garth" run -t c -- codex exec x; [[ $err == *"codex brings a sandbox of its own"* ]] || complain
  call "$garth" run -t d -- codex exec --yolo x; [[ $err != *sandbox* ]] || complain
  mkdir -p "$HOME/.codex"; echo 'sandbox_mode = "danger-full-access"' >"$HOME/.codex/config.toml"; call "$garth" run -t e -- codex exec x; [[ $err != *sandbox* ]] || complain
}
