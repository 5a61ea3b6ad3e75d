# J9 W3: a clone on Landlock alone, for machines without namespaces. Each attack is made outside first, where it works.
load helpers

setup() {
  garth_setup
  without=(python3 "$BATS_TEST_DIRNAME/without-userns")
}

# alone COMMAND…: runs garth where no namespace can be made.
alone() { "${without[@]}" "$garth" "$@"; }
weak() { alone run -q --allow-weaker "$@"; }

# by_user: what follows is for an ordinary user; for root it is refused.
by_user() { ! is_root; }

@test "J9 landlock_only: refused without the option, announced clearly with it; never for root, never strict" {
  call alone run -- true
  [[ $code == 125 ]] || complain
  [[ $err == *'--allow-weaker runs on Landlock alone'* ]] || complain
  # and leaves nothing that would disturb the next try
  [[ $("$garth" ls --json | json 'len(d["tasks"])') == 0 ]]
  call alone run --allow-weaker --strict-isolation -- true
  [[ $code == 2 ]] || complain
  [[ $err == *'never runs weaker'* ]] || complain
  fails 2 'never runs weaker' alone new s --allow-weaker --strict-isolation
  call alone run --allow-weaker --backend worktree -- true
  [[ $code == 125 ]] || complain
  [[ $err == *'goes with --backend clone'* ]] || complain
  call alone run --allow-weaker --task a -- sh -c 'git log --format=%s'
  if ! by_user; then
    [[ $code != 0 ]] || complain
    [[ $err == *'cannot hold root'* ]] || complain
    return
  fi
  [[ $code == 0 ]] || complain
  [[ $out == *first* ]] || complain
  [[ $err == *'Landlock alone'* ]] || complain
  [[ $(field a backend) == alone ]]
  [[ $("$garth" show a) == *'network '*none* ]]
  call alone run --allow-weaker --allow example.com -- true
  [[ $code == 4 ]] || complain
  [[ $err == *"network 'allow' needs namespaces"* ]] || complain
  fails 4 "git among its files would run" "$garth" path a
}

@test "W3 J9 landlock_only: git inside works, commits are published, checked and recorded; the whole life of a task" {
  by_user || return 0
  weak --task a --on-dirty keep -- sh -ec 'git status --porcelain; echo 1 >one; chmod +x one; touch -d @1000000000 one; git add one; git commit -qm one; git log -1 --format=%s
    mkdir sub; cd sub; git init -q nested; git -C nested status -s; /usr/bin/git branch --show-current'
  [[ $(git log -1 --format=%s garth/a) == one ]]
  [[ $(git ls-tree garth/a one) == 100755* ]]
  "$garth" audit a | grep -q publish
  "$garth" audit --verify
  call alone exec a -- sh -c 'mkdir -p .github/workflows; echo x >.github/workflows/x.yml; git add .github; git commit -qm no'
  [[ $code != 0 ]] || complain
  [[ $err == *protected* ]] || complain
  alone exec a -- sh -c 'git rm -rfq --cached .github; rm -rf .github sub; echo 2 >two; git add .; git commit -qm two'
  alone snapshot a
  alone exec a -- sh -c 'echo 3 >three; git add three; git commit -qm three'
  # no variable of an agent names a file of Garth's that is not there
  [[ $(alone exec --agent goose a -- sh -c 'echo "$GOOSE_SHELL,$GOOSE_MOIM_MESSAGE_FILE,$GOOSE_MODE"') == ,,auto ]]
  "$garth" diff a | grep -q '^+3'
  alone rollback a --to-snapshot 2
  [[ $(alone exec a -- git log -1 --format=%s) == two ]]
  alone exec a -- sh -c 'echo 4 >four'
  alone sync a 2>/dev/null || true
  "$garth" export a "$T/taken"
  [[ -f $T/taken/one ]]
  [[ ! -e $T/taken/.git ]]
  "$garth" archive a >/dev/null
  "$garth" undo
  [[ $(alone exec a -- cat four) == 4 ]]
  "$garth" discard -fD a
  "$garth" undo
  [[ $(alone exec a -- git log -1 --format=%s) == two ]]
  "$garth" merge a
  [[ $(git log -1 --format=%s main) == two ]]
  [[ -z $(git status --porcelain) ]]
  "$garth" doctor
  "$garth" discard -fD a
  "$garth" gc --empty-trash
  [[ -z $(ls "$GARTH_HOME/alone") ]]
}

