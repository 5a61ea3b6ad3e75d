load helpers

# program PATH SCRIPT: an executable file.
program() { mkdir -p "${1%/*}"; printf '#!/bin/sh\n%s\n' "$2" >"$1"; chmod +x "$1"; }

@test "T1 compare: one prompt for several agents makes a task each, from one commit; compare shows them with a check" {
  local a; for a in claude codex; do program "$HOME/.local/bin/$a" 'echo "$0" >>a.txt; git commit -qam "by ${0##*/}"'; done
  PATH=$HOME/.local/bin:$PATH
  call "$garth" run --agents claude,codex 'fix the login'
  [[ $out == $'fix-the-login-claude\nfix-the-login-codex' ]] || complain
  [[ $code == 0 ]] || complain
  eventually is_state fix-the-login-claude done; eventually is_state fix-the-login-codex done
  [[ $(field fix-the-login-claude base) == "$(field fix-the-login-codex base)" ]]
  [[ $(field fix-the-login-claude target) == main ]]
  call "$garth" compare --check 'echo looked; git log -1 --format=%s | grep -q codex' fix-the-login-claude fix-the-login-codex
  [[ $out == *'fix-the-login-claude '*claude*done*'1  +1 '*'exit 1'*looked*'fix-the-login-codex '*codex*done*ok*'by codex'* ]] || complain
  [[ $code == 0 ]] || complain
  [[ $("$garth" compare --json fix-the-login-claude fix-the-login-codex | json '[t["diff"]["insertions"] for t in d["tasks"]]') == '[1, 1]' ]]
  [[ $("$garth" compare --json --check 'exit 3' fix-the-login-claude fix-the-login-codex | json 'd["tasks"][1]["check"]["exit_code"]') == 3 ]]
  # a second time, and with a name
  [[ $("$garth" run -q --agents codex 'fix the login') == fix-the-login-codex-2 ]]
  [[ $("$garth" run -q -t mine --agents codex 'fix the login') == mine-codex ]]
  [[ $("$garth" run -q -t j --json --agents claude,codex 'fix' | json '[t["name"] for t in d["tasks"]]') == '["j-claude", "j-codex"]' ]]
  local t; for t in fix-the-login-codex-2 mine-codex j-claude j-codex; do eventually is_state "$t" done; done
  changes_nothing 3 "there is no agent 'nobody'" "$garth" run --agents claude,nobody 'fix it'
  changes_nothing 127 "agent 'gemini' is not installed" "$garth" run --agents claude,gemini 'fix it'
  changes_nothing 2 "--agents takes one prompt" "$garth" run --agents claude,codex -- make test
  fails 3 "no task" "$garth" compare fix-the-login-claude nothing
}
