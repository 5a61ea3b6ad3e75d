# J4: what the configuration denies, in the workspace and outside, whatever program tries.
load helpers

project() {
  mkdir -p secrets/public docs/drafts deploy/prod
  printf '%s\n' "$SECRET" | tee secrets/key secrets/public/x secrets/public/never docs/text docs/drafts/d deploy/prod/p dir/a.pem >lock.txt
  git add -A; git commit -qm more
}

rules='jail:
  deny_read: [secrets, "*.pem", secrets/public/never]
  allow_read: [secrets/public/**]
  deny_write: [docs, lock.txt, "deploy/**", new/name, .planted]
  allow_write: [docs/drafts]'

# The attack reads and changes what is denied, by its path, by renames, links and new names.
@test "J4 J10 3 5: denied paths of the workspace can be neither read nor written, whatever the backend" {
  project
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    # control: without rules all of it can be done
    [[ $(inside "t-$backend" 'cat secrets/key dir/a.pem && echo x >>lock.txt && git checkout -q lock.txt && echo same') == *same ]]
    configure <<<"$rules"
    for path in secrets/key secrets/public/never dir/a.pem; do
      silent "$SECRET" inside "t-$backend" "cat $path; cp $path /tmp/copy; cat /tmp/copy; ln $path /tmp/hard; dd if=$path; true"
    done
    # an exception in a denial
    [[ $(inside "t-$backend" 'cat secrets/public/x') == "$SECRET" ]]
    [[ $(inside "t-$backend" 'cat docs/text lock.txt deploy/prod/p | sort -u') == "$SECRET" ]]
    for attempt in 'echo evil >>docs/text' 'echo evil >docs/new' 'rm docs/text' 'mv docs old' 'rm -r docs' 'echo evil >lock.txt' 'rm -f lock.txt' \
      'mv lock.txt x' 'mv dir/a.pem lock.txt' 'echo evil >deploy/prod/p' 'touch deploy/new' 'mkdir deploy/prod/new' 'touch secrets/new' 'rmdir secrets || mv secrets x' \
      'chmod 777 lock.txt' 'truncate -s 0 docs/text' 'ln -sf a.txt lock.txt' 'mv deploy x'; do
      refused inside "t-$backend" "$attempt"
    done
    inside "t-$backend" 'echo mine >docs/drafts/d; echo mine >docs/drafts/new; rm docs/drafts/new; echo mine >a.txt'
    rm "$XDG_CONFIG_HOME/garth/config.yaml"
    # everything is there again
    [[ $(inside "t-$backend" 'cat secrets/key docs/text lock.txt dir/a.pem | sort -u') == "$SECRET" ]]
  done
}

# The attack renames a directory above what is denied, so that no rule matches at the next start.
@test "J4 3: directories above a denied path cannot be renamed" {
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    inside "t-$backend" "mkdir -p own/sub; echo $SECRET >own/sub/x.key; echo y >own/sub/y"
    inside "t-$backend" 'mv own other && mv other own'
    echo 'jail: {deny_read: ["*.key"]}' | configure
    refused inside "t-$backend" "$python -c 'import os; os.rename(\"own\", \"other\")'"
    refused inside "t-$backend" "$python -c 'import os; os.rename(\"own/sub\", \"own/other\")'"
    silent "$SECRET" inside "t-$backend" "cat own/sub/x.key; mv own other; grep -rs sentinel . ; true"
    silent "$SECRET" inside "t-$backend" "grep -rs sentinel . ; true"
    rm "$XDG_CONFIG_HOME/garth/config.yaml"
    [[ $(inside "t-$backend" 'cat own/sub/x.key') == "$SECRET" ]]
  done
}

# The attack makes a denied name that does not exist yet.
@test "J4 5: names that do not exist yet are covered, and git status does not show it" {
  project
  echo 'jail: {deny_write: [docs, lock.txt, new/name], deny_read: [.planted, "*.none"]}' | configure
  "$garth" new t
  refused inside t 'echo evil >.planted || mkdir .planted || ln -s a.txt .planted'
  refused inside t 'echo evil >new/name || mv a.txt new/name'
  refused inside t 'rm -rf .planted; test ! -e .planted'
  [[ -z $(inside t 'git status --porcelain') ]]
  inside t 'git add -A; test -z "$(git diff --cached --name-only)"'
  [[ -z $("$garth" diff t) ]]
  # control: another name can be made
  inside t 'echo fine >new/other; git add new; git commit -qm fine'
  [[ $(git ls-tree -r --name-only garth/t new) == new/other ]]
}

# A place for a denied name is a directory in a layer above the files: it would hide a file or a link on the way, which then
# looks removed, and `git commit -a` would publish that. Control: without the rules the same task has both files.
@test "J4 W8 5: a denied name below a file or a link hides neither, and one below another denied name is no error" {
  project
  mkdir real; echo x >real/x; ln -s real to-real; git add -A; git commit -qm link
  echo 'jail: {deny_read: [a.txt/key, to-real/none, none/y, none/y/z], deny_write: [b.txt/sub/key]}' | configure
  echo b >b.txt; git add -A; git commit -qm b
  "$garth" new t
  inside t 'cat a.txt b.txt to-real/x; test -z "$(git status --porcelain)"; echo more >>b.txt; git commit -qam more'
  refused inside t 'echo evil >none/y || mkdir none/y/z'
  [[ $(git diff --name-only main garth/t) == b.txt ]]
  echo 'jail: {}' | configure
  inside t 'cat a.txt b.txt to-real/x; test ! -e none'
}

# The attack reads and writes what a denied path is a link to, or leads to through one. Control: without the rules it can.
@test "J4 J10 3 5: what a denied link leads to in the workspace is denied too, whatever the backend, and garth why says it" {
  project
  mkdir conf; echo secret >conf/key; echo fixed >conf/fixed; echo 1 >'conf/[1]'
  ln -s conf/key .key; ln -s conf to-conf; ln -s 'conf/[1]' class; ln -s /etc/passwd out; ln -s loop loop
  git add -A; git commit -qm links
  attack='cat .key || cat conf/key || cat to-conf/key || cat class || cat "conf/[1]" || echo x >>conf/fixed'
  for backend in overlay worktree clone; do
    echo "jail: {}" | configure
    "$garth" new t-$backend --backend $backend
    inside t-$backend 'cat .key conf/key to-conf/key class "conf/[1]"; : >>conf/fixed'
    echo 'jail: {deny_read: [.key, class, out, loop], deny_write: [to-conf/fixed]}' | configure
    refused inside t-$backend "$attack"
    inside t-$backend 'test -z "$(git status --porcelain)"; head -c 1 out; cat conf/fixed'
    [[ $("$garth" why t-$backend conf/key) == *"no: jail.deny_read 'conf/key' ("*"'.key' leads there)"* ]]
    [[ $("$garth" why t-$backend conf/fixed) == *"read "*"yes"*"'to-conf/fixed' leads there)"* ]]
  done
}

# Without the flag skip-worktree, hidden files look changed to git inside: `git add -A` fails or stages their removal, and
# `git stash` and `git reset --hard` try to write them.
@test "J4: tracked files that may not be read show no change, and git leaves them alone, whatever the backend" {
  project
  git branch other; git checkout -q other; echo other >a.txt; git commit -qam other
  git checkout -q -b touches main; echo changed >secrets/key; git commit -qam touches; git checkout -q main
  configure <<<"$rules"
  for backend in "${backends[@]}"; do
    t=t-$backend
    "$garth" new "$t" --backend "$backend"
    [[ -z $(inside "$t" 'git status --porcelain; git diff HEAD --name-only') ]]
    # the usual work of a task
    inside "$t" 'set -e; g=/usr/bin/git; b=garth/$GARTH_TASK; echo mine >a.txt; $g stash -q; test -z "$(git status --porcelain)"; $g stash pop -q; git add -A; git commit -qam mine
      $g checkout -q -b side HEAD~1; echo s >s; git add .; $g commit -qm s; $g rebase -q $b; $g checkout -q $b; $g merge -q side; echo x >dir/b.txt; git reset -q --hard HEAD; git checkout -q -- .'
    [[ -z $(inside "$t" 'git status --porcelain') ]]
    [[ $(inside "$t" 'git diff --name-only HEAD main' | paste -sd' ') == 'a.txt s' ]]
    [[ $(git diff --name-only main "garth/$t" | paste -sd' ') == 'a.txt s' ]]
    # a commit that changes one of them is not checked out, and nothing is half done
    refused inside "$t" 'git checkout -q origin/touches || git checkout -q touches'
    inside "$t" 'git update-index --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),secrets/key; git commit -qm evil; git reset -q; true'
    [[ -z $(git diff --name-only main "garth/$t" -- secrets) ]]
    # Garth's own work inside
    "$garth" snapshot "$t" >/dev/null
    inside "$t" 'echo more >b'
    "$garth" rollback "$t" --full >/dev/null
    [[ -z $(inside "$t" 'git status --porcelain') ]]
    [[ $("$garth" diff "$t" --stat) != *secrets* ]]
    echo "for $backend" >>dir/sub/c.txt; git commit -qam "for $backend"
    "$garth" sync "$t" >/dev/null
    [[ $(inside "$t" 'git status --porcelain; tail -n 1 dir/sub/c.txt') == "for $backend" ]]
    "$garth" discard -fD "$t"
  done
}

@test "J4: skip-worktree flags are set and removed with the rules, and flags that others set stay" {
  project
  for backend in "${backends[@]}"; do
    t=t-$backend
    "$garth" new "$t" --backend "$backend"
    inside "$t" 'git update-index --skip-worktree run.sh; echo own >secrets/public/x; echo own >secrets/key'
    [[ $(inside "$t" 'git status --porcelain' | paste -sd,) == ' M secrets/key, M secrets/public/x' ]]
    configure <<<"$rules"
    [[ $(inside "$t" 'git status --porcelain') == ' M secrets/public/x' ]]
    [[ $(inside "$t" 'git ls-files -v | grep ^S' | paste -sd' ') == 'S dir/a.pem S run.sh S secrets/key S secrets/public/never' ]]
    # the agent loses the flags: they are there again at the next start
    inside "$t" 'git read-tree HEAD'
    [[ $(inside "$t" 'git status --porcelain') == ' M secrets/public/x' ]]
    echo 'jail: {deny_read: ["*.pem"]}' | configure
    [[ $(inside "$t" 'git status --porcelain' | paste -sd,) == ' M secrets/key, M secrets/public/x' ]]
    rm "$XDG_CONFIG_HOME/garth/config.yaml"
    [[ $(inside "$t" 'git status --porcelain; cat secrets/key; git ls-files -v | grep ^S; ls .git/garth-covered 2>/dev/null' | paste -sd,) == ' M secrets/key, M secrets/public/x,own' ]]
    inside "$t" 'echo new >dir/a.pem; git add -A; git commit -qm all'
    [[ $(git diff --name-only main "garth/$t" | paste -sd' ') == 'dir/a.pem secrets/key secrets/public/x' ]]
    "$garth" discard -fD "$t"
  done
}

# The attack leaves an index, or a list of covered files, that never ends, leads elsewhere, or is malformed.
@test "J4 2 6: a hostile index or list of covered files does no harm at the next start" {
  project
  configure <<<"$rules"
  "$garth" new t
  for mess in 'rm .git/index; mkfifo .git/index' "ln -sf $T/elsewhere/secret .git/index" "rm -f .git/garth-covered; ln -s $T/elsewhere/secret .git/garth-covered" \
    'rm -f .git/garth-covered; mkfifo .git/garth-covered' 'rm -f .git/index; truncate -s 100G .git/index' 'printf "DIRC\0\0\0\2\377\377\377\377aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" >.git/index' \
    "rm -f .git/index.lock; ln -s $T/elsewhere/new .git/index.lock" 'rm -rf .git/index.lock; mkdir .git/index.lock .git/garth-covered.lock' 'git update-index --split-index' 'git sparse-checkout set dir' 'git update-index --index-version 4'; do
    inside t "$mess" || true
    [[ $(timeout 20 "$garth" exec t -- echo started) == started ]]
    inside t 'rm -rf .git/index .git/index.lock .git/garth-covered .git/garth-covered.lock; git sparse-checkout disable 2>/dev/null; rm -f .git/index; git -c core.sparseCheckout=false read-tree HEAD' || true
    [[ -z $(inside t 'git status --porcelain') ]]
  done
  untouched
  [[ ! -e $T/elsewhere/new ]]
}

# The attack goes around the mounts: it publishes a change of a denied path with git's plumbing.
@test "J4 G5 10: a change of a denied path is not published without permission" {
  project
  configure <<<"$rules"
  "$garth" new t
  stage='blob=$(echo evil | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$blob,'
  for path in docs/text lock.txt deploy/added .planted secrets/key; do
    run inside t "${stage}$path; git commit -qm evil; git reset -q --mixed"
    [[ $(git log --format=%s -1 garth/t) == more ]] || { echo "$path: $output"; false; }
  done
  # control: an exception is published
  inside t 'echo mine >docs/drafts/d; git add docs/drafts; git commit -qm draft'
  [[ $(git log --format=%s -1 garth/t) == draft ]]
}

@test "J4 G11: a sync that would change a denied file is refused, and changes nothing" {
  project
  echo 'jail: {deny_write: [docs]}' | configure
  "$garth" new t
  inside t 'echo mine >mine; git add mine; git commit -qm mine'
  echo changed >docs/text; git commit -qam target
  run "$garth" sync t
  [[ $status == 4 ]]
  [[ $output == *"'docs/text' has changed in the target, and the rule 'docs'"*config.yaml:1* ]]
  [[ -z $(inside t 'git status --porcelain') ]]
  [[ $(git log --format=%s -1 garth/t) == mine ]]
  rm "$XDG_CONFIG_HOME/garth/config.yaml"
  "$garth" sync t
  [[ $(inside t 'cat docs/text') == changed ]]
}

# The attack reads what is denied below a directory that is shown, and writes below a writable one.
@test "J4 J2: denials in directories of the host that are shown" {
  mkdir -p "$T/open/data/private" "$T/open/data/sub" "$T/open/shared/frozen" "$HOME/lib/inner"
  printf '%s\n' "$SECRET" | tee "$T/open/data/private/x" "$T/open/data/sub/a.key" "$HOME/lib/inner/x" >"$T/open/shared/frozen/f"
  echo plain | tee "$T/open/data/y" "$HOME/lib/y" >"$T/open/data/sub/b.txt"
  chmod -R a+rwX "$T/open" "$HOME/lib"
  configure <<END
jail:
  allow_read: [$T/open/data, ~/lib]
  deny_read: [$T/open/data/private, $T/open/data/sub/*.key, ~/lib/inner/**]
  allow_write: [$T/open/shared]
  deny_write: [$T/open/shared/frozen]
END
  "$garth" new t
  [[ $(inside t "cat $T/open/data/y $T/open/data/sub/b.txt ~/lib/y") == $'plain\nplain\nplain' ]]
  for path in "$T/open/data/private/x" "$T/open/data/sub/a.key" "$HOME/lib/inner/x"; do
    tells "$SECRET" outside cat "$path"
    refused inside t "cat $path"
    refused inside t "test -e $path"
  done
  refused inside t "echo evil >>$T/open/data/y"
  inside t "echo shared >$T/open/shared/file"
  [[ $(<"$T/open/shared/file") == shared ]]
  [[ $(inside t "cat $T/open/shared/frozen/f") == "$SECRET" ]]
  refused inside t "echo evil >>$T/open/shared/frozen/f || touch $T/open/shared/frozen/new || mv $T/open/shared/frozen $T/open/shared/x"
  [[ $(<"$T/open/shared/frozen/f") == "$SECRET" ]]
}

# Of a shown directory with something hidden in it, the other names are shown one by one. The attack has links among them: they
# came with a repository that somebody downloaded.
@test "J4 2: links in a shown directory are not followed because something else in it is hidden" {
  mkdir -p "$HOME/src/other/private" "$HOME/src/other/dir"; echo public >"$HOME/src/other/file"
  ln -s "$HOME/.ssh" "$HOME/src/other/link"; ln -s ../../.ssh/id_test "$HOME/src/other/key"; ln -s file "$HOME/src/other/near"
  ln -s "$HOME/.ssh" "$HOME/src/beside"
  # the control: outside they lead to the key
  for path in other/link/id_test other/key beside/id_test; do [[ $(<"$HOME/src/$path") == "$SECRET" ]]; done
  "$garth" new t
  # a denial; and the project itself, which is hidden
  for shown in 'allow_read: [~/src/other], deny_read: [~/src/other/private]' 'allow_read: [~/src]'; do
    configure <<<"jail: {$shown}"
    silent "$SECRET" inside t 'cd ~/src; cat other/link/id_test other/key beside/id_test; cat other/link/* other/* beside/*; true'
    [[ $(inside t 'cat ~/src/other/file ~/src/other/near') == $'public\npublic' ]]
  done
}

# The attack makes links in a directory that jail.allow_write gives it, at places that every task is shown if they are there; and
# swaps one for a directory, in a loop, while other tasks start.
@test "J4 6 40: a link where agents can write does not choose what tasks are shown" {
  mkdir "$HOME/go" "$HOME/notes"; echo "$SECRET" >"$HOME/notes/n"; chmod 777 "$HOME/go" "$HOME/notes"
  cat >flip.py <<'P'
import ctypes, os, time
libc = ctypes.CDLL(None)
end = time.time() + 600
print("ready", flush=True)
while not os.path.exists("enough") and time.time() < end:
    for i in range(100): libc.renameat2(-100, b"bin", -100, b"bin.d", 2)
P
  git add flip.py; git commit -qm flip
  configure <<<'jail: {allow_write: [~/go], allow_read: [~/go/named], deny_write: [~/go/fixed]}'
  "$garth" new a; "$garth" new b
  inside a "cd ~/go; for name in bin pkg named fixed; do ln -s $HOME/notes \$name; done; mkdir bin.d"
  # the control: outside they lead there
  [[ $(<"$HOME/go/bin/n") == "$SECRET" ]]
  call "$garth" show b --jail
  [[ $out == *"$HOME/go"* ]] || complain
  [[ $out != *notes* ]] || complain
  # nor in the user's set-up of an agent: only links that the user made there are followed
  mkdir -p "$HOME/.fake/skills" "$HOME/mine" "$HOME/papers"; echo "$SECRET" >"$HOME/papers/p"; echo mine >"$HOME/mine/m"; ln -s "$HOME/mine" "$HOME/.fake/skills/own"; chmod 777 "$HOME/.fake/skills"
  printf '#!/bin/sh\ncat ~/.fake/skills/*/*; true\n' >fake; chmod +x fake; git add fake; git commit -qm fake
  agents=$'\nagents: {fake: {programs: [fake], settings: [.fake/skills]}}'
  configure <<<"$agents"
  [[ $("$garth" run --quiet -t c -- ./fake </dev/null 2>/dev/null) == mine ]]
  configure <<<"jail: {allow_write: [~/.fake/skills]}$agents"
  inside a "ln -s $HOME/papers ~/.fake/skills/theirs"
  [[ $(<"$HOME/.fake/skills/theirs/p") == "$SECRET" ]]
  silent "$SECRET" "$garth" run --quiet -t d -- ./fake
  configure <<<'jail: {allow_write: [~/go]}'
  "$garth" exec a -- sh -c "cd ~/go && exec $python $R/flip.py" >"$T/flip" 2>&1 </dev/null 3>&- & flip=$!
  eventually grep -q ready "$T/flip"
  for i in {1..12}; do silent "$SECRET" inside b 'cat ~/go/bin*/n; true'; done
  # it has swapped them all the time
  kill -0 "$flip"
  touch "$HOME/go/enough"; wait "$flip"
}

