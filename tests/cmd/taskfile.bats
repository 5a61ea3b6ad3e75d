load helpers

file() { cat >"$T/home/task.yaml"; }

@test "T5 task file: what it names is run, relative to the file, from any directory" {
  git branch older; echo 2 >b; commit b
  cat >"$R/../task.yml" <<E
name: login
agent:
  project_dir: $(basename "$R")
  command: [sh, -c, 'echo "\$0 \$WHO \$OTHER"; ls; exit 7', "{session}"]
  env: [WHO]
base: older
backend: worktree
network: {mode: none}
E
  cd /
  WHO=me OTHER=you run "$garth" run -q "$R/../task.yml"
  [[ $status == 7 ]] || {
    echo "$output"
    false
  }
  [[ ${lines[0]} =~ ^[0-9a-f-]{36}\ me\ *$ ]] || {
    echo "$output"
    false
  }
  [[ ${lines[1]} == a.txt ]] || {
    echo "$output"
    false
  }
  [[ $output != *$'\nb'* ]] || {
    echo "$output"
    false
  }
  "$garth" ls --json | python3 -c '
import json, sys
t = json.load(sys.stdin)["tasks"][0]
assert t["name"] == "login" and t["backend"] == "worktree", t'
  [[ $("$garth" show login) == *'network    none'* ]]
}

@test "T5 task file: its policy applies to the task's whole life, and to that task alone" {
  file <<E
agent: {project_dir: $R, command: ["true"]}
name: small
limits: {max_files: 2}
policy: {protected: ["docs/**"]}
E
  "$garth" run -q "$T/home/task.yaml"
  run inside small 'mkdir docs; echo x >docs/x; git add docs; git commit -qm docs'
  [[ $status != 0 ]]
  [[ $output == *"'docs/x' is protected"* ]]
  run inside small 'git reset -q --hard; for i in 1 2 3; do echo $i >f$i; done; git add .; git commit -qm many'
  [[ $status != 0 ]]
  [[ $output == *BLOCKED* ]]
  "$garth" new free
  inside free 'for i in 1 2 3; do echo $i >f$i; done; mkdir docs; echo x >docs/x; git add .; git commit -qm many'
}

@test "T5 task file: no word may follow it, and no option is taken for a host" {
  echo 'agent: {command: [true]}' >"$T/f.yaml"
  changes_nothing 2 "is a task file, and nothing can follow it" "$garth" run "$T/f.yaml" --net none
  changes_nothing 2 "'--task' is not a host" "$garth" run --allow --task w -- true
}

@test "T5 task file: the command line overrides it" {
  file <<<"{name: one, agent: {project_dir: $R, command: [sh, -c, 'exit 0']}, backend: worktree}"
  "$garth" run -q --task two --backend overlay "$T/home/task.yaml"
  "$garth" ls --json | grep -q '"name": "two"'; "$garth" ls --json | grep -q '"backend": "overlay"'
}

@test "T5 task file: errors name the file, the line and the column, and nothing is made" {
  local text where words
  while IFS='|' read -r text where words; do
    printf "$text" >"$T/home/task.yaml"
    changes_nothing 2 "task.yaml:$where" "$garth" run "$T/home/task.yaml"
    [[ $err == *"$words"* ]] || complain "not '$words'"
  done <<'E'
name: x\nagent: {comand: [a]}\n|2:9|'command' meant
agent:\n  project_dir: .\n  command: make\n|3:12|a list of words
agent: {project_dir: ., command: []}\n|1:34|a list of words
agent: {project_dir: .}\n|1:1|'agent.command' is missing
agent: {project_dir: ., command: [a]}\ntimeout: soon\n|2:10|a time
agent: {project_dir: ., command: [a]}\ntimeout: 0\n|2:10|above 0
agent: {project_dir: ., command: [a]}\nbackend: cloud\n|2:10|'overlay'
agent: {project_dir: ., command: [a]}\nlimits: {max_file: 3}\n|2:10|max_files
agent: {project_dir: ., command: [a]}\npusch: main\n|2:1|'push' meant
[a, b]\n|1:1|mapping
name: &a x\n|1:7|anchor
E
  changes_nothing 3 "no task file" "$garth" run nowhere.yaml
  file <<<'agent: {project_dir: not/there, command: [a]}'
  changes_nothing 3 "not/there', the agent.project_dir" "$garth" run "$T/home/task.yaml"
}

@test "T1 task file: a task that exceeds its timeout is stopped, keeps its workspace, and can be resumed" {
  file <<E
name: slow
agent:
  project_dir: $R
  command: [sh, -c, 'echo work >w; exec sleep 100']
  resume: [sh, -c, 'cat w; git add w; git commit -qm w']
timeout: 1s
E
  SECONDS=0
  run "$garth" run -q "$T/home/task.yaml"
  ((SECONDS < 60))
  [[ $status == 143 ]]
  [[ $(state_of slow) == failed ]]
  [[ $("$garth" show slow) == *'its time was up'* ]]
  run "$garth" resume -q slow
  [[ $status == 0 ]]
  [[ $output == work ]]
  [[ $(git show garth/slow:w) == work ]]
}

