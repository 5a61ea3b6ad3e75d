# Log-ins that stay outside: the agent has dummies, and the proxy adds the real ones.
load helpers
source "$BATS_TEST_DIRNAME/../credentials.bash"

setup() { garth_setup; credentials_setup; }
teardown() { credentials_teardown; garth_teardown; }

ask='curl -sS -H "x-api-key: $ANTHROPIC_API_KEY" -d hello "$ANTHROPIC_BASE_URL/v1/messages"'

@test "A7 credentials: the key is added outside, for the model that the user's variable names; show says so" {
  agent claude "echo \"\$ANTHROPIC_API_KEY\"; $ask"
  ANTHROPIC_API_KEY=$key ANTHROPIC_BASE_URL=$url call "$garth" run -q -t t -- claude
  [[ $code == 0 ]] || complain
  [[ $out == sk-ant-api03-GarthDummy* ]] || complain
  [[ $out != *"$key"* ]] || complain
  grep -qxF "/v1/messages $key None hello" "$M/requests" || complain "$(cat "$M/requests")"
  call "$garth" show t
  [[ $out == *'log-in     proxy of claude: ANTHROPIC_API_KEY outside, added by the proxy'* ]] || complain
  call "$garth" show t --json
  [[ $(json 'v["credentials"]["how"]') == proxy ]] || [[ $out == *'"how": "proxy"'* ]] || complain
}

@test "A7 credentials: a key that two variables have, or a variable and a file, is not in the task" {
  agent codex 'echo "$OPENAI_API_KEY,$CODEX_API_KEY"; cat ~/.codex/auth.json; env'
  codex() { OPENAI_API_KEY=$key CODEX_API_KEY=$key OPENAI_BASE_URL=$url call "$garth" run -q -t "$1" -- codex; }
  codex variables
  [[ $code == 0 && $out == *GarthDummy*,*GarthDummy* && $out != *"$key"* ]] || complain
  mkdir -p "$HOME/.codex"; echo "{\"OPENAI_API_KEY\":\"$key\"}" >"$HOME/.codex/auth.json"
  codex file
  [[ $code == 0 && $out == *GarthDummy*,*GarthDummy* && $out != *"$key"* ]] || complain
}

@test "A7 ESCAPES 60 credentials: a variable that no service is known for does not bring in a key that stays outside" {
  agent gemini 'env | grep GOOGLE_'
  GEMINI_API_KEY=$key GOOGLE_API_KEY=$key GOOGLE_CLOUD_PROJECT="of $key" call "$garth" run -q -t same -- gemini
  [[ $out == *API_KEY=*GarthDummy* && $out == *"=of "*GarthDummy* && $out != *"$key"* ]] || complain
  [[ $("$garth" show same) == *'GEMINI_API_KEY, GOOGLE_API_KEY outside, added by the proxy'* ]]
  # another one is still copied, and named
  GEMINI_API_KEY=$key GOOGLE_API_KEY=other-$key call "$garth" run -q -t other -- gemini
  [[ $("$garth" show other) == *'GOOGLE_API_KEY in the task'* ]]
  # a word that is a key is no key elsewhere
  GEMINI_API_KEY=lm-studio GOOGLE_API_KEY=lm-studio GOOGLE_CLOUD_PROJECT=the-lm-studio-project call "$garth" run -q -t word -- gemini
  [[ $out == *API_KEY=GarthDummy* && $out == *the-lm-studio-project* ]] || complain
}

