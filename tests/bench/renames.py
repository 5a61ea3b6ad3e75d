"""Rows about renames inside, which a filter hands to the jail's first process (src/jail/overlay_rename.h)."""
import os
import time

from measure import alternate, median, say

FILES = 1000

TABLE = [
    ("rename-files", f"rename of {FILES:,} files inside", "the same outside", "s", None),
    ("rename-dir", f"rename of a base directory with {FILES:,} files", "cp -a and rm -r of it inside", "s", None),
]

# Measures inside the script, so that the start of the interpreter does not count.
FILES_CODE = f"""
import os, time
os.makedirs('renames', exist_ok=True)
os.chdir('renames')
for i in range({FILES}): open('a%d' % i, 'w').close()
start = time.perf_counter()
for i in range({FILES}): os.rename('a%d' % i, 'b%d' % i)
print(time.perf_counter() - start)
"""
DIR_CODE = "import os, time; s = time.perf_counter(); os.rename('d0', 'moved'); print(time.perf_counter() - s)"
COPY_CODE = ("import subprocess, time; s = time.perf_counter(); "
             "subprocess.check_call(['/bin/sh', '-c', 'cp -a d0 moved && rm -r d0']); print(time.perf_counter() - s)")


def renames(b):
    repo = b.repo("renames", [("a.txt", "a\n"), *((f"d0/{i // 50}/{i}", f"{i}\n" * 200) for i in range(FILES))])
    outside = b.path("renames-outside")
    b.run.run(["/bin/mkdir", outside], "/")

    def new():
        task = b.name("renames")
        b.run.run([b.garth, "new", task], repo)
        return task

    def timed(prefix, cwd, code):
        return float(b.run.run([*prefix, "/usr/bin/python3", "-SEc", code], cwd))

    task = new()
    say("renames of files")
    mine, peer = alternate(6, lambda: timed([b.garth, "exec", task, "--"], repo, FILES_CODE),
                           lambda: timed([], outside, FILES_CODE))
    yield "rename-files", median(mine), median(peer), None
    say("renames of a directory")
    mine, peer = alternate(4, lambda: timed([b.garth, "exec", new(), "--"], repo, DIR_CODE),
                           lambda: timed([b.garth, "exec", new(), "--"], repo, COPY_CODE))
    yield "rename-dir", median(mine), median(peer), None
    # the last task's keeper may still write, which would disturb the removal
    os.sync()
    time.sleep(1)


GROUPS = [(("rename-files", "rename-dir"), renames)]
