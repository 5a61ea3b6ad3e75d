# ESCAPES 31, 32, 33, 36 and 40: a repository that the user did not make names paths: files that its configuration includes, stores
# that it borrows objects from, links in place of its own files. They lead to what is private, to what is different for each
# program or at each look, or to what git waits for.
load planted.bash

# The attack makes the configuration depend on who reads it: /proc/self/cwd is another directory to a git that lists the
# settings than to one that looks for changes or pushes. An agent could write to a file in its workspace between the two.
@test "31 40 J3: no program runs from a configuration that is different at each look" {
  tarball "$T/open/tarball"
  local kind at=$PWD evil
  printf '[core]\n\tsshCommand = %s; false\n[filter "x"]\n\tclean = "%s; cat"\n\tsmudge = "%s; cat"\n' "$payload" "$payload" "$payload" >.evil
  { cat .git/config; sed '/smudge/d' .evil; } >.whole
  echo '.[ew]*' >>.git/info/exclude
  git config remote.origin.url ssh://host.invalid/x
  cp .git/config ../saved
  "$garth" new t; inside t 'echo changed >>a.txt; git commit -qam changed'
  for kind in include nested condition link; do
    rm .git/config; cp ../saved .git/config
    case $kind in
    include) git config include.path /proc/self/cwd/.evil ;;
    nested) git config include.path ../.one; printf '[include]\n\tpath = ~/../../../../../../proc/thread-self/cwd/.evil\n' >.one ;;
    condition) git config 'includeIf.gitdir:**.path' ../.link; ln -s /proc/self/cwd/.evil .link ;;
    link) mv .git/config ../; ln -s /proc/self/cwd/.whole .git/config ;;
    esac
    # the control: git itself runs it
    echo 'a.txt filter=x' >.git/info/attributes; touch a.txt; git status --porcelain >/dev/null; ran
    for command in "new $kind-a" "new $kind-b --backend worktree" "new $kind-c --with-changes" "run -t $kind-d -- true" 'run --push B -- true' 'merge t' ls 'diff t'; do
      touch a.txt
      # shellcheck disable=SC2086
      quiet $command
    done
    rm .git/info/attributes
    git push -q origin HEAD:refs/heads/control 2>/dev/null || true; [[ $kind == link ]] || ran
    quiet push t
    quiet new "$kind-e" --backend clone
    refused "$garth" new "$kind-f"
    grep -qF "in /proc" "$T/refused" || { echo "$kind"; cat "$T/refused"; false; }
  done
  # what an agent can write, even if it is not there yet
  rm -f .git/config .link; cp ../saved .git/config
  for evil in "$GARTH_HOME/worktrees/t/evil" "$GARTH_HOME/worktrees/not-yet/evil" '~/.garth/worktrees/t/evil' .link; do
    ln -sf "$GARTH_HOME/worktrees/t/evil" .git/.link
    git config include.path "$evil"
    refused "$garth" new t2
    grep -qF 'in the Garth home' "$T/refused" || { echo "$evil"; cat "$T/refused"; false; }
  done
  # and where the user lets agents write
  mkdir "$HOME/shared"; echo 'jail: {allow_write: [~/shared]}' | configure
  for evil in '~/shared/evil' "$HOME/shared/not/yet" .link; do
    ln -sf "$HOME/shared/evil" .git/.link; git config include.path "$evil"
    refused "$garth" new t2
    grep -qF 'where jail.allow_write lets agents write' "$T/refused" || { echo "$evil"; cat "$T/refused"; false; }
  done
  rm "$XDG_CONFIG_HOME/garth/config.yaml"
  mkdir -p "$GARTH_HOME/worktrees/t/evil"
  for evil in config packed-refs info/attributes refs objects/pack logs; do
    cp ../saved .git/config; [[ ! -e .git/$evil ]] || mv ".git/$evil" ../kept
    ln -s "$GARTH_HOME/worktrees/t/evil" ".git/$evil"
    refused "$garth" new t2
    [[ $evil == info/attributes ]] || grep -qF 'in the Garth home' "$T/refused" || { echo "$evil"; cat "$T/refused"; false; }
    rm ".git/$evil"; [[ ! -e ../kept ]] || mv ../kept ".git/$evil"
  done
  rm -rf .git/.link "$GARTH_HOME/worktrees/t"
  # the control: other files can be included
  cp ../saved .git/config; git config include.path ../.usual; git config --add include.path ~/not-there; printf '[core]\n\tabbrev = 9\n' >.usual; git config remote.origin.url "$T/remote.git"
  "$garth" new usual; "$garth" push t
  # a FIFO where an included file is
  mkfifo .fifo; git config --add include.path ../.fifo
  within 5 "$garth" new t3
  grep -qF ".fifo' is a FIFO" "$T/answer" || {
    cat "$T/answer"
    false
  }
}

