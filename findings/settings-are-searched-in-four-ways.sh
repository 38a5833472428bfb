#!/usr/bin/env bash
# Guess: linters search their settings in one way: upwards, as far as the root of the repository.
# True: ruff and pytest search past the root of the repository, mypy and isort as far as this root,
# flake8 up to the home folder, without the home folder itself, coverage and codespell in the current folder
# only. pylint searches the current folder, and the folder above if the current folder is a package.
# Version: the versions below, of PyPI. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet ruff==0.14.6 pytest==9.2.0 mypy==2.4.1 isort==7.0.0 flake8==7.5.0 coverage==7.17.5 \
    codespell==2.4.3 pylint==4.1.4
venv/bin/pip list 2>/dev/null | grep -E '^(ruff|pytest|mypy|isort|flake8|coverage|codespell|pylint) '
export HOME=$folder/home
mkdir -p home/above/repository/web home/above/repository/package
git init --quiet home/above/repository
touch home/above/repository/package/__init__.py
for name in web package; do
    echo 'one = 1' >"home/above/repository/$name/a.py"
done

# check EXPECTED FOLDER FILE TEXT PROGRAM…: the folders in which the program finds the file, from the current
# one to the home folder. Each text has a setting `zebra` that the program rejects or prints.
check() {
    local seen='' place
    cd "$folder/home/above/repository/$2"
    for place in . .. ../.. ../../..; do
        printf '%b\n' "$4" >"$place/$3"
        "$folder/venv/bin/$5" "${@:6}" >"$folder/output" 2>&1 || true
        if grep -qi zebra "$folder/output"; then
            case $place in
            .) seen+=' folder' ;;
            ..) seen+=' repository' ;;
            ../..) seen+=' above' ;;
            *) seen+=' home' ;;
            esac
        fi
        rm "$place/$3"
    done
    printf '%-10s finds %-12s in:%s\n' "$5" "$3" "$seen"
    [ "$seen" = "$1" ] || { echo "expected:$1"; exit 1; }
}

check ' folder repository above home' web ruff.toml 'select = ["ZEBRA"]' ruff check a.py
check ' folder repository above home' web pytest.ini '[pytest]\naddopts = --zebra' pytest
check ' folder repository' web mypy.ini '[mypy]\nzebra = 1' mypy a.py
check ' folder repository' web .isort.cfg '[settings]\nzebra = 1' isort --check a.py
check ' folder repository above' web .flake8 '[flake8]\nmax-line-length = zebra' flake8 a.py
check ' folder' web .coveragerc '[run]\nzebra = 1' coverage debug config
check ' folder' web .codespellrc '[codespell]\nzebra = 1' codespell a.py
check ' folder' web pylintrc '[main]\nzebra = 1' pylint a.py
check ' folder repository' package pylintrc '[main]\nzebra = 1' pylint a.py
