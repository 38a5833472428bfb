#!/usr/bin/env bash
# Guess: `pip freeze` reads the folder of installed packages, and starts no other program.
# True: for a package that is installed from its sources (`pip install -e`), pip prints the address and the
# commit of the repository, so it starts `git` in the folder of the sources. `pip list` does not.
# Version: pip 25.3 of PyPI. Source: run below; `get_src_requirement` in pip/_internal/vcs/versioncontrol.py.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet pip==25.3 setuptools==80.9.0
venv/bin/pip --version | cut -d ' ' -f 1-2
git init --quiet project
cd project
cat >pyproject.toml <<'TOML'
[project]
name = "kitchen"
version = "1"
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[tool.setuptools]
packages = []
TOML
git add .
git -c user.name=kitchen -c user.email=kitchen@example.org commit --quiet --message first
git remote add origin https://example.org/kitchen.git
../venv/bin/pip install --quiet --no-build-isolation --editable .

mkdir ../bin
printf '#!/bin/sh\necho "git $*" >>%s/log\nexec %s "$@"\n' "$folder" "$(command -v git)" >../bin/git
chmod +x ../bin/git
PATH=$folder/bin:$PATH ../venv/bin/pip list >/dev/null
test ! -e ../log
echo 'pip list starts no git'
PATH=$folder/bin:$PATH ../venv/bin/pip freeze
cat ../log
grep -q 'git rev-parse HEAD' ../log
