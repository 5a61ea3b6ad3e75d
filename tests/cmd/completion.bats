load helpers

# What is offered in place of the last word.
offers() { "$garth" completion bash "$@" | paste -sd' '; }

# is WANT GOT
is() { [[ $1 == "$2" ]] || complain "wanted: $1" "got: $2"; }

# A directory with garth in it, for PATH.
with_path() {
  mkdir -p "$T/bin"
  ln -sf "$garth" "$T/bin/garth"
  export PATH=$T/bin:$PATH
}

# The script on stdin types into a real shell (terminal.py).
types() {
  cat >"$T/script.py"
  with_path
  call timeout 120 env PYTHONPATH="$BATS_TEST_DIRNAME" PYTHONDONTWRITEBYTECODE=1 "$python" "$T/script.py"
  [[ $code == 0 ]] || complain
}

@test "O3 completion: commands, also after help" {
  is "diff discard doctor" "$(offers d | tr ' ' '\n' | sort | paste -sd' ')"
  is "merge" "$(offers help mer)"
  is "run new plan" "$(offers help '' | cut -d' ' -f1-3)"
  is "--help" "$(offers --h)"
}

@test "O3 completion: offers existing tasks only" {
  "$garth" new first-task
  "$garth" new second
  "$garth" discard second
  for c in exec shell attach pause resume answer cancel show path diff publish allow snapshot rollback sync merge push port log export archive discard rename; do
    is first-task "$(offers "$c" '')" || complain "$c"
  done
  is "first-task second" "$(offers undo '')"
  is "" "$(offers show first-task '')"
  is "" "$(offers answer first-task '')"
  is "" "$(offers new '')"
  is "" "$(offers frobnicate '')"
}

@test "O3 completion: every option of every command" {
  "$garth" help --tables >"$T/tables"
  # for each option: its name, whether it has a value, and the kind of the value
  "$python" - "$T/tables" "$garth" <<'P'
import json, subprocess, sys
for command, c in json.load(open(sys.argv[1])).items():
    offered = subprocess.run([sys.argv[2], "completion", "bash", command, "--"], capture_output=True, text=True).stdout.split()
    wanted = ["--" + o["name"] for o in c["options"]] + ["--help"]
    assert offered == wanted, (command, offered, wanted)
    for o in c["options"]:
        assert (o["arg"] is not None) == o["has_word"], (command, o)
P
  is "--squash" "$(offers merge --sq)"
  # an option that was given is not offered again, unless it can be repeated
  is "" "$(offers run --net host --net)"
  is "--env" "$(offers run --env A --env)"
  is ":files" "$(offers exec t -- git --js)"
}

@test "O3 completion: offers values of options, not tasks" {
  "$garth" new first-task
  git branch topic
  git tag v1
  git remote add origin "$T/there"
  git remote add up.stream "$T/there"
  configure <<<'agents: {mine: {programs: [mine]}}'
  is "none allow host" "$(offers run --net '')"
  is "--net=host" "$(offers exec --net=h)"
  is "none allow host" "$(offers show --jail --net '')"
  is "overlay worktree clone" "$(offers new --backend '')"
  is "fail commit keep" "$(offers run --on-dirty '')"
  is "claude codex gemini opencode goose mine" "$(offers shell --agent '')"
  is "topic" "$(offers merge --into to)"
  is "topic" "$(offers push first-task to)"
  is "HEAD garth/first-task main topic v1" "$(offers run -b '')"
  is "HEAD" "$(offers run -qb HE)"
  is "origin up.stream" "$(offers push --remote '')"
  is "max_disk=" "$(offers resume --limit max_d)"
  is "GARTH_HOME" "$(offers run --env GARTH_HO)"
  is "bash zsh fish" "$(offers completion '')"
  is "1" "$(offers rollback first-task --to-snapshot '')"
  is "" "$(offers run --allow '')"
  is "" "$(offers snapshot -m '')"
}

@test "O3 completion: leaves files and programs to the shell" {
  is ":programs" "$(offers run '')"
  is ":programs" "$(offers run --net host -- '')"
  is ":programs" "$(offers exec t '')"
  is ":files" "$(offers exec t git lo)"
  is ":files" "$(offers diff t '')"
  is ":directories" "$(offers export t '')"
}

@test "O3 completion: changes nothing and prints no messages" {
  for w in show undo "run --agent" "run --base" "rollback x --from"; do
    call "$garth" completion bash $w ''
    [[ $code == 0 ]] || complain "$w"
    [[ -z $err ]] || complain "$w"
  done
  [[ ! -e $GARTH_HOME ]]
  is main "$(offers run --base ma)"
  [[ ! -e $GARTH_HOME ]]
  cd "$T"
  call "$garth" completion bash run --base ''
  is "0" "$code$out$err"
  configure <<<'nonsense: true'
  call "$garth" completion bash run --agent ''
  is "0" "$code$out$err"
}