@test "J2 J9 landlock_only: a directory with something hidden in it is shown without that" {
  by_user || return 0
  mkdir "$T/shown"; mkdir "$T/shown/ok"; echo FINE >"$T/shown/ok/f"; mv "$R" "$T/shown/app"; ln -s "$T/shown/app" "$T/shown/way"
  export GARTH_HOME=$T/shown/garth; R=$T/shown/app; cd "$R"; echo SECRET >untracked
  printf 'jail: {allow_read: ["%s"]}\n' "$T/shown" >"$T/config.yaml"; export GARTH_CONFIG=$T/config.yaml
  weak --task a -- true
  call alone exec a -- sh -c "cat $T/shown/ok/f; cat $R/untracked $T/shown/way/untracked $R/.git/config $GARTH_HOME/garth.db; ls $T/shown $R; true"
  [[ $code == 0 ]] || complain
  [[ $out == FINE ]] || complain
}

# ways FILE: attempts on a file outside, one on each line.
tried() { printf '%s\n' "cat $1" "echo x >>$1" "chmod 777 $1" "touch -d @5 $1" "rm -f $1" "mv $1 $1.away" "ln $1 here" "truncate -s 0 $1" "cp $1 here" "python3 -c 'import os; os.setxattr(\"$1\", \"user.x\", b\"y\")'"; }

