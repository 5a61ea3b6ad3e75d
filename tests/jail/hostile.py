# Makes a commit that git would not: hostile.py GITDIR KIND writes its objects as loose files and prints its id.
import hashlib, os, subprocess, sys, zlib

gitdir, kind = sys.argv[1:3]


def git(*args):
    return subprocess.run(["/usr/bin/git", "--git-dir", gitdir, *args], check=True, capture_output=True).stdout.decode().strip()


def put(name, data):
    path = os.path.join(gitdir, "objects", name[:2], name[2:])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.unlink(path)
    with open(path, "wb") as f:
        f.write(data)
    return name


def obj(type, data, pack=zlib.compress):
    whole = type.encode() + b" %d\0" % len(data) + data
    return put(hashlib.sha1(whole).hexdigest(), pack(whole))


def entry(mode, name, oid):
    return mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid)


head = git("rev-parse", "HEAD")
base = subprocess.run(["/usr/bin/git", "--git-dir", gitdir, "cat-file", "tree", "HEAD^{tree}"], check=True, capture_output=True).stdout
blob = obj("blob", b"hostile\n")


def commit(tree, parent=head, who=b"A <a@b> 1 +0000", more=b""):
    return obj("commit", b"tree %s\nparent %s\nauthor %s\ncommitter %s\n%s\nhostile\n" % (tree.encode(), parent.encode(), who, who, more))


def with_entries(*entries):
    def key(e):
        mode, rest = e.split(b" ", 1)
        return rest.split(b"\0", 1)[0] + (b"/" if mode == b"40000" else b"")

    old, at = [], 0
    while at < len(base):
        end = base.index(b"\0", at) + 21
        old.append(base[at:end])
        at = end
    return commit(obj("tree", b"".join(sorted(old + list(entries), key=key))))


def in_dir(name):
    return with_entries(entry("40000", name, obj("tree", entry("100644", b"config", blob))))


def bomb(levels, width):
    oid, mode = blob, "100644"
    for _ in range(levels):
        oid = obj("tree", b"".join(entry(mode, b"%03d" % i, oid) for i in range(width)))
        mode = "40000"
    return with_entries(entry("40000", b"bomb", oid))


missing = "12" * 20
kinds = {
    "plain": lambda: with_entries(entry("100644", b"z", blob)),
    ".git": lambda: in_dir(b".git"),
    ".GIT": lambda: in_dir(b".GIT"),
    "git~1": lambda: in_dir(b"git~1"),
    ".git-hfs": lambda: in_dir(".g\u200cit".encode()),
    "dotdot": lambda: in_dir(b".."),
    "dot": lambda: in_dir(b"."),
    "slash": lambda: with_entries(entry("100644", b"a/b", blob)),
    "empty": lambda: with_entries(entry("100644", b"", blob)),
    "duplicate": lambda: with_entries(entry("100644", b"z", blob), entry("100644", b"z", blob)),
    "unsorted": lambda: commit(obj("tree", entry("100644", b"z", blob) + entry("100644", b"a", blob))),
    "gitmodules": lambda: with_entries(entry("100644", b".gitmodules", obj("blob", b'[submodule "../../x"]\n\tpath = x\n\turl = -u./payload\n'))),
    "gitmodules-link": lambda: with_entries(entry("120000", b".gitmodules", blob)),
    "missing-parent": lambda: commit(git("rev-parse", "HEAD^{tree}"), parent=missing),
    "missing-tree": lambda: commit(missing),
    "missing-blob": lambda: with_entries(entry("100644", b"z", missing)),
    "tree-is-blob": lambda: commit(blob),
    "blob-is-tree": lambda: with_entries(entry("100644", b"z", git("rev-parse", "HEAD^{tree}"))),
    "parent-is-blob": lambda: commit(git("rev-parse", "HEAD^{tree}"), parent=blob),
    "corrupt": lambda: with_entries(entry("100644", b"z", put(hashlib.sha1(b"blob 9\0x").hexdigest(), b"not zlib at all"))),
    "truncated": lambda: with_entries(entry("100644", b"z", obj("blob", os.urandom(50000), lambda w: zlib.compress(w)[:20000]))),
    "other-content": lambda: with_entries(entry("100644", b"z", put(hashlib.sha1(b"blob 4\0true").hexdigest(), zlib.compress(b"blob 4\0lies")))),
    "false-size": lambda: with_entries(entry("100644", b"z", put("ab" * 20, zlib.compress(b"blob 999999999999\0x")))),
    "blob-bomb": lambda: with_entries(entry("100644", b"z", obj("blob", bytes(30 << 20), lambda w: zlib.compress(w, 9)))),
    "tree-bomb": lambda: bomb(10, 100),
    "deep": lambda: with_entries(entry("40000", b"deep", deep(600))),
    "no-author": lambda: obj("commit", b"tree %s\nparent %s\n\nx\n" % (git("rev-parse", "HEAD^{tree}").encode(), head.encode())),
    "nul-author": lambda: commit(git("rev-parse", "HEAD^{tree}"), who=b"A\0B <a@b> 1 +0000"),
}


def deep(levels):
    oid, mode = blob, "100644"
    for _ in range(levels):
        oid, mode = obj("tree", entry(mode, b"d", oid)), "40000"
    return oid


print(kinds[kind]())
