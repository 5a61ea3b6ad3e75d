# ESCAPES 20, and 2 and 30 for trusted code: a workspace that is made to block, flood, crash or mislead the commands that
# read it. Whatever is in it, the host's commands answer in time, and their answers are true.
load helpers

# answers COMMAND…: it succeeds, in time.
answers() {
  local code=0
  timeout -k 5 60 "$garth" "$@" >"$T/answer" 2>&1 </dev/null 3>&- || code=$?
  ((code == 0)) || { echo "exit $code: garth $*"; tail -n 5 "$T/answer"; return 1; }
}

# The following git commands do not ask the gateway.
draft='export PATH=/usr/bin:$PATH GARTH_GATEWAY=1;'

# hostile BACKEND SCRIPT: makes a task in which a.txt is changed and the script was run.
hostile() {
  "$garth" new t --backend "$1"
  inside t "echo evil-change >>a.txt; $2"
}

# seen: a review finds the change, and the files can be exported.
seen() {
  answers show t; grep -q a.txt "$T/answer" || { echo "show does not name a.txt"; return 1; }
  answers diff t; grep -q '^+evil-change' "$T/answer" || { echo "diff does not show the change"; return 1; }
  answers diff t --stat
  answers diff t --json
  rm -rf "$T/exported"
  answers export t "$T/exported"; grep -q evil-change "$T/exported/a.txt"
}

# gone: discarded, and no command left anything behind.
gone() {
  answers discard -fD t
  git -C "$R" branch -D garth/t >/dev/null 2>&1 || true
  [[ -z $(ls -A "$GARTH_HOME/scratch") ]] || { echo "left in scratch/:"; ls -A "$GARTH_HOME/scratch"; return 1; }
}

# The attack puts FIFOs, sockets and devices where a file is expected: opening them would block without end.
@test "2 20 J1: FIFOs and sockets where files are read" {
  mkfifo "$T/open/fifo"; code=0; timeout 1 cat "$T/open/fifo" || code=$?; ((code == 124))
  for backend in "${backends[@]}"; do
    hostile "$backend" "rm .gitignore dir/b.txt; mkfifo .gitignore .gitattributes .mailmap dir/b.txt fifo dir/.gitignore ~/fifo /tmp/fifo
      $python -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\"); socket.socket(socket.AF_UNIX).bind(\"/tmp/sock\")'"
    seen
    [[ ! -e $T/exported/fifo && ! -e $T/exported/sock ]]
    gone
  done
}

# The attack leaves a FIFO as .gitattributes and waits for a command that is run in the workspace.
@test "2 20 J1 W2: commands run in a hostile worktree" {
  hostile worktree 'mkfifo .gitattributes .gitmodules .mailmap; rm .gitignore; mkfifo .gitignore'
  # the control: git itself, in that directory, waits without end
  mkfifo "$R/.gitattributes"; code=0
  (cd "$R" && GIT_DIR=.git timeout 2 git diff-tree -p HEAD 4b825dc642cb6eb9a060e54bf8d69288fbee4904 >/dev/null 2>&1) || code=$?
  rm "$R/.gitattributes"; ((code == 124))
  cd "$GARTH_HOME/worktrees/t"
  seen
  cd "$R"
  gone
}

# The attack removes the permissions of its own directories, so that they cannot be counted or compared.
@test "20 J1 J10: directories and files without permissions" {
  mkdir -m 000 "$T/open/closed"
  if ! is_root; then refused ls "$T/open/closed"; fi
  for backend in "${backends[@]}"; do
    hostile "$backend" 'mkdir -p closed/in ~/closed/in /tmp/closed; echo x >closed/in/f; echo x >unreadable; chmod 000 closed ~/closed /tmp/closed unreadable'
    seen
    gone
  done
}

