load helpers

@test "T1 shell: a script on stdin is run by the shell inside" {
  "$garth" new t
  [[ $(echo 'cd dir && cat b.txt; exit 3' | "$garth" shell t || echo "code $?") == $'two\ncode 3' ]]
}

@test "T1 T8 shell: on a terminal it is interactive" {
  "$garth" new t
  cat >"$T/s.py" <<'PY'
from terminal import *
t = garth("shell", "t")
t.send("tty; echo $((40+2)) $GARTH_TASK\r"); t.expect("/dev/pts/"); t.expect("42 t"); t.send("exit 5\r")
assert t.wait() == 5, t.text
PY
  PYTHONPATH=$BATS_TEST_DIRNAME PYTHONDONTWRITEBYTECODE=1 python3 "$T/s.py" 3>&-
  [[ $(state_of t) == created ]]
}

@test "T1 shell: in a running task too" {
  "$garth" run -d -t t -- sleep 1000
  [[ $(echo 'ls; exit' | "$garth" shell t) == $'a.txt\ndir\nlink\nrun.sh' ]]
  "$garth" cancel t
}
