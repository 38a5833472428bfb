#!/usr/bin/env bash
# Guess: programs that read `.env` agree on the simple lines; `$(…)` is the only risk, and no reader runs it.
# True: no reader runs it, but the values differ. `A=x#y` is `x` for dotenv of npm and for node, and `x#y`
# for python-dotenv. `${A}` is replaced by python-dotenv only, also in single quotes. Backticks are quotes
# for dotenv and node.
# Version: dotenv 17.2.3 of npm, python-dotenv 1.2.1 of PyPI, node below. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm init --yes >/dev/null
npm install --silent --no-audit --no-fund dotenv@17.2.3
python3 -m venv venv
venv/bin/pip install --quiet python-dotenv==1.2.1
echo "dotenv $(node -p 'require("dotenv/package.json").version')"
venv/bin/pip list 2>/dev/null | grep '^python-dotenv'
echo "node $(node --version)"
cat >.env <<'ENV'
BASE=base
HASH=x#y
USE=${BASE}
SINGLE='${BASE}'
TICKS=`echo run`
CALL=$(echo run)
ENV

# check EXPECTED NAME PROGRAM…: the values in the order of the file.
check() {
    local seen
    seen=$("${@:3}")
    printf '%-14s %s\n' "$2" "$seen"
    [ "$seen" = "$1" ] || { echo "expected: $1"; exit 1; }
}

names='"HASH USE SINGLE TICKS CALL".split(" ")'
check 'x | ${BASE} | ${BASE} | echo run | $(echo run)' dotenv \
    node -p "const e = require('dotenv').parse(fs.readFileSync('.env')); $names.map(n => e[n]).join(' | ')"
check 'x | ${BASE} | ${BASE} | echo run | $(echo run)' node \
    node --env-file .env -p "$names.map(n => process.env[n]).join(' | ')"
check 'x#y | base | base | `echo run` | $(echo run)' python-dotenv \
    venv/bin/python -c "from dotenv import dotenv_values; e = dotenv_values('.env'); print(*(e[n] for n in $names), sep=' | ')"
