load helpers
# a clone's repository is like an overlay's and its files like a worktree's; cmd/clone has the rest
backends=(overlay worktree)

tip() { git rev-parse "refs/heads/garth/${1:-t}"; }
whole() { git fsck --strict --no-dangling >/dev/null && "$garth" audit --verify >/dev/null; }
snapshots() { "$garth" show "${1:-t}" --json | json "[[s['snapshot'], s['reason']] for s in d['snapshots']]"; }

# all_of TASK: every file of the workspace with its content, mode and kind, as seen inside.
all_of() { inside "$1" 'find . -path ./.git -prune -o -printf "%P %y %m %l\n" | sort; find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; git status --porcelain --ignored'; }

@test "T3 snapshots: a tip that a snapshot has is not kept twice, however often the branch moves back and forth" {
  "$garth" new t
  inside t 'for i in 1 2 3; do echo $i >f; git add f; git commit -qm $i; done; a=$(git rev-parse HEAD); git commit -q --amend -m b; b=$(git rev-parse HEAD)
    for i in 1 2 3 4; do git reset -q --hard $a; git reset -q --hard $b; done'
  [[ $(snapshots) == '[[1, "start"], [2, "rewrite"], [3, "rewrite"]]' ]] || complain "$(snapshots)"
  echo z >z; git add z; git commit -qm z; inside t 'echo more >more'
  "$garth" sync t
  [[ $(snapshots) == *'[4, "sync"]]' ]] || complain "$(snapshots)"
  "$garth" rollback t --to-snapshot 4; [[ $(inside t 'cat more; git log -1 --format=%s') == $'more\nb' ]]
}

@test "T3 snapshots: at the start, every ten commits, on demand" {
  configure <<<'snapshot: {every: 3}'
  "$garth" new t
  [[ $(snapshots) == '[[1, "start"]]' ]] || complain "$(snapshots)"
  inside t 'for i in 1 2 3 4 5 6 7; do echo $i >>a.txt; git commit -qam $i; done'
  [[ $(snapshots) == '[[1, "start"], [2, "every"], [3, "every"]]' ]] || complain "$(snapshots)"
  [[ $(git log --no-walk --format=%s $(kept_for t)) == 6 ]]
  call "$garth" snapshot t -m 'before lunch'
  [[ $code == 0 ]] || complain
  [[ $out == 4 ]] || complain
  [[ $("$garth" show t --json | json '[d["snapshots"][-1][k] for k in ["snapshot", "reason", "message", "has_files"]]') == '[4, "asked", "before lunch", true]' ]] ||
    complain "$("$garth" show t --json)"
  configure <<<'{}'
  "$garth" new d
  inside d 'for i in 1 2 3 4 5 6 7 8 9 10 11; do git commit -q --allow-empty -m $i; done'
  [[ $(snapshots d) == '[[1, "start"], [2, "every"]]' ]] || complain "$(snapshots d)"
  [[ $(git log --no-walk --format=%s $(kept_for d)) == 10 ]] || complain "$(snapshots d)"
  # pinned: the user's gc does not remove them
  old=$(tip)
  inside t 'git reset -q --hard HEAD~5'
  git gc -q --prune=now
  git cat-file -e "$old"
  whole
}

@test "T3 snapshots: what is kept is compressed" {
  "$garth" new t
  inside t 'head -c 4000000 /dev/zero >zeros'
  "$garth" snapshot t
  kept=$(find "$GARTH_HOME/tasks" -name '*.pack' -path '*snap*' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }')
  [[ $kept -gt 0 ]] || complain "$(find "$GARTH_HOME/tasks" -name '*.pack')"
  [[ $kept -lt 100000 ]] || complain "$kept"
}

