"""net.py KIND TARGET [PORT]: reaches a server, or makes a socket. Exit code 0 where it succeeded.

serve KIND TARGET [PORT] answers every connection and every datagram with the word in $WORD, and prints "ready"."""
import errno
import os
import socket
import sys

FAMILIES = {"unix": 1, "ax25": 3, "ipx": 4, "appletalk": 5, "x25": 9, "netlink": 16, "packet": 17, "rds": 21, "can": 29, "tipc": 30,
            "bluetooth": 31, "alg": 38, "vsock": 40, "kcm": 41, "qipcrtr": 42, "smc": 43, "xdp": 44, "mctp": 45}


def address(kind, target, port):
    if kind.startswith("abstract"):
        return "\0" + target
    return target if kind.startswith("path") else (target, int(port))


def family(kind):
    if kind.startswith(("abstract", "path")):
        return socket.AF_UNIX
    return socket.AF_INET6 if kind.endswith("6") else socket.AF_INET


def is_datagram(kind):
    return "dgram" in kind or kind.startswith("udp")


def make(kind):
    return socket.socket(family(kind), socket.SOCK_DGRAM if is_datagram(kind) else socket.SOCK_STREAM)


def serve(kind, target, port=None):
    s = make(kind)
    word = os.environ["WORD"].encode()
    s.bind(address(kind, target, port or 0))
    if kind.startswith("path"):
        os.chmod(target, 0o777)
    if not is_datagram(kind):
        s.listen()
    print("ready", s.getsockname()[1] if family(kind) != socket.AF_UNIX else "", flush=True)
    while True:
        if is_datagram(kind):
            data, peer = s.recvfrom(100)
            with open(os.environ["GOT"], "ab") as f:
                f.write(data)
            if peer:
                s.sendto(word, peer)
        else:
            c, _ = s.accept()
            c.sendall(word)
            c.close()


def reach(kind, target, port=None):
    if kind == "pair":  # a socket pair's end can send to any name
        a, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        a.sendto(b"evil", address("path", target, 0))
        return
    s = make(kind)
    s.settimeout(3)
    where = address(kind, target, port)
    if kind.endswith("dgram"):
        s.sendto(b"evil", where)
        return
    if is_datagram(kind):
        s.sendto(b"evil", where)
        print(s.recv(100).decode())
        return
    s.connect(where)
    print(s.recv(100).decode())


def open_family(name, proto="0"):
    kinds = {"raw": (2, 3, 1), "raw6": (10, 3, 58), "sockpacket": (2, 10, 768), "icmp": (2, 2, 1)}
    if name in kinds:
        socket.socket(*kinds[name]).close()
        return
    last = None
    for kind in (2, 1, 3, 5):
        try:
            socket.socket(FAMILIES[name], kind, int(proto)).close()
            return
        except OSError as e:
            last = e
            # the family is there, and does not know this kind of socket
            if e.errno in (errno.ESOCKTNOSUPPORT, errno.EPROTONOSUPPORT, errno.EPROTOTYPE):
                continue
            if e.errno == errno.EAFNOSUPPORT:
                break
    raise last


def numbers(kind, proto, *families):
    """A line for each family: its number and the error, or "done"."""
    for n in families:
        try:
            socket.socket(int(n), int(kind), int(proto)).close()
            print(n, "done")
        except OSError as e:
            print(n, errno.errorcode[e.errno])


def pair_of(family_number):
    socket.socketpair(int(family_number), socket.SOCK_STREAM)


def bound(*protos):
    """A line for each protocol of netlink."""
    for n in protos:
        try:
            socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, int(n)).bind((0, 0))
            print(n, "done")
        except OSError as e:
            print(n, errno.errorcode[e.errno])


try:
    {"serve": serve, "open": open_family, "netlink": bound, "type": numbers, "pair-of": pair_of}.get(sys.argv[1], lambda *a: reach(*sys.argv[1:]))(*sys.argv[2:])
except OSError as e:
    print(sys.argv[1:], errno.errorcode.get(e.errno, e.errno), e)
    sys.exit(1)
except Exception as e:
    # a mistake in the attempt is not a refusal
    print(sys.argv[1:], repr(e))
    sys.exit(125)
