load helpers

# Fakes of the clients, as shell scripts with the shapes of real installations: tests/agents/plan.py runs the real ones.

# program PATH SCRIPT: an executable file.
program() { mkdir -p "${1%/*}"; printf '#!/bin/sh\n%s\n' "$2" >"$1"; chmod +x "$1"; }

@test "ESCAPES 1 A5 clients: an agent's program in a directory that tasks do not see is found and shown, alone and read-only" {
  program "$HOME/custom/bin/claude" 'echo "ran $0"; ls ~/custom/bin; echo x >>"$0" || echo closed'
  program "$HOME/custom/bin/other" 'true'; echo s >"$HOME/custom/secret"
  PATH=$HOME/custom/bin:$PATH
  call "$garth" run -q -t a -- claude
  [[ $out == "ran $HOME/custom/bin/claude"$'\nclaude\nclosed' ]] || complain
  call "$garth" run -q -t b -- "$HOME/custom/bin/claude"
  [[ $out == "ran $HOME/custom/bin/claude"$'\nclaude\nclosed' ]] || complain
  # the first one in PATH is run, as outside, although another one is shown
  program "$HOME/.local/bin/claude" 'echo other'; PATH=$PATH:$HOME/.local/bin
  [[ $("$garth" run -q -t c -- claude) == ran* ]]
  # a command that is no agent is refused, with the line that shows it
  fails 127 "program 'other' is '$HOME/custom/bin/other', which a task is not shown" "$garth" run -- other
  # a script that starts it
  program "$HOME/.local/bin/start" 'exec ~/custom/bin/claude'
  [[ $("$garth" run -q -t s --agent claude -- start) == ran* ]]
  # in a task without a repository, and in one that was stopped
  [[ $("$garth" run -q --empty -t d -- claude) == ran* ]]
  "$garth" new e; [[ $("$garth" exec e -- claude) == ran* ]]
  # in one that runs without it, the line is named
  rm "$HOME/.local/bin/claude"; "$garth" run -q -d -t f -- sleep 600
  call "$garth" exec f -- claude
  [[ $code == 127 ]] || complain
  [[ $err == *"program 'claude' is '$HOME/custom/bin/claude', which task 'f' is not shown: it was started without it"* ]] || complain
  [[ $(hint) == 'jail: {tools: [custom/bin]}'* ]] || complain
  "$garth" cancel f
}

@test "A5 clients: an agent's package is shown with it: an npm package, a virtual environment, a directory" {
  # an npm prefix: bin/codex is a link, and packages use each other
  program "$T/srv/npm/lib/node_modules/@openai/codex/bin/codex.js" 'cat "$(dirname "$(readlink -f "$0")")/../../../dep/file"; ls '"$T/srv/npm"
  mkdir -p "$T/srv/npm/bin" "$T/srv/npm/lib/node_modules/dep"; echo dep >"$T/srv/npm/lib/node_modules/dep/file"; echo s >"$T/srv/npm/secret"
  ln -s ../lib/node_modules/@openai/codex/bin/codex.js "$T/srv/npm/bin/codex"
  [[ $(PATH=$T/srv/npm/bin:$PATH "$garth" run -q -t a -- codex) == $'dep\nbin\nlib' ]]
  # through a link to a directory
  ln -s "$T/srv/npm" "$HOME/current"; mkdir "$HOME/.local/bin" -p; ln -s "$HOME/current/bin/codex" "$HOME/.local/bin/codex"
  [[ $(PATH=$HOME/.local/bin:$PATH "$garth" run -q -t b -- codex) == dep* ]]
  # Python: the interpreter is in the same environment
  program "$HOME/venvs/goose/bin/goose" ''; printf '#!%s/venvs/goose/bin/sh2 -e\ncat ~/venvs/goose/lib\n' "$HOME" >"$HOME/venvs/goose/bin/goose"
  ln -s /bin/sh "$HOME/venvs/goose/bin/sh2"; echo home = /usr/bin >"$HOME/venvs/goose/pyvenv.cfg"; echo lib >"$HOME/venvs/goose/lib"
  [[ $(PATH=$HOME/venvs/goose/bin:$PATH "$garth" run -q -t c -- goose) == lib ]]
  # a directory of its own
  program "$HOME/.local/share/x/gemini" 'cat "${0%/*}/data"'; echo data >"$HOME/.local/share/x/data"
  [[ $(PATH=$HOME/.local/share/x:$PATH "$garth" run -q -t d -- gemini) == data ]]
  # an interpreter that is hidden too
  program "$HOME/nodes/bin/node" 'echo node ran "$1"'; program "$HOME/stuff/bin/opencode" ''; printf '#!/usr/bin/env node\n' >"$HOME/stuff/bin/opencode"
  [[ $(PATH=$HOME/stuff/bin:$HOME/nodes/bin:$PATH "$garth" run -q -t e -- opencode) == "node ran $HOME/stuff/bin/opencode" ]]
}

