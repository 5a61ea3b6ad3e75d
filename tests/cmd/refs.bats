# The refs that Garth has in the user's repository: few, and enough.
load helpers

refs() { git for-each-ref --format='%(refname)' refs/garth refs/heads/garth; }
# at_most N WHEN
at_most() { [[ $(refs | wc -l) -le $1 ]] || complain "$2: $(refs | head -n 20)"; }
collect() { git reflog expire --expire=now --all; git gc -q --prune=now; }
whole() { git fsck --strict --no-dangling; }

# follows TASK PATTERN: no tag matches any more, after the inside was updated; prints its tags.
follows() { "$garth" exec "$1" -- sh -c "for i in \$(seq 200); do git tag | grep -q '^$2' || { git tag; exit; }; sleep 0.05; done; exit 1"; }

# many_tags N: of every kind, on the branch and beside it.
many_tags() {
  local side; side=$(git commit-tree -p HEAD -m side 'HEAD^{tree}')
  for ((i = 1; i < $1; i++)); do
    echo "create refs/tags/v$i $( ((i % 3)) && git rev-parse HEAD || echo "$side")"
  done | git update-ref --stdin
  git tag -a -m annotated annotated "$side"
}

@test "G12 T3 refs: at most three for a task and one for a removed task, however many tags there are" {
  configure <<<'limits: {max_commits: 1000}'
  many_tags 300
  "$garth" new t; at_most 2 new
  [[ $(inside t 'git tag | wc -l') == 300 ]]
  inside t 'for i in $(seq 25); do git commit -q --allow-empty -m $i || exit 1; done'; at_most 3 "25 commits"
  "$garth" snapshot t >/dev/null; at_most 3 snapshot
  inside t 'git commit -q --amend --allow-empty -m other; git commit -q --amend --allow-empty -m more'; at_most 3 rewritten
  "$garth" rollback t --to-snapshot 2; at_most 3 rollback
  "$garth" undo t >/dev/null; at_most 3 "undo of it"
  for i in 1 2 3; do echo $i >>a.txt; commit "$i"; "$garth" sync t; at_most 3 "sync $i"; done
  git commit -q --amend -m amended; "$garth" sync t; at_most 3 "sync after a rewrite"
  commits=$("$garth" show t --json | json '"\n".join(s["tip"] for s in d["snapshots"])'; git rev-parse garth/t)
  "$garth" discard -fD t; at_most 1 discard
  collect; for c in $commits; do git rev-list "$c" >/dev/null; done
  "$garth" undo >/dev/null; at_most 3 undo
  "$garth" archive t >/dev/null; at_most 1 archive
  collect; for c in $commits; do git rev-list "$c" >/dev/null; done
  "$garth" undo >/dev/null; at_most 3 "undo of the archive"
  "$garth" discard -fD t; "$garth" new t; inside t 'echo 1 >one; git add one; git commit -qm one'
  "$garth" merge t >/dev/null; at_most 2 "merge, and one in the trash"
  "$garth" gc --empty-trash >/dev/null; at_most 0 "empty trash"
  # one without work, too
  "$garth" run -t t -- true; "$garth" discard t; at_most 1 "without work"
  whole
}

@test "G12 refs: a commit that keeps others is inconspicuous, and is made once" {
  "$garth" new t; inside t 'echo 1 >one; git add one; git commit -qm 1'
  "$garth" snapshot t >/dev/null; inside t 'git commit -q --amend -m 2'; "$garth" snapshot t >/dev/null
  kept=refs/garth/tasks/$(field t id)/kept
  [[ $(git rev-parse "$kept^@" | wc -l) == 2 ]] || complain "$(git show "$kept")"
  [[ -z $(git show --format= "$kept") ]] || complain "$(git show "$kept")"
  [[ $(git log -1 --format='%an %s' $kept) == "Garth Commits that Garth keeps for task $(field t id)" ]]
  was=$(git rev-parse $kept); "$garth" snapshot t >/dev/null; [[ $(git rev-parse $kept) == "$was" ]]
  whole
}

