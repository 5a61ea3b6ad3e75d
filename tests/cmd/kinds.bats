# W8: every kind of repository works from end to end, or is refused with the reason and the command that helps. What must
# never happen is a damaged repository or a wrong byte in the user's checkout.
load helpers

# All of the user's files with their bytes, modes and link texts, without .git.
files_of() {
  (cd "$1" && find . -name .git -prune -o ! -type d -printf '%p %y %m %l\n' | LC_ALL=C sort
    find . -name .git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum)
}

# git finds the repository on the host valid and unchanged.
sound() {
  git -C "$R" fsck --strict >"$T/fsck" 2>&1 || { cat "$T/fsck"; return 1; }
  [[ -z $(git -C "$R" status --porcelain) ]] || { git -C "$R" status --porcelain; return 1; }
}

# round EDIT CHECK [BACKEND]: from end to end. EDIT is a shell script that changes files inside; it is committed there.
# CHECK is one that is run in the checkout after the merge and succeeds if the files are right.
round() {
  local edit=$1 check=$2 backend=${3:-overlay}
  sound
  files_of "$R" >"$T/files"; git -C "$R" ls-files -s >"$T/staged"; git -C "$R" rev-parse HEAD >"$T/head"
  "$garth" new t --backend "$backend"
  inside t 'git status --porcelain; git fsck --strict --no-dangling 2>/dev/null' >"$T/inside"
  [[ ! -s $T/inside ]] || { cat "$T/inside"; return 1; }
  inside t "set -e; $edit; git add -A; git commit -qm inside; git status --porcelain" >"$T/inside"
  [[ ! -s $T/inside ]] || { cat "$T/inside"; return 1; }
  sound
  [[ $(git -C "$R" log --format=%s -1 garth/t) == inside ]]
  git -C "$R" diff HEAD garth/t | grep -a '^[+-]' | LC_ALL=C sort >"$T/committed"
  "$garth" diff t | grep -a '^[+-]' | LC_ALL=C sort >"$T/diff"
  diff "$T/committed" "$T/diff"
  files_of "$R" | diff "$T/files" -
  "$garth" merge t
  sound
  (cd "$R" && bash -ec "$check") || { echo "not as it should be after the merge: $check"; return 1; }
  "$garth" undo
  sound
  files_of "$R" | diff "$T/files" -
  git -C "$R" ls-files -s | diff "$T/staged" -
  git -C "$R" rev-parse HEAD | diff "$T/head" -
  "$garth" discard -D t
  sound
  files_of "$R" | diff "$T/files" -
  [[ -z $(git -C "$R" for-each-ref refs/heads/garth) ]]
}

# The usual change: a line, a new file in a new directory, a removed file.
edit='echo inside >>a.txt; mkdir -p new; echo new >new/file; git rm -q dir/b.txt'
check='[[ $(tail -n1 a.txt) == inside ]]; [[ $(cat new/file) == new ]]; [[ ! -e dir/b.txt ]]'

elsewhere() { R=$T/home/$1; cd "$R"; }

@test "W8 kinds: an ordinary repository, as the control" {
  for b in "${backends[@]}"; do round "$edit" "$check" "$b"; done
}

@test "W8 kinds: SHA-256" {
  git init -q --object-format=sha256 "$T/home/sha256"; elsewhere sha256
  mkdir dir; echo one >a.txt; echo two >dir/b.txt; commit
  for b in "${backends[@]}"; do round "$edit" "$check" "$b"; done
}

@test "W8 kinds: alternates in the user's repository, two deep" {
  git clone -q --shared "$R" "$T/home/middle"; (cd "$T/home/middle" && echo x >x && git add -A && git commit -qm x)
  git clone -q --shared "$T/home/middle" "$T/home/top"; elsewhere top
  for b in "${backends[@]}"; do round "$edit" "$check" "$b"; done
}

@test "W8 kinds: text=auto, eol, ident and export-subst" {
  printf '* text=auto\n*.crlf text eol=crlf\n*.id ident\n*.sub export-subst\n' >.gitattributes
  printf 'one\r\ntwo\r\n' >w.crlf; printf '$Id$\n' >n.id; printf '$Format:%%H$\n' >s.sub; printf 'a\r\n' >b.txt
  git add -A; git commit -qm attributes; rm w.crlf n.id; git checkout -q .
  grep -q "Id: [0-9a-f]" n.id
  for b in "${backends[@]}"; do
    round "$edit"'; grep -q "Id: [0-9a-f]" n.id; printf "in\r\n" >>w.crlf; echo more >>n.id; echo more >>s.sub' \
      "$check"'; [[ $(od -c w.crlf | tr -d "\n ") == *"i n"* || $(cat w.crlf) == $'"'one\r\ntwo\r\nin\r'"' ]]; grep -q "Id: [0-9a-f]" n.id; grep -qx more n.id' "$b"
  done
}

