#!/usr/bin/env bash
# Guess: `local x` gives a function an unset variable.
#
# True for bash, mksh, yash, posh and busybox. In dash, from which busybox comes, the variable keeps the
# value that it has outside; in zsh it is set to the empty text. So `${x-default}` has three results.
#
# Seen with the versions below; the manual of dash names the inherited value.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

text='x=outer; f() { local x; echo "[${x-unset}]"; }; f'
printf '%s\n' "$text"
expect "$text" '[unset]' bash mksh yash posh busybox
expect "$text" '[outer]' dash
expect "$text" '[]' zsh
echo 'a local variable without a value is unset, empty, or has the value of the caller'
