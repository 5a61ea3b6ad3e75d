load helpers

# Checks the JSON on stdin against docs/json-schema.json, and prints it.
valid() {
  /usr/bin/python3 -c '
import json, jsonschema, sys
d = json.load(sys.stdin)
schema = json.load(open(sys.argv[1]))
for e in jsonschema.Draft202012Validator(schema).iter_errors(d):
    print("/".join(map(str, e.absolute_path)), e.message[:300], file=sys.stderr)
    sys.exit(1)
json.dump(d, sys.stdout)' "$GARTH_TOP/docs/json-schema.json"
}

# answer CMD…: runs it, notes that the command was tried, and checks what it answers.
answer() {
  printf '%s\n' "$1" >>"$T/tried"
  call "$garth" "$@" --json
  valid <"$T/out" >"$T/valid" || complain "not as docs/json-schema.json says: $*"
}

# The commands whose help has --json.
with_json() {
  local c
  for c in $("$garth" help | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
    if "$garth" help "$c" | grep -q -- '--json'; then echo "$c"; fi
  done
}

@test "O3 json: every command with --json answers as the schema says" {
  git init -q --bare "$T/origin.git"; git remote add origin "$T/origin.git"; git push -q origin main
  answer new t
  answer new u
  inside t 'echo t >>a.txt; git commit -qam t; echo x >x; echo o >o.o'
  inside u 'echo u >>a.txt; git commit -qam u'
  answer ls; answer show t; answer diff t; answer path t; answer brief t; answer compare t u; answer compare --check true t u; answer agent ls; answer agent show claude; answer agent test claude; answer why t a.txt; answer why t /nowhere; answer port t
  [[ $(json '[t["conflicts"] for t in d["tasks"]]' <<<"$("$garth" ls --json)") == '[[{"task": "u", "path": "a.txt"}], [{"task": "t", "path": "a.txt"}]]' ]]
  answer show t --jail
  answer plan check "$GARTH_TOP/tests/fuzz/corpus/plan/every-key.yaml"; answer plan run --dry-run "$GARTH_TOP/tests/fuzz/corpus/plan/isolation.md"; answer plan graph "$GARTH_TOP/tests/fuzz/corpus/plan/overlap.yaml"
  printf '%s\n' 'plan_id: p' 'agent: script' 'stages: [{id: a, script: "true", acceptance: ["true"]}, {id: b, approve: before, script: "true", dependencies: [a]}]' >"$T/p.yaml"
  answer plan run "$T/p.yaml"
  [[ $code == 6 ]] || complain
  answer ls; answer plan status p; answer plan ls --all; answer plan log p; answer plan log p a; "$garth" plan approve p b; answer plan resume p; answer plan merge p
  answer snapshot t -m one
  answer rollback t --to-snapshot 2
  answer review t --print
  answer publish t; answer allow t .envrc; answer allow --host t example.org; answer export t "$T/exported"; answer log t; answer wait t
  answer push u u-branch
  call "$garth" run --json -t q -- sh -c 'echo out; echo "{\"question\": \"Which?\", \"options\": [\"a\", \"b\"]}" >question.json'
  [[ $code == 6 ]] || complain
  [[ $err == *out* ]] || complain
  [[ $(valid <"$T/out" | json '[d["state"], d["command"][:2]]') == '["blocked", ["sh", "-c"]]' ]] || complain
  echo run >>"$T/tried"
  answer show q; answer answer q a
  answer resume q
  "$garth" run -q -d -t r -- sleep 300
  answer pause r
  answer cancel r
  [[ $(json 'd["state"]' <"$T/out") == cancelled ]] || complain
  answer merge u
  answer sync t
  [[ $code == 5 ]] || complain
  [[ $(json 'd["conflicts"]' <"$T/out") == '[{"task": null, "path": "a.txt"}]' ]] || complain
  answer merge t
  [[ $code == 5 ]] || complain
  answer merge t nosuch
  [[ $code == 5 ]] || complain
  answer pause t nosuch
  answer undo --list
  answer undo -n
  answer undo u
  answer rename q other
  answer rename other q
  answer archive q
  answer discard -f -D t
  answer cleanup --all-inactive; answer gc; answer cache; configure <<<'workspace: {setup: "true"}'; answer warm; rm "$XDG_CONFIG_HOME/garth/config.yaml"; answer doctor; answer config; answer config jail.env; answer audit; answer audit --verify; answer serve --once
  printf 'workspace: {setup: [make], include: [.env]}\nlimits: {max_files: 20000}\n' >.garth.yaml; git add .garth.yaml; git commit -qm settings
  answer trust; answer trust --yes; answer trust; answer trust --list; answer config; answer config workspace.setup; answer trust --revoke
  diff <(with_json | sort) <(sort -u "$T/tried")
}

@test "O3 json: a name has one meaning everywhere: branches are short, commands are arrays, times are times" {
  "$garth" run -q -t t -- sh -c 'echo "$0" "$1"' 'two words' ''
  "$garth" show t --json >"$T/j"
  [[ $(json '[d["branch"], d["target"], d["command"][2:]]' <"$T/j") == '["garth/t", "main", ["echo \"$0\" \"$1\"", "two words", ""]]' ]]
  [[ $(json 'd["repository"]' <"$T/j") == "$R" ]]
  [[ $(json '[s["tip"] for s in d["snapshots"]]' <"$T/j") == "[\"$(git rev-parse HEAD)\"]" ]]
  json 'd["created"]' <"$T/j" | grep -qxE '[0-9-]{10}T[0-9:]{8}Z'
  # a command that is beyond all measure is cut, and says so
  "$garth" run -q -t long -- sh -c ':' "$(head -c 70000 /dev/zero | tr '\0' x)"
  [[ $(field long command) == '["sh", "-c", ":", "..."]' ]]
}

@test "O3 json: errors have one form: a code, a message, a hint" {
  local c
  for c in 'show nobody' 'log nobody' 'cancel nobody' 'answer nobody x' 'merge nobody'; do
    answer $c
    [[ $code != 0 ]] || complain "$c"
    [[ $(json 'sorted(d["error"])' <"$T/out") == '["code", "hint", "message"]' ]] || complain "$c"
  done
  call "$garth" run --json --base nowhere -- true
  [[ $code == 3 ]] || complain
  [[ $(valid <"$T/out" | json 'd["error"]["code"]') == not_found ]] || complain
}

@test "O3 json: run keeps stdout for the answer, whatever the command writes" {
  call "$garth" run --json -t t -- sh -c 'echo "{"; echo text >&2; exit 3'
  [[ $code == 3 ]] || complain
  [[ $(valid <"$T/out" | json '[d["exit_code"], d["state"]]') == '[3, "failed"]' ]] || complain
  [[ $err == *'{'*text* ]] || complain
  call "$garth" run --json -d -t d -- sleep 300
  [[ $code == 0 ]] || complain
  [[ $(valid <"$T/out" | json '[d["name"], d["state"]]') == '["d", "running"]' ]] || complain
}
