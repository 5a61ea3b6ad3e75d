# ESCAPES 1 to 5: ways to files outside. See swap.bats for 6.
load helpers

secrets() { printf '%s\n' "$HOME/notes.txt" "$HOME/.ssh/id_test" "$R/.env" "$T/elsewhere/secret"; }

# The attack names files of the user, the checkout and other places by absolute path, to read and to write them.
@test "1 J1 J2 J10: absolute paths to home, checkout and elsewhere" {
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    while read -r file; do
      walled "t-$backend" "cat $file"
      walled "t-$backend" "test -e $file"
    done < <(secrets)
    outside sh -c "echo more >>$T/elsewhere/new"
    rm "$T/elsewhere/new"
    refused inside "t-$backend" "echo more >>$T/elsewhere/new"
    # the home inside is a different one: what is written there does not appear outside
    inside "t-$backend" "mkdir -p $HOME/.ssh; echo evil >$HOME/.ssh/id_test; echo evil >$HOME/notes.txt"
    untouched
  done
}

# The attack climbs out of the workspace with "..".
@test "1 J1 J2: relative paths with .. from the workspace" {
  mkdir "$GARTH_HOME" "$GARTH_HOME/worktrees"; chmod 700 "$GARTH_HOME"
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    for up in ../../../notes.txt dir/../../../../notes.txt ../../../.ssh/id_test ../../../src/app/.env \
      ../../../../../../../../../../../../../../$T/elsewhere/secret; do
      mkdir -p "$GARTH_HOME/worktrees/control/dir"
      tells "$SECRET" sh -c "cd $GARTH_HOME/worktrees/control && cat $up"
      refused inside "t-$backend" "cat $up"
      refused inside "t-$backend" "cd dir && cat ../$up"
    done
    # and out of the root, above which the old root would be if it had stayed mounted
    tells "$SECRET" cat "/..$T/elsewhere/secret"
    refused inside "t-$backend" "cat /..$T/elsewhere/secret || cat /../..$T/elsewhere/secret || { cd /; cat ..$T/elsewhere/secret; }"
    refused inside "t-$backend" 'test -e /../etc/shadow'
  done
  untouched
}

