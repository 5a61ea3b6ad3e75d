load helpers

@test "O3 input: not a repository" {
  mkdir "$T/plain"; cd "$T/plain"
  for c in "new t" "run -- true"; do
    changes_nothing 3 "'$T/plain' is not in a git repository" "$garth" $c
    [[ $(hint) == "git init" ]]
  done
  [[ -z $(ls -A "$T/plain") ]]
}

@test "O3 input: a working directory that is gone" {
  mkdir "$T/gone"; cd "$T/gone"; rmdir "$T/gone"
  call "$garth" new t
  [[ $code != 0 ]] || complain
  [[ $(grep -c '^✗ ' <<<"$err") == 1 ]] || complain
  [[ -z $out ]] || complain
  cd "$R"
  [[ $("$garth" ls --json | json 'd["tasks"]') == "[]" ]]
}

@test "O3 input: an unborn branch" {
  git init -q "$T/unborn"; cd "$T/unborn"
  changes_nothing 3 "has no commit yet" "$garth" new t
  $(hint | sed s/commit/'-c user.name=x -c user.email=x commit -q'/)
  "$garth" new t
}

@test "O3 input: an unknown revision, one that looks like an option, one that is no commit" {
  git tag -a -m t tag-of-blob "$(git rev-parse HEAD:a.txt)"
  remember
  for rev in nosuch -x --all '' HEAD~9 'HEAD^{tree}' HEAD:a.txt tag-of-blob 'a..b' 'main main' '@{9}' \
    0000000000000000000000000000000000000000 deadbeef $'main\n' '--output=x'; do
    fails 3 "" "$garth" new t --base "$rev"
    fails 3 "" "$garth" new t "--base=$rev"
    fails 3 "" "$garth" run -b "$rev" -- true
  done
  nothing_changed
  [[ ! -e x ]]
}

@test "O3 input: no such task, for every command that names one" {
  "$garth" new t
  remember
  for c in "exec nosuch -- true" "shell nosuch" "attach nosuch" "cancel nosuch" "show nosuch" "show nosuch --jail" \
    "path nosuch" "diff nosuch" "log nosuch" "export nosuch $T/exported" "discard -fD nosuch"; do
    fails 3 "there is no task 'nosuch'" "$garth" $c
  done
  fails 3 "there is no project '..' with tasks" "$garth" path ../t
  for name in '' 't;ls' "t'" '%' $'t\n' "$(printf 'x%.0s' {1..5000})"; do fails 3 "there is no task" "$garth" path "$name"; done
  nothing_changed
  [[ ! -e $T/exported ]]
}

@test "O3 input: with --json, errors are JSON on stdout too, with code and hint" {
  for c in "show nosuch --json:not_found" "path nosuch --json:not_found" "diff --json nosuch:not_found" \
    "export --json nosuch x:not_found" "discard --json nosuch:not_found" "ls --json x:usage" "new --json A:usage" \
    "config --json x:not_found" "doctor --json x:usage"; do
    call "$garth" ${c%:*}
    [[ $code != 0 ]] || complain "$c"
    [[ $err == '✗ '* ]] || complain "$c"
    [[ $(json 'd["error"]["code"]' <<<"$out") == "${c#*:}" ]] || complain "$c"
    [[ $(json 'len(d["error"]["message"]) > 5' <<<"$out") == true ]] || complain "$c"
  done
}

@test "O3 input: unknown backend, network, agent; contradictions" {
  remember
  fails 2 "there is no backend 'zfs'; the backends are overlay, worktree and clone" "$garth" new t --backend zfs
  fails 2 "there is no network 'some'; the networks are none, allow and host" "$garth" run --net some -- true
  fails 3 "there is no agent 'nosuch'" "$garth" run --agent nosuch -- true
  fails 2 "leave --allow-weaker out" "$garth" run --strict-isolation --allow-weaker -- true
  fails 2 "is not the name of a variable" "$garth" run -e 1x=y -- true
  nothing_changed
}

@test "O3 input: a Garth home with a path that is too long, relative, a file, another user's" {
  remember
  long=$T/$(printf 'x%.0s' {1..200})
  mkdir -p "$long"
  deep=$long; for _ in {1..20}; do deep+=/$(printf 'x%.0s' {1..200}); done
  fails 2 "path is too long" env GARTH_HOME="$deep" "$garth" new t
  fails 1 "File name too long" env GARTH_HOME="$T/$(printf 'x%.0s' {1..300})" "$garth" new t
  fails 2 "must be an absolute path" env GARTH_HOME=rel "$garth" new t
  touch "$T/file"
  fails 1 "Garth home" env GARTH_HOME="$T/file" "$garth" new t
  fails 1 "Garth home" env GARTH_HOME="$T/no/such/parent" "$garth" new t
  if is_root; then
    mkdir "$T/other"; chown 1 "$T/other"
    fails 4 "belongs to another user" env GARTH_HOME="$T/other" "$garth" new t
  else
    fails 4 "belongs to another user" env GARTH_HOME=/usr "$garth" new t
  fi
  nothing_changed
  [[ ! -e rel && ! -s $T/file ]]
}

