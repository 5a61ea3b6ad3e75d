# For the files of tests that need submodules.

# A repository with a submodule at libs/mod that has one at deep, all checked out: made once, and copied for each test.
setup_file() {
  export made=$BATS_FILE_TMPDIR/made HOME=$BATS_FILE_TMPDIR
  git config --global user.name x; git config --global user.email x@example.com; git config --global protocol.file.allow always
  git init -q "$made/deep"
  (cd "$made/deep" && git commit -q --allow-empty -m empty && echo deep >deep.txt && git add -A && git commit -qm deep)
  git init -q "$made/lib"
  (cd "$made/lib" && echo lib >lib.txt && mkdir src && echo code >src/code.c && git add -A && git commit -qm lib
    git submodule --quiet add "$made/deep" deep && git commit -qm nested)
  git init -q "$made/app"
  (cd "$made/app" && git submodule --quiet add "$made/lib" libs/mod && git submodule --quiet update --init --recursive)
}

# The user's own work in the submodule is not committed.
setup() {
  garth_setup
  cp -a "$made/app/.gitmodules" "$made/app/libs" .
  cp -a "$made/app/.git/modules" .git
  git config submodule.libs/mod.url "$made/lib"; git config submodule.libs/mod.active true
  echo beside >libs/beside.txt
  git add -A; git commit -qm 'with a submodule'
  echo mine >libs/mod/mine.txt
  echo changed >>libs/mod/lib.txt
  mod=$(mod_state)
}

# The complete state of the user's submodule: files, HEAD, refs, the whole git directory.
mod_state() { (cd "$R" && find libs/mod .git/modules -type f -exec sha256sum {} + | sort); }
mod_untouched() { [[ $(mod_state) == "$mod" ]] || { echo "the user's submodule changed"; return 1; }; }

# The same without what publishing adds: objects, and Garth's own refs.
mod_own_state() {
  (cd "$R" && find libs/mod -type f -exec sha256sum {} + | sort
    for dir in libs/mod libs/mod/deep; do
      git -C $dir for-each-ref | grep -vE 'refs/(heads/)?garth/'; git -C $dir rev-parse HEAD; git -C $dir status --porcelain; git -C $dir config --list
    done)
}