@test "T3 rollback: --to-snapshot restores uncommitted and ignored files, running and stopped, both backends" {
  for b in "${backends[@]}"; do
    for how in stopped running; do
      t=$how-$b
      if [[ $how == running ]]; then "$garth" run -d -t $t --backend $b -- sleep 1000; else "$garth" new $t --backend $b; fi
      inside $t 'echo 1 >>a.txt; git commit -qam 1; echo dirty >>a.txt; echo u >"un tracked"; mkdir -p ignored/deep; echo i >ignored/deep/i; echo o >x.o; rm dir/b.txt; chmod +x dir/sub/c.txt; ln -s nowhere dangling; echo staged >staged; git add staged'
      all_of $t | grep -v '^[AM?! ][AMD?! ] ' >"$T/before"
      old=$(tip $t)
      number=$("$garth" snapshot $t)
      inside $t 'git add -A; git commit -qm 2; rm -rf ignored x.o dangling; echo other >after; echo more >>a.txt; mkdir empty; git add after; git commit -qm 3'
      new=$(tip $t)
      call "$garth" rollback $t --to-snapshot "$number" --json
      [[ $code == 0 ]] || complain "$t"
      [[ $(tip $t) == "$old" ]] || complain "$t"
      [[ $(json 'd["tip"]' <<<"$out") == "$old" ]] || complain "$t"
      all_of $t | grep -v '^[AM?! ][AMD?! ] ' | diff -u "$T/before" - || complain "$t"
      [[ $(inside $t 'git rev-parse HEAD; git symbolic-ref HEAD') == "$old"$'\nrefs/heads/garth/'$t ]]
      # the state before is kept, and can be restored
      before=$(json 'd["snapshot"]' <<<"$out")
      [[ $("$garth" show $t --json | json 'd["snapshots"][-1]["tip"]') == "$new" ]] || complain "$t"
      [[ $(kept_for $t) == "$new" ]] || complain "$t"
      "$garth" undo $t >/dev/null
      [[ $(tip $t) == "$new" ]] || complain "$t"
      [[ $(inside $t 'cat after; tail -n 1 a.txt; git rev-parse HEAD') == $'other\nmore\n'"$new" ]] || complain "$t"
      inside $t 'echo on >>a.txt; git commit -qam on'
      [[ $(tip $t) == $(inside $t 'git rev-parse HEAD') ]] || complain "$t"
      if [[ $b == worktree ]]; then [[ -z $(git -C "$GARTH_HOME/worktrees/$t" status --porcelain --untracked-files=no) ]] || complain "$(git -C "$GARTH_HOME/worktrees/$t" status)"; fi
    done
  done
  whole
}

@test "T3 rollback: --full returns to the start, untracked and ignored files are removed, and it can be undone" {
  for b in "${backends[@]}"; do
    for how in stopped running; do
      t=$how-$b
      if [[ $how == running ]]; then "$garth" run -d -t $t --backend $b -- sleep 1000; else "$garth" new $t --backend $b; fi
      all_of $t >"$T/before"
      inside $t 'echo 1 >>a.txt; git rm -q dir/b.txt; git commit -qam 1; echo u >u; mkdir -p ignored; echo i >ignored/i; echo o >x.o; echo staged >>link; git add -A; git init -q nested; echo n >nested/n; /usr/bin/git switch -qc elsewhere'
      new=$(tip $t)
      call "$garth" rollback $t --full -f
      [[ $code == 0 ]] || complain "$t"
      [[ $(tip $t) == $(git rev-parse main) ]] || complain "$t"
      all_of $t | diff -u "$T/before" - || complain "$t"
      kept_for $t | grep -qx "$new" || complain "$t"
      "$garth" undo $t >/dev/null
      [[ $(tip $t) == "$new" ]] || complain "$t"
      [[ $(inside $t 'cat u ignored/i x.o; test ! -e dir/b.txt') == $'u\ni\no' ]] || complain "$t"
    done
  done
  whole
}

