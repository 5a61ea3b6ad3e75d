load helpers

# A task v whose line conflicts with main's.
conflict() {
  "$garth" new v
  inside v 'echo v >>a.txt; git commit -qam v'
  echo m >>a.txt; commit m
}

@test "G10 resolve: a task with both sides and the conflict in it, then --continue" {
  conflict
  # what the user allowed the task is allowed there, too
  "$garth" allow v .vscode/tasks.json
  inside v 'mkdir -p .vscode; echo {} >.vscode/tasks.json; git add -f .vscode; git commit -qm tasks'
  fails 5 "garth merge --resolve v" "$garth" merge v
  [[ $("$garth" merge --resolve v) == v-resolve ]]
  [[ $(inside v-resolve 'git status --porcelain a.txt; grep -c "<<<<<<<" a.txt') == $'UU a.txt\n1' ]]
  fails 4 "not solved in 'v-resolve' yet" "$garth" merge --continue v
  inside v-resolve 'printf "one\nm\nv\n" >a.txt; git commit -qam solved'
  "$garth" merge --keep --continue v
  [[ $(<a.txt) == $'one\nm\nv' ]]
  [[ $(<.vscode/tasks.json) == {} ]]
  [[ -z $(git status --porcelain) ]]
  [[ $(git log -1 --format=%s) == solved ]]
  [[ $(state_of v) == merged ]]
  [[ $(state_of v-resolve) == merged ]]
  git merge-base --is-ancestor garth/v main
  git fsck --strict
}

@test "G10 resolve: if nothing conflicts, or nothing is being solved, it says so" {
  "$garth" new v
  inside v 'echo v >>a.txt; git commit -qam v'
  fails 4 "does not conflict" "$garth" merge --resolve v
  fails 3 "no conflict of task 'v' is being solved" "$garth" merge --continue v
  [[ $("$garth" ls --json | json 'len(d["tasks"])') == 1 ]]
}

@test "G10 resolve: an agent that drops the other side does not get it merged" {
  conflict
  "$garth" merge --resolve v
  inside v-resolve 'git merge --abort; echo x >>a.txt; git commit -qam alone'
  fails 4 "not solved" "$garth" merge --continue v
  [[ $(git log -1 --format=%s) == m ]]
}

@test "G10 J7 resolve: the resolution task has the same agent and network" {
  mkdir -p "$HOME/.local/bin"; export PATH=$HOME/.local/bin:$PATH ANTHROPIC_API_KEY=key
  printf '#!/bin/sh\necho v >>a.txt; git commit -qam v\n' >"$HOME/.local/bin/claude"; chmod +x "$HOME/.local/bin/claude"
  "$garth" run -q -t v --allow crates.io -- claude; echo m >>a.txt; commit m
  [[ $("$garth" merge --resolve v) == v-resolve ]]
  [[ $("$garth" show v-resolve --json | json '"crates.io" in d["network"]["hosts"] and "api.anthropic.com" in d["network"]["hosts"]') == true ]] || complain "$("$garth" show v-resolve)"
  [[ $(echo 'echo "$ANTHROPIC_API_KEY"' | "$garth" shell v-resolve) == GarthDummy* ]]
}
