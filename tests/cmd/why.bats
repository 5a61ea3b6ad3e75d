load helpers

@test "J4 why: tells what decides about a path, and where that is configured" {
  configure <<'END'
jail:
  deny_read: [secrets, /srv/hidden]
  allow_read: [secrets/public/**]
  deny_write:
    - docs
END
  "$garth" new t
  [[ $("$garth" why t secrets/key) == *"read     no: jail.deny_read 'secrets' ($XDG_CONFIG_HOME/garth/config.yaml:2)"* ]]
  [[ $("$garth" why t secrets/public/x) == *"read     yes: jail.allow_read 'secrets/public' "*config.yaml:3* ]]
  [[ $("$garth" why t docs/x) == *$'read     yes\n'*"write    no: jail.deny_write 'docs' "*config.yaml:5*"publish  no: 'docs' protects it"* ]]
  [[ $("$garth" why t "$R/docs/x") == *"write    no: jail.deny_write"* ]]
  [[ $("$garth" why t a.txt) == "path     $R/a.txt"$'\nread     yes\nwrite    yes\npublish  yes' ]]
  [[ $("$garth" why t .envrc) == *"publish  no: '.envrc' protects it"* ]]
  [[ $("$garth" why t /usr/bin/git) == *$'read     yes\nwrite    no: it is mounted read-only' ]]
  [[ $("$garth" why t '~/.ssh/id') == *"the user's is not shown: built-in: it holds keys"* ]]
  [[ $("$garth" why t /etc/shadow) == *"read     no: only what is named"* ]]
  [[ $("$garth" why t /srv/hidden/x) == *"read     no: jail.deny_read '/srv/hidden' "* ]]
  [[ $("$garth" why t "$GARTH_HOME/garth.db") == *'the Garth home'* ]]
  fails 2 'not a plain path' "$garth" why t a/../b
  fails 3 'no task' "$garth" why none a.txt
  fails 2 '' "$garth" why t
}

@test "J4 why: a path that the user allowed for the task can be published; one outside of the task's scope cannot" {
  echo 'policy: {scope: [dir/**]}' | configure
  "$garth" new t
  [[ $("$garth" why t a.txt) == *'publish  no: policy.scope does not have it'* ]]
  [[ $("$garth" why t dir/b.txt) == *'publish  yes' ]]
  "$garth" allow t .envrc a.txt
  [[ $("$garth" why t .envrc) == *'publish  yes' ]]
  [[ $("$garth" why t a.txt) == *'publish  yes' ]]
}

@test "J4 why: what it says is what happens" {
  mkdir docs; echo d >docs/x; git add docs; git commit -qm docs
  echo 'jail: {deny_write: [docs], deny_read: [dir/b.txt]}' | configure
  "$garth" new t
  for path in docs/x dir/b.txt a.txt dir/sub/c.txt; do
    may=$("$garth" why t "$path" --json | json '[d["may_read"], d["may_write"]]')
    can="[$(inside t "head -c 1 $path" >/dev/null 2>&1 && echo true || echo false), $(inside t "test -w $path && touch $path" >/dev/null 2>&1 && echo true || echo false)]"
    [[ $may == "$can" ]] || complain "$path: says $may, is $can"
  done
}
