load helpers

# The repository gets a submodule at libs/mod, checked out; the user's own work in it is not committed.
setup() {
  garth_setup
  git init -q "$T/lib"
  (cd "$T/lib" && echo lib >lib.txt && mkdir src && echo code >src/code.c && git add -A && git commit -qm lib)
  git -c protocol.file.allow=always submodule --quiet add "$T/lib" libs/mod
  echo beside >libs/beside.txt
  git add -A; git commit -qm 'with a submodule'
  echo mine >libs/mod/mine.txt
  echo changed >>libs/mod/lib.txt
  mod=$(mod_state)
}

# Everything of the user's submodule: files, HEAD, refs, the whole git directory.
mod_state() { (cd "$R" && find libs/mod .git/modules -type f -exec sha256sum {} + | sort); }
mod_untouched() { [[ $(mod_state) == "$mod" ]] || { echo "the user's submodule changed"; return 1; }; }

@test "W5 submodules: a task in which they are empty directories: commit, diff, sync, roll back, merge, undo, discard" {
  for backend in overlay worktree clone; do
    "$garth" new t --backend $backend
    [[ $(inside t 'ls -A libs libs/mod; git status --porcelain') == $'libs:\nbeside.txt\nmod\n\nlibs/mod:' ]]
    inside t "echo $backend >>a.txt; git commit -qam one"
    [[ $("$garth" diff t --published --stat) == *a.txt* ]]
    # the target moves on
    echo "$backend" >"new-$backend"; git add "new-$backend"; git commit -qm "beside $backend" -- "new-$backend"
    "$garth" sync t
    [[ $(inside t "cat new-$backend; git status --porcelain") == "$backend" ]]
    n=$("$garth" snapshot t)
    inside t 'echo worse >a.txt; echo new >new'
    "$garth" rollback t --to-snapshot "$n"
    [[ $(inside t 'tail -n1 a.txt; git status --porcelain') == "$backend" ]]
    "$garth" export t "$T/out-$backend"
    [[ $(tail -n1 "$T/out-$backend/a.txt") == "$backend" ]]
    [[ -z $(ls -A "$T/out-$backend/libs/mod") ]]
    "$garth" merge t
    [[ $(tail -n1 a.txt) == "$backend" ]]
    "$garth" undo
    [[ $(tail -n1 a.txt) != "$backend" ]]
    "$garth" discard -D t
    "$garth" undo
    [[ $(inside t 'tail -n1 a.txt; ls -A libs/mod') == "$backend" ]]
    "$garth" discard -D t
    mod_untouched
    git checkout -q -- a.txt
  done
}

# refused_inside SCRIPT: the gateway refuses the commit for a submodule's sake, and nothing is published.
refused_inside() {
  local before; before=$(git rev-parse garth/t)
  call inside t "$1"
  [[ $err == *"BLOCKED: 'libs/"*"is a submodule"* ]] || complain "not refused: $1" || return
  [[ $(git rev-parse garth/t) == "$before" ]]
}

@test "W5 G5 submodules: a commit that adds, moves, removes or replaces one is refused" {
  "$garth" new t
  refused_inside 'git rm -q --cached libs/mod; git commit -qm gone; git reset -q --hard'
  refused_inside 'git update-index --cacheinfo "160000,$(git rev-parse HEAD),libs/mod"; git commit -qm moved; git reset -q --hard'
  refused_inside 'git update-index --add --cacheinfo "160000,$(git rev-parse HEAD),libs/other"; git commit -qm added; git reset -q --hard'
  refused_inside 'git rm -q --cached libs/mod; rm -rf libs/mod; echo f >libs/mod; git add libs/mod; git commit -qm file; git reset -q --hard'
  refused_inside 'git rm -q --cached libs/mod; rm -rf libs/mod; mkdir libs/mod; echo f >libs/mod/f; git add libs/mod; git commit -qm dir; git reset -q --hard'
  call inside t 'git config -f .gitmodules submodule.libs/mod.url https://example.com/; git commit -qam url'
  [[ $err == *"BLOCKED: '.gitmodules' is protected"* ]] || complain
}

@test "W5 submodules: the task's tree with one that a later commit adds, moves, replaces and removes" {
  "$garth" new first --base main~1
  [[ $(inside first ls) == $'a.txt\ndir\nlink\nrun.sh' ]]
  # a delta on the base before
  "$garth" new second
  [[ $(inside second 'git status --porcelain; ls -d libs/mod') == libs/mod ]]
  # a directory becomes a submodule: not a delta, since its files must go and the directory stay
  mv libs/mod "$T/mod"; git rm -qr --cached dir; rm -r dir
  git update-index --add --cacheinfo "160000,$(git rev-parse HEAD:libs/mod),dir"; git commit -qm replaced
  "$garth" new third
  [[ $(inside third 'git status --porcelain; find dir') == dir ]]
  git rm -q --cached dir libs/mod; mkdir -p dir; echo again >dir/again; git add dir; git commit -qm removed
  "$garth" new fourth
  [[ $(inside fourth 'git status --porcelain; find dir libs') == $'dir\ndir/again\nlibs\nlibs/beside.txt' ]]
  "$garth" doctor
}

@test "W5 submodules: files in the empty directory are work, and nothing else there is" {
  "$garth" run -t t -- true
  [[ $("$garth" show t) != *uncommitted* ]]
  inside t 'echo work >libs/mod/work.txt'
  [[ $("$garth" show t) == *libs/mod/work.txt* ]]
  fails 4 'libs/mod/work.txt' "$garth" discard t
}

@test "W5 W13 submodules: with the monitor of a large repository, git status inside sees what git without it sees" {
  for i in {1..900}; do echo "$i" >"dir/f$i"; done
  git add dir; git commit -qm many
  "$garth" new t
  [[ $(inside t 'git config core.fsmonitor') == *fsmonitor* ]]
  [[ -z $(inside t 'git status --porcelain') ]]
  [[ $(inside t 'echo x >>dir/f7; echo y >libs/mod/y; git status --porcelain; git -c core.fsmonitor=false status --porcelain' | sort | uniq -c | awk '{print $1, $2, $3}') == $'2 M dir/f7' ]]
}

@test "W5 submodules: --with-changes brings the user's changes, and leaves the submodule's where they are" {
  echo more >>a.txt
  "$garth" new t --with-changes
  [[ $(inside t 'git status --porcelain; ls -A libs/mod') == ' M a.txt' ]]
  mod_untouched
}

@test "W2 W5 submodules: a worktree on the host is clean to the user's git, before and after a commit" {
  "$garth" new t --backend worktree
  dir=$("$garth" path t)
  [[ -z $(git -C "$dir" status --porcelain) ]]
  inside t 'echo 2 >>a.txt; git commit -qam two'
  [[ -z $(git -C "$dir" status --porcelain) ]]
  [[ -z $(ls -A "$dir/libs/mod") ]]
  "$garth" discard -D t
  "$garth" undo
  [[ -z $(git -C "$dir" status --porcelain) ]]
  mod_untouched
}
