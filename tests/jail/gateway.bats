# ESCAPES 11 to 16: what an agent can do to its private repository, to git and to the gateway's socket, so that
# something forbidden gets into the shared repository, or something gets out of a repository that it cannot read.
load helpers

setup() {
  jail_setup
  shared=$(fingerprint)
  marker=$T/elsewhere/ran
}

tip() { git rev-parse "refs/heads/garth/${1:-t}"; }

# Refs and objects of the shared repository, one line each.
everything() { git for-each-ref; git cat-file --batch-all-objects --batch-check --unordered | sort; }

# The repository is complete and has nothing from the attack.
clean() {
  everything | diff "$T/everything" - || { echo "the shared repository changed"; return 1; }
  [[ $(fingerprint) == "$shared" ]] || { echo "the user's repository changed"; diff <(echo "$shared") <(fingerprint); return 1; }
  git fsck --strict --no-dangling >"$T/fsck" 2>&1 || { cat "$T/fsck"; return 1; }
  [[ -z $(find .git/objects -path '*/garth-*' -type f) ]] || { find .git/objects -path '*/garth-*'; return 1; }
  [[ ! -e $marker ]] || { echo "a program of the agent's ran outside"; return 1; }
  untouched
}

# as_it_was: what `clean` compares with.
remember() { everything >"$T/everything"; }

# The control: a repository without Garth.

control_repo() { rm -rf "$T/open/c"; git clone -q "$R" "$T/open/c"; cd "$T/open/c"; }

# works: the task can go on as if nothing had happened.
works() {
  local head
  head=$(inside t 'GARTH_GATEWAY=1 /usr/bin/git reset -q --hard && echo on >>a.txt && git commit -qam on && git rev-parse HEAD') || return 1
  [[ $(tip) == "$head" ]] || { echo "the next commit was not published"; return 1; }
}

# Each is a commit whose objects git itself would not make.
@test "12 G5 G6: broken, forged and bomb-like objects are refused, whoever moves the branch" {
  configure <<<'limits: {max_file_size: 20MB}'
  "$garth" new t
  bring t "$BATS_TEST_DIRNAME/hostile.py" hostile.py
  control_repo
  for kind in .git .GIT git~1 .git-hfs dotdot dot slash empty duplicate unsorted gitmodules gitmodules-link missing-parent missing-tree missing-blob \
    tree-is-blob blob-is-tree parent-is-blob corrupt truncated other-content false-size blob-bomb tree-bomb deep no-author nul-author; do
    # the control: a plain repository accepts the commit on its branch
    cd "$T/open/c"
    commit=$("$python" "$BATS_TEST_DIRNAME/hostile.py" .git $kind)
    echo "$commit" >.git/refs/heads/hostile
    [[ $(git for-each-ref --format='%(objectname)' refs/heads/hostile 2>/dev/null; cat .git/refs/heads/hostile) == *"$commit"* ]]
    cd "$R"
    remember
    # by the hook, …
    inside t "head=\$(git rev-parse HEAD); c=\$($python /tmp/hostile.py .git $kind) || exit 1
      if /usr/bin/git update-ref refs/heads/garth/t \$c; then echo MOVED; fi; [ \$(git rev-parse HEAD) = \$head ] || echo MOVED
      mkdir -p .git/refs/heads/garth; echo \$head >/tmp/head; echo \$c >.git/refs/heads/garth/t" >"$T/said" 2>&1 || { cat "$T/said"; false; }
    grep -qE 'BLOCKED: |fatal: ' "$T/said" && ! grep -q MOVED "$T/said" || { echo "$kind"; cat "$T/said"; false; }
    # … and as a draft that is checked when the user asks for it
    code=0; timeout 100 "$garth" publish t >"$T/answer" 2>&1 || code=$?
    ((code != 0 && code < 124)) || { echo "$kind: exit $code"; cat "$T/answer"; false; }
    clean || { echo "$kind"; false; }
    inside t "cat /tmp/head >.git/refs/heads/garth/t; find .git/objects -type f ! -path '*/info/*' -delete"
  done
  works
  # a well-formed commit that is made in the same way is published
  inside t "/usr/bin/git update-ref refs/heads/garth/t \$($python /tmp/hostile.py .git plain)"
  [[ $(git show garth/t:z) == hostile ]]
}

