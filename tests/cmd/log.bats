load helpers

@test "T1 log: the command's output, both streams, byte for byte" {
  "$garth" run -t t -- sh -c 'printf "out\0\377\033[31m\n"; sleep 0.1; printf "err\n" >&2' >/dev/null 2>&1
  "$garth" log t >"$T/got"
  printf 'out\0\377\033[31m\nerr\n' | cmp - "$T/got"
}

@test "T1 log: a running task, and one that never ran" {
  "$garth" new never
  call "$garth" log never
  [[ $code == 0 ]] || complain
  [[ -z $out ]] || complain
  [[ -z $err ]] || complain
  "$garth" run -d -t t -- sh -c 'echo so-far; exec sleep 1000'
  eventually bash -c '"$0" log t | grep -q so-far' "$garth"
  "$garth" cancel t
}

@test "T1 ESCAPES 20 log: limits.log_size is kept, the end stays" {
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo 'limits: {log_size: 100KB}' >"$XDG_CONFIG_HOME/garth/config.yaml"
  "$garth" run -t t -- sh -c 'seq 1 300000; echo last' >/dev/null
  size=$("$garth" log t | wc -c)
  ((size <= 102400 && size >= 40000)) || complain "$size bytes"
  [[ $("$garth" log t | tail -n1) == last ]]
  (($(du -sb "$(task_dir t)" | cut -f1) < 1000000))
}

@test "ESCAPES 16 log: on a terminal, control characters are shown and not obeyed" {
  "$garth" run -t t -- printf 'a\033]0;title\007\033[2Jb\n' >/dev/null
  cat >"$T/s.py" <<'PY'
from terminal import *
t = garth("log", "t")
t.expect("a^[]0;title^G^[[2Jb")
assert t.wait() == 0
t = garth("log", "--raw", "t")
t.expect("a\x1b]0;title\x07\x1b[2Jb")
assert t.wait() == 0
PY
  PAGER=cat PYTHONPATH=$BATS_TEST_DIRNAME PYTHONDONTWRITEBYTECODE=1 python3 "$T/s.py" 3>&-
}

@test "log -n: the last lines, over both files, with and without a newline at the end" {
  "$garth" run -t t -- sh -c 'seq 1 5; printf 6' >/dev/null
  [[ $("$garth" log -n 2 t) == $'5\n6' ]]
  [[ -z $("$garth" log -n 0 t) ]]
  [[ $("$garth" log -n 100 t) == $'1\n2\n3\n4\n5\n6' ]]
  [[ $("$garth" log --lines=1 --json t | json 'd["text"]') == 6 ]]
  printf '1\n2\n' >"$(task_dir t)/log"; printf '%s\n' a b c >"$(task_dir t)/log.1"
  [[ $("$garth" log -n 2 t) == $'1\n2' ]]
  [[ $("$garth" log -n 4 t) == $'b\nc\n1\n2' ]]
  fails 2 "--lines must be a number of lines, not '-1'" "$garth" log -n -1 t
  fails 2 "--lines must be a number of lines, not '3x'" "$garth" log -n 3x t
  call "$garth" log -f --json t
  [[ $code == 2 ]] || complain
}

@test "log, diff: on a terminal they say that there is nothing to show" {
  "$garth" new t
  NO_COLOR=1 terminals <<'PY'
for command, said in (["log", "t"], "task 't' has printed nothing"), (["diff", "t"], "there are no changes"), (["diff", "--published", "t"], "there are no changes"):
    t = garth(*command)
    assert t.wait() == 0
    assert t.text.endswith("○ " + said + "\r\n") and t.text.count("\n") == 1, t.text
PY
}

@test "log: the pager shows no empty line below the last one" {
  "$garth" run -q -t t -- printf 'one\ntwo\n' >/dev/null
  TERM=xterm terminals <<'PY'
t = garth("log", "t")
assert t.wait() == 0
lines = re.sub(r"\x1b\[[0-9?]*[A-Za-z]|[\x1b=>]", "", t.text).replace("\r", "").split("\n")
assert lines[-3:] == ["one", "two", ""], t.text
PY
}

