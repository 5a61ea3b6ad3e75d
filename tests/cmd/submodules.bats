load helpers

load with_submodules

@test "W5 submodules: a task in which they are empty directories: commit, diff, sync, roll back, merge, undo, discard" {
  for backend in overlay worktree clone; do
    "$garth" new t --backend $backend --submodule none
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

# refused_inside SCRIPT: the gateway refuses the commit because of a submodule, and nothing is published.
refused_inside() {
  local before; before=$(git rev-parse garth/t)
  call inside t "$1"
  [[ $err == *"BLOCKED: 'libs/"*"is a submodule"* ]] || complain "not refused: $1" || return
  [[ $(git rev-parse garth/t) == "$before" ]]
}

@test "W5 G5 submodules: a commit that adds, moves, removes or replaces one is refused" {
  "$garth" new t --submodule none
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
  "$garth" new second --submodule none
  [[ $(inside second 'git status --porcelain; ls -d libs/mod') == libs/mod ]]
  # a directory becomes a submodule: not a delta, since its files must go and the directory stay
  mv libs/mod "$T/mod"; git rm -qr --cached dir; rm -r dir
  git update-index --add --cacheinfo "160000,$(git rev-parse HEAD:libs/mod),dir"; git commit -qm replaced
  "$garth" new third --submodule none
  [[ $(inside third 'git status --porcelain; find dir') == dir ]]
  git rm -q --cached dir libs/mod; mkdir -p dir; echo again >dir/again; git add dir; git commit -qm removed
  "$garth" new fourth --submodule none
  [[ $(inside fourth 'git status --porcelain; find dir libs') == $'dir\ndir/again\nlibs\nlibs/beside.txt' ]]
  "$garth" doctor
}

@test "W5 submodules: files in the empty directory count as work, and nothing else there does" {
  "$garth" run -t t --submodule none -- true
  [[ $("$garth" show t) != *uncommitted* ]]
  inside t 'echo work >libs/mod/work.txt'
  [[ $("$garth" show t) == *libs/mod/work.txt* ]]
  fails 4 'libs/mod/work.txt' "$garth" discard t
}

@test "W5 W13 submodules: with the monitor of a large repository, git status inside sees what git without it sees" {
  for i in {1..900}; do echo "$i" >"dir/f$i"; done
  git add dir; git commit -qm many
  "$garth" new t --submodule none
  [[ $(inside t 'git config core.fsmonitor') == *fsmonitor* ]]
  [[ -z $(inside t 'git status --porcelain') ]]
  [[ $(inside t 'echo x >>dir/f7; echo y >libs/mod/y; git status --porcelain; git -c core.fsmonitor=false status --porcelain' | sort | uniq -c | awk '{print $1, $2, $3}') == $'2 M dir/f7' ]]
  # the same if the submodule is there
  "$garth" new with
  [[ -z $(inside with 'git status --porcelain') ]]
  [[ $(inside with 'echo x >>dir/f7; echo y >libs/mod/y; echo z >libs/z; git status --porcelain; git -c core.fsmonitor=false status --porcelain' | sort | uniq -c | awk '{print $1, $2, $3}') == $'2 M dir/f7\n2 M libs/mod\n2 ?? libs/z' ]]
  [[ $(inside with 'git -C libs/mod checkout -q .; rm libs/mod/y; git status --porcelain') == $' M dir/f7\n?? libs/z' ]]
}

@test "W5 submodules: --with-changes copies the user's changes, but none in submodules" {
  echo more >>a.txt
  "$garth" new t --with-changes
  [[ $(inside t 'git status --porcelain; cat libs/mod/lib.txt') == $' M a.txt\nlib' ]]
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

@test "W5 submodules: by default those that are checked out are in the task, with files and repositories, nested ones too" {
  for backend in overlay worktree clone; do
    "$garth" new t --backend $backend
    [[ $(inside t 'cat libs/mod/lib.txt libs/mod/src/code.c libs/mod/deep/deep.txt; git status --porcelain') == $'lib\ncode\ndeep' ]]
    [[ $(inside t 'git submodule status --recursive' | awk '{print $2}') == $'libs/mod\nlibs/mod/deep' ]]
    not grep -q '^[-+U]' <<<"$(inside t 'git submodule status --recursive')"
    inside t 'cd libs/mod && git fsck && git log --format=%s' | grep -qx lib
    [[ $(inside t 'cd libs/mod/deep && git log --format=%s && git status --porcelain') == $'deep\nempty' ]]
    [[ $("$garth" show t --json | json '[[s["path"], s["usable"]] for s in d["submodules"]]') == '[["libs/mod", true], ["libs/mod/deep", true]]' ]]
    # files in it are edited and built; the superproject sees that, and the user's own submodule is unchanged
    inside t 'echo more >>libs/mod/lib.txt; cd libs/mod/deep; echo 2 >>deep.txt'
    [[ $(inside t 'git status --porcelain') == ' M libs/mod' ]]
    [[ $("$garth" show t) == *'M libs/mod/lib.txt'*'M libs/mod/deep/deep.txt'* ]]
    "$garth" diff t >"$T/patch"
    grep -qxF '+++ b/libs/mod/deep/deep.txt' "$T/patch"
    [[ $("$garth" diff t --stat libs/mod/deep) == *' libs/mod/deep:'*' deep.txt | 1 +'* ]]
    [[ $("$garth" diff t a.txt) == '' ]]
    [[ $("$garth" diff t --json | json '[f["path"] for f in d["files"]]') == '["libs/mod/lib.txt", "libs/mod/deep/deep.txt"]' ]]
    "$garth" export t "$T/out-$backend"
    [[ $(cat "$T/out-$backend/libs/mod/lib.txt" "$T/out-$backend/libs/mod/deep/deep.txt") == $'lib\nmore\ndeep\n2' ]]
    [[ -z $(find "$T/out-$backend" -name .git) ]]
    # it exists nowhere else, so it is not discarded without an option; and undo brings it back
    fails 4 'libs/mod/lib.txt' "$garth" discard t
    "$garth" discard -fD t
    "$garth" undo
    [[ $(inside t 'tail -n1 libs/mod/lib.txt libs/mod/deep/deep.txt' | grep -v '^==>') == $'more\n\n2' ]]
    "$garth" discard -fD t
    mod_untouched
  done
  "$garth" gc --empty-trash
  # nobody uses the bases of submodules any more
  [[ -z $(find "$GARTH_HOME/bases" -name '*@*') ]]
  "$garth" doctor
}

@test "W5 submodules: the submodules of a task are chosen by path, with all or none, and in the configuration" {
  git init -q "$T/other"; git -C "$T/other" commit -q --allow-empty -m other
  git -c protocol.file.allow=always submodule --quiet add "$T/other" other; git commit -qm 'another one'
  here() { inside "$1" 'for d in libs/mod libs/mod/deep other; do test -e $d/.git && echo $d; done; true' | paste -sd' '; }
  "$garth" new one --submodule libs/mod/; [[ $(here one) == 'libs/mod' ]]
  "$garth" new nested --submodule libs/mod/deep; [[ $(here nested) == 'libs/mod libs/mod/deep' ]]
  "$garth" new every --submodule all; [[ $(here every) == 'libs/mod libs/mod/deep other' ]]
  "$garth" new none --submodule none; [[ -z $(here none) ]]
  # the objects of the others cannot be reached
  not inside one "find /run/garth/objects -maxdepth 1 -name 's1*' | grep ."
  changes_nothing 3 "has no submodule 'nothing'" "$garth" new t --submodule nothing
  changes_nothing 2 "--submodule none does not go with another" "$garth" new t --submodule libs/mod --submodule none
  changes_nothing 3 "has no submodule '../app'" "$garth" new t --submodule ../app
  # by default, those that are checked out
  git submodule --quiet deinit -f other
  "$garth" run -t default -- true; [[ $(here default) == 'libs/mod libs/mod/deep' ]]
  "$garth" show default | grep -q 'other .*, empty: it is not checked out (git submodule update --init)'
  "$garth" new taken --submodule other; [[ $(here taken) == other ]]
  rm -rf .git/modules/other
  changes_nothing 3 "the repository of submodule 'other' is not here" "$garth" new t --submodule other
  [[ $(hint) == 'git submodule update --init -- other' ]]
  call "$garth" new rest --submodule all
  [[ $err == *$'▲ 1 submodule is an empty directory in the task\n  other: its repository is not here'* ]] || complain
  [[ $(here rest) == 'libs/mod libs/mod/deep' ]]
  printf 'workspace:\n  submodules: [none]\n' | configure
  "$garth" new configured; [[ -z $(here configured) ]]
  "$garth" new option --submodule libs/mod; [[ $(here option) == libs/mod ]]
  printf 'workspace:\n  submodules: [libs/mod, not/here]\n' | configure
  "$garth" new config-path; [[ $(here config-path) == libs/mod ]]
}

@test "W5 submodules: one that cannot be made is an empty directory, with a warning; one that the user named is an error" {
  # its repository does not have the commit
  git update-index --cacheinfo "160000,$(git rev-parse HEAD),libs/mod"; git commit -qm 'a commit from elsewhere'
  call "$garth" new t
  [[ $code == 0 ]] || complain
  [[ $err == *$'▲ 1 submodule is an empty directory in the task\n  libs/mod: its repository lacks commit '*' (git submodule update)'* ]] || complain
  [[ $(inside t 'ls -A libs/mod; git status --porcelain') == '' ]]
  "$garth" show t | grep -q 'libs/mod .*, empty: '
  changes_nothing 3 "submodule 'libs/mod': its repository lacks commit" "$garth" new named --submodule libs/mod
  # files with a filter: one that nobody has configured does nothing; then it is configured, before a base is made and after
  git reset -q HEAD~1
  (cd libs/mod && echo '*.bin filter=crypt' >.gitattributes && echo b >x.bin && git add .gitattributes x.bin && git commit -qm crypt)
  git commit -qm 'with a filter' libs/mod
  "$garth" new filter
  [[ $(inside filter 'cat libs/mod/x.bin; git status --porcelain') == b ]]
  git -C libs/mod config filter.crypt.clean 'tr a-z n-za-m'
  for name in after before; do
    call "$garth" new $name
    [[ $err == *"filter=crypt"* ]] || complain
    [[ $(inside $name 'ls -A libs/mod') == '' ]]
    rm -rf "$GARTH_HOME"/bases/*/*@*
  done
}

@test "W5 submodules: a shallow one, and one whose repository is among its files" {
  git init -q "$T/old"; (cd "$T/old" && echo old >old.txt && git add -A && git commit -qm old)
  git clone -q --depth 1 "file://$made/lib" shallow
  cp -a "$T/old" embedded
  git add shallow embedded 2>/dev/null; git commit -qm 'two more'
  "$garth" new t
  [[ $(inside t 'cat embedded/old.txt shallow/lib.txt; cd shallow; git log --format=%s; git status --porcelain') == $'old\nlib\nnested' ]]
  inside t 'cd shallow && echo 2 >>lib.txt && git commit -qam two && git fsck'
}

@test "W5 ESCAPES submodules: a task whose making is killed leaves nothing" {
  remember
  GARTH_FAULT=create-submodule call "$garth" new t
  [[ $code != 0 ]]
  "$garth" ls >/dev/null
  nothing_changed
  "$garth" new t
  [[ $(inside t 'cat libs/mod/deep/deep.txt') == deep ]]
}

@test "W5 submodules: a base that is gone is made again; strict isolation borrows nothing" {
  "$garth" new t
  inside t 'echo mine >>libs/mod/lib.txt'
  rm -rf "$GARTH_HOME"/bases/*
  [[ $(inside t 'cat libs/mod/lib.txt libs/mod/src/code.c; git status --porcelain') == $'lib\nmine\ncode\n M libs/mod' ]]
  "$garth" new strict --strict-isolation
  [[ $(inside strict 'cd libs/mod && git fsck && git log --format=%s; cat .git/objects/info/alternates 2>/dev/null; ls /run/garth/objects 2>/dev/null') == $'nested\nlib' ]]
}

@test "W5 submodules: a sync brings a submodule along that the target moved, unless the task has work in the way" {
  for backend in overlay worktree; do
    "$garth" new t --backend $backend
    "$garth" new busy --backend $backend
    inside busy 'cd libs/mod && echo mine >>src/code.c'
    git -C libs/mod stash -q -u; git -C libs/mod checkout -q --detach
    (cd libs/mod && echo newer >newer.txt && echo 2 >>src/code.c && git add -A && git commit -qm newer)
    git commit -qm 'moved it' libs/mod
    "$garth" sync t
    [[ $(inside t 'cat libs/mod/newer.txt; git status --porcelain; git submodule status libs/mod | cut -c1') == $'newer\n ' ]]
    # none of these are changes of the task
    [[ $("$garth" show t) == *'changed    0 files'* ]]
    "$garth" discard t
    "$garth" sync busy
    [[ $(inside busy 'git -C libs/mod log -1 --format=%s; tail -n1 libs/mod/src/code.c; git status --porcelain') == $'nested\nmine\n M libs/mod' ]]
    "$garth" discard -fD busy
    git reset -q --hard HEAD~1; git -C libs/mod checkout -q "$(git rev-parse HEAD:libs/mod)"; git -C libs/mod stash pop -q
  done
}

@test "W5 T2 submodules: work in a submodule is named at the end of a run" {
  call "$garth" run -t t -- sh -c 'cd libs/mod && echo mine >>lib.txt'
  [[ $code == 1 ]] || complain
  [[ $err == *libs/mod/lib.txt* ]] || complain
}

@test "W5 W8 submodules: converted files and Git LFS files in one do not count as changed" {
  (cd libs/mod && git checkout -q . && rm mine.txt && git lfs install --local >/dev/null
    printf '*.crlf text eol=crlf\n*.bin filter=lfs diff=lfs merge=lfs -text\n' >.gitattributes
    printf 'one\n' >x.crlf; echo content >a.bin; git add -A; git commit -qm kinds)
  git commit -qm moved libs/mod
  for backend in overlay worktree clone; do
    "$garth" new "t-$backend" --backend $backend
    [[ $(inside "t-$backend" 'cat libs/mod/x.crlf libs/mod/a.bin; git status --porcelain; git -C libs/mod status --porcelain') == $'one\r\ncontent' ]]
    [[ -z $("$garth" diff "t-$backend") ]]
    inside "t-$backend" 'printf "two\r\n" >>libs/mod/x.crlf'
    [[ $("$garth" diff "t-$backend") == *$'\n one\n+two' ]]
  done
}

@test "W5 W8 submodules: a partial clone does not miss the commit of a submodule that moved" {
  git config uploadpack.allowFilter true
  git clone -q --filter=blob:none "file://$R" "$T/home/partial"; cd "$T/home/partial"
  mkdir many; for i in {1..60}; do echo $i >many/$i; done; git add -A; git commit -qm many
  "$garth" new first
  git update-index --cacheinfo "160000,1234567890123456789012345678901234567890,libs/mod"; git commit -qm moved
  "$garth" new second
  [[ -z $(inside second 'git status --porcelain') ]]
}

@test "W5 W7 T9 submodules: their bases are listed, and doctor finds a changed one and moves it aside" {
  "$garth" new t; "$garth" new u --submodule libs/mod --backend worktree
  call "$garth" cache
  [[ $(grep -c ' submodule ' <<<"$out") == 2 && $out == *" submodule "*" t  # libs/mod"* && $out == *" submodule "*" t  # libs/mod/deep"* ]] || complain
  base=$(echo "$GARTH_HOME"/bases/*/"$(git rev-parse HEAD:libs/mod)"@*)
  # touched, but the same: copied with the home, for one
  touch "$base/tree/libs/mod/lib.txt"
  "$garth" doctor
  for damage in "echo evil >>libs/mod/lib.txt:'lib.txt' was changed" "rm libs/mod/src/code.c:'src/code.c' is gone" "echo x >libs/mod/.git/config:'.git/config' was added" \
    "echo x >libs/new:'libs/new' was added" "rm -r libs/mod; echo x >libs/mod:'libs/mod' was added"; do
    IFS=: read -r how what <<<"$damage"
    (cd "$base/tree" && eval "$how")
    call "$garth" doctor
    [[ $code == 1 && $out == *"$base: a base is not what was checked out: $what"* ]] || complain "$how"
    "$garth" doctor --repair
    "$garth" doctor
    [[ $(inside t 'cd libs/mod; cat lib.txt src/code.c; git status --porcelain; ls ..') == $'lib\ncode\nbeside.txt\nmod' ]] || complain "$how"
  done
  mod_untouched
}