@test "ESCAPES 1 J2 J9 landlock_only: files outside cannot be read, written, moved or linked, nor their modes and times changed" {
  by_user || return 0
  "$garth" new sibling --backend clone; inside sibling 'echo s >s'
  weak --task a -- true
  local f cmd
  for f in "$T/home/secret" "$R/a.txt" "$R/.git/config" "$GARTH_HOME/garth.db" "$GARTH_HOME/worktrees/sibling/s" "$GARTH_HOME/tasks/$(field a id)/host-index"; do
    [[ $f == *secret ]] && echo SECRET >"$f"
    stat -c '%a %Y %s %h' "$f" >"$T/before"; sha256sum "$f" >>"$T/before"
    call alone exec a -- sh -c "$(tried "$f" | sed 's/.*/{ &; } \&\& echo "WORKED: $?"; test -e '"${f//\//\\/}"' || echo GONE/')"
    [[ $code == 0 ]] || complain "$f"
    [[ $out != *SECRET* ]] || complain "$f"
    [[ $out != *GONE* ]] || complain "$f"
    [[ $out != *WORKED* ]] || complain "$f"
    {
      stat -c '%a %Y %s %h' "$f"
      sha256sum "$f"
    } | diff "$T/before" - || complain "changed: $f"
  done
  # control: the same on the user's own file, outside
  echo x >"$T/mine"; while read -r cmd; do (cd "$T"; [[ -e mine ]] || echo x >mine; rm -f here; sh -c "$cmd") || complain "the control failed: $cmd"; done < <(tried "$T/mine")
  call alone exec a -- ls "$T/home"; [[ $code != 0 ]] || complain
  call alone exec a -- sh -c 'for f in task operations bin/git hook; do echo x >$GARTH_DIR/$f; rm -f $GARTH_DIR/$f; chmod 777 $GARTH_DIR/$f; done; rm -rf $GARTH_DIR; git log --format=%s'
  [[ $code == 0 ]] || complain
  [[ $out == first ]] || complain
  [[ $(stat -c %a "$GARTH_HOME/tasks/$(field a id)/run/task") == 600 ]] || complain
  # through its own links, and through what it has opened
  call alone exec a -- sh -c "ln -s $T/home/secret l; cat l; chmod 777 l; echo >l; ln -s $T/home d; ls d/; touch d/new"
  [[ $out != *SECRET* ]] || complain
  [[ $(stat -c %a "$T/home/secret") != 777 ]] || complain
  [[ ! -e $T/home/new ]] || complain
}

@test "ESCAPES 19 J9 landlock_only: processes outside cannot be signalled, traced or inspected; all of the task's processes end with it" {
  by_user || return 0
  env TOKEN=SECRET sleep 1000 3>&- & local victim=$!
  weak --task a -- true
  call alone exec a -- sh -c "kill -9 $victim; kill -STOP $victim; renice 19 $victim; cat /proc/$victim/environ; ls /proc/$victim/fd/; kill -9 -1; true"
  kill -0 $victim
  [[ $out != *SECRET* ]] || complain
  [[ $(awk '/^State/ {print $2}' /proc/$victim/status) == S ]] || complain
  [[ $(awk '{print $19}' /proc/$victim/stat) == "$(nice)" ]] || complain
  # the control
  [[ $(tr '\0' '\n' </proc/$victim/environ) == *SECRET* ]]; kill $victim
  # a process that leaves its session is ended with the task
  alone exec a -- sh -c 'setsid sleep 7531 >/dev/null 2>&1 & (setsid sh -c "sleep 7532 & sleep 7532" &) ; sleep 0.2'
  eventually not pgrep -f 'sleep 753[12]'
  weak -d --task b -- sh -c 'setsid sleep 7533 & setsid sleep 7533 & sleep 7534'
  until [[ $(pgrep -fc 'sleep 7533') -ge 2 ]]; do sleep 0.05; done
  "$garth" cancel b; [[ -z $(pgrep -f 'sleep 753[34]') ]]
  # and with its keeper, however the keeper dies
  alone exec b -- true; weak -d --task c -- sh -c 'setsid sleep 7535 & sleep 7536'
  until pgrep -f 'sleep 7535' >/dev/null; do sleep 0.05; done
  kill -9 "$(keeper_of c)"
  for i in $(seq 100); do
    [[ -z $(pgrep -f 'sleep 753[56]') ]] && break
    sleep 0.05
  done
  [[ -z $(pgrep -f 'sleep 753[56]') ]]
  [[ $(state_of c) == interrupted ]]
  # or with the supervisor, which nothing inside can kill
  weak -d --task d -- sh -c 'setsid sleep 7537 & sleep 7538'
  until pgrep -f 'sleep 7537' >/dev/null; do sleep 0.05; done
  call alone exec d -- sh -c "kill -9 $(pgrep -P "$(keeper_of d)" -x garth-supervise)"
  [[ $code != 0 ]] || complain
  [[ $(state_of d) == running ]] || complain
  kill -9 "$(pgrep -P "$(keeper_of d)" -x garth-supervise)"
  until [[ $(state_of d) != running ]]; do sleep 0.05; done
  [[ -z $(pgrep -f '^sleep 753[78]') ]]
}

@test "ESCAPES 20 J8 J9 landlock_only: a task's disk usage is measured, with files that it removed and keeps open, and it continues within its limits" {
  by_user || return 0
  echo 'limits: {max_disk: 20MB, check_every: 1}' >"$T/config.yaml"; export GARTH_CONFIG=$T/config.yaml
  weak -d --task a -- sh -c '(/usr/bin/python3 -c "
import ctypes, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
time.sleep(60)" &); head -c 3M /dev/urandom >x; sleep 60'
  weak -d --task b -- /usr/bin/python3 -c '
import ctypes, os, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
fds = []
for i in range(6):
    fd = os.open("gone%d" % i, os.O_RDWR | os.O_CREAT); os.write(fd, b"x" * (8 << 20)); os.unlink("gone%d" % i); fds.append(fd)
if os.fork() == 0:
    if os.fork(): os._exit(0)
    time.sleep(60)
os.wait(); os.closerange(3, 100)
time.sleep(60)'
  eventually is_state b paused
  [[ $("$garth" show b) == *"on disk, more than limits.max_disk"* ]] || complain "$("$garth" show b)"
  sleep 2
  is_state a running || complain "$("$garth" show a)"
  "$garth" cancel a
  "$garth" cancel b
}

@test "ESCAPES 18 19 J9 landlock_only: a task that forks without end hits its limit and ends" {
  by_user || return 0
  echo 'limits: {max_processes: 60}' >"$T/config.yaml"; export GARTH_CONFIG=$T/config.yaml
  # the limit is added to the user's other processes, of which other tests start and end some meanwhile; without it
  # there would be thousands
  room=$((60 + $(ps -L -u "$(id -u)" --no-headers | wc -l) + 300))
  weak -d --task a -- python3 -c '
import os, time # multiplies-alone
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: time.sleep(0.01)'
  sleep 1
  call pgrep -u "$(id -u)" -cf 'multiplies-alone'
  ((out > 10 && out < room)) || complain "room: $room"
  "$garth" cancel a
  [[ -z $(pgrep -u "$(id -u)" -f '^python3 -c.*multiplies-alone') ]]
  [[ $(state_of a) == cancelled ]]
}

@test "ESCAPES 20 22 J9 landlock_only: no socket outside can be reached: unix, abstract, datagram; no network unless it is the host's" {
  by_user || return 0
  cat >"$T/home/serve.py" <<'P'
import os, socket, sys, threading
out = []
def serve(s):
    while True:
        c, _ = s.accept(); c.sendall(b"REACHED"); c.close()
u = socket.socket(socket.AF_UNIX); u.bind(sys.argv[1]); u.listen()
a = socket.socket(socket.AF_UNIX); a.bind("\0" + sys.argv[2]); a.listen()
t = socket.create_server(("127.0.0.1", 0))
d = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); d.bind(sys.argv[1] + ".d")
for s in (u, a, t): threading.Thread(target=serve, args=(s,), daemon=True).start()
print(t.getsockname()[1], flush=True)
print(d.recv(100).decode(), flush=True)
P
  cat >"$T/reach.py" <<'P'
import socket, sys
def ask(family, address, kind=socket.SOCK_STREAM):
    try:
        s = socket.socket(family, kind); s.settimeout(3); s.connect(address); print(s.recv(100).decode())
    except OSError as e:
        print("no:", e)
path, name, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
ask(socket.AF_UNIX, path); ask(socket.AF_UNIX, "\0" + name); ask(socket.AF_INET, ("127.0.0.1", port))
try:
    for make in (lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0]):
        try: make().sendto(b"SENT", path + ".d")
        except OSError as e: print("no:", e)
