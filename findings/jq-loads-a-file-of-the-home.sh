#!/usr/bin/env bash
# Guess: a program of jq means the same on every machine: `jq` reads no settings.
# True: jq reads the file `~/.jq` before each program. A function in it replaces a built-in function of the
# same name, also where the program in the command line calls it. `jq -n` reads it as well.
# Version: jq 1.6 of Debian 12. Source: run below; the manual, "Modules".
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/debian.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

unpack jq=1.6-2.1+deb12u3 libjq1=1.6-2.1+deb12u3 libonig5=6.9.8-1
unpacked/usr/bin/jq --version
export HOME=$folder
before=$(unpacked/usr/bin/jq -nc '[3,1]|sort')
echo 'def sort: "replaced by ~/.jq";' >.jq
after=$(unpacked/usr/bin/jq -nc '[3,1]|sort')
echo "[3,1]|sort: $before, with ~/.jq: $after"
test "$before" = '[1,3]'
test "$after" = '"replaced by ~/.jq"'
