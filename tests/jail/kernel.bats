# ESCAPES 17: system calls that make new views, reach other processes, or reach large parts of the kernel.
load helpers

setup_file() { compile attack; }

setup() {
  jail_setup
  cp "$programs/attack" "$T/open/attack"
  "$garth" new t
  bring t "$programs/attack" attack
}

teardown() {
  if [[ ${beside-} ]]; then ended "$beside"; fi
  jail_teardown
}

attack() { outside ./attack "$@"; }

# As root of a new user namespace: what an agent that got one could do.
attack_in_userns() { outside unshare -Urmunpf ./attack "$@"; }

# stopped ATTEMPT…: works outside, is refused inside.
stopped() {
  attack "$@" >/dev/null || { echo "the control failed: $*"; attack "$@"; return 1; }
  refused "$garth" exec t -- /tmp/attack "$@"
}

# filtered ATTEMPT…: refused inside, with the filter's error.
filtered() {
  refused "$garth" exec t -- /tmp/attack "$@"
  grep -qx "$1: Operation not permitted" "$T/refused" || { echo "not by the filter: $*"; cat "$T/refused"; return 1; }
}

# The attack makes each call that the filter forbids. What it asks for makes no sense, so outside the kernel says that,
# or that there is no such call; inside the filter answers first. No other wall can give that answer in its place.
@test "17 J6: every call on the filter's list is stopped by the filter" {
  attack mistake | grep -v '^mistake:' >"$T/kernel"
  attack_in_userns mistake | grep -v '^mistake:' >"$T/userns"
  "$garth" exec t -- /tmp/attack mistake | grep -v '^mistake:' >"$T/filter"
  (($(wc -l <"$T/filter") >= 62))
  # these check for a capability over the whole machine before anything else
  machine=' kexec_load kexec_file_load init_module finit_module delete_module swapoff acct syslog '
  while read -r name answer; do
    # programs do without it if there is none
    [[ $name == io_setup ]] && filters=ENOSYS || filters=EPERM
    [[ $answer == "$filters" ]] || { echo "inside, $name: $answer"; false; }
    outside=$(sed -n "s/^$name //p" "$T/kernel" "$T/userns" | grep -vx "$filters" | head -n 1)
    if [[ -z $outside && $machine == *" $name "* ]]; then
      # the control needs root; such a call does nothing
      is_root || continue
      outside=$("$T/open/attack" mistake "$name" | sed -n "s/^$name //p" | grep -vx EPERM)
    fi
    [[ -n $outside ]] || { echo "outside, $name is refused as well: the control failed"; false; }
  done <"$T/filter"
}

# The attack makes a new namespace, in which it would have every capability.
@test "17 J6 J10: new user, mount, net, pid, ipc, uts, cgroup and time namespaces" {
  user=0x10000000
  for flags in $user $((user | 0x20000)) $((user | 0x40000000)) $((user | 0x20000000)) $((user | 0x08000000)) $((user | 0x04000000)) $((user | 0x02000000)); do
    stopped unshare "$flags"
    stopped clone "$flags"
    stopped clone3 "$flags"
  done
  stopped unshare $((user | 0x80))
  # without the user namespace, which unprivileged processes need outside as well
  for flags in 0x20000 0x40000000 0x20000000 0x08000000 0x04000000 0x02000000 0x80; do
    attack_in_userns unshare "$flags" >/dev/null
    refused "$garth" exec t -- /tmp/attack unshare "$flags"
  done
  outside unshare -Ur true
  refused "$garth" exec t -- unshare -Ur true
}

# The attack mounts, moves and removes mounts, or changes its root.
@test "17 J1 J6: mount, bind, remount, umount, pivot_root, chroot, open_tree, fsopen, mount_setattr, setns" {
  mkdir "$T/open/m"; chmod 777 "$T/open/m"
  for attempt in mount bind remount umount pivot chroot open_tree fsopen setattr; do
    attack_in_userns "$attempt" "$T/open/m" >/dev/null || { echo "the control failed: $attempt"; false; }
    inside t 'mkdir -p /tmp/m'
    for place in /tmp/m /tmp /proc/sys /usr "$R" "$R/.git"; do
      refused "$garth" exec t -- /tmp/attack "$attempt" "$place"
    done
  done
  attack_in_userns setns /proc/self/ns/uts >/dev/null
  for ns in uts mnt net user pid ipc; do
    refused "$garth" exec t -- /tmp/attack setns "/proc/self/ns/$ns"
    refused "$garth" exec t -- /tmp/attack setns "/proc/1/ns/$ns"
  done
}

