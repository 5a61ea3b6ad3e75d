load helpers

# A bare repository as the remote NAME, and a clone of somebody else's beside it.
remote() {
  git init -q --bare "$T/home/$1.git"
  git remote add "$1" "$T/home/$1.git"
  # some tests have hooks there
  git config --global --add garth.trust "$T/home/$1.git"
  git push -q "$1" main
}
other() {
  [[ -d $T/other ]] || git clone -q "$T/home/${1:-origin}.git" "$T/other"
  (cd "$T/other" && git pull -q && cat >"$2" && git add -A && git commit -qm "other $2" && git push -q)
}
there() { git -C "$T/home/origin.git" log --format=%s "${1:-main}"; }
work() { "$garth" exec "$1" -- sh -c "echo $1 >$1.txt; git add .; git commit -qm 'by $1'"; }

@test "G9 push: a task's commits go to the remote's branch; the task's branch, the user's, and the checkout do not change" {
  remote origin
  "$garth" new a; work a; inside a 'echo more >more'
  call "$garth" push a
  [[ $code == 0 ]] || complain
  [[ $err == *"is pushed to garth/a of origin"*'has work that is not pushed: 1 file'* ]] || complain
  inside a 'rm more'
  [[ $(there) == first ]]
  [[ $(there garth/a) == $'by a\nfirst' ]]
  [[ $(state_of a) == created ]]
  git for-each-ref refs/garth/fetched | grep . && false
  [[ $(git rev-parse main) == $(git rev-parse garth/a~1) ]]
  [[ -z $(git status --porcelain) ]]
  "$garth" audit a | grep -q 'pushed .*remote=origin branch=garth/a'
  "$garth" audit --verify
  run "$garth" push a --json
  [[ $(json "[d['up_to_date'], d['remote'], d['branch'], d['pushed_commits']]" <<<"$output") == '[true, "origin", "garth/a", 1]' ]]
  call "$garth" push a
  [[ $err == *"garth/a of origin has all of task 'a' already"* ]] || complain
  # on a terminal, with what to do next
  terminals <<'PY'
t = Terminal([GARTH, "push", "a"], cols=200)
t.expect("has all of task 'a' already")
t.expect("garth push a main")
assert t.wait() == 0
PY
  # by name, to the target's branch
  call "$garth" push a main
  [[ $code == 0 ]] || complain
  [[ $err == *"to main of origin"* ]] || complain
  terminals <<'PY'
t = Terminal([GARTH, "push", "a", "main"], cols=200)
t.expect("the local branch main does not have it yet")
t.expect("git pull origin main")
assert t.wait() == 0
PY
  [[ $(there) == $'by a\nfirst' ]] || complain
  fails 4 'only copy' "$garth" discard a
}

@test "G9 T6 push: a pushed task is not merged: it stays, and is shown as pushed; it is merged when its target reaches it" {
  remote origin
  "$garth" new a; work a; "$garth" push a; "$garth" new b; work b; "$garth" push b main
  [[ $("$garth" show a --json | json '[d["state"], d["pushed"]["remote"], d["pushed"]["branch"], d["pushed"]["tip"] == d["published"]]') == '["created", "origin", "garth/a", true]' ]]
  "$garth" ls | grep -q '^a .*pushed origin/garth/a'
  "$garth" show a | grep -qx 'pushed     garth/a of origin'
  call "$garth" cleanup --merged
  [[ -z $out ]] || complain
  [[ $(state_of a) == created ]] || complain
  [[ $(state_of b) == created ]] || complain
  fails 4 "1 commit on garth/a that is not in main" "$garth" discard a
  inside a 'echo more >more; git add more; git commit -qm more'; "$garth" show a | grep -q 'pushed .*without its newest commits'
  # b is merged when it is in main, whoever merged it
  git pull -q origin main
  call "$garth" cleanup --merged
  [[ $out == b ]] || complain
  [[ $(state_of a) == created ]] || complain
  # rebased on the way, it is known by what it became
  "$garth" new c; work c; other origin o <<<o; "$garth" push c main; [[ $(there | head -1) == 'by c' ]]
  call "$garth" cleanup --merged; [[ -z $out ]] || complain
  git pull -q origin main; call "$garth" cleanup --merged; [[ $out == c ]] || complain
  # a task whose merge was removed from the target does not count as merged
  "$garth" new d
  work d
  "$garth" merge --keep --squash d
  git reset -q --hard HEAD~1
  call "$garth" cleanup --merged
  [[ -z $out ]] || complain
  [[ $(state_of d) == merged ]] || complain
  fails 4 'only copy' "$garth" discard d
}

