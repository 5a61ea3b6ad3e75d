load helpers
load merging

@test "ESCAPES 29 merge: the user's changes in the way are named, and nothing changes" {
  task t 'echo theirs >>a.txt; git rm -q dir/b.txt; echo new >n.txt; mkdir -p new/deep; echo x >new/deep/f; git rm -q run.sh; mkdir run.sh; echo x >run.sh/inner'
  move_on
  for c in 'echo mine >>a.txt:a.txt' 'echo mine >a.txt; git add a.txt:a.txt' 'rm a.txt:a.txt' 'git rm -q --cached a.txt:a.txt' 'echo mine >dir/b.txt:dir/b.txt' \
    'rm a.txt; mkdir a.txt; echo x >a.txt/y:a.txt' 'echo mine >n.txt:n.txt' 'mkdir n.txt:n.txt' 'ln -s /nowhere n.txt:n.txt' 'mkfifo n.txt:n.txt' \
    'echo mine >new:new/deep/f' 'mkdir -p new/deep/f/g; echo mine >new/deep/f/g/h:new/deep/f' 'mkdir '"$T"'/dir1; ln -s '"$T"'/dir1 new:new/deep/f' \
    'mv dir '"$T"'/dir2; ln -s '"$T"'/dir2 dir:dir/b.txt' 'echo n >n.txt; git add n.txt; rm n.txt:n.txt' 'mkdir n.txt; echo x >n.txt/staged; git add n.txt/staged; rm -r n.txt:n.txt/staged' \
    'echo mine >>a.txt; git update-index --assume-unchanged a.txt:a.txt' 'git update-index --skip-worktree a.txt:a.txt' 'echo other >run.sh:run.sh' 'chmod -x run.sh:run.sh'; do
    git worktree prune; rm -rf "$T/case"; cp -a "$R" "$T/case"
    eval "${c%:*}"
    for s in '' --dry-run; do
      changes_nothing 5 "in the way in '$R'" "$garth" merge t $s
      [[ $err == *"  ${c##*:}"* ]] || complain "$c"
    done
    nothing_beside
    rm -rf "$T/dir1" "$T/dir2"; rm -rf "$R"; cp -a "$T/case" "$R"; cd "$R"
  done
  call "$garth" merge t --json
  [[ $code == 0 ]] || complain
  [[ $(<run.sh/inner) == x ]] || complain
  [[ $(<new/deep/f) == x ]] || complain
  tidy
}

@test "ESCAPES 29 merge: ignored files in the way are the user's too; ignored files elsewhere stay" {
  task t 'git add -f . ; echo x >keep.o; mkdir ignored; echo x >ignored/f; git add -f keep.o ignored/f'
  echo mine >keep.o
  changes_nothing 5 "in the way" "$garth" merge t
  [[ $err == *"  keep.o"* ]] || complain
  rm keep.o; mkdir ignored; echo mine >ignored/f
  changes_nothing 5 "in the way" "$garth" merge t
  [[ $(hint) == "git -C '$R' status --ignored" ]] || complain
  mv ignored/f ignored/g; echo other >z.o
  call "$garth" merge t
  [[ $code == 0 ]] || complain
  [[ $(<ignored/g) == mine ]] || complain
  [[ $(<ignored/f) == x ]] || complain
  [[ $(<z.o) == other ]] || complain
  nothing_beside
}

@test "ESCAPES 29 merge: changes elsewhere, staged and not, stay as they are" {
  task t 'echo theirs >>a.txt; echo new >n.txt'
  move_on
  echo mine >>dir/b.txt; echo staged >>dir/sub/c.txt; git add dir/sub/c.txt; rm run.sh; echo u >untracked; touch a.txt
  git status --porcelain >"$T/before"
  call "$garth" merge t
  [[ $code == 0 ]] || complain
  git status --porcelain | diff "$T/before" -
  [[ $(<a.txt) == $'one\ntheirs' ]]
  [[ $(<n.txt) == new ]]
  [[ $(git diff --cached --name-only) == dir/sub/c.txt ]]
  [[ $(<dir/b.txt) == $'two\nmine' ]]
  [[ ! -e run.sh ]]
  nothing_beside
}

@test "ESCAPES 29 merge: a merge, rebase, pick, revert or bisect in progress is left alone, by name" {
  task t 'echo new >n.txt'
  git checkout -q -b side; echo side >a.txt; commit side; git checkout -q main; echo main >a.txt; commit main; echo main2 >a.txt; commit main2
  for c in 'merge side:a merge is' 'cherry-pick side:a cherry-pick' 'revert HEAD~1:a revert' 'rebase side:a rebase of it' 'bisect start HEAD HEAD~2:a bisect of it' 'bisect start:a bisect is'; do
    git ${c%:*} >/dev/null 2>&1 || true
    changes_nothing 5 "${c##*:}" "$garth" merge t
    [[ $err == *"in progress in '$R', which is left alone"* ]] || complain "$c"
    case $c in bisect*) git bisect reset ;; *) git "${c%% *}" --abort ;; esac 2>/dev/null
  done
  touch .git/index.lock
  changes_nothing 1 "another git command is at work" "$garth" merge t
  [[ -e .git/index.lock ]]; rm .git/index.lock
  "$garth" merge t
  tidy
}

