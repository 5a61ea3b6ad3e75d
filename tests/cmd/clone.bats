load helpers

remote() {
  git init -q --bare "$T/home/$1.git"
  git remote add "$1" "$T/home/$1.git"
  git push -q "$1" main
}
# ahead NAME: the remote gets a commit that the user's repository does not have.
ahead() {
  git clone -q "$T/home/$1.git" "$T/$1-other"
  (cd "$T/$1-other" && echo "$1" >from && git add from && git commit -qm "in $1" && git push -q)
}

@test "W3 G11 clone: a clone starts from the remote: local, else origin, else the repository itself" {
  "$garth" new itself --backend clone
  [[ $(inside itself 'git log --format=%s') == first ]]
  remote origin; ahead origin
  "$garth" new from-origin --backend clone
  [[ $(inside from-origin 'git log --format=%s; cat from') == $'in origin\nfirst\norigin' ]]
  remote local; ahead local
  "$garth" new from-local --backend clone
  [[ $(inside from-local 'git log --format=%s; cat from') == $'in local\nfirst\nlocal' ]]
  # a named commit is used
  "$garth" new named --backend clone --base HEAD
  [[ $(inside named 'git log --format=%s') == first ]]
  # the user's branches do not move, and nothing is left of the fetch
  [[ $(git log --format=%s main) == first ]]
  [[ -z $(git for-each-ref refs/garth/fetched) ]]
  # the remote's branches are as after the user's own fetch, and the task's standing is compared with them
  [[ $(git rev-parse refs/remotes/local/main) == $(git rev-parse garth/from-local) ]]
  [[ $(field from-local standing) == synced ]]
  inside from-local 'echo 1 >one; git add one; git commit -qm one'
  [[ $("$garth" show from-local --json | json "[d['standing'], d['ahead']]") == '["ahead", 1]' ]]
}

@test "W3 clone: a branch that the remote lacks is taken from the repository; a missing remote is reported" {
  remote origin; ahead origin
  git checkout -qb mine
  "$garth" new a --backend clone
  [[ $(inside a 'git log --format=%s') == first ]]
  git checkout -q main; rm -rf "$T/home/origin.git"
  changes_nothing 1 "cannot fetch 'main'" "$garth" new b --backend clone
  [[ $(hint) == *'--base HEAD'* ]]
}