# The attack names any directory as one that objects are borrowed from, and has it mounted into the jail.
@test "32 J2: alternates of the repository do not make a private directory visible" {
  mkdir "$T/private" "$HOME/.password-store"; echo "$SECRET" >"$T/private/diary"
  git init -q "$HOME/.password-store"; git -C "$HOME/.password-store" commit -q --allow-empty -m "$SECRET"
  "$garth" new before
  for place in "$T/private" "$HOME" "$HOME/.ssh" "$GARTH_HOME" "$HOME/.password-store/.git/objects" "$T/elsewhere" /etc; do
    echo "$place" >.git/objects/info/alternates
    for backend in overlay worktree clone; do
      refused "$garth" new t --base HEAD --backend "$backend"
      grep -qF "'$place'" "$T/refused"
    done
    # nor in an older task
    code=0
    "$garth" exec before -- ls -R "$place" >"$T/said" 2>&1 || code=$?
    ((code))
    grep -qF "'$place'" "$T/said" || {
      cat "$T/said"
      false
    }
    refused grep -qF -e diary -e id_test "$T/said"
  done
  # a directory that only looks like one: other stores are divided by two digits too
  for name in pack info ab; do
    mkdir -p "$T/like/$name"; echo "$SECRET" >"$T/like/$name/diary"; echo "$T/like" >.git/objects/info/alternates
    refused "$garth" new t --base HEAD
    grep -qF "'$T/like', which has other things in it" "$T/refused"
    rm -r "$T/like"
  done
  # a directory where git has files, a temporary name, a name like an object's or a pack's
  for name in pack/pack-private/diary tmp_x/diary garth-x/diary garth-x/pack/diary info/packs/diary ab/00000000000000000000000000000000000000 pack/pack-x.pack; do
    mkdir -p "$T/like/pack" "$(dirname "$T/like/$name")"; echo "$SECRET" >"$T/like/$name"; echo "$T/like" >.git/objects/info/alternates
    refused "$garth" new t --base HEAD
    grep -qF "'$T/like', which has other things in it" "$T/refused"
    rm -r "$T/like"
  done
  mkdir "$T/like"; echo "$SECRET" >"$T/like/my.lock"; echo "$T/like" >.git/objects/info/alternates
  refused "$garth" new t --base HEAD
  grep -qF "'$T/like', which is not an object store" "$T/refused"
  # the control: what is an object store is borrowed
  rm .git/objects/info/alternates; git clone -q "$R" "$T/open/real"; echo "$T/open/real/.git/objects" >.git/objects/info/alternates
  # with what git and Garth leave in it while they receive
  mkdir -p "$T/open/real/.git/objects/garth-7/ab" "$T/open/real/.git/objects/tmp_objdir-incoming-x/pack" "$T/open/real/.git/objects/garth-7-ab"
  touch "$T/open/real/.git/objects/maintenance.lock" "$T/open/real/.git/objects/garth-7/ab/tmp_obj_x" "$T/open/real/.git/objects/tmp_objdir-incoming-x/pack/tmp_pack_x"
  git -C "$T/open/real" commit-graph write --reachable --split 2>/dev/null; git -C "$T/open/real" repack -q; git -C "$T/open/real" multi-pack-index write 2>/dev/null
  "$garth" new t; inside t 'git log -1 >/dev/null'
  untouched
}

