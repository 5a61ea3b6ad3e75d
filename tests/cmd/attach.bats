load helpers

@test "T8 attach: a run on a terminal has a terminal of the same size inside, and returns its exit code" {
  terminals <<'PY'
t = garth("run", "-t", "t", "--", "sh", "-c", "tty; test -t 0 && test -t 1 && test -t 2 && echo all; stty size; exit 6", rows=33, cols=101)
t.expect("all"); t.expect("33 101")
assert t.wait() == 6, t.text
assert "/dev/pts/" in t.text and "detach with Ctrl-Y d" in t.text and "garth diff t" in t.text, t.text
PY
}

@test "T8 attach: typed keys arrive, Ctrl-C and Ctrl-D go to the inside, the terminal is restored" {
  terminals <<'PY'
t = garth("run", "-t", "t", "--", "sh", "-c", 'trap "echo interrupted" INT; echo ready; until read x; do :; done; echo got:$x; cat; echo end')
before = t.modes()
t.expect("ready"); t.send("\x03"); t.expect("interrupted"); t.send("hello\r"); t.expect("got:hello")
t.send("line\r"); t.expect("line"); t.send("\x04"); t.expect("end")
assert t.wait() == 0
assert t.modes() == before
PY
}

@test "T8 attach: Ctrl-Y d detaches, the task keeps running, attach shows its output and its exit code" {
  terminals <<'PY'
t = garth("run", "-t", "t", "--", "sh", "-c", "echo before; read x; echo got:$x; exit 9")
t.expect("before"); t.send(LEAVE)
assert t.wait() == 0 and "garth attach t" in t.text, t.text
assert subprocess.run([GARTH, "exec", "t", "--", "true"]).returncode == 0
t = garth("attach", "t")
t.expect("before"); t.send("again\r"); t.expect("got:again")
assert t.wait() == 9, t.code
PY
  [[ $(state_of t) == failed ]]
  [[ $(field t exit_code) == 9 ]]
  fails 4 "is not running, it is failed" "$garth" attach t
  [[ $(hint) == "garth log t" ]]
  "$garth" new never
  NO_COLOR=1 terminals <<'PY'
t = garth("attach", "never")
assert t.wait() == 4
assert t.text.split("\r\n") == ["✗ task 'never' is not running, it is created", "↳ garth shell never", ""], t.text
PY
  "$garth" log t | grep -q got:again
}

@test "T8 attach: Ctrl-Y passes if another key follows, if none follows, and if it repeats" {
  terminals <<'PY'
t = garth("run", "-t", "t", "--", "sh", "-c", "stty raw -echo; echo ready; for n in 2 1 3; do echo $(dd bs=1 count=$n 2>/dev/null | od -An -tx1).; done; stty sane")
t.expect("ready"); t.send("\x19x"); t.expect("19 78.")
t.send("\x19"); t.expect("19.")
t.send("\x19"); t.send("\x1d"); t.send("\x19"); t.expect("19 1d 19.")
assert t.wait() == 0
PY
}

@test "T8 attach: --detach-keys and terminal.detach_keys choose the keys, and the others mean nothing" {
  terminals <<'PY'
run = ["sh", "-c", "stty raw -echo; echo ready; echo $(dd bs=1 count=4 2>/dev/null | od -An -tx1).; exec sleep 1000"]
t = garth("run", "--detach-keys", "ctrl-p,ctrl-q", "-t", "t", "--", *run)
t.expect("detach with Ctrl-P Ctrl-Q"); t.expect("ready")
t.send("\x19d\x1dd"); t.expect("19 64 1d 64."); t.send("\x10\x11"); assert t.wait() == 0
os.makedirs(os.environ["XDG_CONFIG_HOME"] + "/garth")
open(os.environ["XDG_CONFIG_HOME"] + "/garth/config.yaml", "w").write('terminal: {detach_keys: "ctrl-a,x"}\n')
t = garth("attach", "t"); t.expect("detach with Ctrl-A x"); t.expect("ready")
t.send("\x01x"); assert t.wait() == 0
t = garth("attach", "--detach-keys=ctrl-b,y", "t"); t.expect("ready"); t.send("\x02y"); assert t.wait() == 0
PY
  [[ $(state_of t) == running ]]
  changes_nothing 2 "--detach-keys: the first key that detaches has ctrl-" "$garth" run --detach-keys d -t u -- true
  fails 2 "--detach-keys: ctrl-m is what Enter sends" "$garth" attach --detach-keys ctrl-m t
}

@test "T8 attach: the detach keys also work in the keyboard protocols that a program may have switched on" {
  terminals <<'PY'
for i, keys in enumerate(("\x1dd", "\x1b[93;5u\x1b[100u", "\x1b[27;5;121~d", "\x1b[121;133ud")):
    name = "t%d" % i
    t = garth("run", "-t", name, "--", "sh", "-c", "echo ready; exec sleep 100")
    t.expect("ready"); t.send(keys)
    assert t.wait() == 0
    subprocess.run([GARTH, "cancel", name], check=True)
PY
}