@test "ESCAPES 27 refs: a tag that is deleted outside is deleted inside, in a running or a stopped task; nothing else breaks" {
  git checkout -q -b side; echo s >s; commit side; git tag gone; git tag -a -m a also-gone; git checkout -q main; git branch -D -q side; git tag stays
  for b in "${backends[@]}"; do
    "$garth" new rest-$b --backend $b; "$garth" run -d -t runs-$b --backend $b -- sleep 1000
    inside rest-$b 'git tag mine gone; git tag -f -m x stays HEAD'
  done
  was=$(git rev-parse gone); git tag -d gone also-gone >/dev/null; collect
  not git cat-file -e "$was" 2>/dev/null
  for b in "${backends[@]}"; do
    eventually gives '' inside runs-$b 'git tag | grep gone'
    for t in runs-$b rest-$b; do
      inside $t 'git status --porcelain; git log --oneline; echo 1 >>a.txt; git commit -qam 1; git log -1 --format=%s' | grep -qx 1 || complain "$t"
    done
    follows rest-$b gone >/dev/null || complain "$b"
    # what the agent made itself stays as it is
    [[ $(inside rest-$b 'cat $(git rev-parse --git-path refs/tags/mine); git cat-file -t stays') == "$was"$'\ntag' ]] || complain "$b"
    "$garth" cancel runs-$b
  done
  whole
}

@test "W8 G12 refs: a long list of packed tags is listed by git once, and again when it changes" {
  local head listed=$T/home/.garth/cache
  head=$(git rev-parse HEAD)
  tags_of() { [[ $(inside "$1" 'git tag' | sha256sum) == "$(git tag | sha256sum)" ]]; }
  for ((i = 10000; i < 12000; i++)); do echo "create refs/tags/v$i $head"; done | git update-ref --stdin
  "$garth" new loose
  [[ ! -e $listed ]]
  git pack-refs --all
  "$garth" new a
  [[ $(wc -l <"$listed"/tags-*) == 2 ]]
  [[ $(wc -l <"$listed"/list-*) == 2000 ]]
  tags_of a
  # tasks share it; loose had to write its own
  [[ $GARTH_HOME/tasks/$(ident 2)/shown-tags -ef $(echo "$listed"/list-*) ]]
  [[ $(wc -l <"$GARTH_HOME/tasks/$(ident 1)/shown-tags") == 2000 ]]
  # it is used: a tag that only the list has is there
  sed -i 's,refs/tags/v10000$,refs/tags/u10000,' "$listed"/list-*
  "$garth" new b
  [[ $(inside b 'git tag | head -n1') == u10000 ]]
  # a tag that is deleted, added, moved
  git tag -d v10007 >/dev/null
  "$garth" new c
  tags_of c
  git tag later
  "$garth" new d
  tags_of d
  git commit -q --allow-empty -m next; git tag -f v10009 >/dev/null; git pack-refs --all
  "$garth" new e
  tags_of e
  [[ $(inside e 'git rev-parse v10009 main') == "$(git rev-parse HEAD HEAD)" ]]
  # one list is kept
  [[ $(find "$listed" -name 'list-*' | wc -l) == 1 ]]
  # the older tasks follow
  follows a v10007 >/dev/null
  tags_of a
  "$garth" gc
  [[ ! -e $listed ]]
  "$garth" new f
  tags_of f
}

@test "G12 refs: an agent may build on every tag that it is shown, with one publish or many" {
  git checkout -q -b side; for i in {1..30}; do echo $i >s$i; commit $i; done; git tag -a -m a side-1; git checkout -q main; git branch -D -q side
  many_tags 50
  for mode in '' --strict-isolation; do
    "$garth" new t$mode $mode
    inside t$mode 'git merge -q --no-edit side-1 && mkdir m && for i in $(seq 200); do echo $i >m/$i; done && git add m && git commit -qm many' || complain "$mode"
    [[ $(git log -1 --format=%s garth/t$mode) == many ]] || complain "$mode"
    [[ $(git rev-list --count main..garth/t$mode) == 31 ]] || complain "$mode"
    [[ $(field t$mode commits) == 1 ]] || complain "$mode"
    # the same at once, with a git that does not ask the gateway
    inside t$mode 'git reset -q --hard main; export GARTH_GATEWAY=1; /usr/bin/git merge -q --no-ff --no-edit side-1; for i in $(seq 300); do echo $i >n$i; done; git add .; /usr/bin/git commit -qm bulk' || complain "$mode"
    "$garth" publish t$mode >/dev/null
    [[ $(git log -1 --format=%s garth/t$mode) == bulk ]] || complain "$mode: $(field t$mode commits)"
    [[ $(field t$mode commits) == 3 ]] || complain "$mode: $(field t$mode commits)"
  done
}

