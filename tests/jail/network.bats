# ESCAPES 21: everything that a socket reaches.
load helpers

setup() {
  jail_setup
  cp "$BATS_TEST_DIRNAME/net.py" "$T/open/net.py"; chmod 644 "$T/open/net.py"
  servers=()
  "$garth" new t
  bring t "$T/open/net.py" net.py
}

teardown() {
  for pid in "${servers[@]}"; do ended "$pid"; done
  jail_teardown
}

# serve KIND TARGET [PORT]: a server outside, with the inside's user; $port.
serve() {
  local out=$T/server.${#servers[@]}
  beside "$out" env "WORD=$SECRET" "GOT=$T/open/got" "$python" net.py serve "$@"
  servers+=("$beside")
  until_ grep -q ready "$out"
  port=$(sed -n 's/^ready //p' "$out")
}

net() { outside "$python" net.py "$@"; }
net_inside() { "$garth" exec --net "${mode:-none}" t -- "$python" /tmp/net.py "$@"; }
net_refused() { refused "$garth" exec --net "${mode:-none}" t -- "$python" /tmp/net.py "$@"; }

# kept KIND…: can be reached from outside, not from inside.
kept() {
  net "$@" >/dev/null || { echo "the control failed: $*"; net "$@"; return 1; }
  net_refused "$@"
}

# The attack connects to servers of the machine over TCP and UDP, by both protocols.
@test "21 J6: TCP and UDP over IPv4 and IPv6" {
  serve tcp 127.0.0.1; tells "$SECRET" net tcp 127.0.0.1 "$port"; kept tcp 127.0.0.1 "$port"
  serve udp 127.0.0.1; tells "$SECRET" net udp 127.0.0.1 "$port"; kept udp 127.0.0.1 "$port"
  if [[ -e /proc/net/if_inet6 ]] && grep -q ' lo$' /proc/net/if_inet6; then
    serve tcp6 ::1; kept tcp6 ::1 "$port"
    serve udp6 ::1; kept udp6 ::1 "$port"
  fi
  # by every address that the machine has, by names for it, and to the world
  serve tcp 0.0.0.0
  for address in $(hostname -I 2>/dev/null) 127.0.0.1 127.1.2.3 0.0.0.0 localhost; do
    [[ $address != *:* ]] || continue
    kept tcp "$address" "$port"
  done
  for address in 1.1.1.1 169.254.169.254 10.0.0.1; do net_refused tcp "$address" 80; net_refused udp "$address" 53; done
  # the network inside is there for the task's own servers
  inside t "$python - <<'P'
import socket
s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); s.accept()[0].sendall(b'x'); assert c.recv(1) == b'x'
P"
  [[ $(inside t 'ls /sys/class/net 2>/dev/null; sed 1,2d /proc/net/dev | cut -d: -f1 | tr -d " "') == lo ]]
}

# Network `host` gives the host's network and nothing else.
@test "21 J5: control: with network host TCP arrives" {
  serve tcp 127.0.0.1
  mode=host
  tells "$SECRET" net_inside tcp 127.0.0.1 "$port"
}

# The attack asks a resolver for names.
@test "21 J6: DNS requests reach nobody" {
  serve udp 127.0.0.1
  kept udp 127.0.0.1 "$port"
  refused inside t "getent hosts example.com"
  refused inside t "$python -c 'import socket; socket.getaddrinfo(\"example.com\", 80)'"
  refused inside t 'cat /etc/resolv.conf'
}

# The attack connects to unix sockets of the host by their path: streams, datagrams, and from a socket pair.
@test "21 J2 J6: path sockets of the host" {
  serve path "$T/open/stream.sock"
  serve path-dgram "$T/open/dgram.sock"
  serve path "$HOME/.ssh/agent.sock"
  tells "$SECRET" net path "$T/open/stream.sock"
  for mode in none host; do
    kept path "$T/open/stream.sock"
    kept path "$HOME/.ssh/agent.sock"
    rm -f "$T/open/got"
    kept path-dgram "$T/open/dgram.sock"
    kept pair "$T/open/dgram.sock"
    sleep 0.1
    # the controls arrived, and nothing else
    [[ $(<"$T/open/got") == evilevil ]]
  done
}

# The attack connects to abstract sockets, which have no path that could be hidden.
@test "21 J6: abstract sockets of the host, also with the network of the host" {
  name=garth-test-$RANDOM$RANDOM
  serve abstract "$name"
  serve abstract-dgram "$name-d"
  for mode in none host; do
    tells "$SECRET" net abstract "$name"
    kept abstract "$name"
    kept abstract-dgram "$name-d"
  done
}