except Exception as e: print("no:", e)
P
  python3 "$T/home/serve.py" "$T/home/sock" "garth-$$" >"$T/served" 3>&- & local server=$!
  until [[ -s $T/served ]]; do sleep 0.05; done
  local port; port=$(head -1 "$T/served")
  cp "$T/reach.py" "$R/reach.py"; git add .; git commit -qm reach
  weak --task a -- true
  call alone exec a -- python3 reach.py "$T/home/sock" "garth-$$" "$port"
  [[ $(grep -c '^no:' <<<"$out") -ge 4 ]] || complain
  [[ $out != *REACHED* ]] || complain
  [[ $(wc -l <"$T/served") == 1 ]] || complain
  call alone exec --net host a -- python3 reach.py "$T/home/sock" "garth-$$" "$port"
  [[ $(grep -c REACHED <<<"$out") == 1 ]] || complain
  [[ $(wc -l <"$T/served") == 1 ]] || complain
  # the inside cannot take names that the user's programs may look for
  call alone exec a -- python3 -c 'import socket
for name in (b"\0/tmp/.X11-unix/X7", b""):
    try: socket.socket(socket.AF_UNIX).bind(name); print("BOUND")
    except OSError as e: print("no:", e)'
  [[ $out != *BOUND* ]] || complain
  # its own sockets work; the gateway is there
  call alone exec a -- sh -c 'python3 - <<P
import socket, threading
s = socket.socket(socket.AF_UNIX); s.bind("own"); s.listen()
threading.Thread(target=lambda: s.accept()[0].sendall(b"own")).start()
c = socket.socket(socket.AF_UNIX); c.connect("own"); print(c.recv(9))
P
curl -s --unix-socket $GARTH_SOCKET http://g/api/v1/task'
  [[ $code == 0 ]] || complain
  [[ $out == *"b'own'"*'"task":"a"'* ]] || complain
  # the control
  [[ $(python3 "$T/reach.py" "$T/home/sock" "garth-$$" "$port" | grep -c REACHED) == 3 ]]
  wait $server
  grep -q SENT "$T/served"
}

