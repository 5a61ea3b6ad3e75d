# ESCAPES 31, 33 and 38: a repository that the user did not make, in which the user runs a Garth command. An agent planted
# it in its workspace, or it came as a tarball. Its configuration names programs wherever git looks for one; what must
# not happen is that one of them runs, or that its attributes decide what a reviewer sees.
load planted.bash

# Every command, run in the current directory.
everywhere() {
  local command
  while read -r command; do
    # shellcheck disable=SC2086
    quiet $command || return 1
  done <<END
undo
undo --json
run --push B -- true
run -- true
run --task new-one --base main -- true
new another
new with-clone --backend clone
ls
show t
diff t
diff t --published
diff t --stat
log t
merge t --dry-run
sync t
config
audit
cleanup --older-than 30d
gc
doctor
END
}

# The attack plants a partial clone in a directory of the workspace, and waits for a command that is run there.
@test "31 J3 W2: a partial clone planted in a workspace, and every command run in it" {
  # the control: git itself, asked for HEAD in that directory, runs the program
  sh -c "$(partial "$T/open/c")"; (cd "$T/open/c" && git rev-parse 'HEAD^{commit}' >/dev/null 2>&1) || true
  ran
  for backend in worktree clone; do
    "$garth" new t --backend "$backend"
    inside t "$(partial docs); $(partial dir/sub); echo changed >>a.txt; git commit -qam changed"
    for at in "$GARTH_HOME/worktrees/t/docs" "$GARTH_HOME/worktrees/t/dir/sub" "$GARTH_HOME/worktrees/t"; do
      cd "$at"
      everywhere
    done
    # in a workspace, its project is meant: the newest deed there is one of the project's
    cd "$R"; "$garth" new "gone-$backend"; inside "gone-$backend" "echo x >x"; "$garth" discard -f "gone-$backend"
    cd "$GARTH_HOME/worktrees/t/docs"; quiet undo; "$garth" show "gone-$backend" >/dev/null
    cd "$R"
    "$garth" discard -fD t
  done
  untouched
}

# The attack is the same in a directory that came as a tarball, before any task is made of it.
@test "31 J3: a partial clone that came as a tarball" {
  "$garth" new t; inside t 'echo changed >>a.txt; git commit -qam changed'
  sh -c "$(partial "$T/open/tarball")"
  cd "$T/open/tarball"
  (git rev-parse 'HEAD^{commit}' >/dev/null 2>&1) || true; ran
  everywhere
  refused "$garth" new one
  grep -q 'partial clone' "$T/refused"
  # nor by a pointer that leads to it
  mkdir "$T/open/pointer"; echo "gitdir: $T/open/tarball/.git" >"$T/open/pointer/.git"; cd "$T/open/pointer"
  everywhere
  untouched
}

# The attack names programs in the configuration of a whole repository, which a push or fetch would run; and the task is
# made, published, merged and pushed there as the user would do.
@test "31 J3: a tarball whose configuration names programs: nothing runs, fetch and push are refused" {
  tarball "$T/open/tarball"
  git config protocol.ext.allow always
  for row in 'core.sshCommand|@;false|ssh://host.invalid/x' 'remote.origin.receivepack|@; git-receive-pack|' 'protocol.ext.allow|always|ext::sh '"$T/open/proxy"'' \
    'core.gitProxy|'"$T/open/proxy"'|git://host.invalid/x'; do
    IFS='|' read -r key value url <<<"${row//@/$payload}"
    git config --unset protocol.ext.allow || true
    printf '#!/bin/sh\n%s\n' "$payload" >"$T/open/proxy"; chmod 755 "$T/open/proxy"
    git config "$key" "$value"; git config remote.origin.url "${url:-$T/remote.git}"
    # the control: git itself obeys
    git push -q origin HEAD:refs/heads/control >/dev/null 2>&1 || true
    ran
    quiet new t
    inside t 'echo changed >>a.txt; git commit -qam changed'
    everywhere
    quiet push t; grep -q "garth.trust" "$T/answer" || { echo "$key is not refused:"; cat "$T/answer"; false; }
    grep -qiE "sets ($key|remote.origin.url)," "$T/answer"
    refused "$garth" new c --backend clone
    grep -qiE "sets ($key|remote.origin.url)," "$T/refused"
    refused "$garth" run --push B -- true
    grep -q "garth.trust '$PWD'" "$T/refused"
    # the repository cannot declare itself trusted
    git config garth.trust "$PWD"; quiet push t; git config --unset garth.trust
    # if the user trusts it, it works as with git
    git config --global garth.trust "$PWD"
    "$garth" push t >/dev/null 2>&1 || true; ran
    git config --global --unset garth.trust
    quiet merge t
    for name in $("$garth" ls --json | sed -n 's/.*"name": "\(.*\)".*/\1/p'); do quiet discard -fD "$name"; done
    git config --unset "$key"
  done
  untouched
}

