load helpers

# set_up LINE…: the set-up's commands, for files that git ignores below deps/ and in each made/.
set_up() {
  printf '*.o\nignored/\ndeps/\nmade/\n' >.gitignore; echo 1 >pkg.lock; commit locks
  { printf 'workspace:\n  setup_inputs: [pkg.lock]\n  setup:\n'; printf "    - '%s'\n" "${@//\'/\'\'}"; } | configure
}

layers() { find "$GARTH_HOME/layers" -mindepth 2 -maxdepth 2 -name 'setup-*' ! -name '*.*'; }
# nothing_half: no incomplete layer and no task of a set-up exist.
nothing_half() {
  [[ -z $(find "$GARTH_HOME/layers" -name '*.part') ]]
  [[ -z $(git for-each-ref 'refs/heads/garth/setup-*') ]]
  [[ $("$garth" ls --all --json | json '[t["name"] for t in d["tasks"] if t["name"].startswith("setup-")]') == '[]' ]]
}

@test "W7 set-up: it runs once, and every task shares what it left, in every backend" {
  set_up 'mkdir -p deps/a dir/made' 'echo x >deps/a/x; echo y >dir/made/y; ln -s a/x deps/l; chmod 755 deps/a/x; echo run >>deps/runs'
  call "$garth" warm
  says 'the set-up is done: 4 files, 11 bytes, for every new task'
  call "$garth" warm
  says 'the set-up was done before, and its inputs have not changed'
  for b in "${backends[@]}"; do
    "$garth" new "t-$b" --backend "$b"
    [[ $(inside "t-$b" 'cat deps/a/x dir/made/y deps/l deps/runs; stat -c %a deps/a/x; pwd' | tr '\n' ' ') == "x y x run 755 $(inside "t-$b" pwd) " ]]
    [[ -z $(inside "t-$b" 'git status --porcelain') ]]
    [[ -z $("$garth" diff "t-$b") ]]
    inside "t-$b" 'echo changed >deps/a/x; rm dir/made/y; echo more >deps/more'
    call "$garth" run -q --task "r-$b" --backend "$b" -- sh -c 'cat deps/a/x dir/made/y && rm deps/l && echo z >deps/z'
    [[ $code == 0 && $out == $'x\ny' ]] || complain "$b"
    [[ $(state_of "r-$b") == done ]]
  done
  [[ $(layers | wc -l) == 1 ]]
  nothing_half
}

@test "W7 set-up: read-only and closed directories, as go leaves them, are taken" {
  set_up 'mkdir -p deps/mod/sub deps/closed; echo x >deps/mod/sub/f; echo x >deps/closed/f; chmod 444 deps/mod/sub/f; chmod 555 deps/mod/sub deps/mod; chmod 0 deps/closed'
  "$garth" new a
  [[ $(inside a 'cat deps/mod/sub/f deps/closed/f' | paste -sd" ") == 'x x' ]]
  nothing_half
}

@test "W7 set-up: changed inputs run it again; a later commit with the same inputs takes the layer along" {
  set_up 'mkdir -p deps; cat pkg.lock >deps/v; echo run >>deps/runs'
  "$garth" new a
  echo later >a.txt; commit later
  "$garth" new b
  [[ $(layers | wc -l) == 1 ]]
  [[ $(inside b 'cat a.txt deps/v' | tr '\n' ' ') == 'later 1 ' ]]
  echo 2 >pkg.lock; commit lock
  "$garth" new c
  [[ $(layers | wc -l) == 2 ]]
  [[ $(inside c 'cat deps/v') == 2 ]]
  [[ $(inside a 'cat deps/v') == 1 ]]
  # a commit that tracks a path of the layer has its own
  mkdir -p deps; echo tracked >deps/v; git add -f deps; commit 'deps are tracked'
  "$garth" new d
  [[ $(inside d 'cat deps/v') == tracked ]]
  [[ -z $(inside d 'git status --porcelain') ]]
  [[ $(layers | wc -l) == 3 ]]
}