# The attack writes the name of the store in another way, which git understands, or in one that is another place to each
# program. The store has a FIFO, for which git waits; or it is in a workspace, where an agent can change it.
@test "32 33 36 40 J3: alternates under another name are found" {
  mkdir -p "$T/alt/info" "$T/alt/pack"; mkfifo "$T/alt/info/alternates"
  local line
  for line in "\"$T/alt\"" "\"$(sed 's|/alt|/\\141lt|' <<<"$T/alt")\"" "/proc/self/cwd$T/alt" "\"/proc/self\\057cwd$T/alt\""; do
    printf '%s\n' "$line" >.git/objects/info/alternates
    # the control: git itself waits
    code=0; GIT_DIR=$R/.git timeout 1 env -C / git cat-file -t 1111111111111111111111111111111111111111 2>/dev/null || code=$?; ((code == 124))
    within 5 "$garth" new t
    grep -qE "quoted path|in /proc" "$T/answer" || {
      echo "$line"
      cat "$T/answer"
      false
    }
  done
  for line in "$GARTH_HOME/worktrees/t/objects" "\"$GARTH_HOME/worktrees/t\\057objects\"" "../../../../.garth/alone/x"; do
    printf '%s\n' "$line" >.git/objects/info/alternates
    refused "$garth" new t
    grep -qE 'in the Garth home|quoted path' "$T/refused" || {
      cat "$T/refused"
      false
    }
  done
}

# The attack has a FIFO where git expects a file: git waits until somebody writes to it.
@test "31 36 J3: a FIFO in place of a file of the repository is named at once" {
  local name
  "$garth" new t
  for name in HEAD packed-refs config index shallow objects/info/alternates refs/heads/x; do
    [[ ! -e .git/$name ]] || mv ".git/$name" "$T/kept"
    mkfifo ".git/$name"
    # the control: git itself waits
    if [[ $name == HEAD ]]; then code=0; timeout 0.5 git status >/dev/null 2>&1 || code=$?; ((code == 124)); fi
    for command in 'run -t n -- true' 'new n' 'show t' 'diff t' trust; do
      # shellcheck disable=SC2086
      within 5 "$garth" $command
      grep -qF ".git/$name' is a FIFO" "$T/answer" || { echo "$command"; cat "$T/answer"; false; }
    done
    within 5 "$garth" ls
    rm ".git/$name"
    [[ ! -e $T/kept ]] || mv "$T/kept" ".git/$name"
  done
  within 20 "$garth" doctor
  "$garth" diff t
}

