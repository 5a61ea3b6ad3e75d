load helpers

limits() { configure <<<"limits: {$1}"; }

@test "J8 ESCAPES 19 20 limits: a fork bomb harms only its own task, and ends with it" {
  limits 'max_processes: 60'
  run timeout 60 "$garth" run -q --task bomb -- sh -c 'i=0; while [ $i -lt 200 ]; do (sleep 77 & sleep 77) & i=$((i + 1)); done; echo all'
  [[ $output != *all* || $output == *[Ff]ork* ]] || { echo "$output"; false; }
  [[ $(pgrep -c -u "$(id -u)" -x -f 'sleep 77') == 0 ]]
  # another one is not touched by it
  "$garth" run -q -d --task again -- /usr/bin/python3 -c '
import os, time
while True:
    try:
        if not os.fork(): time.sleep(78)
    except OSError: time.sleep(0.1)' >/dev/null
  sleep 1
  "$garth" run -q --task other -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.01 & done; wait; echo fine'
  "$garth" cancel again
}

@test "J8 ESCAPES 20 limits: memory: for all processes together with a control group, else for each process, and it says which" {
  limits 'max_memory: 200MB'
  run "$garth" run --task t -- /usr/bin/python3 -c 'x = bytearray(400 << 20); print("has it")'
  # with sanitizers, the first process has more than that itself
  if [[ $GARTH_BUILD == *-san && $output == *'by itself'* ]]; then return; fi
  [[ $status != 0 ]]
  [[ $output != *'has it'* ]]
  [[ $output == *'for each process by itself'* || $("$garth" show t) == *'needed more than limits.max_memory'* ]]
  "$garth" run -q --task small -- /usr/bin/python3 -c 'x = bytearray(20 << 20)'
  ! find /sys/fs/cgroup -name "garth-$(stat -c %i "$GARTH_HOME")-*" 2>/dev/null | grep -q . || false
}

@test "J8 limits: processor time: held with a control group, else a warning" {
  limits 'max_cpu: 40'
  run "$garth" run -q --task t -- /usr/bin/python3 -c '
import time
wall, cpu = time.monotonic(), time.process_time()
while time.monotonic() - wall < 1.5: pass
print(round((time.process_time() - cpu) / (time.monotonic() - wall), 2))'
  [[ $status == 0 ]]
  [[ $output == *'limits.max_cpu is not held'* ]] || /usr/bin/python3 -c 'import sys; assert float(sys.argv[1].split()[-1]) < 0.7, sys.argv' "$output"
}

@test "J8 ESCAPES 20 limits: no file grows beyond the task's limit, not even a sparse one, and the reason is shown" {
  limits 'max_disk: 1MB, max_file_size: 100KB'
  run --separate-stderr "$garth" run -q --on-dirty keep --task t -- sh -c 'head -c 3000000 /dev/zero >big; truncate -s 1T sparse; dd if=/dev/zero of=seek bs=1 count=1 seek=5M; stat -c %s big; stat -c %s sparse; stat -c %s seek; echo x >small; cat small'
  [[ $output == *1048576*x ]] || {
    echo "$output"
    false
  }
  [[ $output != *1099511627776* ]] || {
    echo "$output"
    false
  }
  [[ $output != *5242881* ]] || {
    echo "$output"
    false
  }
  # a file that may not be published can still be written
  limits 'max_disk: 50MB, max_file_size: 100KB'
  "$garth" run -q --on-dirty keep --task u -- sh -c 'head -c 3000000 /dev/zero >/tmp/x; head -c 3000000 /dev/zero >x.o; mkdir -p ~/.cache; head -c 3000000 /dev/zero >~/.cache/x'
  # directly, or through its shell: the reason is shown, with what to do
  limits 'max_disk: 1MB'
  run "$garth" run --task v -- /usr/bin/python3 -c 'import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); open("/tmp/x", "wb").write(b"x" * 3000000)'
  [[ $status == 153 ]] || complain "$status $output"
  [[ $output == *'SIGXFSZ'*'limits.max_disk'*'garth resume --limit max_disk='*v* ]] || complain "$status $output"
  run "$garth" run --task w -- sh -c 'head -c 3000000 /dev/zero >/tmp/x'
  [[ $status == 153 ]] || complain "$status $output"
  [[ $output == *'limits.max_disk'* ]] || complain "$status $output"
  [[ $("$garth" show w) == *'limits.max_disk'* ]] || complain "$status $output"
  run "$garth" exec w -- sh -c 'head -c 3000000 /dev/zero >/tmp/y'
  [[ $status == 153 ]] || complain "$status $output"
  [[ $output == *'limits.max_disk'* ]] || complain "$status $output"
}

