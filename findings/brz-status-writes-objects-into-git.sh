#!/usr/bin/env bash
# Guess: `brz status` in a repository of git reads it, as `git status` does.
# True: Breezy compares trees, and makes a tree of the working folder for that: it stores the changed files
# and their folders as objects in `.git/objects`. No reference leads to the objects.
# Version: Breezy 3.3.23 and dulwich 1.2.21 of PyPI. Source: run below;
# `snapshot_workingtree` in breezy/git/tree.py.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv venv
venv/bin/pip install --quiet --only-binary :all: breezy==3.3.23 dulwich==1.2.21
export HOME=$folder
mkdir project
cd project
git init --quiet .
echo first >file
git add file
git -c user.name=kitchen -c user.email=kitchen@example.org commit --quiet --message first
echo second >file
git --version
../venv/bin/brz --version 2>/dev/null | head -1
before=$(git count-objects)
git status --short
between=$(git count-objects)
../venv/bin/brz status 2>/dev/null
after=$(git count-objects)
echo "before: $before; after git status: $between; after brz status: $after"
test "${before%%,*}" = '3 objects'
test "$between" = "$before"
test "${after%%,*}" = '5 objects'
git fsck --unreachable 2>/dev/null
