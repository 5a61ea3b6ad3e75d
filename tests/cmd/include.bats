load helpers

# Files that the checkout has and git does not: ignored and not, and a pattern file that is committed.
prepare() {
  printf '*.o\nignored/\n.env\ncerts/\n' >.gitignore
  printf '# comment\n.env\n\ncerts/\n' >.worktreeinclude
  commit includes
  echo SECRET=1 >.env; mkdir -p certs/deep dir/sub; echo pem >certs/a.pem; echo key >certs/deep/k; chmod 600 certs/deep/k
  echo SUB=1 >dir/sub/.env
}

# more FILES: enough files for git to use the monitor.
more() { mkdir -p many; for ((i = 0; i < 900; i++)); do echo $i >many/$i; done; }

@test "W7 include: untracked files of the checkout are in a new task, in every backend, and do not count as work" {
  prepare
  for b in "${backends[@]}"; do
    call "$garth" new "t-$b" --backend "$b"
    [[ $code == 0 ]] || complain
    [[ $err == *'4 untracked files of the checkout are in the task too: .env, '* ]] || complain
    [[ $(inside "t-$b" 'cat .env dir/sub/.env certs/a.pem certs/deep/k' | tr '\n' ' ') == 'SECRET=1 SUB=1 pem key ' ]]
    [[ $(inside "t-$b" 'stat -c %a certs/deep/k') == 600 ]]
    [[ -z $(inside "t-$b" 'git status --porcelain') ]]
    [[ -z $("$garth" diff "t-$b") ]]
    call "$garth" run -q --task "r-$b" --backend "$b" -- sh -c 'test -f .env && echo changed >.env && rm certs/a.pem'
    [[ $code == 0 ]] || complain "uncommitted? $b"
    "$garth" discard "t-$b"
    [[ $code == 0 ]] || complain "$b"
  done
  # the originals are as they were
  [[ $(cat .env certs/a.pem) == $'SECRET=1\npem' ]]
}

