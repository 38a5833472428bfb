#!/usr/bin/env bash
# Guess: `time` is a word of the shell's grammar, so a function or an assignment behind it changes the
# variables of the shell.
#
# True for bash and mksh. ksh93u+m times functions and assignments, but reads `time -p` as a program. zsh
# times functions in the shell, but an assignment behind `time` sets nothing, and it reads `time -p` as a
# program, too. dash, busybox sh, posh and yash have no such word: they start a program `time`, for
# which the functions and builtins of the shell do not exist.
#
# Seen with the versions below; POSIX leaves open whether `time` is a word of the grammar or a program.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

text='f() { a=1; }; time f; echo "[${a-unset}]"'
printf '%s\n' "$text"
expect "$text" '[1]' bash mksh ksh93 zsh
expect "$text" '[unset]' dash busybox posh yash

text='time a=1; echo "[${a-unset}]"'
printf '%s\n' "$text"
expect "$text" '[1]' bash mksh ksh93
expect "$text" '[unset]' zsh dash busybox posh yash

text='f() { a=1; }; time -p f; echo "[${a-unset}]"'
printf '%s\n' "$text"
expect "$text" '[1]' bash mksh
expect "$text" '[unset]' ksh93 zsh dash busybox posh yash
echo 'what stands behind time changes the shell in some shells only'
