load helpers

@test "G1 fast_unpack: git's strict check finds nothing wrong with what is accepted without it" {
  local program=$GARTH_BUILD/garth-fast-unpack
  [[ ! -x $program-checked ]] || program=$program-checked
  "$BATS_TEST_DIRNAME/fast-unpack-differential" --program "$program" --seconds 6
}

# One pack for each, in one gateway: the first one is always unpacked by git.
@test "G1 fast_unpack: simple and other objects are published alike, in one step" {
  "$garth" new t; "$garth" allow t d/.gitattributes
  inside t 'set -e; echo 1 >>a.txt; git commit -qam one; echo 2 >>a.txt; git commit -qam plain
    mkdir d; echo "*.png binary" >d/.gitattributes; git add d; git commit -qm attributes; echo 3 >>a.txt; git commit -qam again
    seq 100000 >large; git add large; git commit -qm large
    head -c 3000000 /dev/zero | tr "\0" x >file; git add file; git commit -qm file
    git tag -a -m tag v1; git commit -q --allow-empty -m empty; echo 4 >>a.txt; git commit -qam last'
  [[ $(git log --format=%s main..garth/t | paste -sd,) == last,empty,file,large,again,attributes,plain,one ]]
  git fsck --strict --no-dangling
}

# a tree or a commit that git would not make, published with a good commit before it in the same gateway
bad_after_good() {
  run inside t "$1; echo \$RANDOM >>a.txt; git commit -qam good; $2
    c=\$(printf 'tree %s\nparent %s\nauthor A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n\nbad\n' \$tree \$(git rev-parse HEAD) | git hash-object -t commit -w --stdin --literally)
    /usr/bin/git update-ref refs/heads/garth/t \$c"
  [[ $status != 0 && $output == *BLOCKED* ]]
  [[ $(git log -1 --format=%s garth/t) == good ]]
}

@test "G1 ESCAPES 7 fast_unpack: what git's strict check refuses is also refused after a simple pack" {
  local raw='blob=$(echo x | git hash-object -w --stdin); id() { printf "%s" "$1" | sed "s/../\\\\x&/g"; }
    tree_of() { tree=$(printf "$1" | git hash-object -w -t tree --literally --stdin); }' mode
  "$garth" new t; "$garth" allow t .gitmodules
  inside t 'for i in 1 2 3; do echo $i >>a.txt; git commit -qam good; done'
  for name in .git .GIT 'git~1' .. . 'a\\.git\\b' $'.g\xe2\x80\x8cit'; do
    bad_after_good "$raw" "tree_of \"100644 $name\\0\$(id \$blob)\""
  done
  bad_after_good "$raw" 'tree_of "100644 b\0$(id $blob)100644 a\0$(id $blob)"'
  bad_after_good "$raw" 'tree_of "100644 a\0$(id $blob)100644 a\0$(id $blob)"'
  bad_after_good "$raw" 'tree_of "0100644 a\0$(id $blob)"'
  bad_after_good "$raw" 'tree_of "40000 a\0$(id $blob)"'
  bad_after_good "$raw" 'tree_of "100644 a\0$(id $(git rev-parse HEAD^{tree}))"'
  bad_after_good "$raw" 'tree_of "100644 a\0$(id 1111111111111111111111111111111111111111)"'
  bad_after_good "$raw" 'm=$(printf "[submodule \"x\"]\n\tpath = -x\n\turl = -y\n" | git hash-object -w --stdin); tree_of "100644 .gitmodules\0$(id $m)"'
  # the blob first, as another file, so that it is there already
  bad_after_good "$raw" 'printf "[submodule \"x\"]\n\tpath = -x\n\turl = -y\n" >m; git add m; git commit -qm good
    tree_of "100644 .gitmodules\0$(id $(git rev-parse HEAD:m))"'
  git fsck --strict --no-dangling
}

# The git that writes commits remembers which kind of object an id was said to be: the next commit makes it give up in the middle.
@test "G1 ESCAPES 7 fast_unpack: if it gives up, the git that it started is not waited for and writes nothing any more" {
  "$garth" new t
  inside t 'echo 1 >>a.txt; git commit -qam 1; echo 2 >>a.txt; git commit -qam 2
    p=$(git rev-parse HEAD); tree=$(git rev-parse HEAD^{tree})
    c() { printf "tree %s\nparent %s\nauthor A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n\n%s\n" "$@" | git hash-object -t commit -w --stdin --literally; }
    echo 3 >>a.txt; git add a.txt; t3=$(git write-tree); odd=$(c $p $p odd)
    # the offered pack has ancestors of the tip: the malformed one names a commit as its tree
    tip=$(printf "tree %s\nparent %s\nparent %s\nauthor A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n\nbad\n" $t3 $p $odd | git hash-object -t commit -w --stdin --literally)
    /usr/bin/git update-ref refs/heads/garth/t $tip || true
    /usr/bin/git reset -q --hard $p; for i in 4 5 6; do echo $i >>a.txt; git commit -qam $i; done'
  [[ $(git log --format=%s main..garth/t | paste -sd,) == 6,5,4,2,1 ]]
  git fsck --strict --no-dangling
}
