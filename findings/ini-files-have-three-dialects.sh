#!/usr/bin/env bash
# Guess: readers of INI files agree on names, values, quotes and comments.
# True: configparser of Python keeps `; note` and quotes in a value, `ini` of npm and git drop both. The
# reader of npm keeps the case of a name; Python and git change it to lower case. A name without a value is
# true for npm and git, and an error for Python by default.
# Version: ini 5.0.0 of npm, Python and git below. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund ini@5.0.0
echo "ini $(node -p 'require("ini/package.json").version')"
python3 --version
git --version
printf '[kitchen]\nPlain = x ; note\nQuoted = "q"\n' >a.ini

# check EXPECTED NAME PROGRAM…
check() {
    local seen
    seen=$("${@:3}" | paste -sd ' ')
    printf '%-13s %s\n' "$2" "$seen"
    [ "$seen" = "$1" ] || { echo "expected: $1"; exit 1; }
}

check 'Plain=x Quoted=q' 'ini of npm' \
    node -p 'Object.entries(require("ini").parse(fs.readFileSync("a.ini", "utf8")).kitchen).map(e => e.join("=")).join(" ")'
check 'plain=x ; note quoted="q"' configparser \
    python3 -c 'import configparser; c = configparser.ConfigParser(); c.read("a.ini"); print(*(f"{k}={v}" for k, v in c["kitchen"].items()))'
check 'kitchen.plain=x kitchen.quoted=q' git git config --file a.ini --list

printf '[kitchen]\nflag\n' >a.ini
check true 'ini of npm' node -p 'require("ini").parse(fs.readFileSync("a.ini", "utf8")).kitchen.flag'
check true git git config --file a.ini --type bool kitchen.flag
check ParsingError configparser python3 -c '
import configparser
try:
    configparser.ConfigParser().read("a.ini")
except configparser.Error as error:
    print(type(error).__name__)'
