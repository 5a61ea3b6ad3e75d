load helpers

pages=$GARTH_BUILD/man

# A copy of the texts, to be broken; make_man makes pages of them.
texts() { cp -r "$GARTH_TOP/man" "$T/man"; mkdir "$T/made"; }
make_man() {
  call "$python" "$GARTH_TOP/tools/make-man" "$garth" "$T/man" "$T/made" $(cd "$pages" && ls)
}
# refuses TEXT: the pages cannot be made, for this reason
refuses() {
  make_man
  [[ $code != 0 ]] || complain
  [[ $err == *"$1"* ]] || complain "wanted: $1"
}

@test "O3 man: every command has a page that names each of its options and has an example" {
  for c in $("$garth" help | sed -nE 's/^  ([a-z]+) .*/\1/p'); do
    MANWIDTH=80 man -l "$pages/garth-$c.1" >"$T/page"
    for s in NAME SYNOPSIS DESCRIPTION OPTIONS "EXIT STATUS" EXAMPLES "SEE ALSO"; do
      grep -qx "$s" "$T/page" || complain "$c: no $s"
    done
    "$garth" help "$c" | grep -oE -e '^ +(-., )?--[a-z-]+( [^ ]+)?' | sed 's/^ *//' >"$T/options"
    while read -r o; do
      grep -qE -e "^       ${o//[\[\]]/.}( |$)" "$T/page" || complain "$c: no $o"
    done <"$T/options"
    grep -q "^           garth $c" "$T/page" || complain "$c: no example"
    grep -q "garth-$c(1)" <(MANWIDTH=80 man -l "$pages/garth.1") || complain "$c is not in garth(1)"
  done
}

@test "O3 man: the pages are well formed and fit 80 columns" {
  for p in "$pages"/*; do
    MANWIDTH=80 call man --warnings -l "$p"
    [[ $code == 0 && -z $err ]] || complain "$p"
    [[ $(wc -L <"$T/out") -le 80 ]] || complain "$p"
  done
}

@test "O3 man: what the texts show of the program is true" {
  # a key's default and choices
  MANWIDTH=80 man -l "$pages/garth-config.5" >"$T/page"
  grep -A4 -x '       limits.log_size' "$T/page" | grep -q 'Default: 10MB'
  grep -A4 -x '       cleanup.stale_after' "$T/page" | grep -q 'Default: 7d'
  grep -A3 -x '       network.mode' "$T/page" | paste -sd' ' | tr -s ' ' | grep -q 'One of none, allow, host. Default: allow.'
  # the examples are command lines that are understood: none says that an option or a word is wrong
  sed -nE 's/^    (garth .*)/\1/p' "$GARTH_TOP"/man/*.md | sort -u >"$T/examples"
  (($(wc -l <"$T/examples") > 30)) || complain
  while IFS= read -r line; do
    [[ $line != "garth serve" && $line != *'|'* && $line != *'<'* && $line != *'>'* ]] || continue
    call bash -c "cd $T; garth() { timeout 10 \"$garth\" \"\$@\"; }; $line"
    [[ $code != 2 ]] || complain "$line"
  done <"$T/examples"
}

@test "O3 man: a text that does not fit the program fails the build" {
  texts
  make_man
  [[ $code == 0 ]] || complain
  diff -r "$T/made" "$pages"

  mv "$T/man/garth-gc.md" "$T/gc"
  refuses "the command 'gc' has no text"
  mv "$T/gc" "$T/man/garth-gc.md"

  sed 's/garth-gc/garth-frob/' "$T/man/garth-gc.md" >"$T/man/garth-frob.md"
  refuses "there is no such command"
  rm "$T/man/garth-frob.md"

  cp "$T/man/garth-gc.md" "$T/gc"
  sed -i 's/^### --empty-trash/### --empty-bin/' "$T/man/garth-gc.md"
  refuses "the command has no option '--empty-bin'"
  sed 's/^garth(1)/garth-nosuch(1)/' "$T/gc" >"$T/man/garth-gc.md"
  refuses "there is no page garth-nosuch(1)"
  cp "$T/gc" "$T/man/garth-gc.md"

  cp "$T/man/garth-config.5.md" "$T/config"
  sed -i 's/^### limits.max_disk/### limits.max_disc/' "$T/man/garth-config.5.md"
  refuses "there is no key 'limits.max_disc'"
  sed '/^### limits.max_disk/d' "$T/config" >"$T/man/garth-config.5.md"
  refuses "no page explains the keys limits.max_disk"
}