@test "G9 T6 push: a clone is merged when its target at the remote, as last fetched, has its commits" {
  remote origin
  "$garth" new a --backend clone
  work a
  "$garth" push a
  [[ $(state_of a) == created ]]
  call "$garth" cleanup --merged
  [[ -z $out ]] || complain
  "$garth" push a main
  [[ $(state_of a) == merged ]]
  call "$garth" cleanup --merged
  [[ $out == a ]] || complain
}

@test "G9 push: local is preferred to origin; another remote and another branch by name" {
  remote origin; remote local
  "$garth" new a; work a
  "$garth" push a main
  [[ $(git -C "$T/home/local.git" log -1 --format=%s main) == 'by a' ]]
  [[ $(there) == first ]]
  "$garth" push a feature/x --remote origin
  [[ $(there feature/x) == $'by a\nfirst' ]]
  [[ $(there) == first ]]
}

@test "G9 push: what is impossible is refused with a reason, and changes nothing" {
  "$garth" new a
  changes_nothing 3 "no remote 'local' or 'origin'" "$garth" push a
  remote origin
  changes_nothing 4 "has published nothing" "$garth" push a
  work a
  changes_nothing 3 "no remote 'nowhere'" "$garth" push a --remote nowhere
  changes_nothing 3 "no remote '--all'" "$garth" push a --remote=--all
  changes_nothing 2 "is not a branch's name" "$garth" push a 'x:refs/heads/main'
  changes_nothing 2 "is not a branch's name" "$garth" push a '+main'$'\n'
  changes_nothing 4 "is the branch of another task" "$garth" push a garth/b
  local name
  for name in +main HEAD @ .. a..b a.lock /x x/ 'a b' 'a^' "$(printf 'a\tb')"; do changes_nothing 2 "is not a branch's name" "$garth" push a "$name"; done
  changes_nothing 2 "is not a branch's name" "$garth" run --push ':x' -- true
  mv "$T/home/origin.git" "$T/home/away.git"
  changes_nothing 1 "does not take it" "$garth" push -q a
  [[ $(state_of a) == created ]]
}

@test "G9 push: somebody else was faster: fetch, rebase, try again" {
  remote origin
  "$garth" new a; work a
  other origin b <<<hello
  "$garth" push a main --json >"$T/out"
  [[ $(json "d['tries']" <"$T/out") == 2 ]]
  [[ $(there) == $'by a\nother b\nfirst' ]]
  git -C "$T/home/origin.git" fsck --strict
  # the author stays, and the user's own branch did not move
  [[ $(git rev-parse main) != $(git -C "$T/home/origin.git" rev-parse main~1) ]]
  "$garth" discard -D a
}

@test "G9 push: a conflict is reported by file, and nothing has moved there or here" {
  remote origin
  "$garth" new a; "$garth" exec a -- sh -c 'echo mine >a.txt; git commit -qam mine'
  other origin a.txt <<<theirs
  changes_nothing 5 "1 file conflicts with main of 'origin'" "$garth" push -q a main
  [[ $err == *a.txt* ]]
  [[ $(there) == $'other a.txt\nfirst' ]]
  "$garth" audit a | grep -q 'push-failed'
}

@test "G9 push: tries as often as git.push_retries says, then fails and says so; the workspace is kept" {
  remote origin
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo 'git: {push_retries: 2}' >"$XDG_CONFIG_HOME/garth/config.yaml"
  "$garth" new a; work a
  # the remote's branch moves during every push
  cat >"$T/home/origin.git/hooks/pre-receive" <<'E'
#!/bin/sh
unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
echo x >>moves
git update-ref refs/heads/main $(GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a git commit-tree -p main -m moved main^{tree})
E
  chmod +x "$T/home/origin.git/hooks/pre-receive"
  call "$garth" push a main
  [[ $code == 5 ]] || complain
  [[ $err == *'during each of 3 tries'* ]] || complain
  [[ $(wc -l <"$T/home/origin.git/moves") == 3 ]]
  [[ $(state_of a) == created ]]
  "$garth" exec a -- test -f a.txt
}

