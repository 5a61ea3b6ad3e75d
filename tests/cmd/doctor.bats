load helpers

@test "J10 doctor: what this machine offers, one line each" {
  call "$garth" doctor
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  for w in 'user namespaces' overlay landlock seccomp git; do grep -qE "^✓ $w" <<<"$out" || complain "no $w"; done
  [[ $(wc -L <<<"$out") -le 80 ]] || complain
}

@test "O3 doctor: --json" {
  "$garth" doctor --json >"$T/j"
  [[ $(json '[d["ok"], all(set(c) == {"name", "purpose", "ok", "required", "found", "enable"} for c in d["checks"]), d["findings"]]' <"$T/j") == '[true, true, []]' ]]
}

@test "J10 doctor: if something is missing, the exit code is 1 and the command that enables it is shown" {
  call python3 "$BATS_TEST_DIRNAME/without-userns" "$garth" doctor --json
  [[ $code == 1 ]] || complain
  [[ $(json 'd["ok"]' <<<"$out") == false ]] || complain
  [[ $(json 'all(c["enable"] for c in d["checks"] if not c["ok"] and c["name"] == "user namespaces")' <<<"$out") == true ]] || complain
}

teardown() {
  rmdir "/sys/fs/cgroup/pids/garth-$(stat -c %i "$GARTH_HOME")"-* 2>/dev/null || true
  garth_teardown
}

# Everything in the Garth home and the repository, except what reading may write: times of locks, the store's own files.
everything() {
  (cd "$GARTH_HOME" && find . -mindepth 1 ! -path './garth.db*' ! -name lock ! -name boot ! -path './merges*' -printf '%p %y %m %l\n' | sort
    find . -type f ! -path './garth.db*' ! -name boot -print0 2>/dev/null | sort -z | xargs -0 sha256sum || true)
  (cd "$R" && find . -printf '%p %y %l\n' | sort; git for-each-ref)
  sqlite3 "$GARTH_HOME/garth.db" 'select * from task; select * from deed; select * from snapshot; select * from project'
}