# The attack opens files by handles, which ignore mounts.
@test "17 J1: file handles open nothing outside" {
  stopped handle /
  filtered handle /
  # with a capability over the whole machine it works; without, the kernel has looked at its arguments before it refuses
  if is_root; then "$T/open/attack" open_handle "$T/open"; fi
  tells 'open_by_handle_at EFAULT' attack mistake open_by_handle_at
  tells 'open_by_handle_at EPERM' "$garth" exec t -- /tmp/attack mistake open_by_handle_at
  filtered open_handle /tmp
  filtered open_handle .
  filtered open_handle /tmp guessed
}

# The attack reads, stops or signals a process outside by its number.
@test "17 J1 J6: ptrace, process_vm_readv, /proc/PID/mem, signals and pidfds to the outside" {
  beside "$T/victim" ./attack victim "$SECRET"
  until_ test -s "$T/victim"
  read -r pid address <"$T/victim"
  tells "$SECRET" attack vm_read "$pid" "$address"
  tells "$SECRET" attack mem "$pid" "$address"
  attack ptrace "$pid" >/dev/null
  attack kill "$pid" 0 >/dev/null
  attack pidfd_kill "$pid" 0 >/dev/null
  attack getfd "$pid" 1 >/dev/null
  for net in none host; do
    for attempt in "vm_read $pid $address" "mem $pid $address" "ptrace $pid" "kill $pid 0" "kill $pid 9" "pidfd_kill $pid 9" "getfd $pid 1"; do
      # shellcheck disable=SC2086
      refused "$garth" exec --net "$net" t -- /tmp/attack $attempt
    done
    "$garth" exec --net "$net" t -- sh -c 'kill -KILL -1; true' || true
  done
  kill -0 "$pid"
  # nor the keeper and its command, the parents of the inside's first process
  [[ $(inside t 'cut -d" " -f4 /proc/1/stat') == 0 ]]
}

# The attack is on the first process inside, which holds the connection to the keeper.
@test "17 J6: the first process inside cannot be killed, stopped, or read, nor its descriptors taken" {
  "$garth" run -d --task bg -- sleep 100
  bring bg "$programs/attack" attack
  # the control: all of it works on one of the agent's own processes
  inside bg '/tmp/attack victim secret >/tmp/v & sleep 0.3; read pid address </tmp/v
    for a in "vm_read $pid $address" "mem $pid $address" "ptrace $pid" "getfd $pid 1" "kill $pid 0"; do /tmp/attack $a >/dev/null || { echo "control: $a"; exit 1; }; done
    test -r /proc/$pid/environ && test -e /proc/$pid/root/ && ls /proc/$pid/fd/ >/dev/null && kill -9 $pid'
  for attempt in "vm_read 1 0x400000" "mem 1 0x400000" "ptrace 1" "getfd 1 4" "getfd 1 0"; do
    # shellcheck disable=SC2086
    refused "$garth" exec bg -- /tmp/attack $attempt
  done
  refused inside bg 'cat /proc/1/environ'
  refused inside bg 'cat /proc/1/maps | grep .'
  refused inside bg 'ls /proc/1/fd/'
  refused inside bg 'ls /proc/1/root/'
  refused inside bg 'ls /proc/1/cwd/'
  refused inside bg 'echo 1000 >/proc/1/oom_score_adj'
  for signal in KILL STOP TERM INT HUP SEGV TSTP USR1 CHLD PIPE 33 64; do inside bg "kill -$signal 1" || true; done
  inside bg true
  [[ $(state_of bg) == running ]]
  # nor can its limits be lowered: only a process itself can do that
  beside "$T/victim" ./attack victim x
  until_ test -s "$T/victim"
  attack prlimit "$(cut -d' ' -f1 "$T/victim")" >/dev/null
  refused "$garth" exec bg -- /tmp/attack prlimit 1
  [[ $(timeout 10 "$garth" exec bg -- echo alive) == alive ]]
  within 15 "$garth" cancel bg
  inside bg true
}