# The attack names a remote that git reaches by another program, which the user has installed: it gets the words of the URL. The
# second and the third are such a URL only after git has put them together.
@test "31 J3: a remote that is reached by another program" {
  tarball "$T/open/tarball"
  "$garth" new t; inside t 'echo changed >>a.txt; git commit -qam changed'
  mkdir -p "$HOME/bin"; printf '#!/bin/sh\n%s\n' "$payload" >"$HOME/bin/git-remote-tool"; chmod 755 "$HOME/bin/git-remote-tool"
  PATH=$HOME/bin:$PATH
  local row key value
  for row in 'remote.origin.url|tool::x' 'url.tool::.insteadOf|x' 'url.tool:.insteadOf|x' 'remote.origin.url|tool://x' 'remote.origin.pushurl|tool://x'; do
    IFS='|' read -r key value <<<"$row"
    git config remote.origin.url x:x; [[ $key != url.tool:.* ]] || git config remote.origin.url x:words
    git config "$key" "$value"
    # the control: git itself runs it
    git push -q origin HEAD:refs/heads/control >/dev/null 2>&1 || true; ran
    quiet push t; grep -q "git-remote-tool, which runs only if" "$T/answer" || { echo "$row"; cat "$T/answer"; false; }
    quiet run --push B -- true
    quiet new c --backend clone
    [[ $key == *pushurl ]] || grep -q "git-remote-tool, which runs only if" "$T/answer" || { echo "$row"; cat "$T/answer"; false; }
    # if the user trusts it, it works as with git
    git config --global garth.trust "$PWD"
    "$garth" push t >/dev/null 2>&1 || true; ran
    git config --global --unset garth.trust; git config --unset "$key"
  done
  # the control: git's own
  git config remote.origin.url "file://$T/remote.git"; "$garth" push t
  untouched
}

# The attack keeps the bare repository that it pushes to in the checkout, with a hook in it.
@test "31 J3: a remote in the checkout itself, with hooks" {
  tarball "$T/open/tarball"
  git init -q --bare .git/other.git; printf '#!/bin/sh\n%s\n' "$payload" >.git/other.git/hooks/update; chmod +x .git/other.git/hooks/update
  git config remote.origin.url .git/other.git
  git push -q origin HEAD:refs/heads/control; ran
  quiet new t
  inside t 'echo changed >>a.txt; git commit -qam changed'
  refused "$garth" push t
  grep -q hooks "$T/refused"
  [[ ! -e $marker ]]
}

