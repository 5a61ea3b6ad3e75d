# ESCAPES 18 to 20: what comes in with a process, processes that stay, and output without end.
load helpers

setup_file() { compile rabbits attack; }

setup() {
  jail_setup
  name=rb$RANDOM
  cp "$programs/rabbits" "$T/open/rabbits"
}

teardown() {
  touch "$T/open/stop" 2>/dev/null || true
  jail_teardown
}

# How many processes with the name there are on the machine.
alive() { grep -lsx "$name" /proc/[0-9]*/comm 2>/dev/null | wc -l; }
some() { (($(alive) > 0)); }
none() { (($(alive) == 0)) && sleep 0.1 && (($(alive) == 0)); }

# keeper_of ID: the process that has the task's lock open.
keeper_of() { find /proc/[0-9]*/fd -lname "$GARTH_HOME/tasks/$1/lock" 2>/dev/null | head -n 1 | cut -d/ -f3; }

# The attack reads a descriptor that Garth was started with.
@test "18 J6: inherited descriptors" {
  "$garth" new t
  exec 7<"$T/elsewhere/secret" 8>>"$T/elsewhere/secret" 9<"$T/elsewhere"
  tells "$SECRET" sh -c 'cat <&7; true'
  silent "$SECRET" "$garth" exec t -- sh -c 'cat <&7; cat /proc/self/fd/7 /dev/fd/7; cat /proc/self/fd/9/secret; true'
  sh -c 'true >&8'
  refused "$garth" exec t -- sh -c 'echo evil >&8'
  [[ $("$garth" exec t -- sh -c 'echo /proc/self/fd/*') == '/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3' ]] ||
    [[ $("$garth" exec t -- sh -c 'echo /proc/self/fd/*') == '/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2' ]]
  "$garth" run -d --task bg -- sh -c 'cat <&7; cat /proc/*/fd/7; sleep 50'
  silent "$SECRET" inside bg 'cat /proc/*/fd/* </dev/null 2>/dev/null & sleep 0.2; kill $!; true'
  "$garth" cancel bg
  silent "$SECRET" "$garth" log bg
  exec 7<&- 8>&- 9<&-
  untouched
}

# The attack opens what is behind its standard input and output once more, for writing.
@test "18 J6: standard input and output are no files of the host" {
  "$garth" new t
  echo "$SECRET" >"$T/open/in"
  sh -c 'echo evil >>/proc/self/fd/0' <"$T/open/in"
  tells evil cat "$T/open/in"
  echo "$SECRET" >"$T/open/in"
  "$garth" exec t -- sh -c 'echo evil >>/proc/self/fd/0; truncate -s 0 /proc/self/fd/0; cat' <"$T/open/in" >"$T/open/out" 2>&1 || true
  [[ $(<"$T/open/in") == "$SECRET" ]]
  tells "$SECRET" cat "$T/open/out"
  [[ $("$garth" exec t -- sh -c 'readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2' <"$T/open/in" 2>"$T/open/err" | grep -vc '^pipe:') == 0 ]]
}

# The attack reads secrets from its environment, or profits from variables that load code.
@test "18 J7: the environment" {
  "$garth" new t
  cat >"$T/open/rc" <<<"echo evil-$SECRET"
  vars=("AWS_SECRET_ACCESS_KEY=$SECRET" "GITHUB_TOKEN=$SECRET" "OPENAI_API_KEY=$SECRET" "BASH_ENV=$T/open/rc" "ENV=$T/open/rc" "LD_PRELOAD=/nonexistent/x.so"
    "LD_LIBRARY_PATH=/$SECRET" "GIT_DIR=/$SECRET" "GIT_SSH_COMMAND=$SECRET" "GIT_CONFIG_COUNT=1" "GIT_CONFIG_KEY_0=core.evil" "GIT_CONFIG_VALUE_0=$SECRET"
    "SSH_AUTH_SOCK=/$SECRET" "DBUS_SESSION_BUS_ADDRESS=unix:path=/$SECRET" "XDG_RUNTIME_DIR=/$SECRET" "PYTHONPATH=/$SECRET" "PYTHONSTARTUP=/$SECRET"
    "NODE_OPTIONS=--require /$SECRET" "PERL5OPT=-M$SECRET" "LESSOPEN=|$SECRET" "PROMPT_COMMAND=$SECRET" "http_proxy=http://$SECRET@x" "DISPLAY=:$SECRET"
    "GARTH_HOME_X=$SECRET" "BASH_FUNC_ls%%=() { echo $SECRET; }")
  tells "$SECRET" env "${vars[@]}" env
  tells "evil-$SECRET" env "${vars[@]}" bash -c true
  silent "$SECRET" env "${vars[@]}" "$garth" exec t -- env
  # root's workspace belongs to another user: git is told to trust it
  [[ -z $(env "${vars[@]}" "$garth" exec t -- env 2>/dev/null | grep -avxE 'GIT_OPTIONAL_LOCKS=0|NODE_USE_ENV_PROXY=1|GIT_CONFIG_COUNT=1|GIT_CONFIG_KEY_0=safe.directory|GIT_CONFIG_VALUE_0=\*' | grep -aE '^(LD_|GIT_|BASH_|ENV=|SSH_|DBUS_|XDG_RUNTIME|PYTHON|NODE_|PERL)') ]]
  silent "$SECRET" env "${vars[@]}" "$garth" exec t -- bash -c 'ls; cat /proc/*/environ; git config --list'
  env "${vars[@]}" "$garth" run -d --task bg -- sh -c 'env; cat /proc/1/environ /proc/self/environ; sleep 50' 2>/dev/null
  silent "$SECRET" inside bg 'cat /proc/*/environ; env'
  "$garth" cancel bg
  silent "$SECRET" "$garth" log bg
  silent "$SECRET" "$garth" show bg
}

