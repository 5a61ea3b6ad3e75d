load helpers
load merging

# A repository with a submodule at libs/mod that has one at deep, all checked out: made once, and copied for each test.
setup_file() {
  export made=$BATS_FILE_TMPDIR/made HOME=$BATS_FILE_TMPDIR
  git config --global user.name x; git config --global user.email x@example.com; git config --global protocol.file.allow always
  git init -q "$made/deep"
  (cd "$made/deep" && echo deep >deep.txt && git add -A && git commit -qm deep)
  git init -q "$made/lib"
  (cd "$made/lib" && echo lib >lib.txt && echo old >old.txt && mkdir src && echo code >src/code.c && echo '*.o' >.gitignore && git add -A && git commit -qm lib
    git submodule --quiet add "$made/deep" deep && git commit -qm nested)
  git init -q "$made/app"
  (cd "$made/app" && git submodule --quiet add "$made/lib" libs/mod && git submodule --quiet update --init --recursive)
}

# The submodule is detached at the superproject's commit, as `git submodule update` leaves it.
setup() {
  garth_setup
  cp -a "$made/app/.gitmodules" "$made/app/libs" .
  cp -a "$made/app/.git/modules" .git
  git config submodule.libs/mod.url "$made/lib"; git config submodule.libs/mod.active true
  git -C libs/mod checkout -q --detach
  git add -A 2>/dev/null; git commit -qm 'with a submodule'
  mod=$R/.git/modules/libs/mod deep=$R/.git/modules/libs/mod/modules/deep
  old=$(git -C libs/mod rev-parse HEAD)
  "$garth" new t >/dev/null
}

# sub_commit GIT_DIR PARENT SCRIPT: a commit in a submodule's repository, as the gateway would leave it.
sub_commit() {
  local w=$T/scratch
  git --git-dir="$1" --work-tree=/ worktree add -q --detach "$w" "$2" >/dev/null
  (cd "$w" && bash -ec "$3" && git add -A && git commit -qm "work in a submodule")
  git -C "$w" rev-parse HEAD
  git --git-dir="$1" --work-tree=/ worktree remove --force "$w"
}
refs() { git --git-dir="$1" --work-tree=/ "${@:2}"; }

# link TREEISH PATH COMMIT: a tree of it with the submodule at this commit.
link() {
  GIT_INDEX_FILE=$T/index git read-tree "$1"
  GIT_INDEX_FILE=$T/index git update-index --add --cacheinfo "160000,$3,$2"
  GIT_INDEX_FILE=$T/index git write-tree
}

# sub_publish [SCRIPT] [MORE]: the task's branch in the submodule has one more commit, and its superproject names it.
sub_publish() {
  local at
  at=$(refs "$mod" rev-parse -q --verify refs/heads/garth/t || echo "$old")
  new=$(sub_commit "$mod" "$at" "${1:-echo more >>lib.txt; echo new >new.txt; git rm -q old.txt}")
  refs "$mod" update-ref refs/heads/garth/t "$new"
  tip=$(git commit-tree -p garth/t -m 'move the submodule' "$(link garth/t libs/mod "$new")")
  git update-ref refs/heads/garth/t "$tip"
}

sub_head() { git -C libs/mod rev-parse HEAD; }
linked() { git rev-parse "${1:-HEAD}:libs/mod"; }

# sub_tidy COMMIT: the checkout has the submodule at this commit, and nothing is changed anywhere.
sub_tidy() {
  [[ $(linked) == "$1" ]] || complain "the superproject names $(linked)" || return
  [[ $(sub_head) == "$1" ]] || complain "HEAD is at $(sub_head)" || return
  [[ -z $(git -C libs/mod status --porcelain --ignored) ]] || complain "$(git -C libs/mod status --porcelain --ignored)" || return
  git -C libs/mod diff-files --quiet || complain "stat data of the submodule" || return
  tidy
}

# Everything that belongs to the user: the superproject's and the submodules' files, HEADs, indexes and refs.
state() {
  (cd "$R" && git rev-parse HEAD main && git -C libs/mod for-each-ref && git ls-files -s && git -C libs/mod ls-files -s
    cat "$mod/HEAD" "$deep/HEAD" && find . -path ./.git -prune -o -type f -exec sha256sum {} + | sort && git status --porcelain && git -C libs/mod status --porcelain)
}
# refused CODE TEXT: the merge is refused, and everything that belongs to the user is as before.
refused() {
  state >"$T/state"
  fails "$1" "$2" "$garth" merge t
  state | diff "$T/state" - || complain "something changed"
  nothing_beside
}

