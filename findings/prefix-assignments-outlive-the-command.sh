#!/usr/bin/env bash
# Guess: `a=2 command` sets `a` for the command only.
#
# True for programs. POSIX lets the assignment stay after a special builtin (`:`, `eval`, `export`, `set`),
# and most shells do that; bash and zsh do not. In ksh93 it also stays after a function of the script. The
# words of `a=2 export b=$a` are expanded before the assignment, but after it in zsh and ksh93.
#
# Seen with the versions below. bash behaves as the others after `set -o posix`.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

text='a=1; a=2 :; echo $a'
printf '%s\n' "$text"
expect "$text" 1 bash zsh
expect "$text" 2 ksh93 mksh yash dash posh busybox
expect "set -o posix; $text" 2 bash
text='a=1; a=2 export b=$a; echo $b'
printf '%s\n' "$text"
expect "$text" 1 bash mksh yash dash posh busybox
expect "$text" 2 zsh ksh93
text='f() { true; }; a=1; a=2 f; echo $a'
printf '%s\n' "$text"
expect "$text" 2 ksh93
expect "$text" 1 bash zsh mksh yash dash posh busybox
echo 'an assignment before a builtin or a function may stay'
