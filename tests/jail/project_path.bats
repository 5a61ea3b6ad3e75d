# Where a workspace is inside: at the project's own path, with nothing of the user's checkout beside it.
load helpers

# An agent knows the project's path from its memory, an editor or a client, and writes there. That must not be lost
# silently: either the path is the workspace, or the write fails.
@test "J1 J10: a write to the project's own path stays in the task, or is an error" {
  shared=$(fingerprint)
  for backend in overlay clone; do
    "$garth" new "t-$backend" --backend "$backend"
    inside "t-$backend" "echo hello >$R/made.txt; echo more >>$R/a.txt; mkdir $R/d; echo x >$R/d/x"
    [[ $(inside "t-$backend" 'pwd; cat made.txt; echo $GARTH_WORKSPACE') == "$R"$'\nhello\n'"$R" ]]
    diff=$("$garth" diff "t-$backend")
    [[ $diff == *made.txt* ]]
    [[ $diff == *a.txt* ]]
    [[ $diff == *d/x* ]]
    [[ $(inside "t-$backend" 'git status --porcelain') == $' M a.txt\n?? d/\n?? made.txt' ]]
    # there is nothing at the path of other backends' workspaces
    refused inside "t-$backend" "ls $GARTH_HOME/worktrees"
  done
  "$garth" new t-worktree --backend worktree
  refused inside t-worktree "echo hello >$R/made.txt"
  grep -q 'Read-only file system' "$T/refused"
  refused inside t-worktree "mkdir -p $R/deep/er"
  refused inside t-worktree "rm -rf $R/READ-ME-workspace-is-elsewhere.txt"
  [[ $(inside t-worktree "cat $R/READ-ME*; ls -A $R") == *"$GARTH_HOME/worktrees/t-worktree"*"READ-ME"* ]]
  inside t-worktree 'echo hello >made.txt; git add -A; git -c user.name=a -c user.email=a commit -qm made'
  [[ $(git log -1 --format=%s garth/t-worktree) == made ]]
  # the control: outside, the same writes succeed
  echo hello >"$R/made.txt"; rm "$R/made.txt"
  [[ $(fingerprint) == "$shared" ]]
  untouched
}

# Of the user's own checkout and repository nothing is there: no untracked file, no configuration, no objects.
@test "J2 J10: nothing of the user's checkout is visible beside the workspace" {
  echo "$SECRET" >"$R/untracked";
  git config garth.secret "$SECRET"
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    tells "$SECRET" cat "$R/untracked" "$R/.env" "$R/.git/config"
    silent "$SECRET" inside "t-$backend" "cat $R/untracked $R/.env $R/.git/config; grep -rs $SECRET $HOME"
    if [[ $backend != worktree ]]; then [[ $(inside "t-$backend" "ls -A $R | sort") == "$( (git ls-tree --name-only HEAD; echo .git) | sort)" ]]; fi
    refused inside "t-$backend" "ls $R/.git/objects/info/commit-graphs"
  done
  untouched
}

# The task is started in one of the user's linked worktrees, and still has the path of the project's main checkout.
@test "W1: a task that is started in a linked worktree has the project's path" {
  git worktree add -q "$HOME/linked" -b linked; echo l >"$HOME/linked/l"; git -C "$HOME/linked" add l; git -C "$HOME/linked" commit -qm linked
  cd "$HOME/linked"
  for backend in overlay clone; do
    "$garth" new "t-$backend" --backend "$backend" --base linked
    [[ $(inside "t-$backend" 'pwd; cat l') == "$R"$'\nl' ]]
  done
}

# here DIR: with a repository there, every backend works: status, a commit that is published, a second start.
here() {
  local repo=$1 want=$2 backend
  mkdir -p "$repo" && git clone -q "$R" "$repo" && cd "$repo" && echo "$SECRET" >"$repo/.env" || return 1
  for backend in overlay worktree clone; do
    "$garth" new t --backend "$backend" || return 1
    case $backend:$want in
    worktree:* | *:no) [[ $(inside t pwd) == "$GARTH_HOME/worktrees/t"?(@*) ]] || { echo "at $(inside t pwd)"; return 1; } ;;
    *) [[ $(inside t pwd) == "$repo" ]] || { echo "at $(inside t pwd), not $repo"; return 1; } ;;
    esac
    inside t 'test -z "$(git status --porcelain 2>&1)" && echo 1 >new && git add new && git -c user.name=a -c user.email=a commit -qm "in place"' || return 1
    [[ $(inside t 'cat new; git log -1 --format=%s; test -z "$(git fsck 2>&1 | grep -i missing)" && git --version >/dev/null && sh -c "ls /usr/bin/env"') == $'1\nin place\n/usr/bin/env' ]] || return 1
    silent "$SECRET" inside t "grep -rs $SECRET $repo $HOME" || return 1
    [[ $(git log -1 --format=%s garth/t) == "in place" && $(<.env) == "$SECRET" && ! -e new ]] || return 1
    "$garth" discard -fD t || return 1
  done
  cd "$R"
}

