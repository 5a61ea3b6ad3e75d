load helpers

# renamed OLD NEW: everything of the task has the new name and nothing the old one.
renamed() {
  [[ -z $(git for-each-ref "refs/heads/garth/$1") ]] || complain "the branch of $1 is there" || return
  git rev-parse -q --verify "refs/heads/garth/$2" >/dev/null || complain "there is no branch of $2" || return
  fails 3 "there is no task '$1'" "$garth" show "$1" || return
  [[ $("$garth" show "$2" --json | json 'd["branch"]') == "garth/$2" ]] || complain || return
  [[ $("$garth" doctor --json | json 'd["findings"]') == '[]' ]] || complain "$("$garth" doctor)" || return
  git fsck --strict --no-dangling
}

commit_in() { inside "$1" "echo $2 >>a.txt; git commit -qam $2"; }

@test "T1 rename: the branch, its checkouts and the repository inside follow, with every backend" {
  local b
  for b in "${backends[@]}"; do
    old=$b new=$b-new
    "$garth" new $old --backend "$b"
    commit_in $old one
    inside $old 'echo more >more.txt'
    "$garth" rename $old $new
    renamed $old $new
    # inside: on the new branch, with the same commits and files
    [[ $(inside $new 'git symbolic-ref --short HEAD; git for-each-ref --format="%(refname:short)" refs/heads/garth; cat more.txt; echo $GARTH_TASK') == "garth/$new"$'\n'"garth/$new"$'\nmore\n'"$new" ]] || complain "$b"
    # what is committed then is published
    commit_in $new two
    [[ $(git log -1 --format=%s garth/$new) == two ]]
    if path=$("$garth" path $new 2>/dev/null); then
      [[ $path == "$GARTH_HOME/worktrees/$old" ]]
      [[ $(git -C "$path" symbolic-ref --short HEAD) == "garth/$new" ]]
      [[ $(git -C "$path" status --porcelain) == '?? more.txt' ]]
    fi
    # the old name and, with files on the host, its directory can be used again
    "$garth" new $old --backend "$b"
    commit_in $old three
    [[ $(inside $new 'git log -1 --format=%s') == two ]]
    "$garth" discard -fD $old
    "$garth" merge $new --keep 2>/dev/null
    "$garth" discard -f $new
    "$garth" undo $new
    [[ $(inside $new 'cat more.txt') == more ]]
  done
  [[ $("$garth" audit overlay-new --json | json '[[e["from"], e["to"]] for e in d["events"] if e["event"] == "rename"]') == '[["overlay", "overlay-new"]]' ]]
}

@test "T1 rename: a user's checkout of the branch follows; a rebase or bisect of it prevents the rename" {
  "$garth" new old
  for n in one two three four five; do commit_in old $n; done
  git worktree add -q "$T/mine" garth/old
  git -C "$T/mine" bisect start garth/old main >/dev/null
  changes_nothing 4 "a bisect of garth/old is in progress in '$T/mine'" "$garth" rename old new
  git -C "$T/mine" bisect reset 2>/dev/null
  "$garth" rename old new
  renamed old new
  [[ $(git -C "$T/mine" symbolic-ref --short HEAD) == garth/new ]]
  [[ -z $(git -C "$T/mine" status --porcelain) ]]
  # in progress inside
  inside new 'echo one >.git/BISECT_LOG'
  changes_nothing 4 "a rebase or bisect is in progress in task 'new'" "$garth" rename new third
  inside new 'rm .git/BISECT_LOG'
  "$garth" rename new third
  renamed new third
}

@test "T1 rename: what is refused changes nothing" {
  "$garth" new old
  "$garth" new taken
  git branch garth/branch
  changes_nothing 1 "there is a task 'taken' already" "$garth" rename old taken
  changes_nothing 1 "there is a branch 'garth/branch' already" "$garth" rename old branch
  changes_nothing 1 "task 'old' has that name" "$garth" rename old old
  changes_nothing 2 "'a b'" "$garth" rename old 'a b'
  changes_nothing 2 "'lib/x'" "$garth" rename old lib/x
  changes_nothing 3 "there is no task 'nobody'" "$garth" rename nobody x
  # a branch below the new one
  git branch garth/deep/er
  call "$garth" rename old deep
  [[ $code == 1 && $err == *"cannot rename task 'old'"* ]] || complain
  [[ $("$garth" show old --json | json 'd["branch"]') == garth/old ]]
  fails 3 'there is nothing to take back' "$garth" undo
  call "$garth" run -d --task runs -- sleep 100
  fails 4 "task 'runs' is running" "$garth" rename runs walks
  [[ $(hint) == 'garth cancel runs' ]] || complain
  "$garth" cancel runs
  "$garth" rename runs walks
  [[ $(state_of walks) == cancelled ]]
}