# The attack looks at what belongs to the machine and to Garth: shadow file, store, other tasks, control sockets.
@test "1 J2: system secrets and the Garth home" {
  "$garth" new other
  inside other "echo $SECRET >mine.txt"
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    # with the inside's user, the machine's names can be seen, and most files read
    for path in /etc/shadow /var/log /boot /sys/class /home /root /etc/ssh /etc/pam.d /etc/fstab /etc/hostname; do
      if [[ $path == /etc/shadow ]]; then outside test -s "$path"; fi
      # skip what this machine does not have
      outside test -e "$path" || continue
      # the directories above the user's home are there, and have nothing else in them
      [[ $HOME != "$path"/* ]] || continue
      refused inside "t-$backend" "test -e $path"
      refused inside "t-$backend" "ls -d $path/. || cat $path"
    done
    # the content of the accounts, if the control may read it
    if [[ -r /etc/shadow ]]; then
      silent "$(head -n 1 /etc/shadow)" inside "t-$backend" 'cat /etc/shadow* /etc/passwd /etc/group; getent shadow; true'
    fi
    outside getent passwd daemon
    refused inside "t-$backend" 'getent passwd daemon || grep daemon /etc/passwd /etc/group'
    # of /etc nothing is there that Garth does not name; outside there is more
    allowed=' alternatives ca-certificates crypto-policies fonts java java-11-openjdk java-17-openjdk java-21-openjdk ld.so.conf.d maven perl pki profile.d
      python3 python3.11 python3.12 python3.13 ssl terminfo vim bash.bashrc ca-certificates.conf debian_version gai.conf host.conf hosts inputrc ld.so.cache
      ld.so.conf locale.alias localtime magic mime.types nsswitch.conf os-release profile protocols redhat-release services shells timezone passwd group gitconfig zsh zprofile fish
      netconfig networks rpc ethertypes xattr.conf lsb-release alpine-release arch-release centos-release fedora-release system-release dpkg locale.conf locale.gen
      bash_completion.d DIR_COLORS emacs nanorc screenrc tmux.conf groff man_db.conf manpath.config papersize login.defs magic.mime mailcap mke2fs.conf sgml xml
      fpc.cfg gdb gnucobol gprofng.rc mono R texmf dictionaries-common drirc ghostscript glvnd gtk-2.0 gtk-3.0 OpenCL vulkan machine-id
      claude-code codex opencode '
    more() { for name in $1; do [[ $allowed == *[[:space:]]$name[[:space:]]* || $name =~ ^(ld-musl-|fpc-|java|octave|php|python3|ImageMagick-) ]] || echo "$name"; done; }
    [[ -n $(more "$(outside ls -A /etc)") ]]
    [[ -z $(more "$(inside "t-$backend" 'ls -A /etc')") ]] || { more "$(inside "t-$backend" 'ls -A /etc')"; false; }
    # outside, the host's user sees the Garth home and the repository
    for path in "$GARTH_HOME/garth.db" "$GARTH_HOME/tasks" "$GARTH_HOME/bases" "$GARTH_HOME/tasks/$(ident 1)/upper/mine.txt" "$R/.git/COMMIT_EDITMSG" "$R/.git/description" "$R/.git/logs/HEAD"; do
      [[ -r $path ]]
      refused inside "t-$backend" "ls -d $path/. || cat $path"
      refused inside "t-$backend" "test -e $path"
    done
    # not reachable, by name or by content
    tells "$SECRET" grep -rs "$SECRET" "$GARTH_HOME"
    silent "$SECRET" inside "t-$backend" "grep -rs $SECRET / --exclude-dir=proc --exclude-dir=usr --exclude-dir=opt --exclude-dir=dev"
  done
}

# The attack makes links in the workspace that lead outside: as a leaf, as a directory on the way, and by a chain.
@test "2 J1: symlinks used by the agent" {
  links='ln -sfn @/secret leaf; ln -sfn @ middle; ln -sfn leaf one; ln -sfn one two; ln -sfn two chain; ln -sfn /proc/self/root@/secret magic'
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    inside "t-$backend" "${links//@/$T/elsewhere}"
    outside sh -c "${links//@/$T/elsewhere}"
    for file in leaf middle/secret middle/dir/f chain magic; do
      tells "$SECRET" outside cat "$file"
      refused inside "t-$backend" "cat $file"
      refused inside "t-$backend" "test -e $file"
    done
    outside sh -c 'echo x >middle/new'; rm "$T/elsewhere/new"
    refused inside "t-$backend" 'echo x >middle/new'
    untouched
  done
}

# The attack leaves the links for trusted code that reads, compares, copies, counts and removes the workspace.
@test "2 J1 W2: symlinks used by trusted code" {
  for backend in "${backends[@]}"; do
    "$garth" new t --backend "$backend"
    inside t "ln -s $T/elsewhere/secret leaf; ln -s $T/elsewhere middle; ln -s ../../../../elsewhere relative
      ln -s leaf one; ln -s one chain; rm -r dir; ln -s $T/elsewhere/dir dir; rm a.txt; ln -s $T/elsewhere/secret a.txt
      rm .gitignore; ln -s $T/elsewhere/secret .gitignore; ln -s $T/elsewhere/secret .gitattributes; touch untracked
      ln -s $T/elsewhere \$HOME/out; ln -s $T/elsewhere /tmp/out; ln -s $T/elsewhere \$(git rev-parse --git-dir)/out"
    for command in "diff t" "diff t --stat" "diff t --json" "show t" "show t --json"; do
      # shellcheck disable=SC2086
      silent "$SECRET" "$garth" $command
    done
    "$garth" export t "$T/exported"
    # control: following the copied links leads to the sentinel
    for file in leaf chain a.txt dir/f middle/secret; do tells "$SECRET" cat "$T/exported/$file"; done
    silent "$SECRET" find "$T/exported" -type f -exec cat {} +
    [[ -L $T/exported/leaf ]]
    [[ -L $T/exported/dir ]]
    [[ -L $T/exported/middle ]]
    rm -r "$T/exported"
    host_commands t
    silent "$SECRET" cat "$T/answers"
    silent "$SECRET" find "$T/exported" -type f -exec cat {} +
    rm -r "$T/exported"
    untouched
  done
}

# The attack replaces what Garth mounts or writes at the next start (home, /tmp, the way to the workspace) by links.
@test "2 J1 J2: symlinks where the next start has its mount points" {
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    inside "t-$backend" "cd; mv .garth .was 2>/dev/null; ln -s $T/elsewhere .garth; mv src .src 2>/dev/null; ln -s $T/elsewhere src
      for d in .local .cargo .config .claude; do rm -rf \$d; ln -s $T/elsewhere \$d; done; ln -s $T/elsewhere/secret .claude.json
      cd /tmp; ln -s $T/elsewhere x; ln -s / root"
    inside "t-$backend" 'test -f a.txt && git status --porcelain && echo work >>a.txt'
    # a log-in comes in beneath links that the agent made
    mkdir -p "$HOME/.claude" "$HOME/.local/bin"
    echo login >"$HOME/.claude.json"; echo login >"$HOME/.claude/settings.json"
    inside "t-$backend" 'git diff --stat | grep -q a.txt'
    untouched
  done
}

# The attack makes a second name for a file outside, which then counts as one of the workspace.
@test "3 J1: hard links from outside" {
  "$garth" new t
  "$garth" new w --backend worktree
  for file in "$T/elsewhere/secret" "$HOME/notes.txt"; do
    outside ln "$file" "$T/open/linked"; rm "$T/open/linked"
    refused inside t "ln $file linked || ln -L $file /tmp/linked"
    refused inside w "ln $file linked || ln -L $file /tmp/linked"
  done
  # and between what is mounted of the task's own: the program that git starts, the shared objects
  outside ln "$R/a.txt" "$T/open/linked" || host_link=1
  object=$(cd "$R" && find .git/objects -type f | head -n 1)
  inside t "test -f /run/garth/objects/0/${object#.git/objects/}"
  refused inside t "ln /run/garth/objects/0/${object#.git/objects/} linked"
  refused inside t 'ln /run/garth/fsmonitor linked'
  [[ -z ${host_link-} ]] || is_root
}

# The attack makes device nodes: of the disk, and the one that is a whiteout for the overlay.
@test "3 J1 J10: mknod makes no device that can be used" {
  "$garth" new t
  "$garth" new w --backend worktree
  # Only root may make devices. For a user the control is the one device that is not (0:0): in the same place, by the same
  # program, it can be made, so what is refused below is the device and nothing else.
  if is_root; then
    mknod "$T/open/node" c 1 3
    rm "$T/open/node"
  else
    mknod "$T/open/node" c 0 0
    rm "$T/open/node"
    refused mknod "$T/open/node" c 1 3
    grep -q 'Operation not permitted' "$T/refused"
  fi
  for node in 'b 8 0' 'c 1 1' 'c 1 3' 'c 5 0'; do
    for task in t w; do
      refused inside "$task" "mknod node $node"
      grep -q 'Operation not permitted' "$T/refused"
    done
  done
  # a device that root made there cannot be opened inside either
  if is_root; then
    for dir in "$GARTH_HOME/tasks/$(ident 1)/tmp" "$GARTH_HOME/tasks/$(ident 1)/home" "$GARTH_HOME/worktrees/w"; do mknod -m 666 "$dir/node" c 1 3; (: <"$dir/node"); done
    refused inside t 'cat /tmp/node'
    refused inside t 'cat ~/node'
    refused inside w 'cat node'
    grep -q 'Permission denied' "$T/refused"
    rm "$GARTH_HOME/tasks/$(ident 1)/tmp/node" "$GARTH_HOME/tasks/$(ident 1)/home/node" "$GARTH_HOME/worktrees/w/node"
  fi
  outside mknod white c 0 0; rm "$T/open/white"
  refused inside t 'rm a.txt; mknod dir/white c 0 0'
  inside w 'mknod dir/white c 0 0 || true'
  host_commands w
}

# The attack writes the marks by which an overlay knows opaque directories, whiteouts and redirects.
@test "3 J1 W4: user.overlay attributes" {
  "$garth" new t
  mark='import os, sys
os.makedirs("marked/sub", exist_ok=True); open("marked/file", "w").close(); os.makedirs("dir", exist_ok=True)
for name in ("opaque", "redirect", "metacopy", "whiteout", "origin", "upper", "impure", "protattr", "nlink"):
    for path in ("marked", "marked/file", "dir"):
        os.setxattr(path, "user.overlay." + name, sys.argv[1].encode())'
  outside "$python" -c "$mark" y
  outside "$python" -c 'import os; assert os.getxattr("marked", "user.overlay.opaque") == b"y"'
  inside t "$python -c '$mark' /../../../../../../../../$T/elsewhere || true; $python -c '$mark' y || true"
  # after the next mount, dir is what it was and nothing leads anywhere
  inside t 'test "$(cat dir/b.txt)" = two; test -d marked; test -f marked/file; ls -R marked >/dev/null'
  silent "$SECRET" inside t 'cat marked/* dir/* marked/sub/*'
  host_commands t
  silent "$SECRET" find "$T/exported" -type f -exec cat {} +
  [[ $(<"$T/exported/dir/b.txt") == two ]]
  untouched
}

# The attack renames the directories above the place that is mounted or hidden.
@test "3 J1 J2: a rename of the parents" {
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    outside mv "$T/elsewhere" "$T/open/moved" 2>/dev/null || mv "$T/elsewhere" "$T/open/moved"
    tells "$SECRET" cat "$T/open/moved/secret"
    mv "$T/open/moved" "$T/elsewhere"
    refused inside "t-$backend" "mv $T/elsewhere x"
    refused inside "t-$backend" "mv $T x"
    # a rename, not mv, which would copy what it cannot rename
    refused inside "t-$backend" 'for p in /usr /etc /run /proc/sys; do perl -e "rename(shift, q(x)) or exit 1" $p && exit 0; done; exit 1'
    inside "t-$backend" 'cd; mv .garth a; mv a b; mv src c; true'
    silent "$SECRET" inside "t-$backend" 'cat ~/*.txt ~/.ssh/* ~/*/app/.env ../../../*.txt'
    inside "t-$backend" 'test -f a.txt'
  done
  untouched
}

# The attack looks for another view of the tree in /proc: roots, working directories and descriptors.
@test "3 J1 J2 J6: /proc/self/root, /proc/1/root, /proc/*/fd, /proc/*/cwd" {
  look="for d in /proc/self /proc/[0-9]*; do
      cat \$d/root$T/elsewhere/secret \$d/cwd$T/elsewhere/secret \$d/cwd/../elsewhere/secret
      for f in \$d/fd/*; do cat \$f/elsewhere/secret \$f$T/elsewhere/secret; done
      cat \$d/task/*/root$T/elsewhere/secret; done </dev/null 2>/dev/null; true"
  tells "$SECRET" outside sh -c "$look"
  "$garth" new t
  silent "$SECRET" inside t "$look"
  "$garth" new w --backend worktree
  silent "$SECRET" inside w "$look"
  # only the jail's own processes are visible
  outside test -d "/proc/$$"
  "$garth" run -d --task bg -- sleep 60
  [[ $(inside bg 'for p in /proc/[0-9]*; do cat $p/comm; done 2>/dev/null | sort -u | grep -vxE "garth-init|sh|sleep|cat|sort|grep|wc" | wc -l') == 0 ]]
  "$garth" cancel bg
}

# The attack uses that one task's name begins with the other's.
@test "4 J2: a prefix neighbour, t-1 and t-10" {
  for backend in "${backends[@]}"; do
    "$garth" new t-1 --backend "$backend"
    "$garth" new t-10 --backend "$backend"
    inside t-10 "echo $SECRET >neighbour.txt; git add -A; git -c user.name=a -c user.email=a commit -qm $SECRET"
    if [[ $backend == worktree ]]; then tells "$SECRET" cat "$GARTH_HOME/worktrees/t-10/neighbour.txt"; fi
    tells "$SECRET" inside t-10 'cat "$GARTH_WORKSPACE/neighbour.txt"'
    refused inside t-1 'cat "$GARTH_WORKSPACE/neighbour.txt"'
    refused inside t-1 "cat $GARTH_HOME/worktrees/t-10/neighbour.txt"
    refused inside t-1 "cat ../t-10/neighbour.txt || cat ../t-1*/neighbour.txt"
    if [[ $backend == worktree ]]; then [[ $(inside t-1 'ls -d ../t-1*') == ../t-1 ]]; fi
    silent "$SECRET" inside t-1 'git log --all --format=%s; git branch -a; git stash list; git worktree list'
    silent t-10 inside t-1 'git branch -a; git for-each-ref'
    refused inside t-1 'mkdir ../t-10 && cp a.txt ../t-10/ && cat ../t-10/neighbour.txt'
    "$garth" discard -fD t-1
    [[ $(inside t-10 'cat neighbour.txt') == "$SECRET" ]]
    "$garth" discard -fD t-10
    git -C "$R" branch -D garth/t-1 garth/t-10 2>/dev/null || true
  done
}

users_own() { fingerprint; sha256sum "$HOME/.claude/settings.json" "$HOME/.bashrc" "$HOME/.gitconfig"; ls -A --ignore=.garth "$HOME"; }

# The attack plants files that the user's tools would obey: they must not reach the place where the user works.
@test "5 J2 W1: protected names, existing and new" {
  echo '{}' >"$R/.mcp.json"; git -C "$R" add .mcp.json; git -C "$R" commit -qm mcp
  mkdir -p "$HOME/.claude"; echo '{}' >"$HOME/.claude/settings.json"; echo 'export OLD=1' >"$HOME/.bashrc"
  was=$(users_own)
  plant="for f in .claude/settings.json .vscode/tasks.json .mcp.json .gitmodules .envrc .idea/workspace.xml .husky/pre-commit \
      sub/.claude/settings.json dir/.git/config new/.git/config; do mkdir -p \$(dirname \$f); echo $SECRET >\$f; done"
  outside sh -c "$plant"; tells "$SECRET" outside cat .mcp.json dir/.git/config
  for backend in "${backends[@]}"; do
    "$garth" new t --backend "$backend"
    inside t "$plant; mkdir -p ~/.claude; for f in ~/.claude/settings.json ~/.bashrc ~/.gitconfig ~/.profile ~/.mcp.json; do echo $SECRET >\$f; done"
    [[ $(users_own) == "$was" ]]
    if [[ $backend == overlay ]]; then [[ ! -e $GARTH_HOME/worktrees/t ]]; fi
    # a review names all of them
    for name in .claude/settings.json .vscode/tasks.json .mcp.json .gitmodules .envrc .husky/pre-commit; do
      tells "$name" "$garth" diff t --stat --json
    done
    # and the agent's own repository is not exported
    "$garth" export t "$T/exported"
    [[ -z $(find "$T/exported" -iname .git) ]]
    [[ -e $T/exported/.mcp.json ]]
    rm -r "$T/exported"
    "$garth" discard -fD t
    untouched
  done
}

# The attack makes programs that run as their owner when somebody starts them outside.
@test "3 J1 J6: set-user-id files" {
  outside sh -c 'cp /bin/true suid && chmod 4755 suid && test -u suid'
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    refused inside "t-$backend" 'cp /bin/true suid && chmod 4755 suid'
    inside "t-$backend" "$python -c 'import os; os.umask(0); os.close(os.open(\"made\", os.O_CREAT | os.O_WRONLY, 0o6755))' || true; test -f made"
    "$garth" export "t-$backend" "$T/exported"
    [[ -f $T/exported/made ]]
    [[ ! -u $T/exported/made && ! -g $T/exported/made ]]
    rm -r "$T/exported"
    # on the host no such file belongs to root
    [[ -z $(find "$GARTH_HOME" -perm /4000 -uid 0 -type f) ]]
    # and has no effect inside
    inside "t-$backend" "cp /usr/bin/id idd; $python -c 'import os
f = os.open(\"su\", os.O_CREAT | os.O_WRONLY, 0o6755); os.write(f, open(\"idd\", \"rb\").read())'; ./su -u >uid; id -u | cmp - uid"
  done
}

# The attack looks for a mount whose owner, devices or files would count: what is shown is read-only except for the task's
# own files, and no mount allows set-user-id programs or devices.
@test "3 J1 J6 J10: read-only, nosuid and nodev, each mount by itself" {
  for backend in overlay worktree; do
    "$garth" new t --backend "$backend"
    inside t 'cut -d" " -f5,6 /proc/self/mountinfo' >"$T/mounts"
    workspace=$(inside t pwd)
    (($(wc -l <"$T/mounts") > 12))
    for place in /usr /proc/sys / /run/garth/objects/0 /tmp "$R"; do grep -q "^$place r" "$T/mounts"; done
    # the control: outside, programs and settings are on other kinds of mounts
    cut -d' ' -f6 /proc/self/mountinfo | grep -v nosuid | grep -q rw
    while read -r place options; do
      [[ ,$options, == *,nosuid,* ]] || { echo "suid: $place $options"; false; }
      [[ ,$options, == *,nodev,* || $place =~ ^/dev/(null|zero|full|random|urandom|tty|pts)$ ]] || { echo "devices: $place $options"; false; }
      case $place in
      /tmp | "$HOME" | "$workspace" | /proc | /dev/pts | /dev/shm | /dev/mqueue) ;;
      "$workspace/.git") [[ $backend == overlay || ,$options, == *,ro,* ]] || { echo "writable: $place"; false; } ;;
      "$R/.git/worktrees/t") [[ $backend == worktree ]] ;;
      *) [[ ,$options, == *,ro,* ]] || { echo "writable: $place $options"; false; } ;;
      esac
    done <"$T/mounts"
    "$garth" discard -fD t
    git -C "$R" branch -D garth/t 2>/dev/null || true
  done
}