@test "G9 push: what a remote refuses is not tried again; its messages are shown, and cannot control the terminal" {
  remote origin
  printf '#!/bin/sh\nprintf "no \\033[31mred\\033[0m today\\n" >&2\necho x >>asked\nexit 1\n' >"$T/home/origin.git/hooks/pre-receive"
  chmod +x "$T/home/origin.git/hooks/pre-receive"
  "$garth" new a; work a
  fails 1 "hook declined" "$garth" push -q a
  [[ $(wc -l <"$T/home/origin.git/asked") == 1 ]]
  [[ $err != *$'\033'* ]]
}

@test "G9 push: no hook of the user's checkout runs, nothing is forced, no tag is pushed" {
  remote origin
  printf '#!/bin/sh\ntouch "%s/ran"\nexit 1\n' "$T" >.git/hooks/pre-push; chmod +x .git/hooks/pre-push
  printf '#!/bin/sh\ngrep -q remotes && touch "%s/ran"\nexit 0\n' "$T" >.git/hooks/reference-transaction; chmod +x .git/hooks/reference-transaction
  git config push.followTags true; git tag -am tag v1
  "$garth" new a; work a
  "$garth" push a main
  [[ ! -e $T/ran && -z $(git -C "$T/home/origin.git" tag) ]]
  git config remote.origin.push '+refs/heads/*:refs/heads/*'
  "$garth" new b; work b; other origin c <<<c
  "$garth" push b main
  there | grep -q 'other c'
  [[ $(git -C "$T/home/origin.git" branch) == '* main' ]]
}

@test "G9 G8 push: ten at once, with other pushes between them: all arrive" {
  remote origin
  local i pids=()
  for i in {1..5}; do "$garth" new t$i; work t$i; done
  git clone -q "$T/home/origin.git" "$T/second"; cp -r "$GARTH_HOME/../.gitconfig" "$T/"
  # another home is another Garth: the two know nothing of each other
  (cd "$T/second"; export GARTH_HOME=$T/garth2; for i in {1..5}; do "$garth" new s$i; work s$i; done)
  for i in {1..5}; do
    "$garth" push t$i main 3>&- & pids+=($!)
    (cd "$T/second"; GARTH_HOME=$T/garth2 "$garth" push s$i main 3>&-) & pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i"; done
  [[ $(there | sort) == "$(printf '%s\n' 'by s'{1..5} 'by t'{1..5} first | sort)" ]]
  git -C "$T/home/origin.git" fsck --strict
  "$garth" audit --verify
}

@test "G9 push: killed at each step, it can be repeated, and the log is complete" {
  remote origin
  local step
  for step in push-try push-taken; do
    "$garth" new a-$step; work a-$step
    GARTH_FAULT=$step call "$garth" push a-$step main
    [[ $code == 137 ]] || complain "was not killed at $step"
    "$garth" push a-$step main
    there | grep -q "by a-$step"
  done
  "$garth" audit --verify
}

@test "G9 T5 task file: push in a task file pushes when the task is done, and the agent may push earlier" {
  remote origin
  cat >"$T/home/task.yaml" <<E
name: p
agent: {project_dir: $R, command: [sh, -c, 'echo 1 >one; git add .; git commit -qm one; git push; git push -q origin HEAD:main; for w in "origin +HEAD:main" "origin HEAD:evil" "origin main" "--force" "--tags" "origin :main" "origin HEAD:main HEAD:x"; do git push \$w && echo "not refused - \$w"; done; echo 2 >two; git add .; git commit -qm two']}
push: main
E
  call "$garth" run "$T/home/task.yaml"
  [[ $code == 0 ]] || complain
  [[ $err == *'pushed to origin/main'* ]] || complain
  [[ $out != *'not refused'* ]] || complain
  [[ $(grep -c BLOCKED <<<"$err") == 7 ]] || complain
  [[ $(there) == $'two\none\nfirst' ]]
  [[ $(state_of p) == done ]]
  # the task file decides where it goes
  [[ $(git -C "$T/home/origin.git" branch) == '* main' ]]
  # the remote's messages and its address are for the user
  mv "$T/home/origin.git" "$T/home/away.git"
  call "$garth" run --task s --push main -- sh -c 'echo s >s; git add .; git commit -qm s; git push 2>&1 || true'
  [[ $code == 1 ]] || complain
  [[ $out == *'the push did not work'* ]] || complain
  [[ $out != *origin.git* ]] || complain
  [[ $err == *origin* ]] || complain
  grep -q '"push-failed".*origin.git' "$GARTH_HOME/audit.jsonl"
  mv "$T/home/away.git" "$T/home/origin.git"
  # for another push, the message says what is allowed
  call "$garth" run --task h --push main -- sh -c 'echo h >h; git add .; git commit -qm h; git push -q; git push origin main'
  [[ $code == 1 ]] || complain
  [[ $err == *"BLOCKED: this task may push to 'main' of origin, nothing else"*'Instead, you should: git push, or git push origin HEAD:main'* ]] || complain
  # the file does not allow it
  call "$garth" run --task q -- git push
  [[ $code == 1 ]] || complain
  [[ $err == *'BLOCKED: a task does not push'* ]] || complain
  [[ $(there) == $'h\ntwo\none\nfirst' ]] || complain
}

