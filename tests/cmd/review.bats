load helpers

# worker TASK SCRIPT: a task whose first run is the script, committed. Its later runs print their prompt.
worker() {
  "$garth" run -q -t "$1" -- sh -c 'if [ "$GARTH_ANSWER" ]; then echo "got: $GARTH_ANSWER"; else eval "$1"; git add -A; git commit -qm "work of the task"; fi' - "$2"
}

# An editor that runs sed with these arguments, and keeps a copy of what it was given.
edits() {
  printf '%s\n' '#!/bin/sh' 'cp "$1" "'"$T"'/given"' "exec sed -i $(printf " '%s'" "$@")"' "$1"' >"$T/editor"
  chmod +x "$T/editor"
  export GIT_EDITOR=$T/editor
}

review_file() { printf '%s/review/review.diff' "$(task_dir "$1")"; }

@test "G10 review: comments go to the agent in one batch, with path, line, code and text" {
  seq 1 30 >n.txt; commit
  worker t 'sed -i "s/^5$/five/; s/^20$/twenty/" n.txt; rm dir/b.txt; echo new >new.c'
  edits -e '/^+five/a > why not 5?\n> it was fine' -e '/^-two/a > keep it' -e '/^+new/a >last' -e '1i > in general'
  call "$garth" review t
  [[ $code == 0 ]] || complain
  [[ $out == "got: The user has reviewed your commits up to $(git rev-parse --short=12 garth/t). Please deal with these comments:

General remarks:
in general

dir/b.txt:1 (removed)
    two
keep it

n.txt:5
    five
why not 5?
it was fine

new.c:1
    new
last" ]] || complain
  [[ $err == *"takes no prompt"*GARTH_ANSWER* ]] || complain
  # what was shown
  [[ $(<"$T/given") == "# Review of task 't': 1 commit, 3 files, +3 -3"* ]]
  [[ $(grep -v $'^[#\f]' "$T/given" | sed 1d) == "$(git diff -M main garth/t)" ]]
  # it is sent, and the review's file is removed
  [[ ! -e $(review_file t) ]]
  [[ $(state_of t) == done ]]
  [[ $("$garth" audit t) == *'review '*'comments=4'* ]]
  "$garth" audit --verify
}

@test "G10 review: the prompt is an argument of the agent's resume command; -d continues in the background; --json" {
  configure <<<'agents: {bot: {programs: [bot], resume: [bot, "say: {answer}"]}}'
  mkdir -p "$HOME/.local/bin"
  printf '#!/bin/sh\ncase $1 in say:*) echo "$1" >/tmp/said;; *) echo x >x; git add x; git commit -qm x;; esac\n' >"$HOME/.local/bin/bot"
  chmod +x "$HOME/.local/bin/bot"
  export PATH=$HOME/.local/bin:$PATH
  "$garth" run -q -t t -- bot
  edits -e '/^+x/a > no x'
  call "$garth" review -d --json t
  [[ $code == 0 && -z $err ]] || complain
  [[ $(json '[d["sent"], d["tip"], d["comments"]]' <<<"$out") == "[true, \"$(git rev-parse garth/t)\", [{\"path\": \"x\", \"line\": 1, \"side\": \"new\", \"code_line\": \"x\", \"text\": \"no x\"}]]" ]] || complain
  eventually is_state t done
  [[ $(inside t 'cat /tmp/said') == 'say: The user'*$'x:1\n    x\nno x' ]]
}

@test "G10 review: nothing is sent without comments" {
  worker t 'echo x >x'
  edits -e '/^+x/a >\n>  '
  call "$garth" review t
  [[ $code == 0 && -z $out ]] || complain
  [[ $err == *"no comments: nothing is sent to task 't'"* && -z $(hint) ]] || complain
  [[ ! -e $(review_file t) ]]
  [[ $("$garth" audit t) != *review* ]]
  call "$garth" review --json t
  [[ $(json '[d["sent"], d["comments"]]' <<<"$out") == '[false, []]' ]] || complain
}

@test "G10 review: an editor that fails sends nothing, and the comments are there again" {
  worker t 'echo x >x'
  edits -e '/^+x/a > first try'
  echo 'exit 3' >>"$T/editor"; sed -i 's/^exec //' "$T/editor"
  fails 1 'exit code 3' "$garth" review -q t
  [[ $err == *"$(review_file t)"* && $(hint) == 'garth review t' ]] || complain
  [[ $(stat -c %a "$(review_file t)") == 600 ]]
  [[ $(<"$(review_file t)") == *$'+x\n> first try'* ]]
  # a commit that was not shown cannot be approved
  fails 4 'has not been reviewed' "$garth" review --approve t
  GIT_EDITOR=true call "$garth" review t
  [[ $code == 0 && $out == *first\ try* && $err == *'from before are in the file again'* ]] || complain
}

@test "G10 review: --discard-draft begins a new file" {
  worker t 'echo x >x'
  edits -e '/^+x/a > draft'
  GIT_EDITOR="$GIT_EDITOR \"\$1\"; false" call "$garth" review t
  [[ $code == 1 ]] || complain
  GIT_EDITOR=true call "$garth" review --discard-draft t
  [[ $code == 0 && $err == *'nothing is sent'* ]] || complain
}

@test "G10 review: if lines around a comment were changed, it is named and nothing is sent; it is not lost" {
  seq 1 30 >n.txt; commit
  worker t 'sed -i "s/^5$/five/; s/^20$/twenty/" n.txt'
  edits -e '/^+five/a > misplaced' -e '/^ 6$/d' -e '/^+twenty/a > placed'
  call "$garth" review t
  [[ $code == 2 && -z $out ]] || complain
  [[ $err == *'1 comment has no place'*"$(review_file t)"*$'\n  line '*': misplaced'* ]] || complain
  [[ $(state_of t) == done ]]
  edits -e 's/^> misplaced/> in general/'
  call "$garth" review t
  [[ $code == 0 && $out == *$'General remarks:\nin general\n\nn.txt:20\n    twenty\nplaced' ]] || complain
}

@test "G10 review: a branch that has moved since it was read: the comments are kept, and come back as general remarks" {
  worker t 'echo x >x'
  edits -e '/^+x/a > about x'
  cat >"$T/moves" <<E
#!/bin/sh
"$T/editor" "\$1"
exec "$garth" exec t -- sh -c 'echo y >y; git add y; git commit -qm y' </dev/null
E
  chmod +x "$T/moves"
  old=$(git rev-parse --short=12 garth/t)
  GIT_EDITOR=$T/moves call "$garth" review t
  [[ $code == 5 ]] || complain
  [[ $err == *'has moved from '*'the comments are kept'* && $(hint) == "git -C '$R' diff $old $(git rev-parse --short=12 garth/t)" ]] || complain
  [[ $("$garth" audit t) != *review* ]]
  # it is neither merged nor discarded
  fails 4 'comments that were not sent' "$garth" review --approve t
  fails 5 'has moved' "$garth" review --approve --discard-draft t
  fails 5 'has moved' "$garth" review --reject no t
  GIT_EDITOR=true call "$garth" review t
  [[ $code == 0 && $err == *'comments are at the top'* ]] || complain
  [[ $out == *$'General remarks:\nAt '"$old"$', x:1\n    x\nabout x' ]] || complain
}

@test "G10 review: the branch is compared again under the task's lock" {
  has_faults || return 0
  worker t 'echo x >x'
  edits -e '/^+x/a > about x'
  GARTH_FAULT=stop:review-recorded "$garth" review t >"$T/sent" 2>&1 </dev/null 3>&- &
  local pid=$!
  eventually stopped $pid
  "$garth" exec t -- sh -c 'echo y >y; git add y; git commit -qm y'
  kill -CONT $pid
  code=0; wait $pid || code=$?
  [[ $code == 5 && $(<"$T/sent") == *'has moved'*'comments are kept'* ]] || complain "$(<"$T/sent")"
  [[ -e $(review_file t) ]]
}

@test "G10 review: --approve merges exactly what was shown, with the options of a merge" {
  worker t 'echo x >x'
  fails 4 'has not been reviewed' "$garth" review --approve t
  [[ $(hint) == 'garth review t' ]]
  "$garth" review --print t >/dev/null
  inside t 'echo y >y; git add y; git commit -qm y'
  fails 5 'has moved' "$garth" review --approve t
  [[ $(hint) == 'garth review t' ]] || complain
  "$garth" review --print t >/dev/null
  "$garth" review --approve --squash -m 'one commit' t
  [[ $(git log --format=%s main) == $'one commit\nfirst' ]]
  [[ -e x && -e y ]]
  "$garth" undo t
  [[ $(git log --format=%s main) == first ]]
  [[ $("$garth" review --approve --json t | json 'd["target"]') == main ]]
}

@test "G10 review: --reject discards everything, with the reason on record; undo brings it back" {
  worker t 'echo x >x'
  inside t 'echo loose >loose'
  "$garth" review --reject 'the wrong way' t
  [[ -z $(state_of t) ]]
  [[ $("$garth" audit t) == *'discard '*'reason="the wrong way"'* ]]
  "$garth" undo t
  [[ $(inside t 'cat x loose') == $'x\nloose' ]]
  fails 2 'reason is empty' "$garth" review --reject '' t
}

@test "G10 review: refused before the editor opens while the task runs, and if it has nothing to resume" {
  "$garth" new n
  inside n 'echo x >x; git add x; git commit -qm x'
  export GIT_EDITOR="touch $T/opened"
  fails 4 "has run no command that could be resumed" "$garth" review n
  "$garth" run -q -d -t r -- sh -c 'echo x >x; git add x; git commit -qm x; sleep 300'
  eventually git rev-parse -q --verify garth/r^{commit}:x
  fails 4 "task 'r' is running" "$garth" review r
  [[ $(hint) == 'garth wait r' ]]
  [[ ! -e $T/opened ]]
  [[ $("$garth" review --print r) == *$'\n+x\n\f'* ]]
  "$garth" cancel r
  "$garth" new e
  fails 4 'has published nothing' "$garth" review --print e
  # and nothing else is said before that
  fails 4 'has published nothing' "$garth" review e
}

@test "G10 review: the comments answer a blocked task's question" {
  call "$garth" run -q -t t -- sh -c 'if [ "$GARTH_ANSWER" ]; then echo "$GARTH_QUESTION: $GARTH_ANSWER"; else echo x >x; git add x; git commit -qm x; echo "Which?" >"$GARTH_QUESTION_FILE"; fi'
  [[ $code == 6 ]] || complain
  edits -e '/^+x/a > this one'
  call "$garth" review t
  [[ $code == 0 && $out == Which\?*'this one' && $err == *'asks: Which?'*'will be the answer'* ]] || complain
  [[ $(state_of t) == done ]]
}

@test "G10 review: if the agent cannot be started, the comments are kept" {
  worker t 'echo x >x'
  edits -e '/^+x/a > kept'
  mkdir "$T/was"; mv "$GARTH_HOME/bases" "$T/was/"
  call "$garth" review t
  mv "$T/was/bases" "$GARTH_HOME/"
  [[ $code != 0 && $err == *'comments are kept'* ]] || complain
  [[ $(<"$(review_file t)") == *'> kept'* ]]
  GIT_EDITOR=true call "$garth" review t
  [[ $code == 0 && $out == *kept ]] || complain
}

@test "G10 review: killed while the editor is open, the draft survives; two at once are refused" {
  worker t 'echo x >x'
  cat >"$T/waits" <<E
#!/bin/sh
echo "> not lost" >>"\$1"
echo \$\$ >"$T/waiting"
exec sleep 300
E
  chmod +x "$T/waits"
  GIT_EDITOR=$T/waits "$garth" review t </dev/null >/dev/null 2>&1 3>&- &
  local pid=$!
  eventually test -s "$T/waiting"
  GIT_EDITOR=true call "$garth" review t
  [[ $code == 1 && $err == *'open in another terminal'* ]] || complain
  kill -9 $pid; kill -9 "$(<"$T/waiting")"
  wait $pid || true
  GIT_EDITOR=true call "$garth" review t
  [[ $code == 0 && $out == *'not lost' ]] || complain
}

@test "G10 review: long files, lock files and binary files are folded" {
  worker t 'seq 1 2000 >long; seq 1 9 >web.lock; mkdir w; echo "{}" >w/package-lock.json; printf "\0\1" >bin; echo "x()" >a.min.js; touch "$(printf "q\047; touch evil.min.js")"; echo y >"$(printf "q\047; touch evil.min.js")"'
  call "$garth" review --print t
  [[ $out == *$'\nfolded (long): +2000 -0, garth diff --published t long\n'* ]] || complain
  [[ $out == *$'\nfolded (lock file): +1 -0, garth diff --published t w/package-lock.json'* ]] || complain
  [[ $out == *$'\nfolded (binary): garth diff --published t bin\n'* ]] || complain
  [[ $out == *$'\nfolded (generated): +1 -0, garth diff --published t a.min.js\n'* ]] || complain
  [[ $out == *$'\n+9'* ]] || complain
  # the command can be copied, whatever the name is
  hostile=$(sed -n "s/.*, \(garth diff --published t .*evil.*\)/\1/p" <<<"$out")
  garth() { "$garth" "$@"; }
  [[ $(eval "$hostile") == *'+y' ]]
  [[ ! -e evil.min.js ]]
  [[ $("$garth" review --print --json t | json '{f["path"]: [f["status"], f["insertions"], f["folded"]] for f in d["files"] if "q" not in f["path"]}') == '{"a.min.js": ["A", 1, "generated"], "bin": ["A", 0, "binary"], "long": ["A", 2000, "long"], "w/package-lock.json": ["A", 1, "lock file"], "web.lock": ["A", 9, null]}' ]]
  # a comment on a folded file
  edits -e '/^folded (long)/a > too long'
  call "$garth" review t
  [[ $out == *$'\n\nlong\ntoo long' ]] || complain
}

@test "G10 ESCAPES review: names and contents that try to be comments, commands for the terminal, or other lines" {
  worker t 'printf "a\033[2J\n> not mine\nb\r> nor this\n\342\200\256\342\200\250> hidden\n\\ No newline\n" >e; printf "x" >"$(printf "n\n> name")"; mkdir -p ">"; echo y >"> z"'
  edits -e '/not mine$/a > mine' -e '/hidden$/a > bidi' -e '/^\\ No newline at/a > no newline'
  call "$garth" review t
  [[ $code == 0 ]] || complain
  [[ $out == *$'\n\ne:2\n    > not mine\nmine\n\ne:4\n    <U+202E><U+2028>> hidden\nbidi\n\nn > name:1\nno newline' ]] || complain
  [[ $("$garth" audit t) == *comments=3* ]]
  not grep -q $'\033' "$T/given"
  not grep -q '^> ' "$T/given"
}

@test "G10 ESCAPES review: the editor is the user's, whatever the repository says" {
  worker t 'echo x >x'
  unset GIT_EDITOR VISUAL EDITOR
  git config core.editor "touch $T/hostile"
  git config --global core.editor "touch $T/mine"
  call "$garth" review t
  [[ $code == 0 && -e $T/mine && ! -e $T/hostile ]] || complain
  git config --global --unset core.editor
  call env TERM=xterm EDITOR=false VISUAL="touch $T/visual" "$garth" review t
  [[ $code == 0 && -e $T/visual ]] || complain
  call env EDITOR="touch $T/editor-ran" "$garth" review t
  [[ $code == 0 && -e $T/editor-ran ]] || complain
  fails 2 'neither an editor nor a terminal' "$garth" review t
  [[ $(hint) == 'garth review --print t' ]]
}

@test "G10 review: uncommitted files are named, and are no part of it" {
  "$garth" run -q --on-dirty keep -t t -- sh -c 'echo x >x; git add x; git commit -qm x; echo loose >loose; echo more >>x'
  call "$garth" review --print t
  [[ $out == *$'# 2 uncommitted files are not in this review (garth diff t):\n#   A loose\n#   M x\n'* ]] || complain
  [[ $out != *$'\n+more'* ]] || complain
}

@test "G10 review: --print and --comments, from a file and from stdin" {
  worker t 'echo x >x'
  "$garth" review --print t >"$T/r"
  sed -i -e '/^+x/a > from a file' "$T/r"
  call "$garth" review --comments "$T/r" t
  [[ $code == 0 && $out == *'from a file' ]] || complain
  [[ $(sed 's/from a file/from stdin/' "$T/r" | "$garth" review -q --comments - t 2>/dev/null) == *'from stdin' ]]
  fails 2 "is not a review" "$garth" review -q --comments a.txt t
  [[ $(hint) == 'garth review --print t' ]]
  inside t 'echo y >y; git add y; git commit -qm y'
  call "$garth" review --comments "$T/r" t
  [[ $code == 5 && $err == *'has moved'*'comments are kept'* ]] || complain
  sed -i 's/from a file/another/' "$T/r"
  call "$garth" review --comments "$T/r" t
  [[ $code == 4 && $err == *'another review of task'* ]] || complain
}

@test "G10 review: on a terminal: a pager with --pager, an editor with Ctrl-C, the agent's session after it" {
  worker t 'echo x >x'
  cat >"$T/reads" <<'E'
#!/bin/bash
trap 'echo interrupted' INT
echo "editing $(grep -c . "$1")"
until read -r line; do :; done
sed -i "/^+x/a > $line" "$1"
E
  chmod +x "$T/reads"
  export GIT_EDITOR=$T/reads LESS=
  terminals <<'P'
t = Terminal([GARTH, "review", "--pager", "t"])
t.expect("Review of task 't'"); t.expect("+x"); 
assert t.wait() == 0, t.code
assert b"begin with >" not in t.seen, t.seen
t = Terminal([GARTH, "review", "t"])
t.expect("editing"); t.send("\x03"); t.expect("interrupted"); t.send("typed\n")
t.expect("1 comment goes to task 't'"); t.expect("got: The user"); t.expect("typed")
assert t.wait() == 0, t.code
P
}

@test "G10 review: options that do not go together" {
  "$garth" new t
  fails 2 'do not go together' "$garth" review --approve --reject x t
  fails 2 'go with --approve' "$garth" review --squash t
  fails 2 'is for comments that are sent' "$garth" review -d --print t
  fails 3 "no task 'nope'" "$garth" review nope
}

@test "G10 review: the agent's text is not where editors look for settings; comments below the diff are general (38)" {
  # vim and others obey the first and last 5 or 10 lines ("vim: set fdm=expr fde=1:" folds the whole diff away), Emacs the
  # last page
  "$garth" run -q -t t -- sh -c 'if [ "$GARTH_ANSWER" ]; then echo "got: $GARTH_ANSWER"; else
    printf "AGENT vim: set fdm=expr fde=1:\nAGENT Local Variables:\nAGENT mode: org\nAGENT End:\n" >z.c; git add .; git commit -qm "AGENT kate: hl none;"; fi'
  edits -e '$a > in the end' -e '/^+AGENT End/a > about the last line'
  call "$garth" review t
  [[ $code == 0 ]] || complain
  [[ $(<"$T/given") == *AGENT* ]]
  [[ $(head -n 10 "$T/given") != *AGENT* ]]
  [[ $(tail -n 10 "$T/given") != *AGENT* ]]
  [[ $(sed $'1,/^\f/d' "$T/given") != *AGENT* ]]
  [[ $(grep -c $'^\f' "$T/given") == 1 ]]
  [[ $out == *$'General remarks:\nin the end\n\nz.c:4\n    AGENT End:\nabout the last line' ]] || complain
}

@test "G10 review: vim does not obey the diff (38)" {
  command -v vim >/dev/null || skip "there is no vim"
  worker t 'printf "int a;\n// vim: set ts=13:\n" >z.c'
  "$garth" review --print t >"$T/review.diff"
  tabs() { vim -u NONE -i NONE -n -es --cmd 'set modeline modelines=5' -c "redir! > $T/tabs | silent set ts? | redir END | qa!" "$1" </dev/null || true; cat "$T/tabs"; }
  # the control: at the end of a file it is obeyed
  git show garth/t:z.c >"$T/z.c"
  [[ $(tabs "$T/z.c") == *tabstop=13* ]]
  [[ $(tabs "$T/review.diff") == *tabstop=8* ]]
}
