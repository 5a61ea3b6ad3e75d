# A repository with submodules that came from a stranger, with its git directory: what it has in place of refs, logs and
# the repositories of submodules must lead nowhere else when a task publishes.
load helpers

setup() {
  jail_setup
  before=$(sentinels)
  git init -q "$T/open/lib"
  (cd "$T/open/lib" && echo lib >lib.txt && git add -A && git -c user.name=x -c user.email=x@y commit -qm lib)
  git -c protocol.file.allow=always submodule --quiet add "$T/open/lib" libs/mod
  git commit -qm 'with a submodule'
  sub=.git/modules/libs/mod
  change='cd libs/mod && echo 2 >>lib.txt && git commit -qam two'
}

# git writes logs through links, and a line of a log has a name that the configuration chooses.
@test "31 2 W5: no log of a ref is written to a file outside that a link names" {
  echo '# mine' >"$HOME/.bashrc"
  git config committer.name "x; touch $T/open/ran #"
  git -C libs/mod config committer.name "x; touch $T/open/ran #"
  mkdir -p .git/logs/refs/heads/garth "$sub/logs/refs/heads/garth"
  ln -s "$HOME/.bashrc" .git/logs/refs/heads/garth/t; ln -s "$HOME/.bashrc" "$sub/logs/refs/heads/garth/u"
  # the control: without walls, the next shell of the user runs it
  git branch garth/t
  bash --rcfile "$HOME/.bashrc" -ic true 2>/dev/null
  [[ -e $T/open/ran ]]
  rm "$T/open/ran"; git branch -qD garth/t; mkdir -p .git/logs/refs/heads/garth; ln -s "$HOME/.bashrc" .git/logs/refs/heads/garth/t
  echo '# mine' >"$HOME/.bashrc"
  refused "$garth" new t
  grep -qF "logs/refs/heads/garth/t' is a link" "$T/refused"
  "$garth" new u
  refused inside u "$change"
  grep -qF "logs/refs/heads/garth/u' is a link" "$T/refused"
  [[ $(<"$HOME/.bashrc") == '# mine' ]]
  # a merge logs what it does to the checkout
  inside u 'echo 2 >>a.txt; git commit -qm two a.txt'
  mv .git/logs/HEAD "$T/open/log"; ln -s "$HOME/.bashrc" .git/logs/HEAD
  refused "$garth" merge u
  mv "$T/open/log" .git/logs/HEAD
  # and to those of its submodules
  rm "$sub/logs/refs/heads/garth/u"; inside u "$change && cd ../.. && git commit -qam moved"
  mv "$sub/logs/HEAD" "$T/open/log"; ln -s "$HOME/.bashrc" "$sub/logs/HEAD"
  at=$(git rev-parse HEAD; git -C libs/mod rev-parse HEAD)
  refused "$garth" merge u
  grep -qF "logs/HEAD' is a link" "$T/refused"
  [[ $(git rev-parse HEAD; git -C libs/mod rev-parse HEAD) == "$at" ]]
  mv "$T/open/log" "$sub/logs/HEAD"
  "$garth" merge u
  [[ $(<"$HOME/.bashrc") == '# mine' ]]
  # elsewhere the name in a log is not the repository's choice
  not grep -rq 'touch' .git/logs/refs/heads/garth "$sub/logs"
  untouched
}

@test "11 32 W5: refs of a submodule are written to its own repository, on the task's branch" {
  git clone -q "$T/open/lib" "$T/open/private"
  refs=$(git -C "$T/open/private" for-each-ref; find "$T/open/private" -name t | sort)
  # a link in place of a directory of refs
  mv "$sub/refs/heads" "$T/open/heads"; ln -s "$T/open/private/.git/refs/heads" "$sub/refs/heads"
  # the control: git itself follows it
  git -C libs/mod branch control origin/main
  git -C "$T/open/private" show-ref -q --verify refs/heads/control
  git -C libs/mod branch -qD control
  "$garth" new t
  refused inside t "$change"
  rm "$sub/refs/heads"; mv "$T/open/heads" "$sub/refs/heads"
  # a symbolic ref with the name of the task's branch
  for dir in "$sub" .git; do
    mkdir -p "$dir/refs/heads/garth"; echo 'ref: refs/heads/release' >"$dir/refs/heads/garth/s"
  done
  "$garth" new s
  inside s "$change && cd ../.. && git commit -qam moved"
  for dir in libs/mod .; do
    [[ $(git -C $dir for-each-ref --format='%(refname)' refs/heads/garth/s) == refs/heads/garth/s ]]
    not git -C $dir show-ref -q --verify refs/heads/release
  done
  # the repository names another one as its own
  echo "$T/open/private/.git" >"$sub/commondir"
  [[ $(git -C libs/mod rev-parse --path-format=absolute --git-common-dir) == "$T/open/private/.git" ]]
  refused "$garth" new u --submodule libs/mod
  "$garth" new w
  [[ -z $(inside w 'ls -A libs/mod') ]]
  [[ $(git -C "$T/open/private" for-each-ref; find "$T/open/private" -name t | sort) == "$refs" ]]
}

# Nobody ever writes to these FIFOs; the control is that a reader without walls waits.
@test "23 36 W5: FIFOs in the repository of a submodule are not waited for" {
  "$garth" new t
  n=0
  for file in gc.pid packed-refs refs/heads/garth/t logs/refs/heads/garth/t objects/info/alternates; do
    n=$((n + 1))
    mkdir -p "$(dirname "$sub/$file")"
    [[ ! -e $sub/$file ]] || mv "$sub/$file" "$T/open/saved"
    mkfifo "$sub/$file"
    [[ $n != 1 ]] || not timeout 0.2 cat "$sub/$file"
    timeout -k 1 20 "$garth" new "u$n" >"$T/new" 2>&1 || { cat "$T/new"; false; }
    code=0; timeout -k 1 20 "$garth" exec t -- sh -c "$change" >"$T/answer" 2>&1 3>&- || code=$?
    [[ $code != 124 && $code != 137 ]] || { echo "waited: $file"; false; }
    rm "$sub/$file"
    [[ ! -e $T/open/saved ]] || mv "$T/open/saved" "$sub/$file"
  done
  inside t "$change"
}
