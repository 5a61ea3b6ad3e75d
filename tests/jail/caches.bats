# J1 J2: caches of the user's package managers, with the task's own writable layer on top.
load helpers

# Caches with a file that an attacker would like to change, and beside them what nobody inside may read.
caches=(.cargo/registry/cache .npm/_cacache/x go/pkg/mod/cache .gradle/caches .m2/repository .gem/ruby .cache/pip/http .local/lib .local/bin)
secrets=(.cargo/credentials.toml .cargo/credentials .cargo/config.toml .npmrc .npm/_logs/debug.log .m2/settings.xml .gem/credentials
  .gradle/gradle.properties .gradle/init.d/login.gradle .cache/mozilla/firefox/profile .cache/google-chrome/Default/x
  .cache/huggingface/token .cache/pre-commit/patch1 .cache/something/x .ivy2/.credentials go/bin-not/x)

host_caches() {
  local path
  for path in "${caches[@]}"; do mkdir -p "$HOME/$path"; echo cached >"$HOME/$path/package"; done
  for path in "${secrets[@]}"; do mkdir -p "$(dirname "$HOME/$path")"; printf '%s\n' "$SECRET" >"$HOME/$path"; done
  find "$HOME"/.??* "$HOME/go" -path "$GARTH_HOME" -prune -o \( -type d -o -type f \) -exec chmod o+rwX {} +
  picture=$(pictured)
}
pictured() { (cd "$HOME" && find "${caches[@]%%/*}" -path .garth -prune -o -printf '%p %y %m %s %U\n' -type f -exec cat {} + | sort); }

# The attack changes, removes and adds packages in the caches, for the user and for other tasks to use.
@test "1 J1 J2 J10: what a task writes to a cache reaches neither the host nor another task" {
  host_caches
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    for path in "${caches[@]}"; do
      [[ $(inside "t-$backend" "cat ~/$path/package") == cached ]]
      # control: outside this succeeds
      outside sh -c "echo new >$HOME/$path/new && rm $HOME/$path/new"
    done
    all="${caches[*]}"
    inside "t-$backend" "cd; set -e; for c in $all; do echo evil >\$c/package; echo evil >\$c/new; mkdir \$c/dir; echo x >\$c/dir/f; mv \$c/dir \$c/moved; done"
    [[ $(pictured) == "$picture" ]]
    # it stays for the task itself
    [[ $(inside "t-$backend" "cd; cat .npm/_cacache/x/package .npm/_cacache/x/new .m2/repository/moved/f") == $'evil\nevil\nx' ]]
    inside "t-$backend" "cd; rm -r $all || true; test ! -e .cargo/registry/cache/package"
    [[ $(pictured) == "$picture" ]]
    not inside "t-$backend" 'test -e ~/.cargo/registry/cache/package'
  done
  "$garth" new other
  [[ $(inside other 'cat ~/.cargo/registry/cache/*') == cached ]]
  untouched
}

# The attack looks for log-ins, profiles and settings in and beside the caches.
@test "1 J2 J7: keys, log-ins and profiles beside the caches are not shown" {
  host_caches
  tells "$SECRET" outside grep -rs "$SECRET" "$HOME/.cargo" "$HOME/.gradle"
  for backend in "${backends[@]}"; do
    "$garth" new "t-$backend" --backend "$backend"
    for path in "${secrets[@]}"; do
      outside test -s "$HOME/$path"
      refused inside "t-$backend" "test -e ~/$path"
    done
    silent "$SECRET" inside "t-$backend" "grep -rs $SECRET ~ || true"
  done
  # nor can the configuration show them by naming what is above them
  for path in '~/.gradle' '~/.m2' '~/.cargo' '~/.gem' '~/.cache' '~/.ssh' '~/.cache/mozilla' '~/.cache/google-chrome/Default' '~/.cache/huggingface' '~/..' '~/a/../.ssh' '/etc' '.npm' '~' '~/'; do
    echo "jail: {caches: [\"$path\"]}" | configure
    run -2 "$garth" new refused
    [[ $output == *'config.yaml:1:'* ]] || { echo "$path: $output"; false; }
  done
}

# The attack is a cache that is a link to the user's keys, or to a directory that holds the home.
@test "2 J2: a cache that leads elsewhere is not a way to keys" {
  mkdir -p "$HOME/.cache" "$HOME/.npm" "$T/elsewhere/pip"
  ln -s ../.ssh "$HOME/.cache/pip"
  ln -s "$HOME" "$HOME/.cache/uv"
  ln -s / "$HOME/.npm/_cacache"
  ln -s "$T/elsewhere/pip" "$HOME/.cache/yarn"
  echo moved >"$T/elsewhere/pip/f"; chmod 644 "$T/elsewhere/pip/f"
  before=$(sentinels)
  "$garth" new t
  tells "$SECRET" cat "$HOME/.cache/pip/id_test" "$HOME/.cache/uv/notes.txt"
  refused inside t 'test -e ~/.cache/pip/id_test || test -e ~/.cache/uv/notes.txt || test -e ~/.npm/_cacache/etc'
  # control: an ordinary link is followed
  [[ $(inside t 'cat ~/.cache/yarn/f; echo new >~/.cache/yarn/new') == moved ]]
  untouched
}

