load helpers

# What must hold, whatever happened.
whole() {
  git fsck --strict --no-dangling >"$T/fsck" 2>&1 || complain "fsck: $(<"$T/fsck")"
  ! grep -qE 'error|missing|broken|corrupt' "$T/fsck" || complain "fsck: $(<"$T/fsck")"
  "$garth" audit --verify >/dev/null || complain "audit"
}

# The same, and the quarantine is empty: what a dead gateway left there is removed by the next one.
sound() {
  whole
  [[ -z $(find .git/objects -maxdepth 1 -name 'garth-*' -exec find {} -type f \;) ]] || complain "quarantine: $(find .git/objects/garth-*)"
  [[ -z $(find .git -name '*.lock') ]] || complain "locks: $(find .git -name '*.lock')"
}

# No gateway runs any more, so even the empty quarantine is gone.
settled() { [[ -z $(find .git/objects -maxdepth 1 -name 'garth-*') ]]; }

tip() { git rev-parse "refs/heads/garth/${1:-t}"; }

# publishes SCRIPT: runs it in task t; then the branch outside is at the commit of HEAD inside.
publishes() {
  local head
  head=$(inside t "$1"' && git rev-parse HEAD' 2>"$T/err" | tail -n 1) || complain "$(<"$T/err")" || return
  [[ $(tip) == "$head" ]] || complain "not published: $1: $(tip) is not $head" "$(<"$T/err")"
}

# plain SCRIPT: the control, the same in a clone without Garth.
plain() {
  rm -rf "$T/plain"
  git clone -q "$R" "$T/plain"
  (cd "$T/plain" && sh -ec "$1") >"$T/control" 2>&1 || complain "the control failed: $1" "$(<"$T/control")"
}

# refused_as REASON: the newest refusal in the audit log has that code.
refused_as() {
  [[ $("$garth" audit t --json | json '[e["code"] for e in d["events"] if e["event"] == "refused"][-1]') == "$1" ]] ||
    complain "not recorded as $1: $("$garth" audit t | tail -n 3)"
}