@test "W5 submerge: a merge moves the superproject and the files and HEAD of its submodule; undo moves all of it back" {
  for kind in "" --squash --rebase --no-ff; do
    sub_publish
    [[ $("$garth" merge t --dry-run --json $kind | json '[(s["path"], s["checkout"]) for s in d["submodules_moved"]]') == "[[\"libs/mod\", \"$R/libs/mod\"]]" ]]
    sub_tidy "$old"
    call "$garth" merge t $kind
    [[ $code == 0 ]] || complain "$kind"
    [[ $err == *"submodule libs/mod is at ${new:0:12}"* ]] || complain "$kind"
    sub_tidy "$new"
    [[ $(cat libs/mod/new.txt libs/mod/lib.txt) == $'new\nlib\nmore' ]]
    [[ ! -e libs/mod/old.txt ]]
    not git -C libs/mod symbolic-ref -q HEAD
    "$garth" undo
    sub_tidy "$old"
    [[ $(cat libs/mod/old.txt) == old ]]
    [[ ! -e libs/mod/new.txt ]]
    [[ $(refs "$mod" rev-parse garth/t) == "$new" ]]
    refs "$mod" update-ref refs/heads/garth/t "$old"; git update-ref refs/heads/garth/t "$(git rev-parse main)"
  done
}

@test "W5 submerge: a branch that is checked out in the submodule moves forward, and back; one at another commit refuses the merge" {
  sub_publish
  git -C libs/mod checkout -q -B work "$old"
  "$garth" merge t
  sub_tidy "$new"
  [[ $(git -C libs/mod symbolic-ref HEAD) == refs/heads/work ]]
  [[ $(git -C libs/mod reflog -1 --format=%gs work) == "garth merge: task 't'" ]]
  # the user has made more commits: undo changes nothing
  git -C libs/mod checkout -q -b other
  fails 5 "submodule 'libs/mod' is at ${new:0:12} on branch other in '$R', and not at" "$garth" undo t
  git -C libs/mod checkout -q work; git -C libs/mod branch -D -q other
  git -C libs/mod commit -q --allow-empty -m more
  fails 5 "submodule 'libs/mod' is at" "$garth" undo t
  git -C libs/mod reset -q --hard "$new"
  "$garth" undo t
  sub_tidy "$old"
  [[ $(git -C libs/mod symbolic-ref HEAD) == refs/heads/work ]]
  # the user's branch is elsewhere
  git -C libs/mod commit -q --allow-empty -m mine
  refused 5 "submodule 'libs/mod' is at $(git -C libs/mod rev-parse --short=12 HEAD) on branch work in '$R', and not at ${old:0:12}"
  [[ $(hint) == "git -C '$R' submodule update -- libs/mod" ]] || complain
  eval "$(hint)"
  "$garth" merge t
  sub_tidy "$new"
}

@test "W5 submerge: the merge is refused if HEAD is detached at another commit" {
  sub_publish
  git -C libs/mod commit -q --allow-empty -m mine
  refused 5 "submodule 'libs/mod' is at"
  [[ $(hint) == "git -C '$R/libs/mod' branch NAME" ]] || complain
  git -C libs/mod branch NAME
  refused 5 "submodule 'libs/mod' is at"
  [[ $(hint) == "git -C '$R' submodule update -- libs/mod" ]] || complain
}

@test "W5 submerge: a submodule that has the new commit already stays, also when the merge is undone" {
  sub_publish
  git -C libs/mod checkout -q "$new"
  git -C libs/mod commit -q --allow-empty -m mine
  mine=$(sub_head)
  "$garth" merge t
  [[ $(linked) == "$new" && $(sub_head) == "$mine" ]]
  "$garth" undo
  [[ $(linked) == "$old" && $(sub_head) == "$mine" ]]
  git -C libs/mod checkout -q "$new"
  "$garth" merge t
  sub_tidy "$new"
  "$garth" undo
  [[ $(linked) == "$old" && $(sub_head) == "$new" ]]
}

