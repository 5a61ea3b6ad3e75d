# What the tests of merging share, over helpers.bash.

# publish TASK SCRIPT [MESSAGE]: a commit on the task's branch, as the gateway would leave it.
publish() {
  local w=$T/publish
  git worktree add -q --detach "$w" "refs/heads/garth/$1"
  (cd "$w" && bash -ec "$2" && git add -A && git -c user.name=Agent -c user.email=agent@example.com commit -qm "${3:-work}" --date '2020-01-02T03:04:05+0200')
  git update-ref "refs/heads/garth/$1" "$(git -C "$w" rev-parse HEAD)"
  git worktree remove --force "$w"
}

# task NAME SCRIPT: a task that has published one commit.
task() { "$garth" new "$1" >/dev/null; publish "$1" "$2" "${3:-work of $1}"; }

# main moves on, so that nothing is a fast-forward.
move_on() { echo "${1:-on}" >"${2:-on.txt}"; commit "main goes on"; }

tidy() {
  [[ -z $(git status --porcelain) ]] || complain "status: $(git status --porcelain)"
  git diff-files --quiet || complain "stat data: $(git diff-files --name-only)"
  nothing_beside
  git fsck --strict
}

# No temporary files or locks are left.
nothing_beside() {
  [[ -z $(find "$GARTH_HOME/merges" -name '*.json*') ]] || complain "a journal stayed"
  [[ -z $(find "$R" "$T"/elsewhere* \( -name '*garth-merge*' -o -name '*.lock' \) 2>/dev/null) ]] || complain "left: $(find "$R" -name '*garth-merge*' -o -name '*.lock')"
}

at_main() { git rev-parse main; }

# In builds without faults the variable has no meaning.
without_faults() {
  if has_faults; then return 1; fi
  call env GARTH_FAULT=merge-half "$garth" merge t
  [[ $code == 0 ]] || complain "GARTH_FAULT has a meaning"
}

stopped() { [[ $(ps -o stat= -p "$1") == T* ]]; }
