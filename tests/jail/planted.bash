# What the tests of repositories that the user did not make share.
load helpers

setup() {
  jail_setup
  marker=$T/elsewhere/ran
  payload="echo ran >>$marker"
  before=$(sentinels)
  git init -q --bare "$T/remote.git"
  git remote add origin "$T/remote.git"; git push -q origin main
}

# ran: the control ran the program; the marker is removed again.
ran() { [[ -e $marker ]] || { echo "the control did not run its program"; return 1; }; rm -f "$marker"; }

# quiet COMMAND…: whatever it answers, in time, no program ran outside.
quiet() {
  within 60 "$garth" "$@" || return 1
  if [[ -e $marker ]]; then echo "a program ran outside: garth $*"; cat "$T/answer"; return 1; fi
}

# Shell commands that make a partial clone in the directory $1 whose commits are at a remote: a git that asks for HEAD
# fetches it, with the program that the configuration names.
partial() {
  cat <<END
mkdir -p $1; cd $1; /usr/bin/git init -q; /usr/bin/git config core.repositoryformatversion 1; /usr/bin/git config extensions.partialclone o
/usr/bin/git config remote.o.url $T/remote.git; /usr/bin/git config remote.o.promisor true; /usr/bin/git config remote.o.uploadpack '$payload; git-upload-pack'
echo 1111111111111111111111111111111111111111 >.git/refs/heads/main; /usr/bin/git symbolic-ref HEAD refs/heads/main; cd "\$OLDPWD"
END
}

# tarball DIR: a complete repository from elsewhere, with a remote and a task.
tarball() {
  git clone -q "$T/remote.git" "$1"; cd "$1"
  git config user.name x; git config user.email x@example.com
}
