# The repository's layer of the configuration: .garth.yaml of the commit that a task starts from.
load helpers

config() { mkdir -p "$XDG_CONFIG_HOME/garth"; cat >"$XDG_CONFIG_HOME/garth/config.yaml"; }
# The repository's file, committed.
settings() { cat >"$R/.garth.yaml"; git -C "$R" add .garth.yaml; git -C "$R" commit -qm settings; }

@test "O2 layers: each value is shown with the file, line and column that it comes from" {
  echo 'snapshot: {every: 20}' >"$T/system.yaml"; export GARTH_SYSTEM_CONFIG=$T/system.yaml
  config <<<$'limits:\n  max_files: 5000\njail:\n  env: [MY_VAR]'
  settings <<<$'limits:\n  max_files: 500\n\npolicy:\n  protected:\n    - db/**'
  at=.garth.yaml@$(git rev-parse --short=7 HEAD)
  call "$garth" config
  [[ $code == 0 && -z $err ]] || complain
  grep -xE '  mode: allow +# built-in' <<<"$out"
  grep -xE "  every: 20 +# $T/system.yaml:1:12" <<<"${out//\~/$HOME}"
  grep -xE "  max_files: 500 +# $at:2:3" <<<"$out"
  grep -xE "    - \"db/\*\*\" +# $at:6:7|    - db/\*\* +# $at:6:7" <<<"$out"
  grep -xE '    - MY_VAR +# ~/.config/garth/config.yaml:4:9' <<<"$out"
  [[ $(wc -L <<<"$(grep -vE 'agents|"(/etc|~)/|set -- |"for a; do' <<<"$out")") -lt 120 ]] || complain
  # the origins begin in one column
  [[ $(grep -E '^.{,42} +# built-in' <<<"$out" | sed 's/#.*//' | awk '{print length}' | sort -u) == 44 ]] || complain
  "$garth" config --json | json '[d["origins"]["limits.max_files"], d["origins"]["jail.env"][-1], d["origins"]["jail.env"][0], d["config"]["commit"], d["config"]["system_file"]]' |
    grep -xF "[\"$at:2:3\", \"$XDG_CONFIG_HOME/garth/config.yaml:4:9\", \"built-in\", \"$(git rev-parse HEAD)\", \"$T/system.yaml\"]"
}

@test "O2 layers: garth config KEY prints one value, and names the nearest key for an unknown one" {
  settings <<<$'workspace: {setup: [[npm, ci], make]}\nlimits: {max_files: 500}'
  [[ $("$garth" config limits.max_files) == 500 ]]
  [[ $("$garth" config workspace.setup) == $'npm ci\nmake' ]]
  [[ $("$garth" config policy.author) == "" ]]
  [[ $("$garth" config git.fetch) == false ]]
  [[ $("$garth" config agents.codex.programs) == $'codex\ncodex-acp' ]]
  "$garth" config --json limits.max_files | json '[d["key"], d["value"], d["origin"][:11]]' | grep -xF '["limits.max_files", 500, ".garth.yaml"]'
  fails 3 "there is no key 'limits.max_fils' (is 'limits.max_files' meant?)" "$garth" config limits.max_fils
  # elsewhere there is no such layer
  cd /
  [[ $("$garth" config limits.max_files) == 10000 ]]
}

@test "O2 layers: the output can be read as a file, whatever a repository wrote" {
  printf 'workspace:\n  setup: ["a\\tb\\x01 \\"q\\" \\u202e", [x, "y z"], "two\\nlines"]\n  include: ["!*.o"]\n' | settings
  "$garth" config >"$T/own.yaml"
  LC_ALL=C not grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae' "$T/own.yaml"
  "$garth" config --json | json 'd["config"]["workspace"]' >"$T/one"
  cd /
  GARTH_CONFIG=$T/own.yaml "$garth" config --json | json 'd["config"]["workspace"]' >"$T/two"
  cmp "$T/one" "$T/two"
}

@test "O2 layers: the rules of the repository's file hold in every process of a task" {
  settings <<<$'network: {mode: none}\npolicy: {protected: [db/**], rewrite: refuse}\nlimits: {max_files: 2, max_open_files: 77, max_disk: 1GB}\ntask: {on_dirty: commit}\nmerge: {strategy: squash, keep: true}'
  call "$garth" run -t t -- sh -c 'ulimit -n; mkdir db; echo x >db/x; git add -A; git commit -qm db; echo'
  [[ $out == 77* ]] || complain
  # the file asks for `commit`; the user's value is stricter, and stays
  [[ $(field t on_dirty) == fail || $(sqlite3 -readonly "$GARTH_HOME/garth.db" 'SELECT on_dirty FROM task') == fail ]]
  [[ $("$garth" show t --json | json 'd["network"]["mode"]') == none ]]
  [[ $("$garth" show t --json | json '[d["limits"]["max_files"]["limit"], d["limits"]["max_disk"]["limit"]]') == '[2, 1073741824]' ]]
  "$garth" show t --jail >"$T/jail"
  grep -q 77 "$T/jail"
  # the gateway: publishing
  [[ $(git rev-parse garth/t) == "$(git rev-parse main)" ]]
  call inside t 'git reset -q; rm -rf db; for i in 1 2 3; do echo $i >f$i; done; git add -A; git commit -m many'
  [[ $err == *'the task adds more than 2 files'* ]] || complain
  # the merge: squashed, and kept
  "$garth" discard -fD t
  "$garth" new m
  inside m 'echo 1 >>a.txt; git commit -qam 1; echo 2 >>a.txt; git commit -qam 2'
  "$garth" merge m
  [[ $(git rev-list --count HEAD~1..HEAD) == 1 ]]
  [[ $(git log -1 --format=%P | wc -w) == 1 ]]
  [[ $(state_of m) == merged ]]
}

