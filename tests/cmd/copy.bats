load helpers

# What the original has in the repository and on the disk, which a copy must leave alone.
of_the_original() {
  git for-each-ref; git worktree list; git status --porcelain
  (cd "$GARTH_HOME" && find worktrees tasks trash archives merges -print 2>/dev/null | sort; sqlite3 garth.db 'SELECT id, name, state, removed FROM task ORDER BY id')
}
# Like `cp -r`, which cannot read the work directory of an overlay.
copy() { cp -a "$1" "$2" 2>/dev/null || [[ -f $2/garth.db ]]; }
tasks_of() { GARTH_HOME=$1 "$garth" ls --json | json '" ".join(sorted(t["name"] for t in d["tasks"]))'; }

# A home with a task of each kind: merged and kept, with work, discarded, archived, half made.
fill() {
  local b
  for b in overlay worktree clone; do "$garth" new $b --backend $b; inside $b "echo $b >$b; git add $b; git commit -qm $b"; done
  "$garth" new m; inside m 'echo m >m; git add m; git commit -qm m'; "$garth" merge --keep m
  "$garth" new d; inside d 'echo d >d'; "$garth" discard -f d
  "$garth" new p; inside p 'echo p >p'; "$garth" archive p >/dev/null
  "$garth" new e; "$garth" merge overlay
}

@test "T9 ESCAPES 26 copied home: a copy can be read, and changes nothing of the original" {
  local c=$T/copy before v
  fill; sqlite3 "$GARTH_HOME/garth.db" "UPDATE task SET state = 'discarding' WHERE name = 'e'"
  copy "$GARTH_HOME" "$c"; before=$(of_the_original)
  sqlite3 "$c/garth.db" "UPDATE task SET changed = 1, created = 1"
  export ORIGINAL=$GARTH_HOME
  for v in 'ls' 'ls --json' 'show worktree' 'show m' 'diff clone' 'diff worktree --stat' 'path worktree' 'audit' 'audit --verify' 'config' 'undo --list' "export worktree $T/exported" 'doctor' 'doctor --repair' \
    'cleanup --all-inactive' 'cleanup --merged' 'cleanup --older-than 0s' 'discard -fD worktree' 'merge worktree' 'merge clone' 'gc' 'gc --empty-trash' 'undo' 'undo d' 'undo p' 'archive worktree' 'new x' 'run -- true' \
    'exec worktree -- touch x' 'publish clone' 'sync worktree' 'push clone' 'rollback worktree --full' 'snapshot worktree' 'serve --once' 'resume worktree' 'allow worktree x'; do
    GARTH_HOME=$c call "$garth" $v
    [[ $(of_the_original) == "$before" ]] || complain "garth $v changed the original" "$(diff <(echo "$before") <(of_the_original))"
    case $v in
    ls* | show* | path* | diff* | audit* | config* | export* | 'undo --list') [[ $code == 0 ]] || complain "garth $v" ;;
    doctor*)
      [[ $code == 1 ]] || complain "garth $v"
      [[ $out == *"this Garth home is a copy of '$GARTH_HOME'"*"rm -r '$c'"* ]] || complain "garth $v"
      ;;
    *)
      [[ $code == 4 ]] || complain "garth $v"
      [[ $err == *"the Garth home '$c' is a copy of '$GARTH_HOME'"* ]] || complain "garth $v"
      [[ $(hint) == 'garth doctor' ]] || complain "garth $v"
      ;;
    esac
  done
  # the original is unchanged and works
  "$garth" cleanup --merged; "$garth" discard -D worktree; "$garth" doctor --repair >/dev/null; "$garth" doctor >/dev/null
}

@test "T9 copied home: a moved home works, with all that it has; so does a copy after the original is gone" {
  "$garth" new t; inside t 'echo t >t; git add t; git commit -qm t'
  mv "$GARTH_HOME" "$T/moved"; [[ $(tasks_of "$T/moved") == t ]]; GARTH_HOME=$T/moved "$garth" merge t
  copy "$T/moved" "$T/again"; GARTH_HOME=$T/again fails 4 'is a copy' "$garth" undo t
  chmod -R u+rwX "$T/moved"; rm -rf "$T/moved"; GARTH_HOME=$T/again "$garth" undo t; [[ $(tasks_of "$T/again") == t ]]
  # another home that was made in the old place is not the original
  GARTH_HOME=$T/moved "$garth" ls; mv "$T/again" "$T/third"; GARTH_HOME=$T/moved "$garth" new other; GARTH_HOME=$T/third "$garth" discard -D t
  # by another name it is the same home
  ln -s "$T/third" "$T/link"; GARTH_HOME=$T/link "$garth" new u; GARTH_HOME=$T/third "$garth" discard u
}

@test "T9 copied home: a copy of an earlier version's home is recognised by the paths of its workspaces" {
  "$garth" new t --backend worktree; inside t 'echo t >t; git add t; git commit -qm t'
  rm "$GARTH_HOME/identity"; copy "$GARTH_HOME" "$T/copy"; copy "$GARTH_HOME" "$T/second"
  GARTH_HOME=$T/copy fails 4 "is a copy of '$GARTH_HOME'" "$garth" discard -fD t
  "$garth" ls; [[ -s $GARTH_HOME/identity ]]
  GARTH_HOME=$T/copy fails 4 "is a copy of '$GARTH_HOME'" "$garth" cleanup --force-all
  GARTH_HOME=$T/second fails 4 "is a copy of '$GARTH_HOME'" "$garth" cleanup --force-all
  [[ -n $(git for-each-ref refs/heads/garth/t) ]]
  [[ -d $GARTH_HOME/worktrees/t ]]
  "$garth" discard -fD t
}
