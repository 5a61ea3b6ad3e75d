# git mv of directories that come from the base: the shim finishes, or leaves everything as it was.
load helpers

setup() {
  garth_setup
  mkdir -p d/sub/deep d/other; echo 1 >d/one; echo 2 >d/sub/two; echo 3 >d/sub/deep/three; echo 4 >d/other/four; ln -s one d/link; chmod 755 d/sub/two
  commit 'a directory'
  "$garth" new t >/dev/null
}

# Everything about the files of a directory inside, but for its own name.
listing='find . ! -type d -printf "%P %m %y %l %T@ %s %n\n" -o -printf "%P %m %y %T@\n" | sort | grep -v "^ "'
debris() { inside t 'find . -name "*.garth-*"; ls .git | grep garth-move' || true; }

@test "J3 ESCAPES move: git mv of a base directory with subdirectories works, and keeps everything about it" {
  # links, modes, times, several names of one file, attributes, untracked files
  inside t 'set -e; cd d; chmod 500 sub/deep; touch -d @1000 other/four sub; echo new >sub/new; ln sub/new other/same; mkfifo pipe
    setfattr -n user.note -v hello sub/new 2>/dev/null || true; '"$listing" >"$T/before"
  inside t 'git mv d moved'
  inside t "cd moved; $listing" >"$T/after"
  diff "$T/before" "$T/after"
  [[ $(inside t 'test ! -e d && test moved/sub/new -ef moved/other/same && echo same') == same ]]
  if command -v getfattr >/dev/null && inside t 'setfattr -n user.x -v y a.txt' 2>/dev/null; then
    [[ $(inside t 'getfattr --only-values -n user.note moved/sub/new') == hello ]]
  fi
  [[ -z $(debris) ]]
  [[ $(inside t 'git status --porcelain | grep ^R | wc -l') == 5 ]]
  inside t 'rm moved/pipe; git add -A; git commit -qm moved'
  [[ $(git ls-tree -r --name-only garth/t -- d moved | paste -sd,) == moved/link,moved/one,moved/other/four,moved/other/same,moved/sub/deep/three,moved/sub/new,moved/sub/two ]]
  # down, up, and several at once
  inside t 'set -e; git mv moved/sub sub; mkdir in; git mv sub dir in; git mv in/dir/sub .; git commit -qam again; git status --porcelain'
  [[ $(git show garth/t:in/sub/deep/three) == 3 ]]
  [[ $(git show garth/t:sub/c.txt) == three ]]
  [[ -z $(debris) ]]
}

@test "J3 ESCAPES move: if something cannot be copied, or git refuses, the directory stays as it was" {
  inside t 'cd d; python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"other/sock\")"; '"$listing" >"$T/before"
  call inside t 'git mv d moved'
  [[ $code != 0 ]] || complain
  [[ $err == *"'d' cannot be copied"*'it is as it was'* ]] || complain
  inside t "cd d; $listing" | diff "$T/before" -
  [[ -z $(debris) ]]
  [[ -z $(inside t 'ls -d moved 2>/dev/null') ]]
  # the same with a file that nobody may read
  inside t 'rm d/other/sock; chmod 000 d/other/four; cd d; '"$listing" >"$T/before"
  call inside t 'git mv d moved'
  [[ $code != 0 ]] || complain
  [[ $err == *"'d' cannot be copied"* ]] || complain
  inside t "cd d; $listing" | diff "$T/before" -
  [[ -z $(debris) ]]
  inside t 'chmod 644 d/other/four'
  call inside t 'git mv d d/sub'
  [[ $code == 128 ]] || complain
  [[ -z $(debris) ]] || complain
  call inside t 'git mv d a.txt'
  [[ $code == 128 ]] || complain
  [[ -z $(debris) ]] || complain
}

@test "J3 ESCAPES move: a git mv that is killed half way is finished, or undone, by the next git" {
  has_faults || return 0
  inside t "cd d; $listing" >"$T/before"
  for step in mv-copied mv-removing mv-removed; do
    call inside t "GARTH_FAULT=$step git mv d moved"
    [[ $code == 137 ]] || complain $step
    [[ -n $(debris) ]]
    call inside t 'git mv d moved'
    [[ $code == 0 ]] || complain $step
    inside t "cd moved; $listing" | diff "$T/before" -
    [[ -z $(debris) ]]
    inside t 'git mv moved d; git status --porcelain'
    inside t "cd d; $listing" | diff "$T/before" -
    "$garth" discard -fD t >/dev/null; "$garth" new t >/dev/null
  done
  # any command that the shim looks after does it
  call inside t 'GARTH_FAULT=mv-removing git mv d moved'; [[ $code == 137 ]]
  inside t 'git commit -q --allow-empty -m next; git status --porcelain'
  inside t "cd d; $listing" | diff "$T/before" -
  [[ -z $(debris) ]]
}

@test "J3 ESCAPES move: a full disk leaves the directory as it was" {
  export T R garth
  on_small 64 '
    set -e; export HOME=$T/small/home GARTH_HOME=$T/small/home/.garth; mkdir -p "$HOME"; cp -a "$T/home/.gitconfig" "$HOME"
    git clone -q "$R" "$T/small/r"; cd "$T/small/r"; mkdir big big/sub; head -c 3000000 /dev/urandom >big/sub/b; head -c 3000000 /dev/urandom >big/a; git add .; git commit -qm big
    "$garth" new s >/dev/null
    "$garth" exec s -- sh -c "cd big; find . -type f -exec sha256sum {} + | sort" >"$T/sums"
    "$garth" exec s -- sh -c "head -c 100000000 /dev/zero >/tmp/fill 2>/dev/null || true; rm -f /tmp/fill; head -c \$((\$(df --output=avail -B1 . | tail -n1) - 4000000)) /dev/zero >/tmp/fill; git mv big moved; echo code \$?" >"$T/o" 2>"$T/e" || true
    "$garth" exec s -- sh -c "rm -f /tmp/fill; cd big; find . -type f -exec sha256sum {} + | sort; ls -d ../big*" >"$T/sums2"'
  [[ $(<"$T/o") == *'code '[1-9]* ]] || complain "$(<"$T/o")" "$(<"$T/e")"
  [[ $(<"$T/e") == *'No space left'* ]] || complain "$(<"$T/o")" "$(<"$T/e")"
  diff <(
    cat "$T/sums"
    echo ../big
  ) "$T/sums2"
}