@test "J8 ESCAPES 20 limits: a running task that uses too much disk is paused, is named, and continues with a higher limit" {
  limits 'max_disk: 3MB, check_every: 1'
  "$garth" run -q -d --task t -- sh -c 'mkdir ~/x; touch ~/x/a; chmod 0400 ~/x; head -c 2000000 /dev/zero >>f; touch first; while [ ! -e go ]; do sleep 0.1; done; head -c 2000000 /dev/urandom >>g; while [ ! -e end ]; do echo >>ticks; sleep 0.1; done' >/dev/null
  sleep 3; [[ $(state_of t) == running ]]
  inside t 'touch go'
  eventually is_state t paused
  [[ $("$garth" show t) == *'limits.max_disk'*'garth resume t'* ]]
  call "$garth" ls; grep -qE '^t +paused .* it holds' <<<"$out"
  [[ $("$garth" ls --json | json 'd["tasks"][0]["attention"]') == failed ]]
  local before; before=$(inside t 'wc -l <ticks 2>/dev/null'); sleep 1; [[ $(inside t 'wc -l <ticks 2>/dev/null') == "$before" ]]
  limits 'max_disk: 30MB, check_every: 1'
  "$garth" resume t; sleep 2.5; [[ $(state_of t) == running ]]
  inside t 'touch end' || true; eventually is_state t failed
  "$garth" gc >/dev/null
  [[ $("$garth" audit t) == *pause*resume* ]]
}

# The gateway keeps its verifier for a while after a commit. Only root can inspect that one.
@test "J8 limits: a task that has just committed is measured, not paused" {
  limits 'check_every: 1'
  "$garth" run -q -d --task t -- sh -c 'echo 1 >>a.txt; git commit -qam 1; sleep 3' >/dev/null
  sleep 2.5; [[ $(state_of t) == running ]] || complain "$("$garth" show t)"
  eventually is_state t done
}

@test "J8 limits: limits on what is published do not apply to files that are not" {
  limits 'max_files: 50, max_file_size: 100KB, max_worktree_size: 200KB, check_every: 1'
  echo 'ignored/' >.gitignore; commit ignore
  run "$garth" run -q --task t -- sh -c 'mkdir ignored; for i in $(seq 300); do echo $i >ignored/$i; echo $i >f$i; done; head -c 1000000 /dev/urandom >ignored/big; sleep 3; git add .; git commit -qm all'
  [[ $output == *'limits.max_files 50'* || $output == *'more than 50 files'* ]] || complain "$output"
  [[ $(field t note) != *paused* ]]
  [[ $("$garth" audit t) != *pause* ]]
  "$garth" run -q --task u -- sh -c 'mkdir ignored; for i in $(seq 300); do echo $i >ignored/$i; done; head -c 1000000 /dev/urandom >ignored/big; echo a >a; git add .; git commit -qm a'
}

@test "J8 ESCAPES 20 limits: empty files, anywhere, count with the disk space that they use" {
  limits 'max_disk: 3MB, check_every: 1'
  local place
  for place in /tmp '$HOME' .git; do
    "$garth" run -q -d --task t -- sh -c "mkdir -p $place/z; cd $place/z; i=0; while [ \$i -lt 9000 ]; do : >\$i; i=\$((i + 1)); done; sleep 1000" >/dev/null
    eventually is_state t paused
    "$garth" cancel t; "$garth" discard -fD t
  done
}

@test "J8 limits: a paused task ends when it is cancelled" {
  limits 'max_inodes: 50, check_every: 1'
  "$garth" run -q --task t -- bash -c 'for i in {1..500}; do : >f$i; done; sleep 1000' >/dev/null 2>&1 3>&- & local pid=$!
  eventually is_state t paused
  kill $pid
  eventually not kill -0 $pid
  [[ $(state_of t) == failed ]]
}

