load helpers

# A second repository, `lib`, and one more directory that is in no repository.
other() {
  L=$T/home/src/lib
  git init -q "$L"
  (cd "$L" && echo lib >lib.txt && git add -A && git commit -qm lib)
  mkdir -p "$T/nowhere"
}
# A file that tasks of this project have, and those of the other do not.
holds() { "$garth" diff "$1" | grep -o 'b/[a-z]*\.txt' | sort -u; }
project_of() { "$garth" show "$1" --json | json 'd["project"]'; }

@test "W1 names: two projects have tasks of the same name; each directory means its own" {
  other
  "$garth" new fix
  at "$L" "$garth" new fix
  inside fix 'echo app >app.txt'
  at "$L" inside fix 'echo lib >new.txt'
  [[ $(holds fix) == b/app.txt ]]
  [[ $(at "$L" holds fix) == b/new.txt ]]
  [[ $(at "$R/dir/sub" project_of fix) == app ]]
  git -C "$L" rev-parse -q --verify refs/heads/garth/fix
  # from anywhere: the project's name, its path, a relative path, and the path that JSON tells
  [[ $(project_of lib/fix) == lib ]]
  [[ $(project_of "$L/fix") == lib ]]
  [[ $(project_of ../lib/fix) == lib ]]
  [[ $(project_of "$L/.git/fix") == lib ]]
  [[ $(at "$L" project_of ./fix) == lib ]]
  [[ $(at "$T/nowhere" project_of "$(at "$L" "$garth" show fix --json | json 'd["address"]')") == lib ]]
  # if the project cannot be known
  changes_nothing 2 "there is a task 'fix' in 2 projects: 'app', 'lib'" at "$T/nowhere" "$garth" diff --stat fix
  [[ $(hint) == 'garth diff --stat app/fix' ]] || complain
  # automatic names are chosen for each project separately
  call at "$L" "$garth" run -d -- true
  [[ $out == true-1 ]] || complain
  call "$garth" run -d -- true
  [[ $out == true-1 ]] || complain
}

@test "W1 names: a name of another project is named in the error, with the command to copy" {
  other
  "$garth" new here
  at "$L" "$garth" new there
  changes_nothing 3 "there is no task 'there' in project 'app'; there is one in 'lib'" "$garth" exec there -- echo 'a b'
  [[ $(hint) == "garth exec lib/there -- echo 'a b'" ]] || complain
  changes_nothing 3 "there is no project 'nothing' with tasks" "$garth" show nothing/there
  changes_nothing 3 "there is no task 'nobody' in project 'lib'" "$garth" show lib/nobody
  changes_nothing 3 "there is no task 'nobody'" "$garth" show nobody
  for word in /there lib/ /; do changes_nothing 2 "'$word' is neither NAME nor PROJECT/NAME" "$garth" show "$word"; done
  # a repository without tasks, and a directory without a repository, mean the only one
  git init -q "$T/home/third"
  [[ $(at "$T/home/third" project_of there) == lib ]]
  [[ $(at "$T/nowhere" project_of there) == lib ]]
  # hints name the task as it was typed
  at "$L" inside there 'echo x >x.txt; git add x.txt; git commit -qm x'
  fails 4 'has the only copy' "$garth" discard lib/there
  [[ $(hint) == 'garth discard -D lib/there' ]] || complain
  [[ $("$garth" discard lib/there --json | json 'd["error"]["hint"]') == 'garth discard -D lib/there' ]]
  "$garth" discard -D lib/there
  fails 3 'there is no task' "$garth" show lib/there
  [[ $(hint) == 'garth undo lib/there' ]] || complain
  "$garth" undo lib/there
  [[ $(project_of lib/there) == lib ]]
}

