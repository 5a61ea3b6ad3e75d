# T4, J8: notify.command is run outside when a task needs attention; its environment says why.
load helpers

# The user's program: writes its variables, arguments and directory to a new file $T/told/NUMBER.
setup() {
  garth_setup
  mkdir "$T/told"
  cat >"$T/notify" <<E
#!/bin/bash
exec >"$T/told/.new\$\$"
for v in TASK PROJECT STATE QUESTION NOTE MESSAGE; do n=GARTH_\$v; printf '%s=%s\n' \$v "\${!n-unset}"; done
printf 'ARG=%s\n' "\$@"
echo "PWD=\$(pwd -P) IN=\$(wc -c) MINE=\$MINE SECRET=\${SECRET-unset} FDS=\$(ls /proc/self/fd | wc -l)"
mv "$T/told/.new\$\$" "$T/told/\$(ls "$T/told" | wc -l)"
E
  chmod 755 "$T" "$T/notify"
  configure <<<"notify: {command: [$T/notify, '{message}', '-x']}"
}
told() { eventually test -s "$T/told/$1"; cat "$T/told/$1"; }
# How often the program was run for a task, by the audit log.
notified() { "$garth" audit "$1" --json | grep -c '"notify"' || true; }

@test "T4 notify: blocked, failed and done, with the right variables, in a safe directory, without the task's environment" {
  export MINE=user
  call "$garth" run -t b -e SECRET=inside -- sh -c 'echo "Which one?" >$GARTH_QUESTION_FILE'
  [[ $code == 6 ]] || complain
  out=$(told 0)
  [[ $out == "TASK=b"$'\n'"PROJECT=$R"$'\nSTATE=blocked\nQUESTION=Which one?\nNOTE=\n'"MESSAGE=task 'b' (app) is blocked: Which one?"$'\n'"ARG=task 'b' (app) is blocked: Which one?"$'\nARG=-x\nPWD=/ IN=0 MINE=user SECRET=unset FDS=4' ]] || complain
  "$garth" run -t f -- sh -c 'echo x >new; exit 3' || true
  out=$(told 1)
  [[ $out == *$'TASK=f\n'*$'\nSTATE=failed\nQUESTION=\nNOTE='*new* ]] || complain
  # in the background, and resumed
  "$garth" run -d -t d -- true
  out=$(told 2)
  [[ $out == *$'TASK=d\n'*$'\nSTATE=done\nQUESTION=\nNOTE=\n'"MESSAGE=task 'd' (app) is done"* ]] || complain
  "$garth" resume -q f || true
  out=$(told 3)
  [[ $out == *$'TASK=f\n'*$'\nSTATE=failed\n'* ]] || complain
  eventually gives 2 notified f
}

@test "T4 notify: notify.on chooses the events; a cancelled task, an exec and an unset command notify nobody" {
  configure <<<"notify: {command: [$T/notify], on: [failed]}"
  "$garth" run -q -t d -- true
  "$garth" exec d -- sh -c 'exit 1' || true
  "$garth" run -q -d -t c -- sleep 1000
  "$garth" cancel c
  configure <<<''
  "$garth" run -q -t u -- false || true
  configure <<<"notify: {command: [$T/notify], on: [failed]}"
  "$garth" run -q -t f -- false || true
  out=$(told 0)
  [[ $out == *TASK=f* ]] || complain
  [[ ! -e $T/told/1 ]]
  for t in d c u; do [[ $(notified $t) == 0 ]] || complain "$t"; done
}

@test "J8 notify: a task that is near its disk limit, or is paused by it" {
  configure <<<"notify: {command: [$T/notify]}"$'\nlimits: {max_disk: 30MB, check_every: 1}'
  "$garth" run -q -d -t t --on-dirty keep -- sh -c 'head -c 40000000 /dev/zero >big; sleep 1000'
  out=$(told 0)
  [[ $out == *$'TASK=t\n'*$'\nSTATE=limit\nQUESTION=\nNOTE=it holds '*limits.max_disk* ]] || complain
  [[ $out == *"MESSAGE=task 't' (app) is near or over a limit: it holds "* ]] || complain
}