# The attack makes names that look like options, patterns, pathspec magic or further lines to a program that gets them.
@test "30 9 J1: names with pathspec magic, quotes, escapes and line breaks" {
  make='import os
os.makedirs("dir", exist_ok=True)
for n in [b":(top)x", b":!x", b"-rf", b"--output=pwned", b"a\nb", b"x\nstate      done\nx", b"\x1b]0;evil\x07", b"\\", b"\"q", b"*", b"[a", b"#",
          b" lead", b"trail ", b"\xff\xfe", b"dir/:(glob)**", b"M 100644 inline", b"done", b"\xc2\x9b31m", b"\r\rx", b"a\tb"]:
    with open(n, "w") as f: f.write("odd\n")'
  outside sh -c "mkdir -m 777 c; cd c; $python -c '$make'"
  # control: a program that does not expect them fails or obeys them
  (cd "$T/open/c" && git init -q && code=0 && { ls -A | git check-ignore --stdin >/dev/null 2>&1 || code=$?; }; ((code > 1)))
  for backend in "${backends[@]}"; do
    hostile "$backend" ":"
    inside t "$python -c '$make'"
    seen
    [[ ! -e pwned && -f "$T/exported/--output=pwned" && -f $T/exported/$'a\nb' ]]
    # on a terminal no byte of a name has an effect, and no name makes a new line
    script -qec "$garth show t" /dev/null </dev/null >"$T/typed" 2>&1
    script -qec "env GARTH_PAGER= $garth diff t" /dev/null </dev/null >>"$T/typed" 2>&1
    if grep -aq $'\x1b\\]0;evil' "$T/typed"; then echo "an escape sequence came through"; false; fi
    "$garth" show t >"$T/plain" 2>&1
    [[ $(grep -c '^state  ' "$T/plain") == 1 ]] || { echo "a name made a line of its own:"; grep -n '^state' "$T/plain"; false; }
    gone
  done
}

# typed COMMAND…: its output on a terminal, without a pager, in $T/typed.
typed() { script -qec "env GARTH_PAGER= LC_ALL=C.UTF-8 $garth $*" /dev/null </dev/null >"$T/typed" 2>&1; }

# The attack writes characters that no terminal draws, so that a reviewer reads other words than a model or a compiler.
@test "38 J1: invisible characters, in contents and in names" {
  local invisible=(A0 AD 34F 61C 115F 180E 2007 200B 200D 2028 202E 202F 2066 2800 3164 FE0F FEFF FFA0 E0001 E0041 E0100) c name
  make="import sys
for c in sys.argv[1:]:
    ch = chr(int(c, 16))
    with open('n' + ch + 'm', 'w') as f: f.write('in ' + ch + ' it\n')"
  # the control: cat on a terminal passes them on
  printf 'a\u200bb\n' >"$T/open/plain"; script -qec "cat $T/open/plain" /dev/null </dev/null | grep -q $'\u200b'
  for backend in "${backends[@]}"; do
    hostile "$backend" ":"
    inside t "$python -c \"$make\" ${invisible[*]}"
    inside t "printf 'log \\342\\200\\256 end\\n'" >/dev/null
    for command in 'diff t' 'diff t --stat' 'diff t --json' 'show t' 'show t --json' 'log t' 'ls' 'discard t'; do
      typed "$command" || true
      for c in "${invisible[@]}"; do
        printf -v name "\\U$c"; printf -v name '%b' "$name"
        if grep -aqF -- "$name" "$T/typed"; then echo "U+$c came through: garth $command"; false; fi
      done
    done
    typed 'diff t'
    for c in "${invisible[@]}"; do
      grep -aqE "^\+in <U\+0*$c> it" <(sed 's/\x1b\[[0-9;]*m//g' "$T/typed") || { echo "U+$c is not shown"; false; }
    done
    typed 'show t'; grep -aq 'n<U+200B>m' "$T/typed"
    gone
  done
}

# The attack puts a directory where the base has an ignore file, a huge one, and a link to one.
@test "9 20 J1: ignore files that are not regular files" {
  for script in 'rm .gitignore; mkdir .gitignore; echo x >.gitignore/.gitignore; touch new' \
    'head -c 3000000 /dev/zero | tr "\0" "a" >.gitignore; touch new' \
    'rm .gitignore; ln -s .gitignore .gitignore; touch new' \
    'mkdir -p deep/.gitignore/.gitignore/.gitignore; touch deep/.gitignore/.gitignore/x new; echo "deep/" >dir/.gitignore' \
    'i=0; while [ $i -lt 300 ]; do echo "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b$i"; i=$((i+1)); done >.gitignore; touch $(printf "a%.0s" $(seq 200))'; do
    for backend in "${backends[@]}"; do
      hostile "$backend" "$script"
      seen
      gone
    done
  done
}

# The attack nests directories deeper than descriptors, stacks and paths reach.
@test "20 J1: a very deep tree" {
  dig="import os
for i in range(700):
    os.mkdir('deep-dir'); os.chdir('deep-dir')
open('bottom', 'w').close()"
  (cd "$T/open" && mkdir c && cd c && "$python" -c "$dig")
  refused "$python" -c "import os; os.stat('$T/open/c' + '/deep-dir' * 700)"
  for backend in "${backends[@]}"; do
    hostile "$backend" "$python -c \"$dig\"; cd; $python -c \"$dig\"; cd /tmp; $python -c \"$dig\""
    answers show t; grep -q a.txt "$T/answer"
    answers diff t; grep -q '^+evil-change' "$T/answer"
    answers ls
    answers doctor
    within 20 "$garth" export t "$T/exported"
    [[ ! -e $T/exported.garth-part ]]
    gone
    [[ -z $(ls -A "$GARTH_HOME/trash" | grep -v '^[0-9]*$') ]]
  done
}

