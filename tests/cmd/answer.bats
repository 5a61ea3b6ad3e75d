load helpers

# asks WAY: a command that leaves a question in that way
asks() {
  case $1 in
  file) echo 'printf "{\"question\": \"Which one?\", \"options\": [\"a\", \"b\"]}" >"$GARTH_QUESTION_FILE"' ;;
  workspace) echo 'printf "{\"question\": \"Which one?\", \"options\": [\"a\", \"b\"]}" >question.json' ;;
  request) echo 'curl -sS --fail --unix-socket "$GARTH_SOCKET" http://x/api/v1/question -d "{\"question\": \"Which one?\", \"options\": [\"a\", \"b\"]}" >/dev/null' ;;
  esac
}

# The command asks once and then commits the answer and the uncommitted files.
script() {
  echo "if [ -z \"\$GARTH_ANSWER\" ]; then echo half >half; $1; else echo \"\$GARTH_ANSWER \$GARTH_QUESTION\" >answer; git add half answer; git commit -qm told; fi"
}

@test "T4 question: each way to ask blocks the task, an answer resumes it in the same workspace with the same session" {
  local way first
  for way in file workspace request; do
    run "$garth" run -q --task $way -- sh -c "echo \$GARTH_SESSION; $(script "$(asks $way)")"
    [[ $status == 6 ]]; first=${lines[0]}
    [[ $(state_of $way) == blocked ]]
    "$garth" ls --json | python3 -c '
import json, sys
q = [t["question"] for t in json.load(sys.stdin)["tasks"] if t["name"] == sys.argv[1]][0]
assert q["text"] == "Which one?" and q["options"] == ["a", "b"] and q["asked"], q' $way
    call "$garth" ls
    grep -qE "^$way +blocked .* asks: Which one\?$" <<<"$out"
    [[ $err == *"task '$way' asks: Which one?"*"garth answer $way"* ]]
    call "$garth" show $way
    [[ $out == *"asks"*"Which one?"* ]]
    run "$garth" answer -q $way this one
    [[ $status == 0 ]]
    [[ ${lines[0]} == "$first" ]]
    [[ $(git show garth/$way:answer) == 'this one Which one?' ]]
    [[ $(git show garth/$way:half) == half ]]
    [[ -z $(git ls-tree --name-only garth/$way question.json) ]]
    [[ $(state_of $way) == done ]]
  done
  "$garth" audit --verify
  [[ $("$garth" audit file) == *'answer='*'this one'* ]]
}

@test "T4 question: it blocks again and again, and keeps the first session's id" {
  local first
  run "$garth" run -q --task t -- sh -c 'echo "$GARTH_SESSION $GARTH_ANSWER"; n=$(cat /tmp/n 2>/dev/null || echo 0); echo $((n + 1)) >/tmp/n; [ $n -ge 3 ] || echo "question $n" >"$GARTH_QUESTION_FILE"'
  [[ $status == 6 ]]; first=${lines[0]}
  for i in 0 1; do
    [[ $("$garth" show t) == *"question $i"* ]]
    run "$garth" answer -q t "answer $i"
    [[ $status == 6 ]]
    [[ ${lines[0]} == "${first% }"*"answer $i" ]]
  done
  run bash -c 'printf "the\nlast\n" | "$1" answer -q t' - "$garth"
  [[ $status == 0 ]]
  [[ $(state_of t) == done ]]
}

@test "T4 question: a question that is not JSON, one that is too long, one with escape sequences" {
  run "$garth" run -q --task plain -- sh -c 'printf "just\033[2J words\n" >"$GARTH_QUESTION_FILE"'
  [[ $status == 6 ]]
  call "$garth" ls
  [[ $out == *'just^[[2J words'* ]]
  [[ $out != *$'\033[2J'* ]]
  run "$garth" run -q --task long -- sh -c 'head -c 200000 /dev/zero | tr "\0" y >"$GARTH_QUESTION_FILE"'
  [[ $status == 6 ]]
  run "$garth" run -q --task odd -- sh -c 'printf "{\"question\": 7}" >"$GARTH_QUESTION_FILE"'
  [[ $status == 6 ]]
  [[ $("$garth" show odd) == *'{"question": 7}'* ]]
}

@test "T4 ESCAPES question: a link, a FIFO or a directory in its place is no question, and nothing of the host is read" {
  echo "$SECRET" >"$T/secret"
  run "$garth" run -q --task link -- sh -c "ln -s '$T/secret' \"\$GARTH_QUESTION_FILE\"; ln -s '$T/secret' question.json"
  [[ $status == 1 ]]
  [[ $(state_of link) == failed ]]
  ! "$garth" show link | grep -q "${SECRET:-nothing}" || false
  run timeout 60 "$garth" run -q --task fifo --on-dirty keep -- sh -c 'mkfifo "$GARTH_QUESTION_FILE"; mkfifo question.json'
  [[ $(state_of fifo) == done ]]
  run "$garth" run -q --task dir --on-dirty keep -- sh -c 'mkdir "$GARTH_QUESTION_FILE" question.json'
  [[ $(state_of dir) == done ]]
}