@test "W8 kinds: working-tree-encoding" {
  echo '*.u16 text working-tree-encoding=UTF-16LE eol=lf' >.gitattributes
  printf 'grün\n' | iconv -t UTF-16LE >a.u16; commit
  round 'printf "rot\n" | iconv -t UTF-16LE >>a.u16; printf "neu\n" | iconv -t UTF-16LE >b.u16' \
    '[[ $(iconv -f UTF-16LE a.u16) == $'"'grün\nrot'"' ]]; [[ $(iconv -f UTF-16LE b.u16) == neu ]]'
}

@test "W8 kinds: names that differ only in case" {
  echo 1 >File; echo 2 >file; mkdir Dir; echo 3 >Dir/b.txt; commit
  for b in overlay; do
    round 'echo x >>File; echo y >>file; echo z >FILE; echo w >>Dir/b.txt' '[[ $(cat File) == $'"'1\nx'"' && $(cat file) == $'"'2\ny'"' && $(cat FILE) == z && $(cat Dir/b.txt) == $'"'3\nw'"' ]]' "$b"; done
}

@test "W8 kinds: names with every byte but NUL and slash" {
  python3 - <<'END'
import os
for i in range(1, 256):
    if i != 47:
        b = bytes([i])
        open(b"n" + b, "wb").write(b"n" + b)
        if i % 8 == 2: os.mkdir(b"d" + b); open(b"d" + b + b"/" + b + b"x", "wb").write(b)
END
  commit
  round 'for f in n*; do echo more >>"$f"; done; for d in d?; do mv "$d" "$d-new"; done' \
    '[[ $(cat $'"'n\n'"'; echo .) == $'"'n\nmore\n.'"' ]]; [[ -e $'"'d\xfa-new/\xfax'"' && ! -e $'"'d\xfa'"' ]]; [[ $(cat $'"'d\n-new/\nx'"') == "" ]]'
}

@test "W8 kinds: symlinks of all kinds" {
  ln -s /etc/passwd absolute; ln -s ../.. out; ln -s nowhere broken; ln -s self self; ln -s dir to-dir; ln -s "$(printf 'x%.0s' {1..3000})" long; ln -s $'odd\n\xff' odd; commit
  for b in "${backends[@]}"; do
    round 'rm absolute; ln -s dir/sub absolute; ln -s dir new; rm to-dir; mkdir to-dir; echo f >to-dir/f; rm out; echo file >out; rm a.txt; ln -s b a.txt' \
      '[[ $(readlink absolute) == dir/sub && $(readlink new) == dir && $(cat to-dir/f) == f && ! -L out && $(cat out) == file && $(readlink a.txt) == b ]]' "$b"
  done
}

@test "W8 kinds: a linked worktree is the user's checkout" {
  git worktree add -q -b side "$T/home/side"; elsewhere side
  for b in overlay worktree; do round "$edit" "$check" "$b"; done
}

@test "W8 kinds: extensions.worktreeConfig" {
  git config extensions.worktreeConfig true; git config core.repositoryformatversion 1
  git worktree add -q -b side "$T/home/side"
  git -C "$T/home/side" config --worktree user.name Side
  round "$edit" "$check"
  elsewhere side
  round "$edit" "$check"
}

@test "W8 kinds: a detached HEAD" {
  git checkout -q --detach
  "$garth" new t
  inside t 'echo x >>a.txt; git commit -qam inside'
  fails 2 "has no target" "$garth" merge t
  [[ $(hint) == *--into* ]] || complain
  "$garth" merge t --into main
  [[ $(git log -1 --format=%s main) == inside ]]
  [[ $(cat a.txt) == one ]]
  sound
}

@test "W8 kinds: an unborn branch" {
  git init -q "$T/home/unborn"; elsewhere unborn; echo x >x
  fails 3 "has no commit yet" "$garth" new t
  [[ $(hint) == "git commit --allow-empty -m start" ]] || complain
}

@test "W8 kinds: a path of 4,000 bytes" {
  d=$(printf 'd%.0s' {1..200}); p=$d; for _ in {1..17}; do p+=/$d; done
  (for _ in {1..18}; do mkdir "$d"; cd "$d"; done; echo deep >f)
  commit
  for b in overlay worktree; do round "for _ in $(echo {1..18}); do cd $d; done; echo more >>f; echo n >n; cd - >/dev/null; cd $(printf '../%.0s' {1..17})" 'true' "$b"; done
}

@test "W8 kinds: a repository inside a repository" {
  git init -q inner; (cd inner && echo i >i && git add -A && git commit -qm inner)
  echo /inner/ >>.git/info/exclude
  for b in overlay; do
    round "$edit" "$check" "$b"; done
  git -C inner fsck
}