# The attack leaves links and files in its home where the next start mounts caches.
@test "2 J1: links in the task's home are not followed when caches are mounted" {
  "$garth" new t
  inside t "mkdir -p ~/.cache; ln -s $T/elsewhere ~/.cache/pip; ln -s /tmp ~/.npm; echo x >~/.m2"
  host_caches
  [[ $(inside t 'readlink ~/.cache/pip; cat ~/.gem/ruby/package') == "$T/elsewhere"$'\n'cached ]]
  inside t 'test ! -e /tmp/_cacache/x; cat ~/.m2'
  untouched
}

# The attack goes from the writable layer to the host's files: hard links, renames, special files, modes.
@test "3 J1: a cache's layer is no way to the host's files" {
  host_caches
  "$garth" new t
  inside t 'cd ~/.cargo/registry/cache; ln package hard; echo evil >hard; chmod 777 package; touch -d @1 package; truncate -s 0 package; mkfifo fifo; cat hard'
  [[ $(pictured) == "$picture" ]]
  refused inside t 'mknod ~/.cargo/registry/disk b 8 0'
  # the layers themselves, and the host's directory under them, cannot be reached
  [[ -d $(echo "$GARTH_HOME"/tasks/*/caches/.cargo%2Fregistry/upper) ]]
  refused inside t "ls $GARTH_HOME/tasks/*/caches"
}

@test "J8: the disk limit counts what a task adds to a cache" {
  host_caches
  echo 'limits: {max_disk: 3MB, check_every: 1}' | configure
  "$garth" run -qd --task t -- sh -c 'mkdir ~/.cache/pip/many; for i in $(seq 40); do head -c 200000 /dev/zero >~/.cache/pip/many/$i; done; sleep 60'
  until_ eval '[[ $(state_of t) == paused ]]'
  [[ $("$garth" show t) == *'limits.max_disk'* ]]
}

@test "T6 T7: discard, undo and archive keep a task's caches" {
  host_caches
  "$garth" new t
  inside t 'echo work >work; echo mine >~/.cache/pip/http/mine; rm ~/.m2/repository/package'
  "$garth" discard -fD t
  "$garth" undo
  [[ $(inside t 'cat ~/.cache/pip/http/mine; ls ~/.m2/repository') == mine ]]
  "$garth" archive t
  [[ -z $(tar -tzf "$GARTH_HOME"/archives/*.tar.gz | grep 'caches/[^/]*/work/.') ]]
  "$garth" undo
  [[ $(inside t 'cat ~/.cache/pip/http/mine; ls ~/.m2/repository') == mine ]]
}

@test "O2: the configuration makes caches read-only, hides them, and adds others" {
  host_caches
  mkdir -p "$HOME/.cache/something"
  "$garth" new t
  echo 'jail: {caches: read-only}' | configure
  [[ $(inside t 'cat ~/.m2/repository/package') == cached ]]
  refused inside t 'touch ~/.m2/repository/new'
  echo 'jail: {caches: off}' | configure
  refused inside t 'test -e ~/.m2/repository/package'
  echo 'jail: {caches: {"*": off, ~/.m2/repository: task, ~/.cache/something: read-only}}' | configure
  inside t 'touch ~/.m2/repository/new'
  refused inside t 'touch ~/.cache/something/new'
  refused inside t 'test -e ~/.gem/ruby/package'
  echo 'jail: {caches: [~/.cache/something], tools: [.m2/repository, .cache/something]}' | configure
  inside t 'touch ~/.cache/something/new ~/.m2/repository/other'
  [[ $("$garth" show t --jail) == *"cache    $HOME/.cache/something  (writable"* ]]
  echo 'jail: {caches: {~/.m2/repository: shared}}' | configure
  run -2 "$garth" exec t -- true
  [[ $output == *"'task', 'project', 'read-only' or 'off'"* ]]
}

# Commands that end at once leave work directories behind that nobody had time to remove.
@test "J1: many short commands leave no work directories behind" {
  host_caches
  "$garth" new t
  inside t true
  work=$(echo "$GARTH_HOME"/tasks/*/caches)/.m2%2Frepository/work
  # what the first command left may be removed at this moment, so that it takes a few more until they are many
  for i in {1..18}; do mkdir -p "$work/old-$i"; done
  few_are_left() { inside t true; (($(ls "$work" | wc -l) < 10)); }
  for i in {1..20}; do ! few_are_left || return 0; done
  return 1
}
