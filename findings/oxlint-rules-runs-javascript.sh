#!/usr/bin/env bash
# Guess: oxlint is a native program whose settings are JSON, so it runs no JavaScript of the project; at most
# when it lints a file.
# True: `jsPlugins` in `.oxlintrc.json` names modules of JavaScript, which oxlint runs. `oxlint --rules` and
# `oxlint --print-config`, which lint no file, run them, too. `oxlint --version` does not.
# Version: oxlint 1.94.0 of npm. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund oxlint@1.94.0
mkdir project
cd project
echo 'let a' >a.js
echo '{ "jsPlugins": ["./plug.mjs"] }' >.oxlintrc.json
cat >plug.mjs <<'JS'
import fs from 'node:fs'
fs.writeFileSync('marker', 'ran')
export default { meta: { name: 'plug' }, rules: {} }
JS
../node_modules/.bin/oxlint --version

# check EXPECTED WORD…
check() {
    rm -f marker
    ../node_modules/.bin/oxlint "${@:2}" >/dev/null
    local seen=no
    [ ! -e marker ] || seen=yes
    echo "oxlint ${*:2} runs the plugin: $seen"
    [ "$seen" = "$1" ] || { echo "expected: $1"; exit 1; }
}

check yes --rules
check yes --print-config
check yes a.js
check no --version