@test "T3 rollback: --file restores one file, from the last commit or from a snapshot; odd bytes too" {
  odd=$'odd \xff\xfe "q" \n*'
  for b in "${backends[@]}"; do
    t=t-$b
    "$garth" new $t --backend $b
    "$garth" exec $t -- sh -c 'printf first >"$1"; printf "*" >"[ab]*"; git add -A; git commit -qm 1; printf second >>a.txt; printf s >>"$1"' - "$odd"
    "$garth" snapshot $t >/dev/null
    n=$("$garth" snapshot $t)
    "$garth" exec $t -- sh -c 'printf third >"$1"; rm a.txt; git rm -q dir/b.txt; echo other >other; git add other' - "$odd"
    "$garth" rollback $t --file "$odd"
    [[ $("$garth" exec $t -- cat "$odd") == first ]]
    "$garth" rollback $t --file "$odd" --from "$n"
    [[ $("$garth" exec $t -- cat "$odd") == firsts ]]
    "$garth" rollback $t --file a.txt --from "$n"
    "$garth" rollback $t --file dir/b.txt
    # one path is one path, and no pattern; everything else stays
    inside $t 'echo changed >"[ab]*"'
    "$garth" rollback $t --file '[ab]*'
    [[ $(inside $t 'cat a.txt dir/b.txt; cat "[ab]*" other') == $'one\nsecondtwo\n*other' ]] || complain "$(inside $t 'cat a.txt dir/b.txt; cat "[ab]*" other')"
    [[ $(git log -1 --format=%s garth/$t) == 1 ]]
    fails 3 "is not in" "$garth" rollback $t --file nothing
    fails 3 "is not in" "$garth" rollback $t --file '*'
    fails 3 "" "$garth" rollback $t --file a.txt --from 99
    call "$garth" rollback $t --file ../../../etc/passwd; [[ $code != 0 ]] || complain
    call "$garth" rollback $t --file /etc/passwd; [[ $code != 0 ]] || complain
    call "$garth" rollback $t --file .git/config; [[ $code != 0 ]] || complain
  done
  fails 3 "task 't-overlay': there is no snapshot 99" "$garth" rollback t-overlay --to-snapshot 99
  [[ $(hint) == 'garth show t-overlay' ]]
  fails 2 "name one of" "$garth" rollback t-overlay
  fails 2 "name one of" "$garth" rollback t-overlay --full --to-snapshot 1
  fails 2 "not a snapshot's number" "$garth" rollback t-overlay --to-snapshot x
  whole
}

@test "T3 rollback: what the user did to the branch outside is kept too" {
  "$garth" run -d -t t -- sleep 1000
  inside t 'echo 1 >>a.txt; git commit -qam 1'
  theirs=$(git commit-tree -p garth/t -m "the user's" 'garth/t^{tree}')
  git update-ref refs/heads/garth/t "$theirs"
  "$garth" rollback t --full
  is_kept "$theirs" || complain "the user's commit is lost"
}

# dies_at STEP CMD…: with a gateway that is killed at that step; without fault injection the variable has no effect.
dies_at() {
  eventually not keeper_of t
  GARTH_FAULT=$1 call "${@:2}"
  if has_faults; then [[ $code != 0 ]] || complain "did not die at $1"; else [[ $code == 0 ]] || complain "GARTH_FAULT has a meaning"; fi
}

@test "ESCAPES 23 history: killed at each step of snapshot, rollback and sync: nothing lost, the next one works" {
  "$garth" new t
  inside t 'echo 1 >>a.txt; git commit -qam 1; echo dirty >>run.sh; echo u >untracked; echo o >x.o'
  state=$(all_of t) old=$(tip)
  dies_at snapshot-kept "$garth" snapshot t
  [[ $(all_of t) == "$state" ]] || complain
  [[ $(tip) == "$old" ]] || complain
  if has_faults; then
    [[ $(snapshots) == '[[1, "start"]]' ]] || complain "$(snapshots)"
    n=$("$garth" snapshot t); [[ $n == 2 ]]
  fi
  whole
  for step in snapshot-kept rollback-snapshot rollback-inside history-moved; do
    inside t "echo $step >>a.txt; git commit -qam $step"
    new=$(tip)
    dies_at $step "$garth" rollback t --to-snapshot 2
    whole || complain "$step"
    git for-each-ref --contains "$new" | grep -q . || complain "$step: $new is lost"
    "$garth" ls >/dev/null; "$garth" show t >/dev/null
    call "$garth" rollback t --to-snapshot 2
    [[ $code == 0 ]] || complain "$step"
    [[ $(tip) == "$old" ]] || complain "$step"
    [[ $(all_of t) == "$state" ]] || complain "$step"
    [[ $(field t published) == "$old" ]] || complain "$step"
    git for-each-ref --contains "$new" | grep -q . || complain "$step: $new is lost"
    # an undo that is interrupted at the same step is itself undone, and does not become a redo
    inside t "echo more >>a.txt; git commit -qam more-$step"
    new=$(tip)
    "$garth" rollback t --to-snapshot 2
    dies_at $step "$garth" undo t
    call "$garth" undo t
    [[ $code == 0 ]] || complain "$step: undo"
    [[ $(tip) == "$new" ]] || complain "$step: undo"
    "$garth" rollback t --to-snapshot 2
    [[ $(tip) == "$old" ]] || complain "$step"
    [[ $(all_of t) == "$state" ]] || complain "$step"
  done
  for step in snapshot-kept sync-snapshot sync-inside publish-taken publish-moved sync-followed; do
    inside t "echo $step >$step; git add $step; git commit -qm $step"
    new=$(tip)
    echo $step >>dir/b.txt; commit "main $step"
    dies_at $step "$garth" sync t
    whole || complain "$step"
    git for-each-ref --contains "$new" | grep -q . || complain "$step: $new is lost"
    call "$garth" sync t
    [[ $code == 0 ]] && git merge-base --is-ancestor main garth/t || complain "$step"
    [[ $(git show garth/t:$step) == $step ]] || complain "$step"
    [[ $(inside t 'tail -n 1 run.sh; cat untracked x.o; git rev-parse HEAD') == $'dirty\nu\no\n'"$(tip)" ]] || complain "$step"
    [[ $(field t published) == $(tip) ]] || complain "$step: base $(field t base)"
    [[ $(field t base) == $(git rev-parse main) ]] || complain "$step: base $(field t base)"
  done
  whole
}

