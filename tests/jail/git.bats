# ESCAPES 7 to 10, 13 and 16: git's own ways to run programs and to write elsewhere. The agent can write
# everything in its private repository. It must not happen that a program named there runs outside, or that the
# shared repository changes.
load helpers
# a clone's repository is like an overlay's and its files like a worktree's; cmd/clone has the rest
backends=(overlay worktree)

# Inside, `git` is the shim, which itself refuses some of this. An attacker uses git directly.
native='PATH=/usr/bin:$PATH; '

setup() {
  jail_setup
  # A marker that only a program outside can make.
  marker=$T/elsewhere/ran
  payload="echo ran >$marker"
  before=$(sentinels)
  shared=$(fingerprint)
}

clean() {
  if [[ -e $marker ]]; then echo "a program of the agent's ran outside"; tail -n 5 "$T/answer"; return 1; fi
  [[ $(fingerprint) == "$shared" ]] || { echo "the user's repository changed"; diff <(echo "$shared") <(fingerprint); return 1; }
  untouched
}

# gate_commands TASK: commands that use the task's gateway end in time, whatever they find there.
gate_commands() {
  local command
  for command in "publish $1" "snapshot $1" "sync $1" "rollback $1 --full" "rollback $1 --file a.txt" "audit $1" "audit --verify"; do
    # shellcheck disable=SC2086
    within 40 "$garth" $command || return 1
    cat "$T/answer" >>"$T/gate-answers"
  done
}

# ran: the control ran the program; the marker is removed again.
ran() { [[ -e $marker ]] || { echo "the control did not run its program"; return 1; }; rm -f "$marker"; }

# An ordinary repository on the host, for the controls.
control_repo() { rm -rf "$T/open/c"; git clone -q "$R" "$T/open/c"; cd "$T/open/c"; }

# A repository that names the payload wherever git looks for a program.
settings="git config core.fsmonitor '@; false'; git config core.hooksPath /tmp/hooks; git config core.sshCommand '@'
  git config core.pager '@; cat'; git config diff.external '@; true'; git config filter.x.clean '@; cat'
  git config filter.x.smudge '@; cat'; git config filter.x.required true; git config alias.status '!@'
  git config diff.x.textconv '@; cat'; git config diff.x.command '@'; git config core.editor '@'; git config credential.helper '!@'
  git config core.askPass '@'; git config gpg.program '@'; git config commit.gpgSign true; git config core.gitProxy '@'
  git config merge.x.driver '@'; git config uploadpack.packObjectsHook '@'; git config init.templateDir /tmp/hooks"

# The attack puts another pointer in the place of .git, which leads to a repository that the agent made.
@test "7 J3 W2: .git replaced by one that names another git directory" {
  make="git init -q evil.git/..; git --git-dir=evil.git init -q --bare . 2>/dev/null; git init -q --bare evil.git; git --git-dir=evil.git config core.bare false
    git --git-dir=evil.git config core.fsmonitor '$payload; false'"
  # the control: in a worktree that git made, the pointer can be replaced, and the next git outside runs the program
  control_repo
  git worktree add -q "$T/open/wt" -b control; cd "$T/open/wt"
  sh -c "${make#*; }"
  echo "gitdir: $PWD/evil.git" >.git
  git status >/dev/null 2>&1 || true
  ran
  cd "$R"
  for backend in "${backends[@]}"; do
    "$garth" new t --backend "$backend"
    "$garth" new other --backend "$backend"
    if [[ $backend == worktree ]]; then pointer=$(<"$GARTH_HOME/worktrees/t/.git"); fi
    inside t "$native${make#*; }"
    refused inside t 'rm -rf .git; test ! -e .git'
    refused inside t 'mv .git away'
    refused inside t 'mv evil.git .git -T'
    refused inside t 'ln -sfn evil.git .git -T'
    refused inside t 'echo "gitdir: evil.git" >x; mv x .git -T'
    refused inside t "$python -c 'import os, ctypes; libc = ctypes.CDLL(None); raise SystemExit(0 if libc.renameat2(-100, b\".git\", -100, b\"evil.git\", 2) == 0 else 1)'"
    if [[ $backend == worktree ]]; then
      refused inside t 'echo "gitdir: evil.git" >.git'
      [[ $(<"$GARTH_HOME/worktrees/t/.git") == "$pointer" ]]
      # the user's git in the worktree still finds the right repository
      git -C "$GARTH_HOME/worktrees/t" status >/dev/null
    fi
    clean
    gate_commands t
    host_commands t
    host_commands other
    clean
    git -C "$R" branch -D garth/t garth/other 2>/dev/null || true
  done
}