@test "T4 question: a question.json in the repository is a file like any other" {
  echo '{"question": "part of the tests"}' >question.json; commit q
  "$garth" run -q --task t -- sh -c 'echo x >>question.json; git commit -qam x'
  [[ $(state_of t) == done ]]
  # also if a change of it could be a question
  "$garth" run -q --task u -- sh -c 'echo "{\"question\": \"another part?\"}" >question.json; git commit -qam x'
  [[ $(state_of u) == done ]]
}

@test "T4 question: a file question.json that asks nothing is work like any other" {
  run "$garth" run -q --task t --on-dirty keep -- sh -c 'echo "[1, 2]" >question.json'
  [[ $status == 0 ]]
  [[ $(state_of t) == done ]]
  [[ $(inside t 'cat question.json') == '[1, 2]' ]]
}

@test "T4 question: a question left by a run that was stopped does not block the next one; an empty one counts" {
  "$garth" run -q -d --task t -- sh -c '[ -e /tmp/again ] && exit 0; touch /tmp/again; echo old >"$GARTH_QUESTION_FILE"; exec sleep 100' >/dev/null
  eventually gives old inside t 'cat $GARTH_QUESTION_FILE'
  "$garth" cancel t
  "$garth" resume -q t
  [[ $(state_of t) == done ]]
  run "$garth" run -q --task blank -- sh -c ': >"$GARTH_QUESTION_FILE"'
  [[ $status == 6 ]]
  [[ $("$garth" show blank) == *'nothing is said'* ]]
  "$garth" answer -q blank x || true
}

@test "T4 question: a malformed request is refused and asks nothing" {
  local body
  "$garth" new t
  for body in '{}' '{"question": ""}' '{"question": 1}' '{"question": "x", "options": "y"}' '{"question": "x", "options": [1]}' '[]'; do
    [[ $(inside t "curl -s -o /dev/null -w '%{http_code}' --unix-socket \$GARTH_SOCKET http://x/api/v1/question -d '$body'") == 400 ]]
  done
  "$garth" discard t
}

@test "T4 question: uncommitted work of a blocked task is kept and not committed, whatever --on-dirty says" {
  run "$garth" run -q --task t --on-dirty commit -- sh -c "echo half >half; $(asks file)"
  [[ $status == 6 ]]
  [[ $(git rev-parse garth/t) == $(git rev-parse main) ]]
  run "$garth" discard t
  [[ $status == 4 ]]
  [[ $output == *half* ]]
}

@test "T4 answer, resume: messages if there is nothing to answer or to resume" {
  "$garth" new t
  run "$garth" answer t x
  [[ $status == 4 ]]
  [[ $output == *"asks nothing"* ]]
  run "$garth" resume t
  [[ $status == 4 ]]
  [[ $output == *"no command that could be resumed"* ]]
  run "$garth" run -q --task b -- sh -c "$(asks file)"
  run "$garth" resume b
  [[ $status == 6 ]]
  [[ $output == *"garth answer b"* ]]
  fails 2 'the answer is empty' "$garth" answer b
  fails 2 'at most 65536 bytes' "$garth" answer b "$(head -c 70000 /dev/zero | tr '\0' x)"
  [[ $(state_of b) == blocked ]]
  [[ $("$garth" show b) == *'Which one?'* ]]
}

@test "T4 resume: a cancelled, failed or interrupted task continues with its command, session and variables" {
  local first
  run "$garth" run -q --task f -e WHO=me -- sh -c 'echo "$GARTH_SESSION $WHO"; echo x >>lines; exit 3'
  [[ $status == 3 ]]; first=${lines[0]}
  run "$garth" resume -q f
  [[ $status == 3 ]]
  [[ ${lines[0]} == "$first" ]]
  [[ $(inside f 'wc -l <lines') == 2 ]]
  "$garth" run -q -d --task k -- sh -c 'test -e /tmp/again && exit 0; touch /tmp/again; sleep 100' >/dev/null
  "$garth" cancel k
  [[ $(state_of k) == cancelled ]]
  "$garth" resume -q k
  [[ $(state_of k) == done ]]
}

@test "T4 resume: a task that has just been stopped can be resumed at once, again and again" {
  "$garth" run -q -d --task t -- sleep 300 >/dev/null
  for _ in {1..8}; do "$garth" cancel t; "$garth" resume -q -d t >/dev/null; done
  [[ $(state_of t) == running ]]
}