@test "J4 O2: keys, the Garth home and the project cannot be allowed, and wrong rules are named" {
  mkdir -p "$GARTH_HOME"
  for rule in 'allow_write: [~/.ssh]' 'allow_read: [~/.aws/x]' 'allow_write: [/]' 'allow_write: [/proc]' 'deny_read: [../x]' 'deny_read: [a/../b]' \
    'deny_read: [/srv/*/x]' 'deny_write: [/**/x]' 'allow_write: [~]' 'deny_read: [""]'; do
    echo "jail: {$rule}" | configure
    run -2 "$garth" new refused
    [[ $output == *'config.yaml:1:'* ]] || { echo "$rule: $output"; false; }
  done
  echo "jail: {allow_write: [$R/dir]}" | configure
  run "$garth" new t
  run "$garth" exec t -- sh -c "echo x >$R/dir/new"
  [[ $output == *'is in the project'* ]]
  [[ ! -e $R/dir/new ]]
}

# The attack reads and changes what is denied in a submodule, whose files are mounted apart.
@test "J4 W5 3: rules hold in submodules, whatever the backend" {
  git config --global protocol.file.allow always
  git init -q "$T/lib"
  (cd "$T/lib" && echo "$SECRET" | tee key a.pem >lib.txt && git add -A && git commit -qm lib)
  git submodule --quiet add "$T/lib" libs/mod; git commit -qm sub
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    # control: without rules all of it can be done
    [[ $(inside "t-$backend" 'sort -u libs/mod/key libs/mod/a.pem; cd libs/mod && echo x >>lib.txt && git checkout -q lib.txt') == "$SECRET" ]]
    configure <<<'jail: {deny_read: [libs/mod/key, "*.pem"], deny_write: [libs/mod/lib.txt]}'
    [[ -z $(inside "t-$backend" 'git status --porcelain; git -C libs/mod status --porcelain') ]]
    silent "$SECRET" inside "t-$backend" 'cat libs/mod/key; cat libs/mod/a.pem; mv libs/mod libs/x; cat libs/x/key; true'
    for attempt in 'echo evil >>libs/mod/lib.txt' 'mv libs/mod/lib.txt libs/mod/x' 'rm -f libs/mod/lib.txt' 'mv libs/mod libs/x' 'mv libs x'; do
      refused inside "t-$backend" "$attempt"
    done
    # a rule for names at any depth does not reach the submodule's git directory
    configure <<<'jail: {deny_read: [config, HEAD], deny_write: [index]}'
    [[ -z $(inside "t-$backend" 'git -C libs/mod status --porcelain 2>&1') ]]
    rm "$XDG_CONFIG_HOME/garth/config.yaml"
  done
}

