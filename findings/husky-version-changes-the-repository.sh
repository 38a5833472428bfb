#!/usr/bin/env bash
# Guess: `husky --version` prints a version.
# True: husky takes any word except `init` and old commands for the folder of its hooks. `husky --version`
# makes the folder `--version` and sets `core.hooksPath` of the repository to `--version/_`, so git runs
# its hooks from there. `--help` and `-v` do the same.
# Version: husky 9.1.7 of npm. Source: run below; its bin.js.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund husky@9.1.7
echo "husky $(node -p 'require("./node_modules/husky/package.json").version')"
for word in --version --help; do
    git init --quiet "repository$word"
    cd "repository$word"
    printed=$(../node_modules/.bin/husky "$word")
    path=$(git config --get core.hooksPath)
    echo "husky $word prints '$printed' and sets core.hooksPath to '$path'"
    test -z "$printed"
    test "$path" = "$word/_"
    test -d "./$word/_"
    cd ..
done
