load helpers

@test "W1 new: makes a task, prints its name, changes nothing that is the user's" {
  fingerprint >"$T/before"
  call "$garth" new t
  [[ $code == 0 ]] || complain
  [[ $out == t ]] || complain
  says "task 't' is made (overlay)"
  fingerprint | diff "$T/before" -
  [[ $(state_of t) == created ]]
  [[ $(inside t 'ls -A; cat a.txt dir/b.txt dir/sub/c.txt link; ./run.sh') == $'.git\n.gitignore\na.txt\ndir\nlink\nrun.sh\none\ntwo\nthree\none\nrun' ]]
  [[ $(git rev-parse garth/t) == "$(git rev-parse HEAD)" ]]
}

@test "O3 new: --json" {
  call "$garth" new --json t
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  [[ $(json 'd["name"]' <<<"$out") == t ]]
  [[ $(json 'd["state"]' <<<"$out") == created ]]
  [[ $(json 'd["base"]' <<<"$out") == "$(git rev-parse HEAD)" ]]
  [[ $(json 'd["branch"]' <<<"$out") == garth/t ]]
  [[ $(json 'd["target"]' <<<"$out") == main ]]
  [[ $(json 'd["exit_code"]' <<<"$out") == null ]]
}

@test "W1 new: the user's uncommitted changes stay in the checkout" {
  echo dirty >>a.txt; echo new >untracked; git add untracked; echo more >>untracked
  fingerprint >"$T/before"
  "$garth" new t
  [[ $(inside t 'cat a.txt; ls') == $'one\na.txt\ndir\nlink\nrun.sh' ]]
  fingerprint | diff "$T/before" -
}

@test "W1 new: from a branch, a tag, a commit, an expression" {
  git tag -m v1 v1; git branch side; echo 2 >>a.txt; commit second
  for rev in v1 side "$(git rev-parse --short HEAD~1)" HEAD^ 'main@{0}~1' 'HEAD^{/first}'; do
    "$garth" new t -b "$rev"
    [[ $(field t base) == "$(git rev-parse v1^0)" ]]
    [[ $(inside t cat a.txt) == one ]]
    "$garth" discard t
  done
  "$garth" new --base=side onto
  [[ $(field onto target) == side ]]
  [[ $(inside onto 'git rev-parse --abbrev-ref HEAD') == garth/onto ]]
}

@test "W1 new: from a subdirectory, a linked worktree, a detached HEAD" {
  at dir/sub "$garth" new sub
  [[ $(inside sub 'pwd; ls') == "$R"$'\na.txt\ndir\nlink\nrun.sh' ]]
  git worktree add -q "$T/home/linked" -b linked
  at "$T/home/linked" "$garth" new linked
  [[ $(field linked target) == linked ]]
  [[ $(field linked project) == app ]]
  [[ $(inside linked git status --porcelain) == "" ]]
  git checkout -q --detach
  "$garth" new detached
  [[ $(field detached target) == null ]]
  [[ $(inside detached git log --oneline | wc -l) == 1 ]]
}

@test "W1 new: a repository with SHA-256" {
  rm -rf "$T/home/s"; git init -q --object-format=sha256 "$T/home/s"; cd "$T/home/s"
  echo s >s; git add s; git commit -qm s
  for b in "${backends[@]}"; do
    "$garth" new "s-$b" --backend $b
    inside "s-$b" 'test -z "$(git status --porcelain)" && echo x >x && git add x && git commit -qm x && git fsck --strict'
    "$garth" diff "s-$b" | grep -F '+x'
  done
  git fsck --strict
}

@test "ESCAPES 30 new: paths with spaces, quotes, and bytes that are no text" {
  cp -r "$R" "$T/home/it's a \"dir\""; cd "$T/home/it's a \"dir\""
  printf 'odd\n' >$'\xff\xfe'; printf 'nl\n' >$'line\nbreak'; printf 'q\n' >"quote\"s and 's"; printf 'd\n' >-dash
  git add -A; git commit -qm odd
  for b in "${backends[@]}"; do
    "$garth" new "t-$b" --backend $b
    [[ -z $(inside "t-$b" git status --porcelain) ]]
    inside "t-$b" 'cat -- "$(printf "\377\376")" "$(printf "line\nbreak")" "quote\"s and '"'s"'" -dash' >"$T/got"
    printf 'odd\nnl\nq\nd\n' | cmp - "$T/got"
    inside "t-$b" 'for f in *; do echo x >>"./$f" || true; done 2>/dev/null'
    "$garth" diff "t-$b" >"$T/diff"
    grep -qF '\377\376' "$T/diff"
    "$garth" show "t-$b" --json | json 'len(d["uncommitted"]) >= 4' | grep true
    "$garth" export "t-$b" "$T/out-$b"
    [[ $(tail -n1 "$T/out-$b/"$'line\nbreak') == x ]]
  done
}

