#!/usr/bin/env bash
# Guess: `readonly a=1` in a function sets the variable of the whole script, as POSIX says.
#
# True for bash, dash, ksh93, mksh, yash, posh and busybox. In zsh, `readonly` is `typeset -r`, which makes
# a variable of the function: after the function, the outer one is as before, and not read-only.
#
# Seen with the versions below; zshbuiltins(1) names `typeset -r`.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

text='f() { readonly a=1; }; f; echo "[${a-unset}]"'
printf '%s\n' "$text"
expect "$text" '[1]' bash dash ksh93 mksh yash posh busybox
expect "$text" '[unset]' zsh

text='a=x; f() { readonly a=1; }; f; a=y && echo "[$a]"'
printf '%s\n' "$text"
expect "$text" '' bash dash ksh93 mksh yash posh busybox
expect "$text" '[y]' zsh
echo 'a variable that a function declares with readonly is local in zsh'
