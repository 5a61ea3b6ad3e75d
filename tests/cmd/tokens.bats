# Log-ins whose clients cannot be told another address: the proxy answers the TLS of their hosts.
load helpers
source "$BATS_TEST_DIRNAME/../credentials.bash"

setup() { garth_setup; credentials_setup; be_the_network; }
teardown() { credentials_teardown; garth_teardown; }

# What is at a place of the log-in file inside, what the token service says, and what the model says.
inside='at() { sed -nE "s/.*\"$1\": *\"([^\"]*)\".*/\1/p" ~/.claude/.credentials.json; }
  say() { curl -sS -H "Authorization: Bearer $1" -d hello https://api.anthropic.com/v1/messages; echo; }
  renew() { curl -sS -H "Content-Type: application/json" -d "{\"grant_type\":\"refresh_token\",\"refresh_token\":\"$1\"}" https://platform.claude.com/v1/oauth/token; echo; }'

@test "ESCAPES 60 A7 J10 tokens: a Claude log-in stays outside: its model is reached, tasks at once renew it once, in its own lock" {
  claude_login 1 1000; cp "$HOME/.claude/.credentials.json" "$T/before"
  agent claude "$inside"'; cat ~/.claude/.credentials.json; say "$(at accessToken)"; echo "ca $NODE_EXTRA_CA_CERTS $ANTHROPIC_BASE_URL,"
    new=$(renew "$(at refreshToken)"); echo "$new"; say "$(sed -E "s/.*\"access_token\": *\"([^\"]*)\".*/\1/" <<<"$new")"'
  # the user's own Claude is renewing
  mkdir "$HOME/.claude.lock"
  local i runs=()
  for i in 1 2 3; do "$garth" run -q -t "t$i" -- claude >"$T/out.$i" 2>&1 3>&- & runs+=($!); done
  for i in 1 2 3; do eventually grep -q '^ca ' "$T/out.$i" || complain "$(cat "$T/out.$i")"; done
  sleep 1 # nothing happens
  not grep -q oauth/token "$M/requests"
  cmp "$T/before" "$HOME/.claude/.credentials.json"
  rmdir "$HOME/.claude.lock"
  for i in "${runs[@]}"; do wait "$i"; done
  [[ $(grep -c '^platform.claude.com/v1/oauth/token .*rt-1-secret' "$M/requests") == 1 ]] || complain "$(cat "$M/requests")"
  [[ $(grep -c '^api.anthropic.com/v1/messages None Bearer access-1-secret-secret-secret hello' "$M/requests") == 3 ]] || complain "$(cat "$M/requests")"
  [[ $(grep -c '^api.anthropic.com/v1/messages None Bearer access-2-secret-secret-secret hello' "$M/requests") == 3 ]] || complain "$(cat "$M/requests")"
  for i in 1 2 3; do
    not grep -q secret-secret "$T/out.$i" || complain "$(cat "$T/out.$i")"
    not grep -q unknown-secret "$T/out.$i"
    grep -qxF 'ca /run/garth/authority.pem ,' "$T/out.$i"
    grep -q '"expires_in":3[0-9][0-9][0-9]' "$T/out.$i" || complain "$(cat "$T/out.$i")"
    grep -qE '"scope":"(all of-it|user:inference user:profile)"' "$T/out.$i" || complain "$(cat "$T/out.$i")"
  done
  # the user's file has the new tokens, and every other byte as it was
  [[ ! -e $HOME/.claude.lock ]]
  [[ $(stat -c %a "$HOME/.claude/.credentials.json") == 600 ]]
  local end; end=$(sed -nE 's/.*"expiresAt":([0-9]*),.*/\1/p' "$HOME/.claude/.credentials.json")
  ((end > ($(date +%s) + 3000) * 1000 && end < ($(date +%s) + 3700) * 1000)) || complain "$end"
  sed -E "s/(access|rt)-2/\1-1/; s/(access|rt)-2/\1-1/; s/$end/1000/" "$HOME/.claude/.credentials.json" | cmp "$T/before" -
  call "$garth" show t1
  [[ $out == *'log-in     proxy of claude: ~/.claude/.credentials.json outside, added by the proxy'* ]] || complain
}

@test "A7 tokens: rotated by the user meanwhile, and revoked; a lock that was left behind; resumed" {
  claude_login 1; agent claude "$inside"'; echo started; until [[ -e /tmp/go ]]; do sleep 0.05; done; say "$(at accessToken)"; renew "$(at refreshToken)"'
  "$garth" run -q -t a -- claude >"$T/out" 2>&1 3>&- & local run=$!
  eventually grep -q started "$T/out"
  # renewed outside: the task gets the user's new tokens, and nobody is asked
  claude_login 7
  "$garth" exec a -- touch /tmp/go; wait "$run" || complain "$(cat "$T/out")"
  not grep -q oauth/token "$M/requests"
  grep -q '"access_token":"[a-zA-Z0-9-]*GarthDummy' "$T/out" || complain "$(cat "$T/out")"
  not grep -q secret-secret "$T/out"
  # it goes on with what the user has now
  call "$garth" resume a
  grep -q '^api.anthropic.com/v1/messages None Bearer access-7-' "$M/requests" || complain "$(cat "$M/requests")"
  # that renewed it; spent by somebody who did not tell, with a lock of an agent that was killed
  claude_login 7; cp "$HOME/.claude/.credentials.json" "$T/before"
  mkdir "$HOME/.claude.lock"; touch -d '2 minutes ago' "$HOME/.claude.lock"
  call "$garth" resume a
  [[ $out == *refresh_token_reused* ]] || complain
  [[ $out != *secret-secret* ]] || complain
  cmp "$T/before" "$HOME/.claude/.credentials.json"
  [[ ! -e $HOME/.claude.lock ]]
}

@test "A7 tokens: a Google log-in stays outside, and is renewed in the user's file" {
  google_login 1 1000
  agent gemini 'cat ~/.gemini/oauth_creds.json; t=$(sed -E "s/.*\"refresh_token\":\"([^\"]*)\".*/\1/" ~/.gemini/oauth_creds.json)
    new=$(curl -sS -d "client_id=c&client_secret=s&refresh_token=$t&grant_type=refresh_token" https://oauth2.googleapis.com/token); echo "$new"
    t=$(sed -E "s/.*\"access_token\": *\"([^\"]*)\".*/\1/" <<<"$new")
    curl -sS -X POST -H "authorization: Bearer $t" https://oauth2.googleapis.com/tokeninfo
    curl -sS -H "Authorization: Bearer $t" -d hello "$CODE_ASSIST_ENDPOINT/v1internal:generateContent"'
  call "$garth" run -q -t t -- gemini
  [[ $code == 0 ]] || complain
  [[ $out != *secret-secret* ]] || complain
  grep -q '^oauth2.googleapis.com/token None None grant_type=refresh_token&refresh_token=rt-1-secret-secret-secret&client_id=c&client_secret=s$' "$M/requests" || complain "$(cat "$M/requests")"
  grep -q '^oauth2.googleapis.com/tokeninfo None Bearer access-2-secret' "$M/requests" || complain "$(cat "$M/requests")"
  grep -q '^cloudcode-pa.googleapis.com/v1internal:generateContent None Bearer access-2-secret' "$M/requests" || complain "$(cat "$M/requests")"
  grep -q '^{"access_token":"access-2-secret-secret-secret","refresh_token":"rt-1-secret-secret-secret","scope":"all of-it","token_type":"Bearer","id_token":"id-2-secret-secret-secret","expiry_date":[0-9]*}$' "$HOME/.gemini/oauth_creds.json" || complain "$(cat "$HOME/.gemini/oauth_creds.json")"
}

@test "A7 tokens: in a task that was started without it, a log-in is a copy without its refresh token" {
  claude_login 1; agent claude "$inside"'; echo "$NODE_EXTRA_CA_CERTS,"; cat ~/.claude/.credentials.json'
  "$garth" run -q -d -t t -- sleep 600
  call "$garth" exec t -- claude
  [[ $out == *'"refreshToken": ""'* ]] || complain
  [[ $out == ,* ]] || complain
  "$garth" cancel t
  # on its own it does stay outside, from the start
  call "$garth" exec t -- claude
  [[ $out == /run/garth/authority.pem,* ]] || complain
  [[ $out != *secret-secret* ]] || complain
}

@test "A7 tokens: OpenCode's log-in at GitHub Copilot stays outside" {
  mkdir -p "$HOME/.local/share/opencode"
  echo '{"github-copilot":{"type":"oauth","refresh":"gho_secret-secret-secret-1","access":"gho_secret-secret-secret-1","expires":0}}' >"$HOME/.local/share/opencode/auth.json"
  agent opencode 'f=~/.local/share/opencode/auth.json; cat $f; t=$(sed -nE "s/.*\"refresh\": *\"([^\"]*)\".*/\1/p" $f)
    curl -sS -H "Authorization: Bearer $t" -d hello https://api.githubcopilot.com/chat/completions; curl -sS -H "Authorization: Bearer $t" https://api.githubcopilot.com/user'
  call "$garth" run -q -t t -- opencode
  grep -qxF 'api.githubcopilot.com/chat/completions None Bearer gho_secret-secret-secret-1 hello' "$M/requests" || complain "$(cat "$M/requests")"
  [[ $out == *GarthDummy* ]] || complain
  [[ $out != *secret-secret* ]] || complain
  [[ $out == *'the log-in cannot be used for this request'* ]] || complain
  [[ $(wc -l <"$M/requests") == 1 ]] || complain "$(cat "$M/requests")"
}
