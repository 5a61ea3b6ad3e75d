load helpers

@test "W2 path: prints where the workspace stands" {
  "$garth" new t; "$garth" new w --backend worktree
  call "$garth" path t
  [[ $code == 0 && $out == "$GARTH_HOME/worktrees/t" && -z $err && $(inside t pwd) == "$out" ]] || complain
  [[ $("$garth" path t --json | json 'd["visible_on_host"]') == false ]]
  call "$garth" path w
  [[ $(inside w pwd) == "$out" && $(cat "$out/a.txt") == one ]] || complain
  [[ $("$garth" path w --json | json 'd["visible_on_host"]') == true ]]
}