@test "W5 submerge: without a checkout of it, or of the target, only the superproject's commit moves" {
  sub_publish
  git branch other
  "$garth" merge --into other t
  [[ $(linked other) == "$new" ]]
  sub_tidy "$old"
  "$garth" undo t
  [[ $(linked other) == "$old" ]]
  git submodule --quiet deinit -f libs/mod
  call "$garth" merge t
  [[ $code == 0 && $err == *"submodule libs/mod is at ${new:0:12}" ]] || complain
  [[ $(linked) == "$new" && -z $(ls -A libs/mod) ]]
  tidy
  # now that it is checked out, undo moves it
  git -c protocol.file.allow=always submodule --quiet update --init libs/mod
  "$garth" undo t
  sub_tidy "$old"
  # its directory is gone, as on a branch without it
  git submodule --quiet deinit -f libs/mod; rmdir libs/mod
  "$garth" merge t
  [[ $(linked) == "$new" && ! -e libs/mod ]]
}

@test "W5 ESCAPES 29 submerge: no user file in the submodule is overwritten, and changes that are not in the way stay" {
  sub_publish 'echo more >>lib.txt; echo new >new.txt; git rm -q old.txt; echo o >gen.o; git add -f gen.o'
  echo mine >libs/mod/new.txt
  refused 5 "1 file is in the way in '$R/libs/mod'"
  [[ $err == *"  libs/mod/new.txt"* && $(hint) == "git -C '$R/libs/mod' status --ignored" ]] || complain
  rm libs/mod/new.txt
  # an ignored file
  echo mine >libs/mod/gen.o
  refused 5 "1 file is in the way in '$R/libs/mod'"
  rm libs/mod/gen.o
  for change in 'echo mine >>lib.txt' 'echo mine >>old.txt' 'echo mine >>lib.txt; git add lib.txt' 'mkdir new.txt; echo mine >new.txt/x' \
    'git update-index --assume-unchanged lib.txt'; do
    (cd libs/mod && eval "$change")
    refused 5 "1 file is in the way in '$R/libs/mod'"
    rm -rf libs/mod/new.txt; git -C libs/mod update-index --no-assume-unchanged lib.txt; git -C libs/mod reset -q --hard
  done
  # a local commit of the superproject's index
  git update-index --add --cacheinfo "160000,$(refs "$mod" rev-parse "$old^"),libs/mod"
  refused 5 "1 file is in the way in '$R'"
  git reset -q
  # operations in progress
  touch "$mod/MERGE_HEAD"
  refused 5 "a merge is in progress in '$R/libs/mod'"
  rm "$mod/MERGE_HEAD"; touch "$mod/index.lock"
  fails 1 "another git command is at work in '$R/libs/mod'" "$garth" merge t
  rm "$mod/index.lock"
  # not in the way
  echo mine >>libs/mod/src/code.c; echo x >libs/mod/x.o; echo y >libs/mod/y; echo staged >libs/mod/staged; git -C libs/mod add staged
  "$garth" merge t
  [[ $(sub_head) == "$new" && $(linked) == "$new" ]]
  [[ $(git -C libs/mod status --porcelain --ignored) == $' M src/code.c\nA  staged\n?? y\n!! x.o' || $(git -C libs/mod status --porcelain --ignored) == *'M src/code.c'* ]]
  [[ $(tail -n1 libs/mod/src/code.c; cat libs/mod/x.o libs/mod/y libs/mod/staged) == $'mine\nx\ny\nstaged' ]]
  "$garth" undo
  [[ $(sub_head) == "$old" ]]
  [[ $(tail -n1 libs/mod/src/code.c; cat libs/mod/x.o libs/mod/y libs/mod/staged) == $'mine\nx\ny\nstaged' ]]
  # undo checks the same
  "$garth" merge t
  echo mine >>libs/mod/lib.txt
  fails 5 "1 file is in the way in '$R/libs/mod'" "$garth" undo t
  [[ $(sub_head) == "$new" && $(linked) == "$new" ]]
}

@test "W5 submerge: the user's repository of the submodule must have the new commit, on a branch" {
  sub_publish
  refs "$mod" update-ref -d refs/heads/garth/t
  refused 4 "no branch of submodule 'libs/mod' has commit ${new:0:12}"
  # Garth's own ref is removed with the task
  refs "$mod" update-ref refs/garth/tasks/1/kept "$new"
  refused 4 "no branch of submodule 'libs/mod' has commit ${new:0:12}"
  refs "$mod" update-ref -d refs/garth/tasks/1/kept
  git -C libs/mod prune --expire=now; git -C libs/mod reflog expire --expire=now --all; git -C libs/mod prune --expire=now
  refused 4 "the repository of submodule 'libs/mod' does not have commit ${new:0:12}"
  mv "$mod" "$T/mod"
  fails 4 "the repository of submodule 'libs/mod' is not here" "$garth" merge t
  [[ $(hint) == "git -C '$R' submodule update --init -- libs/mod" ]] || complain
  mv "$T/mod" "$mod"
  # added, removed, replaced
  git update-ref refs/heads/garth/t "$(git commit-tree -p main -m add "$(link main libs/other "$old")")"
  fails 4 "it adds or removes a submodule ('libs/other')" "$garth" merge t
}

