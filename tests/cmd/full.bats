load helpers

# all_of: the task t as it is inside: commits, what git says of the files, and every file.
all_of() { inside t 'git rev-parse HEAD; git status --porcelain --ignored; find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum'; }

# fill KB: fills the disk except for that much.
fill() {
  local avail; avail=$(df -k --output=avail "$T/small" | tail -n1)
  ((avail - $1 <= 0)) || fallocate -l $((avail - $1))K "$T/small/fill"
}

# again: what the verb did is undone, or it did nothing.
again() {
  case $1 in
  snapshot) ;;
  rollback | sync)
    local last; last=$("$garth" show t --json | json "max([0] + [s['snapshot'] for s in d['snapshots'] if s['reason'] == '$1'])")
    [[ $(all_of) == "$before" ]] || "$garth" rollback t --to-snapshot "$last" >/dev/null
    ;;
  discard | archive) "$garth" show t >/dev/null 2>&1 || "$garth" undo >/dev/null ;;
  esac
}

# A repository and a Garth home on a small disk, a task with published commits, changed, new and ignored files; the verb
# runs with more and more free space: nothing that exists only once is lost, and Garth works when there is space again.
tried() {
  export -f inside json complain all_of fill again; export garth T R python
  on_small 150 '
    set -eE; trap "echo failed: \$BASH_COMMAND, with \$left KB left; cat $T/out" ERR
    cp -a "$R" "$T/small/app"; R=$T/small/app; cd "$R"; export GARTH_HOME=$T/small/home
    "$garth" new t --backend '"$2"'
    inside t "echo \"*.o\" >.gitignore; for i in 1 2 3 4; do mkdir -p n\$i; head -c 40000 /dev/urandom >n\$i/f; git add -A; git commit -qm \$i; done
      head -c 60000 /dev/urandom >new; echo changed >>a.txt; head -c 60000 /dev/urandom >made.o"
    echo y >>run.sh; git commit -qam "main goes on"
    before=$(all_of); done=0
    for left in 0 4 12 24 48 96 160 256 400 700 1500 6000; do
      fill $left
      code=0; '"$1"' >"$T/out" 2>&1 || code=$?
      rm -f "$T/small/fill"
      ((code < 124)); ((code)) || done=$((done + 1))
      again '"$3"'
      diff <(echo "$before") <(all_of)
      git fsck --strict --no-dangling 2>"$T/fsck"
      "$garth" audit --verify >/dev/null
    done
    ((done > 0 && done < 12)); "$garth" doctor --repair >"$T/out" 2>&1; "$garth" doctor >"$T/out" 2>&1; [[ $(all_of) == "$before" ]]
  ' >"$T/log" 2>&1 || complain "$(<"$T/log")"
}

@test "ESCAPES 24 full: a snapshot on a full disk" { tried '"$garth" snapshot t -m x' overlay snapshot; }
@test "ESCAPES 24 full: a rollback on a full disk" { tried '"$garth" rollback t --full' overlay rollback; }
@test "ESCAPES 24 full: a sync on a full disk" { tried '"$garth" sync t' overlay sync; }
@test "ESCAPES 24 full: discard on a full disk, and its undo" { tried '"$garth" discard -fD t' overlay discard; tried '"$garth" discard -fD t' worktree discard; }
@test "ESCAPES 24 full: archive on a full disk, and its undo" { tried '"$garth" archive t' overlay archive; }

@test "ESCAPES 20 24 full: a disk that a task has filled does not prevent discarding it" {
  export -f inside json; export garth T R python
  on_small 120 '
    set -eE; trap "echo failed: \$BASH_COMMAND; cat $T/out" ERR
    cp -a "$R" "$T/small/app"; cd "$T/small/app"; export GARTH_HOME=$T/small/home
    "$garth" run -q -t t -- sh -c "i=0; while cat /bin/bash >f\$i 2>/dev/null; do i=\$((i + 1)); done; cat /dev/zero >rest; true" >"$T/out" 2>&1 || true
    (($(df -k --output=avail "$T/small" | tail -n1) < 2048))
    "$garth" ls >"$T/out" 2>&1; "$garth" discard -fD t >"$T/out" 2>&1; "$garth" gc --empty-trash >"$T/out" 2>&1
    (($(df -k --output=avail "$T/small" | tail -n1) > 20000))
    "$garth" doctor --repair >"$T/out" 2>&1 || true; "$garth" audit --verify >/dev/null; "$garth" new u >/dev/null
  ' >"$T/log" 2>&1 || complain "$(<"$T/log")"
}
