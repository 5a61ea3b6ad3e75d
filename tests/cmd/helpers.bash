# What the tests of commands share, over ../lib.bash.
bats_require_minimum_version 1.5.0
source "$BATS_TEST_DIRNAME/../lib.bash"

setup() { garth_setup; }
teardown() { garth_teardown; }

# The python of Debian, whatever else is installed: it has pygit2.
python=/usr/bin/python3

# fails CODE TEXT CMD…: exits with the code, prints one line with the text and perhaps a hint on stderr, and nothing on stdout.
fails() {
  local want=$1 text=$2; shift 2
  call "$@"
  [[ $code == "$want" ]] || complain "wanted exit code $want: $*" || return
  [[ ! -s $T/out ]] || complain "something on stdout: $*" || return
  [[ $err == '✗ '*"$text"* ]] || complain "wanted '$text' on stderr: $*" || return
  local line messages=0 hints=0 others=0
  while IFS= read -r line; do
    case $line in
    '✗ '*) messages=$((messages + 1)) ;;
    '↳ '*) hints=$((hints + 1)) ;;
    '  '*) ;;
    *) others=$((others + 1)) ;;
    esac
  done <<<"$err"
  ((messages == 1 && hints <= 1)) || complain "more than a line and a hint: $*" || return
  ((others == 0)) || complain "lines that are neither message nor hint: $*"
}

# says TEXT: the last call succeeded, and printed just this line on stderr.
says() {
  [[ $code == 0 ]] || complain "wanted success" || return
  [[ $err == "✓ $1" || $err == "○ $1" ]] || complain "wanted '$1', alone on stderr"
}

# The last message's hint.
hint() { sed -n 's/^↳ //p' <<<"$err"; }

# The commits that one ref keeps for a task, and whether Garth's refs keep a commit.
kept_for() { git rev-parse -q --verify "refs/garth/tasks/$(field "$1" id)/kept" >/dev/null && git rev-parse "refs/garth/tasks/$(field "$1" id)/kept^@"; }
is_kept() { git for-each-ref --contains "$1" refs/garth | grep -q .; }

# Everything that a failing command must not change.
all_there_is() {
  users_files
  (cd "$R" && git for-each-ref && git worktree list)
  if [[ -f $GARTH_HOME/garth.db ]]; then "$garth" ls --json --all --all-projects; else printf '{\n  "tasks": [],\n  "version": 2\n}\n'; fi
  leftovers
}

# What is in the Garth home, except complete bases.
leftovers() {
  [[ -d $GARTH_HOME ]] || return 0
  (cd "$GARTH_HOME" && find tasks worktrees trash scratch -mindepth 1 -maxdepth 1 | sort
    find bases -mindepth 2 -maxdepth 2 '(' -name '*.part' -o -name '*.gone' ')')
}

# changes_nothing CODE TEXT CMD…: fails like that, and nothing is different afterwards.
changes_nothing() {
  remember
  fails "$@"
  nothing_changed
}

# For several calls: remember; fails …; fails …; nothing_changed
remember() { all_there_is >"$T/before"; }
nothing_changed() {
  all_there_is >"$T/after"
  diff -u "$T/before" "$T/after" || complain "something changed"
}

# at DIR CMD…
at() { local dir=$1; shift; (cd "$dir" && "$@"); }

# A task as JSON, without the sizes of its files.
without_disk() { json 'json.dumps({k: v for k, v in d.items() if k not in ("disk", "limits")}, indent=1)'; }

# field TASK NAME: a value of `show`. Most are on one line of the JSON, as json would print them; it takes far longer. The
# id, which only tests want, is read from the store: `show` starts git eight times.
field() {
  local all value
  if [[ $2 == id ]] && value=$(sqlite3 -readonly "$GARTH_HOME/garth.db" "SELECT id FROM task WHERE name = '$1' AND removed = 0" 2>/dev/null) && [[ -n $value ]]; then
    printf '%s\n' "$value"
    return
  fi
  all=$("$garth" show "$1" --json) || return
  value=$(sed -nE "s/^  \"$2\": (.*[^,]),?$/\1/p" <<<"$all")
  case $value in
  '"'*\\* | *'[' | *'{' | '') json "d['$2']" <<<"$all" ;;
  '"'*'"') printf '%s\n' "${value:1:-1}" ;;
  *) printf '%s\n' "$value" ;;
  esac
}

# terminals: drives terminals, by the Python script on stdin (terminal.py has the words).
terminals() {
  { echo 'import os, re, signal, subprocess, time; from terminal import *'; cat; } >"$T/script.py"
  PYTHONPATH=$BATS_TEST_DIRNAME PYTHONDONTWRITEBYTECODE=1 timeout 180 python3 "$T/script.py" </dev/null 3>&-
}

# A task's own directory in the Garth home.
task_dir() { printf '%s/tasks/%s' "$GARTH_HOME" "$(field "$1" id)"; }

# keeper_of TASK: the process outside that holds the task's lock.
keeper_of() {
  local fd
  fd=$(find /proc/[0-9]*/fd -maxdepth 1 -lname "$(task_dir "$1")/lock" -print -quit 2>/dev/null) || true
  [[ $fd == /proc/* ]] || { echo "nobody holds the lock of $1"; return 1; }
  fd=${fd#/proc/}
  printf '%s\n' "${fd%%/*}"
}

# stopped PID: the process is stopped by a signal, as GARTH_FAULT=stop:STEP does it.
stopped() { [[ $(sed 's/.*) //' "/proc/$1/stat") == T* ]]; }

gives() { local want=$1; shift; [[ $("$@") == *"$want"* ]]; }

# The work directory of an overlay is closed even to its owner.
wipe() { chmod -R u+rwX "$1" 2>/dev/null || true; rm -rf "$1"; }

is_state() { [[ $(state_of "$1") == "$2" ]]; }

# Processes with this word in their command line, outside or inside. Words are made to be unique.
alive() { grep -qzs -- "$1" /proc/[0-9]*/cmdline; }

# Builds with -Dfault=true die at a step; others ignore the variable.
has_faults() { grep -q GARTH_FAULT "$GARTH_BUILD/garth"; }

commit() { git -C "$R" add -A && git -C "$R" commit -qm "${1:-next}"; }

# on_small MB SCRIPT: in a mount namespace with a small file system at $T/small, as root or as the user.
on_small() {
  mkdir -p "$T/small"
  local mount='mount -t tmpfs -o size="$1"m small "$2" || exit 99;'
  if is_root; then
    unshare -m bash -c "$mount"' eval "$3"' bash "$1" "$T/small" "$2"
  else
    unshare -Urm bash -c "$mount"' exec unshare -U --map-user="$4" --map-group="$5" bash -c "$3"' bash "$1" "$T/small" "$2" "$(id -u)" "$(id -g)"
  fi
}

# In builds without faults the variable has no meaning.
means_nothing() {
  "$garth" new t; inside t 'echo work >work'
  GARTH_FAULT=discard-marked "$garth" discard -f t
  GARTH_FAULT=undo-marked "$garth" undo
  GARTH_FAULT=stop:undo-marked "$garth" show t >/dev/null
}