@test "W1 names: two projects with the same name are told apart by their paths" {
  git init -q "$T/home/app"
  (cd "$T/home/app" && git commit -q --allow-empty -m other && "$garth" new fix)
  "$garth" new fix
  "$garth" new only
  changes_nothing 2 "there is a task 'fix' in 2 projects: '$T/home/app', '$R'" "$garth" show app/fix
  [[ $(hint) == "garth show $T/home/app/fix" ]] || complain
  [[ $("$garth" show "$T/home/app/fix" --json | json 'd["repository"]') == "$T/home/app" ]]
  # if only one of them has the task, its name is enough
  [[ $(project_of app/only) == app ]]
}

@test "T5 names: a task without a repository is found by its name, unless the project has one of that name" {
  "$garth" new --empty scratch
  "$garth" new mine
  [[ $(project_of scratch) == empty ]]
  call "$garth" new scratch
  [[ $code == 0 ]] || complain
  [[ $(project_of scratch) == app ]]
  [[ $(project_of empty/scratch) == empty ]]
  # its hints work in the directory in which it was made
  terminals <<'PY'
t = garth("new", "--empty", "mine"); t.wait()
assert "garth shell empty/mine" in t.text, t.text
PY
  "$garth" discard empty/scratch
  [[ $(project_of scratch) == app ]]
}

@test "W2 names: files on the host have a place for each task, also after a rename and an undo" {
  other
  for b in worktree clone; do
    "$garth" new "$b" --backend "$b"
    at "$L" "$garth" new "$b" --backend "$b"
    [[ $("$garth" path "$b") == "$GARTH_HOME/worktrees/$b" ]]
    [[ $(at "$L" "$garth" path "$b") == "$GARTH_HOME/worktrees/$b@2" ]]
    [[ -f $("$garth" path "$b")/a.txt && -f $("$garth" path "lib/$b")/lib.txt ]]
    # in a workspace, a name means a task of the same project
    [[ $(at "$GARTH_HOME/worktrees/$b@2" project_of "$b") == lib ]]
    [[ $(at "$GARTH_HOME/worktrees/$b" project_of "$b") == app ]]
    echo edited >"$GARTH_HOME/worktrees/$b@2/lib.txt"
    [[ $("$garth" diff "lib/$b") == *+edited* ]]
    "$garth" discard -f "lib/$b"
    "$garth" undo "lib/$b"
    [[ $(<"$GARTH_HOME/worktrees/$b@2/lib.txt") == edited ]]
  done
  [[ $("$garth" doctor --json | json 'd["findings"]') == '[]' ]]
  git -C "$L" worktree list | grep -q 'worktrees/worktree@2 .*garth/worktree'
}

@test "G7 names: the audit log tells tasks of the same name apart" {
  other
  "$garth" new fix
  at "$L" "$garth" new fix
  at "$L" "$garth" discard fix
  [[ $("$garth" audit fix --json | json '[[e["event"], e["project"]] for e in d["events"]]') == '[["create", "app"]]' ]]
  [[ $("$garth" audit lib/fix --json | json '[[e["event"], e["project"]] for e in d["events"]]') == '[["create", "lib"], ["discard", "lib"]]' ]]
  [[ $(at "$T/nowhere" "$garth" audit fix --json | json 'len(d["events"])') == 3 ]]
  [[ $("$garth" audit | awk '{print $3, $4}') == $'fix create\nlib/fix create\nlib/fix discard' ]]
  fails 3 'and there was none' "$garth" audit nobody
}

@test "O3 names: completion offers names of this project, and the others with their project" {
  other
  "$garth" new fix
  "$garth" new one
  at "$L" "$garth" new fix
  [[ $("$garth" completion bash show '' | sort | tr '\n' ' ') == 'fix lib/fix one ' ]]
  [[ $("$garth" completion bash show lib/) == lib/fix ]]
  [[ $(at "$T/nowhere" "$garth" completion bash show '' | sort | tr '\n' ' ') == 'app/fix lib/fix one ' ]]
}

@test "O3 names: cleanup of several projects names the tasks so that they can be told apart" {
  other
  "$garth" new fix
  at "$L" "$garth" new fix
  [[ $("$garth" cleanup --all-inactive --json | json 'd["discarded"]') == '["fix", "lib/fix"]' ]]
}