# blocked REASON SCRIPT: it works in a plain clone; in the task it is refused by the gateway for that reason, in the
# form that agents know; the change, HEAD and the shared repository stay as they were.
blocked() {
  local before head
  plain "$2" || return
  before=$(git for-each-ref; git count-objects) head=$(inside t 'git rev-parse HEAD')
  call inside t "exec 2>&1; if ($2); then echo 'IT WORKED'; exit 1; fi"'
    git rev-parse HEAD; echo "changed:"; git status --porcelain'
  [[ $out == *'BLOCKED: '*'You tried to: '*'Instead, you should: '* ]] || complain "not told: $2" || return
  [[ $out != *'IT WORKED'* ]] || complain "not refused: $2" || return
  [[ $out == *"$head"*'changed:'* ]] || complain "HEAD moved: $2" || return
  [[ -n ${out##*changed:} ]] || complain "nothing is changed any more: $2" || return
  # what was staged by hand stays staged; with -a it was not
  [[ $2 == *-qam* || ${out##*changed:} =~ $'\n'[AMDR] ]] || complain "nothing is staged any more: $2" || return
  [[ $(git for-each-ref; git count-objects) == "$before" ]] || complain "the shared repository changed: $2" || return
  refused_as "$1" && inside t 'git reset -q --hard && git clean -ffdq'
}

# draft_refused CODE SCRIPT: commits that the gateway was not asked about ($git) are refused when it is.
draft_refused() {
  local before
  plain "git=git; $2" || return
  before=$(git for-each-ref; git count-objects)
  inside t "git='env GARTH_GATEWAY=1 /usr/bin/git'; set -e; $2"
  call "$garth" publish t
  [[ $code == 4 && $(git for-each-ref; git count-objects) == "$before" ]] || complain "not refused: $2" || return
  refused_as "$1" && inside t "GARTH_GATEWAY=1 /usr/bin/git reset -q --hard $(tip) && git clean -ffdq"
}


@test "G1 G4 gateway: what git does to the branch inside is published at once, whichever git does it" {
  "$garth" new t
  publishes 'echo 1 >>a.txt; git commit -qam shim'
  publishes 'echo 2 >>a.txt; /usr/bin/git commit -qam real'
  publishes 'echo 3 >>a.txt; cd /; git -C "$GARTH_WORKSPACE" commit -qam away; cd "$GARTH_WORKSPACE"'
  publishes 'echo 4 >>a.txt; git add a.txt; cd dir; git commit -qm below'
  publishes 'git commit -q --amend -m amended'
  publishes 'git commit -q --allow-empty -m empty'
  publishes '/usr/bin/git switch -qc side HEAD~2; echo s >side.txt; git add side.txt; git commit -qm side; /usr/bin/git switch -q garth/t; git merge -q --no-edit side'
  [[ $(git rev-list --count --merges garth/t) == 1 ]]
  publishes '/usr/bin/git switch -qc pick HEAD~1; echo p >pick.txt; git add pick.txt; git commit -qm pick; /usr/bin/git switch -q garth/t; git cherry-pick pick'
  publishes 'git revert --no-edit HEAD'
  publishes 'printf "tree %s\nparent %s\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nby hand\n" $(git rev-parse HEAD^{tree} HEAD) >/tmp/c
    /usr/bin/git update-ref refs/heads/garth/t $(git hash-object -t commit -w /tmp/c)'
  [[ $(git log -1 --format=%s garth/t) == "by hand" ]]
  old=$(tip)
  publishes 'git reset -q --hard HEAD~2'
  [[ $(tip) == $(git rev-parse "$old~2") ]]
  # what was there before is kept, as a snapshot
  kept_for t | grep -qx "$old"
  "$garth" show t --json | json '[s["reason"] for s in d["snapshots"]]' | grep -q rewrite
  [[ $(git rev-parse main) == $(git rev-parse HEAD) ]]
  [[ -z $(git status --porcelain) ]]
  sound
  [[ $("$garth" audit t --json | json 'len([e for e in d["events"] if e["event"] == "publish"])') == 11 ]]
}

@test "G1 G4 gateway: git's own flags, editors and hooks inside keep their meaning" {
  "$garth" new t
  publishes 'echo 1 >>a.txt; printf "subject\n\nbody\n" | git commit -q -a -F -'
  [[ $(git log -1 --format=%B garth/t) == $'subject\n\nbody' ]]
  publishes 'echo 2 >>a.txt; GIT_EDITOR="sh -c '\''echo edited >\$1'\'' -" git commit -a'
  [[ $(git log -1 --format=%s garth/t) == edited ]]
  publishes 'echo 3 >>a.txt; git commit -q -a -m x --author "An Agent <agent@example.com>" --date 2020-01-02T03:04:05Z'
  [[ $(git log -1 --format='%an|%aI' garth/t) == 'An Agent|2020-01-02T03:04:05+00:00' ]]
  old=$(tip)
  call inside t 'printf "#!/bin/sh\nexit 7\n" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo 4 >>a.txt; git commit -qam no'
  [[ $code == 1 ]] || complain
  [[ $(tip) == "$old" ]] || complain
  publishes 'git commit -q --no-verify -am yes'
  call inside t 'git commit --no-verify -am nothing'
  [[ $code == 1 ]] || complain
  [[ $out == *'nothing to commit'* ]] || complain
  sound
}

@test "G1 gateway: drafts of a git library are published when the task ends, or on request" {
  library='import pygit2, os
r = pygit2.Repository(os.environ["GARTH_WORKSPACE"])
open("lib.txt", "a").write("x\n")
r.index.add("lib.txt"); r.index.write()
s = pygit2.Signature("Lib", "lib@example.com")
print(r.create_commit("HEAD", s, s, "by a library", r.index.write_tree(), [r.head.target]))'
  call "$garth" run -t t -- "$python" -c "$library"
  [[ $code == 0 ]] || complain
  [[ $(tip) == "$out" ]] || complain
  [[ $(git show garth/t:lib.txt) == x ]] || complain
  [[ $(state_of t) == done ]] || complain
  [[ $("$garth" audit t --json | json '[e["by"] for e in d["events"] if e["event"] == "publish"]') == '["end"]' ]]
  "$garth" new u
  head=$("$garth" exec u -- "$python" -c "$library")
  [[ $(tip u) != "$head" ]]
  call "$garth" publish u --json
  [[ $code == 0 ]] || complain
  [[ $(json '[d["tip"], d["new_commits"]]' <<<"$out") == "[\"$head\", 1]" ]] || complain
  [[ $(tip u) == "$head" ]] || complain
  call "$garth" publish u --json
  [[ $code == 0 ]] || complain
  [[ $(json 'd["new_commits"]' <<<"$out") == 0 ]] || complain
  sound
}

@test "G5 J4 gateway: a protected path is not published, however it is staged, until the user allows it" {
  mkdir -p .github/workflows .claude; echo w >.github/workflows/ci.yml; echo '* @me' >CODEOWNERS; echo plain >plain.yml; commit
  "$garth" new t
  blocked protected_path 'echo x >>.github/workflows/ci.yml; git commit -qam x'
  blocked protected_path 'echo x >.github/workflows/new.yml; git add -A; git commit -qm x'
  blocked protected_path 'git rm -q CODEOWNERS; git commit -qm x'
  blocked protected_path 'mkdir -p docs; git mv CODEOWNERS docs/CODEOWNERS; git commit -qm x'
  blocked protected_path 'git mv plain.yml .github/workflows/plain.yml; git commit -qm x'
  blocked protected_path 'mkdir -p .claude; echo {} >.claude/settings.json; git add -Af .claude; git commit -qm x'
  blocked protected_path 'mkdir -p sub; printf "*.x filter=lfs\n" >sub/.gitattributes; git add -A; git commit -qm x'
  # with plumbing commands, without a file; and with the real git
  blocked protected_path 'git update-index --add --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),.github/workflows/evil.yml; git commit -qm x'
  blocked protected_path 'echo x >>CODEOWNERS; /usr/bin/git commit -qam x'
  blocked protected_path 'printf evil >e; git update-index --add --cacheinfo 100644,$(git hash-object -w e),.GitHub/WorkFlows/e.yml; rm e; git commit -qm x'
  # hidden in the middle: added in one commit and removed in the next, it is still in the history; made one commit, it is not
  before=$(tip)
  call inside t 'echo x >>CODEOWNERS; GARTH_GATEWAY=1 /usr/bin/git commit -qam one; git checkout -q HEAD~1 CODEOWNERS; echo y >>a.txt; git commit -qam two'
  [[ $code != 0 ]] || complain
  [[ $err == *"'CODEOWNERS' is protected, in a commit before the last"*"git reset --soft"* ]] || complain
  [[ $(tip) == "$before" ]] || complain
  publishes 'GARTH_GATEWAY=1 /usr/bin/git reset -q --soft HEAD~1; git checkout -q HEAD~0 CODEOWNERS; git commit -qam two'
  # the user allows it
  "$garth" allow t .github/workflows/ci.yml
  publishes 'echo x >>.github/workflows/ci.yml; git commit -qam allowed'
  [[ $(git show garth/t:.github/workflows/ci.yml) == $'w\nx' ]]
  blocked protected_path 'echo x >.github/workflows/new.yml; git add -A; git commit -qm x'
  configure <<<'policy: {allow: [CODEOWNERS], protected: ["secret/**"]}'
  publishes 'echo x >>CODEOWNERS; git commit -qam "allowed by the configuration"'
  blocked protected_path 'mkdir -p secret; echo x >secret/x; git add -A; git commit -qm x'
  sound
}

@test "G5 J8 gateway: sizes and counts have limits" {
  # the task runs already: inside, the kernel's limit for a file is still the old one
  "$garth" run -q -d --task t -- sleep 300 >/dev/null
  configure <<<'limits: {max_file_size: 100KB, max_files: 5, max_commits: 4, max_worktree_size: 1MB}'
  blocked file_too_large 'head -c 200000 /dev/urandom >big; git add -A; git commit -qm x'
  blocked file_too_large 'head -c 200000 /dev/zero >big; git add -A; git commit -qm x'
  blocked too_many_files 'for i in 1 2 3 4 5 6; do echo $i >f$i; done; git add -A; git commit -qm x'
  # a large file that a later commit removes is still in the history
  draft_refused file_too_large 'head -c 200000 /dev/urandom >big; git add -A; $git commit -qm x; git rm -q big; $git commit -qm y'
  # many small ones, each removed by the next commit
  draft_refused too_large 'for i in 1 2 3; do for j in 1 2 3 4; do head -c 90000 /dev/urandom >f$j; done; git add -A; $git commit -qm $i; done; git rm -q "f*"; $git commit -qm y'
  draft_refused too_many_commits 'for i in 1 2 3 4 5; do echo $i >>a.txt; $git commit -qam $i; done'
  for i in 1 2 3 4; do publishes "echo $i >>a.txt; git commit -qam $i"; done
  blocked too_many_commits 'echo 5 >>a.txt; git commit -qam 5'
  sound
}

@test "G5 gateway: gitlinks, links that leave the tree, odd modes, forged trees" {
  "$garth" new t
  blocked gitlink 'git init -q nested; git -C nested -c user.name=a -c user.email=b commit -q --allow-empty -m x; git add nested 2>/dev/null; git commit -qm x'
  blocked gitlink 'git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm x'
  for target in /etc/passwd ../../outside dir/../../../x .git/config dir/../.GIT; do
    blocked link_leaves "mkdir -p l; ln -s $target l/bad; git add -A; git commit -qm x" || complain "$target"
  done
  publishes 'ln -s ../a.txt dir/good; ln -s dir/b.txt fine; git add -A; git commit -qm links'
  # a mode that git inside accepts if told not to check
  draft_refused odd_mode 'tree=$(printf "100600 f\0\346\235\342\233\262\321\326CK\213)\256wZ\330\302\344\214S\221" | git hash-object -t tree -w --stdin --literally); git hash-object -w --stdin </dev/null >/dev/null
    $git update-ref HEAD $(git commit-tree -p HEAD -m x $tree); $git reset -q --hard'
  sound
}

@test "G5 gateway: rewriting refused by the configuration" {
  configure <<<'policy: {rewrite: refuse}'
  "$garth" new t
  publishes 'echo 1 >>a.txt; git commit -qam 1'; publishes 'echo 2 >>a.txt; git commit -qam 2'
  old=$(tip)
  for deed in 'git commit -q --amend -m other' 'git reset -q --hard HEAD~1' 'GIT_COMMITTER_DATE=2001-01-01T00:00:00Z /usr/bin/git rebase -q --force-rebase HEAD~2'; do
    call inside t "$deed"
    [[ $code != 0 ]] || complain "$deed"
    [[ $err == *'BLOCKED: '*'You tried to: rewrite'*'Instead, you should: '* ]] || complain "$deed"
    [[ $(tip) == "$old" ]] || complain "$deed"
    inside t "/usr/bin/git rebase --abort 2>/dev/null; GARTH_GATEWAY=1 /usr/bin/git reset -q --hard $old"
  done
  publishes 'git revert --no-edit HEAD'
  sound
}

@test "G5 gateway: the identity is the user's if the configuration says so, with the task in a trailer" {
  configure <<<'policy: {identity: forced}'
  "$garth" new t
  publishes 'echo 1 >>a.txt; git commit -qam "as it is"'
  [[ $(git log -1 --format='%an <%ae>|%cn|%(trailers:key=Garth-Task,valueonly)' garth/t) == 'Test User <test@example.com>|Test User|t'* ]] ||
    complain "$(git log -1 --format=fuller garth/t)"
  before=$(tip)
  for deed in 'git commit -qam x --author "Somebody Else <else@example.com>"' 'GIT_COMMITTER_NAME=Else git commit -qam x' \
    '/usr/bin/git -c user.name=Else commit -qam x' '/usr/bin/git commit -qam "no trailer"'; do
    call inside t "echo 2 >>a.txt; $deed"
    [[ $code != 0 ]] || complain "$deed"
    [[ $err == *'BLOCKED: '* ]] || complain "$deed"
    [[ $(tip) == "$before" ]] || complain "$deed"
  done
  publishes '/usr/bin/git commit -qam "my own trailer" -m "Garth-Task: t"'
  configure <<<'policy: {identity: forced, author: "Bot <bot@example.com>"}'
  publishes 'echo 3 >>a.txt; git commit -qam bot'
  [[ $(git log -1 --format='%an <%ae>|%cn <%ce>' garth/t) == 'Bot <bot@example.com>|Bot <bot@example.com>' ]] || complain "$(git log -1 --format=fuller garth/t)"
  publishes 'echo 4 >>a.txt; git add a.txt; curl -sf --unix-socket "$GARTH_SOCKET" -d "{\"message\": \"asked\"}" http://g/api/v1/git/commit'
  [[ $(git log -1 --format='%an <%ae>|%cn <%ce>|%s' garth/t) == 'Bot <bot@example.com>|Bot <bot@example.com>|asked' ]] || complain "$(git log -1 --format=fuller garth/t)"
  sound
}

@test "G8 ESCAPES 25 gateway: twenty tasks publish five commits each at once: nothing is lost" {
  for i in {1..20}; do "$garth" new -q "t$i" >/dev/null 2>"$T/out.$i" & ((i % 4)) || wait; done; wait
  [[ -z $(cat "$T"/out.*) ]] || complain "$(cat "$T"/out.*)"
  for i in {1..20}; do
    inside "t$i" "for c in 1 2 3 4 5; do echo $i \$c >>a.txt; echo $i >f$i-\$c; git add -A; git commit -qm \"$i \$c\" || exit 1; done" >"$T/out.$i" 2>&1 3>&- &
    pids[i]=$!
  done
  for i in {1..20}; do wait "${pids[i]}" || complain "task $i: $(<"$T/out.$i")"; done
  for i in {1..20}; do
    [[ $(git log --format=%s "main..garth/t$i" | sort | tr '\n' ,) == "$i 1,$i 2,$i 3,$i 4,$i 5," ]] || complain "$(git log --format=%s "main..garth/t$i")"
    [[ $(git ls-tree --name-only "garth/t$i" | grep -c "^f") == 5 ]] || complain "t$i"
    [[ $(field "t$i" published) == $(tip "t$i") ]] || complain "t$i"
    [[ $(field "t$i" commits) == 5 ]] || complain "t$i"
  done
  sound
  eventually settled
  [[ $("$garth" audit --json | json 'len([e for e in d["events"] if e["event"] == "publish"])') == 100 ]]
}

@test "G8 ESCAPES 25 gateway: many commits at once in one task: each is published or refused, none is lost" {
  "$garth" new t
  # all of them have the same parent, and each tries to move the branch: git accepts one at a time
  inside t 'base=$(git rev-parse HEAD); for i in 1 2 3 4 5 6 7 8; do (
      c=$(git commit-tree -p $base -m $i $(git rev-parse HEAD^{tree})); if /usr/bin/git update-ref refs/heads/garth/t $c $base 2>/tmp/e$i; then echo $c >/tmp/won.$i; fi) & done; wait'
  [[ $(inside t 'cat /tmp/won.* | wc -l') == 1 ]] || complain "$(
    inside t 'cat /tmp/won.*; git rev-parse HEAD; cat /tmp/e*'
    tip
  )"
  [[ $(tip) == $(inside t 'cat /tmp/won.*') ]] || complain "$(
    inside t 'cat /tmp/won.*; git rev-parse HEAD; cat /tmp/e*'
    tip
  )"
  publishes 'echo 1 >>a.txt; git commit -qam 1'
  sound
}

# A gateway that dies at a step, in builds that can: the commit stays a draft. In others the variable means nothing.
dies_at() {
  eventually not keeper_of t
  call env GARTH_FAULT="$1" "$garth" exec t -- sh -c "$2"
  [[ $code == 0 ]] || complain "$1"
  if has_faults; then [[ $err == *'does not answer'* ]] || complain "did not die at $1"; else [[ -z $err ]] || complain "GARTH_FAULT has a meaning"; fi
}

@test "ESCAPES 23 gateway: killed at each step of publishing: clean, nothing lost, the next commit works" {
  "$garth" new t
  publishes 'echo 0 >>a.txt; git commit -qam 0'
  for step in publish-taken publish-checked publish-recorded audit-written publish-kept publish-moved publish-stored; do
    old=$(tip)
    dies_at $step "echo $step >>a.txt; git commit -qam $step"
    whole || complain "$step"
    if has_faults; then
      # before the move the branch is unchanged; after it, it is published
      case $step in
      publish-moved | publish-stored)
        [[ $(git log -1 --format=%s garth/t) == "$step" ]] || complain "$step"
        [[ $(git rev-parse garth/t^) == "$old" ]] || complain "$step"
        ;;
      *) [[ $(tip) == "$old" ]] || complain "$step" ;;
      esac
    fi
    "$garth" ls >/dev/null; "$garth" show t >/dev/null
    # the draft is published with the next commit, or was already
    publishes "echo again >>a.txt; git commit -qam 'again $step'"
    [[ $(git log -2 --format=%s garth/t) == "again $step"$'\n'"$step" ]] || complain "$step: $(git log --oneline garth/t)"
    [[ $(git rev-parse garth/t~2) == "$old" ]] || complain "$step: $(git log --oneline garth/t)"
    [[ $(field t published) == $(tip) ]] || complain "$step: $(field t commits)"
    [[ $(field t commits) == $(git rev-list --count main..garth/t) ]] || complain "$step: $(field t commits)"
    # what was published counts towards the limit once, whoever wrote it to the store
    [[ $(sqlite3 "$GARTH_HOME/garth.db" "select bytes from task where name = 't'") == $(git rev-list --objects --no-object-names main..garth/t |
      git cat-file --batch-check='%(objectsize)' | awk '{ n += $1 } END { print n }') ]] || complain "$step: bytes"
    sound || complain "$step"
  done
  eventually settled
  call "$garth" doctor --repair
  [[ $code == 0 ]] || complain
}

@test "ESCAPES 23 gateway: killed while it rewrites: the old tip is kept, whatever the store says" {
  "$garth" new t
  for step in publish-kept publish-moved publish-stored; do
    publishes "echo $step >>a.txt; git commit -qam $step"
    old=$(tip)
    dies_at $step "git commit -q --amend -m 'other $step'"
    whole || complain "$step"
    publishes "echo again >>a.txt; git commit -qam again"
    git for-each-ref --contains "$old" | grep -q . || complain "$step: $old is not kept: $(git for-each-ref)"
    # each snapshot is kept, except the first, which is the base; and everything that is kept has its row
    diff <("$garth" show t --json | json '"\n".join(s["tip"] for s in d["snapshots"] if s["snapshot"] > 1)' | sort) <(kept_for t | sort) || complain "$step"
    sound || complain "$step"
  done
}

@test "ESCAPES 23 gateway: killed while a task ends: the drafts are kept, and published on request" {
  for step in publish-taken publish-kept publish-moved; do
    call env GARTH_FAULT=$step "$garth" run -t t -- sh -c 'echo 1 >>a.txt; GARTH_GATEWAY=1 /usr/bin/git commit -qam draft; git rev-parse HEAD'
    head=$out
    [[ $head == "$(inside t 'git rev-parse HEAD')" ]] || complain "$step"
    [[ -z $(inside t 'git status --porcelain') ]] || complain "$step"
    if has_faults; then
      [[ $code == 1 ]] || complain "$step: $("$garth" show t)"
      [[ $("$garth" show t --json) == *'gateway died'* ]] || complain "$step: $("$garth" show t)"
    else
      [[ $code == 0 ]] || complain "GARTH_FAULT has a meaning"
      [[ $(tip) == "$head" ]] || complain "GARTH_FAULT has a meaning"
    fi
    whole
    "$garth" publish t
    [[ $(tip) == "$head" ]] || complain "$step"
    [[ $(field t published) == "$head" ]] || complain "$step"
    "$garth" discard -D t
    sound && settled || complain "$step"
  done
}

@test "ESCAPES 24 gateway: a full disk while publishing: refused, clean, and it works when there is space" {
  export -f inside tip sound whole complain publishes eventually settled json not; export garth T R python
  on_small 16 '
    set -eE; trap "echo failed: \$BASH_COMMAND" ERR
    cp -a "$R" "$T/small/app"; R=$T/small/app; cd "$R"
    "$garth" new t
    publishes "echo 1 >>a.txt; git commit -qam 1"
    old=$(tip)
    head -c 100M /dev/zero >fill 2>/dev/null || true
    not inside t "head -c 3000000 /dev/urandom >big; git add big; git commit -qm big" >"$T/out" 2>&1
    grep -q "BLOCKED: " "$T/out"
    not grep -q "IT WORKED" "$T/out"
    [[ $(tip) == "$old" && $(inside t "git diff --cached --name-only; git log -1 --format=%s") == $'"'big\n1'"' ]]
    rm fill
    sound
    publishes "git commit -qm big"
    [[ $(git cat-file -s garth/t:big) == 3000000 ]]
    sound' || complain "$(<"$T/out")"
  # the same with the store and the log on it: what cannot be recorded is not done
  on_small 20 '
    set -eE; trap "echo failed: \$BASH_COMMAND" ERR
    export GARTH_HOME=$T/small/garth
    "$garth" new u
    inside u "echo 1 >>a.txt; git commit -qam 1"
    old=$(tip u)
    head -c 100M /dev/zero >"$T/small/fill" 2>/dev/null || true
    not inside u "git commit -q --allow-empty -m full" >"$T/out" 2>&1
    [[ $(tip u) == "$old" ]]
    rm "$T/small/fill"
    "$garth" audit --verify
    inside u "git commit -q --allow-empty -m again"
    [[ $(git log -1 --format=%s garth/u) == again ]]
    git fsck --strict; "$garth" audit --verify' || complain "$(<"$T/out")"
}

@test "W2 gateway: in a worktree the host's git sees what was published" {
  "$garth" new t --backend worktree
  publishes 'echo 1 >>a.txt; echo n >n.txt; git add -A; git commit -qm 1; git rm -q dir/b.txt; git mv a.txt z.txt; git commit -qm 2'
  [[ -z $(git -C "$GARTH_HOME/worktrees/t" status --porcelain) ]] || complain "$(git -C "$GARTH_HOME/worktrees/t" status)"
  [[ $(git -C "$GARTH_HOME/worktrees/t" rev-parse HEAD) == $(tip) ]] || complain "$(git -C "$GARTH_HOME/worktrees/t" status)"
  inside t 'echo 2 >>n.txt; echo u >untracked'
  [[ $(git -C "$GARTH_HOME/worktrees/t" status --porcelain) == $' M n.txt\n?? untracked' ]]
  sound
}

@test "G1 gateway: a branch that the user moved or removed outside is not overwritten" {
  "$garth" new t
  publishes 'echo 1 >>a.txt; git commit -qam 1'
  theirs=$(git commit-tree -p garth/t -m "the user's" 'garth/t^{tree}')
  git update-ref refs/heads/garth/t "$theirs"
  call inside t 'echo 2 >>a.txt; git commit -qam 2'
  [[ $code != 0 ]] || complain
  [[ $err == *"BLOCKED: "*"was moved outside, to $theirs"* ]] || complain
  [[ $(tip) == "$theirs" ]] || complain
  # after merging what was done outside, publishing works again
  inside t "git stash -q 2>/dev/null || git commit -qm 2 2>/dev/null; git reset -q; git merge -q $theirs && git commit -qam 2"
  git merge-base --is-ancestor "$theirs" garth/t; [[ $(git log -1 --format=%s garth/t) == 2 ]]
  # a gateway that runs does not know about it
  "$garth" new r
  inside r 'touch /tmp/w; (while test -e /tmp/w; do sleep 0.1; done) & echo 1 >>a.txt; git commit -qam 1; echo made >&2; until test -e /tmp/go; do sleep 0.05; done; echo 2 >>a.txt; git commit -qam 2; code=$?; rm /tmp/w; exit $code' >"$T/o" 2>&1 3>&- &
  pid=$!
  eventually grep -q made "$T/o"
  theirs=$(git commit-tree -p garth/r -m "the user's" 'garth/r^{tree}')
  git update-ref refs/heads/garth/r "$theirs"
  inside r 'touch /tmp/go'
  code=0; wait $pid || code=$?
  git for-each-ref --contains "$theirs" | grep -q . || complain "the user's commit is lost"
  git update-ref -d refs/heads/garth/t
  call inside t 'echo 3 >>a.txt; git commit -qam 3'
  [[ $code != 0 ]] || complain
  [[ $err == *'BLOCKED: '*'removed outside'* ]] || complain
}

@test "ESCAPES 26 G8 gateway: two Garth homes on one repository do not disturb each other" {
  for home in one two; do
    GARTH_HOME=$T/$home "$garth" new t-$home
    GARTH_HOME=$T/$home inside t-$home 'for i in $(seq 12); do git commit -q --allow-empty -m $i || exit 1; done'
    [[ $(git log -1 --format=%s garth/t-$home) == 12 ]]
  done
  [[ $(git for-each-ref refs/garth | wc -l) == 4 ]]
  for home in one two; do GARTH_HOME=$T/$home "$garth" discard -D t-$home; done
}

# Starting one costs more than a commit.
@test "G1 gateway: one gateway process serves a command to its end, and does not outlive it" {
  "$garth" new t
  "$garth" exec t -- sh -c 'for i in 1 2 3; do git commit -q --allow-empty -m $i; sleep 0.5; done' 3>&- & pid=$!
  for i in $(seq 40); do
    keeper=$(keeper_of t 2>/dev/null) && pgrep -P "$keeper" -x garth-gateway >>"$T/seen" || true
    kill -0 $pid 2>/dev/null || break
    sleep 0.1
  done
  wait $pid
  [[ $(sort -u "$T/seen" | wc -l) == 1 ]] || complain "$(sort "$T/seen" | uniq -c)"
  [[ $(git log -1 --format=%s garth/t) == 3 ]] || complain "$(sort "$T/seen" | uniq -c)"
  SECONDS=0
  "$garth" snapshot t >/dev/null
  "$garth" discard -D t
  ((SECONDS < 60))
}

@test "G1 gateway: after a command has returned, nothing works in the repository for it" {
  "$garth" new t
  for i in 1 2 3 4 5; do
    inside t "echo $i >>x; git add x; git commit -qm x"
    [[ -z $(compgen -G '.git/objects/garth-*') ]]
  done
  # even if a background process still holds it open
  SECONDS=0
  inside t 'git commit -q --allow-empty -m y
    python3 -c "import os, socket, time
s = socket.socket(socket.AF_UNIX); s.connect(os.environ[\"GARTH_SOCKET\"]); s.send(b\"GET /\"); open(\"/tmp/connected\", \"w\"); time.sleep(100)" >/dev/null 2>&1 &
    until test -e /tmp/connected; do sleep 0.1; done'
  ((SECONDS < 60))
}

@test "ESCAPES 27 gateway: objects that somebody pruned are published again, with the next commit or on request" {
  "$garth" new t
  inside t 'echo 1 >>a.txt; git commit -qam 1; echo 2 >>a.txt; git commit -qam 2'
  lose() { for o in $(git rev-list --objects --no-object-names main..garth/t); do rm -f ".git/objects/${o::2}/${o:2}"; done; ! git cat-file -e garth/t 2>/dev/null; }
  lose
  "$garth" publish t; git fsck --strict; [[ $(git log --format=%s main..garth/t | tr '\n' ,) == 2,1, ]]
  lose
  inside t 'echo 3 >>a.txt; git commit -qam 3'
  git fsck --strict
  [[ $(git log --format=%s main..garth/t | tr '\n' ,) == 3,2,1, ]] || complain "$(field t commits)"
  [[ $(field t commits) == 3 ]] || complain "$(field t commits)"
}

@test "J10 gateway: object files that git does not read may be unreadable to others" {
  git repack -adq
  pack=$(ls .git/objects/pack/*.pack)
  for end in promisor keep; do echo >"${pack%.pack}.$end"; chmod 600 "${pack%.pack}.$end"; done
  echo >.git/objects/pack/tmp_pack_x; echo >.git/objects/stray; mkdir .git/objects/incoming-x; chmod 600 .git/objects/pack/tmp_pack_x .git/objects/stray; chmod 700 .git/objects/incoming-x
  "$garth" new t
  [[ $(inside t 'cat .git/objects/info/alternates') == /run/garth/objects/0 ]]
  inside t 'echo 1 >n; git add n; git commit -qm n'
  [[ $(git log -1 --format=%s garth/t) == n ]]
  # the control: what git does read
  chmod 600 "${pack%.pack}.idx"
  if is_root; then call inside t 'echo 2 >n; git commit -qam n2'; [[ $code != 0 ]] || complain; fi
}
