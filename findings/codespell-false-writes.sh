#!/usr/bin/env bash
# Guess: `write-changes = false` in `.codespellrc` keeps codespell from changing files.
# True: codespell makes words of the command line from the file, `--write-changes` from this line, and
# drops the value. `false`, `no` and `0` all switch it on, and so does an abbreviation of the name. In
# `pyproject.toml`, `false` counts. Only a line that is missing or a comment leaves the files unchanged.
# Version: codespell 2.4.3 of PyPI. Source: run below; `parse_options` in codespell_lib/_codespell.py.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet codespell==2.4.3
echo "codespell $(venv/bin/codespell --version)"

# check FILE TEXT EXPECTED
check() {
    mkdir project
    cd project
    printf '%b\n' "$2" >"$1"
    echo teh >a.txt
    HOME=$folder ../venv/bin/codespell a.txt >/dev/null 2>&1 || true
    echo "$1, ${2#*\\n}: $(cat a.txt)"
    [ "$(cat a.txt)" = "$3" ] || { echo "expected: $3"; exit 1; }
    cd ..
    rm -r project
}

check .codespellrc '[codespell]\ncount' teh
check .codespellrc '[codespell]\nwrite-changes = true' the
check .codespellrc '[codespell]\nwrite-changes = false' the
check .codespellrc '[codespell]\nwrite-changes = 0' the
check .codespellrc '[codespell]\nwrit = no' the
check pyproject.toml '[tool.codespell]\nwrite-changes = true' the
check pyproject.toml '[tool.codespell]\nwrite-changes = false' teh