# main_link COMMIT: main names this commit of the submodule, and the checkout has it.
main_link() {
  git -C libs/mod checkout -q "$1"
  git commit -qm 'main moves the submodule' -- libs/mod
}

@test "W5 submerge: if both sides moved it, the commit that contains the other is taken; else it is a conflict, with a hint" {
  for kind in --no-ff --rebase; do
    sub_publish
    # main's commit contains the task's
    further=$(sub_commit "$mod" "$new" 'echo further >further.txt'); refs "$mod" update-ref refs/heads/further "$further"
    main_link "$further"
    publish t 'echo t >t.txt'
    call "$garth" merge t $kind
    [[ $code == 0 ]] || complain "$kind"
    sub_tidy "$further"
    [[ $(cat t.txt) == t ]]
    "$garth" undo t
    git reset -q --hard main^; git submodule --quiet update
    # the task's commit contains main's, and main has changed another file
    first=$new
    sub_publish 'echo second >second.txt'
    main_link "$first"; move_on
    call "$garth" merge t $kind
    [[ $code == 0 ]] || complain "$kind"
    sub_tidy "$new"
    [[ $(cat t.txt on.txt libs/mod/second.txt) == $'t\non\nsecond' ]]
    "$garth" undo t
    git reset -q --hard main~2; git submodule --quiet update
    refs "$mod" update-ref refs/heads/garth/t "$old"; git update-ref refs/heads/garth/t "$(git rev-parse main)"
  done
  # one side goes back
  back=$(refs "$mod" rev-parse "$old^")
  sub_publish
  main_link "$back"
  refused 5 "1 file conflicts with main"
  git reset -q --hard main^
  git update-ref refs/heads/garth/t "$(git commit-tree -p main -m back "$(link main libs/mod "$back")")"
  main_link "$new"
  refused 5 "1 file conflicts with main"
  git reset -q --hard main^; git submodule --quiet update
  refs "$mod" update-ref refs/heads/garth/t "$old"; git update-ref refs/heads/garth/t "$(git rev-parse main)"
  # neither contains the other
  sub_publish
  beside=$(sub_commit "$mod" "$old" 'echo beside >beside.txt'); refs "$mod" update-ref refs/heads/beside "$beside"
  main_link "$beside"
  refused 5 "1 file conflicts with main"
  [[ $err == *$'\n  libs/mod'* ]] || complain
  [[ $(hint) == "garth merge --resolve t" ]] || complain
  "$garth" merge --resolve t
  [[ $(inside t-resolve 'git ls-files -u libs/mod | cut -c 8-47' | paste -sd' ') == "$old $beside $new" ]]
  inside t-resolve "cd libs/mod && git merge -q -m both $new && cd ../.. && git add libs/mod && git commit -qm solved"
  "$garth" merge --continue t
  [[ $(cat libs/mod/beside.txt libs/mod/new.txt) == $'beside\nnew' ]]
  sub_tidy "$(linked)"
}

# nested_publish: a commit in the submodule's submodule, one in the submodule that names it, one in the superproject.
nested_publish() {
  local tree
  deep_old=$(git --git-dir="$mod" rev-parse "$old:deep")
  deep_new=$(sub_commit "$deep" "$deep_old" 'echo deeper >deep.txt')
  refs "$deep" update-ref refs/heads/garth/t "$deep_new"
  tree=$(cd libs/mod && link "$old" deep "$deep_new")
  new=$(git -C libs/mod commit-tree -p "$old" -m 'move the nested one' "$tree")
  refs "$mod" update-ref refs/heads/garth/t "$new"
  tip=$(git commit-tree -p garth/t -m 'move the submodule' "$(link garth/t libs/mod "$new")")
  git update-ref refs/heads/garth/t "$tip"
}
deep_head() { git -C libs/mod/deep rev-parse HEAD; }