@test "T3 ESCAPES 26 rollback: files that no snapshot can hold stay, are named, and are removed only with -f" {
  local b t
  echo '*.ign' >.gitignore; commit ignore
  for b in overlay worktree clone; do
    t=t-$b; "$garth" new $t --backend $b
    inside $t 'mkdir sub "odd [*] \name#"; (cd sub; /usr/bin/git init -q; echo precious >g); (cd odd*; /usr/bin/git init -q; echo odd >g); mkdir q; echo w >q/.git; echo v >q/v
      mkdir x.ign; echo one >x.ign/one; mkdir x.ign/r; (cd x.ign/r; /usr/bin/git init -q; echo deep >g); truncate -s 70M big.ign; echo small >s.ign; echo un >un; echo shut >shut; chmod 000 shut; echo 2 >>a.txt; chmod 000 a.txt'
    call "$garth" snapshot $t
    [[ $code == 0 ]] || complain
    [[ $err == *"not in the snapshot"* ]] || complain
    [[ $err == *sub* ]] || complain
    [[ $err == *big.ign* ]] || complain
    call "$garth" rollback --full $t
    [[ $code == 0 ]] || complain
    [[ $err == *"not rolled back"*"sub"* ]] || complain
    [[ $(inside $t 'cat sub/g odd*/g q/v; stat -c %s big.ign; ls un s.ign shut x.ign 2>&1 | grep -c "No such"; cat a.txt') == $'precious\nodd\nv\n73400320\n4\none' ]] || complain "$(inside $t 'ls -lR; cat a.txt')"
    "$garth" undo $t 2>/dev/null
    [[ $(inside $t 'cat sub/g odd*/g q/v x.ign/r/g x.ign/one un s.ign shut; stat -c %s big.ign; cat a.txt') == $'precious\nodd\nv\ndeep\none\nun\nsmall\nshut\n73400320\none\n2' ]] || complain "$(inside $t 'ls -lR; cat a.txt')"
    "$garth" rollback --full -f $t; [[ $(inside $t 'ls') == $'a.txt\ndir\nlink\nrun.sh' ]] || complain "$(inside $t ls)"
    "$garth" discard -fD $t
  done
}

@test "T3 ESCAPES 26 rollback: a directory without write permission does not prevent a rollback, with any backend" {
  local b
  for b in overlay worktree clone; do
    "$garth" new $b --backend $b
    inside $b 'mkdir shut; echo f >shut/f; chmod 500 shut; echo more >>a.txt'
    call "$garth" rollback $b --full
    [[ $code == 0 ]] || complain "$b"
    [[ $(inside $b 'ls; cat a.txt') == $'a.txt\ndir\nlink\nrun.sh\none' ]] || complain "$b: $(inside $b 'ls; cat a.txt')"
    "$garth" undo $b
    [[ $(inside $b 'cat shut/f a.txt') == $'f\none\nmore' ]] || complain "$b: $(inside $b 'ls -R')"
  done
}