@test "J8 limits: resume raises a task file's limit for that task alone" {
  printf 'name: f\nagent: {project_dir: %s, command: [sh, -c, "i=0; while [ $i -lt 300 ]; do echo $i >f$i; i=$((i+1)); done; until [ -e /tmp/go ]; do sleep 0.1; done; git add .; git commit -qm all"]}\nlimits: {max_files: 1000, max_inodes: 200, check_every: 1}\n' "$R" >"$T/home/task.yaml"
  "$garth" run -q -d "$T/home/task.yaml" >/dev/null
  eventually is_state f paused
  [[ $("$garth" show f) =~ holds\ ([0-9]+)\ files.*garth\ resume\ --limit\ max_inodes=([0-9]+)\ f ]]
  ((BASH_REMATCH[2] == 2 * BASH_REMATCH[1]))
  for bad in max_files 'max_files=' 'max_files=many' 'nothing=3' 'max_files=1 2' '=3' 'max_files=[1]'; do fails 2 '' "$garth" resume --limit "$bad" f; done
  [[ $(state_of f) == paused ]]
  "$garth" resume --limit max_inodes=10000 --limit max_worktree_size=2GB f; inside f 'touch /tmp/go'
  eventually is_state f done
  [[ $(git ls-tree -r garth/f | grep -c f) -ge 300 ]]
  # the new limit stays; other tasks have what the configuration says
  "$garth" show f --json | json 'd["limits"]["max_inodes"]["limit"] == 10000 and d["limits"]["max_worktree_size"]["limit"] == 2 << 30'
  "$garth" exec f -- sh -c 'echo x >x; git add x; git commit -qm x'
}

@test "J8 ESCAPES 20 limits: published commits that were rewritten still count, so that rewriting cannot fill the disk" {
  limits 'max_worktree_size: 1MB'
  "$garth" new t; inside t 'head -c 600000 /dev/urandom >big; git add big; git commit -qm 1'
  local first; first=$(git rev-parse garth/t)
  run inside t 'head -c 600000 /dev/urandom >big; git commit -q --amend -am 2'
  [[ $output == *"more than 1048576 bytes"* ]] || {
    echo "$output"
    false
  }
  [[ $(git rev-parse garth/t) == "$first" ]] || {
    echo "$output"
    false
  }
  run inside t 'git rm -q --cached big; echo small >small; git add small; git commit -q --amend -m 3'
  [[ $status == 0 ]] || {
    echo "$output"
    false
  }
  [[ $(git show garth/t:small) == small ]] || {
    echo "$output"
    false
  }
  run inside t 'head -c 600000 /dev/urandom >big; git add big; git commit -qm 4'
  [[ $output == *"more than 1048576 bytes"* ]] || {
    echo "$output"
    false
  }
  limits 'max_worktree_size: 4MB'
  inside t 'git add big; git commit -qm 5'
  [[ $(git log -1 --format=%s garth/t) == 5 ]]
}

