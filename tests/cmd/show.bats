load helpers

@test "O3 show: a task in words" {
  "$garth" run -t t -- sh -c 'echo x >new; rm a.txt; touch x.o; exit 2' || true
  call "$garth" show t
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  for line in 'task +t' 'state +failed' 'project +app' 'branch +garth/t' 'target +main' 'exit code +2' 'changed +2 files' \
    ' +A new' ' +D a.txt' 'ignored +1 file'; do
    grep -qE "^$line" <<<"$out" || complain "no line '$line'"
  done
}

@test "O3 show: --json" {
  "$garth" run -t t --on-dirty keep -- sh -c 'echo x >new; git add new; git commit -qm new; echo y >>a.txt; touch x.o'
  "$garth" show t --json >"$T/j"
  # a published file is neither a draft nor changed any more
  [[ $(json 'd["uncommitted"]' <"$T/j") == '[{"status": "M", "path": "a.txt"}]' ]]
  [[ $(json '[d["drafts"], d["ignored"], d["disk"] > 0, d["exit_code"], d["state"], d["command"][0]]' <"$T/j") == '[false, 1, true, 0, "done", "sh"]' ]]
  [[ $(json '[d["commits"], d["note"], d["on_dirty"], d["standing"], d["ahead"], d["behind"]]' <"$T/j") == '[1, "1 uncommitted file: a.txt", "keep", "ahead", 1, 0]' ]]
  [[ $(json 'd["published"]' <"$T/j") == "$(git rev-parse garth/t)" ]]
  inside t 'GARTH_GATEWAY=1 git commit -qam draft'
  [[ $("$garth" show t --json | json '[d["drafts"], d["commits"]]') == '[true, 1]' ]]
}

@test "J1 show: --jail prints the walls, for each network, and as JSON" {
  "$garth" new t
  call "$garth" show t --jail
  [[ $code == 0 ]] || complain
  [[ -z $err ]] || complain
  [[ $out == *'network  loopback only'* ]] || complain
  [[ $out == *seccomp* ]] || complain
  [[ $out == *landlock* ]] || complain
  [[ $out != *"$HOME/.ssh"* ]] || complain
  [[ $out != */etc/shadow* ]] || complain
  "$garth" show t --jail --net host | grep -q resolv.conf
  "$garth" show t --jail --json >"$T/j"
  [[ $(json 'd["network_mode"]' <"$T/j") == allow ]]
  [[ $out == *'proxy    127.0.0.1:23128'* ]]
  # what can be written is the task's own, and nothing else
  json '[r["source"] for r in d["rows"] if r["write"] and r["source"]]' <"$T/j" >"$T/writable"
  python3 - "$T/writable" "$GARTH_HOME" <<'PY'
import json, sys
for path in json.load(open(sys.argv[1])):
    assert path.startswith(sys.argv[2] + "/tasks/"), path
PY
  fails 2 "there is no network 'x'" "$garth" show t --jail --net x
}

@test "ESCAPES 16 show: names that an agent chose are cleaned for the terminal" {
  "$garth" run -t t --on-dirty keep -- sh -c 'touch "$(printf "a\033[31mb")" "$(printf "c\nstate      done")"'
  call "$garth" show t
  [[ $out != *$'\e'* ]] || complain
  [[ $(grep -c '^state' <<<"$out") == 1 ]] || complain
}

@test "O3 show: a note names files on lines of their own" {
  "$garth" run -t t -- sh -c 'for i in $(seq 1 1489); do echo >file-$i; done' || true
  call "$garth" show t
  [[ $out == *$'\nnote       1,489 uncommitted files\n             file-1\n             file-10\n'* ]] || complain
  [[ $out == *$'\n             … and 1,479 more\n'* ]] || complain
}
