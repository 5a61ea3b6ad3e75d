load helpers

commands=(run new plan agent compare exec mcp acp brief shell attach wait review pause resume answer cancel rename ls show path why diff publish allow snapshot rollback sync merge push port log export archive discard cleanup cache gc undo
  serve warm doctor config init trust audit completion help version)

@test "O3 help: lists every command on stdout" {
  call "$garth" help
  [[ $code == 0 ]]
  [[ -z $err ]]
  for c in "${commands[@]}"; do grep -qE "^  $c +" <<<"$out" || complain "no line for $c"; done
  # there is no group that this test does not know, and each has an example
  [[ $(grep -oE '^  [a-z]+ ' <<<"$out" | tr -d ' ' | sort | paste -sd' ') == "$(printf '%s\n' "${commands[@]}" | sort | paste -sd' ')" ]] || complain
  [[ $(grep -c ', for example: garth ' <<<"$out") == 8 ]] || complain
  [[ $(wc -L <<<"$out") -le 80 ]] || complain
}

@test "O3 help: --help and -h print the help" {
  "$garth" help >"$T/a"
  "$garth" --help >"$T/b"
  "$garth" -h >"$T/c"
  cmp "$T/a" "$T/b"
  cmp "$T/a" "$T/c"
}

@test "O3 help: without a command it is shown and the exit code is 2" {
  call "$garth"
  [[ $code == 2 ]] || complain
  [[ $out == *usage* ]] || complain
}

@test "O3 help: every command explains itself and its options, and makes nothing" {
  for c in "${commands[@]}"; do
    call "$garth" help "$c"
    [[ $code == 0 ]] || complain "$c"
    [[ -z $err ]] || complain "$c"
    [[ $(head -n 1 <<<"$out") =~ ^garth\ $c($|\ ) ]] || complain "$c"
    grep -q "^Example: *garth $c" <<<"$out" || complain "$c"
    grep -q "man garth-$c\$" <<<"$out" || complain "$c"
    [[ $(wc -L <<<"$out") -lt 80 ]] || complain "$c"
    cp "$T/out" "$T/help"
    call "$garth" "$c" --help
    [[ $code == 0 ]] || complain "$c"
    cmp "$T/out" "$T/help"
  done
  [[ ! -e $GARTH_HOME ]]
}

@test "O3 help: an option of the command to run is not Garth's" {
  "$garth" new t
  call "$garth" exec t -- git --help
  [[ $code == 0 ]] || complain
  [[ $out == "usage: git"* ]] || complain
  call "$garth" exec t printf %s --help
  [[ $code == 0 ]] || complain
  [[ $out == --help ]] || complain
}

@test "O3 help: an unknown command is one line and exit code 2" {
  changes_nothing 2 "there is no command 'frobnicate'" "$garth" frobnicate
  [[ $(hint) == "garth help" ]]
  changes_nothing 2 "there is no command 'frobnicate'" "$garth" help frobnicate
  changes_nothing 2 "'--json' is not a command; options come after the command" "$garth" --json ls
}

@test "O3 help: unknown options are one line, exit code 2, and a hint that works" {
  remember
  for c in "${commands[@]}"; do
    fails 2 "unknown option '--bogus'" "$garth" "$c" --bogus
    [[ $(hint) == "garth $c --help" ]]
    fails 2 "unknown option '-Z'" "$garth" "$c" -Z
  done
  nothing_changed
}

@test "O3 help: missing and superfluous words are one line and exit code 2" {
  remember
  for c in new exec shell attach cancel show path why diff publish allow snapshot rollback sync merge push port log export archive discard completion; do
    fails 2 "usage: garth $c" "$garth" "$c"
  done
  for c in "new a b" "shell a b" "attach a b" "ls a" "show a b" "path a b" "log a b" "export a b c" \
    "publish a b" "snapshot a b" "rollback a b" "sync a b" "undo a b" "audit a b" "serve a" "doctor a" "config a b" "init a" "trust a" "help a b" "version a"; do
    fails 2 "is one word too many" "$garth" $c
  done
  fails 2 "option '--base' wants REV" "$garth" new t --base
  fails 2 "option '-b' wants REV" "$garth" new t -b
  fails 2 "option '--json' takes no value" "$garth" new t --json=yes
  nothing_changed
}

@test "O3 help: the version is printed" {
  call "$garth" version
  [[ $code == 0 ]] || complain
  [[ $out =~ ^garth\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || complain
  [[ $("$garth" --version) == "$out" ]]
}

@test "O3 help: a command fails if its answer cannot be written" {
  "$garth" new t
  for c in "help" "ls --json" "path t" "show t" "config" "log t"; do
    code=0
    "$garth" $c >/dev/full 2>/dev/null || code=$?
    [[ $code != 0 || $c == "log t" ]] || complain "$c"
  done
}

@test "O3 help: commands work with closed standard descriptors" {
  "$garth" new t --backend worktree
  call bash -c 'exec "$0" path t <&- 2>&-' "$garth"
  [[ $code == 0 ]] || complain
  [[ $out == */worktrees/t ]] || complain
  bash -c 'exec "$0" exec t -- true <&- >&- 2>&-' "$garth"
  git -C "$R" fsck --strict
}

@test "O3 help: without UTF-8, words are printed in place of signs" {
  call env LC_ALL=C "$garth" path nosuch
  [[ $code == 3 ]] || complain
  [[ $err == "error: there is no task 'nosuch'" ]] || complain
}