@test "W1 J10: projects in all kinds of places" {
  mkdir -p "$HOME/.cargo/bin" "$HOME/.local/share/x"; echo t >"$HOME/.cargo/bin/tool"
  for place in "$T/else where/app" "$HOME/.cargo/git/app" "$HOME/.local/bin/app" "$HOME/.local/share/x/y/app" "$HOME/.garth-not/app"; do
    here "$place" yes || { echo "$place"; false; }
    # the tools around it are there
    (cd "$place" && "$garth" new c && [[ $(inside c "cat $HOME/.cargo/bin/tool") == t ]] && "$garth" discard c)
    rm -rf "$place"
  done
}

@test "W1 J10: projects in the system's directories" {
  # only root can make any there
  is_root || return 0
  for place in /opt /srv /usr/src /usr/local/src /mnt /home /root; do
    mkdir -p "$place"; base=$(mktemp -d "$place/gt.XXXXXX"); chmod 755 "$base"; code=0
    here "$base/app" yes || code=1
    rm -rf "$base"
    ((code == 0)) || { echo "$place"; false; }
  done
}

@test "W1 J10: if the project's path cannot be used, the workspace is in the Garth home" {
  # the home itself, and a directory that a log-in is copied to
  here "$HOME/.claude" no
  (cd "$HOME" && git init -q && printf '.garth\nsrc\n.env\n' >.gitignore && git add .gitignore && git commit -qm home)
  cd "$HOME"
  for backend in overlay worktree clone; do
    "$garth" new "h-$backend" --backend "$backend"
    [[ $(inside "h-$backend" 'pwd; echo ~; git status --porcelain; echo 1 >~/kept; cat ~/kept') == "$GARTH_HOME/worktrees/h-$backend"$'\n'"$HOME"$'\n1' ]]
  done
  [[ ! -e $HOME/kept ]]
  untouched
}

# What the agent made of its home before must not lead a mount elsewhere.
@test "6 J1 J10: links and files in the way of the project's path in the task's home" {
  "$garth" new t; "$garth" new w --backend worktree
  for task in t w; do
    inside "$task" true
    at="$GARTH_HOME/tasks/$(cd "$R" && "$garth" show "$task" --json | $python -c 'import json,sys; print(json.load(sys.stdin)["id"])')/home"
    mv "$at/src" "$at/other"; ln -s "$T/elsewhere" "$at/src"
    [[ $(inside "$task" 'git status --porcelain; cat a.txt') == one ]]
    inside "$task" "mv $HOME/src $HOME/moved && ln -s /tmp $HOME/src || true"
    [[ $(inside "$task" 'git status --porcelain; cat a.txt') == one ]]
    rm -rf "$at/src" "$at"/src.*; echo file >"$at/src"
    [[ $(inside "$task" 'git status --porcelain; cat a.txt') == one ]]
  done
  untouched
}

# /var/tmp is a link to /tmp inside, unless something is beneath it.
@test "W1 J10: a project, a home, a Garth home and an allowed directory beneath /var/tmp" {
  [[ $(cd "$R" && "$garth" new link && inside link 'readlink /var/tmp; echo 1 >/var/tmp/x; cat /tmp/x') == $'link\n/tmp\n1' ]]
  V=$(mktemp -d /var/tmp/gt.XXXXXX); chmod 755 "$V"
  beneath_var_tmp >"$T/log-here" 2>&1 3>&- && code=0 || code=$?
  chmod -R u+rwX "$V"; rm -rf "$V"
  ((code == 0)) || { cat "$T/log-here"; false; }
}

beneath_var_tmp() {
  here "$V/app" yes || return 1
  (export GARTH_HOME=$V/garth; here "$V/second" yes) || return 1
  mkdir -p "$V/home" && cp "$HOME/.gitconfig" "$V/home/" || return 1
  (export HOME=$V/home GARTH_HOME=$V/home/.garth XDG_CONFIG_HOME=$V/home/.config; here "$V/home/app" yes &&
    cd "$V/home/app" && "$garth" new t && [[ $(inside t 'echo 1 >/var/tmp/x; cat /tmp/x; echo $HOME; echo 2 >~/kept; cat ~/kept') == $'1\n'"$V/home"$'\n2' ]]) || return 1
  # what is allowed there is there
  mkdir "$V/data"; echo data >"$V/data/f"
  printf 'jail:\n  allow_read: [%s]\n' "$V/data" | configure
  cd "$R" && "$garth" new d && [[ $(inside d "cat $V/data/f") == data ]]
}