# No keeper is ending: a command that started one for itself may return before it has ended.
left() {
  python3 - "$GARTH_HOME" <<'PY'
import fcntl, glob, sqlite3, struct, sys
home = sys.argv[1]
running = {str(i) for i, in sqlite3.connect("file:%s/garth.db?mode=ro" % home, uri=True).execute(
    "SELECT id FROM task WHERE state IN ('running', 'paused')")}
for path in glob.glob(home + "/tasks/*/lock"):
    if path.split("/")[-2] in running: continue
    with open(path, "r+") as f: # F_OFD_GETLK asks and takes nothing
        held = fcntl.fcntl(f, 36, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
    if struct.unpack("hhqqi4x", held)[0] != fcntl.F_UNLCK: sys.exit(1)
PY
}

# finds KIND SUBJECT TEXT: doctor names it, says what it would do, ends with the hint, and changes nothing.
finds() {
  eventually left
  everything >"$T/before"
  call "$garth" doctor
  [[ $code == 1 ]] || complain "doctor did not find $1" || return
  grep -q "^▲ .*$2: .*$3" <<<"$out" || complain "no line '$2: $3'" || return
  grep -q "^  would: " <<<"$out" && [[ ${err##*$'\n'} == '↳ garth doctor --repair' ]] || complain "no hint" || return
  call "$garth" doctor --json
  [[ $code == 1 && $out == *"\"kind\": \"$1\""* && $out == *'"done": false'* && $out != *'"done": true'* ]] || complain "no $1" || return
  everything | diff "$T/before" - || complain "doctor changed something"
}

# mends TEXT: doctor --repair does it and says so; after it doctor has nothing to say.
mends() {
  call "$garth" doctor --repair
  [[ $code == 0 && $out == *"  repair: "*"  ✓ "*"${1-}"* && $out != *✗* ]] || complain "not mended" || return
  silent
}

silent() {
  call "$garth" doctor
  [[ $code == 0 && $out != *▲* && $out != *○* && -z $err ]] || complain "not silent" || return
  git fsck --strict --no-dangling
}

# Where the one thing that was found without a task is now.
found() { printf '%s\n' "$GARTH_HOME"/trash/found-*/files; }

lose_keeper() {
  local pid; pid=$(keeper_of t)
  kill -9 "$pid"
  eventually not test -e "/proc/$pid/fd/0"
}

@test "O3 T9 doctor: --json has each finding with what would be done, and what was done" {
  "$garth" new t; mkdir "$GARTH_HOME/worktrees/x"; echo w >"$GARTH_HOME/worktrees/x/w"; git branch garth/mine
  want='[[f["kind"], f["subject"].rsplit("/", 1)[-1], bool(f["what"]), f["would"], f["needs_decision"], f["done"]] for f in d["findings"]]'
  call "$garth" doctor --json
  [[ $code == 1 ]] || complain
  [[ $(json "$want" <<<"$out") == '[["branch-unknown", "mine", true, null, true, false], ["directory-orphaned", "x", true, "move it to the trash", false, false]]' ]] || complain
  call "$garth" doctor --repair --json
  [[ $code == 0 ]] || complain
  [[ $(json 'd["ok"]' <<<"$out") == true ]] || complain
  [[ $(json "$want" <<<"$out") == *'"move it to the trash", false, true]]' ]] || complain
}

@test "T9 J10 doctor: a keeper that died, with its sockets" {
  "$garth" run -d -t t -- sh -c 'echo work >w; touch ready; exec sleep 1000'
  eventually inside t 'test -e ready'
  silent
  lose_keeper
  finds keeper-gone t "its keeper is gone"
  [[ $(sqlite3 "$GARTH_HOME/garth.db" 'select state from task') == running ]]
  mends "now interrupted; its workspace is kept"
  [[ $(state_of t) == interrupted ]]
  [[ $(inside t cat w) == work ]]
  [[ ! -e $(task_dir t)/control ]]
}

@test "T9 ESCAPES 23 doctor: half-made and half-discarded tasks; a repair that is killed can be repeated" {
  has_faults || { means_nothing; return; }
  call env GARTH_FAULT=create-refs "$garth" new t
  finds half-made t "was left half made"
  mends removed
  "$garth" new t; inside t 'echo work >w'; id=$(field t id)
  call env GARTH_FAULT=discard-marked "$garth" discard -f t
  finds half-discarded t "was left half discarded"
  call env GARTH_FAULT=discard-refs "$garth" doctor --repair
  [[ $code == 137 ]] || complain
  finds half-discarded t "was left half discarded"
  mends
  [[ $(<"$GARTH_HOME/trash/$id/upper/w") == work ]]
}

@test "T9 doctor: a merge that was killed" {
  has_faults || { means_nothing; return; }
  "$garth" new t; inside t 'echo n >n.txt; git add n.txt; git commit -qm n'
  call env GARTH_FAULT=merge-tree "$garth" merge t
  eventually not test -e .git/refs/heads/main.lock
  [[ -e .git/index.lock ]]
  finds merge-left t "its merge into main was cut short"
  mends "merge of 't' into main: "
  [[ ! -e .git/index.lock && -z $(git status --porcelain) ]]
}

@test "T6 T9 doctor: a worktree that git knows and no task has: its files go to the trash, a detached HEAD stays" {
  "$garth" new t --backend worktree; inside t 'echo work >w'
  wt=$GARTH_HOME/worktrees/t
  git -C "$wt" checkout -q --detach; echo only >"$wt/only"; git -C "$wt" add only; git -C "$wt" commit -qm only
  only=$(git -C "$wt" rev-parse HEAD)
  sqlite3 "$GARTH_HOME/garth.db" 'delete from snapshot; delete from task'
  git update-ref -d refs/heads/garth/t; git for-each-ref --format='delete %(refname)' refs/garth | git update-ref --stdin
  finds worktree-orphaned "$wt" "a worktree there that no task has"
  mends "what was there is in $GARTH_HOME/trash/found-"
  [[ $(git worktree list) != *worktrees/t* ]]
  [[ ! -e $wt && $(cat "$GARTH_HOME"/trash/found-*/files/t/w) == work ]]
  git gc -q --prune=now
  [[ $(git show "$only:only") == only ]]
  # it has no term: it goes when somebody says so, and its pin with it
  touch -d '800 days ago' "$GARTH_HOME"/trash/found-*
  "$garth" gc >/dev/null; [[ $(cat "$GARTH_HOME"/trash/found-*/files/t/w) == work ]]
  "$garth" gc --empty-trash >/dev/null
  [[ -z $(ls "$GARTH_HOME/trash") ]]
  [[ -z $(git for-each-ref refs/garth) ]]
}

@test "T9 ESCAPES 26 doctor: a lost store is reported, and what its tasks had stays" {
  "$garth" new t; inside t 'echo only >only'
  rm "$GARTH_HOME"/garth.db*
  call "$garth" doctor
  [[ $code == 1 ]] || complain
  [[ $out == *'garth.db: it knows of no task, and 1 directory of tasks is there'* ]] || complain
  "$garth" doctor --repair >/dev/null || true
  touch -d '800 days ago' "$GARTH_HOME"/trash/*; "$garth" gc >/dev/null
  [[ $(cat "$GARTH_HOME"/trash/found-*/files/*/upper/only) == only ]]
}

@test "T9 ESCAPES 27 doctor: somebody moved a branch: what was published becomes a snapshot" {
  "$garth" new t; inside t 'echo 1 >one; git add one; git commit -qm one'; was=$(git rev-parse garth/t)
  git branch -f garth/t main
  finds branch-moved t "its branch is not where it was left"
  mends
  git gc -q --prune=now
  [[ $(git show "$was:one") == 1 ]]
  [[ $(kept_for t) == "$was" ]]
  [[ $(field t standing) == synced ]]
}

@test "T9 doctor: a worktree record without files and without a task is removed; a locked one stays" {
  "$garth" new t
  git worktree add -q --detach "$GARTH_HOME/worktrees/a"; git worktree add -q --detach "$GARTH_HOME/worktrees/b"
  rm -r "$GARTH_HOME/worktrees/a"
  git worktree lock --reason 'my own' "$GARTH_HOME/worktrees/b"
  finds worktree-orphaned "$GARTH_HOME/worktrees/a" "its files are gone"
  [[ $(json '[f["hint"] for f in d["findings"] if not f["would"]]' <<<"$out") == *"worktree unlock"* ]] || complain
  call "$garth" doctor --repair
  [[ $code == 1 ]] || complain
  [[ $out == *"somebody locked it: my own"* ]] || complain
  [[ $(git worktree list | grep -c "$GARTH_HOME") == 1 ]]
  [[ -e $GARTH_HOME/worktrees/b/a.txt ]]
  git worktree unlock "$GARTH_HOME/worktrees/b"
  mends
}

@test "T9 doctor: a worktree task whose record is gone is registered again, its files unchanged" {
  "$garth" new t --backend worktree; inside t 'echo work >w; echo d >d; git add d; git commit -qm d; echo 2 >>a.txt'
  inside t 'git status --porcelain' >"$T/status"; "$garth" diff t --stat >"$T/diff"
  rm -r .git/worktrees/t
  finds worktree-unregistered t "git does not know its worktree any more"
  mends
  inside t 'git status --porcelain' | diff "$T/status" -; "$garth" diff t --stat | diff "$T/diff" -
  git worktree list --porcelain | grep -q 'locked in use by garth'
  [[ $(git -C "$GARTH_HOME/worktrees/t" rev-parse HEAD) == $(git rev-parse garth/t) ]]
}

@test "T9 ESCAPES 28 doctor: a task whose files on the host were deleted: the published ones are restored; killed at each step" {
  for b in worktree clone; do
    "$garth" new t --backend $b; inside t 'echo d >d; git add d; git commit -qm d; echo lost >w'
    rm -r "$GARTH_HOME/worktrees/t"
    finds workspace-deleted t "its workspace was deleted"
    for step in doctor-cleared doctor-placed doctor-filled; do
      has_faults || continue
      call env GARTH_FAULT=$step "$garth" doctor --repair
      [[ $code == 137 ]] || complain "$b $step"
      call "$garth" doctor
      [[ $code == 1 ]] || complain "$b $step"
      [[ $out == *"▲ t: "* ]] || complain "$b $step"
    done
    mends
    [[ $(inside t 'cat d a.txt; git status --porcelain') == $'d\none' ]] || complain $b
    [[ $("$garth" diff t --stat) == *" d |"* ]] || complain $b
    "$garth" discard -D t
  done
}

@test "T7 T9 doctor: an archived task is no leftover: its refs stay as long as its archive" {
  "$garth" new t; inside t 'echo d >d; git add d; git commit -qm d'
  local a; a=$("$garth" archive t)
  silent
  rm "$a"
  call "$garth" doctor
  [[ $out == *'of a task that is removed'* ]] || complain
}

@test "T5 T9 doctor: a task without a repository uses its base like others" {
  "$garth" run --empty --task e -q -- sh -c 'echo x >x'
  silent
  wipe "$(task_dir e)/upper"
  finds workspace-deleted e "its workspace was deleted"
  mends
  [[ -z $(inside e ls) ]]
}

@test "T9 doctor: a repair of a worktree that has files, killed at each step, keeps them" {
  has_faults || { means_nothing; return; }
  "$garth" new t --backend worktree; inside t 'echo work >w'
  for step in doctor-cleared undo-worktree doctor-placed; do
    rm -rf .git/worktrees/t*
    call env GARTH_FAULT=$step "$garth" doctor --repair
    [[ $code == 137 ]] || complain "$step"
    if [[ $step == doctor-placed ]]; then silent; else mends; fi
    [[ $(inside t cat w a.txt) == $'work\none' ]] || complain "$step"
    [[ $(<"$GARTH_HOME/worktrees/t/w") == work ]] || complain "$step"
  done
}

@test "T9 doctor: a worktree that somebody unlocked, or whose .git somebody changed" {
  "$garth" new t --backend worktree; inside t 'echo work >w'
  git worktree unlock "$GARTH_HOME/worktrees/t"
  finds worktree-unlocked t "somebody unlocked its worktree"
  mends
  git worktree list --porcelain | grep -q 'locked in use by garth'
  echo "gitdir: $R/.git" >"$GARTH_HOME/worktrees/t/.git"
  finds worktree-unregistered t "the .git of its worktree"
  mends
  [[ $(git -C "$GARTH_HOME/worktrees/t" rev-parse --abbrev-ref HEAD) == garth/t ]]
  [[ $(inside t cat w) == work ]]
  git worktree unlock "$GARTH_HOME/worktrees/t"
  git worktree lock --reason mine "$GARTH_HOME/worktrees/t"
  call "$garth" doctor
  [[ $code == 0 ]] || complain
  [[ $out == *"○ t: somebody else locked its worktree: mine"* ]] || complain
}

@test "T9 ESCAPES 28 doctor: a task whose directory was deleted is made again with what it published" {
  for b in overlay worktree clone; do
    "$garth" new t --backend $b; inside t 'echo d >d; git add d; git commit -qm d; echo lost >w'
    wipe "$(task_dir t)"
    finds workspace-deleted t "its directory was deleted"
    if has_faults; then
      for step in doctor-cleared doctor-filled; do
        call env GARTH_FAULT=$step "$garth" doctor --repair
        [[ $code == 137 ]] || complain "$b $step"
      done
    fi
    mends
    [[ $(inside t 'cat d a.txt; git status --porcelain; git log --format=%s') == $'d\none\nd\nfirst' ]] || complain $b
    [[ $b == overlay || $(cat "$GARTH_HOME"/trash/found-*/files/t/w | sort -u) == lost ]]
    inside t 'echo e >e; git add e; git commit -qm e'
    [[ $(git show garth/t:e) == e ]]
    [[ $("$garth" diff t --stat) == *" d |"* ]]
    "$garth" discard -D t
  done
}

@test "T9 doctor: an overlay task whose files were deleted: the published ones are restored, drafts stay" {
  "$garth" new t; inside t 'echo d >d; git add d; git commit -qm d; echo draft >draft; git add draft; /usr/bin/git -c core.hooksPath=/dev/null commit -qm draft; echo lost >w'
  wipe "$(task_dir t)/upper"
  finds workspace-deleted t "its workspace was deleted"
  if has_faults; then call env GARTH_FAULT=doctor-placed "$garth" doctor --repair; [[ $code == 137 ]] || complain; fi
  mends
  [[ $(inside t 'cat d a.txt; git status --porcelain; git show HEAD:draft') == $'d\none\n D draft\ndraft' ]] || complain
  wipe "$(task_dir t)/work"
  finds workspace-deleted t "the work directory of its overlay was deleted"
  mends
  [[ $(inside t 'git checkout -q draft; cat draft') == draft ]]
}

@test "T9 doctor: a moved Garth home: its worktrees are no orphans, and its old place is shown" {
  "$garth" new t --backend worktree; inside t 'echo work >w'
  old=$GARTH_HOME; mv "$old" "$old.new"; export GARTH_HOME=$old.new
  for link in no yes; do
    [[ $link == no ]] || ln -s "$GARTH_HOME" "$old"
    call "$garth" doctor --repair
    [[ $code == 1 ]] || complain
    [[ $out == *"▲ t: its worktree is where this Garth home was"*"↳ mv '$old.new' '$old'"* ]] || complain
    [[ $(<"$GARTH_HOME/worktrees/t/w") == work ]] || complain
  done
  rm "$old"; mv "$GARTH_HOME" "$old"; export GARTH_HOME=$old
  silent
  [[ $(inside t cat w) == work ]]
}

@test "T9 doctor: a task in use is left alone, and the command that stops it is named" {
  "$garth" run -d -t t --backend worktree -- sh -c 'echo work >w; touch ready; exec sleep 1000'
  eventually inside t 'test -e ready'
  rm -r .git/worktrees/t
  call "$garth" doctor --repair
  [[ $code == 1 ]] || complain
  [[ $out == *"▲ t: git does not know its worktree"*"↳ garth cancel t && garth doctor --repair"* ]] || complain
  [[ $(state_of t) == running ]]
  [[ $(inside t cat w) == work ]]
  "$garth" cancel t
  mends
  [[ $(inside t cat w) == work ]]
}

@test "T6 ESCAPES 26 30 doctor: directories that no task has go to the trash, whatever their names; links are not followed" {
  "$garth" new t
  mkdir "$HOME/precious"; echo mine >"$HOME/precious/f"
  ln -s "$HOME/precious" "$GARTH_HOME/worktrees/link"; ln -s "$HOME/precious" "$GARTH_HOME/tasks/12"
  evil=$'x\n✓ all is well\e[2J\xff; rm -rf $HOME'
  mkdir -p "$GARTH_HOME/worktrees/$evil" "$GARTH_HOME/tasks/77/upper" "$GARTH_HOME/tasks/78" "$GARTH_HOME/bases/99/x"
  echo a >"$GARTH_HOME/worktrees/$evil/w"; echo b >"$GARTH_HOME/tasks/77/upper/w"; chmod 0 "$GARTH_HOME/tasks/77/upper"; echo c >"$GARTH_HOME/tasks/file"
  mkdir "$GARTH_HOME/worktrees/lock"; echo l >"$GARTH_HOME/worktrees/lock/from"
  finds directory-orphaned "$GARTH_HOME/tasks/77" "no task has it"
  call "$garth" doctor
  [[ $out == *'x ✓ all is well^[[2J\xff; rm -rf $HOME: no task has it'* ]] || complain
  [[ $out != *$'\e'* ]] || complain
  [[ $(grep -c '^▲' <<<"$out") == 8 ]] || complain
  [[ $(grep -c 'remove it; it is empty' <<<"$out") == 1 ]] || complain
  mends
  [[ -z $(ls "$GARTH_HOME/worktrees") ]]
  [[ $(ls "$GARTH_HOME/tasks") == $(field t id) ]]
  [[ $(<"$HOME/precious/f") == mine ]]
  [[ $(cat "$GARTH_HOME/trash/"found-*/files/x*/w) == a ]]
  [[ $(cat "$GARTH_HOME"/trash/found-*/files/file) == c ]]
  [[ $(cat "$GARTH_HOME"/trash/found-*/files/lock/from) == l ]]
  chmod 700 "$GARTH_HOME"/trash/found-*/files/77/upper
  [[ $(cat "$GARTH_HOME"/trash/found-*/files/77/upper/w) == b ]]
  [[ -L $(echo "$GARTH_HOME"/trash/found-*/files/link) ]]
  grep -qxF "$GARTH_HOME/tasks/77" "$GARTH_HOME"/trash/found-*/from
  "$garth" gc --empty-trash >/dev/null
  [[ -z $(ls "$GARTH_HOME/trash") ]]
  [[ $(<"$HOME/precious/f") == mine ]]
}

@test "T9 ESCAPES 2 doctor: a link in the place of a worktree is never followed, whether it belongs to a task, a record or nothing" {
  mkdir "$HOME/precious"; echo mine >"$HOME/precious/f"
  "$garth" new t --backend worktree; inside t 'echo d >d; git add d; git commit -qm d'; "$garth" new u
  git worktree add -q --detach "$GARTH_HOME/worktrees/x"
  for n in t x; do rm -r "$GARTH_HOME/worktrees/$n"; ln -s "$HOME/precious" "$GARTH_HOME/worktrees/$n"; done
  wipe "$(task_dir u)"; ln -s "$HOME/precious" "$GARTH_HOME/tasks/$(ident 2)"
  finds workspace-deleted t "its workspace was deleted"
  finds workspace-deleted u "its directory was deleted"
  finds worktree-orphaned "$GARTH_HOME/worktrees/x" "no task has"
  mends
  [[ $(ls -A "$HOME/precious") == f ]]
  [[ $(<"$HOME/precious/f") == mine ]]
  [[ $(inside t cat d) == d ]]
  [[ $(inside u cat a.txt) == one ]]
  [[ ! -L $GARTH_HOME/worktrees/t && $(find "$GARTH_HOME/trash" -type l | wc -l) == 3 ]]
}

@test "T6 doctor: what it moves is moved completely or not at all, whenever it is killed" {
  has_faults || { means_nothing; return; }
  "$garth" new t; mkdir -p "$GARTH_HOME/worktrees/x"; echo work >"$GARTH_HOME/worktrees/x/w"
  call env GARTH_FAULT=doctor-found "$garth" doctor --repair
  [[ $code == 137 ]] || complain
  [[ $(<"$GARTH_HOME/worktrees/x/w") == work ]] || complain
  mends
  [[ $(cat "$GARTH_HOME"/trash/found-*/files/x/w) == work ]]
  git worktree add -q --detach "$GARTH_HOME/worktrees/y"; echo more >"$GARTH_HOME/worktrees/y/v"
  call env GARTH_FAULT=doctor-moved "$garth" doctor --repair
  [[ $code == 137 ]] || complain
  [[ $(cat "$GARTH_HOME"/trash/found-*/files/y/v) == more ]] || complain
  finds worktree-orphaned "$GARTH_HOME/worktrees/y" "its files are gone"
  mends
}

@test "T9 doctor: a lost store: everything of its tasks stays, in the trash or reported" {
  "$garth" new t --backend worktree; inside t 'echo d >d; git add d; git commit -qm d; echo work >w'; id=$(field t id)
  rm "$GARTH_HOME"/garth.db*
  "$garth" new u
  call "$garth" doctor --repair
  [[ $code == 0 ]] || complain
  grep -q "^○ garth/t: a branch in 'app' that no task has; it has commits that are nowhere else" <<<"$out" || complain
  [[ $(git show garth/t:d) == d ]]
  [[ $(cat "$GARTH_HOME"/trash/found-*/files/t/w) == work ]]
  [[ -d $(echo "$GARTH_HOME"/trash/found-*/files/"$id"/git) ]]
}

@test "T9 doctor: a branch that the user deleted is made again; what cannot be is reported" {
  "$garth" new t; inside t 'echo d >d; git add d; git commit -qm d'; "$garth" new u
  tip=$(git rev-parse garth/t)
  git branch -D -q garth/t; git branch -D -q garth/u
  finds branch-missing t "its branch garth/t is gone"
  if has_faults; then call env GARTH_FAULT=doctor-refs "$garth" doctor --repair; [[ $code == 137 ]] || complain; fi
  mends
  [[ $(git rev-parse garth/t) == "$tip" ]]
  [[ $(git rev-parse garth/u) == $(git rev-parse main) ]]
  git branch -D -q garth/t
  git reflog expire --expire=now --all
  git gc -q --prune=now
  call "$garth" doctor --repair
  [[ $code == 1 ]] || complain
  [[ $out == *"▲ t: its branch garth/t is gone"*"↳ garth export t DIR"* ]] || complain
}

@test "T9 doctor: missing pins are made again" {
  git tag v1; echo 2 >b.txt; commit; git tag v2; echo 3 >b.txt; commit
  "$garth" new t; inside t 'echo d >d; git add d; git commit -qm d'; "$garth" snapshot t
  git for-each-ref refs/garth >"$T/refs"; [[ $(wc -l <"$T/refs") == 2 ]]
  git for-each-ref --format='delete %(refname)' refs/garth | git update-ref --stdin
  finds pins-missing t "refs that keep what it needs are gone"
  mends
  git for-each-ref refs/garth | diff "$T/refs" -
  # in the trash, too
  "$garth" discard -D t; tip=$(git rev-parse "refs/garth/trash/$(ident 1)/tip")
  git for-each-ref --format='delete %(refname)' refs/garth | git update-ref --stdin
  finds pins-missing t "is in the trash, and the ref that keeps its commits is gone"
  mends
  git reflog expire --expire=now --all; git gc -q --prune=now
  "$garth" undo t
  [[ $(git rev-parse garth/t) == "$tip" ]]
  [[ $(inside t cat d) == d ]]
}

@test "T7 T9 doctor: the refs that an archive needs are made again" {
  "$garth" new t; inside t 'echo d >d; git add d; git commit -qm d'; tip=$(git rev-parse garth/t)
  "$garth" archive t >/dev/null
  git for-each-ref --format='delete %(refname)' refs/garth | git update-ref --stdin
  finds pins-missing t "is in its archive, and the ref that keeps its commits is gone"
  mends
  git reflog expire --expire=now --all
  git gc -q --prune=now
  "$garth" undo t
  [[ $(git rev-parse garth/t) == "$tip" ]]
  [[ $(inside t cat d) == d ]]
}

@test "T9 doctor: refs of interrupted fetches are removed; those of running fetches, and of other homes, stay" {
  "$garth" new t
  local home; home=$(printf %x "$(stat -c %i "$GARTH_HOME")")
  for n in "$home-4194303" "$home-$$" abc-4194303; do git update-ref "refs/garth/fetched/$n" main; done
  finds fetch-left "$(basename "$R")" "1 ref of fetches that were cut short"
  mends
  [[ $(git for-each-ref --format='%(refname)' refs/garth/fetched | sed s,.*/,, | sort) == $(printf '%s\n' "$home-$$" abc-4194303 | sort) ]]
}

@test "T9 doctor: a repair that was killed in the checkout is repeated" {
  local b
  for b in worktree clone; do
    "$garth" new $b --backend $b; inside $b 'echo d >d; git add d; git commit -qm d'
    mkdir "$GARTH_HOME/tasks/$(field $b id)/checkout"; : >"$GARTH_HOME/tasks/$(field $b id)/checkout/index.lock"
    rm -rf "$GARTH_HOME/worktrees/$b"
    finds workspace-deleted $b .
    mends
    [[ $(inside $b 'cat d') == d ]]
    [[ ! -e $GARTH_HOME/tasks/$(field $b id)/checkout ]]
  done
}

@test "T6 T9 doctor: refs of removed tasks go if others reach what they keep, else they are reported and stay" {
  git tag v1; echo 2 >b.txt; commit; "$garth" new t; inside t 'echo d >d; git add d; git commit -qm d'; "$garth" snapshot t; id=$(field t id)
  set=$(sqlite3 "$GARTH_HOME/garth.db" 'select shown from task'); tip=$(git rev-parse garth/t)
  "$garth" discard -D t; "$garth" gc --empty-trash >/dev/null
  silent
  git update-ref "refs/garth/shown/$set/$(git rev-parse v1)" v1; git update-ref "refs/garth/trash/$id/base" main; git branch garth/t main
  git branch -D -q garth/t; git update-ref refs/heads/garth/t "$(sqlite3 "$GARTH_HOME/garth.db" 'select base from task')"
  finds pins-orphaned "refs/garth/trash/$id" "of a task that is removed"
  finds branch-orphaned garth/t "whose task is removed"
  mends
  [[ -z $(git for-each-ref refs/garth refs/heads/garth) ]]
  # what nothing else reaches, and what belongs to another home
  git update-ref "refs/garth/snapshots/$id/2" "$tip"; git update-ref refs/heads/garth/t "$tip"; git update-ref refs/heads/garth/other main; git update-ref refs/garth/trash/3/tip main
  git for-each-ref >"$T/refs"
  call "$garth" doctor --repair
  [[ $code == 0 ]] || complain
  [[ $out != *▲* ]] || complain
  for l in "refs/garth/snapshots/$id: .*no other ref reaches" "garth/t: .*commits that are nowhere else" "garth/other: .*that no task has" "refs/garth/: 1 ref .*another Garth home"; do
    grep -q "^○ $l" <<<"$out" || complain "no $l"
  done
  git for-each-ref | diff "$T/refs" -
}

@test "T9 doctor: a changed base is moved aside when nobody uses it, and is made again" {
  "$garth" new t; echo 2 >b.txt; git rm -q dir/b.txt; commit; "$garth" new u
  full=$(git rev-parse HEAD~) delta=$(git rev-parse HEAD) bases=$(echo "$GARTH_HOME"/bases/*)
  [[ -e $bases/$delta/parent ]]
  # touched, but the same: copied with the home, for one
  touch "$bases/$full/tree/a.txt"; chmod 700 "$bases/$full/tree/dir"; chmod 755 "$bases/$full/tree/dir"; silent
  for damage in "$full:echo evil >>a.txt:'a.txt' was changed" "$full:rm dir/sub/c.txt:'dir/sub/c.txt' is gone" "$full:echo x >dir/new:'dir/new' was added" \
    "$full:chmod -x run.sh:'run.sh' was changed" "$full:ln -sf b link:'link' was changed" "$delta:echo 3 >b.txt:'b.txt' was changed" "$delta:rm dir/b.txt:'dir/b.txt' is there again"; do
    IFS=: read -r base how what <<<"$damage"
    (cd "$bases/$base/tree" && eval "$how")
    call "$garth" doctor
    [[ $code == 1 ]] || complain "$how"
    [[ $out == *"▲ $bases/$base: a base is not what was checked out: $what"* ]] || complain "$how"
    mends
    [[ $(inside t 'cat a.txt dir/sub/c.txt; git status --porcelain') == $'one\nthree' ]] || complain "$how"
    [[ $(inside u 'cat a.txt b.txt; ls dir; git status --porcelain') == $'one\n2\nsub' ]] || complain "$how"
  done
}

@test "T9 doctor: locks on refs that a killed git left are named; those of Garth's own refs are removed" {
  "$garth" new t
  : >.git/packed-refs.lock; : >.git/refs/heads/garth/t.lock
  # one that is new may belong to a git that works
  silent
  touch -d '1 hour ago' .git/packed-refs.lock .git/refs/heads/garth/t.lock
  call "$garth" doctor --repair
  [[ $code == 1 && $out == *"▲ $R/.git/packed-refs.lock: a git that was killed left this lock"* && $out$err == *"rm '$R/.git/packed-refs.lock'"* ]] || complain
  [[ -e .git/packed-refs.lock && ! -e .git/refs/heads/garth/t.lock ]] || complain
  rm .git/packed-refs.lock
  silent
}

@test "T9 doctor: a changed base on which a task runs stays, and the task is named" {
  "$garth" run -d -t t -- sh -c 'touch ready; exec sleep 1000'; "$garth" new u
  eventually inside t 'test -e ready'
  base=$(echo "$GARTH_HOME"/bases/*/*/tree); echo evil >>"$base/a.txt"
  call "$garth" doctor --repair
  [[ $code == 1 ]] || complain
  [[ $out == *"▲ ${base%/tree}: "*"for t in t; do garth cancel"* ]] || complain
  [[ -e $base/a.txt ]] || complain
  "$garth" cancel t
  finds base-changed "${base%/tree}" "'a.txt' was changed"
  mends
  [[ $(inside u cat a.txt) == one ]]
  [[ $(cat "$GARTH_HOME"/trash/found-*/files/*/tree/a.txt) == $'one\nevil' ]]
}


@test "T9 ESCAPES 25 doctor: what is taken into use between search and repair is left alone" {
  has_faults || { means_nothing; return; }
  "$garth" new t; "$garth" new u --backend worktree
  base=$(echo "$GARTH_HOME"/bases/*/*/tree); echo evil >>"$base/dir/b.txt"
  GARTH_FAULT=stop:doctor-mend "$garth" doctor --repair >"$T/o" 2>&1 </dev/null 3>&- & pid=$!
  eventually stopped $pid
  "$garth" exec t -- sh -c 'touch ready; exec sleep 1000' 2>/dev/null </dev/null 3>&- & other=$!
  eventually inside t 'test -e ready'
  kill -CONT $pid
  code=0
  wait $pid || code=$?
  [[ $code == 1 ]] || complain "$(<"$T/o")"
  [[ $(<"$T/o") == *"✗ not done: task 't' uses it: "* ]] || complain "$(<"$T/o")"
  [[ -e $base ]] || complain "$(<"$T/o")"
  kill $other
  wait $other || true
  eventually "$garth" doctor --repair
  rm -r .git/worktrees/u
  GARTH_FAULT=stop:doctor-mend "$garth" doctor --repair >"$T/o" 2>&1 </dev/null 3>&- & pid=$!
  eventually stopped $pid
  "$garth" exec u -- sh -c 'echo work >w; exec sleep 1000' 2>/dev/null </dev/null 3>&- & other=$!
  eventually inside u 'test -e w'
  kill -CONT $pid
  code=0
  wait $pid || code=$?
  [[ $code == 1 ]] || complain "$(<"$T/o")"
  [[ $(<"$T/o") == *"✗ not done: the task is in use"* ]] || complain "$(<"$T/o")"
  [[ $(<"$GARTH_HOME/worktrees/u/w") == work ]] || complain "$(<"$T/o")"
  kill $other
  wait $other || true
  eventually "$garth" doctor --repair
  silent
  [[ $(inside u cat w) == work ]]
}

@test "T9 doctor: a mark on a pack, of a command that was killed before its ref was there" {
  "$garth" new t
  mkdir -p .git/objects/pack
  printf 'garth\n' >.git/objects/pack/pack-1234.keep
  printf 'garth\n' >.git/objects/pack/pack-5678.keep
  printf 'mine\n' >.git/objects/pack/pack-9abc.keep
  touch -d '2 minutes ago' .git/objects/pack/pack-1234.keep .git/objects/pack/pack-9abc.keep
  touch -d '1 hour' .git/objects/pack/pack-5678.keep
  finds pack-kept pack-1234.keep "a command was killed"
  mends
  # the user's own, and one that is just being made, stay
  [[ ! -e .git/objects/pack/pack-1234.keep ]]
  [[ -e .git/objects/pack/pack-5678.keep ]]
  [[ -e .git/objects/pack/pack-9abc.keep ]]
}

@test "T6 T9 doctor: leftovers: temporary files, unfinished bases and trash, quarantines" {
  "$garth" new t; "$garth" run -d -t u -- sleep 1000
  mkdir -p "$GARTH_HOME/scratch/0123/objects" "$GARTH_HOME/scratch/4567"; touch -d '2 minutes ago' "$GARTH_HOME/scratch/0123"
  mkdir -p "$(echo "$GARTH_HOME"/bases/*)/abc.part/tree" "$(echo "$GARTH_HOME"/bases/*)/abc.gone"
  mkdir -p "$GARTH_HOME/trash/5.gone/upper" "$GARTH_HOME/trash/6.empty" "$GARTH_HOME/trash/7.gone"; touch -d '2 minutes ago' "$GARTH_HOME"/trash/[56].*; touch -d '1 hour' "$GARTH_HOME/trash/7.gone" "$GARTH_HOME/scratch/4567"
  for n in 1 2; do mkdir -p ".git/objects/garth-$(ident $n)/ab"; echo x >".git/objects/garth-$(ident $n)/ab/cd"; done
  mkdir .git/objects/garth-3
  finds scratch scratch "1 throw-away directory of commands that died"
  finds base-half abc.part "half of a base"
  finds trash-half 5.gone "was being removed"
  finds quarantine t "its gateway was killed at work"
  call "$garth" doctor --repair
  [[ $code == 0 ]] || complain
  [[ $out != *"u: its gateway"* ]] || complain
  [[ $out == *"○ $R/.git/objects/garth-3: no task in the store"* ]] || complain
  [[ ! -e .git/objects/garth-$(ident 1) && -e .git/objects/garth-$(ident 2) && -e .git/objects/garth-3 ]]
  [[ $(ls "$GARTH_HOME/scratch") == 4567 ]]
  [[ $(ls "$GARTH_HOME/trash") == 7.gone ]]
  [[ -z $(ls -d "$GARTH_HOME"/bases/*/abc* 2>/dev/null) ]]
  "$garth" cancel u
  rmdir .git/objects/garth-3
  mends
  silent
}

@test "T9 doctor: a mount beneath the Garth home is reported; an overlay is unmounted" {
  "$garth" new t
  mkdir -p "$GARTH_HOME/worktrees/m" "$T/low" "$T/up" "$T/work"; echo x >"$T/low/x"
  local as='unshare -m'; is_root || as='unshare -Urm'
  call $as bash -c 'mount -t tmpfs none "$GARTH_HOME/scratch" && mount -t overlay -o lowerdir="$1/low",upperdir="$1/up",workdir="$1/work",userxattr none "$GARTH_HOME/worktrees/m" || exit 99
    "$2" doctor; "$2" doctor --repair; echo "code $?"; "$2" doctor; grep -c "$GARTH_HOME" /proc/self/mountinfo' bash "$T" "$garth"
  [[ $code != 99 ]] || skip "nothing can be mounted here"
  [[ $out == *"$GARTH_HOME/worktrees/m: something is mounted there (overlay)"*"would: unmount it"*"code 1"* ]] || complain
  [[ $(tail -n 1 <<<"$out") == 1 ]] || complain
  [[ $out == *"$GARTH_HOME/scratch: something is mounted there (tmpfs)"*"↳ umount '$GARTH_HOME/scratch'"* ]] || complain
  [[ -e $T/low/x ]] || complain
}

@test "T9 J10 doctor: a control group without a keeper" {
  is_root || return 0 # tried as root alone
  [[ -w /sys/fs/cgroup/pids ]] || return 0 # and where a control group can be made
  "$garth" new t; "$garth" run -d -t u -- sleep 1000
  group() { echo "/sys/fs/cgroup/pids/garth-$(stat -c %i "$GARTH_HOME")-$(ident "$1")"; }
  mkdir "$(group 1)" "$(group 2)"
  finds cgroup "$(group 1)" "the control group of a keeper that is gone"
  mends
  [[ ! -e $(group 1) && -e $(group 2) ]]
  rmdir "$(group 2)"
  "$garth" cancel u
}

@test "T9 G7 doctor: a break in the audit log is reported with its line, and never repaired" {
  "$garth" new t; "$garth" new u; "$garth" new v
  sed -i '2s/"task":"u"/"task":"x"/' "$GARTH_HOME/audit.jsonl"; sha256sum "$GARTH_HOME/audit.jsonl" >"$T/sum"
  for how in '' --repair; do
    call "$garth" doctor $how
    [[ $code == 1 ]] || complain
    [[ $out == *"▲ audit.jsonl: line 2 (seq 2) was changed"* ]] || complain
  done
  sha256sum -c --quiet "$T/sum"
}

@test "T9 ESCAPES 24 doctor: a full disk is reported, with the free space and what to do" {
  code=0; out=$(GARTH_HOME=$T/small/h on_small 30 "\"$garth\" doctor" 2>&1) || code=$?
  [[ $code != 99 ]] || skip "nothing can be mounted here"
  [[ $code == 1 ]] || complain
  [[ $out == *"▲ $T/small/h: the disk is nearly full: "*" bytes ("*" MB) are free"*"↳ garth cleanup"*"garth gc --empty-trash"* ]] || complain
}

@test "T9 ESCAPES 27 doctor: a missing repository is reported with its tasks" {
  "$garth" new t; inside t 'echo work >w'
  mv .git "$T/git"
  call "$garth" doctor --repair
  [[ $code == 1 ]] || complain
  [[ $out == *"▲ $R/.git: the repository is not there; its tasks: t"* ]] || complain
  mv "$T/git" .git
  silent
  [[ $(inside t cat w) == work ]]
}

@test "T9 ESCAPES 25 doctor: while tasks are made, run, discarded and restored, it finds nothing and does no harm" {
  local i pids=()
  for i in 1 2; do
    (for j in 1 2 3 4; do
      "$garth" run -q --task "t$i-$j" --backend $([[ $i == 1 ]] && echo overlay || echo worktree) -- sh -c "echo $i$j >w; git add w; git commit -qm w"
      [[ $j != 2 ]] || { "$garth" discard -D "t$i-$j"; "$garth" undo "t$i-$j"; "$garth" discard -D "t$i-$j"; }
    done) >/dev/null 2>&1 3>&- & pids+=($!)
  done
  while kill -0 "${pids[@]}" 2>/dev/null; do
    call "$garth" doctor --repair
    [[ $code == 0 ]] || complain "a finding where nothing is wrong"
    [[ $out != *▲* ]] || complain "a finding where nothing is wrong"
  done
  wait
  for i in 1 2; do for j in 1 3 4; do
    [[ $(git show "garth/t$i-$j:w") == "$i$j" ]]
    [[ $(inside "t$i-$j" cat w) == "$i$j" ]]
  done; done
  silent
}