@test "J8 ESCAPES 20 limits: files without permissions, removed and still open, or put elsewhere count too" {
  limits 'max_disk: 20MB, max_files: 100, max_inodes: 2000, check_every: 1'
  printf '*.ign\n' >.gitignore
  cat >open.py <<'PY'
import os, time
fds = []
for i in range(6):
    fd = os.open("gone%d" % i, os.O_RDWR | os.O_CREAT); os.write(fd, b"x" * (8 << 20)); os.unlink("gone%d" % i); fds.append(fd)
time.sleep(100)
PY
  cat >map.py <<'PY'
import mmap, os, time
maps = []
for i in range(6):
    fd = os.open("gone%d" % i, os.O_RDWR | os.O_CREAT); os.ftruncate(fd, 8 << 20); m = mmap.mmap(fd, 8 << 20); m[:] = b"x" * (8 << 20); os.unlink("gone%d" % i); os.close(fd); maps.append(m)
time.sleep(100)
PY
  { echo 'import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)'; cat open.py; } >hidden.py
  { echo 'import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)'; cat map.py; } >veiled.py
  { sed '$d' open.py; printf '%s\n' 'import ctypes, threading' 'threading.Thread(target=time.sleep, args=(100,)).start()' 'ctypes.CDLL(None).syscall(60, 0)'; } >thread.py
  printf '%s\n' 'import os, resource, time; h = resource.getrlimit(resource.RLIMIT_NOFILE)[1]; resource.setrlimit(resource.RLIMIT_NOFILE, (h, h))' \
    'for i in range(2500): os.mkfifo("f"); os.open("f", os.O_RDWR); os.unlink("f")' 'time.sleep(100)' >fifo.py
  commit programs
  local b t
  for b in overlay worktree; do
    for t in closed-$b open-$b hidden-$b mapped-$b veiled-$b repo-$b thread-$b; do
      case $t in
      thread-*) "$garth" run -q -d -t $t --backend $b -- /usr/bin/python3 thread.py;;
      closed-*) "$garth" run -q -d -t $t --backend $b -- sh -c 'mkdir -p n ~/n; for i in 1 2 3; do chmod 700 n ~/n; head -c 8M /dev/zero >n/f$i; head -c 8M /dev/zero >~/n/f$i; chmod 000 n ~/n; done; sleep 100';;
      repo-*) "$garth" run -q -d -t $t --backend $b -- sh -c 'git init -q n; for i in 1 2 3 4 5 6; do head -c 8M /dev/zero >n/f$i; done; sleep 100';;
      veiled-*) "$garth" run -q -d -t $t --backend $b -- /usr/bin/python3 veiled.py;;
      hidden-*) "$garth" run -q -d -t $t --backend $b -- /usr/bin/python3 hidden.py;;
      open-*) "$garth" run -q -d -t $t --backend $b -- /usr/bin/python3 open.py;;
      mapped-*) "$garth" run -q -d -t $t --backend $b -- /usr/bin/python3 map.py;;
      esac
      eventually is_state $t paused
      [[ $("$garth" show $t) == *"on disk, more than limits.max_disk"* ]] || complain "$("$garth" show $t)"
      "$garth" cancel $t
    done
    "$garth" run -q -d -t fifo-$b --backend $b -- /usr/bin/python3 fifo.py; eventually is_state fifo-$b paused
    [[ $("$garth" show fifo-$b) == *"more than limits.max_inodes"* ]] || complain "$("$garth" show fifo-$b)"; "$garth" cancel fifo-$b
    # what git would take for a repository's place need not be a directory
    "$garth" run -q -d -t file-$b --backend $b -- sh -c 'echo "gitdir: /x" >dir/.git; ln -s a.txt dir/.GIT; head -c 3M /dev/urandom >x.ign; sleep 100'
    for t in ign home tmp dirs; do
      case $t in ign | dirs) dir=x.ign;; home) dir='~/x';; tmp) dir=/tmp/x;; esac
      "$garth" run -q -d -t $t-$b --backend $b -- sh -c "mkdir $dir; cd $dir; i=0; while [ \$i -lt 2500 ]; do case $t in dirs) echo \$i;; *) : >\$i;; esac; i=\$((i + 1)); done | xargs -r mkdir; sleep 100"
      eventually is_state $t-$b paused
      [[ $("$garth" show $t-$b) == *"more than limits.max_inodes"* ]] || complain "$("$garth" show $t-$b)"
      "$garth" cancel $t-$b
    done
    is_state file-$b running || complain "$("$garth" show file-$b)"; "$garth" cancel file-$b
  done
}

@test "J8 limits: attached clients are told that a task is paused, why, and that it is resumed; a note belongs to the last run" {
  limits 'max_disk: 2MB, check_every: 1'
  "$garth" run -t t -- sh -c 'for i in 1 2 3 4 5; do head -c 1M /dev/zero >f$i; done; until [ -e go.o ]; do sleep 0.1; done; rm f*' >"$T/out" 2>"$T/err" &
  eventually grep -q 'the task is paused: it holds 5.* MB on disk, more than limits.max_disk' "$T/err"
  [[ ! -s $T/out ]]
  # a client that attaches later is told too
  timeout -s KILL 2 "$garth" attach t >"$T/out2" 2>"$T/err2" || true
  grep -q 'the task is paused: it holds 5' "$T/err2" || complain "$(<"$T/err2")"
  inside t 'touch go.o'
  "$garth" resume --limit max_disk=100MB t
  eventually grep -q 'the task is resumed' "$T/err"
  wait
  "$garth" run -d -t u -- sh -c 'echo w >w; sleep 50'
  eventually inside u 'test -e w'
  "$garth" cancel u
  [[ $(field u note) == '1 uncommitted file: w' ]]
  "$garth" resume -d u
  eventually is_state u running
  [[ $(field u note) != *uncommitted* ]]
  "$garth" cancel u
  [[ $(field u note) == '1 uncommitted file: w' ]]
}