# The repository that the agent cannot read is named in its alternates, and the commit by its id, which is known.
@test "11 G6: alternates, objects and packs that lead to another repository" {
  git init -q --bare "$T/elsewhere/secret.git"
  tree=$(printf '100644 blob %s\tsecret\n' "$(echo "$SECRET" | git -C "$T/elsewhere/secret.git" hash-object -w --stdin)" | git -C "$T/elsewhere/secret.git" mktree)
  theirs=$(git -C "$T/elsewhere/secret.git" commit-tree -m secret "$tree")
  git -C "$T/elsewhere/secret.git" update-ref refs/heads/main "$theirs"
  chmod -R a+rwX "$T/elsewhere/secret.git"
  before=$(sentinels)
  # control: a fetch from a repository whose alternates lead there gets the secret
  control_repo
  cp -r .git "$T/open/evil.git"
  echo "$T/elsewhere/secret.git/objects" >>"$T/open/evil.git/objects/info/alternates"
  echo "$theirs" >"$T/open/evil.git/refs/heads/stolen"
  git fetch -q "$T/open/evil.git" stolen:stolen
  [[ $(git show stolen:secret) == "$SECRET" ]]
  cd "$R"
  for backend in "${backends[@]}"; do
    for how in alternates objects pack http; do
      "$garth" new t --backend $backend
      remember
      dir=$(inside t 'git rev-parse --absolute-git-dir')
      case $how in
      alternates) attack="echo $T/elsewhere/secret.git/objects >>$dir/objects/info/alternates" ;;
      objects) attack="mv $dir/objects /tmp/o; ln -s $T/elsewhere/secret.git/objects $dir/objects" ;;
      pack) attack="rm -rf $dir/objects/pack; ln -s $T/elsewhere/secret.git/objects/pack $dir/objects/pack; ln -s $T/elsewhere/secret.git/objects/${theirs:0:2} $dir/objects/${theirs:0:2}" ;;
      http) attack="mkdir -p $dir/objects/info; echo file://$T/elsewhere/secret.git/objects >>$dir/objects/info/http-alternates; git config remote.x.url $T/elsewhere/secret.git; git config remote.x.promisor true; git config extensions.partialClone x" ;;
      esac
      inside t "$attack"
      refused inside t "/usr/bin/git update-ref refs/heads/garth/t $theirs"
      inside t "mkdir -p $dir/refs/heads/garth; echo $theirs >$dir/refs/heads/garth/t" || true
      for command in "publish t" "snapshot t" "ls" "show t" "diff t" "log t" "rollback t --file a.txt"; do
        # shellcheck disable=SC2086
        within 60 "$garth" $command
        if grep -aqF "$SECRET" "$T/answer"; then echo "the sentinel came out: $command"; false; fi
      done
      git for-each-ref 'refs/garth/tasks/*/kept' --format='delete %(refname)' | git update-ref --stdin
      clean || { echo "$backend $how"; false; }
      "$garth" discard -fD t >/dev/null
      git for-each-ref refs/garth --format='delete %(refname)' | git update-ref --stdin
    done
  done
  # other places inside are the agent's own: that is no way out, and no way in
  "$garth" new t
  inside t 'mv .git/objects /tmp/o; ln -s /tmp/o .git/objects; echo 1 >>a.txt; git commit -qam 1' || true
  git fsck --strict --no-dangling
  inside t 'git init -q /tmp/other; cd /tmp/other; git commit -q --allow-empty -m other' || true
  untouched
}