@test "W5 submerge: a submodule of a submodule moves too" {
  nested_publish
  git -C libs/mod/deep checkout -q -B here
  call "$garth" merge t
  [[ $code == 0 ]] || complain
  [[ $err == *"submodule libs/mod/deep is at ${deep_new:0:12}, with its files"* ]] || complain
  sub_tidy "$new"
  [[ $(deep_head) == "$deep_new" && $(cat libs/mod/deep/deep.txt) == deeper && $(git -C libs/mod/deep symbolic-ref --short HEAD) == here ]]
  "$garth" undo
  sub_tidy "$old"
  [[ $(deep_head) == "$deep_old" && $(cat libs/mod/deep/deep.txt) == deep ]]
  # a change there stops all of it
  echo mine >libs/mod/deep/deep.txt
  refused 5 "1 file is in the way in '$R/libs/mod/deep'"
  [[ $err == *"  libs/mod/deep/deep.txt"* ]] || complain
  git -C libs/mod/deep reset -q --hard; git -C libs/mod/deep commit -q --allow-empty -m mine
  refused 5 "submodule 'deep' is at $(deep_head | cut -c -12) on branch here in '$R/libs/mod'"
  [[ $(hint) == "git -C '$R/libs/mod' submodule update -- deep" ]] || complain
  git -C libs/mod/deep reset -q --hard HEAD^
  # not checked out
  git -C libs/mod submodule --quiet deinit -f deep
  "$garth" merge t
  [[ $(sub_head) == "$new" && -z $(ls -A libs/mod/deep) ]]
}

@test "W5 submerge: a linked worktree has its own repositories for its submodules" {
  git worktree add -q "$T/elsewhere" -b there
  (cd "$T/elsewhere" && git -c protocol.file.allow=always submodule --quiet update --init)
  sub_publish
  fails 5 "submodule 'libs/mod' in '$T/elsewhere' does not have commit ${new:0:12}" "$garth" merge --into there t
  eval "$(hint)" 2>/dev/null
  "$garth" merge --into there t
  [[ $(git -C "$T/elsewhere/libs/mod" rev-parse HEAD) == "$new" && -z $(git -C "$T/elsewhere" status --porcelain) ]]
  [[ $(cat "$T/elsewhere/libs/mod/new.txt") == new ]]
  sub_tidy "$old"
  "$garth" undo t
  [[ $(git -C "$T/elsewhere/libs/mod" rev-parse HEAD) == "$old" && -z $(git -C "$T/elsewhere" status --porcelain) ]]
}

@test "W5 submerge: sparse checkouts, of the submodule and of the superproject" {
  sub_publish 'echo more >>lib.txt; echo more >>src/code.c; echo new >src/new.c'
  git -C libs/mod sparse-checkout set --cone docs
  [[ ! -e libs/mod/src ]]
  "$garth" merge t
  sub_tidy "$new"
  [[ ! -e libs/mod/src && $(tail -n1 libs/mod/lib.txt) == more ]]
  "$garth" undo
  sub_tidy "$old"
  git -C libs/mod sparse-checkout disable
  git submodule --quiet deinit -f libs/mod
  git sparse-checkout set --cone docs
  "$garth" merge t
  [[ $(linked) == "$new" && $(git ls-files -t libs/mod) == 'S libs/mod' ]]
  tidy
}

@test "W5 ESCAPES 23 submerge: killed at any step, either everything has moved or nothing" {
  without_faults && return
  nested_publish
  git -C libs/mod checkout -q -B work "$old"
  for command in merge undo; do
    # undo takes the same steps
    steps='merge-journal merge-prepared merge-half merge-tree merge-submodule merge-submodules merge-moved merge-stored'
    [[ $command == merge ]] || steps='merge-half merge-submodules merge-moved'
    for step in $steps; do
      [[ $command == merge ]] || { call "$garth" merge --keep t; [[ $code == 0 ]] || complain "$step"; }
      state >"$T/state"
      if [[ $command == merge ]]; then call env GARTH_FAULT=$step "$garth" merge --keep t; else call env GARTH_FAULT=$step "$garth" undo t; fi
      [[ $code == 137 ]] || complain "did not die at $step"
      call "$garth" doctor --repair
      case $step in
      merge-moved | merge-stored)
        if [[ $command == merge ]]; then sub_tidy "$new"; [[ $(deep_head) == "$deep_new" ]]; "$garth" undo t; else sub_tidy "$old"; [[ $(deep_head) == "$deep_old" ]]; fi
        ;;
      *)
        state | diff "$T/state" - || complain "$command at $step"
        [[ $command == merge ]] || "$garth" undo t
        ;;
      esac
      sub_tidy "$old"
      [[ $(git -C libs/mod symbolic-ref HEAD) == refs/heads/work && $(deep_head) == "$deep_old" ]]
    done
  done
}

