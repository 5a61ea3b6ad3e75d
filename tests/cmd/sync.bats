load helpers
# a clone's repository is like an overlay's and its files like a worktree's; cmd/clone has the rest
backends=(overlay worktree)

tip() { git rev-parse "refs/heads/garth/${1:-t}"; }
whole() { git fsck --strict --no-dangling >/dev/null && "$garth" audit --verify >/dev/null; }
# all_of TASK: every file of the workspace with its content, mode and kind, as seen inside.
all_of() { inside "$1" 'find . -path ./.git -prune -o -printf "%P %y %m %l\n" | sort; find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; git status --porcelain --ignored'; }
configure() { cat >"$T/config.yaml"; export GARTH_CONFIG=$T/config.yaml; }
# A task that counts, every 50 ms, in a file.
counting() { "$garth" run -d -t "${1:-t}" "${@:2}" -- sh -c 'while :; do echo x >>count; sleep 0.05; done'; }
event() { "$garth" audit "${2:-t}" --json | json "[e['event'] for e in d['events'] if e['event'] in ('pause', 'resume', 'sync-conflict')]"; }
follows() { [[ $(git log -1 --format=%s garth/$1~1 2>/dev/null) == "$2" ]]; }
notes() { [[ $("$garth" show "$1") == *"$2"* ]]; }

@test "G11 sync: the target's commits are merged in; a second sync does nothing; local changes stay" {
  for b in "${backends[@]}"; do
    for how in rebase merge; do
      flag=; if [[ $how == merge ]]; then flag=--merge; fi
      t=$how-$b
      "$garth" new $t --backend $b
      inside $t 'echo w >work.txt; git add -A; git commit -qm work; echo dirty >>run.sh; echo u >untracked; echo o >x.o'
      old=$(tip $t)
      echo "$t" >>a.txt; echo "$t" >"new-$t"; commit "main for $t"
      call "$garth" sync $t $flag --json
      [[ $code == 0 ]] || complain "$t"
      [[ $(json 'd["moved"]' <<<"$out") == true ]] || complain "$t"
      [[ $(json 'd["base"]' <<<"$out") == $(git rev-parse main) ]] || complain "$t"
      [[ $(json 'd["tip"]' <<<"$out") == $(tip $t) ]] || complain "$t"
      git merge-base --is-ancestor main garth/$t
      [[ $how == merge ]] && git merge-base --is-ancestor "$old" garth/$t
      [[ $(field $t base) == $(git rev-parse main) ]] || complain "$t"
      [[ $(git diff --name-only main garth/$t) == work.txt ]] || complain "$t"
      [[ $(inside $t "tail -n 1 run.sh; cat untracked x.o new-$t work.txt; git rev-parse HEAD") == $'dirty\nu\no\n'"$t"$'\nw\n'"$(tip $t)" ]] || complain "$t"
      [[ $(inside $t 'git status --porcelain') == $' M run.sh\n?? untracked' ]] || complain "$t"
      # the old tip is kept
      is_kept "$old" || complain "$t"
      tip=$(tip $t)
      call "$garth" sync $t $flag --json
      [[ $code == 0 ]] || complain "$t"
      [[ $(json 'd["moved"]' <<<"$out") == false ]] || complain "$t"
      [[ $(tip $t) == "$tip" ]] || complain "$t"
      inside $t 'git add run.sh; git commit -qm on'
      [[ $(git rev-parse "garth/$t~1") == "$tip" ]] || complain "$t"
      [[ $("$garth" diff $t --json | json 'sorted(f["path"] for f in d["files"])') == '["run.sh", "untracked", "work.txt"]' ]] || complain "$("$garth" diff $t --json)"
    done
  done
  whole
}

@test "G11 sync: a conflict names the files, and nothing changes inside or outside" {
  for b in "${backends[@]}"; do
    for how in rebase merge; do
      flag=; if [[ $how == merge ]]; then flag=--merge; fi
      t=$how-$b
      "$garth" new $t --backend $b
      inside $t "echo theirs-$t >a.txt; git commit -qam work; echo other >other; git add other; git commit -qm other; echo dirty >>run.sh; echo staged >staged; git add staged; echo u >untracked"
      echo "ours-$t" >a.txt; echo "more-$t" >>dir/b.txt; commit "main for $t"
      inside $t 'git rev-parse HEAD; /usr/bin/git stash list; ls .git | grep -E "MERGE_|rebase" || true' >"$T/before"; all_of $t >>"$T/before"
      git for-each-ref refs/heads >"$T/refs"; (git status --porcelain; git rev-parse HEAD) >"$T/host"
      call "$garth" sync $t $flag
      [[ $code == 5 ]] || complain "$t"
      [[ -z $out ]] || complain "$t"
      [[ $err == "✗ cannot sync task '$t': 1 file conflicts with main"$'\n  a.txt\n↳ garth merge --resolve '"$t" ]] || complain "$t"
      (
        inside $t 'git rev-parse HEAD; /usr/bin/git stash list; ls .git | grep -E "MERGE_|rebase" || true'
        all_of $t
      ) | diff -u "$T/before" - || complain "$t"
      git for-each-ref refs/heads | diff "$T/refs" - || complain "$t"
      (git status --porcelain; git rev-parse HEAD) | diff "$T/host" -
      call "$garth" sync $t $flag --json
      [[ $code == 5 ]] || complain "$t"
      [[ $(json 'd["conflicts"]' <<<"$out") == '[{"task": null, "path": "a.txt"}]' ]] || complain "$t"
    done
  done
  whole
}

