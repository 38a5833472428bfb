#!/usr/bin/env bash
# Guess: a library that splits a command line keeps the ends of commands apart from words.
# True: `shell-quote` of npm returns operators such as `;`, and `shlex` of Python does with
# `punctuation_chars`; both read a newline as a blank, so the command in the second line looks like operands
# of the first. Further differences to a shell: both read `#b` of `a#b` as a comment, and shell-quote makes a
# word `2` of `2>&1` and keeps backticks in words.
# Version: shell-quote 1.8.3 of npm, Python below. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund shell-quote@1.8.3
echo "shell-quote $(node -p 'require("shell-quote/package.json").version')"
python3 --version

shell_quote() {
    node -p 'JSON.stringify(require("shell-quote").parse(process.argv[1]).map(w => w.op ?? w))' "$1"
}
shlex() {
    python3 -c 'import json, shlex, sys
print(json.dumps(list(shlex.shlex(sys.argv[1], posix=True, punctuation_chars=True)), separators=(",", ":")))' "$1"
}

# check PROGRAM TEXT EXPECTED
check() {
    local seen
    seen=$("$1" "$2")
    printf '%-11s %q: %s\n' "$1" "$2" "$seen"
    [ "$seen" = "$3" ] || { echo "expected: $3"; exit 1; }
}

for splitter in shell_quote shlex; do
    check "$splitter" 'ls a; touch b' '["ls","a",";","touch","b"]'
    check "$splitter" $'ls a\ntouch b' '["ls","a","touch","b"]'
done
check shell_quote 'ls `touch b`' '["ls","`touch","b`"]'
check shell_quote 'ls 2>&1' '["ls","2",">&","1"]'
check shell_quote 'ls a#b' '["ls","a",{"comment":"b"}]'
check shlex 'ls a#b' '["ls","a"]'
