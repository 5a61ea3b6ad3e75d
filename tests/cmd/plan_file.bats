# What a plan's file says, without running anything.
load helpers

plans=$GARTH_TOP/tests/fuzz/corpus/plan

# A repository like that for which the plan of the corpus was written.
make_loom() {
  mkdir -p loom/src/{sandbox,hooks,orchestrator/signals,plan/schema} doc/loom
  touch loom/src/{sandbox,hooks}/mod.rs loom/src/orchestrator/signals/mod.rs loom/src/plan/schema/types.rs doc/loom/x
  git add -A && git commit -qm loom
}

# many N: a plan of N stages.
many() {
  echo 'stages:'
  local i
  for ((i = 0; i < $1; i++)); do
    printf -- '- id: s%d\n  name: Stage %d\n  working_dir: %s\n  files: ["src/part%d/**", "tests/t%d.rs"]\n' $i $i "$((i % 2 ? 1 : 0))" $i $i
    printf -- '  description: |\n    Do part %d.\n  artifacts: [src/part%d/mod.rs]\n  acceptance: ["sh -c true", {command: test -d ., exit_code: 0}]\n' $i $i
    printf -- '  wiring: [{source: src/part%d/mod.rs, pattern: "fn part", description: used}]\n  truths: ["Part %d works"]\n' $i $i
    ((i < 7)) || printf -- '  dependencies: [s%d]\n' $((i - 7))
  done
}

@test "T10 plan: a plan in Markdown, written for another system, is read unchanged" {
  make_loom
  call "$garth" plan check "$plans/isolation.md"
  [[ $code == 0 ]] || complain
  [[ $err == *"isolation.md:47:5: 'excluded_commands' has no effect here: "* ]] || complain
  [[ $(grep -c 'no effect' <<<"$err") == 1 ]] || complain
  [[ $err == *"✓ plan 'keep-workers-apart': 5 stages"* ]] || complain
  # files that are written from the working directory, and from the top
  [[ $out == *'src/sandbox/**  is loom/src/sandbox/**'* ]] || complain
  [[ $out == *'src/plan/schema/types.rs  is loom/src/plan/schema/types.rs'* ]] || complain
  [[ $out == *$'files           doc/loom/knowledge/**\n'* ]] || complain
  # sentences are no commands
  [[ $out == *'statement       Sandbox denies paths that lead out  (not machine-checked)'* ]] || complain
  [[ $("$garth" plan check --json "$plans/isolation.md" | json '[d["task"], d["stages"][4]["task"], d["stages"][4]["needs"], d["waves"]]') == \
    '["keep-workers-apart", "keep-workers-apart.verify", ["harden", "tell", "refuse"], [["learn"], ["harden", "tell", "refuse"], ["verify"]]]' ]]
  # the same without a repository, where the base of 'files' stays open
  cd "$HOME"
  call "$garth" plan check "$plans/isolation.md"
  [[ $code == 0 ]] || complain
  [[ $out == *'src/sandbox/**  is loom/src/sandbox/** and src/sandbox/**: nothing decides which'* ]] || complain
  [[ $err == *'there is no repository here'* ]] || complain
}

