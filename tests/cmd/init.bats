load helpers

# Every file that init writes is one that Garth and the schema accept.
accepted() {
  "$garth" init --print >"$T/printed"
  "$python" - "$T/printed" <(cd / && "$garth" config --schema) <<'E_PY' || complain "not as the schema says"
import json, sys, yaml, jsonschema
s = json.load(open(sys.argv[2]))
s = {"$defs": s["$defs"], "$ref": "#/$defs/repository"}
jsonschema.Draft202012Validator(s).validate(yaml.safe_load(open(sys.argv[1])) or {})
E_PY
  cp "$T/printed" .garth.yaml; git add -A; git commit -qm init
  call "$garth" config
  [[ $code == 0 && -z $err ]] || complain
  git rm -rq .garth.yaml
}
# setup_is FILES COMMANDS HOST: with these files in the repository, these are the commands, and the host is one of those.
setup_is() {
  rm -rf "$R"/*; mkdir -p $(dirname $1); touch $1
  accepted
  git reset -q --hard HEAD~0; git rm -rq --cached . ; git clean -fdxq -e .git
  diff <("$python" -c 'import sys, yaml; w = yaml.safe_load(open(sys.argv[1]))["workspace"] or {}; print("\n".join(w.get("setup", []) + w.get("setup_network", [])[:1]))' "$T/printed") <(printf '%s\n' "${@:2}")
}

@test "O2 init: Node is recognised by its lock file" {
  setup_is "package.json package-lock.json" "npm ci" registry.npmjs.org
  setup_is "package.json pnpm-lock.yaml" "pnpm install --frozen-lockfile" registry.npmjs.org
  setup_is "package.json yarn.lock" "yarn install --frozen-lockfile" registry.yarnpkg.com
  setup_is "package.json yarn.lock .yarnrc.yml" "yarn install --immutable" registry.yarnpkg.com
  setup_is "package.json" "npm install --no-package-lock" registry.npmjs.org
}

@test "O2 init: Python is recognised by its lock file" {
  setup_is "pyproject.toml uv.lock" "uv sync --frozen" pypi.org
  setup_is "pyproject.toml poetry.lock" "poetry install --no-interaction" pypi.org
  setup_is "requirements.txt" "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt" pypi.org
  setup_is "pyproject.toml" "python3 -m venv .venv && .venv/bin/pip install -e ." pypi.org
}

@test "O2 init: Rust, Go, Java, Ruby and PHP are recognised" {
  setup_is "Cargo.toml Cargo.lock" "cargo fetch --locked" index.crates.io
  setup_is "go.mod go.sum" "go mod download" proxy.golang.org
  setup_is "pom.xml mvnw" "./mvnw -q -B dependency:go-offline" repo.maven.apache.org
  setup_is "build.gradle.kts gradlew" "./gradlew -q dependencies" repo.maven.apache.org
  setup_is "Gemfile Gemfile.lock" "bundle install" rubygems.org
  setup_is "composer.json composer.lock" "composer install --no-interaction" repo.packagist.org
}

@test "O2 init: C and C++ are recognised by the build system, also by a Makefile alone" {
  setup_is "meson.build src/a.c Makefile" "meson setup build"
  setup_is "CMakeLists.txt" "cmake -S . -B build"
  setup_is "configure.ac Makefile.am" "autoreconf -i && ./configure"
  setup_is "Makefile" ""
}

@test "O2 init: a directory that belongs to the project at the top has no set-up of its own; one with a lock file has" {
  setup_is "CMakeLists.txt package.json package-lock.json lib/CMakeLists.txt pkg/package.json apart/package.json apart/package-lock.json tests/requirements.txt" \
    "npm ci" "cmake -S . -B build" "cd apart && npm ci" "cd tests && python3 -m venv .venv && .venv/bin/pip install -r requirements.txt" registry.npmjs.org
}

@test "O2 init: several languages at once, in directories too; directories with deployment files are protected" {
  mkdir -p web api deploy node_modules 'odd name'; touch web/package-lock.json web/package.json api/go.mod Cargo.toml node_modules/package.json 'odd name/go.mod'
  call "$garth" init
  says "$R/.garth.yaml is written for Rust, Go in api, Node (npm) in web: look through it, and commit it"
  grep -F 'cd api && go mod download' .garth.yaml
  grep -F 'cd web && npm ci' .garth.yaml
  grep -F -- '- web/package-lock.json' .garth.yaml
  grep -F '"/deploy/**"' .garth.yaml
  not grep -F odd .garth.yaml
  accepted
}

@test "O2 init: a file that is there is never overwritten, nor a link followed; --print writes nothing" {
  call "$garth" init --print
  [[ $code == 0 && ! -e .garth.yaml ]] || complain
  echo mine >.garth.yaml
  fails 1 "there is a .garth.yaml already" "$garth" init
  [[ $(<.garth.yaml) == mine ]]
  rm .garth.yaml; ln -s "$T/target" .garth.yaml
  fails 1 "there is a .garth.yaml already" "$garth" init
  [[ ! -e $T/target ]]
  rm .garth.yaml
  # from a directory below, it is written to the top
  cd dir
  "$garth" init
  [[ -f ../.garth.yaml && ! -e .garth.yaml ]]
  cd "$T"
  fails 3 "not in a git repository" "$garth" init
}

@test "O2 init: init, then commit, then a task with these settings" {
  touch Cargo.toml; git add -A; git commit -qm rust
  "$garth" init
  git add .garth.yaml; git commit -qm garth
  fails 4 "have not been approved" "$garth" new t
  "$garth" trust --yes >/dev/null
  "$garth" new --no-setup t
}