# fails_after STEP SCRIPT: the merge stops at the step while the script runs, and fails then.
fails_after() {
  local pid
  GARTH_FAULT=stop:$1 "$garth" merge t >"$T/out" 2>"$T/err" 3>&- &
  pid=$!
  eventually stopped $pid
  eval "$2"
  kill -CONT $pid
  code=0; wait $pid || code=$?
  err=$(<"$T/err")
  [[ $code != 0 ]] || complain "the merge succeeded"
}

@test "W5 ESCAPES 29 submerge: if it fails in the middle, the submodules go back to where they were" {
  without_faults && return
  nested_publish
  tip=$(git commit-tree -p "$tip" -m file "$(git ls-tree "$tip" | sed "s/\(blob \).*\ta.txt/\1$(echo t | git hash-object -w --stdin)\ta.txt/" | git mktree)")
  git update-ref refs/heads/garth/t "$tip"
  state >"$T/state"
  # the superproject's file is written after those of the submodules have moved
  fails_after merge-prepared 'echo mine >a.txt'
  [[ $err == *"1 file is in the way in '$R'"* && $(cat a.txt) == mine ]] || complain
  git checkout -q -- a.txt
  state | diff "$T/state" - || complain
  nothing_beside
  # the branch cannot move after the submodules' HEADs have
  fails_after merge-submodules 'rm .git/refs/heads/main.lock; [[ $(deep_head) == "$deep_new" ]]'
  state | diff "$T/state" - || complain
  nothing_beside
  # another git has HEAD of one of them
  touch "$mod/HEAD.lock"
  fails 1 "cannot hold 'HEAD'" "$garth" merge t
  rm "$mod/HEAD.lock"
  state | diff "$T/state" - || complain
  # switched at the same commit just before
  fails_after merge-journal 'git -C libs/mod checkout -q -b other'
  [[ $err == *"is being switched"* && $(git -C libs/mod symbolic-ref HEAD) == refs/heads/other && $(sub_head) == "$old" ]] || complain
  "$garth" merge t
  sub_tidy "$new"
}

# work TASK [MORE]: commits inside, in the nested submodule, in the submodule and in the superproject.
work() {
  inside "$1" "cd libs/mod/deep && echo $1 >>deep.txt && git commit -qam deeper && cd .. && echo $1 >>lib.txt && git commit -qam more && cd ../.. && git commit -qam moved; ${2-}"
  new=$(refs "$mod" rev-parse "garth/$1") deep_new=$(refs "$deep" rev-parse "garth/$1")
}
# The refs of Garth in the submodules' repositories.
sub_refs() { for r in "$mod" "$deep"; do refs "$r" for-each-ref --format='%(refname)' refs/heads/garth refs/garth; done | paste -sd' '; }

@test "W5 submerge: what an agent published is merged; its branches go if another one has the commits, and undo brings them back" {
  for b in overlay worktree; do
    "$garth" new w --backend $b >/dev/null
    work w
    git -C libs/mod checkout -q -B work "$old"; git -C libs/mod/deep checkout -q -B work
    id=$(field w id)
    call "$garth" merge w
    [[ $code == 0 && $err != *stays* ]] || complain
    sub_tidy "$new"
    [[ $(deep_head) == "$deep_new" ]]
    [[ $(sub_refs) == "refs/garth/trash/$id/tip refs/garth/trash/$id/tip" ]] || complain "$(sub_refs)"
    "$garth" undo w
    sub_tidy "$old"
    [[ $(sub_refs) == "refs/heads/garth/w refs/heads/garth/w" ]] || complain "$(sub_refs)"
    [[ $(refs "$mod" rev-parse garth/w) == "$new" ]]
    [[ $(inside w 'git status --porcelain; git -C libs/mod log -1 --format=%s') == more ]]
    "$garth" merge w
    [[ $(sub_head) == "$new" ]]
    "$garth" gc --empty-trash
    [[ -z $(sub_refs) ]] || complain "$(sub_refs)"
    # the task is gone for good: undo keeps the commits on branches
    "$garth" undo w
    sub_tidy "$old"
    [[ $(sub_refs) == "refs/heads/garth/w refs/heads/garth/w" ]] || complain "$(sub_refs)"
    git branch -D -q garth/w
    for r in libs/mod libs/mod/deep; do git -C $r checkout -q --detach; git -C $r branch -D -q garth/w work; done
  done
}

