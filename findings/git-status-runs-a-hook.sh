#!/usr/bin/env bash
# Guess: hooks of git belong to commands that change the repository; `git status` and `git diff` run none.
# True: both commands store what they learned about the files in the index, and then run the hook
# `post-index-change`. `--no-optional-locks` keeps git from the write and from the hook.
# Version: git 2.47.3. Source: run below; githooks(5), "post-index-change".
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

export HOME=$folder GIT_CONFIG_NOSYSTEM=1
git --version
git init --quiet project
cd project
echo first >a.txt
git add .
printf '#!/bin/sh\necho ran >>%s/log\n' "$folder" >.git/hooks/post-index-change
chmod +x .git/hooks/post-index-change

# check EXPECTED WORD…
check() {
    rm -f ../log
    touch -d "2001-01-0$((turn += 1))" a.txt
    git "${@:2}" >/dev/null
    local seen=no
    [ ! -e ../log ] || seen=yes
    echo "git ${*:2} runs the hook: $seen"
    [ "$seen" = "$1" ] || { echo "expected: $1"; exit 1; }
}

turn=0
check yes status
check yes diff
check no --no-optional-locks status
check no ls-files