# What an earlier version left: of a task of this one, and of the trash.
sql() { sqlite3 "$GARTH_HOME/garth.db" "$1"; }
as_before() {
  local id=$1 n=1 c set=${2-0123456789abcdef0123456789abcdef}
  git for-each-ref --format='delete %(refname)' "refs/garth/tasks/$id" "refs/garth/trash/$id" | git update-ref --stdin
  rm -f "$GARTH_HOME"/{tasks,trash}/"$id"/shown
  for c in $(sql "select tip from snapshot where task_id = $id and number > 1"); do git update-ref "refs/garth/snapshots/$id/$((++n))" "$c"; done
  sql "update task set shown = '$set' where id = $id; delete from fact where key like 'refs-form%'"
  git for-each-ref --format='%(objectname)' refs/tags refs/heads/main | sort -u | if [[ -d $GARTH_HOME/tasks/$id ]]; then
    while read -r c; do git update-ref "refs/garth/shown/$set/$c" "$c"; done
  else
    while read -r c; do git update-ref "refs/garth/trash/$id/shown-$c" "$c"; done
    git update-ref "refs/garth/trash/$id/base" "$(sql "select base from task where id = $id")"
    git update-ref "refs/garth/trash/$id/tip" "$(sql "select published from task where id = $id")"
  fi
}
# Two tasks with snapshots, one of them in the trash, and one of another home.
old_home() {
  many_tags 20
  for t in live trashed; do
    "$garth" new $t; inside $t "echo $t >f; git add f; git commit -qm $t"; "$garth" snapshot $t >/dev/null; inside $t 'git commit -q --amend -m other'
  done
  live=$(field live id) trashed=$(field trashed id)
  tips=$(git rev-parse garth/live garth/trashed; sql "select tip from snapshot where task_id in ($live, $trashed)")
  "$garth" discard -D trashed
  as_before "$live"; as_before "$trashed"
  git update-ref refs/garth/snapshots/7/1 main; git update-ref refs/garth/trash/7/base main; git update-ref refs/garth/shown/ffff/1 main
  [[ $(refs | wc -l) -gt 10 ]]
}
few_again() {
  local c
  [[ $(refs | grep -vE '/(7|ffff)/') == "refs/garth/tasks/$live/base"$'\n'"refs/garth/tasks/$live/kept"$'\n'"refs/garth/trash/$trashed/kept"$'\n'refs/heads/garth/live ]] || complain "$(refs)"
  [[ $(refs | grep -cE '/(7|ffff)/') == 3 ]] || complain "$(refs)"
  collect; for c in $tips; do git rev-list "$c" >/dev/null || complain "$c is lost"; done
}

@test "ESCAPES 23 26 refs: an earlier version's refs are replaced by few that keep the same; killed at each step" {
  for step in none migrate-shown migrate-made migrate-dropped; do
    old_home
    call env GARTH_FAULT=$step "$garth" new next
    if has_faults && [[ $step != none ]]; then [[ $code == 137 ]] || complain "$step"; fi
    for c in $tips; do is_kept "$c" || git for-each-ref --contains "$c" refs/heads/garth | grep -q . || complain "$step: $c"; done
    "$garth" new after; "$garth" discard after; call "$garth" discard next
    few_again
    inside live 'echo 2 >>f; git commit -qam 2; git tag | wc -l' | grep -qx 20
    "$garth" undo trashed >/dev/null; [[ $(inside trashed 'cat f; git log -1 --format=%s') == $'trashed\nother' ]]
    "$garth" discard -fD live; "$garth" discard -fD trashed; "$garth" gc --empty-trash >/dev/null
    git for-each-ref --format='delete %(refname)' refs/tags refs/garth | git update-ref --stdin
  done
}

