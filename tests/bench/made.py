"""The repositories for the measurements: generated, and the same in every run."""
import os
import random
import time

WORDS = ("value", "count", "index", "buffer", "length", "return", "static", "const", "struct", "node", "next", "table",
         "if", "while", "size", "error", "state", "task", "name", "path")


def _text(rng, lines):
    return "\n".join(" ".join(rng.choices(WORDS, k=6)) for _ in range(lines)) + "\n"


def _import(run, git, path, files, message):
    """One commit on main with `files` (path to text), through fast-import: a pack, as after a clone."""
    out = [f"commit refs/heads/main\ncommitter Bench <bench@example.org> 1700000000 +0000\n"
           f"data {len(message)}\n{message}\n".encode()]
    for name, text in files:
        data = text.encode()
        out.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(data), data))
    stream = os.path.join(path, ".git", "stream")
    with open(stream, "wb") as f:
        f.write(b"".join(out))
    run.run(["/bin/sh", "-c", f"{git} fast-import --quiet < .git/stream"], path)
    os.unlink(stream)


def repository(run, git, path, files):
    run.run([git, "init", "-q", "-b", "main", path], "/")
    for key, value in (("user.name", "Bench"), ("user.email", "bench@example.org"), ("gc.auto", "0")):
        run.run([git, "config", key, value], path)
    _import(run, git, path, files, "start")
    run.run([git, "reset", "-q", "--hard", "main"], path)
    return path


def long_history(run, git, path, n):
    """A repository of one file with n commits, as after a clone: one pack, no commit-graph."""
    run.run([git, "init", "-q", "-b", "main", path], "/")
    for key, value in (("user.name", "Bench"), ("user.email", "bench@example.org"), ("gc.auto", "0")):
        run.run([git, "config", key, value], path)
    stream = os.path.join(path, ".git", "stream")
    with open(stream, "w") as f:
        for i in range(n):
            f.write(f"commit refs/heads/main\ncommitter Bench <bench@example.org> {1700000000 + i} +0000\ndata 1\nx\n"
                    f"M 100644 inline file\ndata {len(str(i)) + 1}\n{i}\n\n")
    run.run(["/bin/sh", "-c", f"{git} fast-import --quiet < .git/stream && {git} tag first main~{n - 1}"], path)
    os.unlink(stream)
    run.run([git, "reset", "-q", "--hard", "main"], path)


def tags(run, git, path, n):
    """n tags of HEAD, packed."""
    head = run.run([git, "rev-parse", "HEAD"], path).strip()
    with open(os.path.join(path, ".git", "packed-refs"), "w") as f:
        f.write("# pack-refs with: peeled fully-peeled sorted \n")
        f.writelines(f"{head} refs/tags/t{i:06d}\n" for i in range(n))


def many_commits(run, git, path, n, changed, step):
    """n commits on main that change the first `changed` files of small_files, one or none in each; checked out."""
    stream = os.path.join(path, ".git", "stream")
    with open(stream, "w") as f:
        for i in range(n):
            text = f"{step} {i}\n"
            f.write(f"commit refs/heads/main\ncommitter Bench <bench@example.org> {1700100000 + step * n + i} +0000\ndata 1\nx\n")
            if i == 0:
                f.write("from refs/heads/main^0\n")
            if i < changed:
                f.write(f"M 100644 inline {nth_file(i)}\ndata {len(text)}\n{text}\n")
            f.write("\n")
    run.run(["/bin/sh", "-c", f"{git} fast-import --quiet < .git/stream && {git} reset -q --hard main"], path)
    os.unlink(stream)


def small_files(n):
    """n files of some 600 bytes under src/, a hundred to a directory."""
    rng = random.Random(n)
    for i in range(n):
        yield f"src/part{i // 2000:02d}/dir{i // 100:03d}/file{i:05d}.c", _text(rng, 18)


def nth_file(n):
    return f"src/part{n // 2000:02d}/dir{n // 100:03d}/file{n:05d}.c"


def first_file():
    return nth_file(0)


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def go_further(run, git, path, step):
    """The next commit: 10 files changed."""
    for i in range(10):
        n = (step * 997 + i * 4001) % 50_000
        name = f"src/part{n // 2000:02d}/dir{n // 100:03d}/file{n:05d}.c"
        with open(os.path.join(path, name), "a") as f:
            f.write(f"step {step}\n")
    run.run([git, "commit", "-qam", f"step {step}"], path)
    return run.run([git, "rev-parse", "HEAD"], path).strip()


def c_project(n):
    """A program of n source files with a Makefile."""
    yield "Makefile", ("CC = gcc\nCFLAGS = -O1 -Wall\nOBJ := $(patsubst %.c,%.o,$(wildcard *.c))\n\nprogram: $(OBJ)\n"
                       "\t$(CC) -o $@ $(OBJ)\n\n$(OBJ): all.h\n\nclean:\n\trm -f program *.o\n")
    yield "all.h", "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/stat.h>\n" + \
        "".join(f"int part{i}(int n);\n" for i in range(n))
    yield "main.c", '#include "all.h"\nint main(void)\n{\n\tint n = 0;\n' + \
        "".join(f"\tn += part{i}(n);\n" for i in range(n)) + '\tprintf("%d\\n", n);\n\treturn 0;\n}\n'
    for i in range(n):
        body = "".join(
            f"static int step{k}(int n)\n{{\n\tchar text[64];\n\n\tsnprintf(text, sizeof(text), \"%d {k}\", n);\n"
            f"\tfor (size_t j = 0; j < strlen(text); j++)\n\t\tn += text[j] * {k + 3};\n\treturn n;\n}}\n\n"
            for k in range(12))
        yield f"part{i}.c", f'#include "all.h"\n\n{body}int part{i}(int n)\n{{\n' + \
            "".join(f"\tn += step{k}(n);\n" for k in range(12)) + "\treturn n;\n}\n"