@test "W8 kinds: replace refs and grafts" {
  echo 2 >>a.txt; commit; echo 3 >>a.txt; commit
  git replace HEAD~1 "$(git commit-tree -m other HEAD~2^{tree} -p HEAD~2)"
  git rev-parse HEAD >.git/info/grafts
  for b in "${backends[@]}"; do round "$edit" "$check" "$b"; done
}

@test "W8 kinds: hooks, core.hooksPath as husky has it" {
  mkdir .husky; printf '#!/bin/sh\necho ran >>"$(git rev-parse --git-dir)/ran"\n' >.husky/pre-commit; chmod +x .husky/pre-commit; commit
  git config core.hooksPath .husky
  for b in overlay; do
    round "$edit"'; git commit -qm first -a --no-verify; rm -f .git/ran; echo x >>a.txt' 'true' "$b"; done
}

# .husky/_ has a directory's own .gitignore, so it is not in the commit: husky makes it when packages are installed.
@test "W8 kinds: hooks of husky 9, which the set-up makes" {
  mkdir .husky; echo 'echo ran >>"$(git rev-parse --git-dir)/ran"; ! grep -q FORBIDDEN a.txt' >.husky/pre-commit
  printf '%s\n' 'mkdir -p .husky/_; echo "*" >.husky/_/.gitignore' \
    'printf "#!/bin/sh\nsh -e \"\$(dirname \"\$(dirname \"\$0\")\")/pre-commit\"\n" >.husky/_/pre-commit; chmod +x .husky/_/pre-commit' >install.sh
  commit; sh install.sh; git config core.hooksPath .husky/_
  configure <<<$'workspace:\n  setup: [sh install.sh]\n'
  round "$edit"'; git add -A; git commit -qm first; test -s .git/ran; echo FORBIDDEN >>a.txt; ! git commit -qam no 2>/dev/null; git checkout -q HEAD a.txt; echo x >>a.txt' 'true'
}

@test "W8 kinds: 100,000 refs" {
  h=$(git rev-parse HEAD)
  { echo '# pack-refs with: peeled fully-peeled sorted '; seq -f "$h refs/tags/t%06.0f" 1 100000; } >.git/packed-refs
  round "$edit" "$check"
}

@test "W8 kinds: a shallow clone" {
  for i in 1 2 3; do echo $i >>dir/sub/c.txt; commit; done
  git clone -q --depth 1 "file://$R" "$T/home/shallow"; elsewhere shallow
  for b in "${backends[@]}"; do round "$edit" "$check" "$b"; done
  "$garth" new t; "$garth" new u --strict-isolation
  echo here >>dir/sub/c.txt; commit
  # both sides have commits: a merge, a rebase and a sync need the commit that they have in common
  for t in t u; do inside $t "echo $t >$t; git add $t; git commit -qm $t; git log --oneline"; done
  "$garth" sync t
  "$garth" merge t --no-ff
  "$garth" merge u --rebase
  sound
  [[ $(git log --format=%s | paste -sd' ') == "u Merge task 't' "* ]]
  [[ $(git log --format=%s | tail -n1) == next ]]
}

@test "W8 ESCAPES 12 kinds: a shallow clone's missing commits are not to be built on" {
  for i in 1 2 3; do echo $i >>dir/sub/c.txt; commit; done
  git clone -q --depth 1 "file://$R" "$T/home/shallow"; elsewhere shallow
  "$garth" new t
  # the task adds to its own list of commits without parents, and has a commit whose parent nobody has, the one
  # that HEAD names too
  call inside t "c=\$(git cat-file commit HEAD | sed s/^next/planted/ | git hash-object -t commit -w --stdin); echo \$c >>.git/shallow; git update-ref refs/heads/garth/t \$c"
  [[ $code != 0 ]] || complain
  [[ $err == *BLOCKED* ]] || complain
  [[ $(git rev-parse garth/t) == "$(git rev-parse HEAD)" ]]
  sound
}

@test "W8 kinds: a bare repository is the project: only its branch moves" {
  git clone -q --bare "$R" "$T/home/app.git"; elsewhere app.git
  for b in overlay clone worktree; do
    git rev-parse HEAD >"$T/head"
    "$garth" new t --backend $b
    inside t "git status --porcelain; $edit; git add -A; git commit -qm inside" >"$T/inside"
    [[ ! -s $T/inside ]]
    "$garth" diff t | grep -qx '+inside'
    "$garth" merge t
    [[ $(git show main:new/file) == new ]]
    "$garth" undo
    git rev-parse HEAD | diff "$T/head" -
    "$garth" discard -D t
    git fsck --strict
  done
  "$garth" run -t r -- sh -c 'echo run >r; git add r; git commit -qm run'
  "$garth" merge r
  [[ $(git show HEAD:r) == run ]]
}