# Of some files there are too many to look at them each time. It is done before a repository is used for the first time.
@test "31 36 J3: a FIFO as a loose object or as one of Garth's refs, in a repository that came as a tarball" {
  local name
  "$garth" new t # of another project
  tarball "$T/open/tarball"
  git unpack-objects -q <.git/objects/pack/*.pack 2>/dev/null || true
  for name in objects/11/11111111111111111111111111111111111111 refs/garth/tasks/1/x refs/garth/x; do
    mkdir -p "$(dirname ".git/$name")"; mkfifo ".git/$name"
    # the control: git itself waits
    code=0; timeout 0.5 git for-each-ref >/dev/null 2>&1 || code=$?
    if [[ $name == objects* ]]; then code=0; timeout 0.5 git cat-file -t 1111111111111111111111111111111111111111 >/dev/null 2>&1 || code=$?; fi
    ((code == 124))
    for command in 'run -t n -- true' 'new n' 'run -t n --backend clone -- true' trust warm; do
      # shellcheck disable=SC2086
      within 5 "$garth" $command
      grep -qF ".git/$name' is a FIFO" "$T/answer" || { echo "$command"; cat "$T/answer"; false; }
    done
    for command in ls doctor config 'show t' 'undo --list'; do
      # shellcheck disable=SC2086
      within 5 "$garth" $command
    done
    rm ".git/$name"
  done
  "$garth" new n
}

# And later: whoever can write to the repository puts a FIFO in place of an object.
@test "31 36 J3: a loose object that becomes a FIFO later is named, and holds nothing up" {
  "$garth" new t; inside t 'echo changed >>a.txt; git commit -qam changed'
  local object
  object=$(git rev-parse HEAD); object=$R/.git/objects/${object:0:2}/${object:2}
  rm -f "$object"; mkfifo "$object"
  # the control: git itself waits
  code=0; timeout 1 git cat-file -t HEAD >/dev/null 2>&1 || code=$?
  ((code == 124))
  for command in 'new n' 'diff t' 'merge t' 'run -t n -- true'; do
    # shellcheck disable=SC2086
    within 8 "$garth" $command
    grep -qF "${object#"$R/"}', which is a FIFO" "$T/answer" || { echo "$command"; cat "$T/answer"; false; }
  done
  for command in ls 'show t' doctor; do
    # shellcheck disable=SC2086
    within 15 "$garth" $command
  done
}

# The attack has a link in the place of the object directory: it leads to the home, where its packs were unpacked too.
@test "32 J2: a link in the place of the objects does not make a private directory visible" {
  tarball "$HOME/tarball"; git repack -adq
  mkdir "$HOME/pack"; mv .git/objects/pack/* "$HOME/pack"; rm -rf .git/objects; ln -s ../.. .git/objects
  # the control: it is a repository to git
  git log -1 >/dev/null
  for backend in overlay worktree clone; do
    refused "$garth" new t --base HEAD --backend "$backend"
    grep -qF "'$HOME'" "$T/refused"
  done
}

# The attack has the checkout of a branch in a workspace, by a record of a worktree that came with the repository: a merge
# would write there while an agent puts links in its way.
@test "2 6 40 G10: a merge writes no files where an agent can write" {
  git branch dev
  "$garth" new a; inside a 'echo A >>a.txt; echo N >new; git add new; git commit -qam A'
  "$garth" new b --backend worktree
  mkdir -p .git/worktrees/w; echo ../.. >.git/worktrees/w/commondir; echo 'ref: refs/heads/dev' >.git/worktrees/w/HEAD
  cp .git/index .git/worktrees/w/index; echo "$GARTH_HOME/worktrees/b/sub/.git" >.git/worktrees/w/gitdir
  inside b "mkdir sub; echo 'gitdir: $R/.git/worktrees/w' >sub/.git; cp -r a.txt dir .gitignore sub/"
  # the control: it is a checkout to git
  [[ $(git -c safe.directory='*' -C "$GARTH_HOME/worktrees/b/sub" branch --show-current) == dev ]]
  refused "$garth" merge a --into dev
  grep -q 'in the Garth home' "$T/refused"
  [[ ! -e $GARTH_HOME/worktrees/b/sub/new ]]
}

# The attack publishes a link with the name of the directory that a merge makes in a checkout on another file system than
# the repository.
@test "2 40 G10: a merge makes no files behind a link in the checkout" {
  local other=/dev/shm
  [[ -w $other && $(stat -c %d $other) != "$(stat -c %d "$T")" ]] || other=/tmp
  [[ $(stat -c %d $other) != "$(stat -c %d "$T")" ]] || skip "there is no other file system"
  other=$(mktemp -d $other/garth-test.XXXXXX)
  ln -s "$T/elsewhere/dir" .garth-merge; git add .garth-merge; git commit -qm link
  git worktree add -q -b dev "$other/dev"
  "$garth" new a; inside a 'echo A >>a.txt; echo N >new; git add new; git commit -qam A'
  local code=0
  "$garth" merge a --into dev >"$T/answer" 2>&1 || code=$?
  rm -rf "$other"
  ((code)) || { cat "$T/answer"; false; }
  grep -q '.garth-merge' "$T/answer"
  untouched
}

# The attack publishes a directory of that name: what is in it was removed with Garth's own.
@test "26 40 G10: a merge removes no directory of a commit" {
  local other=/dev/shm code=0 kept
  [[ -w $other && $(stat -c %d $other) != "$(stat -c %d "$T")" ]] || other=/tmp
  [[ $(stat -c %d $other) != "$(stat -c %d "$T")" ]] || skip "there is no other file system"
  other=$(mktemp -d $other/garth-test.XXXXXX)
  mkdir .garth-merge; echo kept >.garth-merge/kept; git add .garth-merge; git commit -qm directory
  git worktree add -q -b dev "$other/dev"
  "$garth" new a; inside a 'echo A >>a.txt; git commit -qam A'
  # twice: what the first one leaves is not taken for a merge that was killed
  "$garth" merge a --into dev >"$T/answer" 2>&1 || "$garth" merge a --into dev >"$T/answer" 2>&1 || code=$?
  kept=$(cat "$other/dev/.garth-merge/kept")
  # without it, the same merge succeeds
  rm -r "$other/dev/.garth-merge"; git -C "$other/dev" commit -qam removed
  "$garth" merge a --into dev || { rm -rf "$other"; false; }
  rm -rf "$other"
  [[ $kept == kept ]] || { cat "$T/answer"; false; }
  ((code)); grep -q "'.*/dev/.garth-merge'" "$T/answer"
}