@test "G12 T9 refs: doctor finds and repairs what an earlier version left; opening a task does so too" {
  old_home
  call "$garth" doctor
  [[ $code == 1 ]] || complain
  [[ $out == *"refs of an earlier version, which had one for each tag and snapshot"* ]] || complain
  "$garth" doctor --repair >/dev/null || true
  few_again
  call "$garth" doctor
  [[ $out != *"earlier version"* ]] || complain
  as_before "$live"
  inside live 'git commit -q --allow-empty -m on'
  [[ $(git for-each-ref refs/garth/snapshots/$live refs/garth/shown/0123456789abcdef0123456789abcdef | wc -l) == 0 ]] || complain "$(refs)"
  [[ $(git for-each-ref refs/garth/tasks/$live | wc -l) == 2 ]] || complain "$(refs)"
  # what was shown is known still: the tags follow
  git tag -d v1 >/dev/null; git tag new-one
  follows live 'v1$' | grep -qx new-one
  as_before "$live"; "$garth" discard -fD live
  [[ $(refs | grep -c "/$live") == 1 ]] || complain "$(refs)"
}

# shows TASK REF OID: the ref's value inside, "" if it does not exist.
shows() { [[ $(inside "$1" "git rev-parse -q --verify $2^{} || true") == "$3" ]]; }
# soon CMD…: within about a second (five with sanitizers on a busy machine).
soon() { local i; for ((i = 0; i < 50; i++)); do if "$@"; then return 0; fi; sleep 0.1; done; complain "not soon: $*" "$(inside "$2" 'git for-each-ref')"; }

@test "G12 refs: refs that move outside are seen inside a running task at once" {
  git tag v1; git tag -am annotated v2; git tag gone
  for how in "" --strict-isolation; do
    for b in "${backends[@]}"; do
      t=t${how:2:1}-$b
      # the task's own gateway is asleep, awake, or was never there
      "$garth" run -d -t $t --backend $b $how -- sleep 1000
      shows $t v2 "$(git rev-parse v2^{})"
      echo "$t" >>dir/b.txt; commit "for $t"
      soon shows $t main "$(git rev-parse main)"
      inside $t "git show main:dir/b.txt | tail -n 1 | grep -qx $t"
      inside $t 'echo 1 >>a.txt; git commit -qam 1'
      echo "$t again" >>dir/b.txt; commit "for $t again"
      soon shows $t main "$(git rev-parse main)"
      git tag new-$t; soon shows $t new-$t "$(git rev-parse new-$t)"
      git tag -f v1 >/dev/null; soon shows $t v1 "$(git rev-parse v1)"
      git tag -d gone >/dev/null; soon shows $t gone ""
      git pack-refs --all; git tag -d new-$t >/dev/null; soon shows $t new-$t ""
      git tag gone
      git update-ref refs/heads/main main~1; soon shows $t main "$(git rev-parse main)"
      git update-ref refs/heads/main 'main@{1}'; soon shows $t main "$(git rev-parse main)"
      # other branches, and other tasks', are not shown
      git branch -f hidden; [[ $(inside $t 'git for-each-ref --format="%(refname)" refs/heads' | sort | tr '\n' ' ') == "refs/heads/garth/$t refs/heads/main " ]]
      # what the agent moved itself is its own
      inside $t '/usr/bin/git tag -f v2 HEAD >/dev/null'
      own=$(inside $t 'git rev-parse v2')
      git tag after-$t; soon shows $t after-$t "$(git rev-parse after-$t)"
      shows $t v2 "$own"
      inside $t 'git fsck --strict >/dev/null 2>&1'
      git reset -q --hard
      "$garth" cancel $t
    done
  done
  whole
}

@test "G12 refs: names with slashes, and directories that come and go" {
  git branch feature/deep/er; git pack-refs --all; git checkout -q feature/deep/er
  "$garth" run -d -t t -- sleep 1000
  # by update-ref, which writes nothing but the ref
  next() { git update-ref refs/heads/feature/deep/er "$(git commit-tree -p feature/deep/er -m "$RANDOM" 'feature/deep/er^{tree}')"; }
  for i in 1 2; do
    next; soon shows t feature/deep/er "$(git rev-parse feature/deep/er)"
    next; soon shows t feature/deep/er "$(git rev-parse feature/deep/er)"
    git tag "x/y/$i"; soon shows t "x/y/$i" "$(git rev-parse HEAD)"
    git tag "x/y/z$i"; soon shows t "x/y/z$i" "$(git rev-parse HEAD)"
    git tag -d "x/y/$i" >/dev/null; soon shows t "x/y/$i" ""
    git pack-refs --all
    [[ ! -e .git/refs/heads/feature/deep ]]
  done
}

