load helpers

setup_remote() {
  git init -q --bare "$T/home/origin.git"
  git remote add origin "$T/home/origin.git"
  git push -q origin main
  git clone -q "$T/home/origin.git" "$T/other"
}
# other FILE: somebody else's commit with that file reaches the remote
other() { (cd "$T/other" && mkdir -p "$(dirname "$1")" && cat >"$1" && git add -A && git commit -qm "other $1" && git push -q); }
allowed() { configure <<<'git: {fetch: true}'; }

@test "G4 fetch: refused unless the user allows it, and nothing is fetched" {
  setup_remote; "$garth" new t; other new.txt <<<new
  for words in fetch 'fetch origin' 'fetch origin main' pull ls-remote 'remote update'; do
    call "$garth" exec t -- git $words
    [[ $code != 0 ]] || complain "$words"
    [[ $err == *'BLOCKED: a task does not fetch'* ]] || complain "$words"
    [[ $err == *'garth sync t'* ]] || complain "$words"
  done
  [[ $(git rev-parse refs/remotes/origin/main) == $(git rev-parse main) ]]
  [[ $(inside t 'git for-each-ref refs/remotes') == '' ]]
}

@test "G4 G12 fetch: the user's git fetches the target's branch of the remote; the agent merges it and publishes" {
  setup_remote; allowed; before=$(git rev-parse main)
  "$garth" new t; other .github/workflows/ci.yml <<<'on: push'; there=$(git -C "$T/other" rev-parse HEAD)
  call "$garth" exec t -- git fetch origin
  [[ $code == 0 ]] || complain
  [[ $err == *"origin/main is now ${there:0:12}"* ]] || complain
  [[ $(inside t 'git rev-parse origin/main') == "$there" ]]
  # the user's branch and checkout stay; the ref that the user's own fetch writes has moved, and nothing is left
  [[ $(git rev-parse main) == "$before" ]]
  [[ -z $(git status --porcelain) ]]
  [[ $(git rev-parse refs/remotes/origin/main) == "$there" ]]
  [[ -z $(git for-each-ref refs/garth/fetched) ]]
  # changes of others to protected paths do not count as this task's
  inside t 'echo mine >mine; git add .; git commit -qm mine; git merge -q -m merged origin/main'
  [[ $(git rev-parse garth/t) == $(inside t 'git rev-parse HEAD') ]]; git merge-base --is-ancestor "$there" garth/t
  # its own changes to them do
  call "$garth" exec t -- sh -c 'echo evil >.github/workflows/ci.yml; git commit -qam evil'
  [[ $code != 0 ]] || complain
  [[ $err == *"'.github/workflows/ci.yml' is protected"* ]] || complain
  inside t 'git restore -SW .'
  call "$garth" exec t -- git fetch
  [[ $code == 0 ]] || complain
  [[ $err == *'is still'* ]] || complain
  "$garth" audit t | grep -q 'fetch .*remote=origin branch=main'
  "$garth" audit --verify
  "$garth" doctor >/dev/null
  "$garth" discard -fD t
  "$garth" doctor >/dev/null
}

@test "G4 fetch: if the task has its own objects (strict, clone), they are sent in" {
  setup_remote; allowed
  "$garth" new s --strict-isolation; "$garth" new c --backend clone
  other more.txt <<<more; there=$(git -C "$T/other" rev-parse HEAD)
  for t in s c; do
    inside $t '[ -z "$(git fetch -q 2>&1)" ] && git merge -q origin/main && cat more.txt && echo x >x && git add x && git commit -qm x'
    [[ $(git rev-parse garth/$t~1) == "$there" ]]
  done
}

@test "G4 fetch: only the target's branch, whatever the arguments; also for pull and ls-remote" {
  setup_remote; allowed
  (cd "$T/other" && git push -q origin HEAD:refs/heads/secret)
  "$garth" new t; other new.txt <<<new; there=$(git -C "$T/other" rev-parse HEAD)
  for words in 'fetch origin secret' 'fetch origin +refs/heads/*:refs/heads/*' 'fetch origin main:main' 'fetch --upload-pack=/bin/false' \
      'fetch origin refs/heads/main:refs/heads/garth/t' 'fetch --update-head-ok' 'fetch --multiple a b' 'ls-remote --upload-pack=x origin' 'fetch origin -- main --output=x'; do
    call "$garth" exec t -- git $words
    [[ $code != 0 ]] || complain "$words"
    [[ $err == *"BLOCKED: this task may fetch 'main' of origin, nothing else"*'Instead, you should: git fetch'* ]] || complain "$words"
  done
  # a URL or a path is read inside, under the network's list; the gateway itself takes none of them
  for words in ext::sh . /tmp "$T/home/origin.git"; do
    call inside t "curl -sS --unix-socket \$GARTH_SOCKET http://g/api/v1/git/fetch -d '{\"args\":[\"$words\"]}'"
    [[ $out == *fetch_not_allowed* ]] || complain "$words"
    call "$garth" exec t -- git fetch "$words" main
    [[ $(git rev-parse refs/remotes/origin/main) != "$there" ]] || complain "$words"
  done
  call "$garth" exec t -- git ls-remote origin
  [[ $code == 0 ]] || complain
  [[ $out == "$there"$'\trefs/heads/main' ]] || complain
  call "$garth" exec t -- git pull
  [[ $code == 0 ]] || complain
  [[ $err == *'git merge origin/main'* ]] || complain
  inside t 'git merge -q origin/main'
  [[ $(git rev-parse garth/t) == "$there" ]]
  [[ -z $(git for-each-ref refs/remotes/origin/secret) ]]
}