# The attack has a repository whose common directory names yet another one. A git in the checkout uses the first one; a git
# that is told the first one uses the second, which nobody has looked at: git waits for what is in there.
@test "31 36 40 J3: a common directory that names another one" {
  tarball "$T/open/tarball"
  cp -a .git "$T/open/first"; cp -a .git "$T/open/second"
  echo "$T/open/second" >"$T/open/first/commondir"; echo "$T/open/first" >.git/commondir
  # the control: it is a repository to git, which waits if it is told the first one
  git log -1 >/dev/null
  mkfifo "$T/open/second/objects/info/alternates"
  code=0; GIT_DIR=$T/open/first timeout 1 git cat-file -t 1111111111111111111111111111111111111111 2>/dev/null || code=$?; ((code == 124))
  for command in 'run -t n -- true' 'new n' 'new n --backend clone' trust; do
    # shellcheck disable=SC2086
    within 5 "$garth" $command
    grep -qF "'commondir' names others" "$T/answer" || { echo "$command"; cat "$T/answer"; false; }
  done
  # the control: one that names no other can be used
  rm "$T/open/first/commondir"
  "$garth" new n
}

# The attack has a FIFO among the attribute files of the checkout, which a merge has git read while it keeps the index locked.
@test "31 36 J3 G10: a FIFO in place of the attributes does not hold up a merge" {
  local name
  "$garth" new a; inside a 'echo A >>dir/sub/c.txt; git commit -qam A'
  "$garth" new many; inside many 'mkdir m; seq 300 | sed "s/^/m\/n/" | xargs touch; git add m; git commit -qm many'
  for name in .gitattributes dir/sub/.gitattributes; do
    mkfifo $name; touch dir/sub/c.txt
    # the control: git itself waits
    code=0; timeout 0.5 git diff --stat >/dev/null 2>&1 || code=$?; ((code == 124))
    for task in a many; do
      within 10 "$garth" merge $task
      grep -qF "$name' is a FIFO" "$T/answer" || { echo "$name $task"; cat "$T/answer"; false; }
    done
    [[ ! -e .git/index.lock ]]
    rm $name
  done
  "$garth" merge many; "$garth" merge a
}