# The attack writes to the settings of the whole machine, for which the kernel checks a uid and no capability.
@test "17 J6 J10: writes to /proc/sys and other files of the kernel" {
  if is_root; then
    cat /proc/sys/kernel/core_pattern >"$T/pattern"; cat "$T/pattern" >/proc/sys/kernel/core_pattern
  else
    unshare -Urn sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
  fi
  "$garth" new w --backend worktree
  for task in t w; do
    for file in sys/kernel/core_pattern sys/kernel/modprobe sys/vm/overcommit_memory sys/net/ipv4/ip_forward sys/kernel/hostname sys/fs/binfmt_misc/register \
      sysrq-trigger irq/default_smp_affinity self/uid_map self/gid_map self/setgroups self/oom_score_adj self/attr/current 1/oom_score_adj; do
      refused inside "$task" "cat /proc/$file >/tmp/old 2>/dev/null; cat /tmp/old >/proc/$file"
    done
    [[ -z $(inside "$task" 'find /proc/sys /proc/irq /proc/bus /proc/fs -writable -type f 2>/dev/null | head -n 3') ]]
    for file in kcore kmsg kpagemap sched_debug; do refused inside "$task" "head -c 1 /proc/$file | grep -q ."; done
    refused inside "$task" 'ls /sys/kernel/debug || ls /sys/class || ls /sys/fs/cgroup || ls /dev/mem || ls /dev/sda || ls /dev/vda || ls /dev/kvm || ls /dev/fuse || ls /dev/net/tun'
  done
}

# The attack uses parts of the kernel that a build does not need and that were used to bypass filters before.
@test "17 J6: keyrings, io_uring, bpf, perf, userfaultfd, fanotify, kcmp, personality" {
  for attempt in keys keyctl request_key userfaultfd fanotify kcmp "personality 0x0400000" "personality 0x0100000" "personality 8"; do
    # shellcheck disable=SC2086
    stopped $attempt
    # shellcheck disable=SC2086
    filtered $attempt
  done
  # what a setting of the machine may have switched off: then the kernel's own answer is another than the filter's
  if attack io_uring >"$T/said"; then :; elif [[ $(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null) == [12] ]]; then
    lacking 'io_uring (kernel.io_uring_disabled)'; tells 'io_uring_enter EINVAL' attack mistake io_uring_enter
  else
    grep 'Function not implemented' "$T/said"; lacking 'io_uring'
  fi
  filtered io_uring
  if attack perf >"$T/said"; then :; else
    (($(cat /proc/sys/kernel/perf_event_paranoid) > 2)) || grep 'Function not implemented' "$T/said"
    lacking 'perf_event_open for users (kernel.perf_event_paranoid)'; tells 'perf_event_open EINVAL' attack mistake perf_event_open
  fi
  filtered perf
  if attack bpf >"$T/said"; then :; elif is_root; then "$T/open/attack" bpf; else
    (($(cat /proc/sys/kernel/unprivileged_bpf_disabled) > 0))
    lacking 'bpf for users (kernel.unprivileged_bpf_disabled)'; tells 'bpf E2BIG' attack mistake bpf
  fi
  filtered bpf
  # the calls that debuggers need are no way out
  "$garth" exec t -- /tmp/attack personality 0xffffffff
  attack_in_userns sethostname >/dev/null
  filtered sethostname
}

# The attack calls the kernel by the numbers of another architecture, which a filter may not know.
@test "17 J6: 32-bit system calls" {
  if [[ $(uname -m) != x86_64 ]]; then lacking '32-bit and x32 calls of x86'; return 0; fi
  code=0; attack int80 >/dev/null 2>&1 || code=$?
  if ((code == 0)); then
    for attempt in int80 int80_unshare; do
      stopped $attempt
      grep -qx "$attempt: Function not implemented" "$T/refused"
    done
  else
    # the instruction itself ends the process, outside and inside
    ((code == 139))
    lacking '32-bit calls (ia32_emulation)'
    code=0; "$garth" exec t -- /tmp/attack int80 || code=$?; ((code == 139))
  fi
  if attack x32 >"$T/said"; then stopped x32; else
    grep -qx 'x32: Function not implemented' "$T/said"
    lacking 'x32 calls: its own answer is the same as the filter'"'"'s'
    refused "$garth" exec t -- /tmp/attack x32
  fi
  grep -qx 'x32: Function not implemented' "$T/refused"
}

# typed CMD…: runs it with a new terminal on standard input; returns its exit code.
typed() { "$python" -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], lambda f: os.read(f, 1024), lambda f: b"")))' "$@" </dev/null 3>&-; }

