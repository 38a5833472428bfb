#!/usr/bin/env bash
# Guess: `break` in a function without a loop is an error or does nothing, as bash says.
#
# In zsh and in the shell of busybox it ends the loop that called the function. In dash and ksh93 it does
# nothing and says nothing. The same holds for `continue`.
#
# Seen with the versions below.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

text='f() { break; }; for i in 1 2; do f; echo $i; done; echo end'
printf '%s\n' "$text"
expect "$text" end zsh busybox
expect "$text" $'1\n2\nend' bash ksh93 mksh yash dash posh
[ -z "$(run dash "$text" >lines; cat errors)" ]
[ -n "$(run bash "$text" >lines; cat errors)" ]
text='f() { continue; }; for i in 1 2; do f; echo $i; done; echo end'
printf '%s\n' "$text"
expect "$text" end zsh busybox
echo 'break in a function ends the loop of its caller in zsh and busybox'