@test "ESCAPES 29 merge: a target that is checked out in another worktree, and one that is rebased there" {
  task t 'echo new >n.txt; echo 2 >>a.txt'
  git checkout -q -b mine
  git worktree add -q "$T/elsewhere x" main
  fingerprint | grep -v refs/heads/main >"$T/fingerprint"
  echo mine >>"$T/elsewhere x/a.txt"
  changes_nothing 5 "in the way in '$T/elsewhere x'" "$garth" merge t
  git -C "$T/elsewhere x" checkout -q a.txt
  call "$garth" merge t --json
  [[ $code == 0 ]] || complain
  [[ $(json 'd["checkout"]' <<<"$out") == "$T/elsewhere x" ]] || complain
  fingerprint | grep -v refs/heads/main | diff "$T/fingerprint" -
  [[ $(<"$T/elsewhere x/n.txt") == new ]]
  [[ -z $(git -C "$T/elsewhere x" status --porcelain) ]]
  [[ $(git -C "$T/elsewhere x" reflog -1 --format=%gs) == "garth merge"* ]]
  tidy
  task u 'echo u >u.txt'
  git checkout -q -b side main~1; echo side >a.txt; commit side
  git -C "$T/elsewhere x" rebase side >/dev/null 2>&1 || true
  changes_nothing 5 "a rebase of it is in progress in '$T/elsewhere x'" "$garth" merge u --into main
}

# All is as before the merge, or all is as after it.
old_or_new() {
  local now; now=$(at_main)
  if [[ $now == "$old" ]]; then [[ ! -e n.txt && $(<a.txt) == one && -e dir/b.txt && $(state_of t) == created ]] || complain "half old"
  else [[ $(<n.txt) == new && $(<a.txt) == $'one\n2' && ! -e dir/b.txt && $(state_of t) == merged ]] || complain "half new"; fi
  tidy
}