# The attack separates the attribute from its pattern by a carriage return, which git takes for a blank: a filter that the
# repository's configuration has runs when files are checked out or hashed.
@test "33 9 J3: no filter runs outside, however attributes name it" {
  local n=0 text
  for text in '*.txt\rfilter=x\n' '*\t\r\tfilter=x text\n' '[attr]y\rfilter=x\n*.txt y\n' '"*.txt"\rfilter=x\n' '# x\n\r*.txt\rfilter=x'; do
    rm -rf "$T/open/c$n"; tarball "$T/open/c$n"; n=$((n + 1))
    git config filter.x.smudge "$payload; cat"; git config filter.x.clean "$payload; cat"
    # shellcheck disable=SC2059
    printf "$text" >.gitattributes; git add .gitattributes; git commit -qm attributes; rm -f "$marker"
    # the control: git itself runs it
    rm a.txt; git checkout -q a.txt; ran
    for backend in overlay worktree clone; do
      refused "$garth" new t --base HEAD --backend "$backend"
      grep -q 'through a filter (filter=x)' "$T/refused"
      [[ ! -e $marker ]]
    done
  done
}

# The attack makes .git a link, and its filter is in a file that is included only if the repository's place is written as
# the link's: a git that reads the settings at the place that the link leads to does not see the filter. `git status`, which
# looks for uncommitted changes of the checkout, then runs it. The same in a linked worktree of a bare repository.
@test "31 33 J3: no filter runs that is configured only under another name of the repository" {
  tarball "$T/open/link"
  echo '*.txt filter=x' >.gitattributes; git add .gitattributes; git commit -qm attributes
  mv .git .real; ln -s .real .git; echo .real >>.git/info/exclude
  git config 'includeIf.gitdir:**/.git.path' evil
  git clone -q --bare . "$T/open/bare"; git -C "$T/open/bare" worktree add -q "$T/open/linked" main
  git -C "$T/open/bare" config 'includeIf.gitdir:**/worktrees/linked.path' evil
  for at in link linked; do
    cd "$T/open/$at"
    printf '[filter "x"]\n\tclean = "%s; cat"\n\tsmudge = "%s; cat"\n' "$payload" "$payload" >"$(git rev-parse --path-format=absolute --git-common-dir)/evil"
    # the control: git itself runs it
    touch a.txt; git status --porcelain >/dev/null; ran
    for command in "new $at-a" "new $at-b --with-changes" "new $at-c --backend clone" "run -t $at-d -- true" "merge $at-a" 'ls' "diff $at-b" "show $at-b"; do
      touch a.txt
      # shellcheck disable=SC2086
      quiet $command
    done
  done
}

# The same if the target gets them after the task was made, or if the task adds them.
@test "33 9 J3: no filter runs when a merge writes files" {
  git config filter.x.smudge "$payload; cat"; git config filter.x.clean "$payload; cat"
  for backend in overlay worktree clone; do
    quiet new "t-$backend" --backend "$backend"
    inside "t-$backend" "echo inside >>a.txt; git commit -qam $backend"
    quiet new "u-$backend" --backend "$backend"
    "$garth" allow "u-$backend" .gitattributes >/dev/null
    inside "u-$backend" "printf '*.txt\\rfilter=x\\n' >.gitattributes; echo inside >>a.txt; git add -A; git commit -qm $backend"
  done
  quiet merge u-overlay; grep -q filter "$T/answer"
  printf '*.txt\rfilter=x\n' >.gitattributes; git add .gitattributes; git commit -qm attributes; rm -f "$marker"
  rm a.txt; git checkout -q a.txt; ran
  before_merge=$(git rev-parse HEAD)
  for backend in overlay worktree clone; do
    for command in ls "merge u-$backend" "merge t-$backend" "merge t-$backend --squash" "sync t-$backend" "show t-$backend" "diff t-$backend --published" doctor; do
      # shellcheck disable=SC2086
      quiet $command
    done
  done
  [[ $(git rev-parse HEAD) == "$before_merge" ]]
  refused "$garth" merge t-overlay
  grep -q 'through a filter' "$T/refused"
}

