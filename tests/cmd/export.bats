load helpers

@test "W2 export: plain files on the host, for both backends alike" {
  for b in "${backends[@]}"; do
    "$garth" new t-$b --backend $b
    inside t-$b 'echo x >>a.txt; rm -r dir/sub; mkdir -p deep/er; echo d >deep/er/f; ln -s ../../a.txt deep/er/l; chmod 755 a.txt'
    call "$garth" export t-$b "$T/x-$b"
    says "5 files and 2 links of task 't-$b' are in $T/x-$b"
    [[ -z $out ]] || complain
  done
  diff -r --no-dereference "$T/x-overlay" "$T/x-worktree"
  cd "$T/x-overlay"
  [[ $(find . | sort | tr '\n' ' ') == ". ./.gitignore ./a.txt ./deep ./deep/er ./deep/er/f ./deep/er/l ./dir ./dir/b.txt ./link ./run.sh " ]]
  [[ $(<a.txt) == $'one\nx' ]]
  [[ -x a.txt ]]
  [[ -x run.sh ]]
  [[ ! -x dir/b.txt && $(readlink link) == a.txt ]]
  [[ -z $(find . ! -uid "$(id -u)") ]]
}

@test "O3 export: --json" {
  "$garth" new t
  call "$garth" export t "$T/x" --json
  [[ $(json '[d["file_count"], d["link_count"], d["bytes"] > 10, d["left_out"], d["links_outside"]]' <<<"$out") == '[5, 1, true, [], []]' ]] || complain
}

@test "W2 export: into an empty directory, a new one, one with a slash at the end; nowhere else" {
  "$garth" new t
  mkdir "$T/empty"
  "$garth" export t "$T/empty"
  [[ $(<"$T/empty/a.txt") == one ]]
  "$garth" export t "$T/slash/"
  [[ $(<"$T/slash/a.txt") == one ]]
  at "$T" "$garth" export t relative
  [[ $(<"$T/relative/a.txt") == one ]]
  mkdir "$T/full"
  echo mine >"$T/full/a.txt"
  touch "$T/file"
  ln -s nowhere "$T/dangling"
  ln -s empty2 "$T/tolink"
  mkdir "$T/empty2"
  for d in full file dangling; do fails 1 "$d" "$garth" export t "$T/$d"; done
  [[ $(<"$T/full/a.txt") == mine ]]
  [[ ! -s $T/file && -L $T/dangling && ! -e $T/nowhere ]]
  fails 1 "" "$garth" export t "$T/no/such/parent"
  fails 1 "" "$garth" export t ""
  [[ -z $(find "$T" -maxdepth 2 -name '*garth-part*') ]]
}

@test "ESCAPES 2 export: links are copied and never followed, odd files are left out and named" {
  echo secret >"$T/secret"
  "$garth" new t
  inside t "ln -s '$T/secret' abs; ln -s ../../../../../../../../../../../../etc/passwd rel; mkfifo fifo; rm -rf dir; ln -s / dir
    git init -q nested; echo n >nested/n; python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'"
  call "$garth" export t "$T/x"
  [[ $code == 0 ]] || complain
  [[ -L $T/x/abs ]] || complain
  [[ -L $T/x/rel ]] || complain
  [[ -L $T/x/dir ]] || complain
  [[ ! -e $T/x/fifo && ! -e $T/x/sock && ! -e $T/x/nested/.git ]] || complain
  for w in abs rel dir fifo sock nested; do [[ $err == *"$w"* ]] || complain "$w is not named"; done
}

# The attack goes up through another link, which stays in the tree.
@test "ESCAPES 2 export: a link that leads out through another one is named" {
  echo secret >"$T/secret"
  "$garth" new t
  inside t "mkdir -p deep/er; ln -s ../.. deep/er/up; ln -s deep/er/up/../secret out; ln -s deep/er/f stays; ln -s ../../a.txt deep/er/stays-too"
  call "$garth" export t "$T/x" --json
  # the control: the host follows it
  [[ $(<"$T/x/out") == secret ]]
  [[ $(json 'd["links_outside"]' <<<"$out") == '["out"]' ]] || complain
}

@test "W2 export: a running task is exported with a warning" {
  "$garth" run -d -t t -- sleep 1000
  call "$garth" export t "$T/x"
  [[ $code == 0 ]] || complain
  [[ $err == '▲ '*'is running'* ]] || complain
  [[ $(<"$T/x/a.txt") == one ]] || complain
  "$garth" cancel t
}

@test "T9 export, show: a task whose repository or workspace is gone is still shown, and its files can be exported" {
  local b
  for b in overlay worktree clone; do
    "$garth" new t-$b --backend $b
    inside t-$b 'echo x >>a.txt; git commit -qam x; echo only >only'
  done
  mv "$R" "$R.away"
  cd "$T"
  for b in overlay worktree clone; do
    "$garth" export t-$b "$T/x-$b"
    [[ $(<"$T/x-$b/only") == only ]]
    [[ $(<"$T/x-$b/a.txt") == $'one\nx' ]]
    [[ -x $T/x-$b/run.sh ]]
    call "$garth" show t-$b
    [[ $code == 0 ]] || complain
    [[ $out == *"branch     garth/t-$b"*"changed    unknown"* ]] || complain
    [[ $err == *"is not there any more"* ]] || complain
    [[ $(hint) == "ln -s NEW_PLACE '$R'" ]] || complain
    call "$garth" show t-$b --json
    [[ $(json '[d["uncommitted"], "not there" in d["problem"]]' <<<"$out") == '[null, true]' ]] || complain
    fails 3 "is not there any more" "$garth" show t-$b --jail
    fails 3 "is not there any more" "$garth" diff t-$b
  done
  mv "$R.away" "$R"
  cd "$R"
  rm -rf "$("$garth" path t-worktree)"
  call "$garth" show t-worktree
  [[ $code == 0 ]] || complain
  [[ $out == *"changed    unknown"* ]] || complain
  [[ $(hint) == "garth doctor --repair" ]] || complain
  fails 3 "cannot open the files" "$garth" diff t-worktree
  [[ $(hint) == "garth doctor --repair" ]]
}