@test "A7 credentials: Gemini CLI is told which kind its key is; what the user's settings say stays" {
  agent gemini 'tr -d " \n" <~/.gemini/settings.json'
  settings() { GEMINI_API_KEY=$key call "$garth" run -q -t "$1" -- gemini; }
  quiet='"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false}'
  settings none
  [[ $out == "{$quiet,\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}}}" ]] || complain
  mkdir -p "$HOME/.gemini"; echo '{"general": {"enableAutoUpdate": true}, "ui": {"theme": "x"}} // mine' >"$HOME/.gemini/settings.json"
  settings theirs
  [[ $out == '{"general":{"enableAutoUpdate":true,'*'"selectedType":"gemini-api-key"'*'"ui":{"theme":"x"}}' ]] || complain
  echo '{"security": {"auth": {"selectedType": "vertex-ai"}}}' >"$HOME/.gemini/settings.json"
  settings other
  [[ $out == "{$quiet,"*'"selectedType":"vertex-ai"'* ]] || complain
  # a log-in at Google is no key
  rm "$HOME/.gemini/settings.json"; google_login 1 99999999999999
  call "$garth" run -q -t google -- gemini
  [[ $out == "{$quiet}" ]] || complain
}

@test "A7 credentials: keys of other providers stay outside; what the proxy does not know of a file is named by show" {
  be_the_network
  local auth=$HOME/.local/share/opencode/auth.json
  agent opencode 'cat ~/.local/share/opencode/auth.json
    curl -sS -H "authorization: Bearer $GROQ_API_KEY" -d hello https://api.groq.com/openai/v1/chat/completions
    curl -sS -H "authorization: Bearer $GROQ_API_KEY" -d hello https://api.groq.com/openai/v1/files'
  mkdir -p "${auth%/*}"
  echo "{\"groq\": {\"type\": \"api\", \"key\": \"$key-groq\"}, \"mistral\": {\"type\": \"api\", \"key\": \"$key-m\"},
    \"acme\": {\"type\": \"oauth\", \"refresh\": \"acme-refresh\", \"access\": \"acme-access\", \"expires\": 99999999999999},
    \"lab\": {\"type\": \"wellknown\", \"key\": \"K\", \"token\": \"lab-token\"}}" >"$auth"
  GROQ_API_KEY=$key call "$garth" run -q -t t -- opencode
  [[ $out == *GarthDummy* && $out != *"$key"* && $out != *acme-refresh* ]] || complain
  grep -q "^api.groq.com/openai/v1/chat/completions .*$key" "$M/requests" || complain "$(cat "$M/requests")"
  not grep -q files "$M/requests"
  call "$garth" show t
  [[ $out == *"GROQ_API_KEY, ~/.local/share/opencode/auth.json outside, added by the proxy; ~/.local/share/opencode/auth.json (acme lab) in the task"* ]] || complain
  # a file of variables
  mkdir -p "$HOME/.gemini"; printf '# mine\nexport GEMINI_API_KEY="%s"\nOTHER_TOKEN=other-token\n' "$key" >"$HOME/.gemini/.env"
  agent gemini 'cat ~/.gemini/.env'
  call "$garth" run -q -t gemini -- gemini
  [[ $out == *'GEMINI_API_KEY="sk-'*GarthDummy* && $out != *"$key"* ]] || complain
  call "$garth" show gemini
  [[ $out == *"~/.gemini/.env outside, added by the proxy; ~/.gemini/.env (OTHER_TOKEN) in the task"* ]] || complain
}

@test "A7 credentials: a task is not resumed without the key that it was started with; the question stays" {
  agent claude '[[ $* == *--continue* ]] || garth ask "Which?" a b; echo "$ANTHROPIC_API_KEY"'
  ANTHROPIC_API_KEY=$key call "$garth" run -q -t t -- claude
  [[ $code == 6 ]] || complain
  call "$garth" answer t 1
  [[ $code == 4 && $err == *"task 't' was started with ANTHROPIC_API_KEY, and now claude has no log-in"* ]] || complain
  call "$garth" show t --json
  [[ $(json 'd["state"]' <<<"$out") == blocked ]] || complain
  ANTHROPIC_API_KEY=$key call "$garth" answer -q t 1
  [[ $code == 0 && $out == *GarthDummy* ]] || complain
  # another log-in will do
  ANTHROPIC_API_KEY=$key call "$garth" run -q -t u -- claude
  [[ $code == 6 ]] || complain
  claude_login 1
  call "$garth" answer -q u 1
  [[ $code == 0 ]] || complain
}

