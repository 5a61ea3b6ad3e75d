load helpers

set_up() {
  printf '*.o\nignored/\ndeps/\n.env\n' >.gitignore; echo .env >.worktreeinclude; echo 1 >pkg.lock; commit locks; echo S >.env
  configure <<<$'workspace:\n  setup_inputs: [pkg.lock]\n  setup: ["mkdir deps; head -c 100000 /dev/zero >deps/big; cp pkg.lock deps/v"]\n'
}

layers() { find "$GARTH_HOME/layers" -mindepth 2 -maxdepth 2 -name "${1:-*}-*" ! -name '*.*'; }
kinds() { "$garth" cache --json | json '[[i["kind"], i["task_names"]] for i in d["cache"]]'; }

@test "W7 cache: bases, deltas, set-up layers and includes are shown with their sizes and users" {
  set_up
  "$garth" new a
  echo 2 >a.txt; commit two
  "$garth" new b
  [[ $(kinds) == *'["base", ["b", "a"]]'* || $(kinds) == *'["base", ["a", "b"]]'* ]] || complain "$(kinds)"
  [[ $(kinds) == *'["delta", ["b"]]'* ]]
  [[ $(kinds) == *'["setup", ["a", "b"]]'* ]]
  [[ $(kinds) == *'["include", ["a", "b"]]'* ]]
  [[ $("$garth" cache --json | json '[i["bytes"] > 100000 for i in d["cache"] if i["kind"] == "setup"] + [d["bytes"] > 100000]') == '[true, true]' ]]
  call "$garth" cache
  [[ $out == *'app '*' setup '*' setup-'*' KB  a, b  # mkdir deps'* ]] || complain
}

@test "W7 cache: what no task uses is removed; the newest set-up stays, except with --prune" {
  set_up
  "$garth" new a
  echo 2 >pkg.lock; commit two; echo T >.env
  "$garth" new b
  [[ $(layers setup | wc -l) == 2 && $(layers include | wc -l) == 2 ]]
  "$garth" discard a; "$garth" discard b
  "$garth" gc --empty-trash
  [[ $(layers setup | wc -l) == 1 && -z $(layers include) ]]
  [[ $(cat "$(layers setup)"/tree/deps/v) == 2 ]]
  "$garth" cache --prune
  [[ -z $(layers) ]]
  [[ $(kinds) == '[["base", []]]' ]]
}

@test "W7 cache: layers of tasks in the trash stay, and those in use stay with --prune" {
  set_up
  "$garth" new a; inside a 'echo w >w'; "$garth" discard -f a
  "$garth" gc >/dev/null
  call "$garth" cache --prune
  [[ $out == *" setup "*" a (in the trash)  # mkdir deps"* && $out != *"setup"*unused* ]] || complain
  [[ $err == *"2 layers are kept for tasks in the trash: garth gc --empty-trash" ]] || complain
  [[ $("$garth" cache --json | json '[[i["task_names"], i["trashed"]] for i in d["cache"] if i["kind"] == "setup"]') == '[[[], ["a"]]]' ]]
  "$garth" undo a
  [[ $(inside a 'cat deps/v .env w' | tr '\n' ' ') == '1 S w ' ]]
  "$garth" cache --prune >/dev/null
  [[ $(inside a 'cat deps/v .env w' | tr '\n' ' ') == '1 S w ' ]]
}

@test "W7 cache: doctor finds a changed layer and an incomplete one; after the repair, neither is used" {
  set_up
  "$garth" new a
  l=$(layers setup)
  mkdir "$l.part"
  sleep 0.02; echo evil >"$l/tree/deps/v"
  call "$garth" doctor --json
  [[ $(json '[f["kind"] for f in d["findings"]]' <<<"$out") == *layer-half*layer-changed* ]] || complain
  call "$garth" doctor --repair
  [[ ! -e $l && ! -e $l.part ]] || complain
  call "$garth" exec a -- cat deps/v
  [[ $code != 0 && $err == *'are gone (setup-'*'garth warm makes them again'* ]] || complain
  "$garth" new b
  [[ $(inside b 'cat deps/v') == 1 ]]
  [[ $(inside a 'cat deps/v') == 1 ]]
  call "$garth" doctor
  [[ $code == 0 ]] || complain
}

@test "W7 cache: a layer that was not synced before a crash is made again" {
  set_up
  "$garth" new a
  echo another-boot >"$(layers setup)/boot"
  rm "$(layers setup)/tree/deps/v"
  "$garth" new b
  [[ $(inside b 'cat deps/v') == 1 ]]
}

@test "W7 cache: while tasks are made, gc takes no layer away from them" {
  set_up
  for i in 1 2 3; do (for j in 1 2 3; do echo $i$j >"$T/e$i"; mv "$T/e$i" .env; "$garth" new "t$i-$j" >/dev/null 2>&1; done) 3>&- & done
  for _ in 1 2 3 4 5 6; do "$garth" cache --prune >/dev/null 2>&1; done
  wait
  for i in 1 2 3; do for j in 1 2 3; do [[ $(inside "t$i-$j" 'cat deps/v; test -s .env && echo env' | paste -sd' ') == '1 env' ]]; done; done
}