# The agent changes an input, and a script that the set-up runs but that is not an input. The user pushes that for a review,
# looks at it in another task, and takes only the input.
@test "W7 ESCAPES 6 set-up: what it makes of an agent's commit is for that commit only" {
  set_up 'sh script'
  echo 'mkdir -p deps; echo good >deps/v' >script; git add script; commit script
  "$garth" new t
  inside t "echo 2 >pkg.lock; echo 'mkdir -p deps; echo evil >deps/v' >script; git commit -qam evil"
  git init -q --bare "$T/remote.git"; git remote add origin "$T/remote.git"; "$garth" push t
  evil=$(git rev-parse garth/t)
  [[ -n $(git for-each-ref --contains $evil refs/remotes) ]]
  # dates that would end a search for the commit from the task's branch too early
  inside t 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do export GIT_COMMITTER_DATE="@$((i * 1000000)) +0000"; git commit -q --allow-empty -m $i; done'
  [[ $(git rev-list --max-count=1 $evil --not garth/t) == "$evil" ]]
  "$garth" new look --base $evil
  [[ $(inside look 'cat deps/v') == evil ]]
  "$garth" new again --base $evil
  [[ $(layers | wc -l) == 2 ]]
  git checkout -q garth/t -- pkg.lock; commit 'the input only'
  "$garth" new mine
  [[ $(inside mine 'cat deps/v') == good ]]
  # control: the set-up of a user's commit is shared with other tasks
  git branch other; echo x >>a.txt; commit x
  "$garth" new more --base other
  [[ $(layers | wc -l) == 3 ]]
}

@test "W7 set-up: two tasks that start at once run it once" {
  set_up "sleep 0.5; mkdir deps; date +%N >deps/when"
  "$garth" new a 3>&- & "$garth" new b 3>&- & wait
  [[ $(inside a 'cat deps/when') == "$(inside b 'cat deps/when')" ]]
  [[ $(layers | wc -l) == 1 ]]
}

@test "W7 set-up: one that fails says so, keeps its log, leaves no layer and no task; --no-setup starts without it" {
  set_up 'echo working; mkdir deps; echo half >deps/half' 'echo no such package >&2; exit 7'
  call "$garth" new t
  [[ $code == 125 ]] || complain
  [[ $err == *'the set-up failed with exit code 7 (no such package); it had no network (workspace.setup_network); its output is in '* ]] || complain
  [[ $(hint) == 'garth warm --verbose   # --no-setup starts without it' ]] || complain
  log=$(sed -nE 's/.*its output is in (.*)/\1/p' <<<"$err")
  [[ $(<"$log") == *$'working\n'*'no such package' ]] || complain "$(<"$log")"
  [[ -z $(layers) ]]
  nothing_half
  fails 3 "there is no task 't'" "$garth" show t
  call "$garth" run -q --task u -- true
  [[ $code == 125 ]] || complain
  "$garth" new --no-setup t
  [[ $(inside t 'ls -d deps 2>&1') == *'No such'* ]]
  "$garth" run -q --no-setup --task u -- true
}

@test "W7 set-up: the log has the lines of both streams in the order in which they were written" {
  set_up 'i=0; while [ $i -lt 300 ]; do i=$((i + 1)); echo $i; i=$((i + 1)); echo $i >&2; done; exit 7'
  call "$garth" new t
  [[ $code == 125 && $err == *'(300); '* ]] || complain
  log=$(sed -nE 's/.*its output is in (.*)/\1/p' <<<"$err")
  [[ $(grep -v '^\$' "$log") == "$(seq 300)" ]] || complain "$(<"$log")"
}