# Reading a FIFO blocks without end: trusted code must not do it.
@test "11 12 G6: FIFOs and devices in the place of git's files block nobody" {
  for what in objects/info/alternates HEAD index config packed-refs refs/heads/garth/t; do
    "$garth" new t
    remember
    inside t "echo 1 >>a.txt; cd .git; mkdir -p refs/heads/garth; rm -f $what; mkfifo $what"
    for command in ls "show t" "diff t" "log t" "path t" doctor; do
      # shellcheck disable=SC2086
      within 20 "$garth" $command || { echo "$what"; false; }
    done
    clean
    within 20 "$garth" discard -fD t || { echo "$what"; false; }
    git for-each-ref refs/garth --format='delete %(refname)' | git update-ref --stdin
  done
}

# Commands that need git inside wait for it, but not for long, and say what is wrong.
@test "11 12 G6: a git inside that hangs on a pipe is soon killed and named" {
  "$garth" new t; "$garth" new u
  for task in t u; do
    inside $task "echo 1 >>a.txt; GARTH_GATEWAY=1 git commit -qam draft; cd .git; rm -f config; mkfifo config"
  done
  remember
  timeout 30 "$garth" publish t >"$T/published" 2>&1 3>&- & pid=$!
  # a rollback looks for such files first
  run timeout 30 "$garth" rollback u --full
  ((status == 4))
  [[ $output == *config*"garth exec u -- rm .git/config"* ]]
  code=0
  wait $pid || code=$?
  ((code == 1))
  grep -q "does not answer.*garth exec t" "$T/published"
  clean
  within 20 "$garth" discard -fD t
  within 20 "$garth" discard -fD u
}

@test "11 12 G6: interrupting a command that waits for the inside leaves no process behind" {
  "$garth" new t
  inside t "cd .git; rm -f config; mkfifo config"
  "$garth" publish t & pid=$!
  sleep 2; kill -INT "$pid"; wait "$pid" || true
  within 10 "$garth" discard -fD t || within 10 "$garth" discard -fD t
}

