load helpers

sql() { python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(*c.execute(sys.argv[2])); c.commit()' "$GARTH_HOME/garth.db" "$1"; }

@test "J10 store: SQLite in WAL mode, closed to others" {
  "$garth" new t
  [[ $(sql 'PRAGMA journal_mode') == "('wal',)" ]]
  [[ $(sql 'PRAGMA integrity_check') == "('ok',)" ]]
  [[ $(stat -c %a "$GARTH_HOME") == 700 ]]
  [[ $(stat -c %a "$GARTH_HOME/garth.db") == 600 ]]
}

@test "ESCAPES 30 store: a newer version's store is left alone, by every command" {
  "$garth" new t
  version=$(sql 'PRAGMA user_version' | tr -dc 0-9)
  sql 'PRAGMA user_version = 999' >/dev/null
  sha256sum "$GARTH_HOME/garth.db" >"$T/sum"
  fingerprint >"$T/before"; leftovers >"$T/left"
  for c in ls "new u" "run -- true" "exec t -- true" "show t" "path t" "diff t" "log t" "export t $T/x" "discard -fD t" \
    "attach t" "cancel t" "publish t" "allow t" "snapshot t" "rollback t --full" "sync t" "merge t" undo doctor; do
    fails 1 "was written by a newer garth (version 999, this one knows $version)" "$garth" $c
  done
  sha256sum -c --quiet "$T/sum"
  fingerprint | diff "$T/before" -; leftovers | diff "$T/left" -
  sql "PRAGMA user_version = $version" >/dev/null
  inside t true
}

@test "ESCAPES 26 store: with an unreadable store nothing is lost" {
  "$garth" run -t t --on-dirty keep -- sh -c 'echo work >work'
  mkdir "$T/good"; mv "$GARTH_HOME"/garth.db* "$T/good"
  head -c 5000 /dev/urandom >"$GARTH_HOME/garth.db"
  for c in ls "new u" "discard -fD t" "doctor" "exec t -- true"; do fails 1 "garth.db" "$garth" $c; done
  rm -f "$GARTH_HOME"/garth.db*; mkdir "$GARTH_HOME/garth.db"
  for c in ls "new u" doctor; do fails 1 "garth.db" "$garth" $c; done
  rmdir "$GARTH_HOME/garth.db"; mv "$T/good"/* "$GARTH_HOME"
  [[ $(inside t cat work) == work ]]
}

@test "ESCAPES 26 store: if the store is lost, the work is still there" {
  "$garth" run -t t --on-dirty keep -- sh -c 'echo work >work'
  id=$(ident 1)
  rm "$GARTH_HOME"/garth.db*
  fails 3 "there is no task 't'" "$garth" discard -fD t
  "$garth" ls
  [[ $(cat "$GARTH_HOME"/tasks/$id/upper/work) == work ]]
  "$garth" new u
  [[ $(cat "$GARTH_HOME"/tasks/$id/upper/work) == work ]]
  [[ $(field u id) != "$id" ]]
  git branch -D -q garth/t
  "$garth" new t; "$garth" discard t; "$garth" discard u
  [[ $(cat "$GARTH_HOME"/tasks/$id/upper/work) == work ]]
}

@test "ESCAPES 26 store: if the store is lost, a worktree is not taken for a new task's" {
  "$garth" new t --backend worktree; inside t 'echo work >work'
  rm "$GARTH_HOME"/garth.db*
  fails 1 "there is a branch 'garth/t' already" "$garth" new t --backend worktree
  [[ $(cat "$GARTH_HOME/worktrees/t/work") == work ]]
  git worktree unlock "$GARTH_HOME/worktrees/t"
  git -C "$GARTH_HOME/worktrees/t" checkout -q --detach; git branch -D -q garth/t
  fails 1 "is there already" "$garth" new t --backend worktree
  [[ $(cat "$GARTH_HOME/worktrees/t/work") == work ]]
  [[ -z $(git for-each-ref refs/heads/garth) ]]
  [[ $("$garth" ls --json | json 'd["tasks"]') == "[]" ]]
}

@test "ESCAPES 30 store: a clock that jumps does no harm" {
  "$garth" new t
  sql "UPDATE task SET created = created + 100000000, changed = changed + 100000000" >/dev/null
  call "$garth" ls
  [[ $code == 0 ]] || complain
  [[ $out == *' now'* ]] || complain
  sql "UPDATE task SET created = -5" >/dev/null
  "$garth" ls; "$garth" show t; "$garth" ls --json | json 'd["tasks"][0]["name"]'
  "$garth" discard t
}

@test "J10 store: many writers and readers at once" {
  "$garth" new warm
  for i in {1..12}; do ("$garth" new -q "p$i" && "$garth" exec "p$i" -- true && "$garth" discard -q "p$i") >"$T/o$i" 2>&1 3>&- & done
  for i in {1..12}; do "$garth" ls --json >"$T/l$i" 2>&1 3>&- & done
  wait
  for i in {1..12}; do [[ $(<"$T/o$i") == "p$i" ]] || { cat "$T/o$i"; false; }; json 'd["tasks"][0]["name"]' <"$T/l$i"; done
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["warm"]' ]]
  [[ $(leftovers | grep -v "^tasks/$(ident 1)$") == "" ]]
}