@test "log -n: reads the end of the log, not the whole" {
  "$garth" new t
  truncate -s 1T "$(task_dir t)/log"; printf '\nlast\n' >>"$(task_dir t)/log"
  [[ $(timeout 10 "$garth" log -n 1 t) == last ]]
}

@test "log -f: what is there, what comes, and the end; a stopped task returns at once" {
  "$garth" run -d -t t -- sh -c 'echo early; until test -e go; do sleep 0.02; done; echo late; exit 3'
  "$garth" log -f t >"$T/all" 3>&- & all=$!
  "$garth" log -n 0 -f t >"$T/new" 3>&- & new=$!
  eventually grep -q early "$T/all"
  kill -0 $all
  inside t 'touch go' || true
  wait $all
  wait $new
  [[ $(<"$T/all") == $'early\r\nlate\r' ]]
  [[ $(<"$T/new") == *late* ]]
  [[ $(timeout 10 "$garth" log -f t) == $'early\r\nlate\r' ]]
}

@test "log -f: every byte of a log that is renamed meanwhile, and an end by kill -9" {
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo 'limits: {log_size: 10KB}' >"$XDG_CONFIG_HOME/garth/config.yaml"
  "$garth" run -d -t t -- sh -c 'stty -onlcr; until test -e go; do sleep 0.02; done; for i in 1 2 3; do seq 1 1000; until test -e go$i; do sleep 0.02; done; done; exec sleep 1000'
  "$garth" log -f t >"$T/got" 3>&- & follower=$!
  inside t 'touch go'
  for i in 1 2 3; do
    eventually eval '(($(wc -l <"$T/got") == 1000 * i))'
    inside t "touch go$i"
  done
  for i in 1 2 3; do seq 1 1000; done | cmp - "$T/got"
  kill -9 "$(keeper_of t)"
  timeout 10 tail --pid=$follower -f /dev/null
  wait $follower
}

@test "log -f: on a terminal control characters are shown, characters and colours stay whole; Ctrl-C leaves the task" {
  TERM=xterm terminals <<'PY'
run = """mkfifo /tmp/p; stty raw; echo ready
for x in 'a\\303' '\\251b' 'c\\033[3' '1md\\033[2Je\\r' '\\nf'; do until read y </tmp/p; do :; done; printf "$x"; done
exec sleep 1000"""
subprocess.run([GARTH, "run", "-d", "-t", "u", "--", "sh", "-c", run], check=True)
t = garth("log", "-f", "u")
t.expect("ready")
for want in ("a", "\u00e9b", "c", "\x1b[31md^[[2Je", "f"):
    subprocess.run([GARTH, "exec", "u", "--", "sh", "-c", "echo >/tmp/p"], check=True)
    t.expect(want)
assert "^[[3" not in t.text and "^M" not in t.text, t.text
t.send("\x03")
assert t.wait() == 130, t.code
PY
  [[ $(state_of u) == running ]]
}

@test "ESCAPES 16 log: colours of the agent's end with the log, also at Ctrl-C" {
  # black on black: what the user types next could not be seen
  TERM=xterm GARTH_PAGER= terminals <<'PY'
subprocess.run([GARTH, "run", "-q", "-t", "t", "--", "printf", "a\\033[30;40mb"], check=True, stdout=subprocess.DEVNULL)
for more in ([], ["-f"], ["-n", "1"]):
    t = garth("log", *more, "t")
    t.expect("a\x1b[30;40mb\x1b[0m")
    assert t.wait() == 0
subprocess.run([GARTH, "run", "-q", "-d", "-t", "u", "--", "sh", "-c", "printf 'a\\033[30;40mb'; exec sleep 1000"], check=True, stdout=subprocess.DEVNULL)
t = garth("log", "-f", "u")
t.expect("a\x1b[30;40mb")
t.send("\x03")
t.expect("\x1b[0m")
assert t.wait() == 130, t.code
PY
}