@test "13 14 J3 G1: a real git inside moves nothing outside, whatever ref it names" {
  git tag v1; git branch other; git notes add -m note
  "$garth" new t; "$garth" new u
  remember; shared=$(fingerprint)
  moves='for ref in refs/heads/main refs/heads/other refs/heads/garth/u refs/tags/v1 refs/tags/v2 refs/notes/commits refs/garth/snapshots/1/1 refs/heads/-x refs/remotes/origin/main; do
      $git update-ref $ref $($git commit-tree -p HEAD -m evil HEAD^{tree}) || exit 1; done; $git update-ref -d refs/tags/v1; $git config user.name evil; $git gc -q --prune=now; $git pack-refs --all'
  # the control: in a plain clone all of it works
  control_repo; git="git" sh -c "$moves"; [[ $(git log -1 --format=%s main) == evil ]]
  cd "$R"
  inside t "git=/usr/bin/git; $moves"
  clean
  inside t "cp /usr/bin/git /tmp/mygit; git=/tmp/mygit; export GIT_EXEC_PATH=/usr/lib/git-core; $moves"
  clean
  # the task's branch cannot be replaced by a link to another branch, nor main be published in its place
  inside t 'cd .git; mkdir -p refs/heads/garth; echo "ref: refs/heads/main" >refs/heads/garth/t; git -C .. update-ref refs/heads/main $(git -C .. commit-tree -p HEAD -m evil HEAD^{tree})' || true
  within 30 "$garth" publish t
  [[ $(fingerprint) == "$shared" ]]
  [[ $(tip u) == $(git rev-parse main) ]]
  # pushes, to whatever is named
  for where in "$R" "$R/.git" "file://$R" "$GARTH_HOME/worktrees/u" ext::false; do
    for spec in +HEAD:refs/heads/main HEAD:heads/main :main HEAD:refs/heads/garth/u +refs/heads/*:refs/heads/*; do
      # what is at the repository's path inside is the task's own: whatever it answers, nothing arrives
      case $where in *"$R"*) inside t "/usr/bin/git -c protocol.allow=always push $where '$spec'" >/dev/null 2>&1 || true ;;
      *) refused inside t "/usr/bin/git -c protocol.allow=always push $where '$spec'" ;; esac
    done
    refused inside t "git push $where HEAD:main"
  done
  # the control
  (cd "$T/open/c" && git push -q "$R" HEAD:refs/heads/pushed && git push -q "$R" :pushed)
  [[ $(fingerprint) == "$shared" ]]
  [[ $(tip u) == $(git rev-parse main) ]]
}

# An agent that knows the id of a shared object can read it, and may not publish it as its own work. If the task is
# strictly isolated, such objects are not there.
@test "13 G1 G5 J2: another task's commits must pass this task's policy, or cannot be reached at all" {
  "$garth" new u
  "$garth" allow u .github/workflows/u.yml
  inside u 'mkdir -p .github/workflows; echo w >.github/workflows/u.yml; git add -A; git commit -qm "of u"'
  theirs=$(tip u)
  "$garth" new t; "$garth" new s --strict-isolation
  remember
  # the control: in a plain clone that has the commit all of it works
  control_repo; git fetch -q "$R" garth/u; git update-ref refs/heads/main "$theirs"; git update-ref refs/heads/main "$(git commit-tree -p "$theirs" -m mine HEAD^{tree})"
  cd "$R"
  inside t "git cat-file -e $theirs"
  refused inside s "git cat-file -e $theirs"
  for task in t s; do
    for deed in "git reset -q --hard $theirs" "/usr/bin/git update-ref refs/heads/garth/$task $theirs" "git merge -q --no-edit $theirs" \
      "c=\$(git commit-tree -p $theirs -m mine $theirs^{tree}) && /usr/bin/git update-ref refs/heads/garth/$task \$c"; do
      refused inside $task "$deed" || { echo "$deed"; false; }
      clean
      inside $task 'git merge --abort 2>/dev/null; GARTH_GATEWAY=1 /usr/bin/git reset -q --hard garth/$GARTH_TASK'
    done
  done
  works
}

# The hook is the agent's file like any other. Without it, or with another, what git writes are drafts.
@test "13 16 G1 G5: the hook removed, replaced, or disabled: drafts, under the same policy" {
  for attack in 'rm -f .git/hooks/reference-transaction' 'rm -f .git/hooks/reference-transaction; printf "#!/bin/sh\nexit 0\n" >.git/hooks/reference-transaction; chmod +x .git/hooks/reference-transaction' \
    'git config core.hooksPath /dev/null' 'export GARTH_GATEWAY=1'; do
    "$garth" run --on-dirty keep -t t -- sh -c "$attack"'; mkdir -p .github/workflows; echo x >.github/workflows/x.yml; git add -A; /usr/bin/git commit -qm evil' >"$T/answer" 2>&1 && {
      echo "the task is done: $attack"
      false
    }
    [[ $(tip) == $(git rev-parse main) ]] || {
      echo "published: $attack"
      false
    }
    [[ $(state_of t) == failed ]] || {
      echo "published: $attack"
      false
    }
    refused "$garth" publish t
    [[ $(tip) == $(git rev-parse main) ]]
    # the control: an allowed commit is published at the end in the same way
    "$garth" run -t c -- sh -c "$attack"'; echo ok >ok; git add -A; /usr/bin/git commit -qm fine'
    [[ $(git show garth/c:ok) == ok ]] || { echo "not published: $attack"; false; }
    "$garth" discard -fD t; "$garth" discard -D c
  done
  [[ $(fingerprint) == "$shared" ]]
  untouched
}

# Every git that the gateway starts runs inside, and so does what it starts.
@test "9 16 G6: the agent's hooks, filters and settings run only inside, whatever the gateway does" {
  # a marker of the same name inside shows that the control, the program itself, runs
  payload="echo ran >$marker; echo ran >>/tmp/ran"
  "$garth" new t
  inside t "mkdir -p /tmp/hooks; for h in pre-commit post-commit post-checkout post-merge pre-rebase post-rewrite prepare-commit-msg post-index-change pre-receive update post-receive post-update reference-transaction; do
      printf '#!/bin/sh\n$payload\nexit 0\n' >/tmp/hooks/\$h; chmod +x /tmp/hooks/\$h; done; cp /tmp/hooks/* .git/hooks/
    git config core.hooksPath /tmp/hooks; git config core.fsmonitor '$payload; false'; git config filter.x.clean '$payload; cat'; git config filter.x.smudge '$payload; cat'
    git config core.editor '$payload;'; git config core.pager '$payload;'; git config uploadpack.packObjectsHook '$payload;'; git config core.alternateRefsCommand '$payload;'
    git config gpg.program /tmp/hooks/update; git config merge.x.driver '$payload'; git config sequence.editor '$payload;'
    echo '* filter=x merge=x' >.git/info/attributes; cp .git/config ~/.gitconfig; echo 1 >>a.txt; git add -A; rm -f /tmp/ran"
  inside t 'curl -sS --unix-socket $GARTH_SOCKET -d "{\"message\": \"m\"}" http://g/api/v1/git/commit'
  "$garth" publish t; "$garth" snapshot t >/dev/null
  echo 2 >>dir/b.txt; git commit -qam 'main goes on'
  shared=$(fingerprint)
  "$garth" sync t || true; "$garth" sync t --merge || true
  "$garth" rollback t --to-snapshot 2 || true; "$garth" rollback t --file a.txt || true; "$garth" rollback t --full || true
  "$garth" diff t >/dev/null; "$garth" show t >/dev/null; "$garth" ls >/dev/null
  inside t 'grep -q ran /tmp/ran'
  [[ ! -e $marker ]] || { echo "a program of the agent's ran outside"; false; }
  [[ $(fingerprint) == "$shared" ]]
  git fsck --strict --no-dangling
  untouched
}

# The processes of git that the gateway starts inside belong to the agent as well.
@test "15 19 G1: the gateway's git killed or stopped inside: refused, clean, and the next one works" {
  "$garth" run -d -t t -- sleep 1000
  inside t 'echo 0 >>a.txt; git commit -qam 0'
  "$garth" exec t -- "$python" -c 'import os, signal, time
# everything that is called git and is not ours, at once
end = time.time() + 6
while time.time() < end:
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            if b"pack-" + b"objects" in open("/proc/%s/cmdline" % p, "rb").read(): os.kill(int(p), signal.SIGKILL)
        except OSError: pass' 3>&- &
  pid=$!
  for i in 1 2 3 4 5; do inside t "echo $i >>a.txt; git commit -qam $i" || true; done >/dev/null 2>&1
  wait $pid
  git fsck --strict --no-dangling
  inside t 'git add -A; git commit -q --allow-empty -m last'
  [[ $(tip) == $(inside t 'git rev-parse HEAD') ]]
  [[ $(git show garth/t:a.txt) == $'one\n0\n1\n2\n3\n4\n5' ]]
  "$garth" audit --verify
}

@test "15 21 G2: another task's socket, and the user's own, are out of reach" {
  "$garth" run -d -t t -- sleep 1000
  "$garth" run -d -t u -- sleep 1000
  other=$GARTH_HOME/tasks/$("$garth" show u --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
  own=$GARTH_HOME/tasks/$("$garth" show t --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
  # the control: the user reaches them
  sockets=$(find "$other" "$own" -maxdepth 1 -type s)
  [[ $(wc -l <<<"$sockets") -ge 4 ]]
  for s in $sockets; do
    "$python" -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$s"
    refused "$garth" exec t -- "$python" -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$s"
  done
  # its own socket says which task it is, whatever a request says
  inside t 'for h in "X-Task: u" "X-Garth-Session: 1" "Authorization: u" "Host: u"; do curl -sS -H "$h" --unix-socket $GARTH_SOCKET http://g/api/v1/task?task=u | grep -q "\"task\":\"t\"" || exit 1; done'
}

# What a later commit removes is still in the history, and a rebase would restore it.
@test "12 G5 G10: every commit is checked like the tip: nothing is hidden behind a merge or a later commit" {
  mkdir -p .github/workflows; echo v1 >.github/workflows/ci.yml; git add .github; git commit -qm ci
  evil='echo EVIL >.github/workflows/ci.yml' link='ln -s /etc/passwd lnk' module='mkdir sub; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub' many='for i in $(seq 20); do echo $i >m$i; done'
  configure <<<'limits: {max_files: 10}'
  shared=$(fingerprint)
  for deed in "$evil" "$link" "$module" "$many"; do
    for hide in later merge; do
      "$garth" new t; remember
      hidden='G=/usr/bin/git; b=$($G rev-parse HEAD); '"$deed"'; $G add -A; c1=$($G commit-tree -p $b -m side $($G write-tree)); $G reset -q --hard $b; $G clean -qfd; echo fine >fine; $G add fine; t=$($G write-tree); '
      if [[ $hide == merge ]]; then hidden+='tip=$($G commit-tree -p $b -p $c1 -m work $t); '; else hidden+='tip=$($G commit-tree -p $c1 -m work $t); '; fi
      # the control: in a plain clone it is a history like any other
      ( control_repo; eval "$hidden"; git update-ref refs/heads/main "$tip" )
      refused inside t "$hidden"'$G reset -q --hard $tip' || { echo "published: $deed, $hide"; false; }
      clean
      "$garth" discard -fD t
    done
  done
  git fsck --strict
}

@test "12 G10: a rebase whose result differs from a merge's is refused, and nothing changes" {
  echo v1 >conf; git add conf; git commit -qm conf
  "$garth" new t
  # a change and its revert, while the user makes the same change: commit by commit, only the revert would be left
  inside t 'echo v2 >conf; git commit -qam there; echo v1 >conf; echo fine >fine; git add -A; git commit -qm back'
  echo v2 >conf; git commit -qam "the user goes there"
  old=$(git rev-parse main)
  # the control: git does just that
  git worktree add -q --detach "$T/control" garth/t; git -C "$T/control" rebase -q main; [[ $(<"$T/control/conf") == v1 ]]; git worktree remove -f "$T/control"
  run "$garth" merge --rebase t
  ((status == 4))
  [[ $output == *"one by one"*"garth merge --squash t"* ]]
  [[ $(git rev-parse main) == "$old" ]]
  [[ $(<conf) == v2 ]]
  "$garth" merge t
  [[ $(<conf) == v2 ]]
  [[ $(<fine) == fine ]]
}

@test "11 G1: objects that the tip does not reach are not added" {
  "$garth" new t
  new=$(inside t 'echo x >>a.txt; git add a.txt; GARTH_GATEWAY=1 /usr/bin/git commit -qm draft; git rev-parse HEAD')
  extra=$(inside t 'echo extra | git hash-object -w --stdin')
  offered=$(inside t "{ printf '%s\n' $extra; git rev-list --objects --no-object-names HEAD ^HEAD~1; } | /usr/bin/git pack-objects -q --stdout | base64 -w0")
  inside t "curl -sS --unix-socket \$GARTH_SOCKET http://garth/api/v1/git/publish -d '{\"tip\": \"$new\", \"pack\": \"$offered\"}'" | grep -q "$new"
  [[ $(git rev-parse garth/t) == "$new" ]]
  not git cat-file -e "$extra" 2>/dev/null
  git fsck --strict
}

@test "16 G10: what is published and differs in the workspace is named before the merge" {
  "$garth" new t
  inside t 'echo x >hidden; git add hidden; git commit -qm hidden; GARTH_GATEWAY=1 git reset -q --hard HEAD~1'
  [[ $(git show garth/t:hidden) == x ]]
  run "$garth" diff t
  [[ $output == *"1 published file is not as shown here"*"garth diff --published t"* ]]
  [[ $("$garth" diff --published t) == *'+++ b/hidden'* ]]
  [[ $("$garth" diff --json t | tr -d ' \n') == *'"unseen":["hidden"]'* ]]
  # another content at the same path
  inside t 'echo harmless >hidden'
  run "$garth" diff t
  [[ $output == *"+harmless"*"1 published file is not as shown here"* ]]
  # and nothing if both are the same
  "$garth" new u
  inside u 'echo x >hidden; git add hidden; git commit -qm hidden; echo more >more'
  run "$garth" diff u
  [[ $output == *"+more"* ]]
  [[ $output != *"as shown"* ]]
  git commit -q --allow-empty -m on
  old=$(git rev-parse garth/t)
  run "$garth" sync t
  ((status == 4))
  [[ $output == *"lacks what was published"* ]]
  [[ $(git rev-parse garth/t) == "$old" ]]
}

@test "16 G10: diff shows what a merge changes, also if a task merged the target's commits and undid them" {
  "$garth" new t
  echo fixed >a.txt; echo mine >mine; git add a.txt mine; git commit -qm "the user's"
  head=$(git rev-parse HEAD)
  inside t "echo b >b; git add b; /usr/bin/git reset -q --soft $head; /usr/bin/git commit -qm b"
  # the attack itself: a merge of it would be a fast-forward
  [[ $(git rev-parse garth/t~1) == "$head" ]]
  [[ $(git show garth/t:a.txt) == one ]]
  for how in '' --published; do
    run "$garth" diff --stat $how t
    [[ $output == *a.txt*b*mine*"3 files changed"* ]] || { echo "$how: $output"; false; }
  done
  [[ $("$garth" diff --json t | tr -d ' \n') == *'"path":"a.txt"'*'"path":"mine"'* ]]
  # and by a merge that keeps nothing of the other side
  "$garth" new u
  git commit -q --allow-empty -m on; echo more >>a.txt; git commit -qam more
  inside u "echo c >c; git add c; git commit -qm c; /usr/bin/git merge -q -s ours -m ours $(git rev-parse HEAD)"
  run "$garth" diff --stat u
  [[ $output == *a.txt*c*"2 files changed"* ]] || { echo "$output"; false; }
}

# Some programs take the first author of a commit, others the last.
@test "12 G5: an author or committer that appears twice, or a second task's trailer, is refused" {
  configure <<<'policy: {identity: forced, author: "Bot <bot@example.com>"}'
  "$garth" new t; remember
  # forge TEXT: a commit with that behind its committer, as the branch's
  forge() {
    inside t "git update-ref refs/heads/garth/t \$({ printf 'tree %s\nparent %s\nauthor Bot <bot@example.com> 1 +0000\ncommitter Bot <bot@example.com> 1 +0000\n' \$(git rev-parse HEAD^{tree} HEAD)
      printf '$1'; } | /usr/bin/git hash-object -t commit -w --stdin --literally)"
  }
  for more in 'author U <u@x> 1 +0000\n' 'committer U <u@x> 1 +0000\n' 'gpgsig x\n y\nauthor U <u@x> 1 +0000\n' 'encoding x\nparent 0000\n'; do
    run forge "$more\nm\n\nGarth-Task: t\n"
    ((status)) || {
      echo "$more: $output"
      false
    }
    [[ $output == *'BLOCKED: '*' twice'* ]] || {
      echo "$more: $output"
      false
    }
  done
  for message in 'm\n\nGarth-Task: u\nGarth-Task: t\n' 'm\n\ngarth-task: u\n\nGarth-Task: t\n'; do
    run forge "\n$message"
    ((status)) || {
      echo "$message: $output"
      false
    }
    [[ $output == *'BLOCKED: '*"does not end with 'Garth-Task: t'"* ]] || {
      echo "$message: $output"
      false
    }
  done
  clean
  # the control: once is enough
  forge '\nm\n\nGarth-Task: t\n'; [[ $(tip) == $(inside t 'git rev-parse HEAD') ]]
}

@test "12 G7: the audit log records what was wrong with a pack that came with the request" {
  "$garth" new t
  new=$(inside t 'mkdir -p .github/workflows; echo x >.github/workflows/x; git add -A; git write-tree | xargs -I{} git commit-tree {} -p HEAD -m x')
  offered=$(inside t "git rev-list --objects --no-object-names $new ^HEAD | /usr/bin/git pack-objects -q --stdout | base64 -w0")
  inside t "rm -rf .git/objects/??; curl -sS --unix-socket \$GARTH_SOCKET http://garth/api/v1/git/publish -d '{\"tip\": \"$new\", \"pack\": \"$offered\"}'" | grep -q protected_path
  "$garth" audit t --json | grep -q '"code": *"protected_path"'
}

@test "11 J7 G5: with --strict-isolation an object that was not shown can be neither named nor guessed" {
  secret=$(echo hidden-word | git hash-object -w --stdin)
  tree=$(printf '100644 blob %s\tsecret\n' "$secret" | git mktree)
  "$garth" new t --strict-isolation; "$garth" new u
  not inside t "/usr/bin/git cat-file -e $secret" 2>/dev/null
  # publishes TASK ENTRY: a commit with that entry, sent as a pack of the new objects alone
  publishes() {
    inside "$1" "$python - '$2'" <<'PY'
import base64, hashlib, http.client, json, os, socket, struct, subprocess, sys, zlib
def git(*a): return subprocess.run(["/usr/bin/git", *a], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
mode, name, oid, *base = sys.argv[1].split()
entries = [l.split(None, 3) for l in git("ls-tree", "HEAD").splitlines()] + [[mode, "", oid, name]]
key = lambda e: (e[3] + ("/" if e[0].lstrip("0").startswith("4") else "")).encode()
tree = b"".join(e[0].lstrip("0").encode() + b" " + e[3].encode() + b"\0" + bytes.fromhex(e[2]) for e in sorted(entries, key=key))
oid_of = lambda kind, data: hashlib.sha1(kind + b" %d\0" % len(data) + data).hexdigest()
root = oid_of(b"tree", tree)
who = b"A <a@b> 1 +0000"
commit = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\nx\n" % (root.encode(), git("rev-parse", "HEAD").encode(), who, who)
def entry(kind, data):
    n, first, out = len(data), True, b""
    c = kind << 4 | n & 15; n >>= 4
    while n: out += bytes([c | 128]); c = n & 127; n >>= 7
    return out + bytes([c]) + zlib.compress(data)
objects = [entry(1, commit), entry(2, tree)]
if base:  # "same": all of an object of 12 bytes, as a difference to it
    objects.append(bytes([7 << 4 | 4]) + bytes.fromhex(base[0]) + zlib.compress(bytes([12, 12, 0x90, 12])))
pack = b"PACK" + struct.pack(">II", 2, len(objects)) + b"".join(objects)
pack += hashlib.sha1(pack).digest()
body = json.dumps({"tip": oid_of(b"commit", commit), "pack": base64.b64encode(pack).decode()})
s = socket.socket(socket.AF_UNIX); s.connect(os.environ["GARTH_SOCKET"])
s.sendall(b"POST /api/v1/git/publish HTTP/1.1\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body.encode())
answer = b""
while chunk := s.recv(65536): answer += chunk
print(answer.decode()); sys.exit(not answer.startswith(b"HTTP/1.1 200"))
PY
  }
  # the control: a task that borrows may, by name and by a difference
  publishes u "100644 secret $secret"; [[ $(git show garth/u:secret) == hidden-word ]]
  publishes u "100644 secret2 $secret $secret"; [[ $(git show garth/u:secret2) == hidden-word ]]
  remember
  # a right and a wrong delta cannot be told apart
  run publishes t "100644 secret $secret $secret"
  right=$output
  ((status)) || {
    echo "$right"
    false
  }
  [[ $right != *unknown_objects* ]] || {
    echo "$right"
    false
  }
  run publishes t "100644 secret $(printf '%040d' 7) $secret"
  ((status)) || {
    echo "$right"
    echo "$output"
    false
  }
  [[ $(sed -E 's/[0-9a-f]{40}//g; /^Date|^Content-Length/d' <<<"$output") == "$(sed -E 's/[0-9a-f]{40}//g; /^Date|^Content-Length/d' <<<"$right")" ]] || {
    echo "$right"
    echo "$output"
    false
  }
  for what in "100644 secret $secret" "040000 secrets $tree"; do
    run publishes t "$what"
    ((status)) || {
      echo "$what: $output"
      false
    }
    [[ $output == *unknown_objects* ]] || {
      echo "$what: $output"
      false
    }
  done
  clean
  works
  [[ $(git rev-list --count main..garth/t) == 1 ]]
}