@test "W1 ESCAPES 30 new: a directory name with a line break is refused with that reason" {
  mkdir -p "$T/home/$(printf 'a\nb')"; cp -r "$R" "$T/home/$(printf 'a\nb')/app"
  call at "$T/home/$(printf 'a\nb')/app" "$garth" new t
  [[ $code == 4 ]] || complain
  [[ $err == *'a directory with a line break in its name is not supported' ]] || complain
  [[ $(wc -l <<<"$err") == 1 ]] || complain
  call env GARTH_HOME="$T/home/$(printf 'a\nb')/h" "$garth" ls
  [[ $code == 2 ]] || complain
  [[ $err == *'has a line break'* ]] || complain
}

@test "W1 new: two projects, and one of the same name elsewhere" {
  cp -r "$R" "$T/home/app"
  "$garth" new one; at "$T/home/app" "$garth" new two
  [[ $(field one project) != "$(field two project)" || $(field one id) != "$(field two id)" ]]
  fails 1 "there is a task 'one' already" "$garth" new one
  git -C "$T/home/app" for-each-ref refs/heads/garth | grep -c two | grep -x 1
  [[ -z $(git for-each-ref refs/heads/garth/two) ]]
}

@test "W1 new: a name that is taken, by a task or by a branch, changes nothing" {
  "$garth" new t
  changes_nothing 1 "there is a task 't' already" "$garth" new t
  git branch garth/mine
  changes_nothing 1 "there is a branch 'garth/mine' already" "$garth" new mine
  changes_nothing 1 "there is a branch 'garth/mine' already" "$garth" new mine --backend worktree
  git branch -D -q garth/mine
  git branch garth/deep/er
  call "$garth" new deep
  [[ $code == 1 ]] || complain
  [[ $(grep -c '^✗ ' <<<"$err") == 1 ]] || complain
  [[ $("$garth" ls --json | json '[t["name"] for t in d["tasks"]]') == '["t"]' ]]
  [[ $(leftovers) == tasks/$(ident 1) ]]
}

@test "W1 new: an invalid name is refused, and nothing changes" {
  remember
  for name in "" . .. a/b ../x -x 'a b' A Über 'a..b' a. x.lock .hidden _x '*' 'a~b' 'a^b' 'a:b' $'a\nb' "$(printf 'x%.0s' {1..300})"; do
    fails 2 "" "$garth" new -- "$name"
    fails 2 "" "$garth" run -t "$name" -- true
  done
  nothing_changed
}

@test "W1 new: a name of the greatest length works" {
  long=$(printf 'x%.0s' {1..64})
  "$garth" new "$long"
  changes_nothing 2 "1 to 64 characters" "$garth" new "${long}x"
  [[ $(inside "$long" pwd) == "$R" ]]
  "$garth" discard "$long"; "$garth" new "$long" --backend worktree
  [[ $(inside "$long" pwd) == "$GARTH_HOME/worktrees/$long" ]]
}

@test "J7 new: --strict-isolation borrows no objects" {
  "$garth" new t --strict-isolation
  [[ $(field t strict) == true ]]
  [[ $(inside t 'git status --porcelain; git log --oneline | wc -l; ls .git/objects/info/alternates 2>/dev/null; git fsck --strict 2>/dev/null') == 1 ]]
  call inside t 'ls /run/garth/objects'
  [[ $code != 0 ]] || complain
  fails 2 "never runs weaker" "$garth" exec --allow-weaker t -- true
}

@test "W1 new: twenty tasks with different names made at once" {
  "$garth" new warm
  for i in {1..20}; do "$garth" new "t$i" >"$T/n$i" 2>&1 3>&- & done
  wait
  for i in {1..20}; do [[ $(sort "$T/n$i") == "t$i"$'\n'"✓ task 't$i' is made (overlay)" ]] || { cat "$T/n$i"; false; }; done
  [[ $("$garth" ls --json | json 'sum(t["state"] == "created" for t in d["tasks"])') == 21 ]]
  [[ $(git for-each-ref refs/heads/garth | wc -l) == 21 ]]
  [[ $(inside t20 cat a.txt) == one ]]
  git fsck --strict
}

@test "ESCAPES 25 new: of many commands that make a task of one name at once, one succeeds and the others say why not" {
  for i in {1..8}; do (code=0; "$garth" new t >"$T/n$i" 2>&1 3>&- || code=$?; echo $code >"$T/c$i") & done
  wait
  [[ $(cat "$T"/c? | sort | tr -d '\n') == 01111111 ]] || { cat "$T"/n?; false; }
  [[ $(cat "$T"/n? | grep -c "there is a task 't' already") == 7 ]]
  [[ $(inside t cat a.txt) == one ]]
  [[ $(git for-each-ref refs/heads/garth | wc -l) == 1 ]]
  [[ $(ls "$GARTH_HOME/tasks" | wc -l) == 1 ]]
}

# git lists every file of a new base while it fills the index.
@test "W1 new: a repository whose paths together take megabytes" {
  deep=$(printf 'd%.0s' {1..230})
  mkdir -p "$deep/$deep/$deep/$deep"
  for i in {1..1300}; do : >"$deep/$deep/$deep/$deep/$i"; done
  git add -A; git commit -qm long
  call "$garth" new t
  [[ $code == 0 ]] || complain
  [[ -z $(inside t 'git status --porcelain') ]]
}
