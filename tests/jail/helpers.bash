# What the tests of the walls share, over ../lib.bash.
#
# Each test is an attack: a sentinel outside would be read, changed, or reached. The same attempt is made outside
# as well (`outside`, `host`), where it must succeed: an attempt that fails everywhere proves nothing.
bats_require_minimum_version 1.5.0
source "$BATS_TEST_DIRNAME/../lib.bash"

python=/usr/bin/python3
programs=$BATS_FILE_TMPDIR/programs

# compile NAME…: attack programs, once for all tests of a file. Called by setup_file().
compile() {
  local name
  mkdir -p "$programs"
  chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$programs" || true
  for name; do gcc -std=gnu17 -Wall -O1 -o "$programs/$name" "$BATS_TEST_DIRNAME/$name.c"; done
}

# A repository, a Garth home, and sentinels that everybody may read and write: if an attempt inside fails, it is
# not because of a file's mode.
jail_setup() {
  garth_setup
  SECRET=sentinel-$RANDOM$RANDOM$RANDOM
  chmod 755 "$T" "$HOME"
  mkdir -p "$HOME/.ssh" "$T/open" "$T/elsewhere/dir"
  printf '%s\n' "$SECRET" | tee "$HOME/.ssh/id_test" "$HOME/notes.txt" "$R/.env" "$T/elsewhere/secret" >"$T/elsewhere/dir/f"
  chmod 777 "$HOME/.ssh" "$T/open" "$T/elsewhere" "$T/elsewhere/dir"
  chmod 666 "$HOME/.ssh/id_test" "$HOME/notes.txt" "$R/.env" "$T/elsewhere/secret" "$T/elsewhere/dir/f"
  before=$(sentinels)
}

jail_teardown() { garth_teardown; }

setup() { jail_setup; }
teardown() { jail_teardown; }

sentinels() { (cd "$T" && find home/.ssh home/notes.txt home/src/app/.env elsewhere -printf '%p %y %m %s\n' -type f -exec cat {} +); }

# The sentinels and the user's repository are unchanged.
untouched() { [[ $(sentinels) == "$before" ]] || { echo "a sentinel changed:"; sentinels; return 1; }; }

# As the identity that processes inside have: for root the one without an account.
if is_root; then
  as=(setpriv --reuid=1879050000 --regid=1879050000 --clear-groups --)
else
  as=()
fi

# outside CMD…: runs it without walls, as the user that it would have inside.
outside() { (cd "$T/open" && exec ${as[@]+"${as[@]}"} "$@" 3>&-); }

# beside OUT CMD…: the same in the background, with its output in a file; $beside is its pid, which it keeps.
beside() {
  local out=$1; shift
  (cd "$T/open" && exec ${as[@]+"${as[@]}"} "$@" >"$out" 2>&1 3>&-) &
  beside=$!
}

# ended PID: ends what `beside` started.
ended() { kill "$1" 2>/dev/null || true; wait "$1" 2>/dev/null || true; }

# spelled CMD…: the command as a program and its arguments, in $spelled. timeout(1) starts programs, not functions:
# `inside` and `outside` become the programs that they call, and any other function is an error.
spelled() {
  case $1 in
  inside) spelled=("$garth" exec "$2" -- sh -c "${*:3}") ;;
  outside) spelled=(env -C "$T/open" ${as[@]+"${as[@]}"} "${@:2}") ;;
  *) spelled=("$@") ;;
  esac
  [[ $(type -t "${spelled[0]}") == file ]] || { echo "not a program: ${spelled[0]}"; return 1; }
}

# refused CMD…: it must fail with its own exit code (128 is git's): not by the time limit, not by a signal, and not because
# it, or a jail for it, could not be started (125 to 127), which would prove nothing.
refused() {
  local code=0 spelled
  spelled "$@" || return 1
  timeout -k 5 30 "${spelled[@]}" >"$T/refused" 2>&1 3>&- || code=$?
  if ((code == 0 || (code >= 124 && code != 128))); then
    echo "not refused (exit $code): $*"; cat "$T/refused"; return 1
  fi
}

# tells SECRET CMD…: what it prints has the word in it, whatever its exit code is.
tells() { local word=$1; shift; { "$@" 2>&1 || true; } | grep -aqF -- "$word" || { echo "does not tell: $*"; return 1; }; }

# silent SECRET CMD…: what it prints does not have the word in it, whatever its exit code is, if it ran at all.
silent() {
  local word=$1 code=0; shift
  "$@" >"$T/said" 2>&1 || code=$?
  if ((code >= 124 && code <= 127)); then echo "silent by not running (exit $code): $*"; cat "$T/said"; return 1; fi
  if grep -aqF -- "$word" "$T/said"; then echo "the sentinel came out: $*"; grep -aF -- "$word" "$T/said" | head -n 5; return 1; fi
}

# lacking WHAT: says by name what this kernel does not offer, so that a control cannot be strict.
lacking() { echo "# this kernel lacks: $*" >&3; }

# walled TASK SCRIPT: the script succeeds outside and is refused inside.
walled() {
  outside sh -c "$2" >/dev/null || { echo "the control failed: $2"; return 1; }
  refused inside "$1" "$2"
}

# bring TASK FILE NAME: copies a file into the task's /tmp.
bring() { "$garth" exec "$1" -- sh -c "cat >/tmp/$3 && chmod 755 /tmp/$3" <"$2"; }

# within SECONDS COMMAND…: a trusted command ends in time and not by a signal, whatever it answers.
within() {
  local limit=$1 code=0 spelled; shift
  spelled "$@" || return 1
  timeout -k 5 "$limit" "${spelled[@]}" >"$T/answer" 2>&1 </dev/null 3>&- || code=$?
  if ((code >= 124)); then echo "exit $code: $*"; tail -n 20 "$T/answer"; return 1; fi
}

# Every command of the host on the task, one after the other; the answers of all in $T/answers. What is exported
# is in $T/exported. The last one discards the task.
host_commands() {
  local task=$1
  : >"$T/answers"
  rm -rf "$T/exported"
  while read -r line; do
    # shellcheck disable=SC2086
    within 20 "$garth" $line || return 1
    cat "$T/answer" >>"$T/answers"
  done <<END
ls
ls --all --json
show $task
show $task --json
show $task --jail
diff $task
diff $task --stat
diff $task --json
log $task
path $task
export $task $T/exported
exec $task -- true
doctor
discard $task
discard -fD $task
END
  if "$garth" show "$task" >/dev/null 2>&1; then echo "task $task could not be discarded"; cat "$T/answer"; return 1; fi
}

# until COMMAND…: waits for it to succeed, at most 10 seconds.
until_() { local i; for ((i = 0; i < 200; i++)); do if "$@" >/dev/null 2>&1; then return 0; fi; sleep 0.05; done; echo "never: $*"; return 1; }