# watch FIFO: whenever a process opens it to read, $T/walked is made. unwatch: ends that.
watch() {
  # no other program makes the file: it would outlive the watcher, and make the file again after it was removed
  while : >"$1"; do : >"$T/walked"; done 3>&- &
  watcher=$!
}
unwatch() {
  kill "$watcher"
  wait "$watcher" || true
  watcher=
}
teardown() {
  [[ -z ${watcher-} ]] || unwatch
  garth_teardown
}

# long_history N: N commits one after the other, a second apart; the first has the tag "old", and beside it is one with "side".
long_history() {
  local i tip at=1700000000
  tip=$(git rev-parse HEAD)
  git tag old
  for ((i = 0; i < $1; i++)); do
    tip=$(GIT_COMMITTER_DATE="$((at + i)) +0000" git commit-tree -p "$tip" -m "$i" 'HEAD^{tree}')
    if ((i == 0)); then git tag side "$(GIT_COMMITTER_DATE="$at +0000" git commit-tree -p "$tip" -m side 'HEAD^{tree}')"; fi
  done
  git update-ref refs/heads/main "$tip"
}

@test "G12 refs: a task that commits and ends does not walk the history back to old tags" {
  GIT_COMMITTER_DATE='1600000000 +0000' git commit -q --amend --no-edit
  long_history 40
  # the first use of a repository looks at all of its files
  "$garth" new first; "$garth" discard first
  # a git that walks from the tip to the tags opens a commit that is a FIFO, which is noticed
  local lost=.git/objects/$(git rev-parse main~20 | sed 's,..,&/,')
  rm -f "$lost"
  mkfifo "$lost"
  # the controls: questions that walk
  for question in 'rev-list --count main' 'for-each-ref --no-merged=main refs/tags'; do
    watch "$lost"
    git $question >/dev/null 2>&1 || true
    eventually test -e "$T/walked"
    unwatch
    rm "$T/walked"
  done
  watch "$lost"
  for b in overlay worktree; do
    call "$garth" run -t t-$b --backend $b -- sh -c 'echo x >x; git add x; git commit -qm x; echo y >y; git add y; git commit -qm y'
    [[ ! -e $T/walked ]] || complain "$b"
    [[ $code == 0 ]] || complain "$b"
    [[ $(state_of t-$b) == done ]] || complain "$b"
    [[ $(git log -2 --format=%s garth/t-$b) == $'y\nx' ]] || complain "$b"
  done
}

# gateway_of TASK
gateway_of() { pgrep -P "$(keeper_of "$1")" -x garth-gateway; }
# The keeper has asked it to end, and it has not handled that yet.
is_to_end() { [[ $((0x$(sed -n 's/^ShdPnd:\s*//p' "/proc/$1/status") & 0x4000)) != 0 ]]; }
gateway_stopped() { gateway=$(gateway_of "$1") && stopped "$gateway"; }

@test "G12 refs: a run that ends while its task is shown other refs leaves no ref out, and no mark in the repository" {
  local run gateway
  has_faults || skip "this build cannot stop at a step"
  "$garth" run -q -t t -- sh -c 'test ! -e .git/wait || until test -e .git/go; do sleep 0.05; done'
  touch "$(task_dir t)/git/wait"
  echo 1 >>a.txt; commit one
  GARTH_FAULT=stop:renew-written "$garth" resume t >"$T/out" 2>&1 3>&- & run=$!
  eventually gateway_stopped t
  touch "$(task_dir t)/git/go"
  eventually is_to_end "$gateway"
  kill -CONT "$gateway"
  wait $run
  call "$garth" doctor
  [[ $code == 0 ]] || complain
  [[ $(refs) == *"refs/garth/tasks/$(field t id)/kept"* ]] || complain "$(refs)"
  not compgen -G .git/objects/pack/pack-*.keep
}
