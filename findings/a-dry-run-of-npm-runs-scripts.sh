#!/usr/bin/env bash
# Guess: npm with `--dry-run` runs nothing of the package: it prints what it would do.
# True: `npm pack`, `npm publish`, `npm install` and `npm ci` run the scripts of the package with
# `--dry-run`, too. `--ignore-scripts` is the option that keeps npm from them.
# Version: npm 11.19.1 of npm. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund npm@11.19.1
npm=$folder/node_modules/.bin/npm
mkdir project
cd project
cat >package.json <<'JSON'
{ "name": "kitchen", "version": "1.0.0", "scripts": {
  "preinstall": "echo preinstall >>log",
  "prepublishOnly": "echo prepublishOnly >>log",
  "prepack": "echo prepack >>log",
  "prepare": "echo prepare >>log"
} }
JSON
echo '{ "name": "kitchen", "version": "1.0.0", "lockfileVersion": 3, "packages": {} }' >package-lock.json
echo "npm $("$npm" --version)"

# check EXPECTED WORD…
check() {
    rm -f log
    "$npm" "${@:2}" --offline >/dev/null 2>&1
    local seen
    seen=$(paste -sd ' ' log 2>/dev/null || true)
    echo "npm ${*:2}: ${seen:-no script}"
    [ "$seen" = "$1" ] || { echo "expected: $1"; exit 1; }
}

check 'prepack prepare' pack --dry-run
check 'prepublishOnly prepack prepare' publish --dry-run
check 'preinstall prepare' install --dry-run
check 'preinstall prepare' ci --dry-run
check '' pack --dry-run --ignore-scripts
