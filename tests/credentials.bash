# A model over TLS ($M, $url), and agents that are scripts. The secrets are in the user's variables.
credentials_setup() {
  M=$T/model; mkdir -p "$M"
  /usr/bin/python3 "$BATS_TEST_DIRNAME/../tls_model.py" "$M" >"$M/log" 2>&1 3>&- & model=$!
  local i; for ((i = 0; i < 600; i++)); do if [[ -e $M/port ]]; then break; fi; sleep 0.05; done
  url=https://localhost:$(cat "$M/port")
  unset NODE_EXTRA_CA_CERTS SSL_CERT_DIR HTTPS_PROXY https_proxy ALL_PROXY all_proxy
  export SSL_CERT_FILE=$M/ca.pem CURL_CA_BUNDLE=$M/ca.pem PATH=$HOME/.local/bin:$PATH
  key=sk-ant-api03-real-secret-$RANDOM$RANDOM$RANDOM-real-secret
}

credentials_teardown() { kill "$model" 2>/dev/null || true; wait "$model" 2>/dev/null || true; }

# agent NAME SCRIPT
agent() {
  mkdir -p "$HOME/.local/bin"
  printf '#!/bin/bash\n%s\n' "$2" >"$HOME/.local/bin/$1"; chmod +x "$HOME/.local/bin/$1"
}

# A log-in of Codex with the refresh token rt-N.
codex_login() {
  mkdir -p "$HOME/.codex"
  printf '{"auth_mode":"chatgpt",\n   "tokens":{"id_token":"id-%s-secret-secret-secret", "access_token":"access-%s-secret-secret-secret","refresh_token":"rt-%s-secret-secret-secret"},\n "last_refresh":"2026-01-01T00:00:00Z","more":[1,  2]}\n' "$1" "$1" "$1" >"$HOME/.codex/auth.json"
  chmod 600 "$HOME/.codex/auth.json"
}

# The model is the whole network from now on.
be_the_network() { export HTTPS_PROXY=http://127.0.0.1:$(cat "$M/proxy"); }

# A log-in of Claude with the refresh token rt-N, which ends at END (milliseconds).
claude_login() {
  mkdir -p "$HOME/.claude"
  printf '{"claudeAiOauth":{"accessToken":"access-%s-secret-secret-secret", "refreshToken":"rt-%s-secret-secret-secret","expiresAt":%s,\n "scopes":["user:inference","user:profile"],"subscriptionType":"max"},  "other":1}\n' "$1" "$1" "${2:-99999999999999}" >"$HOME/.claude/.credentials.json"
  chmod 600 "$HOME/.claude/.credentials.json"
}

# A log-in of Gemini at Google.
google_login() {
  mkdir -p "$HOME/.gemini"
  printf '{"access_token":"access-%s-secret-secret-secret","refresh_token":"rt-1-secret-secret-secret","scope":"old","token_type":"Bearer","id_token":"id-%s-secret-secret-secret","expiry_date":%s}' "$1" "$1" "${2:-1}" >"$HOME/.gemini/oauth_creds.json"
}