# The attack has a merge driver in the configuration that came with the repository, and attributes that choose it.
@test "31 9 J3: no merge driver runs outside" {
  tarball "$T/open/tarball"
  git config merge.x.driver "$payload; true"; git config merge.default x; git config merge.renormalize true
  echo '* merge=x' >.gitattributes; git add -A; git commit -qm attributes
  quiet new t
  inside t 'sed -i "1i above" a.txt; git commit -qam inside'
  echo below >>a.txt; git commit -qam outside
  # the control: git itself runs it
  git merge-tree --write-tree main garth/t >/dev/null; ran
  everywhere
  quiet merge t
  [[ $(<a.txt) == $'above\none\nbelow' ]] || { cat a.txt "$T/answer"; false; }
}

# The attack leaves attributes in a directory where a reviewer runs commands, or publishes them: they mark every file as
# binary, so that no diff is shown.
@test "38 J1: attributes hide nothing from a review, wherever the command is run" {
  for backend in worktree clone; do
    "$garth" new t --backend "$backend"; "$garth" allow t .gitattributes >/dev/null
    inside t 'echo evil-change >>a.txt; echo "*.md -diff" >.gitattributes; echo evil-text >x.md; git add -A; git commit -qm x
      printf "* -diff\n* binary\n" >.gitattributes; mkdir -p sub; printf "* -diff\n" >sub/.gitattributes'
    for at in "$GARTH_HOME/worktrees/t" "$GARTH_HOME/worktrees/t/sub" "$R"; do
      cd "$at"
      # the control: git itself obeys
      if [[ $at == "$GARTH_HOME/worktrees/t" ]]; then [[ $(git diff main garth/t -- a.txt) != *evil-change* ]]; fi
      for command in 'diff t' 'diff t --published'; do
        # shellcheck disable=SC2086
        "$garth" $command >"$T/shown"
        grep -q '^+evil-change' "$T/shown" || { echo "garth $command in $at hides a.txt"; false; }
        grep -q '^+evil-text' "$T/shown" || { echo "garth $command in $at hides x.md"; false; }
      done
    done
    cd "$R"; "$garth" discard -fD t
  done
}

# The same place by other names: git pushes to each of several URLs, adds ".git", takes "%2f" for a slash, leaves a
# host out of file://, and /proc/self/cwd is the checkout for it alone.
@test "31 J4: a remote in the checkout itself, under another name" {
  local url
  tarball "$T/open/tarball"
  git init -q --bare other.git; printf '#!/bin/sh\n%s\n' "$payload" >other.git/hooks/update; chmod +x other.git/hooks/update
  quiet new t
  inside t 'echo changed >>a.txt; git commit -qam changed'
  for url in other file://x/proc/self/cwd/other.git file:///proc/self/cwd%2fother.git /proc/self/cwd/other.git ./other "file://$PWD/%6fther.git"; do
    git config remote.origin.url "$url"
    git push -q origin HEAD:refs/heads/control; git push -q origin :refs/heads/control; ran
    refused "$garth" push t
    (cd / && refused "$garth" push t)
    [[ ! -e $marker ]] || { echo "$url"; false; }
  done
  git config remote.origin.url "$T/remote.git"
  git config --add remote.origin.pushurl "$T/remote.git"
  git config --add remote.origin.pushurl ./other.git
  refused "$garth" push t
  grep -q hooks "$T/refused"
  [[ ! -e $marker ]]
}

# The attack comes as two directories, and the checkout's remote is the other one, which has the hook.
@test "31 J4: a remote beside the checkout, delivered with it" {
  tarball "$T/open/tarball"
  git init -q --bare ../evil.git; printf '#!/bin/sh\n%s\n' "$payload" >../evil.git/hooks/pre-receive; chmod +x ../evil.git/hooks/pre-receive
  git config remote.origin.url ../evil.git
  quiet new t
  inside t 'echo changed >>a.txt; git commit -qam changed'
  git push -q origin HEAD:refs/heads/control
  git push -q origin :refs/heads/control
  ran
  refused "$garth" push t
  grep -q 'garth.trust' "$T/refused"
  [[ ! -e $marker ]]
  rm ../evil.git/hooks/pre-receive; mkdir ../hooks; printf '#!/bin/sh\n%s\n' "$payload" >../hooks/pre-receive; chmod +x ../hooks/pre-receive
  git -C ../evil.git config core.hooksPath "$T/open/hooks"
  refused "$garth" push t
  [[ ! -e $marker ]]
  # newer gits run a hook that is a setting; this one may not, so there is no control
  git -C ../evil.git config --unset core.hooksPath; git -C ../evil.git config hook.x.command "$payload"; git -C ../evil.git config hook.x.event update
  refused "$garth" push t
  grep -q 'garth.trust' "$T/refused"
  [[ ! -e $marker ]]
  git -C ../evil.git config core.hooksPath "$T/open/hooks"
  # the user trusts it
  git config --global --add garth.trust "$T/open/evil.git"
  "$garth" push t; ran
}