# The attack uses the rename helper to move a directory away from under the mount that covers a part of it.
@test "J4 J10 3: renaming a directory of the base uncovers nothing in it" {
  project
  mkdir -p far/a/b far/plain; echo x >far/plain/x; echo "$SECRET" >far/a/b/key; git add far; git commit -qm far
  rename="$python -c 'import os, sys; os.rename(sys.argv[1], sys.argv[2])'"
  "$garth" new control
  # control: without rules it is renamed
  inside control "$rename far other; $rename deploy x; cat other/a/b/key"
  configure <<<'jail: {deny_read: [far/a/b/key, secrets], deny_write: ["deploy/prod/**", docs/text]}'
  "$garth" new t
  inside t 'find far secrets deploy docs ! -type d -printf "%p %m %y %s\n" -o -printf "%p %m\n" | sort' >"$T/before"
  for attempt in 'far x' 'far/a x' 'far/a/b far/c' 'secrets x' 'deploy x' 'deploy/prod x' 'docs x'; do
    refused inside t "$rename $attempt"
    silent "$SECRET" inside t 'cat far/a/b/key secrets/key; grep -rs sentinel far secrets x; cat .garth-*/*; true'
    refused inside t 'echo evil >>deploy/prod/p || echo evil >>docs/text || echo evil >>x/p || echo evil >>x/prod/p || echo evil >>x/text'
  done
  inside t 'find far secrets deploy docs ! -type d -printf "%p %m %y %s\n" -o -printf "%p %m\n" | sort' | diff "$T/before" -
  # what has no rule in it is renamed, also in a directory that is a mount point for that reason
  [[ $(inside t "$rename far/plain far/next; cat far/next/x; find . -name '.garth-*'") == x ]]
}
