# G4: reading from a URL or a path is decided by the network's list; the user's remote is read by the gateway.
load helpers

# A repository inside, at /tmp/other.git, with a commit that the task does not have.
other='git init -q /tmp/w; cd /tmp/w; git config user.name o; git config user.email o@example.com; echo o >other; git add other; git commit -qm other; git clone -q --bare /tmp/w /tmp/other.git; git -C /tmp/other.git update-server-info; cd "$GARTH_WORKSPACE"'

@test "G4 reading: ls-remote, fetch and pull of a URL or a path work; for the user's remote the gateway decides" {
  "$garth" new t
  inside t "$other"
  tip=$(inside t 'git -C /tmp/w rev-parse HEAD')
  for place in file:///tmp/other.git /tmp/other.git; do
    [[ $(inside t "git ls-remote -q --heads $place") == "$tip"$'\t'refs/heads/* ]]
    [[ $(inside t "git fetch -q $place HEAD && git log -1 --format=%s FETCH_HEAD") == other ]]
  done
  [[ $(inside t 'git clone -q /tmp/other.git beside && git ls-remote beside HEAD | head -n1; rm -rf beside') == "$tip"$'\t'HEAD ]]
  # a remote that the agent added
  [[ $(inside t 'git remote add mine /tmp/other.git; git ls-remote mine HEAD; git fetch -q mine; git for-each-ref --format="%(objectname)" refs/remotes/mine | sort -u') == "$tip"$'\t'HEAD$'\n'"$tip" ]]
  for c in ls-remote fetch pull 'ls-remote origin' 'fetch origin' 'fetch --all' 'pull origin main'; do
    call inside t "git $c"
    [[ $code != 0 ]] || complain "$c"
    [[ $err == BLOCKED:*'does not fetch'* ]] || complain "$c"
  done
  # a pull moves the task's branch, and is published
  inside t 'git pull -q --no-edit --allow-unrelated-histories --no-rebase /tmp/other.git HEAD'
  [[ $(git log --format=%s garth/t) == *other* ]]
  [[ $(git show garth/t:other) == o ]]
  # other explicit options are obeyed
  printf 'git:\n  operations: {ls-remote: blocked}\n' | configure
  call inside t 'git ls-remote /tmp/other.git'
  [[ $code == 1 ]] || complain
  [[ $err == BLOCKED:* ]] || complain
}

@test "G4 reading: over HTTP, from the task's own loopback; the proxy refuses a host that is not listed" {
  "$garth" new t
  inside t "$other"
  cat >"$T/serve.py" <<'PY'
import functools, http.server, subprocess, sys
s = http.server.HTTPServer(("127.0.0.1", 0), functools.partial(http.server.SimpleHTTPRequestHandler, directory="/tmp"))
import threading; threading.Thread(target=s.serve_forever, daemon=True).start()
sys.exit(subprocess.call(["git", *[w.replace("URL", "http://127.0.0.1:%d/other.git" % s.server_port) for w in sys.argv[1:]]]))
PY
  call "$garth" exec t -- python3 -c "$(<"$T/serve.py")" ls-remote URL HEAD
  [[ $code == 0 ]] || complain
  [[ $out == *HEAD ]] || complain
  call inside t 'git ls-remote http://unlisted.example/x.git'
  [[ $code == 128 ]] || complain
  [[ $err == *"not on this task's list"* ]] || complain
}

@test "G4 reading: npm's git dependencies" {
  command -v npm >/dev/null || skip
  "$garth" new t
  inside t 'set -e; git init -q /tmp/pkg; cd /tmp/pkg; git config user.name o; git config user.email o@example.com
    echo "{\"name\":\"pkg\",\"version\":\"1.2.3\"}" >package.json; echo "module.exports = 7" >index.js; git add .; git commit -qm pkg'
  call inside t 'echo "{\"name\":\"app\",\"version\":\"1.0.0\"}" >package.json; npm install --no-audit --no-fund --no-update-notifier git+file:///tmp/pkg && node -p "require(\"pkg\")"'
  [[ $code == 0 ]] || complain
  [[ $out == *7 ]] || complain
}
