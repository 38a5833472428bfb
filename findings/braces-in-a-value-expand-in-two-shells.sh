#!/usr/bin/env bash
# Guess: `$v` with the value `{a,b}` is the word `{a,b}`: braces expand before parameters, as in bash, so that braces
# in a value are plain text.
#
# True for bash, dash, zsh, busybox sh, yash and posh. ksh93u+m and mksh expand braces after parameters: `$v` is two
# words. The braces and the comma may come from different values, and even the words of a default expand so. In
# `"$v"` and in an assignment they stay.
#
# Seen with the versions below.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/shells.bash"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

install_shells

check() {
    printf '%s\n' "$1"
    expect "$1" "$2" bash dash zsh busybox yash posh
    expect "$1" "$3" ksh93 mksh
}

show="printf '[%s]'"
check "v='{a,b}'; $show \$v" '[{a,b}]' '[a][b]'
check "v='{a,' w='b}'; $show \$v\$w" '[{a,b}]' '[a][b]'
check "v='{a,b}'; $show \${x-\$v}" '[{a,b}]' '[a][b]'
check "v='{a,b}'; $show \"\$v\"" '[{a,b}]' '[{a,b}]'
check "v='{a,b}'; w=\$v; $show \"\$w\"" '[{a,b}]' '[{a,b}]'
echo 'whether braces in a value are expanded depends on the shell'