@test "ESCAPES 23 merge: killed at each step, doctor finishes or undoes it" {
  task t 'echo new >n.txt; echo 2 >>a.txt; git rm -q dir/b.txt; mkdir nd; echo x >nd/f'
  if without_faults; then return 0; fi
  move_on; old=$(at_main); echo mine >z.o
  for s in '' --squash; do
    for step in merge-journal:old merge-prepared:old merge-half:old merge-tree:old merge-moved:new merge-stored:new; do
      call env GARTH_FAULT="${step%:*}" "$garth" merge t $s
      [[ $code == 137 ]] || complain "did not die at $step"
      eventually not test -e .git/refs/heads/main.lock
      call "$garth" doctor --repair
      [[ $code == 0 ]] || complain "$step"
      [[ $out == *"merge of 't' into main: "* ]] || complain "$step"
      if [[ ${step#*:} == old ]]; then
        [[ $(at_main) == "$old" ]] || complain "$step"
      else
        [[ $(at_main) != "$old" ]] || complain "$step"
      fi
      old_or_new
      [[ $(<z.o) == mine ]]
      call "$garth" doctor
      [[ $code == 0 ]] || complain
      [[ $out != *▲* ]] || complain
      [[ -z $err ]] || complain
      "$garth" audit --verify
      if [[ ${step#*:} == new ]]; then
        [[ $(sqlite3 "$GARTH_HOME/garth.db" 'select count(*) from deed where undone = 0') == 1 ]]
        "$garth" undo t
        [[ $(at_main) == "$old" ]] || complain
        [[ $(state_of t) == created ]] || complain
        old_or_new
      fi
    done
  done
}

@test "ESCAPES 23 merge: after a crash the next merge cleans up, without doctor" {
  task t 'echo new >n.txt; echo 2 >>a.txt; git rm -q dir/b.txt'; task u 'echo u >u.txt'
  if without_faults; then return 0; fi
  for step in merge-half merge-tree merge-moved; do
    old=$(at_main)
    call env GARTH_FAULT=$step "$garth" merge t
    [[ $code == 137 ]] || complain
    eventually not test -e .git/refs/heads/main.lock
    call "$garth" merge --keep t
    [[ $code == 0 ]] || complain "$step"
    old_or_new
    "$garth" undo t
    tidy
  done
}

@test "ESCAPES 23 merge: what the user did to a file after the crash stays" {
  task t 'echo 2 >>a.txt; echo new >n.txt'
  if without_faults; then return 0; fi
  call env GARTH_FAULT=merge-tree "$garth" merge t
  echo mine >>a.txt; echo mine >>n.txt
  eventually not test -e .git/refs/heads/main.lock
  call "$garth" doctor --repair
  [[ $code == 0 ]] || complain
  [[ $out == *"taken back; left as the user made it: "* ]] || complain
  [[ $(<a.txt) == $'one\n2\nmine' ]]
  [[ $(<n.txt) == $'new\nmine' ]]
  nothing_beside
  git fsck --strict
}

@test "ESCAPES 29 merge: a file that is changed or appears during the merge is not lost" {
  task t 'echo 2 >>a.txt; echo new >n.txt; git rm -q dir/b.txt'
  if without_faults; then return 0; fi
  for c in 'echo mine >>a.txt:a.txt' 'echo mine >n.txt:n.txt' 'echo mine >dir/b.txt:dir/b.txt' 'echo mine >x; mv x a.txt:a.txt'; do
    GARTH_FAULT=stop:merge-prepared "$garth" merge t >"$T/o" 2>&1 3>&- & pid=$!
    eventually stopped $pid
    eval "${c%:*}"; cp "${c##*:}" "$T/kept"
    git status --porcelain >"$T/before"
    kill -CONT $pid; code=0; wait $pid || code=$?
    [[ $code == 5 ]] && grep -q "${c##*:}" "$T/o" || { cat "$T/o"; complain "$c"; }
    cmp "$T/kept" "${c##*:}"
    git status --porcelain | diff "$T/before" -
    nothing_beside
    rm -f n.txt; git checkout -q .
  done
  "$garth" merge t
  tidy
}

@test "ESCAPES 29 merge: the target moves during the merge: the merge is made anew" {
  task t 'echo 2 >>a.txt'
  if without_faults; then return 0; fi
  git checkout -q --detach
  GARTH_FAULT=stop:merge-journal "$garth" merge t >"$T/o" 2>&1 3>&- & pid=$!
  eventually stopped $pid
  git update-ref refs/heads/main "$(git commit-tree -p main -m moved 'main^{tree}')"
  kill -CONT $pid
  eventually stopped $pid
  kill -CONT $pid
  code=0
  wait $pid || code=$?
  [[ $code == 0 ]] || {
    cat "$T/o"
    git log --graph main
    false
  }
  [[ $(git log -1 --format=%s main) == "Merge task 't'" ]] || {
    cat "$T/o"
    git log --graph main
    false
  }
  [[ $(git log -1 --format=%s main^1) == moved ]] || {
    cat "$T/o"
    git log --graph main
    false
  }
}

@test "ESCAPES 24 merge: a full disk at any step: all of it is done, or nothing is" {
  export -f inside json complain; export garth T R python
  on_small 24 '
    set -eE; trap "echo failed: \$BASH_COMMAND, with $left KB left; cat $T/out" ERR
    cp -a "$R" "$T/small/app"; R=$T/small/app; cd "$R"
    "$garth" new t
    inside t "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do mkdir -p n\$i; head -c 40000 /dev/urandom >n\$i/f; done; echo x >>a.txt; git add -A; git commit -qm work"
    echo y >>run.sh; git commit -qam "main goes on"
    old=$(git rev-parse main); before=$(git ls-files -s | sha256sum; find . -path ./.git -prune -o -type f -print | sort | xargs sha256sum)
    merged=0
    for left in 0 4 8 12 16 24 32 48 64 96 128 192 256 384 512 640 768 4096; do
      avail=$(df -k --output=avail "$T/small" | tail -n1)
      ((avail - left <= 0)) || head -c $(((avail - left) * 1024)) /dev/zero >"$T/small/fill" 2>/dev/null || true
      code=0; "$garth" merge t >"$T/out" 2>&1 || code=$?
      rm -f "$T/small/fill"
      git fsck --strict 2>"$T/fsck"
      [[ -z $(git status --porcelain) ]]
      if ((code)); then
        [[ $(git rev-parse main) == "$old" ]]
        [[ $(git ls-files -s | sha256sum; find . -path ./.git -prune -o -type f -print | sort | xargs sha256sum) == "$before" ]]
      else
        merged=$((merged + 1))
        [[ $(git show main:a.txt | tail -n1) == x && -s n12/f ]]
        "$garth" undo >/dev/null
        [[ $(git rev-parse main) == "$old" ]]
      fi
    done
    ((merged > 0 && merged < 18)); echo "merged $merged"
  ' >"$T/log" 2>&1 || complain "$(<"$T/log")"
}