@test "G9 T2 task file: a push that fails fails the task, and its workspace is kept; resume tries again" {
  remote origin
  mv "$T/home/origin.git" "$T/home/away.git"
  call "$garth" run --task p --push main -- sh -c 'echo 1 >one; git add .; git commit -qm one || true'
  [[ $code == 1 ]] || complain
  [[ $err == *'not pushed'* ]] || complain
  [[ $(state_of p) == failed ]] || complain
  mv "$T/home/away.git" "$T/home/origin.git"
  call "$garth" resume p
  [[ $code == 0 ]] || complain
  [[ $(there) == $'one\nfirst' ]] || complain
  [[ $(state_of p) == done ]] || complain
  # one that failed, has left something uncommitted or asks is not pushed
  call "$garth" run --task f --push main -- sh -c 'echo 1 >f; git add .; git commit -qm f; exit 3'
  [[ $code == 3 ]]
  call "$garth" run --task g --push main -- sh -c 'echo 1 >g; git add .; git commit -qm g; echo 1 >h'
  [[ $code == 1 ]]
  call "$garth" run --task h --push main -- sh -c 'echo 1 >h; git add .; git commit -qm h; echo "{\"question\": \"?\"}" >$GARTH_QUESTION_FILE'
  [[ $code == 6 ]] || complain
  [[ $(there) == $'one\nfirst' ]] || complain
  "$garth" answer h yes || true
}

@test "G9 T1 push: a remote that hangs at the end of a task delays neither commands that look at the task nor a cancel" {
  remote origin
  mkfifo "$T/home/never"
  printf '#!/bin/sh\n: >%s\nread -r x <%s\n' "$T/home/begun" "$T/home/never" >"$T/home/origin.git/hooks/pre-receive"
  chmod +x "$T/home/origin.git/hooks/pre-receive"
  "$garth" run -d --task p --push main -- sh -c 'echo 1 >one; git add .; git commit -qm one'
  eventually test -e "$T/home/begun"
  [[ $(state_of p) == running ]]
  call timeout 20 "$garth" cancel p
  [[ $code == 0 ]] || complain
  [[ $(state_of p) == cancelled ]]
  [[ $(there) == first ]]
  # its commits are still published here
  [[ $(git log -1 --format=%s garth/p) == one ]]
  exec 9<>"$T/home/never"; echo >&9; exec 9>&-
}

