load helpers

# A checkout with a change of every kind; nothing of it may be touched.
dirty() {
  printf 'mine\n' >>a.txt; git add a.txt; printf 'more\n' >>a.txt
  rm dir/b.txt; chmod -x run.sh; ln -sf dir link; git mv -k dir/sub/c.txt dir/sub/moved.txt
  mkdir -p 'new dir'; printf 'new\n' >'new dir/ü x'; head -c 3000 /dev/urandom >bin; chmod +x bin; ln -s /etc/passwd out; : >empty
  mkdir -p ignored; echo no >ignored/x; echo no >x.o; echo g >global.tmp
  printf '[core]\n\texcludesFile = ~/.ignore\n' >>"$HOME/.gitconfig"; echo '*.tmp' >"$HOME/.ignore"
}
state() { git status --porcelain --ignored; sha256sum .git/index; git stash list; find . -path ./.git -prune -o -printf '%p %m %y %l\n' | sort; git diff --cached | sha256sum; }
seen() { (find . -name .git -prune -o ! -type d -printf '%p %y %l ' -exec sh -c '[ -x "$1" ] && [ ! -L "$1" ] && printf x; [ -L "$1" ] || sha256sum <"$1"' - {} \; -exec echo \;) | grep -v "/ignored/\|x\.o\|global\|^$" | sort; }

@test "H8 --with-changes: uncommitted changes of every kind are copied, with every backend; the checkout is unchanged" {
  local b before
  dirty; git status >/dev/null; before=$(state); seen >"$T/want"
  for b in overlay worktree clone; do
    "$garth" new t --backend $b --with-changes
    [[ $(state) == "$before" ]] || complain "the checkout changed: $b"
    declare -f seen >"$T/fn"; inside t "$(<"$T/fn"); seen" >"$T/got"; diff "$T/want" "$T/got" || complain "$b"
    inside t 'test ! -e ignored && test ! -e x.o && test ! -e global.tmp && test ! -e /tmp/garth-changes'
    # uncommitted: nothing was published, and the branch has not moved
    [[ $(git rev-parse garth/t) == $(git rev-parse main) ]]
    [[ $("$garth" show t --json | json 'len(d["uncommitted"]) > 5') == true ]]
    call "$garth" discard t
    [[ $code == 4 ]] || complain
    "$garth" discard -f t
  done
  call "$garth" run --with-changes -q --on-dirty keep -t r -- sh -c 'tail -1 a.txt; git diff --cached --quiet && git log -1 --format=%s'
  [[ $code == 0 ]] || complain
  [[ $out == $'more\nfirst' ]] || complain
  [[ $(state) == "$before" ]] || complain
  [[ ! -e $(task_dir r)/changes-index ]]
  # stdin is the command's, also while the changes are brought in
  [[ $("$garth" run --with-changes -q --on-dirty keep -t s -- cat <<<'for cat') == 'for cat' ]]
}

@test "H8 new, run: uncommitted changes that are not copied are reported, with their number and the option to copy them" {
  call "$garth" new clean
  says "task 'clean' is made (overlay)"
  echo x >>a.txt
  echo n >n1
  echo n >n2
  echo n >n3
  call "$garth" new t
  [[ $code == 0 ]] || complain
  [[ $err == *"4 uncommitted changes of the checkout are not in the task: a.txt, n1, n2 and 1 more (--with-changes takes them along)"* ]] || complain
  [[ $out == t ]] || complain
  call "$garth" run -t r -- cat a.txt
  [[ $code == 0 ]] || complain
  [[ $out == one ]] || complain
  [[ $err == *"4 uncommitted changes"* ]] || complain
  call "$garth" run -q -t q -- true
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  [[ $("$garth" run --json -t j -- true 2>/dev/null | json 'd["state"]') == done ]]
  # from a subdirectory; and in a linked worktree, that worktree's changes
  git stash -qu
  git worktree add -q "$T/linked"
  echo l >"$T/linked/l"
  cd "$T/linked/dir"
  call "$garth" new l --with-changes
  [[ $code == 0 ]] || complain
  [[ $(inside l 'cat ../l') == l ]] || complain
}

@test "H8 --with-changes: changes that do not apply are an error, and no task is left; the user's filters do not run" {
  echo 2 >>a.txt
  commit two
  echo 3 >>a.txt
  fails 5 "do not fit the commit" "$garth" new t --base HEAD~1 --with-changes
  [[ $(state_of t) == '' ]]
  [[ -z $(git for-each-ref refs/heads/garth) ]]
  [[ $(git diff | grep -c '^+3') == 1 ]]
  git config filter.evil.clean "touch $T/ran; cat"
  echo '*.txt filter=evil' >.gitattributes
  "$garth" new t --with-changes
  [[ ! -e $T/ran && $(inside t 'tail -1 a.txt; cat .gitattributes') == $'3\n*.txt filter=evil' ]]
  "$garth" new u
  [[ ! -e $T/ran ]]
  fails 2 '--empty' "$garth" new e --empty --with-changes
}

# The filters that git knows of come from the repository's settings, from files that these include, and from a worktree's own.
@test "H8: looking for uncommitted changes runs no filter, wherever it is set" {
  echo '*.txt filter=evil' >.gitattributes
  printf '[filter "evil"]\n\tclean = touch %s/ran; cat\n' "$T" >"$T/included"
  for where in "git config filter.evil.clean 'touch $T/ran; cat'" "git config --global filter.Evil.clean 'touch $T/ran; cat'; sed -i s/evil/Evil/ .gitattributes" \
    "git config include.path $T/included" "git config includeIf.gitdir:**/.git.path $T/included" "git config includeIf.onbranch:main.path $T/included"; do
    eval "$where"
    # control: git itself runs it, to see whether a file with another time has changed
    touch -d "$((++n)) hours ago" a.txt; git status --porcelain >/dev/null; [[ -e $T/ran ]]; rm "$T/ran"
    touch -d "$((++n)) hours ago" a.txt
    "$garth" new "t$((++n))" 2>/dev/null
    [[ ! -e $T/ran ]]
    git config --unset-all filter.evil.clean || true; git config --global --unset-all filter.Evil.clean || true; git config --remove-section include || true
    git config --unset includeIf.gitdir:**/.git.path || true; git config --unset includeIf.onbranch:main.path || true; sed -i s/Evil/evil/ .gitattributes
  done
  git config extensions.worktreeConfig true
  git worktree add -q "$T/linked"; cd "$T/linked"
  git config --worktree filter.evil.clean "touch $T/ran; cat"; cp "$R/.gitattributes" .
  touch -d '1 hour ago' a.txt; git status --porcelain >/dev/null; [[ -e $T/ran ]]; rm "$T/ran"; touch -d '2 hours ago' a.txt
  "$garth" new linked 2>/dev/null
  [[ ! -e $T/ran ]]
}