@test "ESCAPES 20 T4 notify: a hostile question is one clean, short line, and nothing of it is run" {
  cat >ask.py <<'PY'
import os
text = "-rf --exec\n$(touch %s/pwned) `touch %s/pwned`; \x1b]0;evil\x07\x1b[2J\x00\r\u202e {message}" % (os.environ["AT"], os.environ["AT"])
open(os.environ["GARTH_QUESTION_FILE"], "w").write(text + "\u00e9" * 1000000)
PY
  commit ask
  call "$garth" run -q -t t -e AT="$T" -- /usr/bin/python3 ask.py
  out=$(told 0)
  question=$(sed -n 's/^QUESTION=//p' <<<"$out")
  [[ $question == '-rf --exec $(touch '* ]] || complain
  ((${#question} > 100)) || complain
  (($(LC_ALL=C; echo ${#question}) <= 1000)) || complain
  iconv -f UTF-8 <<<"$question" >/dev/null
  [[ $(LC_ALL=C grep -c '[[:cntrl:]]' <<<"$out") == 0 ]] || complain
  [[ $out != *$'\u202e'* ]] || complain
  # the agent's text is not searched for places to fill in
  [[ $out == *"ARG=task 't' (app) is blocked: -rf --exec"* ]] || complain
  [[ ! -e $T/pwned ]]
  # the words by which a task that waits for its tickets is described: from an agent they are a question
  call "$garth" run -q -t u -- sh -c 'echo "It waits for its tickets. An answer resumes it before they are over." >$GARTH_QUESTION_FILE'
  [[ $(told 1) == *'QUESTION=It waits for its tickets.'* ]] || complain
}

@test "ESCAPES 20 T4 notify: a program that hangs and forks is ended with all it started, and delays nobody" {
  word=hang-$RANDOM$RANDOM
  printf '#!/bin/bash\necho started >"%s/told/0"\n(setsid sh -c "sleep 600; : %s" &)\n(sh -c "trap : TERM HUP; sleep 600; : %s") & \nexec sleep 601\n' "$T" "$word" "$word" >"$T/notify"
  before=$SECONDS
  "$garth" run -q -t t -- true
  told 0 >/dev/null
  # while it hangs, the task is not blocked
  [[ $(state_of t) == done ]]
  inside t true
  "$garth" discard -f t
  ((SECONDS - before < 8)) || complain "took $((SECONDS - before)) s"
  eventually alive "$word"
  eventually not alive "$word"
  ((SECONDS - before < 40))
}

@test "ESCAPES 20 T4 notify: an agent that asks, is answered and asks causes no flood of notifications: the last state counts" {
  "$garth" run -q -t t -- sh -c 'echo "again? $GARTH_ANSWER" >$GARTH_QUESTION_FILE' || true
  told 0 >/dev/null
  for i in 1 2 3 4 5; do "$garth" answer -q t "no $i" || true; done
  out=$(told 1)
  [[ $out == *'QUESTION=again? no 5'* ]] || complain
  eventually gives 2 notified t
  [[ ! -e $T/told/2 ]]
}

@test "T4 notify: a keeper that is killed is reported" {
  "$garth" run -q -d -t t -- sleep 1000
  kill -KILL "$(keeper_of t)"
  out=$(told 0)
  [[ $out == *$'\nSTATE=failed\n'*'NOTE=it was interrupted: garth resume t'* ]] || complain
}

@test "T4 T9 notify: a missing program is a warning of run, and doctor finds it" {
  configure <<<"notify: {command: [$T/missing]}"
  call "$garth" run -t t -- true
  [[ $code == 0 ]] || complain
  [[ $err == *"▲ notify.command: there is no program '$T/missing'; nobody is notified"* ]] || complain
  call "$garth" doctor --json
  [[ $(json '[f["kind"] for f in d["findings"]]' <<<"$out") == *notify-missing* ]] || complain
  configure <<<"notify: {command: ['true']}"
  call "$garth" doctor --json
  [[ $out != *notify-missing* ]] || complain
}

@test "ESCAPES 20 O3 notify: a task file cannot set it, and its program is no relative path" {
  printf 'name: x\nagent: {project_dir: ., command: [sh, -c, true]}\nnotify: {command: [touch, %s/pwned]}\n' "$T" >"$R/task.yaml"
  fails 2 "task.yaml:3:1: 'notify' belongs in the user's configuration, not in a task file" "$garth" run "$R/task.yaml"
  "$garth" config --schema | "$python" -c 'import json, sys; sys.exit("notify" in json.load(sys.stdin)["$defs"]["task"]["properties"])'
  for command in '[./x]' '[bin/x, a]' '[~/../x]' '[""]' 'notify-send' '[]' '[-x]'; do
    configure <<<"notify: {command: $command}"
    fails 2 'notify.command' "$garth" ls
  done
  configure <<<'notify: {on: [blocked, never]}'
  fails 2 "'notify.on' must be 'blocked', 'failed', 'done' or 'limit', not 'never'" "$garth" ls
  configure <<<$'notify: {command: [~/bin/tell, "{message}"], on: []}'
  [[ $("$garth" config --json | json 'd["config"]["notify"]') == '{"command": ["~/bin/tell", "{message}"], "on": []}' ]]
  "$garth" config >"$T/own.yaml"
  [[ $(GARTH_CONFIG=$T/own.yaml "$garth" config --json | json 'd["config"]["notify"]') == '{"command": ["~/bin/tell", "{message}"], "on": []}' ]]
}