@test "G9 push: the user's credentials are used outside; nothing of them is inside" {
  remote origin
  mkdir -p "$T/home/.ssh"; echo SECRET >"$T/home/.ssh/id"
  cat >"$T/ssh" <<E
#!/bin/sh
test "\$(cat "$T/home/.ssh/id")" = SECRET || exit 9
echo "\$*" >>"$T/asked"
shift \$((\$# - 1)); exec sh -c "\$1"
E
  chmod +x "$T/ssh"
  git remote set-url origin "host:$T/home/origin.git"
  export GIT_SSH_COMMAND=$T/ssh GIT_SSH_VARIANT=simple
  call "$garth" run --task p --push main -- sh -c 'echo 1 >one; git add .; git commit -qm one; env; cat ~/.ssh/id; git config -l; true'
  [[ $code == 0 ]] || complain
  [[ $out != *SECRET* ]] || complain
  [[ $out != *"$T/ssh"* ]] || complain
  [[ $out != *host:* ]] || complain
  [[ $(there) == $'one\nfirst' ]]
  grep -q "git-receive-pack" "$T/asked"
}

@test "G5 G9 push: a file that becomes protected by the rebase onto others' work needs the user's permission" {
  seq 100 150 >job.yml; git add .; git commit -qm base; remote origin
  "$garth" new t; inside t 'sed -i "s/120/evil/" job.yml; git commit -qam mod'
  git clone -q "$T/home/origin.git" "$T/other"
  (cd "$T/other"; mkdir -p .github/workflows; git mv job.yml .github/workflows/job.yml; git commit -qm moved; git push -q)
  changes_nothing 4 "it changes 1 protected path" "$garth" push -q t main
  [[ $(there) == $'moved\nbase\nfirst' ]]
  # the task's own file may say so
  printf 'name: f\nagent: {project_dir: %s, command: [sh, -c, "sed -i s/130/fine/ job.yml; git commit -qam fine"]}\npush: main\npolicy: {allow: [.github/workflows/job.yml]}\n' "$R" >"$T/home/task.yaml"
  "$garth" run -q "$T/home/task.yaml"; [[ $(there | head -1) == fine ]]
  "$garth" allow t .github/workflows/job.yml; "$garth" push t main; [[ $(there | head -1) == mod ]]
}

@test "G9 push: an agent that pushes in a loop does not keep the remote busy" {
  remote origin
  printf '#!/bin/sh\ndate +%%s.%%N >>"%s"\nexit 1\n' "$T/asked" >"$T/home/origin.git/hooks/pre-receive"; chmod +x "$T/home/origin.git/hooks/pre-receive"
  call "$garth" run --task p --push main -- bash -c 'echo x >x; git add x; git commit -qm x
    for j in 1 2 3; do (end=$((SECONDS + 4)); while ((SECONDS < end)); do curl -s -m 10 --unix-socket $GARTH_SOCKET http://g/api/v1/git/push -d "{}" >/dev/null; done) & done; wait; exit 1'
  [[ $(wc -l <"$T/asked") -le 6 ]] || complain "$(<"$T/asked")"
}

@test "G5 G9 push: what the task file protects and allows applies to the user's push too" {
  mkdir lib .circleci; seq 100 150 >lib/f; seq 100 150 >.circleci/c; git add .; git commit -qm base; remote origin
  file() { printf 'name: %s\nagent: {project_dir: %s, command: [sh, -c, "sed -i s/120/agent/ %s; git commit -qam mod"]}\npolicy: {%s}\n' "$1" "$R" "$2" "$3" >"$T/home/task.yaml"; "$garth" run -q "$T/home/task.yaml"; }
  file a lib/f 'protected: ["docs/**"]'
  file b .circleci/c 'allow: [".circleci/**"]'
  git clone -q "$T/home/origin.git" "$T/other"
  (cd "$T/other"; git mv lib docs; git commit -qm moved; git push -q)
  changes_nothing 4 "it changes 1 protected path" "$garth" push -q a main
  "$garth" push b main; [[ $(there) == $'mod\nmoved\nbase\nfirst' ]]
}

@test "G9 push: a remote that refuses for another reason is not taken for a race" {
  remote origin
  "$garth" new a; work a
  call "$garth" push a main/x
  [[ $code == 1 ]] || complain
  [[ $err == *"'origin' does not take it"* ]] || complain
  [[ $err != *moved* ]] || complain
  git for-each-ref refs/garth/fetched | grep . && false
  # the remote's branch is as it was
  [[ $(there) == first ]]
}

@test "G9 push: fetched objects are released, however the push ends" {
  remote origin
  "$garth" new a; "$garth" exec a -- sh -c 'echo mine >a.txt; git commit -qam mine'
  other origin a.txt <<<theirs
  call "$garth" push a main; [[ $code == 5 ]] || complain
  [[ -z $(git for-each-ref refs/garth/fetched) ]]
  "$garth" new b; work b; "$garth" push b main; [[ -z $(git for-each-ref refs/garth/fetched) ]]
}

@test "G9 push: resume repeats a failed push, and not the command; a missing remote is reported before" {
  call "$garth" run --push main -t n -- true
  [[ $code == 3 ]] || complain
  [[ $err == *"no remote 'local' or 'origin'"* ]] || complain
  [[ -z $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]' | tr -d '[]') ]] || complain
  git remote add origin "$T/home/nope.git"
  call "$garth" run --push main -t p -- sh -c 'echo ran >>/tmp/ran; echo z >z; git add z; git commit -qm z'
  [[ $code == 1 ]] || complain
  [[ $(state_of p) == failed ]] || complain
  [[ $(hint) == 'garth resume p' ]] || complain
  call "$garth" resume p
  [[ $code == 1 ]] || complain
  [[ $(state_of p) == failed ]] || complain
  git init -q --bare "$T/home/nope.git"
  git push -q origin main
  call "$garth" resume p
  [[ $code == 0 ]] || complain
  [[ $(git -C "$T/home/nope.git" log -1 --format=%s main) == z ]] || complain
  [[ $(state_of p) == done ]] || complain
  [[ $(inside p 'cat /tmp/ran') == ran ]] || complain
}

@test "G9 push: the remote's messages are shown, cleaned; a conflict has a hint; errors before contacting the remote are told to the agent" {
  remote origin
  "$garth" new a
  work a
  printf '#!/bin/sh\nprintf "no \\033[31mred\\033[0m today\\n\\nsee the wiki\\n"\nexit 1\n' >"$T/home/origin.git/hooks/pre-receive"
  chmod +x "$T/home/origin.git/hooks/pre-receive"
  fails 1 'it says: no ' "$garth" push -q a
  [[ $err == *'red'*'today / see the wiki'* ]] || complain
  [[ $err != *$'\033'* ]] || complain
  rm "$T/home/origin.git/hooks/pre-receive"
  "$garth" new b
  inside b 'echo mine >a.txt; git commit -qam b'
  other origin a.txt <<<theirs
  call "$garth" push b main
  [[ $code == 5 ]] || complain
  [[ $(hint) == 'git pull origin main && garth merge --resolve b' ]] || complain
  git pull -q origin main
  call "$garth" sync b
  [[ $code == 5 ]] || complain
  [[ $(hint) == 'garth merge --resolve b' ]] || complain
  call "$garth" run --task n --push main -- sh -c 'git push || true'
  [[ $err == *"task 'n' has published nothing"* ]] || complain
}

# `git lfs push origin garth/t` would upload nothing: it leaves out what the remote's branch has. The control is the clone.
@test "G9 W8 push: LFS content is not pushed; the command that pushes it is named, once" {
  git lfs install --skip-repo
  git lfs track '*.bin'; git add .gitattributes; git commit -qm lfs; mkdir -p .git/lfs/objects
  remote origin
  # a signed commit, and a program that checks signatures: `git log` would run it, as the control does
  git reset -q --hard "$(git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----' | git hash-object -t commit -w --stdin)"
  printf '#!/bin/sh\ntouch %s/evil.ran\n' "$T" >"$T/evil"; chmod +x "$T/evil"
  git config log.showSignature true; git config gpg.program "$T/evil"; git config --global --add garth.trust "$R"
  git log -1 >"$T/out"; rm "$T/evil.ran"
  "$garth" new t
  inside t 'head -c 2000 /dev/urandom >new.bin; echo text >text; git add new.bin text; git commit -qm "a file"'
  [[ $("$garth" push t --json 2>"$T/told" | json 'len(d["lfs_objects"])') == 1 ]]
  call "$garth" push t
  [[ $err != *LFS* ]] || complain
  inside t 'echo more >>text; git commit -qam more'
  call "$garth" push t
  [[ $err != *LFS* ]] || complain
  grep -q 'the content of 1 file of Git LFS is not pushed' "$T/told"
  [[ ! -e $T/evil.ran ]]
  [[ ! -d $T/home/origin.git/lfs ]]
  eval "$(sed -n 's/.*git lfs/git lfs/p' "$T/told" | tail -n1)"
  git clone -q -b garth/t "$T/home/origin.git" "$T/clone"
  cmp <(git show garth/t:new.bin | git lfs smudge) "$T/clone/new.bin"
  [[ $(wc -c <"$T/clone/new.bin") == 2000 ]]
}
