load helpers
# A rollback moves whole ignored directories, and does not copy them: workspace/aside.h. A task that is stopped.
backends=(overlay worktree clone)

# fill TASK: ignored directories at two depths, one that nobody may write in, and work beside them.
fill() { inside "$1" 'for d in 1 2 3 4; do mkdir -p ignored/p$d; for i in 1 2 3 4 5 6 7 8 9 10; do echo $d.$i >ignored/p$d/$i; done; done
  ln -s ../a.txt ignored/link; mkdir -p dir/ignored/x; echo deep >dir/ignored/x/f; chmod 555 dir/ignored; echo un >un; echo more >>a.txt'; }
# all_of TASK: every file of the workspace with its content, mode and inode, as the host sees what was moved.
all_of() { inside "$1" 'find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; find . -path ./.git -prune -o -printf "%P %y %m %l\n" | sort'; }
inodes() { inside "$1" 'ls -id ignored ignored/p1 ignored/p3/7 dir/ignored dir/ignored/x/f | sed "s/^ *//"'; }
place() { printf '%s' "$GARTH_HOME/tasks/$(field "$1" id)/snapshots"; }
# No move is pending any more.
settled() { [[ -z $(ls "$(place "$1")" | grep -E '(^|\.)aside$|\.(back|again|part)$') ]] || complain "$(ls "$(place "$1")")"; }
at_start() { [[ $(inside "$1" 'ls -A | grep -v "^.git$"; cat a.txt; ls dir') == $'.gitignore\na.txt\ndir\nlink\nrun.sh\none\nb.txt\nsub' ]] || complain "$(inside "$1" 'ls -AR; cat a.txt')"; }

@test "T3 aside: a rollback and its undo move ignored directories, with every backend" {
  local b t before nodes
  for b in "${backends[@]}"; do
    t=t-$b; "$garth" new $t --backend $b; fill $t
    before=$(all_of $t) nodes=$(inodes $t)
    "$garth" rollback $t --full
    at_start $t; settled $t
    [[ $(stat -c %a "$(place $t)"/2.kept/*/x/..) == 555 ]] || complain "mode"
    "$garth" undo $t
    [[ $(all_of $t) == "$before" && $(inodes $t) == "$nodes" ]] || complain "$b: $(diff <(echo "$before") <(all_of $t)) $(inodes $t) was $nodes"
    settled $t
    # also right after another command, whose keeper is about to exit
    "$garth" snapshot $t >/dev/null; "$garth" rollback $t --full; "$garth" snapshot $t >/dev/null; "$garth" undo $t
    [[ $(inodes $t) == "$nodes" ]] || complain "$b: copied"
    # and once more, with other directories there by then
    inside $t 'chmod 755 dir/ignored; rm -r dir/ignored; echo later >ignored/later'
    "$garth" rollback $t --full; at_start $t
    inside $t 'mkdir ignored; echo other >ignored/other'
    "$garth" undo $t
    [[ $(inside $t 'cat ignored/later ignored/p3/7; ls ignored/other 2>&1') == $'later\n3.7\n'*'No such file'* ]] || complain "$b"
    settled $t
  done
}

@test "T3 aside: a rollback to a numbered snapshot copies, and works any number of times" {
  local b t before n
  for b in "${backends[@]}"; do
    t=t-$b; "$garth" new $t --backend $b; fill $t
    before=$(all_of $t)
    call "$garth" rollback $t --full --json; n=$(json 'd["snapshot"]' <<<"$out")
    fails 3 "snapshot $n has 'ignored' only as a whole" "$garth" rollback $t --file ignored/p1/1 --from $n
    [[ $(hint) == "garth rollback $t --to-snapshot $n" ]]
    for i in 1 2; do
      "$garth" rollback $t --to-snapshot $n
      [[ $(all_of $t) == "$before" ]] || complain "$b $i: $(diff <(echo "$before") <(all_of $t))"
      settled $t
      inside $t 'echo changed >ignored/p1/1; rm -r ignored/p2'
    done
    # what undo takes out of a snapshot is not in it any more, and that is said
    "$garth" rollback $t --full; n=$("$garth" show $t --json | json 'd["snapshots"][-1]["snapshot"]')
    "$garth" undo $t
    call "$garth" rollback $t --to-snapshot $n; [[ $code == 0 && $err == *"garth undo took them out"* ]] || complain
    "$garth" undo $t; [[ $(inside $t 'cat ignored/p1/1') == changed ]] || complain "$b"
  done
}

@test "T3 aside: tracked files in an ignored directory are not moved with it" {
  local b t
  for b in "${backends[@]}"; do
    t=t-$b; "$garth" new $t --backend $b
    inside $t 'mkdir -p ignored/in ignored/out; echo kept >ignored/in/kept; echo loose >ignored/in/loose; echo o >ignored/out/o; git add -f ignored/in/kept; git commit -qm forced'
    n=$("$garth" snapshot $t)
    inside $t 'echo 2 >>ignored/in/kept'
    "$garth" rollback $t --to-snapshot $n
    [[ $(inside $t 'cat ignored/in/kept ignored/in/loose ignored/out/o; git status --porcelain') == $'kept\nloose\no' ]] || complain "$b: $(inside $t 'ls -R ignored; git status --porcelain')"
    "$garth" undo $t; [[ $(inside $t 'cat ignored/in/kept ignored/in/loose ignored/out/o') == $'kept\n2\nloose\no' ]] || complain "$b"
    "$garth" rollback $t --full; [[ $(inside $t 'ls') == $'a.txt\ndir\nlink\nrun.sh' ]] || complain "$b"
    "$garth" undo $t; [[ $(inside $t 'cat ignored/in/kept ignored/in/loose ignored/out/o') == $'kept\n2\nloose\no' ]] || complain "$b"
  done
  # in the base, and not at the tip: it still exists below the overlay
  mkdir -p ignored; echo base >ignored/base; git add -f ignored/base; git commit -qm base
  "$garth" new u; inside u 'git rm -q ignored/base; git commit -qm gone; mkdir -p ignored; echo mine >ignored/mine'
  "$garth" rollback u --full; [[ $(inside u 'ls ignored; cat ignored/base') == $'base\nbase' ]] || complain "$(inside u 'ls -R')"
  "$garth" undo u; [[ $(inside u 'ls ignored') == mine ]] || complain "$(inside u 'ls -R')"
}

@test "T3 aside: directories that the base has and the task removed are moved with the ignored files in them" {
  "$garth" new t
  inside t 'rm -r dir; mkdir -p dir/ignored; echo i >dir/ignored/i; ls -id dir/ignored' >"$T/inode"
  "$garth" rollback t --full; [[ $(inside t 'cat dir/b.txt dir/sub/c.txt; ls dir') == $'two\nthree\nb.txt\nsub' ]]
  "$garth" undo t
  [[ $(inside t 'find dir | sort; cat dir/ignored/i; ls -id dir/ignored') == $'dir\ndir/ignored\ndir/ignored/i\ni\n'"$(<"$T/inode")" ]] || complain "$(inside t 'find dir')"
  # the task's own ignore rules, and a repository that git does not know
  inside t 'mkdir cache; echo "*" >cache/.gitignore; mkdir cache/deep; echo d >cache/deep/d; mkdir -p ignored/repo; cd ignored/repo; /usr/bin/git init -q; echo r >r'
  "$garth" rollback t --full; [[ $(inside t 'ls') == $'a.txt\ndir\nlink\nrun.sh' ]] || complain "$(inside t 'ls')"
  "$garth" undo t; [[ $(inside t 'cat cache/deep/d ignored/repo/r; ls ignored/repo/.git/HEAD') == $'d\nr\nignored/repo/.git/HEAD' ]] || complain
}

@test "T3 ESCAPES 23 aside: killed at each step of a rollback and of its undo, every file exists once and is restored" {
  has_faults || return 0
  local b step before
  for b in overlay worktree; do
    "$garth" new $b --backend $b; fill $b; before=$(all_of $b)
    for step in aside-listed aside-moved rollback-snapshot aside-numbered rollback-recorded rollback-inside aside-kept; do
      eventually not keeper_of $b
      GARTH_FAULT=$step call "$garth" rollback $b --full
      [[ $code != 0 ]] || complain "$b: did not die at $step"
      case $step in
      # not recorded: it has not happened, and the next command, or doctor, moves everything back
      aside-listed | aside-moved)
        [[ $("$garth" doctor --json | json '[f["kind"] for f in d["findings"]]') == '["aside"]' ]] || complain "$step: $("$garth" doctor --json)"
        if [[ $b == overlay ]]; then "$garth" doctor --repair >/dev/null; fi ;;&
      aside-listed | aside-moved | rollback-snapshot | aside-numbered)
        [[ $(all_of $b) == "$before" ]] || complain "$b $step: $(diff <(echo "$before") <(all_of $b))"
        settled $b
        "$garth" rollback $b --full ;;
      esac
      [[ $step == rollback-recorded ]] || at_start $b || complain "$b $step"
      "$garth" undo $b
      [[ $(all_of $b) == "$before" ]] || complain "$b $step undone: $(diff <(echo "$before") <(all_of $b))"
      settled $b
    done
    for step in aside-listed aside-moved aside-numbered rollback-recorded rollback-inside aside-kept aside-wanted aside-settle aside-returned; do
      "$garth" rollback $b --full; inside $b 'mkdir ignored; echo between >ignored/between'
      eventually not keeper_of $b
      GARTH_FAULT=$step call "$garth" undo $b
      [[ $code != 0 ]] || complain "$b: undo did not die at $step"
      [[ $("$garth" doctor --repair 2>&1) != *"cannot"* ]] || complain "$step: $("$garth" doctor)"
      # the last step undoes it, and only the moves are left to do
      case $step in
      aside-wanted | aside-settle | aside-returned) [[ -z $("$garth" undo --list $b) ]] || complain "$b $step: $("$garth" undo --list $b)" ;;
      *) call "$garth" undo $b; [[ $code == 0 ]] || complain "$b $step: undo" ;;
      esac
      [[ $(all_of $b) == "$before" ]] || complain "$b $step of undo: $(diff <(echo "$before") <(all_of $b))"
      settled $b
    done
    "$garth" rollback $b --full
    n=$("$garth" show $b --json | json 'd["snapshots"][-1]["snapshot"]')
    for step in aside-wanted aside-copied aside-returned; do
      eventually not keeper_of $b
      GARTH_FAULT=$step call "$garth" rollback $b --to-snapshot $n
      [[ $code != 0 && $(all_of $b) == "$before" ]] || complain "$b $step of a copy: $(diff <(echo "$before") <(all_of $b))"
      settled $b
      call "$garth" rollback $b --to-snapshot $n
      [[ $code == 0 && $(all_of $b) == "$before" ]] || complain "$b after $step of a copy"
    done
    "$garth" discard -fD $b
  done
}

@test "T3 ESCAPES 26 aside: files and directories without permissions are copied too" {
  "$garth" new t; fill t
  inside t 'chmod 0 ignored/p1/1 ignored/p2'
  call "$garth" rollback t --full --json; n=$(json 'd["snapshot"]' <<<"$out")
  call "$garth" rollback t --to-snapshot $n
  [[ $code == 0 ]] || complain
  [[ $err != *"could not be copied"* ]] || complain
  [[ $(inside t 'stat -c "%a %n" ignored/p1/1 ignored/p2; chmod 700 ignored/p1/1 ignored/p2; cat ignored/p1/1 ignored/p2/3') == $'0 ignored/p1/1\n0 ignored/p2\n1.1\n2.3' ]] || complain "$(inside t 'ls -lR ignored')"
  settled t
}

@test "T3 ESCAPES 23 aside: a file in the way is never overwritten, and is named" {
  has_faults || return 0
  "$garth" new t; fill t
  "$garth" rollback t --full
  eventually not keeper_of t
  GARTH_FAULT=aside-settle call "$garth" undo t
  upper=$GARTH_HOME/tasks/$(field t id)/upper
  rmdir "$upper/ignored"; echo file >"$upper/ignored"
  call inside t 'cat ignored; cat dir/ignored/x/f'
  [[ $code == 0 && $out == $'file\ndeep' && $err == *"'ignored' of task 't' cannot go back"*"something else is in its place"* ]] || complain
  [[ $(cat "$(place t)"/*.back/0/p3/7 "$(place t)"/*.back/1/p3/7 2>/dev/null) == 3.7 ]] || complain "$(ls -R "$(place t)")"
  inside t 'rm ignored'; call inside t 'cat ignored/p3/7'; [[ $out == 3.7 ]] || complain
}

@test "T3 ESCAPES 5 aside: a link in the place of a directory is not followed" {
  # the files belong to the agent, which changes them in between
  has_faults || return 0
  local b root
  mkdir "$T/outside"; echo mine >"$T/outside/mine"
  for b in overlay worktree; do
    "$garth" new t --backend $b; fill t; inside t 'chmod 755 dir/ignored'
    if [[ $b == overlay ]]; then root=$GARTH_HOME/tasks/$(field t id)/upper; else root=$GARTH_HOME/worktrees/t; fi
    "$garth" rollback t --full
    eventually not keeper_of t
    GARTH_FAULT=aside-settle call "$garth" undo t
    rm -r "$root/dir"; ln -s "$T/outside" "$root/dir"; rm -r "$root/ignored"; ln -s "$T/outside" "$root/ignored"
    call inside t true
    [[ $code == 0 && $err == *"'ignored' of task"*"cannot go back"* && $err == *"'dir/ignored' of task"*"cannot go back"* ]] || complain
    [[ $(ls -A "$T/outside") == mine && $(cat "$(place t)"/*.back/*/x/f) == deep ]] || complain "$(ls -R "$T/outside")"
    # taking them out does not follow one either
    "$garth" discard -fD t; "$garth" new t --backend $b
    if [[ $b == overlay ]]; then root=$GARTH_HOME/tasks/$(field t id)/upper; else root=$GARTH_HOME/worktrees/t; fi
    inside t 'mkdir ignored2'; ln -s "$T/outside" "$root/ignored"
    "$garth" rollback t --full; [[ $(ls -A "$T/outside") == mine ]] || complain
    "$garth" undo t; [[ $(readlink "$root/ignored") == "$T/outside" ]] || complain
    "$garth" discard -fD t
  done
}

@test "T3 aside: in a running task a rollback copies; directories set aside are restored when it is stopped" {
  "$garth" new t; fill t; before=$(all_of t)
  "$garth" rollback t --full
  inside t 'sleep 1000' & exec=$!
  eventually keeper_of t >/dev/null
  fails 4 "can come back only when task 't' is stopped" "$garth" undo t
  [[ $(hint) == "garth cancel t" ]]
  inside t 'mkdir ignored; echo r >ignored/r'; nodes=$(inside t 'ls -id ignored')
  "$garth" rollback t --full; [[ $(inside t 'ls') == $'a.txt\ndir\nlink\nrun.sh' ]] || complain
  "$garth" undo t; [[ $(inside t 'cat ignored/r; ls -id ignored') != *"$nodes" && $(inside t 'cat ignored/r') == r ]] || complain
  "$garth" cancel t; wait $exec || true
  "$garth" undo t; [[ $(all_of t) == "$before" ]] || complain "$(diff <(echo "$before") <(all_of t))"
}

@test "T3 aside: what is set aside counts as the task's, and goes to the trash and is restored with it" {
  "$garth" new t; fill t; inside t 'dd if=/dev/zero of=ignored/big bs=1M count=20 status=none'; before=$(all_of t)
  "$garth" rollback t --full
  (($("$garth" show t --json | json 'd["disk"]') > 20000000)) || complain "$("$garth" show t --json)"
  "$garth" discard -fD t; "$garth" undo t
  "$garth" undo t; [[ $(all_of t) == "$before" ]] || complain
  "$garth" rollback t --full; "$garth" archive t; "$garth" undo t
  "$garth" undo t; [[ $(all_of t) == "$before" ]] || complain
}

@test "T3 aside: a large state comes into a running task as a pack, not as a file for each object" {
  "$garth" run -d -t t -- sleep 1000
  inside t 'mkdir ignored; cd ignored; i=0; while [ $i -lt 3000 ]; do echo $i >$i; i=$((i+1)); done; : >empty'
  "$garth" rollback t --full; inside t 'test ! -e ignored'
  "$garth" undo t; [[ $(inside t 'ls ignored | wc -l; cat ignored/2999; stat -c %s ignored/empty') == $'3001\n2999\n0' ]] || complain
  (($(inside t 'git count-objects | cut -d" " -f1') < 500)) || complain "$(inside t 'git count-objects -v')"
}