@test "W5 submerge: a branch whose commits no other branch has stays after the merge, and Garth says so" {
  "$garth" new w >/dev/null
  work w
  call "$garth" merge w
  [[ $code == 0 && $err == *"branch garth/w of submodule 'libs/mod' stays: no other branch there has its commits"* ]] || complain
  [[ $err == *"git -C '$R/libs/mod' branch NAME garth/w"* && $err == *"git -C '$R/libs/mod/deep' branch NAME garth/w"* ]] || complain
  [[ $(sub_refs) == "refs/heads/garth/w refs/heads/garth/w" ]] || complain "$(sub_refs)"
  "$garth" undo w
  "$garth" merge --keep w
  call "$garth" archive w
  [[ $err == *"branch garth/w of submodule 'libs/mod/deep' stays"* ]] || complain
  "$garth" undo w; "$garth" discard w
  "$garth" gc --empty-trash
  refs "$mod" gc -q --prune=now; refs "$mod" reflog expire --expire=now --all
  git -C libs/mod checkout -q "$old"; git submodule --quiet update
  sub_tidy "$new"
  # doctor tells about them, and removes them when another branch has the commits
  call "$garth" doctor
  [[ $out == *"garth/w in .git/modules/libs/mod: a submodule's branch whose task is removed; it has commits that are on no other branch"* ]] || complain
  git -C libs/mod branch NAME garth/w; git -C libs/mod/deep branch NAME garth/w
  call "$garth" doctor --repair
  [[ -z $(sub_refs) ]] || complain "$(sub_refs)"
  sub_tidy "$new"
}

@test "W5 submerge: doctor makes lost refs of submodules again, and removes those of tasks that are gone" {
  "$garth" new w >/dev/null
  work w
  # a repository of a submodule can be a project itself
  (cd libs/mod && "$garth" new own >/dev/null)
  call "$garth" doctor
  [[ $code == 0 && $out != *garth/w* && $out != *garth/own* ]] || complain
  (cd libs/mod && "$garth" discard own)
  refs "$mod" update-ref -d refs/heads/garth/w
  call "$garth" doctor --repair
  [[ $out == *"w in .git/modules/libs/mod: the submodule's branch is gone"*"✓ done"* ]] || complain
  [[ $(refs "$mod" rev-parse garth/w) == "$new" ]]
  id=$(field w id)
  "$garth" discard -D w
  refs "$mod" update-ref -d refs/garth/trash/$id/tip
  call "$garth" doctor --repair
  [[ $out == *"w in .git/modules/libs/mod: the task is in the trash"*"✓ done"* && $(refs "$mod" rev-parse refs/garth/trash/$id/tip) == "$new" ]] || complain
  # a user's own branch with such a name stays, and so does a ref with the only copy of something
  refs "$mod" branch garth/mine "$old"
  mv "$GARTH_HOME/trash/$id" "$T/gone"
  call "$garth" doctor --repair
  [[ $out == *"garth/mine in .git/modules/libs/mod: a submodule's branch that no task has"* ]] || complain
  [[ $out == *"refs/garth/trash/$id in .git/modules/libs/mod: 1 ref of a task that is removed, with commits that no other ref reaches"* ]] || complain
  [[ $(sub_refs) == "refs/garth/trash/$id/tip refs/heads/garth/mine refs/garth/trash/$id/tip" ]] || complain "$(sub_refs)"
  refs "$mod" branch keep "$new"; refs "$deep" branch keep "$deep_new"
  call "$garth" doctor --repair
  [[ $(sub_refs) == refs/heads/garth/mine ]] || complain "$(sub_refs)"
  call "$garth" doctor
  [[ $code == 0 ]] || complain
}

