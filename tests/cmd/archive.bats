load helpers

archived() { ls "$GARTH_HOME/archives" 2>/dev/null; }

# A task with everything that can be in one: published, drafts, uncommitted, ignored and deleted files, odd names and modes.
make() {
  "$garth" new t --backend "$1"
  inside t 'echo 1 >published; git add .; git commit -qm published
    echo 2 >>a.txt; rm -r dir; mkdir dir; echo new >dir/new; rm link; echo i >x.o; mkdir ignored; echo i >ignored/i
    printf odd >"$(printf "odd\\377\\nname \\033[31m")"; ln -s /etc/passwd out; ln -s nowhere dangling
    echo h >h1; ln h1 h2; echo secret >closed; chmod 0 closed; mkdir shut; echo s >shut/s; chmod 0 shut
    truncate -s 3M sparse; chmod +x h1; mkfifo fifo; echo home >~/.kept; touch -d @1000000000 h1
    git update-ref refs/heads/kept $(git commit-tree -p HEAD -m draft $(printf "100644 blob %s\td\n" $(echo draft | git hash-object -w --stdin) | git mktree))'
}

picture() {
  inside t 'git status --porcelain --ignored | grep -v "fifo\|warning"; git log --format="%H %s" --all; git show kept:d; cat a.txt ~/.kept
    find . -path ./.git -prune -o ! -name fifo -printf "%p %y %m %l %s %n\n" | grep -v "^\. " | LC_ALL=C sort; stat -c %Y h1
    chmod 600 closed; cat closed; chmod 0 closed; chmod 700 shut; cat shut/s; chmod 0 shut; test h1 -ef h2' 2>/dev/null
  "$garth" show t --json | without_disk | tr -d , | LC_ALL=C sort
  git for-each-ref
}

@test "T7 T1 archive: a task is archived completely, and undo restores it as it was" {
  local b
  for b in "${backends[@]}"; do
    make $b; picture >"$T/was"
    call "$garth" archive t
    [[ $code == 0 ]] || complain
    [[ $out == "$GARTH_HOME/archives/t."*.tar.gz ]] || complain
    [[ -f $out ]] || complain
    [[ $(stat -c %a "$out") == 600 ]]
    [[ -z $(ls "$GARTH_HOME/tasks" "$GARTH_HOME/trash" "$GARTH_HOME/worktrees" | grep -v :) ]]
    tar -tzf "$out" >/dev/null 2>&1
    fails 3 "no task 't'" "$garth" show t
    [[ $("$garth" ls --all --json | json "[t['state'] for t in d['tasks']][-1]") == archived ]]
    [[ -z $(git for-each-ref refs/heads/garth) ]]; git gc -q --prune=now
    "$garth" undo
    picture >"$T/is"; diff "$T/was" "$T/is" || complain "$b"
    [[ -z $(archived) ]]
    "$garth" diff t >/dev/null; "$garth" audit --verify
    "$garth" discard -fD t; "$garth" gc --empty-trash >/dev/null; git fsck --strict 2>/dev/null
  done
}

@test "T7 archive: an archive survives gc, also after the trash has expired" {
  make overlay
  "$garth" archive t >/dev/null
  find "$GARTH_HOME/trash" "$GARTH_HOME/archives" -maxdepth 1 -exec touch -h -d '30 days ago' {} +
  "$garth" gc --empty-trash; "$garth" new u; "$garth" discard u
  git reflog expire --expire=now --all; git gc -q --prune=now
  "$garth" undo t; inside t 'git show kept:d && git log --format=%s' | grep -q published
  "$garth" gc --json | json "d['usage']['archives']" | grep -qx '[0-9]*'
}

@test "T7 ESCAPES 23 archive: killed at each step, nothing is lost: the task is restored, or gc finishes the archive" {
  has_faults || { means_nothing; return; }
  local step
  for step in discard-marked discard-workspace discard-refs discard-moved archive-trash archive-packed; do
    make worktree; picture >"$T/was"
    call env GARTH_FAULT=$step "$garth" archive t
    [[ $code == 137 ]] || complain "did not die at $step"
    "$garth" ls >/dev/null
    if [[ $step == archive-trash ]]; then
      find "$GARTH_HOME/trash" -maxdepth 1 -exec touch -h -d '30 days ago' {} +
      "$garth" new u; "$garth" discard u; [[ -n $(ls "$GARTH_HOME/trash") ]] || complain "thrown away before it was packed"
    fi
    find "$GARTH_HOME/trash" -maxdepth 1 -exec touch -h -d '30 days ago' {} +
    "$garth" gc >/dev/null
    [[ $(archived) == t.*.tar.gz ]] || complain "not packed: $step: $(archived) $(ls "$GARTH_HOME/trash")"
    [[ -z $(ls "$GARTH_HOME/trash") ]] || complain "not packed: $step: $(archived) $(ls "$GARTH_HOME/trash")"
    call env GARTH_FAULT=archive-unpacked "$garth" undo
    [[ $code == 137 ]] || complain
    "$garth" gc --empty-trash >/dev/null; git gc -q --prune=now
    "$garth" undo
    [[ -z $(ls "$GARTH_HOME/scratch") ]] || complain "left: $(ls "$GARTH_HOME/scratch")"
    picture >"$T/is"
    diff "$T/was" "$T/is" || complain "$step"
    [[ -z $(ls "$GARTH_HOME/trash") ]] || complain "left: $(ls "$GARTH_HOME/trash")"
    [[ -z $(archived) ]] || complain "left: $(ls "$GARTH_HOME/trash")"
    "$garth" discard -fD t
    "$garth" gc --empty-trash >/dev/null
  done
}

@test "T7 archive: what cannot be archived is refused with a reason, and nothing changes" {
  "$garth" run -d --task r -- sleep 1000
  fails 4 "task 'r' is running" "$garth" archive r
  fails 3 "no task 'nobody'" "$garth" archive nobody
  "$garth" cancel r
  # there is no space for it: the task stays in place
  "$garth" new t; inside t 'echo x >x'
  mkdir -p "$GARTH_HOME/archives"; chmod 500 "$GARTH_HOME/archives"
  is_root && { rmdir "$GARTH_HOME/archives"; : >"$GARTH_HOME/archives"; }
  call "$garth" archive t
  [[ $code == 1 ]] || complain
  [[ $err == *"task 't' cannot be packed, and is where it was"* ]] || complain
  [[ $(state_of t) == created ]] || complain
  [[ $(inside t 'cat x') == x ]] || complain
  [[ -z $(ls "$GARTH_HOME/trash") ]]
}

@test "T7 archive: a hostile archive cannot write elsewhere" {
  "$garth" new t; inside t 'echo x >x'
  local a; a=$("$garth" archive t)
  mkdir "$T/evil"; cd "$T/evil"; ln -s "$T" upper; tar -cf "$T/link.tar" upper
  rm upper; mkdir upper; echo pwned >upper/pwned; tar -rf "$T/link.tar" upper/pwned
  tar -cPf "$T/absolute.tar" --transform "s,upper/pwned,$T/absolute," upper/pwned
  tar -cPf "$T/up.tar" --transform "s,upper/pwned,../../../up," upper/pwned
  # control: tar obeys these options and writes there
  tar -xPf "$T/absolute.tar"; [[ -e $T/absolute ]]; rm "$T/absolute"
  local kind
  for kind in link absolute up; do
    gzip -c "$T/$kind.tar" >"$a"
    call "$garth" undo t
    [[ $code != 0 ]] || complain "$kind"
    [[ ! -e $T/pwned && ! -e $T/absolute && -z $(find "$T" -name up) ]] || complain "written: $kind"
  done
}

@test "T7 archive: sparse files stay sparse" {
  "$garth" new t --backend clone
  inside t 'for i in 1 2 3; do truncate -s 20M s$i; done; echo end >>s2; printf x | dd of=s3 bs=1 seek=12000000 conv=notrunc status=none; sha256sum s? >sums'
  "$garth" archive t >/dev/null; [[ $(du -sm "$GARTH_HOME/archives" | cut -f1) -lt 5 ]]
  "$garth" undo; inside t 'sha256sum -c --quiet sums'
  [[ $(du -sm "$GARTH_HOME/worktrees/t" | cut -f1) -lt 5 ]]
}

@test "T7 archive: a file with few blocks need not be sparse: on a compressing disk files keep their content" {
  printf '%s\n' '#define _GNU_SOURCE' '#include <dlfcn.h>' '#include <sys/stat.h>' \
    'int fstatat(int d, const char *n, struct stat *s, int f) {' \
    'int (*real)(int, const char *, struct stat *, int) = dlsym(RTLD_NEXT, "fstatat"); int rc = real(d, n, s, f); s->st_blocks = 0; return rc; }' \
    'int fstatat64(int d, const char *n, struct stat64 *s, int f) { return fstatat(d, n, (struct stat *)s, f); }' >"$T/few.c"
  cc -shared -fPIC -o "$T/few.so" "$T/few.c"
  mkdir "$T/in" "$T/out"; cd "$T/in"
  seq 10000 >all; truncate -s 1M none; (seq 100; truncate -s 500K /dev/stdout; seq 100) >some; : >empty; printf x >one
  sha256sum * >../sums; cp "$GARTH_BUILD/garth-archive" "$T/"
  nm -D "$T/garth-archive" | grep -q asan && return
  LD_PRELOAD=$T/few.so "$T/garth-archive" pack "$T/in" "$T/a.tar.gz"
  "$T/garth-archive" unpack "$T/a.tar.gz" "$T/out"; cd "$T/out"; sha256sum -c --quiet ../sums
}

@test "T7 archive: emptying the trash while a task is restored harms neither" {
  "$garth" new t; inside t 'for d in $(seq 40); do mkdir d$d; for f in $(seq 50); do echo $f >d$d/f$f; done; done; echo p >p; git add p; git commit -qm p'
  local i tip; tip=$(git rev-parse garth/t)
  for i in 1 2 3; do
    "$garth" archive t >/dev/null
    "$garth" undo t & local undo=$!
    while kill -0 $undo 2>/dev/null; do "$garth" gc --empty-trash >/dev/null || true; done
    wait $undo
    git gc -q --prune=now
    [[ $(inside t 'cat d*/f* | wc -l') == 2000 ]]
    [[ $(git rev-parse garth/t) == "$tip" ]]
  done
}

@test "T7 archive: the rest of the task's directory is removed, and the refs that the archive needs are kept" {
  "$garth" new t; inside t 'echo p >p; git add p; git commit -qm p'; local id; id=$(field t id)
  "$garth" archive t >/dev/null; git for-each-ref refs/garth >"$T/refs"; [[ -s $T/refs ]]
  local name
  for name in "$id.gone" "$id.unpacked"; do
    mkdir "$GARTH_HOME/trash/$name"; printf %s "$R/.git" >"$GARTH_HOME/trash/$name/keep"
    [[ $name == *.gone ]] && : >"$GARTH_HOME/trash/$name/archive"
    "$garth" gc --empty-trash >/dev/null
    [[ -z $(ls "$GARTH_HOME/trash") ]] || complain "left: $name"
    git for-each-ref refs/garth | diff "$T/refs" - || complain "$name"
  done
  git gc -q --prune=now; "$garth" undo; [[ $(inside t 'cat p') == p ]]
}
