#!/usr/bin/env bash
# Guess: `pip-licenses` lists the installed packages; settings in `pyproject.toml` choose columns and formats.
# True: the settings are all options of the command line. `python` names a program, which runs, and `output-file` a file,
# which is written, although the call has no option.
# Version: pip-licenses 5.5.5 of PyPI. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet pip-licenses==5.5.5
venv/bin/pip-licenses --version
mkdir project
cd project
printf '#!/bin/sh\ntouch marker\nexec python3 "$@"\n' >tool
chmod +x tool
printf '[tool.pip-licenses]\npython = "./tool"\noutput-file = "licenses.txt"\n' >pyproject.toml
../venv/bin/pip-licenses >/dev/null 2>&1 || true
test -e marker && echo 'pip-licenses ran ./tool'
test -s licenses.txt && echo 'pip-licenses wrote licenses.txt'