# The control of the tests below: outside, nothing of this ends with the process that started it.
@test "19 control: processes that fork all the time outlive their parent" {
  outside ./rabbits "$name" 20 30 "$T/open/stop"
  sleep 0.3; some
  touch "$T/open/stop"
  until_ none
}

# The attack leaves processes behind that were forked twice, have sessions of their own and ignore every signal.
@test "19 J6: nothing outlives the command of a stopped task" {
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    bring "t-$backend" "$programs/rabbits" rabbits
    "$garth" exec "t-$backend" -- sh -c "/tmp/rabbits $name 20 60; sleep 0.2; grep -lsx $name /proc/[0-9]*/comm | grep -q ."
    until_ none
    # holding its output open does not keep the command from ending either
    within 10 "$garth" exec "t-$backend" -- sh -c "trap '' TERM HUP; (trap '' TERM HUP; setsid sleep 61.$RANDOM) & exit 0"
  done
}

@test "19 J6: nothing outlives the task's command" {
  cp "$programs/rabbits" "$R/rabbits"; git -C "$R" add rabbits; git -C "$R" commit -qm r
  within 20 "$garth" run --task bg -- sh -c "./rabbits $name 20 60; sleep 0.3"
  until_ none
  [[ $(state_of bg) == done ]]
}

@test "19 J6: cancel ends everything, whatever signals it ignores" {
  cp "$programs/rabbits" "$R/rabbits"; git -C "$R" add rabbits; git -C "$R" commit -qm r
  "$garth" run -d --task bg -- sh -c "trap 'exit 0' TERM; ./rabbits $name 30 60; while :; do sleep 0.1; done"
  until_ some
  within 20 "$garth" cancel bg
  until_ none
  [[ $(state_of bg) == cancelled ]]
}

# The attack is the keeper's sudden death: processes left inside would have no supervisor.
@test "19 J6: everything dies with the keeper, and a killed command does not end the task" {
  cp "$programs/rabbits" "$R/rabbits"; git -C "$R" add rabbits; git -C "$R" commit -qm r
  "$garth" run -d --task bg -- sh -c "./rabbits $name 20 60; exec sleep 4321.$RANDOM"
  until_ some
  keeper=$(keeper_of "$(ident 1)")
  [[ $(readlink "/proc/$keeper/exe") == "$GARTH_BUILD/garth"* ]]
  kill -9 "$keeper"
  until_ none
  [[ $(state_of bg) == interrupted ]]
  inside bg 'test -f a.txt'
  "$garth" discard -fD bg
}