# The attack changes the user's own tools, which are shown: the next time they run outside.
@test "1 J1 J2: tools and named places are shown and cannot be changed" {
  mkdir -p "$HOME/.volta/bin" "$XDG_CONFIG_HOME/garth" "$T/elsewhere/named"
  echo "jail: {allow_read: [$T/elsewhere/named]}" >"$XDG_CONFIG_HOME/garth/config.yaml"
  printf '#!/bin/sh\necho tool\n' | tee "$HOME/.volta/bin/tool" >"$T/elsewhere/named/tool"
  chmod 777 "$HOME/.volta" "$HOME/.volta/bin" "$HOME/.volta/bin/tool" "$T/elsewhere/named" "$T/elsewhere/named/tool"
  before=$(sentinels)
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    for tool in "$HOME/.volta/bin/tool" "$T/elsewhere/named/tool"; do
      [[ $(inside "t-$backend" "$tool") == tool ]]
      any=false
      for attempt in "echo evil >>$tool" "rm -f $tool; test ! -e $tool" "mv $tool $tool.old" "chmod 700 $tool" "touch $tool.new" "truncate -s 0 $tool" "mkdir ${tool%/*}/new"; do
        cp -p "$tool" "$T/saved"
        # with root, the inside's user is not the owner, and only the owner may change a mode
        outside sh -c "$attempt" || { [[ $attempt == chmod* ]] && is_root; }
        rm -rf "$tool" "$tool.old" "$tool.new" "${tool%/*}/new"; cp -p "$T/saved" "$tool"
        any="$any || { $attempt; }"
      done
      refused inside "t-$backend" "$any"
      [[ $("$tool") == tool ]]
      [[ $(ls "${tool%/*}") == tool ]]
    done
  done
  untouched
}