@test "A7 credentials: copy and none; a repository's file can only make it stricter" {
  agent claude 'echo "$ANTHROPIC_API_KEY,$ANTHROPIC_BASE_URL"'
  export ANTHROPIC_API_KEY=$key
  echo 'agents: {claude: {credentials: copy}}' | configure
  [[ $("$garth" run -q -t copy -- claude) == "$key," ]]
  echo 'agents: {claude: {credentials: none}}' | configure
  [[ $("$garth" run -q -t none -- claude) == "," ]]
  # with network host the proxy cannot listen
  echo 'agents: {}' | configure
  [[ $("$garth" run -q -t host --net host -- claude) == "$key," ]]
  echo 'agents: {claude: {credentials: proxy}}' | configure
  call "$garth" run -t strict --net host -- claude
  [[ $out == "," ]] || complain
  [[ $err == *'ANTHROPIC_API_KEY is not given to the task'* ]] || complain
  echo 'agents: {claude: {credentials: copy}}' | configure
  echo 'agents: {claude: {credentials: none}}' >.garth.yaml; git add .garth.yaml; git commit -qm stricter
  [[ $("$garth" run -q -t repo -- claude) == "," ]]
}

@test "A7 credentials: a stream arrives piece by piece" {
  agent claude 'curl -sSN -H "x-api-key: $ANTHROPIC_API_KEY" -d stream "$ANTHROPIC_BASE_URL/v1/messages"'
  ANTHROPIC_API_KEY=$key ANTHROPIC_BASE_URL=$url "$garth" run -q -t t -- claude >"$T/stream" 2>&1 3>&- &
  local run=$!
  for i in 0 1 2; do
    touch "$M/go-$i"
    eventually grep -q "data: $i" "$T/stream"
    not grep -q "data: $((i + 1))" "$T/stream"
  done
  wait "$run"
}

@test "A7 credentials: what arrives together is passed on together; a large answer is whole, also if it is read slowly" {
  # a line for each chunk and for its size: the answer itself has none
  agent claude 'ask() { curl -sS -H "x-api-key: $ANTHROPIC_API_KEY" "$@" "$ANTHROPIC_BASE_URL/v1/messages"; }
    ask --raw -d many | wc -l; ask -d many | wc -c; ask -d large | wc -c; ask --limit-rate 40M -d large | wc -c'
  ANTHROPIC_API_KEY=$key ANTHROPIC_BASE_URL=$url call "$garth" run -q -t t -- claude
  read -rd '' lines rest <<<"$out" || true
  ((lines < 50)) || complain
  [[ $rest == 8000$'\n'24690000$'\n'24690000 ]] || complain
  # the same if the proxy answers TLS
  be_the_network; claude_login 1
  agent claude 'ask() { curl -sS -H "Authorization: Bearer $(sed -nE "s/.*\"accessToken\": *\"([^\"]*)\".*/\1/p" ~/.claude/.credentials.json)" "$@" https://api.anthropic.com/v1/messages; }
    ask --raw -d many | wc -l; ask -d many | wc -c; ask -d large | wc -c; ask --limit-rate 40M -d large | wc -c'
  call "$garth" run -q -t tls -- claude
  read -rd '' lines rest <<<"$out" || true
  ((lines < 50)) || complain
  [[ $rest == 8000$'\n'24690000$'\n'24690000 ]] || complain
  grep -q '^api.anthropic.com/v1/messages None Bearer access-1-secret-secret-secret large' "$M/requests" || complain "$(cat "$M/requests")"
}

@test "A7 credentials: a server without a trusted certificate gets nothing" {
  agent claude "$ask"
  ANTHROPIC_API_KEY=$key ANTHROPIC_BASE_URL=$url SSL_CERT_FILE=/dev/null CURL_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt call "$garth" run -q -t t -- claude
  [[ $out == *garth_credentials_proxy* ]] || complain
  [[ ! -e $M/requests ]] || complain
}