@test "W8 kinds: a .git directory that is bare, with linked worktrees" {
  git clone -q --bare "$R" "$T/home/many/.git"; elsewhere many
  "$garth" new t
  inside t 'echo in >in; git add in; git commit -qm in'
  "$garth" merge t
  [[ $(git show main:in) == in ]]
  git worktree add -q "$T/home/many/main" main; elsewhere many/main
  round "$edit" "$check"
}

@test "W8 ESCAPES 10 31 kinds: a bare repository among the files of a checkout is not used" {
  git init -q --bare dir/planted; git -C dir/planted config core.hooksPath "$T/home"
  cd dir/planted
  fails 4 "is a bare repository in the checkout of another one" "$garth" new t
  [[ $(hint) == "cd '$R'" ]] || complain
  cd "$R/.git"
  fails 4 "is not in a checkout" "$garth" new t
  [[ $(hint) == "cd '$R'" ]] || complain
}

# afresh: all files again, as the user's git writes them with its settings now.
afresh() { git ls-files -z | xargs -0 rm -f; git checkout -q .; }

# Inside, files are as in the repository. In the user's checkout they are as the user's settings say.
@test "W8 kinds: core.autocrlf, wherever it is set, and core.eol" {
  for where in --global --local; do
    git config $where core.autocrlf true; afresh
    [[ $(cat a.txt) == $'one\r' ]]
    if [[ $where == --global ]]; then b=overlay; else b=worktree; fi
    round "! grep -q \$(printf '\r') a.txt; $edit" \
      '[[ $(cat a.txt) == $'"'one\r\ninside\r'"' ]]; [[ $(cat new/file) == $'"'new\r'"' ]]; [[ ! -e dir/b.txt ]]' $b
    git config $where --unset core.autocrlf; afresh
  done
  git config core.autocrlf input
  round "$edit" "$check"
  git config --unset core.autocrlf; git config core.eol crlf; echo '* text=auto' >.gitattributes; commit; afresh
  [[ $(cat a.txt) == $'one\r' ]]
  round "$edit" '[[ $(cat a.txt) == $'"'one\r\ninside\r'"' ]]'
}

@test "W8 kinds: info/attributes" {
  printf '*.txt text eol=crlf\n' >.git/info/attributes; afresh
  [[ $(cat a.txt) == $'one\r' ]]
  for b in overlay worktree; do
    round "grep -q \$(printf '\r') a.txt; printf 'inside\r\n' >>a.txt; printf 'new\r\n' >new.txt" \
      '[[ $(cat a.txt) == $'"'one\r\ninside\r'"' ]]; [[ $(cat new.txt) == $'"'new\r'"' ]]' $b
  done
}

@test "W8 kinds: core.symlinks is off" {
  git config core.symlinks false; afresh
  [[ ! -L link && $(cat link) == a.txt ]]
  round 'test -L link; ln -sf run.sh link; ln -s a.txt second' '[[ ! -L link && $(cat link) == run.sh && ! -L second && $(cat second) == a.txt ]]'
}

# The attack writes attributes that would change what a reviewer sees. Only git's own conversions are in force, and
# only for what a commit would have.
@test "W8 ESCAPES 38 kinds: attributes in a workspace hide nothing from the reviewer" {
  "$garth" new t
  inside t 'printf "* -diff\n*.txt binary\n" >.gitattributes; echo visible >>a.txt'
  "$garth" diff t | grep -qx '+visible'
  echo '*.txt -diff' >.git/info/attributes
  "$garth" diff t | grep -qx '+visible'
  inside t 'printf "*.txt working-tree-encoding=UTF-16\n" >.gitattributes; echo again >>a.txt'
  "$garth" diff t | grep -qx '+again'
}

# sparse_round: with a sparse checkout of dir/ and, if they are part of it, the files of the root.
sparse_round() {
  git ls-files -t >"$T/marks"
  round 'test -e other/o.txt; echo inside >>a.txt; echo in >>dir/b.txt; echo in >>other/o.txt; echo n >other/new; echo n >dir/new; mkdir third; echo n >third/new; git rm -q other/gone.txt' \
    '[[ $(tail -n1 dir/b.txt) == in ]]; [[ -e dir/new ]]; [[ ! -e other && ! -e third ]]; git ls-files -t | grep -qx "S other/o.txt"; git ls-files -t | grep -qx "S other/new"; git ls-files -t | grep -qx "S third/new"; [[ $(git show :other/o.txt | tail -n1) == in ]]' "$@"
  git ls-files -t | diff "$T/marks" -
}

sparse_repository() { mkdir other; echo o >other/o.txt; echo gone >other/gone.txt; commit; }