# The attack makes files that use no disk space, and fill the disk when they are copied.
@test "20 J1: sparse files in show, diff and export" {
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo 'limits: {max_disk: 4000GB}' >"$XDG_CONFIG_HOME/garth/config.yaml"
  truncate -s 1T "$T/open/sparse"
  (($(stat -c %s "$T/open/sparse") == 1 << 40))
  rm "$T/open/sparse"
  for backend in "${backends[@]}"; do
    hostile "$backend" 'truncate -s 1T sparse; truncate -s 300G dir/sparse; printf x | dd of=sparse bs=1 seek=500G conv=notrunc 2>/dev/null'
    seen
    (($(stat -c %s "$T/exported/sparse") == 1 << 40))
    (($(du -s --block-size=1M "$T/exported" | cut -f1) < 64))
    [[ $(dd if="$T/exported/sparse" bs=1 skip=500G count=1 2>/dev/null) == x ]]
    rm -r "$T/exported"
    gone
  done
}

# The attack makes many files that are each just small enough to be shown: together they fill memory and disk.
@test "20 J1: many large sparse files in show and diff" {
  hostile overlay 'mkdir many; i=0; while [ $i -lt 7 ]; do truncate -s 99M many/$i; i=$((i+1)); done'
  # what a scratch file or a buffer may grow to before it is a flood; the control: one can grow so far
  (ulimit -f $((512 * 1024)); truncate -s 500M "$T/open/large"; code=0; truncate -s 1G "$T/open/large" || code=$?; ((code == 128 + 25)))
  (
    ulimit -f $((512 * 1024))
    answers show t; grep -q a.txt "$T/answer"
    answers diff t --stat; grep -q a.txt "$T/answer"
  )
  gone
}

# The attack leaves the important work where nobody looks for it, so that a discard would lose it silently.
@test "26 20 W1: work beside or instead of the usual places is not discarded without an option" {
  for script in 'echo x >new' 'echo x >>dir/b.txt' 'rm -r dir' 'ln -s x new' 'mkdir new; cd new; git init -q; echo x >f' \
    'git commit -q --allow-empty -m x' 'git commit -q --allow-empty -m x; git update-ref -d HEAD; git gc -q --prune=never' \
    "$draft git commit -q --allow-empty -m draft" "$draft git commit -q --allow-empty -m draft; git update-ref -d HEAD; git gc -q --prune=never"; do
    for backend in "${backends[@]}"; do
      "$garth" new t --backend "$backend"
      inside t "$script"
      refused "$garth" discard t
      gone
    done
  done
}