renew='t=$(sed -nE "s/.*\"refresh_token\": *\"([^\"]*)\".*/\1/p" ~/.codex/auth.json); curl -sS -H "Content-Type: application/json" -d "{\"grant_type\":\"refresh_token\",\"refresh_token\":\"$t\"}" "$CODEX_REFRESH_TOKEN_URL_OVERRIDE"'

@test "A7 ESCAPES 60 credentials: ten tasks at once renew a log-in once, and the new one is in the user's file" {
  codex_login 1; agent codex "cat ~/.codex/auth.json; $renew"
  export CODEX_REFRESH_TOKEN_URL_OVERRIDE=$url/oauth/token
  local i runs=()
  # nobody renews before all have started
  exec 7<"$HOME/.codex"; flock 7
  for i in {1..10}; do "$garth" run -q -t "t$i" -- codex >"$T/out.$i" 2>&1 3>&- 7<&- & runs+=($!); done
  for i in {1..10}; do eventually grep -q GarthDummy "$T/out.$i"; done
  flock -u 7; exec 7<&-
  for i in "${runs[@]}"; do wait "$i"; done
  [[ $(wc -l <"$M/requests") == 1 ]] || complain "$(cat "$M/requests")"
  grep -q 'rt-1-secret' "$M/requests"
  for i in {1..10}; do
    grep -q '"access_token":"[a-z0-9-]*GarthDummy' "$T/out.$i" || complain "$(cat "$T/out.$i")"
    not grep -q 'secret-secret' "$T/out.$i"
    not grep -q 'unknown-secret' "$T/out.$i"
  done
  grep -q 'rt-2-secret' "$HOME/.codex/auth.json"
  [[ $(stat -c %a "$HOME/.codex/auth.json") == 600 ]]
}