@test "G4 fetch: the remote's messages are for the user; a task file can allow it; killed, nothing is left" {
  setup_remote
  printf 'name: f\nagent: {project_dir: %s, command: [git, fetch]}\ngit: {fetch: true}\n' "$R" >"$T/home/task.yaml"
  other a.txt <<<a
  "$garth" run -q "$T/home/task.yaml"; [[ $(git rev-parse refs/remotes/origin/main) == $(git -C "$T/other" rev-parse HEAD) ]]
  mv "$T/home/origin.git" "$T/home/away.git"
  call "$garth" exec f -- git fetch
  [[ $code != 0 ]] || complain
  [[ $err == *'the fetch did not work'* ]] || complain
  [[ $err != *origin.git* ]] || complain
  grep -q '"fetch-failed".*origin.git' "$GARTH_HOME/audit.jsonl"
  mv "$T/home/away.git" "$T/home/origin.git"; other b.txt <<<b
  GARTH_FAULT=fetch-taken "$garth" exec f -- git fetch && false
  "$garth" doctor --repair >/dev/null; [[ -z $(git for-each-ref refs/garth/fetched) ]]
  "$garth" exec f -- git fetch -q; [[ $(git rev-parse refs/remotes/origin/main) == $(git -C "$T/other" rev-parse HEAD) ]]
}

@test "G4 ESCAPES 20 fetch: an agent that keeps asking blocks nobody: limits are watched, the user is answered" {
  setup_remote; configure <<<$'git: {fetch: true}\nlimits: {max_disk: 20MB, check_every: 1}'
  cat >ask.py <<'PY'
import os, socket, threading, time
def ask():
    while True:
        try:
            s = socket.socket(socket.AF_UNIX); s.settimeout(30); s.connect(os.environ["GARTH_SOCKET"])
            s.sendall(b"POST /api/v1/git/fetch HTTP/1.1\r\nHost: garth\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"); s.recv(3000)
        except OSError: time.sleep(.2)
for i in range(30): threading.Thread(target=ask, daemon=True).start()
time.sleep(2)
if os.environ["W"] == "1":
    for i in range(30): open("f%d" % i, "wb").write(b"x" * (8 << 20)); time.sleep(1)
time.sleep(100)
PY
  commit ask
  W=1 "$garth" run -q -d -t w -e W -- /usr/bin/python3 ask.py
  W=0 "$garth" run -q -d -t c -e W -- /usr/bin/python3 ask.py
  sleep 4
  local from=$SECONDS
  "$garth" pause c
  "$garth" resume c
  ((SECONDS - from < 60)) || complain "pause and resume took $((SECONDS - from)) s"
  eventually is_state w paused
  (($(du -sm "$(task_dir w)" | cut -f1) < 120)) || complain "$(du -sm "$(task_dir w)")"
  "$garth" cancel w
  "$garth" cancel c
}

@test "G4 fetch: objects that a clone could not unpack are sent again with the next fetch" {
  setup_remote; allowed; "$garth" new t --backend clone
  other one.txt <<<one; inside t 'git fetch -q'
  other two.txt <<<two
  call "$garth" exec t -- sh -c 'G=$(git rev-parse --absolute-git-dir); chmod -R a-w "$G/objects"; git fetch -q; echo $?; chmod -R u+w "$G/objects"'; [[ $out != 0 ]] || complain
  other three.txt <<<three
  inside t 'git fetch -q && git log -3 --format=%H origin/main >/dev/null && git merge -q origin/main && cat one.txt two.txt three.txt && git fsck --connectivity-only' >"$T/o"; [[ $(head -3 "$T/o") == $'one\ntwo\nthree' ]]
}
