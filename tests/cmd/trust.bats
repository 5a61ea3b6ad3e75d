load helpers

settings() { cat >"$R/.garth.yaml"; git -C "$R" add .garth.yaml; git -C "$R" commit -qm settings; }
# on_terminal TEXT CMD…: runs it on a terminal on which TEXT is typed; prints what it shows.
on_terminal() {
  local text=$1; shift
  printf '%s\n' "$text" | script -qec "$(printf '%q ' "$@")" /dev/null | tr -d '\r'
}

@test "O2 trust: what would run is refused without a terminal, with the command to run; then approved once" {
  settings <<<$'workspace:\n  setup: [[npm, ci], "make deps"]\n  setup_network: [registry.npmjs.org]\n  include: [.env.test]'
  fails 4 "asks for set-up or files that have not been approved" "$garth" new t
  [[ $(hint) == "garth trust" ]]
  fails 4 "have not been approved" "$garth" run -- true
  [[ -z $("$garth" ls -q) ]]
  call "$garth" trust
  [[ $code == 4 ]] || complain
  [[ $out == $'commands that run in a new workspace, inside the jail:\n    npm ci\n    make deps\nhosts that these commands can reach:\n    registry.npmjs.org\nignored files of the checkout that tasks get a copy of:\n    .env.test' ]] || complain
  [[ $(hint) == "garth trust --yes" ]]
  call "$garth" trust --yes
  says "approved for '$R'"
  "$garth" new --no-setup t
  "$garth" run -q --no-setup -- true
  "$garth" audit --json | json '[e["event"] for e in d["events"]].count("trust")' | grep -x 1
  call "$garth" trust
  [[ $code == 0 && $err == '○ all of it is approved' ]] || complain
}

@test "O2 trust: another value needs a new approval, another change of the file does not" {
  settings <<<$'workspace: {setup: [make], include: [.env]}'
  "$garth" trust --yes
  settings <<<$'# a comment\nlimits: {max_files: 5}\nworkspace:\n  include:\n    - .env\n  setup_inputs: [Makefile]\n  setup: make'
  "$garth" new --no-setup a
  settings <<<$'workspace: {setup: [[make]], include: [.env]}'
  "$garth" new --no-setup b
  for other in '{setup: [make, make], include: [.env]}' '{setup: ["make "], include: [.env]}' '{setup: [[make, ""]], include: [.env]}' '{setup: [make], include: [.env, "!.env"]}' '{setup: [make]}' '{setup: [make], include: [.env], setup_network: [a.example]}'; do
    settings <<<"workspace: $other"
    fails 4 "have not been approved" "$garth" new c
  done
  # an older commit with the approved values is still approved; one that is not names its revision
  "$garth" new --no-setup c --base HEAD~6
  fails 4 "have not been approved" "$garth" new d --base HEAD~1
  [[ $(hint) == "garth trust --base HEAD~1" ]]
}

@test "O2 trust: --list and --revoke" {
  call "$garth" trust --list
  says "nothing is approved for '$R'"
  settings <<<$'workspace: {setup: [make]}'
  "$garth" trust --yes
  "$garth" trust --list | grep -F 'workspace.setup: make'
  "$garth" trust --list --json | json '[a["asks"] for a in d["approvals"]]' | grep -xF '[["workspace.setup: make"]]'
  call "$garth" trust --revoke
  says "nothing is approved for '$R' any more"
  fails 4 "have not been approved" "$garth" new t
  "$garth" audit --json | json '[e["event"] for e in d["events"]][-1]' | grep -x untrust
  fails 2 "do not go together" "$garth" trust --list --yes
  # an approval is for one repository
  "$garth" trust --yes
  git clone -q "$R" "$T/home/src/other"
  cd "$T/home/src/other"
  fails 4 "have not been approved" "$garth" new t
}

@test "O2 trust: on a terminal garth new asks, and only the answer yes approves" {
  settings <<<$'workspace: {setup: ["make deps"]}'
  on_terminal n "$garth" new --no-setup t >"$T/seen" || true
  grep -F 'make deps' "$T/seen"
  grep -F 'approve it for this repository? [y/N]' "$T/seen"
  grep -F 'it is not approved, and nothing was done' "$T/seen"
  [[ -z $("$garth" ls -q) ]]
  on_terminal y "$garth" new --no-setup t >"$T/seen"
  [[ $(state_of t) == created ]]
  "$garth" new --no-setup u
  git commit -q --allow-empty -m x; settings <<<$'workspace: {setup: [other]}'
  on_terminal y "$garth" run --no-setup -t v -- true >"$T/seen"
  [[ $(state_of v) == done ]]
  call "$garth" new --no-setup --json w
  [[ $code == 0 ]] || complain
}

@test "O2 ESCAPES trust: control and invisible characters of a command are shown, and no line can look like another" {
  printf 'workspace:\n  setup:\n    - "make\\e[2K\\e[1A\\r harmless \\u202e \\u200b"\n    - |\n      make # deps\n      rm -rf ~\n  include: ["a\\u202eb"]\n' | settings
  call "$garth" trust
  [[ $code == 4 ]] || complain
  [[ $out != *$'\e'* && $out != *$'\r'* && $out != *$'\u202e'* && $out != *$'\u200b'* ]] || complain
  [[ $out == *'make^[[2K^[[1A^M harmless <U+202E> <U+200B>'* ]] || complain
  [[ $out == *$'    make # deps\n  | rm -rf ~'* ]] || complain
  "$garth" trust --yes >/dev/null
  call "$garth" trust --list
  [[ $out != *$'\e'* && $out != *$'\u202e'* ]] || complain
  "$garth" audit --verify
}

@test "O2 trust: if there is nothing to approve, it says so; a file that asks for nothing needs no approval" {
  call "$garth" trust
  says "the commit has no .garth.yaml: there is nothing to approve"
  settings <<<$'limits: {max_files: 5}'
  call "$garth" trust
  says "the repository's .garth.yaml asks for nothing that needs approval"
  "$garth" new --no-setup t
  cd "$T"
  fails 3 "is not in a git repository" "$garth" trust
}

@test "O2 J10 trust: a kill between the audit line and the store leaves it unapproved" {
  settings <<<$'workspace: {setup: [make]}'
  GARTH_FAULT=trust-audit "$garth" trust --yes >/dev/null 2>&1 || true
  fails 4 "have not been approved" "$garth" new t
  "$garth" trust --yes
  "$garth" new --no-setup t
  "$garth" audit --verify
}
