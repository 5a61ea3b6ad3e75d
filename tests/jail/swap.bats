# ESCAPES 6: what trusted code has looked at becomes something else before it uses it.
load helpers

setup_file() { compile swap; }

# Files, directories and ignore files, each with a twin that is a link to the outside.
prepare="mkdir -p race real; echo plain >real/f; echo plain >race/f; ln -s @/dir link; echo plain >file; ln -s @/secret twin
  cp .gitignore ignore 2>/dev/null || echo '*.o' >ignore; ln -s @/secret ilink"
pairs='race link file twin'

# The control: a program that looks and then uses (test, then cat) is tricked within the time.
tricked() {
  local end=$((SECONDS + 10))
  while ((SECONDS < end)); do
    if [[ ! -L $1/race && ! -L $1/file ]] && cat "$1/race/f" "$1/file" 2>/dev/null | grep -q "$SECRET"; then return 0; fi
  done
  return 1
}

@test "6 control: a naive reader is tricked by the swap" {
  outside sh -c "${prepare//@/$T/elsewhere}"
  cp "$programs/swap" "$T/open/swap"
  # shellcheck disable=SC2086
  beside /dev/null ./swap 10 $pairs
  code=0; tricked "$T/open" || code=$?
  ended "$beside"
  ((code == 0))
}

# The attack swaps a directory and a file for links in a loop while every command that reads the workspace runs.
race() {
  local backend=$1 command
  "$garth" new "t-$backend" --backend "$backend"
  bring "t-$backend" "$programs/swap" swap
  inside "t-$backend" "${prepare//@/$T/elsewhere}; cp -r dir twin-dir; ln -s $T/elsewhere/dir dlink"
  "$garth" exec "t-$backend" -- /tmp/swap 3 race link file twin dir dlink a.txt twin .gitignore ilink >"$T/swaps" 3>&- & swapper=$!
  for round in 1 2 3 4; do
    for command in "diff t-$backend" "diff t-$backend --stat" "show t-$backend" "diff t-$backend --json"; do
      # shellcheck disable=SC2086
      silent "$SECRET" timeout 20 "$garth" $command
    done
    rm -rf "$T/out"
    timeout 20 "$garth" export "t-$backend" "$T/out" >/dev/null 2>&1 || true
    if [[ -d $T/out ]]; then silent "$SECRET" find "$T/out" -type f -exec cat {} +; exported=1; fi
  done
  wait "$swapper"
  (($(<"$T/swaps") > 1000))
  [[ ${exported-} ]]
  host_commands "t-$backend"
  untouched
}

@test "6 J1: symlinks swapped in under the trusted commands, overlay" { race overlay; }

@test "6 J1 W2: symlinks swapped in under the trusted commands, worktree" { race worktree; }