@test "W7 include: tasks share one layer; a change in the checkout makes a new one; a task changes neither" {
  prepare
  "$garth" new a; "$garth" new b
  [[ $(ls -d "$GARTH_HOME"/layers/*/include-* | grep -vc lock) == 1 ]]
  inside a 'echo mine >.env; rm -rf certs'
  [[ $(inside b 'cat .env certs/a.pem') == $'SECRET=1\npem' ]]
  "$garth" new c
  [[ $(inside c 'cat .env certs/a.pem') == $'SECRET=1\npem' ]]
  [[ $(cat .env) == SECRET=1 ]]
  echo SECRET=2 >.env
  "$garth" new d
  [[ $(inside d 'cat .env') == SECRET=2 ]]
  [[ $(inside b 'cat .env') == SECRET=1 ]]
  [[ $(inside a 'cat .env; ls') == mine* ]]
}

@test "W7 include: a .worktreeinclude as editors of Windows write it" {
  printf '.env\nother\n' >>.gitignore; printf '\xef\xbb\xbf.env\r\nother \r\n' >.worktreeinclude; commit include
  echo SECRET >.env; echo o >other
  "$garth" new t
  [[ $(inside t 'cat .env other') == $'SECRET\no' ]]
}

@test "W7 include: workspace.include adds patterns, in git's syntax; tracked files are never included" {
  configure <<<$'workspace:\n  include: ["*.local", "!no.local", /top.txt]\n'
  printf '*.local\n/top.txt\n' >>.gitignore; commit ignore
  echo 1 >a.local; echo 2 >no.local; echo 3 >dir/x.local; echo t >top.txt; echo t >dir/top.txt; echo dirty >>a.txt
  "$garth" new t
  [[ $(inside t 'cat a.local dir/x.local top.txt' | tr '\n' ' ') == '1 3 t ' ]]
  [[ $(inside t 'ls no.local dir/top.txt 2>&1 | grep -c "No such"') == 2 ]]
  [[ $(inside t 'cat a.txt') == one ]]
}

@test "W7 include: a file that git does not ignore is named when the task is made; its commit is whole" {
  configure <<<$'workspace: {include: [notes.txt, notes/in]}\n'
  more; commit many
  echo note >notes.txt
  mkdir -p notes/in; echo more >notes/in/more.txt
  call "$garth" new dir
  [[ $err == *notes/in/more.txt* && $err != *'not in the task'* ]] || complain
  # control: another new file beside it is not
  echo other >notes/other.txt
  call "$garth" new beside
  [[ $err == *'is not in the task: notes/ '* ]] || complain
  rm -r notes
  call "$garth" new t
  [[ $code == 0 ]] || complain
  [[ $err == *'included, but not ignored by git: the task can commit and publish it'*notes.txt* ]] || complain
  [[ $err != *'is not in the task'* ]] || complain
  [[ $(inside t 'git status --porcelain') == '?? notes.txt' ]]
  [[ $(inside t 'git -c core.fsmonitor=false -c core.untrackedCache=false status --porcelain') == '?? notes.txt' ]]
  [[ -z $("$garth" diff t) ]]
  # committed without a change, it is in the commit and in the workspace
  call "$garth" run --task u -- sh -c 'git add notes.txt && git commit -qm notes'
  [[ $code == 0 ]] || complain
  [[ $(git show garth/u:notes.txt) == note ]]
  [[ $(state_of u) == done ]]
}

@test "W7 include: with --with-changes, files that git does not ignore come as changes" {
  printf '.env\n' >>.gitignore; commit env
  configure <<<$'workspace: {include: [notes.txt, .env]}\n'
  echo note >notes.txt; echo E >.env
  call "$garth" new --with-changes t
  [[ $code == 0 && $err != *'not ignored'* ]] || complain
  [[ $(inside t 'cat notes.txt .env' | tr '\n' ' ') == 'note E ' ]]
  [[ $("$garth" diff t) == *+note* ]]
}

@test "W7 include: a lost workspace that doctor makes again has the commit's files, not older ones of a layer" {
  configure <<<$'workspace: {include: [notes.txt]}\n'
  echo note >notes.txt
  "$garth" new t
  inside t 'echo better >notes.txt; git add notes.txt; git commit -qm notes'
  chmod -R u+rwX "$GARTH_HOME/tasks"; rm -r "$GARTH_HOME"/tasks/*/upper "$GARTH_HOME"/tasks/*/work
  "$garth" doctor --repair
  [[ $(inside t 'cat notes.txt; git status --porcelain') == better ]]
}

@test "W7 include: git inside sees what it sees without a monitor, when included files change and go" {
  printf '*.log\n' >>.gitignore; more; commit many
  mkdir -p extra/sub dir/new; echo 1 >extra/sub/f; echo 2 >extra/g; echo 3 >dir/new/h; echo 4 >dir/i; echo 5 >x.log
  configure <<<$'workspace: {include: [extra, new, i, "*.log"]}\n'
  "$garth" new t
  both() { [[ $(inside t 'git status --porcelain -uall --ignored') == "$(inside t 'git -c core.fsmonitor=false -c core.untrackedCache=false status --porcelain -uall --ignored')" ]]; }
  [[ $(inside t 'git status --porcelain -uall' | wc -l) == 4 ]]
  both
  inside t 'rm extra/g; echo more >>dir/i'; both
  inside t 'git add extra dir/i; git status >/dev/null'; both
  inside t 'git commit -qm x; rm -rf extra'; both
  [[ $(inside t 'git status --porcelain') == *' D extra/sub/f'* ]]
  inside t 'git checkout -q HEAD -- extra; mv dir/new dir/newer'; both
  inside t 'rm -rf dir/newer x.log; mkdir dir/new; echo z >dir/new/z'; both
}

@test "W7 ESCAPES 2 include: links out of the checkout, special files and repositories are left out and named" {
  mkdir -p "$T/secret"; echo sentinel >"$T/secret/s"
  configure <<<$'workspace: {include: [got]}\n'
  mkdir -p got/repo; ln -s "$T/secret/s" got/abs; ln -s ../../../../secret/s got/rel; ln -s "$T/secret" got/dir; ln -s f got/inner
  mkfifo got/fifo; echo f >got/f; git init -q got/repo; echo r >got/repo/r
  call "$garth" new t
  [[ $code == 0 ]] || complain
  [[ $(inside t 'ls got') == $'f\ninner' ]] || complain "$(inside t 'ls -la got')"
  [[ $(inside t 'cat got/inner') == f ]]
  [[ $err == *'not included'* && $err == *got/abs* && $err == *got/rel* && $err == *got/dir* && $err == *got/repo/* ]] || complain
  not grep -rqs sentinel "$GARTH_HOME/layers"
}

@test "W7 include: only the base commit's .worktreeinclude counts, not the checkout's" {
  printf '.env\n*.key\n' >>.gitignore; printf '.env\n' >.worktreeinclude; commit one
  printf '*.key\n' >.worktreeinclude
  echo e >.env; echo k >a.key
  "$garth" new t
  [[ $(inside t 'ls -A .env a.key 2>&1 | grep -v cannot') == .env ]]
}

@test "W7 G5 ESCAPES 5 include: an agent does not choose what the next task reads" {
  echo secret >.env; printf '.env\n' >.gitignore; rm -f .worktreeinclude; git add -A; git commit -qm rules
  "$garth" new t
  call inside t 'echo "*" >.worktreeinclude; git add .worktreeinclude; git commit -qm more'
  [[ $err == *"BLOCKED: '.worktreeinclude' is protected"* ]] || complain
  # control: with the user's consent it does
  "$garth" allow t .worktreeinclude
  inside t 'git commit -qm more'
  "$garth" new next --base garth/t
  [[ $(inside next 'cat .env') == secret ]]
}

@test "W7 include: export has them, rollback --full restores them, undo brings the task's own back" {
  prepare
  for b in "${backends[@]}"; do
    "$garth" new "t-$b" --backend "$b"
    inside "t-$b" 'echo mine >.env; rm certs/a.pem; echo new >certs/new; rm dir/sub/.env; echo w >work.txt'
    "$garth" rollback "t-$b" --full
    [[ $(inside "t-$b" 'cat .env certs/a.pem dir/sub/.env; ls certs' | tr '\n' ' ') == 'SECRET=1 pem SUB=1 a.pem deep ' ]] || complain "$b: $(inside "t-$b" 'cat .env; ls -R certs; ls -A dir/sub')"
    [[ -z $(inside "t-$b" 'git status --porcelain') ]]
    "$garth" undo "t-$b"
    [[ $(inside "t-$b" 'cat .env work.txt certs/new' | tr '\n' ' ') == 'mine w new ' ]] || complain "$b: $(inside "t-$b" 'cat .env; ls -R certs; ls -A')"
  done
  "$garth" new x
  "$garth" export x "$T/x"
  [[ $(cat "$T/x/.env" "$T/x/certs/a.pem") == $'SECRET=1\npem' ]]
}

@test "W7 ESCAPES 23 include: a command that is killed while it makes the layer leaves nothing that is used" {
  prepare
  for step in layer-filled layer-made; do
    GARTH_FAULT=$step call "$garth" new t
    [[ $code == 137 ]] || complain "$step"
    [[ -z $(ls -d "$GARTH_HOME"/layers/*/include-* | grep -v '\.\(lock\|part\)$') ]]
  done
  "$garth" new t
  [[ $(inside t 'cat .env') == SECRET=1 ]]
  call "$garth" doctor
  [[ $code == 0 ]] || complain
}

