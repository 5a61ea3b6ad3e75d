load helpers

config() { mkdir -p "$XDG_CONFIG_HOME/garth"; cat >"$XDG_CONFIG_HOME/garth/config.yaml"; }

@test "O3 config: without a file it prints the built-in values, as YAML that it can read" {
  call "$garth" config
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  [[ $out == *'mode: allow'* ]] || complain
  [[ $out == *.cargo/bin* ]] || complain
  "$garth" config >"$T/own.yaml"
  call env GARTH_CONFIG="$T/own.yaml" "$garth" config
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
}

@test "O3 config: --json" {
  "$garth" config --json | json 'd["config"]["network"]["mode"]' | grep -x allow
  "$garth" config --json | json 'd["config"]["file"]' | grep -x null
  "$garth" config --json | json 'd["config"]["agents"]["claude"]["programs"]' | grep -F claude
}

@test "O3 config: the user's file overrides them" {
  config <<<$'workspace:\n  backend: worktree\nnetwork: {mode: host}\nlimits: {log_size: 2MB}\njail:\n  env: [MY_VAR]\n'
  "$garth" config --json | json '[d["config"]["workspace"]["backend"], d["config"]["network"]["mode"], "MY_VAR" in d["config"]["jail"]["env"], "TERM" in d["config"]["jail"]["env"], d["config"]["limits"]["log_size"]]' |
    grep -xE '\["worktree", "host", true, true, 2(000000|097152)\]'
  [[ $("$garth" config --json | json 'd["config"]["file"]') == "$XDG_CONFIG_HOME/garth/config.yaml" ]]
  "$garth" new t
  [[ $(field t backend) == worktree ]]
  [[ $(MY_VAR=mine OTHER=no "$garth" exec t -- sh -c 'echo $MY_VAR:$OTHER') == mine: ]]
}