@test "A7 credentials: a log-in at Google that somebody has renewed is not renewed again, although its token would do" {
  be_the_network; google_login 1
  agent gemini 'dummy() { sed "s/.*\"refresh_token\":\"\([^\"]*\)\".*/\1/" ~/.gemini/oauth_creds.json; }
    renew() { curl -sS -d "grant_type=refresh_token&refresh_token=$(dummy)" https://oauth2.googleapis.com/token; echo; }
    echo ready; until [[ -e go ]]; do sleep 0.05; done; renew; renew'
  "$garth" run -q -t t --backend worktree -- gemini >"$T/out" 2>"$T/err" 3>&- & local run=$!
  eventually grep -q ready "$T/out"
  google_login 2 99999999999999
  "$garth" exec t -- touch go
  wait "$run" || true
  # the first is answered with what the file has, the second goes to the service
  [[ $(grep -c '"access_token":"GarthDummy' "$T/out") == 2 ]] || complain "$(cat "$T/out" "$T/err")"
  [[ $(grep -c '^oauth2.googleapis.com/token' "$M/requests") == 1 ]] || complain "$(cat "$M/requests")"
  grep -q access-2 "$HOME/.gemini/oauth_creds.json" # rt-1 gives access-2
}

@test "A7 credentials: renewing keeps every other byte of the user's file; a revoked token is reported, and the file stays" {
  codex_login 1; agent codex "$renew"
  export CODEX_REFRESH_TOKEN_URL_OVERRIDE=$url/oauth/token
  codex_login 2; sed 's/"2026-01[^"]*"/"TIME"/' "$HOME/.codex/auth.json" >"$T/want"
  codex_login 1
  "$garth" run -q -t a -- codex
  sed 's/"2026-[^"]*"/"TIME"/' "$HOME/.codex/auth.json" | diff "$T/want" -
  # another program has used the refresh token, and Garth does not know
  codex_login 1; cp "$HOME/.codex/auth.json" "$T/before"
  call "$garth" run -q -t b -- codex
  [[ $out == *refresh_token_reused* ]] || complain
  [[ $out != *rt-1-secret* ]] || complain
  diff "$T/before" "$HOME/.codex/auth.json"
}

@test "A7 credentials: Codex outside has no lock: what it writes while a task renews is kept, and is the task's log-in" {
  codex_login 1; agent codex "$renew"
  export CODEX_REFRESH_TOKEN_URL_OVERRIDE=$url/oauth/token
  # the user logs in while the service answers
  touch "$M/hold"
  "$garth" run -q -t a -- codex >"$T/out" 2>&1 3>&- & local run=$!
  eventually grep -q rt-1-secret "$M/requests"
  codex_login 8; cp "$HOME/.codex/auth.json" "$T/before"
  rm "$M/hold"
  wait "$run" || complain "$(cat "$T/out")"
  cmp "$T/before" "$HOME/.codex/auth.json" || complain "$(cat "$HOME/.codex/auth.json")"
  grep -q '"access_token":"[a-z0-9-]*GarthDummy' "$T/out" || complain "$(cat "$T/out")"
  # Codex outside has used the token, and writes the new one after the task was refused
  codex_login 1
  "$garth" run -q -t b -- codex >"$T/out" 2>&1 3>&- & run=$!
  used_again() { [[ $(grep -c rt-1-secret "$M/requests") == 2 ]]; }
  eventually used_again
  codex_login 9; cp "$HOME/.codex/auth.json" "$T/before"
  wait "$run" || complain "$(cat "$T/out")"
  grep -q '"access_token":"[a-z0-9-]*GarthDummy' "$T/out" || complain "$(cat "$T/out")"
  not grep -q reused "$T/out"
  cmp "$T/before" "$HOME/.codex/auth.json"
}

@test "A7 ESCAPES 20, 60 credentials: renewals whose clients hang up do not pile up; the token is inserted only in its own member" {
  codex_login 1
  agent codex 't=$(sed -nE "s/.*\"refresh_token\": *\"([^\"]*)\".*/\1/p" ~/.codex/auth.json) u=$CODEX_REFRESH_TOKEN_URL_OVERRIDE
    ask() { curl -sS -o /dev/null -w "%{http_code} " -H "Content-Type: application/json" "$@" "$u" 2>/dev/null; }
    ask -d "{\"refresh_token\":\"x\",\"client_id\":\"$t\"}"; ask -d "{\"client_id\":\"$t\",\"refresh_token\":\"y\",\"refresh_token\":\"z\"}"
    ask -H "Content-Type: application/x-www-form-urlencoded" -d "client_id=refresh_token=$t" -m 0.5
    for i in 1 2 3 4 5 6; do ask -m 0.5 -d "{\"refresh_token\":\"$t\"}"; done; ask -m 5 -d "{\"refresh_token\":\"$t\"}"'
  exec 7<"$HOME/.codex"; flock 7
  CODEX_REFRESH_TOKEN_URL_OVERRIDE=$url/oauth/token call "$garth" run -q -t a -- codex 7<&-
  flock -u 7; exec 7<&-
  [[ $out == '401 401 '*' 503 503 503 ' ]] || complain
  [[ $(grep -c rt-1-secret "$M/requests") -le 1 ]] || complain "$(cat "$M/requests")"
  not grep -q 'client_id.*rt-1-secret' "$M/requests"
}

@test "A7 credentials: without the proxy's program a request is refused, and does not wait" {
  mkdir "$T/parts"
  cp "$GARTH_BUILD"/garth{,-launch,-archive,-fsmonitor,-mcp,-shim,-guard,-fast-unpack} "$T/parts/"
  agent claude "$ask; echo \"code \$?\""
  ANTHROPIC_API_KEY=$key ANTHROPIC_BASE_URL=$url call timeout 60 "$T/parts/garth" run -q -t t -- claude
  [[ $code == 0 ]] || complain
  [[ $out == 'code '[1-9]* ]] || complain
  [[ $err == *'the credentials proxy has ended'* ]] || complain
}