# The attack rewrites the files by which a git directory leads to others, and its own configuration and HEAD.
@test "8 J3 W2: commondir, gitdir, config.worktree and HEAD rewritten inside" {
  rewrite="cd \$(git rev-parse --absolute-git-dir); mkdir -p /tmp/common/objects /tmp/common/refs; cp HEAD /tmp/common/
    printf '[core]\nrepositoryformatversion = 0\nfsmonitor = \"$payload; false\"\n' >/tmp/common/config
    git config extensions.worktreeConfig true; printf '[core]\nfsmonitor = \"$payload; false\"\n' >config.worktree
    echo /tmp/common >commondir; echo $T/elsewhere >gitdir; echo 'ref: refs/heads/main' >HEAD"
  # the control: the same files in a repository outside lead git to the program
  control_repo
  mkdir "$T/common"
  (rewrite=${rewrite//\/tmp\/common/$T/common}; sh -c "$rewrite")
  git --git-dir="$T/open/c/.git" --work-tree=. status >/dev/null 2>&1 || true
  ran
  cd "$R"
  for backend in "${backends[@]}"; do
    "$garth" new t --backend "$backend"
    if [[ $backend == worktree ]]; then
      admin=$(sed 's/^gitdir: //' "$GARTH_HOME/worktrees/t/.git")
      files=$(cat "$admin/commondir" "$admin/gitdir" "$admin/HEAD")
    fi
    inside t "$native$rewrite"
    if [[ $backend == worktree ]]; then
      [[ $(cat "$admin/commondir" "$admin/gitdir" "$admin/HEAD") == "$files" ]]
      [[ ! -e $admin/config.worktree ]]
      git -C "$GARTH_HOME/worktrees/t" status >/dev/null
      git -C "$GARTH_HOME/worktrees/t" log -1 >/dev/null
    fi
    clean
    gate_commands t
    host_commands t
    clean
    git -C "$R" branch -D garth/t 2>/dev/null || true
  done
}

# The attack sets everything that names a program, wherever the agent can write, and attributes that ask for it.
@test "9 J3: settings and attributes that name programs" {
  for backend in "${backends[@]}"; do
    "$garth" new t --backend "$backend"
    inside t "$native${settings//@/$payload}
      mkdir -p /tmp/hooks; for h in post-checkout pre-commit reference-transaction post-index-change fsmonitor-watchman; do
        printf '#!/bin/sh\n$payload\n' >/tmp/hooks/\$h; chmod +x /tmp/hooks/\$h; cp /tmp/hooks/\$h \$(git rev-parse --git-dir)/hooks/; done
      cp \$(git rev-parse --git-dir)/config ~/.gitconfig; mkdir -p ~/.config/git; cp ~/.gitconfig ~/.config/git/config
      cp ~/.gitconfig .gitconfig; echo '* filter=x diff=x merge=x' >.gitattributes; cp .gitattributes dir/; echo '* filter=x diff=x' >\$(git rev-parse --git-dir)/info/attributes
      echo changed >>a.txt; echo new >new.txt"
    # control: git outside, told to use that repository, runs the program
    (cd "$T/open" && rm -rf wt && mkdir wt && cp "$R/a.txt" wt/ && GIT_DIR=$GARTH_HOME/tasks/*/git && cp -r $GIT_DIR gd && chmod -R u+rwX gd &&
      { git -c safe.directory='*' --git-dir=gd --work-tree=wt diff >/dev/null 2>&1 || true; }; rm -rf gd)
    ran
    # every command, from elsewhere and from within the workspace
    if [[ $backend == worktree ]]; then cd "$GARTH_HOME/worktrees/t"; fi
    for command in ls "show t" "diff t" "diff t --stat" "diff t --json" "log t" "path t" doctor; do
      # shellcheck disable=SC2086
      within 20 "$garth" $command
    done
    cd "$R"
    clean
    if [[ $backend == worktree ]]; then
      # nor when the user inspects the worktree
      git -C "$GARTH_HOME/worktrees/t" status >/dev/null; git -C "$GARTH_HOME/worktrees/t" --no-pager diff >/dev/null
      clean
    fi
    "$garth" new second --backend "$backend"; "$garth" discard second
    gate_commands t
    host_commands t
    clean
    git -C "$R" branch -D garth/t garth/second 2>/dev/null || true
  done
}

# The attack hides changes from a reviewer: attributes and settings that make a change invisible or binary.
@test "9 J3: changes cannot be hidden by attributes, settings or a planted repository" {
  "$garth" new w --backend worktree
  inside w "$native"'echo evil-change >>a.txt; echo evil-change >>dir/b.txt; echo "* -diff" >.gitattributes; mkdir dir/.git; cp -r "$(git rev-parse --git-dir)"/* dir/.git/
    git update-index --assume-unchanged a.txt; git config core.excludesFile /tmp/x; echo "*" >/tmp/x; echo "a.txt" >"$(git rev-parse --git-dir)/info/exclude"'
  # the control: git itself, in a directory with the attributes, shows no line of it
  control_repo
  echo evil-change >>a.txt; echo "* -diff" >.gitattributes
  silent evil-change git --no-pager diff
  cd "$R"
  tells 'a.txt' "$garth" diff w --stat
  tells '+evil-change' "$garth" diff w a.txt
  tells '+evil-change' "$garth" diff w dir/b.txt
  # and wherever the command is run
  cd "$GARTH_HOME/worktrees/w"
  tells '+evil-change' "$garth" diff w a.txt
}

# The attack plants a complete repository, bare or not, in a subdirectory, for the git that is started there next.
@test "10 J3 J4: a repository planted in a subdirectory" {
  plant="git init -q --bare bare; git --git-dir=bare config core.bare false; git --git-dir=bare config core.worktree ..; git --git-dir=bare config core.fsmonitor '$payload; false'
    git --git-dir=bare config alias.log '!$payload'; printf '#!/bin/sh\n$payload\n' >bare/hooks/post-checkout; chmod +x bare/hooks/post-checkout
    mkdir sub; cd sub; git init -q; git config user.name a; git config user.email a; echo '* filter=x' >.gitattributes; echo f >f; git add -A; git commit -qm x
    git config filter.x.smudge '$payload; cat'; git config filter.x.clean '$payload; cat'; git config core.fsmonitor '$payload; false'"
  # the control: a git that is started in there runs it
  mkdir "$T/open/c"; cd "$T/open/c"
  sh -c "$plant"
  (cd sub && git status >/dev/null 2>&1 || true); ran
  (cd bare && git status >/dev/null 2>&1 || true); ran
  cd "$R"
  for backend in "${backends[@]}"; do
    "$garth" new t --backend "$backend"
    inside t "$native$plant"
    if [[ $backend == worktree ]]; then
      for place in sub bare; do
        cd "$GARTH_HOME/worktrees/t/$place"
        for command in ls "show t" "diff t" "diff t --stat" "log t" "path t" "exec t -- true" doctor config; do
          # shellcheck disable=SC2086
          within 20 "$garth" $command
          clean
        done
        # a task of the planted repository would check it out with its filters
        "$garth" new "of-$place" >"$T/answer" 2>&1 || true
        clean
        "$garth" run --task "run-$place" -- true >"$T/answer" 2>&1 || true
        clean
        "$garth" discard -fD "of-$place" >/dev/null 2>&1 || true
        "$garth" discard -fD "run-$place" >/dev/null 2>&1 || true
      done
      cd "$R"
      git -C "$GARTH_HOME/worktrees/t" status >/dev/null
      clean
    fi
    host_commands t
    [[ -z $(find "$T/exported" -iname .git) ]]
    clean
    git -C "$R" branch -D garth/t 2>/dev/null || true
  done
}

# The attack uses git, the real one and one that the agent downloaded, on the shared repository by its path.
@test "13 J3 J10: update main, other branches, tags, notes, config, worktrees, gc by path" {
  cp -r "$R" "$T/open/c"; chmod -R a+rwX "$T/open/c"; chmod -R a+rwX "$R"
  tree=$(git -C "$R" rev-parse 'HEAD^{tree}')
  shared=$(fingerprint)
  "$garth" new other
  other=$(git -C "$R" rev-parse garth/other)
  attacks=(
    "update-ref refs/heads/main \$(G commit-tree $tree -m x)"
    "update-ref refs/heads/garth/other \$(G commit-tree $tree -m x)"
    "tag evil"
    "branch evil"
    "notes add -m evil HEAD"
    "config user.evil yes"
    "worktree add --detach TREE"
    "gc --prune=now"
    "repack -ad"
    "prune"
    "reflog expire --all --expire=now"
    "hash-object -w --stdin </dev/null"
    "pack-refs --all"
    "symbolic-ref HEAD refs/heads/evil"
    "remote add evil /tmp"
  )
  for attack in "${attacks[@]}"; do
    script="G() { git -c safe.directory='*' -c user.name=a -c user.email=a --git-dir=$T/open/c/.git \"\$@\"; }; G ${attack//TREE/$T/open/evil-tree}"
    outside env HOME="$T/open" sh -c "$script" >"$T/said" 2>&1 || { echo "the control failed: git $attack"; cat "$T/said"; false; }
  done
  for backend in overlay worktree; do
    "$garth" new t --backend "$backend"
    inside t 'cp /usr/bin/git /tmp/mine'
    for attack in "${attacks[@]}"; do
      for tool in git /usr/bin/git /tmp/mine; do
        script="G() { $tool -c safe.directory='*' -c user.name=a -c user.email=a --git-dir=$R/.git \"\$@\"; }; G ${attack//TREE//tmp/evil-tree}"
        # at the repository's path an overlay has the task's own repository, a worktree nothing
        if [[ $backend == worktree ]]; then refused inside t "$script"; else inside t "$script" >/dev/null 2>&1 || true; fi
      done
    done
    # and on the objects, which are borrowed
    refused inside t "echo x >/run/garth/objects/0/x"
    refused inside t "rm -rf /run/garth/objects/0/??"
    refused inside t "chmod -R 777 /run/garth/objects/0"
    refused inside t "mv /run/garth/objects/0/pack /tmp/pack"
    inside t 'test -z "$(git fsck 2>&1 | grep -i missing)"'
    [[ $(fingerprint) == "$shared" ]]
    [[ $(git -C "$R" rev-parse garth/other) == "$other" ]]
    git -C "$R" fsck --strict >/dev/null 2>&1
    host_commands t
    git -C "$R" branch -D garth/t 2>/dev/null || true
  done
}

# The attack does the same to the names inside: branches, tags, notes, configuration, gc, push. All of it is private.
@test "13 J3: everything that git writes inside stays inside" {
  "$garth" new other
  inside other 'echo theirs >theirs; git add -A; git commit -qm theirs'
  work='git commit -q --allow-empty -m evil && git branch -f main HEAD && git tag -f evil && git notes add -m evil &&
    git update-ref refs/heads/garth/other HEAD && git update-ref refs/garth/trash/1 HEAD && git config core.evil yes &&
    git worktree add -q /tmp/wt && git stash && git gc -q --prune=now && git reflog expire --all --expire=now'
  control_repo
  old=$(git rev-parse main)
  git config user.name a; git config user.email a; git checkout -q -b garth/t
  sh -c "${work//\/tmp\/wt/$T/open/wt}" >/dev/null 2>&1 || true
  [[ $(git rev-parse main) != "$old" ]]
  git tag | grep -qx evil
  cd "$R"
  refs=$(git for-each-ref | grep -vE 'heads/garth/t$|garth/tasks/')
  for backend in "${backends[@]}"; do
    "$garth" new t --backend "$backend"
    inside t "$native$work" >/dev/null 2>&1
    [[ $(inside t git rev-parse main) == "$(inside t git rev-parse HEAD)" ]]
    # outside, only the commit appeared, on the task's own branch
    [[ $(git log -1 --format=%s garth/t) == evil ]]
    [[ $(git rev-parse garth/t) == "$(inside t git rev-parse HEAD)" ]]
    for tool in git /usr/bin/git; do
      # at the repository's path an overlay or a clone has the task's own repository, a worktree nothing
      for attempt in "push $R HEAD:main" "push file://$R +HEAD:refs/heads/main" "push $R HEAD:refs/heads/garth/t" "fetch $R main"; do
        if [[ $backend == worktree ]]; then refused inside t "$tool $attempt"; else inside t "$tool $attempt" >/dev/null 2>&1 || true; fi
      done
      refused inside t "$tool push origin HEAD:main"
    done
    # two tasks do not see each other's work by name
    silent theirs inside t 'git log --all --format=%s; git for-each-ref'
    [[ $(git for-each-ref | grep -vE 'heads/garth/t$|garth/tasks/') == "$refs" ]]
    clean
    host_commands t
    clean
    git -C "$R" branch -D garth/t 2>/dev/null || true
    refs=$(git for-each-ref | grep -vE 'heads/garth/t$|garth/tasks/')
  done
  [[ $(inside other cat theirs) == theirs ]]
}

# The attack makes what Garth reads of the private repository something else: FIFOs, links, directories.
@test "8 9 J3: FIFOs and symlinks in the private repository" {
  # the control: git itself waits without end in such a repository
  control_repo
  rm .git/config .git/HEAD; mkfifo .git/config; ln -s "$T/elsewhere/secret" .git/HEAD
  code=0; timeout 1 git status >/dev/null 2>&1 || code=$?
  ((code != 0))
  cd "$R"
  for backend in "${backends[@]}"; do
    "$garth" new t --backend "$backend"
    inside t "cd \$(git rev-parse --absolute-git-dir); rm -rf HEAD config index packed-refs refs info hooks logs objects/info objects/pack
      for f in HEAD config index packed-refs; do mkfifo \$f; done; ln -s $T/elsewhere refs; ln -s $T/elsewhere info; ln -s $T/elsewhere objects/pack
      mkdir -p objects/info objects/aa; mkfifo objects/info/alternates objects/aa/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    within 20 "$garth" snapshot t
    within 20 "$garth" sync t
    clean
    host_commands t
    clean
    git -C "$R" branch -D garth/t 2>/dev/null || true
    "$garth" new t --backend "$backend"
    inside t "cd \$(git rev-parse --absolute-git-dir); rm -rf objects; ln -s $T/elsewhere objects; mkdir -p refs/heads/x; echo $R/.git/objects >x"
    # a task whose objects cannot be looked at may have work in it
    refused "$garth" discard t
    gate_commands t
    host_commands t
    clean
    git -C "$R" branch -D garth/t 2>/dev/null || true
  done
}

# The attack points the private repository's alternates at another project's objects.
@test "11 J2 J3: alternates that name another repository" {
  mkdir "$T/open/private"; cd "$T/open/private"; git init -q
  echo "$SECRET" >f; git add f; git -c user.name=a -c user.email=a commit -qm "$SECRET"
  blob=$(git rev-parse HEAD:f); chmod -R a+rX "$T/open/private"
  control_repo
  echo "$T/open/private/.git/objects" >>.git/objects/info/alternates
  tells "$SECRET" git cat-file -p "$blob"
  cd "$R"
  "$garth" new t
  silent "$SECRET" inside t "${native}echo $T/open/private/.git/objects >>.git/objects/info/alternates; git cat-file -p $blob"
  # nor by a commit that names the object, which the shared repository does not have
  refused inside t "${native}git update-index --add --cacheinfo 100644,$blob,stolen && git commit -qm stolen"
  refused inside t "${native}tree=\$(printf '100644 blob $blob\\tstolen\\n' | git mktree --missing) && git update-ref HEAD \$(git commit-tree -p HEAD -m stolen \$tree)"
  gate_commands t
  host_commands t
  silent "$SECRET" cat "$T/answers" "$T/gate-answers"
  refused git cat-file -e "$blob"
  clean
}

# The attack waits for a program that the user's own settings name, by a path that leads into the tree, to be started
# on the agent's files. No git that Garth runs starts any: no hook, monitor, diff driver or pager.
@test "9 16 J3: programs that the user's own repository and settings name" {
  mkdir tools; printf '#!/bin/sh\nexit 1\n' >tools/run; chmod +x tools/run; git add -A; git commit -qm tools
  printf '#!/bin/sh\necho "$0 $*" >>%s\n' "$marker" >"$T/open/prog"; chmod 755 "$T/open/prog"
  echo '* diff=x' >"$T/open/attributes"
  "$garth" new plain; inside plain 'echo changed >>a.txt; git commit -qam changed; echo more >>a.txt; echo new >new.txt'
  "$garth" diff plain >"$T/plain"
  for program in "$T/open/prog" tools/run; do
    for file in .git/config "$HOME/.gitconfig"; do
      for key in core.fsmonitor core.pager pager.diff core.sshCommand core.editor core.askPass credential.helper diff.external diff.x.textconv diff.x.command gpg.program; do
        git config -f "$file" "$key" "$program"
      done
      # and what changes the look of a diff
      git config -f "$file" diff.noprefix true; git config -f "$file" color.ui always; git config -f "$file" diff.context 0
      git config -f "$file" core.attributesFile "$T/open/attributes"
    done
    if [[ $program == /* ]]; then
      for hook in post-checkout reference-transaction post-index-change pre-auto-gc post-commit; do cp "$T/open/prog" .git/hooks/$hook; done
      # the control: every one of them runs for the user
      git update-ref refs/heads/control HEAD; ran
      git -c core.hooksPath=/dev/null status >/dev/null 2>&1; ran
      git -c core.hooksPath=/dev/null -c core.fsmonitor=false diff HEAD~ HEAD >/dev/null 2>&1 || true; ran
      git -c core.hooksPath=/dev/null update-ref -d refs/heads/control
    else
      rm -f .git/hooks/*
      git config core.hooksPath tools/hooks
    fi
    for backend in "${backends[@]}"; do
      "$garth" new t --backend "$backend"
      [[ ! -e $marker ]] || { echo "garth new ran:"; cat "$marker"; false; }
      inside t "mkdir -p tools/hooks; printf '#!/bin/sh\n$payload\n' >tools/run; for h in post-checkout reference-transaction post-index-change pre-auto-gc; do cp tools/run tools/hooks/\$h; chmod +x tools/hooks/\$h; done; echo changed >>a.txt; echo new >new.txt; git commit -qm published a.txt"
      [[ $(git -c core.hooksPath=/dev/null -c core.fsmonitor=false log -1 --format=%s garth/t) == published ]]
      [[ ! -e $marker ]] || { echo "publishing ran:"; cat "$marker"; false; }
      if [[ $backend == worktree ]]; then cd "$GARTH_HOME/worktrees/t"; fi
      if [[ $backend == worktree && $program != /* ]]; then git status >/dev/null 2>&1 || true; ran; fi
      for command in ls "show t" "diff t" "diff t --stat" "diff t --json" "log t" "path t" "exec t -- true" doctor; do
        # shellcheck disable=SC2086
        within 20 "$garth" $command
        [[ ! -e $marker ]] || { echo "garth $command ran:"; cat "$marker"; false; }
      done
      "$garth" diff plain | cmp - "$T/plain"
      cd "$R"
      host_commands t
      [[ ! -e $marker ]] || { echo "ran:"; cat "$marker"; false; }
      git -c core.hooksPath=/dev/null -c core.fsmonitor=false branch -D garth/t >/dev/null 2>&1 || true
    done
  done
}

# The attack edits the hooks that the repository keeps in its tree, which the user's configuration switches on.
@test "16 J3: the repository's own hooks and pre-commit configuration" {
  mkdir .githooks
  for hook in post-checkout pre-commit post-commit reference-transaction post-index-change pre-auto-gc post-rewrite; do
    printf '#!/bin/sh\nexit 0\n' >.githooks/$hook; chmod +x .githooks/$hook
  done
  echo 'repos: []' >.pre-commit-config.yaml
  git add -A; git commit -qm hooks; git config core.hooksPath .githooks
  shared=$(fingerprint)
  for backend in "${backends[@]}"; do
    "$garth" new t --backend "$backend"
    inside t "for h in .githooks/*; do printf '#!/bin/sh\n$payload\n' >\$h; chmod +x \$h; cp \$h \$(git rev-parse --git-dir)/hooks/; done
      echo 'repos: [{repo: local, hooks: [{id: x, entry: sh, args: [-c, \"$payload\"], language: system}]}]' >.pre-commit-config.yaml
      git commit -qam hooks || true"
    if [[ $backend == worktree ]]; then
      # the control: the user's own git in that worktree obeys them
      git -C "$GARTH_HOME/worktrees/t" commit -q --allow-empty -m x --dry-run >/dev/null 2>&1 || true
      git -C "$GARTH_HOME/worktrees/t" checkout -q --detach >/dev/null 2>&1 || true
      ran
      git -C "$GARTH_HOME/worktrees/t" -c core.hooksPath=/dev/null checkout -q garth/t >/dev/null 2>&1
      cd "$GARTH_HOME/worktrees/t"
    fi
    for command in ls "show t" "diff t" "log t" "path t" "exec t -- true" doctor "new u-$backend" "discard u-$backend"; do
      # shellcheck disable=SC2086
      within 20 "$garth" $command
      [[ ! -e $marker ]]
    done
    cd "$R"
    host_commands t
    clean
    git -C "$R" -c core.hooksPath=/dev/null branch -D garth/t 2>/dev/null || true
  done
}
