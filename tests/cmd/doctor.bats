load helpers

@test "J10 doctor: what this machine offers, a line each" {
  call "$garth" doctor
  [[ $code == 0 && -z $err ]] || complain
  for w in 'user namespaces' overlay landlock seccomp git; do grep -qE "^✓ $w" <<<"$out" || complain "no $w"; done
}

@test "O3 doctor: --json" {
  "$garth" doctor --json >"$T/j"
  [[ $(json '[d["ok"], all(set(c) == {"name", "purpose", "ok", "required", "found", "enable"} for c in d["checks"]), d["tasks"]]' <"$T/j") == '[true, true, []]' ]]
}

@test "J10 doctor: something that is missing is exit code 1 and the command that enables it" {
  call python3 "$BATS_TEST_DIRNAME/without-userns" "$garth" doctor --json
  [[ $code == 1 && $(json 'd["ok"]' <<<"$out") == false ]] || complain
  [[ $(json 'all(c["enable"] for c in d["checks"] if not c["ok"] and c["name"] == "user namespaces")' <<<"$out") == true ]] || complain
}

@test "J10 doctor: makes good what a process left behind, and says so" {
  "$garth" run -d -t t -- sleep 1000
  pid=$(keeper_of t)
  kill -9 "$pid"
  eventually not test -e "/proc/$pid/fd/0"
  call "$garth" doctor
  [[ $code == 0 && $err == *"t: its keeper is gone, now interrupted; its workspace is kept"* ]] || complain
  call "$garth" doctor
  [[ $code == 0 && -z $err ]] || complain
}

@test "J10 ESCAPES 23 doctor: what a killed gateway left in the repository goes, but for that of a task in use" {
  "$garth" new t; "$garth" run -d -t u -- sleep 1000
  for n in 1 2; do mkdir -p ".git/objects/garth-$(ident $n)/ab"; echo x >".git/objects/garth-$(ident $n)/ab/cd"; done
  call "$garth" doctor
  [[ $code == 0 && $out$err == *"t: its gateway was killed at work"* && $out$err != *"u: its gateway"* ]] || complain
  [[ ! -e .git/objects/garth-$(ident 1) && -e .git/objects/garth-$(ident 2) ]]
  "$garth" cancel u
}