@test "T3 ESCAPES 26 rollback: files without permissions or too large to keep prevent a rollback" {
  is_root && return # root looks into everything
  # the name alone does not make it too large
  "$garth" new t
  inside t 'mkdir large; echo precious >large/g; chmod 000 large; echo un >un'
  call "$garth" rollback --full t
  [[ $code == 4 ]] || complain
  [[ $err == *"no snapshot can hold all of task 't'"*"large/ (cannot be read)"* ]] || complain
  [[ $(hint) == "garth exec t -- chmod -R u+rwX ." ]] || complain
  [[ $(inside t 'chmod 700 large; cat large/g un') == $'precious\nun' ]]
}

@test "T3 ESCAPES 26 rollback: very many ignored files of a running task are kept by their directories" {
  echo '*.ign' >.gitignore; commit ignore; "$garth" run -d -t t -- sleep 1000
  inside t 'mkdir -p m.ign; truncate -s 60M m.ign/big; i=0; while [ $i -lt 3000 ]; do mkdir -p m.ign/d$i; truncate -s 100K m.ign/d$i/f; i=$((i+1)); done; echo un >un'
  call "$garth" rollback --full t
  [[ $code == 0 ]] || complain
  [[ $err == *"not rolled back"*"m.ign"* ]] || complain
  [[ $(inside t 'find m.ign -type f | wc -l; ls un 2>&1') == 3001*"No such"* ]] || complain "$(inside t 'find m.ign -type f | wc -l; ls un 2>&1')"
}

@test "T3 ESCAPES 26 rollback: a file that stays and that git would replace prevents a rollback" {
  echo '*.bin' >.gitignore
  commit ignore
  "$garth" new t
  inside t 'truncate -s 1M cache.bin'
  "$garth" snapshot t
  inside t 'truncate -s 70M cache.bin'
  call "$garth" rollback --to-snapshot 2 t
  [[ $code == 4 ]] || complain
  [[ $err == *"cache.bin (git has something else in its place)"* ]] || complain
  [[ $(inside t 'stat -c %s cache.bin') == 73400320 ]]
  "$garth" rollback -f --to-snapshot 2 t; [[ $(inside t 'stat -c %s cache.bin') == 1048576 ]]
  # with -f, files without permissions are removed too, and a failed one can be undone
  inside t 'mkdir n; echo x >n/g; chmod 000 n'; "$garth" rollback -f --full t; [[ $(inside t 'ls') == $'a.txt\ndir\nlink\nrun.sh' ]]
}

@test "T3 ESCAPES 26 rollback: --file takes a snapshot first, and undo restores just that path" {
  local b t odd=$'odd \xff name'
  for b in overlay worktree; do
    t=f-$b
    "$garth" new $t --backend $b
    inside $t "echo odd >'$odd'; git add -A; git commit -qm odd; echo mine >>a.txt; echo also >>'$odd'; rm run.sh; rm -r dir/sub; echo new >dir/new"
    call "$garth" rollback $t --file a.txt --json
    [[ $code == 0 ]] || complain
    [[ $(json 'd["snapshot"] > 1' <<<"$out") == true ]] || complain
    [[ $(inside $t cat a.txt) == one ]] || complain
    inside $t 'echo later >later'
    "$garth" undo $t
    [[ $(inside $t 'cat a.txt later') == $'one\nmine\nlater' ]]
    # a name that is not UTF-8; a file that was deleted; a directory with deleted and new files
    "$garth" rollback $t --file "$odd"; [[ $(inside $t "cat '$odd'") == odd ]]
    "$garth" undo $t; [[ $(inside $t "cat '$odd'") == $'odd\nalso' ]]
    "$garth" rollback $t --file run.sh; inside $t 'test -x run.sh'
    "$garth" undo $t; inside $t 'test ! -e run.sh'
    "$garth" rollback $t --file dir; [[ $(inside $t 'cat dir/sub/c.txt dir/new') == $'three\nnew' ]]
    "$garth" undo $t; [[ $(inside $t 'cat dir/b.txt dir/new') == $'two\nnew' ]]; inside $t 'test ! -e dir/sub/c.txt'
    [[ $(inside $t git status --porcelain) == *' M a.txt'* ]]
  done
}

