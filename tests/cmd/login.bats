# Login shells: /etc/profile sets PATH anew, and the shim and the tool directories are still found.
load helpers

setup() {
  garth_setup
  mkdir -p "$HOME/.local/bin"; printf '#!/bin/sh\necho tool\n' >"$HOME/.local/bin/some-tool"; chmod +x "$HOME/.local/bin/some-tool"
  export PATH="$HOME/.local/bin:$PATH"
}

# Where programs are found in a login shell of each kind, one line for each.
shells() { local s; for s in "bash -l" "sh -l" "dash -l" "zsh -l" "fish -l"; do if command -v "${s%% *}" >/dev/null; then echo "$s"; fi; done; }

@test "J8 login: bash, sh, dash, zsh and fish find the shim and the tool directories" {
  # control: outside, the same shell does not find them
  [[ $(bash -lc 'command -v some-tool') == '' ]]
  "$garth" new t
  while read -r shell; do
    call "$garth" exec t -- $shell -c 'command -v git; some-tool'
    [[ $out == /run/garth/bin/git$'\n'tool ]] || complain "$shell"
    # without any variable, as su and cron do it
    call "$garth" exec t -- env -i HOME="$HOME" $shell -c 'command -v git; some-tool'
    [[ $out == /run/garth/bin/git$'\n'tool ]] || complain "env -i $shell"
  done < <(shells)
}

@test "J8 login: what the profiles added stays after it, once, and a shell in a shell changes nothing" {
  "$garth" new t
  call "$garth" exec t -- bash -lc 'PATH=/added:$PATH:/run/garth/bin; . /etc/profile.d/zzz-garth.sh; one=$PATH; . /etc/profile.d/zzz-garth.sh; [ "$one" = "$PATH" ] && tr : "\n" <<<"$PATH"'
  [[ $code == 0 ]] || complain
  [[ $(head -n1 <<<"$out") == /run/garth/bin ]] || complain
  [[ $(grep -c "^/added$" <<<"$out") == 1 ]] || complain
  [[ -z $(sort <<<"$out" | uniq -d) ]] || complain
  call "$garth" exec t -- bash -lc 'set -eu; . /etc/profile.d/zzz-garth.sh; set | grep -c ^garth_ || true'
  [[ $code == 0 ]] || complain
  [[ $out == 0 ]] || complain
  # the host's own profiles are there as they are
  for f in /etc/profile /etc/profile.d/*.sh; do
    [[ ! -f $f ]] || diff "$f" <("$garth" exec t -- cat "$f")
  done
  # and nobody inside can change them
  refuses() { ! "$garth" exec t -- sh -c "$1" 2>/dev/null; }
  refuses 'echo x >>/etc/profile.d/zzz-garth.sh'; refuses 'echo x >/etc/profile.d/x.sh'; refuses 'echo x >>/etc/profile'
}

@test "J8 login: exec has its caller's PATH, and names with quotes survive" {
  mkdir -p "$HOME/.cargo/bin"; printf '#!/bin/sh\necho other\n' >"$HOME/.cargo/bin/other-tool"; chmod +x "$HOME/.cargo/bin/other-tool"
  "$garth" run -q --detach --task t -- sleep 1000
  PATH="$HOME/.cargo/bin:$PATH" call "$garth" exec t -- bash -lc 'other-tool; some-tool'
  [[ $out == other$'\n'tool ]] || complain
  "$garth" cancel t
  PATH="$PATH:/it's \$(touch /tmp/made) \"\\" call "$garth" exec t -- env -i HOME="$HOME" bash -lc 'printf %s: "$PATH"; ls /tmp/made'
  [[ $out == *":/it's \$(touch /tmp/made) \"\\:"* ]] || complain
}

@test "J8 login: a commit from a login shell is published, with each backend" {
  for b in overlay worktree clone; do
    "$garth" run -q --task c-$b --backend $b -- bash -lc 'echo x >x; git add x; git commit -qm work'
    [[ $(git log -1 --format=%s garth/c-$b) == work ]]
    [[ $(state_of c-$b) == done ]]
  done
}

@test "J8 J9 login: on Landlock alone, where /etc is the host's" {
  ! is_root || return 0
  call python3 "$BATS_TEST_DIRNAME/without-userns" "$garth" run -q --allow-weaker --task a -- env -u GARTH_PATH bash -lc 'command -v git; some-tool; cat ~/.profile'
  [[ $out == */run/bin/git$'\n'tool$'\n'*login.sh* ]] || complain
  # a file that the agent wrote is not changed
  call python3 "$BATS_TEST_DIRNAME/without-userns" "$garth" exec a -- sh -c 'echo mine >~/.profile'
  call python3 "$BATS_TEST_DIRNAME/without-userns" "$garth" exec a -- cat .profile
  [[ $("$garth" exec a -- sh -c 'cat ~/.profile') == mine ]]
}