@test "O3 completion: bash" {
  "$garth" new first-task --backend worktree
  with_path
  call bash -c '
    set -u
    source <(garth completion bash)
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _garth 2>/dev/null; echo "${COMPREPLY[*]}"; }
    try garth disc; try garth discard fir; try garth discard --js; try garth run --net ""; try garth run --net = h; try garth run --net =
    try garth help me; try garth export first-task d; try garth diff first-task dir/b; try garth rollback --to; try garth frobnicate ""'
  is $'discard\nfirst-task\n--json\nnone allow host\nhost\nnone allow host\nmerge\ndir\ndir/b.txt\n--to-snapshot' "$out"
  # and with a key
  types <<'P'
from terminal import Terminal
t = Terminal(["bash", "--norc", "-i"])
t.send("PS1='>''> '; source <(garth completion bash)\n")
t.expect(">> ")
t.send("garth path fi\t\n")
t.expect("/worktrees/first-task")
t.expect(">> ")
t.send("garth show --jail --net=n\tfi\t | grep -c . >$HOME/n; cat $HOME/n; exit\n")
assert t.wait() == 0, t.seen
P
  (($(<"$HOME/n") > 5)) || complain "$(<"$HOME/n")"
}

@test "O3 completion: zsh" {
  "$garth" new first-task --backend worktree
  types <<'P'
from terminal import Terminal
t = Terminal(["zsh", "-f", "-i"])
t.send("PS1='>''> '; autoload -U compinit; compinit -u -D; source <(garth completion zsh)\n")
t.expect(">> ")
t.send("garth path fi\t\n")
t.expect("/worktrees/first-task")
t.expect(">> ")
t.send("garth help mer\t >$HOME/a; garth show --jail --net n\t fi\t >$HOME/b; exit\n")
assert t.wait() == 0, t.seen
P
  is "garth merge [OPTIONS] TASK..." "$(head -n 1 "$HOME/a")"
  (($(grep -c . "$HOME/b") > 5)) || complain "$(<"$HOME/b")"
}

@test "O3 completion: fish" {
  "$garth" new first-task
  with_path
  # complete -C prints what a key would offer; notes come after a tab
  call fish --no-config -c '
    garth completion fish | source
    for line in "garth disc" "garth discard fir" "garth run --net " "garth run --net=h" "garth help mer" "garth merge --sq" "garth export first-task d"
      complete -C $line
    end'
  is $'discard\nfirst-task\nallow\nhost\nnone\n--net=host\nmerge\n--squash\ndir/' "$(cut -f1 <<<"$out")"
  grep -q $'^first-task\tcreated$' <<<"$out"
  is "" "$err"
}

# The names come from a repository that somebody downloaded. A key and Enter must not run what is in them.
@test "ESCAPES 31 O3 completion: a name of a branch is one word, in all shells" {
  git branch 'x;echo>ran'
  # the control: typed as it is, it is two commands
  bash -c ': x;echo>ran'; rm ran
  local shell
  for shell in bash zsh fish; do
    types <<P
from terminal import Terminal
start = {"bash": ["bash", "--norc", "-i"], "zsh": ["zsh", "-f", "-i"], "fish": ["fish", "--no-config", "-i"]}["$shell"]
ready = {"bash": "PS1='>''> '; source <(garth completion bash)", "zsh": "PS1='>''> '; autoload -U compinit; compinit -u -D; source <(garth completion zsh)",
         "fish": "function fish_prompt; echo -n '>''> '; end; garth completion fish | source"}["$shell"]
t = Terminal(start)
t.send(ready + "\n")
t.expect(">> ")
t.send("garth new from-$shell --base x\t\n")
t.expect("from-$shell'")
t.send("exit\n")
assert t.wait() == 0, t.seen
P
    [[ ! -e ran ]] || complain "$shell ran it"
    [[ $("$garth" ls --json) == *'"from-'$shell'"'* ]] || complain "$shell: $("$garth" ls)"
  done
}

@test "O3 completion: another shell is refused in one clear line" {
  changes_nothing 2 "not for 'tcsh'" "$garth" completion tcsh
}

@test "O3 completion: subcommands of plan, with their options, plans and stages" {
  is "schema skip" "$(offers plan s | tr ' ' '\n' | grep -v status | paste -sd' ')"
  printf 'plan_id: big\nagent: script\nstages:\n- {id: one, approve: before, script: "true"}\n- {id: two, script: "true"}\n' >p.yaml
  is "" "$(offers plan status '')"
  "$garth" plan run p.yaml 2>"$T/e" </dev/null || [[ $? == 6 ]]
  is "big" "$(offers plan status '')"
  is "big" "$(offers plan retry b)"
  is "one two" "$(offers plan approve big '')"
  is "two" "$(offers plan hold big one tw)"
  is "" "$(offers plan status big '')"
  is "" "$(offers plan nothing '')"
  is "--check" "$(offers plan retry --c)"
  is "" "$(offers plan status --c)"
  [[ $("$garth" help plan) == *'approve PLAN STAGE '*"approve a stage's start"* ]]
}
