# Loaded by every test of commands and walls: makes a new repository and Garth home, and removes them afterwards.
# GARTH_BUILD is the build under test. Tests run as root and as an unprivileged user; see tools/run-tests.

garth=${GARTH_BUILD:?is not set: HACKING.md has the command to run one file}/garth
# run-tests set it for the files of bats alone
unset TMPDIR

# The backends with which a test tries what must be the same for all. A clone's files are on the host, as a worktree's are.
# So for root, for whom the tests of walls run a second time, two backends stand for all three.
backends=(overlay worktree)
((EUID == 0)) || backends+=(clone)

# To say which line failed, bats notes the place of each command before it runs it. That takes a quarter of all
# processor time of the tests, and the place is also known after a command has failed. This uses functions of bats; if a
# version does not have them, nothing is changed.
note_failures_only() {
  if [[ $(type -t bats_error_trap bats_capture_stack_trace) == $'function\nfunction' ]]; then
    trap - DEBUG
    trap 'bats_error_trap; failed_here' ERR
  fi
}
failed_here() { bats_capture_stack_trace; }

# A repository with some files, and a Garth home, beneath a new directory $T. Called by setup().
garth_setup() {
  note_failures_only
  local template=$BATS_FILE_TMPDIR/garth-template
  [[ -d $template ]] || make_template "$template"
  T=$(mktemp -d "${GARTH_TEST_TMP:-/tmp}/gt.XXXXXX")
  export HOME=$T/home GARTH_HOME=$T/home/.garth GARTH_CONFIG= XDG_CONFIG_HOME=$T/home/.config GARTH_SYSTEM_CONFIG=/dev/null
  unset GARTH_CONFIG
  cp -a "$template" "$HOME"
  R=$T/home/src/app
  cd "$R"
  # the index has inodes and times of the template's files
  git update-index -q --refresh
}

# The home directory that each test of a file begins with, made once. A copy takes a quarter of the time.
make_template() {
  local home=$1.part.$BASHPID
  (
    export HOME=$home
    mkdir -p "$home/src/app/dir/sub"
    printf '[user]\n\tname = Test User\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n' >"$home/.gitconfig"
    cd "$home/src/app"
    git init -q
    printf 'one\n' >a.txt
    printf 'two\n' >dir/b.txt
    printf 'three\n' >dir/sub/c.txt
    printf '#!/bin/sh\necho run\n' >run.sh
    chmod +x run.sh
    ln -s a.txt link
    printf '*.o\nignored/\n' >.gitignore
    git add -A
    git commit -qm 'first'
  ) || return
  mv -T "$home" "$1"
}

# Ends what still runs (by its keeper, never by name) and removes everything. Called by teardown().
garth_teardown() {
  cd /
  # a keeper has a socket, and so has the process that decides how a run ended
  if [[ -f $GARTH_HOME/garth.db ]] && compgen -G "$GARTH_HOME/tasks/*/control" >/dev/null; then
    "$garth" ls --json --all-projects 2>/dev/null | sed -nE '/^ +"address": "/{s///;s/",?$//;h};/^ +"state": "(running|paused)"/{g;p}' |
      while read -r task; do "$garth" cancel "$task" || true; done
  fi
  # a keeper that was killed leaves its control group to garth doctor
  if is_root && [[ -d $GARTH_HOME ]]; then find /sys/fs/cgroup -name "garth-$(stat -c %i "$GARTH_HOME")-*" -exec rmdir {} + 2>/dev/null || true; fi
  # directories can be closed even to their owner
  local tries
  for tries in 1 2 3 4 5 6 7 8 9 10; do
    rm -rf "$T" 2>/dev/null && return
    chmod -R u+rwX "$T" 2>/dev/null || true
    # a process that is about to end may write until then
    sleep "0.$tries"
  done
  rm -rf "$T"
}

# inside TASK SCRIPT…: runs a shell script in the task.
inside() { local task=$1; shift; "$garth" exec "$task" -- sh -c "$*"; }

# Prints the state of a task.
state_of() { "$garth" ls --all-projects --json | sed -nE "/\"name\": \"$1\",/,/\"state\"/s/.*\"state\": \"([a-z]+)\".*/\1/p"; }

# The user's configuration, from the standard input.
configure() { mkdir -p "$XDG_CONFIG_HOME/garth" && cat >"$XDG_CONFIG_HOME/garth/config.yaml"; }

# Everything that belongs to the user and must not change: refs and HEAD of the repository (except Garth's own), config,
# hooks, files.
fingerprint() {
  (cd "$R" && git for-each-ref | grep -vE 'refs/(heads/)?garth/')
  users_files
}
users_files() {
  (cd "$R" && printf '%s\n' "$(<.git/HEAD)" "$(<.git/config)" .git/hooks/*; git status --porcelain --ignored
    git ls-files -s; find . -path ./.git -prune -o -type f -exec sha256sum {} + | sort)
}

# not CMD…: CMD fails. bats does not notice a wrong "! CMD" unless it is the last line of a test.
not() { ! "$@"; }

is_root() { ((EUID == 0)); }

# ident N: the id of the N-th task of this home. Where they begin is different in each home.
ident() { sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT min(id) + $1 - 1 FROM task"; }

# call CMD…: runs it with separate streams; sets $code, $out and $err.
call() {
  code=0
  "$@" >"$T/out" 2>"$T/err" </dev/null 3>&- || code=$?
  { out=$(<"$T/out") err=$(<"$T/err"); } 2>/dev/null # bash drops NUL bytes, and warns of it
}

complain() {
  printf '%s\n' "$@" "exit code: ${code-}" "stdout: ${out-}" "stderr: ${err-}" | cut -c -600 | head -n 60
  return 1
}

# json EXPRESSION: prints the Python expression, in which d is the JSON on stdin.
json() {
  python3 -ISc '
import json, sys
d = json.load(sys.stdin)
assert d["version"] == 2, d
v = eval(sys.argv[1])
print(v if isinstance(v, str) else json.dumps(v))' "$1"
}

# eventually CMD…: succeeds within a minute. gives TEXT CMD…: prints that, to be waited for.
eventually() {
  local i
  for ((i = 0; i < 1200; i++)); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.05
  done
  echo "never came true: $*"
  return 1
}
