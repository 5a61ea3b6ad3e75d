load helpers

# Two installations without root, one after the other from one build directory: ~/.local, and another place.
setup_file() {
  local t=$BATS_FILE_TMPDIR
  mkdir -p "$t/src" "$t/home" "$t/bin"
  cp -r "$GARTH_TOP"/{src,share,man,tools,meson.build,meson_options.txt,dev} "$t/src/"
  printf '#!/bin/sh\necho "$@" >>%s/sudo\nexit 1\n' "$t" >"$t/bin/sudo"
  chmod +x "$t/bin/sudo"
  cd "$t/src"
  export CFLAGS=-O0 # what is compiled does not matter here
  HOME=$t/home PATH=$t/bin:$PATH PREFIX=$t/home/.local ./dev install >"$t/log1" 2>&1 </dev/null 3>&- || { tail -n 30 "$t/log1"; return 1; }
  sums "$t/home/.local" >"$t/before"
  (cd "$t" && HOME=$t/home PATH=$t/bin:$PATH PREFIX=opt ./src/dev install >"$t/log2" 2>&1 </dev/null 3>&-) || { tail -n 30 "$t/log2"; return 1; }
  sums "$t/home/.local" >"$t/after"
}

sums() { (cd "$1" && find . -type f -exec sha256sum {} + | sort); }

setup() {
  garth_setup
  t=$BATS_FILE_TMPDIR
  first=$t/home/.local second=$t/opt
}

# What has to be there, from the program's own list of commands.
expected() {
  printf '%s\n' bin/garth libexec/garth/garth-{archive,credentials,fsmonitor,guard,launch,fast-unpack,mcp,shim} \
    share/bash-completion/completions/garth share/zsh/site-functions/_garth share/fish/vendor_completions.d/garth.fish \
    share/systemd/user/garth.service share/man/man1/garth.1 share/man/man5/garth-{config,task}.5
  "$first/bin/garth" help | sed -nE 's,^  ([a-z]+) .*,share/man/man1/garth-\1.1,p'
}

@test "O3 install: every file is there, in both places, and sudo was not needed" {
  diff <(expected | sort) <(cd "$first" && find . -type f -printf '%P\n' | sort)
  diff <(expected | sort) <(cd "$second" && find . -type f -printf '%P\n' | sort)
  [[ ! -e $t/sudo ]]
  tail -n 1 "$t/log2" | grep -qx "installed: $second/bin/garth"
}

@test "O3 install: a second PREFIX leaves the first alone, and each runs its own parts" {
  diff "$t/before" "$t/after"
  for p in "$first" "$second"; do
    grep -qF "$p/libexec/garth" "$p/bin/garth"
    grep -qx "ExecStart=$p/bin/garth serve" "$p/share/systemd/user/garth.service"
  done
  mv "$first" "$first.away"
  call "$second/bin/garth" run -q -t t -- echo works
  mv "$first.away" "$first"
  [[ $code == 0 ]] || complain
  [[ $out == works ]] || complain
}

@test "O3 install: man finds the pages" {
  call man -M "$second/share/man" garth-run
  [[ $code == 0 ]] || complain
  [[ $out == *--on-dirty* ]] || complain
  call man -M "$second/share/man" 5 garth-config
  [[ $code == 0 ]] || complain
  [[ $out == *limits.max_disk* ]] || complain
  # bin on the PATH is enough
  call env -u MANPATH PATH="$first/bin:$PATH" man -w garth-merge
  [[ $out == "$first/share/man/man1/garth-merge.1" ]] || complain
}

@test "O3 install: the shells load the completions from there" {
  export HOME=$t/home PATH=$first/bin:$PATH
  unset XDG_DATA_HOME XDG_CONFIG_HOME
  call bash -c 'source "$1"; COMP_WORDS=(garth disc); COMP_CWORD=1; _garth; echo "${COMPREPLY[*]}"' x "$first/share/bash-completion/completions/garth"
  [[ $out == discard ]] || complain
  call zsh -f -c 'fpath+=($1); autoload -U compinit; compinit -u -D; print $_comps[garth]; autoload +X _garth && print loaded' x "$first/share/zsh/site-functions"
  [[ $out == $'_garth\nloaded' ]] || complain
  call fish -c 'complete -C "garth disc"'
  [[ $out == discard* ]] || complain
}