@test "W7 set-up: what git does not ignore is named, but not a directory that ignores itself" {
  set_up 'mkdir gen half open; echo "*" >gen/.gitignore; echo x >gen/x; printf "*\n!x\n" >half/.gitignore; echo x >half/x; echo x >open/x'
  call "$garth" new t
  [[ $err == *'left files that git does not ignore'*half/* ]] || complain
  [[ $err == *'left files that git does not ignore'*open/* ]] || complain
  [[ $err != *gen/* ]] || complain
  [[ $(inside t 'git status --porcelain -uall') == $'?? half/x\n?? open/x' ]]
}

@test "W7 set-up: a host that it may not reach is named when it fails" {
  set_up 'curl -fsS http://one.example/ http://one.example:8080/'
  echo '  setup_network: [two.example]' >>"$XDG_CONFIG_HOME/garth/config.yaml"
  call "$garth" new t
  [[ $code == 125 ]] || complain
  [[ $err == *'; one.example:80 is not in workspace.setup_network; one.example:8080 is not in workspace.setup_network; its output is in '* ]] || complain
}

# A name of the machine's own that leads to an address which is not public, as a mirror in a company's network.
@test "W7 set-up: when a host on its list has a private address, the message names what the list must have" {
  read -r name address <<<"$(awk '$1 ~ /^(127\.|10\.|192\.168\.)/ { for (i = 2; i <= NF; i++) if ($i != "localhost" && $i !~ /^#/) { print $i, $1; exit } }' /etc/hosts)"
  [[ -n $name ]] || skip "no such name in /etc/hosts"
  set_up "curl -fsS http://$name/"
  echo "  setup_network: [\"$name\"]" >>"$XDG_CONFIG_HOME/garth/config.yaml"
  call "$garth" new t
  [[ $code == 125 && $err == *"; $name:80 leads to $address, which is not a public address: workspace.setup_network must have $address too; its output is in "* ]] || complain
}

@test "W7 set-up: no network unless it asks for it; a home of its own; included files are not there" {
  set_up 'mkdir deps; env >deps/env; ls -A ~ >deps/home; ls -A >deps/files; echo secret >~/.token'
  printf '  include: [.env]\n' >>"$XDG_CONFIG_HOME/garth/config.yaml"; echo '.env' >>.gitignore; commit env; echo SECRET >.env
  "$garth" new t
  not inside t 'grep -qi proxy deps/env'
  not inside t 'grep -q .env deps/files'
  [[ $(inside t 'cat .env; ls -A ~ | grep -c token') == $'SECRET\n0' ]]
  printf '  setup_network: [example.org]\n' >>"$XDG_CONFIG_HOME/garth/config.yaml"
  "$garth" warm --again 2>&1 | grep -q 'uses the set-up'
  inside t 'echo work >work'; "$garth" discard -f t
  fails 4 '1 task is in the trash' "$garth" warm --again
  [[ $(hint) == 'garth gc --empty-trash' ]] || complain
  "$garth" gc --empty-trash >/dev/null
  "$garth" warm --again
  "$garth" new u
  inside u 'grep -qi proxy deps/env'
}

@test "W7 ESCAPES 2 ESCAPES 5 ESCAPES 9 ESCAPES 10 ESCAPES 16 set-up as the attacker: what it leaves is files, and tracked files stay" {
  echo sentinel >"$T/sentinel"
  git config core.hooksPath .git/hooks
  set_up "mkdir -p deps/repo/.git/hooks made; echo evil >a.txt; rm dir/b.txt; rm -rf dir/sub; mkdir dir/sub; echo n >dir/sub/n.o" \
    "ln -s $T/sentinel deps/out; mkfifo deps/fifo; cp /bin/true deps/suid; chmod 6755 deps/suid; echo x >deps/repo/.git/config; echo 'ref: x' >deps/repo/.git/HEAD" \
    "git config core.fsmonitor 'touch $T/ran'; git config core.hooksPath hooks; mkdir -p made; printf '*.txt filter=x' >.gitattributes; echo z >made/z; chmod 000 made/z" \
    "mkdir -p deps/bare/hooks deps/bare/objects deps/bare/refs; echo 'ref: refs/heads/x' >deps/bare/HEAD; git add a.txt; git commit -qm evil || true"
  printf '#!/bin/sh\ntouch %s/ran\n' "$T" >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout
  before=$(fingerprint)
  call "$garth" warm
  [[ $code == 0 ]] || complain
  [[ $err == *'changed tracked files'*a.txt* ]] || complain
  [[ $err == *'cannot be shared'*deps/fifo* || $err == *'cannot be shared'*deps/repo* ]] || complain
  [[ $err == *'does not ignore'*.gitattributes* ]] || complain
  l=$(layers)/tree
  [[ -z $(find "$l" ! -type f ! -type d ! -type l) ]]
  [[ -z $(find "$l" -name .git) ]]
  [[ -z $(find "$l" -perm /6000) ]]
  [[ ! -e $l/a.txt && ! -e $l/dir/b.txt && ! -e $l/deps/repo ]]
  [[ -f $l/dir/sub/n.o ]]
  "$garth" new t
  [[ $(inside t 'cat a.txt dir/b.txt dir/sub/c.txt' | tr '\n' ' ') == 'one two three ' ]]
  [[ $(inside t 'git log -1 --format=%s') == locks ]]
  not inside t "cat deps/out"
  "$garth" diff t >/dev/null; "$garth" export t "$T/x" 2>/dev/null; "$garth" ls >/dev/null; "$garth" doctor >/dev/null || true
  [[ ! -e $T/ran && $(<"$T/sentinel") == sentinel ]]
  [[ $(fingerprint) == "$before" ]]
  nothing_half
}

@test "W7 ESCAPES 6 ESCAPES 19 set-up as the attacker: what it leaves running changes nothing, and no task reaches the layer" {
  set_up 'mkdir deps; echo 1 >deps/one; (trap "" HUP TERM; setsid sh -c "sleep 0.3; while :; do echo late >deps/late; rm -f deps/one; done") >/dev/null 2>&1 &'
  "$garth" warm
  "$garth" new t
  [[ $(inside t 'cat deps/one; ls deps') == $'1\none' ]]
  not inside t 'echo x >/run/garth/layers/0/deps/one'
  not inside t 'rm /run/garth/layers/0/deps/one'
  not inside t 'mount -o remount,rw /run/garth/layers/0'
  inside t 'echo x >deps/one; ln deps/one deps/two; chmod 600 deps/one'
  "$garth" new u
  [[ $(inside u 'cat deps/one; ls deps') == $'1\none' ]]
  call "$garth" doctor
  [[ $code == 0 ]] || complain
}

@test "W7 ESCAPES 23 set-up: a command that is killed ends the set-up; the next one begins anew, and gc removes what is left" {
  set_up 'mkdir deps; touch deps/started; test -n "$FAST" || sleep 30; echo 1 >deps/one'
  printf 'jail: {env: [FAST]}\n' >>"$XDG_CONFIG_HOME/garth/config.yaml"
  began() { compgen -G "$GARTH_HOME/tasks/*/upper/deps/started" >/dev/null; }
  # The task of a killed set-up is locked until its keeper has ended; gc leaves it alone until then.
  gc_removes() { "$garth" gc; ! began; }
  "$garth" warm >/dev/null 2>&1 3>&- & pid=$!
  eventually began
  kill -9 $pid
  FAST=1 "$garth" new t
  [[ $(inside t 'cat deps/one') == 1 ]]
  nothing_half
  echo 2 >pkg.lock; commit lock
  "$garth" warm >/dev/null 2>&1 3>&- & pid=$!
  eventually began
  # gc does not touch a running one
  "$garth" gc >/dev/null
  began
  kill -9 $pid
  eventually gc_removes
  nothing_half
}

@test "W7 ESCAPES 23 set-up: killed at any step, it leaves nothing that is taken for whole" {
  set_up 'mkdir -p deps ~/.npm/_cacache; echo 1 >deps/one; echo run >>deps/runs; echo 1 >~/.npm/_cacache/one'
  for step in setup-task setup-ran setup-moved setup-caches layer-filled layer-made; do
    GARTH_FAULT=$step call "$garth" new t
    [[ $code == 137 ]] || complain "$step"
    [[ -z $(layers) ]] || complain "$step"
  done
  "$garth" new t
  [[ $(inside t 'cat deps/one deps/runs ~/.npm/_cacache/one' | tr '\n' ' ') == '1 run 1 ' ]]
  nothing_half
  # nor while the task in which it ran is removed
  for step in drop-marked drop-moved; do
    echo "$step" >pkg.lock; commit "$step"
    GARTH_FAULT=$step call "$garth" new "u-$step"
    [[ $code == 137 ]] || complain "$step"
    "$garth" new "v-$step"
    [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"] if t["name"].startswith("setup")]') == '[]' ]] || complain "$step"
  done
  nothing_half
}

@test "W7 set-up: rollback --full restores its files; a task that is resumed and undone still has them" {
  set_up 'mkdir deps; echo 1 >deps/one; echo 2 >deps/two'
  for b in "${backends[@]}"; do
    "$garth" new "t-$b" --backend "$b"
    inside "t-$b" 'rm -rf deps; mkdir deps; echo new >deps/new; echo w >w.txt'
    "$garth" rollback "t-$b" --full
    [[ $(inside "t-$b" 'cat deps/one deps/two; ls deps | wc -l' | tr '\n' ' ') == '1 2 2 ' ]] || complain "$b: $(inside "t-$b" 'ls deps')"
    "$garth" discard -f "t-$b"
    "$garth" undo "t-$b"
    [[ $(inside "t-$b" 'cat deps/one') == 1 ]]
  done
}

@test "W7 set-up: a running task's rollback restores its files too" {
  set_up 'mkdir deps; echo 1 >deps/one; echo 2 >deps/two'
  "$garth" run -q -d --task t -- sh -c 'rm -rf deps; echo w >w.txt; touch /tmp/ready; exec sleep 60' >/dev/null
  eventually inside t 'test -f /tmp/ready'
  "$garth" rollback t --full
  [[ $(inside t 'cat deps/one deps/two; ls' | tr '\n' ' ') == '1 2 a.txt deps '* ]]
  not inside t 'test -e w.txt'
}

@test "W7 set-up: wrong configuration and nothing to do are said" {
  fails 3 'the configuration has no set-up' "$garth" warm
  configure <<<$'workspace:\n  setup: {npm: ci}\n'
  fails 2 "a command in 'workspace.setup' must be a text for a shell, or a list of words" "$garth" warm
  configure <<<$'workspace:\n  setup: [[printf, "%s\\\\n", "it\'s; $HOME"], "true"]\n'
  "$garth" warm --verbose 2>&1 | grep -F "it's; \$HOME"
}
