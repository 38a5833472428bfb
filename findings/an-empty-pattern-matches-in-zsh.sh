#!/usr/bin/env bash
# Guess: an empty pattern in `${x/''/word}` matches nothing, so the value stays as it is.
#
# True for bash, mksh and yash; busybox loses the rest of the word after it. zsh finds it before the first
# character, and with `//` before each character; ksh93 finds it if the value is empty, and only then. With
# `#`, the pattern that stands at the beginning, bash and mksh find it, too, and ksh93 still does not.
#
# Seen with the versions below.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

empty="x=; echo \"[\${x/''/word}]\""
printf '%s\n' "$empty"
expect "$empty" '[]' bash mksh yash
expect "$empty" '[' busybox
expect "$empty" '[word]' zsh ksh93

full="x=ab; echo \"\${x/''/-} \${x//''/-}\""
printf '%s\n' "$full"
expect "$full" 'ab ab' bash mksh yash ksh93
expect "$full" '-ab -a-b' zsh

begin="x=ab; echo \"\${x/#''/-}\""
printf '%s\n' "$begin"
expect "$begin" '-ab' bash mksh zsh
expect "$begin" 'ab' ksh93 yash
echo 'an empty pattern matches in zsh, in an empty value of ksh93, and at the beginning in bash and mksh'
