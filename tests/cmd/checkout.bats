# The user's own checkout is at the path that tasks have inside: nothing that Garth does to a task may touch it.
load helpers

# Every byte, mode, owner and time of the checkout, except what git stores of Garth's own refs and objects.
everything() {
  (cd "$R" && find . -path ./.git -prune -o -printf '%p %y %m %U %G %s %T@ %C@ %i %l\n' | sort; find . -path ./.git -prune -o -type f -exec sha256sum {} + | sort
    sha256sum .git/HEAD .git/config .git/index; git for-each-ref --format='%(refname) %(objectname)' refs/heads refs/tags | grep -v /garth/)
}

@test "W1 ESCAPES 26 checkout: no command on a task changes the user's checkout, with any backend" {
  echo secret >.env; mkdir -p ignored build/x; echo o >ignored/o; echo u >build/x/u; echo mine >>a.txt; chmod 640 run.sh; mkfifo pipe
  git update-index --refresh -q || true
  before=$(everything)
  same() { [[ $(everything) == "$before" ]] || { diff <(echo "$before") <(everything); echo "after: $*"; return 1; }; }
  for b in overlay worktree clone; do
    "$garth" new t --backend $b; same new
    "$garth" exec t -- sh -c 'echo 1 >n; rm dir/b.txt; chmod 600 run.sh; echo x >.env; rm -rf build; chmod 700 . 2>/dev/null || true'; same exec
    "$garth" run --task r --backend $b -- sh -c 'echo 2 >m; git add -A; git commit -qm m' || true; same run
    "$garth" run -d --task k --backend $b -- sh -c 'echo 3 >l; sleep 1000' >/dev/null
    until "$garth" exec k -- test -e l; do :; done
    kill -9 "$(keeper_of k)"
    eventually eval '[[ $(state_of k) == interrupted ]]'
    same kill
    "$garth" snapshot t; "$garth" rollback t --full; same rollback
    "$garth" diff t >/dev/null; "$garth" show t >/dev/null; "$garth" export t "$T/out-$b"; same export
    "$garth" doctor >/dev/null || true; "$garth" doctor --repair >/dev/null || true; same doctor
    # what is missing on the host is made again there
    chmod -R u+rwx "$GARTH_HOME/tasks/$(field t id)"; for lost in upper work tree git; do rm -rf "$GARTH_HOME/tasks/$(field t id)/$lost"; done; chmod -R u+rwx "$GARTH_HOME/worktrees"; rm -rf "$GARTH_HOME/worktrees/t"
    "$garth" doctor --repair >/dev/null || true; same "doctor, lost"
    [[ $(inside t cat a.txt) == one ]]
    "$garth" archive t; same archive
    "$garth" undo t; same undo-archive
    [[ $(inside t cat a.txt) == one ]]
    "$garth" discard -fD t; same discard
    "$garth" undo t; same undo
    [[ $(inside t cat a.txt) == one ]]
    "$garth" cleanup --all-inactive >/dev/null; same cleanup
    "$garth" gc >/dev/null; "$garth" gc --empty-trash >/dev/null; same gc
    for t in t r k; do "$garth" discard -fD $t 2>/dev/null || true; done; same end
  done
}

@test "W1 ESCAPES 23 checkout: a command that is killed at any step does not change the user's checkout" {
  echo secret >.env; echo mine >>a.txt; git update-index --refresh -q || true
  before=$(everything)
  same() { [[ $(everything) == "$before" ]] || { diff <(echo "$before") <(everything); echo "after: $*"; return 1; }; }
  for b in overlay clone; do
    for step in create-reserved create-refs create-base create-clone create-index; do
      GARTH_FAULT=$step "$garth" new t --backend $b >/dev/null 2>&1 || true; same "$b $step"
      "$garth" doctor --repair >/dev/null 2>&1 || true; same "$b $step, doctor"
      "$garth" discard -fD t 2>/dev/null || true; same "$b $step, discard"
    done
    "$garth" new t --backend $b; inside t 'echo 1 >n'
    for step in discard-workspace undo-moved undo-refs undo-clone undo-placed doctor-cleared doctor-placed doctor-filled; do
      GARTH_FAULT=$step "$garth" discard -fD t >/dev/null 2>&1 || true; same "$b $step, discard"
      GARTH_FAULT=$step "$garth" undo t >/dev/null 2>&1 || true; same "$b $step, undo"
      GARTH_FAULT=$step "$garth" doctor --repair >/dev/null 2>&1 || true; same "$b $step, doctor"
      "$garth" undo t >/dev/null 2>&1 || true; same "$b $step, end"
    done
    "$garth" discard -fD t >/dev/null 2>&1 || true; same "$b end"
  done
}

# Tasks of earlier versions have their workspace at worktrees/<task> inside, and the borrowed objects at the host's path.
@test "W1 ESCAPES 30 checkout: tasks made by earlier versions keep their place" {
  before=$(everything)
  for b in overlay worktree clone; do
    "$garth" new t --backend $b; inside t 'echo work >w'
    id=$(field t id) old=$GARTH_HOME/worktrees/t
    python3 - "$GARTH_HOME/garth.db" "$old" <<'P'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1]); db.execute("UPDATE task SET layout = 0, workspace = ?", (sys.argv[2],)); db.commit()
P
    if [[ $b != clone ]]; then echo "$R/.git/objects" >"$GARTH_HOME/tasks/$id/git/objects/info/alternates"; fi
    [[ $(inside t 'pwd; cat w a.txt; git status --porcelain; git log --oneline 2>&1 | wc -l') == "$old"$'\nwork\none\n?? w\n1' ]]
    inside t 'git add w; git commit -qm work'
    [[ $(git log -1 --format=%s garth/t) == work ]]
    call inside t "echo lost >$R/lost"
    [[ $code != 0 ]] || complain
    [[ $err == *"Read-only file system"* ]] || complain
    "$garth" discard -fD t
    "$garth" undo t
    [[ $(inside t 'pwd; cat w; git status --porcelain') == "$old"$'\nwork' ]]
    "$garth" archive t
    "$garth" undo t
    [[ $(inside t 'pwd; cat w; git status --porcelain') == "$old"$'\nwork' ]]
    "$garth" discard -fD t
    git branch -q -D garth/t 2>/dev/null || true
    [[ $(everything) == "$before" ]]
  done
}
