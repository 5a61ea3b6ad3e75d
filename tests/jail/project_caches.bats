# J1 J2 W7: the project's own cache of package managers (jail.caches: project). A set-up's writes become a frozen layer
# for other tasks of the project. A task's own writes do so only if the user says so. Without that, a set-up's
# writes come with its layer, to the tasks that have it.
load helpers

# set_up COMMAND…: with a project's cache. A change of pkg.lock makes it run again.
set_up() {
  printf '%s\n' "jail: {caches: ${mode:-project}}" 'workspace:' '  setup_inputs: [pkg.lock]' "  setup: [\"sh .setup.sh\"]" | configure
  printf '%s\n' "$@" >"$R/.setup.sh"
  next
}
# A commit with a different set-up.
next() { echo $RANDOM$RANDOM >>"$R/pkg.lock"; git -C "$R" add -A; git -C "$R" commit -qm "inputs"; }
layers() { find "$GARTH_HOME/layers" -mindepth 2 -maxdepth 2 -name 'cache-*' ! -name '*.*' | sort; }
host_cache() { mkdir -p "$HOME/.cache/pip"; echo host >"$HOME/.cache/pip/host"; echo host >"$HOME/.cache/pip/both"; chmod -R o+rwX "$HOME/.cache"; }

@test "W7 J1 J2: what a set-up writes to a cache is part of its layer: for tasks that have it, and nobody else" {
  host_cache
  mode=task set_up 'cat ~/.npm/_cacache/n ~/.cache/pip/n 2>/dev/null | sed "s/^/found /"; mkdir -p ~/.npm/_cacache ~/go/pkg/mod/m; for d in ~/.npm/_cacache ~/.cache/pip; do cat pkg.lock >$d/n; done; echo setup >~/.cache/pip/both; rm ~/.cache/pip/host; echo m >~/go/pkg/mod/m/x; chmod -R a-w ~/go/pkg/mod'
  first=$(cat pkg.lock)
  for backend in "${backends[@]}"; do "$garth" new "t-$backend" --backend "$backend"; done
  for backend in "${backends[@]}"; do
    [[ $(inside "t-$backend" 'cat ~/.npm/_cacache/n ~/.cache/pip/n ~/.cache/pip/both ~/go/pkg/mod/m/x; ls ~/.cache/pip' | paste -sd' ') == "$first $first setup m both n" ]]
    inside "t-$backend" 'echo evil >~/.npm/_cacache/n; chmod -R u+w ~/go; rm -r ~/go/pkg/mod'
  done
  "$garth" new u
  [[ $(inside u 'cat ~/.npm/_cacache/n ~/go/pkg/mod/m/x' | paste -sd' ') == "$first m" ]]
  [[ $(cat "$HOME/.cache/pip/both" "$HOME/.cache/pip/host" | paste -sd' ') == 'host host' ]]
  [[ ! -e $HOME/.npm && ! -e $HOME/go && -z $(layers) ]]
  # other inputs, other files: no set-up finds what another one left, and a task without a set-up has nothing
  next
  call "$garth" warm --verbose
  [[ $code == 0 && $err$out != *found* ]] || complain
  "$garth" new v; "$garth" new w --no-setup
  [[ $(inside v 'tail -n1 ~/.npm/_cacache/n') == "$(tail -n1 pkg.lock)" ]]
  refused inside w 'test -e ~/.npm/_cacache/n'
  [[ $(inside w 'ls ~/.cache/pip' | paste -sd' ') == 'both host' ]]
  # a cache that is off or read-only is the host's alone
  echo 'jail: {caches: {~/.npm/_cacache: off, ~/.cache/pip: read-only}}' | configure
  refused inside u 'test -e ~/.npm/_cacache/n'
  [[ $(inside u 'ls ~/.cache/pip; cat ~/go/pkg/mod/m/x' | paste -sd' ') == 'both host m' ]]
  # a layer whose caches were changed is found, and not used
  rm "$XDG_CONFIG_HOME/garth/config.yaml"
  call "$garth" doctor
  [[ $code == 0 ]] || complain
  for n in "$GARTH_HOME"/layers/*/setup-*/caches/.npm*/n; do echo evil >>"$n"; done
  call "$garth" doctor --repair
  [[ $err$out == *'was changed after it was made'* ]] || complain
  refused inside u 'test -e ~/.npm/_cacache/n'
}

