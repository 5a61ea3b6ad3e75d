load helpers

# same REV TASK: the task's files are exactly the commit's, and git inside agrees.
same() {
  rm -rf "$T/want" "$T/got"; mkdir "$T/want" "$T/got"
  git archive "$1" | tar -x -C "$T/want"
  "$garth" exec "$2" -- tar -c --exclude=./.git . | tar -x -C "$T/got"
  list() { (cd "$1" && find . -mindepth 1 -printf '%P %y %l ' '(' -type f -perm /100 -printf 'x\n' -o -printf '\n' ')' | LC_ALL=C sort); }
  diff <(list "$T/want") <(list "$T/got") || complain "listing of $2"
  diff -r --no-dereference "$T/want" "$T/got" || complain "content of $2"
  [[ -z $(inside "$2" git status --porcelain) ]] || complain "status of $2: $(inside "$2" git status --porcelain)"
  [[ -z $(inside "$2" git -c core.fsmonitor=false -c core.untrackedCache=false status --porcelain) ]]
  [[ $(inside "$2" git rev-parse HEAD) == "$(git rev-parse "$1^0")" && -z $("$garth" diff "$2") ]]
}

parents() { find "$GARTH_HOME/bases" -name parent | wc -l; }

@test "W4 delta: a commit near one with a base is one more layer, exact for every kind of change" {
  umask 022
  mkdir -p keep tree/a/b gone/deep; for i in {1..300}; do echo "$i" >keep/f$i; done
  echo 1 >tree/a/b/1; echo 2 >tree/a/2; echo g >gone/deep/g; echo g2 >gone/g2; echo f >becomes-dir; mkdir becomes-file; echo x >becomes-file/x
  ln -s keep becomes-plain; echo p >becomes-link; mkdir becomes-dirlink; echo z >becomes-dirlink/z; ln -s gone old-link
  echo m >mode; echo 'sp ace' >'sp ace'; printf 'x\n' >$'odd\xffname'
  commit base0
  "$garth" new t0; same HEAD t0
  [[ $(parents) == 0 ]]
  echo changed >keep/f1; echo added >keep/new; mkdir n; echo n >n/n; commit add
  "$garth" new t1; same HEAD t1
  git rm -qr gone tree/a/b; rm -f old-link; commit delete
  "$garth" new t2; same HEAD t2
  rm becomes-dir; mkdir -p becomes-dir/in; echo d >becomes-dir/in/d; rm -r becomes-file; echo file >becomes-file; commit trade
  "$garth" new t3; same HEAD t3
  rm becomes-plain; echo plain >becomes-plain; rm becomes-link; ln -s keep/f2 becomes-link; rm -r becomes-dirlink; ln -s keep becomes-dirlink; commit links
  "$garth" new t4; same HEAD t4
  chmod +x mode; git mv keep/f3 keep/f3-moved; git mv n n-moved; rm 'sp ace' $'odd\xffname'; commit modes
  "$garth" new t5; same HEAD t5
  mkdir -p gone/deep; echo back >gone/deep/back; mkdir -p tree/a/b; echo back >tree/a/b/1; commit back
  "$garth" new t6; same HEAD t6
  git commit -q --allow-empty -m empty
  "$garth" new t7; same HEAD t7
  [[ $(parents) -ge 6 ]] || complain "$(parents) deltas"
  # an older commit, and the first one again
  "$garth" new t8 --base HEAD~4; same HEAD~4 t8
  same HEAD~7 t0
  # the base's own files are never changed by layers above it
  inside t3 'rm -rf keep becomes-dir; echo x >becomes-dir; git add -A; git commit -qm x'
  "$garth" new t9 --base HEAD~4; same HEAD~4 t9
}

@test "W4 delta: diff, export and discard find work in a task on a delta" {
  mkdir keep; for i in {1..300}; do echo "$i" >keep/f$i; done; mkdir was; echo w >was/w; commit one
  "$garth" new t1
  git rm -qr was; echo 2 >>a.txt; commit two
  "$garth" new t2
  [[ $(parents) == 1 ]]
  inside t2 'mkdir was; echo mine >was/mine; echo 3 >>a.txt; rm keep/f7'
  [[ $("$garth" diff --json t2 | json 'sorted(f["status"] + f["path"] for f in d["files"])') == '["Awas/mine", "Dkeep/f7", "Ma.txt"]' ]]
  [[ $(inside t2 'ls was') == mine ]]
  "$garth" export t2 "$T/x"
  [[ $(ls "$T/x/was") == mine ]]
  [[ $(tail -n1 "$T/x/a.txt") == 3 ]]
  [[ ! -e $T/x/keep/f7 && -e $T/x/keep/f8 ]]
  fails 4 "3 changed files" "$garth" discard t2
}