# The attack writes more than anybody wants to keep.
@test "20 J6: the log stays within its limit, and the keeper within its memory" {
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo 'limits: {log_size: 1MB}' >"$XDG_CONFIG_HOME/garth/config.yaml"
  outside sh -c 'yes evil | head -c 6000000 >log'; (($(stat -c %s "$T/open/log") == 6000000))
  "$garth" run -d --task bg -- sh -c 'yes evil | head -c 6000000; echo the-end; exec sleep 60'
  until_ grep -aq the-end "$GARTH_HOME"/tasks/$(ident 1)/log
  (($(cat "$GARTH_HOME"/tasks/$(ident 1)/log* | wc -c) <= 1100000))
  within 10 "$garth" log bg
  tells the-end "$garth" log bg
  keeper=$(keeper_of "$(ident 1)")
  # a sanitizer needs more memory
  if ! grep -q __asan_init "$GARTH_BUILD/garth"; then (($(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$keeper/status") < 8192)); fi
  "$garth" cancel bg
  # into a pipe whose reader goes away or is slow
  within 10 sh -c "'$garth' exec bg -- yes | head -c 100 >/dev/null"
  [[ $("$garth" exec bg -- sh -c 'yes | head -c 3000000' | { sleep 0.3; wc -c; }) == 3000000 ]]
}

# The attack writes sequences that a terminal obeys into the log that somebody reads later.
@test "20 J6: on a terminal the log is shown without control characters" {
  "$garth" run --task bg -- sh -c 'printf "\033]0;evil\007\033[2J\033]52;c;ZXZpbA==\007 plain \233 \302\233 end\n"' >"$T/raw"
  grep -aq $'\033]52' "$T/raw"
  script -qec "env GARTH_PAGER= '$garth' log bg" /dev/null </dev/null >"$T/typed" 2>&1
  grep -aq plain "$T/typed"
  if grep -aqE $'\033\\]|\033\\[2J|\007' "$T/typed"; then cat -v "$T/typed"; false; fi
}

# The kernel counts descriptors that were sent and nobody took, and inotify instances, for each user, and terminals for the
# machine: one task that hoards them would keep every other from being started, and from publishing.
@test "20 J8: one task cannot use up what the kernel counts per user" {
  cp "$BATS_TEST_DIRNAME/hoard.py" "$R"; git add hoard.py; git commit -qm hoard
  local free inside_n what
  local -A most=([sockets]=6000 [inotify]=6000 [terminals]=400)
  for what in sockets inotify terminals; do
    # not all that there is: other tests of the same user are running
    free=$(outside $python "$R/hoard.py" $what 0 ${most[$what]})
    "$garth" run -q -d -t $what -- $python hoard.py $what 100
    for i in {1..200}; do [[ $("$garth" log $what) == *[0-9]* ]] && break; sleep 0.1; done
    inside_n=$("$garth" log $what); inside_n=${inside_n//[^0-9]/}
    ((0 < inside_n && inside_n <= 4096 + 253)) || { echo "$what: $inside_n inside, $free outside"; false; }
    # control: without walls it gets more
    ((free > inside_n)) || { echo "$what: $inside_n inside, $free outside"; false; }
  done
  # while both hold what they have
  "$garth" run -q -t other -- sh -c 'echo x >x; git add x; git commit -qm x'
  [[ $(git log -1 --format=%s garth/other) == x ]]
  "$garth" exec sockets -- true
  script -qec "$garth run -q -t typed -- tty" /dev/null </dev/null | grep -q /dev/pts/
  "$garth" cancel sockets; "$garth" cancel inotify; "$garth" cancel terminals
}

# The kernel counts the watches of epoll for each user, too, and there is no limit for a task. One that holds them all must still be
# cancelled: what Garth runs outside waits without epoll.
@test "20 35 J8: neither a keeper nor a gateway needs watches of epoll" {
  watches() { find "/proc/$1/fd" -lname 'anon_inode:*eventpoll*' | grep -q .; }
  local keeper gateway
  "$garth" run -q -d -t t -- sh -c 'echo x >x; git add x; git commit -qm x; exec sleep 100'
  until_ sh -c 'git log -1 --format=%s garth/t | grep -qx x'
  keeper=$(keeper_of "$(ident 1)")
  # the gateway ends when nobody asks it for a while
  gateway=$(pgrep -P "$keeper" -x garth | head -n 1 || true)
  [[ -n $gateway ]] || gateway=$keeper
  # the control: one is found
  beside "$T/out" $python -c 'import select, time; e = select.epoll(); print("ready", flush=True); time.sleep(100)'
  until_ test -s "$T/out"
  watches "$beside"
  ended $beside
  [[ -e /proc/$keeper/fd/0 ]]
  not watches "$keeper"
  not watches "$gateway"
  "$garth" cancel t
}

is_state() { [[ $("$garth" show "$1" --json | $python -c 'import json, sys; print(json.load(sys.stdin)["state"])') == "$2" ]]; }
is_stopped() { is_state "$1" failed || is_state "$1" paused; }

# Whether the file grows.
wakes_again() {
  local n
  n=$(wc -l <"$1")
  grown() { (($(wc -l <"$1") > n)); }
  until_ grown "$1"
}

# A stopped process can have a timer send it SIGCONT. If there is a control group, it is frozen; if not, it is
# stopped again, measured as before, and ended if it goes on writing.
@test "20 J8: a paused task that wakes itself cannot exceed its limit" {
  cp "$BATS_TEST_DIRNAME/wake.py" "$R"; echo '*.o' >"$R/.gitignore"; git add wake.py .gitignore; git commit -qm wake
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo 'limits: {max_disk: 20MB, check_every: 1}' >"$XDG_CONFIG_HOME/garth/config.yaml"
  # control: SIGSTOP does not stop it
  beside "$T/out" sh -c "cd $T/open; exec $python $R/wake.py 10000 -"
  until_ test -s "$T/open/tick.o"
  kill -STOP $beside
  wakes_again "$T/open/tick.o"
  kill -CONT $beside
  ended $beside
  "$garth" run -q -d -t t -- $python wake.py
  until_ is_stopped t
  # a while later: frozen, or ended with the reason
  sleep 4
  local used; used=$(du -sm "$GARTH_HOME/tasks" | cut -f1)
  ((used < 100)) || { echo "$used MB"; false; }
  if is_state t paused; then
    n=$("$garth" exec t -- sh -c 'wc -l <tick.o'); [[ $("$garth" exec t -- sh -c 'sleep 2; wc -l <tick.o') == "$n" ]]
    "$garth" cancel t
  else
    is_state t failed
    [[ $("$garth" show t) == *'it went on writing while it was paused'* ]] || {
      "$garth" show t
      false
    }
  fi
}

@test "20 J8: a task that the user paused and that wakes itself is stopped again; the user's commands are not" {
  cp "$BATS_TEST_DIRNAME/wake.py" "$R"; echo '*.o' >"$R/.gitignore"; git add wake.py .gitignore; git commit -qm wake
  "$garth" run -q -d -t t -- sh -c "$python wake.py 100000 - & while sleep 0.05; do echo >>shell.o; done"
  until_ "$garth" exec t -- test -s shell.o
  "$garth" pause t
  # longer than it takes to stop everything again
  local n; n=$("$garth" exec t -- sh -c 'sleep 3; wc -l <shell.o'); [[ $("$garth" exec t -- sh -c '(sleep 1); sleep 1.5; wc -l <shell.o') == "$n" ]]
  "$garth" resume t
  grown() { (($("$garth" exec t -- sh -c 'wc -l <shell.o') > n)); }; until_ grown
  "$garth" pause t; "$garth" cancel t
  ! find /sys/fs/cgroup -name "garth-$(stat -c %i "$GARTH_HOME")-*" 2>/dev/null | grep -q . || false
}

# The attack ends, traces or replaces the threads of the first process that help with renames, or uses them to escape
# from the agent's own sandbox.
@test "J3 J6 J10 17: the rename helper cannot be stopped, taken over or used to gain rights" {
  "$garth" new t
  [[ -n $(inside t 'ls /proc/1/task | tail -n +2') ]]
  cat >"$T/attack.py" <<'END'
import ctypes, errno, os, struct
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    rc = libc.syscall(*args)
    return rc if rc >= 0 else -ctypes.get_errno()
for tid in os.listdir('/proc/1/task'):
    for sig in (9, 15, 19, 11, 33, 34):
        call(234, 1, int(tid), sig)              # tgkill
    assert call(101, 16, int(tid), 0, 0) < 0     # PTRACE_ATTACH
    assert call(101, 0x4206, int(tid), 0, 0) < 0 # PTRACE_SEIZE
os.system('kill -9 1; kill -STOP 1')
pidfd = os.pidfd_open(1)
assert all(call(438, pidfd, n, 0) == -errno.EPERM for n in range(32)) # pidfd_getfd
try: raise AssertionError(os.listdir('/proc/1/fd'))
except PermissionError: pass
# another listener
allow = struct.pack('HBBI', 6, 0, 0, 0x7fff0000)
code = ctypes.create_string_buffer(allow)
program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', 1, ctypes.addressof(code)))
libc.prctl(38, 1, 0, 0, 0)
assert call(317, 1, 8, program) == -errno.EBUSY
assert call(317, 1, 0, program) == 0             # a filter without one
# in a Landlock domain that may write nothing
if not os.fork():
    rules = call(444, ctypes.create_string_buffer(struct.pack('QQ', (1 << 13) - 1, 0)), 8, 0)
    assert rules >= 0 and call(446, rules, 0) == 0
    for move in (('dir', 'other'), ('dir/sub', 'sub')):
        try: os.rename(*move)
        except OSError as e: assert e.errno in (errno.EACCES, errno.EXDEV), e
        else: os._exit(1)
    os._exit(0)
assert os.wait()[1] == 0
assert sorted(os.listdir('.')) == names, os.listdir('.')
# and it still works
os.rename('dir', 'other')
assert os.path.exists('other/sub/c.txt')
END
  { echo 'import os; names = sorted(os.listdir("."))'; cat "$T/attack.py"; } | "$garth" exec t -- "$python" -
  # control: one of the agent's own processes can be taken over like that
  inside t "$python"' -c "
import os, signal
pid = os.fork()
if not pid: signal.pause()
assert os.path.exists(\"/proc/%d/fd\" % pid) and os.listdir(\"/proc/%d/fd\" % pid)
os.kill(pid, 9)
assert os.wait()[1] == 9"'
}