@test "O2 layers: options and a task file override the repository's file" {
  settings <<<$'network: {mode: none}\nlimits: {max_files: 2}\ntask: {on_dirty: fail}'
  "$garth" run -q --net allow --allow example.org -t a -- true
  [[ $("$garth" show a --json | json 'd["network"]["mode"]') == allow ]]
  printf 'name: b\nagent: {project_dir: app, command: [sh, -c, "echo x >x"]}\nlimits: {max_files: 30}\ntask: {on_dirty: keep}\n' >"$T/home/src/task.yaml"
  "$garth" run -q "$T/home/src/task.yaml"
  [[ $("$garth" show b --json | json '[d["limits"]["max_files"]["limit"], d["state"]]') == '[30, "done"]' ]]
  [[ $("$garth" show b --json | json 'd["network"]["mode"]') == none ]]
}

@test "O2 ESCAPES layers: a task keeps the rules that it was made with, whatever is committed or written later" {
  settings <<<$'policy: {protected: [db/**]}'
  "$garth" new t
  git rm -q .garth.yaml; git commit -qm 'no rules'
  call inside t 'rm .garth.yaml; mkdir db; echo x >db/x; git add db; git commit -m db'
  [[ $err$out == *'db/x'* ]] || complain
  not git cat-file -e garth/t:db/x
  # control: a new task does not have them
  "$garth" new u
  inside u 'mkdir db; echo x >db/x; git add db; git commit -qm db'
  git cat-file -e garth/u:db/x
}

@test "O2 ESCAPES layers: an agent cannot publish a change of .garth.yaml" {
  settings <<<$'limits: {max_files: 100}'
  "$garth" new t
  call inside t 'echo "limits: {max_files: 5}" >.garth.yaml; git commit -am loosen'
  [[ $err$out == *'.garth.yaml'* ]] || complain
  [[ $(git rev-parse garth/t) == "$(git rev-parse main)" ]]
  "$garth" allow --path t .garth.yaml
  inside t 'git commit -qam settings'
  [[ $(git show garth/t:.garth.yaml) == *'max_files: 5}' ]]
}

@test "O2 ESCAPES layers: a repository cannot loosen any wall: what is refused, with line and column, and nothing is made" {
  for line in 'jail: {tools: [.x]}' 'jail: {allow_read: [/srv]}' 'jail: {env: [SECRET]}' 'network: {allow: [evil.example]}' \
    'policy: {allow: [.envrc]}' 'policy: {identity: forced}' 'policy: {author: "A <a@b>"}' 'limits: {log_size: 1}' \
    'workspace: {backend: worktree}' 'notify: {command: [true]}' 'notify: {on: []}' 'serve: {port: 1}' \
    'cleanup: {stale_after: 1s}' 'agents: {claude: {env: [SECRET]}}' 'agents: {x: {login: [.x]}}' \
    'git: {operations: {push: local}}' 'agent: {command: [x]}' 'limits: {check_every: 1000}'; do
    git commit -q --allow-empty -m x; settings <<<"$line"
    call "$garth" new t
    [[ $code == 2 ]] || complain "$line"
    [[ $err =~ ^'✗ .garth.yaml@'[0-9a-f]{7}:1:[0-9]+:' ' ]] || complain "$line"
  done
  [[ -z $("$garth" ls -q) ]]
}

@test "O2 ESCAPES layers: a value that is not stricter is ignored, with a warning" {
  settings <<<$'network: {mode: host}\nlimits: {max_files: 99999, max_processes: 0}\ntask: {on_dirty: keep}\nsync: {pause_on_conflict: false}\ngit: {fetch: true}'
  call "$garth" run -t t -- cat /proc/net/route
  [[ $code == 0 ]] || complain
  [[ $(grep -c '^▲ .garth.yaml@' <<<"$err") == 6 ]] || complain
  [[ $err == *"'network.mode' stays 'allow': a repository's file can only make it stricter"* ]] || complain
  [[ $("$garth" show t --json | json 'd["network"]["mode"]') == allow ]]
  "$garth" config --json 2>/dev/null | json '[d["config"]["limits"]["max_files"], d["config"]["limits"]["max_processes"], d["config"]["task"]["on_dirty"], d["config"]["sync"]["pause_on_conflict"], d["config"]["git"]["fetch"], len(d["warnings"])]' |
    grep -xF '[10000, 4096, "fail", true, false, 6]'
}

