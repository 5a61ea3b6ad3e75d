load helpers

@test "T1 diff: uncommitted changes, drafts, new and removed files, modes and links, against the base" {
  for b in "${backends[@]}"; do
    "$garth" new t-$b --backend $b
    inside t-$b 'echo more >>a.txt; git commit -qam draft; echo again >>a.txt; echo new >new; rm dir/b.txt; chmod +x dir/sub/c.txt
      ln -sf dir/sub/c.txt link; mkdir d2; mv run.sh d2/'
    call "$garth" diff t-$b
    [[ $code == 0 ]] || complain
    [[ $err == *"1 published file is not as shown here: a merge brings what is published"* ]] || complain
    mkdir "$T/check-$b"
    git archive HEAD | tar -x -C "$T/check-$b"
    (cd "$T/check-$b" && git init -q && git apply "$T/out")
    "$garth" export t-$b "$T/x-$b"
    diff -r --no-dereference -x .git "$T/x-$b" "$T/check-$b"
    [[ -x $T/check-$b/dir/sub/c.txt ]]
    [[ $(readlink "$T/check-$b/link") == dir/sub/c.txt ]]
  done
  "$garth" diff t-overlay >"$T/1"; "$garth" diff t-worktree >"$T/2"
  cmp "$T/1" "$T/2"
}

@test "T1 diff: nothing changed, nothing printed; rewriting a file with the same content is no change" {
  for b in "${backends[@]}"; do
    "$garth" new t-$b --backend $b
    inside t-$b 'cp a.txt x; mv x a.txt; touch dir/b.txt; mkdir empty; mv dir d2; mv d2 dir'
    call "$garth" diff t-$b
    [[ $code == 0 ]] || complain $b
    [[ -z $out ]] || complain $b
    [[ -z $err ]] || complain $b
    [[ $("$garth" diff --json t-$b | json 'd["files"]') == "[]" ]]
  done
}

@test "O3 diff: --stat, --json, paths" {
  "$garth" run -t t --on-dirty keep -- sh -c 'echo 1 >>a.txt; echo 2 >>dir/b.txt; echo 3 >dir/new; touch x.o; mkdir ignored; touch ignored/a ignored/b'
  "$garth" diff --stat t | tail -n1 | grep -q '3 files changed'
  [[ $("$garth" diff --json t | json 'sorted((f["status"], f["path"]) for f in d["files"])') == '[["A", "dir/new"], ["M", "a.txt"], ["M", "dir/b.txt"]]' ]]
  [[ $("$garth" diff --json t | json 'd["ignored"]') == 3 ]]
  [[ $("$garth" diff t dir | grep -c '^diff') == 2 ]]
  [[ $("$garth" diff t -- dir/new | grep -c '^diff') == 1 ]]
  [[ $("$garth" diff t nosuch) == "" ]]
}

@test "T1 diff: a running task" {
  "$garth" run -d -t t -- sh -c 'echo 1 >>a.txt; touch ready; exec sleep 1000'
  eventually inside t 'test -e ready'
  "$garth" diff t | grep -qx '+1'
  "$garth" cancel t
}

@test "T1 diff: binary files, large files, empty files, files without a line end" {
  "$garth" run -t t --on-dirty keep -- sh -c 'head -c 2000 /dev/urandom >bin; : >empty; printf x >noeol; head -c 3000000 /dev/zero >zeros'
  "$garth" diff t | grep -q 'Binary files /dev/null and b/bin differ'
  [[ $("$garth" diff --json t | json 'len(d["files"])') == 4 ]]
}

@test "ESCAPES 9 10 16 diff: programs that the agent's git would run are not run, repositories that it made are named" {
  "$garth" new t
  inside t '
    for k in core.fsmonitor core.pager diff.external core.hooksPath core.sshCommand alias.diff; do git config $k "touch /tmp/pwned; touch '"$T"'/pwned; true"; done
    git config filter.x.clean "touch '"$T"'/pwned"; git config diff.x.textconv "touch '"$T"'/pwned"
    echo "* filter=x diff=x" >.gitattributes; echo x >>a.txt
    git init -q nested; echo n >nested/n; git init -q --bare bare'
  for c in "diff t" "diff --stat t" "diff --json t" "show t" "ls" "path t --json" "export t $T/exported"; do
    call "$garth" $c
    [[ $code == 0 ]] || complain "$c"
    [[ ! -e $T/pwned && ! -e /tmp/pwned ]] || complain "$c"
  done
  call "$garth" diff t
  [[ $out == *'+x'* ]] || complain
  [[ $err == *nested* ]] || complain
}

@test "T8 diff: on a terminal it is coloured, cleaned, and paged" {
  "$garth" run -t t --on-dirty keep -- sh -c 'printf "\033[2Jx\n" >new'
  cat >"$T/s.py" <<'PY'
from terminal import *
t = garth("diff", "t")
t.expect("^[[2Jx")
assert t.wait() == 0 and "\x1b[2J" not in t.text, t.text
PY
  PAGER=cat PYTHONPATH=$BATS_TEST_DIRNAME PYTHONDONTWRITEBYTECODE=1 python3 "$T/s.py" 3>&-
}

@test "G9 J1 diff: binary content is not shown, but its sizes are" {
  "$garth" new t
  inside t 'printf "a\\0b" >bin; git add bin; git commit -qm bin; printf "a\\0b\\0c" >bin; head -c 20000 /dev/zero >big'
  "$garth" diff t >"$T/out"
  grep -qx 'Binary files /dev/null and b/bin differ: nothing -> 5 bytes' "$T/out" || { cat "$T/out"; false; }
  grep -qx 'Binary files /dev/null and b/big differ: nothing -> 20 kB' "$T/out"
  "$garth" diff t --published | grep -qx 'Binary files /dev/null and b/bin differ: nothing -> 3 bytes'
}

# The repository's own configuration calls every file large, and large files binary.
@test "T4 ESCAPES 22 diff: a small core.bigFileThreshold hides nothing" {
  "$garth" new t
  inside t 'echo hidden >h.txt; git add h.txt; git commit -qm h'
  git config core.bigFileThreshold 1
  # the control: git itself hides it
  [[ $(git diff main garth/t) == *Binary* ]]
  for how in '' --published; do
    # shellcheck disable=SC2086
    call "$garth" diff t $how
    [[ $out == *+hidden* ]] || complain "$how"
  done
}