@test "W7: what a set-up writes to a cache is shown to the next set-up and to tasks, also if the host has no such cache" {
  host_cache
  set_up 'cat ~/.npm/_cacache/n ~/.cache/pip/n 2>/dev/null | sed "s/^/found /"; mkdir -p ~/.npm/_cacache; for d in ~/.npm/_cacache ~/.cache/pip; do echo 1 >>$d/n; done; echo setup >~/.cache/pip/both'
  for backend in "${backends[@]}"; do "$garth" new "t-$backend" --backend "$backend"; done
  for backend in "${backends[@]}"; do
    [[ $(inside "t-$backend" 'cat ~/.npm/_cacache/n ~/.cache/pip/n ~/.cache/pip/host ~/.cache/pip/both' | paste -sd' ') == '1 1 host setup' ]]
  done
  next
  call "$garth" warm --verbose
  [[ $err$out == *'found 1'*'found 1'* ]] || complain
  # a task sees the newest at its next start
  [[ $(inside t-overlay 'cat ~/.npm/_cacache/n ~/.cache/pip/n' | paste -sd' ') == '1 1 1 1' ]]
  [[ $(cat "$HOME/.cache/pip/both") == host && ! -e $HOME/.npm ]]
}

# The attack changes and adds packages for the tasks that come after it.
@test "W7 J1 J2: what a task writes reaches no other task, until the user says so" {
  host_cache
  set_up 'mkdir -p ~/.npm/_cacache; echo good >~/.npm/_cacache/p; echo good >~/.cache/pip/p'
  "$garth" new a; "$garth" new b
  inside a 'echo evil >~/.npm/_cacache/p; echo evil >~/.npm/_cacache/new; rm ~/.cache/pip/p ~/.cache/pip/host; mkdir -p ~/.m2/repository; echo evil >~/.m2/repository/x'
  "$garth" new c
  for t in b c; do [[ $(inside $t 'cat ~/.npm/_cacache/* ~/.cache/pip/p ~/.cache/pip/host; ls ~/.m2 2>/dev/null' | paste -sd' ') == 'good good host' ]]; done
  next; "$garth" new d
  [[ $(inside d 'cat ~/.npm/_cacache/*') == good ]]
  # control: the user says so
  "$garth" cache --add a >/dev/null
  [[ $(inside b 'cat ~/.npm/_cacache/p ~/.npm/_cacache/new ~/.m2/repository/x; ls ~/.cache/pip' | paste -sd' ') == 'evil evil evil both' ]]
  [[ $(inside a 'cat ~/.npm/_cacache/new ~/.m2/repository/x; ls ~/.cache/pip' | paste -sd' ') == 'evil evil both' ]]
  [[ -e $HOME/.cache/pip/host ]]
  [[ $("$garth" audit a) == *cache* ]]
}

# The attack is in a commit that only a task has: the user looks at it in another task, and its set-up runs.
@test "W7 J1 J2: what the set-up of an agent's commit writes to a cache reaches no other task" {
  set_up 'mkdir -p ~/.npm/_cacache; echo good >~/.npm/_cacache/p'
  "$garth" new a
  inside a 'echo 2 >pkg.lock; echo "mkdir -p ~/.npm/_cacache; echo evil >~/.npm/_cacache/p" >.setup.sh; git commit -qam evil'
  "$garth" new look --base garth/a
  [[ $(inside look 'cat ~/.npm/_cacache/p') == good ]]
  next; sed -i s/good/better/ .setup.sh; next
  "$garth" new b
  [[ $(inside b 'cat ~/.npm/_cacache/p') == better ]]
  # control: merged, it is the user's
  "$garth" merge a --into main >/dev/null 2>&1 || git merge -q -X theirs garth/a
  next; "$garth" new c
  [[ $(inside c 'cat ~/.npm/_cacache/p') == evil ]]
}

@test "W7 J2: another project does not get it" {
  set_up 'mkdir -p ~/.npm/_cacache; echo mine >~/.npm/_cacache/p'
  "$garth" new a
  mkdir "$T/home/src/other"; cd "$T/home/src/other"; git init -q; git commit -q --allow-empty -m x
  "$garth" new b --no-setup
  refused inside b 'test -e ~/.npm/_cacache/p'
  refused inside b 'test -e ~/.npm/_cacache'
  cd "$R"; [[ $(inside a 'cat ~/.npm/_cacache/p') == mine ]]
}

