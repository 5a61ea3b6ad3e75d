load helpers

@test "W4 J3 fsmonitor: git status says the same with and without it, over random steps" {
  call timeout 120 "$BATS_TEST_DIRNAME/fsmonitor-differential" --program "$GARTH_BUILD/garth-fsmonitor" --seconds 8 --steps 100000
  echo "$out"
  echo "# $(head -n1 <<<"$out")" >&3
  [[ $code == 0 ]] || complain
  [[ $out == *'no mismatch'* ]] || complain
}