# The attack connects to another task's abstract socket and to the keepers' control sockets.
@test "21 J2 J6: sockets of other tasks and of the keepers" {
  name=garth-test-$RANDOM$RANDOM
  cp "$BATS_TEST_DIRNAME/net.py" "$R/net.py"; git -C "$R" add net.py; git -C "$R" commit -qm net
  "$garth" run -d --net host --task other -e "WORD=$SECRET" -- "$python" net.py serve abstract "$name"
  until_ tells ready "$garth" log other
  # the control: the task itself reaches it
  tells "$SECRET" "$garth" exec other -- "$python" net.py abstract "$name"
  mode=host net_refused abstract "$name"
  # the keeper's own socket is there, outside
  socket=$(find "$GARTH_HOME/tasks" -type s | head -n 1)
  [[ -S $socket ]]
  refused inside other "test -e $socket"
  refused inside t "test -e $socket"
  [[ -z $(inside t 'find / -type s 2>/dev/null') ]]
  [[ -z $(inside other 'find / -type s 2>/dev/null') ]]
  for path in /run/docker.sock /var/run/docker.sock /run/dbus /run/user /run/systemd /tmp/.X11-unix /run/containerd; do refused inside t "ls -d $path"; done
  [[ $(inside t 'ls /run') == garth ]]
  "$garth" cancel other
}

# The attack opens sockets that are not for connections: raw, packet, and families that nobody needs.
@test "21 J6: raw and packet sockets, ICMP, vsock, netlink and rare families" {
  for kind in raw raw6 sockpacket packet; do
    outside unshare -Urn "$python" net.py open "$kind" >/dev/null || { echo "the control failed: $kind"; false; }
    for mode in none host; do net_refused open "$kind"; done
  done
  # A type that no family has: outside the kernel says so (EINVAL) before it looks for the family, which it need not
  # have; inside the filter has looked at the family. The families that are there can be opened outside.
  found=
  # shellcheck disable=SC2046
  families=$(echo 0 3 4 5 6 7 8 9 $(seq 11 15) $(seq 17 45))
  # shellcheck disable=SC2086
  [[ $(net type 15 0 $families | sed 's/.* //' | sort -u) == EINVAL ]]
  for mode in none host; do
    # shellcheck disable=SC2086
    net_inside type 15 0 $families >"$T/said"
    (($(wc -l <"$T/said") == $(wc -w <<<"$families")))
    if grep -v ' EAFNOSUPPORT$' "$T/said"; then echo "not by the filter"; false; fi
  done
  for kind in alg vsock bluetooth can rds tipc smc xdp qipcrtr kcm mctp x25 ax25 appletalk ipx; do
    if ! outside unshare -Urn "$python" net.py open "$kind" >/dev/null 2>&1; then absent="${absent-} $kind"; continue; fi
    found="$found $kind"
    for mode in none host; do net_refused open "$kind"; grep -q EAFNOSUPPORT "$T/refused"; done
  done
  [[ -z ${absent-} ]] || lacking "sockets of the families$absent; it has:${found:- none}"
  # raw ones, by a protocol that there cannot be: the kernel says that first, the filter does not come to it
  [[ $(net type 3 100000 2 10 | tr '\n' ' ') == '2 EINVAL 10 EINVAL ' ]]
  for mode in none host; do [[ $(net_inside type 3 100000 2 10 | tr '\n' ' ') == '2 EPERM 10 EPERM ' ]]; done
  tells 'Errno 95' net pair-of 2
  tells EAFNOSUPPORT net_inside pair-of 2
  unset mode
  # of netlink, addresses and routes, and no other protocol: uevents, audit, netfilter, generic, connector, …
  [[ $(net netlink 0 15 16 | tr '\n' ' ') == '0 done 15 done 16 done ' ]]
  for mode in none host; do
    [[ $(net_inside netlink 0) == '0 done' ]]
    net_inside netlink 2 4 5 6 8 9 10 11 12 15 16 20 21 >"$T/said"
    [[ $(wc -l <"$T/said") == 13 ]] || {
      cat "$T/said"
      false
    }
    [[ $(sed 's/.* //' "$T/said" | sort -u) == EAFNOSUPPORT ]] || {
      cat "$T/said"
      false
    }
  done
  # nor can the host's links and routes be changed
  outside unshare -Urn sh -c 'ip link set lo up && ip addr add 10.9.8.7/32 dev lo'
  refused "$garth" exec --net host t -- sh -c 'ip link set lo down || ip addr add 10.9.8.7/32 dev lo'
  grep -q 'Operation not permitted' "$T/refused"
}