@test "G11 sync: refused with a reason if it is impossible" {
  "$garth" new t
  inside t '/usr/bin/git switch -qc elsewhere'
  echo 2 >>a.txt; commit
  fails 4 "another branch" "$garth" sync t
  inside t '/usr/bin/git switch -q garth/t; echo u >newfile'
  echo n >newfile; commit
  # an untracked file is in the way: nothing is overwritten
  call "$garth" sync t
  [[ $code != 0 ]] || complain "$(inside t 'git status')"
  [[ $(inside t 'cat newfile; git status --porcelain') == $'u\n?? newfile' ]] || complain "$(inside t 'git status')"
  inside t 'rm newfile'
  "$garth" sync t
  [[ $(inside t 'cat newfile') == n ]]
  git checkout -q --detach; "$garth" new nowhere
  fails 4 "no target" "$garth" sync nowhere
  fails 3 "there is no task" "$garth" sync none
  whole
}

@test "G11 sync: an idle running task follows its target by itself" {
  configure <<<'sync: {auto_rebase: true, rebase_frequency: 1}'
  "$garth" run -d -t t -- sleep 1000
  inside t 'echo mine >mine; git add mine; git commit -qm mine'
  echo theirs >theirs; git add theirs; git commit -qm theirs
  eventually follows t theirs
  [[ $(inside t 'cat theirs mine') == $'theirs\nmine' ]]
  [[ $(state_of t) == running ]]
  # a task with uncommitted files is left alone
  inside t 'echo dirty >>a.txt'
  git commit -q --allow-empty -m more
  sleep 4
  [[ $(git log -1 --format=%s garth/t~1) == theirs ]]
}

@test "G10 G11 sync: on a conflict the task pauses, the files are named, and a resolution resumes it" {
  configure <<<'sync: {auto_rebase: true, rebase_frequency: 1}'
  counting
  inside t 'echo count >.git/info/exclude; echo mine >>a.txt; git commit -qam mine'
  old=$(git rev-parse garth/t)
  echo theirs >>a.txt; git commit -qam theirs
  eventually is_state t paused
  [[ $("$garth" show t) == *a.txt* ]] || complain "$("$garth" show t)" "$(event)"
  [[ $(git rev-parse garth/t) == "$old" ]] || complain "$("$garth" show t)" "$(event)"
  [[ $(event) == '["sync-conflict", "pause"]' ]] || complain "$("$garth" show t)" "$(event)"
  call "$garth" merge --resolve t
  r=$("$garth" ls --json | json '[t["name"] for t in d["tasks"] if t["name"] != "t"][0]')
  inside "$r" 'printf "%s\n" both >a.txt; git commit -qam solved'
  "$garth" merge --continue t
  [[ $(git show main:a.txt) == both ]]
  [[ $(state_of t) == running ]]
  # and if the user does not want it, it is only noted
  configure <<<'sync: {auto_rebase: true, rebase_frequency: 1, pause_on_conflict: false}'
  "$garth" run -d -t u -- sleep 1000
  inside u 'echo mine >>a.txt; git commit -qam mine'
  echo theirs >>a.txt; git commit -qam theirs
  eventually notes u "conflicts with main: a.txt"
  [[ $(state_of u) == running ]]
}

@test "G11 sync: a result that policy refuses leaves the inside as it was" {
  "$garth" new t
  inside t 'echo mine >mine; git add mine; git commit -qm mine; echo dirty >>a.txt; echo n >new'
  configure <<<'limits: {max_commits: 1}'
  old=$(git rev-parse garth/t)
  echo theirs >theirs; git add theirs; git commit -qm theirs
  before=$(inside t 'git rev-parse HEAD; git status --porcelain; cat a.txt new')
  call "$garth" sync t
  [[ $code == 4 ]] || complain
  [[ $(git rev-parse garth/t) == "$old" ]] || complain
  [[ $(inside t 'git rev-parse HEAD; git status --porcelain; cat a.txt new') == "$before" ]] || complain "$before" "$(inside t 'git rev-parse HEAD; git status --porcelain; cat a.txt new')"
}
