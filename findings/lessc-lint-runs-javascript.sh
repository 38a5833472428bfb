#!/usr/bin/env bash
# Guess: `lessc` reads a stylesheet and prints CSS, and `lessc --lint` only checks its syntax. Inline JavaScript is
# switched off since Less 3, so a stylesheet is data.
# True: `@plugin "name"` in a stylesheet loads a file of JavaScript beside it and runs it, also with `--lint`.
# Version: less 4.9.1 of npm. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts less@4.9.1
lessc=$folder/node_modules/.bin/lessc
"$lessc" --version
mkdir project
cd project
echo 'require("fs").writeFileSync("marker", ""); module.exports = { install() {} };' >tool.js
printf '@plugin "tool";\na { b: c }\n' >a.less

for call in 'a.less' '--lint a.less'; do
    rm -f marker
    # shellcheck disable=SC2086  # a call is several words
    "$lessc" $call >/dev/null 2>&1 || true
    test -e marker
    echo "lessc $call ran tool.js"
done