# A checkout that has the Garth home or the user's keys in it: a repository of the home's settings, or a Garth home in the
# project. The patterns are those of whoever wrote the commit.
@test "W7 J2 ESCAPES 1 include: keys, log-ins and the Garth home are left out, wherever the checkout is" {
  cd "$HOME"
  mkdir -p .ssh .aws
  local key; for key in .ssh/id .aws/credentials .netrc; do echo sentinel >"$key"; done
  echo w >wanted
  git init -q; printf '**\n' >.worktreeinclude; printf '/*\n!/.worktreeinclude\n!/.gitignore\n' >.gitignore; git add -A; git commit -qm home
  # the control: git calls them files of the checkout
  [[ $(git ls-files --others --ignored --exclude-standard) == *.ssh/id* ]]
  call "$garth" new t
  [[ $code == 0 && $err == *'not included'* && $err == *.aws/credentials* ]] || complain
  [[ $(inside t 'cat wanted') == w ]]
  [[ -z $(inside t 'ls -d .ssh/* .aws/* .netrc .garth/* 2>/dev/null') ]] || complain "$(inside t 'ls -dR .ssh/* .aws/* .netrc .garth/*')"
  # nor as uncommitted changes
  printf '/src/\n' >.gitignore; git rm -q --cached .worktreeinclude; rm .worktreeinclude; git add .gitignore; git commit -qm fewer
  call "$garth" new c --with-changes
  [[ $(inside c 'cat wanted') == w ]] || complain
  [[ -z $(inside c 'ls -d .ssh/* .aws/* .netrc .garth/* 2>/dev/null') ]] || complain "$(inside c 'ls -dR .ssh/* .aws/* .netrc .garth/*')"
  not grep -rqs sentinel "$GARTH_HOME"
  # a Garth home in a project
  cd "$R"
  export GARTH_HOME=$R/ignored/home
  printf 'ignored/**\n' >.worktreeinclude; commit rules; echo i >ignored/i 2>/dev/null || { mkdir -p ignored; echo i >ignored/i; }
  "$garth" new t
  [[ $(inside t 'ls ignored') == i ]]
  # nor by a link among the repository's hooks, which tasks get
  echo sentinel >"$GARTH_HOME/key"; ln -s "$GARTH_HOME/key" .git/hooks/pre-commit
  fails 4 'in the Garth home' "$garth" new hooked
}