@test "ESCAPES 1 J7 A5 clients: a package with a repository, variables or keys in it is not shown, but named with the line that does" {
  program "$HOME/work/agent/cli/claude" 'echo ran'; echo '{}' >"$HOME/work/agent/package.json"; echo KEY=s >"$HOME/work/agent/.env"
  changes_nothing 127 "program 'claude' is '$HOME/work/agent/cli/claude', which a task is not shown: it is in a directory that has more in it than a program" \
    env PATH="$HOME/work/agent/cli:$PATH" "$garth" run -- claude
  [[ $(hint) == "jail: {tools: [work/agent/cli]}    # in $XDG_CONFIG_HOME/garth/config.yaml" ]] || complain
  # beside a key, only the program is shown; in a directory for keys, nothing
  program "$HOME/keys/mine/claude" 'ls "${0%/*}"'; echo k >"$HOME/keys/mine/id_rsa"
  [[ $(PATH=$HOME/keys/mine:$PATH "$garth" run -q -t a -- claude) == claude ]]
  program "$HOME/.ssh/bin/claude" 'true'
  changes_nothing 127 "it holds keys or log-ins" env PATH="$HOME/.ssh/bin:$PATH" "$garth" run -- claude
  program "$HOME/claude" 'ls -A ~'
  [[ $(PATH=$HOME:$PATH "$garth" run -q -t b -- claude) != *@(keys|.ssh|work)* ]]
  # what the user denies stays hidden
  program "$T/no/such/claude" 'true'; echo "jail: {deny_read: [$T/no]}" | configure
  changes_nothing 127 "hidden by jail.deny_read" env PATH="$T/no/such:$PATH" "$garth" run -- claude
}

set_up() {
  mkdir -p "$HOME"/.claude/{commands,skills,hooks,projects} "$HOME/dotfiles/skill" "$HOME/bin2" "$HOME/.ssh"
  echo memory >"$HOME/.claude/CLAUDE.md"; echo cmd >"$HOME/.claude/commands/c.md"; echo skill >"$HOME/dotfiles/skill/SKILL.md"; echo key >"$HOME/.ssh/id"
  echo history >"$HOME/.claude/projects/h"; echo cred >"$HOME/.claude/.credentials.json"
  ln -s ../../dotfiles/skill "$HOME/.claude/skills/s"; ln -s "$HOME/.ssh" "$HOME/.claude/skills/keys"; ln -s "$HOME/.claude/projects" "$HOME/.claude/skills/more"
  program "$HOME/bin2/guard.sh" 'echo guarded'; program "$HOME/bin2/key.sh" 'echo key'; program "$HOME/bin2/status.sh" 'echo status'
  printf '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "\\"$HOME/bin2/guard.sh\\" x; cat /etc/hostname %s"}]}]},
    "statusLine": {"command": "~/bin2/status.sh"}, "apiKeyHelper": "~/bin2/key.sh"}' "$HOME/.ssh/id" >"$HOME/.claude/settings.json"
}