# The attack hides the hooks, or another program, of the repository that is pushed to: behind a .git file, in the
# repository of a linked worktree, in a file that is included only if git stands in that directory, in a filter that runs
# because a push writes the files.
@test "31 J4: a remote beside the checkout runs no program that is hidden" {
  local kind
  tarball "$T/open/tarball"
  mkdir "$T/open/hooks"; printf '#!/bin/sh\n%s\n' "$payload" >"$T/open/hooks/update"; chmod +x "$T/open/hooks/update"
  git init -q --bare ../real.git; cp ../hooks/update ../real.git/hooks/
  mkdir ../file; echo "gitdir: ../real.git" >../file/.git
  git clone -q "$T/remote.git" ../main; git -C ../main worktree add -q ../linked; cp ../hooks/update ../main/.git/hooks/
  git init -q --bare ../condition.git; printf '[includeIf "gitdir:%s/"]\n\tpath = more\n' "$T/open/condition.git" >>../condition.git/config
  git config -f ../condition.git/more core.hooksPath "$T/open/hooks"
  git clone -q "$T/remote.git" ../filter; git -C ../filter checkout -q -b control; git -C ../filter config receive.denyCurrentBranch updateInstead
  git -C ../filter config filter.x.smudge "$payload; cat"; echo '* filter=x' >../filter/.git/info/attributes
  quiet new t
  inside t 'echo changed >>a.txt; git commit -qam changed'
  git commit -q --allow-empty -m control; echo control >a.txt; git commit -qam control
  for kind in file linked condition filter; do
    git config remote.origin.url "../$kind"
    # the control: git itself runs it
    git push -q origin HEAD:refs/heads/control; ran
    # it is refused, or pushed without it
    quiet push t new
    quiet push t control
    [[ $kind == condition ]] || { refused "$garth" push t other; grep -q 'garth.trust' "$T/refused"; }
  done
  [[ $(git -C ../condition.git rev-parse new) == "$(git rev-parse garth/t)" ]]
  # the user trusts it
  git config remote.origin.url ../condition
  git config --global --add garth.trust "$T/open/condition.git"
  "$garth" push t trusted; ran
}

# The user allows URLs that run a program; the attack makes one of two settings, neither of which looks like it.
@test "31 J4: no URL that runs a program can be composed from configured parts" {
  tarball "$T/open/tarball"
  git config --global protocol.ext.allow always
  printf '#!/bin/sh\n%s\n' "$payload" >"$T/open/program"; chmod +x "$T/open/program"
  git config url.e.insteadOf Q; git config remote.origin.url "Qxt::$T/open/program"
  git fetch -q origin 2>/dev/null || true
  ran
  quiet new t
  inside t 'echo changed >>a.txt; git commit -qam changed'
  refused "$garth" push t
  refused "$garth" new c --backend clone
  [[ ! -e $marker ]]
  git config --global garth.trust "$PWD"; "$garth" push t >/dev/null 2>&1 || true
  ran
}

# What the server says in a cookie is written over a file that the repository's configuration names.
@test "31 J5: one of the user's files as cookie file" {
  tarball "$T/open/tarball"
  git config http.cookieFile "$T/elsewhere/ran"; git config http.saveCookies true
  quiet new t
  inside t 'echo changed >>a.txt; git commit -qam changed'
  refused "$garth" push t
  grep -qi cookie "$T/refused"
}

