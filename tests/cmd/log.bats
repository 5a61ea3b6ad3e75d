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