@test "T8 attach: a resize is seen inside" {
  terminals <<'PY'
t = garth("run", "-t", "t", "--", "sh", "-c", 'trap "stty size" WINCH; stty size; echo ready; while :; do sleep 0.05; done', rows=20, cols=70)
t.expect("20 70"); t.expect("ready"); t.resize(41, 123); t.expect("41 123")
t.send(LEAVE); assert t.wait() == 0
t = garth("attach", "t", rows=50, cols=99)
t.expect("50 99")
t.send("\x03"); t.wait()
PY
}

@test "T8 attach: two terminals at once see the same and both can type" {
  terminals <<'PY'
a = garth("run", "-t", "t", "--", "sh", "-c", 'echo ready; while read x; do echo "[$x]"; test "$x" = end && exit 3; done')
a.expect("ready")
b = garth("attach", "t")
b.expect("ready")
a.send("from-a\r"); a.expect("[from-a]"); b.expect("[from-a]")
b.send("from-b\r"); a.expect("[from-b]"); b.expect("[from-b]")
c = garth("attach", "t"); c.expect("[from-b]"); c.send(LEAVE); assert c.wait() == 0
a.send("end\r")
assert a.wait() == 3 and b.wait() == 3, (a.code, b.code)
PY
}

@test "T8 attach: a terminal that is closed, and a client that is killed, leave the task running" {
  terminals <<'PY'
for how in ("hang_up", "kill"):
    t = garth("run", "-t", how.replace("_", "-"), "--", "sh", "-c", "echo ready; exec sleep 100")
    t.expect("ready"); getattr(t, how)(); t.wait()
PY
  sleep 0.2
  for t in hang-up kill; do [[ $(state_of $t) == running ]]; inside $t true; "$garth" cancel $t; done
}

@test "T8 attach: without a terminal it shows the output and waits for the end" {
  "$garth" run -d -t t -- sh -c 'echo early; until test -e go; do sleep 0.05; done; echo late; exit 3'
  ("$garth" attach t >"$T/o" 2>&1 </dev/null 3>&- || echo $? >"$T/c") &
  eventually grep -q early "$T/o"
  inside t 'touch go' || true
  wait
  [[ $(<"$T/c") == 3 ]]
  [[ $(<"$T/o") == *late* ]]
}

@test "T8 attach: much output through a terminal arrives complete and in order" {
  terminals <<'PY'
t = garth("run", "-t", "t", "--", "sh", "-c", "seq 1 50000")
assert t.wait(40) == 0
lines = [l for l in t.text.split("\r\n") if l.isdigit()]
assert lines == [str(i) for i in range(1, 50001)], len(lines)
PY
}

@test "T8 attach: in tmux, a full-screen program is redrawn after a detach" {
  sock=$T/tmux.sock
  tmux -f /dev/null -S "$sock" new-session -d -x 90 -y 25 "$garth run -t t -- sh -c 'printf \"\\033[?1049h\\033[2J\\033[5;5Hfullscreen\"; stty size; exec sleep 1000'; echo left; sleep 1000" 3>&-
  shows() { tmux -S "$sock" capture-pane -p | grep -q -- "$1"; }
  eventually shows fullscreen
  eventually shows '25 90'
  tmux -S "$sock" send-keys C-y d
  eventually shows left
  not shows fullscreen
  tmux -S "$sock" respawn-pane -k "$garth attach t; sleep 1000"
  eventually shows fullscreen
  tmux -S "$sock" kill-server
  eventually is_state t running
  "$garth" cancel t
}

@test "T8 run --tmux: a window named after the task, attached to it, in the user's session or in its own" {
  local sock=$T/tmux.sock
  windows() { TMUX= tmux -S "$1" list-windows -a -F '#{session_name}:#{window_name}' 2>/dev/null; }
  tmux -f /dev/null -S "$sock" new-session -d -s mine -x 90 -y 25 "sh -c '$garth run --tmux -t one -- sh -c \"echo hello; exec sleep 1000\" >$T/said 2>&1; exec sleep 1000'" 3>&-
  eventually gives mine:one windows "$sock"
  eventually grep -q one "$T/said"
  eventually gives hello tmux -S "$sock" capture-pane -p -t mine:one
  tmux -S "$sock" kill-server
  [[ $(state_of one) == running ]]
  # there is no session to open it in: the server of TMUX_TMPDIR makes one
  mkdir -m 700 "$T/tmux"
  env -u TMUX TMUX_TMPDIR="$T/tmux" TERM=xterm "$garth" run -q --tmux -t two -- sh -c 'echo there; exec sleep 1000' 3>&-
  [[ $(TMUX_TMPDIR="$T/tmux" tmux list-windows -a -F '#{session_name}:#{window_name}') == garth:two ]]
  env -u TMUX TMUX_TMPDIR="$T/tmux" TERM=xterm "$garth" run -q --tmux -t three -- sleep 1000 3>&-
  [[ $(TMUX_TMPDIR="$T/tmux" tmux list-windows -a -F '#{window_name}' | paste -sd,) == two,three ]]
  TMUX_TMPDIR="$T/tmux" tmux kill-server
}
