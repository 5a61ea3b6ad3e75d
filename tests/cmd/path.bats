load helpers

@test "W2 path: prints where the workspace is on the host" {
  "$garth" new t; "$garth" new w --backend worktree; "$garth" new c --backend clone
  # the path inside is the user's own checkout on the host, so it is not printed
  call "$garth" path t
  [[ $code == 4 ]] || complain
  [[ -z $out ]] || complain
  [[ $err == *"has no files on the host; inside they are at $R"* ]] || complain
  [[ $(hint) == 'garth shell t    # or, for a copy: garth export t DIR' ]] || complain
  [[ $(at "$T" "$garth" path app/t 2>&1) == *"garth shell app/t    # or, for a copy: garth export app/t DIR" ]]
  # in quotes, as in the manual, cd stays in the directory
  [[ $(cd "$T"; cd "$("$garth" path app/t 2>/dev/null)" || true; pwd) == "$T" ]]
  [[ $(inside t pwd) == "$R" ]] || complain
  [[ $("$garth" path t --json | json 'd["visible_on_host"], d["host_directory"], d["workspace"]') == "[false, null, \"$R\"]" ]]
  call "$garth" path c
  [[ $code == 0 ]] || complain
  [[ $out == "$GARTH_HOME/worktrees/c" ]] || complain
  [[ $(inside c pwd) == "$R" ]] || complain
  [[ $(cat "$out/a.txt") == one ]] || complain
  [[ $("$garth" show c) == *"workspace  $R"*"on host    $GARTH_HOME/worktrees/c"* ]]
  call "$garth" path w
  [[ $(inside w pwd) == "$out" ]] || complain
  [[ $(cat "$out/a.txt") == one ]] || complain
  [[ $("$garth" path w --json | json 'd["visible_on_host"]') == true ]]
}
