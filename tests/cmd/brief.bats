load helpers

# member NAME: of the JSON object on stdin.
member() { python3 -ISc 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

@test "A1 brief: where the task is, what is allowed and forbidden, and how to ask; at most 60 lines" {
  "$garth" new t
  call "$garth" brief t
  [[ $out == *'## Worktree Isolation'* ]] || complain
  [[ $out == *"- Workspace: \`$R\`"* ]] || complain
  [[ $out == *'- Branch: `garth/t`'*'merges it into `main`'* ]] || complain
  [[ $out == *'**ALLOWED**'*'**FORBIDDEN**'*'### Common mistakes'*'### When something outside is needed'* ]] || complain
  [[ $(wc -l <<<"$out") -le 60 ]] || complain
  [[ $("$garth" brief t --json | json 'd["brief"].splitlines()[0]') == '## Worktree Isolation' ]]
  # the same inside, and not a byte of it in the workspace
  [[ $(inside t garth brief) == "$out" ]] || complain
  [[ -z $(inside t git status --porcelain --ignored) ]]
}

@test "A1 J5 brief: it is true for the task's network, rules and limits" {
  printf 'jail:\n  deny_read: [secrets/**]\nlimits:\n  max_commits: 7\n' | configure
  "$garth" run -t allow --allow example.com -- true
  "$garth" run -t none --net none -- true
  "$garth" run -t host --net host -- true
  [[ $("$garth" brief allow) == *'Reach these hosts'*'`example.com`'*'- Any other host, and DNS'* ]]
  [[ $("$garth" brief allow) == *'`secrets/**`'* ]]
  [[ $("$garth" brief allow) == *' 7 commits.'* ]]
  [[ $("$garth" brief none) == *'- The network: '* ]]
  [[ $("$garth" brief none) != *example.com* ]]
  [[ $("$garth" brief host) == *'- Use the network.'* ]]
  [[ $("$garth" brief host) != *'- The network: '* ]]
}

@test "A1 brief: a task without a repository has no branch in it; a worktree is at its own path" {
  printf 'name: empty\nagent:\n  command: ["true"]\n' >"$T/empty.yaml"
  "$garth" run "$T/empty.yaml"
  [[ $("$garth" brief empty) != *Branch:* ]]
  "$garth" new w --backend worktree
  [[ $("$garth" brief w) == *"- Workspace: \`$GARTH_HOME/worktrees/w\`"* ]]
}

@test "A8 inside: garth has the commands that an agent may use, and refuses the others with a reason" {
  "$garth" new t
  [[ $(inside t garth) == *'garth ask QUESTION'* ]]
  [[ $(inside t garth status) == *$'task       t\n'*$'branch     garth/t\n'*$'target     main\n'* ]]
  for words in merge 'discard t' 'run -- true' exec undo config serve 'push t' nonsense; do
    call inside t "garth $words"
    [[ $code == 4 ]] || complain
    [[ $err == *"BLOCKED: that is the user's to do, outside the task"* ]] || complain
  done
  inside t 'echo 2 >>a.txt; git -c core.hooksPath=/nowhere commit -qam two; garth publish' >/dev/null
  [[ $(git log -1 --format=%s garth/t) == two ]]
  inside t 'garth snapshot "tests pass"'
  [[ $("$garth" show t) == *'tests pass'* ]]
}

@test "A8 T4 inside: garth ask blocks the task, with options; wrong usage is reported" {
  call "$garth" run -t t -- sh -c 'garth ask "Which database?" sqlite "post gres"'
  [[ $code == 6 ]] || complain
  [[ $("$garth" show t) == *'Which database?'*sqlite*'post gres'* ]]
  call inside t 'garth ask'
  [[ $code == 2 ]] || complain
  call inside t 'garth ask ""'
  [[ $code == 2 ]] || complain
}

@test "A1 A5 brief: each agent gets the brief where it looks for it, with nothing in the repository; a new agent by configuration" {
  printf 'agents:\n  mine:\n    programs: [sh]\n    set: [MINE=1, TERM=dumb]\n    files: ["/etc/mine/a.md=# {brief}", "/etc/mine/b.json={\\"x\\":{brief_json},\\"f\\":\\"{brief_file}\\"}"]\n' | configure
  "$garth" new t
  brief=$("$garth" brief t)
  [[ $(inside t 'cat /etc/claude-code/CLAUDE.md') == "$brief" ]]
  [[ $(inside t 'cat /run/garth/brief.md') == "$brief" ]]
  [[ $(inside t 'cat /etc/mine/a.md') == "# $brief" ]]
  [[ $(inside t 'cat /etc/mine/b.json' | member x | sed -n 1p) == '## Worktree Isolation' ]]
  [[ $(inside t 'cat /etc/mine/b.json' | member f) == /run/garth/brief.md ]]
  inside t 'cat /etc/codex/config.toml' | python3 -c 'import sys, tomllib; d = tomllib.load(sys.stdin.buffer); assert d["sandbox_mode"] == "danger-full-access"; assert "Worktree Isolation" in d["developer_instructions"]'
  [[ $(inside t 'cat /etc/opencode/opencode.json' | member instructions) == "['/run/garth/brief.md']" ]]
  not inside t 'echo x >>/etc/claude-code/CLAUDE.md'
  [[ -z $(inside t 'git status --porcelain --ignored') ]]
  # variables: what the user has set, or gives as an option, wins
  [[ $(TERM=xterm "$garth" exec t -- sh -c 'echo $MINE $TERM') == '1 xterm' ]]
  [[ $("$garth" exec -e MINE=2 t -- sh -c 'echo $MINE') == 2 ]]
  not grep -q ^MINE= <<<"$("$garth" exec t -- env)"
  for wrong in '/etc/passwd=x' '/etc/../x/y=z' '/tmp/x/y=z' '/etc/x/y'; do
    printf 'agents:\n  mine:\n    files: ["%s"]\n' "$wrong" | configure
    fails 2 "agents.mine.files" "$garth" ls
  done
}
