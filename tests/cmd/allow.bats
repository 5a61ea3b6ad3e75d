# J5, G5: what the user allows a task: a host, or a protected path.
load helpers
load served

@test "J5 allow: allow gives a running task a host, and a port of localhost, at once; a stopped one at its next start" {
  "$garth" run -q -d -t t -- sleep 1000
  [[ $(get http://nowhere.invalid/) == *"nowhere.invalid:80 is not on this task's list"* ]]
  call "$garth" allow --host t nowhere.invalid "localhost:$port"
  [[ $code == 0 ]] || complain
  [[ $out == nowhere.invalid$'\n'"localhost:$port" ]] || complain
  [[ $(get http://nowhere.invalid/) == *"nowhere.invalid cannot be found"* ]] || complain "$(get http://nowhere.invalid/)"
  [[ $(raw 127.0.0.1 "$port") == "$SECRET" ]] || complain "$(raw 127.0.0.1 "$port")"
  [[ $("$garth" allow --host t --json | json 'd["hosts"]') == '["nowhere.invalid", "localhost:'"$port"'"]' ]]
  "$garth" audit t --json | grep -q '"allow-host"'
  "$garth" audit --verify
  "$garth" cancel t
  [[ $(raw 127.0.0.1 "$port") == "$SECRET" ]] || complain "$(raw 127.0.0.1 "$port")"
  "$garth" new u; "$garth" allow --host u example.org
  [[ $("$garth" show u --json | json 'd["network"]["hosts"]') == '["example.org"]' ]]
}

@test "J5 allow: a port that the task's own server uses, a network without a list, a bad host" {
  "$garth" run -q -d -t t -- python3 -m http.server --bind 127.0.0.1 "$port"; eventually inside t "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", $port))'"
  fails 1 "port $port of localhost cannot be forwarded: something inside listens on it" "$garth" allow --host t "localhost:$port"
  [[ $("$garth" show t --json | json 'd["network"]["hosts"]') == '[]' ]]
  fails 2 "is not a host" "$garth" allow --host t 'a b'
  fails 2 "do not go together" "$garth" allow --host --path t a
  "$garth" run -q -d -t n --net none -- sleep 1000
  fails 4 "its network is 'none', which has no list of hosts" "$garth" allow --host n example.org
}

@test "G5 allow: a word that looks like a host is not taken for a path, but a protected path is" {
  "$garth" new t
  for word in github.com '*.crates.io' github.com:443 10.0.0.7 registry.npmjs.org; do
    fails 2 "'$word' looks like a host; if it is a path to publish: garth allow --path t $word" "$garth" allow t "$word"
    [[ $(hint) == "garth allow --host t $word" ]] || complain
  done
  [[ -z $("$garth" allow t) ]]
  for word in .gitattributes opencode.json .mcp.json CODEOWNERS 'deploy/**' '*.yml' docs/a.b; do
    call "$garth" allow t "$word"
    [[ $code == 0 ]] || complain "$word"
    [[ $err == *"task 't' may publish $word"* ]] || complain "$word"
  done
  echo x >github.com
  commit host
  "$garth" new w
  "$garth" allow w github.com
  call "$garth" allow --path t github.com
  [[ $code == 0 ]] || complain
  [[ $out == *github.com* ]] || complain
  "$garth" audit t --json | grep -q '"allow"'
}
