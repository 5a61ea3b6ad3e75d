load helpers

# A task that counts, every 50 ms, in a file.
counting() { "$garth" run -d -t "${1:-t}" "${@:2}" -- sh -c 'while :; do echo x >>count; sleep 0.05; done'; }
count() { inside "${1:-t}" 'wc -l <count'; }
event() { "$garth" audit "${2:-t}" --json | json "[e['event'] for e in d['events'] if e['event'] in ('pause', 'resume', 'sync-conflict')]"; }

@test "T1 pause: every process inside stops, and continues where it was" {
  counting
  eventually inside t 'test -s count'
  "$garth" pause t
  [[ $(state_of t) == paused ]]
  [[ $("$garth" ls) == *paused* ]]
  before=$(count)
  sleep 1
  [[ $(count) == "$before" ]]
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