@test "O3 J8 config: limits, policy, git, task, merge, sync and snapshot: built-in values, printed and read again" {
  "$garth" config --json | json '[d["config"]["limits"][k] for k in ("max_worktree_size", "max_file_size", "max_files", "max_commits")]' |
    grep -xF '[1073741824, 104857600, 10000, 100]'
  "$garth" config --json | json '[d["config"]["policy"]["rewrite"], d["config"]["policy"]["identity"], d["config"]["policy"]["author"], d["config"]["git"]["operations"], d["config"]["task"]["on_dirty"], d["config"]["merge"]["strategy"]]' |
    grep -xF '["keep", "agent", null, {}, "fail", "merge"]'
  "$garth" config --json | json '[d["config"]["sync"]["auto_rebase"], d["config"]["sync"]["rebase_frequency"], d["config"]["sync"]["pause_on_conflict"], d["config"]["snapshot"]["every"]]' |
    grep -xF '[false, 3600, true, 10]'
  "$garth" config --json | json '[d["config"]["cleanup"]["stale_after"], d["config"]["serve"]["port"]]' | grep -xF '[604800, 7817]'
  config <<<$'limits: {max_files: 3}\npolicy: {protected: ["x [y]", "*.key", "say \\"hi\\""], allow: [.envrc], author: "B: c <b@c>", identity: forced}\ngit: {operations: {rebase: local}}\nsync: {auto_rebase: true}\ncleanup: {stale_after: 3h}\nserve: {port: 0}\nterminal: {detach_keys: "ctrl-a,#"}\n'
  "$garth" config --json >"$T/one"
  json '[d["config"]["limits"]["max_files"], d["config"]["policy"]["protected"][-3:], d["config"]["policy"]["author"], d["config"]["git"]["operations"]]' <"$T/one" |
    grep -xF '[3, ["x [y]", "*.key", "say \"hi\""], "B: c <b@c>", {"rebase": "local"}]'
  "$garth" config >"$T/own.yaml"
  GARTH_CONFIG=$T/own.yaml "$garth" config --json >"$T/two"
  for key in limits policy git task merge sync snapshot cleanup serve terminal jail agents; do
    [[ $(json "d[\"$key\"]" <"$T/one") == "$(json "d[\"$key\"]" <"$T/two")" ]] || complain "$key"
  done
}

@test "O3 config: allow_read shows a path read-only" {
  mkdir "$T/data"; echo d >"$T/data/f"; chmod 755 "$T" "$T/data"
  config <<<"jail: {allow_read: [$T/data]}"
  "$garth" new t
  [[ $(inside t cat "$T/data/f") == d ]]
  call inside t "echo x >$T/data/f"
  [[ $code != 0 ]] || complain
  [[ $(<"$T/data/f") == d ]] || complain
}

@test "O3 J10 config: an allow_read path that cannot be shown is named, with file, line and reason" {
  echo secret >"$R/.env"; mkdir "$T/data"; echo d >"$T/data/f"; chmod 755 "$T" "$T/data"; ln -s "$R/.env" "$T/data/link"; ln -s "$T" "$T/data/up"
  config <<<$'jail:\n  allow_read:\n  - '"$T/data"$'\n  - '"$R/.env"$'\n  - '"$T/nothing"$'\n  - '"$R/.git/config"$'\n  - '"$T/data/link"$'\n  - '"$T/data/up"
  file=$XDG_CONFIG_HOME/garth/config.yaml
  for b in "${backends[@]}"; do
    "$garth" new t --backend $b
    call inside t "cat $T/data/f; cat .env $R/.env $T/data/link $T/data/up/home/src/app/.env 2>/dev/null"
    [[ $out == d ]] || complain
    [[ $err == *"▲ '$R/.env' of jail.allow_read ($file:4) is not shown: it is in the project"* ]] || complain
    [[ $err == *"'$T/nothing' of jail.allow_read ($file:5) is not shown: it is not there"* ]] || complain
    [[ $err == *"'$R/.git/config' of jail.allow_read ($file:6) is not shown: it is in the "* ]] || complain
    [[ $err == *"'$T/data/link' of jail.allow_read ($file:7) is not shown: it is in the project"* ]] || complain
    [[ $err == *"'$T/data/up' of jail.allow_read ($file:8) is not shown: it leads to a directory that holds"* ]] || complain
    [[ $err != *"'$T/data' of"* ]] || complain
    call "$garth" show t --jail
    [[ $code == 0 ]] || complain
    [[ $err == *"($file:4) is not shown"* ]] || complain
    "$garth" discard -fD t 2>/dev/null
  done
}

@test "O3 config: an unknown key is named with file and line, and nothing is made" {
  config <<<$'workspace:\n  backend: overlay\nworkspcae:\n  backend: overlay\n'
  fails 2 "$XDG_CONFIG_HOME/garth/config.yaml:3" "$garth" new t
  [[ $err == *workspcae* ]] || complain
  config <<<$'limits:\n  log_size: 1MB\n  logsize: 1MB\n'
  fails 2 "config.yaml:3" "$garth" config
  [[ ! -e $GARTH_HOME ]]
}

@test "O3 config: malformed YAML, wrong types and values are named with file and line" {
  for text in $'workspace: [\n' $'a: b: c\n' $'workspace: overlay\n' $'network: {mode: sometimes}\n' \
    $'jail: {env: [1BAD]}\n' $'jail: {tools: [.ssh]}\n' $'jail: {tools: [../x]}\n' $'jail: {allow_read: [/]}\n' \
    $'limits: {log_size: many}\n' $'limits: {max_files: 1KB}\n' $'policy: {rewrite: maybe}\n' \
    $'policy: {protected: [../x]}\n' $'policy: {author: Bot}\n' $'git: {operations: {rebase: sometimes}}\n' \
    $'task: {on_dirty: 1}\n' $'sync: {auto_rebase: 1}\n' $'snapshot: {every: 0}\n' $'cleanup: {stale_after: 0}\n' $'serve: {port: 70000}\n' $'network: {mode: none}\nnetwork: {mode: host}\n' $'\tx\n' $'a: *b\n' $'\xff\xfe\n'; do
    config <<<"$text"
    fails 2 "config.yaml" "$garth" run -- true
    [[ $err =~ config.yaml:[0-9]+ ]] || complain "no line: $text"
  done
  [[ ! -e $GARTH_HOME ]]
}

@test "O3 config: a file that cannot be read is one clear line" {
  mkdir -p "$XDG_CONFIG_HOME/garth/config.yaml"
  fails 2 "config.yaml" "$garth" ls
  fails 2 "is not there" env GARTH_CONFIG="$T/nosuch.yaml" "$garth" ls
  fails 2 "$T" env GARTH_CONFIG="$T" "$garth" ls
  mkfifo "$T/fifo"
  fails 2 "fifo" timeout 10 env GARTH_CONFIG="$T/fifo" "$garth" ls
  [[ ! -e $GARTH_HOME ]]
}

@test "O3 config: errors with --json are JSON too" {
  config <<<$'nonsense: 1\n'
  call "$garth" ls --json
  [[ $code == 2 ]] || complain
  [[ $err == '✗ '* ]] || complain
  [[ $(json 'd["error"]["code"]' <<<"$out") == config ]]
}

@test "O2 config: --schema is a valid schema of all files, made from the same keys that are read" {
  "$garth" config --schema >"$T/schema"
  "$garth" config --json >"$T/config"
  "$python" - "$T/schema" "$T/config" "$GARTH_TOP/docs/guide" "$T/example.yaml" <<'E'
import json, re, sys, yaml, jsonschema
schema, guide = json.load(open(sys.argv[1])), sys.argv[3]
# as in YAML 1.2, "on" is a word
class Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {k: [r for r in v if r[0] != "tag:yaml.org,2002:bool"] for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))
load = lambda text: yaml.load(text, Loader)
V = jsonschema.Draft202012Validator
V.check_schema(schema)
part = lambda name: V({"$defs": schema["$defs"], "$ref": "#/$defs/" + name})
valid = lambda v, text: v.is_valid(load(text))
# the guide's examples
example = re.search(r"## Every key\n\n```yaml\n(.*?)```", open(guide + "/configuration.md").read(), re.S).group(1)
open(sys.argv[4], "w").write(example)
V(schema).validate(load(example))
part("config").validate(load(example))
for text in re.findall(r"```yaml\n(.*?)```", open(guide + "/task-files.md").read(), re.S):
    if "command:" in text:
        V(schema).validate(load(text))
# every key is in the schema, and in the guide's example
def keys(o, prefix=""):
    for name, v in o["properties"].items():
        if "properties" in v:
            yield from keys(v, prefix + name + ".")
        else:
            yield prefix + name
read = {k for k in json.load(open(sys.argv[2]))["origins"] if not re.match(r"agents\..*\.", k)}
assert read == set(keys(schema["$defs"]["config"])), read ^ set(keys(schema["$defs"]["config"]))
shown = load(example)
for k in read:
    section, name = k.split(".")
    assert name in shown[section], k
# wrong files are not valid
for text in ("limits: {max_fils: 1}", "network: {mode: sometimes}", "workspace: {setup: [[]]}", "agents: {x: {y: [z]}}", "agents: {default: [a]}"):
    assert not valid(part("config"), text), text
for text in ("agent: {name: x}", "agent: {command: []}", "agent: {command: [x]}\nnotify: {on: []}"):
    assert not valid(V(schema), text), text
for text in ("jail: {env: [X]}", "network: {allow: [x]}", "git: {operations: {push: local}}", "agents: {claude: {}}", "agent: {command: [x]}"):
    assert not valid(part("repository"), text), text
for text in ("{}", "policy:\n", "git: {operations: {push: blocked}}", "workspace: {setup: make, include: [.env]}", "agents: {default: claude}", "limits: {max_files: 3, max_disk: 5GB}"):
    assert valid(part("repository"), text), text
E
  call env GARTH_CONFIG="$T/example.yaml" "$garth" config
  [[ $code == 0 ]] || complain
}

@test "O2 config: errors name file, line and column, and the nearest key" {
  config <<<$'limits:\n  max_fils: 3\n'
  fails 2 "$XDG_CONFIG_HOME/garth/config.yaml:2:3: unknown key 'limits.max_fils' (is 'max_files' meant?)" "$garth" config
  printf 'a: [\n' >"$T/system.yaml"
  fails 2 "$T/system.yaml:2:1: " env GARTH_SYSTEM_CONFIG="$T/system.yaml" "$garth" ls
  fails 2 "is not there" env GARTH_SYSTEM_CONFIG="$T/nosuch" "$garth" ls
}
