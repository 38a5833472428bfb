#!/usr/bin/env bash
# Guess: `printf %d` and `[ a -eq b ]` take numbers, as POSIX says; only `$(( … ))`, `(( … ))` and
# `[[ … -eq … ]]` compute, and read a name as a variable.
#
# True for bash, dash, yash and busybox. `printf %d` computes in zsh and ksh93, and `[ … -eq … ]` computes
# in ksh93, mksh and posh, but not in zsh: the two sets share one shell. A value that passes `[ "$n" -eq 7 ]`
# need not be a number there.
#
# Seen with the versions below; in the manual of zsh under `printf`, in those of ksh93 and mksh under `test`.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

echo "printf '%d\n' '3+4'"
expect "printf '%d\n' '3+4'" 7 zsh ksh93
expect "printf '%d\n' '3+4'" 3 bash yash dash
echo 'x=7; [ x -eq 3+4 ] && echo equal'
expect 'x=7; [ x -eq 3+4 ] && echo equal' equal ksh93 mksh posh
expect 'x=7; [ x -eq 3+4 ] && echo equal' '' bash zsh yash dash busybox
echo 'printf computes in zsh and ksh93; test computes in ksh93, mksh and posh'