@test "T4 ESCAPES 23 question: an answer is not lost when the run that got it is interrupted; a run that did not ask gets none" {
  "$garth" run -q -t t -- sh -c 'if [ -z "$GARTH_ANSWER" ]; then echo which >$GARTH_QUESTION_FILE; exit; fi; [ -e /tmp/go ] || { touch /tmp/here; exec sleep 300; }; echo "$GARTH_ANSWER" >/tmp/got' || true
  "$garth" answer -d t 'the blue one' >/dev/null
  eventually inside t 'test -e /tmp/here'
  kill -9 "$(keeper_of t)"; eventually is_state t interrupted
  inside t 'touch /tmp/go'; "$garth" resume -q t
  [[ $(inside t 'cat /tmp/got') == 'the blue one' ]]
  "$garth" run -q -t n -- sh -c 'echo "${GARTH_ANSWER-none}" >>/tmp/got; exit 1' || true
  "$garth" resume -q n || true; [[ $(inside n 'cat /tmp/got') == $'none\nnone' ]]
}

@test "T4 answer: a number means the option with that number, if there are options; show lists them" {
  ask() { run "$garth" run -q --task "$1" -- sh -c "$(script "printf '%s' '$2' >\"\$GARTH_QUESTION_FILE\"")"; [[ $status == 6 ]]; }
  ask q '{"question": "Which?", "options": ["sqlite", "postgres"]}'
  call "$garth" show q
  [[ $out == *'asks       Which?'*'1. sqlite'*'2. postgres'* ]] || complain
  call "$garth" ls
  [[ $err == *'1. sqlite'*'2. postgres'*'garth answer q 1'* ]] || complain
  fails 2 "there is no option 3: the question has 2" "$garth" answer q 3
  [[ $(hint) == 'garth answer --text q 3' ]]
  fails 2 "there is no option 0" "$garth" answer q 0
  fails 2 "there is no option 99999999999999999999" "$garth" answer q 99999999999999999999
  [[ $(state_of q) == blocked ]]
  "$garth" answer -q q 1; [[ $(git show garth/q:answer) == 'sqlite Which?' ]]
  [[ $("$garth" audit q) == *sqlite* ]]
  ask o '{"question": "How many?", "options": ["3", "1"]}'; "$garth" answer -q o 1; [[ $(git show garth/o:answer) == '1 How many?' ]]
  ask l '{"question": "Which?", "options": ["a", "b"]}'; "$garth" answer -q --text l 2; [[ $(git show garth/l:answer) == '2 Which?' ]]
  ask w '{"question": "Which?", "options": ["a", "b"]}'; "$garth" answer -q w something else; [[ $(git show garth/w:answer) == 'something else Which?' ]]
  ask n '{"question": "How many?"}'; "$garth" answer -q n 2; [[ $(git show garth/n:answer) == '2 How many?' ]]
  ask i '{"question": "Which?", "options": ["a", "b"]}'; echo 2 | "$garth" answer -q i; [[ $(git show garth/i:answer) == 'b Which?' ]]
}

@test "T4 question: a committed question blocks all the same, once, and is not merged" {
  local backend
  for backend in overlay worktree clone; do
    call "$garth" run --backend $backend -t $backend -- sh -c 'if [ -z "$GARTH_ANSWER" ]; then echo "{\"question\": \"Which?\"}" >question.json; git add -A; git commit -qm ask; else echo "$GARTH_ANSWER" >answer; git add -A; git commit -qm told; fi'
    [[ $code == 6 ]] || complain
    [[ $(state_of $backend) == blocked ]] || complain
    [[ $err == *'asks: Which?'* ]] || complain
    [[ $err == *'question.json is committed on its branch: it is not merged until it is removed there'* ]] || complain
    "$garth" answer -q $backend this
    [[ $(state_of $backend) == done ]]
    [[ $(git show garth/$backend:answer) == this ]]
    fails 4 "question.json is a question of the agent's, and no work" "$garth" merge $backend
    [[ -z $(git ls-tree --name-only main question.json) ]]
    eval "$(hint | sed "s|^garth|$garth|")"
    "$garth" merge $backend
    [[ $(git show main:answer) == this ]]
    [[ -z $(git ls-tree --name-only main question.json) ]]
    git rm -q answer
    git commit -qm next
  done
  # what the user allows is a file
  call "$garth" run -t u -- sh -c 'echo "{\"question\": \"x\"}" >question.json; git add -A; git commit -qm data'; [[ $code == 6 ]] || complain
  "$garth" allow u question.json; "$garth" merge u; git cat-file -e main:question.json
}
