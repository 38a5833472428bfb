#!/usr/bin/env bash
# Guess: `js-beautify FILE` prints the formatted text, and `.jsbeautifyrc` describes the format.
# True: the settings are all options of the command line. With `"replace": true`, the call changes the file; with
# `"outfile"`, it writes the file of this name. The settings are searched in the folders above, too.
# Version: js-beautify 2.0.3 of npm. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund --ignore-scripts js-beautify@2.0.3
export HOME=$folder
echo "js-beautify $(node_modules/.bin/js-beautify --version | tail -1)"
mkdir -p project/src
cd project/src

# check SETTINGS FILE EXPECTED
check() {
    echo "$1" >../.jsbeautifyrc
    echo 'a  =  1' >a.js
    rm -f other.js
    ../../node_modules/.bin/js-beautify a.js >/dev/null
    echo "$1: $2: $(cat "$2")"
    [ "$(cat "$2")" = "$3" ] || { echo "expected: $3"; exit 1; }
}
check '{"indent_size": 2}' a.js 'a  =  1'
check '{"replace": true}' a.js 'a = 1'
check '{"outfile": "other.js"}' other.js 'a = 1'