@test "W4 delta: unused bases are removed, used ones are kept" {
  mkdir keep; for i in {1..300}; do echo "$i" >keep/f$i; done; commit one
  "$garth" new t1; echo 2 >>a.txt; commit two; "$garth" new t2; echo 3 >>a.txt; commit three; "$garth" new t3
  [[ $(parents) == 2 ]]
  "$garth" discard t1
  same HEAD~1 t2; same HEAD t3
  "$garth" discard t3
  same HEAD~1 t2
  [[ $(parents) == 1 ]]
  "$garth" discard t2
  [[ $(find "$GARTH_HOME/bases" -mindepth 2 -maxdepth 2 -type d | wc -l) == 1 ]]
  "$garth" new t4; same HEAD t4
}

@test "W4 ESCAPES 23 delta: killed while it is made, nothing of it is used" {
  has_faults || { means_nothing; return; }
  mkdir keep; for i in {1..300}; do echo "$i" >keep/f$i; done; commit one
  "$garth" new t1
  for step in delta-checkout base-made; do
    echo $step >>a.txt; git mv "$(git ls-files keep | head -n1)" "moved-$step"; commit $step
    call env GARTH_FAULT=$step "$garth" new t
    [[ $code == 137 ]] || complain "$step"
    "$garth" new "t-$step"
    same HEAD "t-$step"
  done
  same HEAD~1 t-delta-checkout
  same HEAD~2 t1
  [[ $(parents) == 2 ]]
  call "$garth" doctor --repair
  [[ $code == 0 ]] || complain
  find "$GARTH_HOME/bases" -name '*.part' | not grep .
}

@test "W4 delta: a missing or damaged base is made again, also for tasks that use it" {
  "$garth" run -t t --on-dirty keep -- sh -c 'echo mine >mine; rm a.txt'
  rm -rf "$GARTH_HOME"/bases/*
  [[ $(inside t 'cat mine; ls') == $'mine\ndir\nlink\nmine\nrun.sh' ]]
  [[ $(inside t git status --porcelain | paste -sd,) == ' D a.txt,?? mine' ]]
  for b in "$GARTH_HOME"/bases/1/*/; do printf 'another-boot' >"$b/boot"; rm -f "$b/tree/dir/b.txt"; done
  [[ $(inside t cat dir/b.txt) == two ]]
}