@test "T10 plan: mistakes are reported with their position" {
  fails 2 "cycle.yaml:2:28: stages wait for each other in a circle: 'one' waits for 'three' waits for 'two' waits for 'one'" \
    "$garth" plan check "$plans/cycle.yaml"
  fails 2 "unknown-dependency.yaml:4:18: stage 'test' depends on 'biuld', and there is no such stage (is 'build' meant?)" \
    "$garth" plan check "$plans/unknown-dependency.yaml"
  printf '# x\n\n<!-- loom METADATA -->\n```yaml\nloom:\n  stages:\n  - id: a\n    aceptance: [make]\n```\n<!-- END loom METADATA -->\n' >p.md
  fails 2 "p.md:8:5: unknown key 'stages.a.aceptance' (is 'acceptance' meant?)" "$garth" plan check p.md
  fails 2 "-:1:15: 'stages.id' can have only" sh -c 'echo "stages: [{id: a/b}]" | "$1" plan check -' sh "$garth"
  echo 'target: none' >p.yaml; echo 'stages: [{id: a}]' >>p.yaml
  fails 2 "p.yaml:1:9: there is no branch 'none'" "$garth" plan check p.yaml
  # a command that needs the whole plan names the first mistake, and the command that names all
  fails 2 "p.yaml:1:9: there is no branch 'none'" "$garth" plan graph p.yaml
  [[ $(hint) == 'garth plan check p.yaml' ]] || complain
  fails 2 "'garth plan check' needs FILE" "$garth" plan check
  [[ $(hint) == 'garth plan --help' ]] || complain
  # all of them, at most 20
  printf '%s\n' 'max_paralel: 3' 'stages:' '- id: a' '  timeout: soon' '  acceptance: [{comand: x}, ""]' '- {name: B}' '- {id: c, files: [a, ""]}' >many.yaml
  call "$garth" plan check many.yaml
  [[ $code == 2 && $(grep -c '✗' <<<"$err") == 7 ]] || complain
  for at in "1:1: unknown key 'max_paralel'" "4:12: 'stages.a.timeout' must be a time" "5:17: unknown key 'stages.a.acceptance.comand'" \
    "5:29: 'stages.a.acceptance' is empty" "6:3: 'stages.id' is missing" "7:22: 'stages.c.files' is empty"; do
    [[ $err == *"✗ many.yaml:$at"* ]] || complain "$at"
  done
  call "$garth" plan check --json many.yaml
  [[ $(json 'len(d["mistakes"])' <<<"$out") == 7 && $(json 'd["error"]["message"] == d["mistakes"][0]' <<<"$out") == true ]] || complain
  printf '%s\n' 'stages:' '- {id: a, dependencies: [x, b, y]}' '- {id: b, script: "true", agent: claude}' '- {id: a}' >many.yaml
  call "$garth" plan check many.yaml
  [[ $code == 2 && $(grep -c '✗' <<<"$err") == 4 ]] || complain
  { echo 'stages:'; for i in {1..30}; do echo "- {id: s$i, nokey: 1}"; done; } >many.yaml
  call "$garth" plan check many.yaml
  [[ $code == 2 && $(grep -c '✗' <<<"$err") == 20 ]] || complain
  # what an editor shows: the same as an object
  call "$garth" plan check --json p.yaml
  [[ $(json 'd["error"]["message"]' <<<"$out") == *'p.yaml:1:9'* ]] || complain
}

