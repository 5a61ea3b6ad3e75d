load helpers

configure() { cat >"$T/config.yaml"; export GARTH_CONFIG=$T/config.yaml; }

# A task that counts, every 50 ms, in a file.
counting() { "$garth" run -d -t "${1:-t}" "${@:2}" -- sh -c 'while :; do echo x >>count; sleep 0.05; done'; }
count() { inside "${1:-t}" 'wc -l <count'; }
event() { "$garth" audit "${2:-t}" --json | json "[e['event'] for e in d['events'] if e['event'] in ('pause', 'resume', 'sync-conflict')]"; }

follows() { [[ $(git log -1 --format=%s garth/$1~1 2>/dev/null) == "$2" ]]; }
notes() { [[ $("$garth" show "$1") == *"$2"* ]]; }

@test "T1 pause: everything inside is paused, and continues where it was" {
  counting
  eventually inside t 'test -s count'
  "$garth" pause t
  [[ $(state_of t) == paused && $("$garth" ls) == *paused* ]]
  before=$(count); sleep 1; [[ $(count) == "$before" ]]
  # new commands run during the pause, and commits are published
  inside t 'echo y >>a.txt; git commit -qm meanwhile a.txt'
  [[ $(git log -1 --format=%s garth/t) == meanwhile ]]
  fails 4 'not running, it is paused' "$garth" pause t
  fails 4 paused "$garth" discard -fD t
  "$garth" resume t
  [[ $(state_of t) == running ]]
  for i in $(seq 50); do [[ $(count) == "$before" ]] || break; sleep 0.1; done
  (($(count) > before))
  fails 4 'is running already' "$garth" resume t
  [[ $(event) == '["pause", "resume"]' ]] || complain "$(event)"
  "$garth" cancel t
  fails 4 'not running, it is cancelled' "$garth" pause t
  fails 3 'no task' "$garth" pause nobody
}

@test "T1 pause: a paused task can be cancelled, and one whose keeper died is interrupted" {
  counting
  "$garth" pause t
  SECONDS=0; "$garth" cancel t; ((SECONDS < 8))
  [[ $(state_of t) == cancelled ]]
  counting u
  "$garth" pause u
  kill -KILL "$(keeper_of u)"
  eventually is_state u interrupted
}

@test "G11 sync: an idle running task follows its target by itself" {
  configure <<<'sync: {auto_rebase: true, rebase_frequency: 1}'
  "$garth" run -d -t t -- sleep 1000
  inside t 'echo mine >mine; git add mine; git commit -qm mine'
  echo theirs >theirs; git add theirs; git commit -qm theirs
  eventually follows t theirs
  [[ $(inside t 'cat theirs mine') == $'theirs\nmine' && $(state_of t) == running ]]
  # one with files at hand is left alone
  inside t 'echo dirty >>a.txt'
  git commit -q --allow-empty -m more
  sleep 4
  [[ $(git log -1 --format=%s garth/t~1) == theirs ]]
}

@test "G10 G11 sync: on a conflict the task pauses, the files are named, and a resolution resumes it" {
  configure <<<'sync: {auto_rebase: true, rebase_frequency: 1}'
  counting
  inside t 'echo count >.git/info/exclude; echo mine >>a.txt; git commit -qam mine'
  old=$(git rev-parse garth/t)
  echo theirs >>a.txt; git commit -qam theirs
  eventually is_state t paused
  [[ $("$garth" show t) == *a.txt* && $(git rev-parse garth/t) == "$old" && $(event) == '["sync-conflict", "pause"]' ]] || complain "$("$garth" show t)" "$(event)"
  call "$garth" merge --resolve t
  r=$("$garth" ls --json | json '[t["name"] for t in d["tasks"] if t["name"] != "t"][0]')
  inside "$r" 'printf "%s\n" both >a.txt; git commit -qam solved'
  "$garth" merge --continue t
  [[ $(git show main:a.txt) == both && $(state_of t) == running ]]
  # and if the user does not want it, it is only noted
  configure <<<'sync: {auto_rebase: true, rebase_frequency: 1, pause_on_conflict: false}'
  "$garth" run -d -t u -- sleep 1000
  inside u 'echo mine >>a.txt; git commit -qam mine'
  echo theirs >>a.txt; git commit -qam theirs
  eventually notes u "conflicts with main: a.txt"
  [[ $(state_of u) == running ]]
}

@test "G11 sync: a result that policy refuses leaves the inside as it was" {
  "$garth" new t
  inside t 'echo mine >mine; git add mine; git commit -qm mine; echo dirty >>a.txt; echo n >new'
  configure <<<'limits: {max_commits: 1}'
  old=$(git rev-parse garth/t)
  echo theirs >theirs; git add theirs; git commit -qm theirs
  before=$(inside t 'git rev-parse HEAD; git status --porcelain; cat a.txt new')
  call "$garth" sync t
  [[ $code == 4 && $(git rev-parse garth/t) == "$old" ]] || complain
  [[ $(inside t 'git rev-parse HEAD; git status --porcelain; cat a.txt new') == "$before" ]] || complain "$before" "$(inside t 'git rev-parse HEAD; git status --porcelain; cat a.txt new')"
}