# The attack finds the repository, or Garth's own home, beneath a directory that is shown.
@test "1 J2: what is beneath a shown directory and hidden stays hidden" {
  shown=("$HOME/src")
  # of the system's places only root can use one
  if is_root; then
    system=$(mktemp -d /opt/gt.XXXXXX); chmod 755 "$system"; shown+=("$system")
  fi
  mkdir -p "$XDG_CONFIG_HOME/garth"; echo "jail: {allow_read: [$HOME/src]}" >"$XDG_CONFIG_HOME/garth/config.yaml"
  code=0
  for above in "${shown[@]}"; do
    beneath "$above" "$T/home/.garth" && beneath "$above" "$above/garth-home" || { code=1; break; }
  done
  if is_root; then rm -rf "$system"; fi
  ((code == 0))
}

# beneath DIR HOME: with a repository there, and the Garth home; each step has its own check, because the function is called in a condition.
beneath() {
  local repo=$1/hidden backend path
  export GARTH_HOME=$2
  rm -rf "$repo" "$1/sibling"
  { git clone -q "$R" "$repo" && echo "hidden-$SECRET" >"$repo/.env" && mkdir "$1/sibling" && echo visible >"$1/sibling/f" && cd "$repo"; } || return 1
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend" || return 1
    # the control: the place is shown, and the host's user reads both
    [[ $(inside "t-$backend" "cat $1/sibling/f") == visible ]] || return 1
    tells "hidden-$SECRET" grep -rs "$SECRET" "$1" || return 1
    [[ -s $GARTH_HOME/garth.db ]] || return 1
    for path in "$repo/.env" "$repo/.git/description" "$repo/.git/logs/HEAD" "$GARTH_HOME/garth.db" "$GARTH_HOME/tasks"; do
      refused inside "t-$backend" "ls -d $path" || return 1
    done
    silent "hidden-$SECRET" inside "t-$backend" "grep -rs $SECRET $1" || return 1
  done
  "$garth" discard -fD t-overlay && "$garth" discard -fD t-worktree && cd "$R" || return 1
  export GARTH_HOME=$HOME/.garth
}
