# Renaming directories that come from the base or from a layer: it works as in a plain directory, or nothing changes.
load helpers

python=/usr/bin/python3

setup() {
  garth_setup
  mkdir -p d/sub/deep d/other; echo 1 >d/one; echo 2 >d/sub/two; echo 3 >d/sub/deep/three; echo 4 >d/other/four; ln -s one d/link; chmod 755 d/sub/two
  commit 'a directory'
}

# Everything about the files of a directory inside, except its own name.
listing='find . ! -type d -printf "%P %m %y %l %T@ %s %n\n" -o -printf "%P %m %y %T@\n" | sort | grep -v "^ "'
debris() { inside "${1:-t}" 'find . -name ".garth-*"'; }

# many N: a base with a directory `big` of so many files, which takes a while to copy, and the task t.
many() {
  "$python" - "$1" <<'END'
import os, sys
for i in range(int(sys.argv[1])):
    os.makedirs('big/%d' % (i // 50), exist_ok=True)
    open('big/%d/%d' % (i // 50, i), 'w').write('%d\n' % i * 400)
END
  commit many
  "$garth" new t
}

# py TASK: runs a script from the standard input inside.
py() {
  { cat <<'END'
import hashlib, os, signal, sys, time
def sums(top):
    h = hashlib.sha256()
    for where, dirs, files in os.walk(top):
        dirs.sort()
        for n in sorted(files):
            h.update(('%s %s\n' % (os.path.relpath(os.path.join(where, n), top), open(os.path.join(where, n)).read())).encode())
    return h.hexdigest()
def staged():
    return [n for n in os.listdir('.') if n.startswith('.garth-')]
def wait_for(what):
    end = time.time() + 60
    while not what():
        assert time.time() < end, 'never came true'
def child(fn):
    pid = os.fork()
    if not pid:
        try: fn()
        except OSError as e: os._exit(e.errno)
        os._exit(0)
    return pid
def half_copied():
    return any(os.path.isdir(n + '/tree') and len(os.listdir(n + '/tree')) > 2 for n in staged())
END
    cat
  } | "$garth" exec "$1" -- "$python" -
}

@test "W4 J3 J10 rename: a base directory can be renamed by any program" {
  "$garth" new t >/dev/null
  cat >"$T/r.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) { return argc < 4 || syscall(SYS_renameat2, AT_FDCWD, argv[1], AT_FDCWD, argv[2], atoi(argv[3])) < 0 ? (perror("r"), 1) : 0; }
END
  gcc -static -o "$T/r" "$T/r.c"
  inside t 'cat >/tmp/r; chmod +x /tmp/r' <"$T/r"
  # each moves d to e and back; a rename into another directory; a directory in it
  inside t "$python"' -c "import os; os.rename(\"d\", \"e\")"; test -s e/sub/deep/three; test ! -e d'
  inside t 'perl -e "rename(\"dir\", \"e/other/dir\") or die \$!"; mv -T e/sub e/next; /tmp/r e d 0; cat d/next/deep/three d/other/dir/sub/c.txt'
  [[ $(inside t '/tmp/r d e 1; echo $?; mkdir empty full full/x; /tmp/r e full 0 2>&1; /tmp/r e full 1 2>&1; /tmp/r e empty 0; ls empty | paste -sd,') == $'0\nr: Directory not empty\nr: File exists\nlink,next,one,other' ]]
  # of two base directories
  "$garth" new u >/dev/null
  inside u 'cat >/tmp/r; chmod +x /tmp/r' <"$T/r"
  [[ $(inside u '/tmp/r d dir 2; ls d dir | paste -sd,; /tmp/r d/b.txt dir/sub 2; ls -F d | paste -sd,; cat dir/sub') == $'d:,b.txt,sub,,dir:,link,one,other,sub\nb.txt/,sub/\ntwo' ]]
  if command -v node >/dev/null; then
    [[ $(inside u 'node -e "fs.renameSync(\"dir\", \"by-node\")" && ls by-node | paste -sd,') == link,one,other,sub ]]
  fi
  # cases in which a plain directory cannot be renamed either
  for attempt in 'd d/below' 'd .' '. d' 'd /tmp/d' '.git x' 'd a.txt' 'nothing x'; do
    not inside u "/tmp/r $attempt 0"
  done
  [[ -z $(debris t)$(debris u) ]]
}

@test "W4 J3 ESCAPES rename: random renames do the same as in a plain directory" {
  for i in $(seq 0 24); do
    mkdir -p "base/d$((i % 3))/e$((i % 7))/f$i"
    echo $i >"base/d$((i % 3))/e$((i % 7))/f$i/x"
    echo $i >"base/d$((i % 3))/y$i"
  done
  ln -s d0 base/link; commit random
  # more of them: GARTH_SEEDS="$(shuf -i 1-99999 -n 50 | paste -sd' ')"
  for seed in ${GARTH_SEEDS:-1 2 14379}; do
    "$garth" new "s$seed"
    "$garth" exec "s$seed" -- "$python" - "$seed" 200 <"$BATS_TEST_DIRNAME/rename-differential" || complain "seed $seed"
    "$garth" discard -fD "s$seed"
  done
}

@test "W4 J3 ESCAPES rename: all metadata of the files is kept, also for files that cannot be read" {
  "$garth" new t >/dev/null
  inside t 'set -e; cd d; chmod 500 sub/deep; touch -d @1000 other/four sub; echo new >sub/new; ln sub/new other/same; mkfifo pipe; chmod 000 sub/two
    setfattr -n user.note -v hello sub/new 2>/dev/null || true
    '"$python"' -c "import socket; socket.socket(socket.AF_UNIX).bind(\"other/sock\")"; '"$listing" >"$T/before"
  inside t "$python"' -c "import os; f = open(\"d/sub/new\", \"a\"); os.rename(\"d\", \"moved\"); f.write(\"more\"); f.close()"; grep -q more moved/other/same; truncate -s 4 moved/sub/new; touch -r d/sub/new moved/sub/new 2>/dev/null' || true
  inside t "cd moved; $listing" >"$T/after"
  diff <(grep -v 'new\|same' "$T/before") <(grep -v 'new\|same' "$T/after")
  [[ $(inside t 'test ! -e d && test moved/sub/new -ef moved/other/same && echo same') == same ]]
  if command -v getfattr >/dev/null && inside t 'setfattr -n user.x -v y a.txt' 2>/dev/null; then
    [[ $(inside t 'getfattr --only-values -n user.note moved/sub/new') == hello ]]
  fi
  [[ -z $(debris) ]]
}

@test "W7 rename: directories of a set-up layer and of a cache" {
  printf '*.o\nignored/\ndeps/\n' >.gitignore; commit ignore
  mkdir -p "$HOME/.npm/_cacache/x/y"; echo host >"$HOME/.npm/_cacache/x/y/z"
  configure <<'END'
workspace:
  setup: ["mkdir -p deps/a/b deps/c; echo 1 >deps/a/b/x; echo 2 >deps/c/y; ln deps/c/y deps/c/z"]
END
  "$garth" new t
  inside t "$python"' -c "import os; os.rename(\"deps/a\", \"deps/.a-old\"); os.rename(\"deps\", \"ignored\"); os.rename(\"ignored\", \"deps\")"; test deps/c/y -ef deps/c/z; cat deps/.a-old/b/x deps/c/y'
  [[ -z $(inside t 'git status --porcelain') ]]
  inside t "$python"' -c "import os; os.rename(os.path.expanduser(\"~/.npm/_cacache/x\"), os.path.expanduser(\"~/.npm/_cacache/w\"))"; cat ~/.npm/_cacache/w/y/z'
  [[ $(<"$HOME/.npm/_cacache/x/y/z") == host ]]
  # in another task it is unchanged
  "$garth" new u
  [[ $(inside u 'cat deps/a/b/x') == 1 ]]
}

@test "J3 ESCAPES rename: a caller that is killed while its directory is copied loses nothing" {
  many 1000
  py t <<'END'
before = sums('big')
pid = child(lambda: os.rename('big', 'moved'))
wait_for(half_copied)
os.kill(pid, signal.SIGKILL)
assert os.waitpid(pid, 0)[1] == signal.SIGKILL
wait_for(lambda: not staged())
assert not os.path.exists('moved')
assert sums('big') == before
os.rename('big', 'moved')
assert sums('moved') == before
END
  [[ -z $(debris) ]]
}

@test "J3 rename: a long copy delays no other rename; signals do not interrupt it" {
  many 3000
  # on a busy machine a copy may be over before another program gets the processor: then with a new task
  local code=3 task
  for task in t u v w x; do
    [[ $task == t ]] || "$garth" new "$task"
    code=0
    py "$task" <<'END' || code=$?
before = sums('big')
os.rename('big/0', 'zero')
signal.signal(signal.SIGALRM, lambda *a: None)
signal.siginterrupt(signal.SIGALRM, True)
wait_for(lambda: not staged())
pid = child(lambda: os.rename('big', 'moved'))
# A signal is sent only while the copy is seen: until the first process has taken the call, a signal does interrupt it.
done, names, over = 0, ['a.txt', 'b.txt'], 0
while not over:
    during = staged()
    if during: os.kill(pid, signal.SIGALRM)
    os.rename(*names)
    names.reverse()
    done += bool(during and staged())
    over, status = os.waitpid(pid, os.WNOHANG)
assert status == 0, status
os.rename('d', 'e')
os.rename('zero', 'moved/0')
assert sums('moved') == before
# two renames of one directory at once: one of them succeeds
a, b = child(lambda: os.rename('moved', 'x')), child(lambda: os.rename('moved', 'y'))
got = sorted([os.waitpid(a, 0)[1] >> 8, os.waitpid(b, 0)[1] >> 8])
assert got == [0, 2], got
sys.exit(0 if done else 3)
END
    [[ -z $(debris "$task") ]]
    ((code == 3)) || break
  done
  ((code == 0))
}

@test "J3 rename: two renames of one base directory at once, and files that are added meanwhile" {
  many 600
  py t <<'END'
before = sums('big')
a, b = child(lambda: os.rename('big', 'x')), child(lambda: os.rename('big', 'y'))
got = sorted([os.waitpid(a, 0)[1] >> 8, os.waitpid(b, 0)[1] >> 8])
assert got == [0, 2], got
top = 'x' if os.path.exists('x') else 'y'
assert sums(top) == before
END
  "$garth" new u
  py u <<'END'
pid = child(lambda: os.rename('big', 'moved'))
made = []
while not os.path.exists('moved'):
    try:
        name = '%d/added-%d' % (len(made) % 30, len(made))
        open('big/' + name, 'x').close()
        made.append(name)
    except FileNotFoundError: pass
assert os.waitpid(pid, 0)[1] == 0
lost = [n for n in made if not os.path.exists('moved/' + n)]
assert len(made) > 10, made
assert not lost, lost
END
  [[ -z $(debris u) ]]
}

@test "J3 ESCAPES rename: a task that is killed half way has every file exactly once at its next start" {
  many 1000
  for wait in half_copied 'lambda: os.path.isdir("big") and len(os.listdir("big")) < 50'; do
    before=$(echo 'print(sums("big"))' | py t)
    echo 'child(lambda: os.rename("big", "moved")); wait_for('"$wait"'); open("/tmp/now", "w"); time.sleep(60)' | py t >"$T/log" 2>&1 &
    local py=$!
    eventually inside t 'test -e /tmp/now' || complain "$(<"$T/log")"
    kill -KILL "$(keeper_of t)"
    wait $py || true
    eventually not keeper_of t
    inside t 'rm -f /tmp/now; if test -e moved; then mv moved big; fi'
    [[ $(echo 'print(sums("big"))' | py t) == "$before" ]]
    [[ -z $(debris) ]]
    "$garth" discard -fD t; "$garth" new t
  done
}

@test "T1 rename: a pause interrupts the copying, and it continues afterwards" {
  many 1000
  "$garth" run -q -d -t p -- sleep 100
  echo 'before = sums("big"); pid = child(lambda: os.rename("big", "moved")); wait_for(half_copied); open("/tmp/now", "w").close(); assert os.waitpid(pid, 0)[1] == 0; assert sums("moved") == before; print("moved")' | py p >"$T/log" 2>&1 &
  local py=$!
  eventually inside p 'test -e /tmp/now' || complain "$(<"$T/log")"
  "$garth" pause p
  count() { inside p 'find .garth-rename-* -type f 2>/dev/null | wc -l'; }
  # on a busy machine the thread that copies may finish its file a moment later
  stands() { local n; n=$(count); sleep 0.3; [[ $(count) == "$n" ]]; }
  if [[ -n $(debris p) ]]; then
    eventually stands
    stands
    [[ $(<"$T/log") != moved ]]
  fi
  # commands that start during the pause run, and rename
  inside p 'touch x; mv x y'
  "$garth" resume p
  wait $py || complain "$(<"$T/log")"
  [[ $(<"$T/log") == moved ]]
}

@test "J3 ESCAPES rename: a full disk leaves the directory as it was" {
  export T R garth python
  on_small 64 '
    set -e; export HOME=$T/small/home GARTH_HOME=$T/small/home/.garth; mkdir -p "$HOME"; cp -a "$T/home/.gitconfig" "$HOME"
    git clone -q "$R" "$T/small/r"; cd "$T/small/r"; mkdir big big/sub; head -c 3000000 /dev/urandom >big/sub/b; head -c 3000000 /dev/urandom >big/a; git add .; git commit -qm big
    "$garth" new s >/dev/null
    "$garth" exec s -- sh -c "cd big; find . -type f -exec sha256sum {} + | sort" >"$T/sums"
    "$garth" exec s -- sh -c "head -c 100000000 /dev/zero >/tmp/fill 2>/dev/null || true; rm -f /tmp/fill; head -c \$((\$(df --output=avail -B1 . | tail -n1) - 4000000)) /dev/zero >/tmp/fill; $python -c \"import os; os.rename(\\\"big\\\", \\\"moved\\\")\"; echo code \$?" >"$T/o" 2>"$T/e" || true
    "$garth" exec s -- sh -c "rm -f /tmp/fill; cd big; find . -type f -exec sha256sum {} + | sort; cd ..; ls -d big* moved* .garth-*" >"$T/sums2" 2>/dev/null || true'
  [[ $(<"$T/o") == *'code '[1-9]* ]] || complain "$(<"$T/o")" "$(<"$T/e")"
  [[ $(<"$T/e") == *'No space left'* ]] || complain "$(<"$T/o")" "$(<"$T/e")"
  diff <(
    cat "$T/sums"
    echo big
  ) "$T/sums2"
}

@test "J3 rename: git mv of a base directory is committed as a rename, and published" {
  "$garth" new t >/dev/null
  inside t 'git mv d moved'
  [[ $(inside t 'git status --porcelain | grep ^R | wc -l') == 5 ]]
  inside t 'git commit -qm moved'
  [[ $(git ls-tree -r --name-only garth/t -- d moved | paste -sd,) == moved/link,moved/one,moved/other/four,moved/sub/deep/three,moved/sub/two ]]
  # down, up, and several at once; also by a git that is not the shim
  inside t 'set -e; git mv moved/sub sub; mkdir in; /usr/bin/git mv sub dir in; git mv in/dir/sub .; git commit -qam again; git status --porcelain'
  [[ $(git show garth/t:in/sub/deep/three) == 3 ]]
  [[ $(git show garth/t:sub/c.txt) == three ]]
  call inside t 'git mv in in/sub'
  [[ $code == 128 ]] || complain
  [[ -z $(debris) ]]
}
