load helpers
# a clone's repository is like an overlay's and its files like a worktree's; cmd/clone has the rest
backends=(overlay worktree)

# Inside, `git` is the shim, which keeps a task on its branch. What git itself can do is tried with git itself.
native='PATH=/usr/bin:$PATH; '

# The user's repository is unchanged and valid.
untouched() { fingerprint | diff "$T/before" - || complain "the repository changed"; git fsck --strict; }

@test "J3 git: status, add, commit, amend, branch, switch, merge, rebase, stash, tag" {
  fingerprint >"$T/before"
  for b in overlay worktree; do
    "$garth" new t-$b --backend $b
    inside t-$b "$native"'set -e
      test "$(command -v git)" = /usr/bin/git; test -z "$(git status --porcelain)"
      echo x >>a.txt; test "$(git status --porcelain)" = " M a.txt"
      git add a.txt; test "$(git status --porcelain)" = "M  a.txt"
      git commit -qm one; test -z "$(git status --porcelain)"
      git commit -q --amend -m one-amended; test "$(git log -1 --format=%s)" = one-amended
      test "$(git log -1 --format="%an <%ae>")" = "Test User <test@example.com>"
      git switch -q -c side HEAD~1; echo s >side.txt; git add side.txt; git commit -qm side
      git switch -q -; git merge -q -m merged side; test -f side.txt
      git branch rebased side; git switch -q rebased; git rebase -q garth/$GARTH_TASK; git switch -q garth/$GARTH_TASK
      echo dirty >>a.txt; echo untracked >u; git stash -q -u; test -z "$(git status --porcelain)"; git stash pop -q; test -e u
      git checkout -q -- a.txt; rm u
      git tag mine; git tag -a -m annotated annotated; git describe | grep -q annotated
      git cherry-pick -x HEAD~1 >/dev/null 2>&1 || git cherry-pick --abort || git cherry-pick --skip
      git revert --no-edit -m 1 HEAD >/dev/null; test ! -e side.txt
      git reset -q --hard HEAD~1; git reflog | wc -l; git blame a.txt >/dev/null; git grep -q two; git notes add -m note
      git bisect start HEAD HEAD~1 >/dev/null; git bisect reset >/dev/null
      test -z "$(git status --porcelain)"; git fsck --strict' >"$T/o" 2>&1 || { cat "$T/o"; false; }
    # the result of all this is published on the task's branch
    [[ $(git rev-parse garth/t-$b) == "$(inside t-$b git rev-parse HEAD)" ]]
    [[ $(git log --format=%s garth/t-$b | paste -sd,) == *one-amended* ]]
  done
  untouched
  [[ $(git for-each-ref --format='%(refname)' refs/heads refs/tags | paste -sd,) == refs/heads/garth/t-overlay,refs/heads/garth/t-worktree,refs/heads/main ]]
}

@test "J3 G4 git: the shim acts like git, stays on the task's branch, and says what it does not do" {
  fingerprint >"$T/before"
  for b in "${backends[@]}"; do
    "$garth" new t-$b --backend $b
    inside t-$b 'set -e
      test "$(command -v git)" = /run/garth/bin/git
      echo x >>a.txt; test "$(git status --porcelain)" = " M a.txt"; git diff --quiet && exit 1
      git add a.txt; git commit -qm one; git commit -q --amend -m one-amended; git tag mine; git log --format=%s >/tmp/log
      test "$(paste -sd, </tmp/log)" = one-amended,first; git fsck --strict --no-dangling' >"$T/o" 2>&1 || { cat "$T/o"; false; }
    [[ $(git log --format=%s garth/t-$b | paste -sd,) == one-amended,first ]]
    for c in 'stash' 'rebase main' 'switch -c side' 'checkout -b side' 'checkout main' 'submodule update' "push '$R' HEAD:main" "fetch origin"; do
      call inside t-$b "echo y >>a.txt; git $c"
      [[ $code == @(1|128) ]] || complain "$c"
      [[ $err == BLOCKED:*"You tried to: "*"${c%% *}"* ]] || complain "$c"
    done
    # nothing of that happened
    [[ $(inside t-$b 'git symbolic-ref HEAD; tail -n1 a.txt; git log -1 --format=%s') == "refs/heads/garth/t-$b"$'\ny\none-amended' ]]
  done
  untouched
}

