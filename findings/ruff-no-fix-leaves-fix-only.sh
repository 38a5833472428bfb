#!/usr/bin/env bash
# Guess: `ruff check --no-fix` changes no file, whatever the settings of the project are.
# True: `--no-fix` overrides the setting `fix` only. With `fix-only = true` in `ruff.toml`, ruff still changes
# the files; `--no-fix --no-fix-only` or `--diff` leaves them.
# Version: ruff 0.14.6 of PyPI. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet ruff==0.14.6
mkdir project
cd project
../venv/bin/ruff --version

# check SETTING EXPECTED OPTION…
check() {
    local seen=unchanged
    echo "$1" >ruff.toml
    echo 'import os' >a.py
    ../venv/bin/ruff check --no-cache "${@:3}" a.py >/dev/null 2>&1 || true
    [ -s a.py ] || seen=changed
    echo "$1, ruff check ${*:3}: $seen"
    [ "$seen" = "$2" ] || { echo "expected: $2"; exit 1; }
}

check 'fix = true' changed
check 'fix = true' unchanged --no-fix
check 'fix-only = true' changed
check 'fix-only = true' changed --no-fix
check 'fix-only = true' unchanged --no-fix --no-fix-only
check 'fix-only = true' unchanged --diff
