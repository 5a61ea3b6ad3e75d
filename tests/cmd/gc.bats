load helpers

@test "T6 gc: unused bases are removed, the newest one, tasks and the trash stay" {
  "$garth" new old; inside old 'echo work >w; git add w; git commit -qm w'
  echo 2 >b; commit 2; "$garth" new mid; echo 3 >c; commit 3; "$garth" new now
  "$garth" discard -D old; "$garth" discard mid
  "$garth" gc
  [[ $(inside now 'cat c') == 3 ]]
  [[ -d $GARTH_HOME/trash/$(ident 1) ]]
  "$garth" undo old
  [[ $(inside old 'cat w') == work ]]
}

@test "T6 gc: expired trash is removed, or all of it on request, with its pins" {
  "$garth" new t; inside t 'echo work >w; git add w; git commit -qm w'
  "$garth" discard -D t
  [[ -n $(git for-each-ref refs/garth/trash) ]]
  "$garth" gc --json | grep -q '"emptied": 0'
  touch -d '8 days ago' "$GARTH_HOME/trash/$(ident 1)"
  "$garth" gc --json | grep -q '"emptied": 1'
  [[ -z $(ls -A "$GARTH_HOME/trash") ]]
  [[ -z $(git for-each-ref refs/garth/trash) ]]
  run "$garth" undo t
  [[ $status != 0 ]]
  [[ $output == *✗* ]]
  "$garth" new u
  inside u 'echo work >w'
  "$garth" discard -f u
  "$garth" gc --empty-trash
  [[ -z $(ls -A "$GARTH_HOME/trash") ]]
  git fsck --strict --no-dangling
}

@test "T7 gc: shows what uses disk space, and the total" {
  "$garth" new t; inside t 'head -c 3000000 /dev/urandom >/tmp/f'
  call "$garth" gc
  [[ $out == *'tasks'*[34].[0-9]' MB'* ]]
  [[ $out == *bases* ]]
  [[ $out == *trash* ]]
  [[ $out == *freed* ]]
  "$garth" gc --json | python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["usage"]["tasks"] > 3000000 and d["version"] == 2, d'
}

@test "T6 gc: while tasks are made, run and discarded, nothing is lost" {
  local i
  for i in 1 2 3; do (for j in 1 2 3 4; do "$garth" run -q --task "t$i-$j" -- sh -c "echo $i$j >w; git add w; git commit -qm w"; done) & done
  for _ in 1 2 3 4 5 6; do "$garth" gc >/dev/null; done
  wait
  for i in 1 2 3; do for j in 1 2 3 4; do [[ $(git show "garth/t$i-$j:w") == "$i$j" ]]; done; done
  "$garth" gc >/dev/null
  [[ $(inside t1-1 'cat w') == 11 ]]
}