@test "ESCAPES 1 A5 clients: the user's set-up of an agent is shown, read-only: instructions, commands, skills, scripts of hooks" {
  set_up
  program "$HOME/.local/bin/claude" 'cd ~; cat .claude/CLAUDE.md .claude/commands/c.md .claude/skills/s/SKILL.md; bin2/guard.sh; bin2/status.sh
    for f in .claude/CLAUDE.md .claude/commands/new bin2/guard.sh dotfiles/skill/new; do { echo x >$f; } 2>/dev/null && echo "wrote $f"; done; ls -d bin2/* .ssh .claude/projects .claude/skills/keys/id .claude/skills/more/h 2>/dev/null'
  PATH=$HOME/.local/bin:$PATH
  [[ $("$garth" run -q -t a -- claude) == $'memory\ncmd\nskill\nguarded\nstatus\nbin2/guard.sh\nbin2/status.sh' ]]
  [[ $(<"$HOME/.claude/CLAUDE.md") == memory ]]
  # no other command, and no other agent, sees it
  [[ -z $("$garth" run -q -t b -- sh -c 'cat ~/.claude/CLAUDE.md ~/bin2/guard.sh 2>/dev/null') ]]
  program "$HOME/.local/bin/codex" 'cat ~/.claude/CLAUDE.md ~/bin2/guard.sh 2>/dev/null; cat ~/.codex/AGENTS.md'
  mkdir "$HOME/.codex"; echo agents >"$HOME/.codex/AGENTS.md"
  [[ $("$garth" run -q -t c -- codex) == agents ]]
  # a link out of the home is left alone
  rm "$HOME/.claude/CLAUDE.md"; echo far >"$T/far"; ln -s "$T/far" "$HOME/.claude/CLAUDE.md"
  [[ $("$garth" run -q -t d -- claude) != *far* ]]
}

@test "ESCAPES 1 A5 clients: files that arguments name are shown read-only; keys, log-ins and directories are named instead" {
  program "$HOME/.local/bin/claude" 'for f; do f=${f#--*=}; [ -f "$f" ] || continue; cat "$f"; { echo x >"$f"; } 2>/dev/null && echo "wrote $f"; done; true'
  PATH=$HOME/.local/bin:$PATH; mkdir "$HOME/cfg" "$HOME/.ssh" "$HOME/.codex"; echo mcp >"$HOME/cfg/mcp.json"; echo prompt >"$T/home/src/prompt.txt"; echo key >"$HOME/.ssh/id"
  echo auth >"$HOME/.codex/auth.json"; ln -s "$HOME/.ssh/id" "$HOME/cfg/innocent"
  call "$garth" run --on-dirty keep -t a -- claude --mcp-config "$HOME/cfg/mcp.json" --settings="$HOME/cfg/mcp.json" ../prompt.txt a.txt
  [[ $out == $'mcp\nmcp\nprompt\none\nwrote a.txt' ]] || complain
  [[ $(<"$HOME/cfg/mcp.json") == mcp ]]
  call "$garth" run -t b -- claude "$HOME/.ssh/id" "$HOME/cfg/innocent" "$HOME/.codex/auth.json" "$HOME/cfg" "$GARTH_HOME/garth.db"
  [[ -z $out ]] || complain
  [[ $err == *"'$HOME/.ssh/id' is not shown to the task: it holds keys or log-ins"* ]] || complain
  [[ $err == *"'$HOME/cfg/innocent' is not shown to the task: it holds keys or log-ins"* ]] || complain
  [[ $err == *"'$HOME/.codex/auth.json' is not shown to the task: it holds a log-in"* ]] || complain
  [[ $err == *"directory '$HOME/cfg' is not shown to the task; jail: {allow_read: [$HOME/cfg]}"* ]] || complain
  [[ $err == *"garth.db' is not shown to the task"* ]] || complain
  # a command that is not an agent gets no files for its arguments
  call "$garth" run -t c -- cat "$HOME/cfg/mcp.json"
  [[ $code != 0 && -z $out ]] || complain
}

@test "ESCAPES 1 A5 clients: links that came with a plug-in, a skill or a downloaded set of commands show nothing of the home" {
  local d c=$HOME/.claude; mkdir -p "$HOME/papers" "$c"/plugins/marketplaces/m/docs "$c/skills/down" "$c/commands/sub" "$HOME/mine" "$HOME/.gemini/extensions/e"
  echo paper >"$HOME/papers/p"; echo mine >"$HOME/mine/m.md"; echo own >"$c/commands/sub/own.md"
  for d in "$c/plugins/marketplaces/m/x" "$c/plugins/marketplaces/m/docs/x" "$c/skills/down/x" "$HOME/.gemini/extensions/e/x"; do ln -s "$HOME/papers" "$d"; done
  ln -s "$HOME/mine/m.md" "$c/skills/m.md"
  # a set of commands that is a checkout: its author made the links in it
  mkdir "$c/commands/.git"; ln -s ../../papers "$c/commands/x"; ln -s sub/own.md "$c/commands/own.md"
  # a tool server is not a hook, whatever its name
  echo '{"mcpServers": {"notify": {"command": "'"$HOME"'/mine/m.md", "env": {"FILE": "'"$HOME"'/papers/p"}}}}' >"$HOME/.claude.json"
  program "$HOME/.local/bin/claude" 'cd ~; cat papers/p mine/m.md .claude/skills/m.md .claude/commands/own.md 2>/dev/null; true'
  program "$HOME/.local/bin/gemini" 'cat ~/papers/p 2>/dev/null; ls ~/.gemini/extensions/e'
  PATH=$HOME/.local/bin:$PATH
  call "$garth" run -q -t a -- claude
  [[ $out == $'mine\nmine\nown' ]] || complain
  call "$garth" run -q -t b -- gemini
  [[ $out == x ]] || complain
}

@test "ESCAPES 1 A5 clients: a log-in is not shown through another name of its directory, nor are settings in the project" {
  mkdir -p "$HOME/dotfiles/claude/skills" "$HOME/papers"; echo '"cred"' >"$HOME/dotfiles/claude/.credentials.json"; echo paper >"$HOME/papers/p"
  ln -s dotfiles/claude "$HOME/.claude"; ln -s .. "$HOME/dotfiles/claude/skills/up"; ln -s "$HOME/dotfiles" "$HOME/dotfiles/claude/skills/all"
  program "$HOME/.local/bin/claude" 'cat ~/dotfiles/claude/.credentials.json ~/papers/p 2>/dev/null; echo end'
  PATH=$HOME/.local/bin:$PATH
  call "$garth" run -q -t a -- claude
  [[ $out == end ]] || complain
  # the variable leads into the project, whose files anybody may have written
  mkdir -p "$R/cc/skills"; ln -s "$HOME/papers" "$R/cc/skills/x"; echo '{"hooks": {"a": "cat ~/papers/p"}}' >"$R/cc/settings.json"
  CLAUDE_CONFIG_DIR=$R/cc call "$garth" run -q --on-dirty keep -t b -- claude
  [[ $out == end ]] || complain
}

@test "ESCAPES 1 A5 clients: an argument that names a link of the project shows nothing, by whatever path; nor keys in any home" {
  program "$HOME/.local/bin/claude" 'for f; do cat "$f" 2>/dev/null; done; echo end'
  PATH=$HOME/.local/bin:$PATH; echo private >"$HOME/private.json"; mkdir -p "$HOME/dir" "$T/other/.ssh"; echo private >"$HOME/dir/f"; echo key >"$T/other/.ssh/id"
  ln -s "$HOME/private.json" "$R/mcp.json"; ln -s "$HOME/dir" "$R/d"; git add mcp.json d; git commit -qm links
  ln -s "$R" "$HOME/here"
  call "$garth" run -q -t a -- claude mcp.json "$R/mcp.json" "$HOME/here/mcp.json" "$HOME/here/d/f"
  [[ $out == end ]] || complain
  cd "$HOME/here"
  call "$garth" run -q -t b -- claude mcp.json ./mcp.json d/f "$HOME/here/mcp.json"
  [[ $out == end ]] || complain
  call "$garth" run -q -t c -- claude "$T/other/.ssh/id"
  [[ $out == end ]] || complain
  # from another directory, a name still means a file in the workspace
  program "$HOME/.local/bin/claude" "cat '$HOME/private.json' 2>/dev/null; echo end"
  call "$garth" run -q -t d -- claude private.json
  cd "$HOME"; call "$garth" resume -q d
  [[ $out == end ]] || complain
}

@test "A5 clients: CLAUDE_CONFIG_DIR and CODEX_HOME are where log-ins, settings and instructions come from" {
  program "$HOME/.local/bin/claude" 'cat ~/.claude.json ~/.claude/.credentials.json ~/.claude/CLAUDE.md; echo "[$CLAUDE_CONFIG_DIR]"'
  program "$HOME/.local/bin/codex" 'cat ~/.codex/auth.json ~/.codex/AGENTS.md'
  PATH=$HOME/.local/bin:$PATH; mkdir -p "$HOME/cc" "$HOME/cx"
  echo '"json"' >"$HOME/cc/.claude.json"; echo '"cred"' >"$HOME/cc/.credentials.json"; echo memory >"$HOME/cc/CLAUDE.md"; echo '"auth"' >"$HOME/cx/auth.json"; echo agents >"$HOME/cx/AGENTS.md"
  [[ $(CLAUDE_CONFIG_DIR=$HOME/cc "$garth" run -q -t a -- claude) == $'"json"\n"cred"\nmemory\n[]' ]]
  [[ $(CODEX_HOME=$HOME/cx "$garth" run -q -t b -- codex) == $'"auth"\nagents' ]]
  # from another shell, without the variables: they are kept
  rm "$HOME/cc/CLAUDE.md"; echo later >"$HOME/cc/CLAUDE.md"
  [[ $("$garth" resume a 2>/dev/null) == *later* ]]
}

@test "T4 clients: a resumed agent keeps the addresses of its first run, unless the shell has others; never a secret" {
  program "$HOME/.local/bin/claude" 'echo "$ANTHROPIC_BASE_URL $ANTHROPIC_API_KEY"; [ -n "$GARTH_ANSWER" ] || echo "why?" >"$GARTH_QUESTION_FILE"'
  PATH=$HOME/.local/bin:$PATH
  echo 'agents: {claude: {credentials: copy}}' | configure
  ANTHROPIC_BASE_URL=http://localhost:4321 ANTHROPIC_API_KEY=sec-ret "$garth" run -q -t a -- claude || [[ $? == 6 ]]
  [[ $(ANTHROPIC_API_KEY=other "$garth" answer -q a yes) == 'http://localhost:4321 other' ]]
  [[ $("$garth" show a --json | json 'd["network"]["hosts"]') == *localhost:4321* ]]
  not grep -rq sec-ret "$(task_dir a)/again"
  [[ $(ANTHROPIC_BASE_URL=http://localhost:5 ANTHROPIC_API_KEY=other "$garth" resume -q a) == 'http://localhost:5 other' ]]
  ANTHROPIC_BASE_URL=http://u:sec-ret@localhost:4321 "$garth" run -q -t b -- claude || [[ $? == 6 ]]
  not grep -rq sec-ret "$(task_dir b)/again"
}

@test "T4 clients: an agent that was used on a terminal is resumed on a terminal, with the answer if there is one" {
  local a; for a in claude codex gemini opencode goose; do program "$HOME/.local/bin/$a" 'all=; for w in "$@"; do all="$all[$w]"; done; printf "<%s>\n" "$all"; [ -z "$ASK" ] || [ -n "$GARTH_ANSWER" ] || echo "why?" >"$GARTH_QUESTION_FILE"'; done
  PATH=$HOME/.local/bin:$PATH
  on_terminal() { script -qec "$(printf '%q ' "$garth" "$@")" /dev/null </dev/null | tr -d '\r'; }
  back() { out=$(on_terminal resume -q "$1"); [[ $out == *"<$2>"* ]] || complain "$1"; }
  on_terminal run -q -t claude -- claude --model opus 'do it'; back claude '[--model][opus][--continue][--]'
  on_terminal run -q -t codex -- codex 'do it'; back codex '[resume][--last]'
  on_terminal run -q -t gemini -- gemini -i 'do it'; back gemini '[--resume][latest]'
  on_terminal run -q -t opencode -- opencode; back opencode '[--continue]'
  on_terminal run -q -t goose -- goose run --interactive -t x; back goose '[session][--resume]'
  on_terminal run -q -t goo -e ASK=1 -- goose run --model 'a b' --interactive -t x
  out=$(on_terminal answer -q goo yes); [[ $out == *'<[run][--model][a b][--text=yes][--resume][--interactive]>'* ]] || complain
  # an agent that worked unattended continues unattended
  on_terminal run -q -t p -- claude -p 'do it'; back p '[--continue][-p][Go on.]'
  # without a terminal it cannot
  [[ $("$garth" resume -q claude </dev/null) == '<[--model][opus][--continue][-p][Go on.]>' ]]
  on_terminal run -q -t ask -e ASK=1 -- claude 'do it'
  out=$(on_terminal answer -q ask yes); [[ $out == *'<[--continue][--][yes]>'* ]] || complain
  # OpenCode's screen takes no prompt for an old session: it gets the answer first
  on_terminal run -q -t oc -e ASK=1 -- opencode -m 'a b' --auto
  out=$(on_terminal answer -q oc 'yes, do'); [[ $out == *'<[run][-m][a b][--auto][--continue][--][yes, do]>'*'<[-m][a b][--auto][--continue]>'* ]] || complain
  back oc '[-m][a b][--auto][--continue]'
  [[ $out != *'[run]'* ]] || complain
}

@test "A5 clients: refused hosts of statistics and updates are not reported, others are; all are recorded" {
  program "$HOME/.local/bin/claude" 'for h; do curl -s -m 5 "https://$h/" >/dev/null; done; true'
  PATH=$HOME/.local/bin:$PATH
  call "$garth" run -t a -- claude statsig.anthropic.com events.statsig.com
  [[ $err != *statsig* ]] || complain
  [[ $("$garth" show a --json | json 'len(d["network"]["refused"])') == 2 ]]
  echo 'agents: {claude: {quiet_hosts: [quiet.example]}}' | configure
  call "$garth" run -t b -- claude quiet.example loud.example
  [[ $err == *"did not reach loud.example:443: garth allow"* ]] || complain
  [[ $err != *quiet.example* ]] || complain
  # another command may need that host for its work; so may an agent that fetches packages or repositories
  call "$garth" run -t c -- sh -c 'curl -s -m 5 https://quiet.example/; true'
  [[ $err == *"quiet.example:443 is not on the task's list: garth allow"* ]] || complain
  [[ $err == *"did not reach quiet.example:443: garth allow"* ]] || complain
  program "$HOME/.local/bin/codex" 'for h; do curl -s -m 5 "https://$h/" >/dev/null; done; true'
  call "$garth" run -t d -- codex github.com registry.npmjs.org
  [[ $err == *'did not reach github.com:443, registry.npmjs.org:443: garth allow'* ]] || complain
}

@test "A5 clients: an editor's adapter is known as its agent; files of the task home are only for the agent that is run" {
  local a; mkdir -p "$HOME/.codex"; echo '"auth"' >"$HOME/.codex/auth.json"; echo '"json"' >"$HOME/.claude.json"
  program "$HOME/.local/bin/claude-agent-acp" 'cat ~/.claude.json'; program "$HOME/.local/bin/codex-acp" 'cat ~/.codex/auth.json'
  program "$HOME/.local/bin/gemini" 'cat ~/.gemini/policies/* ~/.gemini/extensions/garth/brief.md; echo "$GEMINI_CLI_TRUST_WORKSPACE"'
  PATH=$HOME/.local/bin:$PATH
  [[ $("$garth" run -q -t a -- claude-agent-acp) == '"json"' ]]
  [[ $("$garth" run -q -t b -- codex-acp) == '"auth"' ]]
  mkdir -p "$HOME/.gemini/policies"; echo '# own rule' >"$HOME/.gemini/policies/own.toml"
  out=$("$garth" run -q -t c -- gemini)
  [[ $out == *'decision = "allow"'*'# own rule'*'Worktree Isolation'*true ]] || complain
  not inside a 'ls ~/.gemini'
  # Codex: it overrides the user's own file, for the workspace's path
  [[ $(inside b 'cat /etc/codex/managed_config.toml') == *'approval_policy = "never"'*"[projects.\"$R\"]"* ]]
  [[ $(inside b 'cat /etc/claude-code/managed-settings.d/10-garth.json') == *bypassPermissions* ]]
}