# The attack stages a submodule, whose own configuration has the filter.
@test "33 J3: no submodule's filter runs when changes are copied" {
  tarball "$T/open/tarball"
  git init -q sub
  echo a >sub/a
  git -C sub add a
  git -C sub -c user.name=x -c user.email=x@y commit -qm a
  git add sub 2>/dev/null
  git -C sub config filter.x.clean "$payload; cat"
  echo '* filter=x' >sub/.git/info/attributes
  sleep 1
  echo b >sub/a
  git add -A
  ran
  touch sub/a
  echo more >>base.txt
  quiet new --with-changes t
  # the change beside it came
  [[ $(inside t git status --porcelain) == *base.txt* ]]
}

# A submodule's directory that the user's git goes into when the user types `git status` in a worktree or a clone: it
# obeys the configuration of the repository that it finds there, which names a program (core.fsmonitor).
superproject() {
  git init -q "$T/open/lib"
  git -C "$T/open/lib" -c user.name=x -c user.email=x@y commit -q --allow-empty -m lib
  git -c protocol.file.allow=always submodule --quiet add "$T/open/lib" libs/mod
  git commit -qm 'with a submodule'
  at=$(git rev-parse HEAD:libs/mod)
}
# Words of a shell that put such a repository into the directory $1.
monitored() {
  cat <<END
mkdir -p $1 && cd $1 && /usr/bin/git init -q && /usr/bin/git config core.fsmonitor '$payload' &&
/usr/bin/git -c core.fsmonitor= -c user.name=x -c user.email=x@y commit -q --allow-empty -m x && cd "\$OLDPWD"
END
}
# What a user types, or a prompt or an editor.
looks() { (cd "$1" && git status && git status --porcelain && git diff --stat && git diff-files && git diff HEAD --stat && git stash list && git add -A -n . && git commit --dry-run) >/dev/null 2>&1 || true; }

@test "5 9 W5: a repository that the agent puts where a submodule belongs runs no program of the user's git" {
  superproject
  # the control: in a worktree without walls it runs
  git worktree add -q "$T/open/control" 2>/dev/null
  (cd "$T/open/control" && sh -c "$(monitored libs/mod)")
  looks "$T/open/control"
  ran
  for backend in worktree clone; do
    # one that may use it: what is there is not on the host
    "$garth" new "$backend-with" --base HEAD --backend "$backend"
    inside "$backend-with" 'touch libs/mod/x; test -d libs/mod/.git'
    [[ -z $(ls -A "$("$garth" path "$backend-with")/libs/mod") ]]
    refused inside "$backend-with" 'mv libs/mod libs/elsewhere'
    "$garth" new "$backend" --base HEAD --backend "$backend" --submodule none
    dir=$("$garth" path "$backend")
    # its directory cannot be written to, nor moved away
    refused inside "$backend" 'mkdir libs/mod/.git'
    refused inside "$backend" 'mv libs/mod libs/elsewhere'
    refused inside "$backend" 'rmdir libs/mod'
    refused inside "$backend" 'touch libs/mod/x'
    [[ -z $(ls -A "$dir/libs/mod") ]]
    # but the one above it can be: git passes over what is then at its path
    inside "$backend" "mv libs gone; $(monitored libs/mod); test -d libs/mod/.git"
    [[ -e $dir/libs/mod/.git/config ]]
    looks "$dir"
    [[ ! -e $marker ]]
    # also after a commit, when the index is a new one
    inside "$backend" 'echo 2 >>a.txt; git commit -qm two a.txt'
    [[ $(git log -1 --format=%s "garth/$backend") == two ]]
    looks "$dir"
    [[ ! -e $marker ]]
    # and after its next start, which covers the path again
    [[ -z $(inside "$backend" 'ls -A libs/mod') ]]
    quiet diff "$backend"
    quiet show "$backend"
    quiet merge "$backend" --dry-run
    quiet sync "$backend"
    quiet doctor
    looks "$dir"
    [[ ! -e $marker ]]
    quiet discard -D "$backend"
    quiet undo
    looks "$dir"
    [[ ! -e $marker ]]
  done
}

