load helpers

# In both, the same commands have the same outcome.
@test "W2 backends: an agent sees and does the same with every backend" {
  script='
    git status --porcelain; git log --oneline; git branch -a; ls -A | grep -vx .git; cat link; ./run.sh
    echo x >>a.txt; git status --porcelain; git diff --stat; git add -A; git commit -qm one; git status --porcelain
    git mv dir/b.txt moved; rm -r dir/sub; git status --porcelain; git commit -qam two; git log --format=%s
    git checkout -q -b side HEAD~1; cat dir/b.txt; git checkout -q -; git reset -q --hard HEAD~2; git status --porcelain; ls'
  "$garth" new t; inside t "$script" >"$T/overlay"; "$garth" discard -D t
  "$garth" new t --backend worktree; inside t "$script" >"$T/worktree"
  diff <(sed 's/[0-9a-f]\{7\}//g' "$T/overlay") <(sed 's/[0-9a-f]\{7\}//g' "$T/worktree")
  [[ $(wc -l <"$T/overlay") -gt 20 ]]
}

@test "W2 backends: the host's git works in a task's worktree before, during and after the run" {
  "$garth" new t --backend worktree
  w=$("$garth" path t)
  [[ -z $(git -C "$w" status --porcelain) ]]
  [[ $(git -C "$w" rev-parse --abbrev-ref HEAD) == garth/t ]]
  "$garth" run -d -t r --backend worktree -- sh -c 'echo x >>a.txt; echo n >new; touch ready x.o; exec sleep 1000'
  w=$("$garth" path r)
  eventually test -e "$w/ready"
  [[ $(git -C "$w" status --porcelain | paste -sd,) == ' M a.txt,?? new,?? ready' ]]
  git -C "$w" diff | grep -qx '+x'
  [[ $(git -C "$w" log --oneline | wc -l) == 1 ]]
  "$garth" cancel r
  [[ $(git -C "$w" status --porcelain | paste -sd,) == ' M a.txt,?? new,?? ready' ]]
  git worktree list | grep -q "$w"
  git fsck --strict
}

# Gemini CLI runs git like this. With root, the worktree belongs to root, and not to the user inside.
@test "J10 backends: a client that switches git's system settings off commits in a worktree" {
  "$garth" new t --backend worktree
  inside t 'export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null; echo x >>a.txt; git -c user.name=a -c user.email=a commit -qam one'
  [[ $(git log --format=%s -1 garth/t) == one ]]
  # with other settings instead; and a program that does not use the shim, or none of git's programs
  inside t 'export GIT_CONFIG_SYSTEM=/dev/null; echo y >>a.txt; git -c user.name=a -c user.email=a commit -qam two'
  [[ $(git log --format=%s -1 garth/t) == two ]]
  "$garth" new c --backend clone
  for t in t c; do
    inside $t 'echo z >>a.txt; GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null /usr/bin/git -c user.name=a -c user.email=a commit -qam three'
    [[ $(git log --format=%s -1 garth/$t) == three ]]
    [[ $(inside $t '/usr/bin/python3 -c "import pygit2; print(pygit2.Repository(\".\").head.shorthand)"') == garth/$t ]]
  done
}

@test "W2 backends: what the user's git does in the worktree is seen inside" {
  "$garth" new t --backend worktree
  w=$("$garth" path t)
  echo from-host >"$w/host.txt"
  [[ $(inside t 'cat host.txt; git status --porcelain') == $'from-host\n?? host.txt' ]]
  "$garth" diff t | grep -q '+from-host'
}

@test "W2 backends: a worktree is locked against the user's prune while the task lives" {
  "$garth" new t --backend worktree
  git worktree prune --expire=now
  git worktree list --porcelain | grep -q '^locked'
  [[ $(inside t git status --porcelain) == "" ]]
}

@test "ESCAPES 7 8 backends: an agent cannot replace .git" {
  for b in "${backends[@]}"; do
    "$garth" new t-$b --backend $b
    call inside t-$b 'rm -rf .git; mv .git other; echo "gitdir: /tmp" >.git; ls -d .git'
    "$garth" diff t-$b >/dev/null 2>&1 || true
    [[ -z $(git status --porcelain) ]]
    git fsck --strict
  done
  [[ $(git -C "$("$garth" path t-worktree)" rev-parse HEAD) == "$(git rev-parse HEAD)" ]]
}

@test "J7 backends: --strict-isolation with overlay and worktree" {
  for b in "${backends[@]}"; do
    "$garth" run --strict-isolation --backend $b -t t-$b -- sh -c 'echo x >x; git add x; git commit -qm x; git fsck --strict; git log --oneline | wc -l' >"$T/o" 2>/dev/null
    [[ $(<"$T/o") == 2 ]]
    "$garth" diff t-$b | grep -q '+x'
    # what is published is on the branch in the user's repository; the rest is a draft
    fails 4 "1 commit on garth/t-$b that is not in main" "$garth" discard -f t-$b
    inside t-$b 'echo y >y; git add y; GARTH_GATEWAY=1 git commit -qm y'
    git merge -q garth/t-$b
    fails 4 "drafts" "$garth" discard -f t-$b
    "$garth" discard -fD t-$b
    git reset -q --hard HEAD~1
  done
}

@test "W2 backends: file modes, an umask of 077, and a repository that others cannot read" {
  (umask 077; mkdir "$T/home/closed"; cd "$T/home/closed"; git init -q; echo c >c; printf '#!/bin/sh\necho s\n' >s; chmod +x s; git add -A; git commit -qm c)
  cd "$T/home/closed"
  for b in "${backends[@]}"; do
    (umask 077; "$garth" new "t-$b" --backend $b)
    [[ $(inside t-$b './s; cat c; git status --porcelain; git log --oneline | wc -l; stat -c %a c s') == $'s\nc\n1\n644\n755' ]] || { inside t-$b 'ls -la'; false; }
    if is_root; then
      # root never unpacks what an agent sends: the commit is refused, and nothing is lost
      head=$(git rev-parse HEAD)
      call inside t-$b 'echo x >x; git add x; git commit -qm x'
      [[ $code != 0 ]] || complain
      [[ $err == *"BLOCKED: '$PWD/.git/objects' can be read by root alone"* ]] || complain
      [[ $(inside t-$b 'git rev-parse HEAD; git status --porcelain; cat x') == "$head"$'\nA  x\nx' ]]
      [[ $(git rev-parse garth/t-$b) == "$head" ]]
      [[ $(git for-each-ref | grep -cv ' commit') == 0 ]]
      # it can be a draft, about which discard asks; it is not published
      inside t-$b 'GARTH_GATEWAY=1 git commit -qm x; test -z "$(git status --porcelain)"'
      fails 4 "drafts" "$garth" discard t-$b
      call "$garth" publish t-$b
      [[ $code != 0 ]] || complain
      [[ $err == *'can be read by root alone'* ]] || complain
      [[ $(git rev-parse garth/t-$b) == "$head" ]] || complain
      [[ $(inside t-$b 'git show HEAD:x') == x ]]
    else
      inside t-$b 'echo x >x; git add x; git commit -qm x'
      [[ $(git show garth/t-$b:x) == x ]]
    fi
  done
  # control: the same with the same repository if others can read it
  chmod -R a+rX "$PWD"; chmod a+rx "$T" "$HOME"
  "$garth" new open; inside open 'echo x >x; git add x; git commit -qm x'
  [[ $(git show garth/open:x) == x ]]
  git fsck --strict
}