@test "J8 O3 limits: show has the usage of each limit, in words and in numbers" {
  limits 'max_disk: 50MB, max_files: 7'
  "$garth" run -q --task t --on-dirty keep -- sh -c 'echo x >new; git add new; git commit -qm new; head -c 5000000 /dev/zero >x.o'
  call "$garth" show t
  grep -qE '^limits +[0-9.]+ (bytes|KB) of 1\.0 GB published, 1 of 7 files, 1 of 100 commits$' <<<"$out" || complain
  grep -qE '^disk +[45]\.[0-9] MB of 50\.0 MB, [0-9]+ of 1000000 files of all kinds$' <<<"$out" || complain
  "$garth" show t --json >"$T/j"
  json '[d["limits"]["max_files"], d["limits"]["max_commits"]]' <"$T/j" | grep -qx '\[{"limit": 7, "used": 1}, {"limit": 100, "used": 1}\]\|\[{"used": 1, "limit": 7}, {"used": 1, "limit": 100}\]' || complain "$(<"$T/j")"
  [[ $(json '[d["limits"]["max_disk"]["limit"], d["limits"]["max_disk"]["used"] > 5000000, d["limits"]["max_disk"]["used"] == d["disk"], d["limits"]["max_worktree_size"]["limit"], 100 < d["limits"]["max_worktree_size"]["used"] < 10000, d["limits"]["max_inodes"]["used"] > 3]' <"$T/j") == "[52428800, true, true, 1073741824, true, true]" ]] || complain "$(<"$T/j")"
  # by default a share of the disk, and never all of it
  limits 'max_files: 7'
  local free; free=$(($(stat -f -c '%a * %S' "$GARTH_HOME")))
  [[ $("$garth" show t --json | json "0 < d['limits']['max_disk']['limit'] < $free + (1 << 30)") == true ]]
}

@test "J8 limits: at four fifths of its disk limit a task is reported: to attached clients, in ls, in show" {
  limits 'max_disk: 10MB, check_every: 1'
  "$garth" run -t t -- sh -c 'head -c 9M /dev/zero >x.o; until [ -e go.o ]; do sleep 0.1; done' >"$T/watch.out" 2>"$T/watch" &
  eventually grep -q 'it holds 9.* MB on disk, and is paused beyond 10.0 MB' "$T/watch"
  is_state t running
  call "$garth" ls; [[ $err == *"task 't' holds 9"*'limits.max_disk'* ]] || complain
  call "$garth" show t; [[ $out == *'nearly full; to raise the limit: garth resume --limit max_disk=SIZE t'* ]] || complain
  inside t 'touch go.o'; wait
  [[ $(grep -c 'is paused beyond' "$T/watch") == 1 ]] || complain "$(<"$T/watch")"
}

