# What git at the tip calls clean is clean, whatever else is in the workspace.
load helpers

# clean TASK: git inside finds nothing, and neither does Garth.
clean() {
  [[ -z $(inside "$1" git status --porcelain) ]] || complain "git status: $(inside "$1" git status --porcelain)" || return
  [[ $(field "$1" uncommitted) == '[]' ]] || complain "show: $(field "$1" uncommitted)"
}

@test "T2 ignored: a file added with git add -f is tracked, whatever the ignore rules say" {
  for b in "${backends[@]}"; do
    call "$garth" run -t t-$b --backend $b -- sh -c 'echo x >secret.o; mkdir ignored; echo y >ignored/y; git add -f secret.o ignored/y; git commit -qm forced'
    [[ $code == 0 ]] || complain "$b"
    says "task 't-$b' is done"
    [[ $(state_of t-$b) == done ]] || complain "$b"
    clean t-$b
    [[ $("$garth" diff --json t-$b | json '[f["path"] for f in d["files"]]') == '["ignored/y", "secret.o"]' ]] || complain "$b"
    # a change of it counts
    inside t-$b 'echo more >>secret.o'
    [[ $(field t-$b uncommitted) == '[{"status": "M", "path": "secret.o"}]' ]] || complain "$b"
    inside t-$b 'rm secret.o'
    [[ $(field t-$b uncommitted) == '[{"status": "D", "path": "secret.o"}]' ]] || complain "$b"
  done
}

@test "T2 ignored: a file that was removed from the repository, and is ignored now, does not count as work" {
  echo v >local.cfg; git add local.cfg; git commit -qm config
  for b in "${backends[@]}"; do
    call "$garth" run -t t-$b --backend $b -- sh -c 'git rm -q --cached local.cfg; echo local.cfg >>.gitignore; git commit -qam "not ours"'
    [[ $code == 0 ]] || complain "$b"
    [[ $(state_of t-$b) == done ]] || complain "$b"
    inside t-$b 'test -e local.cfg; echo mine >>local.cfg'
    clean t-$b
  done
}

@test "T2 ignored: an ignore file that was removed by a commit hides nothing any more" {
  mkdir logs; echo '*.log' >logs/.gitignore; git add logs; git commit -qm logs
  for b in "${backends[@]}"; do
    call "$garth" run -t t-$b --backend $b -- sh -c 'git rm -q logs/.gitignore; git commit -qm away; mkdir -p logs; echo x >logs/x.log'
    [[ $code == 1 ]] || complain "$b"
    [[ $err == *$'1 uncommitted file\n  logs/x.log'* ]] || complain "$b"
    call "$garth" run -t l-$b --backend $b -- sh -c 'rm logs/.gitignore; ln -s ../a.txt logs/.gitignore; git add -A; git commit -qm link; echo x >logs/x.log'
    [[ $code == 1 ]] || complain "$b"
    [[ $err == *$'1 uncommitted file\n  logs/x.log'* ]] || complain "$b"
  done
}

@test "T2 ESCAPES 26 ignored: caches that ignore themselves, repositories in ignored directories, FIFOs and sockets do not count as work" {
  leave='
    for d in .pytest_cache .husky/_ .venv; do mkdir -p $d; echo "*" >$d/.gitignore; echo x >$d/x; done
    mkdir -p ignored/_deps; git init -q ignored/_deps/lib; echo x >ignored/_deps/lib/x; mkdir ignored/closed; echo x >ignored/closed/x; chmod 000 ignored/closed
    mkfifo left.fifo; /usr/bin/python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"left.sock\")"'
  for b in "${backends[@]}"; do
    call "$garth" run -t t-$b --backend $b -- sh -c "$leave; echo y >>a.txt; git commit -qam work"
    [[ $code == 0 ]] || complain "$b"
    [[ $(state_of t-$b) == done ]] || complain "$b"
    [[ $(field t-$b note) == null ]] || complain "$b"
    clean t-$b
    # all of it is in the trash
    git branch -q -f main garth/t-$b 2>/dev/null || git merge -q --ff-only garth/t-$b
    call "$garth" discard t-$b
    [[ $code == 0 ]] || complain "$b"
    "$garth" undo t-$b
    inside t-$b 'test -e .venv/x && test -e ignored/_deps/lib/x && chmod 700 ignored/closed && test -e ignored/closed/x'
    clean t-$b
    git reset -q --hard HEAD~
  done
  # one that is not ignored is work
  call "$garth" run -t n -- sh -c 'git init -q lib; echo x >lib/x'
  [[ $code == 1 ]] || complain
  [[ $err == *$'1 uncommitted file\n  lib '* ]] || complain
  # what takes the place of a file that git tracks is a change
  call "$garth" run -t f -- sh -c 'rm a.txt; mkfifo a.txt'
  [[ $code == 1 ]] || complain
  [[ $err == *$'1 uncommitted file\n  a.txt'* ]] || complain
}

