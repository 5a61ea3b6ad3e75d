"""The peer of `garth exec`: a bwrap command line with the namespaces and mounts of a task's jail.

Made from `garth show TASK --jail --json`, row by row. bwrap 0.8 has no option for the overlay, so a plain directory is
bound in its place, and none for Landlock and seccomp, which are left out. Both make bwrap faster.
Files that garth copies into the jail are handed over as descriptors (--file), which is bwrap's quickest way.
Sources in garth's own directory are replaced by empty ones of the caller's, because bwrap started by root maps
one user only and cannot pass another's private directories.
"""
import os


class Bubble:
    def __init__(self, bwrap, jail, garth_home, directory):
        self.garth_home, self.directory, self.fds = garth_home, directory, []
        self.argv = [bwrap, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
                     "--uid", str(jail["uid"]), "--gid", str(jail["gid"]), "--hostname", "garth"]
        for row in jail["rows"]:
            self.argv += self._row(row)
        workspace = next(r["mounted_at"] for r in jail["rows"] if r["kind"] == "overlay")
        self.argv += ["--remount-ro", "/", "--chdir", workspace, "--", "true"]

    def _row(self, row):
        kind, source, target = row["kind"], row["source"], row["mounted_at"]
        if kind in ("proc", "dev"):
            return [f"--{kind}", target]
        if kind == "tmpfs":
            return ["--size", source, "--tmpfs", target]
        if kind == "link":
            return ["--symlink", source, target]
        if kind == "copy":
            with open(source, "rb") as f:
                return ["--file", self._bytes(f.read()), target]
        if kind == "data":
            return ["--file", self._bytes(source.encode()), target]
        if kind == "overlay":
            return ["--bind", self._stand_in("overlay", True), target]
        if source.startswith(self.garth_home + "/"):
            source = self._stand_in(target.strip("/").replace("/", "-"), os.path.isdir(source))
        return ["--bind" if row["write"] else "--ro-bind", source, target]

    def _bytes(self, data):
        fd = os.memfd_create("bench", 0)
        os.write(fd, data)
        self.fds.append(fd)
        return str(fd)

    def _stand_in(self, name, is_dir):
        path = os.path.join(self.directory, name)
        if is_dir:
            os.makedirs(path, exist_ok=True)
        else:
            os.close(os.open(path, os.O_CREAT, 0o600))
        return path

    def rewind(self):
        for fd in self.fds:
            os.lseek(fd, 0, os.SEEK_SET)