# The same in a sparse checkout: there git does not pass over what is in the working directory although the index tells it
# to (skip-worktree).
@test "5 9 W5: nor if the user's checkout is a sparse one" {
  superproject
  git config core.sparseCheckout true
  echo '/*' >.git/info/sparse-checkout
  git worktree add -q "$T/open/control" 2>/dev/null
  git -C "$T/open/control" update-index --skip-worktree libs/mod
  (cd "$T/open/control" && sh -c "$(monitored libs/mod)")
  looks "$T/open/control"
  ran
  for backend in worktree clone; do
    "$garth" new "$backend" --base HEAD --backend "$backend" --submodule none
    dir=$("$garth" path "$backend")
    inside "$backend" "mv libs gone; $(monitored libs/mod)"
    [[ -e $dir/libs/mod/.git/config ]]
    looks "$dir"
    [[ ! -e $marker ]]
    inside "$backend" 'echo 2 >>a.txt; git commit -qm two a.txt'
    looks "$dir"
    [[ ! -e $marker ]]
  done
}

# The user's own submodule is hostile: it came with a tarball. Its configuration names programs too.
@test "9 31 W5: no command runs a program of a submodule that is checked out in the user's checkout" {
  superproject
  git -C libs/mod config core.fsmonitor "$payload"
  git -C libs/mod config filter.x.clean "$payload; cat"
  echo '* filter=x' >.git/modules/libs/mod/info/attributes
  echo f >libs/mod/f
  git status >/dev/null
  ran
  git config diff.submodule diff; git config status.submoduleSummary true; git config submodule.recurse true
  git config diff.ignoreSubmodules none
  for backend in overlay worktree clone; do
    quiet run -t t --base HEAD --backend "$backend" -- sh -c 'echo 2 >>a.txt; git commit -qam two'
    for command in 'show t' 'diff t' 'ls' 'merge t --dry-run' 'sync t' 'snapshot t' 'merge t' 'undo' 'new --with-changes c' 'discard -D c' 'discard -D t' 'doctor' 'gc'; do
      # shellcheck disable=SC2086
      quiet $command
    done
  done
}

