# A mistyped word: the message names the one that was probably meant, and nothing is done.
load helpers

@test "H8 mistyped: the nearest command, option or value of an option is named" {
  "$garth" new login
  remember
  fails 2 "there is no command 'mrege' (is 'merge' meant?)" "$garth" mrege login
  [[ $(hint) == 'garth help merge' ]] || complain
  fails 2 "there is no command 'discad' (is 'discard' meant?)" "$garth" help discad
  fails 2 "there is no command 'frobnicate'" "$garth" frobnicate
  [[ $err != *meant* ]] || complain
  [[ $(hint) == 'garth help' ]] || complain
  fails 2 "unknown option '--bsae' (is '--base' meant?)" "$garth" run --bsae main -- true
  fails 2 "unknown option '--quite' (is '--quiet' meant?)" "$garth" discard --quite login
  fails 2 "unknown option '--dyr-run' (is '--dry-run' meant?)" "$garth" cleanup --dyr-run=x
  fails 2 "unknown option '--frobnicate'" "$garth" ls --frobnicate
  [[ $err != *meant* ]] || complain
  fails 2 "there is no network 'alow' (is 'allow' meant?)" "$garth" run --net alow -- true
  fails 2 "there is no backend 'wortkree' (is 'worktree' meant?)" "$garth" new --backend wortkree x
  fails 2 "not 'comit' (is 'commit' meant?)" "$garth" run --on-dirty comit -- true
  fails 3 "there is no agent 'cluade' (is 'claude' meant?)" "$garth" run --agent cluade -- true
  [[ $(hint) == 'garth agent ls' ]] || complain
  fails 3 "there is no agent 'cluade' (is 'claude' meant?)" "$garth" exec --agent cluade login -- true
  fails 2 "not for 'fsih' (is 'fish' meant?)" "$garth" completion fsih
  nothing_changed
}

@test "H8 mistyped: the nearest task is named, or a discarded one if no other is near" {
  "$garth" new login
  "$garth" new logout
  inside logout 'echo work >work'
  changes_nothing 3 "there is no task 'lgoin' (is 'login' meant?)" "$garth" discard lgoin
  changes_nothing 3 "there is no task 'logot' (is 'logout' meant?)" "$garth" diff logot
  changes_nothing 3 "there is no task 'other'" "$garth" show other
  [[ $err != *meant* ]] || complain
  "$garth" discard -f logout
  changes_nothing 3 "there is no task 'logot' (is 'logout' meant, which is discarded?)" "$garth" show logot
  [[ $(hint) == 'garth undo logout' ]] || complain
  changes_nothing 3 "there is no task 'logout': it is discarded" "$garth" show logout
  [[ $(hint) == 'garth undo logout' ]] || complain
  # a task that cannot be restored is not offered
  "$garth" gc --empty-trash >/dev/null
  changes_nothing 3 "there is no task 'logot'" "$garth" show logot
  [[ $err != *meant* ]] || complain
}