@test "W3 clone: a clone has its own objects: nothing borrowed, nothing linked" {
  "$garth" new a --backend clone
  [[ -z $(inside a 'cat .git/objects/info/alternates 2>/dev/null') ]]
  inside a 'git fsck --strict --no-dangling'
  # the user's repository is removed, and inside nothing is missing
  mv "$R/.git/objects" "$T/objects"; mkdir "$R/.git/objects"
  call "$garth" exec a -- sh -c 'git fsck --strict --no-dangling && git show HEAD:a.txt'
  rm -rf "$R/.git/objects"
  mv "$T/objects" "$R/.git/objects"
  [[ $code == 0 ]] || complain
  [[ $out == one ]] || complain
  find "$GARTH_HOME"/tasks/*/git/objects -type f -links +1 | grep . && false
  "$garth" show a --jail | grep -q "from $R" && false
  true
}

@test "W3 J10 clone: a source that belongs to another user works" {
  is_root || return 0 # tried as root alone
  remote local; ahead local
  chown -R 12345:12345 "$T/home/local.git"
  # plain git refuses to serve it
  git ls-remote "$T/home/local.git" && false
  "$garth" new a --backend clone
  [[ $(inside a 'git log --format=%s') == $'in local\nfirst' ]]
}

@test "W3 G6 clone: the user's git sees the task's branch there, and not the agent's repository" {
  "$garth" new a --backend clone
  local p; p=$("$garth" path a)
  inside a 'echo 1 >one; git add .; git commit -qm one; echo 2 >two
    git config core.fsmonitor "touch pwned"; git config alias.x "!touch pwned"; mv .git x && exit 1
    mkdir objects refs; echo "ref: refs/heads/x" >HEAD; printf "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch %s/pwned; false\"\n" "'"$p"'" >config'
  [[ $(cd "$p" && git status --porcelain two one a.txt) == '?? two' ]]
  [[ $(cd "$p" && git log --format=%s) == $'one\nfirst' ]]
  # the control: in a directory without Garth's .git it is taken
  cp -r "$p" "$T/control"; rm -rf "$T/control/.git"; (cd "$T/control" && git -c safe.directory='*' status >/dev/null 2>&1) || true
  [[ -e $p/pwned ]]; rm "$p/pwned"
  (cd "$p" && git status && git diff) >/dev/null
  [[ ! -e $p/pwned ]]
  inside a 'rm -rf .git; test -d .git'; (cd "$p" && git status) >/dev/null
  git worktree list | grep -q "$p" && false
  [[ $(git -C "$p" rev-parse --git-common-dir) == "$R/.git" ]]
  "$garth" diff a >/dev/null
}

@test "W2 W3 T1 a workspace that nobody may write in can be discarded, packed away and brought back" {
  local b
  for b in worktree clone; do
    "$garth" new a --backend $b; inside a 'echo 1 >only; mkdir d; echo 1 >d/x; chmod 555 d; chmod 555 . 2>/dev/null || true'
    "$garth" discard -f a; "$garth" undo; [[ $(inside a 'cat only d/x') == $'1\n1' ]] || complain $b
    inside a 'chmod 0 .' || true
    "$garth" archive a >/dev/null; "$garth" undo; inside a 'chmod 755 . 2>/dev/null; cat only'
    inside a 'chmod 000 .' || true
    "$garth" discard -fD a
  done
}

@test "W3 clone: killed at each step of its making, nothing is left, and the name is free" {
  remote origin
  local step
  for step in create-reserved create-refs create-clone; do
    GARTH_FAULT=$step call "$garth" new a --backend clone
    [[ $code == 137 ]] || complain "was not killed at $step"
    "$garth" new a --backend clone
    inside a 'git status --porcelain'
    "$garth" discard a
    [[ -z $(ls "$GARTH_HOME/worktrees") ]]
  done
}

@test "W3 T3 clone: publishing, snapshots, rollback, discard and undo work as with other backends" {
  "$garth" new a --backend clone
  inside a 'echo 1 >one; git add .; git commit -qm one'
  "$garth" snapshot a
  inside a 'echo 2 >two; git add .; git commit -qm two; echo loose >loose; echo i >x.o'
  call "$garth" discard a
  [[ $code == 4 ]] || complain
  [[ $err == *loose* ]] || complain
  "$garth" rollback a --to-snapshot 2
  inside a 'test -f one && ! test -e two && ! test -e loose'
  "$garth" undo
  inside a 'test -f two'
  "$garth" discard -fD a
  [[ ! -e $GARTH_HOME/worktrees/a ]]
  "$garth" undo
  inside a 'test -f two && git log --format=%s' | grep -q two
  "$garth" merge a
  [[ -f two ]]
  [[ $(state_of a) == merged ]]
  git fsck --strict
}

@test "T7 J10 new: if the disk has no room for the files, nothing is made" {
  is_root || return 0 # tried as root alone
  head -c 30000000 /dev/urandom >big; git add big; git commit -qm big
  mkdir -p "$T/small"; mount -t tmpfs -o size=25m none "$T/small"
  local b
  for b in overlay worktree clone; do
    GARTH_HOME=$T/small/home call "$garth" new a --backend $b
    [[ $code == 1 ]] || {
      umount "$T/small"
      complain
    }
    [[ $err == *'the workspace needs 30 MB'* ]] || {
      umount "$T/small"
      complain
    }
    [[ $(hint) == 'garth gc' ]] || {
      umount "$T/small"
      complain
    }
    [[ -z $(ls "$T/small/home/tasks" "$T/small/home/worktrees" | grep -v :) ]] || {
      umount "$T/small"
      complain left
    }
  done
  umount "$T/small"
}