@test "T5 task file: the schema for editors is valid and has every key" {
  "$garth" config --schema >"$T/schema"
  python3 - "$T/schema" <<'E'
import json, sys
s = json.load(open(sys.argv[1]))["$defs"]["task"]
p = s["properties"]
assert s["additionalProperties"] is False and s["required"] == ["agent"]
assert p["agent"]["properties"]["command"]["items"] == {"type": "string"}
assert p["backend"]["enum"] == p["workspace"]["properties"]["backend"]["enum"]
assert "max_files" in p["limits"]["properties"] and "hosts" in p["agents"]["additionalProperties"]["properties"]
E
}

@test "T5 task file: without project_dir there is no repository and no branch: an empty workspace, the same walls" {
  file <<'E'
name: e
agent:
  command: [sh, -c, 'ls -A; git rev-parse 2>&1; cat ~/../secret ~/secret 2>&1; echo result >out; mkdir d; echo x >d/x']
E
  echo SECRET >"$T/home/secret"
  cd /
  call "$garth" run "$T/home/task.yaml"
  [[ $code == 0 ]] || complain
  [[ $out == 'fatal: not a git repository'* ]] || complain
  [[ $out != *SECRET* ]] || complain
  [[ $(state_of e) == done ]] || complain
  [[ $(field e branch) == null ]]
  [[ $(field e note) == null ]]
  at "$R" git for-each-ref refs/heads/garth refs/garth | grep . && false
  # whatever is configured for work that is not committed
  echo 'task: {on_dirty: commit}' >"$T/config.yaml"
  call env GARTH_CONFIG="$T/config.yaml" "$garth" run --empty --task c -- sh -c 'echo x >x'
  [[ $code == 0 ]] || complain
  [[ $(state_of c) == done ]] || complain
  [[ $(field c on_dirty) == keep ]] || complain
  # what it leaves can be looked at, taken, continued, packed away and brought back, and is not lost
  "$garth" diff e | grep -q '^+result'
  "$garth" export e "$T/taken"
  [[ $(<"$T/taken/out") == result ]]
  [[ $(<"$T/taken/d/x") == x ]]
  fails 4 "has the only copy" "$garth" discard e
  "$garth" archive e >/dev/null; "$garth" undo e; [[ $(inside e 'cat out') == result ]]
  "$garth" discard -f e; "$garth" undo e; [[ $(inside e 'cat d/x') == x ]]
  local c
  for c in "merge e" "push e main" "sync e" "publish e" "snapshot e" "rollback e --full"; do
    changes_nothing 4 "task 'e' has no repository" "$garth" $c
    [[ $(hint) == 'garth export e DIR' ]]
  done
  "$garth" run --empty --task two -q -- sh -c 'git init -q . && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m own && git log --oneline | wc -l'
  fails 2 "without a repository" "$garth" run --empty --base HEAD -- true
  "$garth" audit --verify
}

@test "T5 task file: errors that are found later have line and column too" {
  at() { printf '%s\n' "${@:2}" >"$T/home/w.yaml"; call "$garth" run "$T/home/w.yaml"; [[ $code != 0 && $err == *"w.yaml:$1"* ]] || complain "$2"; }
  command='agent: {project_dir: '"$R"', command: [true]}'
  at "1:7: 'name': " 'name: Not A Name' "$command"
  at '2:7: ' "$command" 'push: "+main"'
  at '2:7: base: ' "$command" 'base: nosuch'
  at '1:22: cannot open' 'agent: {project_dir: ./nowhere, command: [true]}'
  at "2:7: 'base' is for a task with a repository" 'agent: {command: [true]}' 'base: main'
  at "2:7: 'push' is for a task with a repository" 'agent: {command: [true]}' 'push: main'
  [[ $("$garth" ls --json | json 'd["tasks"]') == '[]' ]]
  # a file without a project is as good as any, also to an editor
  [[ $("$garth" config --schema | python3 -c 'import json, sys; print(json.load(sys.stdin)["$defs"]["task"]["properties"]["agent"]["required"])') == "['command']" ]]
}

@test "T5 taskfile: a project_dir below the top is where the command starts; --cwd, --timeout and --limit count more" {
  printf 'name: t\nagent: {project_dir: "%s", command: [cat, c.txt]}\n' "$R/dir/sub" >"$T/t.yaml"
  [[ $(cd / && "$garth" run "$T/t.yaml") == three ]]
  printf 'name: u\ntimeout: 1h\nlimits: {max_files: 7}\nagent: {project_dir: "%s", command: [sh, -c, "cat b.txt; sleep 30"]}\n' "$R" >"$T/u.yaml"
  call timeout 20 "$garth" run --cwd dir --timeout 1s --limit max_files=9 "$T/u.yaml"
  [[ $out == two ]] || complain
  [[ $err == *"stopped when its time was up"* ]] || complain
  "$garth" show u | grep -F '0 of 9 files'
}