@test "W5 submerge: discard puts the branches of submodules into the trash, archive too; undo and rename" {
  for b in overlay worktree; do
    "$garth" new w --backend $b >/dev/null
    work w 'cd libs/mod && git commit -q --amend -m again && cd ../.. && git commit -qam again'
    id=$(field w id)
    all="refs/garth/tasks/$id/kept refs/heads/garth/w refs/heads/garth/w"
    [[ $(sub_refs) == "$all" ]] || complain "$(sub_refs)"
    fails 4 "task 'w' has the only copy of its work" "$garth" discard w
    "$garth" discard -D w
    [[ $(sub_refs) == "refs/garth/trash/$id/kept refs/garth/trash/$id/tip refs/garth/trash/$id/tip" ]] || complain "$(sub_refs)"
    # a user's own branch is left alone, whatever its name
    "$garth" new mine >/dev/null; refs "$mod" branch garth/mine
    "$garth" rename mine mine2; "$garth" discard mine2
    [[ $(refs "$mod" rev-parse garth/mine) == $(sub_head) ]]
    "$garth" new mine >/dev/null; "$garth" discard mine
    [[ $(refs "$mod" rev-parse garth/mine) == $(sub_head) ]]
    refs "$mod" branch -D -q garth/mine
    # a branch that somebody made meanwhile is not taken
    refs "$deep" branch garth/w
    fails 1 "there is another branch 'garth/w' in submodule 'libs/mod/deep'" "$garth" undo w
    refs "$deep" branch -D -q garth/w
    "$garth" undo w
    [[ $(sub_refs) == "$all" ]] || complain "$(sub_refs)"
    "$garth" archive w
    [[ $(sub_refs) == "refs/garth/trash/$id/kept refs/garth/trash/$id/tip refs/garth/trash/$id/tip" ]] || complain "$(sub_refs)"
    "$garth" gc --empty-trash
    [[ $(sub_refs) == *"/tip"* ]] || complain "$(sub_refs)"
    "$garth" undo w
    [[ $(sub_refs) == "$all" ]] || complain "$(sub_refs)"
    git -C libs/mod checkout -q garth/w
    "$garth" rename w v
    [[ $(git -C libs/mod symbolic-ref HEAD) == refs/heads/garth/v ]]
    [[ $(sub_refs) == "refs/garth/tasks/$id/kept refs/heads/garth/v refs/heads/garth/v" ]] || complain "$(sub_refs)"
    [[ $(inside v 'git -C libs/mod symbolic-ref HEAD; git -C libs/mod/deep symbolic-ref HEAD; git status --porcelain') == $'refs/heads/garth/v\nrefs/heads/garth/v' ]]
    git -C libs/mod checkout -q --detach
    inside v 'cd libs/mod && echo v >>lib.txt && git commit -qam v'
    [[ $(refs "$mod" log -1 --format=%s garth/v) == v ]]
    git -C libs/mod checkout -q garth/v
    # the one that is checked out stays
    call "$garth" discard -fD v
    [[ $err == *"branch garth/v of submodule 'libs/mod' stays: it is checked out"* ]] || complain
    [[ $(sub_refs) == *"refs/heads/garth/v"* ]]
    git -C libs/mod checkout -q "$old"; refs "$mod" branch -D -q garth/v
    "$garth" gc --empty-trash
    [[ -z $(sub_refs) ]] || complain "$(sub_refs)"
  done
}

@test "W5 ESCAPES 23 submerge: killed while a task with submodules is discarded, brought back or renamed: doctor finishes it" {
  without_faults && return
  "$garth" new w >/dev/null
  work w
  for step in discard-marked discard-branch discard-refs discard-moved; do
    call env GARTH_FAULT=$step "$garth" discard -D w
    [[ $code == 137 ]] || complain "did not die at $step"
    "$garth" doctor --repair >/dev/null
    [[ $(sub_refs) == refs/garth/trash/*/tip\ refs/garth/trash/*/tip ]] || complain "$step: $(sub_refs)"
    "$garth" undo w
    [[ $(sub_refs) == "refs/heads/garth/w refs/heads/garth/w" ]] || complain "$step: $(sub_refs)"
  done
  for step in undo-marked undo-moved undo-refs undo-placed; do
    "$garth" discard -D w
    call env GARTH_FAULT=$step "$garth" undo w
    [[ $code == 137 ]] || complain "did not die at $step"
    "$garth" doctor --repair >/dev/null
    "$garth" undo w
    [[ $(sub_refs) == "refs/heads/garth/w refs/heads/garth/w" && $(refs "$mod" rev-parse garth/w) == "$new" ]] || complain "$step: $(sub_refs)"
  done
  for step in rename-marked rename-made rename-heads rename-removed; do
    call env GARTH_FAULT=$step "$garth" rename w v
    [[ $code == 137 ]] || complain "did not die at $step"
    "$garth" doctor --repair >/dev/null
    [[ $(sub_refs) == "refs/heads/garth/v refs/heads/garth/v" && $(refs "$mod" rev-parse garth/v) == "$new" ]] || complain "$step: $(sub_refs)"
    "$garth" rename v w
  done
}