# The agent puts a FIFO, or a link to one, where git expects a file: git waits for as long as nobody writes to it.
@test "T3 ESCAPES 20 36 rollback, sync: a FIFO in the private repository is named at once, with any backend" {
  local b name t
  for b in overlay worktree clone; do
    t=fifo-$b
    "$garth" new --backend "$b" "$t"
    inside "$t" 'echo w >w; git add w; git commit -qm w'
  done
  echo z >z; git add z; git commit -qm z
  for b in overlay worktree clone; do
    t=fifo-$b
    # the control: git inside waits
    inside "$t" 'd=$(git rev-parse --git-dir); mv $d/index $d/kept; mkfifo $d/index; code=0; timeout 0.5 git status >/dev/null 2>&1 || code=$?; rm $d/index; mv $d/kept $d/index; test $code = 124'
    for name in HEAD index packed-refs logs/HEAD objects/info/alternates info/exclude LOOSE LINK; do
      inside "$t" 'd=$(git rev-parse --git-dir); n='"$name"'; o=$(git rev-parse HEAD); rm -f /tmp/f; mkfifo /tmp/f
        case $n in LOOSE) n=objects/$(printf %.2s "$o")/${o#??}; ;; LINK) n=shallow ;; esac
        printf %s "$d/$n" >/tmp/name; rm -f /tmp/kept; if test -e "$d/$n"; then cp "$d/$n" /tmp/kept; fi; mkdir -p "$(dirname "$d/$n")"; rm -f "$d/$n"
        if test '"$name"' = LINK; then ln -s /tmp/f "$d/$n"; else mkfifo "$d/$n"; fi'
      case $name in LOOSE) want="objects/" ;; LINK) want=shallow ;; *) want=$name ;; esac
      fails 4 "'$want" timeout 8 "$garth" rollback "$t" --full
      [[ $(hint) == *"garth "*"$t"* ]] || complain
      fails 4 "'$want" timeout 8 "$garth" sync "$t"
      inside "$t" 'n=$(cat /tmp/name); rm "$n"; if test -e /tmp/kept; then cp /tmp/kept "$n"; fi'
    done
    "$garth" sync "$t"
    "$garth" rollback "$t" --full
    [[ $(inside "$t" 'ls; git status --porcelain') != *w* ]]
  done
}

# The pause stops everything inside, also a git that Garth runs there.
@test "J8 T3 ESCAPES 20 36 rollback: if a limit pauses the task meanwhile, it ends with the reason, and can be repeated" {
  "$garth" run -q -d -t t --limit max_disk=20MB -- sh -c 'until test -e /tmp/go; do sleep 0.1; done; head -c 40M /dev/zero >/tmp/big; sleep 1000'
  inside t 'git config filter.x.smudge "touch /tmp/filtering; sleep 200; cat"; mkdir -p .git/info; echo "* filter=x" >.git/info/attributes; echo changed >a.txt'
  "$garth" rollback t --full >"$T/said" 2>&1 3>&- & slow=$!
  eventually test -e "$(task_dir t)/tmp/filtering"
  touch "$(task_dir t)/tmp/go"
  SECONDS=0; not wait "$slow"
  ((SECONDS < 150))
  [[ $(<"$T/said") == *'git reset inside: the task was paused meanwhile: it holds '*' more than limits.max_disk (20.0 MB)'* ]] || complain "$(<"$T/said")"
  [[ $(state_of t) == paused ]]
  "$garth" resume --limit max_disk=2GB t
  inside t 'git config --unset filter.x.smudge; rm .git/info/attributes'
  "$garth" rollback t --full
  [[ $(inside t 'cat a.txt') == one ]]
}

# A filter of the agent's own keeps a rollback busy: other commands on the task end when the user wants it.
@test "T3 ESCAPES 20 36 rollback: a command that waits for a slow one ends on SIGTERM, and cancel ends the slow one" {
  "$garth" new t
  inside t 'git config filter.x.smudge "touch /tmp/filtering; sleep 200; cat"; mkdir -p .git/info; echo "* filter=x" >.git/info/attributes; echo changed >a.txt'
  "$garth" rollback t --full >/dev/null 2>&1 3>&- & slow=$!
  eventually test -e "$(task_dir t)/tmp/filtering"
  "$garth" exec t -- echo over >"$T/said" 3>&- & waiting=$!
  eventually grep -q over "$T/said"
  # it waits: the control
  kill -0 "$waiting"
  # the signal that comes before the command has ended is the command's
  ended() { kill -TERM "$waiting" 2>/dev/null || return 0; return 1; }
  SECONDS=0; eventually ended; ((SECONDS < 60))
  kill -0 "$slow"
  SECONDS=0; "$garth" cancel t >/dev/null 2>&1 || true
  wait "$slow" || true
  ((SECONDS < 60))
}
