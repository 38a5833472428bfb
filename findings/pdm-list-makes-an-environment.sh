#!/usr/bin/env bash
# Guess: `pdm list` in a project without a virtual environment prints an empty list.
# True: it makes the environment `.venv` first and stores its path in `.pdm-python`. If there is a `.venv`,
# pdm runs `.venv/bin/python`, whichever program it is.
# Version: PDM 2.26.1 of PyPI. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet pdm==2.26.1
export HOME=$folder PDM_CHECK_UPDATE=0
mkdir project
cd project
printf '[project]\nname = "kitchen"\nversion = "1"\nrequires-python = ">=3.9"\n' >pyproject.toml
../venv/bin/pdm --version
../venv/bin/pdm list >/dev/null 2>&1
files=$(ls -A | sort | paste -sd ' ')
echo "after pdm list: $files"
test "$files" = '.pdm-python .venv pyproject.toml'

mv .venv/bin/python ../python
printf '#!/bin/sh\necho ran >>%s/marker\nexec python3 "$@"\n' "$folder" >.venv/bin/python
chmod +x .venv/bin/python
../venv/bin/pdm list >/dev/null 2>&1
echo "marker of .venv/bin/python: $(head -1 ../marker)"