@test "ESCAPES 9 W4 delta: a filter that a later commit adds is refused before it can run" {
  "$garth" new first
  git config filter.x.smudge "touch $T/ran; cat"
  echo 'f filter=x' >.gitattributes; echo f >f; git add .gitattributes; git -c filter.x.smudge= add f; git commit -qm filter
  fails 4 "'.gitattributes' sends files through a filter" "$garth" new second
  [[ ! -e $T/ran ]]
  # the control: git itself runs it
  git worktree add -q "$T/control" HEAD; [[ -e $T/ran ]]; git worktree remove --force "$T/control"
  git rm -qf .gitattributes; git commit -qm none
  "$garth" new fourth
  [[ -e $(echo "$GARTH_HOME"/bases/*/"$(git rev-parse HEAD)"/parent) ]]
}

# unsettled TASK: entries of the task's index that git does not believe without reading the file: they have no stat data,
# or are as young as the index.
unsettled() {
  local index=$GARTH_HOME/tasks/$(field "$1" id)/git/index
  GIT_INDEX_FILE=$index git ls-files --debug | awk -v young="$(stat -c %Y "$index")" '/^[^ ]/ { path = $0 } $1 == "mtime:" { split($2, t, ":"); if (t[1] == 0 || t[1] >= young) print path, t[1], young }'
}

@test "W4 J10 base: git trusts the index of the first task, and of one on a delta, without reading a file" {
  # the control: in a worktree that git makes, all of them are as young as its index
  # (unless a second ended just then: it is made again)
  for i in {1..20}; do
    git worktree add -q "$T/w$i" --detach
    young=0
    for f in a.txt dir/b.txt; do [[ $(stat -c %Y "$T/w$i/$f") != "$(stat -c %Y ".git/worktrees/w$i/index")" ]] || young=$((young + 1)); done
    ((young != 2)) || break
  done
  ((young == 2))
  "$garth" new t
  [[ -z $(unsettled t) ]] || { unsettled t; false; }
  echo four >d.txt; echo more >>a.txt; ln -s dir dirlink; git add -A; git commit -qm second
  "$garth" new d
  [[ -n $(ls "$GARTH_HOME"/bases/*/"$(git rev-parse HEAD)"/parent) ]] || {
    unsettled d
    false
  }
  [[ -z $(unsettled d) ]] || {
    unsettled d
    false
  }
  for task in t d; do [[ -z $(inside $task 'git status --porcelain') ]]; done
  # in both, a change is still seen, even one that is made at once and keeps the size
  for task in t d; do
    [[ $("$garth" exec $task -- sh -c 'printf "eno\n" >a.txt; printf "rof\n" >dir/b.txt; ln -sf b.txt link; chmod -x run.sh; git status --porcelain') == $' M a.txt\n M dir/b.txt\n M link\n M run.sh' ]]
    inside $task 'git checkout -q .; test -z "$(git status --porcelain)"'
  done
  # and with many files, for which fsmonitor says what changed
  mkdir many; for i in {1..900}; do echo $i >many/$i; done; git add -A; git commit -qm many
  export GARTH_HOME=$HOME/.garth-many
  "$garth" new m
  [[ -z $(unsettled m) ]]
  [[ $(inside m 'git config core.fsmonitor') == /run/garth/fsmonitor ]]
  [[ $("$garth" exec m -- sh -c 'echo 009 >many/9; rm many/8; echo x >many/x; git status --porcelain') == $' D many/8\n M many/9\n?? many/x' ]]
  # the untracked cache is bound to the workspace's path
  grep -qa "Location $R, system Linux" "$GARTH_HOME/tasks/$(field m id)/git/index"
  "$garth" doctor
}

# looked_at TASK: how many ignore files and directories git reads for a status inside. The top is always among them: the
# monitor names it each time.
looked_at() {
  inside "$1" 'GIT_TRACE2_PERF=/tmp/trace /usr/bin/git status --porcelain >/tmp/status; cat /tmp/status; grep -oE "(opendir|gitignore-invalidation|directory-invalidation):[0-9]+" /tmp/trace'
}

@test "W4 J10 base: the first status of a task reads no directory but the top: the untracked cache is the one that git would make" {
  # directories that sort differently with and without what is in them; more than a word of a bitmap has
  for d in a a-b a.b a/b a/b-c a/b/c 'name with spaces' $(seq -f 'many/%g' 200); do
    mkdir -p "$d"; for i in {1..5}; do echo "$d $i" >"$d/$i"; done
  done
  echo '*.o' >a/b/.gitignore; : >a-b/.gitignore; echo '!x.o' >many/7/.gitignore
  mkdir -p a.b/kept; echo '/kept/' >a.b/.gitignore; echo '!new' >a.b/kept/.gitignore; echo 1 >a.b/kept/1
  git add -A; git add -f a.b/kept; git commit -qm many
  echo '*.mine' >>.git/info/exclude; echo '*.user' >"$HOME/ignore"; git config --global core.excludesFile "$HOME/ignore"
  "$garth" new t
  run looked_at t
  [[ $output == $'gitignore-invalidation:0\ndirectory-invalidation:1\nopendir:1' ]]
  # what is new is seen, and what is ignored is not
  inside t 'touch a/new a/b/c/x.o many/7/x.o x.user x.mine a.b/kept/new; rm a-b/1; echo more >>many/9/1; echo more >>a.b/kept/1'
  [[ $(inside t 'git status --porcelain') == $' D a-b/1\n M a.b/kept/1\n M many/9/1\n?? a/new\n?? many/7/x.o' ]]
  # attributes decide which id of an ignore file git compares: then git makes the cache
  echo '* text=auto' >.gitattributes; git add -A; git commit -qm attributes
  export GARTH_HOME=$HOME/.garth-attributes
  "$garth" new u
  run looked_at u
  [[ $output == $'gitignore-invalidation:0\ndirectory-invalidation:1\nopendir:1' ]]
}