@test "ESCAPES 9 ignored: diff counts and names what ignore files hide, and names uncommitted ignore files" {
  call "$garth" run -t t -- sh -c 'mkdir hidden; echo "*" >hidden/.gitignore; echo evil >hidden/evil; touch x.o; mkdir ignored; touch ignored/a ignored/b; mkfifo f'
  [[ $code == 0 ]] || complain
  call "$garth" diff t
  [[ $code == 0 ]] || complain
  [[ $err == *'5 ignored files are not shown: hidden (2), ignored (2), x.o'* ]] || complain
  [[ $err == *'hidden/.gitignore'* ]] || complain
  [[ $err == *'f (neither a file nor a link)'* ]] || complain
  [[ $("$garth" diff --json t | json 'sorted((h["path"], h["file_count"]) for h in d["hidden"])') == '[["hidden", 2], ["ignored", 2], ["x.o", 1]]' ]] || complain
}

@test "T2 ignored: the user's ignore file is visible inside, read-only, and counts outside too" {
  leave='mkdir -p .idea .claude; touch .DS_Store .idea/x .claude/settings.local.json; echo y >>a.txt; git commit -qam work; git check-ignore -q .DS_Store'
  mkdir -p "$XDG_CONFIG_HOME/git"; printf '.DS_Store\n.idea/\n.claude/settings.local.json\n' >"$XDG_CONFIG_HOME/git/ignore"
  for b in "${backends[@]}"; do
    call "$garth" run -t t-$b --backend $b -- sh -c "$leave"
    [[ $code == 0 ]] || complain "$b"
    [[ $(state_of t-$b) == done ]] || complain "$b"
    clean t-$b
    call inside t-$b 'echo x >>"$(git config core.excludesFile)"'
    [[ $code != 0 ]] || complain "$b"
    [[ ($err == *'Read-only file system'* || $err == *'Permission denied'*) ]] || complain "$b"
  done
  # the task keeps it as it was when the task was made, whatever the user does to it; the repository's rules win
  rm "$XDG_CONFIG_HOME/git/ignore"
  clean t-overlay
  inside t-overlay 'echo "!.DS_Store" >.gitignore; git add .gitignore; git commit -qm rule'
  [[ $(field t-overlay uncommitted) == '[{"status": "A", "path": ".DS_Store"}]' ]] || complain "$(field t-overlay uncommitted)"
  # one that the configuration names, and none at all
  printf '.DS_Store\n.idea/\n.claude/\n' >"$HOME/my ignores"; ln -s "my ignores" "$HOME/linked"
  git config --global core.excludesFile '~/linked'
  call "$garth" run -t named -- sh -c "$leave"
  [[ $code == 0 ]] || complain
  git config --global core.excludesFile ''
  call "$garth" run -t none -- sh -c "$leave"
  [[ $code == 1 ]] || complain
  [[ $err == *$'uncommitted files\n  .DS_Store\n  .claude/settings.local.json\n  .idea/x'* ]] || complain
}

@test "ESCAPES 1 ignored: a repository cannot make one of the user's files the ignore file" {
  echo topsecret >"$HOME/secret"; chmod 644 "$HOME/secret"
  git config core.excludesFile "$HOME/secret"
  call "$garth" run -t t -- sh -c 'cat "$(git config core.excludesFile)" /run/garth/ignores'
  [[ $code != 0 ]] || complain
  [[ $out$err != *topsecret* ]] || complain
}

@test "T1 settings: the user's harmless settings, and aliases of plain git commands, work inside" {
  git config --global alias.st 'status --short'
  git config --global alias.lg "log --graph --format='%h %s'"
  git config --global alias.evil '!touch /tmp/x'
  git config --global alias.exec 'rebase --exec make'
  git config --global diff.colorMoved zebra
  git config --global diff.external /bin/false
  git config --global diff.word.textconv cat
  git config --global color.diff.meta 'yellow bold'
  git config --global log.date iso
  git config --global pull.rebase true
  git config --global core.pager less
  git config --global credential.helper store
  git config --global http.extraHeader 'Authorization: secret'
  for b in "${backends[@]}"; do
    call "$garth" run -t t-$b --backend $b -- sh -c 'git config --list --local | sort >/tmp/all
      echo x >new; git st; git lg; rm new; git config color.diff.meta; grep -E "^(alias|diff|log|pull|core.pager|credential|http)" /tmp/all'
    [[ $code == 0 ]] || complain "$b"
    [[ $out == *'?? new'*'* '*' first'*'yellow bold'*'alias.lg='*'alias.st=status --short'*'diff.colormoved=zebra'*'log.date=iso'*'pull.rebase=true'* ]] || complain "$b"
    [[ $out != *evil* ]] || complain "$b"
    [[ $out != *--exec* ]] || complain "$b"
    [[ $out != *external* ]] || complain "$b"
    [[ $out != *textconv* ]] || complain "$b"
    [[ $out != *pager* ]] || complain "$b"
    [[ $out != *credential* ]] || complain "$b"
    [[ $out != *http* ]] || complain "$b"
  done
}