@test "J9 T1 landlock_only: processes that resist a pause are stopped all the same; the first process still answers" {
  by_user || return 0
  printf '%s\n' '#include <signal.h>' '#include <unistd.h>' 'int main(void) { for (int i = 0; i < 15 && fork(); i++) ; for (;;) { kill(-1, SIGCONT); usleep(100); } }' >pz.c
  git add .; git commit -qm pz
  weak -d --task a --on-dirty keep -- sh -c 'cc -o pz pz.c && ./pz & while :; do echo x >>count; sleep 0.02; done'
  until [[ $(wc -l 2>/dev/null <"$GARTH_HOME/alone/a/count") -gt 2 && $(pgrep -u "$(id -u)" -xc pz) -gt 15 ]]; do sleep 0.05; done
  "$garth" pause a; sleep 0.3
  local before; before=$(wc -l <"$GARTH_HOME/alone/a/count"); sleep 1
  [[ $(wc -l <"$GARTH_HOME/alone/a/count") == "$before" ]] || complain "it goes on"
  "$garth" cancel a; [[ -z $(pgrep -u "$(id -u)" -x pz) ]]
}

@test "J9 O2 landlock_only: a task has its own terminal and no other" {
  by_user || return 0
  weak --task a -- true
  cat >"$T/terminal.py" <<'P'
import os, pty, sys
garth, without = sys.argv[1], sys.argv[2:]
other, slave = pty.openpty()
argv = [*without, garth, "exec", "a", "--", "sh", "-c", f"test -t 0 && echo TTY; stty size; echo x >{os.ttyname(slave)} && echo WROTE; python3 -c 'import os; os.fchmod(0, 0o622)' && echo OPENED; echo y >/dev/tty"]
pid, fd = pty.fork()
if pid == 0: os.execvp(argv[0], argv)
data = b""
try:
    while True:
        d = os.read(fd, 4096)
        if not d: break
        data += d
except OSError: pass
print(data.decode()); os.waitpid(pid, 0)
P
  call python3 "$T/terminal.py" "$garth" "${without[@]}"
  [[ $out == *TTY* ]] || complain
  [[ $out == *y* ]] || complain
  [[ $out != *WROTE* ]] || complain
  [[ $out != *OPENED* ]] || complain
}

@test "T2 J9 landlock_only: the user's ignore file is visible inside, read-only" {
  by_user || return 0
  mkdir -p "$XDG_CONFIG_HOME/git"; echo .DS_Store >"$XDG_CONFIG_HOME/git/ignore"
  call weak --task a -- sh -c 'touch .DS_Store; git status --porcelain; echo x >>"$(git config core.excludesFile)"'
  [[ $code != 0 ]] || complain
  [[ -z $out ]] || complain
  [[ $err == *'ermission denied'* ]] || complain
  [[ $(field a uncommitted) == '[]' ]] || complain
}

@test "W7 landlock_only: included files and what the set-up leaves are copied, and do not count as work" {
  by_user || return 0
  printf '.env\ndeps/\n' >>.gitignore; echo .env >.worktreeinclude; commit ignore; echo S >.env
  configure <<<$'workspace: {setup: "mkdir deps; echo 1 >deps/one; echo 2 >>a.txt"}\n'
  call weak --task t -- sh -c 'cat .env deps/one a.txt; echo more >deps/more; rm .env'
  [[ $code == 0 ]] || complain
  [[ $out == $'S\n1\none' ]] || complain
  [[ $(state_of t) == done ]]
  [[ $(cat .env) == S ]]
  [[ $(ls "$GARTH_HOME/alone") == t ]]
}

@test "J9 landlock_only: caches of package managers are shown read-only" {
  by_user || return 0
  mkdir -p "$HOME/.m2/repository"; echo cached >"$HOME/.m2/repository/package"
  [[ $(weak -t t -- cat "$HOME/.m2/repository/package") == cached ]]
  echo more >>"$HOME/.m2/repository/package"
  not weak -t u -- sh -c "echo evil >>$HOME/.m2/repository/package || touch $HOME/.m2/repository/new"
  [[ $(<"$HOME/.m2/repository/package") == $'cached\nmore' ]]
  [[ ! -e $HOME/.m2/repository/new ]]
}
