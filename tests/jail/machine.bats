# J1 J2 J6: what a task is shown of the machine: processors, settings in /etc, queues, core files.
load helpers

# The attack reads settings in which administrators leave passwords, and changes those that are shown.
@test "1 J2 J10: of /etc only harmless settings are shown, and none can be changed" {
  "$garth" new t
  for name in environment fstab npmrc pip.conf wgetrc shadow gshadow ssh sudoers apt default systemd cron.d pam.d hostname my.cnf \
    krb5.keytab ssl/private wireguard NetworkManager apache2 postgresql ldap security resolv.conf; do
    refused inside t "test -e /etc/$name"
  done
  # control: outside some of them are there for everybody
  outside sh -c 'cat /etc/fstab /etc/environment /etc/resolv.conf >/dev/null'
  for name in nsswitch.conf ssl/openssl.cnf; do [[ $(inside t "cat /etc/$name") == "$(</etc/$name)" ]]; done
  [[ -z $(inside t 'find /etc -writable ! -type l') ]]
  refused inside t 'echo x >>/etc/nsswitch.conf || touch /etc/new || rm /etc/hosts'
  # no link in /etc leads to something of the host that is not shown; the time zone has its name, by which libraries find it
  [[ -z $(inside t 'find /etc -maxdepth 1 -type l ! -lname "/usr/*"; find /etc -maxdepth 1 -xtype l') ]]
  [[ $(inside t 'readlink -f /etc/localtime') == "$(readlink -f /etc/localtime)" ]]
}

# The attack learns which machine it is on.
@test "1 J2: the machine's id is the task's own, random, and stays the same" {
  "$garth" new t; "$garth" new u
  one=$(inside t 'cat /etc/machine-id')
  [[ $one =~ ^[0-9a-f]{32}$ ]]
  [[ $(inside t 'cat /etc/machine-id') == "$one" ]]
  [[ $(inside u 'cat /etc/machine-id') != "$one" ]]
  [[ ! -e /etc/machine-id || $(</etc/machine-id) != "$one" ]]
  refused inside t 'echo x >/etc/machine-id'
}

# The attack changes the machine through /sys, and looks for devices, firmware and control groups there.
@test "17 J1 J6 J10: of /sys only processors are shown, and nothing can be changed" {
  "$garth" new t
  [[ $(inside t 'cat /sys/devices/system/cpu/online') == "$(</sys/devices/system/cpu/online)" ]]
  inside t 'nproc && lscpu' >/dev/null
  for path in /sys/class /sys/block /sys/fs /sys/firmware /sys/module /sys/kernel/debug /sys/kernel/security /sys/devices/virtual /sys/devices/pci0000:00; do
    refused inside t "test -e $path"
  done
  outside test -e /sys/class
  [[ -z $(inside t 'find /sys -writable') ]]
  refused inside t 'for f in $(find /sys -type f); do echo 0 >$f && exit 0; done; exit 1'
}

queue='import ctypes, os, sys
lib = ctypes.CDLL("librt.so.1", use_errno=True)
fd = lib.mq_open(sys.argv[1].encode(), int(sys.argv[2]), 0o666, None)
sys.exit(os.strerror(ctypes.get_errno()) if fd < 0 else 0)'

# The attack talks to the host, or to another task, through POSIX message queues.
@test "17 J6: message queues work, and are the task's own" {
  "$garth" run -qd --task t -- sleep 60
  "$garth" run -qd --task u -- sleep 60
  open() { local task=$1; shift; "$garth" exec "$task" -- "$python" -c "$queue" "$@"; }
  # control: outside a queue is found again by its name
  "$python" -c "$queue" /gt-$$ 66
  "$python" -c "$queue" /gt-$$ 2
  open t /gt-own 66
  open t /gt-own 2
  [[ $(inside t 'ls /dev/mqueue') == gt-own ]]
  not open u /gt-own 2
  not open t /gt-$$ 2
  not "$python" -c "$queue" /gt-own 2
  "$python" -c "import ctypes; ctypes.CDLL('librt.so.1').mq_unlink(b'/gt-$$')"
}

# The attack crashes on purpose, so that a program outside reads its memory, or fills the disk with core files.
@test "20 J6: no core files and no handler outside, unless the user wants core files" {
  "$garth" new t
  crash="ulimit -c unlimited; $python -c 'import os; os.abort()'; find . /tmp -name 'core*' -type f | grep ."
  [[ $(inside t "$python -c 'import resource as r; r.setrlimit(r.RLIMIT_CORE, (0, 0)); print(r.getrlimit(r.RLIMIT_CORE))'") == '(1, 1)' || $(ulimit -Hc) == 0 ]]
  refused inside t "$crash"
  echo 'limits: {max_core: 50MB}' | configure
  case $(</proc/sys/kernel/core_pattern) in
  [\|@]*)
    run "$garth" exec t -- true
    [[ $output == *'limits.max_core is not used'* ]]
    refused inside t "$crash" ;;
  core | core.%p)
    [[ $(ulimit -Hc) == 0 ]] || inside t "$crash" ;;
  esac
}
