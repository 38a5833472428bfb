#!/usr/bin/env bash
# Guess: `--help` and `--version` of a program do equally little: both print a text of the program.
# True: the help lists the options of plugins, so some programs load the plugins of the project for
# `--help` and not for `--version`: pylint runs `init-hook` of its settings, and pytest imports the module
# of `-p` in `addopts` and `conftest.py`. flake8 imports plugins for both options, mypy for neither.
# Version: pylint 4.1.4, pytest 9.2.0, flake8 7.5.0, mypy 2.4.1 of PyPI. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet pylint==4.1.4 pytest==9.2.0 flake8==7.5.0 mypy==2.4.1
mkdir project
cd project
cat >plug.py <<'PYTHON'
print("code of the project")


class Plugin:
    name, version = "plug", "1"

    def __init__(self, tree): ...

    def run(self):
        return []


def plugin(version):
    from mypy.plugin import Plugin

    return Plugin
PYTHON
printf '[main]\ninit-hook = import plug\n' >pylintrc
printf '[pytest]\npythonpath = .\naddopts = -p plug\n' >pytest.ini
printf '[flake8:local-plugins]\nextension = PP = plug:Plugin\npaths = .\n' >.flake8
printf '[mypy]\nplugins = plug.py\n' >mypy.ini
../venv/bin/pip list 2>/dev/null | grep -E '^(pylint|pytest|flake8|mypy) '

# check PROGRAM OPTION EXPECTED
check() {
    local seen=no
    if PYTHONPATH=. HOME=$folder "../venv/bin/$1" "$2" 2>&1 | grep -c 'code of the project' >/dev/null; then
        seen=yes
    fi
    echo "$1 $2 runs code of the project: $seen"
    [ "$seen" = "$3" ] || { echo "expected: $3"; exit 1; }
}

check pylint --version no
check pylint --help yes
check pytest --version no
check pytest --help yes
check flake8 --version yes
check flake8 --help yes
check mypy --version no
check mypy --help no
