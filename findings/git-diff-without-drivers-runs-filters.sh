#!/usr/bin/env bash
# Guess: `git diff --no-ext-diff --no-textconv` runs no program that the settings of the repository name.
# True: the two options switch off the drivers of `diff`. git still runs `filter.NAME.clean` to compare a
# changed file, and `core.fsmonitor` to learn which files changed. `git check-ignore` and
# `git check-attr` run `core.fsmonitor` as well, since they read the index; `git log -p` runs neither.
# Version: git 2.47.3. Source: run below.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

export HOME=$folder GIT_CONFIG_NOSYSTEM=1
git --version
git init --quiet project
cd project
echo first >a.txt
echo 'a.txt filter=kitchen diff=kitchen' >.gitattributes
git add .
git -c user.name=kitchen -c user.email=kitchen@example.org commit --quiet --message first
for name in clean fsmonitor textconv external; do
    printf '#!/bin/sh\necho %s >>%s/log\ncat "${1:-/dev/stdin}"\n' "$name" "$folder" >"$folder/$name"
    chmod +x "$folder/$name"
done
printf '#!/bin/sh\necho fsmonitor >>%s/log\n' "$folder" >"$folder/fsmonitor"
git config filter.kitchen.clean "$folder/clean"
git config core.fsmonitor "$folder/fsmonitor"
git config diff.kitchen.textconv "$folder/textconv"
git config diff.kitchen.command "$folder/external"
echo second, longer >a.txt

# check EXPECTED WORD…
check() {
    rm -f ../log
    git "${@:2}" >/dev/null 2>&1 || true
    local seen
    seen=$(sort -u ../log 2>/dev/null | paste -sd ' ' || true)
    echo "git ${*:2}: ${seen:-nothing}"
    [ "$seen" = "$1" ] || { echo "expected: $1"; exit 1; }
}

check 'clean fsmonitor' diff --no-ext-diff --no-textconv
check fsmonitor check-ignore -v a.txt
check fsmonitor check-attr -a a.txt
check '' log -p --no-textconv