@test "J3 git: gc, repack, prune, worktrees, a clone of itself" {
  fingerprint >"$T/before"
  for b in "${backends[@]}"; do
    "$garth" new t-$b --backend $b
    inside t-$b "$native"'set -e
      for i in 1 2 3; do echo $i >>a.txt; git commit -qam $i; done
      git gc -q --prune=now; git repack -q -a -d; git prune; git pack-refs --all; git fsck --strict
      git worktree add -q /tmp/own -b own; cd /tmp/own; echo w >w; git add w; git commit -qm w; git status --porcelain; cd - >/dev/null
      git worktree list | wc -l; git worktree remove /tmp/own; git merge -q own
      git clone -q . /tmp/clone; test "$(git -C /tmp/clone rev-parse HEAD)" = "$(git rev-parse HEAD)"; git -C /tmp/clone fsck --strict
      git archive HEAD | tar -t | grep -q w
      test -z "$(git status --porcelain)"; git log --format=%s | paste -sd,' >"$T/o" 2>&1 || { cat "$T/o"; false; }
    [[ $(tail -n1 "$T/o") == w,3,2,1,first ]] || { cat "$T/o"; false; }
    inside t-$b 'git status && git log && git fsck --strict' >/dev/null
    [[ $("$garth" diff t-$b | grep -c '^+[123w]$') == 4 ]]
  done
  untouched
}

@test "J3 git: the target and the tags are shown, other branches and other tasks are not" {
  git tag v1; git branch secret-branch; git branch other; echo 2 >>a.txt; commit second
  git tag -a -m v2 v2; git update-ref refs/notes/commits HEAD; git update-ref refs/remotes/origin/main HEAD; git stash list
  "$garth" new other-task; inside other-task 'git commit -q --allow-empty -m hidden'
  "$garth" new t
  [[ $("$garth" exec t -- git for-each-ref --format='%(refname)' | paste -sd,) == refs/heads/garth/t,refs/heads/main,refs/tags/v1,refs/tags/v2 ]]
  [[ $(inside t git describe) == v2 ]]
  [[ $(inside t git log --oneline main | wc -l) == 2 ]]
  [[ $(inside t 'git diff v1 v2 --stat' | tail -n1) == *'1 insertion'* ]]
  git branch -m main trunk
  [[ $(inside t git rev-parse main) == "$(git rev-parse trunk)" ]]
}

@test "J3 ESCAPES 13 git: git inside changes its own refs, never the user's" {
  git tag v1; git branch feature
  fingerprint >"$T/before"
  "$garth" new t; "$garth" new other
  inside t "$native"'set -x
    git update-ref refs/heads/main $(git commit-tree -m evil HEAD^{tree}); git branch -f feature; git tag -f v1 main; git tag -d v1
    git branch -D garth/other; git update-ref refs/heads/garth/other main; git notes add -m x; git config core.bare true; git config user.name evil
    git gc --prune=now; git worktree prune; git remote add o '"$R"'; git push o HEAD:main; git fetch o; git -C '"$R"' commit --allow-empty -m x
    git --git-dir='"$R"'/.git update-ref refs/heads/main main' >"$T/o" 2>&1 || true
  untouched
  # the control: its own are changed
  [[ $(inside t 'git log -1 --format=%s main; git rev-parse --verify -q refs/heads/garth/other; git config user.name') == $'evil\n'*$'\nevil' ]] || {
    cat "$T/o"
    false
  }
  [[ $(git rev-parse garth/other) == "$(git rev-parse HEAD)" ]]
  [[ $(git rev-parse garth/t) == "$(git rev-parse HEAD)" ]]
  inside other 'git status && git fsck --strict' >/dev/null
}

# hook NAME [LINE…]: a hook of the user, which leaves its name in its home, and a mark outside if it can.
hook() {
  printf '#!/bin/sh\n{ touch "%s/outside-%s"; } 2>/dev/null\necho %s >>"%s/hooks-ran"\n' "$T" "$1" "$1" "$HOME" >.git/hooks/$1
  printf '%s\n' "${@:2}" >>.git/hooks/$1
  chmod +x .git/hooks/$1
}

@test "J3 git: hooks of the user's repository run inside, and only there" {
  for h in pre-commit commit-msg post-checkout post-index-change post-commit post-rewrite reference-transaction update pre-push; do hook $h; done
  hook prepare-commit-msg; chmod -x .git/hooks/prepare-commit-msg; mv .git/hooks/pre-push .git/hooks/pre-push.sample
  for b in "${backends[@]}"; do
    "$garth" new t-$b --backend $b
    inside t-$b 'echo x >>a.txt; git commit -qam x; git commit -q --amend -m y; /usr/bin/git checkout -q -b y'
    "$garth" snapshot t-$b >/dev/null; "$garth" diff t-$b >/dev/null; "$garth" show t-$b >/dev/null; "$garth" export t-$b "$T/x-$b"
    [[ $(inside t-$b 'sort -u ~/hooks-ran' | paste -sd,) == commit-msg,post-checkout,post-commit,post-index-change,post-rewrite,pre-commit ]] || complain "$(inside t-$b 'cat ~/hooks-ran')"
    [[ $(git log -1 --format=%s garth/t-$b) == y ]]
    "$garth" merge --keep t-$b >/dev/null; "$garth" discard -fD t-$b
  done
  [[ -z $(find "$T" -maxdepth 1 -name 'outside-*') ]] || complain "$(
    ls "$T"
    cat "$HOME/hooks-ran"
  )"
  [[ ! -e $HOME/hooks-ran ]] || complain "$(
    ls "$T"
    cat "$HOME/hooks-ran"
  )"
  # the control: outside they would
  git commit -q --allow-empty -m control
  [[ -e $T/outside-pre-commit ]]
  [[ -s $HOME/hooks-ran ]]
}