@test "H6 rename: undo takes it back, and what was done before keeps its undo" {
  "$garth" new old
  commit_in old one
  "$garth" merge old --keep
  call "$garth" rename old new --json
  [[ $(json '[d["name"], d["branch"]]' <<<"$out") == '["new", "garth/new"]' ]] || complain
  [[ $("$garth" undo -n) == "the rename of task 'old' to 'new'" ]]
  terminals <<'PY'
t = garth("undo")
assert t.wait() == 0, t.text
assert "the rename of task 'old' is taken back: it has its old name" in t.text, t.text
assert "garth show old" in t.text, t.text
PY
  renamed new old
  [[ $(inside old 'git symbolic-ref --short HEAD') == garth/old ]]
  # the merge is known by the new name
  "$garth" rename old third
  "$garth" undo third
  "$garth" rename old third
  main=$(git rev-parse main)
  "$garth" rename third fourth
  [[ $("$garth" undo --list fourth --json | json '[x["kind"] for x in d["deeds"]]') == '["rename", "rename", "merge"]' ]]
  "$garth" undo fourth
  "$garth" undo third
  "$garth" undo old
  [[ $(git rev-parse main) != "$main" ]]
  # a task that got the old name meanwhile
  "$garth" rename old fifth
  "$garth" new old
  changes_nothing 1 "there is a task 'old' already" "$garth" undo fifth
}

@test "ESCAPES 23 rename: killed at each step, the next command or doctor finishes it" {
  has_faults || skip "a build without faults"
  local step b
  for b in "${backends[@]}"; do
    for step in rename-marked rename-made rename-heads rename-removed; do
      "$garth" new old --backend "$b"
      commit_in old one
      call env GARTH_FAULT=$step "$garth" rename old new
      [[ $code == 137 ]] || complain "did not die at $step"
      if [[ $b == overlay ]]; then
        call "$garth" doctor --repair
        [[ $code == 0 && $out == *'new: was left half renamed'* ]] || complain "$step"
      else
        "$garth" show new >/dev/null
      fi
      renamed old new || complain "$step"
      # the repository inside follows when the task next runs
      [[ $(inside new 'git symbolic-ref --short HEAD') == garth/new ]] || complain "$step"
      commit_in new two
      [[ $(git log -1 --format=%s garth/new) == two ]] || complain "$step"
      path=$("$garth" path new 2>/dev/null) && [[ $(git -C "$path" symbolic-ref --short HEAD) == garth/new ]]
      [[ $("$garth" undo -n) == "the rename of task 'old' to 'new'" ]]
      "$garth" undo
      renamed new old || complain "$step"
      "$garth" discard -D old
    done
  done
}

@test "ESCAPES 23 rename: a branch that the agent made under the new name is kept" {
  "$garth" new old
  commit_in old one
  inside old 'git branch garth/new main; git branch -f garth/new HEAD~1'
  "$garth" rename old new
  renamed old new
  [[ $(inside new 'git symbolic-ref --short HEAD; git log -1 --format=%s; git log -1 --format=%s garth/new.own') == $'garth/new\none\nfirst' ]]
  # the agent removed its branch: HEAD still follows
  inside new 'GARTH_GATEWAY=1 /usr/bin/git update-ref -d refs/heads/garth/new' || true
  "$garth" rename new third
  [[ $(inside third 'git symbolic-ref --short HEAD') == garth/third ]]
}

@test "T5 rename: a task without a repository" {
  "$garth" run --empty --task scratch -- sh -c 'echo x >x'
  "$garth" rename scratch paper
  [[ $(inside paper 'cat x') == x ]]
  fails 3 "there is no task 'scratch'" "$garth" show scratch
  "$garth" undo paper
  [[ $(inside scratch 'cat x') == x ]]
}