@test "J8 ESCAPES 20 limits: a busy gateway does not prevent measuring" {
  # the FIFO holds up whatever git the gateway starts inside
  limits 'max_disk: 20MB, check_every: 1'
  "$garth" run -q -d -t t -- sh -c 'rm .git/HEAD; mkfifo .git/HEAD; printf "POST /api/v1/git/commit HTTP/1.1\r\nHost: garth\r\nContent-Length: 15\r\n\r\n{\"message\":\"m\"}" >/tmp/ask; /usr/bin/python3 -c "
import os, socket, time
s = socket.socket(socket.AF_UNIX); s.connect(os.environ[\"GARTH_SOCKET\"]); s.sendall(open(\"/tmp/ask\", \"rb\").read())
time.sleep(1)
for i in range(30): open(\"/tmp/f%d\" % i, \"wb\").write(b\"x\" * (4 << 20)); time.sleep(0.2)
time.sleep(100)"'
  # on a busy machine it may write on while it is being stopped; then it is ended
  paused_or_ended() { is_state t paused || is_state t failed; }
  eventually paused_or_ended
  (($(du -sm "$(task_dir t)" | cut -f1) < 120)) || complain "$(du -sm "$(task_dir t)")"
  "$garth" cancel t || is_state t failed
}

@test "J8 ESCAPES 20 limits: processes that pass a removed file on and end all the time, and large directories, count" {
  limits 'max_disk: 20MB, max_inodes: 20000, check_every: 1'
  # each process lives for a moment, and is gone when Garth looks at it
  cat >chain.py <<'PY'
import os, sys, time
fds = []
for i in range(6):
    fd = os.open("gone%d" % i, os.O_RDWR | os.O_CREAT); os.write(fd, b"x" * (8 << 20)); os.unlink("gone%d" % i); fds.append(fd)
for i in range(4):
    if not os.fork():
        while True:
            if os.fork(): os._exit(0)
os.closerange(3, 100)
time.sleep(100)
PY
  # names come and go, a directory stays as large as it was
  cat >fat.py <<'PY'
import os, sys, time
for d in sys.argv[1:]:
    os.makedirs(d, exist_ok=True)
    names = ["%s/%d-%s" % (d, i, "x" * 240) for i in range(8000)]
    for n in names: os.close(os.open(n, os.O_CREAT | os.O_WRONLY))
    for n in names: os.unlink(n)
print("fat", flush=True)
time.sleep(float(os.environ["W"]))
PY
  commit programs
  local b
  for b in overlay worktree; do
    "$garth" run -q -d -t chain-$b --backend $b -- /usr/bin/python3 chain.py
    eventually is_state chain-$b paused
    # on a busy machine the looks at such processes take too long, which counts, too
    [[ $("$garth" show chain-$b) == *@("on disk, more than limits.max_disk"|"on disk cannot be counted")* ]] || complain "$("$garth" show chain-$b)"
    "$garth" cancel chain-$b
  done
  # a file system in memory has directories without a size
  mkdir "$T/probe"; (cd "$T/probe"; for i in {1..200}; do : >"$i-$(printf %0200d 1)"; done); (($(stat -c %b "$T/probe") > 16)) || return 0
  rm -r "$T/probe"
  limits 'max_disk: 7MB, check_every: 1'; export W=100
  for b in overlay worktree; do
    "$garth" run -q -d -e W -t fat-$b --backend $b -- /usr/bin/python3 fat.py x.o/{1..5}
    eventually is_state fat-$b paused
    [[ $("$garth" show fat-$b) == *"on disk, more than limits.max_disk"* ]] || complain "$("$garth" show fat-$b)"
    "$garth" cancel fat-$b
  done
  # the topmost one counts too
  W=0 "$garth" run -q -e W -t fat-tmp -- /usr/bin/python3 fat.py /tmp
  [[ $("$garth" show fat-tmp --json | json 'd["disk"] > 2000000') == true ]] || complain "$("$garth" show fat-tmp)"
}

# The attack runs programs that it removed, and then unmaps all of their files: only the kernel's reference to the
# program that a process runs keeps them on the disk, and neither its descriptors nor its mappings name them.
@test "J8 ESCAPES 20 36 limits: a removed program that still runs counts, mapped or not" {
  [[ $(uname -m) == x86_64 ]] || skip "the program is for x86_64"
  limits 'max_disk: 20MB, check_every: 1'
  gcc -O1 -o pinned "$BATS_TEST_DIRNAME/pinned.c"; commit program
  # the control: nothing but that reference is left
  (cd "$T" && exec "$R/pinned" 1000 1) >"$T/said" 3>&- & local pid=$!
  eventually grep -q pinned "$T/said"
  local child; child=$(pgrep -P $pid)
  eventually not grep -q pin0 "/proc/$child/maps"
  [[ $(readlink "/proc/$child/exe") == *'(deleted)' ]]
  kill "$child" $pid
  local b
  for b in overlay worktree; do
    "$garth" run -q -d -t pinned-$b --backend $b -- ./pinned 8000000 6
    eventually is_state pinned-$b paused
    [[ $("$garth" show pinned-$b) == *"on disk, more than limits.max_disk"* ]] || complain "$("$garth" show pinned-$b)"
    "$garth" cancel pinned-$b
  done
}

# The attack makes directories large that are in the base too, empties and removes them, and keeps them open or stays in
# them: an overlay says of such a directory that it still has a link.
@test "J8 ESCAPES 20 36 limits: removed directories of the base count while they are held" {
  # in memory directories have no size, and there is nothing to count; root's tests are on a disk
  mkdir "$T/probe"; (cd "$T/probe"; for i in {1..200}; do : >"$i-$(printf %0200d 1)"; done); (($(stat -c %b "$T/probe") > 16)) || return 0
  limits 'max_disk: 7MB, check_every: 1'
  local i; for i in 1 2 3 4 5; do mkdir "d$i"; echo "$i" >"d$i/f"; done
  cat >held.py <<'PY'
import os, sys, time
held = []
for i in range(1, 6):
    d = "d%d" % i
    os.unlink(d + "/f")
    names = ["%s/%d-%s" % (d, n, "x" * 240) for n in range(8000)]
    os.close(os.open(names[0], os.O_CREAT | os.O_WRONLY))
    for n in names[1:]: os.link(names[0], n)
    if sys.argv[1] == "open": held.append(os.open(d, os.O_RDONLY))
    elif not os.fork():
        os.chdir(d)
        time.sleep(100)
    else: time.sleep(0.1)
    for n in names: os.unlink(n)
    os.rmdir(d)
time.sleep(100)
PY
  commit programs
  local how
  for how in open cwd; do
    "$garth" run -q -d -t held-$how -- /usr/bin/python3 held.py $how
    eventually is_state held-$how paused
    [[ $("$garth" show held-$how) == *"on disk, more than limits.max_disk"* ]] || complain "$("$garth" show held-$how)"
    "$garth" cancel held-$how
  done
}

stopped_meter() {
  local p
  meter=
  for p in $(cat /proc/"$1"/task/*/children); do
    [[ $(<"/proc/$p/comm") != garth-meter ]] || ! grep -q '^State:.*T' "/proc/$p/status" || meter=$p
  done
  [[ -n $meter ]]
}

@test "J8 limits: what a task writes between the measurement and the pause does not end it" {
  limits 'max_disk: 7MB, check_every: 1'
  GARTH_FAULT=stop:pause-stored "$garth" run -q -d -t t --backend worktree -- sh -c '
    head -c 4000000 /dev/zero >a; cp a b; until test -e go; do sleep 0.1; done; cp a c; touch written; sleep 1000'
  local w keeper; w=$("$garth" path t); keeper=$(keeper_of t)
  eventually stopped_meter "$keeper"
  touch "$w/go"; eventually test -e "$w/written"
  stopped_meter "$keeper"; kill -CONT "$meter"
  eventually is_state t paused
  # it is measured again meanwhile
  sleep 3
  [[ $(state_of t) == paused ]]
  [[ $("$garth" audit t) != *'went on writing'* ]]
}

# The attack sends a descriptor of a removed file to the gateway, over a connection that waits behind many slow ones, and
# closes everything: the file is in no process of the task, and no socket of the task has the descriptor.
@test "J8 ESCAPES 20 36 limits: removed files that wait in a connection to the gateway count" {
  limits 'max_disk: 20MB, check_every: 1'
  cat >backlog.py <<'PY'
import array, os, socket, sys, threading, time
gateway = os.environ["GARTH_SOCKET"]
def slow():
    while True:
        try:
            s = socket.socket(socket.AF_UNIX)
            s.connect(gateway)
            while True: s.send(b"G"); time.sleep(0.5)
        except OSError: time.sleep(0.01)
for i in range(int(sys.argv[1])): threading.Thread(target=slow, daemon=True).start()
time.sleep(1)
while True:
    fd = os.open("gone", os.O_RDWR | os.O_CREAT | os.O_TRUNC); os.unlink("gone")
    s = socket.socket(socket.AF_UNIX); s.connect(gateway)
    for k in range(15): os.write(fd, b"x" * (1 << 20))
    s.sendmsg([b"G"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]); s.close(); os.close(fd)
    print("sent", flush=True)
PY
  commit program
  "$garth" run -q -d -t t -- /usr/bin/python3 backlog.py 70
  eventually is_state t paused
  [[ $("$garth" show t) == *"on disk, more than limits.max_disk"* ]] || complain "$("$garth" show t)"
  "$garth" cancel t
}