@test "O2: only the user's file turns it on; a repository's cannot, and per cache it can be off" {
  printf 'jail: {caches: project}\n' >.garth.yaml; git add -A; git commit -qm settings
  call "$garth" new a
  [[ $err == *"jail.caches"* ]] || complain
  git rm -q .garth.yaml; git commit -qm none
  mode='{~/.npm/_cacache: project}' set_up 'mkdir -p ~/.npm/_cacache ~/.cache/uv; echo x >~/.npm/_cacache/p; echo x >~/.cache/uv/p'
  "$garth" new b
  inside b 'test -e ~/.npm/_cacache/p'
  inside b 'test -e ~/.cache/uv/p'
  "$garth" new c --no-setup
  inside c 'test -e ~/.npm/_cacache/p'
  refused inside c 'test -e ~/.cache/uv/p'
  [[ $("$garth" show b --jail) == *"cache    $HOME/.npm/_cacache  (writable"*'  lower '*/cache-*/tree/.npm%2F_cacache* ]]
}

# The attack leaves files in caches that would harm the host, or a program that reads a layer: links to keys, links between
# files, special files, set-id programs, marks of the overlay, directories that nobody can enter, endless paths.
@test "2 3 J1 J10: a set-up's or a task's hostile files in a cache do no harm" {
  host_cache
  mess='cd ~/.cache/pip; ln -s /etc/passwd abs; ln -s ../../../../../../etc/passwd up; ln -s '"$T/elsewhere/secret"' s; echo h >h1; ln h1 h2; ln h1 ~/h3; mkfifo fifo
    '"$python"' -c "import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")"
    cp /bin/true suid; chmod 6755 suid || chmod 755 suid; mkdir closed ro; echo x >closed/x; echo ro >ro/f; chmod 0444 ro/f; chmod 555 ro; chmod 0 closed; echo k >no; chmod 0 no
    mkdir -p ~/.npm/_cacache/d; echo y >~/.npm/_cacache/d/f; '"$python"' -c "