# In the user's own submodule, the commit is only at a remote: a git that looks for it fetches it, with a program that the
# submodule's configuration names.
@test "31 W5: a submodule that is a partial clone fetches nothing" {
  superproject
  sub=.git/modules/libs/mod
  git -C libs/mod config core.repositoryformatversion 1; git -C libs/mod config extensions.partialclone origin
  git -C libs/mod config remote.origin.promisor true; git -C libs/mod config remote.origin.uploadpack "$payload; git-upload-pack"
  mv "$sub/objects/pack" "$T/open/pack" 2>/dev/null || true; rm -rf "$sub"/objects/??; mkdir -p "$sub/objects/pack"
  git -C libs/mod cat-file -t "$at" >/dev/null 2>&1 || true
  ran
  rm -rf "$sub"/objects/?? "$sub"/objects/pack/*
  for backend in "${backends[@]}"; do
    quiet new t --base HEAD --backend "$backend"
    refused "$garth" new named --base HEAD --backend "$backend" --submodule libs/mod
    quiet show t
    quiet diff t
    quiet discard t
    [[ ! -e $marker ]]
  done
}

# What .gitmodules and .git/modules of a stranger's repository name: places outside them, options, links.
@test "11 32 33 W5: .gitmodules and the modules of a stranger's repository lead nowhere else" {
  superproject
  mkdir -p "$T/open/outside"; git clone -q --bare "$T/open/lib" "$T/open/outside/store"
  echo "$SECRET" >"$T/open/outside/store/secret"
  rm -rf libs/mod
  # the control: the module itself can be used
  "$garth" new control --base HEAD --submodule libs/mod
  inside control 'test -e libs/mod/.git'
  mv .git/modules/libs/mod "$T/open/module"
  for name in "../../../../../open/outside/store" "/$T/open/outside/store" '--upload-pack=x' 'a/../../../../../../open/outside/store' '.git/modules/x'; do
    git config -f .gitmodules --remove-section submodule.libs/mod 2>/dev/null || true
    printf '[submodule "%s"]\n\tpath = libs/mod\n\turl = ext::sh -c "%s"\n' "$name" "$payload" >.gitmodules
    git commit -qm "$RANDOM" .gitmodules
    refused "$garth" new t --base HEAD --submodule libs/mod
    grep -q "is not here" "$T/refused" || { cat "$T/refused"; false; }
    quiet new t --base HEAD --submodule all
    [[ -z $(inside t 'ls -A libs/mod') ]]
    quiet discard -fD t
  done
  # a link in place of the module, or of its objects
  printf '[submodule "m"]\n\tpath = libs/mod\n' >.gitmodules; git commit -qm link .gitmodules
  rm -rf .git/modules; mkdir .git/modules
  ln -s "$T/open/outside/store" .git/modules/m
  refused "$garth" new t --base HEAD --submodule libs/mod
  rm .git/modules/m; mv "$T/open/module" .git/modules/m
  "$garth" new good --base HEAD --submodule libs/mod
  mv .git/modules/m/objects "$T/open/objects"; ln -s "$HOME/.ssh" .git/modules/m/objects
  refused "$garth" new t --base HEAD --submodule libs/mod
  refused inside good 'cat /run/garth/objects/s0-0/id_test'
  rm .git/modules/m/objects; mv "$T/open/objects" .git/modules/m/objects
  # a list of other stores that names the user's secrets
  echo "$HOME/.ssh" >.git/modules/m/objects/info/alternates
  refused "$garth" new t --base HEAD --submodule libs/mod
  grep -qF "$HOME/.ssh" "$T/refused"
  refused inside good 'ls /run/garth/objects/s0-1'
  rm .git/modules/m/objects/info/alternates
  # what a task may use it may read, and not write
  walled_objects=/run/garth/objects/s0-0
  inside good "ls $walled_objects/pack $walled_objects"
  refused inside good "touch $walled_objects/x"
  refused inside good "touch $walled_objects/pack/x"
  untouched
  [[ ! -e $marker ]]
}

# The agent has its own repository of each submodule, with any configuration. No git outside obeys it, and the user's
# own submodule is as it was.
@test "9 W5: no command outside runs a program that the agent configured in a submodule" {
  superproject
  mod=$(find libs/mod .git/modules -type f -exec sha256sum {} + | sort)
  for backend in "${backends[@]}"; do
    "$garth" new t --base HEAD --backend "$backend"
    inside t "cd libs/mod; /usr/bin/git config core.fsmonitor '$payload'; /usr/bin/git config filter.x.clean '$payload; cat'; /usr/bin/git config diff.external '$payload'
      echo '* filter=x diff=x' >.gitattributes; echo f >f; mkdir -p .git/hooks; printf '#!/bin/sh\n$payload\n' >.git/hooks/post-checkout; chmod 755 .git/hooks/*; ln -s /etc/passwd link
      echo 2 >>../../a.txt; /usr/bin/git -C ../.. commit -qm two a.txt"
    for command in 'show t' 'diff t' ls 'merge t --dry-run' 'sync t' 'snapshot t' "export t $T/out-$backend" 'merge t' undo 'discard t' doctor gc 'discard -fD t' undo 'show t' 'discard -fD t'; do
      # shellcheck disable=SC2086
      quiet $command
    done
    [[ -L $T/out-$backend/libs/mod/link ]]
  done
  [[ $(find libs/mod .git/modules -type f -exec sha256sum {} + | sort) == "$mod" ]]
  untouched
}