@test "W8 kinds: a sparse checkout in cone mode" {
  sparse_repository; git sparse-checkout set dir
  [[ ! -e other ]]
  for b in overlay worktree; do sparse_round $b; done
  # a user's file at a path outside the cone is not overwritten
  "$garth" new t; inside t 'mkdir third; echo n >third/new; git add -A; git commit -qm third'
  mkdir third; echo mine >third/new
  fails 5 "in the way" "$garth" merge t
  [[ $(cat third/new) == mine ]]
}

@test "W8 kinds: a sparse checkout that is not in cone mode" {
  sparse_repository; git sparse-checkout set --no-cone '/dir/'
  [[ ! -e other && ! -e a.txt ]]
  sparse_round
}

@test "W8 kinds: a sparse index" {
  sparse_repository; git sparse-checkout set --cone --sparse-index dir
  git ls-files --sparse | grep -qx other/
  sparse_round
  "$garth" new t; inside t 'echo in >>other/o.txt; echo in >>dir/b.txt; git commit -qam both'; "$garth" merge t
  git ls-files --sparse | grep -qx other/
  sound
  # the same in a linked worktree, with patterns of its own
  git worktree add -q -b side "$T/home/side"; elsewhere side; git sparse-checkout set dir
  sparse_round
}

# lfs_repository: a repository as `git lfs install` and `git lfs track` make it, with two versions of a large file.
lfs_repository() {
  git lfs install >/dev/null; git lfs track '*.bin' >/dev/null
  head -c 20000 /dev/zero | tr '\0' 1 >big.bin; commit
  head -c 30000 /dev/zero | tr '\0' 2 >big.bin; cp big.bin dir/same.bin; commit
}

@test "W8 kinds: Git LFS" {
  lfs_repository
  git show HEAD:big.bin | grep -q git-lfs
  for b in "${backends[@]}"; do
    round 'test $(wc -c <big.bin) = 30000; echo 3 >>big.bin; head -c 500 /dev/zero >new.bin; git rm -q dir/same.bin' \
      '[[ $(wc -c <big.bin) == 30002 ]]; [[ $(wc -c <new.bin) == 500 ]]; [[ ! -e dir/same.bin ]]; git show :new.bin | grep -q git-lfs; git lfs fsck' "$b"
  done
  # the content is in the user's store, which the discarded tasks' own are not
  oid=$(head -c 500 /dev/zero | sha256sum | cut -c -64)
  [[ -f .git/lfs/objects/${oid:0:2}/${oid:2:2}/$oid ]]
}

@test "W8 kinds: Git LFS: older versions, sync and deltas inside; a merge into a checkout that git did not look at" {
  lfs_repository
  "$garth" new t
  inside t 'git checkout -q HEAD~1 -- big.bin; wc -c <big.bin; git reset -q --hard; wc -c <big.bin' >"$T/sizes"
  [[ $(paste -sd' ' "$T/sizes") == '20000 30000' ]]
  inside t 'echo x >>big.bin; git commit -qam x'
  echo here >>dir/same.bin; commit
  "$garth" new u; [[ $(inside u 'git status --porcelain; wc -c <dir/same.bin') == 30005 ]]
  "$garth" sync t
  [[ $(inside t 'wc -c <dir/same.bin') == 30005 ]]
  touch big.bin
  "$garth" merge t
  [[ $(wc -c <big.bin) == 30002 ]]
  sound
  # the user's change of such a file is in the way
  inside u 'echo y >>dir/same.bin; git commit -qam y'
  echo mine >>dir/same.bin
  fails 5 "in the way" "$garth" merge u
  [[ $(tail -n1 dir/same.bin) == mine ]]
}

@test "W8 kinds: Git LFS: what is uncommitted in the checkout" {
  lfs_repository
  # without the filter, git considers a file changed if its time does not prove the opposite
  touch big.bin dir/same.bin
  call "$garth" new t
  [[ $err != *uncommitted* ]] || complain
  echo x >>a.txt; echo raw >new.bin
  "$garth" new u --with-changes
  [[ $(inside u 'git status --porcelain; cat new.bin') == $' M a.txt\n?? new.bin\nraw' ]]
  echo x >>big.bin
  fails 4 "'big.bin' is a changed file of Git LFS" "$garth" new v --with-changes
  git fsck --strict
}