# The attack puts characters into the terminal, as if the user had typed them.
@test "17 J6: TIOCSTI and TIOCLINUX" {
  # if a setting forbids it, the kernel's answer differs from the filter's
  if [[ $(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null || echo 1) == 1 ]]; then
    tells 'sti: done' typed ${as[@]+"${as[@]}"} "$T/open/attack" sti
  else
    tells 'sti: Input/output error' typed ${as[@]+"${as[@]}"} "$T/open/attack" sti
    lacking 'TIOCSTI (dev.tty.legacy_tiocsti)'
  fi
  # a pseudo-terminal does not know TIOCLINUX: outside the call arrives at its driver, inside it does not
  tells 'Inappropriate ioctl' typed "$T/open/attack" tioclinux
  for high in 0 1 0x7fffffff; do
    tells 'sti: Operation not permitted' typed "$garth" exec t -- /tmp/attack sti "$high"
    tells 'tioclinux: Operation not permitted' typed "$garth" exec t -- /tmp/attack tioclinux "$high"
  done
  # the terminal inside belongs to the jail
  inner=$(typed "$garth" exec t -- sh -c 'stat -c %d:%i $(tty)' | tr -d '\r')
  [[ $inner == *:* ]]
  [[ $inner != $(stat -c %d:%i /dev/pts/ptmx) ]]
  refused inside t 'echo >/dev/console || echo >/dev/tty1'
  # and without one outside there is none inside
  refused inside t 'echo x >/dev/tty'
}

# The attack runs a program that has no name in any directory.
@test "17 J6: memfd and execveat do not escape the walls" {
  tells "$SECRET" outside ./attack memfd /bin/cat "$T/elsewhere/secret"
  outside ./attack memfd ./attack unshare 0x10000000 >/dev/null
  "$garth" exec t -- /tmp/attack memfd /bin/true
  silent "$SECRET" "$garth" exec t -- /tmp/attack memfd /bin/cat "$T/elsewhere/secret"
  refused "$garth" exec t -- /tmp/attack memfd /tmp/attack unshare 0x10000000
}

# Who is inside: never root, no capability, nothing to gain by set-user-id programs.
@test "17 J6 J10: identity and capabilities" {
  [[ $(inside t 'id -u') != 0 ]]
  [[ $(inside t 'id -g') != 0 ]]
  if is_root; then [[ $(inside t 'id -G | wc -w') == 1 ]]; fi
  [[ $(inside t 'grep -c "^Cap.*:	0000000000000000$" /proc/self/status') == 5 ]]
  # nor has the first process, which keeps what it has when it executes another program
  [[ $(inside t 'grep -c "^Cap.*:	0000000000000000$" /proc/1/status') == 5 ]]
  [[ $(inside t 'sed -n "s/^NoNewPrivs:	//p;s/^Seccomp:	//p" /proc/self/status | tr "\n" " "') == '1 2 ' ]]
  # the identity is one, the same number on both sides, and on the host what is made inside belongs to it
  who=$EUID; if is_root; then who=1879050000; fi
  [[ $(inside t 'read -r in out n </proc/self/uid_map; echo $in $out $n') == "$who $who 1" ]]
  inside t 'echo x >/tmp/made; echo x >made'
  [[ $(stat -c %u "$GARTH_HOME/tasks/$(ident 1)/tmp/made" "$GARTH_HOME/tasks/$(ident 1)/upper/made" | sort -u) == "$who" ]]
  # each has its own namespaces
  for ns in user mnt pid ipc uts cgroup net; do
    mine=$(outside readlink "/proc/self/ns/$ns")
    [[ $mine == "$ns:["* ]]
    theirs=$(inside t "readlink /proc/self/ns/$ns")
    [[ $theirs == "$ns:["* ]]
    [[ $theirs != "$mine" ]]
  done
  refused inside t 'su -c true || sudo -n true || mount -t tmpfs x /tmp'
  [[ $(ulimit -Hc) != 0 || -n ${CI-} ]]
  [[ $(inside t 'ulimit -Hc') == 0 || $(inside t 'ulimit -Hc') == 1 ]]
}

# The attack reads and removes shared memory by its id: such memory is in no directory.
@test "17 J1 J6: shared memory of System V" {
  for net in none host; do
    attack shm_make "$SECRET" >"$T/shm"
    id=$(head -n 1 "$T/shm")
    tells "$SECRET" attack shm_read "$id"
    refused "$garth" exec --net "$net" t -- /tmp/attack shm_read "$id"
    refused "$garth" exec --net "$net" t -- /tmp/attack shm_remove "$id"
    [[ $(inside t 'sed 1d /proc/sysvipc/shm | wc -l') == 0 ]]
    tells "$SECRET" attack shm_read "$id"
    attack shm_remove "$id" >/dev/null
  done
}
