# wake.py [COUNT]: has timers send it SIGCONT, and writes a megabyte each time that it runs. A timer sends no second signal
# before the first has arrived, and SIGSTOP takes a SIGCONT back that has not. So there is one for each quarter of a second.
import ctypes, os, sys, time

libc = ctypes.CDLL(None, use_errno=True)


class event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signal", ctypes.c_int), ("notify", ctypes.c_int), ("rest", ctypes.c_char * 48)]


for i in range(1, 101):
    timer = ctypes.c_void_p()
    times = (ctypes.c_long * 4)(0, 50000000, i // 4, i % 4 * 250000000)
    if libc.timer_create(1, ctypes.byref(event(None, 18, 0, b"")), ctypes.byref(timer)) or libc.timer_settime(timer, 0, times, None):
        sys.exit(125)
for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100000):
    with open("tick.o", "a") as f:
        f.write("x\n")
    if len(sys.argv) < 3:
        with open("/tmp/f%d" % i, "wb") as f:
            f.write(b"x" * (1 << 20))
    time.sleep(0.05)