import os
h=os.environ[\"HOME\"]+\"/.npm/_cacache/\"
for n in (\"opaque\",\"redirect\",\"metacopy\",\"whiteout\",\"origin\"):
  for p in (h+\"d\",h+\"d/f\"):
    try: os.setxattr(p,\"user.overlay.\"+n,b\"y\" if n==\"opaque\" else b\"/etc\")
    except OSError as e: print(n,e)
os.chdir(h)
for i in range(300):
  os.mkdir(\"l\"*100); os.chdir(\"l\"*100)
"
    rm host; ln -s /etc ~/.cargo; rm -rf ~/.gradle; ln -s '"$T/elsewhere"' ~/.gradle; true'
  set_up "$mess"
  "$garth" new t
  # (a file without permissions is not read, even if the user asks for it)
  look='cd ~/.cache/pip; ls; cat h1 h2 ro/f; test "$GARTH_TASK" = u || cat no; test ! -u suid; cat ~/.npm/_cacache/d/f; test ! -e host; readlink abs; ls ~/.cargo ~/.gradle 2>/dev/null'
  [[ $(inside t "$look") == *$'h\nh\nro\nk\ny\n/etc/passwd' ]] || { inside t "$look"; false; }
  not inside t 'ls ~/.cache/pip | grep -E "fifo|sock"'
  # in the layer: nothing but files, directories, links and whiteouts; no set-id bits, no marks of the attacker
  for l in $(layers); do
    [[ -z $(find "$l/tree" \( -type p -o -type s -o -type b \) -o -perm /7000 -type f) ]]
    [[ -z $(find "$l/tree" -type f -links +1) ]]
    [[ -z $(find "$l/tree" -type c ! -size 0) ]]
    "$python" - "$l/tree" <<'P'
import os,sys
for d,_,fs in os.walk(sys.argv[1]):
    for f in fs:
        p=os.path.join(d,f)
        if os.path.isfile(p) and not os.path.islink(p): assert not [x for x in os.listxattr(p) if 'overlay' in x], p
    assert set(x for x in os.listxattr(d) if 'overlay' in x) <= {'user.overlay.opaque'}, d
P
  done
  # the same by a task that the user names
  inside t "rm -rf ~/.cargo ~/.gradle ~/h3; cd ~/.cache/pip; rm -f abs up s h1 h2 suid no; chmod 755 ro; rm -rf ro ~/.npm/_cacache/l*; $mess" || true
  "$garth" cache --add t >/dev/null
  [[ -z $(find $(layers) \( -type p -o -type s -o -type b \) -o -perm /7000 -type f) ]]
  "$garth" new u
  [[ $(inside u "$look") == *$'h\nh\nro\ny\n/etc/passwd' ]]
  call "$garth" doctor
  [[ $code == 0 ]] || complain
  "$garth" cache >/dev/null
  # as a part of the set-up's own layer
  mode=task set_up "$mess"
  "$garth" new v
  [[ $(inside v "$look") == *$'h\nh\nro\nk\ny\n/etc/passwd' ]]
  not inside v 'ls ~/.cache/pip | grep -E "fifo|sock"'
  [[ -n $(find "$GARTH_HOME"/layers/*/setup-*/caches -name abs) ]]
  [[ -z $(find "$GARTH_HOME"/layers/*/setup-*/caches \( -type p -o -type s -o -type b \) -o -perm /7000 -type f -o -type f -links +1) ]]
  call "$garth" doctor
  [[ $code == 0 ]] || complain
  untouched
}

# The attack reaches for the shared layers through the mounts, to change what other tasks see.
@test "3 J1 J2: the layers themselves are out of reach, and cannot be changed through a cache" {
  set_up 'mkdir -p ~/.npm/_cacache/d; echo good >~/.npm/_cacache/d/p'
  "$garth" new t; "$garth" new u
  before_layers=$(find $(layers) -printf '%P %y %m %s %C@\n' | sort)
  inside t 'cd ~/.npm/_cacache; ln d/p hard; echo evil >hard; chmod 777 d/p; truncate -s 0 d/p; mv d e; rm -rf e; echo x >d' || true
  refused inside t "ls $GARTH_HOME/layers"
  [[ $(find $(layers) -printf '%P %y %m %s %C@\n' | sort) == "$before_layers" ]]
  [[ $(inside u 'cat ~/.npm/_cacache/d/p') == good ]]
}

@test "W7: removed files stay removed, through any number of set-ups, and the chain stays short" {
  host_cache
  set_up 'n=$(cat ~/.cache/pip/n || echo 0); case $n in 0) mkdir -p ~/.cache/pip/d ~/.npm/_cacache/a/b; echo old >~/.cache/pip/d/old; echo old >~/.npm/_cacache/a/b/old; rm ~/.cache/pip/host;; 1) rm -r ~/.cache/pip/d ~/.npm/_cacache/a; mkdir ~/.cache/pip/d; echo new >~/.cache/pip/d/new;; 2) echo file >~/.npm/_cacache/a;; 3) rm ~/.npm/_cacache/a; mkdir ~/.npm/_cacache/a; echo again >~/.npm/_cacache/a/x;; esac; echo $((n+1)) >~/.cache/pip/n'
  longest=0
  for i in {1..11}; do
    "$garth" warm >/dev/null 2>&1 || "$garth" warm
    (($(layers | wc -l) > longest)) && longest=$(layers | wc -l)
    next
  done
  ((longest <= 5))
  "$garth" new t --no-setup
  [[ $(inside t 'cd ~/.cache/pip; cat n; ls . d; cat ~/.npm/_cacache/a/x; ls ~/.npm/_cacache/a' | paste -sd' ') == '11 .: both d n  d: new again x' ]] || { inside t 'cd ~/.cache/pip; cat n; ls . d; ls -R ~/.npm'; false; }
  echo later >"$HOME/.cache/pip/host"
  refused inside t 'test -e ~/.cache/pip/host'
  call "$garth" doctor
  [[ $code == 0 ]] || complain
}

@test "W7: a running task keeps its layers while others are added, merged and pruned" {
  set_up 'mkdir -p ~/.npm/_cacache; n=$(ls ~/.npm/_cacache | wc -l); echo $n >~/.npm/_cacache/$n'
  "$garth" run -qd --task t -- sh -c 'while ! test -e stop; do sleep 0.1; done; cat ~/.npm/_cacache/* | paste -sd" " >seen'
  until_ eval '[[ $(state_of t) == running ]]'
  for i in 1 2 3 4 5 6; do next; "$garth" warm >/dev/null; done
  [[ $(layers | wc -l) == 7 ]]
  "$garth" cache --prune >/dev/null; "$garth" gc >/dev/null
  [[ $(layers | wc -l) == 7 ]]
  [[ $("$garth" cache --json | json '[i["task_names"] for i in d["cache"] if i["kind"] == "cache"].count(["t"])') == 1 ]]
  inside t 'touch stop'
  until_ eval '[[ $(state_of t) != running ]]'
  [[ $(inside t 'cat seen') == 0 ]]
  # nobody uses them: they become one
  next; "$garth" warm >/dev/null
  [[ $(layers | wc -l) == 1 ]]
  [[ $(inside t 'cat ~/.npm/_cacache/* | paste -sd" "') == '0 1 2 3 4 5 6 7' ]]
  call "$garth" cache
  [[ $out == *' cache '*' cache-'*'# ~/.npm/_cacache'* ]] || complain
  "$garth" cache --prune >/dev/null
  [[ -z $(layers) ]]
  refused inside t 'test -e ~/.npm/_cacache/0'
}

@test "W7: set-ups and starts of tasks at the same time do not disturb each other" {
  set_up 'mkdir -p ~/.npm/_cacache; echo x >~/.npm/_cacache/$(wc -l <pkg.lock)'
  "$garth" new t
  for i in 1 2 3; do next; git branch "b$i"; done
  for i in 1 2 3; do (for k in 1 2; do "$garth" warm -b "b$i" >/dev/null 2>&1; done) 3>&- & done
  for i in 1 2 3 4 5 6; do inside t 'ls ~/.npm/_cacache >/dev/null'; "$garth" cache --prune >/dev/null 2>&1; done
  wait
  "$garth" warm -b b1 >/dev/null
  inside t 'ls ~/.npm/_cacache 2>/dev/null; true'
  call "$garth" doctor
  [[ $code == 0 ]] || complain
}

@test "W7: doctor finds a changed layer; repaired, the cache begins anew; one that was not synced is not used" {
  set_up 'mkdir -p ~/.npm/_cacache; echo good >~/.npm/_cacache/p'
  "$garth" new t
  sleep 0.02; echo evil >"$(layers)/tree/.npm%2F_cacache/p"
  call "$garth" doctor --json
  [[ $(json '[f["kind"] for f in d["findings"]]' <<<"$out") == *layer-changed* ]] || complain
  call "$garth" doctor --repair
  [[ -z $(layers) ]] || complain
  refused inside t 'test -e ~/.npm/_cacache/p'
  next; "$garth" warm >/dev/null
  [[ $(inside t 'cat ~/.npm/_cacache/p') == good ]]
  echo another-boot >"$(layers)/boot"
  refused inside t 'test -e ~/.npm/_cacache/p'
}

@test "W7 ESCAPES: a crash while the cache is changed leaves no incomplete layer in use" {
  grep -q 'cache-merge' "$garth" || skip "this build has no faults"
  set_up 'mkdir -p ~/.npm/_cacache; n=$(ls ~/.npm/_cacache | wc -l); echo good >~/.npm/_cacache/$n'
  for step in cache-layer cache-merge cache-merged layer-filled layer-made; do
    # four layers: the fifth set-up merges them
    "$garth" cache --prune >/dev/null
    for i in 1 2 3 4; do next; "$garth" warm >/dev/null; done
    next
    call env GARTH_FAULT=$step "$garth" warm
    [[ $code == 137 ]] || complain "$step"
    "$garth" doctor --repair >/dev/null 2>&1 || true
    next; "$garth" warm >/dev/null
    "$garth" new "t-$step" --no-setup
    [[ $(inside "t-$step" 'cat ~/.npm/_cacache/* | sort -u') == good ]]
    call "$garth" doctor
    [[ $code == 0 ]] || complain
  done
  find "$GARTH_HOME/layers" -name '*.part' -o -name '*.gone' | not grep .
}

@test "W7: a set-up that fails, or that writes no files, adds nothing" {
  set_up 'mkdir -p ~/.npm/_cacache; echo half >~/.npm/_cacache/p; exit 3'
  not "$garth" new t 2>/dev/null
  [[ -z $(layers) ]]
  set_up 'mkdir -p ~/.npm/_cacache'
  "$garth" new t
  [[ -z $(layers) ]]
  call "$garth" cache --add t
  [[ $code == 0 && $err == *'wrote nothing'* ]] || complain
  echo 'jail: {caches: task}' | configure
  call "$garth" cache --add t
  [[ $code == 4 && $err == *"must say 'project'"* ]] || complain
}
