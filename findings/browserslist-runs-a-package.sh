#!/usr/bin/env bash
# Guess: `.browserslistrc` is a list of queries such as `last 2 versions`, so `browserslist` only reads text.
# True: `extends browserslist-config-NAME` in it, or in `package.json`, loads the package of this name and runs its
# JavaScript.
# Version: browserslist 4.29.6 of npm. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts browserslist@4.29.6
browserslist=$folder/node_modules/.bin/browserslist
"$browserslist" --version
mkdir -p project/node_modules/browserslist-config-kitchen
cd project
cat >node_modules/browserslist-config-kitchen/index.js <<'END'
require("fs").writeFileSync("marker", "");
module.exports = ["chrome 100"];
END

# check FILE TEXT
check() {
    echo "$2" >"$1"
    listed=$("$browserslist")
    test -e marker
    echo "$1: ran the package, which gave: $listed"
    rm marker "$1"
}
check .browserslistrc 'extends browserslist-config-kitchen'
check package.json '{"browserslist": ["extends browserslist-config-kitchen"]}'
