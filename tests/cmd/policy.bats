load helpers

# A protected file in the base, which the user then changes.
owned() {
  echo old >CODEOWNERS; commit owners
  "$garth" new t
  inside t 'echo work >>a.txt; git commit -qam work'
  echo new >CODEOWNERS; commit stricter
  "$garth" exec t -- true
}

@test "G5 policy: merging the target brings its protected changes, which are not the task's own" {
  owned
  inside t '/usr/bin/git merge -q --no-edit '"$(git rev-parse main)"
  [[ $(git show garth/t:CODEOWNERS) == new ]]
}

@test "G5 policy: a task that merges the target and restores a protected file to the base's version cannot publish that" {
  owned
  base=$(git rev-parse main~1)
  inside t '/usr/bin/git merge -q --no-edit '"$(git rev-parse main)"
  before=$(git rev-parse garth/t)
  call "$garth" exec t -- sh -c "git checkout -q $base -- CODEOWNERS && git commit -qm back"
  [[ $code != 0 ]] || complain
  [[ $err == *"BLOCKED: 'CODEOWNERS' is protected"* ]] || complain
  [[ $(git rev-parse garth/t) == "$before" ]]
  # everything in one merge commit
  inside t 'git reset -q --hard HEAD~1'
  call "$garth" exec t -- sh -c "/usr/bin/git merge -q --no-commit $(git rev-parse main); git checkout -q $base -- CODEOWNERS && git commit -qm sneaky"
  [[ $code != 0 ]] || complain
  [[ $err == *"BLOCKED: 'CODEOWNERS' is protected"* ]] || complain
  # the control: if the user allows it, it works
  "$garth" allow t CODEOWNERS
  inside t 'git commit -qm allowed'
  [[ $(git show garth/t:CODEOWNERS) == old ]]
}