@test "T10 plan: warnings name what may go wrong later" {
  configure <<<'agents: {default: shell, shell: {programs: [sh], run: [sh]}}'
  cat >p.yaml <<'END'
stages:
- {id: a, files: [dir/**], artifacts: [out/x]}
- {id: b, files: [dir/b.txt], acceptance: [no-such-tool --now && sh -c true]}
- {id: c, files: [dir/b.txt], dependencies: [a, b]}
END
  call "$garth" plan check p.yaml
  [[ $code == 0 ]] || complain
  [[ $err == *"p.yaml:2:40: stage 'a' may not write its artifact 'out/x'"* ]] || complain
  [[ $err == *"p.yaml:3:8: stage 'b' may change the same files as 'a', and neither depends on the other: they run one after the other"* ]] || complain
  [[ $err == *"p.yaml:3:44: a stage would have no program 'no-such-tool'"* ]] || complain
  [[ $(grep -c ▲ <<<"$err") == 3 ]] || complain
  [[ $("$garth" plan check --json p.yaml 2>/dev/null | json '[d["waves"], d["stages"][1]["overlaps"], len(d["warnings"])]') == '[[["a"], ["b"], ["c"]], ["a"], 3]' ]]
}

@test "T10 plan: a plan that asks for no walls is refused, or runs with walls if the user says so" {
  printf 'sandbox: {enabled: false}\nstages: [{id: a}]\n' >p.yaml
  fails 4 "p.yaml:1:20: 'sandbox.enabled: false': a stage cannot run without walls" "$garth" plan check p.yaml
  [[ $(hint) == 'garth plan run --keep-walls p.yaml' ]] || complain
  fails 4 'cannot run without walls' "$garth" plan run --dry-run p.yaml
  call "$garth" plan run --dry-run --keep-walls p.yaml
  [[ $code == 0 ]] || complain
  [[ $err == '▲ p.yaml:1:20: '* ]] || complain
}

@test "T10 plan: a dry run prints waves and commands" {
  cat >p.yaml <<'END'
agent: claude
acceptance: [make all]
stages:
- {id: b, dependencies: [a], acceptance: [make b], before_stage: [make old]}
- {id: a, script: "echo one >one"}
- {id: c}
END
  call "$garth" plan run --dry-run p.yaml
  [[ $code == 0 ]] || complain
  [[ $out == $'wave 1\n  a\n    runs   echo one >one\n  c\n    agent  claude\nwave 2\n  b\n    agent  claude\n    first  make old\n    then   make b\non every merged tree\n    then   make all' ]] || complain
  # nothing was made
  [[ $("$garth" ls --json | json 'd["tasks"]') == '[]' ]]
  [[ -z $(git for-each-ref 'refs/heads/garth/*') ]]
}

@test "T10 plan: the graph as text, for Graphviz and for Mermaid" {
  printf 'stages:\n- {id: a}\n- {id: bb, name: "the \\"second\\" <one>", dependencies: [a]}\n' >p.yaml
  [[ $("$garth" plan graph p.yaml) == $'1  a\n2  bb  after a' ]]
  [[ $("$garth" plan graph --mermaid p.yaml) == $'graph LR\n  s0["a"]\n  s1["bb: the &#34;second&#34; &#60;one&#62;"]\n  s0 --> s1' ]]
  [[ $("$garth" plan graph --dot p.yaml) == *$'\ts0 -> s1;\n}' ]]
  [[ $("$garth" plan graph --json p.yaml | json 'd["stages"][1]["needs"]') == '["a"]' ]]
}

@test "T10 plan: the schema has every key, and takes what is read" {
  "$garth" plan schema >"$T/schema"
  call "$garth" plan check "$plans/every-key.yaml"
  [[ $code == 0 ]] || complain
  /usr/bin/python3 - "$T/schema" "$plans" "$GARTH_TOP/man/garth-plan.md" <<'END'
import json, re, sys
import jsonschema, yaml
schema = json.load(open(sys.argv[1]))
plans = sys.argv[2]
check = jsonschema.Draft202012Validator(schema)
check.check_schema(schema)
def one(name): return yaml.safe_load(open(f"{plans}/{name}"))
every = one("every-key.yaml")
check.validate(every)
check.validate({"loom": every})
text = open(f"{plans}/isolation.md").read()
check.validate(yaml.safe_load(re.search(r"METADATA -->\s*```yaml\n(.*?)\n```", text, re.S)[1]))
for bad in ({"stages": [{"id": "a", "nme": "x"}]}, {"stages": []}, {}, {"stages": [{"id": "a b"}]}, {"loom": every, "x": 1}, {"stages": [{"id": "a", "approve": "yes"}]}):
    assert not check.is_valid(bad), bad
# each key of the schema is in the plan that has every key, and in the manual
def keys(s, found):
    for part in s.get("anyOf", []): keys(part, found)
    if "items" in s: keys(s["items"], found)
    for name, value in s.get("properties", {}).items():
        found.add(name); keys(value, found)
    return found
def used(d, found):
    for v in d.values() if isinstance(d, dict) else d if isinstance(d, list) else []:
        used(v, found)
    if isinstance(d, dict): found.update(d)
    return found
known = keys(schema["$defs"]["plan"], set())
assert known <= used(every, set()), known - used(every, set())
manual = open(sys.argv[3]).read()
missing = [k for k in known if not re.search(rf"\b{k}\b", manual)]
assert not missing, missing
END
}

@test "T10 plan: 200 stages" {
  many 200 >p.yaml
  call "$garth" plan check p.yaml
  [[ $code == 0 ]] || complain
  [[ $err == *"✓ plan 'p': 200 stages" ]] || complain
  [[ $("$garth" plan check --json p.yaml 2>/dev/null | json '[len(d["stages"]), len(d["waves"]), d["stages"][199]["needs"]]') == '[200, 29, ["s192"]]' ]]
  [[ $("$garth" plan graph p.yaml | wc -l) == 200 ]]
  many 1001 >p.yaml
  fails 2 'more than 1000 stages' "$garth" plan check p.yaml
}