@test "O2 ESCAPES layers: a file that is not committed has no effect, and the user is told" {
  echo 'jail: {env: [SECRET]}' >.garth.yaml
  call "$garth" new t
  [[ $code == 0 ]] || complain
  [[ $err == *"▲ uncommitted changes of .garth.yaml are not in force"* ]] || complain
  call "$garth" config limits.max_files
  [[ $out == 10000 && $err == "▲ uncommitted changes of .garth.yaml are not in force" ]] || complain
  settings <<<'limits: {max_files: 7}'
  call "$garth" config limits.max_files
  [[ $out == 7 && -z $err ]] || complain
  echo 'limits: {max_files: 9000}' >.garth.yaml
  for c in 'config limits.max_files' trust; do
    call "$garth" $c
    [[ $err == "▲ uncommitted changes of .garth.yaml are not in force"* ]] || complain
  done
  [[ $("$garth" config limits.max_files) == 7 ]]
  rm .garth.yaml; mkfifo .garth.yaml
  [[ $(timeout 10 "$garth" config limits.max_files) == 7 ]]
  rm .garth.yaml; git checkout -q .garth.yaml
  # the commit that a task starts from counts, not HEAD
  "$garth" new old --base HEAD~1
  [[ $("$garth" show old --json | json 'd["limits"]["max_files"]["limit"]') == 10000 ]]
}

@test "O2 ESCAPES layers: a symbolic link, a directory, a huge file and a YAML bomb are refused" {
  echo 'limits: {max_files: 7}' >"$T/own.yaml"
  ln -s "$T/own.yaml" .garth.yaml; git add .garth.yaml; git commit -qm link
  fails 4 "'.garth.yaml' is not a file in the commit" "$garth" new t
  git rm -q .garth.yaml; mkdir .garth.yaml; echo x >.garth.yaml/x; git add .garth.yaml; git commit -qm dir
  fails 4 "'.garth.yaml' is not a file in the commit" "$garth" new t
  git rm -rq .garth.yaml; head -c 1200000 /dev/zero | tr '\0' '#' | settings
  fails 4 "'.garth.yaml' is larger than" "$garth" new t
  head -c 66000000 /dev/zero | tr '\0' '#' | settings
  call "$garth" new t
  [[ $code != 0 && $err == '✗ '* ]] || complain
  printf 'a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n' | settings
  fails 2 "anchors are not allowed" "$garth" new t
  printf '%0.s[' {1..100000} | settings
  fails 2 "nested more than" "$garth" new t
  printf 'limits: {max_files: 1}\nlimits: {max_files: 2}\n' | settings
  fails 2 ":2:1: key 'limits' appears twice" "$garth" new t
  printf 'limits:\n\x1b]0;owned\x07: 1\n' | settings
  call "$garth" new t
  [[ $code == 2 && $err != *$'\x1b'* ]] || complain
  [[ -z $("$garth" ls -q) ]]
}

@test "O2 layers: garth run with a prompt starts the default agent" {
  mkdir -p "$HOME/.local/bin"; printf '#!/bin/sh\necho agent "$@"\n' >"$HOME/.local/bin/myagent"; chmod +x "$HOME/.local/bin/myagent"
  fails 127 "no command is given" "$garth" run
  config <<<$'agents: {mine: {programs: [myagent], headless: [myagent, "{prompt}"]}}'
  settings <<<$'agents: {default: mine}'
  PATH=$HOME/.local/bin:$PATH
  [[ $("$garth" run -q -t t 'do it') == 'agent do it' ]]
  settings <<<$'agents: {default: nosuch}'
  call "$garth" run 'do it'
  [[ $code == 3 && $err == *".garth.yaml@"*":1:10: there is no agent 'nosuch'"* ]] || complain
  [[ $(state_of t) == done ]]
}

@test "O2 layers: no further git process if the commit has no .garth.yaml, and the layers of one task do not reach another" {
  "$garth" new warm-up
  strace -f -qq -e trace=execve -e signal=none -o "$T/trace" "$garth" new plain 2>/dev/null || skip "strace does not work here"
  not grep -E '"cat-file"|"ls-tree"' "$T/trace"
  # merging two tasks with one command: one has the strategy of its repository's file, the other has none
  inside plain 'echo 1 >>a.txt; git commit -qam 1; echo 2 >>a.txt; git commit -qam 2'
  settings <<<'merge: {strategy: squash}'
  "$garth" new squashed
  inside squashed 'echo 1 >>dir/b.txt; git commit -qam 1; echo 2 >>dir/b.txt; git commit -qam 2'
  "$garth" merge squashed plain
  [[ $(git log --format=%P -1 | wc -w) == 2 ]]
}
