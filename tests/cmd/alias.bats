# Other names of commands: list, rm, status.
load helpers

offers() { "$garth" completion bash "$@" | paste -sd' '; }

@test "O3 alias: list and status are ls, status with a task is show" {
  "$garth" new fix
  [[ $("$garth" list --json) == "$("$garth" ls --json)" ]]
  [[ $("$garth" status --json) == "$("$garth" ls --json)" ]]
  [[ $("$garth" status --all --json) == "$("$garth" ls --all --json)" ]]
  [[ $("$garth" status fix --json | json 'd["name"]') == fix ]]
  [[ $("$garth" status --json fix | json 'd["name"]') == fix ]]
  # the limit of one file follows the free disk, which other tests change
  [[ $("$garth" status --jail fix | grep -v '^limit ') == "$("$garth" show --jail fix | grep -v '^limit ')" ]]
  fails 3 "there is no task 'fxi' (is 'fix' meant?)" "$garth" status fxi
  fails 2 "is one word too many" "$garth" list fix
}

@test "T6 alias: rm is discard, with the same options, and no more dangerous" {
  "$garth" new fix
  inside fix 'echo work >work'
  changes_nothing 4 "task 'fix' has the only copy of its work: 1 changed file" "$garth" rm fix
  changes_nothing 2 "unknown option '-r'" "$garth" rm -rf fix
  "$garth" new other
  call "$garth" rm -f fix other
  [[ $code == 0 ]] || complain
  call "$garth" undo fix
  [[ $(inside fix cat work) == work ]]
}

@test "O3 alias: help, manual pages and completions know them" {
  [[ $("$garth" help rm) == "$("$garth" help discard)" ]]
  [[ $("$garth" help discard) == *"(also: rm)"* ]]
  [[ $("$garth" help) == *"(also: list, status)"*"(also: status TASK)"* ]]
  grep -q 'garth rm' "$GARTH_BUILD/man/garth-discard.1"
  grep -q 'garth status' "$GARTH_BUILD/man/garth-show.1"
  "$garth" new fix
  [[ $(offers rm f) == fix ]]
  [[ $(offers status '') == fix ]]
  [[ $(offers rm --f) == --force ]]
  [[ $(offers sta) == status ]]
  fails 2 "there is no command 'lits' (is 'list' meant?)" "$garth" lits
}
