#!/usr/bin/env bash
# Guess: `tree` lists files; to write one, it needs `-o FILE`. `-R` is the usual option for recursion.
# True: with `-R` and `-L`, tree runs again in each folder at the last level, as if with `-o 00Tree.html`. In
# the end, each folder below has a new file.
# Version: tree 2.1.0 of Debian 12. Source: run below; tree(1), "-R".
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/debian.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

unpack tree=2.1.0-1
unpacked/usr/bin/tree --version
mkdir -p project/a/b
cd project
../unpacked/usr/bin/tree -R -L 1 >/dev/null
files=$(find . -type f | sort | paste -sd ' ')
echo "files after tree -R -L 1: $files"
test "$files" = './a/00Tree.html ./a/b/00Tree.html'
