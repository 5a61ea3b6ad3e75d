"""Terminals for tests: a command on a pty of its own, what it shows, what is typed, its size, its end.

    t = Terminal(["garth", "attach", "x"], rows=30, cols=100)
    t.expect("ready"); t.send("q"); t.resize(40, 120); assert t.wait() == 0
"""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

GARTH = os.environ["GARTH_BUILD"] + "/garth"
LEAVE = "\x19d"


class Terminal:
    def __init__(self, argv, rows=24, cols=80):
        self.seen = b""
        self.at = 0
        self.code = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # before the command can look at it
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
            os.execvp(argv[0], argv)

    def resize(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def modes(self):
        return termios.tcgetattr(self.fd)[:4]

    def read(self, seconds):
        """Whether something came, or the other side is still open."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def expect(self, text, seconds=60):
        """Reads on until text is shown behind what was expected before."""
        want = text.encode()
        end = time.monotonic() + seconds
        while want not in self.seen[self.at:]:
            if time.monotonic() > end or not self.read(0.2):
                raise AssertionError("never saw %r, but %r" % (text, self.seen[self.at:][-2000:]))
        self.at = self.seen.index(want, self.at) + len(want)

    def send(self, text):
        os.write(self.fd, text.encode())

    def hang_up(self):
        os.close(self.fd)
        self.fd = -1

    def kill(self, sig=signal.SIGKILL):
        os.kill(self.pid, sig)

    def wait(self, seconds=60):
        """The exit code as a shell gives it."""
        end = time.monotonic() + seconds
        while self.code is None:
            if self.fd >= 0:
                self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                self.code = code if code >= 0 else 128 - code
            elif time.monotonic() > end:
                raise AssertionError("does not end; shows %r" % self.seen[-2000:])
            elif self.fd < 0:
                time.sleep(0.02)
        while self.fd >= 0 and select.select([self.fd], [], [], 0)[0] and self.read(0):
            pass
        return self.code

    @property
    def text(self):
        return self.seen.decode(errors="replace")


def garth(*args, **kw):
    return Terminal([GARTH, *args], **kw)