@test "J3 git: hooks are found where core.hooksPath says, with the files beside them" {
  # in the checkout, as husky has it: the workspace's own
  mkdir -p tools/'it is'; printf '#!/bin/sh\necho tree >>~/hooks-ran\n' >tools/'it is'/pre-commit; chmod +x tools/'it is'/pre-commit
  git add tools; git commit -qm hooks
  hook pre-commit; hook commit-msg
  git config core.hooksPath "tools/it is"
  "$garth" new t
  inside t 'echo x >>a.txt; git commit -qam x; echo "echo changed >>~/hooks-ran" >>"tools/it is/pre-commit"; git commit -qam y'
  [[ $(inside t 'cat ~/hooks-ran' | paste -sd,) == tree,tree,changed ]] || complain "$(inside t 'cat ~/hooks-ran')"
  [[ $(git log -1 --format=%s garth/t) == y ]] || complain "$(inside t 'cat ~/hooks-ran')"
  git config core.hooksPath "$R/tools/it is"
  "$garth" new v
  [[ $(inside v 'echo x >>a.txt; git commit -qam x; cat ~/hooks-ran') == tree ]]
  # outside the checkout: copied, with its helpers
  mkdir -p "$HOME/my-hooks/lib"; echo 'echo lib >>~/hooks-ran' >"$HOME/my-hooks/lib/one.sh"
  printf '#!/bin/sh\n. "${0%%/*}/lib/one.sh"\n' >"$HOME/my-hooks/pre-commit"; chmod +x "$HOME/my-hooks/pre-commit"
  git config core.hooksPath '~/my-hooks'; git config --global garth.trust "$R"
  "$garth" new u
  [[ $(inside u 'echo x >>a.txt; git commit -qam x; cat ~/hooks-ran') == lib ]]
  [[ $(git log -1 --format=%s garth/u) == x ]]
  # no hooks at all
  git config core.hooksPath /dev/null
  "$garth" new w
  inside w 'echo x >>a.txt; git commit -qam x; [ ! -e ~/hooks-ran ]'
  git config core.hooksPath "$HOME/my-hooks"; truncate -s 100M "$HOME/my-hooks/post-commit"
  fails 1 "post-commit" "$garth" new z
}

@test "G4 git: a hook of the user's repository can refuse a commit inside, an agent's hook harms only the agent" {
  hook pre-commit 'grep -q forbidden a.txt && { echo no such word >&2; exit 1; }' 'exit 0'
  "$garth" new t
  call inside t 'echo forbidden >>a.txt; git commit -qam x'
  [[ $code == 1 ]] || complain
  [[ $err == *'no such word'* ]] || complain
  [[ $(git rev-parse garth/t) == "$(git rev-parse main)" ]] || complain
  [[ $(inside t 'git status --porcelain') == ' M a.txt' || $(inside t 'git status --porcelain') == 'M  a.txt' ]]
  # drafts and the hook belong to the task: it can skip the hook, as outside
  inside t 'git commit -qam x --no-verify'
  [[ $(git show garth/t:a.txt | tail -n1) == forbidden ]]
  inside t 'echo "exit 1" >.git/hooks/pre-commit; echo y >>a.txt; ! git commit -qam y'
  tail -n1 .git/hooks/pre-commit | grep -qx 'exit 0'
}

