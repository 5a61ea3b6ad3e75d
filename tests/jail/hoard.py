# hoard.py sockets|inotify|terminals [SECONDS [MOST]]: takes what the kernel counts for each user, until it gives no more or there are
# MOST; prints how much, and holds it.
import array, ctypes, os, resource, socket, sys, time

hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def sockets(most):
    kept, n, fd = [], 0, os.open("/dev/null", os.O_RDONLY)
    fds = array.array("i", [fd] * 200)
    while n < most:
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        kept += [a, b]
        a.setblocking(False)
        try:
            for i in range(5):
                a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
                n += len(fds)
        except BlockingIOError:
            continue
        except OSError:
            break
    return kept, n


def inotify(most):
    libc, kept = ctypes.CDLL(None), []
    while len(kept) < most:
        fd = libc.inotify_init1(0)
        if fd < 0:
            break
        kept.append(fd)
    return kept, len(kept)


def terminals(most):
    kept = []
    while len(kept) < most:
        try:
            kept.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
        except OSError:
            break
    return kept, len(kept)


kept, n = {"sockets": sockets, "inotify": inotify, "terminals": terminals}[sys.argv[1]](int(sys.argv[3]) if len(sys.argv) > 3 else 20000)
print(n, flush=True)
time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0)
