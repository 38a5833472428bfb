#!/usr/bin/env bash
# Guess: `towncrier build --draft` prints the collected notes and does nothing else.
# True: it imports the package of the project, to ask for its name and version, unless both are given.
# Version: towncrier 26.9.0 of PyPI. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet towncrier==26.9.0
venv/bin/towncrier --version
mkdir -p project/src/kitchen project/newsfragments
cd project
printf 'open("marker", "w")\n__version__ = "1.2"\n' >src/kitchen/__init__.py
printf '[tool.towncrier]\npackage = "kitchen"\npackage_dir = "src"\nfilename = "NEWS.rst"\n' >pyproject.toml

# check EXPECTED OPTION…
check() {
    local expected=$1 ran=no
    shift
    rm -f marker
    ../venv/bin/towncrier build --draft "$@" >/dev/null 2>&1
    [ ! -e marker ] || ran=yes
    echo "towncrier build --draft $*: ran the package: $ran"
    [ "$ran" = "$expected" ] || { echo "expected: $expected"; exit 1; }
}
check yes
check yes --version 1.2
check no --version 1.2 --name Kitchen
