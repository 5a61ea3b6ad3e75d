# J5: a user who watches a task is told about each refused host at once, once, with the command that allows it.
load helpers
load served

# Inside: ask HOST:PORT… asks the proxy for each, and prints nothing.
asks='ask() { for x; do curl -s -m 20 --noproxy "" -o /dev/null -p "http://$x/"; done; true; }'

@test "J5 refused: with pipes, a line on stderr while the command runs, once for each host; the printed command allows it" {
  mkfifo "$T/go"
  "$garth" run -t t -- sh -c "$asks; ask localhost:$port localhost:$port; echo asked; read x; curl -sS -m 20 --noproxy '' http://localhost:$port/word" >"$T/out" 2>"$T/err" <"$T/go" 3>&- & run=$!
  exec 4>"$T/go"
  eventually grep -q "localhost:$port is not on the task's list: garth allow --host t localhost:$port" "$T/err"
  eventually grep -qx asked "$T/out"
  command=$(sed -n 's/.*list: garth \(.*\)/\1/p;T;q' "$T/err")
  # shellcheck disable=SC2086
  "$garth" $command >/dev/null
  echo go >&4; exec 4>&-
  wait "$run"
  [[ $(<"$T/out") == $'asked\n'"$SECRET" ]]
  [[ $(grep -c 'is not on the task' "$T/err") == 1 ]] || complain "$(<"$T/err")"
  # it was allowed, so the end has nothing to say
  not grep -q 'did not reach' "$T/err"
}

@test "J5 refused: -q is silent; a detached run tells nobody, but show does; another command is told of what it was refused itself" {
  call "$garth" run -q -t q -- sh -c "$asks; ask a.example:443"
  [[ -z $err ]] || complain
  call "$garth" run -d -t t -- sh -c "$asks; ask a.example:443; sleep 1000"
  [[ $err != *example* ]] || complain
  eventually gives 'a.example:443, 1 time; garth allow --host t a.example' "$garth" show t
  [[ $("$garth" show t --json | json 'd["network"]["refused"][0]["allow"]') == a.example ]]
  call "$garth" exec t -- sh -c "$asks; ask a.example:443 a.example:80 b.example:8443"
  [[ $err == "▲ a.example:443 is not on the task's list: garth allow --host t a.example"$'\n'"▲ b.example:8443 is not on the task's list: garth allow --host t b.example:8443" ]] || complain
  call "$garth" exec t -- sh -c "$asks; ask b.example:8443"
  [[ $err == "▲ b.example:8443 is not on the task's list: garth allow --host t b.example:8443" ]] || complain
  "$garth" allow --host t a.example >/dev/null
  gives 'a.example:443, 2 times; allowed since then' "$garth" show t
}

@test "J5 refused: the message names the reason: another port, a misspelt name, a parent domain" {
  call "$garth" run -t t --allow github.com --allow '*.crates.io' --allow db.example:5432 -- sh -c "$asks; ask gihub.com:443 github.com:22 crates.io:443 db.example:443 far.example:443"
  [[ $err == *"▲ gihub.com:443 is not on the task's list; perhaps github.com is meant, which is on the list: garth allow --host t gihub.com"* ]] || complain
  [[ $err == *"▲ github.com:22 is not on the task's list; only other ports of it are on the list (github.com): garth allow --host t github.com:22"* ]] || complain
  [[ $err == *"▲ crates.io:443 is not on the task's list; *.crates.io on the list is only what is beneath it: garth allow --host t crates.io"* ]] || complain
  [[ $err == *"▲ db.example:443 is not on the task's list; only other ports of it are on the list (db.example:5432): garth allow --host t db.example"* ]] || complain
  [[ $err == *"▲ far.example:443 is not on the task's list: garth allow --host t far.example"* ]] || complain
  # the end: the first three, with one command for them
  [[ $(grep -c "task 't' did not reach .* and 2 more: garth allow --host t [^ ]* [^ ]* [^ ]*$" <<<"$err") == 1 ]] || complain
}

@test "ESCAPES 20 J5 refused: an agent that asks for many hosts prints ten lines and one more" {
  call "$garth" run -t t -- sh -c "$asks; for i in \$(seq 15); do ask a\$i.example:443; done; ask a1.example:443 a15.example:443"
  [[ $(grep -c 'is not on the task' <<<"$err") == 10 ]] || complain
  [[ $(grep -c "asks for more hosts that are not on its list: garth show t" <<<"$err") == 1 ]] || complain
  [[ $err == *'and 12 more: garth allow --host t '* ]] || complain
}

@test "J5 refused: on a terminal the line comes at once, unless a program draws the screen: then when it has ended, or after detaching" {
  export ASKS=$asks
  terminals <<'PY'
asks = os.environ["ASKS"]
def both(t, one, other):
    """In any order: the message and the output come by different ways."""
    at = t.at; t.expect(one); t.at = at; t.expect(other)
line = ".example:443 is not on the task's list: garth allow --host t "
# lines: at once
t = garth("run", "-t", "t", "--", "sh", "-c", asks + "; ask a.example:443; read x")
t.expect("a" + line + "a.example"); t.send("\r")
assert t.wait() == 0, t.text
assert "\x1b]9;" not in t.text, t.text
# a screen: the terminal is told, and the line is printed when the screen is left
t = garth("run", "-t", "u", "--", "sh", "-c", asks + "; printf '\\033[?1049h\\033[2Jdrawn'; ask b.example:443; echo asked; read x; printf '\\033[?1049llines'; read x")
both(t, "\x1b]9;garth: b.example:443 is not on the task's list: garth allow --host u b.example\x1b\\", "asked")
assert "▲ b.example" not in t.text, t.text
t.send("\r"); t.expect("lines"); t.expect("▲"); t.expect("b.example:443 is not on"); t.send("\r")
assert t.wait() == 0, t.text
# the same for a program that edits a line; detaching prints it, after the modes are reset
t = garth("run", "-t", "v", "--", "sh", "-c", asks + "; printf '\\033[?2004h> '; ask c.example:443; echo asked; sleep 1000")
both(t, "\x1b]9;garth: c.example", "asked"); t.send(LEAVE)
assert t.wait() == 0, t.text
shown = t.text[t.text.rindex("\x1b[?2004l"):]
assert shown.count("c.example:443 is not on the task's list") == 1, shown
assert "task 'v' is running" in shown, shown
PY
}