@test "J3 git: libgit2 opens the workspace, reads status, makes a commit" {
  for b in "${backends[@]}"; do
    "$garth" new t-$b --backend $b
    inside t-$b 'echo x >>a.txt; echo n >new'
    "$garth" exec t-$b -- /usr/bin/python3 - <<'PY'
import os, pygit2
pygit2.option(pygit2.GIT_OPT_SET_OWNER_VALIDATION, 0) if hasattr(pygit2, "GIT_OPT_SET_OWNER_VALIDATION") else None
r = pygit2.Repository(".")
s = r.status()
assert s == {"a.txt": pygit2.GIT_STATUS_WT_MODIFIED, "new": pygit2.GIT_STATUS_WT_NEW}, s
assert r.head.name == "refs/heads/garth/" + os.environ["GARTH_TASK"], r.head.name
assert [c.message for c in r.walk(r.head.target)] == ["first\n"]
r.index.add("a.txt"); r.index.add("new"); r.index.write()
who = pygit2.Signature("lib", "lib@example.com")
r.create_commit("HEAD", who, who, "by libgit2\n", r.index.write_tree(), [r.head.target])
assert r.status() == {}, r.status()
r.create_branch("side", r.head.peel()); assert "main" in r.branches.local
PY
    [[ $(inside t-$b 'git log -1 --format=%s; git status --porcelain; git fsck --strict --no-dangling 2>/dev/null') == 'by libgit2' ]]
  done
  git fsck --strict
}

@test "J3 ESCAPES 27 git: the user rewrites the base branch and prunes: nothing is missing inside" {
  for i in {1..5}; do echo $i >>a.txt; commit $i; done
  git gc -q
  for b in "${backends[@]}"; do "$garth" new t-$b --backend $b; inside t-$b 'echo x >x; git add x; git commit -qm x'; done
  "$garth" run -d -t running -- sleep 1000
  git checkout -q --orphan fresh; git commit -qm fresh; git branch -D -q main; git branch -m main
  git reflog expire --expire=now --all; git gc -q --prune=now; git repack -q -a -d; git prune --expire=now; git worktree prune
  for t in t-overlay t-worktree running; do
    [[ $(inside $t 'git log --oneline | wc -l') -ge 6 ]]
    inside $t "$native"'git fsck --strict; git checkout -q HEAD~3 && git checkout -q - && git status --porcelain && git gc -q && echo y >y && git add y && git commit -qm y' >/dev/null
    "$garth" diff $t | grep -q '^+y'
  done
  "$garth" cancel running
  git fsck --strict
}

@test "J3 ESCAPES 27 git: the user repacks and gcs while git works inside" {
  for i in {1..20}; do echo $i >>a.txt; commit $i; done
  "$garth" new t
  "$garth" exec t -- sh -c 'set -e; for i in $(seq 1 25); do git log -p >/dev/null; git status --porcelain; echo $i >>b; git add b; git commit -qm $i; done; echo fine' >"$T/o" 2>&1 3>&- &
  pid=$!
  for _ in {1..6}; do git repack -q -a -d; git gc -q --prune=now; done
  wait $pid || { cat "$T/o"; false; }
  [[ $(tail -n1 "$T/o") == fine ]] || { cat "$T/o"; false; }
  inside t 'git fsck --strict' 2>/dev/null
  git fsck --strict
}

@test "J3 git: objects from an alternate of the user's repository are borrowed too" {
  git clone -q --shared "$R" "$T/home/shared"; cd "$T/home/shared"
  echo s >s; git add s; git commit -qm s
  for b in overlay worktree; do
    "$garth" new t-$b --backend $b
    [[ $(inside t-$b 'git log --oneline | wc -l; git fsck --strict --no-dangling 2>/dev/null; git show HEAD~1:a.txt') == $'2\none' ]]
  done
}

# with enough files for git to ask the monitor, and with fewer
@test "W4 J3 git: status inside finds every kind of change, the first time and again, with the monitor" { every_change 1000 /run/garth/fsmonitor; }
@test "W4 J3 git: status inside finds every kind of change in a repository too small for the monitor" { every_change 200 ''; }
every_change() {
  mkdir many; (cd many; seq "$1" | split -l 1 -a 4 -d --numeric-suffixes=1 - x; for i in {1..5}; do mv "x000$i" $i; done); commit many
  "$garth" new t
  [[ $(inside t 'git config core.fsmonitor') == "$2" ]]
  for _ in 1 2; do
    inside t 'git status --porcelain; echo x >>many/1; rm many/2; mkdir new; echo n >new/n; mv many/3 many/3b; ln -sf many/4 link; chmod +x a.txt; touch many/5 x.o
      git status --porcelain; git -c core.fsmonitor=false -c core.untrackedCache=false status --porcelain >/tmp/plain; git status --porcelain | diff /tmp/plain - && echo same
      /usr/bin/git stash -q -u; git status --porcelain; git clean -qfdx' >"$T/o"
    [[ $(paste -sd, <"$T/o") == ' M a.txt, M link, M many/1, D many/2, D many/3,?? many/3b,?? new/,same' ]] || { cat "$T/o"; false; }
  done
}
