load helpers

names() { "$garth" ls --json | json '" ".join(sorted(t["name"] for t in d["tasks"]))' | tr -d '"'; }

@test "T6 ESCAPES 26 cleanup: work that exists only once is kept and named, the rest is removed" {
  "$garth" new empty
  "$garth" new files; inside files 'echo x >x'
  "$garth" new commits; inside commits 'echo x >x; git add x; git commit -qm x'
  "$garth" new drafts; inside drafts 'GARTH_GATEWAY=1 git commit -q --allow-empty -m x'
  "$garth" new merged; inside merged 'echo y >y; git add y; git commit -qm y'; "$garth" merge --keep merged
  "$garth" run -d -t busy -- sleep 1000
  call "$garth" cleanup --all-inactive -n
  [[ $code == 0 ]] || complain
  [[ $out == $'empty\nmerged' ]] || complain
  [[ $(names) == 'busy commits drafts empty files merged' ]] || complain
  call "$garth" cleanup --all-inactive
  [[ $code == 0 ]] || complain
  [[ $out == $'empty\nmerged' ]] || complain
  [[ $(names) == 'busy commits drafts files' ]] || complain
  for name in files commits drafts busy; do [[ $err == *"task '$name'"* ]] || complain "$name"; done
  # the files on lines of their own
  [[ $err == *$'1 changed file\n  A x\n'* ]] || complain
  [[ $(inside files 'cat x') == x ]]
  [[ $(git show garth/commits:x) == x ]]
  [[ $(state_of busy) == running ]]
  # a removed task can still be restored
  "$garth" undo merged; [[ $(names) == 'busy commits drafts files merged' ]]
  "$garth" cancel busy
}

@test "T6 ESCAPES 26 cleanup: --force-all names what would be lost and asks for the word" {
  "$garth" new files; inside files 'echo x >x'
  "$garth" new empty
  "$garth" run -d -t busy -- sleep 1000
  for word in '' yes 'remove it'; do
    code=0
    "$garth" cleanup --force-all <<<"$word" >"$T/out" 2>"$T/err" || code=$?
    [[ $code == 4 ]] || complain "$(cat "$T/err")"
    [[ ! -s $T/out && $(<"$T/err") == *"task 'files' has the only copy of its work: 1 changed file"$'\n  A x\n'*"nothing was removed"* && $(names) == 'busy empty files' ]] || complain "$(cat "$T/err")"
  done
  code=0
  "$garth" cleanup --force-all </dev/null >"$T/out" 2>"$T/err" || code=$?
  [[ $code == 4 ]] || complain
  [[ $(names) == 'busy empty files' ]] || complain
  "$garth" cleanup --force-all <<<remove >"$T/out" 2>"$T/err"
  [[ $(<"$T/out") == $'files\nempty' ]] || complain "$(cat "$T/out" "$T/err")"
  [[ $(names) == busy ]] || complain "$(cat "$T/out" "$T/err")"
  "$garth" undo files
  [[ $(inside files 'cat x') == x ]]
  "$garth" cancel busy
}

@test "T6 cleanup: --older-than counts from the last event" {
  "$garth" new old; "$garth" new young
  python3 - "$GARTH_HOME/garth.db" <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1]); db.execute("UPDATE task SET created = created - 90000, changed = changed - 90000 WHERE name = 'old'"); db.commit()
PY
  [[ $("$garth" cleanup --older-than 2d --json | json '[d["discarded"], d["kept"]]') == '[[], []]' ]]
  [[ $("$garth" cleanup --older-than 1d --json | json 'd["discarded"]') == '["old"]' ]]
  [[ $(names) == young ]]
  [[ $("$garth" cleanup --older-than 0s --json | json 'd["discarded"]') == '["young"]' ]]
}

@test "O3 cleanup: usage" {
  for args in '' '--all-inactive --force-all' '--all-inactive --older-than 1d' '--older-than' '--older-than x' '--older-than 1' '--older-than -1d' '--older-than 1dd' 'task'; do
    # shellcheck disable=SC2086
    call "$garth" cleanup $args
    [[ $code == 2 ]] || complain "$args"
    [[ -z $out ]] || complain "$args"
  done
  [[ $("$garth" cleanup --all-inactive --json | json '[d["discarded"], d["kept"], d["dry_run"]]') == '[[], [], false]' ]]
}

@test "T6 cleanup: merged tasks are removed hourly, or on request, and no others" {
  for t in m n; do
    "$garth" new $t
    inside $t "echo $t >$t; git add .; git commit -qm $t"
    "$garth" merge --keep $t
  done
  "$garth" new open
  "$garth" new left
  inside left 'echo 1 >1; git add .; git commit -qm 1'
  "$garth" merge --keep left
  inside left 'echo more >more'
  call "$garth" cleanup --merged -n
  [[ $code == 0 ]] || complain
  [[ $out == $'m\nn' ]] || complain
  "$garth" discard m
  call "$garth" serve --once
  [[ $(names) == 'left open' ]] || complain
  [[ $err == *"'n'"* ]] || complain
  [[ $(inside left 'cat more') == more ]]
  "$garth" undo n
  [[ $(state_of n) == merged ]]
  # a task that was restored is not removed again
  sqlite3 "$GARTH_HOME/garth.db" "UPDATE fact SET value = value - 3600 WHERE key = 'serve_hourly'"; "$garth" serve --once 2>/dev/null; [[ $(names) == 'left n open' ]]
  call "$garth" cleanup --merged; [[ $out == n ]] || complain
}