# The attack hides files by an ignore file that ignores itself: the number of ignored files is always shown.
@test "9 20 J1: a directory that ignores itself is counted" {
  for backend in "${backends[@]}"; do
    hostile "$backend" 'mkdir hidden; echo "*" >hidden/.gitignore; echo evil >hidden/evil'
    seen
    grep -q evil "$T/exported/hidden/evil"
    answers show t; grep -qE '^ignored +2 files' "$T/answer"
    [[ $("$garth" diff t --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["ignored"])') == 2 ]]
    gone
  done
}

# The attack keeps its work in directories that git passes over, in any spelling, so that a review shows nothing.
@test "26 10 J4: what git does not look at is named, and not discarded without an option" {
  for script in 'mkdir .GIT; echo x >.GIT/w' 'mkdir dir/.git; echo x >dir/.git/w' 'echo x >dir/sub/.Git' \
    'cd dir/sub; git init -q; git config user.name a; git config user.email a; echo w >w; git add w; git commit -qm w; git rm -q w'; do
    for backend in "${backends[@]}"; do
      "$garth" new t --backend "$backend"
      inside t "$script"
      answers diff t; grep -qi '\.git' "$T/answer"
      answers show t; grep -qi '\.git' "$T/answer"
      answers export t "$T/exported"; grep -qi '\.git' "$T/answer"; rm -r "$T/exported"
      refused "$garth" discard t
      gone
    done
  done
}

# The attack borrows its commits from its own home, where they are not counted.
@test "26 11 W1: drafts behind an alternate are not discarded without an option" {
  "$garth" new t
  inside t "$draft"'mkdir -p ~/objs/pack; export GIT_OBJECT_DIRECTORY=$HOME/objs GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/.git/objects
    git commit -q --allow-empty -m important; echo $HOME/objs >>.git/objects/info/alternates'
  [[ $(git -C "$R" rev-parse garth/t) == "$(git -C "$R" rev-parse main)" ]]
  refused "$garth" discard t
  grep -q drafts "$T/refused"
  gone
}

# The attack takes a lease on its files: opening one blocks until the lease is given back.
@test "2 20 J6: a lease on a file does not block trusted commands" {
  lease="import fcntl; f = open('a.txt', 'r+'); fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK); print('leased')"
  (cd "$T/open" && touch a.txt && "$python" -c "$lease" | grep -q leased)
  for backend in "${backends[@]}"; do
    hostile "$backend" :
    refused inside t "$python -c \"$lease\""
    gone
  done
}

# The attack writes an ignore file that git needs hours for. Nobody waits: what is not known to be ignored is work, and
# neither the task's end, nor a cancel, nor another task is held up.
@test "20 26 J1 J10: an ignore file that takes very long" {
  export GARTH_FAULT=short:ignored # in builds that know it: a second instead of five
  slow='i=0; while [ $i -lt 15000 ]; do echo "*a*a*a*a*a*a*a*a*a*a*b$i"; i=$((i+1)); done >.gitignore
    for i in $(seq 50); do d=$(printf "a%.0s" $(seq 60))$i; mkdir $d; touch $d/$(printf "a%.0s" $(seq 200)); done'
  # the control: git itself takes long
  git init -q "$T/open/c"; (cd "$T/open/c" && sh -c "$slow" && code=0 && { timeout 2 git status --porcelain >/dev/null || code=$?; }; ((code == 124)))
  within 30 "$garth" run -t t -- sh -c "$slow" || true
  grep -q 'cannot tell which files are ignored' "$T/answer" || {
    cat "$T/answer"
    false
  }
  within 30 "$garth" diff t --stat
  grep -q 'cannot tell which files' "$T/answer"
  grep -q .gitignore "$T/answer"
  refused "$garth" discard t
  grep -q 'cannot tell which files' "$T/refused"
  within 30 "$garth" discard -fD t
  "$garth" run -d -t t -- sh -c "$slow; touch ready; exec sleep 1000"
  until_ inside t test -e ready
  "$garth" cancel t 3>&- & canceller=$!
  within 5 "$garth" run -t other -- true
  wait "$canceller"
  [[ $(state_of t) == cancelled ]]
  [[ $(state_of other) == done ]]
}

# The same with an attribute file, which decides how files are compared: git has as much time for it as for an ignore file.
@test "20 J1: an attribute file that takes very long" {
  export GARTH_FAULT=short:attributes # in builds that know it: a second instead of five
  slow='i=0; while [ $i -lt 5000 ]; do echo "**/*a*a*a*a*a*a*a*a*b$i text"; i=$((i+1)); done >.gitattributes
    for i in $(seq 40); do touch $(printf "a%.0s" $(seq 200))$i; done'
  # the control: git itself takes long
  git init -q "$T/open/c"; (cd "$T/open/c" && sh -c "$slow" && code=0 && { timeout 1 git add -A >/dev/null 2>&1 || code=$?; }; ((code == 124)))
  "$garth" new t
  inside t "$slow"
  within 12 "$garth" diff t --stat
  grep -q .gitattributes "$T/answer"
}

# peak LIMIT COMMAND…: neither it nor its children use more megabytes of memory than that.
peak() {
  "$python" - "$@" <<'PY'
import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # a keeper whose parent has ended becomes ours to wait for
subprocess.run(sys.argv[2:], stdin=subprocess.DEVNULL)
while True:
    try: os.wait()
    except ChildProcessError: break
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
print("peak:", used, "MB")
sys.exit(used > int(sys.argv[1]))
PY
}

# The attack makes many files at a path of 30 KB: 600 MB of names, if all are kept.
@test "20 J1 J8 J10: many files at a very long path" {
  deep="import os
for i in range(125):
    os.mkdir('d' * 240); os.chdir('d' * 240)
for i in range(COUNT): os.close(os.open(str(i), os.O_CREAT))"
  grep -q asan "$GARTH_BUILD/garth" && limit=2000 || limit=300
  # as many as are listed
  "$garth" new t
  inside t "$python -c \"${deep/COUNT/1900}\""
  peak $limit "$garth" diff --stat t >"$T/answer" 2>&1; tail -n 1 "$T/answer"
  gone
  for backend in overlay worktree; do
    peak $limit "$garth" run -t t --backend "$backend" -- "$python" -c "${deep/COUNT/20000}" >"$T/answer" 2>&1
    grep -q 'cannot be told: the names of its changed paths' "$T/answer" || { cat "$T/answer"; false; }
    peak $limit "$garth" diff t >"$T/answer" 2>&1
    grep -q 'the names of its changed paths' "$T/answer" || { cat "$T/answer"; false; }
    answers show t; answers ls
    refused "$garth" discard t
    gone
  done
}