@test "W8 kinds: Git LFS: pointers without content stay pointers" {
  lfs_repository
  rm -rf .git/lfs/objects/*
  GIT_LFS_SKIP_SMUDGE=1 git clone -q "$R" "$T/home/pointers" 2>/dev/null; elsewhere pointers
  mkdir -p .git/lfs/objects
  round 'grep -q git-lfs big.bin; echo in >>a.txt' '[[ $(tail -n1 a.txt) == in ]]; grep -q git-lfs big.bin'
}

# In git's own repository, po/.gitattributes names a filter that few have configured: git does nothing then.
@test "W8 kinds: an attribute with a filter that nobody has configured does nothing; one that is configured is refused" {
  echo '*.x filter=crypt' >.gitattributes; echo plain >a.x; commit
  round 'echo in >>a.x' '[[ $(tail -n1 a.x) == in ]]'
  for backend in overlay worktree clone; do
    git config --unset filter.crypt.clean || true
    "$garth" new t-$backend --backend $backend
    inside t-$backend 'echo in >>a.x; git commit -qam in'
    # configured meanwhile: existing tasks and bases are checked again
    git config filter.crypt.clean 'tr a-z n-za-m'
    fails 4 "filter=crypt" "$garth" new u --backend $backend
    fails 4 "git clone '$R' '$R-unfiltered'" "$garth" merge t-$backend
    git config --unset filter.crypt.clean
    git config --global filter.crypt.process /bin/false
    fails 4 "git -C '$R' config --show-origin --get-regexp '^filter'" "$garth" new u --backend $backend
    git config --global --unset filter.crypt.process
  done
  # what the first hint names
  git config filter.crypt.clean 'tr a-z n-za-m'
  eval "$("$garth" new u 2>&1 | sed -n 's/.*\(git clone\)/\1/p')"
  cd "$R-unfiltered"
  "$garth" new u
  [[ $(inside u 'cat a.x') == plain ]]
}

# The attack puts other bytes into its store under the name of a file's content, a link to one of the user's files, or
# nothing at all.
@test "W8 ESCAPES 2 12 kinds: Git LFS: a task cannot publish a pointer without its content, or with other bytes" {
  lfs_repository
  echo secret >"$T/home/secret"
  find .git/lfs -type f | sort >"$T/store"
  "$garth" new t
  # a file that is a pointer itself is committed as it is
  oid=$(echo planted | sha256sum | cut -c -64)
  for attack in true 'echo plantex >"$o"' "ln -s $T/home/secret "'"$o"' 'mkfifo "$o"' 'mkdir "$o"' 'echo planted >"$o"; mv .git/lfs .git/away; ln -s away .git/lfs'; do
    call inside t "printf 'version https://git-lfs.github.com/spec/v1\noid sha256:$oid\nsize 8\n' >planted.bin; o=.git/lfs/objects/${oid:0:2}/${oid:2:2}/$oid; mkdir -p \${o%/*}; $attack; git add planted.bin; git commit -qm planted"
    [[ $code != 0 ]] || complain "$attack"
    [[ $err == *'its content is nowhere'* ]] || complain "$attack"
    inside t 'rm -rf .git/lfs .git/away; git reset -q --hard'
    find .git/lfs -type f | sort | diff "$T/store" -
  done
  call inside t 'truncate -s 101M large.bin; git add large.bin; git commit -qm large'
  [[ $err == *'the limit is'* ]] || complain
  [[ $(git rev-parse garth/t) == "$(git rev-parse HEAD)" ]]
  sound
}

# Each publish is within the limits, or is refused for its last file when the others are in the user's store already.
@test "W8 ESCAPES 20 kinds: Git LFS: content counts for as long as the task lives, refused or not" {
  lfs_repository
  printf 'limits:\n  max_worktree_size: 100KB\n' | configure
  "$garth" new t
  have=$(find .git/lfs -type f | wc -l)
  for i in 1 2 3; do
    inside t "head -c 40000 /dev/urandom >new$i.bin; git add new$i.bin; git commit -qm new$i" || true
  done
  [[ $(git log --format=%s main..garth/t | paste -sd,) == new2,new1 ]]
  [[ $(find .git/lfs -type f | wc -l) == $((have + 2)) ]]
  # each publish has pointers without content beside those that have it
  "$garth" new u
  for i in {1..3}; do
    call inside u "head -c 40000 /dev/urandom >new.bin; git add new.bin; for k in 1 2 3 4 5 6; do printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize 8\\n' \$(echo $i \$k | sha256sum | cut -c -64) >none\$k.bin; done; git add .; git commit -qm new; git reset -q --hard"
    [[ $code == 0 ]] || complain
  done
  (($(find .git/lfs -type f | wc -l) <= have + 4))
  sound
}

# What is missing in a partial clone is never fetched by a git that Garth runs outside.
@test "W8 ESCAPES 31 kinds: a partial clone" {
  echo old >old.txt; commit; git rm -q old.txt; echo 2 >>a.txt; commit
  git config uploadpack.allowFilter true; origin=$R
  git clone -q --filter=blob:none "file://$R" "$T/home/partial"; elsewhere partial
  git rev-list --objects --all --missing=print | grep '^?' | sort >"$T/missing"
  [[ -s $T/missing ]]
  for b in "${backends[@]}"; do round "$edit" "$check" "$b"; done
  fails 4 "is a partial clone, and a part of the commit" "$garth" new t --base HEAD~1
  [[ $(hint) == "git -C '$R' diff --shortstat 4b825dc642cb6eb9a060e54bf8d69288fbee4904 $(git rev-parse HEAD~1)" ]] || complain
  git rev-list --objects --all --missing=print | grep '^?' | sort | diff "$T/missing" -
  # the command that the hint names helps
  eval "$(hint)"
  "$garth" new t --base HEAD~1
  [[ $(inside t cat old.txt) == old ]]
}

@test "W8 kinds: a partial clone with a sparse checkout, and one without trees" {
  sparse_repository; git config uploadpack.allowFilter true; url=file://$R
  git clone -q --filter=blob:none --sparse "$url" "$T/home/sparse"; elsewhere sparse
  fails 4 "is a partial clone" "$garth" new t
  sound
  # one command fetches the files of the commit; the checkout stays sparse
  eval "$(hint)"
  git ls-files -t | grep -qx 'S other/o.txt'
  round "$edit" 'git ls-files -t | grep -qx "S new/file"; [[ $(tail -n1 a.txt) == inside ]]'
  git clone -q --filter=tree:0 "$url" "$T/home/treeless"; elsewhere treeless
  round "$edit" "$check"
}

@test "W8 kinds: hooks in .git/hooks, as pre-commit has them" {
  printf '#!/bin/sh\necho ran >>"$(git rev-parse --git-dir)/ran"\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
  round "$edit"'; git add -A; git commit -qm first; test -s .git/ran; echo x >>a.txt' 'true'
  [[ ! -e .git/ran ]]
}

# The attack is a repository that came as a tarball. Its own configuration, or a link in it, names the user's files
# as hooks and the like, and a task would get copies of them.
@test "W8 ESCAPES 31 kinds: a repository does not take the user's files along" {
  mkdir "$HOME/.ssh"; echo secret >"$HOME/.ssh/id_test"
  for path in "$HOME/.ssh" '~/.ssh'; do
    git config core.hooksPath "$path"
    fails 4 "core.hooksPath) leads out of the repository" "$garth" new t
  done
  # the control: the user's own setting is followed, and that of a trusted repository
  git config --unset core.hooksPath; git config --global core.hooksPath "$HOME/.ssh"
  "$garth" new v; [[ $(inside v 'cat .git/hooks/id_test') == secret ]]
  git config --global --unset core.hooksPath; git config core.hooksPath '~/.ssh'
  call "$garth" new t; eval "$(hint)"
  "$garth" new w; [[ $(inside w 'cat .git/hooks/id_test') == secret ]]
  git config --global --unset garth.trust; git config --unset core.hooksPath
  ln -s "$HOME/.ssh/id_test" .git/hooks/planted
  fails 4 "the hook 'planted' of '$R' leads out of the repository" "$garth" new t
  rm .git/hooks/planted; mv .git/hooks .git/away; ln -s "$HOME/.ssh" .git/hooks
  fails 4 "leads out of the repository" "$garth" new t
  rm .git/hooks; mv .git/away .git/hooks
  ln -s "$HOME/.ssh/id_test" .git/shallow
  fails 4 "$R" "$garth" new t
  rm .git/shallow
  for file in info/exclude info/attributes; do
    rm -f .git/$file; ln -s "$HOME/.ssh/id_test" .git/$file
    fails 4 "is a link" "$garth" new t
    rm .git/$file
  done
  mkdir .git/lfs; ln -s "$HOME/.ssh" .git/lfs/objects
  "$garth" new t; not inside t 'cat /run/garth/objects/lfs/objects/id_test' 2>/dev/null
}

@test "W8 J10 kinds: a repository of another user is refused until git trusts it" {
  is_root || return 0 # only root can make one
  chown -R 65533:65533 "$R"
  fails 4 "belongs to another user" "$garth" new t
  eval "$(hint)"
  round "$edit" "$check"
  [[ $(stat -c %u "$R/.git/objects") == 65533 ]]
}

@test "W8 J10 kinds: a repository that only its owner can read" {
  chmod -R go= .git; chmod go= "$T/home/src"
  if is_root; then
    # root never unpacks what an agent sends, and nobody else can read the objects
    "$garth" new t
    call inside t "$edit; git commit -qam inside"
    [[ $err == *'can be read by root alone'* ]] || complain
    sound
    chmod -R go+rX .git; chmod go+x "$T/home/src"; "$garth" discard -fD t
  fi
  for b in overlay worktree; do round "$edit" "$check" "$b"; done
}

# From git 2.45 on. An older git does not know this extension.
@test "W8 kinds: refs in a reftable" {
  if ! git refs migrate --ref-format=reftable 2>/dev/null; then
    git config core.repositoryformatversion 1; git config extensions.refStorage reftable
    fails 4 "unknown repository extension found: refstorage" "$garth" new t
    return
  fi
  for b in "${backends[@]}"; do round "$edit" "$check" "$b"; done
  git worktree add -q -b side "$T/home/side"
  # tags that move while a task runs; its branch is the user's too
  "$garth" run -dq --task t -- sh -c 'until [ -n "$(git tag -l new)" ]; do sleep 0.1; done; echo in >>a.txt; git commit -qam in'
  git tag new
  "$garth" wait t
  [[ $(git log --format=%s -1 garth/t) == in ]]
  git checkout -q --detach; git -C "$T/home/side" checkout -q main
  # the branch is checked out in the linked worktree alone
  "$garth" merge t
  [[ $(tail -n1 "$T/home/side/a.txt") == in ]]
  [[ -z $(git -C "$T/home/side" status --porcelain) ]]
  [[ $(cat a.txt) == one ]]
  "$garth" undo
  [[ $(cat "$T/home/side/a.txt") == one ]]
  sound
  call "$garth" doctor
  [[ $code == 0 ]] || complain
}

# The attack is a repository that came as a tarball, with a link in the place of the refs, or a FIFO.
@test "W8 ESCAPES 31 36 kinds: a reftable leads nowhere else, and is not waited for" {
  git refs migrate --ref-format=reftable 2>/dev/null || return 0
  mv .git/reftable "$T/home/away"; ln -s "$T/home/away" .git/reftable
  ls "$T/home/away" >"$T/away"
  fails 4 "is a link" "$garth" new t
  ls "$T/home/away" | diff "$T/away" -
  rm .git/reftable; mv "$T/home/away" .git/reftable
  mkfifo .git/reftable/0x000000000009-0x000000000009-00000000.ref
  fails 4 "is a FIFO" "$garth" new t
}

@test "W8 kinds: core.worktree is refused" {
  mkdir "$T/home/files"; git config core.worktree "$T/home/files"
  fails 4 "are elsewhere (core.worktree)" "$garth" new t
}

# Minutes of hashing: with GARTH_TEST_ALL only.
@test "W8 kinds: a file of 1 GB" {
  [[ -n ${GARTH_TEST_ALL-} ]] || return 0 # it takes a minute
  truncate -s 1G big; git -c core.bigFileThreshold=1m add big; git commit -qm big
  round "$edit" "$check"
}

@test "W8 kinds: a merge into a sparse checkout with LFS files that a crash cuts short" {
  has_faults || { means_nothing; return; }
  lfs_repository; sparse_repository; git sparse-checkout set --cone --sparse-index dir
  files_of "$R" >"$T/files"
  "$garth" new t
  inside t 'echo 3 >>big.bin; echo 3 >>dir/same.bin; echo in >>other/o.txt; echo n >other/n.bin; git add -A; git commit -qm inside'
  for step in merge-prepared merge-half merge-tree; do
    not env GARTH_FAULT=$step "$garth" merge t
    "$garth" doctor --repair >/dev/null || true
    sound
    files_of "$R" | diff "$T/files" -
    [[ $(git ls-files -t other/o.txt) == 'S other/o.txt' ]]
  done
  not env GARTH_FAULT=merge-moved "$garth" merge t
  "$garth" doctor --repair >/dev/null || true
  sound
  [[ $(git log -1 --format=%s) == inside ]]
  [[ $(wc -c <dir/same.bin) == 30002 && ! -e other ]]
}

@test "W8 kinds: doctor finds nothing wrong with a base whose files git or LFS wrote with other bytes" {
  lfs_repository; printf '*.txt text eol=crlf\n' >>.gitattributes; commit
  "$garth" new t; [[ $(inside t 'cat a.txt; wc -c <big.bin') == $'one\r\n30000' ]]
  # as after a copy: the times prove nothing
  find "$GARTH_HOME/bases" -type f -exec chmod u+w {} +
  "$garth" doctor >"$T/doctor"
  not grep -i base "$T/doctor"
  echo x >>"$(find "$GARTH_HOME/bases" -name a.txt)"
  call "$garth" doctor; [[ $out$err == *"'a.txt' was changed"* ]] || complain
}

# The attack makes files that are large and take no space, and says that they are LFS files, whose bytes are all hashed.
@test "W8 ESCAPES 20 kinds: Git LFS: huge files in a workspace take no time" {
  lfs_repository
  "$garth" new t
  inside t 'truncate -s 1T huge.bin; for i in 1 2 3 4; do truncate -s 2G $i.bin; done'
  for command in 'show t' 'diff t' 'discard -f t'; do
    # shellcheck disable=SC2086
    timeout 60 "$garth" $command >"$T/said" 2>&1
  done
  sound
}
