load helpers

@test "O3 completion: bash completes commands, options and tasks" {
  "$garth" new first-task
  "$garth" completion bash >"$T/c"
  bash -n "$T/c"
  ln -s "$garth" "$T/garth"
  call bash -c '
    PATH=$1:$PATH; source "$2"
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _garth; echo "${COMPREPLY[*]}"; }
    try garth dis; try garth discard fir; try garth discard --js
    for c in publish allow snapshot rollback sync merge undo audit; do try garth ${c:0:3}; try garth $c fir; done; try garth merge --sq; try garth rollback --to' x "$T" "$T/c"
  [[ $(head -n 3 <<<"$out") == $'discard\nfirst-task\n--json' ]] || complain
  for c in publish allow snapshot rollback sync merge undo audit; do grep -qw -A1 "$c" <<<"$out" || complain "no $c"; done
  [[ $(grep -c '^first-task$' <<<"$out") == 9 ]] || complain
  [[ $(tail -n 2 <<<"$out") == $'--squash\n--to-snapshot' ]] || complain
}

@test "O3 completion: zsh and fish get a script, others one clear line" {
  call "$garth" completion zsh
  [[ $code == 0 ]] || complain
  [[ $out == '#compdef garth'* ]] || complain
  [[ $out == *discard* ]] || complain
  call "$garth" completion fish
  [[ $code == 0 ]] || complain
  [[ $out == *'complete -c garth'*discard* ]] || complain
  changes_nothing 2 "not for 'tcsh'" "$garth" completion tcsh
}