@test "O3 input: a long Garth home that still fits works in every command" {
  mkdir -p "$T/$(printf 'x%.0s' {1..200})/$(printf 'y%.0s' {1..200})"
  export GARTH_HOME=$T/$(printf 'x%.0s' {1..200})/$(printf 'y%.0s' {1..200})/g
  "$garth" run -t t -- sh -c 'echo w >w; git add w; git commit -qm w'
  "$garth" exec t -- git status --porcelain
  "$garth" diff t | grep -F '+w'
  "$garth" run -d -t u -- sleep 60
  "$garth" exec u -- true
  "$garth" cancel u
  "$garth" new w --backend worktree
  [[ $(inside w cat a.txt) == one ]]
  "$garth" discard -fD t; "$garth" discard u; "$garth" discard w
}

# small_disk SIZE SCRIPT: the script with a Garth home on a disk of that size, in the jail of nobody: as root or
# as the user.
small_disk() {
  mkdir -p -m 700 "$GARTH_HOME"
  if is_root; then
    unshare -m sh -c 'mount -t tmpfs -o mode=700,size="$1" none "$GARTH_HOME" && eval "$2"' sh "$@"
  else
    unshare -Urm sh -c 'mount -t tmpfs -o mode=700,size="$1" none "$GARTH_HOME" && exec unshare -U --map-user="$3" --map-group="$3" sh -c "$2"' sh "$@" "$(id -u)"
  fi
}

@test "O3 ESCAPES 24 input: a full disk is found before anything is made" {
  fingerprint >"$T/before"
  export garth
  call small_disk 8m 'rc=0; "$garth" new t || rc=$?; "$garth" ls --json >&2; exit $rc'
  [[ $code == 1 ]] || complain
  [[ $err == "✗ the disk of '$GARTH_HOME' is full"* ]] || complain
  [[ $err == *'"tasks": []'* ]] || complain
  fingerprint | diff "$T/before" -
  [[ -z $(git for-each-ref refs/garth refs/heads/garth) ]]
}

@test "O3 ESCAPES 24 input: a disk that fills up while a task is made leaves nothing, for both backends" {
  head -c 30000000 /dev/urandom >big; commit big
  fingerprint >"$T/before"
  export garth
  for b in "${backends[@]}"; do
    call small_disk 24m 'rc=0; "$garth" new t --backend '$b' || rc=$?; "$garth" ls --json >&2; cd "$GARTH_HOME"; find tasks worktrees bases scratch -mindepth 1 | grep -vxE "bases/1(/lock)?"; exit $rc'
    [[ $code == 1 ]] || complain "$b"
    [[ $err == '✗ '* ]] || complain "$b"
    [[ $err == *'"tasks": []'* ]] || complain "$b"
    [[ -z $out ]] || complain "$b"
    [[ $(grep -c '^✗' <<<"$err") == 1 ]] || complain "$b"
    fingerprint | diff "$T/before" -
    [[ -z $(git for-each-ref refs/garth refs/heads/garth) ]] || complain "$b"
    [[ $(git worktree list | wc -l) == 1 ]] || complain "$b"
  done
  git fsck --strict
}

@test "O3 ESCAPES 24 input: a disk that fills up while a command runs ends neither the command nor the earlier log" {
  export garth
  call small_disk 40m '"$garth" run -t t --on-dirty keep -- sh -c "echo early; head -c 60000000 /dev/zero >big; echo \$?; head -c 3000000 /dev/zero | tr \\\\0 x; echo; echo late"; echo "code $?"; "$garth" log t | head -n 1; "$garth" exec t -- sh -c "rm big; echo room >room; cat room"'
  [[ $code == 0 ]] || complain
  [[ $out == early* ]] || complain
  [[ $out == *late*'code 0'*early*room ]] || complain
  # if Garth cannot check for uncommitted work, the task has not succeeded, and the message says so
  call small_disk 40m '"$garth" run -t u -- sh -c "head -c 60000000 /dev/zero >big; true"; echo "code $?"; "$garth" exec u -- sh -c "rm big; cat a.txt"'
  [[ $code == 0 ]] || complain
  [[ $out == $'code 1\none' ]] || complain
  [[ $err == *"✗ task 'u' failed: "* ]] || complain
}

@test "O3 input: no user namespaces: one line, the command that helps, exit code 125, doctor says the same" {
  without=(python3 "$BATS_TEST_DIRNAME/without-userns")
  "$garth" new t
  fails 125 "" "${without[@]}" "$garth" exec t -- true
  fails 125 "user namespaces" "${without[@]}" "$garth" run -t u -- true
  [[ -n $(hint) ]] || complain
  call "${without[@]}" "$garth" doctor
  [[ $code == 1 ]] || complain
  [[ $out == *'✗ user namespaces'* ]] || complain
  [[ $(state_of t) == created ]]
  inside t true
}

# Each kind that is not supported is refused by its name, in both backends.
refuses() {
  remember
  for b in overlay worktree; do fails 4 "$1" "$garth" new t --backend $b; done
  fails 4 "$1" "$garth" run -- true
  nothing_changed
  git fsck
}

elsewhere() { R=$T/home/$1; cd "$R"; }

@test "O3 input: files with a filter are refused" {
  git config filter.crypt.clean cat; git config filter.x.smudge cat
  echo '*.bin filter=crypt diff=crypt -text' >dir/.gitattributes; commit
  refuses "filter=crypt"
  rm dir/.gitattributes; commit
  echo 'a.txt filter=x' >.git/info/attributes
  refuses "info/attributes"
}

@test "O3 input: a filter in a commit that would be a delta is refused" {
  mkdir many; for i in {1..60}; do echo $i >many/$i; done; commit
  "$garth" new first
  git config filter.crypt.clean cat
  echo '*.bin filter=crypt' >.gitattributes; commit
  refuses "filter=crypt"
}
