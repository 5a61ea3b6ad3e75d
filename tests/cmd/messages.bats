# What commands say outside a terminal: one line about a success, which --quiet and --json suppress.
load helpers

@test "H8 messages: a success is one line on stderr outside a terminal, and no hint" {
  call "$garth" new t
  says "task 't' is made (overlay)"
  [[ $out == t ]] || complain
  inside t 'echo w >w; git add w; git commit -qm w'
  call "$garth" snapshot t
  says "snapshot $out of task 't' is taken"
  call "$garth" rollback --to-snapshot "$out" t
  says "task 't' is rolled back"
  call "$garth" publish t
  says "task 't' has nothing new to publish"
  call "$garth" sync t
  says "task 't' has all of main already"
  call "$garth" merge --dry-run t
  says "task 't' can be merged into main (fast-forward)"
  call "$garth" merge t
  says "task 't' is merged into main ($(git rev-parse --short=12 main), fast-forward), with the checkout $R"
  call "$garth" undo t
  says "the merge of task 't' is taken back: its target is as it was, and the task is out of the trash"
  call "$garth" archive t
  says "task 't' is archived, with all that was in it"
  [[ -e $out ]] || complain
}

@test "H8 messages: what takes longer than 300 ms shows a progress line on a terminal, which is removed" {
  terminals <<'PY'
subprocess.run([GARTH, "run", "-q", "-d", "-t", "t", "--", "sh", "-c", 'trap "sleep 0.7; exit" TERM; echo ready; while :; do sleep 0.02; done'], check=True)
w = garth("wait", "t"); w.expect("◎ waiting for the task …")
q = garth("wait", "-q", "t")
c = garth("cancel", "t")
c.expect("◎ waiting for its processes to end …"); c.expect("\r\x1b[K"); c.expect("task 't' is cancelled")
assert c.wait() == 0
w.expect("\r\x1b[K"); w.expect("task 't' is cancelled")
w.wait(); q.wait()
assert "◎" not in q.text, q.text
PY
}

@test "H8 messages: a run ends with one line, and its standard output is the command's" {
  call "$garth" run -t t -- sh -c 'echo out'
  says "task 't' is done"
  [[ $out == out ]] || complain
  call "$garth" run -t x -- sh -c 'echo out; exit 3'
  [[ $code == 3 ]] || complain
  [[ $err == "✗ task 'x' failed: exit code 3"$'\n↳ garth diff x' ]] || complain
  [[ $out == out ]] || complain
  call "$garth" run -d -t d -- sleep 1000
  says "task 'd' is running"
  [[ $out == d ]] || complain
  call "$garth" pause d
  says "task 'd' is paused"
  call "$garth" resume d
  says "task 'd' is resumed"
  call "$garth" cancel d
  says "task 'd' is cancelled; its workspace is kept"
}

@test "H8 messages: --quiet silences a success, before and after the words, and no warning or error" {
  for c in "new -q t" "snapshot t -q" "rollback -q --to-snapshot 2 t" "publish --quiet t" "sync t --quiet" "exec -q t -- true" "exec t -q -- true" \
    "merge --dry-run -q t" "archive -q t" "undo -q t" "discard -Dq t"; do
    # shellcheck disable=SC2086
    call "$garth" $c
    [[ $code == 0 ]] || complain "$c"
    [[ -z $err ]] || complain "$c"
    if [[ $c == new* ]]; then inside t 'echo w >w; git add w; git commit -qm w'; fi
  done
  fails 3 "there is no task 't'" "$garth" discard -q t
  # another program's output is not checked
  [[ $("$garth" run -qt s -- echo -q) == -q ]]
  [[ $("$garth" exec s -- echo --quiet) == --quiet ]]
  "$garth" new w
  inside w 'echo w >w; git add w; git commit -qm w; echo left >left'
  call "$garth" merge -q w
  [[ $code == 0 ]] || complain
  [[ $err == "▲ task 'w' has work that is not merged"* ]] || complain
}

@test "H8 messages: with --json there is nothing about a success on stderr" {
  for c in "new t --json" "run --json -t r -- true" "snapshot t --json" "publish t --json" "merge t --json" "discard r --json"; do
    # shellcheck disable=SC2086
    call "$garth" $c
    [[ $code == 0 ]] || complain "$c"
    [[ -z $err ]] || complain "$c"
    json 'd' <<<"$out" >"$T/ignored" || complain "$c"
    if [[ $c == new* ]]; then inside t 'echo w >w; git add w; git commit -qm w'; fi
  done
}

@test "H8 messages: every command has --quiet, in its help, its page and its completions" {
  for c in $("$garth" help --tables | python3 -c 'import json, sys; print(*json.load(sys.stdin))'); do
    [[ $("$garth" help "$c") == *"  -q, --quiet "* ]] || complain "$c"
    [[ $("$garth" completion bash "$c" --qui) == --quiet ]] || complain "$c"
  done
  grep -q 'quiet' "$GARTH_BUILD/man/garth-merge.1"
}

@test "H8 messages: on a terminal there is a hint as well" {
  terminals <<'PY'
t = Terminal([GARTH, "new", "t"])
t.expect("task 't' is made")
t.expect("garth shell t")
assert t.wait() == 0
t = Terminal([GARTH, "discard", "-q", "t"])
assert t.wait() == 0 and not t.seen, t.seen
PY
}

@test "ESCAPES 31 messages: a command to copy runs nothing that the name of a downloaded directory or branch says" {
  evil="$T/x';touch pwned;'y"
  git clone -q "$R" "$evil"
  cd "$evil"
  git switch -qc 'main;touch${IFS}pwned'
  git config core.sshCommand x
  "$garth" run -q -t t -- sh -c 'echo b >b; git add b; git commit -qm b'
  (cd "$R"; "$garth" new -q t >/dev/null)
  # each hint goes to a shell, whose git and garth are a program that does nothing
  mkdir "$T/bin"
  ln -s /bin/true "$T/bin/git"
  ln -s /bin/true "$T/bin/garth"
  copied() {
    call "$@"
    [[ $code != 0 && $(sed -n 's/^↳ //p' <<<"$err") == *touch* ]] || complain || return
    (cd "$T" && PATH=$T/bin:/usr/bin:/bin sh -c "$(sed -n 's/^↳ //p' <<<"$err")") || complain || return
    [[ ! -e $T/pwned ]] || complain
  }
  # the control: quotes alone do not help
  (cd "$T" && PATH=$T/bin:/usr/bin:/bin sh -c "git -C '$evil' status" || true)
  [[ -e $T/pwned ]]
  rm "$T/pwned"
  copied "$garth" push t
  echo z >b
  copied "$garth" merge t
  touch .git/MERGE_HEAD
  copied "$garth" merge t
  rm .git/MERGE_HEAD b
  cd "$T"
  copied "$garth" show t
  # nor is a path put between quotes by hand anywhere else
  not grep -rnE "hint\([^;]*'%s" "$GARTH_TOP/src"
}
